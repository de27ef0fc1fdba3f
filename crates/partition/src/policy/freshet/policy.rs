//! The default policy itself: the cycle that joins samples and history, and its steady form.
//!
//! A cycle spends its downloads in a batch of sentinels and twelve more batches. Each batch is the sample for
//! the next: groups with surprising changes rise at once, groups without changes sink. That is the adaptive
//! policy of the text **sample** with a prior.
//!
//! > sentinels: of every site of n pages the best ⌊0.7 √(n r)⌋, r = downloads per page and cycle; at most a
//! > tenth of the downloads
//! > batches: the pages with the largest index, not yet visited in this cycle; observe, calibrate, recompute
//! > the clocks
//! > end: fold the visits into the pages with the final clocks, recompute the prior means
//!
//! Sentinels keep every site sampled. Without them a bulk change of an unsampled site stays invisible,
//! because an unsampled clock is its parent's.
//!
//! When the policy is driven steadily, with many short cycles in the length of one, the batches become plans:
//! twelve times in a cycle length the clocks and the calibration are updated and the best pages planned; the
//! short cycles take pages from the plan. A site that has had fewer visits than its sentinels by then
//! releases its best pages regardless of their index. A policy that settles uses the first form in its first
//! cycles and the steady form from then on.
//!
//! # Promises
//! - The same seed makes the same choices.
//! - The cost of a cycle grows with its downloads and with the number of cells, not with the number of pages.
//!   The cost of a short cycle grows with its downloads, except for the twelve that plan.
//! - No page is chosen twice in a cycle, nor one that is gone, retired or just failed. No site gets more
//!   visits at a time than it has room for.
//! - A cycle spends all its downloads, however small the portions in which they are asked for, if there are
//!   pages and room.
//! - The policy learns from visits whenever they are reported and whoever chose them: replaying a history
//!   cycle by cycle yields the same estimates as having lived through it.

use std::collections::{HashMap, HashSet, VecDeque};

use freshet_theory::units::Days;

use super::account;
use super::cells::Cells;
use super::index::{Objective, changed_probability, fresh_time_known};
use super::model::{Model, Visit};
use super::moments::Moment;
use super::plan::Plan;
use super::records::Place;
use crate::policy::catalogue::{Catalogue, PageId, SiteId};
use crate::policy::name::Form;
use crate::policy::selective::Selective;
use crate::policy::visit::{CopyEstimate, Explanation, Observation, Outcome, Policy};

/// Batches of a cycle after the sentinels, and plans per cycle length.
pub(super) const BATCHES: usize = 12;
/// Ticks for which a site that reported the state of its pages needs no sentinels.
const TOLD_TICKS: f32 = 7.0;
/// Ticks after which a page whose visit failed may be chosen again.
const RETRY_TICKS: f32 = 0.25;
/// A plan holds at least this many times the pages that it is expected to give out: some sites will have no
/// room.
pub(super) const PLAN_SPARE: usize = 2;

/// Settings of the default policy.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// What the copy is kept for.
    pub objective: Objective,
    /// Whether it is driven cycle by cycle or steadily, with many short cycles.
    pub form: Form,
    /// Length of a cycle: the tick of the clocks.
    pub cycle: Days,
    /// Expected downloads per page and cycle. It determines how many ticks the clocks keep.
    pub budget_share: f64,
    /// Share of the downloads reserved for the oldest copies, regardless of their index.
    pub oldest_share: f64,
    /// Seed of all random draws.
    pub seed: u64,
}

impl Settings {
    /// Default of [`Settings::oldest_share`].
    pub const OLDEST_SHARE: f64 = 0.0;
}

/// Additional knowledge about a visit.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Hint {
    /// Nothing.
    None,
    /// A signal had said that the page had changed, and the visit was made for it.
    Prompted,
    /// The date of the last change that the page states.
    Dated(Days),
}

/// The default policy.
#[derive(Debug)]
pub struct Freshet {
    pub(super) settings: Settings,
    pub(super) model: Model,
    pub(super) cells: Cells,
    pub(super) plan: Plan,
    pub(super) groups_of_site: Vec<Vec<u32>>,
    /// Smallest index that was chosen in the last batch.
    pub(super) threshold: f32,
    /// Downloads left in the cycle.
    pub(super) left: usize,
    /// Batches begun in this cycle.
    pub(super) batch: usize,
    /// Downloads left in the current batch.
    pub(super) batch_left: usize,
    /// Downloads per page in this cycle.
    pub(super) share: f64,
    /// Downloads owed to the oldest copies: less than one between cycles.
    pub(super) owed_to_oldest: f64,
    is_in_cycle: bool,
    /// When calibration and clocks were last updated.
    followed: Moment,
    /// When the plan was made, in the steady form.
    pub(super) planned: Option<Moment>,
    /// Factor between the pages in a plan and those that it is expected to give out.
    pub(super) spare: usize,
    /// Visits to each site in this tick, in the steady form.
    pub(super) visits_of_site: Vec<u32>,
    /// Until when each site needs no sentinels, because it reported the state of its pages.
    pub(super) told_until: Vec<Moment>,
    /// Pages of each site chosen in this call, when sites have limited room.
    pub(super) taken: HashMap<SiteId, u32>,
    /// Pages that may not be chosen in this cycle; empty if all may.
    pub(super) closed: Vec<bool>,
    /// Visits to be folded into their pages.
    visits: Vec<Visit>,
    /// Pages to be queued again.
    returning: Vec<u32>,
    /// Pages whose visit failed, with the moment from which they may be chosen again.
    failed: VecDeque<(Moment, u32)>,
    pub(super) chosen: Vec<u32>,
}

impl Freshet {
    /// A policy without pages. Panics unless cycle and budget share are positive and finite and the share of
    /// the oldest is from 0 to 1.
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
        match self.settings.form {
            Form::Cycle => false,
            Form::Steady => true,
            Form::Settling => Form::SETTLING_CYCLES < self.model.now.tick(),
        }
    }

    fn enqueue(&mut self, catalogue: &Catalogue, page: u32) {
        let class = self.model.class(catalogue, page as usize);
        self.model.records.set_place(page as usize, Place::Queued);
        self.cells.append(self.model.group_of(page as usize), class, page);
    }

    /// Puts a page that was not just visited into its cell, at the place of its last visit.
    fn put_back(&mut self, catalogue: &Catalogue, page: u32) {
        let class = self.model.class(catalogue, page as usize);
        self.model.records.set_place(page as usize, Place::Queued);
        let records = &self.model.records;
        let is_older = |other: u32| records.last(other as usize) < records.last(page as usize);
        self.cells.put_back(self.model.group_of(page as usize), class, page, is_older);
    }

    /// Moves time forward. Before a new tick begins, the visits of the old one are folded in.
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

    /// Folds the visits into their pages with the current clocks, and queues the pages again.
    fn settle(&mut self, catalogue: &Catalogue) {
        if self.visits.is_empty() && self.returning.is_empty() {
            return;
        }
        // Sorted by page for memory locality. The sort is stable: visits to one page keep their order.
        let mut visits = std::mem::take(&mut self.visits);
        visits.sort_by_key(|visit| visit.page);
        visits.iter().for_each(|visit| self.model.fold(visit));
        let mut settled = None;
        for visit in &visits {
            let group = self.model.group_of(visit.page as usize);
            if settled.replace(group) != Some(group) {
                self.model.rates.settle_group(group, self.model.site_of(visit.page as usize));
            }
        }
        let mut returning = std::mem::take(&mut self.returning);
        if visits.windows(2).all(|pair| pair[0].time == pair[1].time) {
            // All were visited at the same time, so their order in a queue is arbitrary.
            returning.sort_unstable();
        }
        self.visits = visits;
        self.visits.clear();
        for page in &returning {
            if self.model.records.place(*page as usize) == Place::Out {
                self.enqueue(catalogue, *page);
            }
        }
        self.returning = returning;
        self.returning.clear();
    }

    /// Updates calibration and clocks with the visits since the last update.
    pub(super) fn follow(&mut self) {
        self.model.calibration.follow();
        self.model.clocks.settle();
        self.followed = self.model.now;
    }

    /// Takes a page out of its cell. If it was planned but not chosen, it is added to `planned`.
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
        hint: Hint,
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
        self.model.judge_told(number, changed);
        // A visit after no time carries no information.
        let last = self.model.records.last(number);
        if last < time && hint == Hint::Prompted {
            // The result was known in advance: no surprise, so the residual is zero.
            self.model.records.visit(number, changed, f32::from(u8::from(changed)));
            self.model.records.set_last(number, time);
            let (prompted, changed_at) = (true, Moment::START);
            self.visits.push(Visit { page, last, time, changed, gone, prompted, changed_at });
        } else if last < time {
            let changed_at = match hint {
                Hint::Dated(date) => self.believed(number, date, last, observation),
                _ => None,
            };
            let changed_at = changed_at.unwrap_or(Moment::START);
            let (visit, exposure) = self.model.observe(page, time, changed);
            self.model.records.visit(number, changed, changed_probability(exposure));
            self.model.records.set_last(number, time);
            self.visits.push(Visit { gone, changed_at, ..visit });
        }
        if gone {
            self.model.records.set_place(number, Place::Gone);
            self.model.count_out(number);
        } else {
            self.returning.push(page);
        }
    }

    fn learn_hinted(&mut self, catalogue: &Catalogue, observation: &Observation, hint: Hint) {
        let mut planned = HashSet::new();
        self.learn_one(catalogue, observation, hint, &mut planned);
        self.forget_planned(&planned);
        if !self.is_in_cycle {
            self.settle(catalogue);
        }
    }

    /// When a page that a visit found changed had changed, if its site's dates are believed.
    fn believed(&mut self, page: usize, date: Days, last: Moment, visit: &Observation) -> Option<Moment> {
        let (site, last) = (self.model.site_of(page), last.days(self.settings.cycle));
        let date = self.model.dates[site].hear(date, last, visit.time, visit.outcome.is_change())?;
        Some(self.moment(date))
    }

    /// Removes pages from the plan that were visited or have left without having been chosen.
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
            // No plans are made while a history is replayed.
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
            self.learn_one(catalogue, observation, Hint::None, &mut planned);
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
        self.learn_hinted(catalogue, observation, Hint::Prompted);
    }

    fn learn_dated(&mut self, catalogue: &Catalogue, observation: &Observation, date: Days) {
        self.learn_hinted(catalogue, observation, Hint::Dated(date));
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
                self.model.records.confirm(page.index(), time);
                self.told_until[self.model.site_of(page.index())] = time.after(TOLD_TICKS);
                let (page, changed, gone, prompted, changed_at) = (page.0, false, false, true, Moment::START);
                self.visits.push(Visit { page, last, time, changed, gone, prompted, changed_at });
                self.returning.push(page);
            }
        }
        self.forget_planned(&planned);
        if !self.is_in_cycle {
            self.settle(catalogue);
        }
    }

    fn tell_changed(&mut self, pages: &[PageId]) {
        pages.iter().for_each(|page| self.model.records.tell(page.index(), true));
    }

    fn is_worth_if_changed(&self, _catalogue: &Catalogue, page: PageId, now: Days) -> bool {
        // An archive of versions wants every change.
        self.settings.objective == Objective::Changes || {
            let view = self.model.view(page.index(), self.moment(now).max(self.model.now));
            let exposure = self.model.calibration.exposure(&view.example);
            self.model.fresh_time <= fresh_time_known(exposure, view.times.clock)
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
            changed_at: Moment::START,
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
