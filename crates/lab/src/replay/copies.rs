//! The local copies, and how fresh and how old they are: computed exactly from the times of changes.
//!
//! Definitions 5.1 to 5.3 of the thesis: a copy is fresh while nothing has changed since it was taken; its age is the time
//! since the first change that it misses. Averages are over the time that copies are held. A copy of a page that died is out of date from
//! its death until a visit finds out; then it is no longer held.

use crate::history::World;
use freshet_crawl::policy::Outcome;

/// What is held, page by page of the world.
#[derive(Debug)]
pub struct Copies<'a> {
    world: &'a World,
    /// When each copy was last found or made equal to its page; NaN while there is none.
    taken: Vec<f64>,
    /// First change of each page that its copy does not have yet, as an index.
    next_change: Vec<u32>,
    held: f64,
    fresh: f64,
    age: f64,
}

impl<'a> Copies<'a> {
    /// No copy yet.
    pub fn new(world: &'a World) -> Self {
        let pages = world.pages.len();
        Self {
            world,
            taken: vec![f64::NAN; pages],
            next_change: vec![0; pages],
            held: 0.0,
            fresh: 0.0,
            age: 0.0,
        }
    }

    /// Takes the first copy of a page.
    pub fn discover(&mut self, page: usize, now: f64) {
        self.taken[page] = now;
        self.skip_changes(page, now);
    }

    /// Whether the copy of a page differs from it.
    pub fn is_stale(&self, page: usize, now: f64) -> bool {
        self.stale_since(page) <= now
    }

    /// Compares the copy with the page and brings it up to date. Panics if the time is before the last visit.
    pub fn visit(&mut self, page: usize, now: f64) -> Outcome {
        let stale_since = self.account(page, now);
        if self.world.pages[page].died <= now {
            self.taken[page] = f64::NAN;
            return Outcome::Gone;
        }
        self.taken[page] = now;
        self.skip_changes(page, now);
        if stale_since <= now { Outcome::Changed } else { Outcome::Unchanged }
    }

    /// Time-averaged freshness and age (in days) of all copies up to `end`, when all visits are over.
    pub fn finish(mut self, end: f64) -> (f64, f64) {
        for page in 0..self.world.pages.len() {
            if !self.taken[page].is_nan() {
                self.account(page, end);
            }
        }
        (self.fresh / self.held, self.age / self.held)
    }

    /// Adds the time since the copy was taken to the averages; returns since when it has been out of date.
    fn account(&mut self, page: usize, now: f64) -> f64 {
        let taken = self.taken[page];
        assert!(taken <= now);
        let stale_since = self.stale_since(page);
        let stale = (now - stale_since).max(0.0);
        self.held += now - taken;
        self.fresh += now - taken - stale;
        self.age += 0.5 * stale * stale;
        stale_since
    }

    /// When the copy went out of date, or will.
    fn stale_since(&self, page: usize) -> f64 {
        let history = &self.world.pages[page];
        let change = history.changes.get(self.next_change[page] as usize);
        change.copied().unwrap_or(f64::INFINITY).min(history.died)
    }

    fn skip_changes(&mut self, page: usize, now: f64) {
        let changes = &self.world.pages[page].changes;
        let next = &mut self.next_change[page];
        while changes.get(*next as usize).is_some_and(|change| *change <= now) {
            *next += 1;
        }
    }
}
