//! Freshness and age of a collection whose change rates follow a gamma distribution, for
//! uniform and proportional visits.
//!
//! Implements the thesis, section 5.5.1, Table 5.3. With r = λ/f mean changes per visit, δ the standard
//! deviation of the rates over their mean, and I = 1/f:
//!
//! > uniform: F = (1 − (1 + rδ²)^(1 − 1/δ²)) / (r(1 − δ²)),
//! >   A = I/(1 − δ²) [(1 − δ²)/2 − 1/r + (1 − (1 + rδ²)^(2 − 1/δ²)) / (r²(1 − 2δ²))]
//! > proportional: F = (1 − e^-r)/r, A = I/(1 − δ²) [1/2 − 1/r + (1 − e^-r)/r²]
//!
//! The code uses forms of these that have no singularity. With L = ln(1 + rδ²) and
//! x = L/δ² (which is r at δ = 0):
//!
//! > F = (L/rδ²) M(L/δ² − L), where M(z) = (1 − e^-z)/z
//! > A = I x/2 ∫ ((1 − e^(−L(1 − p))) / (1 − e^-L))² e^-xp dp over p from 0 to 1
//!
//! The integrand is positive and smooth, and Gauss-Legendre quadrature gives it to the last digits.
//!
//! # Promises
//! - At least nine digits for every r and δ, also around δ² = 1 and δ² = 1/2, where the
//!   printed formulas are 0/0.
//! - δ = 0 is the collection whose pages all change at the same rate, and small δ tends to it.
//! - The age under proportional visits is infinite from δ = 1 on: the mean of 1/λ is infinite.
//! - Uniform visits are never worse than proportional ones, by both measures (Theorems 5.3 and 5.4).
//!
//! # Departures
//! None. At r = 0 the values are limits for r to 0.

use super::measure::FreshnessAndAge;
use crate::numerics::{mean_age_fraction, mean_survival};
use crate::units::Days;

/// Rates of change that follow a gamma distribution, counted in changes per visit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GammaRates {
    changes_per_visit: f64,
    rate_variation: f64,
}

impl GammaRates {
    /// Creates the distribution from the mean number of changes per visit and the standard deviation of the
    /// rates divided by their mean.
    ///
    /// Panics unless both are finite and not negative.
    pub fn new(changes_per_visit: f64, rate_variation: f64) -> Self {
        assert!(changes_per_visit.is_finite());
        assert!(0.0 <= changes_per_visit);
        assert!(rate_variation.is_finite());
        assert!(0.0 <= rate_variation);
        Self { changes_per_visit, rate_variation }
    }

    /// Averages over time and pages when every page is visited once per interval.
    pub fn uniform(&self, visit_interval: Days) -> FreshnessAndAge {
        let scale = Scale::of(self.changes_per_visit, self.rate_variation);
        let age_fraction = uniform_age_fraction(scale);
        FreshnessAndAge {
            freshness: self.uniform_freshness(scale).min(1.0),
            age: scaled(visit_interval, age_fraction),
        }
    }

    /// Averages over time and pages when pages are visited in proportion to their rates,
    /// once per interval on average.
    pub fn proportional(&self, visit_interval: Days) -> FreshnessAndAge {
        let (r, delta) = (self.changes_per_visit, self.rate_variation);
        let age_fraction =
            if delta < 1.0 { mean_age_fraction(r) / ((1.0 - delta) * (1.0 + delta)) } else { f64::INFINITY };
        FreshnessAndAge { freshness: mean_survival(r), age: scaled(visit_interval, age_fraction) }
    }

    fn uniform_freshness(&self, Scale { y, l, x }: Scale) -> f64 {
        let delta = self.rate_variation;
        let l_per_y = if y == 0.0 { 1.0 } else { l / y };
        if delta <= 1.0 {
            return l_per_y * mean_survival((1.0 - delta) * (1.0 + delta) * x);
        }
        // The same with e^(L − x) factored out of M, so that its argument is not
        // negative and nothing overflows.
        let growth = if y < 1.0 { (1.0 + y) * l_per_y } else { (1.0 + 1.0 / y) * l };
        growth * (-x).exp() * mean_survival(l - x)
    }
}

/// A span times a factor, where an infinite span times zero is zero.
fn scaled(span: Days, factor: f64) -> Days {
    if factor == 0.0 { Days::ZERO } else { Days::new(span.get() * factor) }
}

/// The quantities of the module head: y = rδ², L = ln(1 + y) and x = L/δ².
#[derive(Clone, Copy)]
struct Scale {
    y: f64,
    l: f64,
    x: f64,
}

impl Scale {
    fn of(r: f64, delta: f64) -> Self {
        let y = r * delta * delta;
        let l = if y < f64::INFINITY { y.ln_1p() } else { r.ln() + 2.0 * delta.ln() };
        // L/δ² computed as r L/y, because δ² may vanish.
        let x = if y == 0.0 {
            r
        } else if delta <= 1.0 {
            r * (l / y)
        } else {
            l / delta / delta
        };
        Self { y, l, x }
    }
}

/// Age under uniform visits as a fraction of the interval: the integral of the module head.
fn uniform_age_fraction(Scale { l, x, .. }: Scale) -> f64 {
    let end = (EXPONENT_MAX / x).min(1.0);
    let panels = (end * x.max(l) / PANEL_EXPONENT).ceil().max(1.0);
    let half_width = end / panels / 2.0;
    let integrand = |p: f64| {
        let remaining = remaining_share(l, 1.0 - p);
        remaining * remaining * (-x * p).exp()
    };
    let panel = |index: usize| -> f64 {
        let middle = (2.0 * index as f64 + 1.0) * half_width;
        let pair = |(node, weight): &(f64, f64)| {
            weight * (integrand(middle - node * half_width) + integrand(middle + node * half_width))
        };
        GAUSS_LEGENDRE_16.iter().map(pair).sum()
    };
    0.5 * x * half_width * (0..panels as usize).map(panel).sum::<f64>()
}

/// (1 − e^-Lq)/(1 − e^-L), which is q for L = 0.
fn remaining_share(l: f64, q: f64) -> f64 {
    if l < 1e-17 { q } else { (-l * q).exp_m1() / (-l).exp_m1() }
}

/// Exponent at which the integration ends: e^-xp is below the last digit of the integral.
const EXPONENT_MAX: f64 = 45.0;

/// Maximum growth of the exponents x and L within one panel of the quadrature. Sixteen nodes
/// integrate their product to 1e-19. L is at most 1,500 (both arguments at the largest double), which
/// bounds the number of panels by 400.
const PANEL_EXPONENT: f64 = 4.0;

/// Positive nodes and their weights of the Gauss-Legendre quadrature with sixteen nodes on [−1, 1].
const GAUSS_LEGENDRE_16: [(f64, f64); 8] = [
    (0.09501250983763744, 0.1894506104550685),
    (0.2816035507792589, 0.18260341504492358),
    (0.45801677765722737, 0.16915651939500254),
    (0.6178762444026438, 0.14959598881657674),
    (0.755404408355003, 0.12462897125553388),
    (0.8656312023878318, 0.09515851168249279),
    (0.9445750230732326, 0.062253523938647894),
    (0.9894009349916499, 0.027152459411754096),
];

#[cfg(test)]
mod tests {
    use std::f64::consts::{FRAC_1_SQRT_2, LN_2};

    use super::*;
    use proptest::prelude::*;

    fn uniform(changes_per_visit: f64, rate_variation: f64) -> (f64, f64) {
        let got = GammaRates::new(changes_per_visit, rate_variation).uniform(Days::new(1.0));
        (got.freshness, got.age.get())
    }

    #[track_caller]
    fn check(changes_per_visit: f64, rate_variation: f64, freshness: f64, age: f64) {
        let got = uniform(changes_per_visit, rate_variation);
        assert!((got.0 / freshness - 1.0).abs() < 1e-12, "freshness {}, not {freshness}", got.0);
        assert!((got.1 / age - 1.0).abs() < 1e-12, "age {}, not {age}", got.1);
    }

    #[test]
    fn uniform_visits_keep_twelve_digits() {
        // Computed with hundreds of digits from the printed formulas.
        check(1.0, 0.5, 0.6506666666666666, 0.12666666666666668);
        check(0.5, 0.8, 0.8032466931036503, 0.0693883221655827);
        check(5.0, 0.9, 0.3326741585978866, 0.28064370938086214);
        check(2.0, FRAC_1_SQRT_2, 0.5, 0.19314718055994531);
        check(2.0, FRAC_1_SQRT_2 + 2f64.powi(-24), 0.5000000095846688, 0.1931471772645698);
        check(1.0, 1.0, LN_2, 0.11370563888010939);
        check(1.0, 1.00000005, 0.693147185267878, 0.11370563740839826);
        check(1.0, 0.99999995, 0.6931471758520127, 0.11370564035182049);
        check(3.0, 2.0, 0.649591671335894, 0.14549087012539896);
        check(1e-8, 0.3, 0.999999995, 1.666666662125e-9);
        check(1e-8, 1.0, 0.999999995, 1.6666666583333334e-9);
        check(1e-8, 5.0, 0.9999999950000005, 1.6666665583333444e-9);
        check(1e9, 0.3, 1.098901098901099e-9, 0.4999999989010989);
        check(1e9, 1.0, 2.072326583794641e-8, 0.49999998027673415);
        check(1e9, 3.0, 0.08813036653914737, 0.45334274717997314);
        check(1.0, 1e-8, 0.6321205588285577, 0.1321205588285577);
        check(40.0, 1e-4, 0.02500000025, 0.47562499976875);
        check(1.0, 1e4, 0.9999998257932058, 8.460339837284424e-8);
        check(1.0, 1e100, 1.0, 2.2950850929940456e-198);
        check(1e300, 1e5, 0.9999999287198647, 3.561506767297148e-8);
    }

    #[test]
    fn equal_rates_are_the_uniform_case() {
        for r in [0.0, 1e-8, 0.1, 1.0, 30.0, 1e9] {
            for delta in [0.0, 1e-200, 1e-9] {
                let got = uniform(r, delta);
                assert!((got.0 / mean_survival(r) - 1.0).abs() < 1e-13, "{got:?}");
                assert!((got.1 - mean_age_fraction(r)).abs() <= 1e-13 * got.1, "{got:?}");
            }
        }
    }

    #[test]
    fn the_age_under_proportional_visits_is_infinite_from_equal_deviation_and_mean_on() {
        let age = |delta| GammaRates::new(1.0, delta).proportional(Days::new(2.0)).age.get();
        assert!((age(0.5) / (2.0 * mean_age_fraction(1.0) / 0.75) - 1.0).abs() < 1e-15);
        assert!(age(1.0 - f64::EPSILON).is_finite());
        assert_eq!(age(1.0), f64::INFINITY);
        assert_eq!(age(7.0), f64::INFINITY);
    }

    #[test]
    fn the_age_grows_with_the_interval() {
        let age = |days| GammaRates::new(3.0, 2.0).uniform(Days::new(days)).age.get();
        assert!((age(30.0) / age(1.0) - 30.0).abs() < 1e-12);
    }

    #[test]
    fn extremes_are_values() {
        for r in [0.0, 5e-324, 1e-300, 1.0, 1e300, f64::MAX] {
            for delta in
                [0.0, 5e-324, 1e-160, 1.0 - f64::EPSILON, 1.0, 1.0 + f64::EPSILON, 1e10, 1e160, f64::MAX]
            {
                let (freshness, age) = uniform(r, delta);
                assert!((0.0..=1.0).contains(&freshness), "{r} {delta}: {freshness}");
                assert!((0.0..=0.5 + 1e-12).contains(&age), "{r} {delta}: {age}");
            }
        }
    }

    proptest! {
        #[test]
        fn uniform_visits_are_never_worse(exponent in -8.0..9.0f64, delta in 0.0..3.0f64) {
            let rates = GammaRates::new(10f64.powf(exponent), delta);
            let (uniform, proportional) = (rates.uniform(Days::new(1.0)), rates.proportional(Days::new(1.0)));
            prop_assert!(uniform.freshness >= proportional.freshness * (1.0 - 1e-13));
            prop_assert!(uniform.age.get() <= proportional.age.get() * (1.0 + 1e-13));
        }
    }
}
