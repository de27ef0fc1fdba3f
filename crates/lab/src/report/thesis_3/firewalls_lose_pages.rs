//! Processes that ignore links to other parts lose pages: few pages with few processes, most pages with many.
//!
//! The **thesis**, section 3.6: Figure 3.4 (coverage against processes, each with 5 random seeds; also for
//! half of the sites) and Figure 3.5 (coverage against the number of seeds).

use anyhow::Result;
use freshet_theory::parallel::{Mode, Plan, parallel_crawl};
use rand_chacha::ChaCha8Rng;

use super::super::thesis_2::performance::{number_of_another_web, on_another_web};
use super::divided_webs::{DividedWeb, Division, histories, seeds, web_graph};
use crate::figure::chart::{Axis, Chart, Look, Plate, Series};
use crate::figure::scale::Scale;
use crate::report::chapter::{Maker, Progress};
use crate::report::exhibit::{Exhibit, Table};
use crate::report::sources::{Need, Sources};

/// Figures 3.4 and 3.5.
pub(super) const MAKER: Maker = Maker {
    name: "figure-3.4",
    title: "Figures 3.4 and 3.5: coverage of the firewall mode",
    needs: Need::Nothing,
    make,
};

/// Numbers of processes.
pub(super) const PROCESSES: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];
/// Seeds per process in Figure 3.4.
const SEEDS: usize = 5;
/// Number of random choices of seeds whose coverage is averaged.
const DRAWS: u32 = 3;
/// Numbers of processes of Figure 3.5.
const SEEDED_PROCESSES: [u32; 4] = [2, 8, 32, 64];
const ALL_SEEDS: [usize; 6] = [64, 128, 256, 512, 1024, 4096];

/// A curve by the number of processes or seeds.
pub(super) type Curve = Vec<(f64, f64)>;

fn make(sources: &Sources, progress: &Progress<'_>) -> Result<Exhibit> {
    let mut chance = sources.chance("figure-3.4");
    let web = web_graph(sources)?;
    let half = web.half_of_sites(&mut chance);
    let recorded = histories(sources)?;
    let mut by_division: Vec<(String, Curve)> = Vec::new();
    for division in Division::ALL {
        by_division.push((division.name().to_owned(), by_processes(&web, division, &mut chance)));
        progress(0.15 * by_division.len() as f64);
    }
    by_division.push((
        "site hash, half of the sites".to_owned(),
        by_processes(&half, Division::SiteHash, &mut chance),
    ));
    let mut second = Vec::new();
    if let Some(recorded) = &recorded {
        for division in Division::ALL {
            second.push((division.name().to_owned(), by_processes(recorded, division, &mut chance)));
        }
    }
    progress(0.7);
    let by_seeds: Vec<(String, Curve)> = SEEDED_PROCESSES
        .map(|processes| {
            let coverage = |all: usize| {
                let each = (all / processes as usize).max(1);
                (all as f64, coverage(&web, Division::SiteHash, processes, each, &mut chance))
            };
            (format!("{processes} processes"), ALL_SEEDS.into_iter().map(coverage).collect())
        })
        .into();
    let names = [web.name.clone()].into_iter().chain(recorded.iter().map(|web| web.name.clone()));
    Ok(Exhibit::new(format!(
        "Each process starts at {SEEDS} random pages of its own part and follows links within the part only; \
         what it cannot reach is lost. Webs: {}.",
        names.collect::<Vec<_>>().join("; ")
    ))
    .picture(picture(&by_division, &second, &by_seeds))
    .table(table(&by_division, &second))
    .compare_all(comparisons(&by_division, &by_seeds)))
}

/// Coverage for each number of processes.
fn by_processes(web: &DividedWeb, division: Division, chance: &mut ChaCha8Rng) -> Curve {
    let mean = |processes: u32| {
        let sum: f64 = (0..DRAWS).map(|_| coverage(web, division, processes, SEEDS, chance)).sum();
        (f64::from(processes), sum / f64::from(DRAWS))
    };
    PROCESSES.into_iter().map(mean).collect()
}

fn coverage(
    web: &DividedWeb,
    division: Division,
    processes: u32,
    each: usize,
    chance: &mut ChaCha8Rng,
) -> f64 {
    let owners = web.owners(division, processes);
    let seeds = seeds(&owners, processes, each, chance);
    let plan =
        Plan { graph: &web.graph, owners: &owners, seeds: &seeds, replicated: &[], mode: Mode::Firewall };
    parallel_crawl(&plan).coverage(web.pages()).unwrap_or(0.0)
}

/// A chart of these curves.
pub(super) fn chart_of(title: &str, across: Axis, up: Axis, curves: &[(String, Curve)]) -> Chart {
    let series = |(name, curve): &(String, Curve)| {
        Series::with_look(name.as_str(), Look::LineAndPoints, curve.clone())
    };
    Chart {
        title: title.to_owned(),
        across,
        up,
        series: curves.iter().map(series).collect(),
        notes: Vec::new(),
    }
}

/// The axis of the numbers of processes.
pub(super) fn processes() -> Axis {
    Axis::new("processes", Scale::logarithmic(PROCESSES.map(f64::from)))
}

fn picture(
    by_division: &[(String, Curve)],
    second: &[(String, Curve)],
    by_seeds: &[(String, Curve)],
) -> String {
    let chart = |title: &str, across: Axis, curves: &[(String, Curve)]| {
        chart_of(title, across, Axis::new("coverage", Scale::linear(0.0, 1.0)), curves)
    };
    let seeds = Axis::new("seeds in all", Scale::logarithmic(ALL_SEEDS.map(|seeds| seeds as f64)));
    let mut charts = vec![chart("Figure 3.4: web graph", processes(), by_division)];
    if !second.is_empty() {
        charts.push(chart("Figure 3.4: links of the histories", processes(), second));
    }
    charts.push(chart("Figure 3.5: site hash", seeds, by_seeds));
    let heading = "Pages that processes reach without exchanging URLs".to_owned();
    Plate { heading, columns: charts.len(), charts }.draw()
}

fn table(by_division: &[(String, Curve)], second: &[(String, Curve)]) -> Table {
    let mut table = Table::new(
        format!("Coverage with {SEEDS} seeds for each process, mean of {DRAWS} draws"),
        ["web and division", "1", "2", "4", "8", "16", "32", "64 processes"],
    );
    let second = second.iter().map(|(name, curve)| (format!("histories, {name}"), curve));
    let first = by_division.iter().map(|(name, curve)| (format!("web graph, {name}"), curve));
    for (name, curve) in first.chain(second) {
        table.row([name].into_iter().chain(curve.iter().map(|(_, coverage)| format!("{coverage:.3}"))));
    }
    table
}

fn comparisons(
    by_division: &[(String, Curve)],
    by_seeds: &[(String, Curve)],
) -> Vec<crate::report::exhibit::Comparison> {
    let by_site = &by_division[0].1;
    let at = |curve: &Curve, place: usize| curve[place].1;
    let (few, many) = (&by_seeds[0].1, &by_seeds[3].1);
    let gain = |curve: &Curve| at(curve, 4) - at(curve, 0);
    let half = &by_division[3].1;
    let off = (0..PROCESSES.len() - 1).map(|place| (at(half, place) - at(by_site, place + 1)).abs());
    let off = off.fold(0.0, f64::max);
    vec![
        number_of_another_web("coverage of one process", "0.9", format!("{:.2}", at(by_site, 0))),
        number_of_another_web(
            "loss from 1 to 4 processes",
            "10%",
            format!("{:.0}%", 100.0 * (1.0 - at(by_site, 2) / at(by_site, 0))),
        ),
        number_of_another_web(
            "coverage of 64 processes",
            "less than 10%",
            format!("{:.0}%", 100.0 * at(by_site, 6)),
        ),
        on_another_web(
            "coverage as processes become more",
            "decreases",
            by_site.iter().map(|(_, coverage)| format!("{coverage:.2}")).collect::<Vec<_>>().join(", "),
            by_site.windows(2).all(|pair| pair[1].1 < pair[0].1 + 0.02),
        ),
        on_another_web(
            "what 1,024 instead of 64 seeds add for 64 and for 2 processes",
            "much for 64 (0.4% to 10%), little for 2",
            format!("{:.3} and {:.3}", gain(many), gain(few)),
            gain(many) > gain(few),
        ),
        on_another_web(
            "half of the sites with half of the processes",
            "roughly the same coverage",
            format!("at most {off:.2} off"),
            off < 0.15,
        ),
    ]
}
