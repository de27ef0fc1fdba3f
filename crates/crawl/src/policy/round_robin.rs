//! Round robin: all pages in turn.
//!
//! **sample**, section 2.1, policy 1: the first pages in the first cycle, the next ones in the second, and so on, so that every page
//! is visited at the same interval.
//!
//! # Promises
//! - Between two visits to a page every other page is visited, as long as no other policy takes part.
//!
//! # Departures
//! The text does not say in which order: the pages that are there at first are in an order drawn by lot, so that a cycle sees all
//! sites; later ones join at the end, as they have just been copied.

use std::collections::VecDeque;

use freshet_theory::units::Days;
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;

use super::catalogue::{Catalogue, PageId};
use super::selective::{OpenPages, Selective};
use super::visit::{Observation, Policy};

/// Every page in turn.
#[derive(Debug)]
pub(super) struct RoundRobin {
    /// The page that was visited longest ago is in front.
    turn: VecDeque<PageId>,
    open: OpenPages,
    rng: ChaCha8Rng,
}

impl RoundRobin {
    /// A policy that knows no page yet.
    pub(super) fn new(seed: u64) -> Self {
        Self { turn: VecDeque::new(), open: OpenPages::default(), rng: ChaCha8Rng::seed_from_u64(seed) }
    }
}

impl Policy for RoundRobin {
    fn discover(&mut self, catalogue: &Catalogue, first: PageId, _now: Days) {
        let mut new: Vec<PageId> = (first.0..catalogue.pages() as u32).map(PageId).collect();
        new.shuffle(&mut self.rng);
        self.turn.extend(new);
        self.open.grow(catalogue.pages());
    }

    fn begin_cycle(&mut self, _catalogue: &Catalogue, _now: Days, _budget: usize) {
        self.open.begin_cycle();
    }

    fn choose(&mut self, _catalogue: &Catalogue, room: usize, chosen: &mut Vec<PageId>) {
        let mut left = room;
        for _ in 0..self.turn.len() {
            if left == 0 {
                return;
            }
            let Some(page) = self.turn.pop_front() else { return };
            if self.open.is_gone(page) {
                continue;
            }
            self.turn.push_back(page);
            if self.open.is_open(page) {
                chosen.push(page);
                left -= 1;
            }
        }
    }

    fn learn(&mut self, _catalogue: &Catalogue, observations: &[Observation]) {
        self.open.learn(observations);
    }

    fn end_cycle(&mut self, _catalogue: &Catalogue) {}
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
