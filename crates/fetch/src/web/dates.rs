//! A lenient parser for HTTP dates and `Retry-After`.
//!
//! RFC 9110 section 5.6.7 has three forms: `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT`
//! and `Sun Nov  6 08:49:37 1994`. Servers write many more, so the parts are recognised in any order: a time
//! by its colons, a month by its name, a zone by its sign, and day and year from the remaining numbers.
//!
//! # Promises
//! - The three forms are accepted; a text without day, month, year and time is not a date.
//! - No text is parsed as a time before 1970 or after 9999.

use std::time::Duration;

use freshet_protocol::time::{SECONDS_PER_DAY, Timestamp};
use http::HeaderMap;
use http::header::{DATE, HeaderName, LAST_MODIFIED, RETRY_AFTER};

/// Maximum length of a date, in bytes. No form is longer.
const LENGTH_MAX: usize = 64;

/// Parses an HTTP date.
pub fn parse_date(text: &str) -> Option<Timestamp> {
    if LENGTH_MAX < text.len() {
        return None;
    }
    let mut parts = Parts::default();
    for word in text.split(|c: char| c == ',' || c.is_ascii_whitespace()).filter(|word| !word.is_empty()) {
        parts.take(word)?;
    }
    parts.moment()
}

/// A Last-Modified date younger than this at the visit may be the time of the response. In milliseconds.
pub const YOUNG: i64 = 5 * 60_000;

/// The `Last-Modified` date.
pub fn last_modified(headers: &HeaderMap) -> Option<Timestamp> {
    date(headers, &LAST_MODIFIED)
}

/// The `Date` of the response, by the server's clock.
pub fn server_date(headers: &HeaderMap) -> Option<Timestamp> {
    date(headers, &DATE)
}

/// The wait of `Retry-After`: seconds, or a date, relative to the server's clock if the response has a `Date`
/// and else to ours.
pub fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let whole = text.split('.').next().unwrap_or_default();
    if !whole.is_empty() && whole.bytes().all(|byte| byte.is_ascii_digit()) {
        // A number that does not fit is a very long time.
        return Some(Duration::from_secs(whole.parse::<u32>().unwrap_or(u32::MAX).into()));
    }
    let until = parse_date(text)?;
    let since = server_date(headers).unwrap_or(now);
    Some(Duration::from_millis(u64::try_from(until.millis_since(since)).unwrap_or(0)))
}

fn date(headers: &HeaderMap, name: &HeaderName) -> Option<Timestamp> {
    parse_date(headers.get(name)?.to_str().ok()?)
}

/// The parts of a date found so far.
#[derive(Debug, Default)]
struct Parts {
    day: Option<i64>,
    month: Option<i64>,
    year: Option<i64>,
    seconds: Option<i64>,
    /// Seconds east of Greenwich.
    zone: i64,
}

impl Parts {
    /// Adds one word; none if the text cannot be a date.
    fn take(&mut self, word: &str) -> Option<()> {
        if word.contains(':') {
            self.seconds = Some(time_of_day(word)?);
        } else if let Some(zone) = zone(word, self.seconds.is_some()) {
            self.zone = zone;
        } else if word.contains('-') {
            // 06-Nov-94, or 1994-11-06.
            for (place, part) in word.split('-').enumerate() {
                self.take_part(part, place)?;
            }
        } else {
            self.take_part(word, usize::MAX)?;
        }
        Some(())
    }

    fn take_part(&mut self, word: &str, place: usize) -> Option<()> {
        if word.bytes().all(|byte| byte.is_ascii_digit()) && !word.is_empty() {
            return self.take_number(word, place);
        }
        // Names of days and zones are not needed.
        if let Some(month) = month(word) {
            self.month = Some(month);
        }
        Some(())
    }

    fn take_number(&mut self, digits: &str, place: usize) -> Option<()> {
        let number: i64 = digits.parse().ok().filter(|_| digits.len() <= 4)?;
        if digits.len() == 4 {
            self.year = Some(number);
        } else if place == 1 && self.day.is_none() && self.year.is_some() {
            self.month = Some(number);
        } else if self.day.is_none() {
            self.day = Some(number);
        } else if self.year.is_none() {
            // Two-digit years: below 70 they are in the 21st century, otherwise in the 20th.
            self.year = Some(number + if number < 70 { 2000 } else { 1900 });
        } else {
            return None;
        }
        Some(())
    }

    fn moment(&self) -> Option<Timestamp> {
        let (day, month, year) = (self.day?, self.month?, self.year?);
        let plausible = (1..=31).contains(&day) && (1..=12).contains(&month) && (1970..=9999).contains(&year);
        if !plausible {
            return None;
        }
        let seconds = days_since_1970(year, month, day) * SECONDS_PER_DAY + self.seconds? - self.zone;
        (0 <= seconds).then(|| Timestamp::from_millis(seconds * 1000))
    }
}

/// Seconds since midnight of `08:49:37` or `08:49`.
fn time_of_day(word: &str) -> Option<i64> {
    let mut seconds = 0;
    let mut parts = 0;
    for (part, limit) in word.split(':').zip([23, 59, 60, -1]) {
        let number: i64 = part.split('.').next()?.parse().ok()?;
        if !(0..=limit).contains(&number) {
            return None;
        }
        seconds = seconds * 60 + number;
        parts += 1;
    }
    match parts {
        2 => Some(seconds * 60),
        3 => Some(seconds),
        _ => None,
    }
}

/// Seconds east of Greenwich of `+0100` after a time.
fn zone(word: &str, after_time: bool) -> Option<i64> {
    let sign = match word.as_bytes().first()? {
        b'+' => 1,
        b'-' if after_time => -1,
        _ => return None,
    };
    let digits = &word[1..];
    if digits.len() != 4 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number: i64 = digits.parse().ok()?;
    Some(sign * (number / 100 * 3600 + number % 100 * 60))
}

/// The month whose English name begins with the same three letters.
fn month(word: &str) -> Option<i64> {
    const MONTHS: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let begin = word.get(..3)?.to_ascii_lowercase();
    (1..).zip(MONTHS).find(|(_, name)| *name == begin).map(|(number, _)| number)
}

/// Days from 1970-01-01 to a date of the Gregorian calendar.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March here, so that the leap day is the last; 153 days are five months of alternately 31
    // and 30 days.
    let (year, month) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let before_year = year * 365 + year / 4 - year / 100 + year / 400;
    /// Days from March of the year 0 to 1970.
    const TO_1970: i64 = 719_468;
    before_year + (month * 153 + 2) / 5 + day - 1 - TO_1970
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BIRTH: i64 = 784_111_777;

    #[track_caller]
    fn check(text: &str, seconds: Option<i64>) {
        assert_eq!(parse_date(text), seconds.map(|seconds| Timestamp::from_millis(seconds * 1000)), "{text}");
    }

    #[test]
    fn the_three_forms_are_read() {
        check("Sun, 06 Nov 1994 08:49:37 GMT", Some(BIRTH));
        check("Sunday, 06-Nov-94 08:49:37 GMT", Some(BIRTH));
        check("Sun Nov  6 08:49:37 1994", Some(BIRTH));
        check("Thu, 01 Jan 1970 00:00:00 GMT", Some(0));
        check("Thu, 29 Feb 2024 12:00:00 GMT", Some(1_709_208_000));
    }

    #[test]
    fn what_servers_write_instead_is_read_too() {
        check("06 Nov 1994 08:49:37", Some(BIRTH));
        check("Sun, 6 Nov 1994 8:49:37 UTC", Some(BIRTH));
        check("Sun, 06 Nov 1994 09:49:37 +0100", Some(BIRTH));
        check("Sun, 06 Nov 1994 07:49:37 -0100", Some(BIRTH));
        check("Sun, 06-Nov-1994 08:49:37 GMT", Some(BIRTH));
        check("sunday, november 6 1994 08:49:37", Some(BIRTH));
        check("1994-11-06 08:49:37", Some(BIRTH));
    }

    #[test]
    fn what_is_no_date_is_not_read() {
        for text in
            ["", "0", "-1", "yesterday", "Sun, 06 Nov 1994", "06 Nov 08:49:37", "32 Jan 2000 00:00:00"]
        {
            check(text, None);
        }
        for text in
            ["1 Jan 1969 23:59:59", "Sun, 06 Nov 1994 25:00:00 GMT", "1 1 1 1 1 1:1:1", "1:2:3:4 1 Jan 2000"]
        {
            check(text, None);
        }
    }

    #[track_caller]
    fn check_retry(text: &str, date: Option<&str>, seconds: Option<u64>) {
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, text.parse().unwrap());
        if let Some(date) = date {
            headers.insert(DATE, date.parse().unwrap());
        }
        let now = Timestamp::from_millis(BIRTH * 1000);
        assert_eq!(retry_after(&headers, now), seconds.map(Duration::from_secs), "{text}");
    }

    #[test]
    fn a_server_may_ask_for_seconds_or_name_a_date() {
        check_retry("120", None, Some(120));
        check_retry(" 1.5", None, Some(1));
        check_retry("99999999999999999999", None, Some(u32::MAX.into()));
        check_retry("Sun, 06 Nov 1994 08:50:37 GMT", None, Some(60));
        check_retry("Sun, 06 Nov 1994 08:40:00 GMT", None, Some(0));
        check_retry("Sun, 06 Nov 1994 10:00:30 GMT", Some("Sun, 06 Nov 1994 10:00:00 GMT"), Some(30));
        check_retry("-5", None, None);
        check_retry("soon", None, None);
    }

    proptest! {
        #[test]
        fn no_text_makes_it_fall(text in ".{0,70}") {
            if let Some(moment) = parse_date(&text) {
                prop_assert!((0..=253_402_300_800_000).contains(&moment.millis()));
            }
        }

        #[test]
        fn parts_in_any_order_make_it_stand(
            text in "([A-Z][a-z]{2}|[0-9]{1,4}|[0-9]{2}:[0-9]{2}:[0-9]{2}|[+-][0-9]{4}|[ ,-]){0,12}",
        ) {
            let _ = parse_date(&text);
        }

        #[test]
        fn a_written_moment_is_read_back(seconds in 0i64..253_402_300_799) {
            let moment = jiff::Timestamp::from_second(seconds).unwrap();
            let text = moment.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
            prop_assert_eq!(parse_date(&text), Some(Timestamp::from_millis(seconds * 1000)));
        }
    }
}
