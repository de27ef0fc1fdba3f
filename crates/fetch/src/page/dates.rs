//! Parser for the dates of sitemaps, feeds and headers.
//!
//! # Promises
//! - Accepts W3C dates (year, month, day, or with time and zone), RFC 3339 and RFC 2822. A date without a
//!   zone is UTC.
//! - A date before 1990 or after 2100 is rejected: nothing on the Web is older, and 1970 means that a field
//!   was empty.

use freshet_protocol::time::Timestamp;
use jiff::civil::DateTime;
use jiff::fmt::rfc2822::DateTimeParser;
use jiff::tz::TimeZone;

/// 1990-01-01 and 2100-01-01, in milliseconds since 1970 began.
const BELIEVABLE_MILLIS: std::ops::Range<i64> = 631_152_000_000..4_102_444_800_000;

/// Maximum length of a date, in bytes.
const DATE_BYTES_MAX: usize = 64;

/// The time that a text states; none if it is invalid or not believable.
pub(super) fn read_date(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    if DATE_BYTES_MAX < text.len() {
        return None;
    }
    let millis = moment(text)?.as_millisecond();
    BELIEVABLE_MILLIS.contains(&millis).then(|| Timestamp::from_millis(millis))
}

fn moment(text: &str) -> Option<jiff::Timestamp> {
    if let Ok(moment) = text.parse::<jiff::Timestamp>() {
        return Some(moment);
    }
    let is_year_or_month =
        matches!(text.len(), 4 | 7) && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    let whole = match (is_year_or_month, text.len()) {
        (true, 4) => format!("{text}-01-01"),
        (true, _) => format!("{text}-01"),
        _ => text.to_owned(),
    };
    if let Ok(local) = whole.parse::<DateTime>() {
        return local.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp());
    }
    DateTimeParser::new().relaxed_weekday(true).parse_timestamp(text).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        let expected = expected.map(|date| date.parse::<jiff::Timestamp>().unwrap().as_millisecond());
        assert_eq!(read_date(text).map(Timestamp::millis), expected, "{text}");
    }

    #[test]
    fn dates_are_understood_as_they_are_written() {
        check("2024", Some("2024-01-01T00:00:00Z"));
        check("2024-05", Some("2024-05-01T00:00:00Z"));
        check("2024-05-06", Some("2024-05-06T00:00:00Z"));
        check(" 2024-05-06T07:08:09+02:00 ", Some("2024-05-06T05:08:09Z"));
        check("2024-05-06T07:08:09.123Z", Some("2024-05-06T07:08:09.123Z"));
        check("2024-05-06T07:08Z", Some("2024-05-06T07:08:00Z"));
        check("2024-05-06 07:08:09", Some("2024-05-06T07:08:09Z"));
        check("Mon, 06 May 2024 07:08:09 GMT", Some("2024-05-06T07:08:09Z"));
        check("6 May 2024 07:08:09 +0200", Some("2024-05-06T05:08:09Z"));
        check("Fri, 06 May 2024 07:08:09 GMT", Some("2024-05-06T07:08:09Z"));
    }

    #[test]
    fn what_is_no_date_is_no_date() {
        for text in [
            "",
            "yesterday",
            "2024-13-01",
            "2024-02-30",
            "0000-00-00",
            "1970-01-01",
            "9999-12-31",
            "05/06/2024",
        ] {
            check(text, None);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_date_or_none(text in "([0-9]{1,5}|-|:|T|Z|\\+| |May|Mon,|GMT|\\PC){0,12}") {
            read_date(&text);
        }
    }
}
