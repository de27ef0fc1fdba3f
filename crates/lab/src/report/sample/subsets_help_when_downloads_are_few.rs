//! With few downloads, sampling some sites finds more than sampling all.
//!
//! **sample**, section 4.4, Figures 8 and 9: ChangeRatio by the number of downloads per cycle, from 3,000 to
//! 300,000 of 353,000 pages, and with subsets of the sites when downloads are few.

use anyhow::Result;

use super::{DATA, PAGES_PER_SITE};
use crate::figure::chart::{Axis, Chart, Look, Plate, Series};
use crate::figure::scale::Scale;
use crate::report::chapter::{Maker, Progress};
use crate::report::exhibit::{Comparison, Exhibit, Verdict};
use crate::report::material::{MODEL_CYCLE, Material, recorded, v_shape};
use crate::report::replays::{Pace, Part, change_ratio, replay};
use crate::report::sources::{Need, Sources};

/// Figure 8.
pub(super) const DOWNLOADS: Maker = Maker {
    name: "sample-figure-8",
    title: "Figure 8: oracle, greedy and round robin by number of downloads",
    needs: Need::Nothing,
    make: downloads,
};

/// Figure 9.
pub(super) const SUBSETS: Maker = Maker {
    name: "sample-figure-9",
    title: "Figure 9: greedy and subset sampling with few downloads",
    needs: Need::Nothing,
    make: subsets,
};

/// Number of pages of the text.
const PAGES: f64 = 353_000.0;
/// Downloads per cycle in Figure 8.
const MANY: [f64; 8] = [3_000.0, 10_000.0, 20_000.0, 50_000.0, 100_000.0, 150_000.0, 200_000.0, 300_000.0];
/// Downloads per cycle in Figure 9.
const FEW: [f64; 5] = [3_000.0, 5_000.0, 10_000.0, 15_000.0, 20_000.0];
/// Days per cycle on histories.
const MONTH: f64 = 365.25 / 12.0;
/// Number of cycles, as in the text: more would find more of the missed changes.
const CYCLES: usize = 5;

fn downloads(sources: &Sources, progress: &Progress<'_>) -> Result<Exhibit> {
    let names = ["oracle", "greedy", "round-robin"];
    let (charts, about) = charts(sources, progress, &names, &MANY)?;
    let model = &charts[1];
    let at = |series: usize, share: f64| {
        let find = |point: &&(f64, f64)| (point.0 - 100.0 * share / PAGES).abs() < 1e-9;
        model.series[series].points.iter().find(find).map_or(0.0, |point| point.1)
    };
    let beats = MANY.iter().filter(|many| at(1, **many) > at(2, **many)).count();
    let gains = |share: f64| at(1, share) / at(2, share);
    let comparisons = [
        Comparison::claim(
            "greedy against round robin, V-shaped model",
            "much better for most numbers of downloads",
            format!("better for {beats} of {}", MANY.len()),
            beats >= 6,
        ),
        Comparison::claim(
            "many downloads, V-shaped model",
            "all policies become similar",
            format!(
                "greedy over round robin: {:.2} at 28% and {:.2} at 85%",
                gains(100_000.0),
                gains(300_000.0)
            ),
            gains(300_000.0) < gains(100_000.0),
        ),
    ];
    let plate =
        Plate { heading: "Mean ChangeRatio of five cycles by downloads".to_owned(), columns: 2, charts };
    Ok(Exhibit::new(
        "With all pages downloaded every policy is the same, and with very few greedy has nothing left after \
         sampling. The oracle falls below 1 when there are more downloads than changed pages.",
    )
    .text(about)
    .picture(plate.draw())
    .compare_all(comparisons))
}

fn subsets(sources: &Sources, progress: &Progress<'_>) -> Result<Exhibit> {
    let names = ["greedy", "subset:greedy", "round-robin"];
    let (charts, about) = charts(sources, progress, &names, &FEW)?;
    let at_5000 = |series: usize| charts[1].series[series].points[1].1;
    let (plain, subset) = (at_5000(0), at_5000(1));
    let comparison = Comparison::claim(
        "subset sampling against greedy at 5,000 downloads",
        "0.89 against 0.73",
        format!("V-shaped model: {subset:.3} against {plain:.3}"),
        subset > plain + 0.05,
    )
    .because(
        if subset > plain + 0.05 { Verdict::NotReproducible } else { Verdict::Differs },
        format!("the gain shows, the values are those of the model; {DATA}"),
    );
    let plate =
        Plate { heading: "Mean ChangeRatio of five cycles by downloads".to_owned(), columns: 2, charts };
    Ok(Exhibit::new(
        "When downloads do not suffice to sample all sites, each cycle samples some of them, in turns, and \
         downloads the best of these whole.",
    )
    .text(about)
    .picture(plate.draw())
    .compare(comparison))
}

/// A chart for histories and one for the V-shaped model, with the downloads as a percentage of the pages.
fn charts(
    sources: &Sources,
    progress: &Progress<'_>,
    names: &[&str],
    downloads: &[f64],
) -> Result<(Vec<Chart>, String)> {
    let sets = [
        (recorded(sources, CYCLES as f64 * MONTH, 2_000)?, MONTH),
        (v_shape(sources, PAGES_PER_SITE, CYCLES)?, MODEL_CYCLE),
    ];
    let about = format!("{} V-shaped: {}", sets[0].0.about, sets[1].0.about);
    let chart = |(number, (material, cycle_days)): (usize, &(Material, f64))| {
        chart(sources, material, *cycle_days, names, downloads, Part::of(progress, number, 2))
    };
    let charts: Result<Vec<Chart>> = sets.iter().enumerate().map(chart).collect();
    Ok((charts?, about))
}

fn chart(
    sources: &Sources,
    material: &Material,
    cycle_days: f64,
    names: &[&str],
    downloads: &[f64],
    part: Part<'_>,
) -> Result<Chart> {
    let mut series: Vec<Series> =
        names.iter().map(|name| Series::with_look(*name, Look::LineAndPoints, [])).collect();
    for (number, downloads_of_text) in downloads.iter().enumerate() {
        let budget = downloads_of_text / PAGES;
        let step = (part.to - part.from) / downloads.len() as f64;
        let from = part.from + step * number as f64;
        let inner = Part { progress: part.progress, from, to: from + step };
        let runs = replay(&material.world, Pace { cycle_days, budget, seed: sources.seed() }, names, inner)?;
        for (series, cycles) in series.iter_mut().zip(&runs) {
            series.points.push((100.0 * budget, change_ratio(cycles)));
        }
    }
    let values: Vec<f64> =
        series.iter().flat_map(|series| series.points.iter().map(|point| point.1)).collect();
    Ok(Chart {
        title: material.name.to_owned(),
        across: Axis::new(
            "downloads in a cycle, % of all pages",
            Scale::logarithmic(downloads.iter().map(|d| 100.0 * d / PAGES)),
        ),
        up: Axis::new("changed pages per download", Scale::linear_from_zero(values)),
        series,
        notes: Vec::new(),
    })
}
