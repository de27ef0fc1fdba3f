//! Rate of change of a page that reports when it last changed (Last-Modified).
//!
//! Thesis, section 6.5 (**estimate**, section 5): the algorithm of Figure 6.11 keeps the number N of
//! visits, the number X that found a change, and a time T. A visit adds to T the time since the last change
//! if that was after the visit before, and the whole interval if not. The rate is X/T, and with the
//! correction of Figure 6.14
//!
//! > X'/T with X' = (X − 1) − X / (N ln(1 − X/N)), X' = 0 for X = 0 and N − 1 for X = N
//!
//! Each visit looks back until it reaches a change or the visit before. So the likelihood of a rate is
//! λ^X e^(−λT), that of X events in the time T, and the confidence interval is the one of
//! [`super::complete`] for these.
//!
//! # Promises
//! - One visit costs three additions. Merging two histories gives the same result as one history of both.
//! - A change dated at or before the visit before is not counted: the comparison is strict.
//! - Where T is zero the rate is infinite if changes were counted, else zero. No visits give no rate.
//!
//! # Departures
//! The thesis has no interval. The time T is random, so ours is exact only in the limit of many visits (its
//! test shows the coverage). **estimate**, section 5.1, prints the time since the change with the wrong sign.

use super::complete::poisson_interval;
use super::rate::{Confidence, RateEstimate, RateInterval};
use crate::units::Days;

/// Summary of visits to a page that reports its last change, as in Figure 6.11.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DatedVisits {
    visits: u64,
    changes_found: u64,
    looked_back: Days,
}

impl DatedVisits {
    /// No visit yet.
    pub const NONE: Self = Self { visits: 0, changes_found: 0, looked_back: Days::ZERO };

    /// Panics if more changes were found than visits made.
    pub fn new(visits: u64, changes_found: u64, looked_back: Days) -> Self {
        assert!(changes_found <= visits);
        Self { visits, changes_found, looked_back }
    }

    /// Adds one visit, `interval` after the one before, to a page that last changed `since_change` ago.
    #[inline]
    pub fn observe(&mut self, since_change: Days, interval: Days) {
        let (since_change, interval) = (since_change.get(), interval.get());
        self.visits += 1;
        self.changes_found += u64::from(since_change < interval);
        self.looked_back = Days::new(self.looked_back.get() + since_change.min(interval));
    }

    /// Adds the visits of another history.
    pub fn merge(&mut self, other: &Self) {
        self.visits += other.visits;
        self.changes_found += other.changes_found;
        self.looked_back = Days::new(self.looked_back.get() + other.looked_back.get());
    }

    /// Number of visits: the N of the figures.
    pub fn visits(&self) -> u64 {
        self.visits
    }

    /// Number of visits that found a change: the X of the figures.
    pub fn changes_found(&self) -> u64 {
        self.changes_found
    }

    /// Sum of the times from each visit back to a change or to the visit before: the T of the figures.
    pub fn looked_back(&self) -> Days {
        self.looked_back
    }

    /// X/T of Figure 6.11; `None` before the first visit.
    pub fn plain_rate(&self) -> Option<RateEstimate> {
        self.rate_of(self.changes_found as f64)
    }

    /// X'/T of Figure 6.14, nearly without bias; `None` before the first visit.
    pub fn rate(&self) -> Option<RateEstimate> {
        (self.visits > 0)
            .then(|| corrected_changes(self.visits, self.changes_found))
            .and_then(|x| self.rate_of(x))
    }

    /// The confidence interval of the rate, computed as that of X events in the time T.
    pub fn interval(&self, confidence: Confidence) -> RateInterval {
        poisson_interval(self.changes_found, self.looked_back, confidence)
    }

    fn rate_of(&self, changes: f64) -> Option<RateEstimate> {
        (self.visits > 0).then(|| RateEstimate::from_changes_per_visit(changes, self.looked_back))
    }
}

/// X' = (X − 1) − X/(N ln(1 − X/N)): the number of changes found, corrected for bias (Figure 6.14).
///
/// Panics if there are no visits, or more changes than visits.
pub fn corrected_changes(visits: u64, changes_found: u64) -> f64 {
    assert!(0 < visits);
    assert!(changes_found <= visits);
    let (n, x) = (visits as f64, changes_found as f64);
    if changes_found == 0 {
        return 0.0;
    }
    // For X = N the logarithm is minus infinity, and X' is the limit N − 1.
    (x - 1.0) - x / (n * (-x / n).ln_1p())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::ChangesPerDay;
    use proptest::prelude::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    fn observe(visits: &[(f64, f64)]) -> DatedVisits {
        let mut state = DatedVisits::NONE;
        visits.iter().for_each(|(since, interval)| state.observe(Days::new(*since), Days::new(*interval)));
        state
    }

    #[track_caller]
    fn check(visits: &[(f64, f64)], plain: f64, corrected: f64) {
        let state = observe(visits);
        let agrees = |rate: Option<RateEstimate>, expected: f64| {
            rate.is_some_and(|rate| {
                rate.get() == expected || (rate.get() - expected).abs() < 1e-12 * expected
            })
        };
        assert!(agrees(state.plain_rate(), plain), "{:?}", state.plain_rate());
        assert!(agrees(state.rate(), corrected), "{:?}", state.rate());
    }

    #[test]
    fn five_visits_with_two_changes() {
        let visits = [(9.0, 5.0), (2.0, 5.0), (7.0, 5.0), (12.0, 5.0), (1.0, 5.0)];
        check(&visits, 2.0 / 18.0, 0.09905811531047151);
    }

    #[test]
    fn none_changed_all_changed_and_nothing_seen() {
        check(&[(40.0, 4.0); 3], 0.0, 0.0);
        check(&[(1.0, 4.0); 3], 1.0, 2.0 / 3.0);
        assert_eq!(DatedVisits::NONE.rate(), None);
        assert_eq!(DatedVisits::NONE.plain_rate(), None);
        assert_eq!(DatedVisits::NONE.interval(Confidence::new(0.9)), RateInterval::ANY);
    }

    #[test]
    fn a_change_at_the_visit_before_is_none() {
        check(&[(4.0, 4.0), (1.0, 4.0)], 0.2, 0.5 / 2f64.ln() / 5.0);
    }

    #[test]
    fn without_time_the_rate_is_infinite_or_zero() {
        check(&[(0.0, 4.0); 2], f64::INFINITY, f64::INFINITY);
        check(&[(0.0, 4.0)], f64::INFINITY, 0.0);
    }

    #[test]
    fn the_correction_has_the_limits_of_the_theorem() {
        assert_eq!(corrected_changes(9, 9), 8.0);
        assert!((corrected_changes(4, 1) - 1.0 / (4.0 * (4.0f64 / 3.0).ln())).abs() < 1e-15);
        assert!((corrected_changes(1 << 50, 1) - 1.0).abs() < 1e-14);
    }

    #[test]
    fn the_interval_covers_the_rate() {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        for rate in [0.1, 1.0, 5.0] {
            let covered = (0..4000).filter(|_| {
                let mut state = DatedVisits::NONE;
                for _ in 0..20 {
                    let since = -(1.0 - random.random::<f64>()).ln() / rate;
                    state.observe(Days::new(since), Days::new(1.0));
                }
                state.interval(Confidence::new(0.9)).contains(ChangesPerDay::new(rate))
            });
            let covered = covered.count() as f64 / 4000.0;
            assert!(covered > 0.89, "{rate}: {covered}");
        }
    }

    proptest! {
        #[test]
        fn merging_is_the_same_as_going_on(
            visits in prop::collection::vec((0u32..100, 1u32..100), 0..40),
            cut in 0usize..40,
        ) {
            // Sums of whole days have no rounding error.
            let visits: Vec<_> = visits.iter().map(|(a, b)| (f64::from(*a), f64::from(*b))).collect();
            let cut = cut.min(visits.len());
            let mut merged = observe(&visits[..cut]);
            merged.merge(&observe(&visits[cut..]));
            prop_assert_eq!(merged, observe(&visits));
            prop_assert_eq!(
                merged,
                DatedVisits::new(merged.visits(), merged.changes_found(), merged.looked_back())
            );
        }
    }
}
