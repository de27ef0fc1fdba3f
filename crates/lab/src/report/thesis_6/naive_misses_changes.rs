//! The naive estimator, changes found divided by observed time, is too low and stays so however long the
//! observation.
//!
//! The **thesis**, section 6.4.1, Figures 6.2 and 6.3 (**estimate**, Figures 3 and 4), with the numbers of
//! Example 6.3.
//!
//! # Promises
//! - Every printed value agrees, and simulation is within 0.03 of the formulas.

use anyhow::Result;
use freshet_theory::estimate::naive::naive;
use freshet_theory::estimate::quality::naive_quality;

use super::drawn_estimates::even_quality;
use crate::figure::chart::{Axis, Chart, Note, Series};
use crate::figure::scale::Scale;
use crate::report::chapter::{Maker, Progress};
use crate::report::exhibit::{Comparison, Exhibit, Verdict};
use crate::report::sources::{Need, Sources};

/// Figure 6.2.
pub(super) const BIAS: Maker = Maker {
    name: "figure-6.2",
    title: "Figure 6.2 (3): bias of the naive estimator",
    needs: Need::Nothing,
    make: bias,
};

/// Figure 6.3.
pub(super) const DEVIATION: Maker = Maker {
    name: "figure-6.3",
    title: "Figure 6.3 (4): deviation of the naive estimator",
    needs: Need::Nothing,
    make: deviation,
};

/// Visits per page in the simulation and in Example 6.3.
const VISITS: u64 = 10;

fn bias(sources: &Sources, progress: &Progress<'_>) -> Result<Exhibit> {
    let mut chance = sources.chance("figure-6.2");
    let ratio = |r: f64| naive_quality(VISITS, r).mean_ratio;
    let rates: Vec<f64> = (0..=60).map(|step| 10_f64.powf(-2.0 + f64::from(step) / 20.0)).collect();
    let drawn: Vec<(f64, f64)> = [0.05, 0.2, 0.5, 1.0, 2.0, 5.0]
        .into_iter()
        .map(|r| {
            progress(r / 5.0);
            (r, even_quality(naive, VISITS, r, &mut chance).mean_ratio)
        })
        .collect();
    let off = drawn.iter().map(|(r, mean)| (mean - ratio(*r)).abs()).fold(0.0, f64::max);
    let chart = Chart {
        title: String::new(),
        across: Axis::new("changes per visit (r)", Scale::logarithmic([0.01, 10.0])),
        up: Axis::new("mean estimate over true rate", Scale::linear(0.0, 1.2)),
        series: vec![
            Series::line("by formula", rates.iter().map(|r| (*r, ratio(*r)))),
            Series::points("by simulation", drawn),
        ],
        notes: vec![Note::Level(1.0, "without bias".to_owned())],
    };
    Ok(Exhibit::new(
        "A visit finds one change at most, so the estimate X/n misses the more the more often a page changes \
         between visits. More visits do not help.",
    )
    .picture(chart.draw())
    .compare(Comparison::number("largest r with a bias below 10%", "0.21", largest_unbiased()))
    .compare(Comparison::number("visits per change for a bias below 10%", "5", 1.0 / largest_unbiased()))
    .compare(Comparison::number("mean estimate over true rate at r = 2 (Example 6.3)", "0.43", ratio(2.0)))
    .compare(Comparison::number("bias at r = 2 (Example 6.3)", "57%", 100.0 * (1.0 - ratio(2.0))))
    .compare(Comparison::claim(
        "formula against simulation",
        "equal",
        format!("largest difference {off:.3}"),
        off < 0.03,
    )))
}

/// The largest number of changes per visit with a bias below 10%, by bisection.
fn largest_unbiased() -> f64 {
    let (mut low, mut high) = (1e-3, 1.0);
    for _ in 0..60 {
        let middle: f64 = 0.5 * (low + high);
        if naive_quality(VISITS, middle).mean_ratio > 0.9 { low = middle } else { high = middle }
    }
    low
}

fn deviation(sources: &Sources, progress: &Progress<'_>) -> Result<Exhibit> {
    let mut chance = sources.chance("figure-6.3");
    let rates = [0.3, 0.6, 1.0];
    let curve = |r: f64| (1..=40).map(move |n| (f64::from(n), naive_quality(n as u64, r).deviation_ratio));
    let mut series: Vec<Series> = rates.iter().map(|r| Series::line(format!("r = {r}"), curve(*r))).collect();
    let mut off = 0.0_f64;
    for r in rates {
        progress(r);
        let points: Vec<(f64, f64)> = [5, 10, 20, 40]
            .map(|n| (n as f64, even_quality(naive, n, r, &mut chance).deviation_ratio))
            .to_vec();
        let differences =
            points.iter().map(|(n, value)| (value - naive_quality(*n as u64, r).deviation_ratio).abs());
        off = differences.fold(off, f64::max);
        series.push(Series::points(format!("r = {r}, simulated"), points).like(format!("r = {r}")));
    }
    let chart = Chart {
        title: String::new(),
        across: Axis::new("visits (n)", Scale::linear(0.0, 40.0)),
        up: Axis::new("deviation over true rate (σ/r)", Scale::linear(0.0, 2.0)),
        series,
        notes: Vec::new(),
    };
    let needed = |r: f64| (1..).find(|n| naive_quality(*n, r).deviation_ratio <= 0.5).unwrap_or(0) as f64;
    let daily = naive_quality(VISITS, 1.0 / 7.0).deviation_ratio;
    Ok(Exhibit::new(
        "More visits make the estimate steadier, though not truer. The rarer the changes the more visits it \
         takes.",
    )
    .picture(chart.draw())
    .compare(Comparison::number("visits for σ/r = 0.5 at r = 1", "1", needed(1.0)))
    .compare(Comparison::number("visits for σ/r = 0.5 at r = 0.3", "9", needed(0.3)))
    .compare(Comparison::number("95% interval 2σ/r at r = 1/7 (Example 6.3)", "1.5", 2.0 * daily))
    .compare(
        Comparison::statement(
            "95% interval at r = 1/7 (estimate, Example 3)",
            "σ/r = 150%",
            format!("2σ/r = {:.1}%", 200.0 * daily),
            Verdict::TextIsWrong,
        )
        .noting("The interval is two deviations; σ/r itself is 75%, as the same sentence says."),
    )
    .compare(Comparison::claim(
        "formula against simulation",
        "equal",
        format!("largest difference {off:.3}"),
        off < 0.03,
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::making::check;

    #[test]
    fn printed_values_agree_and_so_does_simulation() {
        check(&BIAS);
        check(&DEVIATION);
    }
}
