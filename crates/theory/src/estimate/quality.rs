//! Bias and deviation of the naive and the improved estimator, for even visits.
//!
//! Thesis, sections 6.3.1, 6.4.1 and 6.4.2 (equations 6.1 and 6.2; **estimate**, section 4). With r changes
//! expected between two of `n` visits, an estimate r̂ has
//!
//! > naive: E r̂ = 1 − e^-r, V r̂ = e^-r (1 − e^-r)/n
//! > improved: E r̂ = −Σ ln((i + 0.5)/(n + 0.5)) C(n, i) (1 − e^-r)^(n−i) e^(−ri) over i = 0 … n, and V alike
//!
//! # Promises
//! - Ten digits in both values for `r` from 1e-300 to 1e3 and up to [`VISITS_MAX`] visits.
//! - The deviation is not a difference of moments: it is summed around the mean, and the mean
//!   around the most likely count.
//!
//! # Departures
//! None. The thesis prints a bias below 0.1 % for n = 20 and r < 2; it reaches 0.17 %.

use super::binomial::ChangeCount;
use super::even::EvenVisits;
use super::improved::changes_per_visit;
use crate::numerics::mean_survival;

/// Quality of an estimator: its mean and its standard deviation, both divided by the true rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EstimatorQuality {
    /// E r̂ / r: one for an unbiased estimator.
    pub mean_ratio: f64,
    /// σ(r̂) / r: half the width of the interval that contains the estimate with 95 % probability,
    /// where it is nearly normal.
    pub deviation_ratio: f64,
}

/// Maximum number of visits that [`improved_quality`] accepts, which takes about a second.
pub const VISITS_MAX: u64 = 1_000_000_000_000;

/// Bias and deviation of [`super::naive`].
///
/// Panics unless there are visits and `changes_per_visit` is finite and above zero.
pub fn naive_quality(visits: u64, changes_per_visit: f64) -> EstimatorQuality {
    check(visits, changes_per_visit);
    let (n, r) = (visits as f64, changes_per_visit);
    let mean_ratio = mean_survival(r);
    EstimatorQuality { mean_ratio, deviation_ratio: (-0.5 * r).exp() * (mean_ratio / n / r).sqrt() }
}

/// Bias and deviation of [`super::improved`].
///
/// Panics unless there are from one to [`VISITS_MAX`] visits and `changes_per_visit`
/// is finite and above zero.
pub fn improved_quality(visits: u64, changes_per_visit: f64) -> EstimatorQuality {
    check(visits, changes_per_visit);
    assert!(visits <= VISITS_MAX);
    let (n, r) = (visits as f64, changes_per_visit);
    if n * r < NEGLIGIBLE {
        // At most one visit finds a change.
        let one = -(-1.0 / (n + 0.5)).ln_1p();
        return EstimatorQuality { mean_ratio: n * one, deviation_ratio: one * (n / r).sqrt() };
    }
    if n.ln() - r < NEGLIGIBLE.ln() {
        // At most one visit finds no change.
        let deviation = n.sqrt() * (-0.5 * r).exp() * 3f64.ln();
        return EstimatorQuality { mean_ratio: (2.0 * n + 1.0).ln() / r, deviation_ratio: deviation / r };
    }
    sum_over_counts(visits, r)
}

/// Probability of a second exceptional visit below which its terms are lost in rounding.
const NEGLIGIBLE: f64 = 1e-13;

/// Counts less likely than the most likely one by e^-80 are left out: they do not affect ten digits.
const DEPTH: f64 = 80.0;

fn sum_over_counts(visits: u64, r: f64) -> EstimatorQuality {
    let count = ChangeCount::new(visits, r);
    let centre = ((visits as f64 * -(-r).exp_m1()).round() as u64).min(visits);
    let unchanged_half = (visits - centre) as f64 + 0.5;
    // Estimates as differences from the one at the centre: ln((n − centre + 0.5)/(n − k + 0.5)).
    let difference = |k: u64| -((centre as f64 - k as f64) / unchanged_half).ln_1p();
    let weighed = || count.within(DEPTH, 0).map(|k| (count.log_probability(k).exp(), difference(k)));
    let (total, shifted) = weighed().fold((0.0, 0.0), |(w, wd), (weight, d)| (w + weight, wd + weight * d));
    let shift = shifted / total;
    let variance = weighed().map(|(weight, d)| weight * (d - shift).powi(2)).sum::<f64>() / total;
    let at_centre = changes_per_visit(&EvenVisits::new(visits, centre));
    EstimatorQuality { mean_ratio: (at_centre + shift) / r, deviation_ratio: variance.sqrt() / r }
}

fn check(visits: u64, changes_per_visit: f64) {
    assert!(0 < visits);
    assert!(0.0 < changes_per_visit);
    assert!(changes_per_visit.is_finite());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(quality: EstimatorQuality, mean_ratio: f64, deviation_ratio: f64) {
        assert!((quality.mean_ratio / mean_ratio - 1.0).abs() < 1e-11, "{quality:?}");
        assert!((quality.deviation_ratio / deviation_ratio - 1.0).abs() < 1e-11, "{quality:?}");
    }

    #[test]
    fn the_naive_estimator_finds_less_than_half_of_two_changes_per_visit() {
        check(naive_quality(10, 2.0), 0.43233235838169365, 0.05408780924290577);
        check(naive_quality(10, 1.0 / 7.0), 0.9318547017487285, 0.7519727207199665);
    }

    #[test]
    fn the_naive_estimator_keeps_its_digits_at_the_ends() {
        check(naive_quality(100, 1e-300), 1.0, 1e149);
        check(naive_quality(1, 1000.0), 1e-3, 7.124576406741285e-221);
    }

    /// Computed with 50 digits from equations 6.1 and 6.2.
    #[test]
    fn the_improved_estimator_keeps_its_digits_from_rare_changes_to_certain_ones() {
        for (visits, changes_per_visit, mean_ratio, deviation_ratio) in [
            (1, 1e-300, 1.0986122886681098, 1.0986122886681098e+150),
            (10, 1e-8, 1.000834585579632, 3164.9168603282437),
            (10, 1.5, 0.9970238936358853, 0.402411683681649),
            (40, 1.5, 1.0004070736411672, 0.20207132203722225),
            (20, 3.48, 0.8994782199978844, 0.1872410151494882),
            (5, 700.0, 0.0034255646754262434, 3.4846787628187255e-155),
            (1, 40.0, 0.02746530721670274, 5.661021746109472e-11),
            (300, 0.01, 1.0000009352960875, 0.5788020671524023),
            (300, 1000.0, 0.0063985949345352075, 1.355701661486556e-219),
            (1000, 31.0, 0.24520652692083594, 2.0793054372831937e-07),
        ] {
            check(improved_quality(visits, changes_per_visit), mean_ratio, deviation_ratio);
        }
    }

    #[test]
    fn with_many_visits_the_improved_estimator_is_right() {
        // The variance tends to (e^r − 1)/n.
        let quality = improved_quality(10_000_000, 1.0);
        assert!((quality.mean_ratio - 1.0).abs() < 1e-9, "{quality:?}");
        let limit = ((1f64.exp() - 1.0) / 1e7).sqrt();
        assert!((quality.deviation_ratio / limit - 1.0).abs() < 1e-6, "{quality:?}");
    }

    #[test]
    fn twenty_visits_are_biased_by_less_than_a_fifth_of_a_percent_below_two_changes_per_visit() {
        let worst = (1..=200).map(|i| (improved_quality(20, f64::from(i) / 100.0).mean_ratio - 1.0).abs());
        let worst = worst.fold(0.0, f64::max);
        assert!((0.0016..0.0018).contains(&worst), "{worst}");
    }
}
