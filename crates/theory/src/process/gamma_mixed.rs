//! Change process of a page drawn from Poisson pages whose rates follow a gamma distribution.
//!
//! Implements the change model of the thesis, section 5.5.1 (equations 5.6 and 5.7). With `λ` the mean of the
//! rates and `δ` their standard deviation divided by their mean, the mean of e^-θt over the rates θ is
//!
//! > P(T > t) = (1 + λδ²t)^(−1/δ²)
//!
//! In the terms of a posterior with shape a and exposure b it is (b/(b + t))^a, with
//! a = 1/δ² and b = 1/(λδ²).
//!
//! # Promises
//! - With δ = 0 it is the Poisson process of rate λ.
//! - Every sample draws a rate first and keeps it: one sample is one page.
//!
//! # Departures
//! None. Since every page is Poisson, its survival is the same from a change and from any other time.

use rand::Rng;
use rand_distr::{Distribution as _, Gamma};

use super::change_process::{ChangeProcess, Since};
use super::poisson::Poisson;
use crate::units::{ChangesPerDay, Days};

/// Maximum ratio of the standard deviation of the rates to their mean. Near it a few pages in ten thousand
/// change, and those all the time.
pub const RATE_VARIATION_MAX: f64 = 1e3;

/// A Poisson process whose rate is drawn from a gamma distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GammaMixed {
    mean_rate: ChangesPerDay,
    rate_variation: f64,
}

impl GammaMixed {
    /// Creates the process from the mean of the rates and their standard deviation divided by their mean.
    ///
    /// Panics unless the deviation lies in `[0, RATE_VARIATION_MAX]`.
    pub fn new(mean_rate: ChangesPerDay, rate_variation: f64) -> Self {
        assert!((0.0..=RATE_VARIATION_MAX).contains(&rate_variation));
        Self { mean_rate, rate_variation }
    }

    /// The process of one page: a rate drawn from the distribution.
    pub fn sample_page(&self, random: &mut impl Rng) -> Poisson {
        let delta_squared = self.rate_variation * self.rate_variation;
        // Rates that differ by less than 1e-8 of their mean count as one rate.
        if delta_squared < 1e-16 {
            return Poisson { change_rate: self.mean_rate };
        }
        let relative_rate = Gamma::new(1.0 / delta_squared, delta_squared)
            .expect("both parameters are above zero and finite")
            .sample(random);
        Poisson { change_rate: ChangesPerDay::new((self.mean_rate.get() * relative_rate).min(f64::MAX)) }
    }
}

impl ChangeProcess for GammaMixed {
    fn mean_rate(&self) -> ChangesPerDay {
        self.mean_rate
    }

    fn survival(&self, elapsed: Days, since: Since) -> f64 {
        let delta_squared = self.rate_variation * self.rate_variation;
        if self.mean_rate == ChangesPerDay::ZERO || delta_squared < 1e-300 {
            return Poisson { change_rate: self.mean_rate }.survival(elapsed, since);
        }
        (-(self.mean_rate.get() * elapsed.get() * delta_squared).ln_1p() / delta_squared).exp()
    }

    fn sample(&self, horizon: Days, since: Since, random: &mut impl Rng) -> Vec<f64> {
        self.sample_page(random).sample(horizon, since, random)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::freshness::gamma_rates::GammaRates;
    use crate::process::change_process::agreement;

    #[track_caller]
    fn check_survival(mean_rate: f64, rate_variation: f64, elapsed: f64, expected: f64) {
        let process = GammaMixed::new(ChangesPerDay::new(mean_rate), rate_variation);
        let survival = process.survival(Days::new(elapsed), Since::AnyTime);
        assert!((survival / expected - 1.0).abs() < 1e-13, "{survival}");
    }

    #[test]
    fn samples_agree_with_the_theory() {
        for rate_variation in [0.0, 0.5, 1.0, 3.0] {
            agreement::check(&GammaMixed::new(ChangesPerDay::new(2.0), rate_variation));
        }
    }

    #[test]
    fn the_chance_of_no_change_is_that_of_the_gamma_posterior() {
        check_survival(0.5, 1.0, 2.0, 0.5);
        check_survival(3.0, 0.5, 4.0, (1.0f64 / 4.0).powi(4)); // a = 4, b = 4/3
        check_survival(1.0, 1e-5, 2.0, (-2.0f64).exp() * (1.0 + 2e-10));
        check_survival(1.0, 0.0, 2.0, (-2.0f64).exp());
        check_survival(0.0, 2.0, 2.0, 1.0);
    }

    #[test]
    fn its_mean_survival_over_an_interval_is_the_freshness_under_uniform_visits() {
        let (process, interval, steps) = (GammaMixed::new(ChangesPerDay::new(1.5), 0.8), 2.0, 20_000);
        let middle = |step: i32| Days::new((f64::from(step) + 0.5) / f64::from(steps) * interval);
        let mean = (0..steps).map(|step| process.survival(middle(step), Since::AnyTime)).sum::<f64>()
            / f64::from(steps);
        let freshness = GammaRates::new(3.0, 0.8).uniform(Days::new(interval)).freshness;
        assert!((mean - freshness).abs() < 1e-8);
    }

    #[test]
    #[should_panic(expected = "RATE_VARIATION_MAX")]
    fn a_variation_that_leaves_nothing_to_change_is_refused() {
        GammaMixed::new(ChangesPerDay::new(1.0), 1e4);
    }
}
