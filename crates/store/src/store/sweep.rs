//! Old versions dropped: whole segments where nothing in them is kept any more, and others by writing what is
//! kept once more.
//!
//! A sweep goes through the closed segments from the oldest. In each it first forgets the versions that the
//! limits let go; then, if little is left, it appends what is left to the last segment, byte for byte, and
//! removes the file. Every step is a commit of its own: a crash between two leaves some versions moved and
//! the others where they were.
//!
//! # Promises
//! - A version is at every instant found where the store says it is, or is no longer there at all.
//! - What is forgotten is gone from the versions at once, and from WARC and CDXJ when its segment is
//!   written again.
//! - A step is bounded, so that it can be done between two commits.

use std::collections::HashSet;
use std::fs::File;
use std::os::unix::fs::FileExt as _;

use freshet_protocol::codec::{Malformed, Record as _};
use freshet_protocol::ids::{PageNumber, Place};
use freshet_protocol::time::Timestamp;

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

/// Versions that are looked at in one step.
const VERSIONS_PER_STEP: usize = 2000;

/// Bytes that are written again in one step.
const BYTES_PER_STEP: usize = 4 << 20;

/// Milliseconds after which a sweep is begun anew, even if no segment was closed: a day.
const SWEEP_INTERVAL: i64 = 86_400_000;

/// How far a sweep has come.
#[derive(Debug, Default)]
pub(crate) struct Sweep {
    /// When the last sweep began, and the last segment that was closed then.
    begun: Option<(Timestamp, u32)>,
    /// The segment that is looked at, from which key on, and the bytes kept in it so far; none
    /// between sweeps.
    at: Option<(u32, Vec<u8>, u64)>,
    /// The segment whose rest is being written again.
    moving: Option<u32>,
    /// Segments that are no more: page records that others hold may still name them.
    pub(crate) gone: HashSet<u32>,
}

impl Sweep {
    fn is_due(&self, now: Timestamp, tail: u32) -> bool {
        self.begun.is_none_or(|(begun, last)| last < tail || now.millis_since(begun) >= SWEEP_INTERVAL)
    }
}

impl Store {
    /// Does the next step of a sweep, if one is due.
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
            // What the sweep itself appended is no reason for another.
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

    /// Forgets what may go among the next versions of a segment.
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

    /// Writes some of what is left of a segment once more; removes the segment when nothing is.
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
            // Whether the copies count is known when the store was opened again.
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

    /// The next versions that are left in a segment, as many as one step takes.
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
        // The file may hold what the moved versions were copied from: it goes when these are on the disk.
        let names = [segment::file_name(number), segment::index_name(number)];
        self.ledger.replace(names.map(|name| format!("collection/{name}")), &mut batch);
        self.ledger.take(self.state.as_ref(), batch, &mut counters)?;
        self.counters = counters;
        self.unindexed.remove(&number);
        Ok(Tidied::Removed { segment: number, bytes: record.bytes })
    }
}
