//! Pages about a topic link to one another: a crawler that also follows the links of hot pages finds them
//! sooner.
//!
//! The **thesis**, section 2.5.4: the basic crawler with a hot queue (Figure 2.12) and the modified one,
//! which counts URLs near a hot page as hot (Figures 2.14 and 2.15), each ordered breadth first, by backlinks
//! and by PageRank. The text looks for the words *computer* and *admission* in pages that are not public, so
//! this web is synthetic. Each site has one topic. Pages on sites of the topic are hot more often. Links stay
//! on the site or seek sites of their topic, and some anchors name the topic. The rarer topic stands for
//! *admission*.

use anyhow::Result;
use freshet_theory::rank::Graph;
use freshet_theory::rank::crawl_order::Ordering;
use freshet_theory::rank::pagerank::Damping;
use freshet_theory::rank::topic_crawl::{Topic, topic_crawl_order};
use rand::{Rng, RngExt as _};

use super::performance::{Curve, area, chart, hot_share, ideal, on_another_web, with_threshold};
use super::webs;
use crate::figure::chart::{Chart, Plate, Series};
use crate::report::chapter::{Maker, Progress};
use crate::report::exhibit::{Exhibit, Table};
use crate::report::sources::{Need, Sources};

/// Figures 2.12, 2.14 and 2.15.
pub(super) const MAKER: Maker = Maker {
    name: "figure-2.12",
    title: "Figures 2.12, 2.14 and 2.15: crawlers that look for a topic",
    needs: Need::Nothing,
    make,
};

const ORDERS: [(&str, Ordering); 3] = [
    ("PageRank", Ordering::PageRank(Damping::THESIS)),
    ("backlink", Ordering::Backlink),
    ("breadth first", Ordering::BreadthFirst),
];

/// Number of links from a hot page within which a URL counts as hot: "< 3" in the figure.
const DISTANCE: u32 = 2;

/// The crawlers: name, fraction of the sites that have the topic, distance of the hot queue.
const FIGURES: [(&str, f64, u32); 3] = [
    ("2.12: basic, common topic", 0.1, 0),
    ("2.14: modified, common topic", 0.1, DISTANCE),
    ("2.15: modified, rare topic", 0.04, DISTANCE),
];

fn make(sources: &Sources, progress: &Progress<'_>) -> Result<Exhibit> {
    let mut table = Table::new(
        "Mean P_ST over the whole crawl",
        ["crawler", "hot pages", "PageRank", "backlink", "breadth first", "random"],
    );
    let mut charts: Vec<Chart> = Vec::new();
    let mut areas = Vec::new();
    for (number, (name, topic_sites, distance)) in FIGURES.into_iter().enumerate() {
        let web = TopicalWeb::new(topic_sites, &mut sources.chance("topical-web"));
        let importance: Vec<f64> = web.is_hot.iter().map(|hot| f64::from(u8::from(*hot))).collect();
        let share = hot_share(&importance, 1.0);
        let curves: Vec<Curve> = ORDERS
            .iter()
            .map(|(_, ordering)| with_threshold(&importance, &web.crawl(*ordering, distance), 1.0))
            .collect();
        let means: Vec<f64> = curves.iter().map(area).collect();
        let cells = means.iter().map(|mean| format!("{mean:.3}")).chain(["0.500".to_owned()]);
        table.row([name.to_owned(), format!("{:.1}%", 100.0 * share)].into_iter().chain(cells));
        let series = ORDERS.iter().zip(curves).map(|((name, _), curve)| Series::line(*name, curve));
        let random = Series::line("random", [(0.0, 0.0), (1.0, 1.0)]);
        let series = series.chain([Series::line("ideal", ideal(share)), random]).collect();
        charts.push(chart(name, "P_ST", series));
        areas.push(means);
        progress((number + 1) as f64 / FIGURES.len() as f64);
    }
    let (basic, modified) = (&areas[0], &areas[1]);
    let gap = |means: &[f64]| {
        let (low, high) =
            means.iter().fold((1.0, 0.0), |(low, high): (f64, f64), mean| (low.min(*mean), high.max(*mean)));
        high - low
    };
    let list = |means: &[f64]| means.iter().map(|mean| format!("{mean:.3}")).collect::<Vec<_>>().join(", ");
    let plate =
        Plate { heading: "Pages about a topic, found by three crawlers".to_owned(), columns: 3, charts };
    Ok(Exhibit::new(format!(
        "A made-up web of {PAGES} pages. A link goes to the hot queue when its anchor names the topic; the \
         modified crawler puts there also what is within {DISTANCE} links of a hot page. Printed: the text's \
         crawl of other pages.",
    ))
    .picture(plate.draw())
    .table(table)
    .compare(on_another_web(
        "basic crawler: breadth first against the others",
        "breadth first alone is better than random",
        format!("PageRank, backlink, breadth first: {}", list(basic)),
        basic[2] > basic[0] && basic[2] > basic[1],
    ))
    .compare(on_another_web(
        "modified against basic crawler",
        "all orders improve significantly",
        format!("{} against {}", list(modified), list(basic)),
        modified.iter().zip(basic).all(|(modified, basic)| modified > basic),
    ))
    .compare(on_another_web(
        "difference between the best and the worst order, basic and modified",
        "that between breadth first and the others decreased",
        format!("{:.3} and {:.3}", gap(basic), gap(modified)),
        gap(modified) < gap(basic),
    ))
    .compare(on_another_web(
        "the rare topic",
        "the same conclusion",
        list(&areas[2]),
        areas[2].iter().all(|mean| *mean > 0.5),
    )))
}

/// Number of pages, and pages per site. The time of a crawl by PageRank grows with the third power of the
/// pages.
const PAGES: usize = 1_800;
const SITE_PAGES: usize = 30;

/// Probability that a page is hot on a site of the topic, and elsewhere.
const HOT: (f64, f64) = (0.7, 0.01);
/// Probability that the anchor of a link to a hot page names the topic, and to another page.
const NAMED: (f64, f64) = (0.15, 0.005);
/// Links per page, and the fractions of them that stay on the site, and that seek a site of their own topic.
const LINKS: usize = 8;
const STAYS: f64 = 0.92;
const SEEKS: f64 = 0.5;

/// A synthetic web with a topic.
struct TopicalWeb {
    graph: Graph,
    is_hot: Vec<bool>,
    /// Whether each link, by its position in the rows, names the topic.
    is_named: Vec<Vec<bool>>,
}

impl TopicalWeb {
    fn new(topic_sites: f64, chance: &mut impl Rng) -> Self {
        let sites = PAGES / SITE_PAGES;
        let of_topic: Vec<bool> = (0..sites).map(|_| chance.random_bool(topic_sites)).collect();
        let hot = |page: usize| if of_topic[page / SITE_PAGES] { HOT.0 } else { HOT.1 };
        let is_hot: Vec<bool> = (0..PAGES).map(|page| chance.random_bool(hot(page))).collect();
        let topic: Vec<usize> = (0..sites).filter(|site| of_topic[*site]).collect();
        let mut links = Vec::new();
        for page in 0..PAGES {
            let site = page / SITE_PAGES;
            for _ in 0..chance.random_range(1..2 * LINKS) {
                let to = if chance.random_bool(STAYS) {
                    site
                } else if of_topic[site] && chance.random_bool(SEEKS) {
                    topic[chance.random_range(0..topic.len())]
                } else {
                    chance.random_range(0..sites)
                };
                // The first page of a site is its home page, the target of half of the links from outside.
                let is_home = to != site && chance.random_bool(0.5);
                let place = if is_home { 0 } else { chance.random_range(0..SITE_PAGES) };
                links.push((page as u32, (to * SITE_PAGES + place) as u32));
            }
        }
        let graph = Graph::from_links(PAGES, &links);
        let named = |target: &u32| if is_hot[*target as usize] { NAMED.0 } else { NAMED.1 };
        let mut is_named = Vec::new();
        for page in 0..PAGES as u32 {
            is_named.push(
                graph.links_from(page).iter().map(|target| chance.random_bool(named(target))).collect(),
            );
        }
        Self { graph, is_hot, is_named }
    }

    /// A crawl from the page that reaches most: the home page of the first site.
    fn crawl(&self, ordering: Ordering, distance_max: u32) -> Vec<u32> {
        debug_assert!(webs::reachable(&self.graph, 0).len() > PAGES / 2);
        let topic = Topic {
            link_is_hot: |page: u32, link: usize| self.is_named[page as usize][link],
            page_is_hot: |page: u32| self.is_hot[page as usize],
            distance_max,
        };
        topic_crawl_order(&self.graph, 0, ordering, &topic, usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng as _;

    use super::*;

    #[test]
    fn following_hot_pages_finds_more_of_them_early() {
        let web = TopicalWeb::new(0.1, &mut ChaCha8Rng::seed_from_u64(3));
        let importance: Vec<f64> = web.is_hot.iter().map(|hot| f64::from(u8::from(*hot))).collect();
        for ordering in [Ordering::BreadthFirst, Ordering::Backlink] {
            let mean = |distance| area(&with_threshold(&importance, &web.crawl(ordering, distance), 1.0));
            assert!(mean(DISTANCE) > mean(0) && mean(0) > 0.5, "{} {}", mean(DISTANCE), mean(0));
        }
    }
}
