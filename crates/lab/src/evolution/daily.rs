//! What daily visits see of a page.
//!
//! **thesis**, section 4.2: every page was visited once a day, so several changes on one day are seen as one.
//! Recorded edits come in bursts within a day, which a study of rates must not count one by one. Here the
//! first change of each day stands for all of them.
//!
//! Each page has a Poisson twin: a page with as many changes, distributed evenly at random over the same
//! time. Given the number of its changes, that is a Poisson process. So any difference between a page and its
//! twin is not a matter of rates.
//!
//! # Promises
//! - At most one change per day is seen. The times are sorted and distinct.
//! - The twin lives as long as the page. It has at most as many changes; fewer where two fall on one day.

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;

use crate::history::World;

/// A page as daily visits see it. Times are days since the window opened.
#[derive(Clone, Debug, PartialEq)]
pub struct DailyPage {
    /// When it appeared, or 0 if it existed when the window opened.
    pub first: f64,
    /// When it disappeared, or the length of the window if it existed at the end.
    pub last: f64,
    /// First time it was seen changed, for each day with a change.
    pub changes: Vec<f64>,
}

impl DailyPage {
    /// A page of a world, as daily visits see it.
    pub fn of(world: &World, page: usize) -> Self {
        let life = &world.lives[page];
        let (first, last) = (life.born, life.died.min(world.days));
        Self { first, last, changes: one_a_day(world.changes(page).iter().copied()) }
    }

    /// Days observed.
    pub fn days(&self) -> f64 {
        self.last - self.first
    }

    /// Days observed per change. `None` if it never changed.
    pub fn mean_interval(&self) -> Option<f64> {
        (!self.changes.is_empty()).then(|| self.days() / self.changes.len() as f64)
    }

    /// Days between successive changes.
    pub fn intervals(&self) -> impl Iterator<Item = f64> + '_ {
        self.changes.windows(2).map(|pair| pair[1] - pair[0])
    }

    /// Creates the Poisson twin: as many changes at random times.
    pub fn poisson_twin(&self, chance: &mut ChaCha8Rng) -> Self {
        let mut times: Vec<f64> =
            self.changes.iter().map(|_| self.first + self.days() * chance.random::<f64>()).collect();
        times.sort_unstable_by(f64::total_cmp);
        Self { changes: one_a_day(times.into_iter()), ..*self }
    }
}

/// Keeps the first of the sorted times of each day.
fn one_a_day(times: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut seen: Vec<f64> = Vec::new();
    for time in times {
        if seen.last().is_none_or(|last| last.floor() < time.floor()) {
            seen.push(time);
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use rand_chacha::rand_core::SeedableRng as _;

    use super::*;
    use crate::history::world::tests::world_of;

    #[test]
    fn changes_of_a_day_are_seen_as_one() {
        let world = world_of(100.0, &[("/a", 20.0, 70.0, &[20.5, 20.7, 21.1, 40.0, 40.9])]);
        let page = DailyPage::of(&world, 0);
        assert_eq!(page.changes, [20.5, 21.1, 40.0]);
        assert_eq!((page.days(), page.mean_interval()), (50.0, Some(50.0 / 3.0)));
        assert_eq!(page.intervals().count(), 2);
    }

    #[test]
    fn a_twin_has_the_life_of_its_page_and_no_more_changes() {
        let page = DailyPage { first: 10.0, last: 1010.0, changes: (10..60).map(f64::from).collect() };
        let twin = page.poisson_twin(&mut ChaCha8Rng::seed_from_u64(1));
        assert_eq!((twin.first, twin.last), (10.0, 1010.0));
        assert!((40..=50).contains(&twin.changes.len()), "{}", twin.changes.len());
        assert!(twin.changes.iter().all(|time| (10.0..1010.0).contains(time)));
        // The page changes on fifty days in a row, its twin throughout its life.
        assert!(twin.changes[20] > 200.0);
    }
}
