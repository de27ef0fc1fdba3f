//! Strengths and weaknesses of each way of sharing a web among processes.
//!
//! The **thesis**, section 3.2 (independent, dynamic and static assignment) and Table 3.1 (firewall,
//! cross-over, exchange), which has words where there are numbers here. The text leaves dynamic assignment to
//! others.

use anyhow::Result;
use freshet_theory::parallel::{Mode, ParallelCrawl, Plan, parallel_crawl};
use freshet_theory::rank::links::backlinks;
use freshet_theory::rank::quality::crawl_and_stop;

use super::super::thesis_2::performance::on_another_web;
use super::backlink_exchange::{self, Exchange};
use super::divided_webs::{DividedWeb, Division, histories, seeds, web_graph};
use super::{dynamic_assignment, independent};
use crate::report::chapter::{Maker, Progress};
use crate::report::exhibit::{Exhibit, Table};
use crate::report::sources::{Need, Sources};

/// Table 3.1.
pub(super) const MAKER: Maker = Maker {
    name: "table-3.1",
    title: "Section 3.2 and Table 3.1: ways of sharing a web among processes",
    needs: Need::Nothing,
    make,
};

const PROCESSES: u32 = 16;
const SEEDS: usize = 5;
/// Fraction of the web that is downloaded to measure quality.
const PART: f64 = 0.05;
/// Number of exchanges of the exchange mode to measure quality.
const EXCHANGES: usize = 100;

/// Measures of one way of sharing.
struct Row {
    name: &'static str,
    coverage: f64,
    overlap: f64,
    communication: f64,
    /// `None` where the order of the downloads cannot be compared.
    quality: Option<f64>,
}

fn make(sources: &Sources, progress: &Progress<'_>) -> Result<Exhibit> {
    let web = web_graph(sources)?;
    let rows = rows(sources, &web);
    progress(0.7);
    let mut exhibit = Exhibit::new(format!(
        "{PROCESSES} processes by site hash, each from {SEEDS} random pages of its own, until nothing is \
         left to do. Quality is P_CS by backlinks when {}% of the web is downloaded. Dynamic: a coordinator \
         hands out sites, or single pages, and is told all URLs that lead elsewhere; what it sends counts as \
         well.",
        100.0 * PART
    ))
    .table(table(&web, &rows));
    if let Some(recorded) = histories(sources)? {
        exhibit = exhibit.table(table(&recorded, &self::rows(sources, &recorded)));
    }
    let [firewall, cross_over, exchange] = [&rows[1], &rows[2], &rows[3]];
    let quality = |row: &Row| row.quality.unwrap_or(0.0);
    Ok(exhibit
        .compare(on_another_web(
            "coverage",
            "firewall bad, cross-over and exchange good",
            format!("{:.2}, {:.2}, {:.2}", firewall.coverage, cross_over.coverage, exchange.coverage),
            firewall.coverage < cross_over.coverage && firewall.coverage < exchange.coverage,
        ))
        .compare(on_another_web(
            "overlap",
            "cross-over bad, firewall and exchange good",
            format!("{:.2}, {:.2}, {:.2}", cross_over.overlap, firewall.overlap, exchange.overlap),
            cross_over.overlap > 0.0 && firewall.overlap == 0.0 && exchange.overlap == 0.0,
        ))
        .compare(on_another_web(
            "quality",
            "exchange good, firewall bad",
            format!("{:.3} and {:.3}", quality(exchange), quality(firewall)),
            quality(exchange) > quality(firewall),
        ))
        .compare(on_another_web(
            "communication",
            "exchange bad, firewall and cross-over good",
            format!(
                "{:.2}, {:.2}, {:.2} URLs per page",
                exchange.communication, firewall.communication, cross_over.communication
            ),
            exchange.communication > 0.0 && firewall.communication == 0.0 && cross_over.communication == 0.0,
        ))
        .compare(on_another_web(
            "communication of dynamic assignment, by site and by page",
            "may vary dramatically with the granularity",
            format!("{:.2} and {:.2} URLs per page", rows[4].communication, rows[5].communication),
            rows[5].communication > 2.0 * rows[4].communication,
        )))
}

fn rows(sources: &Sources, web: &DividedWeb) -> Vec<Row> {
    let owners = web.owners(Division::SiteHash, PROCESSES);
    let seeds = seeds(&owners, PROCESSES, SEEDS, &mut sources.chance("table-3.1"));
    let crawl = |mode: Mode| {
        parallel_crawl(&Plan { graph: &web.graph, owners: &owners, seeds: &seeds, replicated: &[], mode })
    };
    let importance: Vec<f64> = backlinks(&web.graph).into_iter().map(f64::from).collect();
    let downloads = ((PART * web.pages() as f64) as usize).max(1);
    let quality = |exchanges: usize| {
        let plan = Exchange { graph: &web.graph, owners: &owners, seeds: &seeds, exchanges };
        crawl_and_stop(&importance, &backlink_exchange::crawl(&plan, downloads).visited, downloads)
    };
    let row = |name: &'static str, crawl: &ParallelCrawl, quality: Option<f64>| Row {
        name,
        coverage: crawl.coverage(web.pages()).unwrap_or(0.0),
        overlap: crawl.overlap().unwrap_or(0.0),
        communication: crawl.communication().unwrap_or(0.0),
        quality,
    };
    let pages: Vec<u32> = (0..web.pages() as u32).collect();
    vec![
        row("independent", &independent::crawl(&web.graph, &seeds), None),
        row("static, firewall", &crawl(Mode::Firewall), quality(0)),
        row("static, cross-over", &crawl(Mode::CrossOver), None),
        row("static, exchange", &crawl(Mode::Exchange { batch: None }), quality(EXCHANGES)),
        dynamic("dynamic, by site", web, &web.site_of, &seeds),
        dynamic("dynamic, by page", web, &pages, &seeds),
    ]
}

fn dynamic(name: &'static str, web: &DividedWeb, partition_of: &[u32], seeds: &[Vec<u32>]) -> Row {
    let seeds: Vec<u32> = seeds.iter().flatten().copied().collect();
    let crawl = dynamic_assignment::crawl(&web.graph, partition_of, &seeds, PROCESSES as usize);
    Row {
        name,
        coverage: crawl.downloaded as f64 / web.pages() as f64,
        overlap: 0.0,
        communication: (crawl.reported + crawl.handed) as f64 / crawl.downloaded.max(1) as f64,
        quality: None,
    }
}

fn table(web: &DividedWeb, rows: &[Row]) -> Table {
    let mut table = Table::new(
        format!("Web: {}", web.name),
        ["sharing", "coverage", "overlap", "URLs sent per page", "quality"],
    );
    for row in rows {
        table.row([
            row.name.to_owned(),
            format!("{:.3}", row.coverage),
            format!("{:.3}", row.overlap),
            format!("{:.3}", row.communication),
            row.quality.map_or_else(|| "—".to_owned(), |quality| format!("{quality:.3}")),
        ]);
    }
    table
}
