//! Binomial distribution in logarithms: how many of `n` even visits find a change.
//!
//! Loader's saddle-point form ("Fast and accurate computation of binomial probabilities", 2000): the
//! logarithm of C(n, k) p^k q^(n−k) as deviances and Stirling errors. None of them is a difference of large
//! terms, so nothing cancels.
//!
//! # Promises
//! - [`ChangeCount::log_probability`] has an absolute error below 1e-12 for `n` up to 10^12, whatever `r`.
//! - [`ChangeCount::within`] leaves out only counts that are less likely than the most likely
//!   one by the stated factor.

use std::f64::consts::PI;
use std::ops::RangeInclusive;

use statrs::function::gamma::ln_gamma;

/// The number of `n` visits that find a change, when r changes are expected per visit: X of the thesis,
/// 6.4.1.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChangeCount {
    visits: u64,
    /// 1 − e^-r and e^-r, each exact to its last digits.
    changed: f64,
    unchanged: f64,
    log_changed: f64,
    log_unchanged: f64,
}

impl ChangeCount {
    /// The count for `visits` visits. `changes_per_visit` may be zero or infinite.
    pub(super) fn new(visits: u64, changes_per_visit: f64) -> Self {
        assert!(0.0 <= changes_per_visit);
        Self {
            visits,
            changed: -(-changes_per_visit).exp_m1(),
            unchanged: (-changes_per_visit).exp(),
            log_changed: log_change_probability(changes_per_visit),
            log_unchanged: -changes_per_visit,
        }
    }

    /// ln P{X = k}; minus infinity for impossible counts.
    pub(super) fn log_probability(&self, changes_found: u64) -> f64 {
        assert!(changes_found <= self.visits);
        let (n, k) = (self.visits as f64, changes_found as f64);
        let j = (self.visits - changes_found) as f64;
        if self.visits == 0 {
            0.0
        } else if changes_found == 0 {
            n * self.log_unchanged
        } else if changes_found == self.visits {
            n * self.log_changed
        } else {
            let deviance = deviance(k, n * self.changed) + deviance(j, n * self.unchanged);
            stirling_error(n) - stirling_error(k) - stirling_error(j) - deviance
                + 0.5 * ((n / k) / (2.0 * PI * j)).ln()
        }
    }

    /// The counts, from `least` up, whose probability is at least e^-depth times that
    /// of the most likely of them.
    pub(super) fn within(&self, depth: f64, least: u64) -> RangeInclusive<u64> {
        let mode = ((self.visits as f64 + 1.0) * self.changed).floor() as u64;
        let mode = mode.min(self.visits).max(least.min(self.visits));
        let floor = self.log_probability(mode) - depth;
        let likely = |count: u64| self.log_probability(count) >= floor;
        // The probability falls on both sides of the mode, so each end is found by bisection.
        let low = partition(least.min(mode), mode, likely);
        let high = self.visits - partition(0, self.visits - mode, |missing| likely(self.visits - missing));
        low..=high
    }
}

/// ln(1 − e^-x), exact for small and for large `x`.
pub(super) fn log_change_probability(expected_changes: f64) -> f64 {
    if expected_changes < std::f64::consts::LN_2 {
        (-(-expected_changes).exp_m1()).ln()
    } else {
        (-(-expected_changes).exp()).ln_1p()
    }
}

/// The smallest number in `low..=high` for which `likely` holds. It must hold for `high` and,
/// once it holds, for all above.
fn partition(low: u64, high: u64, likely: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (low, high);
    while low < high {
        let middle = low + (high - low) / 2;
        if likely(middle) { high = middle } else { low = middle + 1 }
    }
    high
}

/// ln x! − ln(√(2πx) (x/e)^x), for real x > 0.
pub(super) fn stirling_error(x: f64) -> f64 {
    if x < 16.0 {
        return ln_gamma(x + 1.0) - (x + 0.5) * x.ln() + x - 0.5 * (2.0 * PI).ln();
    }
    let y = 1.0 / (x * x);
    (1.0 / 12.0 - y * (1.0 / 360.0 - y * (1.0 / 1260.0 - y * (1.0 / 1680.0 - y / 1188.0)))) / x
}

/// x ln(x/m) + m − x: how far the count `x` is from its mean `m`, in nats.
pub(super) fn deviance(x: f64, mean: f64) -> f64 {
    let difference = x - mean;
    if difference.abs() >= 0.1 * (x + mean) {
        return x * (x / mean).ln() + mean - x;
    }
    // x ln(x/m) = 2x (v + v³/3 + v⁵/5 + …) with v = (x − m)/(x + m); the leading terms combine to (x − m) v.
    let v = difference / (x + mean);
    let mut sum = difference * v;
    let mut term = 2.0 * x * v;
    for k in 1..DEVIANCE_TERMS_MAX {
        term *= v * v;
        let next = sum + term / f64::from(2 * k + 1);
        if next == sum {
            break;
        }
        sum = next;
    }
    sum
}

/// Limit of the series. With |v| below 0.1 every term gains two digits, so it converges long before.
const DEVIANCE_TERMS_MAX: u32 = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(visits: u64, changes_per_visit: f64, changes_found: u64, expected: f64) {
        let log = ChangeCount::new(visits, changes_per_visit).log_probability(changes_found);
        assert!((log - expected).abs() < 1e-12 * expected.abs().max(1.0), "{log} is not {expected}");
    }

    /// Computed with 60 digits.
    #[test]
    fn logarithms_keep_twelve_digits_for_few_and_for_many_visits() {
        check(10, 1.0, 3, -3.5885336933792);
        check(10, 1e-8, 1, -16.11809574595832);
        check(10, 1e-8, 10, -184.20680748952364);
        check(5, 700.0, 4, -698.3905620875659);
        check(1000, 0.7, 400, -25.18425599780867);
        check(1_000_000, 1.0, 632_121, -7.097356682346376);
        check(1_000_000_000, 0.3, 259_181_779, -10.455458645485741);
        check(1_000_000_000_000, 1.0, 632_120_558_828, -14.005111518476665);
        check(1_000_000_000_000, 1e-11, 13, -2.6185576442138294);
        check(1_000_000_000_000, 20.0, 999_999_998_000, -5.635741096138051);
        check(1_000_000_000, 2.5, 999_999_999, -85650465.43312186);
    }

    #[test]
    fn what_cannot_happen_has_no_probability() {
        assert_eq!(ChangeCount::new(3, 0.0).log_probability(1), f64::NEG_INFINITY);
        assert_eq!(ChangeCount::new(3, f64::INFINITY).log_probability(2), f64::NEG_INFINITY);
        assert_eq!(ChangeCount::new(3, f64::INFINITY).log_probability(3), 0.0);
        assert_eq!(ChangeCount::new(0, 1.0).log_probability(0), 0.0);
    }

    #[test]
    fn probabilities_add_up_to_one() {
        for (visits, changes_per_visit) in [(1, 0.3), (7, 1e-6), (200, 2.0), (100_000, 0.01)] {
            let count = ChangeCount::new(visits, changes_per_visit);
            let sum: f64 = count.within(60.0, 0).map(|k| count.log_probability(k).exp()).sum();
            assert!((sum - 1.0).abs() < 1e-12, "{sum}");
        }
    }

    #[test]
    fn what_is_left_out_is_unlikely() {
        let count = ChangeCount::new(1000, 0.5);
        let range = count.within(40.0, 0);
        let most = count.log_probability(393);
        assert!(count.log_probability(*range.start()) >= most - 40.0);
        assert!(count.log_probability(range.start() - 1) < most - 40.0);
        assert!(count.log_probability(*range.end()) >= most - 40.0);
        assert!(count.log_probability(range.end() + 1) < most - 40.0);
        assert_eq!(*ChangeCount::new(10, 1e-9).within(40.0, 1).start(), 1);
    }
}
