//! Random draws of pages without replacement within a cycle.
//!
//! # Promises
//! - Every open page is equally likely to be drawn next; a page is drawn at most once a cycle.
//! - The cost of a draw does not depend on the number of pages. Pages that are gone are removed when a cycle
//!   begins.
//! - Draws in one cycle do not influence those of the next.

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;

use super::catalogue::PageId;
use super::selective::OpenPages;

/// Pages to draw from. Drawn pages are moved to the front.
#[derive(Clone, Debug, Default)]
pub(super) struct RandomDraw {
    pages: Vec<PageId>,
    /// The former position of each drawn page. Its length is the number of drawn pages.
    drawn_from: Vec<usize>,
    /// Value of `open.gone()` when gone pages were last removed.
    gone: usize,
}

impl RandomDraw {
    /// Adds a page.
    pub(super) fn add(&mut self, page: PageId) {
        self.pages.push(page);
    }

    /// Begins a cycle: puts all pages back to their former positions and removes those that are gone.
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
