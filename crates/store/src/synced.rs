//! The file `SYNCED`: what is durable. Anything behind it is incomplete or outdated, and is never accepted as
//! the current state.
//!
//! Two slots of 512 bytes, at byte 0 and at byte 4096, are written alternately, so that a torn slot leaves
//! the other one intact. A slot is the length of its record (2 bytes, little-endian), the record [`Synced`],
//! the xxh3-64 of both (8 bytes, little-endian), and zeros. The valid slot with the higher number counts.
//!
//! # Promises
//! - A slot is written after everything that it covers is on disk.
//! - After a torn write the other slot is still valid.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use freshet_protocol::codec::{Record as _, record};
use xxhash_rust::xxh3::xxh3_64;

use crate::error::StoreError;

/// The name of the file.
pub(crate) const FILE_NAME: &str = "SYNCED";

/// Offsets of the slots.
const SLOTS: [u64; 2] = [0, 4096];

/// Size of a slot in bytes.
const SLOT_BYTES: usize = 512;

record! {
    /// What has been made durable.
    #[derive(Clone, Debug, Default, Eq, PartialEq)]
    pub struct Synced {
        /// How many times it was said; the higher of two counts.
        number: u64,
        /// The identity of the store.
        store: [u8; 16],
        /// The last step.
        step: u64,
        /// The first step of the log's last file.
        log: u64,
        /// Bytes of that file.
        log_bytes: u64,
        /// The last segment.
        segment: u32,
        /// Bytes of that segment.
        segment_bytes: u64,
        /// Visits made.
        visits: u64,
        /// URLs known.
        urls: u64,
        /// Pages ever kept.
        pages: u64,
        /// Whether the crawl was closed after it.
        clean: bool,
        /// The xxh3-64 of the options that the crawl was told last; 0 if it was told none.
        options: u64,
    }
}

impl Synced {
    /// How many times the file was written.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Number of visits made.
    pub fn visits(&self) -> u64 {
        self.visits
    }

    /// Number of URLs known.
    pub fn urls(&self) -> u64 {
        self.urls
    }

    /// Whether the crawl was closed after this sync.
    pub fn is_clean(&self) -> bool {
        self.clean
    }

    /// The identity of the store.
    pub fn store(&self) -> [u8; 16] {
        self.store
    }
}

/// The file, open for writing.
#[derive(Debug)]
pub(crate) struct SyncedFile {
    path: PathBuf,
    file: File,
    last: Synced,
}

impl SyncedFile {
    /// Opens the file, or creates it, and writes this record.
    pub(crate) fn create(directory: &Path, first: Synced) -> Result<Self, StoreError> {
        let path = directory.join(FILE_NAME);
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(StoreError::file("create", &path))?;
        let mut synced = Self { path, file, last: Synced::default() };
        synced.write(first)?;
        Ok(synced)
    }

    /// Opens the file, whose last record is `last`.
    pub(crate) fn open(directory: &Path, last: Synced) -> Result<Self, StoreError> {
        let path = directory.join(FILE_NAME);
        let file = OpenOptions::new().write(true).open(&path).map_err(StoreError::file("open", &path))?;
        Ok(Self { path, file, last })
    }

    /// The last record written.
    pub(crate) fn last(&self) -> &Synced {
        &self.last
    }

    /// Writes a record; its `number` is assigned here.
    pub(crate) fn write(&mut self, mut synced: Synced) -> Result<(), StoreError> {
        synced.number = self.last.number + 1;
        let at = SLOTS[(synced.number % 2) as usize];
        self.file
            .write_all_at(&slot(&synced), at)
            .and_then(|()| self.file.sync_data())
            .map_err(StoreError::file("write", &self.path))?;
        self.last = synced;
        Ok(())
    }
}

/// Reads the newest valid record of a directory's `SYNCED`.
pub fn read(directory: &Path) -> Result<Synced, StoreError> {
    let path = directory.join(FILE_NAME);
    let file = match File::open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(StoreError::behind(&path, "it is missing, and with it what was made durable"));
        }
        other => other.map_err(StoreError::file("open", &path))?,
    };
    let mut newest: Option<Synced> = None;
    for at in SLOTS {
        let mut bytes = [0; SLOT_BYTES];
        let mut length = 0;
        while length < SLOT_BYTES {
            match file.read_at(&mut bytes[length..], at + length as u64) {
                Ok(0) => break,
                Ok(count) => length += count,
                Err(error) => return Err(StoreError::file("read", &path)(error)),
            }
        }
        let found = parse(&bytes[..length]);
        if found.as_ref().map(|found| found.number) > newest.as_ref().map(|newest| newest.number) {
            newest = found;
        }
    }
    newest.ok_or_else(|| StoreError::behind(&path, "neither of its two slots can be read"))
}

/// The number of valid slots.
pub(crate) fn whole_slots(directory: &Path) -> usize {
    let bytes = std::fs::read(directory.join(FILE_NAME)).unwrap_or_default();
    let slot = |at: &u64| bytes.get(*at as usize..).and_then(parse).is_some();
    SLOTS.iter().filter(|at| slot(at)).count()
}

fn slot(synced: &Synced) -> Vec<u8> {
    let record = synced.encode();
    let mut bytes = (record.len() as u16).to_le_bytes().to_vec();
    bytes.extend(record);
    bytes.extend(xxh3_64(&bytes).to_le_bytes());
    assert!(bytes.len() <= SLOT_BYTES);
    bytes.resize(SLOT_BYTES, 0);
    bytes
}

fn parse(bytes: &[u8]) -> Option<Synced> {
    let length = usize::from(u16::from_le_bytes(bytes.get(..2)?.try_into().ok()?));
    let record = bytes.get(2..2 + length)?;
    let checksum = bytes.get(2 + length..2 + length + 8)?;
    (xxh3_64(&bytes[..2 + length]).to_le_bytes() == checksum).then(|| Synced::decode(record).ok())?
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_torn_slot_leaves_the_other() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join(FILE_NAME);
        let mut file = SyncedFile::create(place.path(), Synced::default()).expect("it is made");
        for step in 1..5 {
            file.write(Synced { step, ..Synced::default() }).expect("it is written");
            let found = read(place.path()).expect("it is read");
            assert_eq!((found.step, found.number), (step, step + 1));
        }
        let mut bytes = std::fs::read(&path).expect("it is read");
        let at = SLOTS[1] as usize + 5;
        bytes[at] ^= 1;
        std::fs::write(&path, &bytes).expect("it is written");
        assert_eq!((read(place.path()).expect("it is read").step, whole_slots(place.path())), (3, 1));
        for damaged in [Vec::new(), vec![0; bytes.len()], bytes[..3].to_vec()] {
            std::fs::write(&path, damaged).expect("it is written");
            let refused = read(place.path()).expect_err("nothing is left").to_string();
            assert!(refused.contains("SYNCED") && refused.contains("fsck --repair"), "{refused}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
            let _ = parse(&bytes);
        }
    }
}
