//! A queue by PageRank need not be sorted after every page: some ten reorders in a whole crawl lose little.
//!
//! Supplements the **thesis**, section 2.5.2, which does not say how its crawler of 179,000 pages reordered.
//! On a small web, batches are compared with a reorder after each page. On the whole web, batches are
//! compared with each other, together with their cost.

use anyhow::Result;
use freshet_theory::rank::crawl_order::{Ordering, crawl_order};
use freshet_theory::rank::links::backlinks;
use freshet_theory::rank::pagerank::Damping;

use super::performance::{area, with_threshold};
use super::{batched_pagerank, webs};
use crate::report::chapter::{Maker, Progress};
use crate::report::exhibit::{Comparison, Exhibit, Table};
use crate::report::sources::{Need, Sources};

/// The table.
pub(super) const MAKER: Maker = Maker {
    name: "reordering",
    title: "Section 2.5.2: reordering by PageRank now and then",
    needs: Need::Nothing,
    make,
};

/// Number of pages of the web on which every page causes a reorder.
const SMALL: usize = 1_500;

fn make(sources: &Sources, progress: &Progress<'_>) -> Result<Exhibit> {
    let mut table = Table::new(
        "Mean P_ST over the crawl, for the hundredth of pages with most backlinks",
        ["web", "reorders", "mean P_ST", "seconds for all reorders"],
    );
    let small =
        webs::from_best_start("generated", &webs::generated(SMALL, &mut sources.chance("reordering")));
    let pages = small.graph.pages();
    let importance: Vec<f64> = backlinks(&small.graph).into_iter().map(f64::from).collect();
    let target = target(&importance);
    let mean = |order: &[u32]| area(&with_threshold(&importance, order, target));
    let ordering = Ordering::PageRank(Damping::THESIS);
    let every = mean(&crawl_order(&small.graph, small.start, ordering, usize::MAX));
    table.row([small.name.clone(), format!("{pages} (each page)"), format!("{every:.4}"), "—".to_owned()]);
    let mut losses = Vec::new();
    for reorders in [100, 30, 10, 3] {
        let crawl = batched_pagerank::crawl(&small.graph, small.start, pages.div_ceil(reorders), |_| {});
        let mean = mean(&crawl.order);
        losses.push(every - mean);
        table.row([small.name.clone(), crawl.reorders.to_string(), format!("{mean:.4}"), seconds(&crawl)]);
    }
    progress(0.2);
    let web = webs::large(sources)?;
    let importance: Vec<f64> = backlinks(&web.graph).into_iter().map(f64::from).collect();
    let target = self::target(&importance);
    for (number, reorders) in [30, 10, 3].into_iter().enumerate() {
        let batch = web.graph.pages().div_ceil(reorders);
        let crawl = batched_pagerank::crawl(&web.graph, web.start, batch, |_| {});
        let mean = area(&with_threshold(&importance, &crawl.order, target));
        table.row([web.name.clone(), crawl.reorders.to_string(), format!("{mean:.4}"), seconds(&crawl)]);
        progress(0.2 + 0.25 * (number + 1) as f64);
    }
    Ok(Exhibit::new(
        "The text sorts the queue by new ranks after every page, which takes the pages times the links. \
         Sorted now and then, pages found since the last time wait for the next.",
    )
    .table(table)
    .compare(Comparison::claim(
        "what a hundred reorders lose of mean P_ST on the small web",
        "(not in the text)",
        format!("{:.4}", losses[0]),
        losses[0].abs() < 0.05,
    )))
}

fn seconds(crawl: &batched_pagerank::BatchedCrawl) -> String {
    format!("{:.2}", crawl.reorder_time.as_secs_f64())
}

/// The importance that a hundredth of the pages reach.
fn target(importance: &[f64]) -> f64 {
    let mut falling = importance.to_vec();
    falling.sort_by(|a, b| b.total_cmp(a));
    falling[importance.len() / 100]
}
