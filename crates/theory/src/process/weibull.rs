//! Change process whose intervals between changes follow a Weibull distribution.
//!
//! Implements the survival function of **summary**, section 4.3 (Definition 4), as a process: an interval
//! lasts longer than `t` with
//!
//! > P(T > t) = exp(−λ t^γ)
//!
//! γ = 1 is the Poisson process of rate λ. With γ < 1, which **summary** finds for most databases, changes
//! come in bursts. The mean rate is λ^(1/γ) / Γ(1 + 1/γ).
//!
//! # Promises
//! - With γ = 1 it is the Poisson process of rate λ.
//!
//! # Departures
//! The text gives survival only. As a process, intervals are independent of each other. From an arbitrary
//! time on, the next change comes after a uniform fraction of an interval drawn in proportion to its length:
//! P(T > t) = Q(1/γ, λ t^γ), with Q the upper regularised incomplete gamma function.

use rand::Rng;
use rand_distr::{Distribution as _, Exp1, Gamma, Open01};
use statrs::function::gamma::{gamma_ur, ln_gamma};

use super::change_process::{ChangeProcess, Since, changes_until};
use crate::units::{ChangesPerDay, Days};

/// Smallest and largest shape: from intervals that differ by many orders of magnitude to almost equal ones.
pub const SHAPE_RANGE: std::ops::RangeInclusive<f64> = 0.05..=100.0;

/// A renewal process with Weibull distributed intervals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weibull {
    scale: f64,
    shape: f64,
    mean_rate: ChangesPerDay,
}

impl Weibull {
    /// Creates the process from the scale λ and the shape γ of exp(−λ t^γ).
    ///
    /// Panics unless the scale is above zero, the shape within [`SHAPE_RANGE`] and the mean rate finite.
    pub fn new(scale: f64, shape: f64) -> Self {
        assert!(scale.is_finite());
        assert!(0.0 < scale);
        assert!(SHAPE_RANGE.contains(&shape));
        let mean_rate = ChangesPerDay::new((scale.ln() / shape - ln_gamma(1.0 + 1.0 / shape)).exp());
        Self { scale, shape, mean_rate }
    }

    /// The time t at which λ t^γ reaches z.
    fn time_of(&self, z: f64) -> f64 {
        (z / self.scale).powf(1.0 / self.shape)
    }
}

impl ChangeProcess for Weibull {
    fn mean_rate(&self) -> ChangesPerDay {
        self.mean_rate
    }

    fn survival(&self, elapsed: Days, since: Since) -> f64 {
        let z = self.scale * elapsed.get().powf(self.shape);
        match since {
            Since::Change => (-z).exp(),
            Since::AnyTime if z == 0.0 => 1.0,
            // Here Q(1/γ, z) is below the smallest double.
            Since::AnyTime if z > 1_000.0 => 0.0,
            Since::AnyTime => gamma_ur(1.0 / self.shape, z),
        }
    }

    fn sample(&self, horizon: Days, since: Since, random: &mut impl Rng) -> Vec<f64> {
        let first = match since {
            Since::Change => self.time_of(Exp1.sample(random)),
            Since::AnyTime => {
                // For an interval t drawn in proportion to its length, λ t^γ is gamma
                // distributed with shape 1 + 1/γ.
                let z = Gamma::new(1.0 + 1.0 / self.shape, 1.0).expect("the shape is above zero and finite");
                let fraction: f64 = Open01.sample(random);
                fraction * self.time_of(z.sample(random))
            }
        };
        changes_until(horizon, first, || self.time_of(Exp1.sample(random)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::change_process::agreement;

    #[track_caller]
    fn check(scale: f64, shape: f64, mean_rate: f64, at_two_days: [f64; 2]) {
        let process = Weibull::new(scale, shape);
        assert!((process.mean_rate().get() / mean_rate - 1.0).abs() < 1e-12, "{:?}", process.mean_rate());
        for (since, expected) in [Since::Change, Since::AnyTime].into_iter().zip(at_two_days) {
            let survival = process.survival(Days::new(2.0), since);
            assert!((survival - expected).abs() < 1e-12, "{since:?}: {survival}, not {expected}");
        }
    }

    #[test]
    fn samples_agree_with_the_theory() {
        for (scale, shape) in [(1.0, 0.6), (0.3, 1.0), (2.0, 3.0)] {
            agreement::check(&Weibull::new(scale, shape));
        }
    }

    #[test]
    fn shape_one_is_the_poisson_process() {
        check(0.3, 1.0, 0.3, [0.548_811_636_094_026_4; 2]);
    }

    #[test]
    fn rate_and_survival_are_those_of_the_distribution() {
        // Computed with 40 digits.
        check(1.0, 0.6, 0.6646393004594835, [0.21965073408249827, 0.4435414366075876]);
        check(0.2, 0.6, 0.045460688680069715, [0.73849325287964, 0.9245478907356393]);
        check(2.0, 3.0, 1.410918205369338, [1.1253517471925912e-7, 6.364877111608201e-9]);
        check(0.01, 1.4, 0.040898598469013926, [0.9739550189176022, 0.9190947890926826]);
    }

    #[test]
    #[should_panic(expected = "SHAPE_RANGE")]
    fn a_shape_of_zero_is_refused() {
        Weibull::new(1.0, 0.0);
    }
}
