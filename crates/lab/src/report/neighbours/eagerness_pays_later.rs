//! Which samples should have their neighbours downloaded: by PageRank for important pages, by history in the
//! long run.
//!
//! **neighbours**, section 6.2, Figures 8 and 9: cycles of two weeks with 25,000 downloads for 284,692 pages,
//! over 24 cycles. Figure 8 weights found changes by PageRank, per download. Figure 9 compares the
//! history-adaptive strategies with the status of the sample alone.

use anyhow::Result;

use super::{BUDGET, DATA, WEEK, histories};
use crate::figure::bars::{Bars, Row};
use crate::figure::chart::{Axis, Chart};
use crate::figure::scale::Scale;
use crate::replay::run::Cycle;
use crate::report::chapter::{Maker, Progress};
use crate::report::exhibit::{Comparison, Exhibit, Verdict};
use crate::report::material::Material;
use crate::report::replays::{Pace, Part, change_ratio, change_ratios, curve, replay, weighted_change_ratio};
use crate::report::sources::{Need, Sources};

/// Figure 8.
pub(super) const WEIGHTED: Maker = Maker {
    name: "neighbours-figure-8",
    title: "Figure 8: weighted ChangeRatio of PageRank-adaptive sampling",
    needs: Need::Nothing,
    make: weighted,
};

/// Figure 9.
pub(super) const HISTORY: Maker = Maker {
    name: "neighbours-figure-9",
    title: "Figure 9: long-term performance of history-adaptive sampling",
    needs: Need::Nothing,
    make: history,
};

/// Weeks per cycle, and number of cycles.
const CYCLE_WEEKS: f64 = 2.0;
const CYCLES: f64 = 24.0;
/// Maximum number of pages per site.
const PAGES_MAX: usize = 1_000;
/// Number of cycles over which curves are averaged for comparison.
const SMOOTH: usize = 4;

fn run(
    sources: &Sources,
    names: &[&str],
    cycles: f64,
    progress: &Progress<'_>,
) -> Result<(Material, Vec<Vec<Cycle>>)> {
    let material = histories(sources, cycles * CYCLE_WEEKS, PAGES_MAX)?;
    let pace = Pace { cycle_days: CYCLE_WEEKS * WEEK, budget: BUDGET, seed: sources.seed() };
    let runs = replay(&material.world, pace, names, Part::of(progress, 0, 1))?;
    Ok((material, runs))
}

fn weighted(sources: &Sources, progress: &Progress<'_>) -> Result<Exhibit> {
    let names = ["random", "directory:1:status", "directory:1:ha", "directory:1:wha", "directory:1:pra"];
    let (material, runs) = run(sources, &names, CYCLES, progress)?;
    let weighted: Vec<f64> = runs.iter().map(|cycles| weighted_change_ratio(cycles)).collect();
    let row = |(name, cycles): (&&str, &Vec<Cycle>)| Row {
        name: (*name).to_owned(),
        values: vec![Some(weighted_change_ratio(cycles)), Some(change_ratio(cycles))],
        is_ours: false,
    };
    let bars = Bars {
        title: "Changes found per download, cycles of 2 weeks, 24 cycles".to_owned(),
        axis: "per download".to_owned(),
        digits: 3,
        panels: vec!["weighted by PageRank".to_owned(), "each page alike".to_owned()],
        ceiling: None,
        rows: names.iter().zip(&runs).map(row).collect(),
    };
    Ok(Exhibit::new(
        "Found changes weighed by the PageRank of their pages (1 on average), per download. The authors took \
         the PageRank of the whole Web from 0 to 10; here it is that of the link table of the histories, in \
         which pages of other sites hardly occur.",
    )
    .text(material.about)
    .picture(bars.draw())
    .compare(
        Comparison::statement(
            "PageRank-adaptive against the status of the sample, weighted",
            "almost 100% more",
            format!("{:+.0}%", 100.0 * (weighted[4] / weighted[1] - 1.0)),
            Verdict::NotReproducible,
        )
        .noting(format!(
            "a seed's own PageRank says little of its neighbours here, and neighbours are downloaded whether \
             or not the seed changed; {DATA}"
        )),
    ))
}

fn history(sources: &Sources, progress: &Progress<'_>) -> Result<Exhibit> {
    let names = ["directory:1:status", "directory:1:ha", "directory:1:wha", "random"];
    let (material, runs) = run(sources, &names, CYCLES, progress)?;
    let ratios = change_ratios(&runs);
    let chart = Chart {
        title: String::new(),
        across: Axis::new("cycle of two weeks", Scale::linear(1.0, CYCLES)),
        up: Axis::new(
            "changed pages per download",
            Scale::linear_from_zero(ratios.iter().flatten().copied()),
        ),
        series: names.iter().zip(&ratios).map(|(name, ratios)| curve(name, ratios)).collect(),
        notes: Vec::new(),
    };
    let mean = |ratios: &[f64]| ratios.iter().sum::<f64>() / ratios.len().max(1) as f64;
    let ends = |policy: usize| {
        let ratios = &ratios[policy];
        let (first, last) = (SMOOTH.min(ratios.len()), ratios.len().saturating_sub(SMOOTH));
        format!("{}: {:.3} and {:.3}", names[policy], mean(&ratios[..first]), mean(&ratios[last..]))
    };
    let all: Vec<String> = (0..names.len()).map(ends).collect();
    let early = |policy: usize| mean(&ratios[policy][1..5.min(ratios[policy].len())]);
    Ok(Exhibit::new(
        "HA and WHA download the neighbours of a sample with a probability that grows with its past changes, \
         whether it has changed now or not. The weights of WHA add up to one and are not divided by the \
         number of cycles again, as equation 8 prints it: it would not reduce to equation 6.",
    )
    .text(material.about)
    .picture(chart.draw())
    .compare(
        Comparison::statement(
            "HA and WHA in cycles 2 to 5",
            "worse than DB",
            format!("DB {:.3}, HA {:.3}, WHA {:.3}", early(0), early(1), early(2)),
            if early(1) < early(0) && early(2) < early(0) {
                Verdict::Agrees
            } else {
                Verdict::NotReproducible
            },
        )
        .noting(DATA),
    )
    .compare(
        Comparison::statement(
            format!("first and last {SMOOTH} cycles"),
            "WHA overtakes DB in cycle 16, HA in cycle 18",
            all.join("; "),
            Verdict::NotReproducible,
        )
        .noting(DATA),
    ))
}
