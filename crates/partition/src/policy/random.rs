//! Random pages: the baseline that every policy must beat.
//!
//! **neighbours**, section 5: sampling without downloading the neighbours of any sample.
//!
//! # Promises
//! - Every page is equally likely to be visited in a cycle, whatever was found before.

use freshet_theory::units::Days;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;

use super::catalogue::{Catalogue, PageId};
use super::random_draw::RandomDraw;
use super::selective::{OpenPages, Selective};
use super::visit::{Observation, Policy};

/// Visits random pages in every cycle.
#[derive(Debug)]
pub(super) struct Random {
    lots: RandomDraw,
    open: OpenPages,
    seed: u64,
    rng: ChaCha8Rng,
}

impl Random {
    /// A policy without pages.
    pub(super) fn new(seed: u64) -> Self {
        let rng = ChaCha8Rng::seed_from_u64(seed);
        Self { lots: RandomDraw::default(), open: OpenPages::default(), seed, rng }
    }
}

impl Policy for Random {
    fn discover(&mut self, catalogue: &Catalogue, first: PageId, _now: Days) {
        (first.0..catalogue.pages() as u32).for_each(|page| self.lots.add(PageId(page)));
        self.open.grow(catalogue.pages());
    }

    fn begin_cycle(&mut self, _catalogue: &Catalogue, _now: Days, _budget: usize) {
        self.open.begin_cycle();
        self.rng = self.open.chance(self.seed);
        self.lots.put_back(&self.open);
    }

    fn choose(&mut self, _catalogue: &Catalogue, room: usize, chosen: &mut Vec<PageId>) {
        self.lots.draw_many(room, &mut self.open, &mut self.rng, chosen);
    }

    fn learn(&mut self, _catalogue: &Catalogue, observations: &[Observation]) {
        self.open.learn(observations);
    }

    fn end_cycle(&mut self, _catalogue: &Catalogue) {}
}

impl Selective for Random {
    fn restrict(&mut self, allowed: &dyn Fn(PageId) -> bool) {
        self.open.restrict(allowed);
    }
}

#[cfg(test)]
mod tests {
    use crate::policy::small_worlds::{SmallWorld, drive, policy, visits_of_pages};

    #[test]
    fn all_pages_are_equally_likely() {
        let world = SmallWorld::of_sites(&[(7, 1), (3, 0)]);
        let counts = visits_of_pages(&world, &drive(&world, &mut *policy("random", 0.3, 1), 4_000, 3));
        assert!(counts.iter().all(|count| (1_080..1_320).contains(count)), "{counts:?}");
    }
}
