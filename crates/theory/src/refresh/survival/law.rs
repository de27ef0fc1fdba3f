//! Trait of survival laws: how long copies stay current, and the visit index that follows.
//!
//! Let S(t) be the probability that a copy taken `t` ago is still current. A page visited every `T` is fresh
//! for the fraction F(T) = (1/T) ∫₀ᵀ S of the time, and the derivative of F by the frequency 1/T is
//!
//! > V(T) = ∫₀ᵀ S(s) ds − T S(T)
//!
//! (the thesis, section 5.5.4, for S = e^-λt; Problem 1 of **summary**, section 5.1, for the Weibull law;
//! Olston and Pandey, 2008, for any law). It grows with T, as its derivative is T times the density −S'(T).
//! So the optimum under a budget is a threshold policy: a page is visited when V of the time since its last
//! visit, times its importance, reaches a common price. V is the *index* of the page, in days. It grows to
//! the mean lifetime ∫₀^∞ S, its *ceiling*. A page whose ceiling is below the price gets no visits.
//!
//! # Promises
//! - The index keeps nine digits for all ages of a copy, and its inverse too.
//! - Near the ceiling the inverse works on the log complement −ln(1 − V/ceiling), which keeps
//!   digits where V has none left.

use crate::units::Days;

/// A law of survival of copies, with the visit index that follows from it.
pub trait Survival: Copy + Send + Sync {
    /// Probability that a copy taken this long ago is still current.
    fn survival(&self, since_visit: Days) -> f64;

    /// Fraction of the time for which a page is fresh when it is visited at this interval. Zero for an
    /// infinite interval if the page ever changes.
    fn mean_freshness(&self, visit_interval: Days) -> f64;

    /// V(t): the gain of one more visit when the last one was this long ago.
    fn index(&self, since_visit: Days) -> f64;

    /// The limit of the index. Infinite if the page is visited at any price, zero if it never changes.
    fn index_ceiling(&self) -> f64;

    /// Time after a visit at which the index reaches this value; infinite if it never does.
    ///
    /// Panics if the value is negative or NaN.
    fn due_after(&self, index: f64) -> Days;

    /// Time after a visit at which the index reaches the fraction 1 − e^-`log_complement` of its ceiling. The
    /// ceiling must be finite.
    fn due_after_log_complement(&self, log_complement: f64) -> Days;

    /// −ln(1 − V/ceiling), without loss near the ceiling. The ceiling must be finite.
    fn log_complement(&self, since_visit: Days) -> f64;

    /// The power of time by which the index grows: d ln V/d ln t, from `index` = V(t).
    fn growth(&self, since_visit: Days, index: f64) -> f64;

    /// [`Self::due_after`] together with [`Self::growth`] there, which is infinite when the page is never
    /// due. The index must be above zero. `guess` is the time for a similar index, or infinite.
    fn due_near(&self, index: f64, _guess: Days) -> (Days, f64) {
        let due = self.due_after(index);
        (due, if due == Days::FOREVER { f64::INFINITY } else { self.growth(due, index) })
    }

    /// The same law when time is measured in units of `unit` days.
    #[must_use]
    fn in_units_of(&self, unit: f64) -> Self;
}

/// Solves an increasing function of a positive number by Newton's method in logarithms, within
/// brackets that it finds itself.
///
/// `value_and_growth` gives ln h(t) − ln target, and d ln h/d ln t. The function must reach the target.
pub(super) fn solve(start: f64, value_and_growth: impl Fn(f64) -> (f64, f64)) -> f64 {
    let (mut low, mut high) = (0.0, f64::INFINITY);
    let mut t = start.clamp(1e-300, 1e300);
    for _ in 0..SOLVE_PASSES_MAX {
        let (excess, growth) = value_and_growth(t);
        if excess == 0.0 {
            return t;
        }
        if excess > 0.0 {
            high = t;
        } else {
            low = t;
        }
        let step = -excess / growth;
        let newton = t * step.exp();
        if step.abs() < 1e-15 {
            return newton;
        }
        t = if low < newton && newton < high && step.abs() < 50.0 { newton } else { middle(low, high) };
        if t == low || t == high {
            return t;
        }
    }
    t
}

/// Maximum passes of [`solve`]. Bisection alone needs 12 for the order of magnitude and 52 for the digits.
const SOLVE_PASSES_MAX: usize = 100;

fn middle(low: f64, high: f64) -> f64 {
    const STRIDE: f64 = 1e6;
    if low == 0.0 {
        high / STRIDE
    } else if high == f64::INFINITY {
        low * STRIDE
    } else if high > 2.0 * low {
        low.sqrt() * high.sqrt()
    } else {
        low + 0.5 * (high - low)
    }
}

#[cfg(test)]
pub(super) mod checks {
    use super::*;

    /// Checks a law against itself: the index grows, its inverse inverts it, and it is the
    /// integral it claims to be.
    #[track_caller]
    pub(in super::super) fn check_law(law: &impl Survival, times: impl Iterator<Item = f64>) {
        let ceiling = law.index_ceiling();
        let mut last = 0.0;
        for t in times {
            let time = Days::new(t);
            let index = law.index(time);
            assert!(index >= last * (1.0 - 1e-14), "the index falls to {index:e} at {t:e}");
            assert!(index <= ceiling * (1.0 + 1e-12));
            last = index;
            // ∫ S = T F(T), so V = T (F(T) − S(T)) where that difference has digits.
            let plain = t * (law.mean_freshness(time) - law.survival(time));
            assert!((index - plain).abs() <= 1e-11 * t.max(index), "{index:e} is not {plain:e} at {t:e}");
            if index > 1e-290 && index < ceiling * (1.0 - 1e-3) {
                let (near, growth) = law.due_near(index, Days::new(t * 1.01));
                check_growth(|t| law.index(Days::new(t)), t, growth);
                check_back(law.due_after(index), t, growth);
                check_back(near, t, growth);
                check_back(law.due_near(index, Days::FOREVER).0, t, growth);
            }
            if ceiling < f64::INFINITY {
                let log_complement = law.log_complement(time);
                if log_complement > 1e-290 && log_complement < 1e290 {
                    let growth = slope(|t| law.log_complement(Days::new(t)), t);
                    check_back(law.due_after_log_complement(log_complement), t, growth);
                }
                let complement = 1.0 - index / ceiling;
                assert!(((-log_complement).exp() - complement).abs() < 1e-11, "{t:e}: {log_complement:e}");
            }
        }
    }

    /// The inverse returns the time with as many digits as so slow a growth leaves.
    #[track_caller]
    fn check_back(back: Days, t: f64, growth: f64) {
        let error = (back.get() / t - 1.0).abs();
        assert!(error < 1e-10 + 1e-13 / growth, "{t:e} came back as {back:?}, growth {growth:e}");
    }

    #[track_caller]
    fn check_growth(function: impl Fn(f64) -> f64, t: f64, growth: f64) {
        let slope = slope(function, t);
        assert!((slope - growth).abs() < 1e-3 * growth + 1e-9, "growth {growth:e}, not {slope:e}, at {t:e}");
    }

    fn slope(function: impl Fn(f64) -> f64, t: f64) -> f64 {
        let step = 1e-4;
        (function(t * (1.0 + step)) / function(t * (1.0 - step))).ln() / (2.0 * step)
    }

    /// Times over thirty orders of magnitude.
    pub(in super::super) fn times() -> impl Iterator<Item = f64> {
        (-600..=200).map(|exponent| 10f64.powf(f64::from(exponent) / 40.0))
    }
}
