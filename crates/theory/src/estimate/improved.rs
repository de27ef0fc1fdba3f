//! Improved estimator: rate of change of a page visited at even intervals, with little bias.
//!
//! Thesis, section 6.4.2 (**estimate**, section 4.2):
//!
//! > λ̂ = −ln((n − X + 0.5) / (n + 0.5)) / I
//!
//! where `X` of `n` visits, one every interval I, found a change. The 0.5 stands for the `a` that removes
//! the bias of rare changes,
//!
//! > n ln((n + a) / (n − 1 + a)) = 1, that is a = 1/(e^(1/n) − 1) − n + 1 = 1/2 + 1/(12 n) − 1/(720 n³) + …
//!
//! # Promises
//! - The rate is finite, even when every visit found a change, and zero when none did.
//! - For a given `n` the rate grows with `X`.
//! - The constant is exact to 1e-15 for any `n`, also where the equation itself cancels.
//!
//! # Departures
//! None. The thesis reads `a` from a graph; the equation has the closed solution above.

use super::even::EvenVisits;
use super::rate::RateEstimate;
use crate::units::Days;

/// The rate of a page visited once every `visit_interval`; `None` before the first visit.
///
/// # Examples
///
/// ```
/// use freshet_theory::estimate::even::EvenVisits;
/// use freshet_theory::estimate::improved::improved;
/// use freshet_theory::units::Days;
///
/// // Of ten daily visits, six found a change; some of these changes were more than one.
/// let rate = improved(&EvenVisits::new(10, 6), Days::new(1.0)).expect("there were visits");
/// assert!((rate.get() - 0.847).abs() < 0.001); // changes per day
///
/// // A page that had changed at every visit has a finite rate, too.
/// assert!(improved(&EvenVisits::new(10, 10), Days::new(1.0)).expect("visits").finite().is_some());
/// ```
pub fn improved(history: &EvenVisits, visit_interval: Days) -> Option<RateEstimate> {
    if history.visits() == 0 {
        return None;
    }
    Some(RateEstimate::from_changes_per_visit(changes_per_visit(history), visit_interval))
}

/// −ln((n − X + 0.5) / (n + 0.5)), accurate for few changes among many visits.
pub(super) fn changes_per_visit(history: &EvenVisits) -> f64 {
    let (n, x) = (history.visits() as f64, history.changes_found() as f64);
    let unchanged = (history.visits() - history.changes_found()) as f64;
    if x < unchanged {
        // Subtracted from zero, so that no change gives 0.0 and not −0.0.
        0.0 - (-x / (n + 0.5)).ln_1p()
    } else {
        // The half keeps the logarithm finite when every visit found a change.
        -((unchanged + 0.5) / (n + 0.5)).ln()
    }
}

/// The constant `a` with n ln((n + a)/(n − 1 + a)) = 1, with which the estimate of rare changes
/// has no bias. Tends to 1/2.
///
/// Panics if there are no visits.
pub fn singularity_constant(visits: u64) -> f64 {
    assert!(0 < visits);
    let n = visits as f64;
    if visits == 1 {
        return 1.0 / 1f64.exp_m1();
    }
    // 1/(e^x − 1) = 1/x − 1/2 + Σ B_2k x^(2k−1)/(2k)!, with x = 1/n.
    let y = 1.0 / (n * n);
    let series = BERNOULLI.iter().rev().fold(0.0, |sum, coefficient| coefficient + y * sum);
    0.5 + series / n
}

/// B_2k/(2k)! for k from 1: each is about 1/(2π)² of the one before.
const BERNOULLI: [f64; 8] = [
    1.0 / 12.0,
    -1.0 / 720.0,
    1.0 / 30_240.0,
    -1.0 / 1_209_600.0,
    1.0 / 47_900_160.0,
    -691.0 / 1_307_674_368_000.0,
    1.0 / 74_724_249_600.0,
    -3617.0 / 1.067062284288e+16,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(visits: u64, changes_found: u64, interval: f64, expected: f64) {
        let rate =
            improved(&EvenVisits::new(visits, changes_found), Days::new(interval)).map(RateEstimate::get);
        assert!(rate.is_some_and(|rate| (rate - expected).abs() <= 1e-14 * expected), "{rate:?}");
    }

    #[test]
    fn six_of_ten_daily_visits_are_more_than_six_changes() {
        check(10, 6, 1.0, 0.8472978603872037);
    }

    #[test]
    fn a_page_changed_at_every_visit_has_a_finite_rate() {
        check(10, 10, 1.0, 21f64.ln());
        check(4, 4, 10.0, 0.21972245773362195);
    }

    #[test]
    fn a_page_that_never_changed_has_the_rate_zero() {
        check(7, 0, 3.0, 0.0);
        assert!(improved(&EvenVisits::NONE, Days::new(1.0)).is_none());
    }

    #[test]
    fn one_change_in_many_visits_keeps_its_digits() {
        check(1 << 50, 1, 1.0, 8.881784197001252e-16);
    }

    #[test]
    fn more_changes_found_mean_a_higher_rate() {
        let rates: Vec<_> = (0..=50)
            .map(|x| improved(&EvenVisits::new(50, x), Days::new(1.0)).map(RateEstimate::get))
            .collect();
        assert!(rates.is_sorted());
        assert!(rates.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn the_constant_is_exact_for_few_and_for_many_visits() {
        for (visits, expected) in [
            (1, 0.5819767068693265),
            (2, 0.5414940825367982),
            (3, 0.527_726_473_157_129),
            (4, 0.5208116641877985),
            (10, 0.5083319447750496),
            (100, 0.5008333319444478),
            (1_000_000_000, 0.5000000000833333),
            (1 << 53, 0.5),
        ] {
            let a = singularity_constant(visits);
            assert!((a - expected).abs() < 1e-15, "{visits}: {a}");
        }
    }
}
