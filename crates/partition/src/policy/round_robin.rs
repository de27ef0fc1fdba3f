//! Round robin: all pages in turn.
//!
//! **sample**, section 2.1, policy 1: the first pages in the first cycle, the next ones in the second, and so
//! on, so that every page is visited at the same interval.
//!
//! # Promises
//! - Between two visits to a page every other page is visited, as long as no other policy takes part.
//! - A visit chosen by another policy uses up the page's turn: the page with the oldest visit is next,
//!   whoever visited it.
//!
//! # Departures
//! The paper does not give the order. The pages that are there at first are in random order, so that a cycle
//! sees all sites. Later ones join at the end, as they have just been copied.

use std::collections::VecDeque;

use freshet_theory::units::Days;
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;

use super::catalogue::{Catalogue, PageId};
use super::selective::{OpenPages, Selective};
use super::visit::{Observation, Policy};

/// Maximum number of outdated queue entries, in addition to one for each page and one more.
const OUT_OF_DATE_MAX: usize = 64;

/// Visits every page in turn.
#[derive(Debug)]
pub(super) struct RoundRobin {
    /// The page with the oldest visit is in front. An entry is out of date when its page was visited after it
    /// was made.
    turn: VecDeque<Turn>,
    /// Pages taken from the queue that are closed or chosen in this cycle; they keep their turn.
    aside: Vec<Turn>,
    /// Visits to each page.
    visits: Vec<u32>,
    open: OpenPages,
    rng: ChaCha8Rng,
}

#[derive(Clone, Copy, Debug)]
struct Turn {
    page: PageId,
    /// Number of visits to the page when the entry was made.
    visits: u32,
}

impl RoundRobin {
    /// A policy without pages.
    pub(super) fn new(seed: u64) -> Self {
        Self {
            turn: VecDeque::new(),
            aside: Vec::new(),
            visits: Vec::new(),
            open: OpenPages::default(),
            rng: ChaCha8Rng::seed_from_u64(seed),
        }
    }

    fn is_valid(&self, turn: Turn) -> bool {
        self.visits[turn.page.index()] == turn.visits && !self.open.is_gone(turn.page)
    }
}

impl Policy for RoundRobin {
    fn discover(&mut self, catalogue: &Catalogue, first: PageId, _now: Days) {
        let mut new: Vec<PageId> = (first.0..catalogue.pages() as u32).map(PageId).collect();
        new.shuffle(&mut self.rng);
        self.turn.extend(new.into_iter().map(|page| Turn { page, visits: 0 }));
        self.visits.resize(catalogue.pages(), 0);
        self.open.grow(catalogue.pages());
    }

    fn begin_cycle(&mut self, _catalogue: &Catalogue, _now: Days, _budget: usize) {
        self.open.begin_cycle();
    }

    fn choose(&mut self, _catalogue: &Catalogue, room: usize, chosen: &mut Vec<PageId>) {
        let full = chosen.len() + room;
        while chosen.len() < full {
            let Some(turn) = self.turn.pop_front() else { return };
            if !self.is_valid(turn) {
                continue;
            }
            // A page that is chosen and not visited keeps its turn.
            self.aside.push(turn);
            if self.open.is_open(turn.page) {
                self.open.choose(turn.page);
                chosen.push(turn.page);
            }
        }
    }

    fn learn(&mut self, _catalogue: &Catalogue, observations: &[Observation]) {
        self.open.learn(observations);
        for observation in observations {
            let (page, visits) = (observation.page, &mut self.visits[observation.page.index()]);
            *visits = visits.wrapping_add(1);
            self.turn.push_back(Turn { page, visits: *visits });
        }
    }

    fn end_cycle(&mut self, _catalogue: &Catalogue) {
        let mut aside = std::mem::take(&mut self.aside);
        for turn in aside.drain(..).rev() {
            if self.is_valid(turn) {
                self.turn.push_front(turn);
            }
        }
        self.aside = aside;
        if self.turn.len() > 2 * self.visits.len() + OUT_OF_DATE_MAX {
            let (visits, open) = (&self.visits, &self.open);
            self.turn.retain(|turn| visits[turn.page.index()] == turn.visits && !open.is_gone(turn.page));
        }
    }
}

impl Selective for RoundRobin {
    fn restrict(&mut self, allowed: &dyn Fn(PageId) -> bool) {
        self.open.restrict(allowed);
    }
}

#[cfg(test)]
mod tests {
    use crate::policy::small_worlds::{SmallWorld, drive, policy, visits_of_pages};

    #[test]
    fn all_pages_have_their_turn_before_one_has_its_second() {
        let world = SmallWorld::of_sites(&[(7, 1), (3, 0)]);
        for cycles in [1, 5, 9, 10, 20] {
            let visits = drive(&world, &mut *policy("round-robin", 0.3, 1), cycles, 3);
            let counts = visits_of_pages(&world, &visits);
            let (least, most) = (counts.iter().min(), counts.iter().max());
            assert!(most <= least.map(|least| least + 1).as_ref(), "{counts:?}");
        }
    }
}
