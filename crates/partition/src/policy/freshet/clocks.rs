//! Clocks: how fast a directory, a site and the whole web change relative to their usual speed, per download
//! cycle.
//!
//! This is the sampling part of the policy. A tick is a download cycle. Each group has a clock: one height
//! per tick, 1 at the usual speed and larger when samples show more activity than usual. The heights of a
//! directory are shrunk towards those of its site, and these towards those of all pages:
//!
//! > h_all = (50 + num)/(50 + den), h_site = (2 h_all + num)/(2 + den), h_dir = (½ h_site + num)/(½ + den)
//!
//! where `den` sums the rates θ of the pages that were observed over the tick and `num` the expected number
//! of their changes in it, given what was found (online EM). The clock time since a visit,
//! `H(now) − H(last)`, replaces wall time in the page's model.
//!
//! # Promises
//! - Without observations every clock runs at speed one.
//! - Only the last `window` ticks are kept; before them a clock is assumed to have run at speed one.
//! - Within a tick a clock runs evenly, and after the current tick at speed one.

use super::moments::Moment;

/// Shrinkage of the clock of all pages towards speed one, in expected changes.
const SHRINKAGE_ALL: f32 = 50.0;
/// Shrinkage of a site's clock towards that of all pages, in expected changes.
const SHRINKAGE_SITE: f32 = 2.0;
/// Shrinkage of a directory's clock towards that of its site, in expected changes.
const SHRINKAGE_GROUP: f32 = 0.5;

/// What one visit shows about the ticks since the visit before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Evidence {
    /// The group of the page.
    pub(super) group: usize,
    /// The site of the group.
    pub(super) site: usize,
    /// Time of the visit before.
    pub(super) last: Moment,
    /// Time of this visit.
    pub(super) time: Moment,
    /// Posterior mean of the page's rate, in changes per tick of a clock of speed one.
    pub(super) rate: f32,
    /// Whether the page had changed.
    pub(super) changed: bool,
}

/// The clocks of all levels: how fast each directory, each site and the whole web change relative to their
/// usual speed.
#[derive(Debug)]
pub(super) struct Clocks {
    ring: Ring,
    all: Level,
    sites: Level,
    groups: Level,
    site_of_group: Vec<u32>,
}

/// The ring buffer of ticks: a tick is stored in the slot `tick % window`.
#[derive(Clone, Copy, Debug)]
struct Ring {
    window: u32,
    now: u32,
    /// The slot of the current tick.
    slot: u32,
}

impl Ring {
    fn new(window: u32, now: u32) -> Self {
        Self { window, now, slot: now % window }
    }

    /// The slot of the tick `age` ticks ago. `age` is less than the window.
    fn slot(&self, age: u32) -> usize {
        // Divisions are slow, and this runs for every page that is scored.
        (if age <= self.slot { self.slot - age } else { self.slot + self.window - age }) as usize
    }
}

/// The clocks of one level, each a row of `window` slots.
#[derive(Debug, Default)]
struct Level {
    num: Vec<f32>,
    den: Vec<f32>,
    /// Sum of the heights from the oldest tick of the window up to this one.
    cumulated: Vec<f32>,
}

impl Clocks {
    /// Clocks that keep `window` ticks. Panics when `window` is 0.
    pub(super) fn new(window: u32) -> Self {
        assert!(window > 0);
        let mut clocks = Self {
            ring: Ring::new(window, 0),
            all: Level::default(),
            sites: Level::default(),
            groups: Level::default(),
            site_of_group: Vec::new(),
        };
        clocks.all.grow(1, window);
        clocks
    }

    /// Adds clocks for new groups; `site_of_group` holds the site of every group, old and new. New clocks
    /// start with the heights of those above them. The cost depends on the new groups alone, because a crawl
    /// discovers its pages one by one.
    pub(super) fn grow(&mut self, sites: usize, site_of_group: &[u32]) {
        let window = self.ring.window as usize;
        let oldest = self.ring.slot(self.ring.window - 1);
        let (sites_before, groups_before) = (self.sites.num.len() / window, self.site_of_group.len());
        // Nearly every page belongs to a known group.
        if sites_before == sites && groups_before == site_of_group.len() {
            return;
        }
        self.sites.grow(sites, self.ring.window);
        self.groups.grow(site_of_group.len(), self.ring.window);
        self.site_of_group.extend_from_slice(&site_of_group[groups_before..]);
        let mut all = vec![1.0; window];
        self.all.settle_row(0, oldest, SHRINKAGE_ALL, &mut all);
        for site in sites_before..sites {
            self.sites.settle_row(site, oldest, SHRINKAGE_SITE, &mut all.clone());
        }
        for (group, site) in site_of_group.iter().enumerate().skip(groups_before) {
            let mut heights = all.clone();
            self.sites.settle_row(*site as usize, oldest, SHRINKAGE_SITE, &mut heights);
            self.groups.settle_row(group, oldest, SHRINKAGE_GROUP, &mut heights);
        }
    }

    /// Starts new ticks until `tick` is the current one.
    pub(super) fn advance(&mut self, tick: u32) {
        let Ring { window, now, .. } = self.ring;
        if tick <= now {
            return;
        }
        // Ticks further back than the window are overwritten anyway.
        for begun in now.max(tick.saturating_sub(window)) + 1..=tick {
            for level in [&mut self.all, &mut self.sites, &mut self.groups] {
                level.clear((begun % window) as usize, window);
            }
        }
        self.ring = Ring::new(window, tick);
        self.settle();
    }

    /// Recomputes all heights from the observations, from the top down.
    pub(super) fn settle(&mut self) {
        let window = self.ring.window as usize;
        let oldest = self.ring.slot(self.ring.window - 1);
        let mut all = vec![1.0; window];
        self.all.settle_row(0, oldest, SHRINKAGE_ALL, &mut all);
        let mut sites = vec![0.0; self.sites.num.len()];
        for (site, heights) in sites.chunks_exact_mut(window).enumerate() {
            heights.copy_from_slice(&all);
            self.sites.settle_row(site, oldest, SHRINKAGE_SITE, heights);
        }
        let mut heights = vec![0.0; window];
        for (group, site) in self.site_of_group.iter().enumerate() {
            let site = *site as usize * window;
            heights.copy_from_slice(&sites[site..site + window]);
            self.groups.settle_row(group, oldest, SHRINKAGE_GROUP, &mut heights);
        }
    }

    /// Clock time of a group over the last `ticks`, including the current one.
    pub(super) fn recent_time(&self, group: usize, ticks: u32) -> f32 {
        let now = self.ring.now;
        self.group_time(group, Moment::end_of(now.saturating_sub(ticks)), Moment::end_of(now))
    }

    /// Clock time of a group between two moments.
    pub(super) fn group_time(&self, group: usize, from: Moment, to: Moment) -> f32 {
        self.groups.time(group, from, to, self.ring)
    }

    /// Clock time of a site between two moments.
    pub(super) fn site_time(&self, site: usize, from: Moment, to: Moment) -> f32 {
        self.sites.time(site, from, to, self.ring)
    }

    /// Adds the evidence of one visit to the clocks of its group, its site and all. The heights change at the
    /// next [`Clocks::settle`].
    pub(super) fn observe(&mut self, evidence: &Evidence) {
        let Ring { window, now, .. } = self.ring;
        let window_slots = window as usize;
        let Evidence { group, site, last, time, rate, changed } = *evidence;
        let expected = rate * self.group_time(group, last, time);
        // Times the height of a tick, this is the expected number of changes in it, given at least one since
        // the last visit.
        let changes_per_height = if changed { rate / -(-expected.max(1e-9)).exp_m1() } else { 0.0 };
        let mut from = last.max(Moment::end_of(now.saturating_sub(window)));
        let mut before = self.groups.shown_at(group, from, self.ring);
        while from < time {
            let tick = from.tick() + u32::from(from == Moment::end_of(from.tick()));
            let until = Moment::end_of(tick).min(time);
            let shown = self.groups.shown_at(group, until, self.ring);
            let slot = self.ring.slot(now.saturating_sub(tick));
            let (num, den) = (changes_per_height * (shown - before), rate * until.since(from));
            self.groups.add(group * window_slots + slot, num, den);
            self.sites.add(site * window_slots + slot, num, den);
            self.all.add(slot, num, den);
            (from, before) = (until, shown);
        }
    }
}

impl Level {
    fn grow(&mut self, rows: usize, window: u32) {
        let cells = rows * window as usize;
        assert!(self.num.len() <= cells);
        self.num.resize(cells, 0.0);
        self.den.resize(cells, 0.0);
        self.cumulated.resize(cells, 0.0);
    }

    fn clear(&mut self, slot: usize, window: u32) {
        for cell in (slot..self.num.len()).step_by(window as usize) {
            self.num[cell] = 0.0;
            self.den[cell] = 0.0;
        }
    }

    fn add(&mut self, cell: usize, num: f32, den: f32) {
        self.num[cell] += num;
        self.den[cell] += den;
    }

    /// Recomputes the heights of one row, shrunk towards those given in `heights`, and cumulates them, oldest
    /// tick first.
    fn settle_row(&mut self, row: usize, oldest: usize, shrinkage: f32, heights: &mut [f32]) {
        let window = heights.len();
        let cells = row * window..(row + 1) * window;
        let evidence = self.num[cells.clone()].iter().zip(&self.den[cells.clone()]);
        for (height, (num, den)) in heights.iter_mut().zip(evidence) {
            *height = (shrinkage * *height + num) / (shrinkage + den);
        }
        let cumulated = &mut self.cumulated[cells];
        let mut sum = 0.0;
        for part in [oldest..window, 0..oldest] {
            for (shown, height) in cumulated[part.clone()].iter_mut().zip(&heights[part]) {
                sum += height;
                *shown = sum;
            }
        }
    }

    /// The reading of a clock at a moment: 0 at the start of the window, negative before it.
    fn shown_at(&self, row: usize, moment: Moment, ring: Ring) -> f32 {
        // Nothing has been observed after the current tick: the clock runs on at speed one.
        let (beyond, moment) = (moment.since(Moment::end_of(ring.now)), moment.min(Moment::end_of(ring.now)));
        beyond + self.shown_within(row, moment, ring)
    }

    /// The reading of a clock at a moment that is not after the current tick.
    fn shown_within(&self, row: usize, moment: Moment, ring: Ring) -> f32 {
        let age = ring.now.saturating_sub(moment.tick());
        if age >= ring.window {
            return -Moment::end_of(ring.now - ring.window).since(moment);
        }
        let row = row * ring.window as usize;
        let end = self.cumulated[row + ring.slot(age)];
        let part = moment.part_of_tick();
        if part == 1.0 {
            return end;
        }
        let start = if age + 1 < ring.window { self.cumulated[row + ring.slot(age + 1)] } else { 0.0 };
        end - (1.0 - part) * (end - start)
    }

    fn time(&self, row: usize, from: Moment, to: Moment, ring: Ring) -> f32 {
        self.shown_at(row, to, ring) - self.shown_at(row, from, ring)
    }
}

#[cfg(test)]
mod tests {
    use freshet_theory::units::Days;

    use super::*;

    fn clocks(window: u32, ticks: u32) -> Clocks {
        let mut clocks = Clocks::new(window);
        clocks.grow(2, &[0, 0, 1]);
        clocks.advance(ticks);
        clocks
    }

    fn evidence(last: u32, now: u32, changed: bool) -> Evidence {
        let (last, time) = (Moment::end_of(last), Moment::end_of(now));
        Evidence { group: 0, site: 0, last, time, rate: 0.5, changed }
    }

    fn group_time(clocks: &Clocks, group: usize, last: u32) -> f32 {
        clocks.group_time(group, Moment::end_of(last), Moment::end_of(clocks.ring.now))
    }

    fn moment(ticks: f64) -> Moment {
        Moment::at(Days::new(ticks), Days::new(1.0))
    }

    #[test]
    fn unobserved_clocks_run_at_speed_one() {
        let clocks = clocks(10, 25);
        for last in [0, 3, 14, 15, 16, 20, 25] {
            let time = group_time(&clocks, 1, last);
            assert!((time - (25 - last) as f32).abs() < 1e-4, "{last}: {time}");
        }
    }

    /// Regression: a moment after the current tick (a crawl that stands still) was once read as one within
    /// it.
    #[test]
    fn a_clock_runs_on_after_the_current_tick() {
        let clocks = clocks(10, 25);
        for (from, to) in [(20.0, 25.5), (24.5, 26.0), (24.5, 31.25), (25.0, 60.5), (27.0, 27.5)] {
            let time = clocks.group_time(1, moment(from), moment(to));
            assert!((time - (to - from) as f32).abs() < 1e-2, "{from} {to}: {time}");
        }
    }

    #[test]
    fn changes_speed_up_the_group_most_then_its_site_then_all() {
        let mut clocks = clocks(10, 3);
        for _ in 0..20 {
            clocks.observe(&evidence(2, 3, true));
        }
        clocks.settle();
        let group = group_time(&clocks, 0, 2);
        let sibling = group_time(&clocks, 1, 2);
        let stranger = group_time(&clocks, 2, 2);
        assert!(group > sibling, "{group} {sibling}");
        assert!(sibling > stranger, "{sibling} {stranger}");
        assert!(stranger > 1.0, "{stranger}");
    }

    #[test]
    fn a_clock_that_is_added_runs_as_those_above_it() {
        let mut clocks = clocks(10, 3);
        for _ in 0..20 {
            clocks.observe(&evidence(2, 3, true));
        }
        clocks.grow(3, &[0, 0, 1, 0, 2]);
        let added = [3, 4].map(|group| group_time(&clocks, group, 2));
        clocks.settle();
        assert_eq!(added, [3, 4].map(|group| group_time(&clocks, group, 2)));
        assert_eq!(added[0], group_time(&clocks, 1, 2));
        assert!(added[0] > added[1] && added[1] > 1.0, "{added:?}");
    }

    #[test]
    fn unchanged_samples_slow_the_clock_down() {
        let mut clocks = clocks(10, 5);
        clocks.observe(&evidence(0, 5, false));
        clocks.settle();
        assert!(group_time(&clocks, 0, 0) < 5.0);
    }

    #[test]
    fn what_leaves_the_window_is_forgotten() {
        let mut clocks = clocks(4, 4);
        clocks.observe(&evidence(0, 4, true));
        clocks.advance(8);
        assert!((group_time(&clocks, 0, 4) - 4.0).abs() < 1e-5);
    }

    #[test]
    fn half_a_tick_is_half_its_height_and_half_the_evidence() {
        let mut clocks = clocks(10, 3);
        clocks.observe(&Evidence { last: moment(1.5), time: moment(2.5), ..evidence(0, 0, true) });
        let den = |tick: usize| clocks.groups.den[tick];
        assert!((den(2) - 0.25).abs() < 1e-6 && (den(3) - 0.25).abs() < 1e-6, "{:?}", clocks.groups.den);
        clocks.settle();
        let time = |from: f64, to: f64| clocks.group_time(0, moment(from), moment(to));
        assert!((time(1.0, 2.0) - 2.0 * time(1.0, 1.5)).abs() < 1e-5);
        assert!(time(2.0, 3.0) > 1.0);
    }

    #[test]
    fn a_long_pause_forgets_everything() {
        let mut clocks = clocks(5, 3);
        clocks.observe(&evidence(0, 3, true));
        clocks.advance(1_000_000);
        assert!((group_time(&clocks, 0, 999_000) - 1000.0).abs() < 1e-2);
    }
}
