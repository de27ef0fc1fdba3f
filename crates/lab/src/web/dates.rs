//! Formats moments for HTTP, XML and people.
//!
//! # Promises
//! - An HTTP date parses back to the same second. Anything else parses to `None`.

use freshet_protocol::time::Timestamp;
use jiff::fmt::rfc2822::{DateTimeParser, DateTimePrinter};
use jiff::tz::TimeZone;

/// `Thu, 01 Jan 2026 00:00:00 GMT`.
pub(super) fn http_date(moment: Timestamp) -> String {
    DateTimePrinter::new().timestamp_to_rfc9110_string(&instant(moment)).unwrap_or_default()
}

/// Parses an HTTP date.
pub(super) fn parse_http_date(text: &str) -> Option<Timestamp> {
    let second = DateTimeParser::new().parse_timestamp(text).ok()?.as_second();
    Some(Timestamp::from_millis(second * 1_000))
}

/// `2026-01-01T00:00:00Z`.
pub(super) fn xml_date(moment: Timestamp) -> String {
    format!("{:.0}", instant(moment))
}

/// `2026-01-01`.
pub(super) fn day(moment: Timestamp) -> String {
    instant(moment).to_zoned(TimeZone::UTC).date().to_string()
}

/// `1 January 2026, 00:00:00`.
pub(super) fn spoken(moment: Timestamp) -> String {
    instant(moment).strftime("%-d %B %Y, %H:%M:%S").to_string()
}

/// Rounded to the second. A moment beyond the calendar becomes its end.
fn instant(moment: Timestamp) -> jiff::Timestamp {
    jiff::Timestamp::from_second(moment.millis().div_euclid(1_000)).unwrap_or(jiff::Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::clock::START;
    use super::*;

    #[test]
    fn dates_are_written_and_read() {
        assert_eq!(http_date(START), "Thu, 01 Jan 2026 00:00:00 GMT");
        assert_eq!(parse_http_date(&http_date(START.plus_millis(61_999))), Some(START.plus_millis(61_000)));
        assert_eq!(xml_date(START.plus_millis(61_999)), "2026-01-01T00:01:01Z");
        assert_eq!(day(START), "2026-01-01");
        assert_eq!(spoken(START.plus_millis(61_000)), "1 January 2026, 00:01:01");
        assert!(!http_date(Timestamp::from_millis(i64::MAX)).is_empty());
        for text in ["", "yesterday", "2026-01-01"] {
            assert_eq!(parse_http_date(text), None, "{text}");
        }
    }
}
