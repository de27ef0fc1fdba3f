//! CDXJ index of a segment: one line per response or revisit, `key time {json}`, sorted by bytes.
//!
//! While a segment is written, its lines are in the key-value store. They are written to its index file when
//! the segment is closed, and at a clean stop.
//!
//! # Promises
//! - The file is complete or absent: it is written under another name, synced and renamed.
//! - The index made from the records of a segment equals the one kept while it was written.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::Path;

use freshet_protocol::ids::Place;
use freshet_protocol::time::Timestamp;

use crate::collection::digest::{Sha1Digest, base32};
use crate::collection::reading::SegmentRecords;
use crate::collection::segment::{file_name, index_name};
use crate::collection::surt::surt;
use crate::collection::warc::WarcRecord;
use crate::error::StoreError;
use crate::key_value::{Direction, KeyRange, Space, View};

/// The contents of an index line.
#[derive(Clone, Debug)]
pub struct IndexLine<'a> {
    /// The URL.
    pub url: &'a str,
    /// When the response was received.
    pub time: Timestamp,
    /// The media type; `warc/revisit` for revisits.
    pub mime: String,
    /// The status of the response.
    pub status: u16,
    /// The digest of the payload.
    pub digest: &'a Sha1Digest,
    /// The place of the record.
    pub place: Place,
}

impl<'a> IndexLine<'a> {
    /// The line of a record that was read.
    pub(crate) fn of(record: &'a WarcRecord, time: Timestamp, digest: &'a Sha1Digest, place: Place) -> Self {
        Self { url: record.url(), time, mime: record.mime(), status: record.status(), digest, place }
    }

    /// The text of the line, without a line feed.
    pub fn text(&self) -> String {
        self.text_in(&file_name(self.place.segment))
    }

    /// The text of the line in the index of a file of this name.
    pub(crate) fn text_in(&self, file_name: &str) -> String {
        let mut line = String::with_capacity(200 + 2 * self.url.len());
        line.push_str(&surt(self.url).replace([' ', '\n'], "%20"));
        line.push(' ');
        line.push_str(&self.time.digits());
        line.push_str(" {\"url\": ");
        quote(self.url, &mut line);
        line.push_str(", \"mime\": ");
        quote(&self.mime, &mut line);
        let Place { offset, length, .. } = self.place;
        let (status, digest) = (self.status, base32(self.digest));
        write!(
            line,
            ", \"status\": \"{status}\", \"digest\": \"{digest}\", \"length\": \"{length}\", \
             \"offset\": \"{offset}\", \"filename\": "
        )
        .expect("writing to a text cannot fail");
        quote(file_name, &mut line);
        line.push('}');
        line
    }
}

/// Maximum length of an index line in bytes. Longer ones are left out; only URLs far beyond the limits of
/// browsers have them.
pub(crate) const LINE_BYTES_MAX: usize = 1 << 15;

/// The key of a line: the segment, then the line itself, so that the lines of a segment are sorted.
pub(crate) fn line_key(segment: u32, line: &str) -> Vec<u8> {
    [&segment.to_be_bytes(), line.as_bytes()].concat()
}

/// The index lines of the records of a segment, sorted.
pub(crate) fn lines_of_records(
    directory: &Path,
    number: u32,
    bytes: u64,
) -> Result<Vec<Vec<u8>>, StoreError> {
    let mut lines = Vec::new();
    for entry in SegmentRecords::open(directory, number, bytes)? {
        let (place, record) = entry?;
        let stated = (record.time(), record.payload_digest());
        if let ("response" | "revisit", (Some(time), Some(digest))) = (record.kind(), stated) {
            let line = IndexLine::of(&record, time, &digest, place).text();
            lines.extend((line.len() <= LINE_BYTES_MAX).then_some(line.into_bytes()));
        }
    }
    lines.sort_unstable();
    Ok(lines)
}

/// Writes the index file of a segment from sorted lines, completely or not at all.
pub(crate) fn write(
    path: &Path,
    lines: impl Iterator<Item = Result<Vec<u8>, StoreError>>,
) -> Result<(), StoreError> {
    let unfinished = path.with_extension("cdxj.unfinished");
    let failed = |error| StoreError::file("write", path)(error);
    let mut writer = BufWriter::new(File::create(&unfinished).map_err(failed)?);
    for line in lines {
        writer.write_all(&line?).and_then(|()| writer.write_all(b"\n")).map_err(failed)?;
    }
    let file = writer.into_inner().map_err(|error| failed(error.into_error()))?;
    file.sync_all().map_err(failed)?;
    fs::rename(&unfinished, path).map_err(failed)
}

/// Writes the index file of a segment from the lines that the key-value store has of it.
pub(crate) fn write_kept(state: &dyn View, collection: &Path, number: u32) -> Result<(), StoreError> {
    let range = KeyRange::prefix(&number.to_be_bytes());
    let lines = state.scan(Space::Index, range, Direction::Forward);
    write(&collection.join(index_name(number)), lines.map(|entry| Ok(entry?.0.split_off(4))))
}

/// Appends a text as a JSON string.
pub(crate) fn quote(text: &str, output: &mut String) {
    output.push('"');
    let is_plain = |byte: u8| (b' '..=b'~').contains(&byte) & (byte != b'"') & (byte != b'\\');
    if text.bytes().fold(true, |plain, byte| plain & is_plain(byte)) {
        output.push_str(text);
        output.push('"');
        return;
    }
    for one in text.chars() {
        match one {
            '"' => output.push_str("\\\""),
            '\\' => output.push_str("\\\\"),
            one if one.is_control() => {
                write!(output, "\\u{:04x}", one as u32).expect("writing to a text cannot fail");
            }
            one => output.push(one),
        }
    }
    output.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_key_time_and_json() {
        let line = IndexLine {
            url: "http://a.example/\"q\"",
            time: Timestamp::from_millis(1_794_792_618_123),
            mime: "text/html".to_owned(),
            status: 200,
            digest: &[0; 20],
            place: Place { segment: 1, offset: 400, length: 30 },
        };
        assert_eq!(
            line.text(),
            "example,a)/\"q\" 20261116013018 {\"url\": \"http://a.example/\\\"q\\\"\", \"mime\": \
             \"text/html\", \"status\": \"200\", \
             \"digest\": \"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\", \
             \"length\": \"30\", \"offset\": \"400\", \"filename\": \"segment-00000001.warc.gz\"}"
        );
    }
}
