//! Checks the Collection: every segment can be read to its end, and its index has the lines of its records.

use std::fs;
use std::ops::Range;

use freshet_protocol::ids::{PageNumber, Place};
use xxhash_rust::xxh3::xxh3_64;

use super::course::Check;
use crate::all_urls::UrlRecord;
use crate::coll_urls::PageRecord;
use crate::collection::digest::sha1;
use crate::collection::index::{IndexLine, LINE_BYTES_MAX};
use crate::collection::reading::SegmentRecords;
use crate::collection::segment::{self, SegmentRecord, segments};
use crate::collection::warc::WarcRecord;
use crate::directory::folders::relative;
use crate::key_value::{Direction, KeyRange, Space};
use crate::versions::{VersionKind, Versions, parse_version_key, place_key};

impl Check<'_> {
    /// Reads every segment to its end.
    pub(super) fn segments(&mut self) {
        for entry in segments(self.view) {
            match entry {
                Ok((number, record)) => self.segment(number, &record),
                Err(error) => self.findings.add_error("segments", &error),
            }
        }
    }

    fn segment(&mut self, number: u32, record: &SegmentRecord) {
        let directory = self.shared.collection();
        let path = directory.join(segment::file_name(number));
        let name = relative(&path, &self.shared.directory);
        let length = match fs::metadata(&path) {
            Ok(metadata) => metadata.len(),
            Err(error) => {
                let holds = self.held(number, 0..u64::MAX);
                return self.findings.add_loss(name, format!("it cannot be read: {error}"), holds);
            }
        };
        if length < record.bytes {
            let problem = format!("it has {length} bytes, and {} count", record.bytes);
            self.findings.add_loss(&name, problem, self.held(number, length..u64::MAX));
        } else if record.closed && length > record.bytes {
            self.findings.add(&name, format!("it has {length} bytes, and only {} count", record.bytes));
        } else if length > record.bytes {
            let surplus = length - record.bytes;
            self.findings.leftovers.push(format!("{name}: {surplus} bytes that no commit knows of"));
        }
        let mut records = match SegmentRecords::open(&directory, number, record.bytes) {
            Ok(records) => records,
            Err(error) => return self.findings.add_error(&name, &error),
        };
        let (mut versions, mut of_pages, mut lines) = (0, 0, 0_u64);
        loop {
            let from = records.offset();
            let Some(entry) = records.next() else { break };
            self.findings.records += 1;
            let (place, warc) = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    self.findings.add_loss(&name, error.to_string(), self.held(number, from..from + 1));
                    return;
                }
            };
            if matches!(warc.kind(), "response" | "revisit") {
                versions += 1;
                lines = lines.wrapping_add(line_hash(&warc, place));
                of_pages += u64::from(self.is_version(&name, place, &warc));
            }
            let digest = warc.payload_digest();
            if warc.kind() == "response" && digest != Some(sha1(warc.http().1)) {
                self.findings.add(&name, format!("the payload at byte {} has another digest", place.offset));
            }
        }
        self.compare(&name, "versions", versions, record.versions);
        let known =
            self.view.scan(Space::Places, KeyRange::prefix(&number.to_be_bytes()), Direction::Forward);
        self.compare(&name, "versions of pages", of_pages, known.count() as u64);
        if record.indexed {
            self.index(number, lines);
        } else {
            self.kept_lines(number, lines);
            self.unfinished_index(number);
        }
    }

    /// The index of the segment that is appended to is written at a clean stop and has the lines of
    /// that moment.
    fn unfinished_index(&mut self, number: u32) {
        let path = self.shared.collection().join(segment::index_name(number));
        let name = relative(&path, &self.shared.directory);
        let is_clean = crate::synced::read(&self.shared.directory).is_ok_and(|synced| synced.clean);
        let Ok(bytes) = fs::read(&path) else {
            if is_clean {
                self.findings.add(name, "it cannot be read");
            }
            return;
        };
        let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
        let ends = lines.pop_if(|last| last.is_empty()).is_some() || bytes.is_empty();
        let is_kept = |line: &&[u8]| {
            let key = [&number.to_be_bytes(), *line].concat();
            matches!(self.view.get(Space::Index, &key), Ok(Some(_)))
        };
        let are_kept = lines.iter().all(is_kept) && lines.is_sorted() && ends;
        let kept = self.view.scan(Space::Index, KeyRange::prefix(&number.to_be_bytes()), Direction::Forward);
        if !are_kept || is_clean && kept.count() != lines.len() {
            self.findings.add(name, "it is damaged: its lines are not those of the segment's records");
        }
    }

    /// Description of the versions in these bytes of a segment, for a finding.
    fn held(&self, number: u32, bytes: Range<u64>) -> String {
        const NAMED: usize = 3;
        let from = place_key(Place { segment: number, offset: bytes.start, length: 0 }).to_vec();
        let to = match bytes.end {
            u64::MAX => KeyRange::prefix(&number.to_be_bytes()).to,
            end => Some(place_key(Place { segment: number, offset: end, length: 0 }).to_vec()),
        };
        let mut versions = 0_u64;
        let mut named = Vec::new();
        for entry in self.view.scan(Space::Places, KeyRange { from, to }, Direction::Forward) {
            let Ok((_, key)) = entry else { break };
            versions += 1;
            if named.len() < NAMED {
                named.extend(parse_version_key(&key).and_then(|(page, time)| self.version_name(page, time)));
            }
        }
        match versions {
            0 => "no version of a page".to_owned(),
            1 => format!("1 version: {}", named.join(", ")),
            _ => format!("{versions} versions: {}, ...", named.join(", ")),
        }
    }

    fn version_name(&self, page: PageNumber, time: freshet_protocol::time::Timestamp) -> Option<String> {
        let record: PageRecord = crate::records::read(self.view, Space::Pages, &page.key()).ok()??;
        let url: UrlRecord = crate::records::read(self.view, Space::Urls, &record.url.key()).ok()??;
        Some(format!("{} of {}", url.url, time.iso()))
    }

    /// Checks that the index lines kept for a segment are those of its records: their hashes have
    /// the same sum.
    fn kept_lines(&mut self, number: u32, expected: u64) {
        let mut sum = 0_u64;
        for entry in self.view.scan(Space::Index, KeyRange::prefix(&number.to_be_bytes()), Direction::Forward)
        {
            match entry {
                Ok((key, _)) => sum = sum.wrapping_add(xxh3_64(key.get(4..).unwrap_or_default())),
                Err(error) => return self.findings.add_error("index", &error.into()),
            }
        }
        if sum != expected {
            let problem = format!("the lines of segment {number} are not those of its records");
            self.findings.add("index", problem);
        }
    }

    /// Whether this record is a version of a page. Reports a fault if it is not the one that the
    /// page refers to.
    fn is_version(&mut self, name: &str, place: Place, warc: &WarcRecord) -> bool {
        let Ok(Some(key)) = self.view.get(Space::Places, &place_key(place)) else {
            return false;
        };
        let Some((page, time)) = parse_version_key(&key) else {
            self.findings.add("places", "a version has a key of the wrong length");
            return true;
        };
        match Versions(self.view).get(page, time) {
            Ok(Some(version)) => {
                let full = version.kind == VersionKind::Full;
                let same = version.place == place && warc.time() == Some(time);
                if !same || full != (warc.kind() == "response") {
                    let problem = format!(
                        "the record at byte {} is not the version that page {} has",
                        place.offset, page.0
                    );
                    self.findings.add(name, problem);
                }
            }
            Ok(None) => self.findings.add("versions", format!("page {} has none at {}", page.0, time.iso())),
            Err(error) => self.findings.add_error("versions", &error),
        }
        true
    }

    /// Checks that the index file has the lines of the records: their hashes have the same sum.
    fn index(&mut self, number: u32, expected: u64) {
        let path = self.shared.collection().join(segment::index_name(number));
        let name = relative(&path, &self.shared.directory);
        match fs::read(&path) {
            Ok(bytes) => {
                let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
                // Bytes after the last line feed are no line.
                lines.pop_if(|last| last.is_empty());
                let sum = lines.iter().fold(0_u64, |sum, line| sum.wrapping_add(xxh3_64(line)));
                if sum != expected || !lines.is_sorted() {
                    self.findings
                        .add(name, "it is damaged: its lines are not those of the segment's records");
                }
            }
            Err(error) => self.findings.add(name, format!("it cannot be read: {error}")),
        }
    }
}

/// The hash of the index line of a record; 0 if it has none.
fn line_hash(record: &WarcRecord, place: Place) -> u64 {
    let (Some(time), Some(digest)) = (record.time(), record.payload_digest()) else {
        return 0;
    };
    let line = IndexLine::of(record, time, &digest, place).text();
    if line.len() <= LINE_BYTES_MAX { xxh3_64(line.as_bytes()) } else { 0 }
}
