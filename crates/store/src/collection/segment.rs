//! Segment files of the Collection: appended to by commits, closed when they are large, truncated
//! after a crash.
//!
//! Bytes are appended before the commit that makes them part of the store; the commit records the new length
//! of the file. After a crash the file is truncated to the committed length, and files that no commit refers
//! to are removed.
//!
//! # Promises
//! - After a failed append the file has its committed length again, so that the next append is at the
//!   recorded place.
//! - A file is never truncated below its committed length.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use freshet_protocol::codec::record;
use freshet_protocol::time::Timestamp;

use crate::directory::aside::Aside;
use crate::directory::folders::sync_directory;
use crate::directory::presence::check_open;
use crate::error::StoreError;
use crate::key_value::{Space, View};
use crate::records::numbered;

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
    /// Counts a version of this time.
    pub(crate) fn count(&mut self, time: Timestamp) {
        self.first = if self.versions == 0 { time } else { self.first.min(time) };
        self.last = if self.versions == 0 { time } else { self.last.max(time) };
        self.versions += 1;
    }
}

/// The file name of a segment.
pub fn file_name(number: u32) -> String {
    format!("segment-{number:08}.warc.gz")
}

/// The file name of a segment's index.
pub fn index_name(number: u32) -> String {
    format!("segment-{number:08}.cdxj")
}

/// The number of the segment with this file or index name.
pub fn number_of(file_name: &str) -> Option<u32> {
    let digits = file_name.strip_prefix("segment-")?.split('.').next()?;
    if digits.len() == 8 { digits.parse().ok() } else { None }
}

/// The segments, ordered by number.
pub(crate) fn segments(state: &dyn View) -> impl Iterator<Item = Result<(u32, SegmentRecord), StoreError>> {
    numbered(state, Space::Segments, Vec::new(), |key| Some(u32::from_be_bytes(key.try_into().ok()?)))
}

/// The segment that commits append to.
#[derive(Debug)]
pub(crate) struct Tail {
    path: PathBuf,
    file: File,
    length: u64,
}

impl Tail {
    /// Creates a new segment file. A file that exists and is not empty is an error: opening the store puts
    /// such files aside.
    pub(crate) fn create(directory: &Path, number: u32) -> Result<Self, StoreError> {
        let path = directory.join(file_name(number));
        let file = OpenOptions::new()
            .append(true)
            .create(true)
            .open(&path)
            .map_err(StoreError::file("create", &path))?;
        let length = file.metadata().map_err(StoreError::file("read the length of", &path))?.len();
        if length > 0 {
            let reason = format!("it has {length} bytes, and no step knows of it");
            return Err(StoreError::behind(&path, &reason));
        }
        sync_directory(directory)?;
        Ok(Self { path, file, length: 0 })
    }

    /// Opens the segment file with `length` committed bytes. Moves the bytes after them aside, and returns
    /// how many those were.
    pub(crate) fn open(
        directory: &Path,
        number: u32,
        length: u64,
        aside: &mut Aside,
    ) -> Result<(Self, u64), StoreError> {
        let path = directory.join(file_name(number));
        let file = OpenOptions::new().append(true).open(&path).map_err(StoreError::file("open", &path))?;
        let found = file.metadata().map_err(StoreError::file("read the length of", &path))?.len();
        if found < length {
            return Err(StoreError::behind(&path, &format!("it has {found} bytes of {length}")));
        }
        if found > length {
            aside.cut(&format!("collection/{}", file_name(number)), length)?;
        }
        Ok((Self { path, file, length }, found - length))
    }

    /// Whether the file is shorter than its committed length, which happens only if the machine crashed.
    pub(crate) fn is_short(directory: &Path, number: u32, length: u64) -> Result<bool, StoreError> {
        let path = directory.join(file_name(number));
        match fs::metadata(&path) {
            Ok(metadata) => Ok(metadata.len() < length),
            Err(error) => Err(StoreError::file("read the length of", &path)(error)),
        }
    }

    /// The length of the file in bytes.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Appends bytes; after a failure the file has its previous length.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        if let Err(error) = self.file.write_all(bytes) {
            self.cut_back(self.length)?;
            return Err(StoreError::file("write", &self.path)(error));
        }
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Truncates the file to an earlier length, because the commit of the rest failed.
    pub(crate) fn cut_back(&mut self, length: u64) -> Result<(), StoreError> {
        self.file.set_len(length).map_err(StoreError::file("cut", &self.path))?;
        self.length = length;
        Ok(())
    }

    /// Returns an error if the file is no longer the one that was written.
    pub(crate) fn check_presence(&self) -> Result<(), StoreError> {
        check_open(&self.path, &self.file, self.length)
    }

    /// Syncs the bytes to disk.
    pub(crate) fn sync(&self) -> Result<(), StoreError> {
        self.file.sync_data().map_err(StoreError::file("sync", &self.path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_belongs_to_no_step_is_put_aside_and_what_does_is_missed() {
        let place = tempfile::tempdir().expect("a directory");
        let collection = place.path().join("collection");
        fs::create_dir(&collection).expect("it is made");
        let mut aside = Aside::new(place.path(), Timestamp::default());
        let mut tail = Tail::create(&collection, 3).expect("it is created");
        tail.append(b"committed").expect("it is appended");
        let committed = tail.length();
        tail.append(b"torn").expect("it is appended");
        drop(tail);
        let (mut tail, cut) = Tail::open(&collection, 3, committed, &mut aside).expect("it opens");
        assert_eq!(cut, 4);
        let kept = aside.folder().expect("something is there").join("collection");
        assert_eq!(fs::read(kept.join(format!("{}.from-9", file_name(3)))).expect("it is read"), b"torn");
        tail.append(b", more").expect("it is appended");
        assert_eq!(fs::read(collection.join(file_name(3))).expect("it is read"), b"committed, more");
        let error = Tail::open(&collection, 3, 100, &mut aside).expect_err("it is too short").to_string();
        assert!(error.contains("15 bytes of 100"), "{error}");
        assert!(Tail::create(&collection, 3).is_err(), "what is there is never written over");
    }

    #[test]
    fn a_name_gives_its_number_back() {
        assert_eq!(number_of(&file_name(42)), Some(42));
        assert_eq!(number_of(&index_name(42)), Some(42));
        assert_eq!(number_of("segment-42.warc.gz"), None);
        assert_eq!(number_of("other"), None);
    }
}
