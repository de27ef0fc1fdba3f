//! Pages that change at their hour: once a day or once a week, as people work and as programs are set to.
//!
//! A visit tells that a page has changed; its Last-Modified tells when. Two dates in a row that lie whole weeks or whole days apart suggest a rhythm: then the
//! page is expected to change at the same hour again, and may be visited shortly after it. If it has changed by then, at its hour, the next change is
//! expected in the same way; if not, nothing more is expected of it until two dates suggest a rhythm again. So a rhythm that was none costs one visit.
//!
//! # Promises
//! - A date is believed only if it lies between the last visit and this one, and not so close to this one that it may be the time of the answer.
//! - What is expected lies in the future.

use freshet_store::coll_urls::PageRecord;
use freshet_store::time::Timestamp;

use crate::archived::response;
use crate::visit::{Finding, PageVisit};
use crate::web::dates::{YOUNG, last_modified, parse_date};

/// Milliseconds of one minute.
const MINUTE: i64 = 60_000;
/// Milliseconds of one day.
const DAY: i64 = 24 * 60 * MINUTE;
/// Periods in milliseconds, and how many of them may lie between two dates: beyond that chance is as likely.
const RHYTHMS: [(i64, i64); 2] = [(7 * DAY, 4), (DAY, 6)];
/// Milliseconds by which two dates may miss a whole number of periods.
const LATITUDE: i64 = 10 * MINUTE;

/// A change that is expected.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Expected {
    /// When.
    pub at: Timestamp,
    /// Milliseconds from it to the change after it.
    pub period: i64,
}

/// When a page that a visit found changed is expected to change next, as far as its dates tell. The record is that of before the visit.
pub(super) fn expected(record: &PageRecord, visit: &PageVisit) -> Option<Expected> {
    let response = response(visit.fetch.as_ref()).filter(|_| matches!(visit.finding, Finding::Changed(_)))?;
    let before = parse_date(record.last_modified.as_deref()?)?;
    next_change(before, last_modified(&response.headers)?, record.last_visit?, visit.time)
}

/// The change after one dated `date`, when the change before it was dated `before` and the page was visited at `visited` and now.
fn next_change(before: Timestamp, date: Timestamp, visited: Timestamp, now: Timestamp) -> Option<Expected> {
    let is_believed = before <= visited && visited <= date && YOUNG <= now.millis_since(date);
    let gap = date.millis_since(before);
    let is_rhythm = |(period, most): &(i64, i64)| {
        let periods = (gap + period / 2) / period;
        (1..=*most).contains(&periods) && (gap - periods * period).abs() <= LATITUDE
    };
    let (period, _) = RHYTHMS.into_iter().find(is_rhythm).filter(|_| is_believed)?;
    let passed = now.millis_since(date) / period;
    Some(Expected { at: date.plus_millis((passed + 1) * period), period })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 60 * MINUTE;

    /// What is expected on day 30 of a page visited on day 25 before, whose dates lie so many milliseconds after day 0.
    #[track_caller]
    fn check(before: i64, date: i64, expected: Option<(i64, i64)>) {
        let at = Timestamp::from_millis;
        let found = next_change(at(before), at(date), at(25 * DAY), at(30 * DAY));
        assert_eq!(found.map(|found| (found.at.millis(), found.period)), expected);
    }

    #[test]
    fn dates_that_lie_whole_periods_apart_make_a_rhythm() {
        check(22 * DAY, 29 * DAY, Some((36 * DAY, 7 * DAY)));
        check(15 * DAY + HOUR, 29 * DAY + HOUR + 5 * MINUTE, Some((36 * DAY + HOUR + 5 * MINUTE, 7 * DAY)));
        check(25 * DAY, 28 * DAY, Some((31 * DAY, DAY)));
        check(25 * DAY, 27 * DAY, Some((31 * DAY, DAY)));
    }

    #[test]
    fn other_dates_make_none() {
        // By an hour.
        check(22 * DAY, 29 * DAY + HOUR, None);
        // Too many periods.
        check(20 * DAY, 28 * DAY, None);
        check(-13 * DAY, 29 * DAY, None);
        // Before the last visit, or the time of the answer, or beyond it.
        check(17 * DAY, 24 * DAY, None);
        check(23 * DAY, 30 * DAY - MINUTE, None);
        check(24 * DAY, 31 * DAY, None);
        check(28 * DAY, 28 * DAY, None);
        check(29 * DAY, 28 * DAY, None);
        check(i64::MIN / 4, 28 * DAY, None);
    }
}
