//! Short replays of policies by name, for exhibits.
//!
//! # Promises
//! - The policies are the crawler's own. The lab drives them as `freshet lab replay` does.

use anyhow::Result;
use freshet_partition::policy::{Catalogue, Observation, PageId, Policy};
use freshet_theory::units::Days;

use super::chapter::Progress;
use crate::figure::chart::Series;
use crate::history::World;
use crate::replay::run::{Cycle, run};
use crate::replay::stage::{KnownImportance, Setting};
use crate::replay::{Contestant, Stage};

/// Settings of a replay.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// Days per cycle.
    pub(super) cycle_days: f64,
    /// Downloads per page and cycle.
    pub(super) budget: f64,
    /// Seed of all random choices.
    pub(super) seed: u64,
}

/// A part of an exhibit's progress: from one fraction to another.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    pub(super) progress: &'a Progress<'a>,
    pub(super) from: f64,
    pub(super) to: f64,
}

impl<'a> Part<'a> {
    /// Part `number` of `count` equal parts.
    pub(super) fn of(progress: &'a Progress<'a>, number: usize, count: usize) -> Self {
        let share = |number: usize| number as f64 / count as f64;
        Self { progress, from: share(number), to: share(number + 1) }
    }
}

/// The result of each cycle under each policy. An unknown name is an error.
pub(super) fn replay(world: &World, pace: Pace, names: &[&str], part: Part<'_>) -> Result<Vec<Vec<Cycle>>> {
    let stage = stage(world, pace)?;
    let cycles = |(number, name): (usize, &&str)| {
        let contestant: Contestant = name.parse()?;
        let mut policy = contestant.build(&stage, pace.seed);
        let made = run(&stage, contestant.form(), policy.as_mut(), &|| {});
        (part.progress)(part.from + (part.to - part.from) * (number + 1) as f64 / names.len() as f64);
        Ok(made.cycles)
    };
    names.iter().enumerate().map(cycles).collect()
}

/// The result of each cycle under a policy, and how often it visited each page of the stage.
pub(super) fn replay_counting(world: &World, pace: Pace, name: &str) -> Result<(Vec<Cycle>, Vec<Visited>)> {
    let stage = stage(world, pace)?;
    let contestant: Contestant = name.parse()?;
    let mut policy = Counting { inner: contestant.build(&stage, pace.seed), visits: vec![0; stage.pages()] };
    let cycles = run(&stage, contestant.form(), &mut policy, &|| {}).cycles;
    let end = stage.cycle_end(stage.cycles());
    let visited = |page: usize| {
        let mut in_cycles: Vec<usize> =
            stage.changes(page).iter().map(|time| stage.first_cycle_after(*time)).collect();
        in_cycles.dedup();
        Visited {
            visits: policy.visits[page],
            changed_cycles: in_cycles.iter().filter(|cycle| **cycle <= stage.cycles()).count(),
            is_whole: stage.discovered(page) == 0 && end < stage.died(page),
        }
    };
    let pages = (0..stage.pages()).map(visited).collect();
    Ok((cycles, pages))
}

/// How often a page was visited, and in how many cycles it changed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Visited {
    pub(super) visits: usize,
    pub(super) changed_cycles: usize,
    /// Whether it existed from beginning to end.
    pub(super) is_whole: bool,
}

fn stage(world: &World, pace: Pace) -> Result<Stage<'_>> {
    // Pass PageRank to all: only the policies that use it look at it.
    Stage::new(
        world,
        Setting { cycle_days: pace.cycle_days, budget: pace.budget, told: KnownImportance::PageRank },
    )
}

/// Mean ChangeRatio of cycles with downloads. 0 without such cycles.
pub(super) fn change_ratio(cycles: &[Cycle]) -> f64 {
    mean(cycles, |cycle| cycle.found as f64 / cycle.allowed as f64)
}

/// Mean importance of changed pages, divided by that of all downloads. 0 without downloads.
pub(super) fn weighted_change_ratio(cycles: &[Cycle]) -> f64 {
    mean(cycles, |cycle| cycle.importance_found / cycle.allowed as f64)
}

/// The ChangeRatio of each cycle, for the cycles of each policy.
pub(super) fn change_ratios(runs: &[Vec<Cycle>]) -> Vec<Vec<f64>> {
    let of_cycle = |cycle: &Cycle| cycle.found as f64 / cycle.allowed as f64;
    runs.iter().map(|cycles| cycles.iter().map(of_cycle).collect()).collect()
}

/// A value of each cycle as a curve; cycles are counted from 1.
pub(super) fn curve(name: &str, values: &[f64]) -> Series {
    Series::line(name, values.iter().enumerate().map(|(cycle, value)| ((cycle + 1) as f64, *value)))
}

fn mean(cycles: &[Cycle], value: impl Fn(&Cycle) -> f64) -> f64 {
    let values: Vec<f64> = cycles.iter().filter(|cycle| cycle.allowed > 0).map(value).collect();
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// A policy that counts its visits.
struct Counting<'a> {
    inner: Box<dyn Policy + 'a>,
    visits: Vec<usize>,
}

impl Policy for Counting<'_> {
    fn discover(&mut self, catalogue: &Catalogue, first: PageId, now: Days) {
        self.inner.discover(catalogue, first, now);
    }

    fn begin_cycle(&mut self, catalogue: &Catalogue, now: Days, budget: usize) {
        self.inner.begin_cycle(catalogue, now, budget);
    }

    fn choose(&mut self, catalogue: &Catalogue, room: usize, chosen: &mut Vec<PageId>) {
        self.inner.choose(catalogue, room, chosen);
    }

    fn learn(&mut self, catalogue: &Catalogue, observations: &[Observation]) {
        for observation in observations {
            self.visits[observation.page.0 as usize] += 1;
        }
        self.inner.learn(catalogue, observations);
    }

    fn end_cycle(&mut self, catalogue: &Catalogue) {
        self.inner.end_cycle(catalogue);
    }
}

#[cfg(test)]
mod tests {
    use super::super::material::{MODEL_CYCLE, v_shape};
    use super::super::sources::Sources;
    use super::*;

    #[test]
    fn every_download_is_counted_and_policies_have_the_same() {
        let sources = Sources::new(None, 1).expect("no data");
        let world = v_shape(&sources, 20, 3).expect("a model").world;
        let pace = Pace { cycle_days: MODEL_CYCLE, budget: 0.2, seed: 1 };
        let (cycles, pages) = replay_counting(&world, pace, "greedy").expect("a policy");
        let visits: usize = pages.iter().map(|page| page.visits).sum();
        assert_eq!(visits, cycles.iter().map(|cycle| cycle.downloads).sum::<usize>());
        assert_eq!(visits, 3 * 252 * 20 / 5);
        let part = Part { progress: &|_| {}, from: 0.0, to: 1.0 };
        let both = replay(&world, pace, &["greedy", "oracle"], part).expect("policies");
        assert_eq!(
            both[0].iter().map(|cycle| cycle.found).collect::<Vec<_>>(),
            cycles.iter().map(|cycle| cycle.found).collect::<Vec<_>>()
        );
        assert!(change_ratio(&both[0]) < change_ratio(&both[1]));
        assert!(replay(&world, pace, &["magic"], part).is_err());
    }
}
