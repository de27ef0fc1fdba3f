//! Evaluates refresh plans against history: which summaries a metasearcher would have held, week by week
//! (**summary**, section 5.2, Figures 2, 3, 5, 6, 8 and 10).
//!
//! Each database is refreshed at its own interval from the end of training on. Every week the held summary is
//! compared with the current one. A refresh that falls between two weeks takes place in the later one. The
//! result averages several phases, so that no plan profits from lucky days.
//!
//! # Promises
//! - A plan that refreshes every week holds summaries of age zero only.

use super::drift::Drift;
use super::study::MEASURES;

/// Number of phases averaged.
const PHASES: usize = 8;

/// Result of a schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The mean of each of [`MEASURES`] over databases and weeks.
    pub means: Vec<f64>,
    /// Share of weeks and databases whose summary was up to date: its divergence was within the threshold.
    pub up_to_date: f64,
    /// Share of refreshes that found a change beyond the threshold. `None` without a refresh.
    pub precision: Option<f64>,
    /// Refreshes per database and week.
    pub refreshes: f64,
}

/// Simulates refreshing each database at its interval, from week `start` on.
///
/// Panics unless there is an interval above zero for each drift.
pub fn evaluate(drifts: &[Drift], intervals: &[f64], start: usize, threshold: f64) -> Outcome {
    assert_eq!(drifts.len(), intervals.len());
    let mut tally = Tally { sums: vec![(0.0, 0.0); MEASURES.len()], ..Tally::default() };
    for (drift, interval) in drifts.iter().zip(intervals) {
        assert!(0.0 < *interval);
        for phase in 0..PHASES {
            tally.run(drift, *interval, (phase as f64 + 0.5) / PHASES as f64, start, threshold);
        }
    }
    Outcome {
        means: tally.sums.iter().map(|(sum, count)| sum / count).collect(),
        up_to_date: tally.fresh / tally.weeks,
        precision: (tally.refreshes > 0.0).then(|| tally.found / tally.refreshes),
        refreshes: tally.refreshes / tally.weeks,
    }
}

#[derive(Default)]
struct Tally {
    sums: Vec<(f64, f64)>,
    fresh: f64,
    weeks: f64,
    refreshes: f64,
    found: f64,
}

impl Tally {
    fn run(&mut self, drift: &Drift, interval: f64, phase: f64, start: usize, threshold: f64) {
        // The phase determines the age of the summary at the start, as far back as the history goes.
        let age_first = (interval * phase).min(start as f64).floor() as usize;
        let mut held = start - age_first.min(start);
        let mut due = held as f64 + interval;
        for week in start..drift.weeks() {
            if due <= week as f64 {
                let Some(divergence) = drift.divergence(week, week - held) else { break };
                self.refreshes += 1.0;
                self.found += f64::from(divergence > threshold);
                held = week;
                while due <= week as f64 {
                    due += interval;
                }
            }
            let Some(comparison) = drift.at(week, week - held) else { break };
            for ((sum, count), (_, measure)) in self.sums.iter_mut().zip(&MEASURES) {
                if let Some(value) = measure(comparison) {
                    *sum += value;
                    *count += 1.0;
                }
            }
            self.weeks += 1.0;
            self.fresh += f64::from(comparison.divergence.is_some_and(|divergence| divergence <= threshold));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weeks::chronicle::Chronicle;

    #[test]
    fn what_is_refreshed_every_week_is_never_old() {
        let chronicle = Chronicle {
            name: "d".to_owned(),
            stratum: "misc".to_owned(),
            documents: vec![5.0; 40],
            vocabulary: vec![5.0; 40],
            frequencies: (0..40).map(|week| vec![1.0 + week as f32, 40.0]).collect(),
        };
        let drifts = [Drift::complete(&chronicle, 39)];
        let always = evaluate(&drifts, &[1.0], 10, 0.0);
        assert_eq!((always.means[4], always.up_to_date, always.precision), (0.0, 1.0, Some(1.0)));
        let seldom = evaluate(&drifts, &[10.0], 10, 0.0);
        assert!(seldom.means[4] > 0.0 && seldom.refreshes < 0.11);
        assert_eq!(evaluate(&drifts, &[f64::INFINITY], 10, 0.0).precision, None);
    }
}
