//! Readers of a directory and the process that writes it, out of each other's way.
//!
//! A reader holds a shared lock on the file `FORMAT`, which needs no permission to write. The process that writes does not wait for readers; it only
//! leaves files that it has replaced where they are until nobody reads, so that what a reader found in the state is there when it comes to it.
//!
//! # Promises
//! - A crawl that starts never waits for a reader.
//! - A reader that is killed holds nothing up: the system releases its lock.

use std::fs::{File, TryLockError};
use std::path::Path;

use crate::directory::format::FORMAT_FILE;

/// A reader is there as long as this is held.
#[derive(Debug)]
pub(crate) struct Reading {
    _file: Option<File>,
}

impl Reading {
    /// Says that somebody reads. Where the system has no locks, files may go while they are read: then the reader begins again.
    pub(crate) fn begin(directory: &Path) -> Self {
        let file = File::open(directory.join(FORMAT_FILE)).ok();
        Self { _file: file.filter(|file| file.try_lock_shared().is_ok()) }
    }
}

/// Whether somebody reads this directory now.
pub(crate) fn are_there(directory: &Path) -> bool {
    let file = File::open(directory.join(FORMAT_FILE));
    // The lock is released when the file is closed, at once.
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
