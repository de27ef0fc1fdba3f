//! Calibration: an online correction of the model's P(changed), learned from every download.
//!
//! Each download is a labelled example for free. The logarithm of the model's exposure is corrected by a
//! linear function of a few features. AdaGrad trains it online on the likelihood of what the visits found:
//!
//! > ln L = clamp(base + β·φ, −16, 3), P(changed) = 1 − e^-L
//!
//! The weights follow the latest visits closely, which finds what is worth a visit next. For pages that are
//! seldom visited they fluctuate from day to day: each step is based on few visits, and eleven weights that
//! together fit the visited pages need not fit the others. Reported freshness therefore has weights of its
//! own ([`super::reported_freshness`]).
//!
//! # Promises
//! - On the first day β = 0, so that the pure model decides.
//! - Exposure and gradient are finite, whatever was observed.

use super::logarithms::exp;

/// Number of features.
pub(super) const FEATURES: usize = 11;

/// Step size of AdaGrad. The accumulators start at one.
const LEARNING_RATE: f64 = 0.2;

/// Limits of ln L: at the lower one no change is expected for longer than any crawl; at the upper one a
/// change is certain.
const LOG_EXPOSURE: (f32, f32) = (-16.0, 3.0);

/// A page's features, with the uncorrected prediction of the model.
#[derive(Clone, Copy, Debug)]
pub(super) struct Example {
    /// ln of the model's exposure: the complementary log-log (cloglog) of its P(changed).
    pub(super) base: f32,
    /// The features φ.
    pub(super) features: [f32; FEATURES],
}

impl Example {
    /// The exposure L, with `correction` added to its logarithm.
    #[inline]
    pub(super) fn exposure(&self, correction: f32) -> f32 {
        exp((self.base + correction).clamp(LOG_EXPOSURE.0, LOG_EXPOSURE.1))
    }
}

/// The learned weights β.
#[derive(Clone, Debug)]
pub(super) struct Calibration {
    weights: [f32; FEATURES],
    squares: [f64; FEATURES],
    /// Sum of the gradients of the examples since the last step.
    gradient: [f64; FEATURES],
    /// Number of these examples.
    heard: usize,
}

impl Calibration {
    /// No correction yet.
    pub(super) fn new() -> Self {
        Self { weights: [0.0; FEATURES], squares: [1.0; FEATURES], gradient: [0.0; FEATURES], heard: 0 }
    }

    /// The calibrated exposure L: the expected number of changes since the last visit.
    #[inline]
    pub(super) fn exposure(&self, example: &Example) -> f32 {
        // Four independent sums, so that the additions do not wait for each other.
        let mut sums = [0.0; 4];
        for (place, (weight, feature)) in self.weights.iter().zip(&example.features).enumerate() {
            sums[place % 4] += weight * feature;
        }
        let correction = (sums[0] + sums[1]) + (sums[2] + sums[3]);
        example.exposure(correction)
    }

    /// The weight of a feature.
    pub(super) fn weight(&self, feature: usize) -> f32 {
        self.weights[feature]
    }

    /// Records an example, with the predicted exposure and whether the page had changed. Takes effect at
    /// [`Calibration::follow`].
    pub(super) fn hear(&mut self, example: &Example, exposure: f32, changed: bool) {
        let slope = f64::from(log_likelihood_slope(exposure, changed));
        for (sum, feature) in self.gradient.iter_mut().zip(&example.features) {
            *sum += slope * f64::from(*feature);
        }
        self.heard += 1;
    }

    /// Takes one AdaGrad step with the examples recorded since the last one.
    pub(super) fn follow(&mut self) {
        if self.heard == 0 {
            return;
        }
        let scale = (std::mem::take(&mut self.heard) as f64).sqrt().recip();
        let gradient = std::mem::take(&mut self.gradient);
        for ((weight, square), slope) in self.weights.iter_mut().zip(&mut self.squares).zip(gradient) {
            let slope = slope * scale;
            *square += slope * slope;
            *weight += (LEARNING_RATE * slope / square.sqrt()) as f32;
        }
    }
}

/// d/d(ln L) of the log likelihood of one visit: L/(e^L − 1) if it found a change, −L if not.
pub(super) fn log_likelihood_slope(exposure: f32, changed: bool) -> f32 {
    if changed { exposure / exposure.exp_m1().max(1e-9) } else { -exposure }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example(base: f32) -> Example {
        let mut features = [0.0; FEATURES];
        features[0] = 1.0;
        Example { base, features }
    }

    #[test]
    fn on_the_first_day_the_model_decides() {
        let exposure = Calibration::new().exposure(&example(-2.0));
        assert!((exposure - (-2.0f32).exp()).abs() < 1e-7);
    }

    #[test]
    fn a_model_that_promises_half_the_changes_is_corrected() {
        let mut calibration = Calibration::new();
        let example = example(0.1f32.ln());
        for _ in 0..400 {
            let exposure = calibration.exposure(&example);
            (0..100).for_each(|visit| calibration.hear(&example, exposure, visit < 18));
            calibration.follow();
        }
        let changed = 1.0 - (-calibration.exposure(&example)).exp();
        assert!((changed - 0.18).abs() < 0.005, "{changed}");
    }

    #[test]
    fn extremes_stay_finite() {
        let mut calibration = Calibration::new();
        for base in [-100.0, 100.0, f32::MIN_POSITIVE.ln()] {
            let exposure = calibration.exposure(&example(base));
            for changed in [true, false] {
                calibration.hear(&example(base), exposure, changed);
            }
            calibration.follow();
            assert!(calibration.exposure(&example(base)).is_finite());
        }
    }
}
