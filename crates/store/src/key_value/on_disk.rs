//! The key-value store on disk: fjall, a log-structured merge tree with a journal.
//!
//! Chosen by measurement: a tree of pages rewrites several thousand bytes for each small record that arrives in hash order, a
//! log-structured one two to five times the record. A batch is one entry of the journal, with a checksum; after a crash the journal
//! is read to its last whole batch.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use fjall::{AbstractTree as _, Database, Keyspace, KeyspaceCreateOptions, PersistMode, Readable, Snapshot};

use super::engine::{
    Batch, Direction, Durability, Entry, KeyRange, KeyValue, KeyValueError, Scan, Space, View,
};
use super::stamps::{Behind, MARKS, Mark, Marks, STAMP, is_hidden};

/// Bytes of journal after which the oldest part is made superfluous by writing tables. A restart reads at most this much.
const JOURNAL_BYTES_MAX: u64 = 128 << 20;

/// Bytes of one keyspace held in memory before they are written as a table.
const TABLE_BYTES: u64 = 16 << 20;

/// The same of keyspaces that hold little.
const SMALL_TABLE_BYTES: u64 = 2 << 20;

/// Threads that write tables and merge them.
const WORKERS: usize = 2;

/// A key-value store in a directory.
pub struct OnDisk {
    path: PathBuf,
    database: Database,
    /// In the order of [`Space::ALL`].
    keyspaces: Vec<Keyspace>,
    /// How far each keyspace should have come.
    marks: Mutex<Marks>,
}

impl std::fmt::Debug for OnDisk {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("OnDisk").field("path", &self.path).finish_non_exhaustive()
    }
}

impl OnDisk {
    /// Opens the store in this directory, or makes it. `cache_bytes` of memory hold what was read last.
    pub fn open(path: &Path, cache_bytes: u64) -> Result<Self, KeyValueError> {
        let path = path.to_path_buf();
        let failed = |error| failure(&path, error);
        let database = Database::builder(&path)
            .cache_size(cache_bytes)
            .max_journaling_size(JOURNAL_BYTES_MAX)
            .worker_threads(WORKERS)
            .open()
            .map_err(failed)?;
        let keyspaces = Space::ALL
            .iter()
            .map(|space| {
                let options = || KeyspaceCreateOptions::default().max_memtable_size(table_bytes(*space));
                database.keyspace(space.name(), options)
            })
            .collect::<Result<_, _>>()
            .map_err(failed)?;
        let store = Self { path, database, keyspaces, marks: Mutex::default() };
        let marks = store.stored(Space::Meta, MARKS)?.map(|bytes| {
            let reason = "the record `stamps` in `meta` is damaged".to_owned();
            Marks::decode(&bytes).ok_or(KeyValueError::Engine { path: store.path.clone(), reason })
        });
        *store.lock_marks() = marks.transpose()?.unwrap_or_default();
        Ok(store)
    }

    fn lock_marks(&self) -> std::sync::MutexGuard<'_, Marks> {
        self.marks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value of any key, also of a hidden one.
    fn stored(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, KeyValueError> {
        let found = self.keyspace(space).get(key).map_err(|error| failure(&self.path, error))?;
        Ok(found.map(|value| value.to_vec()))
    }

    /// How far a keyspace has come.
    fn found(&self, space: Space) -> Result<Mark, KeyValueError> {
        let step =
            self.stored(space, STAMP)?.and_then(|stamp| Some(u64::from_le_bytes(stamp.try_into().ok()?)));
        Ok(Mark { step: step.unwrap_or(0), tables: self.tables(space) })
    }

    /// The number of a keyspace's table list.
    fn tables(&self, space: Space) -> u64 {
        self.keyspace(space).tree.current_version().id()
    }

    /// Writes what is in memory of a keyspace as a table, and waits for it.
    #[cfg(test)]
    pub(crate) fn write_tables(&self, space: Space) -> Result<(), KeyValueError> {
        self.keyspace(space).rotate_memtable_and_wait().map_err(|error| failure(&self.path, error))
    }

    /// The marks after a batch.
    fn marks_after(&self, batch: &Batch) -> Marks {
        let mut marks = *self.lock_marks();
        let touched = batch.items.iter().map(|(space, ..)| *space).chain([Space::Meta]);
        touched.for_each(|space| marks.raise(space, Mark { step: batch.step, tables: 0 }));
        for space in Space::ALL {
            marks.raise(*space, Mark { step: 0, tables: self.tables(*space) });
        }
        marks
    }

    fn keyspace(&self, space: Space) -> &Keyspace {
        &self.keyspaces[space as usize]
    }

    fn scan_at(&self, snapshot: &Snapshot, space: Space, range: KeyRange, direction: Direction) -> Scan<'_> {
        if range.is_empty() {
            return Box::new(std::iter::empty());
        }
        let keyspace = self.keyspace(space);
        let entries = match range.to {
            Some(to) => snapshot.range(keyspace, range.from..to),
            None => snapshot.range(keyspace, range.from..),
        };
        let entry = |guard: fjall::Guard| {
            let (key, value) = guard.into_inner().map_err(|error| failure(&self.path, error))?;
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
}

impl View for OnDisk {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, KeyValueError> {
        if is_hidden(space, key) { Ok(None) } else { self.stored(space, key) }
    }

    fn scan(&self, space: Space, range: KeyRange, direction: Direction) -> Scan<'_> {
        // The engine's own scan sees batches that are committed while it runs: a snapshot does not.
        self.scan_at(&self.database.snapshot(), space, range, direction)
    }
}

impl KeyValue for OnDisk {
    fn commit(&self, batch: Batch, durability: Durability) -> Result<(), KeyValueError> {
        let mode = match durability {
            Durability::Buffered => PersistMode::Buffer,
            Durability::Synced => PersistMode::SyncData,
        };
        let mut write = self.database.batch().durability(Some(mode));
        let marks = (batch.step != 0).then(|| self.marks_after(&batch));
        if let Some(marks) = &marks {
            let stamp = batch.step.to_le_bytes();
            let stamped = Space::ALL.iter().filter(|space| marks.of(**space).step == batch.step);
            stamped.for_each(|space| write.insert(self.keyspace(*space), STAMP, stamp));
            write.insert(self.keyspace(Space::Meta), MARKS, marks.encode());
        }
        for (space, key, value) in batch.items {
            let keyspace = self.keyspace(space);
            match value {
                Some(value) => write.insert(keyspace, key, value),
                None => write.remove(keyspace, key),
            }
        }
        write.commit().map_err(|error| failure(&self.path, error))?;
        if let Some(marks) = marks {
            *self.lock_marks() = marks;
        }
        Ok(())
    }

    fn sync(&self) -> Result<(), KeyValueError> {
        self.database.persist(PersistMode::SyncAll).map_err(|error| failure(&self.path, error))
    }

    fn snapshot(&self) -> Box<dyn View + '_> {
        Box::new(Frozen { store: self, snapshot: self.database.snapshot() })
    }

    fn disk_bytes(&self) -> u64 {
        self.database.disk_space().unwrap_or(0)
    }

    fn behind(&self) -> Result<Vec<Behind>, KeyValueError> {
        let mut found = Marks::default();
        for space in Space::ALL {
            found.raise(*space, self.found(*space)?);
        }
        Ok(self.lock_marks().behind(&found))
    }

    fn last_step(&self) -> u64 {
        self.lock_marks().last_step()
    }
}

/// The store as it was when the snapshot was taken.
struct Frozen<'a> {
    store: &'a OnDisk,
    snapshot: Snapshot,
}

impl View for Frozen<'_> {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, KeyValueError> {
        if is_hidden(space, key) {
            return Ok(None);
        }
        let found = self
            .snapshot
            .get(self.store.keyspace(space), key)
            .map_err(|error| failure(&self.store.path, error))?;
        Ok(found.map(|value| value.to_vec()))
    }

    fn scan(&self, space: Space, range: KeyRange, direction: Direction) -> Scan<'_> {
        self.store.scan_at(&self.snapshot, space, range, direction)
    }
}

/// Bytes of a keyspace that are held in memory before they are written.
fn table_bytes(space: Space) -> u64 {
    match space {
        Space::Meta | Space::Notes | Space::Sites | Space::SiteNames | Space::Segments | Space::Files => {
            SMALL_TABLE_BYTES
        }
        _ => TABLE_BYTES,
    }
}

/// What the engine said, in our words.
fn failure(path: &Path, error: fjall::Error) -> KeyValueError {
    let path = path.to_path_buf();
    match error {
        fjall::Error::Io(source) | fjall::Error::Storage(fjall::LsmError::Io(source)) => {
            KeyValueError::Io { path, source }
        }
        fjall::Error::Poisoned => KeyValueError::Engine {
            path,
            reason: "an earlier write failed (the disk may be full); free some space and start again"
                .to_owned(),
        },
        fjall::Error::Locked => {
            KeyValueError::Engine { path, reason: "another process has it open".to_owned() }
        }
        other => KeyValueError::Engine { path, reason: format!("{other:?}") },
    }
}
