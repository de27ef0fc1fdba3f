//! Simulates a sampling policy on sites of equal size.
//!
//! **sample**, section 4.8, Figure 15: in each download cycle every page of site `i` changes with probability
//! ρ_i, independently. A policy spends its budget, samples included, and the ChangeRatio of the cycle is the
//! fraction of its downloads that had changed.
//!
//! As the pages of a site are alike, it does not matter which of them are downloaded: the
//! changes that `m` downloads find are binomial with `m` and ρ_i. A cycle takes time linear in
//! the number of sites, not of pages.
//!
//! # Promises
//! - A run is a function of its random source: the same source gives the same result.
//! - Every cycle downloads the whole budget, or all pages when there are fewer.
//! - The oracle finds no less than any policy, and greedy and adaptive more than round robin when sites
//!   differ.
//!
//! # Departures
//! What the text leaves open:
//! - Round robin spreads the budget evenly. The few pages left over rotate among the
//!   sites from cycle to cycle.
//! - A budget too small for all samples is spread evenly, and nothing is left.
//! - The adaptive policy can download budget/pages sites, at least one and not all. Its threshold
//!   considers the estimates of all sites, decided or not. What is left in the end goes to the sites
//!   with the highest estimates.
//! - Ties are broken at random.

use rand::Rng;
use rand::RngExt as _;
use rand::seq::SliceRandom as _;
use rand_distr::{Binomial, Distribution as _};

use super::adaptive::{Decision, decide, threshold};
use super::interval::{Confidence, Method, changed_fraction_interval};
use super::site::{SITE_PAGES_MAX, Sample, SampledSite};
use super::{greedy, proportional};

/// Policy that chooses the pages of a cycle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Policy {
    /// The same number of pages of every site.
    RoundRobin,
    /// Samples, then pages in proportion to the changed ones.
    Proportional,
    /// Samples, then all pages of the sites with the most changed ones.
    Greedy,
    /// Samples in rounds until each site is decided.
    Adaptive(Confidence, Method),
    /// Only changed pages, as long as there are any: no policy can find more.
    Oracle,
}

/// Sites of equal size.
#[derive(Clone, Copy, Debug)]
pub struct EqualSites<'a> {
    changed_fractions: &'a [f64],
    pages: u64,
}

impl<'a> EqualSites<'a> {
    /// Sites of `pages` pages each, whose pages change with these probabilities in a cycle.
    ///
    /// Panics unless the fractions lie between zero and one, or for more than [`proportional::SITES_MAX`]
    /// sites or [`SITE_PAGES_MAX`] pages.
    pub fn new(changed_fractions: &'a [f64], pages: u64) -> Self {
        assert!(changed_fractions.iter().all(|fraction| (0.0..=1.0).contains(fraction)));
        assert!(changed_fractions.len() <= proportional::SITES_MAX);
        assert!(pages <= SITE_PAGES_MAX);
        Self { changed_fractions, pages }
    }
}

/// Parameters of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    /// The policy.
    pub policy: Policy,
    /// Downloads per cycle, samples included; at most [`SITE_PAGES_MAX`] are used.
    pub budget: u64,
    /// Pages sampled of each site, or of each undecided site in a round of the adaptive policy.
    pub sample_size: u64,
    /// Number of download cycles.
    pub cycles: u64,
}

/// Mean ChangeRatio of the cycles; `None` when nothing is downloaded.
///
/// Panics if the sample size of the adaptive policy is zero.
pub fn simulate(sites: EqualSites<'_>, run: &Run, rng: &mut impl Rng) -> Option<f64> {
    assert!(run.sample_size > 0 || !matches!(run.policy, Policy::Adaptive(..)));
    let all_pages = u128::from(sites.pages) * sites.changed_fractions.len() as u128;
    let downloads = u128::from(run.budget.min(SITE_PAGES_MAX)).min(all_pages) as u64;
    if downloads == 0 || run.cycles == 0 {
        return None;
    }
    let mut turn = rng.random_range(0..sites.changed_fractions.len());
    let mut sum = 0.0;
    for _ in 0..run.cycles {
        let mut cycle = Cycle::new(sites, downloads, rng);
        let found = match run.policy {
            Policy::Oracle => cycle.changed_pages().min(u128::from(downloads)) as u64,
            Policy::RoundRobin => cycle.round_robin(&mut turn),
            Policy::Proportional => cycle.proportional(run.sample_size, &mut turn),
            Policy::Greedy => cycle.greedy(run.sample_size, &mut turn),
            Policy::Adaptive(confidence, method) => cycle.adaptive(run.sample_size, confidence, method),
        };
        sum += found as f64 / downloads as f64;
    }
    Some(sum / run.cycles as f64)
}

/// State of one download cycle.
struct Cycle<'a, R> {
    sites: EqualSites<'a>,
    /// Pages downloaded so far of each site, and how many of them had changed.
    downloaded: Vec<Sample>,
    /// Downloads that are left.
    left: u64,
    rng: &'a mut R,
}

impl<'a, R: Rng> Cycle<'a, R> {
    fn new(sites: EqualSites<'a>, budget: u64, rng: &'a mut R) -> Self {
        Self { sites, downloaded: vec![Sample::default(); sites.changed_fractions.len()], left: budget, rng }
    }

    fn round_robin(&mut self, turn: &mut usize) -> u64 {
        self.spread_evenly(self.left, turn);
        self.found()
    }

    fn proportional(&mut self, sample_size: u64, turn: &mut usize) -> u64 {
        self.sample_all(sample_size, turn);
        let downloads = proportional::allocate(&self.sampled_sites(), self.left);
        self.download_all(&downloads);
        self.found()
    }

    fn greedy(&mut self, sample_size: u64, turn: &mut usize) -> u64 {
        self.sample_all(sample_size, turn);
        self.download_highest();
        self.found()
    }

    /// Algorithm 3.1.
    fn adaptive(&mut self, round_size: u64, confidence: Confidence, method: Method) -> u64 {
        let sites = self.downloaded.len();
        let top = usize::try_from(self.left / self.sites.pages).unwrap_or(sites).clamp(1, sites.max(2) - 1);
        let mut estimates = vec![0.0; sites];
        let mut undecided: Vec<usize> = (0..sites).collect();
        undecided.shuffle(self.rng);
        while sites > 1 && self.left > 0 && !undecided.is_empty() {
            for &site in &undecided {
                self.download(site, round_size);
            }
            for (estimate, sample) in estimates.iter_mut().zip(&self.downloaded) {
                *estimate = sample.changed_fraction();
            }
            let threshold = threshold(&mut estimates, top);
            undecided.retain(|&site| self.is_undecided(site, threshold, confidence, method));
        }
        self.download_highest();
        self.found()
    }

    /// Decides about one site after a round of samples, and downloads it whole when its changed fraction is
    /// high. Returns whether it is still undecided.
    fn is_undecided(&mut self, site: usize, threshold: f64, confidence: Confidence, method: Method) -> bool {
        // The budget was used up before the site was sampled.
        if self.downloaded[site].sampled() == 0 {
            return true;
        }
        match decide(changed_fraction_interval(self.downloaded[site], confidence, method), threshold) {
            Decision::Discard => false,
            Decision::Sample => self.room(site) > 0,
            Decision::Download => {
                self.download(site, self.room(site));
                false
            }
        }
    }

    /// Samples every site, as far as the budget allows.
    fn sample_all(&mut self, sample_size: u64, turn: &mut usize) {
        let samples = u128::from(sample_size.min(self.sites.pages)) * self.downloaded.len() as u128;
        self.spread_evenly(samples.min(u128::from(self.left)) as u64, turn);
    }

    /// Downloads the same number of pages of each site. Pages left over go one each to the sites from `turn`
    /// on, and `turn` advances.
    fn spread_evenly(&mut self, downloads: u64, turn: &mut usize) {
        let sites = self.downloaded.len();
        let over = (downloads % sites as u64) as usize;
        for site in 0..sites {
            let has_turn = (site + sites - *turn) % sites < over;
            self.download(site, downloads / sites as u64 + u64::from(has_turn));
        }
        *turn = (*turn + over) % sites;
    }

    /// Spends what is left on the sites with the highest estimates, equal ones in random order.
    fn download_highest(&mut self) {
        let sites = self.sampled_sites();
        let mut order: Vec<usize> = (0..sites.len()).collect();
        order.shuffle(self.rng);
        order.sort_by(|&a, &b| sites[b].sample().cmp_changed_fraction(sites[a].sample()));
        let downloads = greedy::allocate_in_order(&sites, &order, self.left);
        self.download_all(&downloads);
    }

    fn download_all(&mut self, downloads: &[u64]) {
        for (site, &count) in downloads.iter().enumerate() {
            self.download(site, count);
        }
    }

    /// Downloads `count` pages of a site, or as many as it has and the budget allows.
    fn download(&mut self, site: usize, count: u64) {
        let count = count.min(self.room(site)).min(self.left);
        if count > 0 {
            self.left -= count;
            let changed = self.draw_changed(site, count);
            self.downloaded[site] = self.downloaded[site].join(Sample::new(count, changed));
        }
    }

    /// Draws the number of `count` pages of a site that changed.
    fn draw_changed(&mut self, site: usize, count: u64) -> u64 {
        let distribution = Binomial::new(count, self.sites.changed_fractions[site]);
        distribution.expect("the fraction is a probability").sample(self.rng).min(count)
    }

    /// Draws the number of changed pages of all sites.
    fn changed_pages(&mut self) -> u128 {
        (0..self.downloaded.len()).map(|site| u128::from(self.draw_changed(site, self.sites.pages))).sum()
    }

    /// Number of changes found so far.
    fn found(&self) -> u64 {
        self.downloaded.iter().map(|sample| sample.changed()).sum()
    }

    fn room(&self, site: usize) -> u64 {
        self.sites.pages - self.downloaded[site].sampled()
    }

    fn sampled_sites(&self) -> Vec<SampledSite> {
        self.downloaded.iter().map(|&sample| SampledSite::new(self.sites.pages, sample)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::many_sites::{expected_greedy_ratio, normal_fractions};
    use proptest::prelude::*;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng as _;

    const ADAPTIVE: fn(Method) -> Policy = |method| Policy::Adaptive(Confidence::new(0.9), method);

    fn ratio(
        policy: Policy,
        fractions: &[f64],
        pages: u64,
        budget: u64,
        sample_size: u64,
        seed: u64,
    ) -> Option<f64> {
        let run = Run { policy, budget, sample_size, cycles: 5 };
        simulate(EqualSites::new(fractions, pages), &run, &mut ChaCha8Rng::seed_from_u64(seed))
    }

    /// The data of section 4.8.
    #[track_caller]
    fn check(policy: Policy, expected: f64, tolerance: f64) {
        let fractions = normal_fractions(300, 0.5, 0.3);
        let found = ratio(policy, &fractions, 1000, 100_000, 10, 1).expect("pages are downloaded");
        assert!((found - expected).abs() < tolerance, "{policy:?}: {found} for {expected}");
    }

    #[test]
    fn the_policies_of_section_4_8_find_what_an_independent_simulation_finds() {
        check(Policy::RoundRobin, 0.49993, 0.004);
        check(Policy::Proportional, 0.64681, 0.0095);
        check(Policy::Greedy, 0.77112, 0.0179);
        check(ADAPTIVE(Method::Conservative), 0.79525, 0.02);
        check(Policy::Oracle, 1.0, 0.004);
    }

    #[test]
    fn greedy_finds_what_is_computed_for_many_sites() {
        let fractions = normal_fractions(3000, 0.5, 0.3);
        let computed = expected_greedy_ratio(&fractions, 200, 60.0, 8);
        let found = ratio(Policy::Greedy, &fractions, 200, 180_000, 8, 7).expect("pages are downloaded");
        assert!((found - computed).abs() < 0.004, "{found} for {computed}");
    }

    #[test]
    fn the_same_source_gives_the_same_result() {
        let fractions = normal_fractions(40, 0.5, 0.3);
        for policy in [Policy::Greedy, Policy::Proportional, ADAPTIVE(Method::Wilson)] {
            let first = ratio(policy, &fractions, 100, 1000, 5, 3);
            assert_eq!(first, ratio(policy, &fractions, 100, 1000, 5, 3));
            assert_ne!(first, ratio(policy, &fractions, 100, 1000, 5, 4));
        }
    }

    #[test]
    fn without_downloads_there_is_no_ratio() {
        for (fractions, pages, budget) in [(&[0.5][..], 10, 0), (&[0.5], 0, 10), (&[], 10, 10)] {
            assert_eq!(ratio(Policy::Greedy, fractions, pages, budget, 2, 0), None);
        }
    }

    #[test]
    fn a_page_that_cannot_be_spread_goes_around() {
        // One download per cycle and five cycles; of five sites one always changes. It is visited exactly
        // once.
        let found = ratio(Policy::RoundRobin, &[0.0, 0.0, 1.0, 0.0, 0.0], 10, 1, 0, 9);
        assert_eq!(found, Some(0.2));
    }

    proptest! {
        #[test]
        fn certain_changes_are_all_found_and_the_budget_is_spent(
            sites in 1usize..12,
            pages in 1u64..30,
            budget in 1u64..400,
            sample_size in 1u64..40,
            seed in any::<u64>(),
        ) {
            for policy in [
                Policy::RoundRobin,
                Policy::Proportional,
                Policy::Greedy,
                ADAPTIVE(Method::Conservative),
                ADAPTIVE(Method::Wald),
                ADAPTIVE(Method::Wilson),
                Policy::Oracle,
            ] {
                let ones = vec![1.0; sites];
                prop_assert_eq!(ratio(policy, &ones, pages, budget, sample_size, seed), Some(1.0));
                let zeros = vec![0.0; sites];
                prop_assert_eq!(ratio(policy, &zeros, pages, budget, sample_size, seed), Some(0.0));
            }
        }
    }
}
