//! The best pages by a key; ties are broken at random.
//!
//! # Promises
//! - No page with a larger key is left out for one with a smaller key.
//! - The cost is linear in the number of pages; there is no sort.

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;

use super::catalogue::PageId;

/// Pages with the key by which they are ranked.
#[derive(Debug, Default)]
pub(super) struct Ranking {
    entries: Vec<Entry>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    key: f64,
    lot: u32,
    page: PageId,
}

impl Ranking {
    /// Adds a page.
    pub(super) fn add(&mut self, page: PageId, key: f64, rng: &mut ChaCha8Rng) {
        self.entries.push(Entry { key, lot: rng.random(), page });
    }

    /// Moves the `count` pages with the largest keys to `chosen` and drops the others.
    pub(super) fn take_best(&mut self, count: usize, chosen: &mut Vec<PageId>) {
        if 0 < count && count < self.entries.len() {
            let better = |a: &Entry, b: &Entry| b.key.total_cmp(&a.key).then(a.lot.cmp(&b.lot));
            self.entries.select_nth_unstable_by(count - 1, better);
        }
        chosen.extend(self.entries.iter().take(count).map(|entry| entry.page));
        self.entries.clear();
    }
}

#[cfg(test)]
mod tests {
    use rand_chacha::rand_core::SeedableRng as _;

    use super::*;

    #[track_caller]
    fn check(keys: &[f64], count: usize, expected: &[u32]) {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut ranking = Ranking::default();
        (0..).zip(keys).for_each(|(page, key)| ranking.add(PageId(page), *key, &mut rng));
        let mut chosen = Vec::new();
        ranking.take_best(count, &mut chosen);
        chosen.sort_unstable();
        assert_eq!(chosen, expected.iter().map(|page| PageId(*page)).collect::<Vec<_>>());
    }

    #[test]
    fn the_largest_keys_are_taken() {
        check(&[1.0, 5.0, 3.0, f64::INFINITY], 2, &[1, 3]);
        check(&[1.0, 5.0], 0, &[]);
        check(&[1.0, 5.0], 9, &[0, 1]);
        check(&[], 3, &[]);
    }
}
