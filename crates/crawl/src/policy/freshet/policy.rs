//! The cycle that joins samples and history.
//!
//! A cycle spends its downloads in a batch of sentinels and twelve more. Each batch is the sample for the next: groups with
//! surprising changes rise at once, groups without sink; that is the adaptive policy of the text **sample** with a prior.
//!
//! > sentinels: of every site of n pages the best ⌊0.7 √(n r)⌋, r = downloads per page and cycle; at most a tenth of the downloads
//! > batches: the pages with the largest index, not yet visited in this cycle; absorb, calibrate, recompute the clocks
//! > end: fold the visits into the pages with the final clocks, recompute the prior means
//!
//! Sentinels keep every site in sight: without them a bulk change of an unsampled site stays invisible, because an
//! unsampled clock is its parent's.
//!
//! # Promises
//! - The same seed makes the same choices.
//! - The cost of a cycle grows with its downloads and with the number of cells, not with the number of pages.

use freshet_theory::units::Days;

use super::calibration::{Calibration, Example};
use super::cells::{CellId, Cells};
use super::clocks::{Clocks, Evidence};
use super::columns::Columns;
use super::groups::Groups;
use super::index::{Objective, Standing, index};
use super::posterior::{GroupRates, PagePosterior, after_visit};
use super::thompson;
use crate::policy::catalogue::{Catalogue, PageId};
use crate::policy::visit::{Observation, Outcome, Policy};

/// Batches of a cycle after the sentinels.
const BATCHES: usize = 12;
/// Sentinels of a site of n pages: this times √(n r), rounded down.
const SENTINELS: f64 = 0.7;
/// Largest part of a cycle's downloads that sentinels may take.
const SENTINELS_SHARE_MAX: f64 = 0.1;
/// Pages that a site must have on average for the Thompson factor to be drawn.
const THOMPSON_PAGES_PER_SITE: f64 = 8.0;
/// A page whose index without the Thompson factor is below this part of the threshold is not considered: the factor
/// exceeds two once in 24 draws, and then seldom by enough.
const THOMPSON_SLACK: f32 = 0.5;
/// The same without the factor: batches move the threshold a little.
const PLAIN_SLACK: f32 = 0.95;
/// Ticks of clock time by which a group's clock must have moved for its pages to be weighed again within a cycle.
const CLOCK_MOVED: f32 = 0.25;
/// Pages that a group must have on average for `fresh` to trust past bursts less.
const SOFT_PAGES_PER_GROUP: f64 = 4.0;
/// Pages with which a directory is a group of its own.
pub(super) const GROUP_PAGES_MIN: usize = 4;
/// Ratio between neighbouring classes of the constant part of the index, as a logarithm: 12%.
const CLASS_STEP: f32 = 0.113;
/// ln of the smallest constant part that is told apart.
const CLASS_LOWEST: f32 = -14.0;
/// Classes of the constant part.
const CLASSES: u16 = 160;
/// Classes of importance, each four times the one before.
const IMPORTANCE_CLASSES: u16 = 8;

/// How the policy is set.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// What the copy is kept for.
    pub objective: Objective,
    /// Downloads per page and cycle to expect: it sets how many ticks the clocks remember.
    pub budget_share: f64,
    /// Seed of all chance.
    pub seed: u64,
}

/// The default policy.
#[derive(Debug)]
pub struct Freshet {
    settings: Settings,
    groups: Groups,
    groups_of_site: Vec<Vec<u32>>,
    pages_of_site: Vec<u32>,
    pages_alive: usize,
    columns: Columns,
    cells: Cells,
    clocks: Clocks,
    rates: GroupRates,
    calibration: Calibration,
    /// Smallest index that was chosen in the last batch.
    threshold: f32,
    /// What is left of the cycle's downloads.
    left: usize,
    /// Batches begun in this cycle.
    batch: usize,
    /// Downloads per page in this cycle.
    share: f64,
    /// Clock of each group when its pages were last weighed.
    clock_seen: Vec<f32>,
    /// Pages taken out of their cells in this cycle, in the order of taking.
    pool: Vec<Candidate>,
    /// All pages whose index reaches this are in the pool.
    pool_least: f32,
    examples: Vec<(Example, f32, bool)>,
    visits: Vec<Visit>,
}

/// A page taken out of its cell, to be visited or put back.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    page: u32,
    cell: CellId,
    index: f32,
    state: State,
}

/// What becomes of a candidate.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    Waiting,
    Chosen,
    Visited,
}

/// A visit of this cycle, to be folded into its page at the end.
#[derive(Clone, Copy, Debug)]
struct Visit {
    page: u32,
    last: u32,
    outcome: Outcome,
}

impl Freshet {
    /// A policy that knows no page yet. Panics unless the budget share is positive and finite.
    pub fn new(settings: Settings) -> Self {
        assert!(settings.budget_share.is_finite());
        assert!(settings.budget_share > 0.0);
        let window = (3.0 / settings.budget_share).ceil().clamp(40.0, 1000.0);
        Self {
            settings,
            groups: Groups::default(),
            groups_of_site: Vec::new(),
            pages_of_site: Vec::new(),
            pages_alive: 0,
            columns: Columns::default(),
            cells: Cells::default(),
            clocks: Clocks::new(window as u32),
            rates: GroupRates::default(),
            calibration: Calibration::new(),
            threshold: 0.0,
            left: 0,
            batch: 0,
            share: 0.0,
            clock_seen: Vec::new(),
            pool: Vec::new(),
            pool_least: f32::INFINITY,
            examples: Vec::new(),
            visits: Vec::new(),
        }
    }

    /// Discount of a page's statistics per tick: the freshest copy wants longer memory than the most changes.
    fn discount(&self) -> f32 {
        match self.settings.objective {
            Objective::Changes | Objective::Mix => 0.97,
            Objective::Fresh | Objective::Age => 0.99,
        }
    }

    fn draws_thompson(&self) -> bool {
        self.pages_alive as f64 >= THOMPSON_PAGES_PER_SITE * self.pages_of_site.len() as f64
    }

    fn fresh_exponent(&self) -> f32 {
        let many = self.pages_alive as f64 >= SOFT_PAGES_PER_GROUP * self.groups.site_of().len() as f64;
        if many { 0.7 } else { 1.0 }
    }

    fn site_of(&self, page: usize) -> usize {
        self.groups.site_of()[self.columns.group[page] as usize] as usize
    }

    fn posterior(&self, page: usize) -> PagePosterior {
        let group_rate = self.rates.rate(self.columns.group[page] as usize);
        PagePosterior::new(self.columns.changes[page], self.columns.exposure[page], group_rate)
    }

    /// The model's word and the features of a page, with clock and wall time since its last visit.
    fn example(&self, page: usize) -> (Example, f32, f32) {
        let (group, last) = (self.columns.group[page] as usize, self.columns.last[page]);
        let clock_time = self.clocks.group_time_since(group, last).max(1e-3);
        let site_time = self.clocks.site_time_since(self.site_of(page), last).max(1e-3);
        let wall_time = (self.clocks.now() - last).max(1) as f32;
        let posterior = self.posterior(page);
        let group_rate = self.rates.rate(group);
        let base = posterior.exposure(clock_time).max(1e-7).ln();
        let log_wall = wall_time.ln();
        let (fast, slow) = self.columns.residuals(page);
        let features = [
            1.0,
            log_wall - 2.0,
            clock_time.ln() - log_wall,
            site_time.ln() - log_wall,
            (posterior.mean() / group_rate).ln(),
            group_rate.ln() + 3.0,
            self.last_changed_feature(page),
            f32::from(self.columns.visits(page).min(20)) / 10.0 - 1.0,
            base + 1.0,
            fast,
            slow,
        ];
        (Example { base, features }, clock_time, wall_time)
    }

    fn last_changed_feature(&self, page: usize) -> f32 {
        self.columns.last_changed(page).map_or(0.0, |changed| if changed { 0.7 } else { -0.3 })
    }

    fn standing(&self, page: usize) -> Standing {
        let (example, clock_time, wall_time) = self.example(page);
        let exposure = self.calibration.exposure(&example);
        Standing { exposure, clock_time, wall_time, importance: self.columns.importance[page] }
    }

    fn index(&self, standing: &Standing) -> f32 {
        index(self.settings.objective, standing, self.fresh_exponent())
    }

    /// The index by which a page is chosen: its exposure drawn anew each cycle, ties broken by chance.
    fn drawn_index(&self, page: u32, standing: Standing, plain: f32) -> f32 {
        let (seed, cycle) = (self.settings.seed, self.clocks.now());
        let drawn = if self.draws_thompson() {
            let exposure = standing.exposure * thompson::factor(seed, page, cycle);
            self.index(&Standing { exposure, ..standing })
        } else {
            plain
        };
        drawn * (1.0 + 1e-5 * thompson::tie_break(seed, page, cycle))
    }

    /// The class of a page: pages of one class and group are ordered by their last visit alone.
    fn class(&self, page: usize) -> u16 {
        let weight = |feature| self.calibration.weight(feature);
        let rate = self.posterior(page).mean();
        let group_rate = self.rates.rate(self.columns.group[page] as usize);
        let (fast, slow) = self.columns.residuals(page);
        let constant = (1.0 + weight(8)) * rate.ln()
            + weight(4) * (rate / group_rate).ln()
            + weight(6) * self.last_changed_feature(page)
            + weight(7) * f32::from(self.columns.visits(page).min(20)) / 10.0
            + weight(9) * fast
            + weight(10) * slow;
        let class = (((constant - CLASS_LOWEST) / CLASS_STEP).max(0.0) as u16).min(CLASSES - 1);
        class * IMPORTANCE_CLASSES + self.importance_class(page)
    }

    fn importance_class(&self, page: usize) -> u16 {
        if self.settings.objective == Objective::Changes {
            return 0;
        }
        let step = 0.5 * self.columns.importance[page].max(1e-9).log2();
        (step.floor() as i32 + i32::from(IMPORTANCE_CLASSES) / 2).clamp(0, i32::from(IMPORTANCE_CLASSES) - 1)
            as u16
    }

    fn enqueue(&mut self, page: u32) {
        let class = self.class(page as usize);
        self.cells.append(self.columns.group[page as usize] as usize, class, page);
    }

    /// Takes the pages of a group whose index reaches `least` out of their cells, into the pool.
    fn gather(&mut self, group: usize, least: f32) {
        for cell in self.cells.of_group(group) {
            while let Some(page) = self.cells.head(cell) {
                let standing = self.standing(page as usize);
                let plain = self.index(&standing);
                if plain < least {
                    break;
                }
                self.cells.pop(cell);
                let index = self.drawn_index(page, standing, plain);
                self.pool.push(Candidate { page, cell, index, state: State::Waiting });
            }
        }
        self.clock_seen[group] = self.clocks.group_clock(group);
    }

    /// Part of the threshold from which on a page is looked at.
    fn slack(&self) -> f32 {
        if self.draws_thompson() { THOMPSON_SLACK } else { PLAIN_SLACK }
    }

    /// Weighs again what belongs to groups whose clocks have moved since they were weighed.
    fn follow_clocks(&mut self) {
        let moved = |policy: &Self, group: usize| {
            (policy.clocks.group_clock(group) - policy.clock_seen[group]).abs() > CLOCK_MOVED
        };
        for candidate in 0..self.pool.len() {
            let Candidate { page, cell, state, .. } = self.pool[candidate];
            if state == State::Waiting && moved(self, cell.group as usize) {
                let standing = self.standing(page as usize);
                let plain = self.index(&standing);
                self.pool[candidate].index = self.drawn_index(page, standing, plain);
            }
        }
        for group in 0..self.clock_seen.len() {
            if moved(self, group) {
                self.gather(group, self.pool_least);
            }
        }
    }

    /// Chooses the best `quota` pages of all.
    fn pick_best(&mut self, quota: usize) {
        self.follow_clocks();
        let mut least = self.threshold * self.slack();
        loop {
            if least < self.pool_least {
                for group in 0..self.clock_seen.len() {
                    self.gather(group, least);
                }
                self.pool_least = least;
            }
            let reached = nth_largest(&self.pool, quota);
            // What lies below the slack of the index that was reached cannot have been missed.
            if reached * self.slack() >= self.pool_least || self.pool_least == 0.0 {
                self.threshold = reached;
                break;
            }
            least = lower(reached * self.slack(), self.pool_least);
        }
        mark_best(&mut self.pool, self.threshold, quota);
    }

    /// Chooses the sentinels of all sites, at most `most` of them.
    fn pick_sentinels(&mut self, most: usize) {
        for site in 0..self.groups_of_site.len() {
            let quota = (SENTINELS * (f64::from(self.pages_of_site[site]) * self.share).sqrt()) as usize;
            if quota > 0 {
                self.pick_sentinels_of(site, quota);
            }
        }
        let chosen = self.pool.iter().filter(|candidate| candidate.state == State::Chosen).count();
        if chosen > most {
            self.keep_by_chance(most);
        }
    }

    fn pick_sentinels_of(&mut self, site: usize, quota: usize) {
        let groups = std::mem::take(&mut self.groups_of_site[site]);
        let first = self.pool.len();
        let mut least = self.best_of(&groups) * self.slack();
        loop {
            for group in &groups {
                self.gather(*group as usize, least);
            }
            if self.pool.len() - first >= quota || least == 0.0 {
                break;
            }
            least = lower(least * 0.3, least);
        }
        let candidates = &mut self.pool[first..];
        let threshold = nth_largest(candidates, quota);
        mark_best(candidates, threshold, quota);
        self.groups_of_site[site] = groups;
    }

    /// The largest index of a head of these groups.
    fn best_of(&self, groups: &[u32]) -> f32 {
        let cells = groups.iter().flat_map(|group| self.cells.of_group(*group as usize));
        let heads = cells.filter_map(|cell| self.cells.head(cell));
        heads.map(|page| self.index(&self.standing(page as usize))).fold(0.0, f32::max)
    }

    /// Keeps a random part of the chosen candidates.
    fn keep_by_chance(&mut self, most: usize) {
        let (seed, cycle) = (self.settings.seed ^ 0x5e17_1e15, self.clocks.now());
        let mut lots: Vec<(f32, usize)> = (0..self.pool.len())
            .filter(|candidate| self.pool[*candidate].state == State::Chosen)
            .map(|candidate| (thompson::tie_break(seed, self.pool[candidate].page, cycle), candidate))
            .collect();
        lots.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for (_, candidate) in &lots[most..] {
            self.pool[*candidate].state = State::Waiting;
        }
    }

    /// Hands out the candidates that were chosen.
    fn hand_out(&mut self, chosen: &mut Vec<PageId>) {
        for candidate in self.pool.iter_mut().filter(|candidate| candidate.state == State::Chosen) {
            candidate.state = State::Visited;
            chosen.push(PageId(candidate.page));
        }
    }

    /// Puts what was not visited back, last first, so that every cell has its order again.
    fn empty_pool(&mut self) {
        for candidate in self.pool.iter().rev().filter(|candidate| candidate.state != State::Visited) {
            self.cells.put_back(candidate.cell, candidate.page);
        }
        self.pool.clear();
        self.pool_least = f32::INFINITY;
    }

    /// Folds a visit of this cycle into its page, with the final clocks, and the page's new statistics into its group.
    fn fold(&mut self, visit: Visit) {
        let page = visit.page as usize;
        let (group, site) = (self.columns.group[page] as usize, self.site_of(page));
        let before = (self.columns.changes[page], self.columns.exposure[page]);
        let discount = self.discount().powi((self.clocks.now() - visit.last) as i32);
        let clock_time = self.clocks.group_time_since(group, visit.last);
        let gone = visit.outcome == Outcome::Gone;
        let after = if gone {
            (0.0, 0.0)
        } else {
            after_visit(before, self.posterior(page), clock_time, discount, visit.outcome.is_change())
        };
        (self.columns.changes[page], self.columns.exposure[page]) = after;
        self.rates.add(group, site, after.0 - before.0, after.1 - before.1);
        if gone {
            self.pages_alive -= 1;
            self.pages_of_site[site] -= 1;
        }
    }
}

impl Policy for Freshet {
    fn discover(&mut self, catalogue: &Catalogue, first: PageId, _now: Days) {
        let groups_before = self.groups.site_of().len();
        self.groups.grow(catalogue, first, GROUP_PAGES_MIN);
        self.groups_of_site.resize(catalogue.sites(), Vec::new());
        self.pages_of_site.resize(catalogue.sites(), 0);
        for (group, site) in self.groups.site_of().iter().enumerate().skip(groups_before) {
            self.groups_of_site[*site as usize].push(group as u32);
        }
        self.clocks.grow(catalogue.sites(), self.groups.site_of());
        self.clocks.settle();
        self.rates.grow(catalogue.sites(), self.groups.site_of());
        self.cells.grow(catalogue.pages(), self.groups.site_of().len());
        self.clock_seen.resize(self.groups.site_of().len(), 0.0);
        for page in first.0..catalogue.pages() as u32 {
            let group = self.groups.of_page(catalogue, PageId(page));
            self.columns.push(group, self.clocks.now(), catalogue.importance(PageId(page)));
            self.pages_of_site[self.groups.site_of()[group as usize] as usize] += 1;
            self.pages_alive += 1;
            self.enqueue(page);
        }
        debug_assert_eq!(self.columns.len(), catalogue.pages());
    }

    fn begin_cycle(&mut self, _catalogue: &Catalogue, _now: Days, budget: usize) {
        self.clocks.tick();
        self.left = budget;
        self.batch = 0;
        self.share = budget as f64 / self.pages_alive.max(1) as f64;
    }

    fn choose(&mut self, _catalogue: &Catalogue, room: usize, chosen: &mut Vec<PageId>) {
        self.left = self.left.min(room);
        while chosen.is_empty() && self.batch <= BATCHES {
            let batch = self.batch;
            self.batch += 1;
            if batch == 0 {
                self.pick_sentinels((SENTINELS_SHARE_MAX * self.left as f64) as usize);
            } else {
                let quota = self.left / (BATCHES + 1 - batch);
                if quota == 0 {
                    continue;
                }
                self.pick_best(quota);
            }
            self.hand_out(chosen);
        }
    }

    fn learn(&mut self, _catalogue: &Catalogue, observations: &[Observation]) {
        self.examples.clear();
        for observation in observations {
            let page = observation.page.index();
            let (example, _, _) = self.example(page);
            let exposure = self.calibration.exposure(&example);
            let changed = observation.outcome.is_change();
            self.examples.push((example, exposure, changed));
            let (group, site) = (self.columns.group[page] as usize, self.site_of(page));
            let (last, rate) = (self.columns.last[page], self.posterior(page).mean());
            self.clocks.absorb(&Evidence { group, site, last, rate, changed });
            self.visits.push(Visit { page: observation.page.0, last, outcome: observation.outcome });
        }
        for (observation, (_, exposure, changed)) in observations.iter().zip(&self.examples) {
            let page = observation.page.index();
            self.columns.visit(page, *changed, -(-exposure).exp_m1());
            self.columns.last[page] = self.clocks.now();
        }
        self.calibration.learn(&self.examples);
        self.clocks.settle();
        self.left = self.left.saturating_sub(observations.len());
    }

    fn end_cycle(&mut self, _catalogue: &Catalogue) {
        self.empty_pool();
        let visits = std::mem::take(&mut self.visits);
        for visit in &visits {
            self.fold(*visit);
        }
        self.rates.settle(self.groups.site_of());
        for visit in visits.iter().filter(|visit| visit.outcome != Outcome::Gone) {
            self.enqueue(visit.page);
        }
        self.visits = visits;
        self.visits.clear();
    }
}

/// The `n`-th largest index of the waiting candidates; 0 when there are fewer.
fn nth_largest(candidates: &[Candidate], n: usize) -> f32 {
    let waiting = candidates.iter().filter(|candidate| candidate.state == State::Waiting);
    let mut indices: Vec<f32> = waiting.map(|candidate| candidate.index).collect();
    if n == 0 || indices.len() < n {
        return 0.0;
    }
    *indices.select_nth_unstable_by(n - 1, |a, b| b.total_cmp(a)).1
}

/// Chooses the waiting candidates whose index reaches `threshold`, at most `quota` of them.
fn mark_best(candidates: &mut [Candidate], threshold: f32, quota: usize) {
    let reach =
        |candidate: &&mut Candidate| candidate.state == State::Waiting && candidate.index >= threshold;
    for candidate in candidates.iter_mut().filter(reach).take(quota) {
        candidate.state = State::Chosen;
    }
}

/// The next lower level to look at: `wanted` if it says something, otherwise a tenth, and in the end everything.
fn lower(wanted: f32, current: f32) -> f32 {
    if 0.0 < wanted && wanted < current {
        wanted
    } else if current > 1e-9 {
        current * 0.1
    } else {
        0.0
    }
}
