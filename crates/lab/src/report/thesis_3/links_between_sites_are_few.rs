//! Divided by site, processes send each other about one URL per page; divided by URL, nearly every link.
//! Replicated URLs need not be sent.
//!
//! The **thesis**, section 3.8: Figure 3.7 (URLs exchanged per page against processes) and Figure 3.8
//! (against the number of replicated URLs).

use anyhow::Result;
use freshet_theory::parallel::{Mode, Plan, parallel_crawl};
use freshet_theory::rank::links::backlinks;

use super::super::thesis_2::performance::{number_of_another_web, on_another_web};
use super::divided_webs::{DividedWeb, Division, histories, seeds, web_graph};
use super::firewalls_lose_pages::{Curve, PROCESSES, chart_of, processes};
use crate::figure::chart::{Axis, Plate};
use crate::figure::scale::Scale;
use crate::report::chapter::{Maker, Progress};
use crate::report::exhibit::{Exhibit, Table};
use crate::report::sources::{Need, Sources};

/// Figures 3.7 and 3.8.
pub(super) const MAKER: Maker = Maker {
    name: "figure-3.7",
    title: "Figures 3.7 and 3.8: URLs exchanged, with and without replication",
    needs: Need::Nothing,
    make,
};

const SEEDS: usize = 5;
/// Numbers of processes of Figure 3.8.
const REPLICATED_PROCESSES: [u32; 3] = [4, 16, 64];
/// Replicated URLs of Figure 3.8, as fractions of the web: 10,000 of 40 million are a fortieth of a percent.
const REPLICATED: [f64; 7] = [0.0, 0.000_25, 0.001, 0.0025, 0.005, 0.02, 0.1];

fn make(sources: &Sources, progress: &Progress<'_>) -> Result<Exhibit> {
    let web = web_graph(sources)?;
    let recorded = histories(sources)?;
    let curves = |web: &DividedWeb| -> Vec<(String, Curve)> {
        let curve = |division: Division| {
            let sent = |processes: u32| (f64::from(processes), sent(sources, web, division, processes, &[]));
            (division.name().to_owned(), PROCESSES.into_iter().map(sent).collect())
        };
        Division::ALL.map(curve).into()
    };
    let by_division = curves(&web);
    progress(0.4);
    let second = recorded.as_ref().map(curves).unwrap_or_default();
    progress(0.6);
    let popular = by_popularity(&web);
    let by_replicas: Vec<(String, Curve)> = REPLICATED_PROCESSES
        .map(|processes| {
            let sent = |part: f64| {
                let count = (part * web.pages() as f64) as usize;
                (100.0 * part, sent(sources, &web, Division::SiteHash, processes, &popular[..count]))
            };
            (format!("{processes} processes"), REPLICATED.into_iter().map(sent).collect())
        })
        .into();
    let names = [web.name.clone()].into_iter().chain(recorded.iter().map(|web| web.name.clone()));
    let (by_site, by_url, by_hierarchy) = (&by_division[0].1, &by_division[1].1, &by_division[2].1);
    let (none, some, more) = (by_replicas[2].1[0].1, by_replicas[2].1[1].1, by_replicas[2].1[3].1);
    Ok(Exhibit::new(format!(
        "Each URL that leads to the part of another process is sent at once, as often as it is found. Webs: \
         {}.",
        names.collect::<Vec<_>>().join("; ")
    ))
    .picture(picture(&by_division, &second, &by_replicas))
    .table(table(&by_division, &second))
    .compare(number_of_another_web(
        "site hash, 2 processes",
        "0.4 URLs per page",
        format!("{:.2}", by_site[1].1),
    ))
    .compare(number_of_another_web(
        "site hash, 16 processes",
        "0.8 URLs per page",
        format!("{:.2}", by_site[4].1),
    ))
    .compare(number_of_another_web("URL hash, 2 processes", "5 URLs per page", format!("{:.2}", by_url[1].1)))
    .compare(on_another_web(
        "site hash against URL hash",
        "significantly less",
        format!("{:.2} against {:.2} with 16 processes", by_site[4].1, by_url[4].1),
        by_site.iter().zip(by_url).skip(1).all(|(site, url)| site.1 < 0.5 * url.1),
    ))
    .compare(on_another_web(
        "hierarchy against site hash",
        "may have even fewer inter-partition links; no significant difference was seen",
        format!("{:.2} against {:.2} with 16 processes", by_hierarchy[4].1, by_site[4].1),
        by_hierarchy[4].1 <= by_site[4].1,
    ))
    .compare(number_of_another_web(
        "64 processes, 0.025% of URLs replicated",
        "40% fewer",
        format!("{:.0}% fewer", 100.0 * (1.0 - some / none)),
    ))
    .compare(number_of_another_web(
        "64 processes, 0.25% of URLs replicated",
        "51% fewer",
        format!("{:.0}% fewer", 100.0 * (1.0 - more / none)),
    ))
    .compare(on_another_web(
        "what each further replicated URL saves",
        "less and less",
        by_replicas[2].1.iter().map(|(_, sent)| format!("{sent:.2}")).collect::<Vec<_>>().join(", "),
        (none - some) / 0.025 > (some - more) / 0.225,
    )))
}

/// URLs sent per downloaded page.
fn sent(sources: &Sources, web: &DividedWeb, division: Division, processes: u32, replicated: &[u32]) -> f64 {
    let owners = web.owners(division, processes);
    let seeds = seeds(&owners, processes, SEEDS, &mut sources.chance("figure-3.7"));
    let mode = Mode::Exchange { batch: None };
    let plan = Plan { graph: &web.graph, owners: &owners, seeds: &seeds, replicated, mode };
    parallel_crawl(&plan).communication().unwrap_or(0.0)
}

/// All pages, most backlinks first.
fn by_popularity(web: &DividedWeb) -> Vec<u32> {
    let counts = backlinks(&web.graph);
    let mut pages: Vec<u32> = (0..web.pages() as u32).collect();
    pages.sort_by_key(|page| std::cmp::Reverse(counts[*page as usize]));
    pages
}

fn picture(
    by_division: &[(String, Curve)],
    second: &[(String, Curve)],
    by_replicas: &[(String, Curve)],
) -> String {
    let chart = |title: &str, across: Axis, curves: &[(String, Curve)]| {
        let sent = curves.iter().flat_map(|(_, curve)| curve).map(|(_, sent)| *sent);
        chart_of(title, across, Axis::new("URLs sent per page", Scale::linear_from_zero(sent)), curves)
    };
    let mut charts = vec![chart("Figure 3.7: web graph", processes(), by_division)];
    if !second.is_empty() {
        charts.push(chart("Figure 3.7: links of the histories", processes(), second));
    }
    // A logarithmic axis has no place for zero replicas. The first replicas matter most, so a linear axis is
    // cut off.
    let replicated = Axis::new("replicated URLs (% of the web)", Scale::linear(0.0, 2.0));
    charts.push(chart("Figure 3.8: site hash", replicated, by_replicas));
    Plate { heading: "URLs that processes send each other".to_owned(), columns: charts.len(), charts }.draw()
}

fn table(by_division: &[(String, Curve)], second: &[(String, Curve)]) -> Table {
    let mut table = Table::new(
        "URLs sent per page downloaded",
        ["web and division", "1", "2", "4", "8", "16", "32", "64 processes"],
    );
    let first = by_division.iter().map(|(name, curve)| (format!("web graph, {name}"), curve));
    let second = second.iter().map(|(name, curve)| (format!("histories, {name}"), curve));
    for (name, curve) in first.chain(second) {
        table.row([name].into_iter().chain(curve.iter().map(|(_, sent)| format!("{sent:.3}"))));
    }
    table
}
