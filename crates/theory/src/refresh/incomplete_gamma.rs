//! The incomplete gamma function, both ends with all their digits, and its inverse.
//!
//! > P(a, z) = ∫₀^z u^(a−1) e^-u du / Γ(a),  Q = 1 − P
//!
//! Below z = a + 1 P is summed as its series, above Q as its continued fraction (Lentz's method); the smaller of the two is always
//! the one computed, so that neither is a difference of large numbers.
//!
//! # Promises
//! - Relative error below 1e-12 in P and in Q wherever they are above 1e-300, for `a` from 1 to 10,000.
//! - The inverses undo them to the same digits.

use statrs::function::gamma::ln_gamma;

/// Terms after which series and fraction stop: far more than either needs for the `a` that we meet.
const TERMS_MAX: usize = 100_000;
/// Steps of a search; Newton's method takes five to ten.
const STEPS_MAX: usize = 200;

/// P and Q of one argument, as logarithms.
#[derive(Clone, Copy, Debug)]
pub(super) struct Regularised {
    /// ln P.
    pub(super) ln_lower: f64,
    /// ln Q.
    pub(super) ln_upper: f64,
}

/// P(a, z) and Q(a, z). Panics unless `a` is positive and finite and `z` is not negative.
pub(super) fn regularised(a: f64, z: f64) -> Regularised {
    assert!(a > 0.0);
    assert!(a.is_finite());
    assert!(0.0 <= z);
    if z == 0.0 {
        return Regularised { ln_lower: f64::NEG_INFINITY, ln_upper: 0.0 };
    }
    if z == f64::INFINITY {
        return Regularised { ln_lower: 0.0, ln_upper: f64::NEG_INFINITY };
    }
    let ln_front = a * z.ln() - z - ln_gamma(a);
    if z < a + 1.0 {
        let ln_lower = (ln_front + series(a, z).ln()).min(0.0);
        Regularised { ln_lower, ln_upper: ln_one_minus_exp(ln_lower) }
    } else {
        let ln_upper = (ln_front + fraction(a, z).ln()).min(0.0);
        Regularised { ln_lower: ln_one_minus_exp(ln_upper), ln_upper }
    }
}

/// The z with ln P(a, z) = `ln_lower`, for values up to a half or so.
pub(super) fn inverse_of_lower(a: f64, ln_lower: f64) -> f64 {
    // P is near z^a / Γ(a + 1) for small z.
    let start = ((ln_lower + ln_gamma(a + 1.0)) / a).min((2.0 * a + 10.0).ln());
    search(start, |ln_z| {
        let z = ln_z.exp();
        let ln_p = regularised(a, z).ln_lower;
        (ln_p - ln_lower, (a * ln_z - z - ln_gamma(a) - ln_p).exp())
    })
}

/// The z with ln Q(a, z) = `ln_upper`, for values up to a half or so.
pub(super) fn inverse_of_upper(a: f64, ln_upper: f64) -> f64 {
    // Q is near z^(a−1) e^-z / Γ(a) for large z.
    let far = -ln_upper - ln_gamma(a);
    let start = (far + (a - 1.0) * far.max(a).ln()).max(a);
    search(start.ln(), |ln_z| {
        let z = ln_z.exp();
        let ln_q = regularised(a, z).ln_upper;
        (ln_upper - ln_q, (a * ln_z - z - ln_gamma(a) - ln_q).exp())
    })
}

/// Root, as e^x, of an increasing function of x given with its slope: Newton's method, kept within what is known.
pub(super) fn search(start: f64, function: impl Fn(f64) -> (f64, f64)) -> f64 {
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    let mut x = start;
    for _ in 0..STEPS_MAX {
        let (value, slope) = function(x);
        if value == 0.0 {
            break;
        }
        if value > 0.0 {
            high = x;
        } else {
            low = x;
        }
        let mut next = x - value / slope;
        if !(low < next && next < high) {
            next = match (low.is_finite(), high.is_finite()) {
                (true, true) => 0.5 * (low + high),
                (true, false) => x + 1.0 + 0.5 * x.abs(),
                _ => x - 1.0 - 0.5 * x.abs(),
            };
        }
        let done = (next - x).abs() <= 1e-16 * x.abs().max(1.0);
        x = next;
        if done {
            break;
        }
    }
    x.exp()
}

/// Σ z^n / (a (a+1) … (a+n)).
fn series(a: f64, z: f64) -> f64 {
    let (mut term, mut sum) = (1.0 / a, 1.0 / a);
    for n in 1..TERMS_MAX {
        term *= z / (a + n as f64);
        sum += term;
        if term < sum * 1e-17 {
            break;
        }
    }
    sum
}

/// 1/(z + 1 − a − 1·(1 − a)/(z + 3 − a − …)).
fn fraction(a: f64, z: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let mut b = z + 1.0 - a;
    let mut c = 1.0 / TINY;
    let mut d = 1.0 / b;
    let mut value = d;
    for n in 1..TERMS_MAX {
        let n = n as f64;
        let numerator = n * (a - n);
        b += 2.0;
        d = 1.0 / nonzero(numerator * d + b, TINY);
        c = nonzero(b + numerator / c, TINY);
        let change = c * d;
        value *= change;
        if (change - 1.0).abs() < 1e-16 {
            break;
        }
    }
    value
}

fn nonzero(value: f64, tiny: f64) -> f64 {
    if value.abs() < tiny { tiny } else { value }
}

/// ln(1 − e^x) for x ≤ 0.
fn ln_one_minus_exp(x: f64) -> f64 {
    if x > -std::f64::consts::LN_2 { (-x.exp_m1()).ln() } else { (-x.exp()).ln_1p() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(a: f64, z: f64, lower: f64, upper: f64) {
        let got = regularised(a, z);
        assert!((got.ln_lower.exp() / lower - 1.0).abs() < 1e-12, "P({a}, {z}) = {:e}", got.ln_lower.exp());
        assert!((got.ln_upper.exp() / upper - 1.0).abs() < 1e-12, "Q({a}, {z}) = {:e}", got.ln_upper.exp());
    }

    #[test]
    fn known_values_come_out() {
        // Computed with 50 digits.
        check(1.0, 1e-06, 9.999995000001667e-07, 0.9999990000005);
        check(1.5, 0.3, 0.10356762665808858, 0.8964323733419114);
        check(2.0, 0.001, 4.996667916333403e-07, 0.9999995003332084);
        check(2.0, 40.0, 0.9999999999999998, 1.7418252446695514e-16);
        check(2.4285714285714284, 3.0, 0.7099278372892975, 0.2900721627107024);
        check(3.7, 2.5, 0.2985451307009198, 0.7014548692990802);
        check(21.0, 5.5, 3.7464557850383974e-07, 0.9999996253544216);
        check(21.0, 60.0, 0.9999999980488822, 1.9511178607720872e-09);
        check(101.0, 90.0, 0.13490016376128836, 0.8650998362387117);
        check(1001.0, 1100.0, 0.9988247694318635, 0.0011752305681365554);
    }

    #[test]
    fn the_inverses_undo_both_ends() {
        for a in [1.0, 1.5, 2.0, 3.7, 21.0, 1001.0] {
            for z in [1e-9, 0.01, 0.5, 0.9 * a, a, 2.0 * a, 5.0 * a + 30.0] {
                let both = regularised(a, z);
                let back = if both.ln_lower < both.ln_upper {
                    inverse_of_lower(a, both.ln_lower)
                } else {
                    inverse_of_upper(a, both.ln_upper)
                };
                assert!((back / z - 1.0).abs() < 1e-9, "{a} {z}: {back}");
            }
        }
    }
}
