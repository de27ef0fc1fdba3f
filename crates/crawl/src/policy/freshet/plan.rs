//! The plan: pages taken out of their cells, from which the best are chosen.
//!
//! Scoring every page in every batch would cost a sort of the Web. Instead all pages whose index reaches a level are taken out of
//! their cells once, each cell from its head on; the best of them are chosen, batch after batch; and what was not chosen is
//! put back in its order. Pages of groups whose clocks have moved are weighed again.
//!
//! # Promises
//! - Every page whose index reaches [`Plan::level`] is in the plan, as far as heads are the best of their cells.
//! - What is not chosen is put back where it was.

use super::cells::Cells;
use super::model::Model;
use super::records::Place;
use crate::policy::catalogue::Catalogue;

/// No page: it was visited or has left since it was taken.
const NONE: u32 = u32::MAX;

/// Ticks of clock time by which a group's clock must have moved for its pages to be weighed again within a cycle.
const CLOCK_MOVED: f32 = 0.25;

/// Index of a page that is to be visited whatever it is worth.
const ANY_INDEX: f32 = f32::INFINITY;

/// The pages of the plan.
#[derive(Debug)]
pub(super) struct Plan {
    /// In the order of taking.
    candidates: Vec<Candidate>,
    /// Candidates that may be chosen, with their index.
    waiting: Vec<Waiting>,
    /// Clock of each group when its pages were last weighed.
    clock_seen: Vec<f32>,
    level: f32,
}

/// A page taken out of its cell.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    page: u32,
    group: u32,
    class: u16,
}

/// A candidate that may be chosen.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    index: f32,
    candidate: u32,
}

impl Plan {
    /// Nothing is planned.
    pub(super) fn new() -> Self {
        Self { candidates: Vec::new(), waiting: Vec::new(), clock_seen: Vec::new(), level: f32::INFINITY }
    }

    /// Makes room for groups.
    pub(super) fn grow(&mut self, groups: usize) {
        self.clock_seen.resize(groups, 0.0);
    }

    /// All pages whose index reaches this are in the plan.
    pub(super) fn level(&self) -> f32 {
        self.level
    }

    /// Pages that may be chosen.
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Takes the pages of a group whose index reaches `level` out of their cells.
    pub(super) fn gather(&mut self, from: &mut Source<'_>, group: usize, level: f32) {
        for cell in 0..from.cells.of_group(group) {
            while let Some((page, class)) = from.cells.head(group, cell) {
                let view = from.model.view(page as usize, from.model.now);
                let standing = from.model.standing(from.catalogue, page as usize, &view);
                let plain = from.model.index(&standing);
                if plain < level {
                    break;
                }
                from.cells.pop(group, cell);
                let index = from.model.drawn_index(page, standing, plain);
                self.add(from, page, group, class, index);
            }
        }
        self.clock_seen[group] = from.model.clocks.group_clock(group);
    }

    /// Takes the pages of all groups whose index reaches `level`.
    pub(super) fn gather_all(&mut self, from: &mut Source<'_>, level: f32) {
        for group in 0..self.clock_seen.len() {
            self.gather(from, group, level);
        }
        self.level = level;
    }

    /// Takes one page out of its cell, to be visited whatever it is worth.
    pub(super) fn add_in_any_case(&mut self, from: &mut Source<'_>, page: u32, class: u16) {
        let group = from.model.group_of(page as usize);
        from.cells.remove(group, page);
        self.add(from, page, group, class, ANY_INDEX);
    }

    fn add(&mut self, from: &mut Source<'_>, page: u32, group: usize, class: u16, index: f32) {
        from.model.records.set_place(page as usize, Place::Planned);
        if !from.is_closed(page) {
            self.waiting.push(Waiting { index, candidate: self.candidates.len() as u32 });
        }
        self.candidates.push(Candidate { page, group: group as u32, class });
    }

    /// Weighs again what belongs to groups whose clocks have moved since they were weighed.
    pub(super) fn follow_clocks(&mut self, from: &mut Source<'_>) {
        let moved = |clock_seen: &[f32], model: &Model, group: usize| {
            (model.clocks.group_clock(group) - clock_seen[group]).abs() > CLOCK_MOVED
        };
        for waiting in &mut self.waiting {
            let Candidate { page, group, .. } = self.candidates[waiting.candidate as usize];
            if page != NONE && moved(&self.clock_seen, from.model, group as usize) {
                let view = from.model.view(page as usize, from.model.now);
                let standing = from.model.standing(from.catalogue, page as usize, &view);
                let plain = from.model.index(&standing);
                waiting.index = from.model.drawn_index(page, standing, plain);
            }
        }
        for group in 0..self.clock_seen.len() {
            if moved(&self.clock_seen, from.model, group) {
                self.gather(from, group, self.level);
            }
        }
    }

    /// The `n`-th largest index of those that may be chosen; 0 when there are fewer.
    pub(super) fn nth_largest(&mut self, n: usize) -> f32 {
        if n == 0 || self.waiting.len() < n {
            return 0.0;
        }
        self.waiting.select_nth_unstable_by(n - 1, |a, b| b.index.total_cmp(&a.index)).1.index
    }

    /// Puts the best last, for [`Plan::take_last`].
    pub(super) fn sort(&mut self) {
        self.waiting
            .sort_unstable_by(|a, b| a.index.total_cmp(&b.index).then_with(|| b.candidate.cmp(&a.candidate)));
    }

    /// Chooses the best `quota` pages for which `takes` holds; what it refuses stays.
    pub(super) fn take_best(
        &mut self,
        model: &mut Model,
        quota: usize,
        mut takes: impl FnMut(&Model, u32) -> bool,
        chosen: &mut Vec<u32>,
    ) {
        if quota == 0 {
            return;
        }
        if self.waiting.len() > quota {
            self.waiting.select_nth_unstable_by(quota - 1, |a, b| b.index.total_cmp(&a.index));
        }
        let mut place = 0;
        self.waiting.retain(|waiting| {
            place += 1;
            place > quota || !hand_out(&self.candidates, *waiting, model, &mut takes, chosen)
        });
    }

    /// Chooses pages from the end, best first, for which `takes` holds; at most `quota`, and looks at no more than `looks`.
    pub(super) fn take_last(
        &mut self,
        model: &mut Model,
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
            if !hand_out(&self.candidates, waiting, model, &mut takes, chosen) {
                refused.push(waiting);
            }
        }
        self.waiting.extend(refused.into_iter().rev());
    }

    /// Sets aside what may not be chosen now; to be given back with [`Plan::readmit`].
    pub(super) fn set_aside(&mut self, may: impl Fn(u32) -> bool) -> Aside {
        let candidates = &self.candidates;
        Aside(
            self.waiting
                .extract_if(.., |waiting| !may(candidates[waiting.candidate as usize].page))
                .collect(),
        )
    }

    /// Gives back what was set aside.
    pub(super) fn readmit(&mut self, aside: Aside) {
        self.waiting.extend(aside.0);
    }

    /// Drops pages that were visited or have left, though they were not chosen.
    pub(super) fn forget(&mut self, is_forgotten: impl Fn(u32) -> bool) {
        for candidate in &mut self.candidates {
            if candidate.page != NONE && is_forgotten(candidate.page) {
                candidate.page = NONE;
            }
        }
        self.waiting.retain(|waiting| self.candidates[waiting.candidate as usize].page != NONE);
    }

    /// Puts what was not chosen back, last first, so that every cell has its order again.
    pub(super) fn put_back(&mut self, cells: &mut Cells, model: &mut Model) {
        for Candidate { page, group, class } in self.candidates.drain(..).rev() {
            if page != NONE && model.records.place(page as usize) == Place::Planned {
                model.records.set_place(page as usize, Place::Queued);
                let records = &model.records;
                let is_older = |other: u32| records[other as usize].last < records[page as usize].last;
                cells.put_back(group as usize, class, page, is_older);
            }
        }
        self.waiting.clear();
        self.level = f32::INFINITY;
    }
}

/// Candidates that may not be chosen for now.
pub(super) struct Aside(Vec<Waiting>);

/// Where pages of the plan come from.
pub(super) struct Source<'a> {
    pub(super) catalogue: &'a Catalogue,
    pub(super) model: &'a mut Model,
    pub(super) cells: &'a mut Cells,
    /// Pages that may not be chosen in this cycle; none when empty.
    pub(super) closed: &'a [bool],
}

impl Source<'_> {
    fn is_closed(&self, page: u32) -> bool {
        self.closed.get(page as usize).is_some_and(|closed| *closed)
    }
}

/// Chooses a candidate if it can be taken. What was visited or has left in the meantime counts as chosen.
fn hand_out(
    candidates: &[Candidate],
    waiting: Waiting,
    model: &mut Model,
    takes: &mut impl FnMut(&Model, u32) -> bool,
    chosen: &mut Vec<u32>,
) -> bool {
    let page = candidates[waiting.candidate as usize].page;
    if page == NONE || model.records.place(page as usize) != Place::Planned {
        return true;
    }
    if !takes(model, page) {
        return false;
    }
    model.records.set_place(page as usize, Place::Out);
    chosen.push(page);
    true
}
