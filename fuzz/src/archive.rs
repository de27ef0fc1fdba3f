//! What other crawlers collected: messages of HTTP, WARC files, indexes.

use freshet_crawl::import::cdx::CdxColumns;
use freshet_crawl::import::file_kind::FileKind;
use freshet_crawl::import::http_message::{response, without_chunks};
use freshet_crawl::import::warc_file::WarcFile;
use freshet_store::collection::warc::WarcRecord;

use crate::{Parser, fingerprint, lossy, seeds, size};

/// Records that are read of one file.
const RECORDS_MAX: usize = 50;

/// A response as an archive keeps it, and a body in chunks.
pub fn message(bytes: &[u8]) -> u64 {
    let whole = without_chunks(bytes).map(|whole| size(whole.len()));
    let found = response(bytes);
    fingerprint((
        whole,
        found.map(|found| (found.status / 100, found.headers.len().min(9), size(found.body.len()))),
    ))
}

/// A WARC file of another program, and one record of our own.
pub fn warc(bytes: &[u8]) -> u64 {
    let mut kinds = Vec::new();
    if let Ok(mut file) = WarcFile::new(bytes, 0) {
        while let Ok(Some(record)) = file.next_record()
            && kinds.len() <= RECORDS_MAX
        {
            kinds.push((record.kind().len().min(9), record.time().is_some(), size(record.block.len())));
        }
    }
    kinds.truncate(5);
    let own = WarcRecord::parse(bytes).map(|record| (record.time().is_some(), size(record.http().1.len())));
    fingerprint((kinds, own.map_err(|reason| reason.len())))
}

/// An index, line by line, and the sort of file that the bytes are taken for.
pub fn cdx(bytes: &[u8]) -> u64 {
    let text = lossy(bytes);
    let mut columns = CdxColumns::default();
    let mut found = Vec::new();
    for line in text.lines() {
        if let Some(named) = CdxColumns::of_header(line) {
            columns = named;
        }
        let entry = columns.entry(line);
        found.push(entry.map(|entry| (entry.status / 100, size(entry.url.len()), entry.is_revisit)));
    }
    found.truncate(5);
    fingerprint((found, FileKind::of(bytes) as u8))
}

pub(crate) fn parsers() -> Vec<Parser> {
    vec![
        Parser {
            name: "message",
            seeds: seeds(&[
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\
                 Content-Encoding: gzip\r\n\r\n5;a=b\r\nhello\r\n0\r\n\r\n",
                "HTTP/1.0 404 Not Found\n\nx",
                "5\r\nhello\r\n0\r\n\r\n",
            ]),
            words: &[
                "\r\n\r\n",
                "chunked",
                "ffffffffffffffff\r\n",
                "0\r\n",
                "Content-Encoding: br\r\n",
                "Content-Encoding: zstd, gzip\r\n",
                "HTTP/1.1 99999 ",
            ],
            read: message,
        },
        Parser {
            name: "warc",
            seeds: seeds(&["WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: <http://a.example/>\r\n\
                 WARC-Date: 2026-11-16T01:00:00Z\r\nContent-Length: 19\r\n\r\nHTTP/1.1 200 OK\r\n\r\n\r\n\r\n\
                 WARC/1.1\r\nContent-Length: 0\r\n\r\n\r\n\r\n"]),
            words: &[
                "WARC/1.1\r\n",
                "Content-Length: ",
                "\r\n\r\n",
                "WARC-Date: ",
                "18446744073709551615",
                "\n ",
                "WARC-Type: revisit\r\n",
            ],
            read: warc,
        },
        Parser {
            name: "cdx",
            seeds: seeds(&[
                " CDX N b a m s k r M S V g\n\
                 example,a)/ 20261116010000 http://a.example/ text/html 200 ABC - - 5 6 f\n",
                "example,a)/ 20261116010000 \
                 {\"url\": \"http://a.example/\", \"status\": \"200\", \"digest\": \"X\"}\n",
            ]),
            words: &[" CDX ", "{\"url\": \"", "}", "99999999999999", "\\u0000", " - ", "{\"a\":{\"a\":"],
            read: cdx,
        },
    ]
}
