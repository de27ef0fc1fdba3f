//! Expected freshness and age of a copy, a given time after a visit.
//!
//! Implements the thesis, section 5.2.2, for a page that changes by a Poisson process:
//!
//! > E[F(t)] = e^-λt,  E[A(t)] = t (1 − (1 − e^-λt) / λt)
//!
//! where the page was visited `t` ago and changes at the rate `λ`.
//!
//! # Promises
//! - Both values keep twelve digits for λt from 1e-9 on, where the age is λt²/2 and its formula a
//!   difference of large terms.
//! - A page that never changes is fresh at any time.
//!
//! # Departures
//! None.

use super::measure::FreshnessAndAge;
use crate::numerics::mean_change_probability;
use crate::units::{ChangesPerDay, Days};

/// Expected freshness and age of a copy taken `since_visit` ago.
pub fn expected_after_visit(change_rate: ChangesPerDay, since_visit: Days) -> FreshnessAndAge {
    if change_rate == ChangesPerDay::ZERO || since_visit == Days::ZERO {
        return FreshnessAndAge::ALWAYS_FRESH;
    }
    let t = since_visit.get();
    let expected_changes = change_rate.get() * t;
    FreshnessAndAge {
        freshness: (-expected_changes).exp(),
        age: Days::new(t * mean_change_probability(expected_changes)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(change_rate: f64, since_visit: f64, freshness: f64, age: f64) {
        let got = expected_after_visit(ChangesPerDay::new(change_rate), Days::new(since_visit));
        let close = |got: f64, want: f64| got == want || (got / want - 1.0).abs() < 1e-12;
        assert!(close(got.freshness, freshness), "{got:?}");
        assert!(close(got.age.get(), age), "{got:?}");
    }

    #[test]
    fn both_values_keep_twelve_digits() {
        // Computed with 60 digits from the printed formulas.
        check(1.0, 0.5, 0.6065306597126334, 0.10653065971263342);
        check(0.1, 30.0, 0.049787068367863944, 20.497870683678638);
        check(3.0, 1e-6, 0.9999970000045, 1.499998500001125e-12);
        check(1e-9, 1.0, 0.999999999, 4.999999998333333e-10);
        check(1.0, 1e-9, 0.999999999, 4.999999998333333e-19);
        check(50.0, 10.0, 7.124576406741286e-218, 9.98);
    }

    #[test]
    fn extremes_are_values() {
        check(0.0, 1e308, 1.0, 0.0);
        check(0.0, f64::INFINITY, 1.0, 0.0);
        check(1e308, 0.0, 1.0, 0.0);
        check(1e308, 1e308, 0.0, 1e308);
        check(1.0, f64::INFINITY, 0.0, f64::INFINITY);
    }

    proptest! {
        #[test]
        fn a_copy_grows_staler_and_older(rate in 1e-3..1e3f64, t in 1e-3..1.0f64, later in 1e-3..1.0f64) {
            let after = |since_visit| expected_after_visit(ChangesPerDay::new(rate), Days::new(since_visit));
            let (early, late) = (after(t), after(t + later));
            prop_assert!(late.freshness <= early.freshness);
            prop_assert!(late.age > early.age);
        }
    }
}
