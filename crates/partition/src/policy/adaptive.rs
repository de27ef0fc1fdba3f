//! The adaptive policy: each site is sampled until it is clear whether it is worth downloading.
//!
//! **sample**, section 3.4, Algorithm 3.1, with the k = 10 and α = 0.9 of its section 4.6. Each round samples
//! k pages of every undecided site. Then a site whose changed fraction is surely above the threshold is
//! downloaded whole; one that is surely below is not sampled further.
//!
//! # Promises
//! - A decided site is not sampled again in the cycle.
//! - The threshold separates the sites that the budget of the cycle can download from the others.
//!
//! # Departures
//! - The paper does not name the interval. It is a setting. With ten pages a round the plain one (Wald) finds
//!   the most changes on recorded histories at every budget, although it has no width when none or all of the
//!   samples changed.
//! - Downloads left when all sites are decided go to the sites with the largest fraction of changed samples,
//!   as in the greedy policy.

use freshet_theory::sample::adaptive::{Decision, decide, threshold};
use freshet_theory::sample::interval::{Confidence, Method, changed_fraction_interval};
use freshet_theory::units::Days;

use super::catalogue::{Catalogue, PageId};
use super::sampled_sites::SampledSites;
use super::sampling::{Spread, download_rest};
use super::selective::Selective;
use super::visit::{Observation, Policy};

/// Pages sampled of each undecided site in a round: k.
const ROUND_SIZE: usize = 10;
/// Confidence of the intervals: α.
const CONFIDENCE: f64 = 0.9;

/// Samples sites in rounds and decides them one by one.
#[derive(Debug)]
pub(super) struct Adaptive {
    method: Method,
    sites: SampledSites,
    budget: usize,
    undecided: Vec<usize>,
    /// Whether the undecided sites have been sampled since the last decisions.
    is_sampled: bool,
}

impl Adaptive {
    /// A policy without pages.
    pub(super) fn new(method: Method, seed: u64) -> Self {
        let sites = SampledSites::new(seed);
        Self { method, sites, budget: 0, undecided: Vec::new(), is_sampled: false }
    }

    /// Decides every undecided site. Returns those to download whole, the surest first.
    fn decide(&mut self) -> Vec<usize> {
        let Some(threshold) = self.threshold() else {
            self.undecided.clear();
            return Vec::new();
        };
        let confidence = Confidence::new(CONFIDENCE);
        let mut download = Vec::new();
        let (method, sites) = (self.method, &self.sites);
        self.undecided.retain(|site| {
            let (sample, room) = (sites.site(*site).sample(), sites.site(*site).room());
            if sample.sampled() == 0 || room == 0 {
                return room > 0;
            }
            let interval = changed_fraction_interval(sample, confidence, method);
            let decision = decide(interval, threshold);
            if decision == Decision::Download {
                download.push(*site);
            }
            decision == Decision::Sample
        });
        download.sort_by(|a, b| sites.site(*b).sample().cmp_changed_fraction(sites.site(*a).sample()));
        download
    }

    /// The changed fraction that separates the sites that the budget can download from the others; none with
    /// fewer than two sites.
    fn threshold(&self) -> Option<f64> {
        let pages_of = |site| self.sites.site(site).room() + self.sites.site(site).sample().sampled();
        let mut order: Vec<(f64, u64)> = (0..self.sites.len())
            .filter(|site| pages_of(*site) > 0)
            .map(|site| (self.sites.site(site).sample().changed_fraction(), pages_of(site)))
            .collect();
        if order.len() < 2 {
            return None;
        }
        order.sort_by(|a, b| b.0.total_cmp(&a.0));
        let within = order.iter().scan(0, |pages, site| {
            *pages += site.1;
            Some(*pages)
        });
        let top = within.take_while(|pages| *pages <= self.budget as u64).count();
        let mut estimates: Vec<f64> = order.iter().map(|site| site.0).collect();
        Some(threshold(&mut estimates, top.clamp(1, order.len() - 1)))
    }

    /// Samples the undecided sites.
    fn sample(&mut self, room: usize, chosen: &mut Vec<PageId>) {
        self.sites.draw_each(&self.undecided, ROUND_SIZE, room, chosen);
        self.is_sampled = true;
    }
}

impl Policy for Adaptive {
    fn discover(&mut self, catalogue: &Catalogue, first: PageId, _now: Days) {
        self.sites.discover(catalogue, first);
    }

    fn begin_cycle(&mut self, _catalogue: &Catalogue, _now: Days, budget: usize) {
        self.sites.begin_cycle();
        self.budget = budget;
        self.is_sampled = false;
    }

    fn choose(&mut self, catalogue: &Catalogue, room: usize, chosen: &mut Vec<PageId>) {
        let before = chosen.len();
        if self.sites.begin_to_count(catalogue) {
            self.undecided = self.sites.shuffled();
            self.sample(room, chosen);
            return;
        }
        if std::mem::replace(&mut self.is_sampled, false) {
            let download = self.decide();
            self.sites.draw_each(&download, usize::MAX, room, chosen);
        }
        if chosen.len() == before {
            self.sample(room, chosen);
        }
        if chosen.len() == before {
            self.undecided.clear();
            download_rest(&mut self.sites, Spread::Greedy, room, chosen);
        }
    }

    fn learn(&mut self, catalogue: &Catalogue, observations: &[Observation]) {
        self.sites.learn(catalogue, observations);
    }

    fn end_cycle(&mut self, _catalogue: &Catalogue) {}
}

impl Selective for Adaptive {
    fn restrict(&mut self, allowed: &dyn Fn(PageId) -> bool) {
        self.sites.open.restrict(allowed);
    }
}

#[cfg(test)]
mod tests {
    use crate::policy::small_worlds::{SmallWorld, drive, policy, visits_of_sites};

    #[test]
    fn a_quiet_site_is_given_up_after_one_round_and_a_lively_one_downloaded() {
        let world = SmallWorld::of_sites(&[(100, 1), (100, 0)]);
        let visits = drive(&world, &mut *policy("adaptive", 0.5, 1), 1, 100);
        assert_eq!(visits_of_sites(&world, &visits[0]), [90, 10]);
    }

    #[test]
    fn sites_that_are_hard_to_tell_apart_are_sampled_on() {
        // In the first cycle half of the first site and four tenths of the second have changed.
        let mut world = SmallWorld::of_sites(&[(100, 0), (100, 0)]);
        let changed = |page: usize| if page < 100 { page.is_multiple_of(2) } else { page % 5 < 2 };
        for (number, page) in world.pages.iter_mut().enumerate() {
            page.changes_every = u32::from(changed(number));
        }
        let visits = drive(&world, &mut *policy("adaptive", 0.5, 1), 1, 100);
        assert!(visits_of_sites(&world, &visits[0]).iter().all(|count| *count >= 20));
    }
}
