//! Maintenance of the files, in pieces small enough to run between two commits.

use std::path::{Path, PathBuf};

use freshet_protocol::codec::Record as _;
use freshet_protocol::time::{MILLIS_PER_DAY, Timestamp};

use super::opened::Store;
use crate::collection::index;
use crate::collection::segment::{self, SegmentRecord};
use crate::counters::Counters;
use crate::directory::room::check_room;
use crate::error::StoreError;
use crate::history::files;
use crate::key_value::{Batch, Direction, KeyRange, Space};
use crate::records::read;
use crate::url_files;

/// Milliseconds of a day.
const DAY: i64 = MILLIS_PER_DAY;

/// A completed piece of maintenance.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Tidied {
    /// The index file of this segment was written.
    Indexed(u32),
    /// A file of the History or of the URLs was written.
    Settled {
        /// Name of the file.
        file: String,
        /// Number of its rows.
        rows: u64,
    },
    /// Versions of a segment were checked, and those beyond the limits forgotten.
    Forgotten {
        /// The segment.
        segment: u32,
        /// Number of forgotten versions.
        versions: u64,
    },
    /// The remaining versions of a segment were rewritten elsewhere, to free its space.
    Moved {
        /// The segment that they were in.
        segment: u32,
        /// Number of moved versions.
        versions: u64,
    },
    /// A log file was dropped, because everything in it is stored elsewhere.
    LogDropped,
    /// A segment was removed.
    Removed {
        /// The segment.
        segment: u32,
        /// Its size in bytes.
        bytes: u64,
    },
}

impl Store {
    /// Performs one piece of maintenance, if any is due: writing the index of a closed segment, moving visits
    /// of past days to files, merging files, dropping versions beyond the limits. Returns what it did; call
    /// it again until it returns none.
    pub fn tidy(&mut self, now: Timestamp) -> Result<Option<Tidied>, StoreError> {
        if let Some(number) = self.unindexed.first().copied() {
            self.write_index(number)?;
            return Ok(Some(Tidied::Indexed(number)));
        }
        let waiting = self.counters.visits - self.counters.settled;
        let settled = check_room(&self.shared.directory, 0)
            .and_then(|()| self.settle(now, waiting > self.settings.waiting_visits));
        match settled {
            Ok(Some(tidied)) => return Ok(Some(tidied)),
            Ok(None) => {}
            // A sweep frees space.
            Err(full @ StoreError::DiskFull { .. }) => return self.sweep_step(now)?.map(Some).ok_or(full),
            Err(error) => return Err(error),
        }
        if self.counters.urls - self.counters.urls_settled > self.settings.waiting_urls {
            return self.settle_urls();
        }
        match self.drop_log(now)? {
            Some(tidied) => Ok(Some(tidied)),
            None => self.sweep_step(now),
        }
    }

    /// Writes the index file of a closed segment, from the kept lines or, if they are gone, from the
    /// segment itself.
    pub(crate) fn write_index(&mut self, number: u32) -> Result<(), StoreError> {
        let state = self.state.as_ref();
        let key = number.to_be_bytes();
        let record: SegmentRecord = read(state, Space::Segments, &key)?.unwrap_or_default();
        if record.indexed {
            let lines = index::lines_of_records(&self.shared.collection(), number, record.bytes)?;
            index::write(&self.index_path(number), lines.into_iter().map(Ok))?;
        } else {
            self.write_kept_lines(number)?;
            let mut batch = Batch::new();
            for entry in state.scan(Space::Index, KeyRange::prefix(&key), Direction::Forward) {
                batch.remove(Space::Index, entry?.0);
            }
            batch.put(Space::Segments, key, SegmentRecord { indexed: true, ..record }.encode());
            self.ledger.take(self.state.as_ref(), batch, &mut self.counters)?;
        }
        self.unindexed.remove(&number);
        Ok(())
    }

    /// Writes the index file of a segment from its kept lines.
    pub(crate) fn write_kept_lines(&self, number: u32) -> Result<(), StoreError> {
        index::write_kept(self.state.as_ref(), &self.shared.collection(), number)
    }

    fn index_path(&self, number: u32) -> PathBuf {
        self.shared.collection().join(segment::index_name(number))
    }

    /// Moves visits to a file of the History, or merges files.
    pub(crate) fn settle(&mut self, now: Timestamp, all: bool) -> Result<Option<Tidied>, StoreError> {
        let result = self.try_settle(now, all);
        // An uncertain commit may have registered the file.
        if !matches!(result, Ok(_) | Err(StoreError::Poisoned { .. })) {
            remove_unfinished(&self.shared.history());
        }
        result
    }

    fn try_settle(&mut self, now: Timestamp, all: bool) -> Result<Option<Tidied>, StoreError> {
        let (state, directory, today) = (self.state.as_ref(), self.shared.history(), now.day());
        let mut batch = Batch::new();
        let serial = self.counters.commits + 1;
        let moved = if self.counters.settled < self.counters.visits {
            files::move_rows(state, &directory, &today, all, (serial, &mut batch))?
        } else {
            None
        };
        let settled = match moved {
            Some(settled) => settled,
            None => match files::merge_files(state, &directory, &today, (serial, &mut batch))? {
                Some(settled) => settled,
                None => return Ok(None),
            },
        };
        let mut counters = self.counters.clone();
        if settled.moved {
            counters.settled += settled.record.rows;
        }
        counters.history_bytes =
            (counters.history_bytes + settled.record.bytes).saturating_sub(settled.replaced_bytes);
        let replaced = settled.replaced.iter().map(|name| format!("history/{name}"));
        self.ledger.replace(replaced, &mut batch);
        self.ledger.take(self.state.as_ref(), batch, &mut counters)?;
        self.counters = counters;
        Ok(Some(Tidied::Settled { file: settled.name, rows: settled.record.rows }))
    }

    /// Writes URLs that are in no file to one.
    pub(crate) fn settle_urls(&mut self) -> Result<Option<Tidied>, StoreError> {
        let (settled, known) = (self.counters.urls_settled, self.counters.urls);
        if settled == known {
            return Ok(None);
        }
        let directory = self.shared.directory.join(url_files::FOLDER);
        let mut batch = Batch::new();
        let written = url_files::settle(self.state.as_ref(), &directory, (settled, known), &mut batch);
        if written.is_err() {
            remove_unfinished(&directory);
        }
        let file = written?;
        let replaced = file.replaced.iter().map(|name| format!("{}/{name}", url_files::FOLDER));
        self.ledger.replace(replaced, &mut batch);
        let mut counters = Counters { urls_settled: known, ..self.counters.clone() };
        self.ledger.take(self.state.as_ref(), batch, &mut counters)?;
        self.counters = counters;
        Ok(Some(Tidied::Settled { file: file.name, rows: file.record.rows }))
    }

    /// Drops the oldest log file if it is older than the settings say and everything in it is stored
    /// elsewhere. Checks once per new log file.
    fn drop_log(&mut self, now: Timestamp) -> Result<Option<Tidied>, StoreError> {
        if self.log_looked_at == self.ledger.log_first() {
            return Ok(None);
        }
        let before = now.plus_millis(-i64::from(self.settings.log_days) * DAY);
        if self.ledger.drop_oldest(&self.counters, before)? {
            return Ok(Some(Tidied::LogDropped));
        }
        self.log_looked_at = self.ledger.log_first();
        Ok(None)
    }
}

/// Removes unfinished files, which would take up needed space.
fn remove_unfinished(directory: &Path) {
    let Ok(names) = std::fs::read_dir(directory) else { return };
    for path in names.filter_map(|entry| Some(entry.ok()?.path())) {
        if path.extension().is_some_and(|extension| extension == "unfinished") {
            // It is removed when the store is opened.
            let _ = std::fs::remove_file(path);
        }
    }
}
