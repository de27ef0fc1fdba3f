//! Visits whose finding waits for a second look at the page.
//!
//! # Promises
//! - At most [`HELD_MAX`] visits are held. Beyond that a finding is believed at once, so that any wave of
//!   changes gets through.
//! - A visit that was held for too long to teach anything takes nobody's place.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use freshet_fetch::change::look::Lesson;
use freshet_fetch::page::Reading;
use freshet_fetch::web::Fetch;
use freshet_protocol::ids::PageNumber;
use freshet_protocol::time::Timestamp;

use crate::visit::Reason;

/// Maximum number of held visits. Their bytes stay in memory.
const HELD_MAX: usize = 256;

/// The first look at a page, and the second if it waits for a third to confirm it.
#[derive(Debug)]
pub(crate) struct FirstLook {
    pub(crate) time: Timestamp,
    /// Why it was made.
    pub(crate) reason: Reason,
    pub(crate) fetch: Fetch,
    pub(crate) reading: Reading,
    pub(crate) second: Option<SecondLook>,
    /// Number of second looks so far that failed or came too late.
    pub(crate) too_late: u8,
}

/// The second look, and what it taught compared with the first.
#[derive(Debug)]
pub(crate) struct SecondLook {
    pub(crate) time: Timestamp,
    pub(crate) reading: Reading,
    pub(crate) lesson: Lesson,
}

impl FirstLook {
    /// Time of the last look.
    pub(crate) fn latest(&self) -> Timestamp {
        self.second.as_ref().map_or(self.time, |second| second.time)
    }
}

/// The held visits. Filled and emptied by `CrawlModule`.
#[derive(Debug, Default)]
pub(crate) struct SecondLooks(Mutex<HashMap<PageNumber, FirstLook>>);

impl SecondLooks {
    /// Whether one more visit may be held now, if looks count that are at most `within` milliseconds old.
    pub(crate) fn has_room(&self, now: Timestamp, within: i64) -> bool {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if held.len() >= HELD_MAX {
            held.retain(|_, look| now.millis_since(look.latest()) <= within);
        }
        held.len() < HELD_MAX
    }

    /// Holds a visit.
    pub(crate) fn put(&self, page: PageNumber, look: FirstLook) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(page, look);
    }

    /// Takes the held visit of a page.
    pub(crate) fn take(&self, page: PageNumber) -> Option<FirstLook> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&page)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use freshet_fetch::page::reading::Limits;
    use freshet_fetch::page::{Canonical, read};
    use freshet_fetch::web::{Answer, Failure};

    use super::*;

    fn look_at(time: Timestamp) -> FirstLook {
        let canonical = Canonical::default();
        let url = canonical.of("http://a.test/").expect("it is a URL");
        let reading = read(&url, None, &[], &[], b"<p>a", &canonical, &Limits::default());
        let fetch = Fetch {
            started: time,
            address: None,
            request_head: vec![],
            bytes_received: 0,
            elapsed: Duration::ZERO,
            answer: Answer::Failed(Failure::Closed),
        };
        FirstLook { time, reason: Reason::Refresh, fetch, reading, second: None, too_late: 0 }
    }

    #[test]
    fn a_wave_of_changes_drives_out_none_that_is_held() {
        let held = SecondLooks::default();
        let start = Timestamp::from_millis(1_000_000);
        for page in 0..HELD_MAX as u32 {
            assert!(held.has_room(start, 60_000));
            held.put(PageNumber(page), look_at(start));
        }
        assert!(!held.has_room(start.plus_millis(60_000), 60_000));
        assert!(held.take(PageNumber(0)).is_some());
        assert!(held.has_room(start, 60_000));
        held.put(PageNumber(0), look_at(start));
        // A look that is too old to count makes room.
        assert!(held.has_room(start.plus_millis(60_001), 60_000));
        assert!(held.take(PageNumber(1)).is_none());
    }
}
