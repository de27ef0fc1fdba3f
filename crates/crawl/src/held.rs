//! Visits whose finding waits for a second look.
//!
//! # Promises
//! - No more than [`HELD_MAX`] are held; the one that was held longest makes room. Its second look is then a visit like any other.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use freshet_store::ids::PageNumber;
use freshet_store::time::Timestamp;

use crate::change::look::Lesson;
use crate::page::Reading;
use crate::visit::Reason;
use crate::web::Fetch;

/// Visits that are held at most: their bytes stay in memory.
const HELD_MAX: usize = 256;

/// The first look at a page, and the second if a third is to confirm it.
#[derive(Debug)]
pub(crate) struct FirstLook {
    pub(crate) time: Timestamp,
    /// Why it was made.
    pub(crate) reason: Reason,
    pub(crate) fetch: Fetch,
    pub(crate) reading: Reading,
    pub(crate) second: Option<SecondLook>,
    /// Second looks up to now that failed or came too late.
    pub(crate) too_late: u8,
}

/// The second look, and what it taught beside the first.
#[derive(Debug)]
pub(crate) struct SecondLook {
    pub(crate) time: Timestamp,
    pub(crate) reading: Reading,
    pub(crate) lesson: Lesson,
}

impl FirstLook {
    /// When the page was looked at last.
    pub(crate) fn latest(&self) -> Timestamp {
        self.second.as_ref().map_or(self.time, |second| second.time)
    }
}

/// Visits that wait. Filled and emptied by `CrawlModule`.
#[derive(Debug, Default)]
pub(crate) struct Held(Mutex<HashMap<PageNumber, FirstLook>>);

impl Held {
    /// Holds a visit.
    pub(crate) fn put(&self, page: PageNumber, look: FirstLook) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if held.len() >= HELD_MAX {
            let oldest = held.iter().min_by_key(|(_, look)| look.time).map(|(page, _)| *page);
            oldest.and_then(|page| held.remove(&page));
        }
        held.insert(page, look);
    }

    /// The visit that was held of a page.
    pub(crate) fn take(&self, page: PageNumber) -> Option<FirstLook> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&page)
    }
}
