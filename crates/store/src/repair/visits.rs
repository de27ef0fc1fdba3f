//! Repairs the History: damaged files are moved aside and their readable rows written again; the numbers of
//! the others are recorded as lost.
//!
//! # Promises
//! - Every readable visit is kept, once.
//! - Afterwards every visit number is that of one row, in one file or the key-value store, or is
//!   recorded as lost.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::ops::Range;

use freshet_protocol::codec::Record as _;

use super::segments::Ground;
use crate::all_urls::site_of;
use crate::counters::{COUNTERS, Counters};
use crate::directory::aside::Aside;
use crate::directory::folders::listed;
use crate::error::StoreError;
use crate::history::columns::NumberedVisit;
use crate::history::files::{self, FileRecord, checksum, read_file, readable_rows, registered};
use crate::history::{VisitKind, lost_visits};
use crate::key_value::{Batch, Direction, KeyRange, Space};
use crate::log::files::LogFile;
use crate::log::frame::Kind;
use crate::log::step::entries;
use crate::records::read;

/// Maximum number of visits after the last known commit, if commits were lost.
const NUMBERS_BEYOND: usize = 1 << 28;

/// A count of the visits found, overall and by kind.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// By number, whether the visit was found.
    seen: Vec<bool>,
    /// Numbers from this one on were never assigned.
    most: usize,
    /// Number of visits by kind.
    pub(super) kinds: Vec<u64>,
    /// Bytes received by the visits.
    pub(super) bytes: u64,
    /// Number of visits in rows of the key-value store.
    pub(super) rows: u64,
    /// Size of the files in bytes.
    pub(super) file_bytes: u64,
    /// Number of lost visits.
    pub(super) lost: u64,
}

impl Tally {
    /// Counts a visit. Returns false if it was counted before, or its number was never assigned.
    fn count(&mut self, visit: &NumberedVisit) -> bool {
        let number = usize::try_from(visit.number).unwrap_or(usize::MAX);
        if number >= self.most {
            return false;
        }
        if number >= self.seen.len() {
            self.seen.resize(number + 1, false);
        }
        if std::mem::replace(&mut self.seen[number], true) {
            return false;
        }
        self.kinds.resize(VisitKind::ALL.len(), 0);
        self.kinds[visit.row.kind as usize] += 1;
        self.bytes = self.bytes.saturating_add(visit.row.bytes);
        true
    }

    /// The number of the next visit.
    pub(super) fn visits(&self) -> u64 {
        self.seen.len() as u64
    }

    fn missing(&self) -> Vec<Range<u64>> {
        let mut missing: Vec<Range<u64>> = Vec::new();
        for (number, _) in self.seen.iter().enumerate().filter(|(_, seen)| !**seen) {
            let number = number as u64;
            match missing.last_mut() {
                Some(last) if last.end == number => last.end += 1,
                _ => missing.push(number..number + 1),
            }
        }
        missing
    }
}

/// Repairs the History, and passes every visit in it to `each`. Durable visits (below `synced_visits`) that
/// are found nowhere are recorded as lost.
pub(super) fn repair_visits(
    ground: &Ground<'_>,
    synced_visits: u64,
    aside: &mut Aside,
    said: &mut Vec<String>,
    each: &mut dyn FnMut(&NumberedVisit),
) -> Result<Tally, StoreError> {
    let history = ground.directory.join("history");
    fs::create_dir_all(&history).map_err(StoreError::file("make", &history))?;
    let mut tally = Tally::default();
    let counters: Option<Counters> = read(ground.state, Space::Meta, COUNTERS).ok().flatten();
    let visits = counters.map_or(0, |counters| counters.visits).max(synced_visits);
    let visits = usize::try_from(visits).unwrap_or(0);
    tally.seen.resize(visits, false);
    tally.most = if ground.lost_commits { visits + NUMBERS_BEYOND } else { visits };
    let mut batch = Batch::new();
    for entry in ground.state.scan(Space::Visits, KeyRange::all(), Direction::Forward) {
        let (key, value) = entry?;
        match files::decode(&key, &value) {
            Ok(visit) => {
                tally.count(&visit);
                tally.rows += 1;
                each(&visit);
            }
            Err(_) => batch.remove(Space::Visits, key),
        }
    }
    for (name, record) in candidates(ground)? {
        let is_known = record.is_some();
        let kept = take_file(ground, &name, record, &mut tally, aside, said, each)?;
        match kept {
            Some(record) => {
                tally.file_bytes += record.bytes;
                if ground.state.get(Space::Files, name.as_bytes())? != Some(record.encode()) {
                    batch.put(Space::Files, name.as_bytes(), record.encode());
                }
            }
            None if is_known => batch.remove(Space::Files, name.as_bytes()),
            None => {}
        }
    }
    let found = take_from_log(ground, &mut tally, &mut batch, each)?;
    if found > 0 {
        said.push(format!("history: {found} visits were had again from the log"));
    }
    let missing = tally.missing();
    tally.lost = missing.iter().map(|range| range.end - range.start).sum();
    lost_visits::put(&missing, &mut batch);
    ground.commit(batch)?;
    Ok(tally)
}

/// Restores visits that are in no file and no row from the log. Returns how many.
fn take_from_log(
    ground: &Ground<'_>,
    tally: &mut Tally,
    batch: &mut Batch,
    each: &mut dyn FnMut(&NumberedVisit),
) -> Result<u64, StoreError> {
    if tally.missing().is_empty() {
        return Ok(0);
    }
    let mut found = 0;
    for_each_logged(ground, &mut |key, value| {
        let Ok(visit) = files::decode(key, value) else { return };
        if tally.count(&visit) {
            tally.rows += 1;
            found += 1;
            each(&visit);
            batch.put(Space::Visits, key, value);
        }
    })?;
    Ok(found)
}

/// Replaces the values of visits by those in the log, if the log has them.
fn take_logged_values(ground: &Ground<'_>, visits: &mut [NumberedVisit]) -> Result<(), StoreError> {
    let mut places: HashMap<u64, usize> =
        visits.iter().enumerate().map(|(at, visit)| (visit.number, at)).collect();
    for_each_logged(ground, &mut |key, value| {
        let Ok(logged) = files::decode(key, value) else { return };
        if let Some(at) = places.remove(&logged.number) {
            visits[at] = logged;
        }
    })
}

/// Passes key and value of every visit in the log to `each`.
fn for_each_logged(ground: &Ground<'_>, each: &mut dyn FnMut(&[u8], &[u8])) -> Result<(), StoreError> {
    for (first, path) in crate::log::files::listed(ground.directory)? {
        let file = LogFile::read_any(&path, first)?;
        for frame in file.readable_frames().filter(|frame| frame.kind == Kind::Step) {
            for (space, key, value) in entries(&frame.content).filter_map(Result::ok) {
                if let (Space::Visits, Some(value)) = (space, value) {
                    each(&key, &value);
                }
            }
        }
    }
    Ok(())
}

/// The registered files; if commits were lost, also the other files in the folder.
fn candidates(ground: &Ground<'_>) -> Result<BTreeMap<String, Option<FileRecord>>, StoreError> {
    let mut files: BTreeMap<String, Option<FileRecord>> =
        registered(ground.state)?.into_iter().map(|(name, record)| (name, Some(record))).collect();
    if ground.lost_commits {
        for path in listed(&ground.directory.join("history"))? {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let is_ours = name.starts_with("day-") || name.starts_with("month-");
            if is_ours && name.ends_with(".parquet") {
                files.entry(name.to_owned()).or_insert(None);
            }
        }
    }
    Ok(files)
}

/// Counts the visits of a file. Rewrites the file if it is damaged, or if some of its visits are also
/// elsewhere. None if no visits are left.
fn take_file(
    ground: &Ground<'_>,
    name: &str,
    record: Option<FileRecord>,
    tally: &mut Tally,
    aside: &mut Aside,
    said: &mut Vec<String>,
    each: &mut dyn FnMut(&NumberedVisit),
) -> Result<Option<FileRecord>, StoreError> {
    let history = ground.directory.join("history");
    let path = history.join(name);
    let shown = ground.name(&path);
    if !path.exists() {
        said.push(format!("{shown}: it is missing, with {} visits", record.map_or(0, |record| record.rows)));
        return Ok(None);
    }
    let is_whole = match &record {
        Some(record) => {
            checksum(&path)? == record.checksum
                && read_file(&path).is_ok_and(|summary| summary.sorted && summary.rows == record.rows)
        }
        None => read_file(&path).is_ok_and(|summary| summary.sorted),
    };
    let mut rows = readable_rows(&path);
    let readable = rows.len();
    if !is_whole {
        // Damaged bytes may decode to other values than were written.
        take_logged_values(ground, &mut rows)?;
    }
    rows.retain(|visit| visit.row.site == site_of(&visit.row.url) && tally.count(visit));
    rows.iter().for_each(&mut *each);
    if let (true, Some(record)) = (is_whole && rows.len() == readable, record) {
        return Ok(Some(record));
    }
    aside.copy(&shown)?;
    if rows.is_empty() {
        fs::remove_file(&path).map_err(StoreError::file("remove", &path))?;
        said.push(format!("{shown}: nothing in it can be kept"));
        return Ok(None);
    }
    let kept = rows.len();
    let record = files::write_file(&history, name, rows)?;
    said.push(format!("{shown}: written anew with the {kept} visits that can be read"));
    Ok(Some(record))
}
