//! WARC/1.1 records (ISO 28500:2017), written and parsed.
//!
//! An exchange becomes a `response` or `revisit` record. A full response is followed by its `request` and by
//! `metadata` (duration, charset, referring page). Each segment begins with a `warcinfo` record. A revisit
//! names its original by `WARC-Refers-To-Target-URI` and `WARC-Refers-To-Date`, so that it stays valid
//! wherever the original is written.
//!
//! # Promises
//! - A record has exactly as many bytes as its `Content-Length` says.
//! - No external value can add a line to the head of a record.
//! - Bytes that are no record are an error, never a panic.

use freshet_protocol::time::Timestamp;

use crate::collection::digest::{Sha1Digest, base32, from_base32, record_id, sha1};
use crate::collection::exchange::{Exchange, ExchangeKind};
use crate::collection::gzip::MemberWriter;
use crate::collection::http_head;
use crate::versions::VersionKind;

/// The first line of every record.
const VERSION_LINE: &str = "WARC/1.1";

/// The profile of a revisit whose payload was the same.
const PROFILE_IDENTICAL: &str = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest";

/// The profile of a revisit that the server answered with "not modified".
const PROFILE_NOT_MODIFIED: &str = "http://netpreserve.org/warc/1.1/revisit/server-not-modified";

/// The full response that a revisit refers to.
#[derive(Clone, Debug, PartialEq)]
pub struct Original {
    /// When it was received.
    pub time: Timestamp,
    /// The digest of its payload.
    pub payload_digest: Sha1Digest,
}

/// The records written for an exchange.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    /// The offset of the response or revisit record in the output.
    pub start: usize,
    /// Its length in bytes.
    pub length: u32,
    /// Its length and that of the records that belong to it, in bytes.
    pub extent: u32,
    /// Its kind.
    pub kind: VersionKind,
    /// The digest of its payload.
    pub payload_digest: Sha1Digest,
    /// The media type, as in the index.
    pub mime: String,
}

/// Writes WARC records as gzip members.
pub struct WarcWriter {
    members: MemberWriter,
    store: [u8; 16],
    software: String,
    head: String,
}

impl WarcWriter {
    /// A writer for the store with this identity.
    pub fn new(store: [u8; 16], software: &str, gzip_level: u32) -> Self {
        Self {
            members: MemberWriter::new(gzip_level),
            store,
            software: one_line(software),
            head: String::with_capacity(1024),
        }
    }

    /// Appends the `warcinfo` record that every file begins with.
    pub fn append_warcinfo(&mut self, file_name: &str, time: Timestamp, output: &mut Vec<u8>) {
        let block = format!(
            "software: {}\r\nformat: WARC File Format 1.1\r\nconformsTo: \
             https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/\r\n",
            self.software
        );
        let id = record_id(&self.store, "warcinfo", file_name, time.millis());
        self.begin("warcinfo", &id, time);
        self.field("WARC-Filename", file_name);
        self.append("application/warc-fields", &[block.as_bytes()], output);
    }

    /// Appends the records of an exchange. With an original, and if its kind says so, it becomes a revisit.
    pub fn append_exchange(
        &mut self,
        exchange: &Exchange,
        original: Option<&Original>,
        output: &mut Vec<u8>,
    ) -> Written {
        let start = output.len();
        let head = http_head::archived(&exchange.response_head, exchange.status);
        let (kind, length, payload_digest, mime) = match (exchange.kind, original) {
            (ExchangeKind::Identical, Some(original)) => {
                let length = self.append_revisit(exchange, PROFILE_IDENTICAL, original, &head, output);
                (VersionKind::Identical, length, original.payload_digest, revisit_mime())
            }
            (ExchangeKind::NotModified, Some(original)) => {
                let length = self.append_revisit(exchange, PROFILE_NOT_MODIFIED, original, &head, output);
                (VersionKind::NotModified, length, original.payload_digest, revisit_mime())
            }
            _ => {
                let payload_digest = sha1(&exchange.body);
                let id = self.id("response", exchange);
                let length = self.append_response(exchange, &id, &payload_digest, &head, output);
                self.append_request(exchange, &id, output);
                self.append_metadata(exchange, &id, output);
                let mime = media_type(http_head::value(&head, "content-type"));
                (VersionKind::Full, length, payload_digest, mime)
            }
        };
        let extent =
            u32::try_from(output.len() - start).expect("an exchange is bounded by the crawler's limits");
        Written { start, length, extent, kind, payload_digest, mime }
    }

    fn append_response(
        &mut self,
        exchange: &Exchange,
        id: &str,
        payload_digest: &Sha1Digest,
        head: &[u8],
        output: &mut Vec<u8>,
    ) -> u32 {
        self.begin("response", id, exchange.time);
        self.exchange_fields(exchange);
        self.field("WARC-Payload-Digest", &format!("sha1:{}", base32(payload_digest)));
        if let Some(truncated) = exchange.truncated {
            self.field("WARC-Truncated", truncated.word());
        }
        self.append("application/http; msgtype=response", &[head, &exchange.body], output)
    }

    fn append_revisit(
        &mut self,
        exchange: &Exchange,
        profile: &str,
        original: &Original,
        head: &[u8],
        output: &mut Vec<u8>,
    ) -> u32 {
        let id = self.id("revisit", exchange);
        self.begin("revisit", &id, exchange.time);
        self.exchange_fields(exchange);
        self.field("WARC-Payload-Digest", &format!("sha1:{}", base32(&original.payload_digest)));
        self.field("WARC-Profile", profile);
        self.field("WARC-Refers-To-Target-URI", &exchange.url);
        self.field("WARC-Refers-To-Date", &original.time.iso());
        self.append("application/http; msgtype=response", &[head], output)
    }

    fn append_request(&mut self, exchange: &Exchange, response_id: &str, output: &mut Vec<u8>) {
        if exchange.request_head.is_empty() {
            return;
        }
        let id = self.id("request", exchange);
        self.begin("request", &id, exchange.time);
        self.exchange_fields(exchange);
        self.field("WARC-Concurrent-To", response_id);
        let head = exchange.request_head.trim_ascii_end();
        self.append("application/http; msgtype=request", &[head, b"\r\n\r\n"], output);
    }

    fn append_metadata(&mut self, exchange: &Exchange, response_id: &str, output: &mut Vec<u8>) {
        let mut block = format!("fetchTimeMs: {}\r\n", exchange.millis);
        let address = exchange.address.map(|address| address.to_string());
        let fields =
            [("ip", &address), ("charsetForLinkExtraction", &exchange.charset), ("via", &exchange.via)];
        for (name, value) in fields {
            if let Some(value) = value {
                block.push_str(&format!("{name}: {}\r\n", one_line(value)));
            }
        }
        let id = self.id("metadata", exchange);
        self.begin("metadata", &id, exchange.time);
        self.field("WARC-Target-URI", &exchange.url);
        self.field("WARC-Concurrent-To", response_id);
        self.append("application/warc-fields", &[block.as_bytes()], output);
    }

    fn id(&self, kind: &str, exchange: &Exchange) -> String {
        record_id(&self.store, kind, &exchange.url, exchange.time.millis())
    }

    fn begin(&mut self, kind: &str, id: &str, time: Timestamp) {
        self.head.clear();
        self.head.push_str(VERSION_LINE);
        self.head.push_str("\r\n");
        self.field("WARC-Type", kind);
        self.field("WARC-Record-ID", id);
        self.field("WARC-Date", &time.iso());
    }

    fn exchange_fields(&mut self, exchange: &Exchange) {
        self.field("WARC-Target-URI", &exchange.url);
        if let Some(address) = exchange.address {
            self.field("WARC-IP-Address", &address.to_string());
        }
        if http_head::is_http2(&exchange.response_head) {
            self.field("WARC-Protocol", "h2");
        }
    }

    fn field(&mut self, name: &str, value: &str) {
        self.head.push_str(name);
        self.head.push_str(": ");
        // Nearly every value is printable ASCII and is copied unchanged.
        if value.bytes().fold(true, |plain, byte| plain & (b' '..=b'~').contains(&byte)) {
            self.head.push_str(value);
        } else {
            self.head.push_str(&one_line(value));
        }
        self.head.push_str("\r\n");
    }

    fn append(&mut self, content_type: &str, block: &[&[u8]], output: &mut Vec<u8>) -> u32 {
        let length: usize = block.iter().map(|part| part.len()).sum();
        self.field("Content-Type", content_type);
        self.field("Content-Length", &length.to_string());
        self.head.push_str("\r\n");
        let mut parts: Vec<&[u8]> = Vec::with_capacity(4);
        parts.push(self.head.as_bytes());
        parts.extend_from_slice(block);
        parts.push(b"\r\n\r\n");
        self.members.append(&parts, output)
    }
}

/// The media type of a content type, as in the index.
fn media_type(content_type: Option<&str>) -> String {
    let media_type = content_type.and_then(|value| value.split(';').next()).unwrap_or_default().trim();
    if media_type.is_empty() || media_type.contains(' ') { "unk".to_owned() } else { one_line(media_type) }
}

fn revisit_mime() -> String {
    "warc/revisit".to_owned()
}

fn one_line(text: &str) -> String {
    text.chars().map(|one| if one.is_control() { ' ' } else { one }).collect()
}

/// A WARC record that was read.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct WarcRecord {
    /// The named fields of its head, in order.
    pub fields: Vec<(String, String)>,
    /// Its block: for a response, the head and body of the HTTP response.
    pub block: Vec<u8>,
}

impl WarcRecord {
    /// Parses the bytes of one record.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").ok_or("its head has no end")?;
        let head = std::str::from_utf8(&bytes[..end]).map_err(|_| "its head is not text")?;
        let mut lines = head.split("\r\n");
        let version = lines.next().unwrap_or_default();
        if !version.starts_with("WARC/1.") {
            return Err(format!("it begins with {version:?}, not with WARC/1.1"));
        }
        let fields: Vec<(String, String)> = lines
            .map(|line| {
                let (name, value) = line.split_once(':')?;
                Some((name.to_owned(), value.trim().to_owned()))
            })
            .collect::<Option<_>>()
            .ok_or("a line of its head is no field")?;
        let record = Self { fields, block: Vec::new() };
        let length: usize = record
            .field("Content-Length")
            .and_then(|length| length.parse().ok())
            .ok_or("it has no length")?;
        let rest = &bytes[end + 4..];
        let block = rest.get(..length).ok_or("it is shorter than it says")?;
        if &rest[length..] != b"\r\n\r\n" {
            return Err("it does not end where it says".to_owned());
        }
        Ok(Self { block: block.to_vec(), ..record })
    }

    /// The value of a field.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields
            .iter()
            .find(|(found, _)| found.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// The type of the record, such as `response`.
    pub fn kind(&self) -> &str {
        self.field("WARC-Type").unwrap_or_default()
    }

    /// The URL of the record.
    pub fn url(&self) -> &str {
        self.field("WARC-Target-URI").unwrap_or_default()
    }

    /// The date of the record.
    pub fn time(&self) -> Option<Timestamp> {
        Timestamp::from_iso(self.field("WARC-Date")?)
    }

    /// The payload digest that the record states.
    pub fn payload_digest(&self) -> Option<Sha1Digest> {
        from_base32(self.field("WARC-Payload-Digest")?.strip_prefix("sha1:")?)
    }

    /// The HTTP head and body in a response or revisit.
    pub fn http(&self) -> (&[u8], &[u8]) {
        let end = self.block.windows(4).position(|window| window == b"\r\n\r\n");
        self.block.split_at(end.map_or(self.block.len(), |end| end + 4))
    }

    /// The media type, as in the index.
    pub(crate) fn mime(&self) -> String {
        match self.kind() {
            "revisit" => revisit_mime(),
            _ => media_type(http_head::value(self.http().0, "content-type")),
        }
    }

    /// The status of the HTTP response; 0 if there is none.
    pub(crate) fn status(&self) -> u16 {
        let line = self.block.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let status = line.split(|byte| *byte == b' ').nth(1).unwrap_or_default();
        std::str::from_utf8(status).ok().and_then(|status| status.trim().parse().ok()).unwrap_or(0)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use bytes::Bytes;
    use freshet_protocol::ids::PageNumber;
    use proptest::prelude::*;

    use super::*;
    use crate::collection::gzip::Counted;

    /// An exchange of a page, for tests.
    pub(crate) fn exchange(page: u32, url: &str, millis: i64, body: &[u8]) -> Exchange {
        Exchange {
            page: Some(PageNumber(page)),
            url: url.to_owned(),
            time: Timestamp::from_millis(millis),
            kind: ExchangeKind::Full,
            address: Some([127, 0, 0, 1].into()),
            request_head: b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n".to_vec(),
            response_head: b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n".to_vec(),
            status: 200,
            body: Bytes::copy_from_slice(body),
            truncated: None,
            millis: 12,
            charset: Some("UTF-8".to_owned()),
            via: None,
            raw_digest: Some([1; 16]),
            text_digest: Some([2; 16]),
            simhash: Some(3),
            folded: None,
        }
    }

    fn records(bytes: &[u8]) -> Vec<WarcRecord> {
        let mut reader = Counted::new(bytes, 0);
        std::iter::from_fn(|| reader.next_member().expect("a member"))
            .map(|bytes| WarcRecord::parse(&bytes).expect("a record"))
            .collect()
    }

    #[test]
    fn a_full_response_is_followed_by_its_request_and_metadata() {
        let mut output = Vec::new();
        let mut writer = WarcWriter::new([5; 16], "freshet", 6);
        writer.append_warcinfo("s.warc.gz", Timestamp::from_millis(0), &mut output);
        let written =
            writer.append_exchange(&exchange(1, "http://a.example/", 5, b"<p>hello"), None, &mut output);
        let records = records(&output);
        let kinds: Vec<_> = records.iter().map(WarcRecord::kind).collect();
        assert_eq!(kinds, ["warcinfo", "response", "request", "metadata"]);
        assert_eq!(records[1].http().1, b"<p>hello");
        assert_eq!(records[1].payload_digest(), Some(sha1(b"<p>hello")));
        assert_eq!(records[1].status(), 200);
        assert_eq!(records[2].field("WARC-Concurrent-To"), records[1].field("WARC-Record-ID"));
        assert_eq!((written.kind, written.mime.as_str()), (VersionKind::Full, "text/html"));
    }

    #[test]
    fn a_revisit_names_its_original() {
        let mut output = Vec::new();
        let original = Original { time: Timestamp::from_millis(5), payload_digest: [9; 20] };
        let exchange =
            Exchange { kind: ExchangeKind::NotModified, ..exchange(1, "http://a.example/", 50, b"") };
        let mut writer = WarcWriter::new([5; 16], "freshet", 6);
        let written = writer.append_exchange(&exchange, Some(&original), &mut output);
        let records = records(&output);
        assert_eq!(records.len(), 1);
        assert_eq!(records[0].field("WARC-Profile"), Some(PROFILE_NOT_MODIFIED));
        assert_eq!(records[0].field("WARC-Refers-To-Date"), Some("1970-01-01T00:00:00.005Z"));
        assert_eq!(written.kind, VersionKind::NotModified);
        assert_eq!(records[0].payload_digest(), Some([9; 20]));
    }

    proptest! {
        #[test]
        fn nothing_from_outside_adds_a_line(
            url in ".{0,40}",
            via in ".{0,40}",
            body in prop::collection::vec(any::<u8>(), 0..99),
        ) {
            let exchange = Exchange { via: Some(via), ..exchange(1, &url, 5, &body) };
            let mut output = Vec::new();
            WarcWriter::new([5; 16], "freshet", 1).append_exchange(&exchange, None, &mut output);
            let records = records(&output);
            prop_assert_eq!(records[0].fields.len(), 8, "{:?}", records[0].fields);
            prop_assert_eq!(records[0].http().1, &body);
        }

        #[test]
        fn any_bytes_are_no_panic(
            bytes in prop::collection::vec(any::<u8>(), 0..99),
            text in "(WARC/1.1\r\n)?[a-zC:\r\n 0-9-]{0,80}",
        ) {
            let _ = WarcRecord::parse(&bytes);
            let _ = WarcRecord::parse(text.as_bytes());
        }
    }
}
