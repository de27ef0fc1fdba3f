//! The adaptive policy hardly depends on its settings.
//!
//! **sample**, section 4.6, Figures 11 and 12: ChangeRatio by the number of pages sampled in a round (k) and
//! by the confidence (α). [`simulation`](freshet_theory::sample::simulation) simulates sites with the changed
//! fractions of the histories and of both models. The text does not name its interval. Its remark that k = 1
//! decides after two samples fits the interval of its Lemma 1, of half-width z/(2√s), which is drawn here.
//! The plain interval has no width after one sample.

use anyhow::Result;
use freshet_theory::sample::interval::{Confidence, Method};
use freshet_theory::sample::many_sites::normal_fractions;
use freshet_theory::sample::simulation::{EqualSites, Policy, Run, simulate};
use rand_chacha::ChaCha8Rng;

use super::{BUDGET, PAGES_PER_SITE};
use crate::figure::chart::{Axis, Chart, Look, Plate, Series};
use crate::figure::scale::Scale;
use crate::report::chapter::{Maker, Progress};
use crate::report::exhibit::{Comparison, Exhibit};
use crate::report::material::{MODEL_CYCLE, changed_fractions, recorded, v_shape};
use crate::report::sources::{Need, Sources};

/// Figure 11.
pub(super) const ROUND_SIZES: Maker = Maker {
    name: "sample-figure-11",
    title: "Figure 11: adaptive over various sample sizes k",
    needs: Need::Nothing,
    make: round_sizes,
};

/// Figure 12.
pub(super) const CONFIDENCES: Maker = Maker {
    name: "sample-figure-12",
    title: "Figure 12: adaptive over various confidence values α",
    needs: Need::Nothing,
    make: confidences,
};

/// Days per cycle on histories.
const MONTH: f64 = 365.25 / 12.0;
/// Numbers of pages sampled in a round.
const SIZES: [u64; 9] = [1, 2, 5, 10, 15, 20, 30, 40, 50];
/// Confidences.
const LEVELS: [f64; 7] = [0.5, 0.6, 0.7, 0.75, 0.8, 0.9, 0.99];
/// Number of cycles of each run.
const CYCLES: u64 = 20;

/// Changed fractions by the name of their set, and a description.
type Sets = (Vec<(&'static str, Vec<f64>)>, String);

fn sets(sources: &Sources) -> Result<Sets> {
    let histories = recorded(sources, 36.0 * MONTH, 2_000)?;
    let shape = v_shape(sources, 200, 5)?;
    let sets = vec![
        (histories.name, changed_fractions(&histories.world, MONTH)),
        (shape.name, changed_fractions(&shape.world, MODEL_CYCLE)),
        ("N(0.5, 0.3)", normal_fractions(300, 0.5, 0.3)),
    ];
    let about = format!(
        "{} Simulated sites of {PAGES_PER_SITE} pages with these changed fractions.",
        histories.about
    );
    Ok((sets, about))
}

fn ratio(fractions: &[f64], size: u64, level: f64, chance: &mut ChaCha8Rng) -> f64 {
    let policy = Policy::Adaptive(Confidence::new(level), Method::Conservative);
    let budget = (fractions.len() * PAGES_PER_SITE) as f64 * BUDGET;
    let run = Run { policy, budget: budget as u64, sample_size: size, cycles: CYCLES };
    simulate(EqualSites::new(fractions, PAGES_PER_SITE as u64), &run, chance).unwrap_or(0.0)
}

fn round_sizes(sources: &Sources, progress: &Progress<'_>) -> Result<Exhibit> {
    let (sets, about) = sets(sources)?;
    progress(0.5);
    let mut chance = sources.chance("sample-figure-11");
    let curve = |(name, fractions): &(&str, Vec<f64>)| {
        let points: Vec<_> =
            SIZES.iter().map(|k| (*k as f64, ratio(fractions, *k, 0.9, &mut chance))).collect();
        Series::with_look(*name, Look::LineAndPoints, points)
    };
    let series: Vec<Series> = sets.iter().map(curve).collect();
    let at = |series: &Series, size: f64| {
        series.points.iter().find(|point| point.0 == size).map_or(0.0, |point| point.1)
    };
    let falls = series.iter().all(|series| at(series, 50.0) < at(series, 5.0) + 0.01);
    let small = series.iter().all(|series| at(series, 10.0) > 0.95 * at(series, 5.0));
    let chart = Chart {
        title: String::new(),
        across: Axis::new("pages sampled of each undecided site in a round (k)", Scale::linear(0.0, 50.0)),
        up: Axis::new("changed pages per download", Scale::linear(0.0, 1.0)),
        series,
        notes: Vec::new(),
    };
    Ok(Exhibit::new(
        "Confidence 0.9. Small rounds decide sites as soon as they can be decided, large ones sample more \
         than needed.",
    )
    .text(about)
    .picture(chart.draw())
    .compare(Comparison::claim(
        "ChangeRatio as k grows",
        "decreases",
        if falls { "no set has more at 50 than at 5" } else { "a set has more at 50 than at 5" },
        falls,
    ))
    .compare(Comparison::claim(
        "decrease until k = 10",
        "relatively small",
        if small { "less than 5% below k = 5 on every set" } else { "more than 5% below k = 5" },
        small,
    )))
}

fn confidences(sources: &Sources, progress: &Progress<'_>) -> Result<Exhibit> {
    let (sets, about) = sets(sources)?;
    progress(0.5);
    let mut chance = sources.chance("sample-figure-12");
    let mut chart_of = |name: &str, fractions: &[f64]| {
        let mut curve = |size: u64| {
            let points: Vec<_> =
                LEVELS.iter().map(|level| (*level, ratio(fractions, size, *level, &mut chance))).collect();
            Series::with_look(format!("k = {size}"), Look::LineAndPoints, points)
        };
        Chart {
            title: name.to_owned(),
            across: Axis::new("confidence (α)", Scale::linear(0.5, 1.0)),
            up: Axis::new("changed pages per download", Scale::linear(0.0, 1.0)),
            series: vec![curve(1), curve(5), curve(10)],
            notes: Vec::new(),
        }
    };
    let charts: Vec<Chart> = sets.iter().map(|(name, fractions)| chart_of(name, fractions)).collect();
    let value = |chart: &Chart, series: usize, level: usize| chart.series[series].points[level].1;
    let hurried = charts
        .iter()
        .all(|chart| value(chart, 0, 0) < value(chart, 1, 0) && value(chart, 0, 0) < value(chart, 0, 5));
    let spread = charts
        .iter()
        .map(|chart| {
            let values = || chart.series[2].points.iter().map(|point| point.1);
            values().fold(0.0, f64::max) - values().fold(1.0, f64::min)
        })
        .fold(0.0, f64::max);
    let plate = Plate { heading: "Mean ChangeRatio by confidence".to_owned(), columns: 3, charts };
    Ok(Exhibit::new(
        "With k = 5 or 10 the confidence hardly matters; with k = 1 and little confidence sites are decided \
         too early.",
    )
    .text(about)
    .picture(plate.draw())
    .compare(Comparison::claim(
        "k = 10 over all α",
        "no meaningful difference",
        format!("at most {spread:.3} between any two"),
        spread < 0.05,
    ))
    .compare(Comparison::claim(
        "k = 1 with small α",
        "worse than k = 5 and 10",
        if hurried { "so it is on every set" } else { "not on every set" },
        hurried,
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hasty_decisions_find_less() {
        let mut chance = Sources::new(None, 1).expect("no data").chance("x");
        let fractions = normal_fractions(100, 0.5, 0.3);
        let (hasty, calm) = (ratio(&fractions, 1, 0.5, &mut chance), ratio(&fractions, 10, 0.9, &mut chance));
        assert!(hasty + 0.02 < calm, "{hasty} {calm}");
    }
}
