//! Parser of CDX and CDXJ lines: index files of web archives.
//!
//! The first line of a CDX file names the columns by letters (`" CDX N b a m s k r M S V g"`). Without it the
//! usual eleven are assumed, or nine or ten if there are so many. A CDXJ line is a sort key, a time of 14
//! digits and a JSON object.
//!
//! # Promises
//! - Any line is parsed without a panic. A line that belongs to no index gives nothing.

use freshet_protocol::time::Timestamp;
use serde_json::Value;

/// Maximum length of a line, in bytes. Longer lines are ignored.
pub const LINE_BYTES_MAX: usize = 1 << 20;

/// The default columns, by their number.
const USUAL: [(usize, &str); 3] =
    [(11, "N b a m s k r M S V g"), (10, "N b a m s k r M V g"), (9, "N b a m s k r V g")];

/// A capture, as described by a line of an index.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CdxEntry {
    /// The requested URL.
    pub url: String,
    /// Time of the capture.
    pub time: Timestamp,
    /// Status of the response; 0 if the index does not state it.
    pub status: u16,
    /// Digest of the content; empty if the index does not state it.
    pub digest: String,
    /// Whether it is a revisit: its content is that of an earlier capture.
    pub is_revisit: bool,
}

/// The columns of a CDX file, by their letters.
///
/// # Examples
///
/// ```
/// use freshet_crawl::import::cdx::CdxColumns;
///
/// let line = r#"org,example)/ 20261116013018 {"url": "https://example.org/", "status": "200"}"#;
/// let entry = CdxColumns::default().entry(line).expect("it is a line of CDXJ");
/// assert_eq!((entry.url.as_str(), entry.status), ("https://example.org/", 200));
/// assert_eq!(entry.time.iso(), "2026-11-16T01:30:18.000Z");
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct CdxColumns(Vec<char>);

impl CdxColumns {
    /// Parses the header line. None if the line is no header.
    pub fn of_header(line: &str) -> Option<Self> {
        let names = line.trim_start().strip_prefix("CDX ")?;
        Some(Self::of_names(names))
    }

    fn of_names(names: &str) -> Self {
        Self(names.split_whitespace().filter_map(|name| name.chars().next()).collect())
    }

    /// Parses the line of a capture.
    pub fn entry(&self, line: &str) -> Option<CdxEntry> {
        if line.len() > LINE_BYTES_MAX {
            return None;
        }
        let line = line.trim();
        match line.find(" {") {
            Some(brace) if line.ends_with('}') => json_entry(&line[..brace], &line[brace + 1..]),
            _ => self.column_entry(line),
        }
    }

    fn column_entry(&self, line: &str) -> Option<CdxEntry> {
        let values: Vec<&str> = line.split_whitespace().collect();
        let usual;
        let columns = if self.0.is_empty() {
            usual = Self::of_names(USUAL.iter().find(|(count, _)| *count == values.len())?.1);
            &usual.0
        } else {
            &self.0
        };
        let value =
            |name: char| columns.iter().position(|column| *column == name).and_then(|at| values.get(at));
        let said = |name: char| value(name).copied().filter(|value| *value != "-");
        Some(CdxEntry {
            url: said('a')?.to_owned(),
            time: moment(said('b')?)?,
            status: said('s').and_then(|status| status.parse().ok()).unwrap_or(0),
            digest: said('k').unwrap_or_default().to_owned(),
            is_revisit: said('m') == Some("warc/revisit"),
        })
    }
}

fn json_entry(before: &str, json: &str) -> Option<CdxEntry> {
    let fields: Value = serde_json::from_str(json).ok()?;
    let text = |name: &str| match &fields[name] {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    };
    let digits = before.split_whitespace().next_back()?;
    Some(CdxEntry {
        url: Some(text("url")).filter(|url| !url.is_empty())?,
        time: moment(digits)?,
        status: text("status").parse().unwrap_or(0),
        digest: text("digest"),
        is_revisit: text("mime") == "warc/revisit",
    })
}

/// Parses a time in digits: year, month, day, hour, minute, second and optional milliseconds. Missing parts
/// have their lowest value.
pub fn moment(digits: &str) -> Option<Timestamp> {
    let is_date = (4..=17).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !is_date {
        return None;
    }
    let part = |range: std::ops::Range<usize>, least: i16| -> i16 {
        digits.get(range).and_then(|part| part.parse().ok()).unwrap_or(least)
    };
    let narrow = |value: i16| i8::try_from(value).ok();
    let millis = i32::from(part(14..17, 0));
    let civil = jiff::civil::DateTime::new(
        part(0..4, 0),
        narrow(part(4..6, 1))?,
        narrow(part(6..8, 1))?,
        narrow(part(8..10, 0))?,
        narrow(part(10..12, 0))?,
        narrow(part(12..14, 0))?,
        millis * 1_000_000,
    );
    let zoned = civil.ok()?.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    Some(Timestamp::from_millis(zoned.timestamp().as_millisecond()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(header: &str, line: &str, expected: Option<(&str, &str, u16, &str, bool)>) {
        let columns = CdxColumns::of_header(header).unwrap_or_default();
        let entry = columns
            .entry(line)
            .map(|entry| (entry.url, entry.time.iso(), entry.status, entry.digest, entry.is_revisit));
        let expected = expected.map(|(url, time, status, digest, is_revisit)| {
            (url.to_owned(), time.to_owned(), status, digest.to_owned(), is_revisit)
        });
        assert_eq!(entry, expected);
    }

    #[test]
    fn columns_are_read_by_their_names_or_by_their_number() {
        let found = Some(("http://a.example/", "2020-01-02T03:04:05.000Z", 200, "ABC", false));
        check(
            "",
            "example,a)/ 20200102030405 http://a.example/ text/html 200 ABC - - 500 300 a.warc.gz",
            found,
        );
        check("", "example,a)/ 20200102030405 http://a.example/ text/html 200 ABC - 300 a.warc.gz", found);
        check(" CDX a b k s", "http://a.example/ 20200102030405 ABC 200", found);
        check("", "one two three", None);
        check(" CDX a b", "http://a.example/ yesterday", None);
    }

    #[test]
    fn json_is_read_with_numbers_or_texts() {
        let rest = r#""mime": "warc/revisit", "status": "200", "digest": "ABC"}"#;
        let line = &format!(r#"example,a)/ 20200102030405 {{"url": "http://a.example/", {rest}"#);
        let time = "2020-01-02T03:04:05.000Z";
        check("", line, Some(("http://a.example/", time, 200, "ABC", true)));
        let line = r#"example,a)/ 20200102030405 {"url": "http://a.example/", "status": 404}"#;
        check("", line, Some(("http://a.example/", time, 404, "", false)));
        check("", "key 20200102030405 {}", None);
    }

    #[test]
    fn a_moment_may_be_short_and_must_be_one() {
        assert_eq!(moment("2020").map(Timestamp::iso).as_deref(), Some("2020-01-01T00:00:00.000Z"));
        assert_eq!(moment("20200102030405123").map(|time| time.millis() % 1000), Some(123));
        assert_eq!(moment("20201332"), None);
        assert_eq!(moment("not"), None);
    }

    proptest! {
        #[test]
        fn any_line_is_no_panic(
            line in ".{0,200}",
            header in "( CDX )?[A-Za-z ]{0,30}",
            digits in "[0-9]{0,20}",
        ) {
            let columns = CdxColumns::of_header(&header).unwrap_or_default();
            let _ = columns.entry(&line);
            let _ = columns.entry(&format!("a {digits} http://a.example/ b c d e f g h i"));
            let _ = columns.entry(&format!("a {digits} {{\"url\": \"{}\"}}", line.replace(['"', '\\'], "")));
            let _ = moment(&digits);
        }
    }
}
