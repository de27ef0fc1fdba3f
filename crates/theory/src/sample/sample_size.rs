//! Optimal sample size: how many pages to sample of each site before the greedy policy decides.
//!
//! **sample**, section 3.3, Theorem 2. With `N` pages a site, `r` downloads per page kept, f(ρ_t) the density
//! of the changed fractions at the threshold, ρ̄_r their mean above it and ρ̄ their mean over all sites:
//!
//! > stated √(N r f(ρ_t) / (6 (ρ̄_r − ρ̄))), without knowledge of the distribution √(N r),
//! > corrected √(N f(ρ_t) / (6 (ρ̄_r − ρ̄)))
//!
//! # Promises
//! - The size grows with pages and density, and falls with the distance of the best sites from the mean.
//! - No intermediate product overflows or underflows.
//! - On normally distributed fractions the corrected size lies where the policy really is best.
//!
//! # Departures
//! The proof of the theorem does not lead to its statement: the integral it needs is r ρ̄_r − f(ρ_t)/(6s),
//! with a minus sign, and samples are paid from the budget N r of a site. The maximum of s ρ̄ + (N r − s)
//! ρ̄_r − N f(ρ_t)/(6s) is the corrected size, in which r does not occur. The curve is flat, so the stated
//! size does little harm; it is kept because the text states it.

use std::f64::consts::SQRT_2;

/// Parameters of the distribution of the changed fractions over the sites.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FractionDistribution {
    density_at_threshold: f64,
    top_mean: f64,
    mean: f64,
}

impl FractionDistribution {
    /// Creates the parameters: density at the threshold, mean above the threshold, mean over all sites.
    ///
    /// Panics unless all are finite, the density is not negative, and the mean above the
    /// threshold is the larger one.
    pub fn new(density_at_threshold: f64, top_mean: f64, mean: f64) -> Self {
        assert!(density_at_threshold.is_finite());
        assert!(0.0 <= density_at_threshold);
        assert!(top_mean.is_finite());
        assert!(mean.is_finite());
        assert!(mean < top_mean);
        Self { density_at_threshold, top_mean, mean }
    }

    /// √(f(ρ_t) / (6 (ρ̄_r − ρ̄))) times `size`. Zero times infinity is zero: there is nothing to sample.
    fn apply(self, size: f64) -> f64 {
        if size == 0.0 || self.density_at_threshold == 0.0 {
            return 0.0;
        }
        let distance = self.top_mean - self.mean;
        // Halves keep the difference of two huge numbers finite.
        let distance_root = if distance.is_finite() {
            distance.sqrt()
        } else {
            SQRT_2 * (0.5 * self.top_mean - 0.5 * self.mean).sqrt()
        };
        size * (self.density_at_threshold.sqrt() / (6f64.sqrt() * distance_root))
    }
}

/// The rule of thumb √(N r) for an unknown distribution. `budget_ratio` is downloads per page kept.
///
/// Panics if an argument is negative or not finite.
pub fn rule_of_thumb(pages_per_site: f64, budget_ratio: f64) -> f64 {
    assert!(pages_per_site.is_finite());
    assert!(budget_ratio.is_finite());
    assert!(0.0 <= pages_per_site);
    assert!(0.0 <= budget_ratio);
    pages_per_site.sqrt() * budget_ratio.sqrt()
}

/// Theorem 2 as the text states it.
///
/// Panics as [`rule_of_thumb`] does.
pub fn stated(pages_per_site: f64, budget_ratio: f64, distribution: FractionDistribution) -> f64 {
    distribution.apply(rule_of_thumb(pages_per_site, budget_ratio))
}

/// Theorem 2 as its proof should have ended: the size does not depend on the budget.
///
/// Panics if the number of pages is negative or not finite.
pub fn corrected(pages_per_site: f64, distribution: FractionDistribution) -> f64 {
    distribution.apply(rule_of_thumb(pages_per_site, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The data of section 4.8: N(0.5, 0.3), and a budget for a third of the pages.
    fn normal() -> FractionDistribution {
        FractionDistribution::new(1.211999248917726, 0.8272397972077861, 0.5)
    }

    #[track_caller]
    fn check(size: f64, expected: f64) {
        assert!((size / expected - 1.0).abs() < 1e-12, "{size} for {expected}");
    }

    #[test]
    fn the_data_of_the_text_want_about_twenty_samples() {
        check(rule_of_thumb(353_000.0 / 252.0, 100_000.0 / 353_000.0), 19.920476822239895);
    }

    #[test]
    fn stated_and_corrected_differ_by_the_root_of_the_budget() {
        check(stated(1000.0, 1.0 / 3.0, normal()), 14.344382763731172);
        check(corrected(1000.0, normal()), 14.344382763731172 * 3f64.sqrt()); // 24.8
    }

    #[test]
    fn the_corrected_size_is_where_the_greedy_policy_is_best() {
        let fractions = crate::sample::many_sites::normal_fractions(300, 0.5, 0.3);
        let ratio = |size: u64| {
            crate::sample::many_sites::expected_greedy_ratio(&fractions, 1000, 1000.0 / 3.0, size)
        };
        let best = (1..=60).max_by(|&a, &b| ratio(a).total_cmp(&ratio(b))).expect("there are sizes");
        assert!((22..=30).contains(&best), "{best}");
        assert!(ratio(25) > ratio(14));
        assert!(ratio(best) - ratio(25) < 1e-3);
    }

    #[test]
    fn huge_and_tiny_arguments_stay_finite() {
        check(rule_of_thumb(1e308, 1e308), 1e308);
        check(rule_of_thumb(1e-300, 1e-300), 1e-300);
        let distribution = FractionDistribution::new(1e308, 1e308, -1e308);
        check(stated(6.0, 2.0, distribution), 1.0);
        let narrow = FractionDistribution::new(1.0, 5e-324, 0.0);
        assert_eq!(stated(0.0, 1.0, narrow), 0.0);
        assert!(stated(1.0, 1.0, narrow) > 1e160);
    }

    #[test]
    fn the_size_grows_with_pages_and_density_and_falls_with_the_distance_of_the_best() {
        let size =
            |pages, density, top_mean| corrected(pages, FractionDistribution::new(density, top_mean, 0.5));
        check(size(400.0, 1.0, 0.6) / size(100.0, 1.0, 0.6), 2.0);
        check(size(100.0, 4.0, 0.6) / size(100.0, 1.0, 0.6), 2.0);
        check(size(100.0, 1.0, 0.9) / size(100.0, 1.0, 0.6), 0.5);
    }

    #[test]
    fn equal_means_are_refused() {
        assert!(std::panic::catch_unwind(|| FractionDistribution::new(1.0, 0.5, 0.5)).is_err());
    }
}
