//! A crawler ordered by PageRank finds important pages earlier than one ordered by backlinks or breadth
//! first, even if importance is the number of backlinks.
//!
//! The **thesis**, section 2.5.2: Figure 2.4 (P_ST, IB, G = 100), Figure 2.6 (P_CS, IB), Figure 2.7 (P_ST,
//! IR, G = 13), and the limited buffer of section 2.3, for which the text has no figure. PageRank reorders in
//! batches: [`super::batched_pagerank`].

use anyhow::Result;
use freshet_theory::rank::Graph;
use freshet_theory::rank::crawl_order::{Ordering, crawl_order, random_crawl_order};
use freshet_theory::rank::links::backlinks;
use freshet_theory::rank::pagerank::{Damping, Dangling, approximate};
use freshet_theory::rank::quality::{Hot, limited_buffer};

use super::limited_buffer::kept;
use super::performance::{Curve, and_stop, area, chart, hot_share, ideal, on_another_web, with_threshold};
use super::{batched_pagerank, webs};
use crate::figure::chart::{Axis, Chart, Look, Plate, Series};
use crate::figure::scale::Scale;
use crate::report::chapter::{Maker, Progress};
use crate::report::exhibit::{Exhibit, Table};
use crate::report::sources::{Need, Sources};

/// Figures 2.4, 2.6 and 2.7.
pub(super) const MAKER: Maker = Maker {
    name: "figure-2.4",
    title: "Figures 2.4, 2.6 and 2.7: breadth first, backlink and PageRank crawlers",
    needs: Need::Nothing,
    make,
};

/// Number of reorders of the crawl by PageRank.
const REORDERS: usize = 100;

/// A crawl by one of the orders.
pub(super) struct Crawl {
    pub(super) name: &'static str,
    pub(super) order: Vec<u32>,
}

fn make(sources: &Sources, progress: &Progress<'_>) -> Result<Exhibit> {
    let web = webs::large(sources)?;
    let graph = &web.graph;
    progress(0.05);
    let by_backlinks: Vec<f64> = backlinks(graph).into_iter().map(f64::from).collect();
    let by_rank = approximate(graph, Damping::THESIS, Dangling::LinksToAll, 1e-6);
    let batched = batched_pagerank::crawl(graph, web.start, graph.pages().div_ceil(REORDERS), |share| {
        progress(0.05 + 0.6 * share);
    });
    let cost = format!(
        "PageRank reorders its queue {} times, which takes {:.0} s in all here; a reorder after each of {} \
         pages would take {:.0} hours.",
        batched.reorders,
        batched.reorder_time.as_secs_f64(),
        graph.pages(),
        batched.reorder_time.as_secs_f64() / batched.reorders as f64 * graph.pages() as f64 / 3600.0,
    );
    let crawls = [
        Crawl { name: "PageRank", order: batched.order },
        Crawl { name: "backlink", order: crawl_order(graph, web.start, Ordering::Backlink, usize::MAX) },
        Crawl {
            name: "breadth first",
            order: crawl_order(graph, web.start, Ordering::BreadthFirst, usize::MAX),
        },
        Crawl {
            name: "random of the queue",
            order: random_crawl_order(graph, web.start, usize::MAX, &mut sources.chance("figure-2.4")),
        },
    ];
    progress(0.75);
    let (backlinks_hot, rank_hot) = (100.0, 13.0);
    let each = |curve: &dyn Fn(&[u32]) -> Curve| -> Vec<Curve> {
        crawls.iter().map(|crawl| curve(&crawl.order)).collect()
    };
    let figures = [
        (
            format!(
                "Figure 2.4: backlinks, G = 100 ({:.2}% hot)",
                100.0 * hot_share(&by_backlinks, backlinks_hot)
            ),
            "P_ST",
            each(&|order| with_threshold(&by_backlinks, order, backlinks_hot)),
        ),
        (
            "Figure 2.6: backlinks, crawl and stop".to_owned(),
            "P_CS",
            each(&|order| and_stop(&by_backlinks, order)),
        ),
        (
            format!("Figure 2.7: PageRank, G = 13 ({:.2}% hot)", 100.0 * hot_share(&by_rank, rank_hot)),
            "P_ST",
            each(&|order| with_threshold(&by_rank, order, rank_hot)),
        ),
    ];
    progress(0.85);
    let mut table = Table::new(
        "Mean performance over the whole crawl",
        ["order", "2.4: P_ST, backlinks", "2.6: P_CS, backlinks", "2.7: P_ST, PageRank"],
    );
    for (number, crawl) in crawls.iter().enumerate() {
        let areas = figures.each_ref().map(|(_, _, curves)| format!("{:.3}", area(&curves[number])));
        table.row([crawl.name.to_owned()].into_iter().chain(areas));
    }
    let buffer = buffers(graph, &by_backlinks, &crawls);
    let mut exhibit = Exhibit::new(format!(
        "The three orders of the text, and one that takes any URL of the queue, by the three measures of the \
         text. Web: {}.",
        web.name
    ))
    .text(cost)
    .picture(pictures(&figures, &crawls, &buffer, [&by_backlinks, &by_rank]))
    .table(table);
    for (number, what) in
        ["backlinks, P_ST (Figure 2.4)", "backlinks, P_CS (Figure 2.6)", "PageRank, P_ST (Figure 2.7)"]
            .into_iter()
            .enumerate()
    {
        let areas: Vec<f64> = figures[number].2.iter().map(area).collect();
        exhibit = exhibit.compare(on_another_web(
            format!("best order for {what}"),
            "PageRank",
            format!("PageRank {:.3}, backlink {:.3}, breadth first {:.3}", areas[0], areas[1], areas[2]),
            areas[0] > areas[1] && areas[0] > areas[2],
        ));
    }
    Ok(exhibit)
}

/// Sizes of the buffer, as fractions of the web.
const ROOMS: [f64; 6] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5];

/// P_BC of each crawl for each buffer size. There are as many hot pages as fit into the buffer.
fn buffers(graph: &Graph, importance: &[f64], crawls: &[Crawl]) -> Vec<Curve> {
    let performance = |crawl: &Crawl, room: f64| {
        let pages = ((room * graph.pages() as f64) as usize).max(1);
        limited_buffer(importance, &kept(graph, &crawl.order, pages), Hot::Top(pages)).unwrap_or(0.0)
    };
    crawls.iter().map(|crawl| ROOMS.iter().map(|room| (*room, performance(crawl, *room))).collect()).collect()
}

fn pictures(
    figures: &[(String, &str, Vec<Curve>)],
    crawls: &[Crawl],
    buffer: &[Curve],
    [by_backlinks, by_rank]: [&[f64]; 2],
) -> String {
    let series = |curves: &[Curve], look: Look| -> Vec<Series> {
        crawls
            .iter()
            .zip(curves)
            .map(|(crawl, curve)| Series::with_look(crawl.name, look, curve.clone()))
            .collect()
    };
    let mut charts: Vec<Chart> = figures
        .iter()
        .map(|(title, measure, curves)| chart(title.clone(), measure, series(curves, Look::Line)))
        .collect();
    charts[0].series.push(Series::line("ideal", ideal(hot_share(by_backlinks, 100.0))));
    charts[2].series.push(Series::line("ideal", ideal(hot_share(by_rank, 13.0))));
    charts.push(Chart {
        title: "Limited buffer: backlinks".to_owned(),
        across: Axis::new("room, as part of the web", Scale::logarithmic(ROOMS)),
        up: Axis::new("P_BC", Scale::linear(0.0, 1.0)),
        series: series(buffer, Look::Line),
        notes: Vec::new(),
    });
    Plate { heading: "Which order finds important pages first".to_owned(), columns: 2, charts }.draw()
}
