//! Stage: the world as a crawl with a given cycle sees it, and its download budget.
//!
//! All pages that exist when the window opens are copied at time 0. A page that is born later is discovered
//! and copied at the first cycle after its birth. One that is gone by then is never seen. The budget is a
//! share of the living pages, whatever a policy knows of their deaths, so that every policy has exactly the
//! same:
//!
//! > downloads up to the end of cycle k = round(budget × Σ pages alive at the end of each cycle up to k)
//!
//! # Promises
//! - Pages are numbered in the order of discovery.
//! - The downloads of the short cycles of a steady policy add up, cycle by cycle, to those of a cycle policy.

use anyhow::{Result, ensure};
use freshet_partition::policy::PageId;

use super::importance;
use crate::history::World;

/// Settings of a replay.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Days per cycle.
    pub cycle_days: f64,
    /// Downloads per page and cycle.
    pub budget: f64,
    /// The importance of pages that policies know.
    pub told: KnownImportance,
}

/// The importance of pages that policies know.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum KnownImportance {
    /// All pages are equally important.
    #[default]
    Equal,
    /// Their PageRank.
    PageRank,
}

/// A page as a crawl sees it. Times are days since the window opened.
#[derive(Clone, Copy, Debug)]
struct Page {
    /// Its index among the lives of the world.
    life: u32,
    /// The cycle at which it is discovered and copied.
    cycle: u32,
    /// Number of its changes that the first copy includes.
    changes_before: u32,
}

/// A world prepared for policies: pages in order of discovery, and the downloads of each cycle.
#[derive(Debug)]
pub struct Stage<'a> {
    world: &'a World,
    setting: Setting,
    cycles: usize,
    pages: Vec<Page>,
    /// Number of pages known at each cycle.
    known: Vec<u32>,
    /// Downloads allowed up to each cycle, before rounding.
    allowed: Vec<f64>,
    importance: Vec<f32>,
    links: Vec<(PageId, PageId)>,
}

impl<'a> Stage<'a> {
    /// Prepares a world. Fails if the budget or the cycle leaves nothing to do.
    pub fn new(world: &'a World, setting: Setting) -> Result<Self> {
        let Setting { cycle_days, budget, .. } = setting;
        ensure!(
            budget.is_finite() && budget > 0.0,
            "the budget {budget} leaves no downloads: give the downloads per page and cycle, for instance 0.1"
        );
        ensure!(
            budget <= 1.0,
            "the budget {budget} is more than one download per page and cycle: choose a shorter cycle instead"
        );
        ensure!(
            cycle_days.is_finite() && cycle_days > 0.0,
            "the cycle of {cycle_days} days is empty: give it a length, for instance 14d"
        );
        ensure!(
            cycle_days <= world.days,
            "the cycle of {cycle_days} days is longer than the window of {} days: choose a shorter cycle",
            world.days
        );
        // Keep all cycles if their number is whole, whatever the division rounds to.
        let cycles = (world.days / cycle_days + 1e-9).floor();
        ensure!(
            cycles <= f64::from(CYCLES_MAX),
            "the window has {cycles} cycles, more than {CYCLES_MAX}: choose a longer cycle"
        );
        let mut stage = Self {
            world,
            setting,
            cycles: cycles as usize,
            pages: Vec::new(),
            known: Vec::new(),
            allowed: Vec::new(),
            importance: Vec::new(),
            links: Vec::new(),
        };
        stage.discover();
        stage.allow();
        ensure!(
            stage.downloads_total() > 0,
            "the budget {budget} allows {:.2} downloads in the whole window: raise it",
            stage.allowed[stage.cycles]
        );
        stage.connect();
        Ok(stage)
    }

    fn discover(&mut self) {
        let mut next = 0;
        for cycle in 0..=self.cycles {
            let now = self.cycle_end(cycle);
            while let Some(life) = self.world.lives.get(next).filter(|life| life.born <= now) {
                if now < life.died {
                    let changes_before = self.world.changes(next).partition_point(|time| *time <= now) as u32;
                    self.pages.push(Page { life: next as u32, cycle: cycle as u32, changes_before });
                }
                next += 1;
            }
            self.known.push(self.pages.len() as u32);
        }
    }

    fn allow(&mut self) {
        let mut births_minus_deaths = vec![0i64; self.cycles + 2];
        for page in 0..self.pages.len() {
            births_minus_deaths[self.pages[page].cycle as usize] += 1;
            births_minus_deaths[self.first_cycle_after(self.died(page))] -= 1;
        }
        let (mut alive, mut allowed) = (births_minus_deaths[0], 0.0);
        self.allowed.push(0.0);
        for change in &births_minus_deaths[1..=self.cycles] {
            alive += change;
            allowed += self.setting.budget * alive as f64;
            self.allowed.push(allowed);
        }
    }

    fn connect(&mut self) {
        let mut number = vec![u32::MAX; self.world.lives.len()];
        for (page, met) in (0..).zip(&self.pages) {
            number[met.life as usize] = page;
        }
        let links = self.world.links.iter().map(|(from, to)| (number[*from as usize], number[*to as usize]));
        let links: Vec<_> = links.filter(|(from, to)| *from != u32::MAX && *to != u32::MAX).collect();
        self.importance = importance::page_rank(self.pages.len(), &links);
        self.links = links.into_iter().map(|(from, to)| (PageId(from), PageId(to))).collect();
    }

    /// The first cycle that ends at `time` or later, or the one after the last.
    pub fn first_cycle_after(&self, time: f64) -> usize {
        let guess = (time / self.setting.cycle_days).min((self.cycles + 1) as f64) as usize;
        let candidates = guess.saturating_sub(1)..=self.cycles;
        candidates.clone().find(|cycle| time <= self.cycle_end(*cycle)).unwrap_or(self.cycles + 1)
    }

    /// Day on which a cycle ends. Cycle 0 is the opening of the window.
    pub fn cycle_end(&self, cycle: usize) -> f64 {
        cycle as f64 * self.setting.cycle_days
    }

    /// The settings of the replay.
    pub fn setting(&self) -> &Setting {
        &self.setting
    }

    /// Length of the replayed window, in days.
    pub fn window_days(&self) -> f64 {
        self.world.days
    }

    /// Number of cycles.
    pub fn cycles(&self) -> usize {
        self.cycles
    }

    /// Number of pages that are ever seen.
    pub fn pages(&self) -> usize {
        self.pages.len()
    }

    /// Number of sites.
    pub fn sites(&self) -> usize {
        self.world.sites.len()
    }

    /// Number of pages known once those of this cycle are discovered.
    pub fn known(&self, cycle: usize) -> usize {
        self.known[cycle] as usize
    }

    /// Site and path of a page.
    pub fn address(&self, page: usize) -> (u32, &str) {
        let life = self.pages[page].life as usize;
        (self.world.lives[life].site, self.world.path(life))
    }

    /// The cycle at which a page is discovered and copied.
    pub fn discovered(&self, page: usize) -> usize {
        self.pages[page].cycle as usize
    }

    /// Times at which a page changes after it was first copied.
    pub fn changes(&self, page: usize) -> &[f64] {
        let Page { life, changes_before, .. } = self.pages[page];
        &self.world.changes(life as usize)[changes_before as usize..]
    }

    /// When a page disappears. Infinite if it does not.
    pub fn died(&self, page: usize) -> f64 {
        self.world.lives[self.pages[page].life as usize].died
    }

    /// Importance of a page; 1 on average.
    pub fn importance(&self, page: usize) -> f32 {
        self.importance[page]
    }

    /// Importance of a page, as the policy knows it.
    pub fn told_importance(&self, page: usize) -> f32 {
        match self.setting.told {
            KnownImportance::Equal => 1.0,
            KnownImportance::PageRank => self.importance[page],
        }
    }

    /// Links between pages.
    pub fn links(&self) -> &[(PageId, PageId)] {
        &self.links
    }

    /// Number of changes and deaths after the first copies and up to the end of the last cycle: the maximum
    /// that can be found.
    pub fn changes_total(&self) -> usize {
        let end = self.cycle_end(self.cycles);
        let of_page = |page: usize| {
            let content = self.changes(page).partition_point(|time| *time <= end);
            content + usize::from(self.died(page) <= end)
        };
        (0..self.pages.len()).map(of_page).sum()
    }

    /// Downloads allowed in part `step` of a cycle of `steps` equal parts. All are counted from one.
    pub fn downloads(&self, cycle: usize, step: usize, steps: usize) -> usize {
        self.downloads_until(cycle, step, steps) - self.downloads_until(cycle, step - 1, steps)
    }

    /// Downloads allowed in the whole window.
    pub fn downloads_total(&self) -> usize {
        self.downloads_until(self.cycles, 1, 1)
    }

    fn downloads_until(&self, cycle: usize, step: usize, steps: usize) -> usize {
        let (before, after) = (self.allowed[cycle - 1], self.allowed[cycle]);
        let allowed =
            if step == steps { after } else { before + (after - before) * step as f64 / steps as f64 };
        allowed.round() as usize
    }
}

/// Maximum number of cycles of a replay: a year in steps of less than an hour.
const CYCLES_MAX: u32 = 10_000;

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::history::world::tests::world_of;

    pub(crate) fn setting(cycle_days: f64, budget: f64) -> Setting {
        Setting { cycle_days, budget, told: KnownImportance::Equal }
    }

    const FOREVER: f64 = f64::INFINITY;

    #[test]
    fn pages_are_discovered_at_the_first_cycle_after_their_birth() {
        let world = world_of(
            40.0,
            &[
                ("/old", 0.0, FOREVER, &[5.0, 15.0]),
                ("/brief", 1.0, 9.0, &[]),
                ("/new", 11.0, FOREVER, &[15.0, 20.0, 21.0]),
                ("/on-time", 20.0, FOREVER, &[]),
                ("/late", 39.0, FOREVER, &[]),
            ],
        );
        let stage = Stage::new(&world, setting(10.0, 0.5)).expect("a stage");
        assert_eq!((0..=4).map(|cycle| stage.known(cycle)).collect::<Vec<_>>(), [1, 1, 3, 3, 4]);
        assert_eq!(
            (stage.address(1).1, stage.discovered(1), stage.changes(1)),
            ("/new", 2, [21.0].as_slice())
        );
        assert_eq!(stage.changes_total(), 3);
    }

    #[test]
    fn downloads_are_a_share_of_the_pages_alive() {
        let page = |died: f64| ("/a", 0.0, died, [].as_slice());
        let mut pages = vec![page(FOREVER); 8];
        pages.push(page(15.0));
        pages.push(page(20.0));
        let world = world_of(40.0, &pages);
        let stage = Stage::new(&world, setting(10.0, 0.25)).expect("a stage");
        // Alive at the ends of the cycles: 10, 8, 8, 8; that is 2.5, 4.5, 6.5 and 8.5 downloads so far.
        let downloads: Vec<_> = (1..=4).map(|cycle| stage.downloads(cycle, 1, 1)).collect();
        assert_eq!(downloads, [3, 2, 2, 2]);
        assert_eq!(stage.downloads_total(), 9);
    }

    #[test]
    fn short_cycles_add_up_to_whole_ones() {
        let pages: Vec<_> = (0..37).map(|_| ("/a", 0.0, FOREVER, [].as_slice())).collect();
        let world = world_of(100.0, &pages);
        let stage = Stage::new(&world, setting(10.0, 0.13)).expect("a stage");
        for cycle in 1..=stage.cycles() {
            let steps: usize = (1..=28).map(|step| stage.downloads(cycle, step, 28)).sum();
            assert_eq!(steps, stage.downloads(cycle, 1, 1));
        }
    }

    #[track_caller]
    fn check_error(cycle_days: f64, budget: f64, word: &str) {
        let world = world_of(40.0, &[("/a", 0.0, FOREVER, &[])]);
        let error = Stage::new(&world, setting(cycle_days, budget)).expect_err("nothing to do").to_string();
        assert!(error.contains(word), "{error}");
    }

    #[test]
    fn a_replay_with_nothing_to_do_says_why() {
        check_error(10.0, 0.0, "budget 0 leaves no downloads");
        check_error(10.0, -0.1, "budget -0.1 leaves no downloads");
        check_error(10.0, f64::NAN, "leaves no downloads");
        check_error(10.0, 1.5, "shorter cycle");
        check_error(10.0, 0.01, "raise it");
        check_error(41.0, 0.5, "longer than the window of 40 days");
        check_error(0.0, 0.5, "is empty");
        check_error(1e-9, 0.5, "choose a longer cycle");
    }

    #[test]
    fn a_window_of_whole_cycles_keeps_them_all() {
        let world = world_of(0.7, &[("/a", 0.0, FOREVER, &[])]);
        assert_eq!(Stage::new(&world, setting(0.1, 1.0)).expect("a stage").cycles(), 7);
    }
}
