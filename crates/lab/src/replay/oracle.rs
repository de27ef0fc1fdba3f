//! The oracle: an upper bound that knows which pages differ from their copies, and downloads these.
//!
//! If there are more such pages than downloads, their order decides what the oracle is a ceiling of:
//!
//! - For changes found, the page that will change again first comes first. A page out of date is a job of one
//!   download, due before the page's next change. Serving jobs of equal length by due date completes the
//!   most.
//! - For freshness, the page that will stay fresh longest comes first.
//!
//! Remaining downloads go to unchanged pages, in turns.
//!
//! # Promises
//! - No policy driven in the same form finds more changes than the oracle of changes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use freshet_partition::policy::{Catalogue, Observation, Outcome, PageId, Policy};
use freshet_theory::units::Days;

use super::stage::Stage;

/// The measure that the oracle is a ceiling of.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Ceiling {
    /// Changes found.
    Changes,
    /// Freshness and age.
    Fresh,
}

/// The policy that knows which pages differ from their copies.
#[derive(Debug)]
pub struct Oracle<'a> {
    stage: &'a Stage<'a>,
    ceiling: Ceiling,
    now: f64,
    known: usize,
    /// Index of the first change of each page that its copy does not include.
    next_change: Vec<u32>,
    gone: Vec<bool>,
    /// Cycle in which each page was last chosen.
    chosen: Vec<u32>,
    cycle: u32,
    /// Pages with up-to-date copies, by the time at which they will go out of date, in days as sortable bits.
    fresh: BinaryHeap<Reverse<(u64, u32)>>,
    /// Pages with out-of-date copies.
    stale: Vec<u32>,
    /// The next page in the turns of unchanged pages.
    turn: usize,
}

impl<'a> Oracle<'a> {
    /// An oracle with full knowledge of the stage.
    pub fn new(stage: &'a Stage<'a>, ceiling: Ceiling) -> Self {
        let pages = stage.pages();
        Self {
            stage,
            ceiling,
            now: 0.0,
            known: 0,
            next_change: vec![0; pages],
            gone: vec![false; pages],
            chosen: vec![0; pages],
            cycle: 0,
            fresh: BinaryHeap::new(),
            stale: Vec::new(),
            turn: 0,
        }
    }

    /// When a page next changes or disappears after `time`.
    fn next_after(&self, page: u32, time: f64) -> f64 {
        let page = page as usize;
        let later = &self.stage.changes(page)[self.next_change[page] as usize..];
        let change = later.get(later.partition_point(|change| *change <= time));
        let died = self.stage.died(page);
        let died = if died <= time { f64::INFINITY } else { died };
        change.copied().unwrap_or(f64::INFINITY).min(died)
    }

    /// Records that a copy is up to date, and when it will go out of date.
    fn expect(&mut self, page: u32) {
        let time = self.next_after(page, self.now);
        if time.is_finite() {
            self.fresh.push(Reverse((time.to_bits(), page)));
        }
    }

    /// Appends the best of the out-of-date pages.
    fn choose_stale(&mut self, room: usize, chosen: &mut Vec<PageId>) {
        let mut ranked: Vec<(f64, u32)> =
            self.stale.iter().map(|page| (self.next_after(*page, self.now), *page)).collect();
        let count = room.min(ranked.len());
        if count < ranked.len() && count > 0 {
            ranked.select_nth_unstable_by(count - 1, |a, b| match self.ceiling {
                Ceiling::Changes => a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)),
                Ceiling::Fresh => b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)),
            });
        }
        for (_, page) in &ranked[..count] {
            self.chosen[*page as usize] = self.cycle;
            chosen.push(PageId(*page));
        }
        let (marks, cycle) = (&self.chosen, self.cycle);
        self.stale.retain(|page| marks[*page as usize] != cycle);
    }

    /// Appends unchanged pages in turns.
    fn choose_in_turns(&mut self, room: usize, chosen: &mut Vec<PageId>) {
        let wanted = chosen.len() + room;
        for _ in 0..self.known {
            if chosen.len() == wanted {
                return;
            }
            self.turn = (self.turn + 1) % self.known;
            if !self.gone[self.turn] && self.chosen[self.turn] != self.cycle {
                self.chosen[self.turn] = self.cycle;
                chosen.push(PageId(self.turn as u32));
            }
        }
    }
}

impl Policy for Oracle<'_> {
    fn discover(&mut self, catalogue: &Catalogue, first: PageId, now: Days) {
        self.now = now.get();
        self.known = catalogue.pages();
        (first.0..self.known as u32).for_each(|page| self.expect(page));
    }

    fn begin_cycle(&mut self, _catalogue: &Catalogue, now: Days, _budget: usize) {
        self.now = now.get();
        self.cycle += 1;
        while let Some(Reverse((time, page))) = self.fresh.peek().copied() {
            if self.now < f64::from_bits(time) {
                break;
            }
            self.fresh.pop();
            self.stale.push(page);
        }
    }

    fn choose(&mut self, _catalogue: &Catalogue, room: usize, chosen: &mut Vec<PageId>) {
        let before = chosen.len();
        self.choose_stale(room, chosen);
        self.choose_in_turns(room - (chosen.len() - before), chosen);
    }

    fn learn(&mut self, _catalogue: &Catalogue, observations: &[Observation]) {
        for observation in observations {
            let page = observation.page.0;
            match observation.outcome {
                // It stays in the queue: nothing changed.
                Outcome::Unchanged | Outcome::Failed => {}
                Outcome::Changed => {
                    let later =
                        &self.stage.changes(page as usize)[self.next_change[page as usize] as usize..];
                    let seen = later.partition_point(|change| *change <= self.now) as u32;
                    self.next_change[page as usize] += seen;
                    self.expect(page);
                }
                Outcome::Gone => self.gone[page as usize] = true,
            }
        }
    }

    fn end_cycle(&mut self, _catalogue: &Catalogue) {}
}
