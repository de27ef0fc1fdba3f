//! The greedy policy visits nearly all pages that change, and visits pages that change more often more often.
//!
//! **sample**, section 4.7, Figures 13 and 14: after each cycle the fraction of the pages changed so far that
//! were visited so far, and the mean number of visits to pages by the number of cycles in which they changed.

use anyhow::Result;

use super::{BUDGET, DATA, PAGES_PER_SITE};
use crate::figure::chart::{Axis, Chart, Look, Series};
use crate::figure::scale::Scale;
use crate::report::chapter::{Maker, Progress};
use crate::report::exhibit::{Comparison, Exhibit, Verdict};
use crate::report::material::{MODEL_CYCLE, Material, recorded, v_shape};
use crate::report::replays::{Pace, Visited, replay_counting};
use crate::report::sources::{Need, Sources};

/// Figure 13.
pub(super) const FAIRNESS: Maker = Maker {
    name: "sample-figure-13",
    title: "Figure 13: fairness of the greedy policy",
    needs: Need::Nothing,
    make: fairness,
};

/// Figure 14.
pub(super) const VISITS: Maker = Maker {
    name: "sample-figure-14",
    title: "Figure 14: visits of the greedy policy by number of changes",
    needs: Need::Nothing,
    make: visits,
};

/// Days per cycle on histories.
const MONTH: f64 = 365.25 / 12.0;
/// Number of cycles of the text.
const CYCLES: usize = 5;

/// Both sets with the days per cycle of each.
fn sets(sources: &Sources) -> Result<[(Material, f64); 2]> {
    let histories = recorded(sources, CYCLES as f64 * MONTH, 2_000)?;
    Ok([(v_shape(sources, PAGES_PER_SITE, CYCLES)?, MODEL_CYCLE), (histories, MONTH)])
}

fn pace(sources: &Sources, cycle_days: f64) -> Pace {
    Pace { cycle_days, budget: BUDGET, seed: sources.seed() }
}

fn fairness(sources: &Sources, progress: &Progress<'_>) -> Result<Exhibit> {
    let sets = sets(sources)?;
    let mut series = Vec::new();
    for (material, cycle_days) in &sets {
        let (cycles, _) = replay_counting(&material.world, pace(sources, *cycle_days), "greedy")?;
        let points = cycles
            .iter()
            .enumerate()
            .map(|(cycle, made)| ((cycle + 1) as f64, made.fairness.unwrap_or(f64::NAN)));
        series.push(Series::with_look(material.name, Look::LineAndPoints, points.collect::<Vec<_>>()));
        progress(0.5);
    }
    let last = |series: &Series| series.points.last().map_or(0.0, |point| point.1);
    let rises = series[0].points.windows(2).all(|pair| pair[0].1 <= pair[1].1 + 0.02);
    let comparisons = [
        Comparison::number("fairness after 5 cycles, V-shaped model", "0.8", last(&series[0]))
            .because(Verdict::NotReproducible, format!("of the model; {DATA}")),
        Comparison::claim(
            "fairness over time",
            "steadily increasing",
            if rises { "so it is" } else { "it is not" },
            rises,
        ),
    ];
    let chart = Chart {
        title: String::new(),
        across: Axis::new("cycle", Scale::linear(1.0, CYCLES as f64)),
        up: Axis::new("visited part of the pages changed so far", Scale::linear(0.0, 1.0)),
        series,
        notes: Vec::new(),
    };
    Ok(Exhibit::new(
        "A page that was visited before it changed counts as visited; the text leaves this open.",
    )
    .text(format!("{} {}", sets[0].0.about, sets[1].0.about))
    .picture(chart.draw())
    .compare_all(comparisons))
}

fn visits(sources: &Sources, progress: &Progress<'_>) -> Result<Exhibit> {
    let sets = sets(sources)?;
    let mut series = Vec::new();
    for (material, cycle_days) in &sets {
        let (_, pages) = replay_counting(&material.world, pace(sources, *cycle_days), "greedy")?;
        series.push(Series::with_look(material.name, Look::LineAndPoints, visits_by_changes(&pages)));
        progress(0.5);
    }
    let rises = series[0].points.windows(2).all(|pair| pair[0].1 < pair[1].1);
    let written: Vec<String> = series[0].points.iter().map(|(_, visits)| format!("{visits:.2}")).collect();
    let comparison = Comparison::claim(
        "mean visits to pages that changed in 0 to 5 cycles, V-shaped model",
        "grow in proportion to the changes",
        written.join(", "),
        rises,
    );
    let chart = Chart {
        title: String::new(),
        across: Axis::new("cycles of 5 in which a page changed", Scale::linear(0.0, CYCLES as f64)),
        up: Axis::new("mean visits in 5 cycles", Scale::linear(0.0, CYCLES as f64)),
        series,
        notes: Vec::new(),
    };
    Ok(Exhibit::new("Pages that were there in all five cycles, by how often they changed.")
        .text(format!("{} {}", sets[0].0.about, sets[1].0.about))
        .picture(chart.draw())
        .compare(comparison))
}

/// Mean number of visits to pages by the number of cycles in which they changed. Classes without pages are
/// left out.
fn visits_by_changes(pages: &[Visited]) -> Vec<(f64, f64)> {
    let mean = |changes: usize| {
        let of_class = || pages.iter().filter(move |page| page.is_whole && page.changed_cycles == changes);
        let count = of_class().count();
        let visits: usize = of_class().map(|page| page.visits).sum();
        (count > 0).then(|| (changes as f64, visits as f64 / count as f64))
    };
    (0..=CYCLES).filter_map(mean).collect()
}
