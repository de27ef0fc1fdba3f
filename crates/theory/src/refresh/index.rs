//! The index form for the other objectives: visit a page when what a visit gains reaches the common threshold.
//!
//! For freshness the index is [`super::lifetime::Lifetime::index`]. For the others, with rate λ and time t since the last visit:
//!
//! > age (thesis, section 5.5.4): t²/2 + (t/λ)e^-λt − (1 − e^-λt)/λ² = t² G(λt)
//! > harmonic (LambdaCrawl, Kolobov et al. 2019): λt²/(1 + λt), never bounded, so that no page is given up
//! > changes found: g(λt), the same order as the chance of a change
//!
//! Each grows with t, and its inverse says when a page is due under a threshold.
//!
//! # Promises
//! - Twelve digits for λt from 1e-150 on; the inverses undo them.
//! - A page that never changes is never due.

use super::incomplete_gamma::search;
use crate::numerics::{age_gain, freshness_gain, freshness_gain_inverse};
use crate::units::{ChangesPerDay, Days};

/// What a visit gains in age, in days squared.
pub fn age_index(change_rate: ChangesPerDay, elapsed: Days) -> f64 {
    let (rate, t) = (change_rate.get(), elapsed.get());
    if rate == 0.0 { 0.0 } else { t * t * age_gain(rate * t) }
}

/// When the age index reaches a threshold. Panics if that is negative.
pub fn age_due(change_rate: ChangesPerDay, index: f64) -> Days {
    assert!(0.0 <= index);
    let rate = change_rate.get();
    if rate == 0.0 || index == f64::INFINITY {
        return Days::FOREVER;
    }
    if index == 0.0 {
        return Days::ZERO;
    }
    // λt³/3 for short times, t²/2 for long ones; the slope by ln t is t² (1 − e^-λt).
    let start = ((3.0 * index / rate).ln() / 3.0).max(0.5 * (2.0 * index).ln());
    Days::new(search(start, |ln_t| {
        let t = ln_t.exp();
        let value = t * t * age_gain(rate * t);
        (value.ln() - index.ln(), t * t * -(-rate * t).exp_m1() / value)
    }))
}

/// What a visit gains under the harmonic objective, in days.
pub fn harmonic_index(change_rate: ChangesPerDay, elapsed: Days) -> f64 {
    let (rate, t) = (change_rate.get(), elapsed.get());
    if rate == 0.0 { 0.0 } else { t / (1.0 + 1.0 / (rate * t)) }
}

/// When the harmonic index reaches a threshold. Panics if that is negative.
pub fn harmonic_due(change_rate: ChangesPerDay, index: f64) -> Days {
    assert!(0.0 <= index);
    let rate = change_rate.get();
    if rate == 0.0 || index == f64::INFINITY {
        return Days::FOREVER;
    }
    // The positive root of λt² − λvt − v = 0, as a sum of positive terms.
    Days::new(0.5 * index + (0.25 * index * index + index / rate).sqrt())
}

/// Chance-like gain of a visit in changes found: g(λt), from 0 to 1.
pub fn changes_index(change_rate: ChangesPerDay, elapsed: Days) -> f64 {
    let (rate, t) = (change_rate.get(), elapsed.get());
    if rate == 0.0 { 0.0 } else { freshness_gain(rate * t) }
}

/// When the changes index reaches a threshold; never from one on. Panics if that is negative.
pub fn changes_due(change_rate: ChangesPerDay, index: f64) -> Days {
    assert!(0.0 <= index);
    let rate = change_rate.get();
    if rate == 0.0 { Days::FOREVER } else { Days::new(freshness_gain_inverse(index) / rate) }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Index = fn(ChangesPerDay, Days) -> f64;
    type Due = fn(ChangesPerDay, f64) -> Days;
    const PAIRS: [(Index, Due); 3] =
        [(age_index, age_due), (harmonic_index, harmonic_due), (changes_index, changes_due)];

    #[test]
    fn the_inverses_undo_the_indices() {
        for (index, due) in PAIRS {
            for rate in [1e-6, 0.3, 1.0, 50.0] {
                for x in [1e-8, 1e-3, 0.4, 1.0, 3.0, 8.0] {
                    let (rate, t) = (ChangesPerDay::new(rate), x / rate);
                    let back = due(rate, index(rate, Days::new(t))).get();
                    assert!((back / t - 1.0).abs() < 1e-10, "{rate:?} {t}: {back}");
                }
            }
        }
    }

    #[test]
    fn a_page_that_never_changes_is_never_due() {
        for (index, due) in PAIRS {
            assert_eq!(index(ChangesPerDay::ZERO, Days::new(5.0)), 0.0);
            assert_eq!(due(ChangesPerDay::ZERO, 0.1), Days::FOREVER);
        }
    }

    #[test]
    fn the_age_index_is_the_printed_formula_where_that_does_not_cancel() {
        let (rate, t): (f64, f64) = (0.7, 3.0);
        let printed = t * t / 2.0 + t / rate * (-rate * t).exp() - (1.0 - (-rate * t).exp()) / (rate * rate);
        assert!((age_index(ChangesPerDay::new(rate), Days::new(t)) / printed - 1.0).abs() < 1e-12);
    }

    #[test]
    fn intervals_of_equal_age_index_are_the_row_of_the_table() {
        // Table 5.5, row (c): rates 1 to 5 and five visits a day.
        let frequencies = [
            0.834_869_990_334_63,
            0.967_925_287_153_96,
            1.033_519_797_710_47,
            1.070_613_142_781_45,
            1.093_071_782_019_5,
        ];
        let threshold = age_index(ChangesPerDay::new(1.0), Days::new(1.0 / frequencies[0]));
        for (rate, frequency) in (1..=5).zip(frequencies) {
            let due = age_due(ChangesPerDay::new(f64::from(rate)), threshold).get();
            assert!((due * frequency - 1.0).abs() < 1e-10, "{rate}: {due}");
        }
    }
}
