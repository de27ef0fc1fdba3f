//! Drops old versions: deletes segments in which nothing is kept any more, and rewrites the remaining
//! versions of others.
//!
//! A sweep visits the closed segments from the oldest. In each it first forgets the versions that exceed the
//! limits. Then, if little is left, it appends the rest to the last segment, byte for byte, and removes the
//! file. Every step is a commit of its own: after a crash in between, some versions are moved and the others
//! are where they were.
//!
//! # Promises
//! - A version is always at its recorded place, or no longer exists.
//! - A forgotten version disappears from the versions at once, and from WARC and CDXJ when its segment
//!   is rewritten.
//! - A step is bounded, so that it fits between two commits.

use std::collections::HashSet;
use std::fs::File;
use std::os::unix::fs::FileExt as _;

use freshet_protocol::codec::{Malformed, Record as _};
use freshet_protocol::ids::{PageNumber, Place};
use freshet_protocol::time::{MILLIS_PER_DAY, Timestamp};

use super::opened::Store;
use super::tidy::Tidied;
use crate::coll_urls::PageRecord;
use crate::collection::index::{self, IndexLine, LINE_BYTES_MAX};
use crate::collection::reading::read_record;
use crate::collection::segment::{self, SegmentRecord, segments};
use crate::collection::warc::WarcRecord;
use crate::error::StoreError;
use crate::key_value::{Batch, Direction, KeyRange, Space};
use crate::records::read;
use crate::versions::{VersionRecord, Versions, parse_version_key, place_key};

/// Number of versions checked in one step.
const VERSIONS_PER_STEP: usize = 2000;

/// Number of bytes rewritten in one step.
const BYTES_PER_STEP: usize = 4 << 20;

/// Milliseconds after which a new sweep begins even if no segment was closed: a day.
const SWEEP_INTERVAL: i64 = MILLIS_PER_DAY;

/// The progress of a sweep.
#[derive(Debug, Default)]
pub(crate) struct Sweep {
    /// When the last sweep began, and the current segment at that time.
    begun: Option<(Timestamp, u32)>,
    /// The segment in progress, the next key in it, and the number of bytes kept in it so far; none
    /// between sweeps.
    at: Option<(u32, Vec<u8>, u64)>,
    /// The segment that is being rewritten.
    moving: Option<u32>,
    /// Removed segments: page records held elsewhere may still refer to them.
    pub(crate) gone: HashSet<u32>,
}

impl Sweep {
    fn is_due(&self, now: Timestamp, tail: u32) -> bool {
        self.begun.is_none_or(|(begun, last)| last < tail || now.millis_since(begun) >= SWEEP_INTERVAL)
    }
}

impl Store {
    /// Performs the next step of a sweep, if one is due.
    pub(crate) fn sweep_step(&mut self, now: Timestamp) -> Result<Option<Tidied>, StoreError> {
        if self.settings.keep.is_everything() {
            return Ok(None);
        }
        if let Some(number) = self.sweep.moving {
            return self.move_step(number).map(Some);
        }
        let (number, key, kept) = match self.sweep.at.take() {
            Some(at) => at,
            None if self.sweep.is_due(now, self.tail_number) => {
                self.sweep.begun = Some((now, self.tail_number));
                (0, Vec::new(), 0)
            }
            None => return Ok(None),
        };
        let Some((number, record)) = self.closed_segment_from(number)? else {
            // Segments appended by the sweep itself do not cause another one.
            self.sweep.begun = self.sweep.begun.map(|(begun, _)| (begun, self.tail_number));
            return Ok(None);
        };
        let key = if key.is_empty() { number.to_be_bytes().to_vec() } else { key };
        self.forget_step(number, &record, (key, kept), now).map(Some)
    }

    fn closed_segment_from(&self, number: u32) -> Result<Option<(u32, SegmentRecord)>, StoreError> {
        segments(self.state.as_ref())
            .find(|entry| entry.as_ref().map_or(true, |(found, record)| *found >= number && record.closed))
            .transpose()
    }

    /// Forgets the versions that exceed the limits among the next ones of a segment.
    fn forget_step(
        &mut self,
        number: u32,
        segment: &SegmentRecord,
        (from, mut kept): (Vec<u8>, u64),
        now: Timestamp,
    ) -> Result<Tidied, StoreError> {
        let state = self.state.as_ref();
        let (keep, versions) = (self.settings.keep, Versions(state));
        let crowded = keep.bytes.is_some_and(|most| self.counters.collection_bytes > most);
        let end = KeyRange::prefix(&number.to_be_bytes()).to;
        let (mut batch, mut looked_at, mut last, mut forgotten) = (Batch::new(), 0, None, 0);
        let range = KeyRange { from, to: end };
        for entry in state.scan(Space::Places, range, Direction::Forward).take(VERSIONS_PER_STEP) {
            let (place, version) = entry?;
            looked_at += 1;
            let (page, time) = parse_version_key(&version)
                .ok_or(Malformed::Short)
                .map_err(StoreError::corrupt(Space::Places, &place))?;
            if keep.lets_go(&versions, (page, time), now, crowded)? {
                forgotten += 1;
                batch.remove(Space::Versions, version);
                batch.remove(Space::Places, place.clone());
            } else {
                kept += versions.get(page, time)?.map_or(0, |version| u64::from(version.extent));
            }
            last = Some(place);
        }
        if forgotten > 0 {
            let mut counters = self.counters.clone();
            counters.versions = counters.versions.saturating_sub(forgotten);
            counters.versions_dropped += forgotten;
            self.ledger.take(self.state.as_ref(), batch, &mut counters)?;
            self.counters = counters;
        }
        match last.filter(|_| looked_at == VERSIONS_PER_STEP) {
            Some(mut key) => {
                key.push(0);
                self.sweep.at = Some((number, key, kept));
            }
            None => {
                let little = if crowded { segment.bytes / 10 * 9 } else { segment.bytes / 2 };
                self.sweep.moving = (kept <= little).then_some(number);
                self.sweep.at = Some((number + 1, Vec::new(), 0));
            }
        }
        Ok(Tidied::Forgotten { segment: number, versions: forgotten })
    }

    /// Rewrites some of the remaining versions of a segment; removes the segment when none are left.
    fn move_step(&mut self, number: u32) -> Result<Tidied, StoreError> {
        self.sweep.gone.insert(number);
        let places = self.next_places(number)?;
        if places.is_empty() {
            self.sweep.moving = None;
            return self.remove_segment(number);
        }
        self.roll_if_large()?;
        let (length, before) = (self.tail.length(), self.tail_record.clone());
        let mut batch = Batch::new();
        let mut counters = self.counters.clone();
        let result = self.move_places(number, &places, &mut batch).and_then(|()| {
            counters.collection_bytes += self.tail.length() - length;
            batch.put(Space::Segments, self.tail_number.to_be_bytes(), self.tail_record.encode());
            self.ledger.take(self.state.as_ref(), batch, &mut counters)
        });
        match result {
            Ok(()) => {}
            // Whether the copies were committed is known after the state was reopened.
            Err(error @ StoreError::Poisoned { .. }) => return Err(error),
            Err(error) => {
                self.tail_record = before;
                self.tail.cut_back(length)?;
                return Err(error);
            }
        }
        self.counters = counters;
        Ok(Tidied::Moved { segment: number, versions: places.len() as u64 })
    }

    /// The next remaining versions of a segment, as many as fit in one step.
    fn next_places(&self, number: u32) -> Result<Vec<(PageNumber, Timestamp, VersionRecord)>, StoreError> {
        let state = self.state.as_ref();
        let mut places = Vec::new();
        let mut bytes = 0;
        for entry in state.scan(Space::Places, KeyRange::prefix(&number.to_be_bytes()), Direction::Forward) {
            let (place, version) = entry?;
            let (page, time) = parse_version_key(&version)
                .ok_or(Malformed::Short)
                .map_err(StoreError::corrupt(Space::Places, &place))?;
            let record = Versions(state)
                .get(page, time)?
                .ok_or(Malformed::Short)
                .map_err(StoreError::corrupt(Space::Versions, &version))?;
            bytes += record.extent as usize;
            places.push((page, time, record));
            if bytes >= BYTES_PER_STEP {
                break;
            }
        }
        Ok(places)
    }

    fn move_places(
        &mut self,
        number: u32,
        places: &[(PageNumber, Timestamp, VersionRecord)],
        batch: &mut Batch,
    ) -> Result<(), StoreError> {
        let path = self.shared.collection().join(segment::file_name(number));
        let file = File::open(&path).map_err(StoreError::file("open", &path))?;
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        self.begin_segment(places[0].1, &mut buffer);
        for (page, time, version) in places {
            let old = version.place;
            let record = read_record(&self.shared.collection(), old)?;
            let start = buffer.len();
            buffer.resize(start + version.extent as usize, 0);
            file.read_exact_at(&mut buffer[start..], old.offset).map_err(StoreError::file("read", &path))?;
            let offset = self.tail.length() + start as u64;
            let place = Place { segment: self.tail_number, offset, length: old.length };
            self.put_moved((*page, *time), version, place, &record, batch)?;
        }
        let appended = self.tail.append(&buffer);
        self.buffer = buffer;
        appended?;
        self.tail_record.bytes = self.tail.length();
        Ok(())
    }

    fn put_moved(
        &mut self,
        (page, time): (PageNumber, Timestamp),
        version: &VersionRecord,
        place: Place,
        record: &WarcRecord,
        batch: &mut Batch,
    ) -> Result<(), StoreError> {
        let key = crate::versions::version_key(page, time);
        batch.put(Space::Versions, key, VersionRecord { place, ..version.clone() }.encode());
        batch.remove(Space::Places, place_key(version.place));
        batch.put(Space::Places, place_key(place), key);
        let line = IndexLine::of(record, time, &version.payload_digest, place).text();
        if line.len() <= LINE_BYTES_MAX {
            batch.put(Space::Index, index::line_key(place.segment, &line), []);
        }
        self.tail_record.count(time);
        let owner: Option<PageRecord> = read(self.state.as_ref(), Space::Pages, &page.key())?;
        if let Some(owner) = owner.filter(|owner| owner.place == Some(version.place)) {
            batch.put(Space::Pages, page.key(), PageRecord { place: Some(place), ..owner }.encode());
        }
        Ok(())
    }

    fn remove_segment(&mut self, number: u32) -> Result<Tidied, StoreError> {
        let state = self.state.as_ref();
        let key = number.to_be_bytes();
        let record: SegmentRecord = read(state, Space::Segments, &key)?.unwrap_or_default();
        let mut counters = self.counters.clone();
        counters.collection_bytes = counters.collection_bytes.saturating_sub(record.bytes);
        let mut batch = Batch::new();
        batch.remove(Space::Segments, key);
        // The moved versions were copied from this file, so it is removed only once they are on disk.
        let names = [segment::file_name(number), segment::index_name(number)];
        self.ledger.replace(names.map(|name| format!("collection/{name}")), &mut batch);
        self.ledger.take(self.state.as_ref(), batch, &mut counters)?;
        self.counters = counters;
        self.unindexed.remove(&number);
        Ok(Tidied::Removed { segment: number, bytes: record.bytes })
    }
}
