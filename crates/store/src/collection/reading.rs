//! Reads one record of the Collection by its place, or the records of a segment in order.
//!
//! # Promises
//! - A damaged record is an error that names the file and the byte.
//! - Reading never waits for the writer: committed bytes do not change.

use std::fs::File;
use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use freshet_protocol::ids::Place;
use freshet_protocol::time::Timestamp;

use crate::collection::gzip::{Counted, unfold};
use crate::collection::http_head;
use crate::collection::segment::file_name;
use crate::collection::warc::WarcRecord;
use crate::error::StoreError;

/// Size of the read buffer for a segment in bytes.
const BUFFER_BYTES: usize = 1 << 16;

/// A response as it was received.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StoredResponse {
    /// The URL.
    pub url: String,
    /// When it was received.
    pub time: Timestamp,
    /// Status line and headers.
    pub head: Vec<u8>,
    /// The body, still in its content encoding.
    pub body: Vec<u8>,
}

impl StoredResponse {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        http_head::value(&self.head, name)
    }
}

/// Reads the record at a place.
pub fn read_record(directory: &Path, place: Place) -> Result<WarcRecord, StoreError> {
    let path = directory.join(file_name(place.segment));
    let file = match File::open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(StoreError::Dropped { place }),
        other => other.map_err(StoreError::file("open", &path))?,
    };
    let mut member = vec![0; place.length as usize];
    let corrupt = |reason: String| StoreError::CorruptRecord { path: path.clone(), place, reason };
    match file.read_exact_at(&mut member, place.offset) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            return Err(corrupt("the file ends before it does".to_owned()));
        }
        other => other.map_err(StoreError::file("read", &path))?,
    }
    let bytes = unfold(&member).map_err(|error| corrupt(error.to_string()))?;
    WarcRecord::parse(&bytes).map_err(corrupt)
}

/// Reads the response at a place.
pub fn read_response(directory: &Path, place: Place) -> Result<StoredResponse, StoreError> {
    let record = read_record(directory, place)?;
    let (head, body) = record.http();
    let time = record.time().ok_or_else(|| StoreError::CorruptRecord {
        path: directory.join(file_name(place.segment)),
        place,
        reason: "it has no date".to_owned(),
    })?;
    Ok(StoredResponse { url: record.url().to_owned(), time, head: head.to_vec(), body: body.to_vec() })
}

/// Iterates over the records of a segment, each with its place.
#[derive(Debug)]
pub struct SegmentRecords {
    path: PathBuf,
    segment: u32,
    reader: Counted<BufReader<io::Take<File>>>,
    failed: bool,
}

impl SegmentRecords {
    /// The records in the first `bytes` bytes of a segment.
    pub fn open(directory: &Path, segment: u32, bytes: u64) -> Result<Self, StoreError> {
        Self::open_at(directory, segment, 0..bytes)
    }

    /// The records in these bytes of a segment.
    pub(crate) fn open_at(directory: &Path, segment: u32, bytes: Range<u64>) -> Result<Self, StoreError> {
        let path = directory.join(file_name(segment));
        let mut file = File::open(&path).map_err(StoreError::file("open", &path))?;
        file.seek(SeekFrom::Start(bytes.start)).map_err(StoreError::file("read", &path))?;
        let file = file.take(bytes.end.saturating_sub(bytes.start));
        let reader = Counted::new(BufReader::with_capacity(BUFFER_BYTES, file), bytes.start);
        Ok(Self { path, segment, reader, failed: false })
    }

    /// The byte offset of the next record.
    pub(crate) fn offset(&self) -> u64 {
        self.reader.taken()
    }

    fn read_next(&mut self) -> Result<Option<(Place, WarcRecord)>, StoreError> {
        let offset = self.reader.taken();
        let mut place = Place { segment: self.segment, offset, length: 0 };
        let corrupt = |reason: String| StoreError::CorruptRecord { path: self.path.clone(), place, reason };
        let Some(bytes) = self.reader.next_member().map_err(|error| corrupt(error.to_string()))? else {
            return Ok(None);
        };
        let record = WarcRecord::parse(&bytes).map_err(corrupt)?;
        let length = self.reader.taken() - offset;
        place.length = u32::try_from(length).map_err(|_| corrupt("it is too long".to_owned()))?;
        Ok(Some((place, record)))
    }
}

impl Iterator for SegmentRecords {
    type Item = Result<(Place, WarcRecord), StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let next = self.read_next().transpose();
        self.failed = matches!(next, Some(Err(_)));
        next
    }
}
