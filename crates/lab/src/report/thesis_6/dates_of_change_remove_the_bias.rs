//! Last-modified dates remove the bias of the estimate, and rare visits become more informative than frequent
//! ones.
//!
//! The **thesis**, section 6.5, Figures 6.12, 6.13 and 6.15 (**estimate**, Figures 12, 13 and 15), Theorem
//! 6.1 and Example 6.6.
//!
//! # Promises
//! - The limits of Theorem 6.1 hold, and simulation is within 3% of the formulas.

use anyhow::Result;
use freshet_theory::estimate::last_modified::DatedVisits;
use freshet_theory::estimate::last_modified_quality::{corrected_quality, plain_quality};
use freshet_theory::estimate::quality::improved_quality;

use super::drawn_estimates::dated_quality;
use crate::figure::chart::{Axis, Chart, Note, Series};
use crate::figure::scale::Scale;
use crate::report::chapter::{Maker, Progress};
use crate::report::exhibit::{Comparison, Exhibit, Verdict};
use crate::report::sources::{Need, Sources};

/// Figure 6.12.
pub(super) const PLAIN: Maker = Maker {
    name: "figure-6.12",
    title: "Figure 6.12 (12): bias of changes over time looked back",
    needs: Need::Nothing,
    make: plain,
};

/// Figure 6.13.
pub(super) const CORRECTED: Maker = Maker {
    name: "figure-6.13",
    title: "Figure 6.13 (13): the same with the bias corrected",
    needs: Need::Nothing,
    make: corrected,
};

/// Figure 6.15.
pub(super) const DEVIATION: Maker = Maker {
    name: "figure-6.15",
    title: "Figure 6.15 (15): deviation of the corrected estimator",
    needs: Need::Nothing,
    make: deviation,
};

fn rates() -> impl Iterator<Item = f64> {
    (0..=60).map(|step| 10_f64.powf(-1.5 + f64::from(step) / 20.0))
}

/// Numbers of changes per visit at which pages are simulated.
const DRAWN: [f64; 4] = [0.1, 0.5, 2.0, 10.0];

fn chart(series: Vec<Series>, up: Axis) -> Chart {
    Chart {
        title: String::new(),
        across: Axis::new("changes per visit (r)", Scale::logarithmic(rates())),
        up,
        series,
        notes: Vec::new(),
    }
}

fn plain(sources: &Sources, progress: &Progress<'_>) -> Result<Exhibit> {
    let mut chance = sources.chance("figure-6.12");
    let counts = [2_u64, 3, 5, 10];
    let ratio = |n: u64, r: f64| plain_quality(n, r).mean_ratio;
    let mut series: Vec<Series> =
        counts.map(|n| Series::line(format!("n = {n}"), rates().map(|r| (r, ratio(n, r))))).to_vec();
    let mut off = 0.0_f64;
    for n in [3_u64, 10] {
        progress(n as f64 / 10.0);
        let points: Vec<(f64, f64)> =
            DRAWN.map(|r| (r, dated_quality(DatedVisits::plain_rate, n, r, &mut chance).mean_ratio)).to_vec();
        off = points.iter().map(|(r, value)| (value / ratio(n, *r) - 1.0).abs()).fold(off, f64::max);
        series.push(Series::points(format!("n = {n}, simulated"), points).like(format!("n = {n}")));
    }
    let mut one = chart(series, Axis::new("mean estimate over true rate", Scale::linear(0.8, 2.2)));
    one.notes.push(Note::Level(1.0, "without bias".to_owned()));
    let limits = [2_u64, 3, 5, 10].into_iter().flat_map(|n| {
        let many = n as f64 / (n - 1) as f64;
        let few = n as f64 * (n as f64 / (n - 1) as f64).ln();
        let (often, seldom) = (ratio(n, 1e4), ratio(n, 1e-6));
        [
            Comparison::claim(
                format!("limit for frequent changes, n = {n}"),
                format!("n/(n − 1) = {many:.4}"),
                format!("{often:.4}"),
                (often - many).abs() < 1e-3,
            ),
            Comparison::claim(
                format!("limit for rare changes, n = {n}"),
                format!("n ln(n/(n − 1)) = {few:.4}"),
                format!("{seldom:.4}"),
                (seldom - few).abs() < 1e-4,
            ),
        ]
    });
    Ok(Exhibit::new(
        "Changes found over the time looked back to them: too high for few visits, at worst twice the truth \
         for two of them.",
    )
    .picture(one.draw())
    .compare(Comparison::number("mean over truth for n = 2 and frequent changes", "2", ratio(2, 1e4)))
    .compare_all(limits)
    .compare(
        Comparison::statement(
            "the density of T for three changes, in the proof of Theorem 6.1",
            "with constants 3 and (λt − 3)²",
            "with 3r² and (λt − 3r)²",
            Verdict::TextIsWrong,
        )
        .noting(
            "As printed it holds for r = 1 only. The limits that the theorem draws are right all the same.",
        ),
    )
    .compare(Comparison::claim(
        "formula against simulation",
        "equal",
        format!("largest difference {:.1}%", 100.0 * off),
        off < 0.03,
    )))
}

fn corrected(sources: &Sources, progress: &Progress<'_>) -> Result<Exhibit> {
    let mut chance = sources.chance("figure-6.13");
    let counts = [2_u64, 3, 5, 10];
    let ratio = |n: u64, r: f64| corrected_quality(n, r).mean_ratio;
    let mut series: Vec<Series> =
        counts.map(|n| Series::line(format!("n = {n}"), rates().map(|r| (r, ratio(n, r))))).to_vec();
    let points: Vec<(f64, f64)> =
        DRAWN.map(|r| (r, dated_quality(DatedVisits::rate, 5, r, &mut chance).mean_ratio)).to_vec();
    progress(0.5);
    let off = points.iter().map(|(r, value)| (value / ratio(5, *r) - 1.0).abs()).fold(0.0, f64::max);
    series.push(Series::points("n = 5, simulated", points).like("n = 5"));
    let mut one = chart(series, Axis::new("mean estimate over true rate", Scale::linear(0.9, 1.1)));
    one.notes.push(Note::Level(1.0, "without bias".to_owned()));
    let worst = |n: u64| rates().map(|r| (ratio(n, r) - 1.0).abs()).fold(0.0, f64::max);
    Ok(Exhibit::new(
        "With the correction of Figure 6.14 next to nothing of the bias is left, even for two visits.",
    )
    .picture(one.draw())
    .compare(Comparison::claim(
        "largest bias for n = 2",
        "below 2%",
        format!("{:.2}%", 100.0 * worst(2)),
        worst(2) < 0.02,
    ))
    .compare(Comparison::claim(
        "largest bias for n = 3, 5, 10",
        "overlaps with n = 2",
        format!("{:.2}%, {:.2}%, {:.2}%", 100.0 * worst(3), 100.0 * worst(5), 100.0 * worst(10)),
        worst(3) < 0.03,
    ))
    .compare(
        Comparison::number(
            "mean over truth without dates, n = 5, monthly visits to a weekly page",
            "0.57",
            improved_quality(5, 4.0).mean_ratio,
        )
        .noting("With a month of four weeks; 0.542 with one of 30 days (Example 6.6)."),
    )
    .compare(Comparison::claim(
        "bias with dates in the same example",
        "below 0.1%",
        format!("{:.3}%", 100.0 * (ratio(5, 4.0) - 1.0)),
        (ratio(5, 4.0) - 1.0).abs() < 0.001,
    ))
    .compare(Comparison::claim(
        "formula against simulation",
        "equal",
        format!("largest difference {:.1}%", 100.0 * off),
        off < 0.03,
    )))
}

fn deviation(sources: &Sources, _: &Progress<'_>) -> Result<Exhibit> {
    let mut chance = sources.chance("figure-6.15");
    let counts = [3_u64, 5, 10, 20];
    let spread = |n: u64, r: f64| corrected_quality(n, r).deviation_ratio;
    let mut series: Vec<Series> =
        counts.map(|n| Series::line(format!("n = {n}"), rates().map(|r| (r, spread(n, r))))).to_vec();
    let points: Vec<(f64, f64)> =
        DRAWN.map(|r| (r, dated_quality(DatedVisits::rate, 10, r, &mut chance).deviation_ratio)).to_vec();
    let off = points.iter().map(|(r, value)| (value / spread(10, *r) - 1.0).abs()).fold(0.0, f64::max);
    series.push(Series::points("n = 10, simulated", points).like("n = 10"));
    let one = chart(series, Axis::new("deviation over true rate (σ/r)", Scale::linear(0.0, 2.5)));
    let falls_with_visits =
        rates().all(|r| counts.windows(2).all(|pair| spread(pair[1], r) < spread(pair[0], r)));
    let falls_with_changes = spread(10, 10.0) < spread(10, 1.0) && spread(10, 1.0) < spread(10, 0.1);
    Ok(Exhibit::new(
        "The deviation falls with more visits, and also when visits are so far apart that each finds a \
         change.",
    )
    .picture(one.draw())
    .compare(Comparison::claim(
        "σ/r as n grows",
        "falls",
        if falls_with_visits { "falls at every r" } else { "does not always fall" },
        falls_with_visits,
    ))
    .compare(Comparison::claim(
        "σ/r as visits become rarer (section 6.7)",
        "falls",
        format!("{:.2}, {:.2}, {:.2} at r = 0.1, 1, 10", spread(10, 0.1), spread(10, 1.0), spread(10, 10.0)),
        falls_with_changes,
    ))
    .compare(Comparison::claim(
        "formula against simulation",
        "equal",
        format!("largest difference {:.1}%", 100.0 * off),
        off < 0.05,
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::making::check;

    #[test]
    fn printed_values_are_accounted_for_and_simulation_agrees() {
        [PLAIN, CORRECTED, DEVIATION].iter().for_each(|maker| drop(check(maker)));
    }
}
