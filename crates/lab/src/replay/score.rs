//! Scores: measures of a policy's result, as means over cycles and over several runs.
//!
//! - **ChangeRatio** of a cycle (**sample**, section 2.2): downloads that found a change, divided by
//!   downloads allowed. Unused downloads are lost. For a range of cycles: the mean over its cycles.
//! - **weighted ChangeRatio**: the same with the importance of pages.
//! - **freshness** and **age** (thesis, definitions 5.1 to 5.3): averages over time, see [`super::timeline`].
//! - **fairness** (**sample**, section 4.7): of the pages that changed, the fraction that was visited by the
//!   end.
//! - **changes found**: visits that found a change, compared with the changes there were; several changes
//!   between two visits are found once.
//! - **policy time**: seconds per million downloads.

use super::run::{Cycle, Run};
use super::timeline::Quality;

/// A range of cycles, counted from one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Range {
    /// Its first cycle.
    pub first: usize,
    /// Its last cycle. `None` if it has no end.
    pub last: Option<usize>,
}

/// The ranges in which policies are compared: the first cycles, when little is known, and later ones.
pub const RANGES: [Range; 5] = [
    Range { first: 1, last: Some(3) },
    Range { first: 4, last: Some(10) },
    Range { first: 11, last: Some(25) },
    Range { first: 26, last: Some(50) },
    Range { first: 51, last: None },
];

impl Range {
    /// Its name: `4-10`, or `51-` without an end.
    pub fn name(&self) -> String {
        self.last.map_or_else(|| format!("{}-", self.first), |last| format!("{}-{last}", self.first))
    }

    fn of<'a>(&self, cycles: &'a [Cycle]) -> &'a [Cycle] {
        let end = self.last.unwrap_or(cycles.len()).min(cycles.len());
        &cycles[(self.first - 1).min(end)..end]
    }
}

/// A measure by range and over all cycles. A value is missing where there were no downloads, changes or
/// copies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figure {
    /// The value for each of [`RANGES`].
    pub ranges: [Option<f64>; RANGES.len()],
    /// The value over all cycles.
    pub mean: Option<f64>,
}

/// Scores of a policy.
#[derive(Clone, Debug)]
pub struct Score {
    /// Its name.
    pub name: String,
    /// ChangeRatio.
    pub change_ratio: Figure,
    /// Largest minus smallest mean ChangeRatio of the runs.
    pub spread: f64,
    /// ChangeRatio weighted by the importance of pages.
    pub weighted_change_ratio: Figure,
    /// Fraction of the copies that is up to date.
    pub freshness: Figure,
    /// Age in days.
    pub age_days: Figure,
    /// Fairness at the end of each range. Its mean is the value at the end of all cycles.
    pub fairness: Figure,
    /// Number of visits that found a change.
    pub changes_found: f64,
    /// Seconds of policy time per million downloads.
    pub policy_seconds: f64,
}

impl Score {
    /// The mean of several runs of one policy. Panics without runs.
    pub fn of(name: String, runs: &[Run]) -> Self {
        assert!(!runs.is_empty());
        let mean = |value: &dyn Fn(&Run) -> f64| runs.iter().map(value).sum::<f64>() / runs.len() as f64;
        let figure = |value: &dyn Fn(&[Cycle]) -> Option<f64>| mean_figure(runs, value);
        let means = runs.iter().filter_map(|run| change_ratio(&run.cycles));
        let (low, high) = means
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), mean| (low.min(mean), high.max(mean)));
        let downloads = mean(&|run| count(run, |cycle| cycle.downloads));
        let seconds = mean(&|run| run.policy_time.as_secs_f64());
        Self {
            name,
            change_ratio: figure(&change_ratio),
            spread: (high - low).max(0.0),
            weighted_change_ratio: figure(&weighted_change_ratio),
            freshness: figure(&|cycles| quality(cycles).map(|quality| quality.freshness)),
            age_days: figure(&|cycles| quality(cycles).map(|quality| quality.age_days)),
            fairness: figure(&|cycles| cycles.last()?.fairness),
            changes_found: mean(&|run| count(run, |cycle| cycle.found)),
            policy_seconds: if downloads > 0.0 { seconds / downloads * 1e6 } else { 0.0 },
        }
    }
}

fn mean_figure(runs: &[Run], value: &dyn Fn(&[Cycle]) -> Option<f64>) -> Figure {
    let mean = |of: &dyn Fn(&Run) -> Option<f64>| average(runs.iter().filter_map(of));
    Figure {
        ranges: RANGES.map(|range| mean(&|run| value(range.of(&run.cycles)))),
        mean: mean(&|run| value(&run.cycles)),
    }
}

fn count(run: &Run, of: impl Fn(&Cycle) -> usize) -> f64 {
    run.cycles.iter().map(of).sum::<usize>() as f64
}

fn change_ratio(cycles: &[Cycle]) -> Option<f64> {
    let allowed = cycles.iter().filter(|cycle| cycle.allowed > 0);
    average(allowed.map(|cycle| cycle.found as f64 / cycle.allowed as f64))
}

fn weighted_change_ratio(cycles: &[Cycle]) -> Option<f64> {
    let weighty = cycles.iter().filter(|cycle| cycle.importance > 0.0);
    average(weighty.map(|cycle| cycle.importance_found / cycle.importance))
}

fn quality(cycles: &[Cycle]) -> Option<Quality> {
    Quality::mean(cycles.iter().filter_map(|cycle| cycle.quality))
}

fn average(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0u32), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn run(found: &[usize]) -> Run {
        let cycle = |found: &usize| Cycle {
            allowed: 10,
            downloads: 10,
            found: *found,
            importance: 10.0,
            importance_found: *found as f64 / 2.0,
            quality: Some(Quality { freshness: 0.5, age_days: *found as f64 }),
            fairness: Some(*found as f64 / 10.0),
        };
        Run { cycles: found.iter().map(cycle).collect(), policy_time: Duration::from_millis(50) }
    }

    #[test]
    fn ranges_cover_all_cycles_once() {
        let cycles = run(&[0; 60]).cycles;
        assert_eq!(RANGES.map(|range| range.of(&cycles).len()), [3, 7, 15, 25, 10]);
        assert_eq!(RANGES.map(|range| range.of(&cycles[..5]).len()), [3, 2, 0, 0, 0]);
        assert_eq!(RANGES.map(|range| range.name()), ["1-3", "4-10", "11-25", "26-50", "51-"]);
    }

    #[test]
    fn a_score_is_the_mean_over_cycles_and_runs() {
        let score = Score::of("x".to_owned(), &[run(&[1, 2, 3, 6]), run(&[3, 2, 3, 8])]);
        let near = |value: Option<f64>, expected: f64| (value.expect("a value") - expected).abs() < 1e-12;
        assert!(near(score.change_ratio.ranges[0], 14.0 / 60.0));
        assert!(near(score.change_ratio.ranges[1], 0.7));
        assert_eq!(score.change_ratio.ranges[2], None);
        assert!(near(score.change_ratio.mean, 0.35));
        assert!(near(score.weighted_change_ratio.mean, 0.175));
        assert!(near(Some(score.spread), 0.1));
        assert!(near(score.freshness.mean, 0.5) && near(score.age_days.mean, 3.5));
        assert!(near(score.fairness.mean, 0.7));
        assert!(near(Some(score.changes_found), 14.0));
        assert!(near(Some(score.policy_seconds), 1250.0));
    }

    #[test]
    fn cycles_without_downloads_do_not_count() {
        let mut run = run(&[4, 0]);
        run.cycles[1] = Cycle::default();
        let score = Score::of("x".to_owned(), &[run]);
        assert_eq!((score.change_ratio.mean, score.freshness.mean), (Some(0.4), Some(0.5)));
    }
}
