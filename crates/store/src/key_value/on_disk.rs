//! The key-value store on disk: fjall, a log-structured merge tree with a journal.
//!
//! Chosen by measurement: a B-tree rewrites several thousand bytes for each small record that arrives in hash
//! order, a log-structured merge tree two to five times the record. A batch is one journal entry with a
//! checksum; after a crash the journal is read up to its last complete batch.
//!
//! The engine can be closed and reopened while the store is in use: readers hold the engine for as long as
//! they read, and [`KeyValue::reopen`] waits for them.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

use fjall::{PersistMode, Readable as _, Snapshot};

use super::engine::{
    Batch, Direction, Durability, Entry, KeyRange, KeyValue, KeyValueError, Readable, Scan, Space, View,
};
use super::opened_engine::OpenedEngine;
use super::stamps::{Behind, MARKS, Mark, Marks, STAMP, is_hidden};

/// Maximum time that [`KeyValue::reopen`] waits for readers. Then the engine stays as it is, and the call can
/// be repeated.
const READERS_WAIT: Duration = Duration::from_secs(10);

/// Time between two checks for readers.
const LOOK_AGAIN: Duration = Duration::from_millis(2);

/// A key-value store in a directory.
pub struct OnDisk {
    path: PathBuf,
    cache_bytes: u64,
    /// None if it was closed and could not be reopened.
    engine: RwLock<Option<Arc<OpenedEngine>>>,
    /// The recorded step and table list of each keyspace.
    marks: Mutex<Marks>,
}

impl std::fmt::Debug for OnDisk {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("OnDisk").field("path", &self.path).finish_non_exhaustive()
    }
}

impl OnDisk {
    /// Opens the store in this directory, or creates it. `cache_bytes` is the size of its read cache.
    pub fn open(path: &Path, cache_bytes: u64) -> Result<Self, KeyValueError> {
        let engine = OpenedEngine::open(path, cache_bytes)?;
        let marks = Mutex::new(stored_marks(path, &engine)?);
        OpenedEngine::share_lists(path);
        Ok(Self { path: path.to_path_buf(), cache_bytes, engine: RwLock::new(Some(Arc::new(engine))), marks })
    }

    /// The open engine. Holding it delays a reopening.
    fn engine(&self) -> Result<Arc<OpenedEngine>, KeyValueError> {
        let engine = self.engine.read().unwrap_or_else(PoisonError::into_inner);
        engine.clone().ok_or_else(|| KeyValueError::Poisoned { path: self.path.clone(), source: None })
    }

    fn lock_marks(&self) -> MutexGuard<'_, Marks> {
        self.marks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The marks after a batch.
    fn marks_after(&self, engine: &OpenedEngine, batch: &Batch) -> Marks {
        let mut marks = *self.lock_marks();
        let touched = batch.items.iter().map(|(space, ..)| *space).chain([Space::Meta]);
        touched.for_each(|space| marks.raise(space, Mark { step: batch.step, tables: 0 }));
        for space in Space::ALL {
            marks.raise(*space, Mark { step: 0, tables: engine.tables(*space) });
        }
        marks
    }

    /// Writes the memtable of a keyspace to a table, and waits for it.
    #[cfg(test)]
    pub(crate) fn write_tables(&self, space: Space) -> Result<(), KeyValueError> {
        let engine = self.engine()?;
        engine.keyspace(space).rotate_memtable_and_wait().map_err(|error| engine.failure(error))
    }
}

impl Drop for OnDisk {
    fn drop(&mut self) {
        // The engine writes files while it closes.
        let engine = self.engine.get_mut().unwrap_or_else(PoisonError::into_inner);
        drop(engine.take());
        OpenedEngine::share_lists(&self.path);
    }
}

impl View for OnDisk {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, KeyValueError> {
        if is_hidden(space, key) { Ok(None) } else { self.engine()?.get(space, key) }
    }

    fn scan(&self, space: Space, range: KeyRange, direction: Direction) -> Scan<'_> {
        // A scan of the engine sees batches that are committed meanwhile; a snapshot does not.
        match self.engine() {
            Ok(engine) => scan(&engine.database.snapshot(), &engine, space, range, direction),
            Err(error) => Box::new(std::iter::once(Err(error))),
        }
    }
}

impl Readable for OnDisk {
    fn snapshot(&self) -> Box<dyn View + '_> {
        match self.engine() {
            Ok(engine) => Box::new(Frozen { snapshot: engine.database.snapshot(), engine }),
            Err(_) => Box::new(Closed(self.path.clone())),
        }
    }
}

impl KeyValue for OnDisk {
    fn commit(&self, batch: Batch, durability: Durability) -> Result<(), KeyValueError> {
        let mode = match durability {
            Durability::Buffered => PersistMode::Buffer,
            Durability::Synced => PersistMode::SyncData,
        };
        let engine = self.engine()?;
        let mut write = engine.database.batch().durability(Some(mode));
        let marks = (batch.step != 0).then(|| self.marks_after(&engine, &batch));
        if let Some(marks) = &marks {
            let stamp = batch.step.to_le_bytes();
            let stamped = Space::ALL.iter().filter(|space| marks.of(**space).step == batch.step);
            stamped.for_each(|space| write.insert(engine.keyspace(*space), STAMP, stamp));
            write.insert(engine.keyspace(Space::Meta), MARKS, marks.encode());
        }
        let mut touched = [false; Space::ALL.len()];
        for (space, key, value) in batch.items {
            touched[space as usize] = true;
            let keyspace = engine.keyspace(space);
            match value {
                Some(value) => write.insert(keyspace, key, value),
                None => write.remove(keyspace, key),
            }
        }
        for space in Space::ALL.iter().filter(|space| touched[**space as usize]) {
            engine.wait_for_tables(*space)?;
        }
        write.commit().map_err(|error| engine.write_failure(error))?;
        if let Some(marks) = marks {
            *self.lock_marks() = marks;
        }
        Ok(())
    }

    fn sync(&self) -> Result<(), KeyValueError> {
        let engine = self.engine()?;
        engine.database.persist(PersistMode::SyncAll).map_err(|error| engine.write_failure(error))?;
        OpenedEngine::share_lists(&self.path);
        Ok(())
    }

    fn disk_bytes(&self) -> u64 {
        self.engine().ok().and_then(|engine| engine.database.disk_space().ok()).unwrap_or(0)
    }

    fn behind(&self) -> Result<Vec<Behind>, KeyValueError> {
        let engine = self.engine()?;
        let mut found = Marks::default();
        for space in Space::ALL {
            let stamp = engine.get(*space, STAMP)?;
            let step = stamp.and_then(|stamp| Some(u64::from_le_bytes(stamp.try_into().ok()?)));
            found.raise(*space, Mark { step: step.unwrap_or(0), tables: engine.tables(*space) });
        }
        Ok(self.lock_marks().behind(&found))
    }

    fn last_step(&self) -> u64 {
        self.lock_marks().last_step()
    }

    fn is_poisoned(&self) -> bool {
        self.engine().map_or(true, |engine| engine.is_poisoned())
    }

    fn reopen(&self) -> Result<(), KeyValueError> {
        let begun = Instant::now();
        let mut slot = loop {
            let slot = self.engine.write().unwrap_or_else(PoisonError::into_inner);
            // While the slot is locked, nobody else can take the engine.
            if slot.as_ref().is_none_or(|engine| Arc::strong_count(engine) == 1) {
                break slot;
            }
            drop(slot);
            if begun.elapsed() > READERS_WAIT {
                return Err(KeyValueError::Poisoned { path: self.path.clone(), source: None });
            }
            std::thread::sleep(LOOK_AGAIN);
        };
        // Two engines in one directory would write to the same journal, so the old one is closed first.
        drop(slot.take());
        let engine = OpenedEngine::open(&self.path, self.cache_bytes)?;
        *self.lock_marks() = stored_marks(&self.path, &engine)?;
        *slot = Some(Arc::new(engine));
        Ok(())
    }
}

/// A snapshot of the store.
struct Frozen {
    // Before the engine, so that it is dropped first.
    snapshot: Snapshot,
    engine: Arc<OpenedEngine>,
}

impl View for Frozen {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, KeyValueError> {
        if is_hidden(space, key) {
            return Ok(None);
        }
        let found = self.snapshot.get(self.engine.keyspace(space), key);
        Ok(found.map_err(|error| self.engine.failure(error))?.map(|value| value.to_vec()))
    }

    fn scan(&self, space: Space, range: KeyRange, direction: Direction) -> Scan<'_> {
        scan(&self.snapshot, &self.engine, space, range, direction)
    }
}

/// A snapshot of a store whose engine could not be reopened: every read is an error.
struct Closed(PathBuf);

impl View for Closed {
    fn get(&self, _space: Space, _key: &[u8]) -> Result<Option<Vec<u8>>, KeyValueError> {
        Err(KeyValueError::Poisoned { path: self.0.clone(), source: None })
    }

    fn scan(&self, space: Space, _range: KeyRange, _direction: Direction) -> Scan<'_> {
        Box::new(std::iter::once(self.get(space, b"").map(|_| Entry::default())))
    }
}

/// The entries of a range. The iterator holds the engine.
fn scan(
    snapshot: &Snapshot,
    engine: &Arc<OpenedEngine>,
    space: Space,
    range: KeyRange,
    direction: Direction,
) -> Scan<'static> {
    if range.is_empty() {
        return Box::new(std::iter::empty());
    }
    let keyspace = engine.keyspace(space);
    let entries = match range.to {
        Some(to) => snapshot.range(keyspace, range.from..to),
        None => snapshot.range(keyspace, range.from..),
    };
    let engine = Arc::clone(engine);
    let entry = move |guard: fjall::Guard| {
        let (key, value) = guard.into_inner().map_err(|error| engine.failure(error))?;
        Ok((key.to_vec(), value.to_vec()))
    };
    let is_seen = move |entry: &Result<Entry, KeyValueError>| {
        entry.as_ref().map_or(true, |(key, _)| !is_hidden(space, key))
    };
    match direction {
        Direction::Forward => Box::new(entries.map(entry).filter(is_seen)),
        Direction::Backward => Box::new(entries.rev().map(entry).filter(is_seen)),
    }
}

/// The marks recorded in the store.
fn stored_marks(path: &Path, engine: &OpenedEngine) -> Result<Marks, KeyValueError> {
    let Some(bytes) = engine.get(Space::Meta, MARKS)? else { return Ok(Marks::default()) };
    Marks::decode(&bytes).ok_or_else(|| {
        let reason = "the record `stamps` in `meta` is damaged".to_owned();
        KeyValueError::Engine { path: path.to_path_buf(), reason }
    })
}
