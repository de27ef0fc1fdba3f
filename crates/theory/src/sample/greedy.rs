//! Greedy sampling policy: the budget left after sampling goes to the sites with the highest
//! share of changed samples.
//!
//! **sample**, section 3.2: download all pages of the site with the most changed samples, then of
//! the next, until the budget is used up. Theorem 1: no other policy on the same samples is expected
//! to find more changed pages.
//!
//! # Promises
//! - The downloads add up to the budget, or to all pages not yet sampled when there are fewer.
//! - A site gets downloads only when every site with a higher share of changed samples is downloaded whole.
//! - Equal shares are served in the order in which the sites are given.
//!
//! # Departures
//! The text samples every site equally and compares counts. Here the shares c/s are
//! compared, which is the same then.

use super::site::SampledSite;

/// Further downloads of each site, from the `budget` that is left after sampling.
///
/// # Examples
///
/// ```
/// use freshet_theory::sample::greedy::allocate;
/// use freshet_theory::sample::site::{Sample, SampledSite};
///
/// // Ten of the hundred pages of each site were sampled: seven and two of them had changed.
/// let sites = [7, 2].map(|changed| SampledSite::new(100, Sample::new(10, changed)));
/// // The eighty downloads that are left go to the first site.
/// assert_eq!(allocate(&sites, 80), [80, 0]);
/// ```
pub fn allocate(sites: &[SampledSite], budget: u64) -> Vec<u64> {
    let mut order: Vec<usize> = (0..sites.len()).collect();
    order.sort_by(|&a, &b| sites[b].sample().cmp_changed_fraction(sites[a].sample()));
    allocate_in_order(sites, &order, budget)
}

/// Fills the sites one after the other, in this order.
pub(super) fn allocate_in_order(sites: &[SampledSite], order: &[usize], budget: u64) -> Vec<u64> {
    let mut downloads = vec![0; sites.len()];
    let mut left = budget;
    for &site in order {
        downloads[site] = sites[site].room().min(left);
        left -= downloads[site];
    }
    downloads
}

#[cfg(test)]
mod tests {
    use super::super::site::Sample;
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(sites: &[(u64, u64, u64)], budget: u64, expected: &[u64]) {
        let sites: Vec<_> = sites
            .iter()
            .map(|&(pages, sampled, changed)| SampledSite::new(pages, Sample::new(sampled, changed)))
            .collect();
        assert_eq!(allocate(&sites, budget), expected);
    }

    #[test]
    fn the_example_of_the_text_gives_all_to_the_site_with_more_changes() {
        check(&[(100, 10, 7), (100, 10, 2)], 80, &[80, 0]);
    }

    #[test]
    fn ties_are_served_in_order() {
        check(&[(20, 5, 3), (12, 5, 3), (30, 5, 5)], 45, &[15, 5, 25]);
        check(&[(20, 3, 1), (20, 6, 2)], 18, &[17, 1]);
    }

    #[test]
    fn a_budget_above_all_pages_takes_all_pages() {
        check(&[(10, 2, 0), (10, 4, 4), (3, 0, 0)], u64::MAX, &[8, 6, 3]);
        check(&[], 5, &[]);
    }

    proptest! {
        #[test]
        fn a_lower_site_gets_nothing_before_a_higher_one_is_full(
            counts in prop::collection::vec((0u64..30, 0u64..30, 0u64..30), 0..12),
            budget in 0u64..300,
        ) {
            let sites: Vec<_> = counts
                .iter()
                .map(|&(a, b, c)| SampledSite::new(a + b + c, Sample::new(a + b, a)))
                .collect();
            let downloads = allocate(&sites, budget);
            let room: u64 = sites.iter().map(|site| site.room()).sum();
            prop_assert_eq!(downloads.iter().sum::<u64>(), budget.min(room));
            for (i, high) in sites.iter().enumerate() {
                for (j, low) in sites.iter().enumerate() {
                    let order = high.sample().cmp_changed_fraction(low.sample());
                    if order.is_gt() || (order.is_eq() && i < j) {
                        prop_assert!(downloads[j] == 0 || downloads[i] == high.room());
                    }
                }
            }
        }
    }
}
