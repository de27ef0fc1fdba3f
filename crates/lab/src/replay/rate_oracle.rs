//! The rate oracle: knows every page's mean change rate over the whole window, but not when it changes.
//!
//! With λ the rate of a page and t the time since its last visit, it downloads the pages with the largest
//!
//! > λ t for changes found, g(λ t)/λ for freshness, g(x) = 1 − (1 + x) e^-x
//!
//! This is what a Poisson model with perfect rates can achieve. The deletion of a page counts as a change.
//!
//! # Promises
//! - Pages of equal value are chosen at random, from a seed.

use freshet_partition::policy::{Catalogue, Observation, Outcome, PageId, Policy};
use freshet_theory::numerics::freshness_gain;
use freshet_theory::units::Days;
use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;

use super::oracle::Ceiling;
use super::stage::Stage;

/// The policy that knows every page's mean rate.
#[derive(Debug)]
pub struct RateOracle<'a> {
    stage: &'a Stage<'a>,
    ceiling: Ceiling,
    chance: ChaCha8Rng,
    now: f64,
    /// Changes per day of each known page.
    rates: Vec<f64>,
    /// When each page was last visited or copied. Infinite once it is gone.
    last: Vec<f64>,
    /// Whether this cycle's pages are chosen.
    chosen: bool,
}

impl<'a> RateOracle<'a> {
    /// A rate oracle for this stage.
    pub fn new(stage: &'a Stage<'a>, ceiling: Ceiling, seed: u64) -> Self {
        let chance = ChaCha8Rng::seed_from_u64(seed);
        Self { stage, ceiling, chance, now: 0.0, rates: Vec::new(), last: Vec::new(), chosen: false }
    }

    fn rate(&self, page: usize) -> f64 {
        let end = self.stage.cycle_end(self.stage.cycles());
        let changes = self.stage.changes(page).partition_point(|time| *time <= end);
        let died = self.stage.died(page);
        let days = end.min(died) - self.stage.cycle_end(self.stage.discovered(page));
        // A page discovered at the very end has no time to change.
        if days > 0.0 { (changes + usize::from(died <= end)) as f64 / days } else { 0.0 }
    }

    fn worth(&self, page: usize) -> f64 {
        let rate = self.rates[page];
        let changes = rate * (self.now - self.last[page]);
        match self.ceiling {
            Ceiling::Changes => changes,
            Ceiling::Fresh if rate > 0.0 => freshness_gain(changes) / rate,
            Ceiling::Fresh => 0.0,
        }
    }
}

impl Policy for RateOracle<'_> {
    fn discover(&mut self, catalogue: &Catalogue, first: PageId, now: Days) {
        for page in first.index()..catalogue.pages() {
            self.rates.push(self.rate(page));
            self.last.push(now.get());
        }
    }

    fn begin_cycle(&mut self, _catalogue: &Catalogue, now: Days, _budget: usize) {
        self.now = now.get();
        self.chosen = false;
    }

    fn choose(&mut self, _catalogue: &Catalogue, room: usize, chosen: &mut Vec<PageId>) {
        if self.chosen || room == 0 {
            return;
        }
        self.chosen = true;
        let mut ranked: Vec<(f64, u32, u32)> = Vec::with_capacity(self.rates.len());
        for page in 0..self.rates.len() {
            if self.last[page] <= self.now {
                ranked.push((self.worth(page), self.chance.random(), page as u32));
            }
        }
        if room < ranked.len() {
            ranked.select_nth_unstable_by(room - 1, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            ranked.truncate(room);
        }
        chosen.extend(ranked.iter().map(|(_, _, page)| PageId(*page)));
    }

    fn learn(&mut self, _catalogue: &Catalogue, observations: &[Observation]) {
        for observation in observations {
            let gone = observation.outcome == Outcome::Gone;
            self.last[observation.page.index()] = if gone { f64::INFINITY } else { self.now };
        }
    }

    fn end_cycle(&mut self, _catalogue: &Catalogue) {}
}
