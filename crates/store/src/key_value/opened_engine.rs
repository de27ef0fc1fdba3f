//! The open engine: the database of fjall and its keyspaces, which are dropped together when it is closed.
//!
//! fjall stops writing for good ("poisoned") when a write to its journal, or one in the background, fails, as
//! on a full disk. It can still be read. Writes within fjall also wait without limit for background threads
//! that may have died of this. So a write waits here before it begins, where the poisoning is checked. A
//! poisoned engine may still write buffered parts of its journal while it is closed. Whether the failed batch
//! took effect is therefore known only after reopening.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fjall::{AbstractTree as _, Database, Keyspace, KeyspaceCreateOptions, PersistMode};

use super::engine::{KeyValueError, Space};

/// Maximum journal size in bytes. Beyond it, tables are written so that the oldest part can be dropped. A
/// restart reads at most this much.
const JOURNAL_BYTES_MAX: u64 = 128 << 20;

/// Size of the memtable of a keyspace in bytes at which it is written to a table.
const TABLE_BYTES: u64 = 16 << 20;

/// The same for small keyspaces.
const SMALL_TABLE_BYTES: u64 = 2 << 20;

/// Number of threads that write and merge tables.
const WORKERS: usize = 2;

/// Maximum number of memtables of a keyspace that wait to be written when a write begins. fjall halts a write
/// at 4, and a write adds one.
const WAITING_TABLES_MAX: usize = 2;

/// Maximum number of tables of a keyspace that wait to be merged when a write begins. fjall halts a
/// write at 30.
const UNMERGED_TABLES_MAX: usize = 28;

/// Time between two checks whether a write may begin.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// The open engine.
pub(crate) struct OpenedEngine {
    path: PathBuf,
    /// In the order of [`Space::ALL`].
    keyspaces: Vec<Keyspace>,
    pub(crate) database: Database,
}

impl OpenedEngine {
    /// Opens the engine in this directory, or creates it.
    pub(crate) fn open(path: &Path, cache_bytes: u64) -> Result<Self, KeyValueError> {
        let path = path.to_path_buf();
        let failed = |error| failure(&path, error);
        make_lock(&path).map_err(|error| failed(error.into()))?;
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
        Ok(Self { path, keyspaces, database })
    }

    /// Gives the lists of tables the permissions of the other files: the engine makes them readable by its
    /// own user only.
    pub(crate) fn share_lists(path: &Path) {
        let Ok(model) = std::fs::metadata(path.join("version")) else { return };
        let keyspaces = std::fs::read_dir(path.join("keyspaces")).into_iter().flatten().flatten();
        for list in keyspaces.map(|keyspace| keyspace.path().join("current")) {
            let is_other = std::fs::metadata(&list).is_ok_and(|list| list.mode() != model.mode());
            if is_other {
                // The engine may have replaced the list meanwhile; the next sync tries again.
                let _ = std::fs::set_permissions(&list, model.permissions());
            }
        }
    }

    /// The keyspace of the engine.
    pub(crate) fn keyspace(&self, space: Space) -> &Keyspace {
        &self.keyspaces[space as usize]
    }

    /// The value of any key, stamps included.
    pub(crate) fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, KeyValueError> {
        let found = self.keyspace(space).get(key).map_err(|error| self.failure(error))?;
        Ok(found.map(|value| value.to_vec()))
    }

    /// The number of a keyspace's table list, which grows with every change of its tables.
    pub(crate) fn tables(&self, space: Space) -> u64 {
        self.keyspace(space).tree.current_version().id()
    }

    /// Whether the engine accepts no more writes.
    pub(crate) fn is_poisoned(&self) -> bool {
        // This flushes buffered bytes (none after a commit), and fails if the engine is poisoned.
        self.database.persist(PersistMode::Buffer).is_err()
    }

    /// Waits until the background threads have written enough of this keyspace for another write.
    pub(crate) fn wait_for_tables(&self, space: Space) -> Result<(), KeyValueError> {
        let tree = &self.keyspace(space).tree;
        while tree.sealed_memtable_count() > WAITING_TABLES_MAX || tree.l0_run_count() > UNMERGED_TABLES_MAX {
            if self.is_poisoned() {
                return Err(self.failure(fjall::Error::Poisoned));
            }
            std::thread::sleep(LOOK_AGAIN);
        }
        Ok(())
    }

    /// The error of a failed write. It is [`KeyValueError::Poisoned`] if the engine must be reopened.
    pub(crate) fn write_failure(&self, error: fjall::Error) -> KeyValueError {
        let is_poisoned = self.is_poisoned();
        match self.failure(error) {
            KeyValueError::Io { path, source } if is_poisoned => {
                KeyValueError::Poisoned { path, source: Some(source) }
            }
            KeyValueError::Engine { path, .. } if is_poisoned => {
                KeyValueError::Poisoned { path, source: None }
            }
            other => other,
        }
    }

    /// Converts an error of the engine.
    pub(crate) fn failure(&self, error: fjall::Error) -> KeyValueError {
        failure(&self.path, error)
    }
}

/// The memtable size of a keyspace in bytes.
fn table_bytes(space: Space) -> u64 {
    match space {
        Space::Meta | Space::Notes | Space::Sites | Space::SiteNames | Space::Segments | Space::Files => {
            SMALL_TABLE_BYTES
        }
        _ => TABLE_BYTES,
    }
}

/// Converts an error of the engine.
fn failure(path: &Path, error: fjall::Error) -> KeyValueError {
    let path = path.to_path_buf();
    match error {
        fjall::Error::Io(source) | fjall::Error::Storage(fjall::LsmError::Io(source)) => {
            KeyValueError::Io { path, source }
        }
        fjall::Error::Poisoned => KeyValueError::Poisoned { path, source: None },
        fjall::Error::Locked => {
            KeyValueError::Engine { path, reason: "another process has it open".to_owned() }
        }
        other => KeyValueError::Engine { path, reason: format!("{other:?}") },
    }
}

/// The engine locks an empty file, which it creates in new directories only. Creates it again if it was lost.
fn make_lock(path: &Path) -> std::io::Result<()> {
    let lock = path.join("lock");
    if path.join("version").exists() && !lock.exists() {
        std::fs::write(lock, [])?;
    }
    Ok(())
}
