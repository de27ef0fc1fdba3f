//! Rhythms: pages that change at a fixed hour, once a day or once a week, as people work and as programs are
//! scheduled.
//!
//! A visit shows that a page has changed; its Last-Modified shows when. Two consecutive dates that are whole
//! weeks or whole days apart suggest a rhythm. Then the page is expected to change at the same hour again,
//! and may be visited shortly after it. If it has changed by then, at its hour, the next change is expected
//! in the same way. If not, nothing more is expected until two dates suggest a rhythm again. So a false
//! rhythm costs one visit.
//!
//! Expected changes are not stored: after a restart the replayed visits lead to the same ones.
//!
//! # Promises
//! - A date is used only if it lies between the last visit and this one, and not so close to this one that it
//!   may be the time of the response.
//! - Expected changes lie in the future.

use std::collections::BTreeMap;

use freshet_fetch::web::dates::{YOUNG, last_modified, parse_date};
use freshet_protocol::ids::PageNumber;
use freshet_protocol::time::Timestamp;
use freshet_store::coll_urls::PageRecord;

use crate::archived::response;
use crate::event::Expected;
use crate::visit::{Finding, PageVisit};

/// Milliseconds of one minute.
const MINUTE: i64 = 60_000;
/// Milliseconds of one day.
const DAY: i64 = 24 * 60 * MINUTE;
/// Periods in milliseconds, and the maximum number of periods between two dates. Beyond that, chance is as
/// likely.
const RHYTHMS: [(i64, i64); 2] = [(7 * DAY, 4), (DAY, 6)];
/// Maximum deviation of two dates from a whole number of periods, in milliseconds.
const LATITUDE: i64 = 10 * MINUTE;

/// When a page that a visit found changed is expected to change next, as far as its dates tell. The record is
/// that of before the visit.
pub(super) fn expected(record: &PageRecord, visit: &PageVisit) -> Option<Expected> {
    let response = response(visit.fetch.as_ref()).filter(|_| matches!(visit.finding, Finding::Changed(_)))?;
    let before = parse_date(record.last_modified.as_deref()?)?;
    next_change(before, last_modified(&response.headers)?, record.last_visit?, visit.time)
}

/// The next change after one dated `date`, if the change before it was dated `before`, and the page was
/// visited at `visited` and `now`.
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

/// The changes to expect after the visits replayed so far.
#[derive(Debug, Default)]
pub struct Rhythms(BTreeMap<PageNumber, Dated>);

/// The last visit to a page that has stated dates.
#[derive(Debug)]
struct Dated {
    visited: Timestamp,
    date: Timestamp,
    expected: Option<Expected>,
}

impl Rhythms {
    /// Replays a visit to a page, in order of time: whether it found a change, and the date that the page
    /// stated.
    pub fn hear(&mut self, page: PageNumber, time: Timestamp, changed: bool, date: Option<Timestamp>) {
        let before = self.0.get(&page);
        let expected = match (before, date) {
            (Some(before), Some(date)) if changed => next_change(before.date, date, before.visited, time),
            // A visit before the expected hour finds nothing, and the change is still expected.
            (Some(before), _) if !changed => before.expected.filter(|expected| time < expected.at),
            _ => None,
        };
        match date.or(before.map(|before| before.date)) {
            Some(date) => self.0.insert(page, Dated { visited: time, date, expected }),
            None => None,
        };
    }

    /// The expected changes, by page.
    pub fn expected(self) -> impl Iterator<Item = (PageNumber, Expected)> {
        self.0.into_iter().filter_map(|(page, dated)| Some((page, dated.expected?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 60 * MINUTE;

    /// Checks the expected change on day 30 of a page last visited on day 25. Its dates are milliseconds
    /// after day 0.
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

    /// Checks the expected change after visits on these days, each with whether the page had changed and the
    /// day of its date.
    #[track_caller]
    fn check_past(visits: &[(i64, bool, i64)], expected: Option<i64>) {
        let (page, mut rhythms) = (PageNumber(3), Rhythms::default());
        let at = |day: i64| Timestamp::from_millis(day * DAY);
        for (day, changed, date) in visits {
            rhythms.hear(page, at(*day), *changed, Some(at(*date)));
        }
        let found: Vec<_> = rhythms.expected().collect();
        let expected = expected.map(|day| (page, Expected { at: at(day), period: 7 * DAY }));
        assert_eq!(found, Vec::from_iter(expected));
    }

    #[test]
    fn visits_of_the_past_lead_to_expect_what_they_did() {
        check_past(&[(2, false, 1), (10, true, 8)], Some(15));
        check_past(&[(2, false, 1), (10, true, 8), (12, false, 8)], Some(15));
        check_past(&[(2, false, 1), (10, true, 8), (16, true, 15)], Some(22));
        // Not at its hour any more: one change missing, or one at another time.
        check_past(&[(2, false, 1), (10, true, 8), (16, false, 8)], None);
        check_past(&[(2, false, 1), (10, true, 8), (20, true, 18)], None);
        check_past(&[(2, false, 1)], None);
    }

    #[test]
    fn other_dates_make_none() {
        // An hour off.
        check(22 * DAY, 29 * DAY + HOUR, None);
        // Too many periods.
        check(20 * DAY, 28 * DAY, None);
        check(-13 * DAY, 29 * DAY, None);
        // Before the last visit, or the time of the response, or after it.
        check(17 * DAY, 24 * DAY, None);
        check(23 * DAY, 30 * DAY - MINUTE, None);
        check(24 * DAY, 31 * DAY, None);
        check(28 * DAY, 28 * DAY, None);
        check(29 * DAY, 28 * DAY, None);
        check(i64::MIN / 4, 28 * DAY, None);
    }
}
