//! Pages drawn by lot, each at most once a cycle.
//!
//! # Promises
//! - Every open page is equally likely to be drawn next; a page is drawn at most once between two shuffles.
//! - A draw costs the same however many pages there are. Pages that are gone leave when they are met.

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;

use super::catalogue::PageId;
use super::selective::OpenPages;

/// Pages to draw from; those drawn stand in front.
#[derive(Clone, Debug, Default)]
pub(super) struct Lots {
    pages: Vec<PageId>,
    drawn: usize,
}

impl Lots {
    /// Adds a page.
    pub(super) fn add(&mut self, page: PageId) {
        self.pages.push(page);
    }

    /// Puts all pages back.
    pub(super) fn put_back(&mut self) {
        self.drawn = 0;
    }

    /// Draws an open page; none when there is none left.
    pub(super) fn draw(&mut self, open: &OpenPages, rng: &mut ChaCha8Rng) -> Option<PageId> {
        while self.drawn < self.pages.len() {
            let lot = rng.random_range(self.drawn..self.pages.len());
            let page = self.pages[lot];
            if open.is_gone(page) {
                self.pages.swap_remove(lot);
                continue;
            }
            self.pages.swap(self.drawn, lot);
            self.drawn += 1;
            if open.is_open(page) {
                return Some(page);
            }
        }
        None
    }

    /// Draws up to `count` open pages.
    pub(super) fn draw_many(
        &mut self,
        count: usize,
        open: &OpenPages,
        rng: &mut ChaCha8Rng,
        chosen: &mut Vec<PageId>,
    ) {
        for _ in 0..count {
            let Some(page) = self.draw(open, rng) else { return };
            chosen.push(page);
        }
    }
}

#[cfg(test)]
mod tests {
    use rand_chacha::rand_core::SeedableRng as _;

    use super::*;

    #[test]
    fn every_page_is_drawn_once_and_each_equally_often_first() {
        let mut open = OpenPages::default();
        open.grow(5);
        let mut lots = Lots::default();
        (0..5).for_each(|page| lots.add(PageId(page)));
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut first = [0; 5];
        for _ in 0..5_000 {
            open.begin_cycle();
            lots.put_back();
            let mut drawn = Vec::new();
            lots.draw_many(9, &open, &mut rng, &mut drawn);
            first[drawn[0].index()] += 1;
            drawn.sort_unstable();
            assert_eq!(drawn, (0..5).map(PageId).collect::<Vec<_>>());
        }
        assert!(first.iter().all(|count| (850..1150).contains(count)), "{first:?}");
    }
}
