//! Accuracy of the estimators on recorded pages that are visited once a week.
//!
//! The **thesis**, section 6.8.2, Figure 6.19, repeated on the given histories: pages that changed on at
//! least three days and on fewer than a third of all days in 17 weeks, visited by a crawler once a week. The
//! recorded changes count as the truth, with at most one change per day as in the text's daily visits. They
//! are compared with pages of the same rates that change by Poisson processes, and slow pages with fast ones.
//! A page without two changes in one week is seen completely: its naive estimate equals the recorded rate,
//! whatever its true rate.
//!
//! # Departures
//! The text has 17 weeks of its own 720,000 pages. The recorded ones are other pages.

use std::ops::RangeInclusive;

use anyhow::Result;
use freshet_theory::estimate::even::EvenVisits;
use freshet_theory::estimate::improved::improved;
use freshet_theory::estimate::naive::naive;
use freshet_theory::estimate::rate::RateEstimate;
use freshet_theory::process::change_process::{ChangeProcess as _, Since};
use freshet_theory::process::poisson::Poisson;
use freshet_theory::units::{ChangesPerDay, Days};

use super::drawn_estimates::EvenEstimator;
use crate::figure::chart::{Axis, Chart, Look, Plate, Series};
use crate::figure::number::grouped;
use crate::figure::scale::Scale;
use crate::history::{Mass, Window, World};
use crate::report::chapter::{Maker, Progress};
use crate::report::exhibit::{Comparison, Exhibit, Table, Verdict};
use crate::report::sources::{Need, Sources};

/// Figure 6.19.
pub(super) const RATIOS: Maker = Maker {
    name: "figure-6.19",
    title: "Figure 6.19: estimates of recorded pages that are seen once a week",
    needs: Need::Histories,
    make: ratios,
};

/// Number of visits, one per week.
const WEEKS: u64 = 17;

/// Number of observed days: about four months.
const WATCHED: f64 = 7.0 * WEEKS as f64;

/// Minimum number of days with a change, and the number to stay below: once in three days.
const CHANGED_DAYS: (usize, usize) = (3, 39);

/// Minimum number of days with a change of a fast page: about five a month.
const FAST: usize = 13;

/// Classes of pages by the number of days with a change.
const SPEEDS: [(&str, RangeInclusive<usize>); 4] =
    [("3-5 days", 3..=5), ("6-12 days", 6..=12), ("13-39 days", FAST..=39), ("all", 3..=39)];

fn ratios(sources: &Sources, progress: &Progress<'_>) -> Result<Exhibit> {
    let tables = sources.histories()?;
    let mut chance = sources.chance("figure-6.19");
    let mut table = Table::new(
        "Estimates over what was recorded, by the days of 119 on which pages changed",
        [
            "pages",
            "number",
            "improved is nearer",
            "naive is nearer",
            "mean ratio, improved",
            "naive",
            "mean error, improved",
            "naive",
        ],
    );
    let mut charts = Vec::new();
    let mut comparisons = Vec::new();
    let families: Vec<&str> = tables.families();
    for (number, family) in families.iter().enumerate() {
        progress(number as f64 / families.len() as f64);
        let window = Window {
            family: Some((*family).to_owned()),
            days: WATCHED,
            mass: Mass::Keep,
            pages_per_site_max: None,
        };
        let recorded: Vec<Vec<u32>> = changed_days(&World::cut(tables, &window)?);
        if recorded.is_empty() {
            continue;
        }
        let model = |days: &Vec<u32>| {
            let rate = ChangesPerDay::new(days.len() as f64 / WATCHED);
            whole_days(&Poisson { change_rate: rate }.sample(Days::new(WATCHED), Since::AnyTime, &mut chance))
        };
        let modelled: Vec<Vec<u32>> = recorded.iter().map(model).filter(|days| is_selected(days)).collect();
        for (name, pages) in [((*family).to_owned(), recorded), (format!("{family}, as Poisson"), modelled)] {
            for (speed, days) in SPEEDS {
                let some: Vec<Vec<u32>> =
                    pages.iter().filter(|page| days.contains(&page.len())).cloned().collect();
                if !some.is_empty() {
                    table.row(Found::of(&some).row(&format!("{name}, {speed}")));
                }
            }
            charts.push(Found::of(&pages).chart(&name));
            if name == *family {
                comparisons.extend(comparisons_with(&pages, family));
            }
        }
    }
    let plate = Plate { heading: String::new(), columns: 2, charts };
    Ok(Exhibit::new(
        "For each page the estimate of a weekly crawler over the rate at which it was recorded to change. \
         For slow pages the yardstick favours the naive estimate: when no two changes fell into one week it \
         is what was recorded, while the improved one allows for changes that might have been missed. For \
         pages that change about every week or faster it is the other way round, as in the text. Changes of \
         recorded pages come in bursts, so that weekly visits find fewer of them than of Poisson pages of \
         the same rate: that is what the logarithm does not make up for.",
    )
    .picture(plate.draw())
    .table(table)
    .compare_all(comparisons))
}

/// Days with a change of the selected pages that existed throughout.
fn changed_days(world: &World) -> Vec<Vec<u32>> {
    let lives = world.lives.iter().enumerate();
    let watched = lives.filter(|(_, life)| life.born <= 0.0 && life.died >= world.days);
    watched.map(|(page, _)| whole_days(world.changes(page))).filter(|days| is_selected(days)).collect()
}

/// The days with a change.
fn whole_days(changes: &[f64]) -> Vec<u32> {
    let mut days: Vec<u32> = changes.iter().map(|time| time.floor() as u32).collect();
    days.dedup();
    days
}

fn is_selected(days: &[u32]) -> bool {
    (CHANGED_DAYS.0..=CHANGED_DAYS.1).contains(&days.len())
}

/// Result: for each page the ratio of both estimates to the recorded rate.
struct Found {
    improved: Vec<f64>,
    naive: Vec<f64>,
}

impl Found {
    fn of(pages: &[Vec<u32>]) -> Self {
        let by = |estimator: EvenEstimator| {
            let ratio = |days: &Vec<u32>| {
                let mut weeks: Vec<u32> = days.iter().map(|day| day / 7).collect();
                weeks.dedup();
                let visits = EvenVisits::new(WEEKS, weeks.len() as u64);
                let estimate = estimator(&visits, Days::new(7.0)).map_or(0.0, RateEstimate::get);
                estimate / (days.len() as f64 / WATCHED)
            };
            pages.iter().map(ratio).collect()
        };
        Self { improved: by(improved), naive: by(naive) }
    }

    /// The fraction of pages for which the first of two errors is the smaller one.
    fn nearer(first: &[f64], second: &[f64]) -> f64 {
        let wins = first.iter().zip(second).filter(|(a, b)| (*a - 1.0).abs() < (*b - 1.0).abs()).count();
        wins as f64 / first.len() as f64
    }

    fn mean(ratios: &[f64]) -> f64 {
        ratios.iter().sum::<f64>() / ratios.len() as f64
    }

    fn error(ratios: &[f64]) -> f64 {
        ratios.iter().map(|ratio| (ratio - 1.0).abs()).sum::<f64>() / ratios.len() as f64
    }

    fn row(&self, name: &str) -> [String; 8] {
        let percent = |share: f64| format!("{:.0}%", 100.0 * share);
        [
            name.to_owned(),
            grouped(self.improved.len()),
            percent(Self::nearer(&self.improved, &self.naive)),
            percent(Self::nearer(&self.naive, &self.improved)),
            format!("{:.2}", Self::mean(&self.improved)),
            format!("{:.2}", Self::mean(&self.naive)),
            percent(Self::error(&self.improved)),
            percent(Self::error(&self.naive)),
        ]
    }

    fn chart(&self, name: &str) -> Chart {
        let histogram = |ratios: &[f64]| {
            let share = |bin: u32| {
                let middle = 0.1 * f64::from(bin);
                let within =
                    ratios.iter().filter(|ratio| (middle - 0.05..middle + 0.05).contains(*ratio)).count();
                (middle, within as f64 / ratios.len() as f64)
            };
            (0..=20).map(share).collect::<Vec<_>>()
        };
        let (ours, theirs) = (histogram(&self.improved), histogram(&self.naive));
        let highest = Scale::linear_from_zero(ours.iter().chain(&theirs).map(|(_, share)| *share));
        Chart {
            title: name.to_owned(),
            across: Axis::new("estimate over recorded rate", Scale::linear(0.0, 2.0)),
            up: Axis::new("part of pages", highest),
            series: vec![
                Series::with_look("improved", Look::LineAndPoints, ours),
                Series::with_look("naive", Look::LineAndPoints, theirs),
            ],
            notes: Vec::new(),
        }
    }
}

/// Comparisons of printed values with all pages of a family, and with its fast ones.
fn comparisons_with(pages: &[Vec<u32>], family: &str) -> [Comparison; 3] {
    let fast: Vec<Vec<u32>> = pages.iter().filter(|page| page.len() >= FAST).cloned().collect();
    let compare = |quantity: &str, printed: &str, value: fn(&Found) -> f64| {
        let percent = |pages: &[Vec<u32>]| format!("{:.0}%", 100.0 * value(&Found::of(pages)));
        let of_fast =
            if fast.is_empty() { String::new() } else { format!(", {} of fast pages", percent(&fast)) };
        let ours = format!("{family}: {}{of_fast}", percent(pages));
        Comparison::statement(quantity, printed, ours, Verdict::NotReproducible)
            .noting(format!("Fast pages changed on {FAST} days at least."))
    };
    [
        compare("pages for which the improved estimator is nearer", "83%", |found| {
            Found::nearer(&found.improved, &found.naive)
        }),
        compare("bias of the improved estimator", "15%", |found| (Found::mean(&found.improved) - 1.0).abs()),
        compare("bias of the naive estimator", "35%", |found| (Found::mean(&found.naive) - 1.0).abs()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_changes_once_a_week_is_seen_whole() {
        let weekly: Vec<u32> = (0..WEEKS as u32).map(|week| 7 * week + 3).collect();
        let found = Found::of(&[weekly]);
        assert!((found.naive[0] - 1.0).abs() < 1e-12);
        assert!(found.improved[0] > 1.0);
    }

    #[test]
    fn changes_of_one_day_count_once() {
        assert_eq!(whole_days(&[0.1, 0.9, 1.0, 5.5]), [0, 1, 5]);
        assert!(!is_selected(&[0, 1]) && is_selected(&[0, 1, 5]));
    }
}
