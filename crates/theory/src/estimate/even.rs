//! Visits at even intervals, kept as two running counts.
//!
//! Thesis, section 6.4.1: of `n` visits, one every interval I, `X` found a change. With a Poisson process
//! each visit finds one with probability p = 1 − e^(−λI), so X is binomial and the two counts hold all the
//! information. The confidence interval of the rate is the exact binomial one of p (Clopper and Pearson
//! 1934), converted by λ = −ln(1 − p)/I.
//!
//! # Promises
//! - One visit costs two additions. Merging two histories gives the same result as one history of all visits.
//! - The interval contains the true rate with at least the stated confidence, whatever the rate.
//! - No visit: any rate. No change found: the interval starts at zero. A change at every
//!   visit: it has no upper end.
//!
//! # Departures
//! The thesis uses the interval of two standard deviations of a normal distribution. The
//! exact one needs no large `n`.

use super::quantile::{changes_per_visit_at_least, changes_per_visit_at_most};
use super::rate::{Confidence, RateEstimate, RateInterval};
use crate::units::Days;

/// Visits made to a page at even intervals, and how many of them found a change.
///
/// # Examples
///
/// ```
/// use freshet_theory::estimate::even::EvenVisits;
/// use freshet_theory::estimate::rate::Confidence;
/// use freshet_theory::units::{ChangesPerDay, Days};
///
/// let mut history = EvenVisits::default();
/// for changed in [false, true, false, false, true, false, false] {
///     history.observe(changed);
/// }
/// assert_eq!((history.visits(), history.changes_found()), (7, 2));
///
/// // The rate that the page may have with 95% confidence, if it was visited once a day.
/// let interval = history.interval(Days::new(1.0), Confidence::new(0.95));
/// assert!(interval.contains(ChangesPerDay::new(0.3)));
/// assert!(!interval.contains(ChangesPerDay::new(5.0)));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EvenVisits {
    visits: u64,
    changes_found: u64,
}

impl EvenVisits {
    /// No visit yet.
    pub const NONE: Self = Self { visits: 0, changes_found: 0 };

    /// Panics if more changes were found than visits made.
    pub fn new(visits: u64, changes_found: u64) -> Self {
        assert!(changes_found <= visits);
        Self { visits, changes_found }
    }

    /// Adds one visit.
    #[inline]
    pub fn observe(&mut self, changed: bool) {
        self.visits += 1;
        self.changes_found += u64::from(changed);
    }

    /// Adds the visits of another history at the same interval.
    pub fn merge(&mut self, other: &Self) {
        self.visits += other.visits;
        self.changes_found += other.changes_found;
    }

    /// Number of visits: the n of the thesis.
    pub fn visits(&self) -> u64 {
        self.visits
    }

    /// Number of visits that found a change: the X of the thesis.
    pub fn changes_found(&self) -> u64 {
        self.changes_found
    }

    /// The exact confidence interval of the rate of a page visited once every `visit_interval`.
    pub fn interval(&self, visit_interval: Days, confidence: Confidence) -> RateInterval {
        if self.visits == 0 {
            return RateInterval::ANY;
        }
        let tail = confidence.tail();
        let low = changes_per_visit_at_least(self.visits, self.changes_found, tail);
        let high = changes_per_visit_at_most(self.visits, self.changes_found, tail);
        RateInterval::new(
            RateEstimate::from_changes_per_visit(low, visit_interval),
            RateEstimate::from_changes_per_visit(high, visit_interval),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::binomial::ChangeCount;
    use crate::units::ChangesPerDay;
    use proptest::prelude::*;

    #[track_caller]
    fn check(visits: u64, changes_found: u64, low: f64, high: f64) {
        let interval = EvenVisits::new(visits, changes_found).interval(Days::new(2.0), Confidence::new(0.95));
        assert!((interval.low().get() - low).abs() <= 1e-10 * low, "{interval:?}");
        assert!(
            interval.high().get() == high || (interval.high().get() - high).abs() <= 1e-10 * high,
            "{interval:?}"
        );
    }

    #[test]
    fn three_of_ten_have_the_interval_of_clopper_and_pearson() {
        check(10, 3, 0.0690709222232607 / 2.0, 1.05685493990085 / 2.0);
    }

    #[test]
    fn nothing_none_and_all_leave_the_ends_open_that_they_must() {
        check(0, 0, 0.0, f64::INFINITY);
        check(10, 0, 0.0, 0.368887945411394 / 2.0);
        check(10, 10, 1.17604281066035 / 2.0, f64::INFINITY);
    }

    #[test]
    fn more_changes_than_visits_are_refused() {
        assert!(std::panic::catch_unwind(|| EvenVisits::new(1, 2)).is_err());
    }

    #[test]
    fn the_interval_covers_whatever_the_rate() {
        for changes_per_visit in [0.01, 0.1, 0.5, 1.0, 2.0, 4.0] {
            let rate = ChangesPerDay::new(changes_per_visit);
            let count = ChangeCount::new(12, changes_per_visit);
            let covered: f64 = (0..=12)
                .filter(|k| {
                    EvenVisits::new(12, *k).interval(Days::new(1.0), Confidence::new(0.9)).contains(rate)
                })
                .map(|k| count.log_probability(k).exp())
                .sum();
            assert!(covered >= 0.9, "{changes_per_visit}: {covered}");
        }
    }

    proptest! {
        #[test]
        fn merging_is_the_same_as_going_on(
            first in prop::collection::vec(any::<bool>(), 0..40),
            second in prop::collection::vec(any::<bool>(), 0..40),
        ) {
            let observe = |mut history: EvenVisits, visits: &[bool]| {
                visits.iter().for_each(|changed| history.observe(*changed));
                history
            };
            let mut merged = observe(EvenVisits::NONE, &first);
            merged.merge(&observe(EvenVisits::NONE, &second));
            prop_assert_eq!(merged, observe(observe(EvenVisits::NONE, &first), &second));
            prop_assert_eq!(merged, EvenVisits::new(merged.visits(), merged.changes_found()));
        }
    }
}
