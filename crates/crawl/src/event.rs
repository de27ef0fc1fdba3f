//! What the stores have taken in, as the UpdateModule hears it.

use freshet_fetch::change::Kinds;
use freshet_fetch::page::PageUrl;
use freshet_partition::policy::Outcome;
use freshet_protocol::ids::{PageNumber, SiteNumber};
use freshet_protocol::time::Timestamp;
use freshet_store::sites::SiteRecord;

/// One fact that has been committed.
#[derive(Clone, Debug)]
pub enum Event {
    /// A site is known.
    Site {
        /// Its number.
        site: SiteNumber,
        /// What is known of it.
        record: Box<SiteRecord>,
    },
    /// A page was admitted, and waits for its first visit.
    Admitted {
        /// The page.
        page: PageNumber,
        /// Its site.
        site: SiteNumber,
        /// How soon it should be visited: higher is sooner.
        priority: f32,
    },
    /// A page that waits for its first visit should be visited sooner.
    Raised {
        /// The page.
        page: PageNumber,
        /// Its site.
        site: SiteNumber,
        /// How soon: higher is sooner.
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
        /// How important it is; one on average.
        importance: f32,
        /// When.
        time: Timestamp,
    },
    /// A page was visited again.
    Visited {
        /// The page.
        page: PageNumber,
        /// When.
        time: Timestamp,
        /// What was found.
        outcome: Outcome,
        /// Whether it was visited because something said that it had changed.
        prompted: bool,
        /// When the page says that it last changed.
        date: Option<Timestamp>,
        /// Bytes that the next visit is expected to cost.
        bytes_expected: f32,
        /// The kinds of the change that was found, if one was and they are known.
        kinds: Option<Kinds>,
    },
    /// The visit to a page taught nothing; it is tried again.
    Unsettled {
        /// The page.
        page: PageNumber,
        /// Its site.
        site: SiteNumber,
        /// Whether we have no copy of it.
        is_first: bool,
        /// When to try again.
        again: Timestamp,
    },
    /// What a visit found is decided by a second look.
    SecondLooks {
        /// The page.
        page: PageNumber,
        /// Its site.
        site: SiteNumber,
        /// When to look again.
        again: Timestamp,
    },
    /// A page has left the collection.
    Left {
        /// The page.
        page: PageNumber,
        /// When.
        time: Timestamp,
    },
    /// A page has another importance.
    Weighed {
        /// The page.
        page: PageNumber,
        /// The new importance.
        importance: f32,
    },
    /// A list says that a page has changed since our copy, or names it no longer.
    Signal {
        /// The page.
        page: PageNumber,
        /// Its site.
        site: SiteNumber,
    },
    /// A page is expected to change at its hour.
    Expected {
        /// The page.
        page: PageNumber,
        /// Its site.
        site: SiteNumber,
        /// The change.
        change: Expected,
    },
    /// A list that can be believed says that pages have not changed since our copies.
    Unaltered {
        /// The pages.
        pages: Vec<PageNumber>,
        /// When it was read.
        time: Timestamp,
    },
    /// A list that can be believed says that pages have changed since our copies, lately or long ago.
    Altered {
        /// The pages.
        pages: Vec<PageNumber>,
    },
    /// A site has a list of pages, to be read from time to time.
    List {
        /// The site.
        site: SiteNumber,
        /// Where the list is.
        url: PageUrl,
        /// When to read it.
        due: Timestamp,
    },
    /// A page is visited this often, in milliseconds, whatever the policy says; no longer, if zero.
    Pinned {
        /// The page.
        page: PageNumber,
        /// Its site.
        site: SiteNumber,
        /// How often.
        every: u64,
        /// When next.
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
