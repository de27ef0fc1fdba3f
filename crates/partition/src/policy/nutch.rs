//! The adaptive schedule of Apache Nutch.
//!
//! `AdaptiveFetchSchedule` with the settings of `nutch-default.xml`: the interval of a page begins at 30
//! days, is multiplied by 0.8 when a visit finds a change and by 1.4 when it does not, and stays between 60
//! seconds and 365 days.
//!
//! Nutch can also follow the time of the last change (`sync_delta`, on in its settings): when nothing has
//! changed for longer than the interval, the interval becomes that time, and the next visit comes earlier by
//! 0.3 of it. Here this is optional.
//!
//! # Promises
//! - The interval stays within its limits.
//!
//! # Departures
//! Nutch retries pages that are gone; here they are dropped, as by every policy.

use super::intervals::{IntervalRule, NextVisit, ScheduledVisit};
use freshet_theory::units::MINUTES_PER_DAY;

/// Interval of a page that was never visited, in days.
const FIRST_INTERVAL: f64 = 30.0;
/// Factor of the interval after a change.
const DECREASE: f64 = 0.8;
/// Factor of the interval when nothing has changed.
const INCREASE: f64 = 1.4;
/// Shortest interval: 60 seconds, in days.
const INTERVAL_MIN: f64 = 1.0 / MINUTES_PER_DAY;
/// Longest interval, in days.
const INTERVAL_MAX: f64 = 365.0;
/// Part of the time since the last change by which the next visit comes earlier.
const SYNCHRONISATION: f64 = 0.3;

/// The rule of Nutch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nutch {
    /// Whether it follows the time of the last change.
    pub(super) is_synchronised: bool,
}

impl IntervalRule for Nutch {
    fn first_interval(&self) -> f64 {
        FIRST_INTERVAL
    }

    fn after_visit(&self, visit: &ScheduledVisit) -> NextVisit {
        let interval = visit.interval * if visit.changed { DECREASE } else { INCREASE };
        let unchanged = if visit.changed || !self.is_synchronised {
            0.0
        } else {
            (visit.time - visit.last_change).max(0.0)
        };
        let interval = interval.max(unchanged).clamp(INTERVAL_MIN, INTERVAL_MAX);
        NextVisit { interval, due: visit.time - SYNCHRONISATION * unchanged + interval }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(is_synchronised: bool, visit: (f64, f64, f64, bool), expected: (f64, f64)) {
        let (time, interval, last_change, changed) = visit;
        let next =
            Nutch { is_synchronised }.after_visit(&ScheduledVisit { time, interval, last_change, changed });
        assert!((next.interval - expected.0).abs() < 1e-12, "{next:?}");
        assert!((next.due - expected.1).abs() < 1e-12, "{next:?}");
    }

    #[test]
    fn the_interval_shrinks_by_a_fifth_and_grows_by_two_fifths() {
        check(false, (100.0, 30.0, 0.0, true), (24.0, 124.0));
        check(false, (100.0, 30.0, 0.0, false), (42.0, 142.0));
    }

    #[test]
    fn the_interval_stays_within_a_minute_and_a_year() {
        check(false, (1.0, 1e-4, 0.0, true), (60.0 / 86_400.0, 1.0 + 60.0 / 86_400.0));
        check(false, (400.0, 300.0, 0.0, false), (365.0, 765.0));
    }

    #[test]
    fn when_synchronised_a_long_silence_becomes_the_interval() {
        check(true, (100.0, 30.0, 0.0, true), (24.0, 124.0));
        check(true, (100.0, 30.0, 0.0, false), (100.0, 170.0));
        check(true, (100.0, 30.0, 90.0, false), (42.0, 139.0));
        check(true, (2000.0, 30.0, 0.0, false), (365.0, 1765.0));
    }
}
