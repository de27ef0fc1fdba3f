//! The files of the log: appended to, read, truncated, dropped.
//!
//! A file is named after the first step that it may hold, in 20 digits. It begins with 16 magic bytes and the
//! identity of the store (16 bytes). Then come records ([`super::frame`]): a base, and steps without gaps.
//! The base holds the state before the first step: the identity, the counters, and the active user commands,
//! so that these outlive the files before it.
//!
//! # Promises
//! - A file has its base, or does not exist.
//! - A file is on disk before the next one is begun: only the last one can be torn.
//! - After a failed append the file is unchanged.

use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use super::frame::{BadFrame, Frame, Kind};
use crate::directory::folders::sync_directory;
use crate::directory::presence::check_open;
use crate::error::StoreError;

/// The folder of the log.
pub(crate) const FOLDER: &str = "log";

/// The magic bytes of a file, before the identity of the store.
const MAGIC: &[u8; 16] = b"freshet log  1\r\n";

/// Number of bytes before the first record.
pub(crate) const HEAD: usize = 32;

/// The name of the file with this first step.
pub(crate) fn file_name(first: u64) -> String {
    format!("{first:020}.log")
}

/// The files of a log with their first steps, in order.
pub(crate) fn listed(directory: &Path) -> Result<Vec<(u64, PathBuf)>, StoreError> {
    let folder = directory.join(FOLDER);
    let mut files = Vec::new();
    let entries = match fs::read_dir(&folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(files),
        other => other.map_err(StoreError::file("list", &folder))?,
    };
    for entry in entries {
        let path = entry.map_err(StoreError::file("list", &folder))?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let digits = name.strip_suffix(".log").filter(|digits| digits.len() == 20);
        files.extend(digits.and_then(|digits| digits.parse().ok()).map(|first| (first, path.clone())));
    }
    files.sort_unstable();
    Ok(files)
}

/// Reads the first record of a file; none if it cannot be read.
pub(crate) fn read_base(path: &Path) -> Result<Option<Frame>, StoreError> {
    let failed = |error| StoreError::file("read", path)(error);
    let mut file = File::open(path).map_err(failed)?;
    let mut bytes = vec![0; HEAD + super::frame::HEAD];
    if file.read_exact(&mut bytes).is_err() {
        return Ok(None);
    }
    let length = u32::from_le_bytes(bytes[HEAD..HEAD + 4].try_into().expect("four bytes"));
    file.take(u64::from(length)).read_to_end(&mut bytes).map_err(failed)?;
    Ok(Frame::decode(&bytes[HEAD..]).ok().map(|(frame, _)| frame))
}

/// A log file that is open for appending.
#[derive(Debug)]
pub(crate) struct LogWriter {
    path: PathBuf,
    file: File,
    first: u64,
    length: u64,
}

impl LogWriter {
    /// Begins a file after the step of this base.
    pub(crate) fn create(directory: &Path, store: [u8; 16], base: &Frame) -> Result<Self, StoreError> {
        let folder = directory.join(FOLDER);
        fs::create_dir_all(&folder).map_err(StoreError::file("make", &folder))?;
        let first = base.step + 1;
        let path = folder.join(file_name(first));
        let unfinished = path.with_extension("log.unfinished");
        let mut bytes = [MAGIC.as_slice(), &store].concat();
        bytes.extend(base.encode());
        let mut file = File::create(&unfinished).map_err(StoreError::file("create", &unfinished))?;
        file.write_all(&bytes)
            .and_then(|()| file.sync_all())
            .and_then(|()| fs::rename(&unfinished, &path))
            .map_err(StoreError::file("write", &path))?;
        sync_directory(&folder)?;
        let file = OpenOptions::new().append(true).open(&path).map_err(StoreError::file("open", &path))?;
        Ok(Self { path, file, first, length: bytes.len() as u64 })
    }

    /// Opens a file for appending, of which `length` bytes are complete records.
    pub(crate) fn open(path: &Path, first: u64, length: u64) -> Result<Self, StoreError> {
        let file = OpenOptions::new().append(true).open(path).map_err(StoreError::file("open", path))?;
        Ok(Self { path: path.to_path_buf(), file, first, length })
    }

    /// The first step that the file may hold.
    pub(crate) fn first(&self) -> u64 {
        self.first
    }

    /// The length of the file in bytes.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Appends a record; after a failure the file is unchanged.
    pub(crate) fn append(&mut self, record: &[u8]) -> Result<(), StoreError> {
        if let Err(error) = self.file.write_all(record) {
            self.cut_back(self.length)?;
            return Err(StoreError::file("write", &self.path)(error));
        }
        self.length += record.len() as u64;
        Ok(())
    }

    /// Returns an error if the file is no longer the one that was written.
    pub(crate) fn check_presence(&self) -> Result<(), StoreError> {
        check_open(&self.path, &self.file, self.length)
    }

    /// Truncates the file to an earlier length, because the step was not taken.
    pub(crate) fn cut_back(&mut self, length: u64) -> Result<(), StoreError> {
        self.file.set_len(length).map_err(StoreError::file("cut", &self.path))?;
        self.length = length;
        Ok(())
    }

    /// Syncs the file to disk.
    pub(crate) fn sync(&self) -> Result<(), StoreError> {
        self.file.sync_data().map_err(StoreError::file("sync", &self.path))
    }
}

/// A log file, read into memory.
#[derive(Debug)]
pub(crate) struct LogFile {
    pub(crate) path: PathBuf,
    pub(crate) first: u64,
    bytes: Vec<u8>,
}

impl LogFile {
    /// Reads a log file of this store.
    pub(crate) fn read(path: &Path, first: u64, store: [u8; 16]) -> Result<Self, StoreError> {
        let file = Self::read_any(path, first)?;
        match file.store() {
            Some(found) if found == store => Ok(file),
            Some(_) => Err(file.damaged("it is of another crawl")),
            None => Err(file.damaged("it does not begin as a file of a log does")),
        }
    }

    /// Reads a file, whatever it begins with.
    pub(crate) fn read_any(path: &Path, first: u64) -> Result<Self, StoreError> {
        let bytes = fs::read(path).map_err(StoreError::file("read", path))?;
        Ok(Self { path: path.to_path_buf(), first, bytes })
    }

    /// The identity of the store in the file; none if the magic bytes are missing.
    pub(crate) fn store(&self) -> Option<[u8; 16]> {
        let head = self.bytes.get(..HEAD)?;
        (head[..16] == *MAGIC).then(|| head[16..].try_into().expect("sixteen bytes"))
    }

    /// All bytes of the file.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Its records, up to the first incomplete or damaged one.
    pub(crate) fn frames(&self) -> Frames<'_> {
        Frames { bytes: &self.bytes, at: HEAD.min(self.bytes.len()), problem: None }
    }

    /// Its records from this byte on, which must be the start of a record.
    pub(crate) fn frames_from(&self, at: u64) -> Frames<'_> {
        let at = usize::try_from(at).unwrap_or(usize::MAX).min(self.bytes.len());
        Frames { at: at.max(HEAD.min(self.bytes.len())), ..self.frames() }
    }

    /// Its records, including those after damaged bytes.
    pub(crate) fn readable_frames(&self) -> impl Iterator<Item = Frame> {
        let mut at = HEAD.min(self.bytes.len());
        std::iter::from_fn(move || {
            at = super::frame::next_frame(&self.bytes, at)?;
            let (frame, length) = Frame::decode(&self.bytes[at..]).ok()?;
            at += length;
            Some(frame)
        })
    }

    /// The error of this file with a reason.
    pub(crate) fn damaged(&self, reason: &str) -> StoreError {
        StoreError::behind(&self.path, reason)
    }
}

/// Iterates over the records of a file.
#[derive(Debug)]
pub(crate) struct Frames<'a> {
    bytes: &'a [u8],
    at: usize,
    problem: Option<BadFrame>,
}

impl Frames<'_> {
    /// The offset after the last record returned.
    pub(crate) fn end(&self) -> usize {
        self.at
    }

    /// Why no further record was returned; none at the end of the file.
    pub(crate) fn problem(&self) -> Option<BadFrame> {
        self.problem
    }
}

impl Iterator for Frames<'_> {
    type Item = Frame;

    fn next(&mut self) -> Option<Frame> {
        if self.problem.is_some() || self.at == self.bytes.len() {
            return None;
        }
        match Frame::decode(&self.bytes[self.at..]) {
            // A base is the first record of a file and nothing else.
            Ok((frame, length)) if (frame.kind == Kind::Base) == (self.at == HEAD) => {
                self.at += length;
                Some(frame)
            }
            Ok(_) => {
                self.problem = Some(BadFrame::Damaged);
                None
            }
            Err(problem) => {
                self.problem = Some(problem);
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use freshet_protocol::time::Timestamp;

    use super::*;

    fn frame(step: u64, kind: Kind) -> Frame {
        Frame { step, time: Timestamp::from_millis(5), kind, content: vec![step as u8; 40] }
    }

    #[test]
    fn steps_come_back_and_a_torn_one_does_not() {
        let place = tempfile::tempdir().expect("a directory");
        let mut log = LogWriter::create(place.path(), [7; 16], &frame(4, Kind::Base)).expect("it is made");
        log.append(&frame(5, Kind::Step).encode()).expect("it is appended");
        let whole = log.length();
        log.append(&frame(6, Kind::Step).encode()[..40]).expect("it is appended");
        let [(first, path)] = &listed(place.path()).expect("it is listed")[..] else { panic!("one file") };
        assert_eq!(*first, 5);
        let file = LogFile::read(path, *first, [7; 16]).expect("it is read");
        let mut frames = file.frames();
        assert_eq!(frames.by_ref().map(|frame| frame.step).collect::<Vec<_>>(), [4, 5]);
        assert_eq!((frames.end() as u64, frames.problem()), (whole, Some(BadFrame::Short)));
        let error = LogFile::read(path, *first, [8; 16]).expect_err("it is of another").to_string();
        assert!(error.contains("another crawl"), "{error}");
    }

    #[test]
    fn whole_records_behind_damaged_ones_are_found() {
        let place = tempfile::tempdir().expect("a directory");
        let mut log = LogWriter::create(place.path(), [7; 16], &frame(0, Kind::Base)).expect("it is made");
        let at = log.length() as usize;
        for step in 1..4 {
            log.append(&frame(step, Kind::Step).encode()).expect("it is appended");
        }
        let (first, path) = listed(place.path()).expect("it is listed").remove(0);
        let mut bytes = fs::read(&path).expect("it is read");
        bytes[at + 40] ^= 1;
        fs::write(&path, bytes).expect("it is written");
        let file = LogFile::read(&path, first, [7; 16]).expect("it is read");
        assert_eq!(file.frames().count(), 1);
        assert_eq!(file.readable_frames().map(|frame| frame.step).collect::<Vec<_>>(), [0, 2, 3]);
    }
}
