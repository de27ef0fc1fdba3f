//! Processes that exchange backlink counts some ten times in a crawl choose as well as a single process.
//!
//! The **thesis**, section 3.9: Figures 3.9, 3.10 and 3.11, quality and communication against the number of
//! exchanges, when 1.2%, 5% and 20% of the web are downloaded.

use anyhow::Result;
use freshet_theory::rank::links::backlinks;
use freshet_theory::rank::quality::crawl_and_stop;

use super::super::thesis_2::performance::{number_of_another_web, on_another_web};
use super::backlink_exchange::{Exchange, crawl};
use super::divided_webs::{DividedWeb, Division, seeds, web_graph};
use crate::figure::chart::{Axis, Chart, Look, Plate, Series};
use crate::figure::scale::Scale;
use crate::report::chapter::{Maker, Progress};
use crate::report::exhibit::{Exhibit, Table};
use crate::report::sources::{Need, Sources};

/// Figures 3.9 to 3.11.
pub(super) const MAKER: Maker = Maker {
    name: "figure-3.9",
    title: "Figures 3.9, 3.10 and 3.11: quality against the number of exchanges",
    needs: Need::Nothing,
    make,
};

/// Fractions of the web that are downloaded.
const PARTS: [(&str, f64); 3] = [("Figure 3.9", 0.012), ("Figure 3.10", 0.05), ("Figure 3.11", 0.2)];
const PROCESSES: [u32; 4] = [1, 2, 8, 64];
const EXCHANGES: [usize; 8] = [0, 1, 2, 4, 10, 30, 100, 300];
/// Total number of seeds, whatever the number of processes.
const SEEDS: usize = 320;

/// Quality and pairs sent per page, for each number of exchanges.
struct Outcome {
    processes: u32,
    by_exchanges: Vec<(f64, f64)>,
}

fn make(sources: &Sources, progress: &Progress<'_>) -> Result<Exhibit> {
    let web = web_graph(sources)?;
    let importance: Vec<f64> = backlinks(&web.graph).into_iter().map(f64::from).collect();
    let mut parts: Vec<Vec<Outcome>> = Vec::new();
    for (number, (_, part)) in PARTS.into_iter().enumerate() {
        let downloads = (part * web.pages() as f64) as usize;
        let outcome = |processes: u32| Outcome {
            processes,
            by_exchanges: EXCHANGES
                .map(|exchanges| run(sources, &web, &importance, processes, exchanges, downloads))
                .into(),
        };
        parts.push(PROCESSES.map(outcome).into());
        progress((number + 1) as f64 / PARTS.len() as f64);
    }
    let quality =
        |part: usize, process: usize, exchange: usize| parts[part][process].by_exchanges[exchange].0;
    let pairs = |part: usize, process: usize, exchange: usize| parts[part][process].by_exchanges[exchange].1;
    let last = EXCHANGES.len() - 1;
    let best = (0..=last).map(|exchange| quality(0, 3, exchange)).fold(0.0, f64::max);
    let loss = |part: usize| 1.0 - quality(part, 3, 0) / quality(part, 0, 0);
    Ok(Exhibit::new(format!(
        "Each process visits the URL with most backlinks that it knows of; at an exchange it tells the \
         others how many links to their pages it has read. Quality is P_CS: the part of the downloads that \
         are among as many most linked pages. All crawls begin at the same number of random pages, {SEEDS}. \
         Web: {}.",
        web.name
    ))
    .picture(picture(&parts))
    .table(table(&parts))
    .compare(number_of_another_web(
        "firewall mode, 1.2% downloaded: quality of 2 and of 64 processes",
        "0.12 and 0.025",
        format!("{:.3} and {:.3}", quality(0, 1, 0), quality(0, 3, 0)),
    ))
    .compare(on_another_web(
        "quality without exchange as processes become more",
        "becomes worse",
        (0..PROCESSES.len())
            .map(|process| format!("{:.3}", quality(0, process, 0)))
            .collect::<Vec<_>>()
            .join(", "),
        quality(0, 3, 0) < quality(0, 1, 0) && quality(0, 1, 0) <= quality(0, 0, 0) + 1e-9,
    ))
    .compare(on_another_web(
        "what the firewall mode loses with 64 processes, 1.2%, 5% and 20% downloaded",
        "significant for small parts, not very for 20%",
        format!("{:.0}%, {:.0}%, {:.0}%", 100.0 * loss(0), 100.0 * loss(1), 100.0 * loss(2)),
        loss(2) < loss(0),
    ))
    .compare(on_another_web(
        "exchanges for the highest quality of 64 processes",
        "less than 100",
        format!("{:.3} with 100, {best:.3} at best", quality(0, 3, 6)),
        quality(0, 3, 6) > 0.95 * best,
    ))
    .compare(on_another_web(
        "pairs sent per page with 1, 10 and 100 exchanges (8 processes, 20%)",
        "not in proportion to the exchanges",
        format!("{:.3}, {:.3}, {:.3}", pairs(2, 2, 1), pairs(2, 2, 4), pairs(2, 2, 6)),
        pairs(2, 2, 6) < 50.0 * pairs(2, 2, 1),
    )))
}

fn run(
    sources: &Sources,
    web: &DividedWeb,
    importance: &[f64],
    processes: u32,
    exchanges: usize,
    downloads: usize,
) -> (f64, f64) {
    let owners = web.owners(Division::SiteHash, processes);
    let all = seeds(&vec![0; web.pages()], 1, SEEDS, &mut sources.chance("figure-3.9")).remove(0);
    let mut seeds = vec![Vec::new(); processes as usize];
    all.into_iter().for_each(|seed| seeds[owners[seed as usize] as usize].push(seed));
    let plan = Exchange { graph: &web.graph, owners: &owners, seeds: &seeds, exchanges };
    let crawl = crawl(&plan, downloads);
    let quality = crawl_and_stop(importance, &crawl.visited, downloads).unwrap_or(0.0);
    (quality, crawl.pairs_sent as f64 / crawl.visited.len().max(1) as f64)
}

fn picture(parts: &[Vec<Outcome>]) -> String {
    // A logarithmic axis has no place for zero exchanges: draw them at a third of one.
    let place = |exchanges: usize| if exchanges == 0 { 1.0 / 3.0 } else { exchanges as f64 };
    let chart = |title: String, up: &str, value: fn(&(f64, f64)) -> f64, outcomes: &[Outcome]| {
        let points = |outcome: &Outcome| -> Vec<(f64, f64)> {
            EXCHANGES.iter().zip(&outcome.by_exchanges).map(|(x, both)| (place(*x), value(both))).collect()
        };
        let values: Vec<f64> = outcomes.iter().flat_map(&points).map(|(_, value)| value).collect();
        Chart {
            title,
            across: Axis::new("exchanges (none at 1/3)", Scale::logarithmic(EXCHANGES.map(place))),
            up: Axis::new(up, Scale::linear_from_zero(values)),
            series: outcomes
                .iter()
                .map(|outcome| {
                    let name = if outcome.processes == 1 {
                        "1 process".to_owned()
                    } else {
                        format!("{} processes", outcome.processes)
                    };
                    Series::with_look(name, Look::LineAndPoints, points(outcome))
                })
                .collect(),
            notes: Vec::new(),
        }
    };
    let mut charts = Vec::new();
    for ((figure, part), outcomes) in PARTS.iter().zip(parts) {
        let percent = 100.0 * part;
        charts.push(chart(
            format!("{figure} (a): {percent}% downloaded"),
            "quality, P_CS",
            |both| both.0,
            outcomes,
        ));
        charts.push(chart(
            format!("{figure} (b): {percent}% downloaded"),
            "pairs per page",
            |both| both.1,
            outcomes,
        ));
    }
    Plate { heading: "Quality of the pages, and what it costs in messages".to_owned(), columns: 2, charts }
        .draw()
}

fn table(parts: &[Vec<Outcome>]) -> Table {
    let mut table = Table::new(
        "Quality P_CS / pairs sent per page",
        ["downloaded", "processes", "0", "1", "2", "4", "10", "30", "100", "300 exchanges"],
    );
    for ((_, part), outcomes) in PARTS.iter().zip(parts) {
        for outcome in outcomes {
            let both =
                outcome.by_exchanges.iter().map(|(quality, pairs)| format!("{quality:.3} / {pairs:.2}"));
            let head = [format!("{}%", 100.0 * part), outcome.processes.to_string()];
            table.row(head.into_iter().chain(both));
        }
    }
    table
}
