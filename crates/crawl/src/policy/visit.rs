//! What one visit tells a policy, and how a policy is driven.
//!
//! A policy spends the downloads of a cycle step by step, learning from this cycle's samples (the texts **sample** and **neighbours**). It is
//! a machine without a clock or a network: the driver tells it what was discovered, asks it for pages, visits them, and
//! tells it what came back. The crawler drives it with real visits, the lab with recorded ones. A steady policy is driven in the
//! same way with many short cycles, so that a visit happens near its date.

use freshet_theory::units::Days;

use super::catalogue::{Catalogue, PageId};

/// What a visit found, compared with our copy.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Outcome {
    /// The page is as our copy has it.
    Unchanged,
    /// The page differs from our copy.
    Changed,
    /// The page is no longer there.
    Gone,
}

impl Outcome {
    /// Whether our copy was out of date.
    pub fn is_change(self) -> bool {
        self != Self::Unchanged
    }
}

/// One visit, as a policy sees it.
#[derive(Clone, Copy, Debug)]
pub struct Observation {
    /// The page that was visited.
    pub page: PageId,
    /// When, in days since the crawl began.
    pub time: Days,
    /// What was found.
    pub outcome: Outcome,
}

/// Decides which pages to download. The calls come in this order, cycle after cycle:
/// `discover` (when there are new pages), `begin_cycle`, then `choose` and `learn` in turns until the budget is spent or
/// nothing is chosen, then `end_cycle`.
pub trait Policy {
    /// The pages from `first` to the end of the catalogue are new; each was copied at `now`.
    fn discover(&mut self, catalogue: &Catalogue, first: PageId, now: Days);

    /// A cycle with `budget` downloads begins.
    fn begin_cycle(&mut self, catalogue: &Catalogue, now: Days, budget: usize);

    /// Appends to `chosen` at most `room` pages to download next, each at most once a cycle. All of them are visited
    /// and told to [`Policy::learn`] before the next call. No page means that the policy wants no more in this cycle.
    fn choose(&mut self, catalogue: &Catalogue, room: usize, chosen: &mut Vec<PageId>);

    /// What the visits to the chosen pages found, in their order.
    fn learn(&mut self, catalogue: &Catalogue, observations: &[Observation]);

    /// The cycle is over.
    fn end_cycle(&mut self, catalogue: &Catalogue);
}
