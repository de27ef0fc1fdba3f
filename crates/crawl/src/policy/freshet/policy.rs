//! The cycle that joins samples and history, and its steady form.
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
//! Driven steadily, with many short cycles in the length of one, the batches become plans: twelve times in a cycle length the clocks
//! and the calibration follow what was learned, and the best pages are laid out; the short cycles take from them. A site that has
//! had fewer visits than its sentinels by then releases its best pages whatever they are worth.
//!
//! # Promises
//! - The same seed makes the same choices.
//! - The cost of a cycle grows with its downloads and with the number of cells, not with the number of pages; that of a short cycle
//!   with its downloads, but for the twelve that plan.
//! - No page is chosen twice in a cycle, nor one that is gone, retired or just failed; no site is given more visits at a time
//!   than it has room for.
//! - A cycle spends all its downloads however small the portions are in which they are asked for, if there are pages and room.
//! - Visits are learned from whenever they are told, whoever chose them: one who is told of a past, cycle by cycle, believes what one
//!   who lived through it believes.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet, VecDeque};

use freshet_theory::units::Days;

use super::account;
use super::calibration::Example;
use super::cells::Cells;
use super::index::{Objective, changed_probability, fresh_time_known};
use super::model::{Model, Visit};
use super::moments::Moment;
use super::plan::{Look, Plan, Planned, Source};
use super::records::Place;
use super::thompson;
use crate::policy::catalogue::{Catalogue, PageId, SiteId};
use crate::policy::name::Form;
use crate::policy::selective::Selective;
use crate::policy::visit::{CopyEstimate, Explanation, Observation, Outcome, Policy};

/// Batches of a cycle after the sentinels; plans in the length of a cycle.
const BATCHES: usize = 12;
/// Sentinels of a site of n pages: this times √(n r), rounded down.
const SENTINELS: f64 = 0.7;
/// Largest part of a cycle's downloads that sentinels may take.
const SENTINELS_SHARE_MAX: f64 = 0.1;
/// The pages of a plan reach down to this part of the threshold: batches move it a little.
const PLAN_SLACK: f32 = 0.9;
/// A plan that holds too few pages is deepened to this part of its level; if that is not enough, to the square of it, and so on.
const PLAN_STEP: f32 = 0.8;
/// Pages by which the threshold is guessed before the first choice.
const PAGES_GUESSED_BY: usize = 1024;
/// Ticks for which a site that told how its pages stand needs no sentinels.
const TOLD_TICKS: f32 = 7.0;
/// Ticks after which a page whose visit failed may be chosen again.
const RETRY_TICKS: f32 = 0.25;
/// A plan holds at least this many times the pages that it is expected to give out: some sites will have no room.
const PLAN_SPARE: usize = 2;
/// When too many sites have no room, a plan holds at most this many times the pages that it is expected to give out.
const PLAN_SPARE_MAX: usize = 1024;
/// Part of its life that a plan must have had before it is made anew because it is used up.
const PLAN_AGE_MIN: f32 = 0.1;
/// Pages of a plan that a short cycle looks at for each that it may choose, when sites have no room.
const LOOKS_PER_DOWNLOAD: usize = 64;
/// Pages of a plan that a short cycle may look at in any case.
const LOOKS_MIN: usize = 4096;

/// How the policy is set.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// What the copy is kept for.
    pub objective: Objective,
    /// Whether it is driven cycle by cycle or steadily, with many short cycles.
    pub form: Form,
    /// Length of a cycle: the tick of the clocks.
    pub cycle: Days,
    /// Downloads per page and cycle to expect: it sets how many ticks the clocks remember.
    pub budget_share: f64,
    /// Part of the downloads that goes to the oldest copies, whatever they are worth.
    pub oldest_share: f64,
    /// Seed of all chance.
    pub seed: u64,
}

impl Settings {
    /// Part of the downloads for the oldest copies, unless something else is set.
    pub const OLDEST_SHARE: f64 = 0.0;
}

/// The default policy.
#[derive(Debug)]
pub struct Freshet {
    settings: Settings,
    model: Model,
    cells: Cells,
    plan: Plan,
    groups_of_site: Vec<Vec<u32>>,
    /// Smallest index that was chosen in the last batch.
    threshold: f32,
    /// What is left of the cycle's downloads.
    left: usize,
    /// Batches begun in this cycle.
    batch: usize,
    /// What is left of the downloads of the batch that was begun last.
    batch_left: usize,
    /// Downloads per page in this cycle.
    share: f64,
    /// Downloads owed to the oldest copies: less than one between cycles.
    owed_to_oldest: f64,
    is_in_cycle: bool,
    /// When calibration and clocks followed last.
    followed: Moment,
    /// When the plan was made, in the steady form.
    planned: Option<Moment>,
    /// Pages in a plan for each that it is expected to give out.
    spare: usize,
    /// Visits to each site in this tick, in the steady form.
    visits_of_site: Vec<u32>,
    /// Until when each site needs no sentinels, because it told how its pages stand.
    told_until: Vec<Moment>,
    /// Pages of each site that were chosen just now, when sites have limited room.
    taken: HashMap<SiteId, u32>,
    /// Pages that may not be chosen in this cycle; none when empty.
    closed: Vec<bool>,
    /// Examples that the calibration has not learned yet.
    examples: Vec<(Example, f32, bool)>,
    /// Visits to be folded into their pages.
    visits: Vec<Visit>,
    /// Pages to be queued again.
    returning: Vec<u32>,
    /// Pages whose visit failed, with the moment from which they may be chosen again.
    failed: VecDeque<(Moment, u32)>,
    chosen: Vec<u32>,
}

impl Freshet {
    /// A policy that knows no page yet. Panics unless cycle and budget share are positive and finite and the share of the oldest is
    /// from 0 to 1.
    pub fn new(settings: Settings) -> Self {
        assert!(settings.budget_share.is_finite());
        assert!(settings.budget_share > 0.0);
        assert!(Days::ZERO < settings.cycle);
        assert!(settings.cycle < Days::FOREVER);
        assert!((0.0..=1.0).contains(&settings.oldest_share));
        let window = (3.0 / settings.budget_share).ceil().clamp(40.0, 1000.0);
        Self {
            settings,
            model: Model::new(settings.objective, settings.seed, window as u32),
            cells: Cells::default(),
            plan: Plan::new(),
            groups_of_site: Vec::new(),
            threshold: 0.0,
            left: 0,
            batch: 0,
            batch_left: 0,
            share: settings.budget_share,
            owed_to_oldest: 0.0,
            is_in_cycle: false,
            followed: Moment::START,
            planned: None,
            spare: PLAN_SPARE,
            visits_of_site: Vec::new(),
            told_until: Vec::new(),
            taken: HashMap::new(),
            closed: Vec::new(),
            examples: Vec::new(),
            visits: Vec::new(),
            returning: Vec::new(),
            failed: VecDeque::new(),
            chosen: Vec::new(),
        }
    }

    fn moment(&self, time: Days) -> Moment {
        Moment::at(time, self.settings.cycle)
    }

    fn is_steady(&self) -> bool {
        self.settings.form == Form::Steady
    }

    fn plan_and_source<'a>(&'a mut self, catalogue: &'a Catalogue) -> (&'a mut Plan, Source<'a>) {
        let source =
            Source { catalogue, model: &mut self.model, cells: &mut self.cells, closed: &self.closed };
        (&mut self.plan, source)
    }

    fn look<'a>(&'a self, catalogue: &'a Catalogue) -> Look<'a> {
        Look { catalogue, model: &self.model, cells: &self.cells, closed: &self.closed }
    }

    fn enqueue(&mut self, catalogue: &Catalogue, page: u32) {
        let class = self.model.class(catalogue, page as usize);
        self.model.records.set_place(page as usize, Place::Queued);
        self.cells.append(self.model.group_of(page as usize), class, page);
    }

    /// Puts a page into its cell that was not visited just now, where its last visit places it.
    fn put_back(&mut self, catalogue: &Catalogue, page: u32) {
        let class = self.model.class(catalogue, page as usize);
        self.model.records.set_place(page as usize, Place::Queued);
        let records = &self.model.records;
        let is_older = |other: u32| records.last(other as usize) < records.last(page as usize);
        self.cells.put_back(self.model.group_of(page as usize), class, page, is_older);
    }

    /// Lets time pass. With a new tick, what was learned in the old one is folded in first.
    fn advance(&mut self, catalogue: &Catalogue, time: Moment) {
        if self.model.now.tick() < time.tick() {
            self.settle(catalogue);
            self.model.rates.settle(self.model.groups.site_of());
            self.visits_of_site.fill(0);
        }
        self.model.advance(time);
        while let Some((until, page)) = self.failed.front().copied() {
            if self.model.now < until {
                break;
            }
            self.failed.pop_front();
            if self.model.records.place(page as usize) == Place::Out {
                self.put_back(catalogue, page);
            }
        }
    }

    /// Folds the visits made into their pages with the clocks as they are, and queues the pages again.
    fn settle(&mut self, catalogue: &Catalogue) {
        if self.visits.is_empty() && self.returning.is_empty() {
            return;
        }
        let visits = std::mem::take(&mut self.visits);
        visits.iter().for_each(|visit| self.model.fold(visit));
        for visit in &visits {
            let page = visit.page as usize;
            self.model.rates.settle_group(self.model.group_of(page), self.model.site_of(page));
        }
        self.visits = visits;
        self.visits.clear();
        let returning = std::mem::take(&mut self.returning);
        for page in &returning {
            if self.model.records.place(*page as usize) == Place::Out {
                self.enqueue(catalogue, *page);
            }
        }
        self.returning = returning;
        self.returning.clear();
    }

    /// Chooses the best `quota` pages of all that have room.
    fn choose_best(&mut self, catalogue: &Catalogue, quota: usize) {
        let (plan, mut source) = self.plan_and_source(catalogue);
        plan.follow_clocks(&mut source);
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

    /// Takes pages into the plan until it holds the best `wanted` of those that have room, and sets the threshold by them.
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

    /// Takes all pages into the plan whose index reaches a level.
    fn gather_to(&mut self, catalogue: &Catalogue, level: f32) {
        if level < self.plan.level() {
            let (plan, mut source) = self.plan_and_source(catalogue);
            plan.gather_all(&mut source, level);
        }
    }

    /// The last threshold, or before the first choice one that lets through about as many pages as are wanted.
    fn threshold_for(&self, catalogue: &Catalogue, wanted: usize) -> f32 {
        let pages = self.model.records.len();
        if self.threshold > 0.0 || pages < 2 * PAGES_GUESSED_BY {
            return self.threshold;
        }
        let look = self.look(catalogue);
        let drawn = |page: usize| look.drawn_index(page as u32);
        let mut indices: Vec<f32> = (0..pages).step_by(pages / PAGES_GUESSED_BY).map(drawn).collect();
        let place = (wanted as f64 / pages as f64 * indices.len() as f64) as usize;
        let place = place.min(indices.len() - 1);
        *indices.select_nth_unstable_by(place, |a, b| b.total_cmp(a)).1
    }

    /// The `n`-th largest index of the plan's pages that have room.
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

    fn take_best(&mut self, catalogue: &Catalogue, quota: usize) {
        let mut chosen = std::mem::take(&mut self.chosen);
        let mut taken = std::mem::take(&mut self.taken);
        let (plan, mut source) = self.plan_and_source(catalogue);
        if catalogue.is_roomy() {
            plan.take_best(&mut source, quota, |_, _| true, &mut chosen);
        } else {
            let aside = plan.set_aside(|page| has_room(source.model, &taken, catalogue, page));
            let takes = |model: &Model, page| take_room(model, &mut taken, catalogue, page);
            plan.take_best(&mut source, quota, takes, &mut chosen);
            plan.readmit(aside);
        }
        (self.chosen, self.taken) = (chosen, taken);
    }

    /// Chooses what is to be visited whatever it is worth, at most `quota` pages.
    fn take_in_any_case(&mut self, catalogue: &Catalogue, quota: usize) {
        let mut chosen = std::mem::take(&mut self.chosen);
        let mut taken = std::mem::take(&mut self.taken);
        let (plan, mut source) = self.plan_and_source(catalogue);
        let takes =
            |model: &Model, page| catalogue.is_roomy() || take_room(model, &mut taken, catalogue, page);
        plan.take_in_any_case(&mut source, quota, takes, &mut chosen);
        (self.chosen, self.taken) = (chosen, taken);
    }

    /// Chooses sentinels: of each site as many as `wanted` says; at most `most` in all. The best pages are planned already; a
    /// site that has too few of them gives others.
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

    /// The best pages of a site that are not planned, by the index that decides.
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

    /// Sentinels that a site should have in a cycle: none if it tells by itself.
    fn sentinels_wanted(&self, site: usize) -> f64 {
        if self.model.now < self.told_until[site] {
            return 0.0;
        }
        (SENTINELS * (f64::from(self.model.pages_of_site[site]) * self.share).sqrt()).floor()
    }

    /// Ticks between two visits to a page, on average, as far as the crawl has lasted so long.
    fn visit_interval(&self) -> f32 {
        let since_start = self.model.now.tick().max(1) as f32;
        since_start.min((1.0 / self.share.clamp(1e-3, 1.0)) as f32)
    }

    /// Takes the oldest copies into the plan, to be visited whatever they are worth.
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

    /// Takes from the batch that was begun last, at most `quota` pages; when it has given what it had to give, from the next.
    fn choose_in_batches(&mut self, catalogue: &Catalogue, quota: usize) {
        while self.chosen.is_empty() && (self.batch_left > 0 || self.batch <= BATCHES) {
            if self.batch == 0 {
                self.batch = 1;
                self.begin_plan(catalogue);
                // What is left of these comes before all else in the batches that follow.
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
                    // Sites will have room again.
                    return;
                }
                self.batch_left = 0;
            }
        }
    }

    /// Lays out the best pages for a cycle, with its sentinels.
    fn begin_plan(&mut self, catalogue: &Catalogue) {
        self.plan.set_visit_interval(self.visit_interval());
        self.gather_oldest(catalogue, self.left as f64);
        self.gather_to(catalogue, self.threshold_for(catalogue, self.left) * PLAN_SLACK);
        let most = (SENTINELS_SHARE_MAX * self.left as f64) as usize;
        self.choose_sentinels(catalogue, most, |policy, site| policy.sentinels_wanted(site) as usize);
    }

    /// Takes at most `quota` pages from the plan, which is made anew when it is old, and reaches deeper when it is used up before.
    fn choose_steadily(&mut self, catalogue: &Catalogue, quota: usize) {
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

    /// Downloads that a plan is made for, and at least so many.
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

    /// Lays out the best pages for a twelfth of a cycle length, and at least for so many downloads.
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

    /// Takes the best pages into the plan: enough for what is expected, and spare ones for when sites have no room.
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

    /// Lets calibration and clocks follow what was learned.
    fn follow(&mut self) {
        self.model.calibration.learn(&self.examples);
        self.examples.clear();
        self.model.clocks.settle();
        self.followed = self.model.now;
    }

    /// Takes a page from wherever it is; what was planned but not chosen is noted in `planned`.
    fn take_out(&mut self, page: u32, planned: &mut HashSet<u32>) {
        let place = self.model.records.place(page as usize);
        if matches!(place, Place::Queued | Place::Planned) {
            self.cells.remove(self.model.group_of(page as usize), page);
        }
        if place == Place::Planned {
            planned.insert(page);
        }
        self.model.records.set_place(page as usize, Place::Out);
    }

    fn learn_one(
        &mut self,
        catalogue: &Catalogue,
        observation: &Observation,
        prompted: bool,
        planned: &mut HashSet<u32>,
    ) {
        let (page, number) = (observation.page.0, observation.page.index());
        if self.model.records.place(number) == Place::Gone {
            return;
        }
        let time = self.moment(observation.time);
        self.advance(catalogue, time);
        self.take_out(page, planned);
        if observation.outcome == Outcome::Failed {
            self.failed.push_back((self.model.now.after(RETRY_TICKS), page));
            return;
        }
        let (changed, gone) = (observation.outcome.is_change(), observation.outcome == Outcome::Gone);
        if self.is_steady() {
            self.visits_of_site[self.model.site_of(number)] += 1;
        }
        // A visit after no time says nothing.
        let last = self.model.records.last(number);
        if last < time && prompted {
            // It was known what the visit would find: that surprises nobody.
            self.model.records.visit(number, changed, f32::from(u8::from(changed)));
            self.model.records.set_last(number, time);
            self.visits.push(Visit { page, last, time, changed, gone, prompted });
        } else if last < time {
            let (visit, example) = self.model.absorb(page, time, changed);
            self.model.records.visit(number, changed, changed_probability(example.1));
            self.model.records.set_last(number, time);
            self.examples.push(example);
            self.visits.push(Visit { gone, ..visit });
        }
        if gone {
            self.model.records.set_place(number, Place::Gone);
            self.model.count_out(number);
        } else {
            self.returning.push(page);
        }
    }

    /// Drops pages from the plan that were visited or have left without having been chosen.
    fn forget_planned(&mut self, planned: &HashSet<u32>) {
        if !planned.is_empty() {
            self.plan.forget(|page| planned.contains(&page));
        }
    }
}

impl Policy for Freshet {
    fn discover(&mut self, catalogue: &Catalogue, first: PageId, now: Days) {
        let groups_before = self.model.groups.site_of().len();
        let time = self.moment(now);
        self.advance(catalogue, time);
        self.model.discover(catalogue, first, time);
        self.groups_of_site.resize(catalogue.sites(), Vec::new());
        self.visits_of_site.resize(catalogue.sites(), 0);
        self.told_until.resize(catalogue.sites(), Moment::START);
        for (group, site) in self.model.groups.site_of().iter().enumerate().skip(groups_before) {
            self.groups_of_site[*site as usize].push(group as u32);
        }
        self.cells.grow(catalogue.pages(), self.model.groups.site_of().len());
        self.plan.grow(self.model.groups.site_of().len());
        for page in first.0..catalogue.pages() as u32 {
            self.enqueue(catalogue, page);
        }
    }

    fn begin_cycle(&mut self, catalogue: &Catalogue, now: Days, budget: usize) {
        self.advance(catalogue, self.moment(now));
        self.closed.clear();
        self.left = budget;
        (self.batch, self.batch_left) = (0, 0);
        self.is_in_cycle = true;
        if self.is_steady() {
            // Who is told the past lays out no plans.
            if self.model.now.since(self.followed) * BATCHES as f32 >= 1.0 {
                self.follow();
            }
        } else {
            self.share = budget as f64 / self.model.pages_alive.max(1) as f64;
        }
    }

    fn choose(&mut self, catalogue: &Catalogue, room: usize, chosen: &mut Vec<PageId>) {
        let quota = self.left.min(room);
        self.chosen.clear();
        self.taken.clear();
        if quota > 0 {
            if self.is_steady() {
                self.choose_steadily(catalogue, quota);
            } else {
                self.choose_in_batches(catalogue, quota);
            }
        }
        self.left -= self.chosen.len();
        chosen.extend(self.chosen.iter().map(|page| PageId(*page)));
    }

    fn learn(&mut self, catalogue: &Catalogue, observations: &[Observation]) {
        let mut planned = HashSet::new();
        for observation in observations {
            self.learn_one(catalogue, observation, false, &mut planned);
        }
        self.forget_planned(&planned);
        if !self.is_steady() {
            self.follow();
        }
        if !self.is_in_cycle {
            self.settle(catalogue);
        }
    }

    fn learn_prompted(&mut self, catalogue: &Catalogue, observation: &Observation) {
        let mut planned = HashSet::new();
        self.learn_one(catalogue, observation, true, &mut planned);
        self.forget_planned(&planned);
        if !self.is_in_cycle {
            self.settle(catalogue);
        }
    }

    fn confirm(&mut self, catalogue: &Catalogue, pages: &[PageId], time: Days) {
        let time = self.moment(time);
        self.advance(catalogue, time);
        let mut planned = HashSet::new();
        for page in pages {
            let last = self.model.records.last(page.index());
            let place = self.model.records.place(page.index());
            if matches!(place, Place::Queued | Place::Planned) && last < time {
                self.take_out(page.0, &mut planned);
                self.model.records.set_last(page.index(), time);
                self.told_until[self.model.site_of(page.index())] = time.after(TOLD_TICKS);
                let (page, changed, gone, prompted) = (page.0, false, false, true);
                self.visits.push(Visit { page, last, time, changed, gone, prompted });
                self.returning.push(page);
            }
        }
        self.forget_planned(&planned);
        if !self.is_in_cycle {
            self.settle(catalogue);
        }
    }

    fn is_worth_if_changed(&self, _catalogue: &Catalogue, page: PageId, now: Days) -> bool {
        // Who collects versions wants every one.
        self.settings.objective == Objective::Changes || {
            let view = self.model.view(page.index(), self.moment(now).max(self.model.now));
            let exposure = self.model.calibration.exposure(&view.example);
            self.model.fresh_time <= fresh_time_known(exposure, view.clock_time)
        }
    }

    fn is_worth_if_fresh_for(&self, span: Days) -> bool {
        self.settings.objective == Objective::Changes
            || f64::from(self.model.fresh_time) * self.settings.cycle.get() <= span.get()
    }

    fn end_cycle(&mut self, catalogue: &Catalogue) {
        self.is_in_cycle = false;
        if self.is_steady() {
            self.settle(catalogue);
            return;
        }
        self.plan.dissolve(&mut self.model);
        self.settle(catalogue);
        self.model.rates.settle(self.model.groups.site_of());
    }

    fn retire(&mut self, _catalogue: &Catalogue, page: PageId, _now: Days) {
        if self.model.records.place(page.index()) == Place::Gone {
            return;
        }
        let mut planned = HashSet::new();
        self.take_out(page.0, &mut planned);
        self.forget_planned(&planned);
        self.model.records.set_place(page.index(), Place::Gone);
        self.model.count_out(page.index());
        let now = self.model.now;
        self.visits.push(Visit {
            page: page.0,
            last: now,
            time: now,
            changed: false,
            gone: true,
            prompted: false,
        });
    }

    fn reweigh(&mut self, catalogue: &Catalogue, page: PageId) {
        if self.model.records.place(page.index()) == Place::Queued {
            self.cells.remove(self.model.group_of(page.index()), page.0);
            self.put_back(catalogue, page.0);
        }
    }

    fn explain(&self, catalogue: &Catalogue, page: PageId, now: Days) -> Option<Explanation> {
        let is_gone = self.model.records.place(page.index()) == Place::Gone;
        let (time, cycle) = (self.moment(now).max(self.model.now), self.settings.cycle);
        (!is_gone).then(|| account::explain(&self.model, catalogue, page, time, cycle, self.threshold))
    }

    fn copy_estimate(&self, _catalogue: &Catalogue, now: Days) -> Option<CopyEstimate> {
        account::copy_estimate(&self.model, self.moment(now).max(self.model.now), self.settings.cycle)
    }
}

impl Selective for Freshet {
    fn restrict(&mut self, allowed: &dyn Fn(PageId) -> bool) {
        self.closed.clear();
        self.closed.extend((0..self.model.records.len() as u32).map(|page| !allowed(PageId(page))));
    }
}

/// An index that can be ordered.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ordered(f32);

impl Eq for Ordered {}

impl PartialOrd for Ordered {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ordered {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// Whether a page's site can take one more visit.
fn has_room(model: &Model, taken: &HashMap<SiteId, u32>, catalogue: &Catalogue, page: u32) -> bool {
    let site = SiteId(model.site_of(page as usize) as u32);
    taken.get(&site).copied().unwrap_or(0) < catalogue.room(site)
}

/// Takes one of the visits that a page's site can take, if there is one.
fn take_room(model: &Model, taken: &mut HashMap<SiteId, u32>, catalogue: &Catalogue, page: u32) -> bool {
    let site = SiteId(model.site_of(page as usize) as u32);
    let taken = taken.entry(site).or_default();
    let has_room = *taken < catalogue.room(site);
    *taken += u32::from(has_room);
    has_room
}

/// A part of a level, and in the end everything.
fn lower(level: f32, part: f32) -> f32 {
    if 1e-9 < level && level.is_finite() { level * part } else { 0.0 }
}
