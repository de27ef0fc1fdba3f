//! The last segment after a loss of power: it may be shorter than the commits say, for they were with the system and not on the disk.
//!
//! What is whole is kept. Versions whose records are lost are forgotten, and their pages lose the validators that would let a server say "not modified" of
//! bytes that we no longer have. The visits stay: they were made.
//!
//! # Promises
//! - After mending, every version that is left can be read.

use std::path::Path;

use crate::all_urls::read;
use crate::codec::{Malformed, Record as _};
use crate::coll_urls::PageRecord;
use crate::collection::reading::SegmentRecords;
use crate::collection::segment::SegmentRecord;
use crate::counters::Counters;
use crate::error::StoreError;
use crate::ids::{PageNumber, Place};
use crate::key_value::{Batch, Direction, Durability, KeyRange, KeyValue, Space};
use crate::store::{COUNTERS, place_key};
use crate::time::Timestamp;
use crate::versions::{VersionKind, Versions, parse_version_key};

/// Forgets the versions of the last segment whose records are not there; gives what the segment then is, and how many versions were lost.
pub(crate) fn mend_tail(
    state: &dyn KeyValue,
    collection: &Path,
    number: u32,
    record: &SegmentRecord,
) -> Result<(SegmentRecord, u64), StoreError> {
    let mut mended = SegmentRecord { bytes: 0, versions: 0, ..record.clone() };
    let mut records = SegmentRecords::open(collection, number, record.bytes)?;
    while let Some(Ok((_, found))) = records.next() {
        mended.versions += u64::from(matches!(found.kind(), "response" | "revisit"));
        mended.bytes = records.offset();
    }
    let mut batch = Batch::new();
    let lost = forget_from(state, number, mended.bytes, &mut batch)?;
    let mut counters: Counters = read(state, Space::Meta, COUNTERS)?.unwrap_or_default();
    counters.versions = counters.versions.saturating_sub(lost);
    counters.collection_bytes = counters.collection_bytes.saturating_sub(record.bytes - mended.bytes);
    batch.put(Space::Meta, COUNTERS, counters.encode());
    batch.put(Space::Segments, number.to_be_bytes(), mended.encode());
    state.commit(batch, Durability::Synced)?;
    Ok((mended, lost))
}

/// Forgets the versions and the lines of the index from this byte of a segment on.
fn forget_from(state: &dyn KeyValue, number: u32, bytes: u64, batch: &mut Batch) -> Result<u64, StoreError> {
    let first = place_key(Place { segment: number, offset: bytes, length: 0 });
    let after = KeyRange::prefix(&number.to_be_bytes()).to;
    let mut lost = 0;
    let range = KeyRange { from: first.to_vec(), to: after };
    for entry in state.scan(Space::Places, range, Direction::Forward) {
        let (place, version) = entry?;
        let (page, _) = parse_version_key(&version)
            .ok_or(Malformed::Short)
            .map_err(StoreError::corrupt(Space::Places, &place))?;
        put_back_page(state, page, number, bytes, batch)?;
        batch.remove(Space::Versions, version);
        batch.remove(Space::Places, place);
        lost += 1;
    }
    for entry in state.scan(Space::Index, KeyRange::prefix(&number.to_be_bytes()), Direction::Forward) {
        let key = entry?.0;
        if offset_of_line(&key[4..]).is_none_or(|offset| offset >= bytes) {
            batch.remove(Space::Index, key);
        }
    }
    Ok(lost)
}

/// Lets a page whose response was lost stand at the newest that is left, without validators.
fn put_back_page(
    state: &dyn KeyValue,
    page: PageNumber,
    number: u32,
    bytes: u64,
    batch: &mut Batch,
) -> Result<(), StoreError> {
    let Some(record) = read::<PageRecord>(state, Space::Pages, &page.key())? else {
        return Ok(());
    };
    let is_lost = |place: Place| place.segment == number && place.offset >= bytes;
    if !record.place.is_some_and(is_lost) {
        return Ok(());
    }
    let mut place = None;
    for version in Versions(state).before(page, Timestamp::from_millis(i64::MAX)) {
        let version = version?.record;
        if version.kind == VersionKind::Full && !is_lost(version.place) {
            place = Some(version.place);
            break;
        }
    }
    let record =
        PageRecord { place, etag: None, last_modified: None, raw_digest: None, text_digest: None, ..record };
    batch.put(Space::Pages, page.key(), record.encode());
    Ok(())
}

/// The offset that a line of the index names.
fn offset_of_line(line: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(line).ok()?;
    text.rsplit_once("\"offset\": \"")?.1.split('"').next()?.parse().ok()
}
