//! Orders and visits: the values that the modules of the crawler exchange.
//!
//! `UpdateModule` makes an [`Order`]. `CrawlModule` turns it into a [`Visit`]. The writer makes it part of
//! the stores, and `UpdateModule` learns what it found.

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

/// An order: what to request from a site next.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Order {
    /// Visit a page.
    Page {
        /// The page.
        page: PageNumber,
        /// Its site.
        site: SiteNumber,
        /// Why it is visited now.
        reason: Reason,
    },
    /// Request the rules of a site.
    Robots {
        /// The site.
        site: SiteNumber,
    },
    /// Request a list of pages: a sitemap or a feed.
    Listing {
        /// The site.
        site: SiteNumber,
        /// URL of the list.
        url: PageUrl,
    },
}

impl Order {
    /// The site of the request.
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
    /// It has a rhythm, and its hour has passed.
    Rhythm,
    /// Its user pinned it.
    Pin,
    /// The maximum interval that its user set has passed.
    Interval,
    /// The last visit failed.
    Retry,
    /// The last visit found a difference that may be ephemeral: a second look decides.
    Look,
    /// An audit drew it.
    Audit,
}

impl Reason {
    /// Reasons for which something other than the policy announces a change. Finding one is then no surprise.
    pub const PROMPTED: [Self; 2] = [Self::Signal, Self::Rhythm];

    /// Whether it is one of [`Reason::PROMPTED`].
    pub fn is_prompted(self) -> bool {
        Self::PROMPTED.contains(&self)
    }

    /// The word for it in the History.
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

/// The result of an order.
#[derive(Debug)]
pub enum Visit {
    /// A page was visited.
    Page(Box<PageVisit>),
    /// A page was visited, and a second look will decide what was found.
    SecondLooks {
        /// The page.
        page: PageNumber,
        /// Its site.
        site: SiteNumber,
        /// Time of the next look.
        again: Timestamp,
        /// How the site responded.
        experience: Experience,
        /// Number of bytes received.
        bytes: u64,
    },
    /// The rules of a site were requested.
    Robots {
        /// The site.
        site: SiteNumber,
        /// Time of the request.
        time: Timestamp,
        /// The exchanges. The last one has the answer; those before it are redirects.
        fetches: Vec<Fetch>,
        /// The rest of the redirect chain, if the last exchange is a redirect. It is followed in the next
        /// host's own turn.
        onward: Option<Chase>,
    },
    /// A list of pages was requested.
    Listing {
        /// The site.
        site: SiteNumber,
        /// URL of the list.
        url: PageUrl,
        /// Time of the request.
        time: Timestamp,
        /// The exchange.
        fetch: Box<Fetch>,
        /// The parsed list, if it was received.
        reading: Option<Box<Reading>>,
    },
}

impl Visit {
    /// How the site responded, and the number of bytes received.
    pub fn ending(&self) -> (Experience, u64) {
        let fetches: Vec<&Fetch> = match self {
            Self::SecondLooks { experience, bytes, .. } => return (*experience, *bytes),
            // The response to the first look was reported when the visit was held.
            Self::Page(visit) if visit.second.is_some() => visit.second.iter().collect(),
            Self::Page(visit) => visit.fetch.iter().collect(),
            Self::Robots { fetches, .. } => fetches.iter().collect(),
            Self::Listing { fetch, .. } => vec![fetch],
        };
        let experience = fetches.first().map_or(Experience::NotAsked, |fetch| Experience::of(fetch));
        (experience, fetches.iter().map(|fetch| fetch.bytes_received).sum())
    }

    /// The address of the site that was used, if any.
    pub fn address(&self) -> Option<IpAddr> {
        match self {
            Self::SecondLooks { .. } => None,
            Self::Page(visit) => visit.second.as_ref().or(visit.fetch.as_ref())?.address,
            Self::Robots { fetches, .. } => fetches.first()?.address,
            Self::Listing { fetch, .. } => fetch.address,
        }
    }
}

/// A visit to a page.
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
    /// Time of the visit.
    pub time: Timestamp,
    /// The result of the comparison with our copy.
    pub finding: Finding,
    /// The exchange. None if robots.txt forbade the visit.
    pub fetch: Option<Fetch>,
    /// The parsed response, if there was one.
    pub reading: Option<Reading>,
    /// The exchange of the second look, if there was one.
    pub second: Option<Fetch>,
    /// What was learned about ephemeral parts of the page.
    pub lesson: Option<Lesson>,
    /// The WARC records of the response, if they were built in advance.
    pub folded: Option<Folded>,
}

/// The result of comparing a page with our copy.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    /// There was no copy.
    New,
    /// The page is the same as our copy.
    Unchanged,
    /// The server answered "not modified".
    NotModified,
    /// The page has changed.
    Changed(Change),
    /// The page is gone.
    Gone,
    /// The page is back.
    Back,
    /// The page redirects to another URL.
    Moved {
        /// The URL.
        to: PageUrl,
        /// Whether the redirect is permanent.
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
