//! An estimated change rate, its confidence interval and its confidence.
//!
//! # Promises
//! - An estimate is never negative and never NaN. It is infinite when the visits set no upper bound, for
//!   example when each of them found a change.
//! - The ends of an interval are in order.

use statrs::function::erf::erf_inv;

use crate::units::{ChangesPerDay, Days};

/// A rate of change estimated from visits, in changes per day: never negative, never NaN, possibly infinite.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct RateEstimate(f64);

impl RateEstimate {
    /// No change was seen.
    pub const ZERO: Self = Self(0.0);

    /// The visits set no upper bound.
    pub const UNBOUNDED: Self = Self(f64::INFINITY);

    /// Panics if the rate is negative or NaN.
    pub fn new(changes_per_day: f64) -> Self {
        assert!(0.0 <= changes_per_day);
        Self(changes_per_day)
    }

    /// Changes per day as a number, possibly infinite.
    pub fn get(self) -> f64 {
        self.0
    }

    /// The rate as a finite one, for planning; `None` if it is infinite.
    pub fn finite(self) -> Option<ChangesPerDay> {
        self.0.is_finite().then(|| ChangesPerDay::new(self.0))
    }

    /// Converts changes per visit to a rate. An interval of zero or infinity gives the limit.
    pub(super) fn from_changes_per_visit(changes_per_visit: f64, visit_interval: Days) -> Self {
        if changes_per_visit == 0.0 {
            Self::ZERO
        } else {
            Self::new(changes_per_visit / visit_interval.get())
        }
    }
}

/// Confidence interval: the true rate lies between these two rates with the stated
/// confidence, in changes per day.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateInterval {
    low: RateEstimate,
    high: RateEstimate,
}

impl RateInterval {
    /// All rates: what is known before the first visit.
    pub const ANY: Self = Self { low: RateEstimate::ZERO, high: RateEstimate::UNBOUNDED };

    /// Panics unless `low` is at most `high`.
    pub fn new(low: RateEstimate, high: RateEstimate) -> Self {
        assert!(low <= high);
        Self { low, high }
    }

    /// The lower end.
    pub fn low(self) -> RateEstimate {
        self.low
    }

    /// The upper end; infinite where the visits set no bound.
    pub fn high(self) -> RateEstimate {
        self.high
    }

    /// Whether the interval contains the rate, ends included.
    pub fn contains(self, change_rate: ChangesPerDay) -> bool {
        self.low.get() <= change_rate.get() && change_rate.get() <= self.high.get()
    }
}

/// Probability with which an interval contains the true rate: α of the texts, above 0 and below 1.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Confidence(f64);

impl Confidence {
    /// Panics unless the confidence is above 0 and below 1.
    pub fn new(confidence: f64) -> Self {
        assert!(0.0 < confidence);
        assert!(confidence < 1.0);
        Self(confidence)
    }

    /// The confidence as a probability.
    pub fn get(self) -> f64 {
        self.0
    }

    /// The probability left out at either end: (1 − α)/2.
    pub(super) fn tail(self) -> f64 {
        0.5 * (1.0 - self.0)
    }

    /// The quantile of the χ² distribution with one degree of freedom at this confidence.
    pub(super) fn chi_square(self) -> f64 {
        2.0 * erf_inv(self.0).powi(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_bounded_estimate_can_be_planned_with() {
        assert_eq!(RateEstimate::UNBOUNDED.finite(), None);
        assert_eq!(RateEstimate::new(0.5).finite(), Some(ChangesPerDay::new(0.5)));
    }

    #[test]
    fn an_interval_holds_its_ends() {
        let interval = RateInterval::new(RateEstimate::new(1.0), RateEstimate::new(2.0));
        assert!(interval.contains(ChangesPerDay::new(1.0)));
        assert!(interval.contains(ChangesPerDay::new(2.0)));
        assert!(!interval.contains(ChangesPerDay::new(2.1)));
        assert!(RateInterval::ANY.contains(ChangesPerDay::ZERO));
    }

    #[test]
    fn what_is_no_estimate_is_refused() {
        for wrong in [-1.0, f64::NAN] {
            assert!(std::panic::catch_unwind(|| RateEstimate::new(wrong)).is_err());
        }
        let backwards = || RateInterval::new(RateEstimate::new(2.0), RateEstimate::new(1.0));
        assert!(std::panic::catch_unwind(backwards).is_err());
        for wrong in [0.0, 1.0, f64::NAN] {
            assert!(std::panic::catch_unwind(|| Confidence::new(wrong)).is_err());
        }
    }

    #[test]
    fn the_chi_square_quantile_is_the_normal_one_squared() {
        for (confidence, expected) in [(0.95, 3.841458820694124), (0.5, 0.4549364231195728)] {
            let got = Confidence::new(confidence).chi_square();
            assert!((got / expected - 1.0).abs() < 1e-12, "{got}");
        }
    }
}
