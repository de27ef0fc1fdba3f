//! The webs that virtual crawlers run on: the recorded web graph, a generated one where there is none, and
//! parts of them.
//!
//! A generated web has sites of consecutive pages. Most links stay on the site, and lead to its first pages
//! more often than to others. Those that leave it choose a site, and again its first pages, by Zipf's law.
//!
//! # Promises
//! - Every page of a [`Web`] is reachable from its start, as in the text, which leaves out unreachable pages.
//! - A generated web depends only on its random generator.

use std::collections::VecDeque;

use anyhow::Result;
use freshet_theory::rank::Graph;
use freshet_theory::rank::links::backlinks;
use rand::{Rng, RngExt as _};

use crate::history::web_graph;
use crate::report::sources::{Need, Sources};

/// A web and the start page of its crawls.
#[derive(Clone, Debug)]
pub(crate) struct Web {
    /// Description for readers.
    pub(crate) name: String,
    pub(crate) graph: Graph,
    pub(crate) start: u32,
}

/// Number of pages of a generated web: a tenth of the recorded one.
const GENERATED_PAGES: usize = 30_000;

/// The recorded web graph, or a generated one, reduced to the pages reachable from its best start.
pub(crate) fn large(sources: &Sources) -> Result<Web> {
    let (name, graph) = whole(sources)?;
    Ok(from_best_start(name, &graph))
}

/// The part of a web that is reachable from its best start.
pub(crate) fn from_best_start(name: &str, graph: &Graph) -> Web {
    let start = best_start(graph);
    let order = reachable(graph, start);
    let left_out = graph.pages() - order.len();
    let graph = part(graph, &order);
    let name = format!("{name}; {} pages, {left_out} others cannot be reached", graph.pages());
    let start = order.iter().position(|page| *page == start).unwrap_or(0) as u32;
    Web { name, graph, start }
}

/// The recorded web graph with all its pages, or a generated one, with a description.
pub(crate) fn whole(sources: &Sources) -> Result<(&'static str, Graph)> {
    if sources.meet(Need::WebGraph) {
        return Ok(("web graph cnr-2000 of the data directory", web_graph::read(sources.data()?)?));
    }
    let graph = generated(GENERATED_PAGES, &mut sources.chance("generated-web"));
    Ok(("generated web (no web graph was given by --data)", graph))
}

/// Of the pages with most backlinks, the one from which most pages are reachable: probably a home page.
fn best_start(graph: &Graph) -> u32 {
    const CANDIDATES: usize = 16;
    let counts = backlinks(graph);
    let mut pages: Vec<u32> = (0..graph.pages() as u32).collect();
    pages.sort_by_key(|page| std::cmp::Reverse(counts[*page as usize]));
    pages.truncate(CANDIDATES);
    pages.into_iter().rev().max_by_key(|page| reachable(graph, *page).len()).unwrap_or(0)
}

/// The pages reachable from `start`, in rising order.
pub(crate) fn reachable(graph: &Graph, start: u32) -> Vec<u32> {
    let mut is_seen = vec![false; graph.pages()];
    is_seen[start as usize] = true;
    let mut queue = VecDeque::from([start]);
    while let Some(page) = queue.pop_front() {
        for target in graph.links_from(page) {
            if !std::mem::replace(&mut is_seen[*target as usize], true) {
                queue.push_back(*target);
            }
        }
    }
    (0..graph.pages() as u32).filter(|page| is_seen[*page as usize]).collect()
}

/// The web of these pages, which must be in rising order, and the links among them. Pages are renumbered in
/// this order.
pub(crate) fn part(graph: &Graph, pages: &[u32]) -> Graph {
    let number = |page: u32| pages.binary_search(&page).ok().map(|number| number as u32);
    let mut starts = vec![0];
    let mut targets = Vec::new();
    for page in pages {
        targets.extend(graph.links_from(*page).iter().filter_map(|target| number(*target)));
        starts.push(targets.len());
    }
    Graph::from_rows(starts, targets)
}

/// Pages per site of a generated web.
const SITE_PAGES: usize = 60;
/// Mean links per page of a generated web.
const LINKS_PER_PAGE: f64 = 9.0;
/// Fraction of the links that stay on their site ("about 90%", section 3.3).
const SAME_SITE: f64 = 0.9;

/// A web with sites of consecutive pages.
pub(crate) fn generated(pages: usize, chance: &mut impl Rng) -> Graph {
    let sites = pages.div_ceil(SITE_PAGES);
    let mut links = Vec::new();
    for page in 0..pages {
        let count = (-LINKS_PER_PAGE * (1.0 - chance.random::<f64>()).ln()).ceil() as usize;
        for _ in 0..count.min(100) {
            let stays = chance.random_bool(SAME_SITE);
            let site = if stays { page / SITE_PAGES } else { zipf(sites, chance) };
            let size = (pages - site * SITE_PAGES).min(SITE_PAGES);
            links.push((page as u32, (site * SITE_PAGES + zipf(size, chance)) as u32));
        }
    }
    Graph::from_links(pages, &links)
}

/// A random number below `count`, the k-th with a probability of about 1/k.
fn zipf(count: usize, chance: &mut impl Rng) -> usize {
    let power = chance.random::<f64>() * (count as f64 + 1.0).ln();
    (power.exp() as usize - 1).min(count - 1)
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng as _;

    use super::*;

    #[test]
    fn every_page_of_a_web_can_be_reached() {
        let web = large(&Sources::new(None, 1).expect("no data is no error")).expect("a generated web");
        assert_eq!(reachable(&web.graph, web.start).len(), web.graph.pages());
        assert!(web.graph.pages() > GENERATED_PAGES / 2, "{}", web.name);
    }

    #[test]
    fn a_part_keeps_the_links_among_its_pages() {
        let graph = Graph::from_links(4, &[(0, 1), (0, 3), (1, 3), (3, 0), (2, 2)]);
        assert_eq!(reachable(&graph, 1), [0, 1, 3]);
        let part = part(&graph, &[0, 1, 3]);
        assert_eq!(
            (part.links_from(0), part.links_from(1), part.links_from(2)),
            (&[1, 2][..], &[2][..], &[0][..])
        );
    }

    #[test]
    fn a_generated_web_keeps_most_links_on_their_sites() {
        let graph = generated(6_000, &mut ChaCha8Rng::seed_from_u64(1));
        let stays = |page: u32| {
            graph.links_from(page).iter().filter(move |target| **target / 60 == page / 60).count()
        };
        let stays: usize = (0..6_000).map(stays).sum();
        let share = stays as f64 / graph.links() as f64;
        assert!((0.89..0.92).contains(&share), "{share}");
    }
}
