//! A policy driven through the world, cycle by cycle.
//!
//! All pages alive when the window opens are copied at time 0. A page that is born later is discovered, and copied, at the first
//! cycle after its birth. Each cycle has the budget times the number of copies held, rounded, and every policy has exactly that.

use std::time::{Duration, Instant};

use freshet_crawl::policy::{Catalogue, Observation, PageId, Policy, SiteId};
use freshet_theory::units::Days;

use super::copies::Copies;
use crate::history::World;

/// What came of a cycle.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cycle {
    /// Pages downloaded.
    pub downloads: usize,
    /// Of these, pages that had changed.
    pub changed: usize,
}

/// What came of a run.
#[derive(Clone, Debug)]
pub struct Run {
    /// Each cycle.
    pub cycles: Vec<Cycle>,
    /// Time-averaged freshness.
    pub freshness: f64,
    /// Time-averaged age in days.
    pub age_days: f64,
    /// Time spent in the policy.
    pub policy_time: Duration,
}

impl Run {
    /// Mean over cycles of the part of downloads that had changed.
    pub fn change_ratio(&self, cycles: std::ops::Range<usize>) -> f64 {
        let cycles = &self.cycles[cycles.start.min(self.cycles.len())..cycles.end.min(self.cycles.len())];
        let ratios = cycles.iter().map(|cycle| cycle.changed as f64 / cycle.downloads.max(1) as f64);
        ratios.sum::<f64>() / cycles.len() as f64
    }
}

/// Runs a policy through the world.
pub fn run(world: &World, policy: &mut dyn Policy, cycle_days: f64, budget: f64) -> Run {
    let mut copies = Copies::new(world);
    let mut catalogue = Catalogue::new();
    let mut policy_time = Duration::ZERO;
    let mut cycles = Vec::new();
    let mut known = 0;
    let mut held = 0usize;
    let (mut chosen, mut observations) = (Vec::new(), Vec::new());
    let cycle_count = (world.days / cycle_days + 1e-9) as usize;
    for cycle in 0..=cycle_count {
        let now = cycle as f64 * cycle_days;
        let first = known;
        while known < world.pages.len() && world.pages[known].born <= now {
            let page = &world.pages[known];
            catalogue.add_page(SiteId(page.site), &page.path);
            copies.discover(known, now);
            held += 1;
            known += 1;
        }
        let time = Days::new(now);
        if known > first {
            let start = Instant::now();
            policy.discover(&catalogue, PageId(first as u32), time);
            policy_time += start.elapsed();
        }
        if cycle == 0 {
            continue;
        }
        let downloads = (budget * held as f64).round() as usize;
        let mut result = Cycle::default();
        let start = Instant::now();
        policy.begin_cycle(&catalogue, time, downloads);
        policy_time += start.elapsed();
        while result.downloads < downloads {
            chosen.clear();
            let start = Instant::now();
            policy.choose(&catalogue, downloads - result.downloads, &mut chosen);
            policy_time += start.elapsed();
            if chosen.is_empty() {
                break;
            }
            observations.clear();
            for page in &chosen {
                let outcome = copies.visit(page.index(), now);
                result.downloads += 1;
                result.changed += usize::from(outcome.is_change());
                held -= usize::from(outcome == freshet_crawl::policy::Outcome::Gone);
                observations.push(Observation { page: *page, time, outcome });
            }
            let start = Instant::now();
            policy.learn(&catalogue, &observations);
            policy_time += start.elapsed();
        }
        let start = Instant::now();
        policy.end_cycle(&catalogue);
        policy_time += start.elapsed();
        cycles.push(result);
    }
    let (freshness, age_days) = copies.finish(cycle_count as f64 * cycle_days);
    Run { cycles, freshness, age_days, policy_time }
}
