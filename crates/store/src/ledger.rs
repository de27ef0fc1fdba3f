//! How a step is taken, and how steps are made durable.
//!
//! A step is appended to the log and then made true in the state, in one batch that holds the record of the
//! log too: should a loss of power take more of the log than of the state, the log is completed from it. At a
//! sync the Collection, the log and the state are written to the disk, in this order, and then `SYNCED` says
//! so. Files that a step has replaced are removed after the sync that covers it.
//!
//! # Promises
//! - Steps are numbered without a gap.
//! - After an error the step was not taken, and the log is as it was; if the state is poisoned, once it was
//!   opened again.
//! - `SYNCED` never says more than is on the disk.

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

/// The name under which the base of a file says that steps before it are lost.
pub(crate) const GAP: &[u8] = b"gap";

/// The log and what it says of the store.
#[derive(Debug)]
pub(crate) struct Ledger {
    directory: PathBuf,
    identity: Identity,
    log: LogWriter,
    synced: SyncedFile,
    /// Bytes of a file of the log after which another is begun.
    file_bytes: u64,
    /// The time of the last step.
    time: Timestamp,
    /// Records of steps up to this one are no longer in the state.
    pruned: u64,
    /// A step of which it is not known whether the state took it, and the length of the log before it.
    doubt: Option<(u64, u64)>,
    /// The hash of the options that were told last; 0 if none were.
    options: u64,
    /// Files that go after the next sync, by their names in the directory.
    removals: BTreeSet<String>,
    /// Files that are gone, of which the state does not know it yet.
    removed: BTreeSet<String>,
}

impl Ledger {
    /// Begins a file of the log of a store whose state is at these counters: it says who the store is, how
    /// much there is, which commands are in force, and whether steps before it are lost.
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

    /// Goes on with the log of a store that was recovered.
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

    /// What has been made durable.
    pub(crate) fn synced(&self) -> &Synced {
        self.synced.last()
    }

    /// The first step of the file of the log that is written.
    pub(crate) fn log_first(&self) -> u64 {
        self.log.first()
    }

    /// Says if the file of the log that is written is no longer what was written.
    pub(crate) fn check_presence(&self) -> Result<(), StoreError> {
        self.log.check_presence()
    }

    /// A moment has passed: the next step is not earlier.
    pub(crate) fn let_pass(&mut self, time: Timestamp) {
        self.time = self.time.max(time);
    }

    /// These files go when the next step is on the disk; the batch of that step says so.
    pub(crate) fn replace(&mut self, names: impl IntoIterator<Item = String>, batch: &mut Batch) {
        for name in names {
            batch.put(Space::Removals, name.as_bytes(), []);
            self.removals.insert(name);
        }
    }

    /// Takes a step: the next number, a record of the log, and the batch.
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
            // Whether the step was taken is known when the state was opened again.
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

    /// The state was opened again after a step had failed: if that was not taken, its record goes.
    pub(crate) fn settle_doubt(&mut self, counters: &Counters) -> Result<(), StoreError> {
        match self.doubt.take() {
            Some((step, length)) if counters.commits < step => self.log.cut_back(length),
            _ => Ok(()),
        }
    }

    /// Makes everything durable that was done: the Collection, the log, the state, and then it is said.
    /// `clean` says that nothing follows.
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
        tail.sync()?;
        self.log.sync()?;
        state.sync()?;
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

    /// Says what is durable.
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

    /// Removes the files that were replaced, unless somebody reads them: then they go later.
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

    /// Removes the oldest file of the log if all that it says is elsewhere, and it ended before this moment;
    /// whether it did.
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

/// The records of steps that the state has and the log lost in a loss of power, from the first
/// that is missing.
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
