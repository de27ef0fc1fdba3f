//! The key-value store on disk: fjall, a log-structured merge tree with a journal.
//!
//! Chosen by measurement: a tree of pages rewrites several thousand bytes for each small record that arrives in hash order, a
//! log-structured one two to five times the record. A batch is one entry of the journal, with a checksum; after a crash the journal
//! is read to its last whole batch.

use std::path::{Path, PathBuf};

use fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode, Readable, Snapshot};

use super::engine::{Batch, Direction, Durability, KeyRange, KeyValue, KeyValueError, Scan, Space, View};

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
        Ok(Self { path, database, keyspaces })
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
        match direction {
            Direction::Forward => Box::new(entries.map(entry)),
            Direction::Backward => Box::new(entries.rev().map(entry)),
        }
    }
}

impl View for OnDisk {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, KeyValueError> {
        let found = self.keyspace(space).get(key).map_err(|error| failure(&self.path, error))?;
        Ok(found.map(|value| value.to_vec()))
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
        for (space, key, value) in batch.items {
            let keyspace = self.keyspace(space);
            match value {
                Some(value) => write.insert(keyspace, key, value),
                None => write.remove(keyspace, key),
            }
        }
        write.commit().map_err(|error| failure(&self.path, error))
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
}

/// The store as it was when the snapshot was taken.
struct Frozen<'a> {
    store: &'a OnDisk,
    snapshot: Snapshot,
}

impl View for Frozen<'_> {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, KeyValueError> {
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
