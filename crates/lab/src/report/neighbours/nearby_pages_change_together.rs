//! Pages near a changed page have often changed too.
//!
//! **neighbours**, section 6.2, Figures 5 and 6: mean ChangeRatio by granularity and kind of neighbourhood,
//! and at the best granularity compared with policies without neighbourhoods. Cycles of eight weeks over a
//! year, with 25,000 downloads for 284,692 pages.

use anyhow::Result;

use super::{BUDGET, DATA, GRANULARITIES as RANGE, WEEK, histories};
use crate::figure::bars::{Bars, Row};
use crate::figure::chart::{Axis, Chart, Look, Series};
use crate::figure::scale::Scale;
use crate::report::chapter::{Maker, Progress};
use crate::report::exhibit::{Comparison, Exhibit, Verdict};
use crate::report::replays::{Pace, Part, change_ratio, replay};
use crate::report::sources::{Need, Sources};

/// Figure 5.
pub(super) const GRANULARITIES: Maker = Maker {
    name: "neighbours-figure-5",
    title: "Figure 5: comparison of three neighbourhoods by granularity",
    needs: Need::Nothing,
    make: granularities,
};

/// Figure 6.
pub(super) const POLICIES: Maker = Maker {
    name: "neighbours-figure-6",
    title: "Figure 6: neighbourhoods beside other policies",
    needs: Need::Nothing,
    make: policies,
};

/// Weeks per cycle. The whole takes a year, as in the text.
const CYCLE_WEEKS: f64 = 8.0;
const WEEKS: f64 = 48.0;
/// Maximum number of pages per site.
const PAGES_MAX: usize = 1_000;

/// Kinds of neighbourhood: the text's name, ours, and the granularity that the text found best.
const KINDS: [(&str, &str, i64); 3] = [("DB", "directory", 1), ("LB", "link", 3), ("CB", "cluster", 0)];

fn granularities(sources: &Sources, progress: &Progress<'_>) -> Result<Exhibit> {
    let material = histories(sources, WEEKS, PAGES_MAX)?;
    let pace = Pace { cycle_days: CYCLE_WEEKS * WEEK, budget: BUDGET, seed: sources.seed() };
    let mut series = Vec::new();
    for (number, (short, name, _)) in KINDS.iter().enumerate() {
        let names: Vec<String> = RANGE.map(|d| format!("{name}:{d}:status")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let runs = replay(&material.world, pace, &names, Part::of(progress, number, KINDS.len()))?;
        let points = RANGE.zip(&runs).map(|(d, cycles)| (d as f64, change_ratio(cycles)));
        series.push(Series::with_look(*short, Look::LineAndPoints, points.collect::<Vec<_>>()));
    }
    let comparisons: Vec<Comparison> =
        KINDS.iter().zip(&series).map(|((short, _, best), series)| best_of(short, *best, series)).collect();
    let sides = comparison_of_sides(&series[..2]);
    let values: Vec<f64> =
        series.iter().flat_map(|series| series.points.iter().map(|point| point.1)).collect();
    let chart = Chart {
        title: String::new(),
        across: Axis::new("granularity d (positive: upper directories, out-links)", Scale::linear(-6.0, 8.0)),
        up: Axis::new("changed pages per download", Scale::linear_from_zero(values)),
        series,
        notes: Vec::new(),
    };
    Ok(Exhibit::new(
        "Each changed sample has its neighbours within d downloaded. Pages of the same directory change \
         together more than pages that link to each other: an author edits a part of a site, not a path \
         through it. Links of templates, menus and breadcrumbs are not in the link table, so that paths are \
         longer here than on the authors' pages.",
    )
    .text(material.about)
    .picture(chart.draw())
    .compare_all(comparisons)
    .compare(sides))
}

/// The granularity at which a kind of neighbourhood finds the most, compared with that of the text.
fn best_of(kind: &str, printed: i64, series: &Series) -> Comparison {
    let best = series.points.iter().max_by(|a, b| a.1.total_cmp(&b.1)).copied().unwrap_or((0.0, 0.0));
    let near = series.points.iter().find(|point| point.0 == printed as f64).map_or(0.0, |point| point.1);
    let ours = format!("d = {} with {:.3}; d = {printed} has {near:.3}", best.0, best.1);
    let printed = if kind == "DB" { "d = 0 or 1".to_owned() } else { format!("d = {printed}") };
    Comparison::statement(format!("best granularity of {kind}"), printed, ours, Verdict::NotReproducible)
        .noting(DATA)
}

fn comparison_of_sides(series: &[Series]) -> Comparison {
    let side = |series: &Series, is_positive: bool| {
        let points: Vec<f64> = series
            .points
            .iter()
            .filter(|point| point.0 != 0.0 && (point.0 > 0.0) == is_positive)
            .map(|point| point.1)
            .collect();
        points.iter().sum::<f64>() / points.len().max(1) as f64
    };
    let written = |series: &Series| {
        format!("{}: {:.3} and {:.3}", series.name, side(series, true), side(series, false))
    };
    let ours: Vec<String> = series.iter().map(written).collect();
    let holds = series.iter().all(|series| side(series, true) > side(series, false));
    Comparison::statement(
        "mean over positive and over negative d",
        "positive d is higher for LB and DB",
        ours.join("; "),
        if holds { Verdict::Agrees } else { Verdict::NotReproducible },
    )
    .noting(if holds { "" } else { DATA })
}

fn policies(sources: &Sources, progress: &Progress<'_>) -> Result<Exhibit> {
    let material = histories(sources, WEEKS, PAGES_MAX)?;
    let pace = Pace { cycle_days: CYCLE_WEEKS * WEEK, budget: BUDGET, seed: sources.seed() };
    let names = [
        "random",
        "round-robin",
        "greedy",
        "directory:1:status",
        "link:3:status",
        "cluster:0:status",
        "freshet:changes",
    ];
    let runs = replay(&material.world, pace, &names, Part::of(progress, 0, 1))?;
    let ratios: Vec<f64> = runs.iter().map(|cycles| change_ratio(cycles)).collect();
    let row = |(name, ratio): (&&str, &f64)| Row {
        name: (*name).to_owned(),
        values: vec![Some(*ratio)],
        is_ours: name.starts_with("freshet"),
    };
    let bars = Bars {
        title: "ChangeRatio, cycles of 8 weeks, 8.8% of the pages".to_owned(),
        axis: "changed pages per download".to_owned(),
        digits: 3,
        panels: vec![material.name.to_owned()],
        ceiling: None,
        rows: names.iter().zip(&ratios).map(row).collect(),
    };
    let best = ratios[3..6].iter().copied().fold(0.0, f64::max);
    Ok(Exhibit::new(
        "Random (RNS) and round robin (RR) beside greedy sampling of sites (GSB) and the three \
         neighbourhoods (DB, LB, CB) at the granularity that the text found best. Our own policy stands \
         below them.",
    )
    .text(material.about)
    .picture(bars.draw())
    .compare(
        Comparison::statement(
            "best neighbourhood over random",
            "about three times",
            format!("{:.2} times", best / ratios[0]),
            Verdict::NotReproducible,
        )
        .noting(DATA),
    )
    .compare(
        Comparison::statement(
            "best neighbourhood over greedy sampling of sites",
            "about twice",
            format!("{:.2} times", best / ratios[2]),
            Verdict::NotReproducible,
        )
        .noting(DATA),
    )
    .compare(Comparison::claim(
        "round robin against random",
        "similar",
        format!("{:.3} and {:.3}", ratios[1], ratios[0]),
        (ratios[1] - ratios[0]).abs() < 0.25 * ratios[0],
    ))
    .compare(Comparison::claim(
        "greedy sampling against random",
        "better",
        format!("{:.3} and {:.3}", ratios[2], ratios[0]),
        ratios[2] > ratios[0],
    ))
    .command(format!(
        "freshet lab replay --data DIR --family git --window 48w --cycle 8w --budget {BUDGET:.3} --policy {}",
        names.join(",")
    )))
}
