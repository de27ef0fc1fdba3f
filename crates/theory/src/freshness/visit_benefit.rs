//! Freshness gained by visits to pages that change exactly once in each of equal intervals.
//!
//! Implements the thesis, section 5.5.3, Table 5.4, a simple model in place of a Poisson process. A day of a
//! page is cut into as many equal intervals as the page has changes a day, with one change at an unknown time
//! in each. Of an interval with `m` evenly spaced visits, the share
//!
//! > m / (2(m + 1))
//!
//! is gained: the copy is fresh from the first visit after the change on.
//!
//! # Promises
//! - The visits of a page are spread over its intervals as evenly as possible: their
//!   counts differ by at most one.
//! - Another visit never loses, and a page gains less than half a day.
//! - A page without changes gains nothing.
//!
//! # Departures
//! In the table no page with several intervals has more visits than intervals. The even spread of more visits
//! is our reading of the text's evenly spaced visits.

/// A page of the simple model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EvenlyChangingPage {
    /// Number of equal intervals in a day, each with one change.
    pub changes_per_day: u64,
    /// Number of visits in a day.
    pub visits_per_day: u64,
}

/// Expected days of freshness that the visits of one day gain, summed over the pages.
pub fn visit_benefit(pages: impl IntoIterator<Item = EvenlyChangingPage>) -> f64 {
    // Adding 0.0 turns the −0.0 of an empty sum into 0.0.
    0.0 + pages.into_iter().map(page_benefit).sum::<f64>()
}

fn page_benefit(page: EvenlyChangingPage) -> f64 {
    let (intervals, visits) = (page.changes_per_day, page.visits_per_day);
    if intervals == 0 {
        return 0.0;
    }
    let (visits_each, intervals_with_one_more) = ((visits / intervals) as f64, visits % intervals);
    let share_with_one_more = intervals_with_one_more as f64 / intervals as f64;
    let share_without = (intervals - intervals_with_one_more) as f64 / intervals as f64;
    share_with_one_more * interval_gain(visits_each + 1.0) + share_without * interval_gain(visits_each)
}

/// Fraction of an interval gained by evenly spaced visits.
fn interval_gain(visits: f64) -> f64 {
    visits / (2.0 * (visits + 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn benefit(changes_per_day: &[u64], visits_per_day: &[u64]) -> f64 {
        let pages = changes_per_day.iter().zip(visits_per_day);
        visit_benefit(pages.map(|(changes, visits)| EvenlyChangingPage {
            changes_per_day: *changes,
            visits_per_day: *visits,
        }))
    }

    #[track_caller]
    fn check(visits_per_day: [u64; 2], expected: f64) {
        let got = benefit(&[9, 1], &visits_per_day);
        assert!((got - expected).abs() < 1e-15, "{got}");
    }

    #[test]
    fn the_table_comes_out() {
        check([1, 0], 1.0 / 36.0);
        check([0, 1], 9.0 / 36.0);
        check([2, 0], 2.0 / 36.0);
        check([1, 1], 10.0 / 36.0);
        check([0, 2], 12.0 / 36.0);
        check([3, 2], 30.0 / 72.0);
        check([2, 3], 31.0 / 72.0);
        check([9, 1], 36.0 / 72.0);
        check([7, 3], 41.0 / 72.0);
        check([5, 5], 40.0 / 72.0);
    }

    #[test]
    fn more_visits_than_intervals_are_spread_evenly() {
        // Four of the nine intervals get two visits, five get one.
        check([13, 0], (4.0 / 3.0 + 5.0 / 4.0) / 9.0);
    }

    #[test]
    fn a_page_without_changes_gains_nothing() {
        assert_eq!(benefit(&[0], &[7]), 0.0);
        assert_eq!(benefit(&[], &[]).to_bits(), 0);
    }

    #[test]
    fn the_largest_counts_are_values() {
        assert!((benefit(&[u64::MAX, 1], &[u64::MAX, u64::MAX]) - 0.75).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn another_visit_never_loses(changes in 1..1000u64, visits in 0..5000u64) {
            let (fewer, more) = (benefit(&[changes], &[visits]), benefit(&[changes], &[visits + 1]));
            prop_assert!(fewer < more);
            prop_assert!(more < 0.5);
        }
    }
}
