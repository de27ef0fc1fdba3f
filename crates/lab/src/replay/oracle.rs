//! The oracle: sees which pages differ from their copies, and downloads these.
//!
//! When there are more of them than downloads, the order decides what the oracle is a ceiling of:
//!
//! - for changes found, the page that will change again first comes first. A page out of date is a job of one download,
//!   due before the page's next change, and to serve jobs of equal length by their due dates completes the most;
//! - for freshness, the page that will stay fresh longest comes first.
//!
//! What is left of the downloads goes to pages that have not changed, in turns.
//!
//! # Promises
//! - No policy that is driven in the same form finds more changes than the oracle of changes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use freshet_partition::policy::{Catalogue, Observation, Outcome, PageId, Policy};
use freshet_theory::units::Days;

use super::stage::Stage;

/// What the oracle is a ceiling of.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Ceiling {
    /// Changes found.
    Changes,
    /// Freshness and age.
    Fresh,
}

/// The policy that sees which pages differ.
#[derive(Debug)]
pub struct Oracle<'a> {
    stage: &'a Stage<'a>,
    ceiling: Ceiling,
    now: f64,
    known: usize,
    /// First change of each page that its copy does not have.
    next_change: Vec<u32>,
    gone: Vec<bool>,
    /// Cycle in which each page was last chosen.
    chosen: Vec<u32>,
    cycle: u32,
    /// Pages whose copies are up to date, by the time at which they will not be, in days as sortable bits.
    fresh: BinaryHeap<Reverse<(u64, u32)>>,
    /// Pages whose copies are out of date.
    stale: Vec<u32>,
    /// Where the turns of unchanged pages go on.
    turn: usize,
}

impl<'a> Oracle<'a> {
    /// An oracle that knows the stage.
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

    /// When the content of a page is next altered, or the page goes, after a time.
    fn next_after(&self, page: u32, time: f64) -> f64 {
        let page = page as usize;
        let later = &self.stage.changes(page)[self.next_change[page] as usize..];
        let change = later.get(later.partition_point(|change| *change <= time));
        let died = self.stage.died(page);
        let died = if died <= time { f64::INFINITY } else { died };
        change.copied().unwrap_or(f64::INFINITY).min(died)
    }

    /// The copy of a page is up to date: notes when it will not be.
    fn expect(&mut self, page: u32) {
        let time = self.next_after(page, self.now);
        if time.is_finite() {
            self.fresh.push(Reverse((time.to_bits(), page)));
        }
    }

    /// Appends the best of the pages that are out of date.
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

    /// Appends pages that have not changed.
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
                // It stays where it waits: nothing was altered.
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
