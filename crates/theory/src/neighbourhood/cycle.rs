//! One download cycle that visits random samples and their neighbours.
//!
//! **neighbours**, section 3, Algorithms 1 and 2: until the budget is used up, download a page at random and
//! check whether it has changed; with its download probability, download its neighbours too.
//!
//! # Promises
//! - No page is downloaded twice in a cycle, and the budget is used up unless there are fewer pages.
//! - With a download probability of zero the cycle is a random choice of pages.
//!
//! # Departures
//! Line 7 of Algorithm 1 replaces the collection by the pages that were *not* downloaded; it means that
//! these are carried over from the cycle before. Here the collection is the caller's, and the cycle
//! only says what to download.

use rand::Rng;
use rand::RngExt as _;
use rand::seq::SliceRandom as _;

/// Downloads pages for one cycle and returns them in the order of download.
///
/// `visit` downloads a page and returns whether it has changed. `download_probability` is called for each
/// sample with its status. `neighbours` returns the pages to download for a sample; it may return the sample
/// and pages downloaded before. Panics if a probability is not between zero and one.
pub fn download_cycle(
    pages: usize,
    budget: usize,
    mut visit: impl FnMut(usize) -> bool,
    mut download_probability: impl FnMut(usize, bool) -> f64,
    mut neighbours: impl FnMut(usize) -> Vec<usize>,
    rng: &mut impl Rng,
) -> Vec<usize> {
    let mut samples: Vec<usize> = (0..pages).collect();
    samples.shuffle(rng);
    let mut is_downloaded = vec![false; pages];
    let mut downloads = Vec::with_capacity(budget.min(pages));
    for sample in samples {
        if is_downloaded[sample] {
            continue;
        }
        if downloads.len() == budget {
            break;
        }
        is_downloaded[sample] = true;
        downloads.push(sample);
        let changed = visit(sample);
        if !rng.random_bool(download_probability(sample, changed)) {
            continue;
        }
        for page in neighbours(sample) {
            if downloads.len() < budget && !is_downloaded[page] {
                is_downloaded[page] = true;
                downloads.push(page);
                visit(page);
            }
        }
    }
    downloads
}

#[cfg(test)]
mod tests {
    use super::super::probability;
    use super::*;
    use proptest::prelude::*;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng as _;

    #[test]
    fn changed_samples_lead_to_more_changes() {
        // A hundred directories of ten pages; all pages of every tenth directory have changed.
        let has_changed = |page: usize| page / 100 * 10 == page / 10;
        let directory = |page: usize| (page / 10 * 10..page / 10 * 10 + 10).collect();
        let found = |probability: fn(bool) -> f64| {
            let mut rng = ChaCha8Rng::seed_from_u64(1);
            let downloads = download_cycle(
                1000,
                100,
                has_changed,
                |_, changed| probability(changed),
                directory,
                &mut rng,
            );
            downloads.into_iter().filter(|&page| has_changed(page)).count()
        };
        let (random, by_status) = (found(|_| 0.0), found(probability::status));
        assert!(random < 25, "{random}");
        assert!(by_status > 35, "{by_status}");
    }

    proptest! {
        #[test]
        fn no_page_is_downloaded_twice_and_the_budget_is_used_up(
            pages in 0usize..50,
            budget in 0usize..70,
            reach in 0usize..10,
            probability in 0.0..=1.0f64,
            seed in any::<u64>(),
        ) {
            let mut visits = vec![0; pages];
            let visit = |page: usize| {
                visits[page] += 1;
                page.is_multiple_of(2)
            };
            let neighbours = |page: usize| (page..pages.min(page + reach)).collect();
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let downloads = download_cycle(pages, budget, visit, |_, _| probability, neighbours, &mut rng);
            prop_assert_eq!(downloads.len(), budget.min(pages));
            prop_assert!(visits.iter().all(|&count| count <= 1));
            prop_assert_eq!(visits.iter().sum::<usize>(), downloads.len());
        }
    }
}
