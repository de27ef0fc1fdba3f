//! The local copies: what is held, and what a visit finds.
//!
//! The copy of a deleted page is out of date from the deletion until a visit finds it. Then it is no longer
//! held.
//!
//! # Promises
//! - A visit at the exact moment of a change sees it.

use freshet_partition::policy::Outcome;

use super::stage::Stage;
use super::timeline::Timeline;

/// The copies held, by page of the stage.
#[derive(Debug)]
pub struct Copies<'a> {
    stage: &'a Stage<'a>,
    /// Index of the first change of each page that its copy does not include.
    next_change: Vec<u32>,
    held: Vec<bool>,
    held_count: usize,
    timeline: Timeline,
}

/// Result of a visit, with whether the copy was out of date.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Finding {
    /// The outcome that the policy receives.
    pub outcome: Outcome,
    /// Whether the visit found a change. A second visit to a deleted page finds none.
    pub found: bool,
}

impl<'a> Copies<'a> {
    /// No copies yet. Time will advance in `intervals` steps of `interval` days.
    pub fn new(stage: &'a Stage<'a>, interval: f64, intervals: usize) -> Self {
        let pages = stage.pages();
        Self {
            stage,
            next_change: vec![0; pages],
            held: vec![false; pages],
            held_count: 0,
            timeline: Timeline::new(interval, intervals),
        }
    }

    /// Takes the first copy of a page, which must exist.
    pub fn discover(&mut self, page: usize) {
        self.held[page] = true;
        self.held_count += 1;
    }

    /// Compares the copy with the page and brings it up to date. `now` is the end of the first `step`
    /// intervals.
    pub fn visit(&mut self, page: usize, now: f64, step: usize) -> Finding {
        let gone = self.stage.died(page) <= now;
        if !self.held[page] {
            return Finding { outcome: Outcome::Gone, found: false };
        }
        let stale_since = self.stale_since(page);
        let found = stale_since <= now;
        if found {
            self.timeline.add_stale(stale_since, step);
        }
        if gone {
            self.held[page] = false;
            self.held_count -= 1;
            return Finding { outcome: Outcome::Gone, found };
        }
        if found {
            let changes = &self.stage.changes(page)[self.next_change[page] as usize..];
            self.next_change[page] += changes.partition_point(|time| *time <= now) as u32;
        }
        Finding { outcome: if found { Outcome::Changed } else { Outcome::Unchanged }, found }
    }

    /// Starts an interval. All visits of this moment must be over.
    pub fn begin_interval(&mut self) {
        self.timeline.begin_interval(self.held_count);
    }

    /// Computes freshness and age of all copies, after all visits and `steps` intervals.
    pub fn finish(mut self, steps: usize) -> Timeline {
        for page in 0..self.held.len() {
            let stale_since = self.stale_since(page);
            if self.held[page] && stale_since.is_finite() {
                self.timeline.add_stale(stale_since, steps);
            }
        }
        self.timeline
    }

    /// When the copy went, or will go, out of date.
    fn stale_since(&self, page: usize) -> f64 {
        let change = self.stage.changes(page).get(self.next_change[page] as usize);
        change.copied().unwrap_or(f64::INFINITY).min(self.stage.died(page))
    }
}

#[cfg(test)]
mod tests {
    use super::super::stage::tests::setting;
    use super::*;
    use crate::history::world::tests::world_of;

    #[test]
    fn a_visit_finds_a_change_once() {
        let world = world_of(50.0, &[("/a", 0.0, 35.0, &[5.0, 7.0, 20.0])]);
        let stage = Stage::new(&world, setting(10.0, 1.0)).expect("a stage");
        let mut copies = Copies::new(&stage, 10.0, 5);
        copies.discover(0);
        let mut findings = Vec::new();
        for step in 0..=5 {
            if step > 0 {
                let finding = copies.visit(0, step as f64 * 10.0, step);
                findings.push((finding.outcome, finding.found));
            }
            if step < 5 {
                copies.begin_interval();
            }
        }
        let expected = [
            (Outcome::Changed, true),
            (Outcome::Changed, true),
            (Outcome::Unchanged, false),
            (Outcome::Gone, true),
            (Outcome::Gone, false),
        ];
        assert_eq!(findings, expected);
        let qualities = copies.finish(5).qualities();
        let freshness: Vec<_> =
            qualities.iter().map(|quality| quality.map(|quality| quality.freshness)).collect();
        assert_eq!(freshness, [Some(0.5), Some(1.0), Some(1.0), Some(0.5), None]);
    }
}
