//! Retention: which versions of a page may be dropped.
//!
//! A full response is *superseded* when its page has a newer full response. A revisit is dropped together
//! with the response that it refers to.
//!
//! # Promises
//! - The newest full response of a page is never dropped, nor are the revisits after it.
//! - Without limits nothing is dropped.

use freshet_protocol::ids::PageNumber;
use freshet_protocol::time::{MILLIS_PER_DAY, Timestamp};

use crate::error::StoreError;
use crate::versions::{VersionKind, Versions};

/// Milliseconds of a day.
const DAY: i64 = MILLIS_PER_DAY;

/// Limits on what is kept; none is no limit. Whatever exceeds any of them may be dropped.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Keep {
    /// Maximum number of full responses of a page; at least one is kept.
    pub versions: Option<u32>,
    /// Maximum number of days since a response was superseded.
    pub days: Option<u32>,
    /// Maximum bytes of the Collection. Above them superseded responses are dropped, the oldest
    /// segments first.
    pub bytes: Option<u64>,
}

impl Keep {
    /// Whether there are no limits.
    pub fn is_everything(self) -> bool {
        self == Self::default()
    }

    /// Whether the version of a page at this time may be dropped. `crowded`: the Collection exceeds the
    /// limit on bytes.
    pub(crate) fn lets_go(
        self,
        versions: &Versions<'_>,
        (page, time): (PageNumber, Timestamp),
        now: Timestamp,
        crowded: bool,
    ) -> Result<bool, StoreError> {
        let mut newer = 0;
        for version in versions.after(page, time) {
            let version = version?;
            if version.record.kind != VersionKind::Full {
                continue;
            }
            newer += 1;
            let old = |days: u32| now.millis_since(version.time) > i64::from(days) * DAY;
            let superseded_long_ago = newer == 1 && self.days.is_some_and(old);
            if crowded || superseded_long_ago || self.versions.is_some_and(|most| newer >= most.max(1)) {
                return Ok(true);
            }
            if self.versions.is_none() {
                return Ok(false);
            }
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use freshet_protocol::codec::Record as _;
    use freshet_protocol::ids::Place;

    use super::*;
    use crate::key_value::{Batch, Durability, InMemory, KeyValue as _, Space};
    use crate::versions::{VersionRecord, version_key};

    /// Which versions of a page are dropped, by day: full responses on days 0, 10, 20, and revisits on
    /// days 5 and 25.
    #[track_caller]
    fn check(keep: Keep, today: i64, crowded: bool, expected: &[i64]) {
        let store = InMemory::new();
        let mut batch = Batch::new();
        let days = [(0, true), (5, false), (10, true), (20, true), (25, false)];
        for (day, full) in days {
            let version = VersionRecord {
                place: Place::default(),
                extent: 0,
                kind: if full { VersionKind::Full } else { VersionKind::Identical },
                status: 200,
                payload_digest: [0; 20],
                raw_digest: None,
                text_digest: None,
                simhash: None,
            };
            let key = version_key(PageNumber(0), Timestamp::from_millis(day * DAY));
            batch.put(Space::Versions, key, version.encode());
        }
        store.commit(batch, Durability::Buffered).expect("it is committed");
        let goes = |day: i64| {
            let version = (PageNumber(0), Timestamp::from_millis(day * DAY));
            keep.lets_go(&Versions(&store), version, Timestamp::from_millis(today * DAY), crowded)
                .expect("it is read")
        };
        let gone: Vec<_> = days.iter().map(|(day, _)| *day).filter(|day| goes(*day)).collect();
        assert_eq!(gone, expected);
    }

    #[test]
    fn what_exceeds_a_limit_goes_and_the_newest_stays() {
        let all = Keep::default();
        check(all, 1000, false, &[]);
        check(Keep { versions: Some(2), ..all }, 1000, false, &[0, 5]);
        check(Keep { versions: Some(1), ..all }, 1000, false, &[0, 5, 10]);
        check(Keep { versions: Some(0), ..all }, 1000, false, &[0, 5, 10]);
        check(Keep { days: Some(5), ..all }, 16, false, &[0, 5]);
        check(Keep { days: Some(5), ..all }, 26, false, &[0, 5, 10]);
        check(Keep { days: Some(5), ..all }, 14, false, &[]);
        check(Keep { versions: Some(3), days: Some(5), ..all }, 16, false, &[0, 5]);
        check(Keep { bytes: Some(1), ..all }, 26, true, &[0, 5, 10]);
        check(Keep { bytes: Some(1), ..all }, 26, false, &[]);
    }
}
