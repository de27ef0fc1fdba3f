//! A mixture: two policies that share the downloads.
//!
//! **sample**, section 3.6: if every page must be visited within a certain time, use, say, 30% of the
//! downloads in a round-robin fashion and the remaining 70% for the greedy policy.
//!
//! # Promises
//! - Over the cycles the second policy gets its share of the downloads, to within one.
//! - Both learn from all visits, and no page is visited twice in a cycle.
//! - Downloads that one policy does not use go to the other.
//!
//! # Departures
//! The paper does not say which policy comes first in a cycle. Here the first one named does, and the second
//! takes other pages.

use freshet_theory::units::Days;

use super::catalogue::{Catalogue, PageId};
use super::selective::Selective;
use super::visit::{Observation, Policy};

/// Two policies, one after the other in each cycle.
pub(super) struct Mixture {
    first: Box<dyn Selective>,
    second: Box<dyn Selective>,
    second_share: f64,
    /// Downloads owed to the second policy: less than one between cycles.
    owed: f64,
    /// Downloads that each policy has left in this cycle.
    left: [usize; 2],
}

impl Mixture {
    /// `second_share` is the second policy's share of the downloads, from zero to one.
    pub(super) fn new(first: Box<dyn Selective>, second: Box<dyn Selective>, second_share: f64) -> Self {
        assert!((0.0..=1.0).contains(&second_share));
        Self { first, second, second_share, owed: 0.0, left: [0; 2] }
    }
}

impl Policy for Mixture {
    fn discover(&mut self, catalogue: &Catalogue, first: PageId, now: Days) {
        self.first.discover(catalogue, first, now);
        self.second.discover(catalogue, first, now);
    }

    fn begin_cycle(&mut self, catalogue: &Catalogue, now: Days, budget: usize) {
        self.owed += self.second_share * budget as f64;
        let second = (self.owed as usize).min(budget);
        self.owed -= second as f64;
        self.left = [budget - second, second];
        self.first.begin_cycle(catalogue, now, budget - second);
        self.second.begin_cycle(catalogue, now, second);
    }

    fn choose(&mut self, catalogue: &Catalogue, room: usize, chosen: &mut Vec<PageId>) {
        let before = chosen.len();
        let [first, second] = self.left;
        // When both have had their share, either may take the rest.
        for (part, limit) in [(0, first), (1, second), (0, room), (1, room)] {
            if limit == 0 {
                continue;
            }
            let policy = if part == 0 { &mut self.first } else { &mut self.second };
            policy.choose(catalogue, limit.min(room), chosen);
            let taken = chosen.len() - before;
            if taken > 0 {
                self.left[part] = self.left[part].saturating_sub(taken);
                return;
            }
            self.left[part] = 0;
        }
    }

    fn learn(&mut self, catalogue: &Catalogue, observations: &[Observation]) {
        self.first.learn(catalogue, observations);
        self.second.learn(catalogue, observations);
    }

    fn end_cycle(&mut self, catalogue: &Catalogue) {
        self.first.end_cycle(catalogue);
        self.second.end_cycle(catalogue);
    }
}

impl Selective for Mixture {
    fn restrict(&mut self, allowed: &dyn Fn(PageId) -> bool) {
        self.first.restrict(allowed);
        self.second.restrict(allowed);
    }
}

#[cfg(test)]
mod tests {
    use crate::policy::small_worlds::{SmallWorld, drive, policy, visits_of_pages, visits_of_sites};

    #[test]
    fn round_robin_beside_greedy_visits_every_page_within_its_time() {
        let world = SmallWorld::of_sites(&[(50, 1), (50, 0)]);
        // 0.3 of 20 downloads reach all of 100 pages in 17 cycles.
        let visits = drive(&world, &mut *policy("mixture:greedy:round-robin:0.3", 0.2, 1), 17, 20);
        assert!(visits_of_pages(&world, &visits).iter().all(|count| *count > 0));
        let lively: usize = visits.iter().map(|visits| visits_of_sites(&world, visits)[0]).sum();
        // Round robin has 102 of 340 downloads, most of them for the pages that greedy leaves alone.
        assert!(lively > 200, "{lively}");
    }

    #[test]
    fn the_second_policy_gets_its_share_even_of_one_download() {
        let world = SmallWorld::of_sites(&[(4, 0)]);
        // Round robin has one download in four: enough for each of the four pages, whatever the random policy
        // chooses.
        let visits = drive(&world, &mut *policy("mixture:random:round-robin:0.25", 0.25, 1), 16, 1);
        assert!(visits_of_pages(&world, &visits).iter().all(|count| *count > 0));
    }
}
