//! What is believed of every page: its rate, its clocks, what a visit is worth.
//!
//! This joins the parts: the posterior of a page in the clock time of its group, corrected by the calibration, valued by the
//! objective. Nothing here decides.

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

/// Pages that a site must have on average for the Thompson factor to be drawn.
const THOMPSON_PAGES_PER_SITE: f64 = 8.0;
/// Pages that a group must have on average for groups to count as large.
const LARGE_PAGES_PER_GROUP: f64 = 4.0;
/// Pages with which a directory is a group of its own.
pub(super) const GROUP_PAGES_MIN: usize = 4;
/// Ratio between neighbouring classes of the constant part of the index, as a logarithm: 22%.
const CLASS_STEP: f32 = 0.2;
/// ln of the smallest constant part that is told apart.
const CLASS_LOWEST: f32 = -14.0;
/// Classes of the constant part.
const CLASSES: u16 = 90;
/// Classes of importance, each four times the one before.
const IMPORTANCE_CLASSES: u16 = 8;
/// Clock time since a visit counts as at least this, in ticks.
const CLOCK_TIME_MIN: f32 = 1e-3;
/// Wall time since a visit counts as at least this, in ticks.
const WALL_TIME_MIN: f32 = 1e-2;

/// Discount of a page's statistics per tick.
const DISCOUNT: f32 = 0.97;
/// What each visit to a page of which something had told that it had changed leaves of the count of those before: some hundreds are remembered.
const TOLD_MEMORY: f32 = 0.995;
/// What the last visit counts in the average of what visits are good for.
const FRESH_TIME_FOLLOWS: f32 = 0.002;

/// A visit that tells something, to be folded into its page when the clocks of its cycle are final.
#[derive(Clone, Copy, Debug)]
pub(super) struct Visit {
    /// The page.
    pub(super) page: u32,
    /// When it was visited before.
    pub(super) last: Moment,
    /// When it was visited.
    pub(super) time: Moment,
    /// Whether it had changed.
    pub(super) changed: bool,
    /// Whether it is no longer there.
    pub(super) gone: bool,
    /// Whether it was visited because something said that it had changed.
    pub(super) prompted: bool,
    /// When it changed for the last time; [`Moment::START`] if that is not known.
    pub(super) changed_at: Moment,
}

/// A page at a moment: the model's word with its features, and the times since the last visit.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    pub(super) example: Example,
    pub(super) times: Times,
}

/// The times since a visit to a page of a group, with their logarithms: pages of a group that were visited at the same time share them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    pub(super) clock: f32,
    pub(super) site: f32,
    pub(super) wall: f32,
    log_clock: f32,
    log_site: f32,
    log_wall: f32,
    /// What they count in the index.
    worth: f32,
}

/// The times that were last asked for, with the group and the moments that they belong to. It must not outlive a change of the clocks.
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

/// Everything that is believed.
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
    /// Of each site, whether its dates are believed.
    pub(super) dates: Vec<DateTrust>,
    pub(super) now: Moment,
    /// Ticks for which a visit makes a copy fresh that would have been out of date, on average of the last.
    pub(super) fresh_time: f32,
    /// Visits to pages of which something had told that they had changed, the newer ones counting more: those that found it so, and all.
    told: (f32, f32),
    /// Whether exposures are drawn: not where sites are tiny.
    draws_thompson: bool,
    /// What visits are worth, by the size of groups.
    valuation: Valuation,
}

impl Model {
    /// Nothing is known. The clocks remember `window` ticks.
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

    /// Lets time pass. Whether a new tick has begun.
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

    /// What is believed of a page's rate.
    #[inline]
    pub(super) fn posterior(&self, page: usize) -> PagePosterior {
        let group_rate = self.rates.rate(self.group_of(page));
        let (changes, exposure) = self.records.statistics(page);
        PagePosterior::new(changes, exposure, group_rate)
    }

    /// A page at a moment.
    pub(super) fn view(&self, page: usize, time: Moment) -> View {
        self.view_after(page, self.times(self.group_of(page), self.records.last(page), time))
    }

    /// A page at a moment, one of many that are looked at one after another.
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

    /// So much time of a group's clock, of its site's and on the wall; none counts as less than a little.
    pub(super) fn times_of(&self, clock: f32, site: f32, wall: f32) -> Times {
        let (clock, site, wall) =
            (clock.max(CLOCK_TIME_MIN), site.max(CLOCK_TIME_MIN), wall.max(WALL_TIME_MIN));
        let (log_clock, log_site, log_wall) = (ln(clock), ln(site), ln(wall));
        let worth = self.valuation.time_worth(log_clock, log_wall);
        Times { clock, site, wall, log_clock, log_site, log_wall, worth }
    }

    /// A page so much time after its last visit.
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

    /// Changes to expect of a page since its last visit, as it is told: by weights of its own, and by what something has told of it as far as that has proved right.
    /// Neither enters the index, which follows the last visits, and whether a page that is known to have changed is worth a visit is another question.
    pub(super) fn exposure_to_tell(&self, page: usize, view: &View) -> f32 {
        let exposure = if self.records.is_confirmed(page) {
            // Who knows how its pages stand leaves little to correct, and is known by other waits than those that visits end.
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

    /// A visit shows whether what was told of a page is right, which counts for all of which something is told.
    pub(super) fn judge_told(&mut self, page: usize, changed: bool) {
        if self.records.is_told(page) {
            let (right, all) = self.told;
            self.told = (TOLD_MEMORY * right + f32::from(u8::from(changed)), TOLD_MEMORY * all + 1.0);
        }
    }

    /// What is known of a page for its index, given how it is seen.
    #[inline]
    pub(super) fn standing(&self, catalogue: &Catalogue, page: usize, view: &View) -> Standing {
        Standing {
            exposure: self.calibration.exposure(&view.example),
            time_worth: view.times.worth,
            importance: self.worth(catalogue, page),
        }
    }

    /// What a visit is worth.
    #[inline]
    pub(super) fn index(&self, standing: &Standing) -> f32 {
        index(standing, self.valuation)
    }

    /// The factor with which the exposure of a page is drawn in this tick; one where nothing is drawn.
    #[inline]
    fn factor(&self, page: u32) -> f32 {
        if self.draws_thompson { thompson::factor(self.seed, page, self.now.tick()) } else { 1.0 }
    }

    /// The index by which a page is chosen: its exposure drawn anew each tick, ties broken by chance.
    #[inline]
    pub(super) fn drawn_index(&self, page: u32, standing: Standing) -> f32 {
        let drawn = Standing { exposure: standing.exposure * self.factor(page), ..standing };
        self.index(&drawn) * (1.0 + 1e-5 * thompson::tie_break(self.seed, page, self.now.tick()))
    }

    /// Whether exposures are drawn: not where sites are tiny.
    pub(super) fn draws_thompson(&self) -> bool {
        self.draws_thompson
    }

    /// Whether the draw of a page in this tick comes from a product that is at most this. Holds for all where nothing is drawn.
    #[inline]
    pub(super) fn is_drawn_below(&self, page: u32, product_max: f64) -> bool {
        !self.draws_thompson || thompson::product(self.seed, page, self.now.tick()) <= product_max
    }

    /// Decides by the size of sites and groups how pages are weighed.
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

    /// Learns from a visit all but what waits for the final clocks. The exposure is what was expected.
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
                // What is told of each change is counted, not guessed.
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
        // As they were kept, so that the sums of the group stay those of its pages.
        let after = self.records.statistics(page);
        self.rates.add(group, site, after.0 - before.0, after.1 - before.1);
    }

    /// Counts a page out.
    pub(super) fn count_out(&mut self, page: usize) {
        let site = self.site_of(page);
        self.pages_of_site[site] -= 1;
        self.pages_alive -= 1;
    }

    #[inline]
    fn last_changed_feature(&self, page: usize) -> f32 {
        self.records.last_changed(page).map_or(0.0, |changed| if changed { 0.7 } else { -0.3 })
    }

    /// The importance of a page for the cost of a visit.
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
