//! Repairs the last segment after a power loss: it may be shorter than committed, because bytes were not
//! yet on disk.
//!
//! Complete records are kept. Versions whose records are lost are forgotten, and their pages lose the
//! validators that would let a server answer "not modified" for bytes that we no longer have. The visits
//! stay: they were made.
//!
//! # Promises
//! - Afterwards every remaining version can be read.

use std::collections::BTreeSet;
use std::path::Path;

use freshet_protocol::codec::{Malformed, Record as _};
use freshet_protocol::ids::PageNumber;
use freshet_protocol::time::Timestamp;

use crate::coll_urls::PageRecord;
use crate::collection::reading::SegmentRecords;
use crate::collection::segment::SegmentRecord;
use crate::counters::Counters;
use crate::error::StoreError;
use crate::key_value::{Batch, Direction, KeyRange, KeyValue, Space};
use crate::records::read;
use crate::versions::{VersionKind, Versions, parse_version_key, place_key, version_key};

/// The result of repairing a segment whose end was lost.
pub(crate) struct Mend {
    /// The new record of the segment.
    pub(crate) segment: SegmentRecord,
    /// Number of lost versions.
    pub(crate) versions: u64,
    /// The batch with the changes.
    pub(crate) batch: Batch,
}

/// Forgets the versions of the last segment whose records are lost, and counts the others.
pub(crate) fn mend_tail(
    state: &dyn KeyValue,
    collection: &Path,
    number: u32,
    record: &SegmentRecord,
    counters: &mut Counters,
) -> Result<Mend, StoreError> {
    let mut segment = SegmentRecord { bytes: 0, versions: 0, ..record.clone() };
    let mut records = SegmentRecords::open(collection, number, record.bytes)?;
    while let Some(Ok((_, found))) = records.next() {
        segment.versions += u64::from(matches!(found.kind(), "response" | "revisit"));
        segment.bytes = records.offset();
    }
    let mut batch = Batch::new();
    let versions = forget(state, number, &|offset| offset >= segment.bytes, &mut batch)?;
    counters.versions = counters.versions.saturating_sub(versions);
    counters.collection_bytes = counters.collection_bytes.saturating_sub(record.bytes - segment.bytes);
    batch.put(Space::Segments, number.to_be_bytes(), segment.encode());
    Ok(Mend { segment, versions, batch })
}

/// Forgets the versions of a segment whose records are lost, and their index lines. Returns how many versions
/// it forgot. A revisit is forgotten together with the full response that it refers to.
pub(crate) fn forget(
    state: &dyn KeyValue,
    number: u32,
    is_lost: &dyn Fn(u64) -> bool,
    batch: &mut Batch,
) -> Result<u64, StoreError> {
    let mut gone: BTreeSet<(PageNumber, Timestamp)> = BTreeSet::new();
    for entry in state.scan(Space::Places, KeyRange::prefix(&number.to_be_bytes()), Direction::Forward) {
        let (place, version) = entry?;
        let corrupt = |malformed| StoreError::corrupt(Space::Places, &place)(malformed);
        let offset = place.get(4..).and_then(|offset| Some(u64::from_be_bytes(offset.try_into().ok()?)));
        if is_lost(offset.ok_or_else(|| corrupt(Malformed::Short))?) {
            gone.insert(parse_version_key(&version).ok_or_else(|| corrupt(Malformed::Short))?);
            batch.remove(Space::Places, place);
        }
    }
    for (page, time) in gone.clone() {
        let is_full = Versions(state).get(page, time)?.is_none_or(|lost| lost.kind == VersionKind::Full);
        for version in Versions(state).after(page, time).filter(|_| is_full) {
            let version = version?;
            if version.record.kind == VersionKind::Full {
                break;
            }
            batch.remove(Space::Places, place_key(version.record.place));
            gone.insert((page, version.time));
        }
    }
    let pages: BTreeSet<PageNumber> = gone.iter().map(|(page, _)| *page).collect();
    for page in pages {
        put_back_page(state, page, &|time| gone.contains(&(page, time)), batch)?;
    }
    gone.iter().for_each(|(page, time)| batch.remove(Space::Versions, version_key(*page, *time)));
    for entry in state.scan(Space::Index, KeyRange::prefix(&number.to_be_bytes()), Direction::Forward) {
        let key = entry?.0;
        if offset_of_line(&key[4..]).is_none_or(is_lost) {
            batch.remove(Space::Index, key);
        }
    }
    Ok(gone.len() as u64)
}

/// Sets the place of a page whose response was lost to its newest remaining version, without validators.
fn put_back_page(
    state: &dyn KeyValue,
    page: PageNumber,
    is_gone: &dyn Fn(Timestamp) -> bool,
    batch: &mut Batch,
) -> Result<(), StoreError> {
    let Some(record) = read::<PageRecord>(state, Space::Pages, &page.key())? else {
        return Ok(());
    };
    let mut is_lost = false;
    let mut place = None;
    for version in Versions(state).before(page, Timestamp::from_millis(i64::MAX)) {
        let version = version?;
        is_lost |= is_gone(version.time) && record.place == Some(version.record.place);
        if place.is_none() && version.record.kind == VersionKind::Full && !is_gone(version.time) {
            place = Some(version.record.place);
        }
    }
    if is_lost {
        let record = PageRecord {
            place,
            etag: None,
            last_modified: None,
            raw_digest: None,
            text_digest: None,
            ..record
        };
        batch.put(Space::Pages, page.key(), record.encode());
    }
    Ok(())
}

/// The record offset in an index line.
fn offset_of_line(line: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(line).ok()?;
    text.rsplit_once("\"offset\": \"")?.1.split('"').next()?.parse().ok()
}
