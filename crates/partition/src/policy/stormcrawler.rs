//! The adaptive schedule of Apache StormCrawler.
//!
//! `AdaptiveScheduler` with its own settings: the interval of a page begins at one day, moves half way to one
//! hour when a visit finds a change, and is multiplied by 1.5 when it does not, up to 14 days. It is counted
//! in whole minutes.
//!
//! # Promises
//! - The interval stays within its limits.
//!
//! # Departures
//! StormCrawler retries pages that are gone; here they are dropped, as by every policy.

use super::intervals::{IntervalRule, NextVisit, ScheduledVisit};

/// Minutes of a day.
const DAY: f64 = 1_440.0;
/// Interval of a page that was never visited, in minutes.
const FIRST_INTERVAL: f64 = 1_440.0;
/// Shortest interval, in minutes.
const INTERVAL_MIN: f64 = 60.0;
/// Longest interval, in minutes.
const INTERVAL_MAX: f64 = 14.0 * DAY;
/// Part of the way to the shortest interval that the interval moves after a change.
const DECREASE: f64 = 0.5;
/// Factor of the interval when nothing has changed.
const INCREASE: f64 = 1.5;

/// The rule of StormCrawler.
#[derive(Clone, Copy, Debug)]
pub(super) struct StormCrawler;

impl IntervalRule for StormCrawler {
    fn first_interval(&self) -> f64 {
        FIRST_INTERVAL / DAY
    }

    fn after_visit(&self, visit: &ScheduledVisit) -> NextVisit {
        // Days computed from whole minutes become whole minutes again.
        let minutes = (visit.interval * DAY).round();
        let minutes = if visit.changed {
            (1.0 - DECREASE) * minutes + DECREASE * INTERVAL_MIN
        } else {
            (minutes * INCREASE).min(INTERVAL_MAX)
        };
        let interval = minutes.floor() / DAY;
        NextVisit { interval, due: visit.time + interval }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(minutes: f64, changed: bool, expected: f64) {
        let visit = ScheduledVisit { time: 10.0, interval: minutes / DAY, last_change: 0.0, changed };
        let next = StormCrawler.after_visit(&visit);
        assert!((next.interval * DAY - expected).abs() < 1e-9, "{next:?}");
        assert!((next.due - 10.0 - next.interval).abs() < 1e-12, "{next:?}");
    }

    #[test]
    fn a_change_takes_the_interval_half_way_to_an_hour() {
        check(1_440.0, true, 750.0);
        check(61.0, true, 60.0);
        check(60.0, true, 60.0);
    }

    #[test]
    fn no_change_makes_the_interval_half_as_long_again_up_to_two_weeks() {
        check(1_440.0, false, 2_160.0);
        check(75.0, false, 112.0);
        check(20_000.0, false, 20_160.0);
    }
}
