//! Readers of a directory: they tell the writing process to keep files that they may need.
//!
//! A reader holds a shared lock on the file `FORMAT`, which needs no write permission. The writing process
//! does not wait for readers. It only keeps the files that it has replaced until there are no readers, so
//! that every file that a reader found in the state still exists when the reader opens it.
//!
//! # Promises
//! - A starting crawl never waits for a reader.
//! - A killed reader blocks nothing: the system releases its lock.

use std::fs::{File, TryLockError};
use std::path::Path;

use crate::directory::format::FORMAT_FILE;

/// Marks the presence of a reader while it exists.
#[derive(Debug)]
pub(crate) struct Reading {
    _file: Option<File>,
}

impl Reading {
    /// Announces a reader. Where the system has no file locks, files may be removed while they are read: then
    /// the reader starts again.
    pub(crate) fn begin(directory: &Path) -> Self {
        let file = File::open(directory.join(FORMAT_FILE)).ok();
        Self { _file: file.filter(|file| file.try_lock_shared().is_ok()) }
    }
}

/// Whether this directory has readers now.
pub(crate) fn are_there(directory: &Path) -> bool {
    let file = File::open(directory.join(FORMAT_FILE));
    // Closing the file releases the lock at once.
    file.is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_are_noticed_while_they_read() {
        let place = tempfile::tempdir().expect("a directory");
        assert!(!are_there(place.path()));
        std::fs::write(place.path().join(FORMAT_FILE), "").expect("it is written");
        assert!(!are_there(place.path()));
        let readers = [Reading::begin(place.path()), Reading::begin(place.path())];
        assert!(are_there(place.path()));
        drop(readers);
        assert!(!are_there(place.path()));
    }
}
