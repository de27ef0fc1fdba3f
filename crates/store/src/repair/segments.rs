//! Repairs the Collection: intact records stay in place, damaged bytes are moved aside and replaced by a
//! filler record, and the versions in them are forgotten.
//!
//! # Promises
//! - A readable record stays where it is.
//! - Afterwards a segment can be read from its first byte to its last, and its index has the lines of
//!   its records.

use std::cell::RefCell;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use freshet_protocol::codec::Record as _;
use freshet_protocol::time::Timestamp;

use super::filler::{FILLER_BYTES_MIN, Spot, filler};
use crate::collection::index;
use crate::collection::reading::SegmentRecords;
use crate::collection::segment::{self, SegmentRecord, number_of, segments};
use crate::collection::warc::WarcWriter;
use crate::counters::Counters;
use crate::directory::aside::Aside;
use crate::directory::folders::{listed, relative};
use crate::error::StoreError;
use crate::identity::Identity;
use crate::key_value::{Batch, Direction, KeyRange, KeyValue, Space};
use crate::ledger::Ledger;
use crate::opening::mend::forget;
use crate::records::read;

/// The first bytes of every gzip member that we write.
const MEMBER: [u8; 4] = [0x1f, 0x8b, 8, 0];

/// Number of bytes searched at once for the next member.
const SEARCH_BYTES: usize = 1 << 20;

/// The context shared by the parts of a repair: the store, and its log.
pub(super) struct Ground<'a> {
    pub(super) directory: &'a Path,
    pub(super) state: &'a dyn KeyValue,
    pub(super) identity: &'a Identity,
    /// Whether commits were lost, so that files may hold data that the state does not list.
    pub(super) lost_commits: bool,
    pub(super) now: Timestamp,
    /// The log, which also gets the steps of the repair, and the current counters.
    pub(super) ledger: RefCell<(Ledger, Counters)>,
}

impl Ground<'_> {
    /// Commits a batch as a step.
    pub(super) fn commit(&self, batch: Batch) -> Result<(), StoreError> {
        if batch.is_empty() {
            return Ok(());
        }
        let (ledger, counters) = &mut *self.ledger.borrow_mut();
        ledger.take(self.state, batch, counters)
    }

    /// Commits a step that sets the counters.
    pub(super) fn count(&self, counted: Counters) -> Result<(), StoreError> {
        let (ledger, counters) = &mut *self.ledger.borrow_mut();
        let commits = counters.commits;
        if *counters == (Counters { commits, ..counted.clone() }) {
            return Ok(());
        }
        *counters = Counters { commits, ..counted };
        ledger.take(self.state, Batch::new(), counters)
    }

    /// Syncs all changes. `clean` means that the crawl had ended cleanly before the repair.
    pub(super) fn sync(&self, clean: bool) -> Result<(), StoreError> {
        // After a clean end, the index file of the last segment has all its records.
        if clean
            && let Some((number, record)) = segments(self.state).last().transpose()?
            && !record.indexed
        {
            index::write_kept(self.state, &self.collection(), number)?;
        }
        let (ledger, counters) = &mut *self.ledger.borrow_mut();
        ledger.sync_segment(self.state, &self.collection(), counters, clean)
    }

    fn collection(&self) -> PathBuf {
        self.directory.join("collection")
    }

    pub(super) fn name(&self, path: &Path) -> String {
        relative(path, self.directory)
    }
}

/// Repairs every segment. Returns the number of lost versions.
pub(super) fn repair_segments(
    ground: &Ground<'_>,
    aside: &mut Aside,
    said: &mut Vec<String>,
) -> Result<u64, StoreError> {
    let collection = ground.collection();
    fs::create_dir_all(&collection).map_err(StoreError::file("make", &collection))?;
    if ground.lost_commits {
        register_unknown(ground, said)?;
    }
    let known = segments(ground.state).collect::<Result<Vec<_>, _>>()?;
    let last = known.last().map(|(number, _)| *number);
    let mut lost = 0;
    for (number, mut record) in known {
        let path = collection.join(segment::file_name(number));
        let name = ground.name(&path);
        let length = match fs::metadata(&path) {
            Ok(metadata) => metadata.len(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                said.push(format!("{name}: it is missing; an empty one takes its place"));
                lost += replace_missing(ground, number, &mut record)?;
                continue;
            }
            Err(error) => return Err(StoreError::file("read the length of", &path)(error)),
        };
        if length > record.bytes && (record.closed || ground.lost_commits && last == Some(number)) {
            record.bytes = length;
        }
        let survey = Survey::of(&collection, number, record.bytes.min(length))?;
        lost += settle_segment(ground, number, &record, &survey, aside, said)?;
    }
    Ok(lost)
}

/// Registers segments that the state does not list, because the commits that registered them may be lost.
fn register_unknown(ground: &Ground<'_>, said: &mut Vec<String>) -> Result<(), StoreError> {
    let mut batch = Batch::new();
    for path in listed(&ground.collection())? {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let Some(number) = number_of(name).filter(|_| name.ends_with(".warc.gz")) else { continue };
        let known: Option<SegmentRecord> = read(ground.state, Space::Segments, &number.to_be_bytes())?;
        let length = fs::metadata(&path).map_err(StoreError::file("read the length of", &path))?.len();
        if known.is_none() && length > 0 {
            let record = SegmentRecord { bytes: length, closed: true, ..SegmentRecord::default() };
            batch.put(Space::Segments, number.to_be_bytes(), record.encode());
            said.push(format!("{}: taken in", ground.name(&path)));
        }
    }
    ground.commit(batch)
}

/// Writes an empty segment in place of a missing one, so that no other gets its number.
fn replace_missing(ground: &Ground<'_>, number: u32, record: &mut SegmentRecord) -> Result<u64, StoreError> {
    let collection = ground.collection();
    let name = segment::file_name(number);
    let mut bytes = Vec::new();
    WarcWriter::new(ground.identity.id, "freshet fsck", 6).append_warcinfo(&name, ground.now, &mut bytes);
    let path = collection.join(&name);
    fs::write(&path, &bytes).map_err(StoreError::file("write", &path))?;
    index::write(&collection.join(segment::index_name(number)), std::iter::empty())?;
    *record = SegmentRecord {
        bytes: bytes.len() as u64,
        closed: true,
        indexed: true,
        versions: 0,
        ..record.clone()
    };
    let mut batch = Batch::new();
    let lost = forget(ground.state, number, &|_| true, &mut batch)?;
    batch.put(Space::Segments, number.to_be_bytes(), record.encode());
    ground.commit(batch)?;
    Ok(lost)
}

/// Which parts of a segment are readable.
#[derive(Debug, Default)]
struct Survey {
    /// The unreadable byte ranges.
    holes: Vec<Range<u64>>,
    /// The offset after the last readable record.
    end: u64,
    /// Number of responses and revisits.
    versions: u64,
    /// The times of the first and the last of them.
    span: Option<(Timestamp, Timestamp)>,
}

impl Survey {
    fn of(collection: &Path, number: u32, bytes: u64) -> Result<Self, StoreError> {
        let mut survey = Self::default();
        let mut at = 0;
        while at < bytes {
            let mut records = SegmentRecords::open_at(collection, number, at..bytes)?;
            while let Some(Ok((_, record))) = records.next() {
                if matches!(record.kind(), "response" | "revisit") {
                    survey.versions += 1;
                    let time = record.time().unwrap_or_default();
                    let (first, last) = survey.span.unwrap_or((time, time));
                    survey.span = Some((first.min(time), last.max(time)));
                }
                at = records.offset();
                survey.end = at;
            }
            if at < bytes {
                // No filler is shorter, so a record that begins within that length is dropped too.
                let next = next_record(collection, number, at + FILLER_BYTES_MIN..bytes)?.unwrap_or(bytes);
                survey.holes.push(at..next);
                at = next;
            }
        }
        Ok(survey)
    }
}

/// The offset of the next readable record.
fn next_record(collection: &Path, number: u32, bytes: Range<u64>) -> Result<Option<u64>, StoreError> {
    let path = collection.join(segment::file_name(number));
    let file = File::open(&path).map_err(StoreError::file("open", &path))?;
    let mut buffer = vec![0; SEARCH_BYTES];
    let mut at = bytes.start;
    while at < bytes.end {
        let count = file.read_at(&mut buffer, at).map_err(StoreError::file("read", &path))?;
        let found = &buffer[..count];
        for start in found.windows(MEMBER.len()).enumerate().filter(|(_, window)| **window == MEMBER) {
            let offset = at + start.0 as u64;
            let mut records = SegmentRecords::open_at(collection, number, offset..bytes.end)?;
            if matches!(records.next(), Some(Ok(_))) {
                return Ok(Some(offset));
            }
        }
        if count < MEMBER.len() {
            break;
        }
        // A member may begin in the last bytes of the buffer.
        at += (count - (MEMBER.len() - 1)) as u64;
    }
    Ok(None)
}

/// Fills the holes of a segment, forgets the versions in them, and rewrites its index if it is wrong.
fn settle_segment(
    ground: &Ground<'_>,
    number: u32,
    before: &SegmentRecord,
    survey: &Survey,
    aside: &mut Aside,
    said: &mut Vec<String>,
) -> Result<u64, StoreError> {
    let collection = ground.collection();
    let path = collection.join(segment::file_name(number));
    let name = ground.name(&path);
    let mut lost_ranges = survey.holes.clone();
    for hole in &survey.holes {
        put_aside(&path, &name, hole, aside)?;
        if hole.start >= survey.end {
            said.push(format!("{name}: cut at byte {}, where it can no longer be read", hole.start));
        } else {
            fill(ground, &path, number, hole)?;
            said.push(format!(
                "{name}: bytes {} to {} replaced by a record that says so",
                hole.start, hole.end
            ));
        }
    }
    let file = OpenOptions::new().write(true).open(&path).map_err(StoreError::file("open", &path))?;
    file.set_len(survey.end).map_err(StoreError::file("cut", &path))?;
    file.sync_all().map_err(StoreError::file("sync", &path))?;
    lost_ranges.push(survey.end..u64::MAX);
    let mut batch = Batch::new();
    let is_lost = |offset: u64| lost_ranges.iter().any(|range| range.contains(&offset));
    let lost = forget(ground.state, number, &is_lost, &mut batch)?;
    let (first, last) = survey.span.unwrap_or((before.first, before.last));
    let record = SegmentRecord {
        bytes: survey.end,
        versions: survey.versions,
        indexed: before.closed,
        first,
        last,
        closed: before.closed,
    };
    batch.put(Space::Segments, number.to_be_bytes(), record.encode());
    let lines = index::lines_of_records(&collection, number, survey.end)?;
    for entry in ground.state.scan(Space::Index, KeyRange::prefix(&number.to_be_bytes()), Direction::Forward)
    {
        batch.remove(Space::Index, entry?.0);
    }
    if record.closed {
        write_index(ground, number, lines, aside, said)?;
    } else {
        for line in &lines {
            batch.put(Space::Index, [&number.to_be_bytes(), line.as_slice()].concat(), []);
        }
        if !has_only(&collection.join(segment::index_name(number)), &lines) {
            write_index(ground, number, lines, aside, said)?;
        }
    }
    ground.commit(batch)?;
    Ok(lost)
}

/// Whether the index file of a segment that is still appended to has only these lines: the last stop wrote
/// it. It may be missing.
fn has_only(path: &Path, lines: &[Vec<u8>]) -> bool {
    let Ok(found) = fs::read(path) else { return !path.exists() };
    let is_ended = found.is_empty() || found.ends_with(b"\n");
    let mut found: Vec<&[u8]> = found.split(|byte| *byte == b'\n').collect();
    found.pop_if(|last| last.is_empty());
    let is_one = |line: &&[u8]| lines.binary_search_by(|other| other.as_slice().cmp(line)).is_ok();
    is_ended && found.is_sorted() && found.iter().all(is_one)
}

fn put_aside(path: &Path, name: &str, hole: &Range<u64>, aside: &mut Aside) -> Result<(), StoreError> {
    let file = File::open(path).map_err(StoreError::file("open", path))?;
    let length = usize::try_from(hole.end - hole.start).unwrap_or(usize::MAX);
    let mut bytes = vec![0; length];
    let count = file.read_at(&mut bytes, hole.start).map_err(StoreError::file("read", path))?;
    aside.keep(&format!("{name}.from-{}", hole.start), &bytes[..count])
}

/// Replaces damaged bytes by a filler record of the same length.
fn fill(ground: &Ground<'_>, path: &Path, number: u32, hole: &Range<u64>) -> Result<(), StoreError> {
    let length = usize::try_from(hole.end - hole.start).unwrap_or(usize::MAX);
    let file_name = segment::file_name(number);
    let spot = Spot { store: &ground.identity.id, file: &file_name, offset: hole.start, time: ground.now };
    let member = filler(length, spot).expect("no hole is shorter than the shortest filler");
    let file = OpenOptions::new().write(true).open(path).map_err(StoreError::file("open", path))?;
    file.write_all_at(&member, hole.start).map_err(StoreError::file("write", path))
}

/// Writes the index of a segment, unless it is right.
fn write_index(
    ground: &Ground<'_>,
    number: u32,
    lines: Vec<Vec<u8>>,
    aside: &mut Aside,
    said: &mut Vec<String>,
) -> Result<(), StoreError> {
    let path = ground.collection().join(segment::index_name(number));
    let name = ground.name(&path);
    let mut text = lines.join(&b'\n');
    text.extend((!text.is_empty()).then_some(b'\n'));
    match fs::read(&path) {
        Ok(found) if found == text => return Ok(()),
        Ok(_) => aside.take(&name)?,
        Err(_) => {}
    }
    said.push(format!("{name}: written anew from the segment"));
    index::write(&path, lines.into_iter().map(Ok))
}
