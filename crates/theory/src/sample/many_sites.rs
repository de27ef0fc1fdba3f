//! Expected result of the greedy policy on many equal sites, computed instead of simulated.
//!
//! The model of **sample**, appendix, proof of Theorem 2, without its approximations: site `i` of `N`
//! pages has the changed fraction ρ_i, `s` pages of each are sampled, and the rest of the budget goes to
//! the sites with the most changed samples. A site shows `c` changed samples with probability b(c; s,
//! ρ_i). So among many sites
//!
//! > P(c) = mean b(c; s, ρ_i), ρ(c) = mean ρ_i b(c; s, ρ_i) / P(c)
//!
//! are the fraction of the sites that show `c` and their mean changed fraction. The budget is spent
//! from the highest `c` down.
//!
//! # Promises
//! - Exact in the limit of many sites with these fractions; simulations of hundreds of
//!   sites agree to three digits.
//! - Never below the mean fraction (round robin), never above the mean of the best
//!   sites that the budget reaches.
//!
//! # Departures
//! The text replaces P(c) by a straight line of width 1/√s and finds a closed formula,
//! [`super::sample_size`].

use super::count_distribution::CountDistribution;

/// Expected ChangeRatio of the greedy policy over sites with these changed fractions.
///
/// `downloads_per_site` is the budget divided by the number of sites. Panics without sites, unless the
/// fractions lie between zero and one, and unless the budget is above zero and enough for the samples.
pub fn expected_greedy_ratio(
    changed_fractions: &[f64],
    pages: u64,
    downloads_per_site: f64,
    sample_size: u64,
) -> f64 {
    GreedyExpectation::new(changed_fractions, pages, sample_size).change_ratio(downloads_per_site)
}

/// Distribution of the outcomes of sampling, reused for several budgets.
pub(super) struct GreedyExpectation {
    pages: u64,
    sample_size: u64,
    mean_fraction: f64,
    /// For each count of changed samples, the fraction of the sites that show it and the mean over all sites
    /// of their changed fractions. Highest count first.
    outcomes: Vec<(f64, f64)>,
}

impl GreedyExpectation {
    pub(super) fn new(changed_fractions: &[f64], pages: u64, sample_size: u64) -> Self {
        assert!(!changed_fractions.is_empty());
        assert!(sample_size <= pages);
        let sites = changed_fractions.len() as f64;
        let mut outcomes = vec![(0.0, 0.0); sample_size as usize + 1];
        for &fraction in changed_fractions {
            for (count, probability) in CountDistribution::binomial(sample_size, fraction).iter() {
                let (part, mean) = &mut outcomes[(sample_size - count) as usize];
                *part += probability / sites;
                *mean += probability * fraction / sites;
            }
        }
        let mean_fraction = changed_fractions.iter().sum::<f64>() / sites;
        Self { pages, sample_size, mean_fraction, outcomes }
    }

    pub(super) fn change_ratio(&self, downloads_per_site: f64) -> f64 {
        assert!(0.0 < downloads_per_site);
        assert!(self.sample_size as f64 <= downloads_per_site);
        let downloads = downloads_per_site.min(self.pages as f64);
        let (size, room) = (self.sample_size as f64, (self.pages - self.sample_size) as f64);
        // The fraction of the sites that can be downloaded whole.
        let mut left = if room > 0.0 { (downloads - size) / room } else { 0.0 };
        let mut top_fraction = 0.0;
        for &(part, mean) in &self.outcomes {
            if part >= left {
                top_fraction += if part > 0.0 { mean * (left / part) } else { 0.0 };
                break;
            }
            left -= part;
            top_fraction += mean;
        }
        (size * self.mean_fraction + room * top_fraction) / downloads
    }
}

/// Changed fractions at even steps through a normal distribution, cut to [0, 1]: the data
/// of **sample**, section 4.8.
///
/// Panics unless the deviation is finite and not negative.
pub fn normal_fractions(sites: usize, mean: f64, deviation: f64) -> Vec<f64> {
    assert!(deviation.is_finite());
    assert!(0.0 <= deviation);
    let fraction = |site: usize| {
        let quantile = (2 * site + 1) as f64 / sites as f64 - 1.0;
        let z = std::f64::consts::SQRT_2 * statrs::function::erf::erf_inv(quantile);
        (mean + deviation * z).clamp(0.0, 1.0)
    };
    (0..sites).map(fraction).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(sample_size: u64, expected: f64, tolerance: f64) {
        let found = expected_greedy_ratio(&normal_fractions(300, 0.5, 0.3), 1000, 1000.0 / 3.0, sample_size);
        assert!((found - expected).abs() < tolerance, "{found} for {expected}");
    }

    #[test]
    fn the_data_of_section_4_8_agree_with_simulation() {
        check(10, 0.7711, 0.001);
        check(14, 0.778, 0.002);
        check(25, 0.780, 0.002);
    }

    #[test]
    fn without_samples_it_is_round_robin() {
        check(0, 0.5, 1e-12);
    }

    #[test]
    fn with_every_page_sampled_it_is_round_robin() {
        let found = expected_greedy_ratio(&[0.2, 0.6], 10, 10.0, 10);
        assert!((found - 0.4).abs() < 1e-12, "{found}");
        let found = expected_greedy_ratio(&[0.2, 0.6], 10, 25.0, 3);
        assert!((found - 0.4).abs() < 1e-12, "{found}");
    }

    proptest! {
        #[test]
        fn greedy_lies_between_round_robin_and_knowing_the_best_sites(
            fractions in prop::collection::vec(0.0..=1.0f64, 1..20),
            budget in 1u64..50,
            sample_size in 0u64..20,
        ) {
            let sample_size = sample_size.min(budget);
            let found = expected_greedy_ratio(&fractions, 50, budget as f64, sample_size);
            let mean = fractions.iter().sum::<f64>() / fractions.len() as f64;
            let best = fractions.iter().copied().fold(0.0, f64::max);
            prop_assert!(mean - 1e-12 <= found && found <= best + 1e-12, "{mean} {found} {best}");
        }
    }
}
