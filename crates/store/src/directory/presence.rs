//! Checks that the directory of an open store, and each file being written, are still there.
//!
//! A process can go on writing to deleted files, and those writes are lost. So the parts of the directory are
//! looked up by name several times a second, and must be the ones that were opened. A file that is appended
//! to must have the length that was written.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::directory::folders::listed;
use crate::error::StoreError;

/// Time to wait after a part is found missing, to tell a directory that is being deleted from one that
/// lost a part.
const DELETION: Duration = Duration::from_millis(200);

/// The parts of a store's directory as they were when it was opened.
#[derive(Debug)]
pub(crate) struct Presence {
    directory: PathBuf,
    /// Path, device and inode of each part.
    parts: Vec<(PathBuf, u64, u64)>,
    /// Files that the key-value store replaces from time to time, but that must always exist.
    state_files: Vec<PathBuf>,
}

impl Presence {
    /// The current parts with these names. Parts that do not exist are not checked later.
    pub(crate) fn of(directory: &Path, names: &[&str]) -> Result<Self, StoreError> {
        let mut parts = Vec::new();
        for part in names {
            let path = directory.join(part);
            match fs::metadata(&path) {
                Ok(found) => parts.push((path, found.dev(), found.ino())),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(StoreError::file("look up", &path)(error)),
            }
        }
        Ok(Self { directory: directory.to_path_buf(), parts, state_files: state_files(directory)? })
    }

    /// Returns an error if a part is no longer what it was.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        for (path, device, number) in &self.parts {
            let Some(what) = change_of(path, (*device, *number), None)? else { continue };
            // Deleting a directory removes one part after the other.
            std::thread::sleep(DELETION);
            let is_whole = !self.directory.exists();
            let path = if is_whole { self.directory.clone() } else { path.clone() };
            return Err(StoreError::Lost { path, what });
        }
        if let Some(path) = self.state_files.iter().find(|path| !path.exists()) {
            return Err(StoreError::Lost { path: path.clone(), what: GONE });
        }
        let state = self.directory.join("state");
        let has_journal = fs::read_dir(&state)
            .map_err(StoreError::file("list", &state))?
            .any(|entry| entry.is_ok_and(|entry| is_journal(&entry.path())));
        if !has_journal && !self.state_files.is_empty() {
            return Err(StoreError::Lost { path: state.join("*.jnl"), what: GONE });
        }
        Ok(())
    }
}

/// What happened to a file that is not found by its name.
const GONE: &str = "it was deleted or moved away";

fn is_journal(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "jnl")
}

/// The files of the key-value store that list its contents.
fn state_files(directory: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let state = directory.join("state");
    let mut files = vec![state.join("version")];
    let keyspaces = state.join("keyspaces");
    if keyspaces.is_dir() {
        files.extend(listed(&keyspaces)?.into_iter().map(|keyspace| keyspace.join("current")));
    }
    files.retain(|path| path.is_file());
    Ok(files)
}

/// Returns an error if a file that is appended to is not the opened one, or has another length.
pub(crate) fn check_open(path: &Path, file: &File, bytes: u64) -> Result<(), StoreError> {
    let opened = file.metadata().map_err(StoreError::file("look up", path))?;
    match change_of(path, (opened.dev(), opened.ino()), Some(bytes))? {
        Some(what) => Err(StoreError::Lost { path: path.to_path_buf(), what }),
        None => Ok(()),
    }
}

/// What happened to a part with this device and inode and, for a file, this length.
fn change_of(
    path: &Path,
    identity: (u64, u64),
    bytes: Option<u64>,
) -> Result<Option<&'static str>, StoreError> {
    match fs::metadata(path) {
        Ok(found) if (found.dev(), found.ino()) != identity => Ok(Some("it was replaced by another")),
        Ok(found) if bytes.is_some_and(|bytes| found.len() != bytes) => {
            Ok(Some("it was cut or written to by somebody else"))
        }
        Ok(_) => Ok(None),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Some(GONE)),
        Err(error) => Err(StoreError::file("look up", path)(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_lost(meddle: impl Fn(&Path), named: &str, what: &str) {
        let place = tempfile::tempdir().expect("a directory");
        let directory = place.path().join("crawl");
        for part in ["state", "collection"] {
            fs::create_dir_all(directory.join(part)).expect("it is made");
        }
        fs::write(directory.join("FORMAT"), "").expect("it is written");
        let presence =
            Presence::of(&directory, &["FORMAT", "state", "collection", "history"]).expect("it is looked up");
        presence.check().expect("all is there");
        fs::create_dir(directory.join("history")).expect("it is made");
        presence.check().expect("all is there");
        meddle(&directory);
        match presence.check() {
            Err(StoreError::Lost { path, what: said }) => {
                assert_eq!((path, said), (place.path().join(named), what));
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_was_deleted_moved_or_replaced_is_named() {
        let gone = "it was deleted or moved away";
        check_lost(|path| fs::remove_dir_all(path).expect("removed"), "crawl", gone);
        check_lost(|path| fs::rename(path, path.with_extension("old")).expect("moved"), "crawl", gone);
        check_lost(|path| fs::remove_dir_all(path.join("state")).expect("removed"), "crawl/state", gone);
        let moved = |path: &Path| fs::rename(path.join("collection"), path.join("c")).expect("moved");
        check_lost(moved, "crawl/collection", gone);
        let replaced = |path: &Path| {
            fs::rename(path, path.with_extension("old")).expect("moved");
            fs::create_dir(path).expect("made");
            fs::write(path.join("FORMAT"), "").expect("written");
        };
        check_lost(replaced, "crawl/FORMAT", "it was replaced by another");
    }

    #[test]
    fn a_file_that_is_appended_to_has_the_length_that_was_written() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("file");
        fs::write(&path, b"written").expect("it is written");
        let file = File::options().append(true).open(&path).expect("it is opened");
        check_open(&path, &file, 7).expect("it is whole");
        for bytes in [6, 8] {
            let lost = check_open(&path, &file, bytes).expect_err("it has another length").to_string();
            assert!(lost.contains("cut or written to by somebody else"), "{lost}");
        }
        fs::remove_file(&path).expect("it is removed");
        let lost = check_open(&path, &file, 7).expect_err("it is gone").to_string();
        assert!(lost.contains("deleted or moved away"), "{lost}");
    }
}
