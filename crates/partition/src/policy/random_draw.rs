//! Pages drawn by lot, each at most once a cycle.
//!
//! # Promises
//! - Every open page is equally likely to be drawn next; a page is drawn at most once a cycle.
//! - A draw costs the same however many pages there are. Pages that are gone leave when a cycle begins.
//! - What was drawn in one cycle does not change what chance draws in the next.

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;

use super::catalogue::PageId;
use super::selective::OpenPages;

/// Pages to draw from; those drawn stand in front.
#[derive(Clone, Debug, Default)]
pub(super) struct RandomDraw {
    pages: Vec<PageId>,
    /// Where each page that was drawn stood before; their number is that of the pages drawn.
    drawn_from: Vec<usize>,
    /// Pages of the crawl that were gone when those among these were last removed.
    gone: usize,
}

impl RandomDraw {
    /// Adds a page.
    pub(super) fn add(&mut self, page: PageId) {
        self.pages.push(page);
    }

    /// Puts all pages back where they stood, without those that are gone: a cycle begins.
    pub(super) fn put_back(&mut self, open: &OpenPages) {
        while let Some(lot) = self.drawn_from.pop() {
            self.pages.swap(self.drawn_from.len(), lot);
        }
        if self.gone != open.gone() {
            self.gone = open.gone();
            self.pages.retain(|page| !open.is_gone(*page));
        }
    }

    /// Draws an open page and marks it as chosen; none when there is none left.
    pub(super) fn draw(&mut self, open: &mut OpenPages, rng: &mut ChaCha8Rng) -> Option<PageId> {
        while self.drawn_from.len() < self.pages.len() {
            let drawn = self.drawn_from.len();
            let lot = rng.random_range(drawn..self.pages.len());
            let page = self.pages[lot];
            self.pages.swap(drawn, lot);
            self.drawn_from.push(lot);
            if open.is_open(page) {
                open.choose(page);
                return Some(page);
            }
        }
        None
    }

    /// Draws up to `count` open pages.
    pub(super) fn draw_many(
        &mut self,
        count: usize,
        open: &mut OpenPages,
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
        let mut lots = RandomDraw::default();
        (0..5).for_each(|page| lots.add(PageId(page)));
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut first = [0; 5];
        for _ in 0..5_000 {
            open.begin_cycle();
            lots.put_back(&open);
            let mut drawn = Vec::new();
            lots.draw_many(9, &mut open, &mut rng, &mut drawn);
            first[drawn[0].index()] += 1;
            drawn.sort_unstable();
            assert_eq!(drawn, (0..5).map(PageId).collect::<Vec<_>>());
        }
        assert!(first.iter().all(|count| (850..1150).contains(count)), "{first:?}");
    }
}
