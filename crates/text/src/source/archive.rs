//! Documents from responses in WARC files (ISO 28500), compressed or not, ours or others'.
//!
//! # Promises
//! - Any bytes can be read. Where they stop being WARC, the rest is skipped with a note.
//! - A record larger than [`RECORD_BYTES_MAX`] is skipped.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;
use freshet_fetch::web::decoded;
use freshet_store::collection::http_head;
use freshet_store::collection::warc::WarcRecord;

use super::complete::Documents;
use crate::error::TextError;
use crate::interface::plain_urls;

/// Maximum size of a record, in bytes.
pub const RECORD_BYTES_MAX: u64 = 64 << 20;

/// Maximum size of a record's head, in bytes.
const HEAD_BYTES_MAX: u64 = 64 << 10;

/// Reads all responses of a WARC file, or of all WARC files in a directory.
pub(super) fn read_all(path: &Path, documents: &mut Documents) -> Result<(), TextError> {
    for file in files(path)? {
        let reader = BufReader::new(File::open(&file).map_err(TextError::file("open", &file))?);
        let ended = if file.extension().is_some_and(|ending| ending == "gz") {
            read_records(BufReader::new(MultiGzDecoder::new(reader)), documents)
        } else {
            read_records(reader, documents)
        };
        if let Err(error) = ended {
            documents.pass_over(&file.display().to_string(), format!("it is broken: {error}"));
        }
    }
    Ok(())
}

fn files(path: &Path) -> Result<Vec<PathBuf>, TextError> {
    if !fs::metadata(path).map_err(TextError::file("read", path))?.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let entries = fs::read_dir(path).map_err(TextError::file("read", path))?;
    let is_warc = |path: &PathBuf| {
        path.file_name()
            .and_then(|name| name.to_str())
            .is_some_and(|name| name.ends_with(".warc") || name.ends_with(".warc.gz"))
    };
    let mut files: Vec<_> =
        entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).filter(is_warc).collect();
    files.sort();
    Ok(files)
}

/// Reads records until the end or until the bytes are no longer WARC.
fn read_records(mut reader: impl BufRead, documents: &mut Documents) -> io::Result<()> {
    while let Some(record) = next_record(&mut reader)? {
        let Record::Whole(bytes) = record else {
            documents.pass_over("a record", format!("it is larger than {RECORD_BYTES_MAX} bytes"));
            continue;
        };
        match WarcRecord::parse(&bytes) {
            Ok(record) if record.kind() == "response" => take(&record, documents),
            Ok(_) => {}
            Err(why) => documents.pass_over("a record", why),
        }
    }
    Ok(())
}

enum Record {
    Whole(Vec<u8>),
    TooLarge,
}

/// Reads the next record: head, block and the two empty lines after it. `None` at the end.
fn next_record(reader: &mut impl BufRead) -> io::Result<Option<Record>> {
    let mut bytes = Vec::new();
    let mut length = None;
    loop {
        let before = bytes.len();
        reader.by_ref().take(HEAD_BYTES_MAX).read_until(b'\n', &mut bytes)?;
        let line = String::from_utf8_lossy(&bytes[before..]).into_owned();
        match line.trim() {
            // Empty lines before a record are tolerated. The end of the file ends the records.
            "" if line.is_empty() && before == 0 => return Ok(None),
            "" if line.is_empty() => return Err(io::ErrorKind::UnexpectedEof.into()),
            "" if before == 0 => {
                bytes.clear();
                continue;
            }
            "" => break,
            _ if before == 0 && !line.starts_with("WARC/") => {
                return Err(io::Error::other("a record does not begin with WARC/"));
            }
            line => {
                if let Some((name, value)) = line.split_once(':')
                    && name.eq_ignore_ascii_case("content-length")
                {
                    length = value.trim().parse::<u64>().ok();
                }
            }
        }
        if HEAD_BYTES_MAX < bytes.len() as u64 {
            return Err(io::Error::other("the head of a record has no end"));
        }
    }
    let length = length.ok_or_else(|| io::Error::other("a record has no length"))?;
    let rest = length.saturating_add(4);
    if RECORD_BYTES_MAX < length {
        io::copy(&mut reader.by_ref().take(rest), &mut io::sink())?;
        return Ok(Some(Record::TooLarge));
    }
    reader.by_ref().take(rest).read_to_end(&mut bytes)?;
    Ok(Some(Record::Whole(bytes)))
}

fn take(record: &WarcRecord, documents: &mut Documents) {
    let (head, body) = record.http();
    let status = head.split(|byte| *byte == b' ').nth(1).unwrap_or_default();
    // Only successful responses are documents.
    if !status.starts_with(b"2") {
        return;
    }
    let Ok(url) = plain_urls().of(record.url().trim_matches(['<', '>'])) else {
        return documents.pass_over(record.url(), "it is no URL of the Web");
    };
    let body = decoded(http_head::value(head, "content-encoding"), body.to_vec());
    documents.take(&url, http_head::value(head, "content-type"), &body);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn record(kind: &str, url: &str, block: &str) -> String {
        format!(
            "WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nContent-Length: \
             {}\r\n\r\n{block}\r\n\r\n",
            block.len()
        )
    }

    fn response(url: &str, status: u16, body: &str) -> String {
        record("response", url, &format!("HTTP/1.1 {status} x\r\nContent-Type: text/plain\r\n\r\n{body}"))
    }

    fn summary_of(bytes: &[u8], name: &str) -> crate::version::Version {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join(name), bytes).expect("written");
        let database =
            crate::database::Database::of(crate::database::Place::Warc { path: folder.path().to_owned() });
        let time = freshet_protocol::time::Timestamp::from_millis(0);
        super::super::complete_summary(&database, folder.path(), time, None)
            .expect("it reads")
            .expect("it is complete")
    }

    #[test]
    fn responses_that_were_found_are_documents() {
        let warc = [
            record("warcinfo", "x", "software: other"),
            response("http://e.example/a", 200, "saturn rings"),
            response("http://e.example/b", 404, "not found"),
            response("http://e.example/c", 200, "saturn"),
        ]
        .concat();
        let version = summary_of(warc.as_bytes(), "a.warc");
        assert_eq!(version.facts.documents_read, 2);
        assert!(version.summary.words().any(|word| word == ("saturn", 2.0)));
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        io::Write::write_all(&mut packed, warc.as_bytes()).expect("packed");
        assert_eq!(summary_of(&packed.finish().expect("packed"), "a.warc.gz").summary, version.summary);
    }

    #[test]
    fn a_file_that_breaks_off_keeps_what_came_before() {
        let warc = [response("http://e.example/a", 200, "saturn rings"), "WARC/1.1\r\nContent-Le".to_owned()]
            .concat();
        let version = summary_of(warc.as_bytes(), "a.warc");
        assert_eq!(version.facts.documents_read, 1);
        assert!(version.facts.notes.iter().any(|note| note.contains("broken")), "{:?}", version.facts.notes);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_bytes_can_be_read(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
            packed in any::<bool>(),
        ) {
            summary_of(&bytes, if packed { "a.warc.gz" } else { "a.warc" });
        }
    }
}
