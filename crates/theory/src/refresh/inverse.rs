//! Inverse of the marginal gains: the changes per visit at which one more visit gains exactly
//! its price (Poisson pages).
//!
//! Implements the inverse of ∂F̄/∂f = μ and of ∂Ā/∂f = −μ (thesis, section 5.5.4). By the scaling property
//! (Theorem 5.5) each is one curve for all pages; with x = λ/f the changes per visit:
//!
//! > freshness: g(x) = 1 − (1 + x)e^-x = μλ/w,  age: K(x) = x²/2 − g(x) = μλ²/w
//!
//! Near its ceiling a gain g rounds to one long before x stops to matter (x = 40 already leaves
//! 1 − g = 2e-16). So there the freshness curve is kept as a function of the *log complement*
//! −ln(1 − g) = x − ln(1 + x), which never runs out of digits. The curves are tables in the root of their
//! argument in which they are analytic at zero: √(2g), √(−2 ln(1 − g)), ∛(3K).
//!
//! # Promises
//! - Relative error below 2e-14 from the smallest argument to the largest, except for digits that the
//!   argument itself has lost.

use std::ops::Range;
use std::sync::LazyLock;

use super::response::{Block, block_of};
use super::tabulated::Tabulated;
use crate::numerics::age_gain;

/// The freshness curve.
#[derive(Clone, Debug)]
pub(super) struct FreshnessCurve {
    /// x/s over s, where s²/2 is the gain. Its singularity at s = √2 is 0.16 away from the end of the table.
    by_gain: Tabulated,
    /// x/v over v, where v²/2 is the log complement. Its nearest singularities, at v² = ±4πi,
    /// are 2.5 away from the axis.
    by_log_complement: Tabulated,
}

impl FreshnessCurve {
    /// From this gain on the table by gain must not be used: it ends at s = 5/4.
    pub(super) const GAIN_END: f64 = 0.78125;
    /// End of the table by log complement, as v.
    const LOG_COMPLEMENT_END: f64 = 9.0;

    /// The curve; computed once.
    pub(super) fn get() -> &'static Self {
        static CURVE: LazyLock<FreshnessCurve> = LazyLock::new(|| FreshnessCurve {
            by_gain: Tabulated::new(1.25, 128.0, |s| over_root(s, -(-0.5 * s * s).ln_1p())),
            by_log_complement: Tabulated::new(FreshnessCurve::LOG_COMPLEMENT_END, 8.0, |v| {
                over_root(v, 0.5 * v * v)
            }),
        });
        &CURVE
    }

    /// Changes per visit whose freshness gain is `gain`, which is below [`Self::GAIN_END`].
    #[inline(always)]
    pub(super) fn at_gain(&self, gain: f64) -> f64 {
        let s = (2.0 * gain).sqrt();
        s * self.by_gain.at(s)
    }

    /// [`Self::at_gain`] for a whole block, vectorised.
    #[inline(always)]
    pub(super) fn at_gains(&self, gains: &Block) -> Block {
        let roots = block_of(|page| (2.0 * gains[page]).sqrt());
        block_of(|page| roots[page] * self.by_gain.at(roots[page]))
    }

    /// Changes per visit `x` with x − ln(1 + x) = `log_complement`: the freshness gain of `x` is
    /// 1 − e^-`log_complement`.
    #[inline]
    pub(super) fn at_log_complement(&self, log_complement: f64) -> f64 {
        let v = (2.0 * log_complement).sqrt();
        if v < Self::LOG_COMPLEMENT_END {
            v * self.by_log_complement.at(v)
        } else {
            freshness_far_out(log_complement)
        }
    }
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

/// The age curve: x/s over s, where s³/3 is the gain. Its nearest singularities come from x = ±2πi and are
/// 3.2 away from the axis.
#[derive(Clone, Debug)]
pub(super) struct AgeCurve(Tabulated);

impl AgeCurve {
    /// Range of the curve. Gains outside use the leading power: products of their roots would
    /// leave the range of a double.
    pub(super) const GAINS: Range<f64> = 1e-140..1e140;
    /// From this gain on, where x is above 37, 1 − g(x) is less than the last digit of x²/2.
    const GAIN_END: f64 = 700.0;
    /// The s of this gain.
    const TABLE_END: f64 = 12.81;

    /// The curve; computed once.
    pub(super) fn get() -> &'static Self {
        static CURVE: LazyLock<AgeCurve> =
            LazyLock::new(|| AgeCurve(Tabulated::new(AgeCurve::TABLE_END, 8.0, solve_age)));
        &CURVE
    }

    /// Changes per visit `x` with x²/2 − g(x) = `gain`, for gains within [`Self::GAINS`].
    #[inline(always)]
    pub(super) fn at_gain(&self, gain: f64) -> f64 {
        // Both are computed and one is selected: the branch would be unpredictable.
        let s = cube_root(3.0 * gain);
        let (near, far) = (s * self.0.at(s), (2.0 * (gain + 1.0)).sqrt());
        if gain < Self::GAIN_END { near } else { far }
    }

    /// [`Self::at_gain`] for a whole block, vectorised.
    #[inline(always)]
    pub(super) fn at_gains(&self, gains: &Block) -> Block {
        let roots = block_of(|page| cube_root(3.0 * gains[page]));
        let near = block_of(|page| roots[page] * self.0.at(roots[page]));
        let far = block_of(|page| (2.0 * (gains[page] + 1.0)).sqrt());
        block_of(|page| if gains[page] < Self::GAIN_END { near[page] } else { far[page] })
    }
}

/// The cube root of a normal number above zero, to within two units in the last place.
#[inline(always)]
fn cube_root(cube: f64) -> f64 {
    // Minus a third of the exponent, with a constant that spreads the error of the
    // mantissa evenly: 1/∛ within 4 %.
    let mut inverse = f64::from_bits(0x553E_F0FF_289D_D796 - cube.to_bits() / 3);
    // 1/∛ = r (1 − h)^(−1/3) with h = 1 − cube r³. Four terms of the series, twice, reduce the error from
    // 4e-2 to 2e-5 and then to rounding.
    for _ in 0..2 {
        let h = 1.0 - cube * inverse * inverse * inverse;
        inverse += inverse * h * (1.0 / 3.0 + h * (2.0 / 9.0 + h * (14.0 / 81.0)));
    }
    let root = cube * inverse * inverse;
    // One Newton step for the root itself removes the error that squaring has doubled.
    root - (root * root * root - cube) * (inverse * inverse) / 3.0
}

/// x/v with x − ln(1 + x) = `log_complement`. v is a root of 2 `log_complement` up to higher
/// powers, and may be negative.
fn over_root(v: f64, log_complement: f64) -> f64 {
    // For negative v the solution is the one between −1 and 0, and its ratio to v continues the curve.
    let root = (2.0 * log_complement).sqrt().copysign(v);
    let mut x = root * (1.0 + root * (1.0 / 3.0 + root / 36.0));
    for _ in 0..6 {
        let step = (log_complement_of_freshness(x) - log_complement) * (1.0 + x) / x;
        x -= step / (1.0 - 0.5 * step / (x * (1.0 + x)));
    }
    if v == 0.0 { 1.0 } else { x / v }
}

/// Solves x²/2 − g(x) = s³/3 by Newton's method and returns x/s; for negative s too,
/// where it continues the curve.
fn solve_age(s: f64) -> f64 {
    let gain = s * s * s / 3.0;
    let mut x = if s < 2.0 { s * (1.0 + s / 8.0) } else { (2.0 * gain + 2.0).sqrt() };
    for _ in 0..8 {
        let curve = if x < 0.5 { age_series(x) } else { x * x * age_gain(x) };
        x -= (curve - gain) / (-x * (-x).exp_m1());
    }
    if s == 0.0 { 1.0 } else { x / s }
}

/// x²/2 − g(x) = Σ (k − 1)(−1)^(k−1) x^k/k! over k ≥ 3, for x of either sign.
fn age_series(x: f64) -> f64 {
    let (mut sum, mut power) = (0.0, x * x / 2.0);
    for k in 3..22 {
        power *= -x / f64::from(k);
        sum -= f64::from(k - 1) * power;
    }
    sum
}

/// Beyond the table, where x is above 40. There the first Newton step gains three digits.
#[cold]
fn freshness_far_out(log_complement: f64) -> f64 {
    if log_complement == f64::INFINITY {
        return f64::INFINITY;
    }
    let mut x = log_complement;
    for _ in 0..5 {
        x -= (x - x.ln_1p() - log_complement) * (1.0 + x) / x;
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::freshness_gain;

    fn spread() -> impl Iterator<Item = f64> {
        (-30_000..30_000).map(|exponent| 10f64.powf(f64::from(exponent) / 2000.0))
    }

    #[test]
    fn the_freshness_curve_undoes_its_function_to_fourteen_digits() {
        let curve = FreshnessCurve::get();
        for x in spread() {
            let back = curve.at_log_complement(log_complement_of_freshness(x));
            assert!((back / x - 1.0).abs() < 2e-14, "{x:e} came back as {back:e}");
        }
        assert_eq!(curve.at_log_complement(f64::INFINITY), f64::INFINITY);
        assert_eq!(curve.at_log_complement(1e300), 1e300);
    }

    #[test]
    fn the_freshness_curve_undoes_the_gain_while_the_gain_has_digits() {
        let curve = FreshnessCurve::get();
        for x in spread().take_while(|x| freshness_gain(*x) < FreshnessCurve::GAIN_END) {
            let back = curve.at_gain(freshness_gain(x));
            assert!((back / x - 1.0).abs() < 2e-14, "{x:e} came back as {back:e}");
        }
    }

    #[test]
    fn the_age_curve_undoes_its_function_to_fourteen_digits() {
        let curve = AgeCurve::get();
        for x in spread() {
            let back = curve.at_gain(x * x * age_gain(x));
            assert!((back / x - 1.0).abs() < 2e-14, "{x:e} came back as {back:e}");
        }
    }

    #[test]
    fn the_cube_root_is_exact_to_the_last_digits() {
        for x in spread().chain([1e-280, 1e280]) {
            assert!((cube_root(x) / x.cbrt() - 1.0).abs() < 5e-16, "{x:e}");
        }
    }
}
