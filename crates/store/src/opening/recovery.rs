//! Recovery of a store when it is opened: compares it with `SYNCED`, and replays the steps of the log that
//! the state lacks.
//!
//! `SYNCED` records what is durable. Whatever is behind it (the state, a keyspace, the log, a segment, a file
//! of the History) was emptied, truncated or replaced by an older copy. It is refused by name, and nothing is
//! changed. Whatever is beyond it is left by a crash: steps of the log that the state lacks are replayed, and
//! bytes after the last complete record are ignored.
//!
//! # Promises
//! - Recovery only writes steps of the log, to the state.
//! - Afterwards the state has every step of the log.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use freshet_protocol::ids::Place;
use freshet_protocol::time::Timestamp;

use crate::collection::index::{self, IndexLine, LINE_BYTES_MAX};
use crate::collection::reading::SegmentRecords;
use crate::collection::segment::{self, SegmentRecord, segments};
use crate::counters::{COUNTERS, Counters};
use crate::directory::folders::listed as listed_folder;
use crate::error::StoreError;
use crate::history::files::registered;
use crate::identity::Identity;
use crate::key_value::{Batch, Durability, KeyValue, Space, View};
use crate::log::end::LogEnd;
use crate::log::files::{LogFile, listed};
use crate::log::frame::{Frame, Kind, next_frame};
use crate::log::step::replayed;
use crate::records::read;
use crate::synced::Synced;

/// Refuses a store that is behind, and brings the state up to the end of the log.
pub(crate) fn recover(
    directory: &Path,
    state: &dyn KeyValue,
    identity: &Identity,
    synced: &Synced,
) -> Result<LogEnd, StoreError> {
    if synced.store != identity.id {
        let path = directory.join("state");
        return Err(StoreError::behind(&path, "it is of another crawl than the file SYNCED"));
    }
    let counters: Counters = read(state, Space::Meta, COUNTERS)?.unwrap_or_default();
    refuse_old_state(directory, state, &counters, synced)?;
    let before: BTreeMap<u32, u64> = segments(state)
        .map(|entry| entry.map(|(number, record)| (number, record.bytes)))
        .collect::<Result<_, _>>()?;
    let end = replay(directory, state, identity, (counters.commits, synced))?;
    if end.replayed > 0 {
        state.commit(new_lines(directory, state, &before)?, Durability::Buffered)?;
    }
    refuse_short_files(directory, state, synced)?;
    Ok(end)
}

/// Refuses a state, or a keyspace, that is older than what is durable.
fn refuse_old_state(
    directory: &Path,
    state: &dyn KeyValue,
    counters: &Counters,
    synced: &Synced,
) -> Result<(), StoreError> {
    let path = directory.join("state");
    if counters.commits < synced.step {
        let reason = format!(
            "it knows {} steps with {} visits, and {} steps with {} visits were made durable",
            counters.commits, counters.visits, synced.step, synced.visits
        );
        return Err(StoreError::behind(&path, &reason));
    }
    if let Some(behind) = state.behind()?.first() {
        return Err(StoreError::behind(&path, &behind.to_string()));
    }
    Ok(())
}

/// Replays the steps that the state lacks.
fn replay(
    directory: &Path,
    state: &dyn KeyValue,
    identity: &Identity,
    (known, synced): (u64, &Synced),
) -> Result<LogEnd, StoreError> {
    let seed = u64::from_le_bytes(identity.seed);
    let folder = directory.join(crate::log::files::FOLDER);
    let files = listed(directory)?;
    if !files.iter().any(|(first, _)| *first == synced.log) {
        let name = crate::log::files::file_name(synced.log);
        return Err(StoreError::behind(&folder.join(name), "it is missing"));
    }
    // Earlier files are complete if they have their length; they are read only if the state lacks
    // their steps.
    let begin = files.iter().rposition(|(first, _)| *first <= (known + 1).min(synced.log)).unwrap_or(0);
    let mut expected = files[begin].0;
    let mut end = None;
    let mut replayed_steps = 0;
    for (at, (first, path)) in files.iter().enumerate().skip(begin) {
        let is_last = at + 1 == files.len();
        let file = LogFile::read(path, *first, identity.id)?;
        if *first == synced.log && (file.bytes().len() as u64) < synced.log_bytes {
            let reason = format!("it has {} bytes of {}", file.bytes().len(), synced.log_bytes);
            return Err(file.damaged(&reason));
        }
        if *first != expected {
            return Err(
                file.damaged(&format!("it begins at step {first}, and step {expected} is missing before it"))
            );
        }
        let mut time = Timestamp::default();
        let mut frames = file.frames();
        for frame in frames.by_ref() {
            time = frame.time;
            if frame.kind == Kind::Base {
                continue;
            }
            if frame.step != expected {
                return Err(
                    file.damaged(&format!("it has step {} where step {expected} belongs", frame.step))
                );
            }
            expected += 1;
            if known < frame.step {
                take_again(state, seed, &frame)?;
                replayed_steps += 1;
            }
        }
        let whole = frames.end() as u64;
        if frames.problem().is_some() {
            let is_synced = *first < synced.log || *first == synced.log && whole < synced.log_bytes;
            if is_synced || !is_last || next_frame(file.bytes(), frames.end() + 1).is_some() {
                return Err(file.damaged(&format!("it cannot be read from byte {whole} on")));
            }
        }
        if expected == *first && frames.end() <= crate::log::files::HEAD {
            return Err(file.damaged("the record that it begins with cannot be read"));
        }
        end = Some(LogEnd {
            path: path.clone(),
            first: *first,
            bytes: whole,
            torn: file.bytes().len() as u64 - whole,
            step: expected - 1,
            time,
            replayed: replayed_steps,
        });
    }
    let end = end.expect("the file that was synced last is there");
    if end.step < synced.step {
        let reason = format!("it ends at step {}, and step {} was made durable", end.step, synced.step);
        return Err(StoreError::behind(&end.path, &reason));
    }
    Ok(end)
}

/// Replays a step.
pub(crate) fn take_again(state: &dyn KeyValue, seed: u64, frame: &Frame) -> Result<(), StoreError> {
    let mut batch = replayed(state, seed, frame)?;
    batch.at_step(frame.step);
    Ok(state.commit(batch, Durability::Buffered)?)
}

/// The index lines, which are not in the log, of the records that replayed steps added.
fn new_lines(
    directory: &Path,
    state: &dyn KeyValue,
    before: &BTreeMap<u32, u64>,
) -> Result<Batch, StoreError> {
    let collection = directory.join("collection");
    let mut batch = Batch::new();
    for entry in segments(state) {
        let (number, record) = entry?;
        let from = before.get(&number).copied().unwrap_or(0);
        if record.indexed || record.bytes <= from || !collection.join(segment::file_name(number)).exists() {
            continue;
        }
        let mut records = SegmentRecords::open_at(&collection, number, from..record.bytes)?;
        // A record that cannot be read was torn by a power loss. It is forgotten when the segment is opened.
        while let Some(Ok((place, record))) = records.next() {
            batch.items.extend(line_of(place, &record).map(|key| (Space::Index, key, Some(Vec::new()))));
        }
    }
    Ok(batch)
}

/// The key of the index line of a record, if it is a response or a revisit.
fn line_of(place: Place, record: &crate::collection::warc::WarcRecord) -> Option<Vec<u8>> {
    let ("response" | "revisit", Some(time), Some(digest)) =
        (record.kind(), record.time(), record.payload_digest())
    else {
        return None;
    };
    let line = IndexLine::of(record, time, &digest, place).text();
    (line.len() <= LINE_BYTES_MAX).then(|| index::line_key(place.segment, &line))
}

/// Returns an error if a file of the store is missing, or shorter than it was when it was made durable.
pub(crate) fn refuse_short_files(
    directory: &Path,
    state: &dyn View,
    synced: &Synced,
) -> Result<(), StoreError> {
    for entry in segments(state) {
        let (number, record) = entry?;
        let bytes = if record.closed {
            record.bytes
        } else if number == synced.segment {
            synced.segment_bytes
        } else {
            0
        };
        refuse_short(&directory.join("collection").join(segment::file_name(number)), bytes, record.closed)?;
    }
    let synced_segment: Option<SegmentRecord> = read(state, Space::Segments, &synced.segment.to_be_bytes())?;
    if synced_segment.is_none() && synced.segment_bytes > 0 {
        let path = directory.join("collection").join(segment::file_name(synced.segment));
        if path.exists() {
            refuse_short(&path, synced.segment_bytes, false)?;
        }
    }
    for (name, record) in registered(state)? {
        refuse_other_length(&directory.join("history").join(name), record.bytes)?;
    }
    for (name, record) in crate::url_files::registered(state)? {
        refuse_other_length(&directory.join(crate::url_files::FOLDER).join(name), record.bytes)?;
    }
    Ok(())
}

/// Refuses a directory whose state, end of the log or last segment is missing or too short, without opening
/// any of them.
pub(crate) fn refuse_at_first_sight(directory: &Path, synced: &Synced) -> Result<(), StoreError> {
    let state = directory.join("state");
    let keyspaces = match listed_folder(&state.join("keyspaces")) {
        Err(StoreError::File { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
            return Err(StoreError::behind(&state, "it is missing or empty"));
        }
        listed => listed?,
    };
    // The engine takes a keyspace without a list of tables for one being created, and removes its tables.
    for keyspace in keyspaces.iter().filter(|path| path.is_dir()) {
        refuse_short(&keyspace.join("current"), 1, true)?;
    }
    let log = directory.join(crate::log::files::FOLDER).join(crate::log::files::file_name(synced.log));
    refuse_short(&log, synced.log_bytes, true)?;
    let segment = directory.join("collection").join(segment::file_name(synced.segment));
    refuse_short(&segment, synced.segment_bytes, false)
}

/// Returns an error if a repaired segment is shorter than it was when it was made durable.
pub(crate) fn refuse_mended(
    collection: &Path,
    (number, bytes): (u32, u64),
    synced: &Synced,
) -> Result<(), StoreError> {
    if number == synced.segment && bytes < synced.segment_bytes {
        let reason = format!("it cannot be read from byte {bytes} on");
        return Err(StoreError::behind(&collection.join(segment::file_name(number)), &reason));
    }
    Ok(())
}

fn refuse_short(path: &Path, bytes: u64, must_be_there: bool) -> Result<(), StoreError> {
    match fs::metadata(path) {
        Ok(found) if found.len() < bytes => {
            Err(StoreError::behind(path, &format!("it has {} bytes of {bytes}", found.len())))
        }
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && (must_be_there || bytes > 0) => {
            Err(StoreError::behind(path, "it is missing"))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(StoreError::file("read the length of", path)(error)),
    }
}

fn refuse_other_length(path: &Path, bytes: u64) -> Result<(), StoreError> {
    match fs::metadata(path) {
        Ok(found) if found.len() != bytes => {
            Err(StoreError::behind(path, &format!("it has {} bytes and not {bytes}", found.len())))
        }
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(StoreError::behind(path, "it is missing"))
        }
        Err(error) => Err(StoreError::file("read the length of", path)(error)),
    }
}
