//! Survival of a copy by the Weibull law: S(t) = exp(−λ t^γ).
//!
//! Implements Problem 1 of **summary**, section 5.1, whose content summaries survive by this law
//! (Definition 4). With z = λ t^γ and a = 1/γ, the integral of the law is an incomplete gamma function,
//! and the index is another:
//!
//! > ∫₀ᵗ S = λ^-a Γ(1 + a) P(a, z),  V(t) = ∫₀ᵗ S − t S(t) = λ^-a Γ(1 + a) P(1 + a, z)
//!
//! by the recurrence P(1 + a, z) = P(a, z) − z^a e^-z/Γ(1 + a). So the inverse of the index is a
//! quantile of the gamma distribution, the ceiling is λ^-a Γ(1 + a), and the mean freshness is
//! V(t)/t + S(t), in which nothing cancels.
//!
//! # Promises
//! - Those of [`super::law`], for γ from 0.01 to 100. γ = 1 is the Poisson law.
//!
//! # Departures
//! None. (The table of the text for two databases belongs to a plan for 152; it is not an
//! optimum for the two alone.)

use std::ops::RangeInclusive;

use super::incomplete_gamma::{Gamma, kummer};
use super::law::Survival;
use crate::units::Days;

/// Survival of a copy by the Weibull law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WeibullSurvival {
    log_scale: f64,
    shape: f64,
}

/// Shapes for which the index is computed. Shapes outside use the index of the bound: their gamma functions
/// would leave the range of a double.
const INDEX_SHAPES: RangeInclusive<f64> = 1e-3..=1e3;
/// ln of a ceiling is clamped to this distance from zero, so that the ceiling is finite and above zero.
const LOG_CEILING_MAX: f64 = 690.0;
/// Beyond this ln z the index has no digits: it is zero, or the whole ceiling.
const LOG_EXPOSURE_MAX: f64 = 690.0;
/// From this ln(V/ceiling) on, the distance to the ceiling is used instead.
const NEAR_CEILING: f64 = -0.35;

impl WeibullSurvival {
    /// Creates the law from the scale λ and the shape γ of exp(−λ t^γ).
    ///
    /// Panics unless both are above zero and finite.
    pub fn new(scale: f64, shape: f64) -> Self {
        assert!(0.0 < scale);
        assert!(scale.is_finite());
        assert!(0.0 < shape);
        assert!(shape.is_finite());
        Self { log_scale: scale.ln(), shape }
    }

    /// The law with its shape clamped, for the index.
    #[inline]
    fn bounded(&self) -> Self {
        let shape = self.shape.clamp(*INDEX_SHAPES.start(), *INDEX_SHAPES.end());
        Self { log_scale: self.log_scale, shape }
    }

    /// ln z = ln λ t^γ.
    #[inline]
    fn log_exposure(&self, time: Days) -> f64 {
        self.log_scale + self.shape * time.get().ln()
    }

    /// The time at which z has this logarithm.
    #[inline]
    fn time_of(&self, log_exposure: f64) -> Days {
        Days::new(((log_exposure - self.log_scale) / self.shape).exp())
    }

    /// The gamma distribution of shape 1 + 1/γ, in which the index is a probability.
    #[inline]
    fn gamma(&self) -> Gamma {
        Gamma::one_plus(1.0 / self.shape)
    }

    /// The logarithm of the ceiling.
    #[inline]
    fn log_ceiling(&self, gamma: &Gamma) -> f64 {
        gamma.ln_gamma() - self.log_scale / self.shape
    }
}

impl Survival for WeibullSurvival {
    fn survival(&self, since_visit: Days) -> f64 {
        (-self.log_exposure(since_visit).exp()).exp()
    }

    fn mean_freshness(&self, visit_interval: Days) -> f64 {
        if visit_interval == Days::ZERO {
            return 1.0;
        }
        let (a, log_z) = (1.0 / self.shape, self.log_exposure(visit_interval));
        let z = log_z.exp();
        if z < a + 1.0 {
            // Γ(1 + a) P(a, z)/z^a = e^-z Σ z^n/((a + 1)…(a + n)).
            return ((-z).exp() * kummer(a, z)).min(1.0);
        }
        if z == f64::INFINITY {
            return 0.0;
        }
        // V/t + S, with V/t = Γ(1 + a) P(1 + a, z)/z^a.
        let gamma = self.gamma();
        ((gamma.ln_gamma() - a * log_z + gamma.log_below(z, log_z).value).exp() + (-z).exp()).min(1.0)
    }

    fn index(&self, since_visit: Days) -> f64 {
        let law = self.bounded();
        let (gamma, log_z) = (law.gamma(), law.log_exposure(since_visit));
        if log_z < -LOG_EXPOSURE_MAX {
            0.0
        } else if log_z > LOG_EXPOSURE_MAX {
            self.index_ceiling()
        } else {
            (law.log_ceiling(&gamma) + gamma.log_below(log_z.exp(), log_z).value).exp()
        }
    }

    fn index_ceiling(&self) -> f64 {
        let law = self.bounded();
        law.log_ceiling(&law.gamma()).clamp(-LOG_CEILING_MAX, LOG_CEILING_MAX).exp()
    }

    fn due_after(&self, index: f64) -> Days {
        assert!(0.0 <= index);
        if index == 0.0 {
            return Days::ZERO;
        }
        if index >= self.index_ceiling() {
            return Days::FOREVER;
        }
        self.due_near(index, Days::FOREVER).0
    }

    fn due_after_log_complement(&self, log_complement: f64) -> Days {
        if log_complement == 0.0 || log_complement == f64::INFINITY {
            return Days::new(log_complement);
        }
        let law = self.bounded();
        law.time_of(law.gamma().inverse_of_log_above(log_complement))
    }

    fn log_complement(&self, since_visit: Days) -> f64 {
        let law = self.bounded();
        let log_z = law.log_exposure(since_visit);
        if log_z.abs() > LOG_EXPOSURE_MAX {
            log_z.exp()
        } else {
            law.gamma().log_above(log_z.exp(), log_z).value
        }
    }

    fn growth(&self, since_visit: Days, index: f64) -> f64 {
        let law = self.bounded();
        let (gamma, log_z) = (law.gamma(), law.log_exposure(since_visit));
        law.shape * (gamma.log_mass(log_z.exp(), log_z) + law.log_ceiling(&gamma) - index.ln()).exp()
    }

    #[inline]
    fn due_near(&self, index: f64, guess: Days) -> (Days, f64) {
        let law = self.bounded();
        let gamma = law.gamma();
        let log_below = index.ln() - law.log_ceiling(&gamma);
        if log_below >= 0.0 {
            return (Days::FOREVER, f64::INFINITY);
        }
        if log_below > NEAR_CEILING {
            let log_z = gamma.inverse_of_log_above(-(-log_below.exp()).ln_1p());
            return (law.time_of(log_z), law.shape * (gamma.log_mass(log_z.exp(), log_z) - log_below).exp());
        }
        let log_start =
            if guess < Days::FOREVER { law.log_exposure(guess) } else { gamma.log_start(log_below) };
        let (log_z, slope) = gamma.inverse_of_log_below(log_below, log_start);
        (law.time_of(log_z), law.shape * slope)
    }

    fn in_units_of(&self, unit: f64) -> Self {
        let law = self.bounded();
        Self { log_scale: law.log_scale + law.shape * unit.ln(), shape: law.shape }
    }
}

#[cfg(test)]
mod tests {
    use super::super::law::checks::{check_law, times};
    use super::super::poisson::PoissonSurvival;
    use super::*;
    use crate::units::ChangesPerDay;

    #[test]
    fn index_and_inverse_agree() {
        for shape in [0.01, 0.3, 0.58, 0.901, 1.0, 1.07, 3.0, 40.0] {
            for scale in [0.023, 1.0, 50.0] {
                check_law(
                    &WeibullSurvival::new(scale, shape),
                    times().filter(|t| scale * t.powf(shape) < 1e4),
                );
            }
        }
    }

    #[test]
    fn shape_one_is_the_poisson_law() {
        let weibull = WeibullSurvival::new(0.3, 1.0);
        let poisson = PoissonSurvival { change_rate: ChangesPerDay::new(0.3) };
        for t in times() {
            let (time, index) = (Days::new(t), poisson.index(Days::new(t)));
            assert!((weibull.index(time) - index).abs() <= 1e-12 * index, "{t:e}");
            assert!((weibull.mean_freshness(time) / poisson.mean_freshness(time) - 1.0).abs() <= 1e-12);
        }
    }

    #[track_caller]
    fn check(scale: f64, shape: f64, interval: f64, expected: f64) {
        let freshness = WeibullSurvival::new(scale, shape).mean_freshness(Days::new(interval));
        assert!((freshness / expected - 1.0).abs() < 1e-12, "{freshness}");
    }

    #[test]
    fn the_mean_freshness_is_the_integral_of_the_law() {
        check(0.088, 0.901, 10.0, 0.7055086897313024);
        check(0.088, 0.3, 1e-6, 0.9989277568621714);
        check(2.5, 3.5, 0.7, 0.8680458315586667);
        check(1e-8, 0.6, 3.0, 0.9999999879176124);
        check(40.0, 0.05, 1e4, 2.2127114862383484e-18);
        check(1e3, 0.9, 1e3, 4.883804209798172e-07);
    }
}
