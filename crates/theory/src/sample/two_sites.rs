//! Expected result of a sampling policy on two sites, exactly.
//!
//! **sample**, section 3.3, Figure 1: of two sites with `N_i` pages, `K_i` of them changed, `s` pages each
//! are sampled and the rest of the budget `B` is spent according to the samples. With X_i the changed samples
//! (hypergeometric) and `m_i` the further downloads,
//!
//! > ChangeRatio = E[ Σ X_i + m_i (K_i − X_i)/(N_i − s) ] / downloads
//!
//! # Promises
//! - The expectation is exact to ten digits: a sum over all outcomes of both samples that matter.
//! - A site is never downloaded beyond its pages; the rest goes to the other one.
//! - With no samples, or with samples only, every policy is round robin on sites of equal size.
//!
//! # Departures
//! The text says only that the figure was computed analytically. Here equal counts give the mean of both
//! choices of the greedy policy, the shares of the proportional one are real numbers, half each when no
//! sample changed, and round robin is the share of changed pages.

use super::count_distribution::CountDistribution;
use super::site::SITE_PAGES_MAX;

/// A site whose changes are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownSite {
    pages: u64,
    changed: u64,
}

impl KnownSite {
    /// Panics if more pages changed than there are, or if there are more than [`SITE_PAGES_MAX`].
    pub fn new(pages: u64, changed: u64) -> Self {
        assert!(changed <= pages);
        assert!(pages <= SITE_PAGES_MAX);
        Self { pages, changed }
    }
}

/// Policy that spends the budget left after sampling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Ignores the samples.
    RoundRobin,
    /// In proportion to the changed samples.
    Proportional,
    /// The site with more changed samples first.
    Greedy,
}

/// Expected ChangeRatio; `None` when nothing is downloaded.
///
/// Takes time linear in the sample size. Panics if the samples exceed the budget or the pages of a site.
pub fn expected_change_ratio(
    sites: [KnownSite; 2],
    budget: u64,
    sample_size: u64,
    policy: Policy,
) -> Option<f64> {
    assert!(sample_size <= budget / 2);
    assert!(sites.iter().all(|site| sample_size <= site.pages));
    let [a, b] = sites;
    let pages = a.pages + b.pages;
    let split = match policy {
        Policy::RoundRobin => {
            return (pages > 0).then(|| (a.changed + b.changed) as f64 / pages as f64);
        }
        Policy::Greedy => Split::greedy_share,
        Policy::Proportional => Split::proportional_share,
    };
    let downloads = budget.min(pages);
    let left = (downloads - 2 * sample_size) as f64;
    let room = sites.map(|site| (site.pages - sample_size) as f64);
    let changes = expected_changes(sites, sample_size, &Split { left, room }, split);
    (downloads > 0).then(|| changes / downloads as f64)
}

/// Sums over the outcomes of both samples.
fn expected_changes(
    sites: [KnownSite; 2],
    sample_size: u64,
    split: &Split,
    first_share: impl Fn(&Split, u64, u64) -> f64,
) -> f64 {
    let counts = sites.map(|site| CountDistribution::hypergeometric(site.pages, site.changed, sample_size));
    // The changed fraction of the pages that were not sampled.
    let changed_part = |site: usize, count: u64| {
        if split.room[site] == 0.0 { 0.0 } else { (sites[site].changed - count) as f64 / split.room[site] }
    };
    let given_first = |(x, p): (u64, f64)| {
        let part_of_first = changed_part(0, x);
        let given_both = |(y, q): (u64, f64)| {
            let first = first_share(split, x, y);
            q * ((x + y) as f64 + first * part_of_first + (split.left - first) * changed_part(1, y))
        };
        p * counts[1].iter().map(given_both).sum::<f64>()
    };
    counts[0].iter().map(given_first).sum()
}

/// Downloads left after sampling, and the room of each site. Both sites together have room for all of them.
struct Split {
    left: f64,
    room: [f64; 2],
}

impl Split {
    /// The share of the first site when it would get `wanted`, limited by the room of both.
    fn within_room(&self, wanted: f64) -> f64 {
        wanted.max(self.left - self.room[1]).min(self.room[0])
    }

    fn greedy_share(&self, first_count: u64, second_count: u64) -> f64 {
        match first_count.cmp(&second_count) {
            std::cmp::Ordering::Greater => self.within_room(self.left),
            std::cmp::Ordering::Less => self.within_room(0.0),
            std::cmp::Ordering::Equal => 0.5 * (self.within_room(self.left) + self.within_room(0.0)),
        }
    }

    fn proportional_share(&self, first_count: u64, second_count: u64) -> f64 {
        let total = first_count + second_count;
        let part = if total == 0 { 0.5 } else { first_count as f64 / total as f64 };
        self.within_room(self.left * part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ratio(
        pages: [u64; 2],
        changed: [u64; 2],
        budget: u64,
        sample_size: u64,
        policy: Policy,
    ) -> Option<f64> {
        let sites = [KnownSite::new(pages[0], changed[0]), KnownSite::new(pages[1], changed[1])];
        expected_change_ratio(sites, budget, sample_size, policy)
    }

    /// The sites of Figure 1.
    #[track_caller]
    fn check(sample_size: u64, policy: Policy, expected: f64) {
        let found = ratio([100, 100], [70, 20], 100, sample_size, policy).expect("pages are downloaded");
        assert!((found - expected).abs() < 1e-12, "{found} for {expected}");
    }

    #[test]
    fn the_curves_of_figure_1() {
        check(1, Policy::Greedy, 0.570668686868687);
        check(1, Policy::Proportional, 0.570668686868687);
        check(5, Policy::Greedy, 0.6538286294197522);
        check(5, Policy::Proportional, 0.5815175440485861);
        check(6, Policy::Greedy, 0.6559542147716471);
        check(20, Policy::Greedy, 0.5999775841473948);
        check(20, Policy::Proportional, 0.5333570821559421);
        check(7, Policy::RoundRobin, 0.45);
    }

    #[test]
    fn without_samples_or_with_samples_only_every_policy_is_round_robin() {
        for policy in [Policy::Greedy, Policy::Proportional] {
            check(0, policy, 0.45);
            check(50, policy, 0.45);
        }
    }

    #[test]
    fn greedy_is_best_with_six_samples() {
        let greedy = |size| ratio([100, 100], [70, 20], 100, size, Policy::Greedy).unwrap_or(0.0);
        assert_eq!((0..=50).max_by(|&a, &b| greedy(a).total_cmp(&greedy(b))), Some(6));
    }

    #[test]
    fn what_a_full_site_cannot_take_the_other_gets() {
        // One page of the first site is left, whatever the policy asks for. The second
        // site gets the other nine.
        for policy in [Policy::Greedy, Policy::Proportional] {
            let found = ratio([3, 100], [3, 0], 14, 2, policy);
            assert!(found.is_some_and(|ratio| (ratio - 3.0 / 14.0).abs() < 1e-15), "{found:?}");
        }
        let found = ratio([3, 5], [2, 1], 1000, 3, Policy::Greedy);
        assert!(found.is_some_and(|ratio| (ratio - 3.0 / 8.0).abs() < 1e-15), "{found:?}");
    }

    #[test]
    fn without_downloads_there_is_no_ratio() {
        assert_eq!(ratio([10, 10], [1, 1], 0, 0, Policy::Greedy), None);
        assert_eq!(ratio([0, 0], [0, 0], 10, 0, Policy::Proportional), None);
        assert_eq!(ratio([0, 0], [0, 0], 10, 0, Policy::RoundRobin), None);
    }

    proptest! {
        #[test]
        fn the_order_of_the_sites_does_not_matter(
            pages in prop::array::uniform2(0u64..60),
            parts in prop::array::uniform2(0.0..=1.0f64),
            budget in 1u64..150,
            sample_size in 0u64..30,
        ) {
            let changed = [0, 1].map(|i| (pages[i] as f64 * parts[i]).round() as u64);
            let sample_size = sample_size.min(budget / 2).min(pages[0]).min(pages[1]);
            for policy in [Policy::Greedy, Policy::Proportional] {
                let forward = ratio(pages, changed, budget, sample_size, policy);
                let backward =
                    ratio([pages[1], pages[0]], [changed[1], changed[0]], budget, sample_size, policy);
                match (forward, backward) {
                    (Some(forward), Some(backward)) => {
                        prop_assert!((forward - backward).abs() < 1e-12);
                        prop_assert!((0.0..=1.0 + 1e-12).contains(&forward));
                    }
                    _ => prop_assert_eq!(forward, backward),
                }
            }
        }
    }
}
