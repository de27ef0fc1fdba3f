//! Interval policies of other crawlers: one interval per page that grows and shrinks.
//!
//! A page is due its interval after its last visit. The pages that have been due longest are visited first.
//! If there are more downloads than due pages, the next ones are visited before their date, so that all
//! downloads of a cycle are used.
//!
//! # Promises
//! - No page is visited while one that was due earlier is open.

use freshet_theory::units::Days;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;

use super::catalogue::{Catalogue, PageId};
use super::due_queue::DueQueue;
use super::selective::{OpenPages, Selective};
use super::visit::{Observation, Policy};

/// How visits change the interval of a page.
pub(super) trait IntervalRule: Send {
    /// The interval of a page that was never visited, in days.
    fn first_interval(&self) -> f64;

    /// The schedule after a visit.
    fn after_visit(&self, visit: &ScheduledVisit) -> NextVisit;
}

/// A visit, as a rule sees it. Times are in days since the crawl began.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ScheduledVisit {
    /// When it was made.
    pub(super) time: f64,
    /// The page's interval until then, in days.
    pub(super) interval: f64,
    /// When the page was last found changed before this visit, or first copied.
    pub(super) last_change: f64,
    /// Whether it found a change.
    pub(super) changed: bool,
}

/// The schedule of a page after a visit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct NextVisit {
    /// The page's interval from now on, in days.
    pub(super) interval: f64,
    /// When it is due again, in days since the crawl began.
    pub(super) due: f64,
}

/// Schedules pages by an interval rule.
#[derive(Debug)]
pub(super) struct Intervals<Rule> {
    rule: Rule,
    interval: Vec<f64>,
    last_change: Vec<f64>,
    queue: DueQueue,
    /// Visits of this cycle. Their pages get a new date when it ends.
    visited: Vec<Observation>,
    open: OpenPages,
    rng: ChaCha8Rng,
}

impl<Rule: IntervalRule> Intervals<Rule> {
    /// A policy without pages.
    pub(super) fn new(rule: Rule, seed: u64) -> Self {
        Self {
            rule,
            interval: Vec::new(),
            last_change: Vec::new(),
            queue: DueQueue::default(),
            visited: Vec::new(),
            open: OpenPages::default(),
            rng: ChaCha8Rng::seed_from_u64(seed),
        }
    }

    fn schedule(&mut self, observation: &Observation) {
        let page = observation.page;
        if !observation.outcome.is_known() {
            self.queue.set(page, observation.time.get() + self.interval[page.index()], &mut self.rng);
            return;
        }
        let visit = ScheduledVisit {
            time: observation.time.get(),
            interval: self.interval[page.index()],
            last_change: self.last_change[page.index()],
            changed: observation.outcome.is_change(),
        };
        let next = self.rule.after_visit(&visit);
        self.interval[page.index()] = next.interval;
        if visit.changed {
            self.last_change[page.index()] = visit.time;
        }
        self.queue.set(page, next.due, &mut self.rng);
    }
}

impl<Rule: IntervalRule> Policy for Intervals<Rule> {
    fn discover(&mut self, catalogue: &Catalogue, first: PageId, now: Days) {
        let pages = catalogue.pages();
        self.interval.resize(pages, self.rule.first_interval());
        self.last_change.resize(pages, now.get());
        self.open.grow(pages);
        self.queue.grow(pages);
        for page in (first.0..pages as u32).map(PageId) {
            self.queue.set(page, now.get() + self.rule.first_interval(), &mut self.rng);
        }
    }

    fn begin_cycle(&mut self, _catalogue: &Catalogue, _now: Days, _budget: usize) {
        self.open.begin_cycle();
    }

    fn choose(&mut self, _catalogue: &Catalogue, room: usize, chosen: &mut Vec<PageId>) {
        for _ in 0..room {
            let Some(page) = self.queue.take_next(&mut self.open) else { return };
            chosen.push(page);
        }
    }

    fn learn(&mut self, _catalogue: &Catalogue, observations: &[Observation]) {
        self.open.learn(observations);
        self.visited.extend_from_slice(observations);
    }

    fn end_cycle(&mut self, _catalogue: &Catalogue) {
        self.queue.end_cycle();
        let mut visited = std::mem::take(&mut self.visited);
        for observation in visited.drain(..) {
            if !self.open.is_gone(observation.page) {
                self.schedule(&observation);
            }
        }
        self.visited = visited;
    }
}

impl<Rule: IntervalRule> Selective for Intervals<Rule> {
    fn restrict(&mut self, allowed: &dyn Fn(PageId) -> bool) {
        self.open.restrict(allowed);
    }
}

#[cfg(test)]
mod tests {
    use crate::policy::small_worlds::{SmallWorld, drive, policy, visits_of_pages};

    #[test]
    fn pages_that_change_come_more_often_and_all_come_again() {
        let world = SmallWorld::of_sites(&[(10, 1), (30, 0)]);
        for name in ["nutch", "nutch:sync", "stormcrawler"] {
            let counts = visits_of_pages(&world, &drive(&world, &mut *policy(name, 0.2, 1), 200, 8));
            let (lively, quiet) = (counts[..10].iter().sum::<usize>(), counts[10..].iter().sum::<usize>());
            assert!(lively > quiet, "{name}: {lively} {quiet}");
            assert!(counts.iter().all(|count| *count > 1), "{name}: {counts:?}");
        }
    }

    #[test]
    fn the_page_that_has_been_due_longest_comes_first() {
        // All are due on the same day at first: none comes twice before all came once.
        let world = SmallWorld::of_sites(&[(12, 0)]);
        let visits = drive(&world, &mut *policy("nutch", 0.25, 1), 4, 3);
        assert_eq!(visits_of_pages(&world, &visits), [1; 12]);
    }
}
