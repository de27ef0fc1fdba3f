//! Helpers for the folders of a store's directory: list them, sync them, and name the files in them.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::error::StoreError;

/// The paths in a folder, sorted.
pub(crate) fn listed(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let entries = fs::read_dir(folder).map_err(StoreError::file("list", folder))?;
    let mut paths = entries
        .map(|entry| Ok(entry.map_err(StoreError::file("list", folder))?.path()))
        .collect::<Result<Vec<_>, StoreError>>()?;
    paths.sort();
    Ok(paths)
}

/// The path of a file relative to the directory of a store.
pub(crate) fn relative(path: &Path, directory: &Path) -> String {
    let path: PathBuf = path.strip_prefix(directory).unwrap_or(path).to_path_buf();
    path.display().to_string()
}

/// Syncs a directory, so that the names in it are on disk.
pub(crate) fn sync_directory(directory: &Path) -> Result<(), StoreError> {
    File::open(directory)
        .and_then(|directory| directory.sync_all())
        .map_err(StoreError::file("sync", directory))
}
