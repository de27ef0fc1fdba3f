//! Subset sampling: when the budget cannot sample every site, sample groups of sites in turn.
//!
//! **sample**, section 3.5, and the experiment of section 4.4. The sites are divided into groups. Each cycle
//! samples and downloads one group only, and the groups take turns. A group should be so large that the
//! budget `R` can download all pages of its high sites after sampling. If a fraction `h` of the sites is
//! high, each has `N` pages and `s` of them are sampled:
//!
//! > m s + h m (N − s) = R, so m = R / (s + h (N − s)); without the samples m N = R / h (section 4.4)
//!
//! # Promises
//! - After the samples of a group, the rest of the budget covers the high part of it.
//! - The groups of a round are disjoint, differ by at most one site, and together are all sites.
//! - [`best_group_size`] finds no less than any other size is expected to find.
//!
//! # Departures
//! The text has no formula for the best number of sites and recommends the rule above. Where the changed
//! fractions are known from earlier cycles, [`best_group_size`] computes the answer from them.

use std::ops::Range;

use super::many_sites::GreedyExpectation;

/// Limits of a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CycleLimits {
    /// Downloads per cycle, samples included.
    pub budget: u64,
    /// Number of pages of each site.
    pub pages_per_site: u64,
    /// Number of pages sampled of each site in the group.
    pub sample_size: u64,
}

/// Number of pages of which the budget can download the fraction `high_fraction`: the rule of section 4.4.
///
/// Panics unless the fraction is above zero and at most one.
pub fn pages_per_group(budget: u64, high_fraction: f64) -> f64 {
    assert!(0.0 < high_fraction);
    assert!(high_fraction <= 1.0);
    budget as f64 / high_fraction
}

/// Number of sites whose samples and whose high part the budget can download: at least one, at most `sites`.
///
/// Panics if there are no sites, if more is sampled than a site has, or unless the fraction
/// lies between zero and one.
pub fn group_size(limits: CycleLimits, high_fraction: f64, sites: usize) -> usize {
    assert!(sites > 0);
    assert!(limits.sample_size <= limits.pages_per_site);
    assert!((0.0..=1.0).contains(&high_fraction));
    let (pages, samples) = (limits.pages_per_site as f64, limits.sample_size as f64);
    let downloads_per_site = samples + high_fraction * (pages - samples);
    ((limits.budget as f64 / downloads_per_site) as usize).clamp(1, sites)
}

/// Number of sites for which the greedy policy is expected to find the most changes, when the sites have
/// these changed fractions. Of equally good sizes the larger one, so that each site's turn comes sooner.
///
/// Panics if there are no sites, unless the fractions lie between zero and one, or if more
/// is sampled than a site has.
pub fn best_group_size(changed_fractions: &[f64], limits: CycleLimits) -> usize {
    let expectation = GreedyExpectation::new(changed_fractions, limits.pages_per_site, limits.sample_size);
    let mut best = (1, f64::NEG_INFINITY);
    for group_size in 1..=changed_fractions.len() {
        let downloads_per_site = limits.budget as f64 / group_size as f64;
        if downloads_per_site == 0.0 || downloads_per_site < limits.sample_size as f64 {
            break;
        }
        let ratio = expectation.change_ratio(downloads_per_site);
        if ratio >= best.1 - 1e-12 {
            best = (group_size, ratio.max(best.1));
        }
    }
    best.0
}

/// The sites of one cycle, when `sites` are divided into groups of at most `group_size`.
/// Cycles are counted from zero.
///
/// Panics if the group size is zero.
pub fn group_of_cycle(sites: usize, group_size: usize, cycle: u64) -> Range<usize> {
    assert!(group_size > 0);
    let groups = sites.div_ceil(group_size).max(1);
    let group = (cycle % groups as u64) as usize;
    let start = |group: usize| group * (sites / groups) + group.min(sites % groups);
    start(group)..start(group + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::many_sites::expected_greedy_ratio;
    use proptest::prelude::*;

    /// Example 3: 500 downloads, 100 pages per site, 10 samples of each.
    const EXAMPLE: CycleLimits = CycleLimits { budget: 500, pages_per_site: 100, sample_size: 10 };

    #[track_caller]
    fn check(high_fraction: f64, sites: usize, expected: usize) {
        assert_eq!(group_size(EXAMPLE, high_fraction, sites), expected);
    }

    #[test]
    fn the_budget_covers_samples_and_high_sites() {
        check(0.3, 1000, 13); // 130 samples leave 370 downloads: four sites of 90 pages, of 13.
        check(0.0, 1000, 50);
        check(1.0, 1000, 5);
        check(0.3, 8, 8);
        let starved = CycleLimits { budget: 3, ..EXAMPLE };
        assert_eq!(group_size(starved, 0.3, 1000), 1);
    }

    #[test]
    fn ten_thousand_downloads_are_eighteen_percent_of_55_556_pages() {
        assert!((pages_per_group(10_000, 0.18) - 55_555.6).abs() < 0.1);
    }

    #[test]
    fn a_clear_group_of_high_sites_is_matched_by_the_best_size() {
        // A fifth of the sites change wholly, the others not at all, and ten samples distinguish them. The
        // best group is the one whose high sites use up the budget, which is what the rule gives.
        let fractions: Vec<_> = (0..100).map(|site| f64::from(u8::from(site % 5 == 0))).collect();
        let limits = CycleLimits { budget: 560, pages_per_site: 100, sample_size: 10 };
        assert_eq!(group_size(limits, 0.2, 100), 20);
        assert_eq!(best_group_size(&fractions, limits), 20);
    }

    #[test]
    fn with_equal_sites_every_size_is_best_and_the_largest_is_taken() {
        assert_eq!(best_group_size(&[0.4; 30], EXAMPLE), 30);
        assert_eq!(best_group_size(&[0.4; 100], EXAMPLE), 50);
        assert_eq!(best_group_size(&[0.4; 5], CycleLimits { budget: 0, ..EXAMPLE }), 1);
    }

    proptest! {
        #[test]
        fn what_the_samples_leave_covers_the_high_part(
            budget in 100u64..100_000,
            sample_size in 0u64..=100,
            high_fraction in 0.0..=1.0f64,
        ) {
            let limits = CycleLimits { budget, pages_per_site: 100, sample_size };
            let size = group_size(limits, high_fraction, usize::MAX) as f64;
            let left = budget as f64 - size * sample_size as f64;
            prop_assert!(size * high_fraction * (100 - sample_size) as f64 <= left + 1e-6);
        }

        #[test]
        fn a_round_of_groups_is_all_sites_once(sites in 0usize..200, size in 1usize..60, round in 0u64..5) {
            let groups = sites.div_ceil(size).max(1) as u64;
            let mut covered = Vec::new();
            let mut sizes = Vec::new();
            for cycle in round * groups..(round + 1) * groups {
                let group = group_of_cycle(sites, size, cycle);
                sizes.push(group.len());
                covered.extend(group);
            }
            prop_assert_eq!(covered, (0..sites).collect::<Vec<_>>());
            let (min, max) = (sizes.iter().min().copied(), sizes.iter().max().copied());
            prop_assert!(max <= Some(size) && max.zip(min).is_some_and(|(max, min)| max - min <= 1));
        }

        #[test]
        fn no_size_is_expected_to_find_more_than_the_best(
            fractions in prop::collection::vec(0.0..=1.0f64, 1..20),
            budget in 10u64..300,
        ) {
            let limits = CycleLimits { budget, pages_per_site: 40, sample_size: 5 };
            let ratio = |size: usize| expected_greedy_ratio(&fractions, 40, budget as f64 / size as f64, 5);
            let best = ratio(best_group_size(&fractions, limits));
            for size in (1..=fractions.len()).take_while(|&size| 5 * size as u64 <= budget) {
                prop_assert!(ratio(size) <= best + 1e-9);
            }
        }
    }
}
