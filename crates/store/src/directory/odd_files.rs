//! Checks that files in the directory of a crawl are files and folders are folders.
//!
//! Opening a named pipe blocks until somebody writes to it, and the engine panics if its files are not files.
//! So the file types are checked before anything is opened.
//!
//! # Promises
//! - Opens nothing and changes nothing.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use crate::directory::format::FORMAT_FILE;
use crate::directory::lock;
use crate::error::StoreError;
use crate::synced;

/// The name of the file with the status of the crawl at its last sync.
pub const STATUS_FILE: &str = "status.json";

/// Names in the directory of a crawl that must be files.
const FILES: [&str; 7] = [
    FORMAT_FILE,
    lock::FILE_NAME,
    synced::FILE_NAME,
    STATUS_FILE,
    "options.toml",
    "startup-index",
    "freshet.toml",
];

/// Names in the directory of a crawl that must be folders.
const FOLDERS: [&str; 5] = ["state", "log", "collection", "history", "urls"];

/// File name endings in these folders that must be files.
const FILE_ENDINGS: [&str; 8] =
    [".jnl", ".log", ".warc.gz", ".cdxj", ".parquet", "/current", "/version", "/lock"];

/// Maximum depth of nested folders: `state/keyspaces/1/tables`.
const DEPTH: u32 = 4;

/// Returns an error if a path in the directory has the wrong file type.
pub fn refuse_odd_files(directory: &Path) -> Result<(), StoreError> {
    match odd_files(directory)?.into_iter().next() {
        Some((path, what)) => Err(StoreError::behind(&path, what)),
        None => Ok(()),
    }
}

/// The paths with the wrong file type, and what they are instead.
pub(crate) fn odd_files(directory: &Path) -> Result<Vec<(PathBuf, &'static str)>, StoreError> {
    let mut odd = Vec::new();
    for name in FILES {
        let path = directory.join(name);
        odd.extend(problem(&path, true)?.map(|what| (path, what)));
    }
    for name in FOLDERS {
        let path = directory.join(name);
        match fs::metadata(&path) {
            Ok(found) if found.is_dir() => look_into(&path, DEPTH, &mut odd)?,
            Ok(_) => odd.push((path, "it is no folder")),
            Err(_) => {}
        }
    }
    Ok(odd)
}

fn look_into(folder: &Path, depth: u32, odd: &mut Vec<(PathBuf, &'static str)>) -> Result<(), StoreError> {
    let failed = |error| StoreError::file("list", folder)(error);
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let kind = entry.file_type().map_err(failed)?;
        let path = entry.path();
        let is_named_as_file = || {
            let name = path.to_string_lossy();
            FILE_ENDINGS.iter().any(|ending| name.ends_with(ending))
        };
        // Nearly all entries are files and need no further check.
        if !kind.is_file()
            && let Some(what) = problem(&path, is_named_as_file())?
        {
            odd.push((path, what));
        } else if kind.is_dir() && depth > 0 {
            look_into(&path, depth - 1, odd)?;
        }
    }
    Ok(())
}

/// What is wrong with the type of a path; none if it does not exist or is right.
fn problem(path: &Path, must_be_file: bool) -> Result<Option<&'static str>, StoreError> {
    let kind = match fs::metadata(path) {
        Ok(found) => found.file_type(),
        // A dangling link counts as a missing file.
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(StoreError::file("look up", path)(error)),
    };
    Ok(if kind.is_dir() {
        must_be_file.then_some("it is a folder and no file")
    } else if kind.is_fifo() {
        Some("it is a named pipe and no file")
    } else if kind.is_socket() {
        Some("it is a socket and no file")
    } else if kind.is_file() {
        None
    } else {
        Some("it is a device and no file")
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    /// The wrong types found in a directory where `meddle` replaced a file.
    #[track_caller]
    fn check(name: &str, meddle: fn(&Path), what: &str) {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("it is made");
        meddle(&path);
        assert_eq!(odd_files(place.path()).expect("it is looked at"), [(path, what)]);
    }

    #[test]
    fn what_is_no_file_is_named() {
        let folder: fn(&Path) = |path| fs::create_dir(path).expect("it is made");
        for name in ["SYNCED", "log/00000000000000000001.log", "state/0.jnl", "state/keyspaces/3/current"] {
            check(name, folder, "it is a folder and no file");
        }
        let socket: fn(&Path) = |path| drop(UnixListener::bind(path).expect("it is bound"));
        check("collection/segment-00000001.warc.gz", socket, "it is a socket and no file");
        check("state/keyspaces/3/tables/7", socket, "it is a socket and no file");
        let device: fn(&Path) = |path| std::os::unix::fs::symlink("/dev/null", path).expect("it is linked");
        check("options.toml", device, "it is a device and no file");
        check("urls", |path| fs::write(path, "").expect("it is written"), "it is no folder");
    }

    #[test]
    fn what_is_as_it_should_be_is_not() {
        let place = tempfile::tempdir().expect("a directory");
        for folder in ["state/keyspaces/3/tables", "log", "aside/20260101000000"] {
            fs::create_dir_all(place.path().join(folder)).expect("it is made");
        }
        for file in ["FORMAT", "log/00000000000000000001.log", "state/keyspaces/3/tables/7"] {
            fs::write(place.path().join(file), "").expect("it is written");
        }
        drop(UnixListener::bind(place.path().join("socket")).expect("it is bound"));
        std::os::unix::fs::symlink("nowhere", place.path().join("SYNCED")).expect("it is linked");
        assert_eq!(odd_files(place.path()).expect("it is looked at"), []);
    }
}
