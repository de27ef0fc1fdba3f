//! Steady policies: every page is visited at a frequency of its own, in one of three orders.
//!
//! Thesis, chapter 5: the allocation gives how often a page is visited, f_i (section 5.5); the order gives
//! when (section 5.4). With I = 1/f the interval of a page,
//!
//! > fixed order: every I; random order: once in every period of length I, at a time drawn evenly from it;
//! > purely random: after intervals drawn from the exponential distribution with mean I
//!
//! Rates are estimated from the visits (chapter 6), and the frequencies are recomputed as the estimates
//! change.
//!
//! # Promises
//! - The pages that have been due longest are visited first, then those that are due next.
//! - A plan costs time linear in the number of pages, but there is only one for every tenth of the pages
//!   visited.
//!
//! # Departures
//! - In the paper the rates are known. A page never visited has the mean rate of all.
//! - When the frequency changes, the elapsed part of the interval is kept, and the rest is stretched or
//!   shrunk.
//! - The paper's orders repeat one list; they are carried over to pages of different frequencies by the
//!   intervals they lead to.

use freshet_theory::units::{ChangesPerDay, Days, VisitsPerDay};
use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;

use super::allocation::{Allocation, visit_frequencies};
use super::catalogue::{Catalogue, PageId};
use super::due_queue::DueQueue;
use super::estimates::{Estimates, Estimator};
use super::selective::OpenPages;
use super::visit::{Observation, Policy};

/// When a page is visited, given how often (thesis, section 5.4).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum VisitOrder {
    /// At even intervals.
    #[default]
    Fixed,
    /// Once in every period, at a random time in it.
    Random,
    /// At random times, whenever the last visit was.
    PurelyRandom,
}

/// Share of the pages that is visited between two plans.
const PLAN_SHARE: f64 = 0.1;

/// Settings of a steady policy.
#[derive(Clone, Copy, Debug)]
pub(super) struct SteadySettings {
    pub(super) allocation: Allocation,
    pub(super) order: VisitOrder,
    pub(super) estimator: Estimator,
    /// Visits per day and page.
    pub(super) visits_per_page: VisitsPerDay,
    /// Length of a cycle: it determines the rate before anything is known.
    pub(super) cycle: Days,
}

/// Visits every page at its frequency.
#[derive(Debug)]
pub(super) struct Steady {
    settings: SteadySettings,
    estimates: Estimates,
    frequency: Vec<f64>,
    /// When each page was last visited or copied, in days.
    last: Vec<f64>,
    /// Time from there to the next visit, in intervals.
    wait: Vec<f32>,
    /// In random order, the position of the next visit in its period, from 0 to 1.
    place: Vec<f32>,
    queue: DueQueue,
    /// Visits of this cycle. Their pages get a new date when it ends.
    visited: Vec<PageId>,
    /// Visits since the last plan.
    visits: usize,
    open: OpenPages,
    rng: ChaCha8Rng,
}

impl Steady {
    /// A policy without pages. Panics unless there are visits.
    pub(super) fn new(settings: SteadySettings, seed: u64) -> Self {
        assert!(VisitsPerDay::ZERO < settings.visits_per_page);
        Self {
            estimates: Estimates::new(settings.estimator, settings.cycle),
            settings,
            frequency: Vec::new(),
            last: Vec::new(),
            wait: Vec::new(),
            place: Vec::new(),
            queue: DueQueue::default(),
            visited: Vec::new(),
            visits: 0,
            open: OpenPages::default(),
            rng: ChaCha8Rng::seed_from_u64(seed),
        }
    }

    /// When a page is due.
    fn due(&self, page: PageId) -> f64 {
        let page = page.index();
        due(self.last[page], self.wait[page], self.frequency[page])
    }

    /// Draws the time of the next visit, in intervals after this one.
    fn draw_wait(&mut self, page: PageId) {
        let page = page.index();
        self.wait[page] = match self.settings.order {
            VisitOrder::Fixed => 1.0,
            VisitOrder::Random => {
                let place: f32 = self.rng.random();
                let rest_of_period = 1.0 - std::mem::replace(&mut self.place[page], place);
                rest_of_period + place
            }
            VisitOrder::PurelyRandom => exponential(&mut self.rng),
        };
    }

    /// Draws the time of the first visit: the first pages are spread over an interval.
    fn draw_first_wait(&mut self, page: PageId) {
        let page = page.index();
        let place: f32 = self.rng.random();
        self.place[page] = place;
        self.wait[page] = match self.settings.order {
            VisitOrder::Fixed | VisitOrder::Random => place,
            VisitOrder::PurelyRandom => exponential(&mut self.rng),
        };
    }

    /// Recomputes the frequencies and moves the dates of all pages.
    fn plan(&mut self) {
        self.estimates.settle();
        let rate = |page| {
            let page = PageId(page);
            if self.open.is_gone(page) { ChangesPerDay::ZERO } else { self.estimates.rate(page) }
        };
        let rates: Vec<ChangesPerDay> = (0..self.last.len() as u32).map(rate).collect();
        let visits = self.settings.visits_per_page.get() * self.open.alive() as f64;
        let planned = visit_frequencies(self.settings.allocation, &rates, VisitsPerDay::new(visits));
        self.frequency = planned.into_iter().map(VisitsPerDay::get).collect();
        let (last, wait, frequency) = (&self.last, &self.wait, &self.frequency);
        let due = |page: PageId| due(last[page.index()], wait[page.index()], frequency[page.index()]);
        self.queue.set_all(due, &mut self.rng);
        self.visits = 0;
    }
}

/// `wait` intervals after the last visit. A page with frequency zero is never due.
fn due(last: f64, wait: f32, frequency: f64) -> f64 {
    if frequency > 0.0 { last + f64::from(wait) / frequency } else { f64::INFINITY }
}

/// A draw from the exponential distribution with mean one.
fn exponential(rng: &mut ChaCha8Rng) -> f32 {
    // One minus a number in [0, 1) is never zero.
    -(1.0 - rng.random::<f32>()).ln()
}

impl Policy for Steady {
    fn discover(&mut self, catalogue: &Catalogue, first: PageId, now: Days) {
        let pages = catalogue.pages();
        self.estimates.grow(pages);
        self.open.grow(pages);
        self.queue.grow(pages);
        self.frequency.resize(pages, self.settings.visits_per_page.get());
        self.last.resize(pages, now.get());
        self.wait.resize(pages, 0.0);
        self.place.resize_with(pages, || self.rng.random());
        for page in (first.0..pages as u32).map(PageId) {
            if self.open.cycle() == 0 {
                self.draw_first_wait(page);
            } else {
                self.draw_wait(page);
            }
            self.queue.set(page, self.due(page), &mut self.rng);
        }
    }

    fn begin_cycle(&mut self, _catalogue: &Catalogue, _now: Days, _budget: usize) {
        self.open.begin_cycle();
        let is_uniform = self.settings.allocation == Allocation::Uniform;
        if !is_uniform && self.visits as f64 >= PLAN_SHARE * self.open.alive() as f64 && self.visits > 0 {
            self.plan();
        }
    }

    fn choose(&mut self, _catalogue: &Catalogue, room: usize, chosen: &mut Vec<PageId>) {
        for _ in 0..room {
            let Some(page) = self.queue.take_next(&mut self.open) else { return };
            chosen.push(page);
        }
    }

    fn learn(&mut self, _catalogue: &Catalogue, observations: &[Observation]) {
        self.open.learn(observations);
        self.visits += observations.len();
        for observation in observations {
            let (page, time) = (observation.page, observation.time.get());
            if observation.outcome.is_known() {
                let interval = Days::new((time - self.last[page.index()]).max(0.0));
                self.estimates.observe(page, interval, observation.outcome.is_change());
            }
            // The clock may have been set back.
            self.last[page.index()] = self.last[page.index()].max(time);
            self.visited.push(page);
        }
    }

    fn end_cycle(&mut self, _catalogue: &Catalogue) {
        self.queue.end_cycle();
        let mut visited = std::mem::take(&mut self.visited);
        for page in visited.drain(..) {
            if !self.open.is_gone(page) {
                self.draw_wait(page);
                self.queue.set(page, self.due(page), &mut self.rng);
            }
        }
        self.visited = visited;
    }
}

#[cfg(test)]
mod tests {
    use crate::policy::small_worlds::{SmallWorld, drive, policy, visits_of_pages};

    /// Mean and standard deviation of the intervals between visits to pages that are alike.
    fn intervals(name: &str) -> (f64, f64) {
        let world = SmallWorld::of_sites(&[(200, 3)]);
        let visits = drive(&world, &mut *policy(name, 0.05, 1), 1_000, 10);
        let mut last = vec![None; world.pages.len()];
        let mut intervals = Vec::new();
        for visit in visits.iter().flatten() {
            let before = last[visit.page.index()].replace(visit.time.get());
            intervals.extend(before.map(|before| visit.time.get() - before));
        }
        let mean = intervals.iter().sum::<f64>() / intervals.len() as f64;
        let variance =
            intervals.iter().map(|interval| (interval - mean).powi(2)).sum::<f64>() / intervals.len() as f64;
        (mean, variance.sqrt())
    }

    #[track_caller]
    fn check(name: &str, expected_deviation: f64, tolerance: f64) {
        let (mean, deviation) = intervals(name);
        assert!((mean - 20.0).abs() < 0.5, "{name}: {mean}");
        assert!((deviation - expected_deviation).abs() < tolerance, "{name}: {deviation}");
    }

    #[test]
    fn the_order_makes_the_intervals_of_the_thesis() {
        check("uniform:fixed", 0.0, 0.8);
        // The difference of two even draws from consecutive periods of 20: 20/√6.
        check("uniform:random", 8.165, 0.8);
        check("uniform:purely-random", 20.0, 2.0);
    }

    /// Visits to thirty pages that change in every cycle, and to thirty that change every tenth.
    fn fast_and_slow(name: &str) -> (usize, usize) {
        let world = SmallWorld::of_sites(&[(30, 1), (30, 10)]);
        let counts = visits_of_pages(&world, &drive(&world, &mut *policy(name, 0.2, 1), 300, 12));
        (counts[..30].iter().sum(), counts[30..].iter().sum())
    }

    #[test]
    fn optimal_visits_slow_pages_more_than_proportional_rate_does() {
        for order in ["fixed", "random", "purely-random"] {
            let (proportional, optimal) = (
                fast_and_slow(&format!("proportional-rate:{order}")),
                fast_and_slow(&format!("optimal:{order}")),
            );
            assert!(proportional.0 > proportional.1, "{order}: {proportional:?}");
            assert!(optimal.1 > proportional.1 * 3 / 2, "{order}: {optimal:?} {proportional:?}");
        }
    }

    #[test]
    fn no_page_is_given_up_for_the_age_or_the_harmonic_objective() {
        let world = SmallWorld::of_sites(&[(30, 1), (30, 10)]);
        for name in ["optimal:age", "optimal:harmonic"] {
            let visits = drive(&world, &mut *policy(name, 0.2, 1), 300, 12);
            let counts = visits_of_pages(&world, &visits[150..]);
            assert!(counts.iter().all(|count| *count > 3), "{name}: {counts:?}");
        }
    }
}
