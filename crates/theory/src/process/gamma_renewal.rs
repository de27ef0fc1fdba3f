//! Change process whose intervals between changes follow a gamma distribution.
//!
//! Implements the model of the thesis, section 6.8.1, for changes that are "not quite Poisson". With shape
//! `α` and mean rate `λ`, an interval lasts longer than `t` with
//!
//! > P(T > t) = Q(α, αλt)
//!
//! (Q is the upper regularised incomplete gamma function.) α = 1 is the Poisson process; below it changes
//! come in bursts, above it they become regular.
//!
//! # Promises
//! - The mean rate is λ whatever the shape, as in Figure 6.18.
//! - With α = 1 it is the Poisson process of rate λ.
//!
//! # Departures
//! The text gives intervals only. From an arbitrary time on, the next change comes after a uniform
//! fraction of an interval drawn in proportion to its length: P(T > t) = (1 − x/α) Q(α, x) + x^α
//! e^-x / Γ(α + 1) with x = αλt.

use rand::Rng;
use rand_distr::{Distribution as _, Gamma, Open01};
use statrs::function::gamma::{gamma_ur, ln_gamma};

use super::change_process::{ChangeProcess, Since, changes_until};
use crate::units::{ChangesPerDay, Days};

/// Smallest and largest shape: from bursts of a thousand changes to intervals that agree within one percent.
pub const SHAPE_RANGE: std::ops::RangeInclusive<f64> = 1e-3..=1e4;

/// A renewal process with gamma distributed intervals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GammaRenewal {
    mean_rate: ChangesPerDay,
    shape: f64,
}

impl GammaRenewal {
    /// Creates the process from the mean rate and the shape of the intervals.
    ///
    /// Panics unless the rate is above zero and the shape within [`SHAPE_RANGE`].
    pub fn new(mean_rate: ChangesPerDay, shape: f64) -> Self {
        assert!(mean_rate > ChangesPerDay::ZERO);
        assert!(SHAPE_RANGE.contains(&shape));
        Self { mean_rate, shape }
    }

    /// Gamma distribution of a shape, in units of the mean interval of this process.
    fn relative_to_mean(&self, shape: f64) -> Gamma<f64> {
        Gamma::new(shape, 1.0 / self.shape).expect("both parameters are above zero and finite")
    }
}

impl ChangeProcess for GammaRenewal {
    fn mean_rate(&self) -> ChangesPerDay {
        self.mean_rate
    }

    fn survival(&self, elapsed: Days, since: Since) -> f64 {
        let alpha = self.shape;
        let x = alpha * self.mean_rate.get() * elapsed.get();
        if x == 0.0 {
            return 1.0;
        }
        // Here Q(α, x) is below the smallest double.
        if x > alpha + 800.0 + 40.0 * alpha.sqrt() {
            return 0.0;
        }
        let longer = gamma_ur(alpha, x);
        match since {
            Since::Change => longer,
            Since::AnyTime => {
                let density = (alpha * x.ln() - x - ln_gamma(alpha + 1.0)).exp();
                ((1.0 - x / alpha) * longer + density).clamp(0.0, 1.0)
            }
        }
    }

    fn sample(&self, horizon: Days, since: Since, random: &mut impl Rng) -> Vec<f64> {
        let rate = self.mean_rate.get();
        let intervals = self.relative_to_mean(self.shape);
        let first = match since {
            Since::Change => intervals.sample(random),
            Since::AnyTime => {
                // An interval drawn in proportion to its length has a shape larger by one.
                let fraction: f64 = Open01.sample(random);
                fraction * self.relative_to_mean(self.shape + 1.0).sample(random)
            }
        };
        changes_until(horizon, first / rate, || intervals.sample(random) / rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::change_process::agreement;

    #[track_caller]
    fn check_survival(shape: f64, elapsed: f64, from_change: f64, from_any_time: f64) {
        let process = GammaRenewal::new(ChangesPerDay::new(0.5), shape);
        for (since, expected) in [(Since::Change, from_change), (Since::AnyTime, from_any_time)] {
            let survival = process.survival(Days::new(elapsed), since);
            assert!((survival - expected).abs() < 1e-12, "{since:?}: {survival}, not {expected}");
        }
    }

    #[test]
    fn samples_agree_with_the_theory() {
        for shape in [0.3, 1.0, 4.0, 1e4] {
            agreement::check(&GammaRenewal::new(ChangesPerDay::new(0.5), shape));
        }
    }

    #[test]
    fn shape_one_is_the_poisson_process() {
        for elapsed in [0.1f64, 1.0, 2.0, 5.0, 40.0] {
            let poisson = (-0.5 * elapsed).exp();
            check_survival(1.0, elapsed, poisson, poisson);
        }
    }

    #[test]
    fn survival_is_the_incomplete_gamma_function() {
        // Computed with 40 digits.
        check_survival(0.3, 0.01, 0.8416358749917356, 0.9956091844355405);
        check_survival(0.3, 2.0, 0.2730426562896338, 0.5752117576599179);
        check_survival(0.3, 30.0, 0.0011440031265690742, 0.003420467226222437);
        check_survival(2.5, 1.0, 0.7764950711233227, 0.5388495294518124);
        check_survival(2.5, 4.0, 0.07523524614651218, 0.03810297522042571);
        check_survival(50.0, 1.9, 0.6225792918781736, 0.08392699458486884);
    }

    #[test]
    #[should_panic(expected = "SHAPE_RANGE")]
    fn a_shape_of_zero_is_refused() {
        GammaRenewal::new(ChangesPerDay::new(1.0), 0.0);
    }
}
