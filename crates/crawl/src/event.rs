//! Events: what was committed, as reported to the UpdateModule.

use freshet_fetch::change::Kinds;
use freshet_fetch::page::PageUrl;
use freshet_partition::policy::Outcome;
use freshet_protocol::ids::{PageNumber, SiteNumber};
use freshet_protocol::time::Timestamp;
use freshet_store::sites::SiteRecord;

/// One fact that has been committed.
#[derive(Clone, Debug)]
pub enum Event {
    /// A site is known, or its record has changed.
    Site {
        /// Its number.
        site: SiteNumber,
        /// Its record.
        record: Box<SiteRecord>,
    },
    /// A page was admitted, and waits for its first visit.
    Admitted {
        /// The page.
        page: PageNumber,
        /// Its site.
        site: SiteNumber,
        /// Priority of the visit: higher is sooner.
        priority: f32,
    },
    /// The priority of a page that waits for its first visit was raised.
    Raised {
        /// The page.
        page: PageNumber,
        /// Its site.
        site: SiteNumber,
        /// The new priority: higher is sooner.
        priority: f32,
    },
    /// A page was copied for the first time.
    Copied {
        /// The page.
        page: PageNumber,
        /// Its site.
        site: SiteNumber,
        /// Its path and query.
        path: String,
        /// Its importance; 1 on average.
        importance: f32,
        /// Time of the visit.
        time: Timestamp,
    },
    /// A page was visited again.
    Visited {
        /// The page.
        page: PageNumber,
        /// Time of the visit.
        time: Timestamp,
        /// The outcome of the visit.
        outcome: Outcome,
        /// Whether it was visited because something announced a change.
        prompted: bool,
        /// The page's date of its last change.
        date: Option<Timestamp>,
        /// Expected bytes of the next visit.
        bytes_expected: f32,
        /// The kinds of the change, if one was found and they are known.
        kinds: Option<Kinds>,
    },
    /// A visit to a page taught nothing; it will be retried.
    Unsettled {
        /// The page.
        page: PageNumber,
        /// Its site.
        site: SiteNumber,
        /// Whether we have no copy of it.
        is_first: bool,
        /// Time of the retry.
        again: Timestamp,
    },
    /// A second look will decide what a visit found.
    SecondLooks {
        /// The page.
        page: PageNumber,
        /// Its site.
        site: SiteNumber,
        /// Time of the second look.
        again: Timestamp,
    },
    /// A page has left the collection.
    Left {
        /// The page.
        page: PageNumber,
        /// Time at which it left.
        time: Timestamp,
    },
    /// The importance of a page has changed.
    Weighed {
        /// The page.
        page: PageNumber,
        /// The new importance.
        importance: f32,
    },
    /// A list says that a page has changed since our copy, or no longer names it.
    Signal {
        /// The page.
        page: PageNumber,
        /// Its site.
        site: SiteNumber,
    },
    /// A page is expected to change at a certain hour.
    Expected {
        /// The page.
        page: PageNumber,
        /// Its site.
        site: SiteNumber,
        /// The expected change.
        change: Expected,
    },
    /// A trusted list says that pages have not changed since our copies.
    Unaltered {
        /// The pages.
        pages: Vec<PageNumber>,
        /// Time of the reading.
        time: Timestamp,
    },
    /// A trusted list says that pages have changed since our copies, recently or long ago.
    Altered {
        /// The pages.
        pages: Vec<PageNumber>,
    },
    /// A site has a list of pages that is read from time to time.
    List {
        /// The site.
        site: SiteNumber,
        /// URL of the list.
        url: PageUrl,
        /// Time of the next reading.
        due: Timestamp,
    },
    /// A page was pinned: it is visited at this interval, whatever the policy says. Zero: it was unpinned.
    Pinned {
        /// The page.
        page: PageNumber,
        /// Its site.
        site: SiteNumber,
        /// The interval, in milliseconds.
        every: u64,
        /// Time of the next visit.
        due: Timestamp,
    },
}

/// A change that is expected.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Expected {
    /// When.
    pub at: Timestamp,
    /// Milliseconds from it to the change after it.
    pub period: i64,
}
