//! Choosing pages: the sentinels and batches of a cycle, and the plans of the steady form.
//!
//! Both forms plan the best pages ([`super::plan`]) and take from them those whose sites have room, in
//! portions as they are asked for. A cycle begins with its sentinels and continues batch by batch; each batch
//! uses what the previous one found. The steady form plans the best pages for a twelfth of a cycle length,
//! extends the plan when it runs out early, and releases sentinels of sites that had too few visits.
//!
//! # Promises
//! - Remaining sentinels come first in the batches, and a batch is used up before the next begins.
//! - If no site has room, nothing is lost: the batch continues when one has.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use super::model::{LastTimes, Model};
use super::plan::{Look, Ordered, PLAN_SLACK, Plan, Planned, Source};
use super::policy::{BATCHES, Freshet, PLAN_SPARE};
use super::thompson;
use crate::policy::catalogue::{Catalogue, SiteId};

/// Sentinels of a site of n pages: this times √(n r), rounded down, with r the downloads per page and cycle.
const SENTINELS: f64 = 0.7;
/// Maximum share of a cycle's downloads that sentinels may take.
const SENTINELS_SHARE_MAX: f64 = 0.1;
/// A plan with too few pages is extended down to this fraction of its level; if that is not enough, to the
/// square of the fraction, and so on.
const PLAN_STEP: f32 = 0.8;
/// Pages sampled to guess the threshold before the first choice.
const PAGES_GUESSED_BY: usize = 1024;
/// When too many sites have no room, a plan holds at most this many times the pages that it is expected to
/// give out.
const PLAN_SPARE_MAX: usize = 1024;
/// Fraction of its lifetime that must have passed before a used-up plan is replaced.
const PLAN_AGE_MIN: f32 = 0.1;
/// Pages of a plan that a short cycle examines for each page that it may choose, when sites have no room.
const LOOKS_PER_DOWNLOAD: usize = 64;
/// Minimum number of pages of a plan that a short cycle may examine.
const LOOKS_MIN: usize = 4096;

impl Freshet {
    fn plan_and_source<'a>(&'a mut self, catalogue: &'a Catalogue) -> (&'a mut Plan, Source<'a>) {
        let source =
            Source { catalogue, model: &mut self.model, cells: &mut self.cells, closed: &self.closed };
        (&mut self.plan, source)
    }

    fn look<'a>(&'a self, catalogue: &'a Catalogue) -> Look<'a> {
        Look { catalogue, model: &self.model, cells: &self.cells, closed: &self.closed }
    }

    /// Chooses the best `quota` pages among those whose sites have room.
    fn choose_best(&mut self, catalogue: &Catalogue, quota: usize) {
        // If some sites have no room, more pages are needed than will be chosen.
        let enough = if catalogue.is_roomy() { self.left } else { usize::MAX };
        let (plan, mut source) = self.plan_and_source(catalogue);
        plan.follow_clocks(&mut source, enough);
        let mut wanted = quota;
        while wanted > 0 {
            self.deepen(catalogue, wanted);
            let before = self.chosen.len();
            self.take_best(catalogue, wanted);
            let taken = self.chosen.len() - before;
            wanted -= taken;
            if taken == 0 || catalogue.is_roomy() {
                break;
            }
        }
    }

    /// Adds pages to the plan until it holds the best `wanted` of those with room, and sets the threshold to
    /// the index of the last of them.
    fn deepen(&mut self, catalogue: &Catalogue, wanted: usize) {
        let mut step = PLAN_STEP;
        loop {
            let reached = self.nth_with_room(catalogue, wanted);
            if reached >= self.plan.level() || self.plan.level() == 0.0 {
                self.threshold = reached;
                return;
            }
            self.gather_to(catalogue, lower(self.plan.level(), step));
            step *= step;
        }
    }

    /// Adds all pages to the plan whose index reaches `level`.
    fn gather_to(&mut self, catalogue: &Catalogue, level: f32) {
        if level < self.plan.level() {
            let (plan, mut source) = self.plan_and_source(catalogue);
            plan.gather_all(&mut source, level);
        }
    }

    /// The last threshold; before the first choice, one that about `wanted` pages reach.
    fn threshold_for(&self, catalogue: &Catalogue, wanted: usize) -> f32 {
        let pages = self.model.records.len();
        if self.threshold > 0.0 || pages < 2 * PAGES_GUESSED_BY {
            return self.threshold;
        }
        let look = self.look(catalogue);
        let mut times = LastTimes::default();
        let drawn = |page: usize| look.drawn_index(page as u32, &mut times);
        let mut indices: Vec<f32> = (0..pages).step_by(pages / PAGES_GUESSED_BY).map(drawn).collect();
        let place = (wanted as f64 / pages as f64 * indices.len() as f64) as usize;
        let place = place.min(indices.len() - 1);
        *indices.select_nth_unstable_by(place, |a, b| b.total_cmp(a)).1
    }

    /// The `n`-th largest index among the plan's pages that have room.
    fn nth_with_room(&mut self, catalogue: &Catalogue, n: usize) -> f32 {
        if catalogue.is_roomy() {
            return self.plan.nth_largest(n);
        }
        let (model, taken) = (&self.model, &self.taken);
        let aside = self.plan.set_aside(|page| has_room(model, taken, catalogue, page));
        let reached = self.plan.nth_largest(n);
        self.plan.readmit(aside);
        reached
    }

    /// Chooses the best `quota` pages of the plan that have room, down to the threshold set for them.
    fn take_best(&mut self, catalogue: &Catalogue, quota: usize) {
        let mut chosen = std::mem::take(&mut self.chosen);
        let mut taken = std::mem::take(&mut self.taken);
        let least = self.threshold;
        let (plan, mut source) = self.plan_and_source(catalogue);
        if catalogue.is_roomy() {
            plan.take_best(&mut source, quota, least, |_, _| true, &mut chosen);
        } else {
            let aside = plan.set_aside(|page| has_room(source.model, &taken, catalogue, page));
            let takes = |model: &Model, page| take_room(model, &mut taken, catalogue, page);
            plan.take_best(&mut source, quota, least, takes, &mut chosen);
            plan.readmit(aside);
        }
        (self.chosen, self.taken) = (chosen, taken);
    }

    /// Chooses pages that are to be visited regardless of their index, at most `quota`.
    fn take_in_any_case(&mut self, catalogue: &Catalogue, quota: usize) {
        let mut chosen = std::mem::take(&mut self.chosen);
        let mut taken = std::mem::take(&mut self.taken);
        let (plan, mut source) = self.plan_and_source(catalogue);
        let takes =
            |model: &Model, page| catalogue.is_roomy() || take_room(model, &mut taken, catalogue, page);
        plan.take_in_any_case(&mut source, quota, takes, &mut chosen);
        (self.chosen, self.taken) = (chosen, taken);
    }

    /// Chooses sentinels: for each site as many as `wanted` returns, at most `most` in all. The best pages
    /// are in the plan already; a site that has too few of them there adds others.
    fn choose_sentinels(
        &mut self,
        catalogue: &Catalogue,
        most: usize,
        wanted: impl Fn(&Self, usize) -> usize,
    ) {
        let mut quotas: Vec<u32> =
            (0..self.groups_of_site.len()).map(|site| wanted(self, site) as u32).collect();
        let planned = self.plan.best_of_sites(self.model.groups.site_of(), &mut quotas);
        let mut sentinels: Vec<(u32, Option<Planned>)> =
            planned.into_iter().map(|planned| (planned.page, Some(planned))).collect();
        for (site, quota) in quotas.into_iter().enumerate().filter(|(_, quota)| *quota > 0) {
            let others = self.best_queued(catalogue, site, quota as usize);
            sentinels.extend(others.into_iter().map(|page| (page, None)));
        }
        if sentinels.len() > most {
            let (seed, tick) = (self.settings.seed ^ 0x5e17_1e15, self.model.now.tick());
            let lot = |page: u32| thompson::tie_break(seed, page, tick);
            sentinels.sort_unstable_by(|a, b| lot(a.0).total_cmp(&lot(b.0)).then(a.0.cmp(&b.0)));
            sentinels.truncate(most);
        }
        let (plan, mut source) = self.plan_and_source(catalogue);
        for (page, planned) in sentinels {
            match planned {
                Some(planned) => plan.want_in_any_case(planned),
                None => plan.add_in_any_case(&mut source, page),
            }
        }
    }

    /// The best pages of a site that are not in the plan, by the drawn index.
    fn best_queued(&self, catalogue: &Catalogue, site: usize, quota: usize) -> Vec<u32> {
        let mut heap: BinaryHeap<Reverse<(Ordered, u32)>> = BinaryHeap::with_capacity(quota + 1);
        let mut least = 0.0;
        for group in &self.groups_of_site[site] {
            self.look(catalogue).walk(*group as usize, least, |page, index| {
                heap.push(Reverse((Ordered(index), page)));
                if heap.len() > quota {
                    heap.pop();
                    least = heap.peek().map_or(0.0, |worst| worst.0.0.0);
                }
                least
            });
        }
        heap.into_iter().map(|Reverse((_, page))| page).collect()
    }

    /// Number of sentinels that a site should have in a cycle: none if the site reports the state of its
    /// pages.
    fn sentinels_wanted(&self, site: usize) -> f64 {
        if self.model.now < self.told_until[site] {
            return 0.0;
        }
        (SENTINELS * (f64::from(self.model.pages_of_site[site]) * self.share).sqrt()).floor()
    }

    /// Mean number of ticks between two visits to a page, at most the age of the crawl.
    fn visit_interval(&self) -> f32 {
        let since_start = self.model.now.tick().max(1) as f32;
        since_start.min((1.0 / self.share.clamp(1e-3, 1.0)) as f32)
    }

    /// Adds the oldest copies to the plan, to be visited regardless of their index.
    fn gather_oldest(&mut self, catalogue: &Catalogue, downloads: f64) {
        self.owed_to_oldest += self.settings.oldest_share * downloads;
        let quota = self.owed_to_oldest as usize;
        self.owed_to_oldest -= quota as f64;
        if quota == 0 {
            return;
        }
        let mut heads = BinaryHeap::new();
        for group in self.groups_of_site.iter().flatten() {
            for cell in 0..self.cells.of_group(*group as usize) {
                if let Some(head) = self.cells.head(*group as usize, cell) {
                    heads.push(Reverse((self.model.records.last(head as usize), head, head)));
                }
            }
        }
        for _ in 0..quota {
            let Some(Reverse((_, page, head))) = heads.pop() else { return };
            if let Some(next) = self.cells.after(page, head) {
                heads.push(Reverse((self.model.records.last(next as usize), next, head)));
            }
            let (plan, mut source) = self.plan_and_source(catalogue);
            plan.add_in_any_case(&mut source, page);
        }
    }

    /// Takes at most `quota` pages from the current batch, or from the next batch when the current one is
    /// used up.
    pub(super) fn choose_in_batches(&mut self, catalogue: &Catalogue, quota: usize) {
        while self.chosen.is_empty() && (self.batch_left > 0 || self.batch <= BATCHES) {
            if self.batch == 0 {
                self.batch = 1;
                self.begin_plan(catalogue);
                // Remaining sentinels come first in the following batches.
                self.take_in_any_case(catalogue, quota);
                continue;
            }
            if self.batch_left == 0 {
                self.batch_left = self.left / (BATCHES + 1 - self.batch);
                self.batch += 1;
                continue;
            }
            self.choose_best(catalogue, quota.min(self.batch_left));
            self.batch_left -= self.chosen.len();
            if self.chosen.is_empty() {
                if !catalogue.is_roomy() {
                    // Sites will have room again later.
                    return;
                }
                self.batch_left = 0;
            }
        }
    }

    /// Plans the best pages for a cycle, with its sentinels.
    fn begin_plan(&mut self, catalogue: &Catalogue) {
        self.plan.set_visit_interval(self.visit_interval());
        self.gather_oldest(catalogue, self.left as f64);
        self.gather_to(catalogue, self.threshold_for(catalogue, self.left) * PLAN_SLACK);
        let most = (SENTINELS_SHARE_MAX * self.left as f64) as usize;
        self.choose_sentinels(catalogue, most, |policy, site| policy.sentinels_wanted(site) as usize);
    }

    /// Takes at most `quota` pages from the plan. A plan that is too old is replaced; one that runs out early
    /// is extended.
    pub(super) fn choose_steadily(&mut self, catalogue: &Catalogue, quota: usize) {
        let age = |policy: &Self| {
            policy.planned.map_or(f32::INFINITY, |planned| policy.model.now.since(planned) * BATCHES as f32)
        };
        if age(self) >= 1.0 {
            self.spare = (self.spare / 2).max(PLAN_SPARE);
            self.make_plan(catalogue, quota);
        }
        self.take_last(catalogue, quota);
        if self.chosen.len() < quota && age(self) >= PLAN_AGE_MIN {
            self.spare = (2 * self.spare).min(PLAN_SPARE_MAX);
            self.make_plan(catalogue, quota);
            self.take_last(catalogue, quota - self.chosen.len());
        } else if self.chosen.len() < quota
            && self.plan.level() > 0.0
            && self.plan.len() < self.downloads_of_plan(quota)
        {
            self.fill_plan(catalogue, self.downloads_of_plan(quota));
            self.plan.sort();
            self.take_last(catalogue, quota - self.chosen.len());
        }
    }

    /// Number of downloads that a plan is made for, at least `least`.
    fn downloads_of_plan(&self, least: usize) -> usize {
        let downloads = self.settings.budget_share * self.model.pages_alive as f64;
        ((downloads / BATCHES as f64).ceil() as usize).max(least)
    }

    fn take_last(&mut self, catalogue: &Catalogue, quota: usize) {
        let mut chosen = std::mem::take(&mut self.chosen);
        let mut taken = std::mem::take(&mut self.taken);
        let (plan, mut source) = self.plan_and_source(catalogue);
        let takes =
            |model: &Model, page| catalogue.is_roomy() || take_room(model, &mut taken, catalogue, page);
        let looks = quota.saturating_mul(LOOKS_PER_DOWNLOAD).max(LOOKS_MIN);
        plan.take_last(&mut source, quota, looks, takes, &mut chosen);
        (self.chosen, self.taken) = (chosen, taken);
    }

    /// Plans the best pages for a twelfth of a cycle length, and at least for `least` downloads.
    fn make_plan(&mut self, catalogue: &Catalogue, least: usize) {
        self.plan.dissolve(&mut self.model);
        self.follow();
        let now = self.model.now;
        let since = self.planned.map_or(1.0 / BATCHES as f32, |planned| now.since(planned));
        self.planned = Some(now);
        let downloads = self.settings.budget_share * self.model.pages_alive as f64;
        let expected = self.downloads_of_plan(least);
        let part = f64::from(now.part_of_tick());
        self.share = self.settings.budget_share;
        self.gather_oldest(catalogue, downloads * f64::from(since));
        self.fill_plan(catalogue, expected);
        let most = (SENTINELS_SHARE_MAX * expected as f64).ceil() as usize;
        self.choose_sentinels(catalogue, most, |policy, site| {
            let wanted = (policy.sentinels_wanted(site) * part).floor() as usize;
            wanted.saturating_sub(policy.visits_of_site[site] as usize)
        });
        self.plan.sort();
    }

    /// Adds the best pages to the plan: enough for the `expected` downloads, with spare ones for sites that
    /// have no room.
    fn fill_plan(&mut self, catalogue: &Catalogue, expected: usize) {
        self.gather_to(catalogue, self.threshold_for(catalogue, expected) * PLAN_SLACK);
        let mut step = PLAN_STEP;
        while self.plan.len() < self.spare.saturating_mul(expected) && self.plan.level() > 0.0 {
            self.gather_to(catalogue, lower(self.plan.level(), step));
            step *= step;
        }
        let reached = self.plan.nth_largest(expected);
        if reached.is_finite() {
            self.threshold = reached;
        }
    }
}

/// Whether a page's site can take one more visit.
fn has_room(model: &Model, taken: &HashMap<SiteId, u32>, catalogue: &Catalogue, page: u32) -> bool {
    let site = SiteId(model.site_of(page as usize) as u32);
    taken.get(&site).copied().unwrap_or(0) < catalogue.room(site)
}

/// Takes one of the visits that a page's site has room for. Returns false if there is none.
fn take_room(model: &Model, taken: &mut HashMap<SiteId, u32>, catalogue: &Catalogue, page: u32) -> bool {
    let site = SiteId(model.site_of(page as usize) as u32);
    let taken = taken.entry(site).or_default();
    let has_room = *taken < catalogue.room(site);
    *taken += u32::from(has_room);
    has_room
}

/// A fraction of a level; finally 0, which every page reaches.
fn lower(level: f32, part: f32) -> f32 {
    if 1e-9 < level && level.is_finite() { level * part } else { 0.0 }
}
