//! The model: the estimated rate, clock time and index of every page.
//!
//! It combines the parts: the posterior of a page in the clock time of its group, corrected by the
//! calibration, valued by the objective. It makes no decisions.

use super::calibration::{Calibration, Example};
use super::clocks::{Clocks, Evidence};
use super::dates::DateTrust;
use super::groups::Groups;
use super::index::{Objective, Standing, Valuation, fresh_time_expected, index};
use super::logarithms::ln;
use super::moments::Moment;
use super::posterior::{Finding, GroupRates, PagePosterior, after_visit};
use super::records::Records;
use super::reported_freshness::ReportedFreshness;
use super::thompson;
use crate::policy::catalogue::{Catalogue, PageId};

/// The Thompson factor is drawn if sites have at least this many pages on average.
const THOMPSON_PAGES_PER_SITE: f64 = 8.0;
/// Groups count as large if they have at least this many pages on average.
const LARGE_PAGES_PER_GROUP: f64 = 4.0;
/// Minimum number of pages of a directory with a group of its own.
pub(super) const GROUP_PAGES_MIN: usize = 4;
/// Width of a class of the constant part of the index, as a logarithm: 22%.
const CLASS_STEP: f32 = 0.2;
/// ln of the smallest constant part with a class of its own.
const CLASS_LOWEST: f32 = -14.0;
/// Number of classes of the constant part.
const CLASSES: u16 = 90;
/// Number of classes of importance, each four times the one before.
const IMPORTANCE_CLASSES: u16 = 8;
/// Minimum clock time since a visit, in ticks.
const CLOCK_TIME_MIN: f32 = 1e-3;
/// Minimum wall time since a visit, in ticks.
const WALL_TIME_MIN: f32 = 1e-2;

/// Discount of a page's statistics per tick.
const DISCOUNT: f32 = 0.97;
/// Discount of the counts of signalled pages per visit to such a page: some hundred visits count.
const TOLD_MEMORY: f32 = 0.995;
/// Weight of the last visit in the running average of [`Model::fresh_time`].
const FRESH_TIME_FOLLOWS: f32 = 0.002;

/// A visit that carries information, to be folded into its page when the clocks of its cycle are final.
#[derive(Clone, Copy, Debug)]
pub(super) struct Visit {
    /// The page.
    pub(super) page: u32,
    /// Time of the visit before.
    pub(super) last: Moment,
    /// Time of this visit.
    pub(super) time: Moment,
    /// Whether the page had changed.
    pub(super) changed: bool,
    /// Whether the page is gone.
    pub(super) gone: bool,
    /// Whether the visit was made because a signal said that the page had changed.
    pub(super) prompted: bool,
    /// Time of its last change; [`Moment::START`] if unknown.
    pub(super) changed_at: Moment,
}

/// A page at a moment: the model's prediction with its features, and the times since the last visit.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    pub(super) example: Example,
    pub(super) times: Times,
}

/// The times since a visit to a page of a group, in ticks, with their logarithms. Pages of a group that were
/// visited at the same time share them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    pub(super) clock: f32,
    pub(super) site: f32,
    pub(super) wall: f32,
    log_clock: f32,
    log_site: f32,
    log_wall: f32,
    /// Their factor in the index ([`Valuation::time_worth`]).
    worth: f32,
}

/// A one-entry cache of [`Times`], by group and moments. It must be dropped when the clocks change.
#[derive(Debug, Default)]
pub(super) struct LastTimes(Option<(usize, Moment, Moment, Times)>);

impl LastTimes {
    fn get(&mut self, group: usize, last: Moment, time: Moment, make: impl Fn() -> Times) -> Times {
        match self.0 {
            Some((of, from, to, times)) if (of, from, to) == (group, last, time) => times,
            _ => {
                let times = make();
                self.0 = Some((group, last, time, times));
                times
            }
        }
    }
}

/// Everything that the policy has learned and estimates.
#[derive(Debug)]
pub(super) struct Model {
    pub(super) objective: Objective,
    pub(super) seed: u64,
    pub(super) groups: Groups,
    pub(super) records: Records,
    pub(super) clocks: Clocks,
    pub(super) rates: GroupRates,
    pub(super) calibration: Calibration,
    reported: ReportedFreshness,
    pub(super) pages_of_site: Vec<u32>,
    pub(super) pages_alive: usize,
    /// For each site, how far its change dates are believed.
    pub(super) dates: Vec<DateTrust>,
    pub(super) now: Moment,
    /// Running average of the ticks for which a visit makes an outdated copy fresh.
    pub(super) fresh_time: f32,
    /// Discounted counts of visits to pages that a signal had reported as changed: those that found a change,
    /// and all.
    told: (f32, f32),
    /// Whether exposures are multiplied by a Thompson factor: not where sites are tiny.
    draws_thompson: bool,
    /// How the index is computed, by the size of groups.
    valuation: Valuation,
}

impl Model {
    /// A model without data. The clocks keep `window` ticks.
    pub(super) fn new(objective: Objective, seed: u64, window: u32) -> Self {
        Self {
            objective,
            seed,
            groups: Groups::default(),
            records: Records::default(),
            clocks: Clocks::new(window),
            rates: GroupRates::default(),
            calibration: Calibration::new(),
            reported: ReportedFreshness::new(),
            pages_of_site: Vec::new(),
            pages_alive: 0,
            dates: Vec::new(),
            now: Moment::START,
            fresh_time: 0.0,
            told: (0.0, 0.0),
            draws_thompson: true,
            valuation: Valuation::of_large_groups(objective),
        }
    }

    /// Adds the pages from `first` on, copied at `time`.
    pub(super) fn discover(&mut self, catalogue: &Catalogue, first: PageId, time: Moment) {
        self.groups.grow(catalogue, first, GROUP_PAGES_MIN);
        self.pages_of_site.resize(catalogue.sites(), 0);
        self.dates.resize(catalogue.sites(), DateTrust::default());
        self.clocks.grow(catalogue.sites(), self.groups.site_of());
        self.rates.grow(catalogue.sites(), self.groups.site_of());
        self.records.reserve(catalogue.pages() - self.records.len());
        for page in first.0..catalogue.pages() as u32 {
            let group = self.groups.of_page(catalogue, PageId(page));
            self.records.push(group, time);
            self.pages_of_site[self.groups.site_of()[group as usize] as usize] += 1;
            self.pages_alive += 1;
        }
        self.take_measure();
        debug_assert_eq!(self.records.len(), catalogue.pages());
    }

    /// Moves time forward. Returns whether a new tick has begun.
    pub(super) fn advance(&mut self, time: Moment) -> bool {
        let before = self.now.tick();
        self.now = self.now.max(time);
        self.clocks.advance(self.now.tick());
        let is_new = before < self.now.tick();
        if is_new {
            self.reported.let_pass(self.now.tick() - before);
            self.take_measure();
        }
        is_new
    }

    /// The group of a page.
    #[inline]
    pub(super) fn group_of(&self, page: usize) -> usize {
        self.records.group(page) as usize
    }

    /// The site of a page.
    #[inline]
    pub(super) fn site_of(&self, page: usize) -> usize {
        self.groups.site_of()[self.group_of(page)] as usize
    }

    /// The posterior of a page's rate.
    #[inline]
    pub(super) fn posterior(&self, page: usize) -> PagePosterior {
        let group_rate = self.rates.rate(self.group_of(page));
        let (changes, exposure) = self.records.statistics(page);
        PagePosterior::new(changes, exposure, group_rate)
    }

    /// The page at a moment.
    pub(super) fn view(&self, page: usize, time: Moment) -> View {
        self.view_after(page, self.times(self.group_of(page), self.records.last(page), time))
    }

    /// The page at a moment, for loops over many pages: `times` caches the times of the page before.
    #[inline]
    pub(super) fn view_beside(&self, page: usize, time: Moment, times: &mut LastTimes) -> View {
        let (group, last) = (self.group_of(page), self.records.last(page));
        self.view_after(page, times.get(group, last, time, || self.times(group, last, time)))
    }

    /// The times between two moments for the pages of a group.
    fn times(&self, group: usize, last: Moment, time: Moment) -> Times {
        let site = self.groups.site_of()[group] as usize;
        self.times_of(
            self.clocks.group_time(group, last, time),
            self.clocks.site_time(site, last, time),
            time.since(last),
        )
    }

    /// Times from the clock time of the group, that of the site and wall time, in ticks; each is raised to
    /// its minimum.
    pub(super) fn times_of(&self, clock: f32, site: f32, wall: f32) -> Times {
        let (clock, site, wall) =
            (clock.max(CLOCK_TIME_MIN), site.max(CLOCK_TIME_MIN), wall.max(WALL_TIME_MIN));
        let (log_clock, log_site, log_wall) = (ln(clock), ln(site), ln(wall));
        let worth = self.valuation.time_worth(log_clock, log_wall);
        Times { clock, site, wall, log_clock, log_site, log_wall, worth }
    }

    /// The page after these times since its last visit.
    #[inline]
    pub(super) fn view_after(&self, page: usize, times: Times) -> View {
        let posterior = self.posterior(page);
        let log_group_rate = self.rates.log_rate(self.group_of(page));
        let base = ln(posterior.exposure(times.clock).max(1e-7));
        let (fast, slow) = self.records.residuals(page);
        let features = [
            1.0,
            times.log_wall - 2.0,
            times.log_clock - times.log_wall,
            times.log_site - times.log_wall,
            ln(posterior.mean()) - log_group_rate,
            log_group_rate + 3.0,
            self.last_changed_feature(page),
            f32::from(self.records.visits(page).min(20)) / 10.0 - 1.0,
            base + 1.0,
            fast,
            slow,
        ];
        let example = Example { base, features };
        View { example, times }
    }

    /// Expected changes of a page since its last visit, for reports. It uses weights of its own, and change
    /// signals as far as they have proved right. Neither enters the index: the index follows the latest
    /// visits, and whether a page that is known to have changed is worth a visit is another question.
    pub(super) fn exposure_to_tell(&self, page: usize, view: &View) -> f32 {
        let exposure = if self.records.is_confirmed(page) {
            // A source that reports its changes leaves little to correct, and its intervals are unlike those
            // between visits.
            view.example.exposure(0.0)
        } else {
            self.reported.exposure(&view.example)
        };
        if !self.records.is_told(page) {
            return exposure;
        }
        let (right, all) = self.told;
        exposure.max(-(1.0 - (right + 1.0) / (all + 2.0)).ln())
    }

    /// Records whether the signal about a visited page was right. The counts apply to all pages with signals.
    pub(super) fn judge_told(&mut self, page: usize, changed: bool) {
        if self.records.is_told(page) {
            let (right, all) = self.told;
            self.told = (TOLD_MEMORY * right + f32::from(u8::from(changed)), TOLD_MEMORY * all + 1.0);
        }
    }

    /// What the index of a page is computed from, given its view.
    #[inline]
    pub(super) fn standing(&self, catalogue: &Catalogue, page: usize, view: &View) -> Standing {
        Standing {
            exposure: self.calibration.exposure(&view.example),
            time_worth: view.times.worth,
            importance: self.worth(catalogue, page),
        }
    }

    /// The index: what a visit is worth.
    #[inline]
    pub(super) fn index(&self, standing: &Standing) -> f32 {
        index(standing, self.valuation)
    }

    /// The Thompson factor of a page in this tick; 1 where none is drawn.
    #[inline]
    fn factor(&self, page: u32) -> f32 {
        if self.draws_thompson { thompson::factor(self.seed, page, self.now.tick()) } else { 1.0 }
    }

    /// The index by which a page is chosen: with the Thompson factor of this tick; ties are broken at random.
    #[inline]
    pub(super) fn drawn_index(&self, page: u32, standing: Standing) -> f32 {
        let drawn = Standing { exposure: standing.exposure * self.factor(page), ..standing };
        self.index(&drawn) * (1.0 + 1e-5 * thompson::tie_break(self.seed, page, self.now.tick()))
    }

    /// Whether exposures are multiplied by a Thompson factor: not where sites are tiny.
    pub(super) fn draws_thompson(&self) -> bool {
        self.draws_thompson
    }

    /// Whether the product behind the page's Thompson factor of this tick is at most `product_max`. Always
    /// true where no factor is drawn.
    #[inline]
    pub(super) fn is_drawn_below(&self, page: u32, product_max: f64) -> bool {
        !self.draws_thompson || thompson::product(self.seed, page, self.now.tick()) <= product_max
    }

    /// Selects Thompson factors and valuation by the size of sites and groups.
    fn take_measure(&mut self) {
        let (pages, sites) = (self.pages_alive as f64, self.pages_of_site.len() as f64);
        self.draws_thompson = pages >= THOMPSON_PAGES_PER_SITE * sites;
        let are_large = pages >= LARGE_PAGES_PER_GROUP * self.groups.site_of().len() as f64;
        self.valuation = if are_large {
            Valuation::of_large_groups(self.objective)
        } else {
            Valuation::of_tiny_groups(self.objective)
        };
    }

    /// The class of a page: pages of one class and group are ordered by their last visit alone.
    pub(super) fn class(&self, catalogue: &Catalogue, page: usize) -> u16 {
        let weight = |feature| self.calibration.weight(feature);
        let log_rate = ln(self.posterior(page).mean());
        let (fast, slow) = self.records.residuals(page);
        let constant = (1.0 + weight(8)) * log_rate
            + weight(4) * (log_rate - self.rates.log_rate(self.group_of(page)))
            + weight(6) * self.last_changed_feature(page)
            + weight(7) * f32::from(self.records.visits(page).min(20)) / 10.0
            + weight(9) * fast
            + weight(10) * slow;
        let class = (((constant - CLASS_LOWEST) / CLASS_STEP).max(0.0) as u16).min(CLASSES - 1);
        class * IMPORTANCE_CLASSES + self.worth_class(catalogue, page)
    }

    /// Learns from a visit everything that does not need the final clocks. Returns the visit and the exposure
    /// that was predicted.
    pub(super) fn observe(&mut self, page: u32, time: Moment, changed: bool) -> (Visit, f32) {
        let (number, last) = (page as usize, self.records.last(page as usize));
        let View { example, times } = self.view(number, time);
        let exposure = self.calibration.exposure(&example);
        self.calibration.hear(&example, exposure, changed);
        if !self.records.is_told(number) && !self.records.is_confirmed(number) {
            self.reported.hear(&example, changed);
        }
        let fresh_time = fresh_time_expected(exposure, times.clock);
        self.fresh_time += FRESH_TIME_FOLLOWS * (fresh_time - self.fresh_time);
        let (group, site) = (self.group_of(number), self.site_of(number));
        let rate = self.posterior(number).mean();
        self.clocks.observe(&Evidence { group, site, last, time, rate, changed });
        let visit =
            Visit { page, last, time, changed, gone: false, prompted: false, changed_at: Moment::START };
        (visit, exposure)
    }

    /// Folds a visit into its page, with the final clocks, and the page's new statistics into its group.
    pub(super) fn fold(&mut self, visit: &Visit) {
        let page = visit.page as usize;
        let (group, site) = (self.group_of(page), self.site_of(page));
        let before = self.records.statistics(page);
        let after = if visit.gone {
            (0.0, 0.0)
        } else {
            let discount = DISCOUNT.powf(visit.time.since(visit.last));
            let clock_time = self.clocks.group_time(group, visit.last, visit.time).max(CLOCK_TIME_MIN);
            if visit.prompted {
                // Every change is signalled, so it is counted and not estimated.
                let changes = before.0 * discount + f32::from(u8::from(visit.changed));
                (changes, before.1 * discount + clock_time)
            } else {
                let until_change = |changed: Moment| self.clocks.group_time(group, visit.last, changed);
                let finding = match (visit.changed, visit.changed_at) {
                    (false, _) => Finding::Unchanged,
                    (true, Moment::START) => Finding::Changed,
                    (true, changed) => Finding::ChangedAt(until_change(changed)),
                };
                after_visit(before, self.posterior(page), clock_time, discount, finding)
            }
        };
        self.records.set_statistics(page, after);
        // Read back as stored, so that the sums of the group remain those of its pages.
        let after = self.records.statistics(page);
        self.rates.add(group, site, after.0 - before.0, after.1 - before.1);
    }

    /// Removes a page from the page counts.
    pub(super) fn count_out(&mut self, page: usize) {
        let site = self.site_of(page);
        self.pages_of_site[site] -= 1;
        self.pages_alive -= 1;
    }

    #[inline]
    fn last_changed_feature(&self, page: usize) -> f32 {
        self.records.last_changed(page).map_or(0.0, |changed| if changed { 0.7 } else { -0.3 })
    }

    /// The importance of a page over the cost of a visit.
    #[inline]
    fn worth(&self, catalogue: &Catalogue, page: usize) -> f32 {
        let page = PageId(page as u32);
        match self.objective {
            Objective::Changes => catalogue.cost(page).recip(),
            _ => catalogue.importance(page) / catalogue.cost(page),
        }
    }

    fn worth_class(&self, catalogue: &Catalogue, page: usize) -> u16 {
        let step = 0.5 * self.worth(catalogue, page).max(1e-9).log2();
        let classes = i32::from(IMPORTANCE_CLASSES);
        (step.floor() as i32 + classes / 2).clamp(0, classes - 1) as u16
    }
}
