//! Timestamps in milliseconds since 1970-01-01 UTC, as every file of the crawler stores them.
//!
//! In the lab a crawl may run faster than the wall clock. Its timestamps then count its own simulated time.

use freshet_theory::units::Days;
use jiff::civil::DateTime;
use jiff::tz::Offset;

/// Seconds of one day, as a whole number; [`freshet_theory::units`] has it as a quantity.
pub const SECONDS_PER_DAY: i64 = 86_400;
/// Milliseconds of one day, as a whole number.
pub const MILLIS_PER_DAY: i64 = 1_000 * SECONDS_PER_DAY;

/// Milliseconds of one day.
const DAY: f64 = MILLIS_PER_DAY as f64;

/// The start of year 1, in milliseconds.
const YEAR_1: i64 = -62_135_596_800_000;

/// The latest moment that the date library represents, 26 hours before the end of year 9999, in milliseconds.
const YEAR_9999: i64 = 253_402_207_200_000;

/// A moment, in milliseconds since 1970 began (UTC).
///
/// # Examples
///
/// ```
/// use freshet_protocol::time::Timestamp;
///
/// let visit = Timestamp::from_iso("2026-11-16T01:30:18.123Z").expect("it is a moment");
/// assert_eq!(visit.digits(), "20261116013018");
/// assert_eq!(visit.plus_millis(86_400_000).day(), "2026-11-17");
/// assert_eq!(Timestamp::from_iso(&visit.iso()), Some(visit));
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The moment `millis` milliseconds after 1970 began (UTC).
    #[inline]
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since 1970 began (UTC).
    #[inline]
    pub const fn millis(self) -> i64 {
        self.0
    }

    /// The moment `millis` later, limited to what fits an `i64`.
    #[inline]
    pub const fn plus_millis(self, millis: i64) -> Self {
        Self(self.0.saturating_add(millis))
    }

    /// Milliseconds from `earlier` to this moment; negative if it is not earlier.
    #[inline]
    pub const fn millis_since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }

    /// The moment as ISO 8601 text in milliseconds, such as `2026-11-16T01:30:18.123Z`. Moments outside of
    /// the years 1 to 9999 are shown as the nearest one inside.
    pub fn iso(self) -> String {
        let civil = self.civil();
        let mut text = day(civil, "-");
        push_time(&mut text, ["T", ":", ":", "."], civil);
        push_digits(&mut text, i64::from(civil.millisecond()), 3);
        text.push('Z');
        text
    }

    /// The moment as 14 digits, in seconds, such as `20261116013018`.
    pub fn digits(self) -> String {
        let civil = self.civil();
        let mut text = day(civil, "");
        push_time(&mut text, [""; 4], civil);
        text
    }

    /// The day in UTC, such as `2026-11-16`.
    pub fn day(self) -> String {
        day(self.civil(), "-")
    }

    /// Parses a moment in ISO 8601; `None` if the text is not one.
    pub fn from_iso(text: &str) -> Option<Self> {
        Some(Self(text.parse::<jiff::Timestamp>().ok()?.as_millisecond()))
    }

    fn civil(self) -> DateTime {
        let millis = self.0.clamp(YEAR_1, YEAR_9999);
        let moment = jiff::Timestamp::from_millisecond(millis).expect("it was brought into the range");
        Offset::UTC.to_datetime(moment)
    }

    /// Days from `earlier` to this moment, never negative.
    pub fn days_since(self, earlier: Self) -> Days {
        Days::new(self.millis_since(earlier).max(0) as f64 / DAY)
    }
}

/// The date, with `separator` between its parts. Formatted by hand because every stored page
/// writes several timestamps.
fn day(civil: DateTime, separator: &str) -> String {
    let mut text = String::with_capacity("2026-11-16T01:30:18.123Z".len());
    push_digits(&mut text, i64::from(civil.year()), 4);
    text.push_str(separator);
    push_digits(&mut text, i64::from(civil.month()), 2);
    text.push_str(separator);
    push_digits(&mut text, i64::from(civil.day()), 2);
    text
}

/// Appends hour, minute and second, each after its separator, and then the last separator.
fn push_time(text: &mut String, separators: [&str; 4], civil: DateTime) {
    let parts = [civil.hour(), civil.minute(), civil.second()];
    for (separator, part) in separators.iter().zip(parts) {
        text.push_str(separator);
        push_digits(text, i64::from(part), 2);
    }
    text.push_str(separators[3]);
}

fn push_digits(text: &mut String, number: i64, digits: u32) {
    for place in (0..digits).rev() {
        text.push(char::from(b'0' + (number / 10_i64.pow(place) % 10) as u8));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_counted_and_no_span_is_negative() {
        let noon = Timestamp::from_millis(1_700_000_000_000);
        assert_eq!(noon.plus_millis(86_400_000).days_since(noon).get(), 1.0);
        assert_eq!(noon.days_since(noon.plus_millis(1)).get(), 0.0);
        assert_eq!(Timestamp::from_millis(i64::MAX).plus_millis(1).millis(), i64::MAX);
    }

    #[track_caller]
    fn check(millis: i64, iso: &str, digits: &str) {
        let moment = Timestamp::from_millis(millis);
        assert_eq!((moment.iso().as_str(), moment.digits().as_str()), (iso, digits));
        assert_eq!(moment.day(), iso[..10]);
    }

    #[test]
    fn a_moment_is_written_in_utc_and_read_back() {
        check(0, "1970-01-01T00:00:00.000Z", "19700101000000");
        check(1_794_792_618_123, "2026-11-16T01:30:18.123Z", "20261116013018");
        check(i64::MIN, "0001-01-01T00:00:00.000Z", "00010101000000");
        check(i64::MAX, "9999-12-30T22:00:00.000Z", "99991230220000");
        let read = Timestamp::from_iso("2026-11-16T01:30:18.123Z");
        assert_eq!(read, Some(Timestamp::from_millis(1_794_792_618_123)));
        assert_eq!(Timestamp::from_iso("yesterday"), None);
    }
}
