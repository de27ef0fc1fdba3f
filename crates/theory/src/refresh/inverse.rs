//! The changes per visit at which one more visit gains just its price, for pages that change as a Poisson process.
//!
//! Implements the inverse of ∂F̄/∂f = μ and of ∂Ā/∂f = −μ (thesis, section 5.5.4). By the scaling property (Theorem 5.5)
//! each is one curve for all pages; with x = λ/f the changes per visit:
//!
//! > freshness: g(x) = 1 − (1 + x)e^-x = μλ/w,  age: K(x) = x²/2 − g(x) = μλ²/w
//!
//! Near its ceiling a gain g rounds to one long before x stops to matter (x = 40 already leaves 1 − g = 2e-16), so
//! the freshness curve is kept as a function of the *log complement* −ln(1 − g) = x − ln(1 + x), which no page exhausts.
//! Both curves are tables in the root of their argument in which they are analytic at zero: v = √(−2 ln(1 − g)) and s = ∛(3K).
//!
//! # Promises
//! - Relative error below 1e-14 from the smallest argument to the largest, but for what the argument itself has lost.

use std::sync::LazyLock;

use super::tabulated::Tabulated;
use crate::numerics::age_gain;

/// Changes per visit `x` with x − ln(1 + x) = `log_complement`: the freshness gain of `x` is 1 − e^-`log_complement`.
#[inline]
pub(super) fn changes_per_visit_for_freshness(log_complement: f64) -> f64 {
    let v = (2.0 * log_complement).sqrt();
    if v < FRESHNESS.end() { v * FRESHNESS.at(v) } else { freshness_far_out(log_complement) }
}

/// x − ln(1 + x): the log complement of the freshness gain at `x` changes per visit, without cancellation.
#[inline]
pub(super) fn log_complement_of_freshness(changes_per_visit: f64) -> f64 {
    let x = changes_per_visit;
    if x > 0.5 {
        return x - x.ln_1p();
    }
    // With s = x/(2 + x), ln(1 + x) = 2(s + s³/3 + s⁵/5 + …) and x − 2s = xs; s² is at most 0.04.
    let s = x / (2.0 + x);
    let s2 = s * s;
    let series = (0..13).rev().fold(0.0, |sum, k| sum * s2 + 1.0 / f64::from(2 * k + 3));
    s * (x - 2.0 * s2 * series)
}

/// Changes per visit `x` with x²/2 − g(x) = `gain`.
#[inline]
pub(super) fn changes_per_visit_for_age(gain: f64) -> f64 {
    let s = (3.0 * gain).cbrt();
    if s < AGE.end() { s * AGE.at(s) } else { age_far_out(gain) }
}

/// x/v over v, where v²/2 is the log complement. Its nearest singularities, at v² = ±4πi, are 2.5 away from the axis.
static FRESHNESS: LazyLock<Tabulated> = LazyLock::new(|| {
    Tabulated::new(9, 8, |v| {
        let log_complement = 0.5 * v * v;
        let mut x = v * (1.0 + v * (1.0 / 3.0 + v / 36.0));
        for _ in 0..6 {
            let step = (log_complement_of_freshness(x) - log_complement) * (1.0 + x) / x;
            x -= step / (1.0 - 0.5 * step / (x * (1.0 + x)));
        }
        x / v
    })
});

/// x/s over s, where s³/3 is the gain. Its nearest singularities come from x = ±2πi and are 3.2 away from the axis.
static AGE: LazyLock<Tabulated> = LazyLock::new(|| {
    Tabulated::new(9, 8, |s| {
        let gain = s * s * s / 3.0;
        let mut x = if s < 2.0 { s * (1.0 + s / 8.0) } else { (2.0 * gain + 2.0).sqrt() };
        for _ in 0..8 {
            x -= (x * x * age_gain(x) - gain) / (-x * (-x).exp_m1());
        }
        x / s
    })
});

/// Beyond the table, where x is above 40: x = L + ln(1 + x) contracts by a factor of 40 per turn.
#[cold]
fn freshness_far_out(log_complement: f64) -> f64 {
    let mut x = log_complement;
    for _ in 0..5 {
        let step = (x - x.ln_1p() - log_complement) * (1.0 + x) / x;
        x -= step;
    }
    // An endless log complement leaves NaN minus NaN.
    if log_complement == f64::INFINITY { f64::INFINITY } else { x }
}

/// Beyond the table, where x is above 22 and (1 + x)e^-x below 1e-8: one correction of the root of x²/2 − 1 is enough.
#[cold]
fn age_far_out(gain: f64) -> f64 {
    let root = (2.0 * (gain + 1.0)).sqrt();
    let left_out = (1.0 + root) * (-root).exp();
    if left_out > 0.0 { (2.0 * (gain + 1.0 - left_out)).sqrt() } else { root }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread() -> impl Iterator<Item = f64> {
        (-30_000..30_000).map(|exponent| 10f64.powf(f64::from(exponent) / 2000.0))
    }

    #[test]
    fn the_freshness_curve_undoes_its_function_to_fourteen_digits() {
        for x in spread() {
            let back = changes_per_visit_for_freshness(log_complement_of_freshness(x));
            // Where the table hands over to the iteration, a relative error e of the argument is one of e/2 to e of the result.
            assert!((back / x - 1.0).abs() < 1e-14, "{x:e} came back as {back:e}");
        }
        assert_eq!(changes_per_visit_for_freshness(f64::INFINITY), f64::INFINITY);
        assert_eq!(changes_per_visit_for_freshness(1e300), 1e300);
    }

    #[test]
    fn the_age_curve_undoes_its_function_to_fourteen_digits() {
        for x in spread() {
            let back = changes_per_visit_for_age(x * x * age_gain(x));
            assert!((back / x - 1.0).abs() < 1e-14, "{x:e} came back as {back:e}");
        }
    }
}
