//! Drives a policy through the world, cycle by cycle.
//!
//! A cycle policy makes all downloads of a cycle at its end, step by step, as it learns. A steady policy is
//! driven in [`STEADY_STEPS`] short cycles for each of these, so that a visit happens near its due date. A
//! policy that settles makes all downloads of its first cycles at their ends and is driven in short cycles
//! from then on. For all policies, new pages are discovered at the ends of whole cycles.
//!
//! # Promises
//! - A policy sees what a crawler can see: new pages with their paths and links, and the results of its own
//!   visits.
//! - Only the policy's own work counts as its time.

use std::time::{Duration, Instant};

use freshet_partition::policy::{Catalogue, Form, Observation, PageId, Policy, SiteId};
use freshet_theory::sample::fairness;
use freshet_theory::units::Days;

use super::copies::Copies;
use super::stage::Stage;
use super::timeline::Quality;

/// Short cycles per cycle of a steady policy: twice a day for a cycle of two weeks.
pub const STEADY_STEPS: usize = 28;

/// Number of short cycles per cycle for policies of this form.
pub fn steps_of(form: Form) -> usize {
    match form {
        Form::Cycle => 1,
        Form::Steady | Form::Settling => STEADY_STEPS,
    }
}

/// Result of a cycle.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cycle {
    /// Downloads allowed.
    pub allowed: usize,
    /// Pages downloaded.
    pub downloads: usize,
    /// Number of downloaded pages that had changed or gone.
    pub found: usize,
    /// Total importance of the downloaded pages, plus 1 for each unused download.
    pub importance: f64,
    /// Total importance of the pages that had changed or gone.
    pub importance_found: f64,
    /// Freshness and age from the previous cycle to this one. `None` if no copy was held.
    pub quality: Option<Quality>,
    /// Fraction of the pages changed so far that was visited so far. `None` if none changed.
    pub fairness: Option<f64>,
}

/// Result of a run.
#[derive(Clone, Debug)]
pub struct Run {
    /// Results of each cycle.
    pub cycles: Vec<Cycle>,
    /// Time spent in the policy.
    pub policy_time: Duration,
}

/// Runs a policy of a form through the world. Calls `done` after every cycle.
///
/// Panics if the policy breaks its contract: chooses a page twice in a cycle, an unknown page, or more pages
/// than allowed.
///
/// # Examples
///
/// ```
/// use freshet_lab::history::synthetic::{Model, Synthetic};
/// use freshet_lab::history::{Mass, Tables, Window, World};
/// use freshet_lab::replay::run::run;
/// use freshet_lab::replay::stage::{KnownImportance, Setting};
/// use freshet_lab::replay::{Entry, Score, Stage};
///
/// // A history of 60 pages over a year, of which 300 days are replayed.
/// let model = Synthetic { model: Model::Gamma, sites: 3, pages_per_site: 20, days: 365.0, seed: 1 };
/// let tables = Tables::from(model.record());
/// let window = Window { family: None, days: 300.0, mass: Mass::Keep, pages_per_site_max: None };
/// let world = World::cut(&tables, &window)?;
/// // Every fortnight a policy may download a fifth of the pages.
/// let setting = Setting { cycle_days: 14.0, budget: 0.2, told: KnownImportance::Equal };
/// let stage = Stage::new(&world, setting)?;
///
/// let mut found = Vec::new();
/// for Entry { name, contestant } in Entry::parse_list("random,freshet")? {
///     let mut policy = contestant.build(&stage, 1);
///     let run = run(&stage, contestant.form(), policy.as_mut(), &|| {});
///     found.push(Score::of(name, &[run]).changes_found);
/// }
/// assert!(found[0] < found[1], "{found:?}");
/// # Ok::<(), anyhow::Error>(())
/// ```
pub fn run(stage: &Stage<'_>, form: Form, policy: &mut dyn Policy, done: &dyn Fn()) -> Run {
    let whole_cycles = if form == Form::Settling { Form::SETTLING_CYCLES as usize } else { 0 };
    let mut driver = Driver::new(stage, steps_of(form), whole_cycles);
    driver.discover(policy, 0);
    driver.copies.begin_interval();
    for cycle in 1..=stage.cycles() {
        driver.cycle(policy, cycle);
        done();
    }
    driver.finish()
}

/// Mutable state of a run.
struct Driver<'a> {
    stage: &'a Stage<'a>,
    steps: usize,
    /// Number of initial cycles that are not divided into short ones.
    whole_cycles: usize,
    copies: Copies<'a>,
    catalogue: Catalogue,
    cycles: Vec<Cycle>,
    policy_time: Duration,
    /// The cycle of each page's first visit. 0 before.
    first_visit: Vec<u32>,
    /// The short cycle of each page's last visit. 0 before.
    last_visit: Vec<u32>,
    chosen: Vec<PageId>,
    observations: Vec<Observation>,
}

impl<'a> Driver<'a> {
    fn new(stage: &'a Stage<'a>, steps: usize, whole_cycles: usize) -> Self {
        let interval = stage.setting().cycle_days / steps as f64;
        let mut catalogue = Catalogue::new();
        catalogue.set_links(stage.links());
        Self {
            stage,
            steps,
            whole_cycles,
            copies: Copies::new(stage, interval, stage.cycles() * steps),
            catalogue,
            cycles: Vec::with_capacity(stage.cycles()),
            policy_time: Duration::ZERO,
            first_visit: vec![0; stage.pages()],
            last_visit: vec![0; stage.pages()],
            chosen: Vec::new(),
            observations: Vec::new(),
        }
    }

    /// Adds the time of `work` to the policy's time.
    fn timed<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let start = Instant::now();
        let result = work(self);
        self.policy_time += start.elapsed();
        result
    }

    /// Copies the pages that are new at the end of a cycle.
    fn discover(&mut self, policy: &mut dyn Policy, cycle: usize) {
        let (first, end) = (self.catalogue.pages(), self.stage.known(cycle));
        for page in first..end {
            let (site, path) = self.stage.address(page);
            let id = self.catalogue.add_page(SiteId(site), path);
            self.catalogue.set_importance(id, self.stage.told_importance(page));
            self.copies.discover(page);
        }
        if first < end {
            let now = Days::new(self.stage.cycle_end(cycle));
            self.timed(|driver| policy.discover(&driver.catalogue, PageId(first as u32), now));
        }
    }

    fn cycle(&mut self, policy: &mut dyn Policy, cycle: usize) {
        let mut result = Cycle::default();
        for step in 1..=self.steps {
            if step == self.steps {
                self.discover(policy, cycle);
            }
            if self.whole_cycles < cycle {
                let downloads = self.stage.downloads(cycle, step, self.steps);
                self.short_cycle(policy, cycle, step, downloads, &mut result);
            } else if step == self.steps {
                self.short_cycle(policy, cycle, step, self.stage.downloads(cycle, 1, 1), &mut result);
            }
            if cycle < self.stage.cycles() || step < self.steps {
                self.copies.begin_interval();
            }
        }
        result.importance += (result.allowed - result.downloads) as f64;
        self.cycles.push(result);
    }

    fn short_cycle(
        &mut self,
        policy: &mut dyn Policy,
        cycle: usize,
        step: usize,
        downloads: usize,
        result: &mut Cycle,
    ) {
        let back = (self.steps - step) as f64 / self.steps as f64 * self.stage.setting().cycle_days;
        let now = Days::new(self.stage.cycle_end(cycle) - back);
        let mut left = downloads;
        result.allowed += left;
        self.timed(|driver| policy.begin_cycle(&driver.catalogue, now, left));
        while left > 0 {
            self.chosen.clear();
            self.timed(|driver| policy.choose(&driver.catalogue, left, &mut driver.chosen));
            if self.chosen.is_empty() {
                break;
            }
            assert!(self.chosen.len() <= left, "a policy chose more pages than it may");
            left -= self.chosen.len();
            self.visit(now, cycle, step, result);
            self.timed(|driver| policy.learn(&driver.catalogue, &driver.observations));
        }
        self.timed(|driver| policy.end_cycle(&driver.catalogue));
    }

    fn visit(&mut self, now: Days, cycle: usize, step: usize, result: &mut Cycle) {
        let short_cycle = (cycle - 1) * self.steps + step;
        self.observations.clear();
        for id in &self.chosen {
            let page = id.index();
            assert!(page < self.catalogue.pages(), "a policy chose a page that is not known yet");
            let first = &mut self.first_visit[page];
            *first = if *first == 0 { cycle as u32 } else { *first };
            let last = std::mem::replace(&mut self.last_visit[page], short_cycle as u32);
            assert!(last < short_cycle as u32, "a policy chose a page twice in a cycle");
            let finding = self.copies.visit(page, now.get(), short_cycle);
            let importance = f64::from(self.stage.importance(page));
            result.downloads += 1;
            result.importance += importance;
            if finding.found {
                result.found += 1;
                result.importance_found += importance;
            }
            self.observations.push(Observation { page: *id, time: now, outcome: finding.outcome });
        }
    }

    fn finish(mut self) -> Run {
        let intervals = self.stage.cycles() * self.steps;
        let qualities = self.copies.finish(intervals).qualities();
        let fairness = fairness_by_cycle(self.stage, &self.first_visit);
        for ((cycle, qualities), fairness) in
            self.cycles.iter_mut().zip(qualities.chunks(self.steps)).zip(fairness)
        {
            cycle.quality = Quality::mean(qualities.iter().copied().flatten());
            cycle.fairness = fairness;
        }
        Run { cycles: self.cycles, policy_time: self.policy_time }
    }
}

/// Fairness after every cycle (**sample**, section 4.7). Only the first change and the first visit of a page
/// matter.
fn fairness_by_cycle(stage: &Stage<'_>, first_visit: &[u32]) -> Vec<Option<f64>> {
    let mut cycles = vec![fairness::Cycle::default(); stage.cycles()];
    for (page, visit) in first_visit.iter().enumerate() {
        let first_change =
            stage.changes(page).first().copied().unwrap_or(f64::INFINITY).min(stage.died(page));
        if let Some(cycle) = cycles.get_mut(stage.first_cycle_after(first_change) - 1) {
            cycle.changed.push(page);
        }
        if *visit > 0 {
            cycles[*visit as usize - 1].visited.push(page);
        }
    }
    fairness::judge(&cycles).by_cycle
}
