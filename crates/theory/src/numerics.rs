//! Functions on which all freshness and age formulas rest, accurate where the printed formulas cancel.
//!
//! All take `x`, the expected number of changes between two visits (the r = λ/f = λI of the thesis, chapter
//! 5). With S = e^-x the probability that nothing changed:
//!
//! > mean survival (1 − e^-x)/x, its complement, mean age 1/2 − 1/x + (1 − e^-x)/x²,
//! > freshness gain g(x) = 1 − (1 + x)e^-x, age gain G(x) = 1/2 + e^-x/x − (1 − e^-x)/x²
//!
//! As printed they are differences of large terms for small x. Below a switch point each is summed as its
//! Taylor series (`Σ ± x^k / k!` with small integer factors), above it as printed.
//!
//! # Promises
//! - Relative error below 1e-13 for `x` from 1e-150 (below it x² underflows) to
//!   infinity; no NaN for any `x ≥ 0`.
//! - [`freshness_gain_inverse`] inverts [`freshness_gain`] to 1e-12 for gains up to 1 − 1e-6. For gains
//!   nearer to one the complement decides, and [`freshness_gain_inverse_of_complement`] takes it directly.

/// Mean of e^-s over s in `[0, x]`: the time-averaged freshness of a page visited at even intervals.
#[inline]
pub fn mean_survival(x: f64) -> f64 {
    debug_assert!(0.0 <= x);
    if x < 1e-5 { 1.0 - x * (0.5 - x / 6.0) } else { -(-x).exp_m1() / x }
}

/// One minus [`mean_survival`], without cancellation: x/2 − x²/6 + …
#[inline]
pub fn mean_change_probability(x: f64) -> f64 {
    debug_assert!(0.0 <= x);
    if x < SWITCH { x * horner(x, &MEAN_CHANGE) } else { 1.0 + (-x).exp_m1() / x }
}

/// Age of a page visited at even intervals, averaged over time, as a fraction of the
/// interval: x/6 − x²/24 + …
#[inline]
pub fn mean_age_fraction(x: f64) -> f64 {
    debug_assert!(0.0 <= x);
    if x < SWITCH { x * horner(x, &MEAN_AGE) } else { 0.5 - mean_change_probability(x) / x }
}

/// g(x) = 1 − (1 + x)e^-x: the freshness gained by one more visit, in units of 1/λ. Grows from 0 to 1.
#[inline]
pub fn freshness_gain(x: f64) -> f64 {
    debug_assert!(0.0 <= x);
    if x < SWITCH {
        x * x * horner(x, &FRESHNESS_GAIN)
    } else if x == f64::INFINITY {
        1.0
    } else {
        -(-x).exp_m1() - x * (-x).exp()
    }
}

/// G(x) = 1/2 + e^-x/x − (1 − e^-x)/x²: the age gained by one more visit, in units of the interval
/// squared. Grows from 0 to 1/2.
#[inline]
pub fn age_gain(x: f64) -> f64 {
    debug_assert!(0.0 <= x);
    if x < SWITCH { x * horner(x, &AGE_GAIN) } else { 0.5 - (freshness_gain(x) / x) / x }
}

/// The `x` whose [`freshness_gain`] is `gain`. Infinite for gains of one and more.
#[inline]
pub fn freshness_gain_inverse(gain: f64) -> f64 {
    debug_assert!(0.0 <= gain);
    if gain >= 1.0 {
        return f64::INFINITY;
    }
    if gain > 0.5 {
        return freshness_gain_inverse_of_complement(1.0 - gain);
    }
    // Below 1e-16 the two-term inverse is exact to the last digit, and the squares below do not underflow.
    let s = (2.0 * gain).sqrt();
    if gain < 1e-22 {
        return s * (1.0 + s / 3.0);
    }
    let mut x = s * (1.0 + s * (1.0 / 3.0 + s * (11.0 / 72.0)));
    for _ in 0..3 {
        let step = (freshness_gain(x) - gain) / (x * (-x).exp());
        x -= step / (1.0 - 0.5 * step * (1.0 / x - 1.0));
    }
    x
}

/// The `x` with (1 + x)e^-x = `complement`, for complements in (0, 1]. Exact even where
/// 1 − complement rounds to one.
#[inline]
pub fn freshness_gain_inverse_of_complement(complement: f64) -> f64 {
    debug_assert!(0.0 <= complement);
    debug_assert!(complement <= 1.0);
    if complement == 0.0 {
        return f64::INFINITY;
    }
    if complement >= 0.5 {
        return freshness_gain_inverse(1.0 - complement);
    }
    // x = L + ln(1 + x) with L = −ln(complement); Newton on x − ln(1 + x) − L, whose slope is x/(1 + x).
    let l = -complement.ln();
    let mut x = l + (1.0 + l + (1.0 + l).ln()).ln();
    for _ in 0..4 {
        let step = (x - x.ln_1p() - l) * (1.0 + x) / x;
        x -= step;
        if step.abs() <= 1e-16 * x {
            break;
        }
    }
    x
}

/// L/(1 − e^-L): the expected number of changes given that there was at least one; 1 at L = 0.
#[inline]
pub fn changes_given_changed(expected_changes: f64) -> f64 {
    debug_assert!(0.0 <= expected_changes);
    if expected_changes == 0.0 { 1.0 } else { expected_changes / -(-expected_changes).exp_m1() }
}

/// Below this `x` the series are used. There they are exact to the last digit.
const SWITCH: f64 = 0.5;

/// Σ over k ≥ 0 of `coefficients[k]` (−x)^k.
#[inline]
fn horner<const N: usize>(x: f64, coefficients: &[f64; N]) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, coefficient| coefficient - x * sum)
}

/// Number of terms: 0.5^14 / 14! is below 1e-15 of the first term for each of the series.
const TERMS: usize = 14;

/// (1 − (1 − e^-x)/x)/x = Σ (−x)^k / (k + 2)!
const MEAN_CHANGE: [f64; TERMS] = series(2, false);
/// (1/2 − 1/x + (1 − e^-x)/x²)/x = Σ (−x)^k / (k + 3)!
const MEAN_AGE: [f64; TERMS] = series(3, false);
/// g(x)/x² = Σ (k + 1)(−x)^k / (k + 2)!
const FRESHNESS_GAIN: [f64; TERMS] = series(2, true);
/// G(x)/x = Σ (k + 2)(−x)^k / (k + 3)!
const AGE_GAIN: [f64; TERMS] = series(3, true);

/// Coefficients m/(k + offset)!, with m = 1, or m = k + offset − 1 where `times_degree`.
const fn series(offset: usize, times_degree: bool) -> [f64; TERMS] {
    let mut coefficients = [0.0; TERMS];
    let mut k = 0;
    while k < TERMS {
        let mut factorial = 1.0;
        let mut j = 2;
        while j <= k + offset {
            factorial *= j as f64;
            j += 1;
        }
        let multiple = if times_degree { (k + offset - 1) as f64 } else { 1.0 };
        coefficients[k] = multiple / factorial;
        k += 1;
    }
    coefficients
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed with 400 digits from the printed formulas: x, then the five functions
    /// in the order of this file.
    const EXACT: [(f64, [f64; 5]); 12] = [
        (1e-100, [1.0, 5e-101, 1.6666666666666668e-101, 5e-201, 3.3333333333333336e-101]),
        (
            1e-08,
            [
                0.999999995,
                4.999999983333333e-09,
                1.6666666625e-09,
                4.999999966666667e-17,
                3.3333333208333336e-09,
            ],
        ),
        (
            1e-05,
            [
                0.9999950000166666,
                4.999983333375e-06,
                1.6666625000083335e-06,
                4.999966666791667e-11,
                3.333320833366667e-06,
            ],
        ),
        (
            0.01,
            [
                0.9950166250831947,
                0.004983374916805358,
                0.001662508319464261,
                4.966791334026589e-05,
                0.0033208665973410963,
            ],
        ),
        (
            0.3,
            [
                0.8639392643942738,
                0.1360607356057262,
                0.046464214647579265,
                0.03693631311376677,
                0.08959652095814695,
            ],
        ),
        (
            0.499,
            [
                0.7872996117459126,
                0.21270038825408744,
                0.07374671692567647,
                0.08990089688555433,
                0.13895367132841097,
            ],
        ),
        (
            0.5,
            [
                0.7869386805747332,
                0.21306131942526685,
                0.0738773611494663,
                0.09020401043104986,
                0.13918395827580055,
            ],
        ),
        (
            0.75,
            [
                0.7035112630119804,
                0.2964887369880196,
                0.10468168401597384,
                0.17335853270322427,
                0.19180705297204576,
            ],
        ),
        (
            1.0,
            [
                0.6321205588285577,
                0.36787944117144233,
                0.1321205588285577,
                0.2642411176571154,
                0.23575888234288464,
            ],
        ),
        (
            4.0,
            [
                0.24542109027781644,
                0.7545789097221836,
                0.3113552725694541,
                0.9084218055563291,
                0.44322363715272944,
            ],
        ),
        (
            30.0,
            [
                0.03333333333333022,
                0.9666666666666698,
                0.4677777777777777,
                0.9999999999970991,
                0.4988888888888921,
            ],
        ),
        (1000000000.0, [1e-09, 0.999999999, 0.499999999, 1.0, 0.5]),
    ];

    const FUNCTIONS: [fn(f64) -> f64; 5] =
        [mean_survival, mean_change_probability, mean_age_fraction, freshness_gain, age_gain];

    #[test]
    fn every_function_keeps_thirteen_digits() {
        for (x, expected) in EXACT {
            for (function, (evaluate, expected)) in FUNCTIONS.iter().zip(expected).enumerate() {
                let error = (evaluate(x) / expected - 1.0).abs();
                assert!(error < 1e-13, "function {function} at {x}: relative error {error:e}");
            }
        }
    }

    #[test]
    fn the_limits_are_values_and_not_nan() {
        for (evaluate, (zero, infinity)) in
            FUNCTIONS.iter().zip([(1.0, 0.0), (0.0, 1.0), (0.0, 0.5), (0.0, 1.0), (0.0, 0.5)])
        {
            assert_eq!(evaluate(0.0), zero);
            assert_eq!(evaluate(f64::INFINITY), infinity);
        }
    }

    #[test]
    fn the_inverse_of_the_gain_undoes_it() {
        for exponent in -1200..=113 {
            let x = 10f64.powf(f64::from(exponent) / 100.0);
            let back = freshness_gain_inverse(freshness_gain(x));
            assert!(
                (back / x - 1.0).abs() < 1e-12 * x.max(1.0).exp().max(1.0),
                "{x:e} came back as {back:e}"
            );
        }
        assert_eq!(freshness_gain_inverse(0.0), 0.0);
        assert_eq!(freshness_gain_inverse(1.0), f64::INFINITY);
    }

    #[test]
    fn the_inverse_of_the_complement_reaches_where_the_gain_rounds_to_one() {
        for x in [0.2f64, 1.0, 5.0, 40.0, 300.0, 700.0] {
            let complement = (1.0 + x) * (-x).exp();
            let back = freshness_gain_inverse_of_complement(complement);
            assert!((back / x - 1.0).abs() < 1e-12, "{x} came back as {back}");
        }
    }
}
