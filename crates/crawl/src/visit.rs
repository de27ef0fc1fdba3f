//! What the modules of the crawler hand each other: an order, and the visit that came of it.
//!
//! `UpdateModule` makes an [`Order`], `CrawlModule` makes a [`Visit`] of it, the writer makes it part of the stores, and
//! `UpdateModule` learns what it found.

use std::fmt;
use std::net::IpAddr;

use freshet_fetch::change::look::Lesson;
use freshet_fetch::change::{Change, StandIn};
use freshet_fetch::page::{PageUrl, Reading};
use freshet_fetch::web::politeness::Experience;
use freshet_fetch::web::robots::Chase;
use freshet_fetch::web::{Failure, Fetch, Truncation};
use freshet_protocol::ids::{PageNumber, SiteNumber};
use freshet_protocol::time::Timestamp;
use freshet_store::collection::Folded;

/// What to ask of a site next.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Order {
    /// Visit a page.
    Page {
        /// The page.
        page: PageNumber,
        /// Its site.
        site: SiteNumber,
        /// Why now.
        reason: Reason,
    },
    /// Ask for the rules of a site.
    Robots {
        /// The site.
        site: SiteNumber,
    },
    /// Ask for a list of pages: a sitemap or a feed.
    Listing {
        /// The site.
        site: SiteNumber,
        /// Where the list is.
        url: PageUrl,
    },
}

impl Order {
    /// The site that is asked.
    pub fn site(&self) -> SiteNumber {
        match self {
            Self::Page { site, .. } | Self::Robots { site } | Self::Listing { site, .. } => *site,
        }
    }
}

/// Why a page is visited.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reason {
    /// It was never visited.
    First,
    /// The policy chose it.
    Refresh,
    /// A sitemap or a feed says that it changed.
    Signal,
    /// It changes at its hour, which has passed.
    Rhythm,
    /// Its user wants it visited this often.
    Pin,
    /// Its user wants it left alone no longer.
    Interval,
    /// The last visit failed.
    Retry,
    /// The last visit found a difference that may be ephemeral: a second look tells.
    Look,
    /// An audit drew it.
    Audit,
}

impl Reason {
    /// With these something else than the policy says that the page has changed: finding it so surprises nobody.
    pub const PROMPTED: [Self; 2] = [Self::Signal, Self::Rhythm];

    /// Whether it is one of [`Reason::PROMPTED`].
    pub fn is_prompted(self) -> bool {
        Self::PROMPTED.contains(&self)
    }

    /// In a word, as the History has it.
    pub fn word(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Refresh => "refresh",
            Self::Signal => "signal",
            Self::Rhythm => "rhythm",
            Self::Pin => "pin",
            Self::Interval => "interval",
            Self::Retry => "retry",
            Self::Look => "look",
            Self::Audit => "audit",
        }
    }
}

/// What came of an order.
#[derive(Debug)]
pub enum Visit {
    /// A page was visited.
    Page(Box<PageVisit>),
    /// A page was visited, and what was found is decided by a second look.
    SecondLooks {
        /// The page.
        page: PageNumber,
        /// Its site.
        site: SiteNumber,
        /// When to look again.
        again: Timestamp,
        /// What the site let us experience.
        experience: Experience,
        /// The bytes that it cost.
        bytes: u64,
    },
    /// The rules of a site were asked for.
    Robots {
        /// The site.
        site: SiteNumber,
        /// When it was asked.
        time: Timestamp,
        /// The exchanges: the last answers, those before it redirect.
        fetches: Vec<Fetch>,
        /// What is left of the way to them, when the last exchange redirects: to be gone in the next host's own turn.
        onward: Option<Chase>,
    },
    /// A list of pages was asked for.
    Listing {
        /// The site.
        site: SiteNumber,
        /// Where the list is.
        url: PageUrl,
        /// When it was asked for.
        time: Timestamp,
        /// The exchange.
        fetch: Box<Fetch>,
        /// What it lists, if it came.
        reading: Option<Box<Reading>>,
    },
}

impl Visit {
    /// What the site let us experience, and the bytes that it cost.
    pub fn ending(&self) -> (Experience, u64) {
        let fetches: Vec<&Fetch> = match self {
            Self::SecondLooks { experience, bytes, .. } => return (*experience, *bytes),
            // What the first look let us experience was told when it was held.
            Self::Page(visit) if visit.second.is_some() => visit.second.iter().collect(),
            Self::Page(visit) => visit.fetch.iter().collect(),
            Self::Robots { fetches, .. } => fetches.iter().collect(),
            Self::Listing { fetch, .. } => vec![fetch],
        };
        let experience = fetches.first().map_or(Experience::NotAsked, |fetch| Experience::of(fetch));
        (experience, fetches.iter().map(|fetch| fetch.bytes_received).sum())
    }

    /// The address at which the site was asked, if it was.
    pub fn address(&self) -> Option<IpAddr> {
        match self {
            Self::SecondLooks { .. } => None,
            Self::Page(visit) => visit.second.as_ref().or(visit.fetch.as_ref())?.address,
            Self::Robots { fetches, .. } => fetches.first()?.address,
            Self::Listing { fetch, .. } => fetch.address,
        }
    }
}

/// One visit to a page.
#[derive(Debug)]
pub struct PageVisit {
    /// The page.
    pub page: PageNumber,
    /// Its site.
    pub site: SiteNumber,
    /// Its URL.
    pub url: PageUrl,
    /// Why it was visited.
    pub reason: Reason,
    /// When.
    pub time: Timestamp,
    /// What was found, beside our copy.
    pub finding: Finding,
    /// The bytes that were exchanged; none if robots forbade the visit.
    pub fetch: Option<Fetch>,
    /// What the bytes mean, when there were any.
    pub reading: Option<Reading>,
    /// The second look, if one was made.
    pub second: Option<Fetch>,
    /// What was learned of the parts of the page.
    pub lesson: Option<Lesson>,
    /// The records of the response, if they were made before it is known whether it is kept.
    pub folded: Option<Folded>,
}

/// What a visit found, beside our copy.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    /// There was no copy.
    New,
    /// The page is as our copy has it.
    Unchanged,
    /// The server says so itself.
    NotModified,
    /// The page differs by this.
    Changed(Change),
    /// The page is no longer there.
    Gone,
    /// The page is there again.
    Back,
    /// The page is elsewhere.
    Moved {
        /// Where.
        to: PageUrl,
        /// Whether for good.
        for_good: bool,
    },
    /// Nothing could be learned of the page.
    Failed(VisitFailure),
    /// The page may not be visited.
    Refused(String),
}

/// Why nothing could be learned of a page.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum VisitFailure {
    /// The exchange failed.
    Exchange(Failure),
    /// The body did not come whole.
    Truncated(Truncation),
    /// There was no body.
    NoBody,
    /// Something else came in place of the page.
    StandIn(StandIn),
    /// The answer redirects to the page itself.
    RedirectsToItself,
    /// The answer redirects with this status, and says no place that can be asked.
    RedirectsNowhere(u16),
    /// The answer has a status that says nothing about the page.
    Status(u16),
}

impl fmt::Display for VisitFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exchange(failure) => failure.fmt(f),
            Self::Truncated(cut) => cut.fmt(f),
            Self::NoBody => f.write_str("no body"),
            Self::StandIn(stand_in) => stand_in.fmt(f),
            Self::RedirectsToItself => f.write_str("redirects to itself"),
            Self::RedirectsNowhere(status) => write!(f, "status {status} without a place to go"),
            Self::Status(status) => write!(f, "status {status}"),
        }
    }
}
