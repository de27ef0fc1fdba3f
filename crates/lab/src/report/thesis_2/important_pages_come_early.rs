//! A crawler ordered by backlinks finds pages with many backlinks early, and earlier the more they have. The
//! last ones are as hard to find as at random.
//!
//! The **thesis**, section 2.5.2, Figure 2.3: I(p) = IB(p), O(u) = IB'(p), crawl and stop with threshold.

use anyhow::Result;
use freshet_theory::rank::crawl_order::{Ordering, crawl_order};
use freshet_theory::rank::links::backlinks;

use super::performance::{
    Curve, area, at, chart, hot_share, ideal, number_of_another_web, on_another_web, with_threshold,
};
use super::webs;
use crate::figure::chart::{Plate, Series};
use crate::report::chapter::{Maker, Progress};
use crate::report::exhibit::{Exhibit, Table};
use crate::report::sources::{Need, Sources};

/// Figure 2.3.
pub(super) const MAKER: Maker = Maker {
    name: "figure-2.3",
    title: "Figure 2.3: hot pages found by the backlink crawler",
    needs: Need::Nothing,
    make,
};

/// Minimum backlinks of a hot page, and the fraction of hot pages in the text.
const TARGETS: [(f64, &str); 3] = [(3.0, "47%"), (10.0, "10%"), (100.0, "0.8%")];

fn make(sources: &Sources, progress: &Progress<'_>) -> Result<Exhibit> {
    let web = webs::large(sources)?;
    progress(0.3);
    let importance: Vec<f64> = backlinks(&web.graph).into_iter().map(f64::from).collect();
    let order = crawl_order(&web.graph, web.start, Ordering::Backlink, usize::MAX);
    progress(0.6);
    let curves: Vec<(f64, f64, Curve)> = TARGETS
        .iter()
        .map(|(target, _)| {
            (*target, hot_share(&importance, *target), with_threshold(&importance, &order, *target))
        })
        .collect();
    let mut charts = Vec::new();
    let mut table = Table::new(
        "Hot pages, and the part of them found on the way",
        ["backlinks G", "hot pages", "hot in the text", "at 0.2", "at 0.5", "at 0.8", "mean over the crawl"],
    );
    for ((target, share, curve), (_, printed)) in curves.iter().zip(TARGETS) {
        let found = [0.2, 0.5, 0.8].map(|place| format!("{:.3}", at(curve, place)));
        let row = [format!("{target}"), format!("{:.2}%", 100.0 * share), printed.to_owned()];
        table.row(row.into_iter().chain(found).chain([format!("{:.3}", area(curve))]));
        let series = vec![
            Series::line("crawler by backlinks", curve.clone()),
            Series::line("ideal", ideal(*share)),
            Series::line("random", [(0.0, 0.0), (1.0, 1.0)]),
        ];
        charts.push(chart(format!("G = {target}"), "P_ST: part of the hot pages", series));
    }
    let plate = Plate { heading: "Hot pages found by the backlink crawler".to_owned(), columns: 3, charts };
    let [low, middle, high] = [0, 1, 2].map(|number| area(&curves[number].2));
    let last: Vec<f64> = curves.iter().map(|(_, _, curve)| (1.0 - at(curve, 0.8)) / 0.2).collect();
    let like_random = last.iter().all(|rate| (0.5..1.5).contains(rate));
    Ok(Exhibit::new(format!(
        "A page is hot if it has G or more backlinks. The steeper the curve begins, the better the crawler \
         guesses. Web: {}.",
        web.name
    ))
    .picture(plate.draw())
    .table(table)
    .compare(number_of_another_web(
        "hot pages of G = 100 found when a fifth is crawled",
        "0.5",
        format!("{:.2}", at(&curves[2].2, 0.2)),
    ))
    .compare(on_another_web(
        "mean performance as G rises",
        "the more stringent, the faster",
        format!("{low:.3}, {middle:.3}, {high:.3}"),
        low < middle && middle < high,
    ))
    .compare(on_another_web(
        "rate of finding hot pages beyond 0.8, over that of a random crawler",
        "roughly the same",
        last.iter().map(|rate| format!("{rate:.2}")).collect::<Vec<_>>().join(", "),
        like_random,
    )))
}
