//! The files of the Collection: appended to by commits, closed when they are large, cut back after a crash.
//!
//! Bytes are appended before the commit that makes them count; the commit holds the length that the file then has. After a crash the file
//! is cut to the committed length, and a file of which no commit knows is removed.
//!
//! # Promises
//! - After a failed append the file has its committed length again, so that a later append stands where it says.
//! - A file is never cut below its committed length.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::codec::record;
use crate::error::StoreError;
use crate::time::Timestamp;

record! {
    /// A segment file, as far as commits know of it.
    #[derive(Clone, Debug, Default, Eq, PartialEq)]
    pub struct SegmentRecord {
        /// Bytes of the file that count.
        bytes: u64,
        /// Responses and revisits in it.
        versions: u64,
        /// Whether nothing is appended to it any more.
        closed: bool,
        /// Whether its index file is complete.
        indexed: bool,
        /// The time of its first exchange.
        first: Timestamp,
        /// The time of its last exchange.
        last: Timestamp,
    }
}

impl SegmentRecord {
    /// Counts a version of this moment.
    pub(crate) fn count(&mut self, time: Timestamp) {
        self.first = if self.versions == 0 { time } else { self.first.min(time) };
        self.last = if self.versions == 0 { time } else { self.last.max(time) };
        self.versions += 1;
    }
}

/// The file of a segment.
pub fn file_name(number: u32) -> String {
    format!("segment-{number:08}.warc.gz")
}

/// The index of a segment.
pub fn index_name(number: u32) -> String {
    format!("segment-{number:08}.cdxj")
}

/// The number of the segment of which this is the file or the index.
pub fn number_of(file_name: &str) -> Option<u32> {
    let digits = file_name.strip_prefix("segment-")?.split('.').next()?;
    if digits.len() == 8 { digits.parse().ok() } else { None }
}

/// The segment that is appended to.
#[derive(Debug)]
pub(crate) struct Tail {
    path: PathBuf,
    file: File,
    length: u64,
}

impl Tail {
    /// A new segment file, empty. One that a crash left behind is replaced.
    pub(crate) fn create(directory: &Path, number: u32) -> Result<Self, StoreError> {
        let path = directory.join(file_name(number));
        File::create(&path).map_err(StoreError::file("create", &path))?;
        let file = OpenOptions::new().append(true).open(&path).map_err(StoreError::file("open", &path))?;
        sync_directory(directory)?;
        Ok(Self { path, file, length: 0 })
    }

    /// The segment file of which `length` bytes count, and how many bytes that follow them were cut off. The file may be shorter only if the
    /// machine died.
    pub(crate) fn open(directory: &Path, number: u32, length: u64) -> Result<(Self, u64), StoreError> {
        let path = directory.join(file_name(number));
        let file = OpenOptions::new().append(true).open(&path).map_err(StoreError::file("open", &path))?;
        let found = file.metadata().map_err(StoreError::file("read the length of", &path))?.len();
        if found < length {
            let reason = format!("it has {found} bytes of {length}");
            return Err(StoreError::Damaged { path, reason });
        }
        if found > length {
            file.set_len(length).map_err(StoreError::file("cut", &path))?;
        }
        Ok((Self { path, file, length }, found - length))
    }

    /// Whether fewer bytes are there than count, which is so only if the machine died.
    pub(crate) fn is_short(directory: &Path, number: u32, length: u64) -> Result<bool, StoreError> {
        let path = directory.join(file_name(number));
        match fs::metadata(&path) {
            Ok(metadata) => Ok(metadata.len() < length),
            Err(error) => Err(StoreError::file("read the length of", &path)(error)),
        }
    }

    /// Bytes in the file.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Appends bytes; after a failure the file is as it was.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        if let Err(error) = self.file.write_all(bytes) {
            self.cut_back(self.length)?;
            return Err(StoreError::file("write", &self.path)(error));
        }
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Cuts the file to a length it had before, because the commit that would have made the rest count failed.
    pub(crate) fn cut_back(&mut self, length: u64) -> Result<(), StoreError> {
        self.file.set_len(length).map_err(StoreError::file("cut", &self.path))?;
        self.length = length;
        Ok(())
    }

    /// Waits until the bytes are on the disk.
    pub(crate) fn sync(&self) -> Result<(), StoreError> {
        self.file.sync_data().map_err(StoreError::file("sync", &self.path))
    }
}

/// Removes segments and their leftovers of which no commit knows.
pub(crate) fn remove_unknown(
    directory: &Path,
    known: impl Fn(u32) -> bool,
) -> Result<Vec<PathBuf>, StoreError> {
    let mut removed = Vec::new();
    let entries = fs::read_dir(directory).map_err(StoreError::file("list", directory))?;
    for entry in entries {
        let path = entry.map_err(StoreError::file("list", directory))?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let unfinished = name.ends_with(".unfinished");
        if unfinished || number_of(name).is_some_and(|number| !known(number)) {
            fs::remove_file(&path).map_err(StoreError::file("remove", &path))?;
            removed.push(path);
        }
    }
    Ok(removed)
}

/// Waits until the names in a directory are on the disk.
pub(crate) fn sync_directory(directory: &Path) -> Result<(), StoreError> {
    File::open(directory)
        .and_then(|directory| directory.sync_all())
        .map_err(StoreError::file("sync", directory))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_committed_is_cut_off_and_what_was_is_missed() {
        let place = tempfile::tempdir().expect("a directory");
        let mut tail = Tail::create(place.path(), 3).expect("it is created");
        tail.append(b"committed").expect("it is appended");
        let committed = tail.length();
        tail.append(b"torn").expect("it is appended");
        drop(tail);
        let (mut tail, cut) = Tail::open(place.path(), 3, committed).expect("it opens");
        assert_eq!(cut, 4);
        tail.append(b", more").expect("it is appended");
        assert_eq!(fs::read(place.path().join(file_name(3))).expect("it is read"), b"committed, more");
        let error = Tail::open(place.path(), 3, 100).expect_err("it is too short").to_string();
        assert!(error.contains("15 bytes of 100"), "{error}");
    }

    #[test]
    fn files_of_which_nobody_knows_are_removed() {
        let place = tempfile::tempdir().expect("a directory");
        for name in ["segment-00000001.warc.gz", "segment-00000002.warc.gz", "a.cdxj.unfinished", "notes.txt"]
        {
            fs::write(place.path().join(name), "").expect("it is written");
        }
        let removed = remove_unknown(place.path(), |number| number == 1).expect("they are removed");
        assert_eq!(removed.len(), 2, "{removed:?}");
        assert!(place.path().join("segment-00000001.warc.gz").exists());
        assert!(place.path().join("notes.txt").exists());
    }

    #[test]
    fn a_name_gives_its_number_back() {
        assert_eq!(number_of(&file_name(42)), Some(42));
        assert_eq!(number_of(&index_name(42)), Some(42));
        assert_eq!(number_of("segment-42.warc.gz"), None);
        assert_eq!(number_of("other"), None);
    }
}
