//! The frequency policy: visits by the estimated rate of change of every page.
//!
//! **sample**, section 2.1, policy 2, as it is run in its section 4: every page is visited once in a
//! round-robin fashion; after that its rate is estimated from its history (thesis, chapter 6) and visits are
//! allocated by the rates (chapter 5). A cycle visits the pages whose next visit is most overdue, those with
//! the largest
//!
//! > f t, with f the visit frequency and t the time since the last visit
//!
//! or, with `rank`, the pages that have most likely changed since.
//!
//! # Promises
//! - A page that was there before the first cycle is visited once before its estimate counts.
//! - No page that is more overdue is left out for one that is less.
//! - A page that was discovered or visited in this cycle is not overdue, nor is one with a visit in the
//!   future because the clock was set back.
//!
//! # Departures
//! - With the gamma posterior a page has an estimate before its first visit, and the first round is left out.
//! - A page that is discovered later begins with the mean rate of all pages: it has just been copied.
//! - Rates that the estimators leave unbounded are bounded as in `estimates`.

use std::collections::VecDeque;

use freshet_theory::units::{ChangesPerDay, Days, VisitsPerDay};
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;

use super::allocation::{Allocation, visit_frequencies};
use super::catalogue::{Catalogue, PageId};
use super::estimates::{Estimates, Estimator};
use super::ranking::Ranking;
use super::selective::{OpenPages, Selective};
use super::visit::{Observation, Policy};

/// How pages are ranked in a cycle.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Standing {
    /// By how overdue they are under an allocation.
    Overdue(Allocation),
    /// By the probability that they have changed.
    Changed,
}

/// Ranks every page by its estimated rate.
#[derive(Debug)]
pub(super) struct Frequency {
    standing: Standing,
    cycle: Days,
    estimates: Estimates,
    /// Pages of the first round that were not visited yet.
    first_round: VecDeque<PageId>,
    /// When each page was last visited or copied.
    last: Vec<Days>,
    frequencies: Vec<VisitsPerDay>,
    is_planned: bool,
    now: Days,
    budget: usize,
    open: OpenPages,
    ranking: Ranking,
    seed: u64,
    rng: ChaCha8Rng,
}

impl Frequency {
    /// A policy without pages, for cycles of this length.
    pub(super) fn new(estimator: Estimator, standing: Standing, cycle: Days, seed: u64) -> Self {
        Self {
            standing,
            cycle,
            estimates: Estimates::new(estimator, cycle),
            first_round: VecDeque::new(),
            last: Vec::new(),
            frequencies: Vec::new(),
            is_planned: false,
            now: Days::ZERO,
            budget: 0,
            open: OpenPages::default(),
            ranking: Ranking::default(),
            seed,
            rng: ChaCha8Rng::seed_from_u64(seed),
        }
    }

    /// Takes pages of the first round, if any are left.
    fn choose_unseen(&mut self, room: usize, chosen: &mut Vec<PageId>) {
        let full = chosen.len() + room;
        for _ in 0..self.first_round.len() {
            if chosen.len() == full {
                return;
            }
            let Some(page) = self.first_round.pop_front() else { return };
            if self.open.is_open(page) {
                self.open.choose(page);
                chosen.push(page);
            } else if !self.open.is_gone(page) && !self.estimates.is_seen(page) {
                // It is closed in this cycle, and not because another policy has visited it.
                self.first_round.push_back(page);
            }
        }
    }

    /// Takes the highest-ranked pages.
    fn choose_ranked(&mut self, room: usize, chosen: &mut Vec<PageId>) {
        self.plan();
        for page in self.open.iter() {
            let elapsed = Days::new((self.now.get() - self.last[page.index()].get()).max(0.0));
            let key = match self.standing {
                // A page discovered after the plan has no frequency yet.
                Standing::Overdue(_) => self
                    .frequencies
                    .get(page.index())
                    .map_or(0.0, |frequency| frequency.get() * elapsed.get()),
                Standing::Changed => self.estimates.exposure(page, elapsed),
            };
            self.ranking.add(page, key, &mut self.rng);
        }
        let before = chosen.len();
        self.ranking.take_best(room, chosen);
        chosen[before..].iter().for_each(|page| self.open.choose(*page));
    }

    /// Allocates the visits of this cycle, once.
    fn plan(&mut self) {
        let Standing::Overdue(allocation) = self.standing else { return };
        if std::mem::replace(&mut self.is_planned, true) {
            return;
        }
        let rate = |page| {
            let page = PageId(page);
            if self.open.is_gone(page) { ChangesPerDay::ZERO } else { self.estimates.rate(page) }
        };
        let rates: Vec<ChangesPerDay> = (0..self.last.len() as u32).map(rate).collect();
        let visit_budget = VisitsPerDay::new(self.budget as f64 / self.cycle.get());
        self.frequencies = visit_frequencies(allocation, &rates, visit_budget);
    }
}

impl Policy for Frequency {
    fn discover(&mut self, catalogue: &Catalogue, first: PageId, now: Days) {
        if self.open.cycle() == 0 && !self.estimates.has_prior() {
            let mut new: Vec<PageId> = (first.0..catalogue.pages() as u32).map(PageId).collect();
            new.shuffle(&mut self.rng);
            self.first_round.extend(new);
        }
        self.open.grow(catalogue.pages());
        self.estimates.grow(catalogue.pages());
        self.last.resize(catalogue.pages(), now);
    }

    fn begin_cycle(&mut self, _catalogue: &Catalogue, now: Days, budget: usize) {
        self.open.begin_cycle();
        self.rng = self.open.chance(self.seed);
        self.now = now;
        self.budget = budget;
        self.is_planned = false;
    }

    fn choose(&mut self, _catalogue: &Catalogue, room: usize, chosen: &mut Vec<PageId>) {
        let before = chosen.len();
        self.choose_unseen(room, chosen);
        if chosen.len() == before && room > 0 {
            self.choose_ranked(room, chosen);
        }
    }

    fn learn(&mut self, _catalogue: &Catalogue, observations: &[Observation]) {
        self.open.learn(observations);
        for observation in observations.iter().filter(|observation| observation.outcome.is_known()) {
            let last = &mut self.last[observation.page.index()];
            let interval = Days::new((observation.time.get() - last.get()).max(0.0));
            *last = Days::new(last.get().max(observation.time.get()));
            self.estimates.observe(observation.page, interval, observation.outcome.is_change());
        }
    }

    fn end_cycle(&mut self, _catalogue: &Catalogue) {
        self.estimates.settle();
    }
}

impl Selective for Frequency {
    fn restrict(&mut self, allowed: &dyn Fn(PageId) -> bool) {
        self.open.restrict(allowed);
    }
}

#[cfg(test)]
mod tests {
    use crate::policy::small_worlds::{SmallWorld, drive, policy, visits_of_pages};

    #[test]
    fn every_page_is_visited_once_before_one_is_visited_twice() {
        let world = SmallWorld::of_sites(&[(30, 1), (30, 0)]);
        for name in ["frequency:improved:optimal", "frequency:naive:rank", "frequency:irregular:age"] {
            let visits = drive(&world, &mut *policy(name, 0.1, 1), 10, 6);
            assert_eq!(visits_of_pages(&world, &visits), [1; 60], "{name}");
        }
    }

    /// Visits to ten pages that change every second cycle, and to thirty that change every twentieth.
    fn fast_and_slow(name: &str) -> (usize, usize) {
        let world = SmallWorld::of_sites(&[(10, 2), (30, 20)]);
        let counts = visits_of_pages(&world, &drive(&world, &mut *policy(name, 0.2, 1), 100, 8));
        (counts[..10].iter().sum(), counts[10..].iter().sum())
    }

    #[test]
    fn pages_that_change_more_often_are_visited_more_often() {
        for estimator in ["naive", "improved", "irregular", "gamma"] {
            for standing in ["optimal", "age", "proportional", "rank"] {
                let (fast, slow) = fast_and_slow(&format!("frequency:{estimator}:{standing}"));
                assert!(fast * 3 > slow * 5 / 4, "{estimator} {standing}: {fast} {slow}");
            }
        }
    }

    #[test]
    fn the_optimal_allocation_spends_less_on_fast_pages_than_the_proportional_one() {
        let (optimal, proportional) =
            (fast_and_slow("frequency:improved:optimal"), fast_and_slow("frequency:improved:proportional"));
        assert!(optimal.0 < proportional.0, "{optimal:?} {proportional:?}");
    }

    #[test]
    fn the_uniform_allocation_is_round_robin() {
        let world = SmallWorld::of_sites(&[(10, 1), (10, 0)]);
        let visits = drive(&world, &mut *policy("frequency:improved:uniform", 0.2, 1), 30, 4);
        assert_eq!(visits_of_pages(&world, &visits), [6; 20]);
    }

    #[test]
    fn a_page_that_never_changed_is_visited_again() {
        let world = SmallWorld::of_sites(&[(10, 1), (10, 0)]);
        for name in ["frequency:improved:rank", "frequency:naive:rank", "frequency:irregular:rank"] {
            let counts = visits_of_pages(&world, &drive(&world, &mut *policy(name, 0.2, 1), 200, 4));
            assert!(counts.iter().all(|count| *count > 1), "{name}: {counts:?}");
        }
    }
}
