//! Hours of the day in which a site may be visited (**thesis** 5.3: visits only at night), in UTC.
//!
//! Written as `22:00-06:00`, several separated by commas: `22:00-06:00, 12:00-13:00`. The end is exclusive. A
//! span may pass midnight.

use std::str::FromStr;

use freshet_protocol::time::Timestamp;

/// Milliseconds of one minute.
const MINUTE: i64 = 60_000;
/// Minutes of one day.
const DAY: i64 = 24 * 60;

/// Hours of the day.
///
/// # Examples
///
/// ```
/// use freshet_crawl::hours::Hours;
/// use freshet_protocol::time::Timestamp;
///
/// let nights: Hours = "22:00-06:00".parse()?;
/// let noon = Timestamp::from_iso("2026-11-16T12:00:00Z").expect("a moment");
/// assert_eq!(nights.open_from(noon).iso(), "2026-11-16T22:00:00.000Z");
/// # Ok::<(), freshet_crawl::hours::BadHours>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Hours {
    /// First minute of the day and length in minutes, of each span.
    spans: Vec<(i64, i64)>,
}

/// The error for a text that is not a list of hours.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("`{0}` are no hours: write for example 22:00-06:00, in UTC")]
pub struct BadHours(String);

impl Hours {
    /// The next moment within the hours; `now` if it is within them.
    pub fn open_from(&self, now: Timestamp) -> Timestamp {
        let wait = self.spans.iter().map(|(start, length)| {
            let into = (now.millis() - start * MINUTE).rem_euclid(DAY * MINUTE);
            if into < length * MINUTE { 0 } else { DAY * MINUTE - into }
        });
        now.plus_millis(wait.min().unwrap_or(0))
    }
}

impl FromStr for Hours {
    type Err = BadHours;

    fn from_str(text: &str) -> Result<Self, BadHours> {
        let span = |part: &str| {
            let (start, end) = part.split_once('-')?;
            let (start, end) = (minute_of(start.trim())?, minute_of(end.trim())?);
            let length = (end - start).rem_euclid(DAY);
            Some((start % DAY, if length == 0 { DAY } else { length }))
        };
        let spans: Option<Vec<(i64, i64)>> = text.split(',').map(span).collect();
        spans.map(|spans| Self { spans }).ok_or_else(|| BadHours(text.to_owned()))
    }
}

/// Parses `hh:mm` as the minute of the day. 24:00 is its end.
fn minute_of(text: &str) -> Option<i64> {
    let (hours, minutes) = text.split_once(':')?;
    let (hours, minutes): (u8, u8) = (hours.parse().ok()?, minutes.parse().ok()?);
    let minute = 60 * i64::from(hours) + i64::from(minutes);
    ((0..60).contains(&minutes) && (0..=DAY).contains(&minute)).then_some(minute)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(hours: &str, minute: i64, opens: i64) {
        let hours: Hours = hours.parse().unwrap();
        let at = |minute: i64| Timestamp::from_millis((500 * DAY + minute) * MINUTE);
        assert_eq!(hours.open_from(at(minute)), at(opens));
    }

    #[test]
    fn a_site_opens_when_its_hours_begin() {
        check("22:00-06:00", 23 * 60, 23 * 60);
        check("22:00-06:00", 5 * 60, 5 * 60);
        check("22:00-06:00", 6 * 60, 22 * 60);
        check("22:00-06:00, 12:00-13:00", 7 * 60, 12 * 60);
        check("09:30-10:00", 10 * 60, 33 * 60 + 30);
        check("00:00-24:00", 77, 77);
    }

    #[test]
    fn what_are_no_hours_is_said() {
        let huge = "9223372036854775807:00-6:00";
        for text in ["", "22-06", "25:00-26:00", "1:70-2:00", "22:00", "a:b-c:d", "-1:00-2:00", huge] {
            assert!(text.parse::<Hours>().unwrap_err().to_string().contains("22:00-06:00"), "{text}");
        }
    }
}
