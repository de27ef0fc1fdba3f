//! Policies that can be kept to a part of the pages, and that bear visits which they did not choose.
//!
//! Subset sampling and mixtures (**sample**, sections 3.5 and 3.6) are made of other policies: the one closes most pages to
//! a policy for a cycle, the other tells it of visits that its partner chose. [`OpenPages`] is what every such policy keeps
//! for that: which pages may still be visited in this cycle.
//!
//! # Promises
//! - A page that was visited or closed in this cycle is not open; in the next cycle it is.
//! - A page that is gone is never open again.

use super::catalogue::PageId;
use super::visit::{Observation, Outcome, Policy};

/// A policy that can be combined with others. Its [`Policy::learn`] may be told of pages that it did not choose.
pub(super) trait Selective: Policy {
    /// Keeps the policy in this cycle to the pages for which `allowed` holds. Called after `begin_cycle`, before the first
    /// `choose`.
    fn restrict(&mut self, allowed: &dyn Fn(PageId) -> bool);
}

/// Mark of a page that is gone.
const GONE: u32 = u32::MAX;

/// Which pages may be visited in this cycle.
#[derive(Debug, Default)]
pub(super) struct OpenPages {
    /// The cycle in which each page was last visited or closed.
    closed_in: Vec<u32>,
    cycle: u32,
    alive: usize,
}

impl OpenPages {
    /// There are so many pages now.
    pub(super) fn grow(&mut self, pages: usize) {
        self.alive += pages - self.closed_in.len();
        self.closed_in.resize(pages, 0);
    }

    /// Opens all pages that are not gone.
    pub(super) fn begin_cycle(&mut self) {
        self.cycle += 1;
    }

    /// Number of the cycle, from one.
    pub(super) fn cycle(&self) -> u32 {
        self.cycle
    }

    /// Closes the pages that are not allowed until the cycle ends.
    pub(super) fn restrict(&mut self, allowed: &dyn Fn(PageId) -> bool) {
        for (page, closed_in) in (0u32..).zip(&mut self.closed_in) {
            if *closed_in != GONE && !allowed(PageId(page)) {
                *closed_in = self.cycle;
            }
        }
    }

    /// Closes the pages that were visited, those that are gone for ever.
    pub(super) fn learn(&mut self, observations: &[Observation]) {
        for observation in observations {
            let closed_in = &mut self.closed_in[observation.page.index()];
            if observation.outcome == Outcome::Gone {
                self.alive -= usize::from(*closed_in != GONE);
                *closed_in = GONE;
            } else if *closed_in != GONE {
                *closed_in = self.cycle;
            }
        }
    }

    /// Whether the page may be visited now.
    pub(super) fn is_open(&self, page: PageId) -> bool {
        let closed_in = self.closed_in[page.index()];
        closed_in != self.cycle && closed_in != GONE
    }

    /// Whether a visit found that the page is no longer there.
    pub(super) fn is_gone(&self, page: PageId) -> bool {
        self.closed_in[page.index()] == GONE
    }

    /// Number of pages that are not gone.
    pub(super) fn alive(&self) -> usize {
        self.alive
    }

    /// The pages that may be visited now, in rising order.
    pub(super) fn iter(&self) -> impl Iterator<Item = PageId> + '_ {
        (0..self.closed_in.len() as u32).map(PageId).filter(|page| self.is_open(*page))
    }
}

#[cfg(test)]
mod tests {
    use freshet_theory::units::Days;

    use super::*;

    fn visit(page: u32, outcome: Outcome) -> Observation {
        Observation { page: PageId(page), time: Days::ZERO, outcome }
    }

    fn open(pages: &OpenPages) -> Vec<u32> {
        pages.iter().map(|page| page.0).collect()
    }

    #[test]
    fn a_visited_page_opens_with_the_next_cycle_and_a_gone_one_never() {
        let mut pages = OpenPages::default();
        pages.grow(4);
        pages.begin_cycle();
        pages.learn(&[visit(1, Outcome::Changed), visit(2, Outcome::Gone)]);
        assert_eq!(open(&pages), [0, 3]);
        pages.grow(5);
        pages.begin_cycle();
        assert_eq!(open(&pages), [0, 1, 3, 4]);
        assert_eq!(pages.alive(), 4);
    }

    #[test]
    fn a_restriction_ends_with_the_cycle() {
        let mut pages = OpenPages::default();
        pages.grow(4);
        pages.begin_cycle();
        pages.restrict(&|page| page.0 % 2 == 0);
        assert_eq!(open(&pages), [0, 2]);
        pages.begin_cycle();
        assert_eq!(open(&pages), [0, 1, 2, 3]);
    }
}
