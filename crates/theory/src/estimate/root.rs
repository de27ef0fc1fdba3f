//! Root of an increasing function, by Newton steps kept inside a bracket.
//!
//! # Promises
//! - The answer lies in the bracket, whatever the slope: a step that leaves it, or that does not halve the
//!   one before the last, is replaced by bisection.

/// The point of `[low, high]` at which an increasing function is zero, to the last digits.
///
/// `evaluate` returns the value and the slope. The value may be infinite and the slope may be NaN. When the
/// function has no zero in the bracket, the answer is the nearest end.
pub(super) fn root(low: f64, high: f64, start: f64, evaluate: impl Fn(f64) -> (f64, f64)) -> f64 {
    let (mut low, mut high) = (low, high);
    let mut x = start.clamp(low, high);
    let mut last_step = high - low;
    let mut step_before = last_step;
    for _ in 0..STEPS_MAX {
        let (value, slope) = evaluate(x);
        if value == 0.0 {
            return x;
        }
        if value < 0.0 {
            low = x;
        } else {
            high = x;
        }
        let newton = x - value / slope;
        let good = low < newton && newton < high && (newton - x).abs() <= 0.5 * step_before.abs();
        let next = if good { newton } else { low + 0.5 * (high - low) };
        step_before = last_step;
        last_step = next - x;
        x = next;
        if last_step.abs() <= 2.0 * f64::EPSILON * x.abs().max(f64::MIN_POSITIVE) {
            break;
        }
    }
    x
}

/// Maximum number of steps. Bisection alone needs about sixty steps for the digits of a double and a thousand
/// for its exponents; no caller has brackets that wide.
const STEPS_MAX: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_smooth_root_is_found_to_the_last_digits() {
        let x = root(0.0, 10.0, 9.0, |x| (x * x - 2.0, 2.0 * x));
        assert!((x - 2f64.sqrt()).abs() < 1e-15, "{x}");
    }

    #[test]
    fn a_useless_slope_still_leads_to_the_root() {
        let x = root(-5.0, 100.0, 50.0, |x| (x.powi(3) - 8.0, f64::NAN));
        assert!((x - 2.0).abs() < 1e-14, "{x}");
    }

    #[test]
    fn without_a_root_the_nearest_end_is_the_answer() {
        assert!((root(1.0, 2.0, 1.5, |_| (-1.0, 0.0)) - 2.0).abs() < 1e-12);
        assert!((root(1.0, 2.0, 1.5, |_| (f64::INFINITY, 0.0)) - 1.0).abs() < 1e-12);
    }
}
