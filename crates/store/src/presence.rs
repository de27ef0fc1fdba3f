//! Whether the directory of a store is still there while it is open.
//!
//! The system lets a process go on writing into files that were deleted, and nothing of it is kept. So the parts of the directory are looked up by
//! their names now and then, and have to be the ones that were opened.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::error::StoreError;
use crate::store::FORMAT_FILE;

/// The parts that are looked up; those that were not there at opening are not missed.
const PARTS: [&str; 5] = [FORMAT_FILE, "log", "state", "collection", "history"];

/// The parts of a store's directory as they were when it was opened.
#[derive(Debug)]
pub(crate) struct Presence {
    directory: PathBuf,
    /// Each with its device and its number on it.
    parts: Vec<(PathBuf, u64, u64)>,
}

impl Presence {
    /// The parts as they are now.
    pub(crate) fn of(directory: &Path) -> Result<Self, StoreError> {
        let mut parts = Vec::new();
        for part in PARTS {
            let path = directory.join(part);
            match fs::metadata(&path) {
                Ok(found) => parts.push((path, found.dev(), found.ino())),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(StoreError::file("look up", &path)(error)),
            }
        }
        Ok(Self { directory: directory.to_path_buf(), parts })
    }

    /// Says what became of a part that is not what it was.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        for (path, device, number) in &self.parts {
            let what = match fs::metadata(path) {
                Ok(found) if (found.dev(), found.ino()) == (*device, *number) => continue,
                Ok(_) => "it was replaced by another",
                Err(error) if error.kind() == ErrorKind::NotFound => "it was deleted or moved away",
                Err(error) => return Err(StoreError::file("look up", path)(error)),
            };
            let is_whole = !self.directory.exists();
            let path = if is_whole { self.directory.clone() } else { path.clone() };
            return Err(StoreError::Lost { path, what });
        }
        Ok(())
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
        fs::write(directory.join(FORMAT_FILE), "").expect("it is written");
        let presence = Presence::of(&directory).expect("it is looked up");
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
            fs::write(path.join(FORMAT_FILE), "").expect("written");
        };
        check_lost(replaced, "crawl/FORMAT", "it was replaced by another");
    }
}
