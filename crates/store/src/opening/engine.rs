//! Opens the key-value store of a directory, whatever the condition of its files.
//!
//! # Promises
//! - The engine never opens files whose tables it would silently remove.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use freshet_protocol::containment::contained;

use crate::directory::folders::{listed, relative};
use crate::error::{StoreError, is_out_of_files};
use crate::key_value::{KeyValue, OnDisk};

/// Opens the engine; damage is an error.
pub(crate) fn open_engine(directory: &Path, cache_bytes: u64) -> Result<Box<dyn KeyValue>, StoreError> {
    open_state(directory, cache_bytes)?
        .map_err(|problem| StoreError::behind(&directory.join("state"), &problem))
}

/// Opens the engine. Damage is returned as a description, and failures of the system as an error.
pub(crate) fn open_state(
    directory: &Path,
    cache_bytes: u64,
) -> Result<Result<Box<dyn KeyValue>, String>, StoreError> {
    let path = directory.join("state");
    if let Some(folder) = folder_without_current(&path)? {
        return Ok(Err(format!(
            "{} is missing: which tables count is not known",
            relative(&folder.join("current"), directory)
        )));
    }
    if SystemTime::now() < SystemTime::UNIX_EPOCH {
        return Err(StoreError::Clock);
    }
    // The engine asserts what it expects of its own files: a panic of it is a fault of the files.
    match contained(|| OnDisk::open(&path, cache_bytes)) {
        Ok(Ok(state)) => Ok(Ok(Box::new(state))),
        Ok(Err(error)) => match StoreError::from(error) {
            StoreError::File { source, .. } if is_damage(&source) => {
                Ok(Err(format!("it cannot be opened: {source}")))
            }
            StoreError::State { reason, .. } => Ok(Err(format!("it cannot be opened: {reason}"))),
            refusal => Err(refusal),
        },
        Err(_) => Ok(Err("it cannot be opened: the engine gave up".to_owned())),
    }
}

/// Whether an I/O error was caused by the contents of the files.
fn is_damage(error: &io::Error) -> bool {
    !matches!(
        error.kind(),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::StorageFull
    ) && !is_out_of_files(error)
}

/// A keyspace folder that has tables but no list of them: the engine would take it for empty and
/// remove the tables.
fn folder_without_current(state: &Path) -> Result<Option<PathBuf>, StoreError> {
    Ok(keyspace_folders(state)?.into_iter().find(|folder| {
        let has_tables = fs::read_dir(folder.join("tables")).is_ok_and(|mut tables| tables.next().is_some());
        has_tables && !folder.join("current").exists()
    }))
}

/// The folders of the keyspaces.
pub(crate) fn keyspace_folders(state: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let folder = state.join("keyspaces");
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut folders = listed(&folder)?;
    folders.retain(|path| path.is_dir());
    Ok(folders)
}
