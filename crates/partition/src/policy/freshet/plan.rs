//! The plan: the pages with a high enough index, from which the best are chosen.
//!
//! Scoring every page in every batch would cost a sort of the Web. Instead the cells are walked once, each
//! from its head as far as its index may reach a level. Pages whose drawn index reaches it are planned, and
//! the best of them are chosen, batch after batch. Groups whose clocks have moved are walked and scored
//! again. A planned page stays in its cell until it is chosen.
//!
//! In a cycle the plan is ordered by group, and pages are chosen in this order: the data of a group is
//! contiguous in memory, and with many pages memory access dominates the cost. So the best pages are found by
//! a level that they reach, not by a sort.
//!
//! # Promises
//! - Every page whose drawn index reaches [`Plan::level`] is in the plan, as far as the index falls along a
//!   queue and no draw raises it more than [`THOMPSON_REACH`] times.
//! - A page that is not chosen keeps its place.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::cells::Cells;
use super::index::Standing;
use super::model::{LastTimes, Model};
use super::records::Place;
use super::thompson;
use crate::policy::catalogue::Catalogue;

/// A group's pages are scored again within a cycle when its clock time has changed by this part of the mean
/// time between visits: half the width of a class.
const CLOCK_MOVED: f32 = 0.1;

/// A page whose index would have to be multiplied by more than this to reach the level is skipped. The
/// Thompson factor exceeds it once in 400 draws.
const THOMPSON_REACH: f32 = 3.0;

/// The constant parts of the index of a cell's pages differ at most by this factor.
const CLASS_WIDTH: f32 = 1.22;

/// Pages of a queue that are skipped before one is scored again, to see how far the index has fallen.
const PASSED_MAX: usize = 16;

/// A plan reaches down to this part of the threshold, because batches move the threshold a little.
pub(super) const PLAN_SLACK: f32 = 0.9;

/// Index of a page that is visited regardless of what the visit is worth.
const ANY_INDEX: f32 = f32::INFINITY;

/// The pages of the plan.
#[derive(Debug)]
pub(super) struct Plan {
    /// Pages that may be chosen: ordered by group, until they are sorted for the steady form.
    waiting: Vec<Waiting>,
    /// Recent clock time of each group when its pages were last scored.
    clock_seen: Vec<f32>,
    /// Mean number of ticks between two visits to a page. What lies further back matters little.
    visit_interval: f32,
    /// Whether the clock of each group has moved since.
    has_moved: Vec<bool>,
    level: f32,
}

/// A page that may be chosen.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    index: f32,
    page: u32,
    group: u32,
}

impl Plan {
    /// An empty plan.
    pub(super) fn new() -> Self {
        Self {
            waiting: Vec::new(),
            clock_seen: Vec::new(),
            has_moved: Vec::new(),
            visit_interval: 1.0,
            level: f32::INFINITY,
        }
    }

    /// Makes room for groups.
    pub(super) fn grow(&mut self, groups: usize) {
        self.clock_seen.resize(groups, 0.0);
    }

    /// All pages whose drawn index reaches this level are in the plan.
    pub(super) fn level(&self) -> f32 {
        self.level
    }

    /// Number of pages that may be chosen.
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Sets the mean number of ticks between two visits to a page.
    pub(super) fn set_visit_interval(&mut self, ticks: f32) {
        self.visit_interval = ticks;
    }

    /// Adds the pages of all groups whose drawn index reaches `level`.
    pub(super) fn gather_all(&mut self, from: &mut Source<'_>, level: f32) {
        for group in 0..self.clock_seen.len() {
            self.gather(from, group, level);
        }
        self.order_by_group();
        self.level = level;
    }

    /// Orders the plan by group. New pages come last and are in order themselves, so this is one pass.
    fn order_by_group(&mut self) {
        self.waiting.sort_by_key(|waiting| waiting.group);
    }

    /// Adds the pages of a group whose drawn index reaches `level`.
    fn gather(&mut self, from: &mut Source<'_>, group: usize, level: f32) {
        let first = self.waiting.len();
        from.look().walk(group, level, |page, index| {
            self.waiting.push(Waiting { index, page, group: group as u32 });
            level
        });
        for waiting in &self.waiting[first..] {
            from.model.records.set_place(waiting.page as usize, Place::Planned);
        }
        self.clock_seen[group] = self.recent_time(from.model, group);
    }

    fn recent_time(&self, model: &Model, group: usize) -> f32 {
        model.clocks.recent_time(group, self.visit_interval.ceil() as u32)
    }

    /// Adds a page that is in its cell, to be visited regardless of its index.
    pub(super) fn add_in_any_case(&mut self, from: &mut Source<'_>, page: u32) {
        from.model.records.set_place(page as usize, Place::Planned);
        let group = from.model.group_of(page as usize) as u32;
        self.waiting.push(Waiting { index: ANY_INDEX, page, group });
    }

    /// The best planned pages of each site, as many as its quota. Reduces the quotas by the number found.
    pub(super) fn best_of_sites(&self, site_of_group: &[u32], quotas: &mut [u32]) -> Vec<Planned> {
        // A heap with the worst of the best on top; of equals the one that was planned last.
        type Worst = Reverse<(Ordered, Reverse<u32>)>;
        let mut best: Vec<BinaryHeap<Worst>> = Vec::new();
        best.resize_with(quotas.len(), BinaryHeap::new);
        for (place, waiting) in self.waiting.iter().enumerate() {
            let site = site_of_group[waiting.group as usize] as usize;
            let candidate = Reverse((Ordered(waiting.index), Reverse(place as u32)));
            if best[site].len() < quotas[site] as usize {
                best[site].push(candidate);
            } else if let Some(mut worst) = best[site].peek_mut().filter(|worst| candidate < **worst) {
                *worst = candidate;
            }
        }
        for (quota, best) in quotas.iter_mut().zip(&best) {
            *quota -= best.len() as u32;
        }
        let places = best.into_iter().flatten().map(|Reverse((_, Reverse(place)))| place);
        places.map(|place| Planned { page: self.waiting[place as usize].page, place }).collect()
    }

    /// Marks a planned page to be visited regardless of its index. No page may have been chosen since
    /// `planned` was returned.
    pub(super) fn want_in_any_case(&mut self, planned: Planned) {
        self.waiting[planned.place as usize].index = ANY_INDEX;
    }

    /// Rescores the pages of groups whose clocks have moved. Only the best `enough` pages will be needed.
    pub(super) fn follow_clocks(&mut self, from: &mut Source<'_>, enough: usize) {
        let least = CLOCK_MOVED * self.visit_interval;
        let mut has_moved = std::mem::take(&mut self.has_moved);
        has_moved.clear();
        has_moved.extend(
            self.clock_seen
                .iter()
                .enumerate()
                .map(|(group, seen)| (self.recent_time(from.model, group) - seen).abs() > least),
        );
        let mut times = LastTimes::default();
        for waiting in &mut self.waiting {
            if has_moved[waiting.group as usize] && waiting.index != ANY_INDEX {
                waiting.index = from.look().drawn_index(waiting.page, &mut times);
            }
        }
        self.raise_level(from.model, enough);
        for (group, _) in has_moved.iter().enumerate().filter(|(_, has_moved)| **has_moved) {
            let time = self.recent_time(from.model, group);
            // Where a clock has lost time, pages below the level have fallen further.
            if time > self.clock_seen[group] {
                self.gather(from, group, self.level);
            }
            self.clock_seen[group] = time;
        }
        self.has_moved = has_moved;
        self.order_by_group();
    }

    /// Raises the level to what the best `enough` pages reach, with some slack, and removes the pages below
    /// it: they would not be chosen, but rescored again and again.
    fn raise_level(&mut self, model: &mut Model, enough: usize) {
        let level = self.nth_largest(enough) * PLAN_SLACK;
        if level <= self.level || !level.is_finite() {
            return;
        }
        self.level = level;
        self.waiting.retain(|waiting| {
            let stays = waiting.index >= level;
            if !stays {
                release(model, waiting.page);
            }
            stays
        });
        self.waiting.shrink_to(self.waiting.len() + self.waiting.len() / 4);
    }

    /// The `n`-th largest index of the plan; 0 when it has fewer pages.
    pub(super) fn nth_largest(&self, n: usize) -> f32 {
        if n == 0 || self.waiting.len() < n {
            return 0.0;
        }
        let mut indices: Vec<f32> = self.waiting.iter().map(|waiting| waiting.index).collect();
        *indices.select_nth_unstable_by(n - 1, |a, b| b.total_cmp(a)).1
    }

    /// Sorts the best pages last, for [`Plan::take_last`].
    pub(super) fn sort(&mut self) {
        self.waiting.sort_unstable_by(|a, b| a.index.total_cmp(&b.index).then_with(|| b.page.cmp(&a.page)));
    }

    /// Chooses pages that are to be visited regardless of their index: at most `quota`, and only those for
    /// which `takes` holds. The others stay.
    pub(super) fn take_in_any_case(
        &mut self,
        from: &mut Source<'_>,
        quota: usize,
        mut takes: impl FnMut(&Model, u32) -> bool,
        chosen: &mut Vec<u32>,
    ) {
        let end = chosen.len() + quota;
        self.waiting.retain(|waiting| {
            let is_wanted = waiting.index == ANY_INDEX && chosen.len() < end;
            !is_wanted || !from.hand_out(waiting.page, &mut takes, chosen)
        });
    }

    /// Chooses the best `quota` pages for which `takes` holds; the others stay. `least` is the index of the
    /// worst of them.
    pub(super) fn take_best(
        &mut self,
        from: &mut Source<'_>,
        quota: usize,
        least: f32,
        mut takes: impl FnMut(&Model, u32) -> bool,
        chosen: &mut Vec<u32>,
    ) {
        let above = self.waiting.iter().filter(|waiting| waiting.index > least).count();
        let mut as_good_as_least = quota.saturating_sub(above);
        self.waiting.retain(|waiting| {
            let is_among_best = if waiting.index == least {
                let is_wanted = as_good_as_least > 0;
                as_good_as_least -= usize::from(is_wanted);
                is_wanted
            } else {
                waiting.index > least
            };
            !is_among_best || !from.hand_out(waiting.page, &mut takes, chosen)
        });
    }

    /// Chooses pages from the end, best first, for which `takes` holds: at most `quota`, examining at most
    /// `looks` pages.
    pub(super) fn take_last(
        &mut self,
        from: &mut Source<'_>,
        quota: usize,
        looks: usize,
        mut takes: impl FnMut(&Model, u32) -> bool,
        chosen: &mut Vec<u32>,
    ) {
        let mut refused = Vec::new();
        let end = chosen.len() + quota;
        for _ in 0..looks {
            if chosen.len() >= end {
                break;
            }
            let Some(waiting) = self.waiting.pop() else { break };
            if !from.hand_out(waiting.page, &mut takes, chosen) {
                refused.push(waiting);
            }
        }
        self.waiting.extend(refused.into_iter().rev());
    }

    /// Removes the pages that may not be chosen now; to be returned by [`Plan::readmit`].
    pub(super) fn set_aside(&mut self, may: impl Fn(u32) -> bool) -> Aside {
        Aside(self.waiting.extract_if(.., |waiting| !may(waiting.page)).collect())
    }

    /// Returns the pages that were set aside.
    pub(super) fn readmit(&mut self, aside: Aside) {
        self.waiting.extend(aside.0);
    }

    /// Removes pages that were visited or have left without having been chosen.
    pub(super) fn forget(&mut self, is_forgotten: impl Fn(u32) -> bool) {
        self.waiting.retain(|waiting| !is_forgotten(waiting.page));
    }

    /// Ends the plan. Pages that were not chosen stay in their cells.
    pub(super) fn dissolve(&mut self, model: &mut Model) {
        // Frees the memory between cycles.
        for waiting in std::mem::take(&mut self.waiting) {
            release(model, waiting.page);
        }
        self.level = f32::INFINITY;
    }
}

/// Marks a page as no longer planned.
fn release(model: &mut Model, page: u32) {
    if model.records.place(page as usize) == Place::Planned {
        model.records.set_place(page as usize, Place::Queued);
    }
}

/// A float with a total order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ordered(pub(super) f32);

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

/// A planned page and its position in the plan.
#[derive(Clone, Copy, Debug)]
pub(super) struct Planned {
    pub(super) page: u32,
    place: u32,
}

/// Pages that may not be chosen for now.
pub(super) struct Aside(Vec<Waiting>);

/// Where pages of the plan come from.
pub(super) struct Source<'a> {
    pub(super) catalogue: &'a Catalogue,
    pub(super) model: &'a mut Model,
    pub(super) cells: &'a mut Cells,
    /// Pages that may not be chosen in this cycle; empty if all may.
    pub(super) closed: &'a [bool],
}

impl Source<'_> {
    fn look(&self) -> Look<'_> {
        Look { catalogue: self.catalogue, model: self.model, cells: self.cells, closed: self.closed }
    }

    /// Chooses a page if `takes` holds. A page that was visited or has left in the meantime counts as chosen.
    fn hand_out(
        &mut self,
        page: u32,
        takes: &mut impl FnMut(&Model, u32) -> bool,
        chosen: &mut Vec<u32>,
    ) -> bool {
        if self.model.records.place(page as usize) != Place::Planned {
            return true;
        }
        if !takes(self.model, page) {
            return false;
        }
        self.cells.remove(self.model.group_of(page as usize), page);
        self.model.records.set_place(page as usize, Place::Out);
        chosen.push(page);
        true
    }
}

/// Read-only access to the cells.
pub(super) struct Look<'a> {
    pub(super) catalogue: &'a Catalogue,
    pub(super) model: &'a Model,
    pub(super) cells: &'a Cells,
    /// Pages that may not be chosen in this cycle; empty if all may.
    pub(super) closed: &'a [bool],
}

impl Look<'_> {
    /// Walks the cells of a group and calls `found` for queued pages whose drawn index reaches a level.
    /// `found` returns the level for the pages that follow, and may raise it.
    ///
    /// The index without the Thompson factor falls along a queue, and a draw multiplies it by its factor at
    /// most. So most pages are skipped by looking at their draw alone.
    pub(super) fn walk(&self, group: usize, mut level: f32, mut found: impl FnMut(u32, f32) -> f32) {
        let reach = if self.model.draws_thompson() { THOMPSON_REACH } else { CLASS_WIDTH };
        let mut times = LastTimes::default();
        for cell in 0..self.cells.of_group(group) {
            let Some(head) = self.cells.head(group, cell) else { continue };
            // Upper bound of the product behind a page's draw if its index is to reach the level.
            let (mut next, mut product_max, mut passed) = (Some(head), f64::INFINITY, 0);
            while let Some(page) = next {
                next = self.cells.after(page, head);
                if passed < PASSED_MAX && !self.model.is_drawn_below(page, product_max) {
                    passed += 1;
                    continue;
                }
                if !self.may_be_planned(page) {
                    continue;
                }
                passed = 0;
                let standing = self.standing(page, &mut times);
                let plain = self.model.index(&standing);
                if plain * reach < level {
                    break;
                }
                let index = self.model.drawn_index(page, standing);
                if index >= level {
                    level = found(page, index);
                }
                let least = level / (plain * CLASS_WIDTH);
                product_max = if least > 1.0 { thompson::product_max(least) } else { f64::INFINITY };
            }
        }
    }

    /// The index by which a page is chosen.
    pub(super) fn drawn_index(&self, page: u32, times: &mut LastTimes) -> f32 {
        self.model.drawn_index(page, self.standing(page, times))
    }

    fn standing(&self, page: u32, times: &mut LastTimes) -> Standing {
        let view = self.model.view_beside(page as usize, self.model.now, times);
        self.model.standing(self.catalogue, page as usize, &view)
    }

    fn may_be_planned(&self, page: u32) -> bool {
        self.model.records.place(page as usize) == Place::Queued
            && !self.closed.get(page as usize).is_some_and(|closed| *closed)
    }
}
