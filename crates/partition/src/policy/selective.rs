//! Policies that can be combined: they can be restricted to some pages, and accept visits that they did not
//! choose.
//!
//! Subset sampling and mixtures (**sample**, sections 3.5 and 3.6) are made of other policies: subset
//! sampling closes most pages to a policy for a cycle; a mixture reports to each policy the visits that the
//! other chose. Every such policy keeps [`OpenPages`]: the pages that may still be visited in this cycle.
//!
//! A crawl continues during a cycle: pages are discovered, leave and are visited by others in the middle of
//! it, and a chosen page is visited some time later, or not at all. A policy must handle all of this.
//!
//! # Promises
//! - A page that was visited, chosen or closed in this cycle is not open; in the next cycle it is.
//! - A page that is gone is never open again.
//! - A page that is discovered within a cycle is open at once.
//! - Random draws depend on the seed and on the reported visits, not on what was chosen: after replaying a
//!   history, a policy chooses in its next cycle what one that lived through it would choose.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;

use super::catalogue::PageId;
use super::visit::{Observation, Outcome, Policy};

/// A policy that can be combined with others. [`Policy::learn`] may report pages that it did not choose.
pub(super) trait Selective: Policy {
    /// Restricts the policy in this cycle to the pages for which `allowed` holds. Called after `begin_cycle`,
    /// before the first `choose`.
    fn restrict(&mut self, allowed: &dyn Fn(PageId) -> bool);
}

/// Marks a page that is gone.
const GONE: u32 = u32::MAX;

/// Which pages may be visited in this cycle.
#[derive(Debug, Default)]
pub(super) struct OpenPages {
    /// The cycle in which each page was last visited or closed.
    closed_in: Vec<u32>,
    /// The cycle in which each page was last chosen.
    chosen_in: Vec<u32>,
    cycle: u32,
    alive: usize,
    /// Number of ended cycles in which a visit was reported.
    rounds: u32,
    /// Whether a visit was reported in this cycle.
    has_visits: bool,
}

impl OpenPages {
    /// Sets the number of pages.
    pub(super) fn grow(&mut self, pages: usize) {
        self.alive += pages - self.closed_in.len();
        self.closed_in.resize(pages, 0);
        self.chosen_in.resize(pages, 0);
    }

    /// Opens all pages that are not gone.
    pub(super) fn begin_cycle(&mut self) {
        self.cycle += 1;
        self.rounds += u32::from(std::mem::replace(&mut self.has_visits, false));
    }

    /// Number of ended cycles in which a visit was reported: the same whether they were lived through or
    /// replayed.
    pub(super) fn rounds(&self) -> u32 {
        self.rounds
    }

    /// The random generator of this cycle.
    pub(super) fn chance(&self, seed: u64) -> ChaCha8Rng {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(u64::from(self.rounds) + 1);
        rng
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

    /// Closes the visited pages for this cycle, and those that are gone for ever.
    pub(super) fn learn(&mut self, observations: &[Observation]) {
        self.has_visits |= !observations.is_empty();
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

    /// Marks a page as chosen: it is not open until the next cycle, whether it is visited or not.
    pub(super) fn choose(&mut self, page: PageId) {
        self.chosen_in[page.index()] = self.cycle;
    }

    /// Whether the page may be chosen now.
    pub(super) fn is_open(&self, page: PageId) -> bool {
        self.awaits_visit(page) && !self.is_chosen(page)
    }

    /// Whether the page was chosen in this cycle.
    pub(super) fn is_chosen(&self, page: PageId) -> bool {
        self.chosen_in[page.index()] == self.cycle
    }

    /// Whether the page is neither gone, nor closed or visited in this cycle.
    pub(super) fn awaits_visit(&self, page: PageId) -> bool {
        let closed_in = self.closed_in[page.index()];
        closed_in != self.cycle && closed_in != GONE
    }

    /// Whether a visit found that the page is gone.
    pub(super) fn is_gone(&self, page: PageId) -> bool {
        self.closed_in[page.index()] == GONE
    }

    /// Number of pages that are not gone.
    pub(super) fn alive(&self) -> usize {
        self.alive
    }

    /// Number of pages that are gone.
    pub(super) fn gone(&self) -> usize {
        self.closed_in.len() - self.alive
    }

    /// The pages that may be chosen now, in rising order.
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
