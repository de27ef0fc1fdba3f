//! Proportional sampling policy: the budget left after sampling is split in proportion to the changed
//! samples.
//!
//! **sample**, section 3.2: of a budget `B` left after sampling, site `i` with `c_i` changed samples gets
//!
//! > B c_i / Σ c_j
//!
//! # Promises
//! - The downloads add up to the budget, or to all pages not yet sampled when there are fewer.
//! - No site gets more than the pages it has left. Among those below that limit, shares differ from the exact
//!   proportion by less than one page.
//! - The arithmetic is exact: no share depends on rounding.
//!
//! # Departures
//! The text does not say what happens when a site is full, when no sample changed, or
//! to the fractions of a page:
//! - A site whose share reaches its limit gets its limit, and the rest is shared again among the others.
//!   Sites without changed samples share equally what all others leave.
//! - Shares are rounded down. The missing pages go one each to the largest fractions, compared at nine
//!   decimals, and among equal ones to the site given first.

use std::cmp::Reverse;

use super::site::SampledSite;

/// Maximum number of sites of one allocation. It keeps every product of counts below 2^127.
pub const SITES_MAX: usize = 1 << 20;

/// Further downloads of each site, from the `budget` that is left after sampling.
///
/// Panics for more than [`SITES_MAX`] sites.
pub fn allocate(sites: &[SampledSite], budget: u64) -> Vec<u64> {
    assert!(sites.len() <= SITES_MAX);
    let mut downloads = vec![0; sites.len()];
    let claims = |weight: fn(u64) -> u64| {
        let claim = |(site, sampled): (usize, &SampledSite)| Claim {
            site,
            room: sampled.room(),
            weight: weight(sampled.sample().changed()),
        };
        let claims = sites.iter().enumerate().map(claim);
        claims.filter(|claim| claim.weight > 0 && claim.room > 0).collect::<Vec<_>>()
    };
    let left = share(claims(|changed| changed), budget, &mut downloads);
    share(claims(|changed| u64::from(changed == 0)), left, &mut downloads);
    downloads
}

/// The demand of one site: its weight and its room.
#[derive(Clone, Copy)]
struct Claim {
    site: usize,
    room: u64,
    weight: u64,
}

/// Shares `budget` among the claims in proportion to their weights. Returns what no site could take.
///
/// Sites reach their limits in the order of room/weight. A site that is taken out leaves the others a larger
/// share each. So a site at its limit stays there, and the number of sites taken out at once does not matter.
fn share(mut claims: Vec<Claim>, budget: u64, downloads: &mut [u64]) -> u64 {
    claims.sort_by(|a, b| product(a.room, b.weight).cmp(&product(b.room, a.weight)));
    let mut weight: u128 = claims.iter().map(|claim| u128::from(claim.weight)).sum();
    let mut left = budget;
    let mut full = 0;
    for claim in &claims {
        if u128::from(claim.room) * weight > product(left, claim.weight) {
            break;
        }
        downloads[claim.site] = claim.room;
        left -= claim.room;
        weight -= u128::from(claim.weight);
        full += 1;
    }
    let rest = &mut claims[full..];
    if rest.is_empty() { left } else { share_in_whole_pages(rest, weight, left, downloads) }
}

/// Shares `budget` among claims of which none reaches its limit. `weight` is the sum of their weights. Always
/// returns zero, as nothing is left.
fn share_in_whole_pages(claims: &mut [Claim], weight: u128, budget: u64, downloads: &mut [u64]) -> u64 {
    let mut missing = budget;
    for claim in claims.iter() {
        let whole = product(budget, claim.weight) / weight;
        downloads[claim.site] = whole as u64;
        missing -= whole as u64;
    }
    let fraction = |claim: &Claim| nine_decimals(product(budget, claim.weight) % weight, weight);
    claims.sort_by_cached_key(|claim| (Reverse(fraction(claim)), claim.site));
    for claim in &claims[..missing as usize] {
        downloads[claim.site] += 1;
    }
    0
}

/// The fraction `numerator / denominator` below one in units of 1e-9, rounded to nearest.
fn nine_decimals(numerator: u128, denominator: u128) -> u128 {
    (numerator * 1_000_000_000 + denominator / 2) / denominator
}

fn product(a: u64, b: u64) -> u128 {
    u128::from(a) * u128::from(b)
}

#[cfg(test)]
mod tests {
    use super::super::site::{SITE_PAGES_MAX, Sample};
    use super::*;
    use proptest::prelude::*;

    fn sites(counts: &[(u64, u64, u64)]) -> Vec<SampledSite> {
        let site = |&(pages, sampled, changed): &_| SampledSite::new(pages, Sample::new(sampled, changed));
        counts.iter().map(site).collect()
    }

    #[track_caller]
    fn check(counts: &[(u64, u64, u64)], budget: u64, expected: &[u64]) {
        assert_eq!(allocate(&sites(counts), budget), expected);
    }

    #[test]
    fn the_example_of_the_text_gives_62_and_18() {
        check(&[(100, 10, 7), (100, 10, 2)], 80, &[62, 18]);
    }

    #[test]
    fn what_a_full_site_leaves_is_shared_again() {
        check(&[(30, 10, 9), (100, 10, 2), (50, 10, 0)], 130, &[20, 90, 20]);
        // 60 : 30 : 10 of 100. The first stops at 15, and 85 are shared 3 : 1.
        check(&[(25, 10, 6), (200, 10, 3), (200, 10, 1)], 100, &[15, 64, 21]);
    }

    #[test]
    fn without_changed_samples_the_shares_are_equal() {
        check(&[(50, 10, 0), (50, 10, 0), (50, 10, 0)], 20, &[7, 7, 6]);
        check(&[(11, 10, 0), (50, 10, 0), (50, 10, 0)], 20, &[1, 10, 9]);
    }

    #[test]
    fn equal_fractions_go_to_the_site_given_first() {
        check(&[(50, 10, 1), (50, 10, 1), (50, 10, 2)], 10, &[3, 2, 5]);
        check(&[(90, 10, 1), (90, 10, 1), (90, 10, 1)], 5, &[2, 2, 1]);
    }

    #[test]
    fn fractions_equal_at_nine_decimals_are_equal() {
        // Shares 0.49999999995 and 0.50000000005 of one page.
        let (low, high) = (9_999_999_999, 10_000_000_001);
        check(&[(1 << 40, low, low), (1 << 40, high, high)], 1, &[1, 0]);
        check(&[(1 << 40, high, high), (1 << 40, low, low)], 1, &[1, 0]);
    }

    #[test]
    fn a_budget_above_all_pages_takes_all_pages() {
        check(&[(10, 2, 0), (10, 4, 4), (3, 0, 0)], u64::MAX, &[8, 6, 3]);
        check(&[], 5, &[]);
        check(&[(5, 5, 5)], 5, &[0]);
    }

    #[test]
    fn the_largest_counts_do_not_overflow() {
        let half = SITE_PAGES_MAX / 2;
        check(&[(SITE_PAGES_MAX, half, half); 3], half, &[half / 3 + 1, half / 3, half / 3]);
        let many = vec![(SITE_PAGES_MAX, SITE_PAGES_MAX - 1, SITE_PAGES_MAX - 1); 1000];
        check(&many, u64::MAX, &[1; 1000]);
    }

    /// The rule as written: shares as real numbers, all full sites taken out at once, round after round.
    fn by_rounds(sites: &[SampledSite], budget: u64) -> Vec<f64> {
        let mut shares = vec![0.0; sites.len()];
        let mut left = budget as f64;
        for weigh in [|changed: u64| changed as f64, |changed| f64::from(u8::from(changed == 0))] {
            let weight = |i: usize| weigh(sites[i].sample().changed());
            let mut open: Vec<_> =
                (0..sites.len()).filter(|&i| weight(i) > 0.0 && sites[i].room() > 0).collect();
            while !open.is_empty() {
                let total: f64 = open.iter().map(|&i| weight(i)).sum();
                for &i in &open {
                    shares[i] = (left * weight(i) / total).min(sites[i].room() as f64);
                }
                let (full, rest): (Vec<usize>, Vec<usize>) =
                    open.iter().partition(|&&i| shares[i] >= sites[i].room() as f64);
                if full.is_empty() {
                    return shares;
                }
                left -= full.iter().map(|&i| sites[i].room() as f64).sum::<f64>();
                open = rest;
            }
        }
        shares
    }

    proptest! {
        #[test]
        fn the_downloads_are_the_shares_in_whole_pages(
            counts in prop::collection::vec((0u64..30, 0u64..30, 0u64..30), 0..12),
            budget in 0u64..400,
        ) {
            let counts: Vec<_> = counts.iter().map(|&(a, b, c)| (a + b + c, a + b, a)).collect();
            let sites = sites(&counts);
            let downloads = allocate(&sites, budget);
            let room: u64 = sites.iter().map(|site| site.room()).sum();
            prop_assert_eq!(downloads.iter().sum::<u64>(), budget.min(room));
            for (i, share) in by_rounds(&sites, budget).into_iter().enumerate() {
                prop_assert!(downloads[i] <= sites[i].room());
                prop_assert!((downloads[i] as f64 - share).abs() < 1.0 + 1e-9, "{share} {downloads:?}");
            }
        }
    }
}
