//! Subset sampling: only some sites in each cycle, when the downloads are too few to sample all of them.
//!
//! **sample**, sections 3.5 and 4.4: the sites take turns. Each cycle restricts a policy to as many sites as
//! have R/h pages, with R the downloads and h the fraction of sites that are worth downloading whole, so that
//! these can be downloaded after sampling.
//!
//! # Promises
//! - If the downloads suffice for samples of all sites, the policy is not restricted.
//! - The sites take turns: none comes again before all others had their turn. A cycle without a visit is no
//!   turn.
//!
//! # Departures
//! - The paper makes subsets of so many pages once. Here each cycle takes the next sites from a list until
//!   they have enough pages, as sites differ in size and pages come and go.
//! - The paper does not say when downloads are too few. Here it is when samples of √(N r) pages would take
//!   more than a tenth of them, which is the case where its section 4.4 begins to use subsets.

use freshet_theory::sample::sample_size::rule_of_thumb;
use freshet_theory::sample::subset::pages_per_group;
use freshet_theory::units::Days;
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;

use super::catalogue::{Catalogue, PageId, SiteId};
use super::random_draw::RandomDraw;
use super::selective::{OpenPages, Selective};
use super::visit::{Observation, Outcome, Policy};

/// Fraction of the sites that are worth downloading whole: the right peak of the paper's sites (section 4.1).
const HIGH_FRACTION: f64 = 0.18;
/// Share of the downloads that samples may take before there are too many sites to sample.
const SAMPLES_SHARE_MAX: f64 = 0.1;

/// Restricts a policy to some sites in each cycle.
pub(super) struct Subset {
    inner: Box<dyn Selective>,
    /// The sites in the order of their turns.
    order: Vec<SiteId>,
    /// The next site in the order.
    turn: usize,
    /// The first site of this cycle in the order, and the round of its turn.
    turn_of_cycle: (usize, u32),
    pages_of_site: Vec<usize>,
    open: OpenPages,
    /// All pages, for downloads that the sites of a cycle cannot use.
    lots: RandomDraw,
    seed: u64,
    /// For the order of sites.
    order_rng: ChaCha8Rng,
    /// For the draws of this cycle.
    rng: ChaCha8Rng,
}

impl Subset {
    /// Restricts a policy to a subset of the sites when downloads are few.
    pub(super) fn new(inner: Box<dyn Selective>, seed: u64) -> Self {
        Self {
            inner,
            order: Vec::new(),
            turn: 0,
            turn_of_cycle: (0, 0),
            pages_of_site: Vec::new(),
            open: OpenPages::default(),
            lots: RandomDraw::default(),
            seed,
            order_rng: ChaCha8Rng::seed_from_u64(seed),
            rng: ChaCha8Rng::seed_from_u64(seed),
        }
    }

    /// Whether samples of all sites would take too many of the downloads.
    fn is_budget_low(&self, budget: usize) -> bool {
        let sites = self.pages_of_site.iter().filter(|pages| **pages > 0).count();
        if sites == 0 {
            return false;
        }
        let pages = self.open.alive() as f64;
        let sample_size = rule_of_thumb(pages / sites as f64, budget as f64 / pages).max(1.0);
        sample_size * sites as f64 > SAMPLES_SHARE_MAX * budget as f64
    }

    /// The sites whose turn it is in a cycle with `budget` downloads.
    fn take_turns(&mut self, budget: usize) -> Vec<bool> {
        let (turn, round) = self.turn_of_cycle;
        if round == self.open.rounds() {
            self.turn = turn;
        }
        self.turn_of_cycle = (self.turn, self.open.rounds());
        let wanted = pages_per_group(budget as u64, HIGH_FRACTION);
        let mut pages = 0;
        let mut has_turn = vec![false; self.pages_of_site.len()];
        for _ in 0..self.order.len() {
            if pages as f64 >= wanted {
                break;
            }
            let site = self.order[self.turn % self.order.len()].index();
            self.turn = (self.turn + 1) % self.order.len();
            has_turn[site] = true;
            pages += self.pages_of_site[site];
        }
        has_turn
    }
}

impl Policy for Subset {
    fn discover(&mut self, catalogue: &Catalogue, first: PageId, now: Days) {
        let known = self.pages_of_site.len() as u32;
        let mut new: Vec<SiteId> = (known..catalogue.sites() as u32).map(SiteId).collect();
        new.shuffle(&mut self.order_rng);
        self.order.extend(new);
        self.pages_of_site.resize(catalogue.sites(), 0);
        for page in (first.0..catalogue.pages() as u32).map(PageId) {
            self.pages_of_site[catalogue.site_of(page).index()] += 1;
            self.lots.add(page);
        }
        self.open.grow(catalogue.pages());
        self.inner.discover(catalogue, first, now);
    }

    fn begin_cycle(&mut self, catalogue: &Catalogue, now: Days, budget: usize) {
        self.open.begin_cycle();
        self.rng = self.open.chance(self.seed);
        self.lots.put_back(&self.open);
        self.inner.begin_cycle(catalogue, now, budget);
        if self.is_budget_low(budget) {
            let has_turn = self.take_turns(budget);
            self.inner.restrict(&|page| has_turn[catalogue.site_of(page).index()]);
        }
    }

    fn choose(&mut self, catalogue: &Catalogue, room: usize, chosen: &mut Vec<PageId>) {
        let before = chosen.len();
        self.inner.choose(catalogue, room, chosen);
        if chosen.len() == before {
            self.lots.draw_many(room, &mut self.open, &mut self.rng, chosen);
        } else {
            chosen[before..].iter().for_each(|page| self.open.choose(*page));
        }
    }

    fn learn(&mut self, catalogue: &Catalogue, observations: &[Observation]) {
        for observation in observations {
            if observation.outcome == Outcome::Gone && !self.open.is_gone(observation.page) {
                self.pages_of_site[catalogue.site_of(observation.page).index()] -= 1;
            }
            self.open.learn(std::slice::from_ref(observation));
        }
        self.inner.learn(catalogue, observations);
    }

    fn end_cycle(&mut self, catalogue: &Catalogue) {
        self.inner.end_cycle(catalogue);
    }
}

impl Selective for Subset {
    fn restrict(&mut self, allowed: &dyn Fn(PageId) -> bool) {
        self.open.restrict(allowed);
        self.inner.restrict(allowed);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use crate::policy::small_worlds::{SmallWorld, drive, policy, visits_of_sites};

    fn sites_visited(visits: &[Vec<crate::policy::Observation>], world: &SmallWorld) -> Vec<HashSet<usize>> {
        let sites = |counts: Vec<usize>| {
            counts.iter().enumerate().filter(|(_, count)| **count > 0).map(|(site, _)| site).collect()
        };
        visits.iter().map(|visits| sites(visits_of_sites(world, visits))).collect()
    }

    #[test]
    fn few_downloads_go_to_few_sites_which_take_turns() {
        let world = SmallWorld::of_sites(&[(10, 1); 20]);
        // 4 downloads are for 4/0.18 pages: three sites.
        let visits = drive(&world, &mut *policy("subset:greedy", 0.02, 1), 7, 4);
        let sites = sites_visited(&visits, &world);
        assert!(sites.iter().all(|sites| sites.len() <= 3), "{sites:?}");
        assert!(
            sites[..6].iter().enumerate().all(|(cycle, of_cycle)| {
                sites[..cycle].iter().all(|before| before.is_disjoint(of_cycle))
            })
        );
    }

    #[test]
    fn with_many_downloads_all_sites_are_sampled() {
        let world = SmallWorld::of_sites(&[(400, 1), (400, 0), (400, 0)]);
        let visits = drive(&world, &mut *policy("subset:greedy", 0.3, 1), 3, 360);
        assert!(sites_visited(&visits, &world).iter().all(|sites| sites.len() == 3));
    }
}
