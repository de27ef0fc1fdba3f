//! On a single site backlinks are a weak signal: most pages have few, and a dense cluster looks important
//! from within.
//!
//! The **thesis**, section 2.5.3: Figure 2.8 (P_ST, IB, G = 5), Figure 2.9 (histogram of backlinks) and
//! Figure 2.10 (P_ST, IR, G = 3), on 1,100 pages of one server. Here a site is a range of as many consecutive
//! pages of the web graph, whose pages are in the order of their URLs. A good part of it must be reachable
//! from its most linked page, and the smaller part must be hot. The figure shows the site whose crawler by
//! PageRank is the median of those tried. These webs are small enough to reorder after every page.

use anyhow::{Context as _, Result};
use freshet_theory::rank::Graph;
use freshet_theory::rank::crawl_order::{Ordering, crawl_order};
use freshet_theory::rank::links::backlinks;
use freshet_theory::rank::pagerank::{Damping, Dangling, exact};

use super::performance::{Curve, area, chart, hot_share, ideal, on_another_web, with_threshold};
use super::webs;
use crate::figure::chart::{Axis, Chart, Look, Plate, Series};
use crate::figure::scale::Scale;
use crate::report::chapter::{Maker, Progress};
use crate::report::exhibit::{Exhibit, Table};
use crate::report::sources::{Need, Sources};

/// Figures 2.8 to 2.10.
pub(super) const MAKER: Maker = Maker {
    name: "figure-2.8",
    title: "Figures 2.8, 2.9 and 2.10: crawlers on a small site",
    needs: Need::Nothing,
    make,
};

/// Number of pages of a site.
const SITE_PAGES: usize = 1_100;
/// Number of sites tried, and the minimum fraction of a site that must be reachable from its most linked
/// page.
const SITES: usize = 9;
const REACHABLE_MIN: f64 = 0.5;
/// Minimum and maximum fraction of hot pages. Otherwise nothing can be found early.
const HOT_SHARE: (f64, f64) = (0.01, 0.5);

const ORDERS: [(&str, Ordering); 3] = [
    ("PageRank", Ordering::PageRank(Damping::THESIS)),
    ("backlink", Ordering::Backlink),
    ("breadth first", Ordering::BreadthFirst),
];

/// Minimum importance of a hot page.
const BACKLINKS_HOT: f64 = 5.0;
const RANK_HOT: f64 = 3.0;

/// One site and the curves of the three orders, by backlinks and by rank.
struct Site {
    first: usize,
    backlinks: Vec<f64>,
    ranks: Vec<f64>,
    by_backlinks: [Curve; 3],
    by_rank: [Curve; 3],
}

fn make(sources: &Sources, progress: &Progress<'_>) -> Result<Exhibit> {
    let (name, graph) = webs::whole(sources)?;
    let starts = (0..graph.pages().saturating_sub(SITE_PAGES)).step_by(SITE_PAGES);
    let candidates: Vec<Candidate> = starts.filter_map(|first| candidate(&graph, first)).collect();
    let mut sites = Vec::new();
    // Choose evenly spaced candidates.
    for candidate in candidates.iter().step_by((candidates.len() / SITES).max(1)).take(SITES) {
        sites.push(crawl(candidate));
        progress(sites.len() as f64 / SITES as f64);
    }
    sites.sort_by(|a, b| area(&a.by_backlinks[0]).total_cmp(&area(&b.by_backlinks[0])));
    let median = sites.get(sites.len() / 2).context("no range of pages is connected enough to be a site")?;
    let worse_than_random = |curves: &[Curve; 3]| {
        curves.iter().all(|curve| curve.iter().any(|(crawled, found)| *found < crawled - 1e-9))
    };
    let worse = sites.iter().filter(|site| worse_than_random(&site.by_backlinks)).count();
    let mean = |of: fn(&Site) -> &[Curve; 3]| {
        let sum = sites.iter().map(|site| of(site).iter().map(area).sum::<f64>() / 3.0).sum::<f64>();
        sum / sites.len() as f64
    };
    let (by_backlinks, by_rank) = (mean(|site| &site.by_backlinks), mean(|site| &site.by_rank));
    let best = sites.iter().filter(|site| {
        let [rank, backlink, breadth] = site.by_rank.each_ref().map(area);
        rank >= backlink && rank >= breadth
    });
    let best = best.count();
    let few = median.backlinks.iter().filter(|backlinks| **backlinks < BACKLINKS_HOT).count() as f64
        / median.backlinks.len() as f64;
    Ok(Exhibit::new(format!(
        "Single sites of about {SITE_PAGES} pages, each crawled from its most linked page. Web: {name}; the \
         site shown begins at page {}.",
        median.first
    ))
    .picture(picture(median))
    .table(table(&sites))
    .compare(on_another_web(
        "crawlers by backlinks, worse than random at times",
        "all three orders",
        format!("all three on {worse} of {} sites", sites.len()),
        worse > 0,
    ))
    .compare(on_another_web(
        "pages with fewer than 5 backlinks",
        "most",
        format!("{:.0}%", 100.0 * few),
        few > 0.5,
    ))
    .compare(on_another_web(
        "mean performance by PageRank against by backlinks",
        "better",
        format!("{by_rank:.3} against {by_backlinks:.3}"),
        by_rank > by_backlinks,
    ))
    .compare(on_another_web(
        "best order when importance is PageRank (Figure 2.10)",
        "PageRank",
        format!("PageRank on {best} of {} sites", sites.len()),
        2 * best > sites.len(),
    )))
}

/// A site that may be crawled.
struct Candidate {
    first: usize,
    graph: Graph,
    start: u32,
    backlinks: Vec<f64>,
    ranks: Vec<f64>,
}

/// The site that begins at a page. `None` if too little of it is reachable, or too little or too much is hot.
fn candidate(graph: &Graph, first: usize) -> Option<Candidate> {
    let pages: Vec<u32> = (first..first + SITE_PAGES).map(|page| page as u32).collect();
    let site = webs::part(graph, &pages);
    let counts = backlinks(&site);
    let start = (0..site.pages() as u32).max_by_key(|page| counts[*page as usize])?;
    let pages = webs::reachable(&site, start);
    if (pages.len() as f64) < REACHABLE_MIN * SITE_PAGES as f64 {
        return None;
    }
    let start = pages.binary_search(&start).ok()? as u32;
    let graph = webs::part(&site, &pages);
    let backlinks: Vec<f64> = backlinks(&graph).into_iter().map(f64::from).collect();
    let ranks = exact(&graph, Damping::THESIS, Dangling::LinksToAll)?;
    let is_some = |share: f64| (HOT_SHARE.0..HOT_SHARE.1).contains(&share);
    let are_some = is_some(hot_share(&backlinks, BACKLINKS_HOT)) && is_some(hot_share(&ranks, RANK_HOT));
    are_some.then_some(Candidate { first, graph, start, backlinks, ranks })
}

fn crawl(site: &Candidate) -> Site {
    let orders = ORDERS.map(|(_, ordering)| crawl_order(&site.graph, site.start, ordering, usize::MAX));
    Site {
        first: site.first,
        backlinks: site.backlinks.clone(),
        ranks: site.ranks.clone(),
        by_backlinks: orders.each_ref().map(|order| with_threshold(&site.backlinks, order, BACKLINKS_HOT)),
        by_rank: orders.each_ref().map(|order| with_threshold(&site.ranks, order, RANK_HOT)),
    }
}

fn picture(site: &Site) -> String {
    let series = |curves: &[Curve; 3], share: f64| -> Vec<Series> {
        let orders = ORDERS.iter().zip(curves).map(|((name, _), curve)| Series::line(*name, curve.clone()));
        let random = Series::line("random", [(0.0, 0.0), (1.0, 1.0)]);
        orders.chain([Series::line("ideal", ideal(share)), random]).collect()
    };
    let (hot, hot_rank) = (hot_share(&site.backlinks, BACKLINKS_HOT), hot_share(&site.ranks, RANK_HOT));
    let by_backlinks = format!("2.8: backlinks, G = 5 ({:.0}% hot)", 100.0 * hot);
    let by_rank = format!("2.10: PageRank, G = 3 ({:.0}% hot)", 100.0 * hot_rank);
    let charts = vec![
        chart(by_backlinks, "P_ST", series(&site.by_backlinks, hot)),
        histogram(&site.backlinks),
        chart(by_rank, "P_ST", series(&site.by_rank, hot_rank)),
    ];
    Plate { heading: "Crawlers on one site".to_owned(), columns: 3, charts }.draw()
}

fn histogram(backlinks: &[f64]) -> Chart {
    const MOST: usize = 30;
    let mut pages = [0.0; MOST + 1];
    for count in backlinks {
        pages[(*count as usize).min(MOST)] += 1.0;
    }
    let bars: Vec<(f64, f64)> =
        pages.iter().enumerate().map(|(count, pages)| (count as f64, *pages)).collect();
    Chart {
        title: "2.9: pages by backlinks".to_owned(),
        across: Axis::new("backlinks (30 or more at the end)", Scale::linear(0.0, MOST as f64)),
        up: Axis::new("pages", Scale::linear_from_zero(pages)),
        series: vec![Series::with_look("pages", Look::Bars, bars)],
        notes: Vec::new(),
    }
}

fn table(sites: &[Site]) -> Table {
    let mut table = Table::new(
        "Mean P_ST over the crawl of each site, PageRank / backlink / breadth first",
        [
            "first page",
            "pages",
            "hot by backlinks",
            "by backlinks, G = 5",
            "hot by PageRank",
            "by PageRank, G = 3",
        ],
    );
    let areas = |curves: &[Curve; 3]| {
        let [rank, backlink, breadth] = curves.each_ref().map(area);
        format!("{rank:.3} / {backlink:.3} / {breadth:.3}")
    };
    for site in sites {
        table.row([
            site.first.to_string(),
            site.backlinks.len().to_string(),
            format!("{:.1}%", 100.0 * hot_share(&site.backlinks, BACKLINKS_HOT)),
            areas(&site.by_backlinks),
            format!("{:.1}%", 100.0 * hot_share(&site.ranks, RANK_HOT)),
            areas(&site.by_rank),
        ]);
    }
    table
}
