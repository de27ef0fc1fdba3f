//! Reader of WARC files that another program wrote: WARC 0.17 to 1.1, uncompressed, compressed record by
//! record, or compressed as a whole.
//!
//! # Promises
//! - Any bytes are read without a panic and in bounded memory. Heads beyond 64 KiB and blocks beyond 4 GiB
//!   are faults, and of a block no more than 64 MiB is kept.
//! - A record that begins a gzip member, or is in an uncompressed file, has its offset, so that it can be
//!   read again on its own.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::GzDecoder;
use freshet_protocol::time::Timestamp;
use freshet_store::collection::gzip::Counted;

/// Maximum size of a record's head, in bytes.
pub const HEAD_BYTES_MAX: usize = 64 << 10;

/// Bytes of a block that are kept.
pub const BLOCK_BYTES_KEPT: u64 = 64 << 20;

/// Maximum size that a record may declare for its block, in bytes.
pub const BLOCK_BYTES_MAX: u64 = 4 << 30;

/// Maximum number of empty lines between two records.
const EMPTY_LINES_MAX: usize = 64;

/// A record of a WARC file.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ForeignRecord {
    /// Offset in the file at which it can be read again. None if it is inside a gzip member, after its first
    /// record.
    pub offset: Option<u64>,
    /// The fields of its head, in order.
    pub fields: Vec<(String, String)>,
    /// Its block, as far as it is kept.
    pub block: Vec<u8>,
    /// Whether its block was longer than what is kept.
    pub is_cut: bool,
}

impl ForeignRecord {
    /// The value of a field.
    pub fn field(&self, name: &str) -> Option<&str> {
        let found = self.fields.iter().find(|(found, _)| found.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// Its type, such as `response`.
    pub fn kind(&self) -> &str {
        self.field("WARC-Type").unwrap_or_default()
    }

    /// Its target URL. Some programs put it between angle brackets.
    pub fn url(&self) -> &str {
        self.field("WARC-Target-URI").unwrap_or_default().trim_start_matches('<').trim_end_matches('>')
    }

    /// Its time.
    pub fn time(&self) -> Option<Timestamp> {
        Timestamp::from_iso(self.field("WARC-Date")?)
    }
}

/// Why a file cannot be read further.
#[derive(Debug, thiserror::Error)]
pub enum WarcFault {
    /// Reading or decompressing failed.
    #[error("it cannot be read at byte {offset}: {source}")]
    Read {
        /// Offset in the file.
        offset: u64,
        /// The error of the system.
        source: io::Error,
    },
    /// It is not a WARC file, or no longer one.
    #[error("at byte {offset}: {reason}")]
    Malformed {
        /// Offset in the file.
        offset: u64,
        /// What is wrong.
        reason: &'static str,
    },
}

/// A WARC file that is being read.
///
/// # Examples
///
/// ```
/// use freshet_crawl::import::warc_file::WarcFile;
///
/// let bytes = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example/\r\n\
///     Content-Length: 19\r\n\r\nHTTP/1.1 200 OK\r\n\r\n\r\n\r\n";
/// let mut file = WarcFile::new(&bytes[..], 0)?;
/// let record = file.next_record()?.expect("it has a record");
/// assert_eq!((record.kind(), record.url()), ("response", "http://a.example/"));
/// assert!(file.next_record()?.is_none());
/// # Ok::<(), freshet_crawl::import::warc_file::WarcFault>(())
/// ```
#[derive(Debug)]
pub struct WarcFile<R: BufRead> {
    input: Input<R>,
    /// Offset of the current gzip member, or of the current uncompressed record.
    start: u64,
    /// Whether a record of the current member was read.
    is_within: bool,
}

#[derive(Debug)]
enum Input<R: BufRead> {
    Plain(Counted<R>),
    Packed(Box<BufReader<GzDecoder<Counted<R>>>>),
    Ended,
}

impl<R: BufRead> WarcFile<R> {
    /// Creates a reader for a file that begins at this offset of its source.
    pub fn new(source: R, offset: u64) -> Result<Self, WarcFault> {
        let mut file = Self { input: Input::Ended, start: offset, is_within: false };
        file.begin(Counted::new(source, offset))?;
        Ok(file)
    }

    /// Reads the next record. None at the end.
    pub fn next_record(&mut self) -> Result<Option<ForeignRecord>, WarcFault> {
        loop {
            let offset = self.offset();
            match &mut self.input {
                Input::Ended => return Ok(None),
                Input::Plain(reader) => return read_record(reader, offset, Some(offset)),
                Input::Packed(reader) => {
                    let place = (!self.is_within).then_some(self.start);
                    if let Some(record) = read_record(reader.as_mut(), self.start, place)? {
                        self.is_within = true;
                        return Ok(Some(record));
                    }
                }
            }
            // The member has ended: another may follow.
            if let Input::Packed(reader) = std::mem::replace(&mut self.input, Input::Ended) {
                self.begin(reader.into_inner().into_inner())?;
            }
        }
    }

    fn offset(&self) -> u64 {
        match &self.input {
            Input::Plain(reader) => reader.taken(),
            Input::Packed(_) | Input::Ended => self.start,
        }
    }

    fn begin(&mut self, mut reader: Counted<R>) -> Result<(), WarcFault> {
        let offset = reader.taken();
        self.start = offset;
        self.is_within = false;
        let first = reader.fill_buf().map_err(|source| WarcFault::Read { offset, source })?;
        self.input = match first {
            [] => Input::Ended,
            [0x1f, ..] => Input::Packed(Box::new(BufReader::new(GzDecoder::new(reader)))),
            _ => Input::Plain(reader),
        };
        Ok(())
    }
}

fn read_record(
    reader: &mut impl BufRead,
    offset: u64,
    place: Option<u64>,
) -> Result<Option<ForeignRecord>, WarcFault> {
    let malformed = |reason| WarcFault::Malformed { offset, reason };
    let mut version = Vec::new();
    let mut left = HEAD_BYTES_MAX;
    for _ in 0..=EMPTY_LINES_MAX {
        version = match read_line(reader, offset, &mut left)? {
            None => return Ok(None),
            Some(line) => line,
        };
        if !version.is_empty() {
            break;
        }
    }
    if !version.starts_with(b"WARC/") {
        return Err(malformed("it is no WARC record"));
    }
    let fields = read_fields(reader, offset, &mut left)?;
    let mut record = ForeignRecord { offset: place, fields, ..ForeignRecord::default() };
    let length: u64 = record
        .field("Content-Length")
        .and_then(|length| length.parse().ok())
        .ok_or_else(|| malformed("the record does not say its length"))?;
    if length > BLOCK_BYTES_MAX {
        return Err(malformed("the record says that it is longer than 4 GiB"));
    }
    let read = |source| WarcFault::Read { offset, source };
    reader.by_ref().take(length.min(BLOCK_BYTES_KEPT)).read_to_end(&mut record.block).map_err(read)?;
    let rest = length - record.block.len() as u64;
    record.is_cut = length > BLOCK_BYTES_KEPT;
    let skipped = if record.is_cut {
        io::copy(&mut reader.by_ref().take(rest), &mut io::sink()).map_err(read)?
    } else {
        0
    };
    if skipped < rest {
        return Err(malformed("the file ends in the middle of a record"));
    }
    Ok(Some(record))
}

fn read_fields(
    reader: &mut impl BufRead,
    offset: u64,
    left: &mut usize,
) -> Result<Vec<(String, String)>, WarcFault> {
    let mut fields: Vec<(String, String)> = Vec::new();
    loop {
        let Some(line) = read_line(reader, offset, left)? else {
            return Err(WarcFault::Malformed { offset, reason: "the file ends in the head of a record" });
        };
        if line.is_empty() {
            return Ok(fields);
        }
        let text = String::from_utf8_lossy(&line);
        let is_continued = text.starts_with([' ', '\t']);
        match (fields.last_mut(), text.split_once(':')) {
            (Some((_, value)), _) if is_continued => {
                value.push(' ');
                value.push_str(text.trim());
            }
            (_, Some((name, value))) => fields.push((name.trim().to_owned(), value.trim().to_owned())),
            // A line without a name is ignored.
            _ => {}
        }
    }
}

/// Reads a line without its end. None at the end of the input.
fn read_line(reader: &mut impl BufRead, offset: u64, left: &mut usize) -> Result<Option<Vec<u8>>, WarcFault> {
    let mut line = Vec::new();
    let count = reader
        .by_ref()
        .take(*left as u64)
        .read_until(b'\n', &mut line)
        .map_err(|source| WarcFault::Read { offset, source })?;
    *left -= count;
    if count == 0 {
        let reason = "the head of a record is longer than 64 KiB";
        return if *left == 0 { Err(WarcFault::Malformed { offset, reason }) } else { Ok(None) };
    }
    while line.last().is_some_and(|byte| matches!(byte, b'\r' | b'\n')) {
        line.pop();
    }
    Ok(Some(line))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use proptest::prelude::*;

    use super::*;

    fn record(kind: &str, block: &str) -> String {
        format!(
            "WARC/1.0\r\nWARC-Type: {kind}\r\nwarc-target-uri: <http://a.example/>\r\n\
             WARC-Date: 2020-01-02T03:04:05Z\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n",
            block.len()
        )
    }

    fn packed(text: &str) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text.as_bytes()).expect("memory takes it");
        encoder.finish().expect("memory takes it")
    }

    fn read(bytes: &[u8]) -> (Vec<ForeignRecord>, Option<String>) {
        let mut records = Vec::new();
        let mut file = match WarcFile::new(bytes, 0) {
            Ok(file) => file,
            Err(fault) => return (records, Some(fault.to_string())),
        };
        loop {
            match file.next_record() {
                Ok(Some(record)) => records.push(record),
                Ok(None) => return (records, None),
                Err(fault) => return (records, Some(fault.to_string())),
            }
        }
    }

    #[test]
    fn records_are_read_however_they_are_packed() {
        let (one, two) =
            (record("warcinfo", "software: x"), record("response", "HTTP/1.1 200 OK\r\n\r\nhello"));
        let apart = [packed(&one), packed(&two)].concat();
        let together = packed(&format!("{one}{two}"));
        let plain = format!("{one}{two}").into_bytes();
        let offsets = [
            vec![Some(0), Some(packed(&one).len() as u64)],
            vec![Some(0), None],
            vec![Some(0), Some(one.len() as u64)],
        ];
        for (bytes, offsets) in [apart, together, plain].iter().zip(offsets) {
            let (records, fault) = read(bytes);
            assert_eq!(fault, None);
            assert_eq!(records.iter().map(ForeignRecord::kind).collect::<Vec<_>>(), ["warcinfo", "response"]);
            assert_eq!(records[1].url(), "http://a.example/");
            assert_eq!(records[1].time().map(Timestamp::iso).as_deref(), Some("2020-01-02T03:04:05.000Z"));
            assert_eq!(records[1].block, b"HTTP/1.1 200 OK\r\n\r\nhello");
            for (record, offset) in records.iter().zip(offsets) {
                // The offset of an uncompressed record may include the empty lines before it.
                assert!(
                    record.offset == offset || record.offset == offset.map(|offset| offset - 4),
                    "{record:?}"
                );
                if let Some(offset) = record.offset {
                    let again = WarcFile::new(&bytes[offset as usize..], offset)
                        .and_then(|mut file| file.next_record());
                    assert_eq!(again.expect("it is read").as_ref(), Some(record));
                }
            }
        }
    }

    #[test]
    fn what_is_no_warc_or_breaks_off_is_told_with_its_byte() {
        let check = |bytes: &[u8], expected: &str| {
            let fault = read(bytes).1.expect("a fault");
            assert!(fault.contains(expected), "{fault}");
        };
        check(b"<html>", "at byte 0: it is no WARC record");
        check(b"WARC/1.0\r\nA: b", "ends in the head");
        check(b"WARC/1.0\r\nA: b\r\n\r\n", "does not say its length");
        check(b"WARC/1.0\r\nContent-Length: 9\r\n\r\nabc", "ends in the middle");
        check(b"WARC/1.0\r\nContent-Length: 99999999999\r\n\r\nabc", "longer than 4 GiB");
        check(&[b"WARC/1.0\r\nA: ".as_slice(), &[b'x'; 70_000]].concat(), "longer than 64 KiB");
        check(&packed(&record("response", "hello"))[..60], "cannot be read at byte 0");
        assert_eq!(read(b""), (Vec::new(), None));
    }

    proptest! {
        #[test]
        fn any_bytes_are_no_panic(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
            text in "(WARC/1.0\r\n)?([A-Za-z-]{0,16}:?[ -~]{0,9}\r?\n){0,6}(\r\n)?.{0,40}",
            flip: usize,
        ) {
            read(&bytes);
            read(text.as_bytes());
            read(&[&[0x1f, 0x8b, 8, 0], bytes.as_slice()].concat());
            let mut file = [packed(&record("response", &text)), packed(&text)].concat();
            let at = flip % file.len();
            file[at] ^= 0x10;
            read(&file);
        }
    }
}
