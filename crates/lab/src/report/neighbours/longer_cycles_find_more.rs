//! Longer cycles and fewer downloads: a larger fraction of the downloads finds a change.
//!
//! **neighbours**, section 6.2, Figure 7: mean ChangeRatio of directories by granularity, for cycles of 2, 4
//! and 8 weeks and 25,000, 50,000 and 100,000 downloads for 284,692 pages.

use anyhow::Result;

use super::{BUDGET, GRANULARITIES, WEEK, histories};
use crate::figure::chart::{Axis, Chart, Look, Plate, Series};
use crate::figure::scale::Scale;
use crate::report::chapter::{Maker, Progress};
use crate::report::exhibit::{Comparison, Exhibit};
use crate::report::replays::{Pace, Part, change_ratio, replay};
use crate::report::sources::{Need, Sources};

/// Figure 7.
pub(super) const CYCLES_AND_DOWNLOADS: Maker = Maker {
    name: "neighbours-figure-7",
    title: "Figure 7: directories by granularity, cycle and downloads",
    needs: Need::Nothing,
    make,
};

/// Weeks per cycle.
const CYCLES: [f64; 3] = [2.0, 4.0, 8.0];
/// Downloads, in thousands, for the 284,692 pages of the text.
const DOWNLOADS: [f64; 3] = [25.0, 50.0, 100.0];
/// Total number of weeks.
const WEEKS: f64 = 48.0;
/// Maximum number of pages per site: fewer than elsewhere, because there are 135 runs.
const PAGES_MAX: usize = 300;

fn make(sources: &Sources, progress: &Progress<'_>) -> Result<Exhibit> {
    let material = histories(sources, WEEKS, PAGES_MAX)?;
    let names: Vec<String> = GRANULARITIES.map(|d| format!("directory:{d}:status")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut charts = Vec::new();
    for (row, weeks) in CYCLES.into_iter().enumerate() {
        let mut series = Vec::new();
        for (column, downloads) in DOWNLOADS.into_iter().enumerate() {
            let budget = BUDGET * downloads / DOWNLOADS[0];
            let pace = Pace { cycle_days: weeks * WEEK, budget, seed: sources.seed() };
            let part = Part::of(progress, row * DOWNLOADS.len() + column, CYCLES.len() * DOWNLOADS.len());
            let runs = replay(&material.world, pace, &names, part)?;
            let points = GRANULARITIES.zip(&runs).map(|(d, cycles)| (d as f64, change_ratio(cycles)));
            let name = format!("{:.1}% of the pages", 100.0 * budget);
            series.push(Series::with_look(name, Look::LineAndPoints, points.collect::<Vec<_>>()));
        }
        charts.push((weeks, series));
    }
    let mean =
        |series: &Series| series.points.iter().map(|point| point.1).sum::<f64>() / series.points.len() as f64;
    let means: Vec<Vec<f64>> = charts.iter().map(|(_, series)| series.iter().map(mean).collect()).collect();
    let longer =
        (0..3).all(|column| means[0][column] < means[1][column] && means[1][column] < means[2][column]);
    let fewer = means.iter().all(|row| row[0] > row[1] && row[1] > row[2]);
    let values = charts
        .iter()
        .flat_map(|(_, series)| series.iter().flat_map(|series| series.points.iter().map(|point| point.1)));
    let scale = Scale::linear_from_zero(values.collect::<Vec<_>>());
    let chart = |(weeks, series): (f64, Vec<Series>)| Chart {
        title: format!("cycles of {weeks} weeks"),
        across: Axis::new("granularity d", Scale::linear(-6.0, 8.0)),
        up: Axis::new("changed pages per download", scale),
        series,
        notes: Vec::new(),
    };
    let plate = Plate {
        heading: "Mean ChangeRatio of directory neighbourhoods".to_owned(),
        columns: 3,
        charts: charts.into_iter().map(chart).collect(),
    };
    let written = |row: &Vec<f64>| row.iter().map(|mean| format!("{mean:.3}")).collect::<Vec<_>>().join(", ");
    let all = means.iter().map(written).collect::<Vec<_>>().join("; ");
    Ok(Exhibit::new(
        "In a longer cycle more pages have changed; with fewer downloads a larger part of them goes to \
         neighbours that did.",
    )
    .text(material.about)
    .picture(plate.draw())
    .compare(
        Comparison::claim("longer cycles", "find more", all.clone(), longer)
            .noting("means over d, for 25,000, 50,000 and 100,000 downloads; 2, 4 and 8 weeks"),
    )
    .compare(Comparison::claim("fewer downloads", "find more in proportion", all, fewer)))
}
