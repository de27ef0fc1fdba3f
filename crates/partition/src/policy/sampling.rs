//! The greedy and the proportional policy: sample every site, then download where the samples had changed.
//!
//! **sample**, section 3.2: in each cycle a few pages of every site are sampled. The greedy policy spends the
//! other downloads on the site with the most changed samples, then on the next; the proportional policy
//! spreads them in proportion to the changed samples. No state is kept from cycle to cycle.
//!
//! # Promises
//! - The same number of pages, √(N r), is sampled of every site, or all pages of a smaller one, as far as the
//!   budget suffices.
//! - Greedy: no site is downloaded from while one with a larger fraction of changed samples has pages left.
//!
//! # Departures
//! - The paper has sites of equal size; here N is their mean.
//! - Ties between sites are broken at random.

use freshet_theory::sample::{greedy, proportional};
use freshet_theory::units::Days;

use super::catalogue::{Catalogue, PageId};
use super::sampled_sites::SampledSites;
use super::selective::Selective;
use super::visit::{Observation, Policy};

/// How the downloads that remain after sampling are spent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Spread {
    /// All on the sites with the largest fraction of changed samples.
    Greedy,
    /// On all sites in proportion to their changed samples.
    Proportional,
}

/// Samples every site, then spends the rest.
#[derive(Debug)]
pub(super) struct Sampling {
    spread: Spread,
    sites: SampledSites,
    budget: usize,
    /// Sites still to be sampled in this cycle, the next one last, with the number of pages.
    unsampled: Vec<(usize, usize)>,
}

impl Sampling {
    /// A policy without pages.
    pub(super) fn new(spread: Spread, seed: u64) -> Self {
        Self { spread, sites: SampledSites::new(seed), budget: 0, unsampled: Vec::new() }
    }

    /// Takes at most `room` pages of the samples still to be drawn.
    fn sample(&mut self, room: usize, chosen: &mut Vec<PageId>) {
        let full = chosen.len() + room;
        while let Some((site, wanted)) = self.unsampled.pop() {
            let before = chosen.len();
            self.sites.draw(site, wanted.min(full - before), chosen);
            let missing = wanted - (chosen.len() - before);
            if chosen.len() == full {
                // The next call continues with the rest of the sample.
                self.unsampled.extend(Some((site, missing)).filter(|_| missing > 0));
                return;
            }
        }
    }
}

/// Chooses `room` more pages from the sites, spread as `spread` says.
pub(super) fn download_rest(sites: &mut SampledSites, spread: Spread, room: usize, chosen: &mut Vec<PageId>) {
    let mut order = sites.shuffled();
    // The arithmetic is limited to this many sites. The next call asks for the rest again.
    order.truncate(proportional::SITES_MAX);
    let sampled: Vec<_> = order.iter().map(|site| sites.site(*site)).collect();
    let downloads = match spread {
        Spread::Greedy => greedy::allocate(&sampled, room as u64),
        Spread::Proportional => proportional::allocate(&sampled, room as u64),
    };
    for (site, count) in order.into_iter().zip(downloads) {
        sites.draw(site, count as usize, chosen);
    }
}

impl Policy for Sampling {
    fn discover(&mut self, catalogue: &Catalogue, first: PageId, _now: Days) {
        self.sites.discover(catalogue, first);
    }

    fn begin_cycle(&mut self, _catalogue: &Catalogue, _now: Days, budget: usize) {
        self.sites.begin_cycle();
        self.budget = budget;
        self.unsampled.clear();
    }

    fn choose(&mut self, catalogue: &Catalogue, room: usize, chosen: &mut Vec<PageId>) {
        if self.sites.begin_to_count(catalogue) {
            let sample_size = self.sites.sample_size(self.budget);
            let order = self.sites.shuffled();
            self.unsampled = order.into_iter().rev().map(|site| (site, sample_size)).collect();
        }
        let before = chosen.len();
        self.sample(room, chosen);
        if chosen.len() == before {
            download_rest(&mut self.sites, self.spread, room, chosen);
        }
    }

    fn learn(&mut self, catalogue: &Catalogue, observations: &[Observation]) {
        self.sites.learn(catalogue, observations);
    }

    fn end_cycle(&mut self, _catalogue: &Catalogue) {}
}

impl Selective for Sampling {
    fn restrict(&mut self, allowed: &dyn Fn(PageId) -> bool) {
        self.sites.open.restrict(allowed);
    }
}

#[cfg(test)]
mod tests {
    use crate::policy::small_worlds::{SmallWorld, drive, policy, visits_of_sites};

    /// Visits to each site in the first cycle: √(40/3), that is 4, of each site are samples.
    fn first_cycle(name: &str, changes_every: [u32; 3]) -> Vec<usize> {
        let world = SmallWorld::of_sites(&changes_every.map(|every| (40, every)));
        visits_of_sites(&world, &drive(&world, &mut *policy(name, 0.33, 1), 1, 40)[0])
    }

    #[test]
    fn greedy_goes_to_the_site_with_the_most_changed_samples() {
        assert_eq!(first_cycle("greedy", [0, 1, 0]), [4, 32, 4]);
        let both = first_cycle("greedy", [1, 1, 0]);
        assert_eq!(both[2], 4);
        assert_eq!(both[0].max(both[1]), 32, "{both:?}");
    }

    #[test]
    fn proportional_goes_to_all_sites_with_changed_samples() {
        assert_eq!(first_cycle("proportional", [0, 1, 0]), [4, 32, 4]);
        assert_eq!(first_cycle("proportional", [1, 1, 0]), [18, 18, 4]);
        let even = first_cycle("proportional", [0, 0, 0]);
        assert!(even.iter().all(|count| (13..=14).contains(count)), "{even:?}");
    }

    #[test]
    fn nothing_is_remembered_from_cycle_to_cycle() {
        let mut world = SmallWorld::of_sites(&[(40, 1), (40, 0), (40, 0)]);
        world.pages[..40].iter_mut().for_each(|page| page.changes_every = 2);
        let visits = drive(&world, &mut *policy("greedy", 0.33, 1), 2, 40);
        assert!(visits_of_sites(&world, &visits[0]).iter().any(|count| *count > 30));
        assert_eq!(visits_of_sites(&world, &visits[1]), [32, 4, 4]);
    }
}
