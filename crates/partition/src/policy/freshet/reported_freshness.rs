//! Reported freshness: a Kalman filter that calibrates the exposure used in reports.
//!
//! The weights that decide ([`super::calibration`]) follow the latest visits wherever they lead. Reports must
//! also hold for pages that are seldom visited, so they use four weights instead of eleven: those that carry
//! over from visited pages to others. After every visit the weights are updated by an extended Kalman filter
//! of the same likelihood, with one Newton step per visit:
//!
//! > ln L = base + w·φ, P(changed) = 1 − e^-L; information of a visit i = L²/(e^L − 1), slope s = L/(e^L − 1)
//! > after a change, −L without
//! > C ← C − i C φ φᵀ C / (1 + i φᵀ C φ), w ← w + s C φ with the new C; with every tick C ← C + WANDERS² I
//!
//! Pages whose changes are signalled are no examples: for them the signal counts, not the model.
//!
//! # Promises
//! - Before the first visit nothing is corrected.
//! - The weights stay finite, whatever was observed.

use super::calibration::{Example, FEATURES, log_likelihood_slope};

/// Number of weights.
const WEIGHTS: usize = 4;
/// Indices of the features used: the constant, the wall time since the visit, the rate relative to the
/// group's, and the model's own prediction.
const COUNT: [usize; WEIGHTS] = [0, 1, 4, 8];
/// Prior standard deviation of a weight.
const UNKNOWN: f64 = 0.5;
/// Random walk of a weight per tick, as a standard deviation: a tenth in a hundred ticks.
const WANDERS: f64 = 0.01;

/// The weights with their covariance.
#[derive(Clone, Debug)]
pub(super) struct ReportedFreshness {
    weights: [f64; WEIGHTS],
    covariance: [[f64; WEIGHTS]; WEIGHTS],
}

impl ReportedFreshness {
    /// No correction yet.
    pub(super) fn new() -> Self {
        let mut covariance = [[0.0; WEIGHTS]; WEIGHTS];
        (0..WEIGHTS).for_each(|weight| covariance[weight][weight] = UNKNOWN * UNKNOWN);
        Self { weights: [0.0; WEIGHTS], covariance }
    }

    /// The exposure L for reports: the expected number of changes since the last visit.
    pub(super) fn exposure(&self, example: &Example) -> f32 {
        let correction: f64 = self
            .weights
            .iter()
            .zip(counting(&example.features))
            .map(|(weight, feature)| weight * feature)
            .sum();
        example.exposure(correction as f32)
    }

    /// Updates the weights after a visit.
    pub(super) fn hear(&mut self, example: &Example, changed: bool) {
        let (exposure, features) = (self.exposure(example), counting(&example.features));
        let slope = f64::from(log_likelihood_slope(exposure, changed));
        let information = f64::from(exposure).powi(2) / f64::from(exposure).exp_m1().max(1e-9);
        let spread =
            self.covariance.map(|row| row.iter().zip(features).map(|(c, feature)| c * feature).sum::<f64>());
        let variance: f64 = spread.iter().zip(features).map(|(spread, feature)| spread * feature).sum();
        let known = 1.0 + information * variance;
        for (row, of_row) in self.covariance.iter_mut().zip(spread) {
            for (entry, of_column) in row.iter_mut().zip(spread) {
                *entry -= information / known * of_row * of_column;
            }
        }
        for (weight, spread) in self.weights.iter_mut().zip(spread) {
            *weight += slope / known * spread;
        }
    }

    /// Increases the variances for `ticks` passed ticks.
    pub(super) fn let_pass(&mut self, ticks: u32) {
        for weight in 0..WEIGHTS {
            let variance = self.covariance[weight][weight] + f64::from(ticks) * WANDERS * WANDERS;
            // The variance grows at most back to that of the prior.
            self.covariance[weight][weight] =
                variance.min(UNKNOWN * UNKNOWN).max(self.covariance[weight][weight]);
        }
    }
}

fn counting(features: &[f32; FEATURES]) -> [f64; WEIGHTS] {
    COUNT.map(|feature| f64::from(features[feature]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example(base: f32) -> Example {
        let mut features = [0.0; FEATURES];
        (features[0], features[8]) = (1.0, base + 1.0);
        Example { base, features }
    }

    fn changed(reported: &ReportedFreshness, base: f32) -> f32 {
        1.0 - (-reported.exposure(&example(base))).exp()
    }

    #[test]
    fn before_the_first_visit_nothing_is_corrected() {
        assert!((ReportedFreshness::new().exposure(&example(-2.0)) - (-2.0f32).exp()).abs() < 1e-6);
    }

    #[test]
    fn what_is_told_is_soon_right_and_then_calm() {
        let mut reported = ReportedFreshness::new();
        let base = 0.1f32.ln();
        let mut told = Vec::new();
        for step in 0..300_usize {
            // Twenty changes in a hundred visits, give or take a few, where ten were predicted.
            let found = 20 + [8, -8, 3, -3, 0, 5, -5][step % 7];
            (0..100).for_each(|visit| reported.hear(&example(base), visit * 37 % 100 < found));
            told.push(changed(&reported, base));
            if step % 12 == 0 {
                reported.let_pass(1);
            }
        }
        assert!((told[10] - 0.2).abs() < 0.02, "{}", told[10]);
        let off = told[100..].iter().map(|told| (told - 0.2).abs()).fold(0.0, f32::max);
        assert!(off < 0.02, "{off}");
    }

    #[test]
    fn extremes_stay_finite() {
        let mut reported = ReportedFreshness::new();
        for base in [-100.0, 100.0, f32::MIN_POSITIVE.ln(), 0.0] {
            for changed in [true, false] {
                reported.hear(&example(base), changed);
                reported.let_pass(u32::MAX);
            }
            assert!(reported.exposure(&example(base)).is_finite());
        }
        assert!(
            reported.weights.iter().chain(reported.covariance.as_flattened()).all(|value| value.is_finite())
        );
    }
}
