//! Naive estimator: changes found divided by the time observed.
//!
//! Thesis, section 6.4.1 (**estimate**, section 4.1):
//!
//! > λ̂ = X / (n I)
//!
//! where `X` of `n` visits, one every interval I, found a change. It misses all but one of the changes
//! between two visits. So it cannot exceed one change per visit, and more visits do not make it right;
//! [`super::improved`] corrects this.
//!
//! # Promises
//! - At most one change per visit; no rate before the first visit.

use super::even::EvenVisits;
use super::rate::RateEstimate;
use crate::units::Days;

/// The rate of a page visited once every `visit_interval`; `None` before the first visit.
pub fn naive(history: &EvenVisits, visit_interval: Days) -> Option<RateEstimate> {
    if history.visits() == 0 {
        return None;
    }
    let changes_per_visit = history.changes_found() as f64 / history.visits() as f64;
    Some(RateEstimate::from_changes_per_visit(changes_per_visit, visit_interval))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(visits: u64, changes_found: u64, interval: f64, expected: Option<f64>) {
        let rate = naive(&EvenVisits::new(visits, changes_found), Days::new(interval));
        assert_eq!(rate.map(RateEstimate::get), expected);
    }

    #[test]
    fn six_changes_in_ten_days_are_six_tenths_a_day() {
        check(10, 6, 1.0, Some(0.6)); // thesis, Example 6.1
    }

    #[test]
    fn the_rate_stays_below_one_change_per_visit() {
        check(7, 7, 2.0, Some(0.5));
        check(7, 0, 2.0, Some(0.0));
        check(0, 0, 2.0, None);
    }
}
