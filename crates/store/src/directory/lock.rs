//! The lock on a store's directory: one process may write, and others learn its process id.
//!
//! The file `LOCK` holds the process id as text. The lock is a file lock of the system and ends with the
//! process, however that ends; the file stays.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::error::StoreError;

/// The name of the lock file.
pub(crate) const FILE_NAME: &str = "LOCK";

/// Maximum time that a process which only tests the lock may hold it.
const LOOKED_AT_MAX: Duration = Duration::from_millis(200);

/// Time between two attempts to take the lock.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// The lock, held until it is dropped.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock, or returns an error that names its holder.
    pub(crate) fn take(directory: &Path) -> Result<Self, StoreError> {
        let path = directory.join(FILE_NAME);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(StoreError::file("open", &path))?;
        // A process that tests the lock holds it for a moment.
        let until = Instant::now() + LOOKED_AT_MAX;
        let taken = loop {
            match file.try_lock() {
                Err(TryLockError::WouldBlock) if Instant::now() < until => std::thread::sleep(LOOK_AGAIN),
                taken => break taken,
            }
        };
        match taken {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut pid = String::new();
                let _ = file.read_to_string(&mut pid);
                let pid = if pid.trim().is_empty() { "(unknown)".to_owned() } else { pid.trim().to_owned() };
                return Err(StoreError::InUse { directory: directory.to_path_buf(), pid });
            }
            Err(TryLockError::Error(error)) => return Err(StoreError::file("lock", &path)(error)),
        }
        file.set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| writeln!(file, "{}", std::process::id()))
            .map_err(StoreError::file("write", &path))?;
        Ok(Self { _file: file })
    }

    /// The process id of the holder, from the lock file; none if the lock is free. Writes nothing.
    pub fn holder(directory: &Path) -> Option<String> {
        let path = directory.join(FILE_NAME);
        // Opening a named pipe in its place would block.
        let mut file = path.is_file().then(|| File::open(path))?.ok()?;
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => {
                let mut pid = String::new();
                let _ = file.read_to_string(&mut pid);
                Some(pid.trim().to_owned())
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_taker_is_told_the_process() {
        let place = tempfile::tempdir().expect("a directory");
        let lock = Lock::take(place.path()).expect("it is free");
        let error = Lock::take(place.path()).expect_err("it is taken").to_string();
        assert!(error.contains(&format!("in use by process {}", std::process::id())), "{error}");
        drop(lock);
        Lock::take(place.path()).expect("it is free again");
    }
}
