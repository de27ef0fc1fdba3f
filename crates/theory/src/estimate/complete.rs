//! Rate of change when every change is known.
//!
//! Thesis, section 6.2, "complete history of changes": X changes in the time T have the rate
//!
//! > λ̂ = X / T
//!
//! X is Poisson with mean λT. So the exact interval (Garwood 1936) ends at the gamma quantiles of shape
//! X and X + 1, divided by T.
//!
//! # Promises
//! - Time without a change counts as much as time with one. Merging two histories gives the same
//!   result as one history of both.
//! - No observed time: no rate, and the interval contains every rate. No change: zero, with an upper end. The
//!   interval contains the true rate with at least the stated confidence.

use super::quantile::{gamma_high, gamma_low};
use super::rate::{Confidence, RateEstimate, RateInterval};
use crate::units::Days;

/// How long a page was observed, and how often it changed in that time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CompleteHistory {
    changes: u64,
    watched: Days,
}

impl CompleteHistory {
    /// Not observed yet.
    pub const NONE: Self = Self { changes: 0, watched: Days::ZERO };

    /// Panics if the observed time is infinite.
    pub fn new(changes: u64, watched: Days) -> Self {
        assert!(watched.get().is_finite());
        Self { changes, watched }
    }

    /// Adds a span of time and the changes in it.
    #[inline]
    pub fn observe(&mut self, changes: u64, watched: Days) {
        self.changes += changes;
        self.watched = Days::new(self.watched.get() + watched.get());
    }

    /// Adds the history of another time.
    pub fn merge(&mut self, other: &Self) {
        self.observe(other.changes, other.watched);
    }

    /// The number of changes so far.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// The total observed time.
    pub fn watched(&self) -> Days {
        self.watched
    }

    /// Changes divided by time; `None` before any time has passed.
    pub fn rate(&self) -> Option<RateEstimate> {
        (self.watched > Days::ZERO).then(|| RateEstimate::new(self.changes as f64 / self.watched.get()))
    }

    /// The exact confidence interval of the rate.
    pub fn interval(&self, confidence: Confidence) -> RateInterval {
        poisson_interval(self.changes, self.watched, confidence)
    }
}

/// The exact confidence interval of the rate of a Poisson process that had `changes`
/// events in the time `exposure`.
pub(super) fn poisson_interval(changes: u64, exposure: Days, confidence: Confidence) -> RateInterval {
    let (x, t, tail) = (changes as f64, exposure.get(), confidence.tail());
    let low = if changes == 0 { 0.0 } else { gamma_low(x, tail) / t };
    RateInterval::new(RateEstimate::new(low), RateEstimate::new(gamma_high(x + 1.0, tail) / t))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::ChangesPerDay;
    use proptest::prelude::*;

    #[track_caller]
    fn check(changes: u64, watched: f64, rate: Option<f64>, low: f64, high: f64) {
        let history = CompleteHistory::new(changes, Days::new(watched));
        let interval = history.interval(Confidence::new(0.95));
        assert_eq!(history.rate().map(RateEstimate::get), rate);
        assert!((interval.low().get() - low).abs() <= 1e-10 * low, "{interval:?}");
        assert!(
            interval.high().get() == high || (interval.high().get() / high - 1.0).abs() < 1e-10,
            "{interval:?}"
        );
    }

    #[test]
    fn the_rate_is_changes_over_time() {
        check(3, 10.0, Some(0.3), 0.06186721228956014, 0.8767273069742325);
    }

    #[test]
    fn no_change_and_no_time_are_ordinary() {
        check(0, 10.0, Some(0.0), 0.0, 0.36888794541139364);
        check(0, 0.0, None, 0.0, f64::INFINITY);
    }

    #[test]
    fn the_interval_covers_whatever_the_rate() {
        for rate in [0.05f64, 0.7, 3.0, 20.0] {
            let mut probability = (-rate).exp();
            let mut covered = 0.0;
            for changes in 0u32..200 {
                let interval =
                    CompleteHistory::new(changes.into(), Days::new(1.0)).interval(Confidence::new(0.9));
                covered += if interval.contains(ChangesPerDay::new(rate)) { probability } else { 0.0 };
                probability *= rate / f64::from(changes + 1);
            }
            assert!(covered >= 0.9, "{rate}: {covered}");
        }
    }

    proptest! {
        #[test]
        fn merging_is_the_same_as_going_on(
            spans in prop::collection::vec((0u64..5, 0u32..1000), 0..20),
            cut in 0usize..20,
        ) {
            // Sums of whole days have no rounding error.
            let observe = |spans: &[(u64, u32)]| {
                let mut history = CompleteHistory::NONE;
                spans
                    .iter()
                    .for_each(|(changes, days)| history.observe(*changes, Days::new(f64::from(*days))));
                history
            };
            let cut = cut.min(spans.len());
            let mut merged = observe(&spans[..cut]);
            merged.merge(&observe(&spans[cut..]));
            prop_assert_eq!(merged, observe(&spans));
            prop_assert_eq!(merged, CompleteHistory::new(merged.changes(), merged.watched()));
        }
    }
}
