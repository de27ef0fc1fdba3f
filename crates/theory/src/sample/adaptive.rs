//! Adaptive sampling policy: each site is sampled until it is clear on which side of the threshold it lies.
//!
//! **sample**, section 3.4, Algorithm 3.1. After each round of samples:
//!
//! > discard the site when h_i < ρ_t, download it whole when ρ_t < l_i, otherwise sample it on
//!
//! where (l_i, h_i) is the interval of its changed fraction and ρ_t the threshold between the sites that the
//! budget can download and the others. [`super::simulation`] runs whole cycles of it.
//!
//! # Promises
//! - The threshold lies between the estimates of the last site that can be downloaded and
//!   of the first that cannot.
//! - A site is decided only when its whole interval lies strictly on one side of the threshold.
//!
//! # Departures
//! The text says only that the threshold comes from the distribution of the estimates: it is put half way
//! between the `top`-th highest and the next one. Intervals are compared without being cut to [0, 1].

use super::interval::{Confidence, Interval, Method, changed_fraction_interval};
use super::site::Sample;

/// Decision about a site after a round of samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Its changed fraction is above the threshold with the stated confidence: download all its pages.
    Download,
    /// Its changed fraction is below the threshold with the stated confidence: leave it.
    Discard,
    /// Not clear yet: sample more of it.
    Sample,
}

/// Result of a round of samples of all sites.
#[derive(Clone, Debug, PartialEq)]
pub struct Round {
    /// The changed fraction ρ_t that divides the sites.
    pub threshold: f64,
    /// One decision per site.
    pub decisions: Vec<Decision>,
}

/// Decides for each site after a round of samples, when the budget can download `top` sites.
///
/// Panics unless 1 ≤ `top` < number of sites, or if a site has no samples.
pub fn decide_round(samples: &[Sample], top: usize, confidence: Confidence, method: Method) -> Round {
    let mut estimates: Vec<_> = samples.iter().map(|sample| sample.changed_fraction()).collect();
    let threshold = threshold(&mut estimates, top);
    let decisions = samples
        .iter()
        .map(|&sample| decide(changed_fraction_interval(sample, confidence, method), threshold))
        .collect();
    Round { threshold, decisions }
}

/// The value half way between the `top`-th highest of the estimates and the next one. Reorders the estimates.
///
/// Panics unless 1 ≤ `top` < number of estimates.
pub fn threshold(estimates: &mut [f64], top: usize) -> f64 {
    assert!(1 <= top);
    assert!(top < estimates.len());
    let (higher, next, _) = estimates.select_nth_unstable_by(top, |a, b| b.total_cmp(a));
    let last = higher.iter().copied().fold(f64::INFINITY, f64::min);
    0.5 * (last + *next)
}

/// Compares an interval with the threshold.
pub fn decide(interval: Interval, threshold: f64) -> Decision {
    if interval.high < threshold {
        Decision::Discard
    } else if threshold < interval.low {
        Decision::Download
    } else {
        Decision::Sample
    }
}

#[cfg(test)]
mod tests {
    use super::Decision::{Discard, Download, Sample as SampleOn};
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(
        sampled: u64,
        changed: &[u64],
        top: usize,
        method: Method,
        threshold: f64,
        expected: &[Decision],
    ) {
        let samples: Vec<_> = changed.iter().map(|&changed| Sample::new(sampled, changed)).collect();
        let round = decide_round(&samples, top, Confidence::new(0.9), method);
        assert!((round.threshold - threshold).abs() < 1e-15, "{round:?}");
        assert_eq!(round.decisions, expected);
    }

    #[test]
    fn of_the_four_sites_of_the_text_the_extreme_ones_are_decided() {
        check(20, &[0, 9, 11, 20], 2, Method::Conservative, 0.5, &[Discard, SampleOn, SampleOn, Download]);
        check(20, &[20, 9, 11, 0], 1, Method::Conservative, 0.775, &[Download, Discard, Discard, Discard]);
    }

    #[test]
    fn an_interval_without_width_on_the_threshold_decides_nothing() {
        check(10, &[0, 0, 0], 1, Method::Wald, 0.0, &[SampleOn; 3]);
        check(10, &[10, 10, 10], 2, Method::Wald, 1.0, &[SampleOn; 3]);
    }

    #[test]
    fn a_threshold_needs_a_site_on_each_side() {
        for top in [0, 3, 4] {
            assert!(std::panic::catch_unwind(|| threshold(&mut [0.1, 0.2, 0.3], top)).is_err());
        }
    }

    proptest! {
        #[test]
        fn decided_sites_lie_strictly_on_their_side(
            changed in prop::collection::vec(0u64..=40, 2..30),
            top in 1usize..30,
        ) {
            let top = top.min(changed.len() - 1);
            let samples: Vec<_> = changed.iter().map(|&changed| Sample::new(40, changed)).collect();
            let round = decide_round(&samples, top, Confidence::new(0.9), Method::Conservative);
            let above = samples.iter().filter(|sample| sample.changed_fraction() > round.threshold).count();
            let below = samples.iter().filter(|sample| sample.changed_fraction() < round.threshold).count();
            prop_assert!(above <= top && below <= samples.len() - top);
            for (sample, decision) in samples.iter().zip(round.decisions) {
                match decision {
                    Discard => prop_assert!(sample.changed_fraction() < round.threshold),
                    Download => prop_assert!(sample.changed_fraction() > round.threshold),
                    SampleOn => {}
                }
            }
        }
    }
}
