//! The ledger: appends steps to the log, commits them to the state, and makes them durable.
//!
//! A step is appended to the log and then committed to the state in one batch. The batch also contains the
//! log record: if a power loss takes more of the log than of the state, the log is completed from the state.
//! A sync writes the Collection, the log and the state to disk, at the same time, and then updates `SYNCED`.
//! Files that a step has replaced are removed after the sync that covers it.
//!
//! # Promises
//! - Steps are numbered without gaps.
//! - After an error the step was not taken, and the log is unchanged. If the state is poisoned, this holds
//!   once it was reopened.
//! - `SYNCED` never claims more than is on disk.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use freshet_protocol::codec::Record as _;
use freshet_protocol::time::Timestamp;

use crate::collection::segment::{Tail, file_name, segments};
use crate::counters::{COUNTERS, Counters};
use crate::directory::readers;
use crate::error::StoreError;
use crate::identity::{IDENTITY, Identity};
use crate::key_value::{Batch, Direction, Durability, KeyRange, KeyValue, Space, View};
use crate::log::end::LogEnd;
use crate::log::event::{OPTIONS, options_hash};
use crate::log::files::{LogWriter, listed};
use crate::log::frame::{Frame, Kind};
use crate::log::step;
use crate::records::read;
use crate::synced::{Synced, SyncedFile};

/// The key in the base of a log file that marks steps before it as lost.
pub(crate) const GAP: &[u8] = b"gap";

/// The open log of a store, with what is durable of it.
#[derive(Debug)]
pub(crate) struct Ledger {
    directory: PathBuf,
    identity: Identity,
    log: LogWriter,
    synced: SyncedFile,
    /// Maximum size of a log file in bytes; then the next one is begun.
    file_bytes: u64,
    /// The time of the last step.
    time: Timestamp,
    /// Records of steps up to this one are no longer in the state.
    pruned: u64,
    /// A step that the state may or may not have committed, and the length of the log before it.
    doubt: Option<(u64, u64)>,
    /// The hash of the current options; 0 if there are none.
    options: u64,
    /// Files to remove after the next sync, by name within the directory.
    removals: BTreeSet<String>,
    /// Files that were removed but are still listed in the state.
    removed: BTreeSet<String>,
}

impl Ledger {
    /// Begins a log file for a store whose state has these counters. Its base holds the identity, the
    /// counters, the active commands, and whether steps before it are lost.
    pub(crate) fn begin(
        directory: &Path,
        state: &dyn View,
        identity: &Identity,
        counters: &Counters,
        (time, has_gap): (Timestamp, bool),
    ) -> Result<LogWriter, StoreError> {
        let mut batch = Batch::new();
        batch.put(Space::Meta, IDENTITY, identity.encode());
        batch.put(Space::Meta, COUNTERS, counters.encode());
        if has_gap {
            batch.put(Space::Meta, GAP, []);
        }
        for entry in state.scan(Space::Commands, KeyRange::all(), Direction::Forward) {
            let (name, command) = entry?;
            batch.put(Space::Commands, name, command);
        }
        let content = step::content(&batch);
        let base = Frame { step: counters.commits, time, kind: Kind::Base, content };
        LogWriter::create(directory, identity.id, &base)
    }

    /// Opens the log of a recovered store for appending.
    pub(crate) fn open(
        directory: &Path,
        state: &dyn KeyValue,
        identity: &Identity,
        (end, last): (&LogEnd, Synced),
        file_bytes: u64,
    ) -> Result<Self, StoreError> {
        let mut log = LogWriter::open(&end.path, end.first, end.bytes)?;
        for record in steps_beyond(state, end)? {
            log.append(&record)?;
        }
        let pruned = last.step;
        let mut removals = BTreeSet::new();
        for entry in state.scan(Space::Removals, KeyRange::all(), Direction::Forward) {
            removals.insert(String::from_utf8_lossy(&entry?.0).into_owned());
        }
        Ok(Self {
            directory: directory.to_path_buf(),
            identity: identity.clone(),
            log,
            synced: SyncedFile::open(directory, last)?,
            file_bytes,
            time: end.time,
            pruned,
            doubt: None,
            options: options_hash(state.get(Space::Commands, OPTIONS.as_bytes())?.as_deref()),
            removals,
            removed: BTreeSet::new(),
        })
    }

    /// What is durable.
    pub(crate) fn synced(&self) -> &Synced {
        self.synced.last()
    }

    /// The first step of the current log file.
    pub(crate) fn log_first(&self) -> u64 {
        self.log.first()
    }

    /// Returns an error if the current log file is no longer the one that was written.
    pub(crate) fn check_presence(&self) -> Result<(), StoreError> {
        self.log.check_presence()
    }

    /// Advances the clock: the next step is not earlier than this.
    pub(crate) fn let_pass(&mut self, time: Timestamp) {
        self.time = self.time.max(time);
    }

    /// Schedules files for removal once the next step is on disk; the batch of that step records it.
    pub(crate) fn replace(&mut self, names: impl IntoIterator<Item = String>, batch: &mut Batch) {
        for name in names {
            batch.put(Space::Removals, name.as_bytes(), []);
            self.removals.insert(name);
        }
    }

    /// Takes a step: assigns the next number, appends a log record, and commits the batch.
    pub(crate) fn take(
        &mut self,
        state: &dyn KeyValue,
        mut batch: Batch,
        counters: &mut Counters,
    ) -> Result<(), StoreError> {
        let before = counters.commits;
        let result = self.try_take(state, &mut batch, counters);
        if result.is_err() {
            counters.commits = before;
        }
        result
    }

    fn try_take(
        &mut self,
        state: &dyn KeyValue,
        batch: &mut Batch,
        counters: &mut Counters,
    ) -> Result<(), StoreError> {
        if self.log.length() >= self.file_bytes {
            let known: Counters = read(state, Space::Meta, COUNTERS)?.unwrap_or_default();
            self.log.sync()?;
            self.log = Self::begin(&self.directory, state, &self.identity, &known, (self.time, false))?;
        }
        counters.commits += 1;
        let step = counters.commits;
        batch.put(Space::Meta, COUNTERS, counters.encode());
        self.removed.iter().for_each(|name| batch.remove(Space::Removals, name.as_bytes()));
        let content = step::content(batch);
        let record = Frame { step, time: self.time, kind: Kind::Step, content }.encode();
        let length = self.log.length();
        self.log.append(&record)?;
        let synced = self.synced.last().step;
        (self.pruned + 1..=synced).for_each(|step| batch.remove(Space::Steps, step.to_be_bytes()));
        batch.put(Space::Steps, step.to_be_bytes(), record);
        batch.at_step(step);
        let told = batch.items.iter().rfind(|(space, key, _)| is_options(*space, key));
        let options = told.map_or(self.options, |(.., value)| options_hash(value.as_deref()));
        match state.commit(std::mem::take(batch), Durability::Buffered).map_err(StoreError::from) {
            Ok(()) => self.options = options,
            // Whether the step was taken is known after the state was reopened.
            Err(error @ StoreError::Poisoned { .. }) => {
                self.doubt = Some((step, length));
                return Err(error);
            }
            Err(error) => {
                self.log.cut_back(length)?;
                return Err(error);
            }
        }
        self.pruned = self.pruned.max(synced);
        self.removed.clear();
        Ok(())
    }

    /// Resolves an uncertain step after the state was reopened: if it was not taken, removes its record
    /// from the log.
    pub(crate) fn settle_doubt(&mut self, counters: &Counters) -> Result<(), StoreError> {
        match self.doubt.take() {
            Some((step, length)) if counters.commits < step => self.log.cut_back(length),
            _ => Ok(()),
        }
    }

    /// Makes all steps durable: syncs the Collection, the log and the state, then updates `SYNCED`. `clean`
    /// means that the crawl ends here.
    pub(crate) fn sync(
        &mut self,
        state: &dyn KeyValue,
        (tail, segment): (&Tail, u32),
        counters: &Counters,
        clean: bool,
    ) -> Result<(), StoreError> {
        let last = self.synced.last();
        if last.step == counters.commits && last.clean == clean {
            return self.remove_replaced();
        }
        // A loss of power may leave one of them without the others. That is recovered from whether or not
        // they are synced one after the other: the system writes them when it likes. Together they share a
        // commit of the file system.
        let log = &self.log;
        std::thread::scope(|scope| {
            let tail = scope.spawn(|| tail.sync());
            let log = scope.spawn(|| log.sync());
            let state = state.sync();
            for synced in [tail, log] {
                synced.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            }
            Ok::<(), StoreError>(state?)
        })?;
        self.say(counters, (segment, tail.length()), clean)?;
        self.remove_replaced()
    }

    /// The same for a repair, which has no segment open.
    pub(crate) fn sync_segment(
        &mut self,
        state: &dyn KeyValue,
        collection: &Path,
        counters: &Counters,
        clean: bool,
    ) -> Result<(), StoreError> {
        let last = segments(state).last().transpose()?;
        let (segment, bytes) = last.map_or((0, 0), |(number, record)| (number, record.bytes));
        if segment > 0 {
            let path = collection.join(file_name(segment));
            fs::File::open(&path)
                .and_then(|file| file.sync_all())
                .map_err(StoreError::file("sync", &path))?;
        }
        self.log.sync()?;
        state.sync()?;
        self.say(counters, (segment, bytes), clean)?;
        self.remove_replaced()
    }

    /// Writes `SYNCED`.
    fn say(
        &mut self,
        counters: &Counters,
        (segment, segment_bytes): (u32, u64),
        clean: bool,
    ) -> Result<(), StoreError> {
        self.synced.write(Synced {
            number: 0,
            store: self.identity.id,
            step: counters.commits,
            log: self.log.first(),
            log_bytes: self.log.length(),
            segment,
            segment_bytes,
            visits: counters.visits,
            urls: counters.urls,
            pages: counters.pages,
            clean,
            options: self.options,
        })
    }

    /// Removes replaced files. If there are readers, they are removed later.
    fn remove_replaced(&mut self) -> Result<(), StoreError> {
        if self.removals.is_empty() || readers::are_there(&self.directory) {
            return Ok(());
        }
        while let Some(name) = self.removals.first() {
            let path = self.directory.join(name);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(StoreError::file("remove", &path)(error));
                }
                _ => self.removed.extend(self.removals.pop_first()),
            }
        }
        Ok(())
    }

    /// Removes the oldest log file if it ended before this time and everything in it is stored elsewhere.
    /// Returns whether it did.
    pub(crate) fn drop_oldest(&self, counters: &Counters, before: Timestamp) -> Result<bool, StoreError> {
        let files = listed(&self.directory)?;
        let [(_, oldest), (first, next), ..] = &files[..] else { return Ok(false) };
        let Some(base) = crate::log::files::read_base(next)? else { return Ok(false) };
        let at_its_end = step::entries(&base.content)
            .filter_map(Result::ok)
            .find(|(space, key, _)| *space == Space::Meta && key == COUNTERS)
            .and_then(|(_, _, value)| Counters::decode(&value?).ok());
        let is_elsewhere =
            at_its_end.is_some_and(|end| end.visits <= counters.settled && end.urls <= counters.urls_settled);
        let is_read = readers::are_there(&self.directory);
        if !is_elsewhere || base.time >= before || self.synced.last().log < *first || is_read {
            return Ok(false);
        }
        fs::remove_file(oldest).map_err(StoreError::file("remove", oldest))?;
        Ok(true)
    }
}

fn is_options(space: Space, key: &[u8]) -> bool {
    space == Space::Commands && key == OPTIONS.as_bytes()
}

/// The records of steps that the state has and the log lost in a power loss, from the first missing one on.
pub(crate) fn steps_beyond(state: &dyn View, end: &LogEnd) -> Result<Vec<Vec<u8>>, StoreError> {
    let counters: Counters = read(state, Space::Meta, COUNTERS)?.unwrap_or_default();
    (end.step + 1..=counters.commits)
        .map(|step| {
            state.get(Space::Steps, &step.to_be_bytes())?.ok_or_else(|| {
                let reason =
                    format!("it ends at step {}, and the state knows {}", end.step, counters.commits);
                StoreError::behind(&end.path, &reason)
            })
        })
        .collect()
}
