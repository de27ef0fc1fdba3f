//! Visit index: when a page is due, for each objective.
//!
//! Implements the threshold form of the allocation (thesis, section 5.5.4, read as a policy). The *index* of
//! a page is the gain of one more visit. A page is visited when its index, times its importance and divided
//! by its cost, reaches a common price. No schedule is stored; the price follows from the budget. For a page
//! that changes at rate λ and was visited `t` ago, with x = λt:
//!
//! > freshness g(x)/λ,  age t²/2 + (t/λ)e^-x − (1 − e^-x)/λ²,  harmonic λt²/(1 + x),  changes g(x)
//!
//! where g(x) = 1 − (1 + x)e^-x. Each is the derivative of the objective by the frequency, at the
//! frequency 1/t, so visiting at the threshold gives the optimal allocation. The index of changes
//! found orders pages as the probability of a change does. For other laws of survival the freshness
//! index is in [`super::survival`].
//!
//! # Promises
//! - Index and inverse keep twelve digits for λt from 1e-100 to 1e100, except for digits that an index
//!   near its ceiling has lost.
//! - A page that never changes is never due; neither is one at an index above its ceiling.

use super::allocation::Objective;
use super::inverse::AgeCurve;
use super::survival::law::Survival;
use super::survival::poisson::PoissonSurvival;
use crate::numerics::{age_gain, freshness_gain};
use crate::units::{ChangesPerDay, Days};

/// The gain of one more visit to a page of importance one, when the last visit was this long ago.
pub fn index(objective: Objective, change_rate: ChangesPerDay, since_visit: Days) -> f64 {
    let (rate, t) = (change_rate.get(), since_visit.get());
    if rate == 0.0 || t == 0.0 {
        return 0.0;
    }
    let x = rate * t;
    match objective {
        Objective::Freshness => PoissonSurvival { change_rate }.index(since_visit),
        Objective::Age => t * age_gain(x) * t,
        // λt²/(1 + λt) in a form that does not overflow before its value does.
        Objective::Harmonic if x < 1.0 => t * (x / (1.0 + x)),
        Objective::Harmonic => t / (1.0 + 1.0 / x),
        Objective::Changes => freshness_gain(x),
    }
}

/// Time after a visit at which the index of a page of importance one reaches this value.
/// Infinite if it never does.
///
/// Panics if the value is negative or NaN.
pub fn due_after(objective: Objective, change_rate: ChangesPerDay, index: f64) -> Days {
    assert!(0.0 <= index);
    let rate = change_rate.get();
    if index == 0.0 {
        return Days::ZERO;
    }
    if rate == 0.0 || index == f64::INFINITY {
        return Days::FOREVER;
    }
    match objective {
        Objective::Freshness => PoissonSurvival { change_rate }.due_after(index),
        Objective::Age => due_by_age(rate, index),
        // The root of λt² = c(1 + λt).
        Objective::Harmonic => Days::new(0.5 * index + (0.25 * index * index + index / rate).sqrt()),
        // A page of rate one has the same index for freshness, with its time counted in changes.
        Objective::Changes => {
            let per_change = PoissonSurvival { change_rate: ChangesPerDay::new(1.0) };
            Days::new(per_change.due_after(index).get() / rate)
        }
    }
}

fn due_by_age(rate: f64, index: f64) -> Days {
    let gain = index * rate * rate;
    let days = if gain < AgeCurve::GAINS.start {
        (3.0 * index).cbrt() / rate.cbrt()
    } else if gain >= AgeCurve::GAINS.end {
        std::f64::consts::SQRT_2 * index.sqrt()
    } else {
        AgeCurve::get().at_gain(gain) / rate
    };
    Days::new(days)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refresh::{Constraints, Pages, allocate};
    use crate::units::VisitsPerDay;

    const OBJECTIVES: [Objective; 4] =
        [Objective::Freshness, Objective::Age, Objective::Harmonic, Objective::Changes];

    #[test]
    fn the_inverse_undoes_the_index() {
        for objective in OBJECTIVES {
            for exponent in -400..=40 {
                let (rate, t) = (ChangesPerDay::new(0.3), 10f64.powf(f64::from(exponent) / 20.0));
                let index = index(objective, rate, Days::new(t));
                let back = due_after(objective, rate, index).get();
                assert!(
                    (back / t - 1.0).abs() < 1e-12 * (0.3 * t).exp(),
                    "{objective:?}: {t:e} came back as {back:e}"
                );
            }
        }
    }

    #[test]
    fn the_index_of_an_optimal_interval_is_the_marginal_gain() {
        let rates = [0.1, 1.0, 2.5, 4.0].map(ChangesPerDay::new);
        for objective in OBJECTIVES {
            let budget = Constraints::budget(VisitsPerDay::new(5.0));
            let allocation = allocate(&Pages::new(&rates), objective, &budget);
            for (rate, visits) in rates.iter().zip(&allocation.visit_frequencies) {
                let gain = index(objective, *rate, Days::new(1.0 / visits.get()));
                assert!((gain / allocation.marginal_gain - 1.0).abs() < 1e-10, "{objective:?}: {gain}");
            }
        }
    }

    #[test]
    fn what_never_changes_is_never_due() {
        for objective in OBJECTIVES {
            assert_eq!(due_after(objective, ChangesPerDay::ZERO, 1e-9), Days::FOREVER);
            assert_eq!(index(objective, ChangesPerDay::ZERO, Days::new(1e9)), 0.0);
            assert_eq!(index(objective, ChangesPerDay::new(1.0), Days::ZERO), 0.0);
        }
        assert_eq!(due_after(Objective::Freshness, ChangesPerDay::new(2.0), 0.5), Days::FOREVER);
        assert_eq!(due_after(Objective::Changes, ChangesPerDay::new(2.0), 1.0), Days::FOREVER);
    }

    #[test]
    fn extremes_are_values() {
        for objective in OBJECTIVES {
            for rate in [5e-324, 1e-100, 1.0, 1e100, 1.7e308] {
                for value in [5e-324, 1e-100, 1.0, 1e100, 1.7e308] {
                    let (rate, value) = (ChangesPerDay::new(rate), Days::new(value));
                    assert!(!index(objective, rate, value).is_nan());
                    due_after(objective, rate, value.get());
                }
            }
        }
    }
}
