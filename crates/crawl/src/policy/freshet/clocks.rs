//! Clocks: how fast a directory, a site and the whole web are changing, tick by tick.
//!
//! This is the sampling part of the policy. A tick is a download cycle. Each group has a clock whose tick heights have mean one
//! and rise when samples show activity; the heights of a directory lean on those of its site, and these on those of all:
//!
//! > h_all = (50 + num)/(50 + den), h_site = (2 h_all + num)/(2 + den), h_dir = (½ h_site + num)/(½ + den)
//!
//! where `den` sums the rates θ of the pages that were observed over the tick and `num` the changes that they are expected to have
//! had in it, given what was seen (online EM). The clock time since a visit, `H(now) − H(last)`, replaces wall time
//! in the page's model.
//!
//! # Promises
//! - With nothing observed every clock runs at speed one.
//! - Only the last `window` ticks are kept; before them a clock counts as having run at speed one.

/// Weight of "speed one" in the clock of all pages, in expected changes.
const SHRINKAGE_ALL: f32 = 50.0;
/// Weight of the clock of all pages in a site's.
const SHRINKAGE_SITE: f32 = 2.0;
/// Weight of a site's clock in a directory's.
const SHRINKAGE_GROUP: f32 = 0.5;

/// What one visit says about the ticks since the visit before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Evidence {
    /// The group of the page.
    pub(super) group: usize,
    /// The site of the group.
    pub(super) site: usize,
    /// Tick of the visit before.
    pub(super) last: u32,
    /// Posterior mean of the page's rate, in changes per tick of a clock of speed one.
    pub(super) rate: f32,
    /// Whether it had changed.
    pub(super) changed: bool,
}

/// The clocks of all levels.
#[derive(Debug)]
pub(super) struct Clocks {
    window: u32,
    now: u32,
    all: Level,
    sites: Level,
    groups: Level,
    site_of_group: Vec<u32>,
}

/// The clocks of one level, each a row of `window` slots; a tick stands in the slot `tick % window`.
#[derive(Debug, Default)]
struct Level {
    num: Vec<f32>,
    den: Vec<f32>,
    /// Sum of the heights from the oldest tick of the window up to this one.
    cumulated: Vec<f32>,
}

impl Clocks {
    /// Clocks that keep `window` ticks. Panics when that is none.
    pub(super) fn new(window: u32) -> Self {
        assert!(window > 0);
        let mut clocks = Self {
            window,
            now: 0,
            all: Level::default(),
            sites: Level::default(),
            groups: Level::default(),
            site_of_group: Vec::new(),
        };
        clocks.all.grow(1, window);
        clocks
    }

    /// Adds clocks for new groups; `site_of_group` names the site of every group, old and new.
    pub(super) fn grow(&mut self, sites: usize, site_of_group: &[u32]) {
        self.sites.grow(sites, self.window);
        self.groups.grow(site_of_group.len(), self.window);
        self.site_of_group.clear();
        self.site_of_group.extend_from_slice(site_of_group);
    }

    /// The current tick.
    pub(super) fn now(&self) -> u32 {
        self.now
    }

    /// Begins the next tick.
    pub(super) fn tick(&mut self) {
        self.now += 1;
        let slot = (self.now % self.window) as usize;
        for level in [&mut self.all, &mut self.sites, &mut self.groups] {
            level.clear(slot, self.window);
        }
        self.settle();
    }

    /// Recomputes all heights from what was observed, from the top down.
    pub(super) fn settle(&mut self) {
        let window = self.window as usize;
        let oldest = (self.now as usize + 1) % window;
        self.all.cumulate_row(0, window, oldest, SHRINKAGE_ALL, None);
        for site in 0..self.sites.rows(window) {
            self.sites.cumulate_row(
                site,
                window,
                oldest,
                SHRINKAGE_SITE,
                Some(&self.all.cumulated[..window]),
            );
        }
        for (group, site) in self.site_of_group.iter().enumerate() {
            let parent = *site as usize * window;
            let parent = &self.sites.cumulated[parent..parent + window];
            self.groups.cumulate_row(group, window, oldest, SHRINKAGE_GROUP, Some(parent));
        }
    }

    /// What a group's clock shows, counted from the oldest tick of the window.
    pub(super) fn group_clock(&self, group: usize) -> f32 {
        self.groups.cumulated_at(group, self.now, self.now, self.window)
    }

    /// Clock time of a group since the tick `last`.
    pub(super) fn group_time_since(&self, group: usize, last: u32) -> f32 {
        self.groups.time_since(group, last, self.now, self.window)
    }

    /// Clock time of a site since the tick `last`.
    pub(super) fn site_time_since(&self, site: usize, last: u32) -> f32 {
        self.sites.time_since(site, last, self.now, self.window)
    }

    /// Takes the evidence of one visit into the clocks of its group, its site and all. The heights follow at the next
    /// [`Clocks::settle`].
    pub(super) fn absorb(&mut self, evidence: &Evidence) {
        let window = self.window as usize;
        let expected = evidence.rate * self.group_time_since(evidence.group, evidence.last);
        // Times the height of a tick: the changes expected in it, given at least one since the last visit.
        let changes_per_height =
            if evidence.changed { evidence.rate / -(-expected.max(1e-9)).exp_m1() } else { 0.0 };
        let mut before = self.groups.cumulated_at(evidence.group, evidence.last, self.now, self.window);
        for tick in self.first_tick_after(evidence.last)..=self.now {
            let slot = tick as usize % window;
            let upto = self.groups.cumulated[evidence.group * window + slot];
            let changes = changes_per_height * (upto - before);
            before = upto;
            self.groups.add(evidence.group * window + slot, changes, evidence.rate);
            self.sites.add(evidence.site * window + slot, changes, evidence.rate);
            self.all.add(slot, changes, evidence.rate);
        }
    }

    /// The first tick after `last` that is still in the window.
    fn first_tick_after(&self, last: u32) -> u32 {
        (last + 1).max((self.now + 1).saturating_sub(self.window))
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

    fn rows(&self, window: usize) -> usize {
        self.num.len() / window
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

    /// Sums the heights of one row, oldest tick first; without a parent the height to lean on is one.
    fn cumulate_row(
        &mut self,
        row: usize,
        window: usize,
        oldest: usize,
        shrinkage: f32,
        parent: Option<&[f32]>,
    ) {
        let cells = row * window..(row + 1) * window;
        let (num, den) = (&self.num[cells.clone()], &self.den[cells.clone()]);
        let cumulated = &mut self.cumulated[cells];
        let (mut sum, mut parent_before) = (0.0, 0.0);
        for slot in (oldest..window).chain(0..oldest) {
            let lean = parent.map_or(1.0, |parent| {
                let height = parent[slot] - parent_before;
                parent_before = parent[slot];
                height
            });
            sum += (shrinkage * lean + num[slot]) / (shrinkage + den[slot]);
            cumulated[slot] = sum;
        }
    }

    /// The cumulated height at a tick: 0 at the edge of the window, below 0 before it.
    fn cumulated_at(&self, row: usize, tick: u32, now: u32, window: u32) -> f32 {
        let age = now - tick;
        if age < window {
            self.cumulated[row * window as usize + (tick % window) as usize]
        } else {
            -((age - window) as f32)
        }
    }

    fn time_since(&self, row: usize, last: u32, now: u32, window: u32) -> f32 {
        self.cumulated_at(row, now, now, window) - self.cumulated_at(row, last, now, window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clocks(window: u32, ticks: u32) -> Clocks {
        let mut clocks = Clocks::new(window);
        clocks.grow(2, &[0, 0, 1]);
        for _ in 0..ticks {
            clocks.tick();
        }
        clocks
    }

    fn evidence(last: u32, changed: bool) -> Evidence {
        Evidence { group: 0, site: 0, last, rate: 0.5, changed }
    }

    #[test]
    fn unobserved_clocks_run_at_speed_one() {
        let clocks = clocks(10, 25);
        for last in [0, 3, 14, 15, 16, 20, 25] {
            let time = clocks.group_time_since(1, last);
            assert!((time - (25 - last) as f32).abs() < 1e-4, "{last}: {time}");
        }
    }

    #[test]
    fn changes_speed_up_the_group_most_then_its_site_then_all() {
        let mut clocks = clocks(10, 3);
        for _ in 0..20 {
            clocks.absorb(&evidence(2, true));
        }
        clocks.settle();
        let group = clocks.group_time_since(0, 2);
        let sibling = clocks.group_time_since(1, 2);
        let stranger = clocks.group_time_since(2, 2);
        assert!(group > sibling, "{group} {sibling}");
        assert!(sibling > stranger, "{sibling} {stranger}");
        assert!(stranger > 1.0, "{stranger}");
    }

    #[test]
    fn unchanged_samples_slow_the_clock_down() {
        let mut clocks = clocks(10, 5);
        clocks.absorb(&evidence(0, false));
        clocks.settle();
        assert!(clocks.group_time_since(0, 0) < 5.0);
    }

    #[test]
    fn what_leaves_the_window_is_forgotten() {
        let mut clocks = clocks(4, 4);
        clocks.absorb(&evidence(0, true));
        for _ in 0..4 {
            clocks.tick();
        }
        assert!((clocks.group_time_since(0, 4) - 4.0).abs() < 1e-5);
    }
}
