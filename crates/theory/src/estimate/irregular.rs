//! Maximum-likelihood rate of change of a page visited at any intervals.
//!
//! Thesis, section 6.4.3, equation 6.3 (**estimate**, section 4.3): with changed intervals c_i and unchanged
//! ones u_j, the likelihood is the product of 1 − e^(−λ c_i) and e^(−λ u_j), and is greatest where
//!
//! > Σ c_i / (e^(λ c_i) − 1) = Σ u_j
//!
//! Multiplied by λ, with x = λc and U = Σ u_j: Σ x/(e^x − 1) = λU. This is solved for ln λ, inside the
//! bracket `ln(1 + C/U)/c_max ≤ λ ≤ ln(1 + C/U)/c_min` with C and U the sums of the two kinds. Of the
//! unchanged visits only the sum matters. The confidence interval holds the rates whose log-likelihood is
//! within half the χ² quantile of the greatest.
//!
//! # Promises
//! - The rate solves the equation to 1e-12 for intervals from 1e-300 to 1e300 days, mixed in any way.
//! - No visits: no rate, and an interval of all rates. No change: zero. A change at every visit:
//!   infinite, with a lower end.
//! - The rate lies in its interval.
//!
//! # Departures
//! For even visits this is −ln((n − X)/n)/I, without the 0.5 of [`super::improved`]. The thesis says that it
//! reduces to that estimator, which is true only up to that constant.

use super::binomial::log_change_probability;
use super::rate::{Confidence, RateEstimate, RateInterval};
use super::root::root;
use crate::numerics::changes_given_changed;
use crate::units::Days;

/// One visit: the time since the one before, and whether the page had changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Visit {
    /// Time since the visit before; above zero and finite.
    pub interval: Days,
    /// Whether the page differed from the copy of the visit before.
    pub changed: bool,
}

/// The rate with the greatest likelihood. `None` without visits; infinite if each visit found a change.
///
/// Panics unless every interval is above zero and finite.
pub fn most_likely_rate(visits: &[Visit]) -> Option<RateEstimate> {
    Likelihood::of(visits).most_likely_rate()
}

/// The confidence interval of the rate, by profile likelihood.
///
/// Panics unless every interval is above zero and finite.
pub fn likely_rates(visits: &[Visit], confidence: Confidence) -> RateInterval {
    Likelihood::of(visits).interval(confidence)
}

/// Length of a changed interval in days, and how often it occurred.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChangedInterval {
    pub(super) days: f64,
    pub(super) count: f64,
}

/// The likelihood as a function of ln λ.
#[derive(Clone, Debug)]
pub(super) struct Likelihood {
    changed: Vec<ChangedInterval>,
    shortest: f64,
    longest: f64,
    /// ln of the sum of the unchanged intervals; minus infinity if there are none.
    log_unchanged: f64,
}

impl Likelihood {
    pub(super) fn new(changed: Vec<ChangedInterval>, log_unchanged: f64) -> Self {
        let shortest = changed.iter().map(|interval| interval.days).fold(f64::INFINITY, f64::min);
        let longest = changed.iter().map(|interval| interval.days).fold(0.0, f64::max);
        Self { changed, shortest, longest, log_unchanged }
    }

    fn of(visits: &[Visit]) -> Self {
        for visit in visits {
            assert!(Days::ZERO < visit.interval);
            assert!(visit.interval < Days::FOREVER);
        }
        let of_kind = |changed| visits.iter().filter(move |visit| visit.changed == changed);
        let changed = of_kind(true).map(|visit| ChangedInterval { days: visit.interval.get(), count: 1.0 });
        Self::new(changed.collect(), log_sum(of_kind(false).map(|visit| (visit.interval.get(), 1.0))))
    }

    /// The rate with the greatest likelihood.
    pub(super) fn most_likely_rate(&self) -> Option<RateEstimate> {
        match (self.changed.is_empty(), self.log_unchanged == f64::NEG_INFINITY) {
            (true, true) => None,
            (true, false) => Some(RateEstimate::ZERO),
            (false, true) => Some(RateEstimate::UNBOUNDED),
            (false, false) => Some(RateEstimate::new(self.log_rate().exp())),
        }
    }

    /// The rates whose log-likelihood is within half the χ² quantile of the greatest.
    pub(super) fn interval(&self, confidence: Confidence) -> RateInterval {
        let drop = 0.5 * confidence.chi_square();
        match self.most_likely_rate() {
            None => RateInterval::ANY,
            Some(RateEstimate::ZERO) if self.changed.is_empty() => {
                RateInterval::new(RateEstimate::ZERO, RateEstimate::new(drop / self.log_unchanged.exp()))
            }
            Some(RateEstimate::UNBOUNDED) if self.log_unchanged == f64::NEG_INFINITY => {
                // The greatest log-likelihood is zero, at an infinite rate.
                let low = self.rate_below(-self.shortest.ln(), -drop);
                RateInterval::new(RateEstimate::new(low), RateEstimate::UNBOUNDED)
            }
            Some(_) => {
                let y = self.log_rate();
                let floor = self.log_likelihood(y) - drop;
                RateInterval::new(
                    RateEstimate::new(self.rate_below(y, floor)),
                    RateEstimate::new(self.rate_above(y, floor)),
                )
            }
        }
    }

    /// ln λ at the root of equation 6.3. There must be intervals of both kinds.
    fn log_rate(&self) -> f64 {
        let log_changed = log_sum(self.changed.iter().map(|interval| (interval.days, interval.count)));
        let log_count = self.changed.iter().map(|interval| interval.count).sum::<f64>().ln();
        let log_exposure = log_of_log_1p_exp(log_changed - self.log_unchanged);
        let low = log_exposure - self.longest.ln();
        let high = (log_exposure - self.shortest.ln()).min(log_count - self.log_unchanged);
        let start = log_exposure - (log_changed - log_count);
        // The margin lets the last Newton step correct the rounding of the bracket itself.
        root(low - 1e-9, high.max(low) + 1e-9, start, |y| {
            let (log_sum, slope) = self.log_expected(y);
            (y + self.log_unchanged - log_sum, slope)
        })
    }

    /// ln Σ x/(e^x − 1), and the mean of x/(1 − e^-x) weighted by these terms: the
    /// slope of equation 6.3 in ln λ.
    fn log_expected(&self, y: f64) -> (f64, f64) {
        let rate = y.exp();
        let least = rate * self.shortest;
        let (mut sum, mut slope) = (0.0, 0.0);
        for interval in &self.changed {
            let beyond = rate * interval.days - least;
            if beyond < NO_CONTRIBUTION {
                // x/(e^x − 1) = x/(1 − e^-x) e^-x. The smallest x is factored out of the exponentials.
                let given_changed = changes_given_changed(rate * interval.days);
                let term = interval.count * given_changed * (-beyond).exp();
                sum += term;
                slope += term * given_changed;
            }
        }
        (sum.ln() - least, slope / sum)
    }

    fn log_likelihood(&self, y: f64) -> f64 {
        let rate = y.exp();
        let changed = self.changed.iter().map(|i| i.count * log_probability_of_change(rate, i.days, y));
        changed.sum::<f64>() - (y + self.log_unchanged).exp()
    }

    /// The slope of the log-likelihood in ln λ.
    fn slope(&self, y: f64) -> f64 {
        self.log_expected(y).0.exp() - (y + self.log_unchanged).exp()
    }

    /// The rate below e^`y` whose log-likelihood is `floor`.
    fn rate_below(&self, y: f64, floor: f64) -> f64 {
        let below = expand(y, -1.0, |y| self.log_likelihood(y) < floor);
        let above = expand(y, 1.0, |y| self.log_likelihood(y) >= floor).max(y);
        root(below, above, 0.5 * (below + y), |y| (self.log_likelihood(y) - floor, self.slope(y))).exp()
    }

    /// The rate above e^`y` whose log-likelihood is `floor`.
    fn rate_above(&self, y: f64, floor: f64) -> f64 {
        let above = expand(y, 1.0, |y| self.log_likelihood(y) < floor);
        root(y, above, 0.5 * (above + y), |y| (floor - self.log_likelihood(y), -self.slope(y))).exp()
    }
}

/// Exponent from which on a term is dropped: e^-750 is zero as a double.
const NO_CONTRIBUTION: f64 = 750.0;

/// ln(1 − e^(−λt)), finite also where λt underflows.
fn log_probability_of_change(rate: f64, days: f64, log_rate: f64) -> f64 {
    let x = rate * days;
    if x < 1e-290 { log_rate + days.ln() } else { log_change_probability(x) }
}

/// The first of y, y ± 1, y ± 3, y ± 7, … for which `far_enough` holds.
fn expand(y: f64, direction: f64, far_enough: impl Fn(f64) -> bool) -> f64 {
    let (mut end, mut step) = (y, direction);
    for _ in 0..EXPANSIONS_MAX {
        if far_enough(end) {
            break;
        }
        end += step;
        step *= 2.0;
    }
    end
}

/// Maximum number of doublings of the distance: 2^12 nats exceed the exponent range of a double.
const EXPANSIONS_MAX: usize = 12;

/// ln Σ count · value, without overflow.
fn log_sum(terms: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
    let largest = terms.clone().map(|(value, _)| value).fold(0.0, f64::max);
    if largest == 0.0 {
        return f64::NEG_INFINITY;
    }
    largest.ln() + terms.map(|(value, count)| value / largest * count).sum::<f64>().ln()
}

/// ln ln(1 + e^d), without overflow or cancellation.
fn log_of_log_1p_exp(d: f64) -> f64 {
    if d < -36.0 {
        d
    } else if d > 36.0 {
        d.ln()
    } else {
        d.exp().ln_1p().ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn visits(intervals: &[f64], changed: &[bool]) -> Vec<Visit> {
        let pair = |(days, changed): (&f64, &bool)| Visit { interval: Days::new(*days), changed: *changed };
        intervals.iter().zip(changed).map(pair).collect()
    }

    #[track_caller]
    fn check(intervals: &[f64], changed: &[bool], expected: f64) {
        let rate = most_likely_rate(&visits(intervals, changed)).map(RateEstimate::get);
        assert!(
            rate.is_some_and(|rate| rate == expected || (rate / expected - 1.0).abs() < 1e-12),
            "{rate:?} is not {expected}"
        );
    }

    #[test]
    fn two_changes_in_twenty_hours() {
        check(&[6.0, 4.0, 3.0, 7.0], &[true, false, true, false], 0.13329229588238464); // thesis, Example 6.5
        check(&[1.0, 5.0, 3.0], &[true, true, false], 0.3835788731886384); // thesis, Example 6.2
    }

    #[test]
    fn even_visits_give_the_logarithm_without_the_half() {
        let changed: Vec<_> = (0..10).map(|i| i < 6).collect();
        check(&[1.0; 10], &changed, -0.4f64.ln());
        check(&[1e-9; 10], &changed, -0.4f64.ln() * 1e9);
    }

    #[test]
    fn nothing_none_and_all_are_ordinary() {
        assert_eq!(most_likely_rate(&[]), None);
        assert_eq!(likely_rates(&[], Confidence::new(0.9)), RateInterval::ANY);
        check(&[1.0, 2.0, 3.0], &[false; 3], 0.0);
        check(&[1.0, 2.0, 3.0], &[true; 3], f64::INFINITY);
        let none = likely_rates(&visits(&[1.0, 2.0, 3.0], &[false; 3]), Confidence::new(0.95));
        assert_eq!(none.low(), RateEstimate::ZERO);
        assert!((none.high().get() - 3.841458820694124 / 12.0).abs() < 1e-12);
        let all = likely_rates(&visits(&[1.0, 1.0], &[true; 2]), Confidence::new(0.95));
        // (1 − e^-λ)² = e^(−χ²/2)
        assert!((all.low().get() + (-(-3.841458820694124f64 / 4.0).exp()).ln_1p()).abs() < 1e-12);
        assert_eq!(all.high(), RateEstimate::UNBOUNDED);
    }

    #[test]
    fn extreme_intervals_neither_overflow_nor_underflow() {
        check(&[1e300, 1e300], &[true, false], std::f64::consts::LN_2 * 1e-300);
        check(&[1e-300, 1e-300], &[true, false], std::f64::consts::LN_2 * 1e300);
        // 1/(e^x − 1) = 1e-600 at x = 600 ln 10.
        check(&[1e300, 1e-300], &[true, false], 1.3815510557964273e-297);
        // A short changed interval says only that there was a change: λU = 1.
        check(&[1e-300, 1e300], &[true, false], 1e-300);
    }

    #[test]
    fn the_interval_of_even_visits_is_where_the_likelihood_ratio_says() {
        // 3 of 10: 2 (ℓ(λ̂) − ℓ(λ)) = 3.8415 with ℓ = 3 ln(1 − e^-λ) − 7 λ.
        let changed: Vec<_> = (0..10).map(|i| i < 3).collect();
        let interval = likely_rates(&visits(&[1.0; 10], &changed), Confidence::new(0.95));
        assert!((interval.low().get() - 0.08834898571472305).abs() < 1e-10, "{interval:?}");
        assert!((interval.high().get() - 0.9327734051280668).abs() < 1e-10, "{interval:?}");
    }

    proptest! {
        #[test]
        fn the_rate_solves_the_equation_and_lies_in_its_interval(
            history in prop::collection::vec((-9.0..9.0f64, any::<bool>()), 2..30),
        ) {
            let intervals: Vec<_> = history.iter().map(|(exponent, _)| 10f64.powf(*exponent)).collect();
            let mut changed: Vec<_> = history.iter().map(|(_, changed)| *changed).collect();
            changed[0] = true;
            changed[1] = false;
            let visits = visits(&intervals, &changed);
            let rate = most_likely_rate(&visits).map_or(f64::NAN, RateEstimate::get);
            let side = |factor: f64| -> f64 {
                let rate = rate * factor;
                visits
                    .iter()
                    .map(|visit| (rate * visit.interval.get(), visit))
                    .map(|(x, visit)| if !visit.changed {
                        -x
                    } else if x > 700.0 {
                        0.0
                    } else {
                        x / x.exp_m1()
                    })
                    .sum()
            };
            prop_assert!(side(1.0 - 1e-11) > 0.0);
            prop_assert!(side(1.0 + 1e-11) < 0.0);
            let interval = likely_rates(&visits, Confidence::new(0.9));
            prop_assert!(interval.low().get() < rate);
            prop_assert!(rate < interval.high().get());
        }
    }
}
