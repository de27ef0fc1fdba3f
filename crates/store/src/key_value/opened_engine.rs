//! The engine while it is open: fjall's database and its keyspaces, which go together when it is closed.
//!
//! fjall gives up writing for good ("poisoned") when a write to its journal or one of its own in the
//! background fails, as on a full disk; it can be read on. Writes also wait in it, without end, for
//! background threads that have died of this; so a write waits here before it is begun, where the poison is
//! looked for. What a poisoned engine holds in memory of its journal it may still write while it is closed:
//! whether the batch that failed took effect is not known before the engine was opened again.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fjall::{AbstractTree as _, Database, Keyspace, KeyspaceCreateOptions, PersistMode};

use super::engine::{KeyValueError, Space};

/// Bytes of journal after which the oldest part is made superfluous by writing tables. A restart reads at
/// most this much.
const JOURNAL_BYTES_MAX: u64 = 128 << 20;

/// Bytes of one keyspace held in memory before they are written as a table.
const TABLE_BYTES: u64 = 16 << 20;

/// The same of keyspaces that hold little.
const SMALL_TABLE_BYTES: u64 = 2 << 20;

/// Threads that write tables and merge them.
const WORKERS: usize = 2;

/// Tables of a keyspace that may wait in memory to be written when a write begins. fjall halts a write at 4,
/// and a write adds one.
const WAITING_TABLES_MAX: usize = 2;

/// Tables of a keyspace that may wait to be merged when a write begins. fjall halts a write at 30.
const UNMERGED_TABLES_MAX: usize = 28;

/// How soon it is looked again whether a write may begin.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// The engine, open.
pub(crate) struct OpenedEngine {
    path: PathBuf,
    /// In the order of [`Space::ALL`].
    keyspaces: Vec<Keyspace>,
    pub(crate) database: Database,
}

impl OpenedEngine {
    /// Opens the engine in this directory, or makes it.
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

    /// Lets everybody read the lists of tables who may read the other files: the engine makes them for its
    /// own user alone.
    pub(crate) fn share_lists(path: &Path) {
        let Ok(model) = std::fs::metadata(path.join("version")) else { return };
        let keyspaces = std::fs::read_dir(path.join("keyspaces")).into_iter().flatten().flatten();
        for list in keyspaces.map(|keyspace| keyspace.path().join("current")) {
            let is_other = std::fs::metadata(&list).is_ok_and(|list| list.mode() != model.mode());
            if is_other {
                // The engine may have replaced it meanwhile; the next sync looks again.
                let _ = std::fs::set_permissions(&list, model.permissions());
            }
        }
    }

    /// A keyspace.
    pub(crate) fn keyspace(&self, space: Space) -> &Keyspace {
        &self.keyspaces[space as usize]
    }

    /// The value of any key.
    pub(crate) fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, KeyValueError> {
        let found = self.keyspace(space).get(key).map_err(|error| self.failure(error))?;
        Ok(found.map(|value| value.to_vec()))
    }

    /// The number of a keyspace's table list.
    pub(crate) fn tables(&self, space: Space) -> u64 {
        self.keyspace(space).tree.current_version().id()
    }

    /// Whether it takes no writes any more.
    pub(crate) fn is_poisoned(&self) -> bool {
        // It writes out what is buffered, which is nothing after a commit, and says whether it is poisoned.
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

    /// The error of a write that failed: what failed, or that the engine has to be opened again.
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

    /// What the engine said, in our words.
    pub(crate) fn failure(&self, error: fjall::Error) -> KeyValueError {
        failure(&self.path, error)
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
        fjall::Error::Poisoned => KeyValueError::Poisoned { path, source: None },
        fjall::Error::Locked => {
            KeyValueError::Engine { path, reason: "another process has it open".to_owned() }
        }
        other => KeyValueError::Engine { path, reason: format!("{other:?}") },
    }
}

/// The engine locks an empty file, which it makes only in a new directory: one that was lost is no loss.
fn make_lock(path: &Path) -> std::io::Result<()> {
    let lock = path.join("lock");
    if path.join("version").exists() && !lock.exists() {
        std::fs::write(lock, [])?;
    }
    Ok(())
}
