//! Versions: when each page was seen, and where its bytes are.
//!
//! Every exchange of a page in the Collection is one record, keyed by page and time. A full response has its
//! own bytes. A revisit ("the same bytes as before", "not modified") has the place of a small WARC record;
//! its bytes are those of the full response before it.
//!
//! # Promises
//! - The versions of a page are ordered by time.
//! - Malformed bytes are an error, never a panic.

use freshet_protocol::codec::{Malformed, Record as _, record, words};
use freshet_protocol::ids::{PageNumber, Place};
use freshet_protocol::time::Timestamp;

use crate::digest::Digest;
use crate::error::StoreError;
use crate::key_value::{Direction, KeyRange, Space, View};

words! {
    /// What a version holds.
    pub enum VersionKind {
        /// A full response.
        Full = 0 "full",
        /// The same bytes as the full response before it.
        Identical = 1 "identical",
        /// "Not modified" since the full response before it.
        NotModified = 2 "not modified",
    }
}

record! {
    /// A page as it was seen once.
    #[derive(Clone, Debug, PartialEq)]
    pub struct VersionRecord {
        /// Where its record stands in the Collection.
        place: Place,
        /// Bytes of the record and of those that follow it and go with it (request, metadata).
        extent: u32,
        /// What it holds.
        kind: VersionKind,
        /// The status of the answer.
        status: u16,
        /// The SHA-1 of the payload, which the record states as WARC-Payload-Digest.
        payload_digest: [u8; 20],
        /// The digest of the decoded bytes.
        raw_digest: Option<Digest>,
        /// The digest of the visible text.
        text_digest: Option<Digest>,
        /// The similarity hash of the visible text.
        simhash: Option<u64>,
    }
}

/// A version of a page.
#[derive(Clone, Debug, PartialEq)]
pub struct Version {
    /// When it was seen.
    pub time: Timestamp,
    /// Its record.
    pub record: VersionRecord,
}

/// The key of a version: page, then time, so that versions sort by both.
pub fn version_key(page: PageNumber, time: Timestamp) -> [u8; 12] {
    let mut key = [0; 12];
    key[..4].copy_from_slice(&page.key());
    // With the sign bit flipped, times sort by their bytes.
    key[4..].copy_from_slice(&(time.millis() as u64 ^ (1 << 63)).to_be_bytes());
    key
}

/// The page and the time in a version key.
pub(crate) fn parse_version_key(key: &[u8]) -> Option<(PageNumber, Timestamp)> {
    let (page, time) = key.split_at_checked(4)?;
    let folded = u64::from_be_bytes(time.try_into().ok()?);
    Some((PageNumber::from_key(page)?, Timestamp::from_millis((folded ^ (1 << 63)) as i64)))
}

/// The key of a place: segment and offset.
pub(crate) fn place_key(place: Place) -> [u8; 12] {
    let mut key = [0; 12];
    key[..4].copy_from_slice(&place.segment.to_be_bytes());
    key[4..].copy_from_slice(&place.offset.to_be_bytes());
    key
}

/// The versions, read from a view of the store.
pub struct Versions<'a>(pub(crate) &'a dyn View);

impl<'a> Versions<'a> {
    /// The version of a page at exactly this time.
    pub fn get(&self, page: PageNumber, time: Timestamp) -> Result<Option<VersionRecord>, StoreError> {
        crate::records::read(self.0, Space::Versions, &version_key(page, time))
    }

    /// All versions of a page, the oldest first.
    pub fn of(&self, page: PageNumber) -> impl Iterator<Item = Result<Version, StoreError>> + use<'a> {
        self.scan(KeyRange::prefix(&page.key()), Direction::Forward)
    }

    /// The versions of a page not later than this time, the newest first.
    pub fn before(
        &self,
        page: PageNumber,
        time: Timestamp,
    ) -> impl Iterator<Item = Result<Version, StoreError>> + use<'a> {
        let after = KeyRange::prefix(&version_key(page, time)).to;
        self.scan(KeyRange { from: page.key().to_vec(), to: after }, Direction::Backward)
    }

    /// The versions of a page later than this time, the oldest first.
    pub fn after(
        &self,
        page: PageNumber,
        time: Timestamp,
    ) -> impl Iterator<Item = Result<Version, StoreError>> + use<'a> {
        let mut from = version_key(page, time).to_vec();
        from.push(0);
        self.scan(KeyRange { from, to: KeyRange::prefix(&page.key()).to }, Direction::Forward)
    }

    /// The version of the page at this time: the newest one not later.
    pub fn at(&self, page: PageNumber, time: Timestamp) -> Result<Option<Version>, StoreError> {
        self.before(page, time).next().transpose()
    }

    /// The full response with the bytes of the page at this time.
    pub fn full_at(&self, page: PageNumber, time: Timestamp) -> Result<Option<Version>, StoreError> {
        self.before(page, time)
            .find(|version| version.as_ref().map_or(true, |version| version.record.kind == VersionKind::Full))
            .transpose()
    }

    fn scan(
        &self,
        range: KeyRange,
        direction: Direction,
    ) -> impl Iterator<Item = Result<Version, StoreError>> + use<'a> {
        self.0.scan(Space::Versions, range, direction).map(|entry| {
            let (key, value) = entry?;
            let corrupt = |malformed| StoreError::corrupt(Space::Versions, &key)(malformed);
            let (_, time) = parse_version_key(&key).ok_or_else(|| corrupt(Malformed::Short))?;
            Ok(Version { time, record: VersionRecord::decode(&value).map_err(corrupt)? })
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::key_value::{Batch, Durability, InMemory, KeyValue as _};

    fn version(kind: VersionKind) -> VersionRecord {
        VersionRecord {
            place: Place { segment: 1, offset: 10, length: 20 },
            extent: 30,
            kind,
            status: 200,
            payload_digest: [7; 20],
            raw_digest: Some([8; 16]),
            text_digest: None,
            simhash: None,
        }
    }

    fn store() -> InMemory {
        let store = InMemory::new();
        let mut batch = Batch::new();
        let rows = [(1, -5, VersionKind::Full), (1, 10, VersionKind::Full), (1, 20, VersionKind::Identical)];
        for (page, time, kind) in
            rows.into_iter().chain([(0, 5, VersionKind::Full), (2, 5, VersionKind::Full)])
        {
            let key = version_key(PageNumber(page), Timestamp::from_millis(time));
            batch.put(Space::Versions, key, version(kind).encode());
        }
        store.commit(batch, Durability::Buffered).expect("it is committed");
        store
    }

    #[track_caller]
    fn check(at: i64, newest: Option<i64>, full: Option<i64>) {
        let (store, page, at) = (store(), PageNumber(1), Timestamp::from_millis(at));
        let versions = Versions(&store);
        let time = |found: Option<Version>| found.map(|version| version.time.millis());
        assert_eq!(time(versions.at(page, at).expect("read")), newest);
        assert_eq!(time(versions.full_at(page, at).expect("read")), full);
    }

    #[test]
    fn the_version_at_a_moment_is_the_newest_not_later() {
        check(-6, None, None);
        check(-5, Some(-5), Some(-5));
        check(19, Some(10), Some(10));
        check(99, Some(20), Some(10));
    }

    #[test]
    fn versions_of_a_page_come_in_the_order_of_time() {
        let store = store();
        let times: Vec<_> =
            Versions(&store).of(PageNumber(1)).map(|version| version.expect("read").time.millis()).collect();
        assert_eq!(times, [-5, 10, 20]);
    }

    proptest! {
        #[test]
        fn keys_sort_as_page_and_time_do(a: (u32, i64), b: (u32, i64)) {
            let key = |(page, millis)| version_key(PageNumber(page), Timestamp::from_millis(millis));
            prop_assert_eq!(a.cmp(&b), key(a).cmp(&key(b)));
            prop_assert_eq!(parse_version_key(&key(a)), Some((PageNumber(a.0), Timestamp::from_millis(a.1))));
        }

        #[test]
        fn any_bytes_are_no_panic(mut bytes in prop::collection::vec(any::<u8>(), 1..100)) {
            let _ = VersionRecord::decode(&bytes);
            bytes[0] = 1;
            let _ = VersionRecord::decode(&bytes);
            let _ = parse_version_key(&bytes);
        }
    }
}
