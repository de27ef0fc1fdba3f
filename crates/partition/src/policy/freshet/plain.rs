//! Test oracle of the default policy: a direct implementation that scores every page in every batch.
//!
//! It uses double precision, the whole history of every clock, and a sort over all pages. It shares only
//! random draws and groups with the policy, so that both face the same web with the same luck. The policy
//! must find as many changes.

use std::collections::HashMap;

use freshet_theory::units::Days;

use super::groups::Groups;
use super::index::Objective;
use super::model::GROUP_PAGES_MIN;
use super::policy::Settings;
use super::thompson;
use crate::policy::catalogue::{Catalogue, PageId};
use crate::policy::visit::{Observation, Outcome, Policy};

/// A pair (num, den) for each tick of a clock.
type Ticks = HashMap<u32, (f64, f64)>;

#[derive(Clone, Copy)]
struct Page {
    group: usize,
    last: u32,
    changes: f64,
    exposure: f64,
    last_changed: f64,
    visits: f64,
    fast: f64,
    slow: f64,
    importance: f64,
    gone: bool,
    visited: bool,
}

/// The direct implementation.
pub(super) struct Plain {
    settings: Settings,
    groups: Groups,
    pages: Vec<Page>,
    now: u32,
    all: Ticks,
    sites: Vec<Ticks>,
    directories: Vec<Ticks>,
    rates: Vec<f64>,
    weights: [f64; 11],
    squares: [f64; 11],
    left: usize,
    budget: usize,
    batch: usize,
    visits: Vec<(usize, u32, bool)>,
}

impl Plain {
    pub(super) fn new(settings: Settings) -> Self {
        Self {
            settings,
            groups: Groups::default(),
            pages: Vec::new(),
            now: 0,
            all: Ticks::new(),
            sites: Vec::new(),
            directories: Vec::new(),
            rates: Vec::new(),
            weights: [0.0; 11],
            squares: [1.0; 11],
            left: 0,
            budget: 0,
            batch: 0,
            visits: Vec::new(),
        }
    }

    fn site(&self, group: usize) -> usize {
        self.groups.site_of()[group] as usize
    }

    fn heights(&self, group: usize, tick: u32) -> (f64, f64) {
        let pair = |ticks: &Ticks| ticks.get(&tick).copied().unwrap_or((0.0, 0.0));
        let (num, den) = pair(&self.all);
        let all = (50.0 + num) / (50.0 + den);
        let (num, den) = pair(&self.sites[self.site(group)]);
        let site = (2.0 * all + num) / (2.0 + den);
        let (num, den) = pair(&self.directories[group]);
        (site, (0.5 * site + num) / (0.5 + den))
    }

    /// Clock time of the site and of the group since a tick.
    fn clock_times(&self, group: usize, last: u32) -> (f64, f64) {
        (last + 1..=self.now)
            .map(|tick| self.heights(group, tick))
            .fold((0.0, 0.0), |sum, height| (sum.0 + height.0, sum.1 + height.1))
    }

    fn posterior(&self, page: &Page) -> (f64, f64) {
        (1.0 + page.changes, 1.0 / self.rates[page.group] + page.exposure)
    }

    fn features(&self, page: &Page) -> (f64, [f64; 11], f64, f64) {
        let (site_time, clock_time) = self.clock_times(page.group, page.last);
        let (site_time, clock_time) = (site_time.max(1e-3), clock_time.max(1e-3));
        let wall = f64::from(self.now - page.last).max(1.0);
        let (a, b) = self.posterior(page);
        let rate = self.rates[page.group];
        let base = (a * (clock_time / b).ln_1p()).max(1e-7).ln();
        let features = [
            1.0,
            wall.ln() - 2.0,
            (clock_time / wall).ln(),
            (site_time / wall).ln(),
            (a / b / rate).ln(),
            rate.ln() + 3.0,
            page.last_changed - 0.3,
            page.visits.min(20.0) / 10.0 - 1.0,
            base + 1.0,
            page.fast,
            page.slow,
        ];
        (base, features, clock_time, wall)
    }

    fn exposure(&self, base: f64, features: &[f64; 11]) -> f64 {
        let correction: f64 =
            self.weights.iter().zip(features).map(|(weight, feature)| weight * feature).sum();
        (base + correction).clamp(-16.0, 3.0).exp()
    }

    fn index(&self, number: usize) -> f64 {
        let page = &self.pages[number];
        let (base, features, x, t) = self.features(page);
        let (seed, id) = (self.settings.seed, number as u32);
        let alive = self.pages.iter().filter(|page| !page.gone).count();
        let mut l = self.exposure(base, &features);
        if alive >= 8 * self.sites.len() {
            l *= f64::from(thompson::factor(seed, id, self.now));
        }
        let large = alive >= 4 * self.directories.len();
        let changed = -(-l).exp_m1();
        let freshness = changed / l - (-l).exp();
        let value = match self.settings.objective {
            Objective::Changes => changed,
            Objective::Mix if large => {
                page.importance * (changed * freshness).sqrt() * x.powf(0.15) * t.powf(0.2)
            }
            Objective::Mix => page.importance * changed * x.powf(0.08) * t.powf(0.1),
            Objective::Fresh => {
                let (clock, wall) = if large { (0.35, 0.35) } else { (0.1, 0.9) };
                page.importance * freshness * x.powf(clock) * t.powf(wall)
            }
            Objective::Age => {
                let gain = if l < 0.01 {
                    l / 3.0 - l * l / 8.0
                } else {
                    0.5 + (-l).exp() / l + (-l).exp_m1() / (l * l)
                };
                let (clock, wall) = if large { (0.5, 0.5) } else { (0.1, 1.4) };
                page.importance * gain * x.powf(clock) * t.powf(wall)
            }
        };
        value * (1.0 + 1e-5 * f64::from(thompson::tie_break(seed, id, self.now)))
    }

    /// Pages that may be chosen, best first.
    fn ranked(&self) -> Vec<usize> {
        let free = |page: &usize| !self.pages[*page].gone && !self.pages[*page].visited;
        let mut ranked: Vec<(f64, usize)> =
            (0..self.pages.len()).filter(free).map(|page| (self.index(page), page)).collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
        ranked.into_iter().map(|(_, page)| page).collect()
    }

    fn sentinels(&self) -> Vec<usize> {
        let alive: Vec<&Page> = self.pages.iter().filter(|page| !page.gone).collect();
        let share = self.budget as f64 / alive.len().max(1) as f64;
        let mut quotas: Vec<usize> = (0..self.sites.len())
            .map(|site| {
                let pages = alive.iter().filter(|page| self.site(page.group) == site).count();
                (0.7 * (pages as f64 * share).sqrt()) as usize
            })
            .collect();
        let mut sentinels = Vec::new();
        for page in self.ranked() {
            let quota = &mut quotas[self.site(self.pages[page].group)];
            if *quota > 0 {
                *quota -= 1;
                sentinels.push(page);
            }
        }
        let seed = self.settings.seed ^ 0x5e17_1e15;
        sentinels.sort_by(|a, b| {
            let lot = |page: usize| thompson::tie_break(seed, page as u32, self.now);
            lot(*a).total_cmp(&lot(*b))
        });
        sentinels.truncate((0.1 * self.budget as f64) as usize);
        sentinels
    }

    /// The evidence of one visit: (tick, num, den) for the clocks of its group, its site and all.
    fn evidence(&self, page: &Page, changed: bool) -> Vec<(u32, f64, f64)> {
        let (a, b) = self.posterior(page);
        let rate = a / b;
        let (_, clock_time) = self.clock_times(page.group, page.last);
        let factor = if changed { rate / -(-(rate * clock_time).max(1e-9)).exp_m1() } else { 0.0 };
        (page.last + 1..=self.now)
            .map(|tick| (tick, factor * self.heights(page.group, tick).1, rate))
            .collect()
    }

    fn observe(&mut self, group: usize, evidence: &[(u32, f64, f64)]) {
        let site = self.site(group);
        for (tick, num, den) in evidence {
            for ticks in [&mut self.all, &mut self.sites[site], &mut self.directories[group]] {
                let pair = ticks.entry(*tick).or_default();
                pair.0 += num;
                pair.1 += den;
            }
        }
    }

    fn calibrate(&mut self, batch: &[([f64; 11], f64, bool)]) {
        for feature in 0..11 {
            let slope = |(features, l, changed): &([f64; 11], f64, bool)| {
                features[feature] * if *changed { l / l.exp_m1().max(1e-9) } else { -l }
            };
            let gradient = batch.iter().map(slope).sum::<f64>() / (batch.len() as f64).sqrt();
            self.squares[feature] += gradient * gradient;
            self.weights[feature] += 0.2 * gradient / self.squares[feature].sqrt();
        }
    }

    fn update_rates(&mut self) {
        let sum = |of: &dyn Fn(&Page) -> bool| {
            let pages = self.pages.iter().filter(|page| !page.gone && of(page));
            pages.fold((0.0, 0.0), |sum, page| (sum.0 + page.changes, sum.1 + page.exposure))
        };
        let (n, e) = sum(&|_| true);
        let all = (0.5 + n) / (0.5 / 0.05 + e);
        let sites: Vec<f64> = (0..self.sites.len())
            .map(|site| {
                let (n, e) = sum(&|page| self.site(page.group) == site);
                (2.0 + n) / (2.0 / all + e)
            })
            .collect();
        self.rates = (0..self.directories.len())
            .map(|group| {
                let (n, e) = sum(&|page| page.group == group);
                (2.0 + n) / (2.0 / sites[self.site(group)] + e)
            })
            .collect();
    }
}

impl Policy for Plain {
    fn discover(&mut self, catalogue: &Catalogue, first: PageId, _now: Days) {
        self.groups.grow(catalogue, first, GROUP_PAGES_MIN);
        self.sites.resize_with(catalogue.sites(), Ticks::new);
        self.directories.resize_with(self.groups.site_of().len(), Ticks::new);
        for page in first.0..catalogue.pages() as u32 {
            self.pages.push(Page {
                group: self.groups.of_page(catalogue, PageId(page)) as usize,
                last: self.now,
                changes: 0.0,
                exposure: 0.0,
                last_changed: 0.3,
                visits: 0.0,
                fast: 0.0,
                slow: 0.0,
                importance: f64::from(catalogue.importance(PageId(page))),
                gone: false,
                visited: false,
            });
        }
        self.update_rates();
    }

    fn begin_cycle(&mut self, _catalogue: &Catalogue, _now: Days, budget: usize) {
        self.now += 1;
        (self.left, self.budget, self.batch) = (budget, budget, 0);
        for page in &mut self.pages {
            page.visited = false;
        }
    }

    fn choose(&mut self, _catalogue: &Catalogue, _room: usize, chosen: &mut Vec<PageId>) {
        while chosen.is_empty() && self.batch <= 12 {
            let pages = if self.batch == 0 {
                self.sentinels()
            } else {
                let mut ranked = self.ranked();
                ranked.truncate(self.left / (13 - self.batch));
                ranked
            };
            self.batch += 1;
            chosen.extend(pages.into_iter().map(|page| PageId(page as u32)));
        }
    }

    fn learn(&mut self, _catalogue: &Catalogue, observations: &[Observation]) {
        let mut batch = Vec::new();
        let before: Vec<Page> =
            observations.iter().map(|observation| self.pages[observation.page.index()]).collect();
        for (observation, page) in observations.iter().zip(&before) {
            let (base, features, _, _) = self.features(page);
            let l = self.exposure(base, &features);
            batch.push((features, l, observation.outcome.is_change()));
        }
        // All visits of a batch use the clocks as of the time when it was chosen.
        let evidence: Vec<_> = observations
            .iter()
            .zip(&before)
            .map(|(observation, page)| (page.group, self.evidence(page, observation.outcome.is_change())))
            .collect();
        for (group, evidence) in &evidence {
            self.observe(*group, evidence);
        }
        for (observation, (_, l, changed)) in observations.iter().zip(&batch) {
            let page = &mut self.pages[observation.page.index()];
            self.visits.push((observation.page.index(), page.last, *changed));
            let residual = f64::from(u8::from(*changed)) + (-l).exp_m1();
            page.fast = 0.6 * page.fast + 0.4 * residual;
            page.slow = 0.9 * page.slow + 0.1 * residual;
            page.last_changed = f64::from(u8::from(*changed));
            page.visits += 1.0;
            page.last = self.now;
            page.visited = true;
            page.gone = observation.outcome == Outcome::Gone;
        }
        self.calibrate(&batch);
        self.left -= observations.len();
    }

    fn end_cycle(&mut self, _catalogue: &Catalogue) {
        for (number, last, changed) in std::mem::take(&mut self.visits) {
            let page = self.pages[number];
            let (_, x) = self.clock_times(page.group, last);
            let (a, b) = self.posterior(&page);
            let l = (a / b * x).max(1e-9);
            let discount = 0.97_f64.powi((self.now - last) as i32);
            let page = &mut self.pages[number];
            page.changes = discount * page.changes + if changed { l / -(-l).exp_m1() } else { 0.0 };
            page.exposure = discount * page.exposure + x;
        }
        self.update_rates();
    }
}

mod tests {
    use super::*;
    use crate::policy::catalogue::SiteId;
    use crate::policy::freshet::Freshet;
    use crate::policy::name::Form;

    /// A small random web: sites whose directories burst now and then, pages of very different rates.
    struct Web {
        catalogue: Catalogue,
        rates: Vec<f64>,
        copied: Vec<u32>,
        changed: Vec<u32>,
        seed: u64,
    }

    impl Web {
        fn new(sites: u32, directories: u32, pages: u32, seed: u64) -> Self {
            let mut catalogue = Catalogue::new();
            let mut rates = Vec::new();
            for site in 0..sites {
                for directory in 0..directories {
                    for page in 0..pages {
                        let id = catalogue.add_page(SiteId(site), &format!("{directory}/{page}"));
                        let spread = f64::from(thompson::factor(seed, id.0, 1)).powi(3);
                        rates.push(0.01 * f64::from(1 + directory) * spread);
                    }
                }
            }
            let pages = rates.len();
            Self { catalogue, rates, copied: vec![0; pages], changed: vec![0; pages], seed }
        }

        fn pass(&mut self, cycle: u32) {
            for page in 0..self.rates.len() {
                let directory = self.catalogue.directory_of(PageId(page as u32)).0;
                let burst = thompson::tie_break(self.seed, directory, cycle) < 0.03;
                let rate = self.rates[page] * if burst { 20.0 } else { 1.0 };
                if f64::from(thompson::tie_break(self.seed ^ 77, page as u32, cycle)) < -(-rate).exp_m1() {
                    self.changed[page] = cycle;
                }
            }
        }
    }

    /// Number of changes found in forty cycles.
    fn changes_found(policy: &mut dyn Policy, web: &mut Web, budget: usize) -> usize {
        policy.discover(&web.catalogue, PageId(0), Days::ZERO);
        let mut found = 0;
        for cycle in 1..=40 {
            web.pass(cycle);
            let time = Days::new(f64::from(cycle));
            policy.begin_cycle(&web.catalogue, time, budget);
            let mut left = budget;
            while left > 0 {
                let mut chosen = Vec::new();
                policy.choose(&web.catalogue, left, &mut chosen);
                if chosen.is_empty() {
                    break;
                }
                left -= chosen.len();
                let visit = |page: &PageId| {
                    let changed = web.copied[page.index()] < web.changed[page.index()];
                    let outcome = if changed { Outcome::Changed } else { Outcome::Unchanged };
                    Observation { page: *page, time, outcome }
                };
                let observations: Vec<_> = chosen.iter().map(visit).collect();
                for page in &chosen {
                    assert_ne!(web.copied[page.index()], cycle, "a page is visited once a cycle");
                    web.copied[page.index()] = cycle;
                }
                found += observations.iter().filter(|observation| observation.outcome.is_change()).count();
                policy.learn(&web.catalogue, &observations);
            }
            assert_eq!(left, 0, "the budget is spent");
            policy.end_cycle(&web.catalogue);
        }
        found
    }

    fn settings(objective: Objective, seed: u64) -> Settings {
        Settings {
            objective,
            form: Form::Cycle,
            cycle: Days::new(1.0),
            budget_share: 0.1,
            oldest_share: 0.0,
            seed,
        }
    }

    #[track_caller]
    fn check(objective: Objective) {
        let (mut found, mut found_plainly) = (0, 0);
        for seed in 0..3 {
            let settings = settings(objective, seed);
            let web = || Web::new(6, 5, 10, 100 + seed);
            found += changes_found(&mut Freshet::new(settings), &mut web(), 30);
            found_plainly += changes_found(&mut Plain::new(settings), &mut web(), 30);
        }
        let ratio = found as f64 / found_plainly as f64;
        assert!((ratio - 1.0).abs() < 0.05, "{objective:?}: {found} against {found_plainly}");
    }

    #[test]
    fn the_queues_find_as_many_changes_as_the_plain_policy() {
        check(Objective::Changes);
        check(Objective::Mix);
    }

    #[test]
    fn the_queues_find_as_many_changes_as_the_plain_policy_when_freshness_or_age_counts() {
        check(Objective::Fresh);
        check(Objective::Age);
    }

    #[test]
    fn the_same_seed_makes_the_same_choices() {
        let settings = settings(Objective::Mix, 5);
        let run = || changes_found(&mut Freshet::new(settings), &mut Web::new(6, 5, 10, 1), 30);
        assert_eq!(run(), run());
    }
}
