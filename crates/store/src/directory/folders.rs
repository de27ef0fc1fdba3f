//! Folders of a store's directory: what stands in them, and what a file in them is called.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::error::StoreError;

/// What stands in a folder, sorted.
pub(crate) fn listed(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let entries = fs::read_dir(folder).map_err(StoreError::file("list", folder))?;
    let mut paths = entries
        .map(|entry| Ok(entry.map_err(StoreError::file("list", folder))?.path()))
        .collect::<Result<Vec<_>, StoreError>>()?;
    paths.sort();
    Ok(paths)
}

/// The name of a file within the directory of a store.
pub(crate) fn relative(path: &Path, directory: &Path) -> String {
    let path: PathBuf = path.strip_prefix(directory).unwrap_or(path).to_path_buf();
    path.display().to_string()
}

/// Waits until the names in a directory are on the disk.
pub(crate) fn sync_directory(directory: &Path) -> Result<(), StoreError> {
    File::open(directory)
        .and_then(|directory| directory.sync_all())
        .map_err(StoreError::file("sync", directory))
}
