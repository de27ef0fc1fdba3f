//! Checks that the disk has room for another step, before anything of it is written.
//!
//! The key-value store writes in the background: tables of what it holds in memory, and merged tables. If
//! that fails for lack of space, the engine accepts no more writes and must be reopened. So steps leave a
//! reserve for it.

use std::io;
use std::path::Path;

use rustix::fs::statvfs;

use crate::error::StoreError;

/// Maximum reserve that steps leave free, in bytes.
const RESERVE_MAX: u64 = 64 << 20;

/// The reserve is this fraction of the file system, if that is less.
const RESERVE_PART: u64 = 16;

/// Minimum number of free files, where the file system counts them. A step may create a table, its list and a
/// segment of the Collection.
const FILES_MIN: u64 = 32;

/// Returns [`StoreError::DiskFull`] unless so many bytes fit on the disk without touching the reserve.
pub(crate) fn check_room(directory: &Path, bytes: u64) -> Result<(), StoreError> {
    let found = match statvfs(directory) {
        Ok(found) => found,
        // The check of presence reports a missing directory.
        Err(rustix::io::Errno::NOENT) => return Ok(()),
        Err(error) => return Err(StoreError::file("ask for room in", directory)(error.into())),
    };
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    let all = found.f_blocks.saturating_mul(found.f_frsize);
    let reserve = (all / RESERVE_PART).min(RESERVE_MAX);
    let needed = reserve.saturating_add(bytes);
    // A file system that does not count files reports zero in total.
    let has_files = found.f_files == 0 || found.f_favail >= FILES_MIN;
    if has_files && (free >= needed || all == 0) {
        return Ok(());
    }
    let why = if has_files {
        format!("{free} bytes are free, and {needed} are needed: {bytes} to write and {reserve} in reserve")
    } else {
        format!("there is room for {} files, and {FILES_MIN} are needed", found.f_favail)
    };
    let source = io::Error::new(io::ErrorKind::StorageFull, why);
    Err(StoreError::DiskFull { path: directory.to_path_buf(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_refused_and_why_is_said() {
        let place = tempfile::tempdir().expect("a directory");
        check_room(place.path(), 0).expect("there is some room where tests run");
        let refused = check_room(place.path(), u64::MAX / 2).expect_err("it does not fit");
        let StoreError::DiskFull { path, source } = refused else { panic!("{refused}") };
        assert_eq!(path, place.path());
        assert!(source.to_string().contains("in reserve"), "{source}");
    }
}
