//! Ordering metrics: the order in which a crawler visits pages.
//!
//! Implements the thesis, section 2.5.2: the crawling algorithm of Figure 2.1 with the three
//! ordering metrics of Figure 2.2,
//!
//! > breadth first; backlink count IB'(p); PageRank IR'(p), each over the links seen so far
//!
//! and the random order that the section compares them with.
//!
//! # Promises
//! - Every page that can be reached from the start is visited once, unless the limit comes first.
//! - The next page is one with the highest metric over the links read so far; among equals the one that was
//!   seen first. PageRank is compared at ten decimals.
//! - Any crawl but by PageRank takes time proportional to links and pages, up to a logarithm. By PageRank
//!   each visit takes as many operations as pages visited times URLs seen.
//!
//! # Departures
//! The text does not say how ties are broken.

use rand::{Rng, RngExt as _};

use super::Graph;
use super::frontier::{Frontier, Queue};
use super::pagerank::Damping;

/// The metric by which the queue of URLs is ordered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ordering {
    /// In the order of discovery.
    BreadthFirst,
    /// By the number of links to a URL.
    Backlink,
    /// By PageRank, without a rule for pages without links.
    PageRank(Damping),
}

/// The pages in the order of their visits, from `start`, at most `visits_max`. Panics
/// if the start is not a page.
pub fn crawl_order(graph: &Graph, start: u32, ordering: Ordering, visits_max: usize) -> Vec<u32> {
    assert!((start as usize) < graph.pages());
    let mut frontier = Frontier::new(graph, ordering);
    frontier.discover(start, Queue::Other);
    let mut visited = Vec::new();
    while visited.len() < visits_max
        && let Some(page) = frontier.take()
    {
        visited.push(page);
        for target in graph.links_from(page) {
            if !frontier.has_seen(*target) {
                frontier.discover(*target, Queue::Other);
            }
        }
        frontier.read(page);
    }
    visited
}

/// The pages in the order of a crawler that takes any URL of its queue with equal probability. Panics
/// if the start is not a page.
pub fn random_crawl_order(graph: &Graph, start: u32, visits_max: usize, random: &mut impl Rng) -> Vec<u32> {
    assert!((start as usize) < graph.pages());
    let mut is_seen = vec![false; graph.pages()];
    is_seen[start as usize] = true;
    let mut queue = vec![start];
    let mut visited = Vec::new();
    while visited.len() < visits_max && !queue.is_empty() {
        let page = queue.swap_remove(random.random_range(0..queue.len()));
        visited.push(page);
        for target in graph.links_from(page) {
            if !std::mem::replace(&mut is_seen[*target as usize], true) {
                queue.push(*target);
            }
        }
    }
    visited
}

#[cfg(test)]
mod tests {
    use super::super::graph::tests::any_graph;
    use super::super::pagerank::{Dangling, exact};
    use super::*;
    use proptest::prelude::*;
    use rand::SeedableRng as _;
    use rand_chacha::ChaCha8Rng;

    const BY_PAGERANK: Ordering = Ordering::PageRank(Damping::THESIS);

    #[track_caller]
    fn check(ordering: Ordering, expected: &[u32]) {
        let links = [
            (0, 6),
            (0, 3),
            (0, 2),
            (1, 0),
            (2, 8),
            (2, 5),
            (4, 0),
            (4, 6),
            (5, 2),
            (5, 6),
            (5, 3),
            (6, 2),
            (6, 1),
            (6, 7),
        ];
        let graph = Graph::from_links(9, &links);
        assert_eq!(crawl_order(&graph, 0, ordering, usize::MAX), expected);
        assert_eq!(crawl_order(&graph, 0, ordering, 3), expected[..3]);
        assert!(crawl_order(&graph, 0, ordering, 0).is_empty());
    }

    #[test]
    fn the_three_orders_differ_on_a_small_web() {
        check(Ordering::BreadthFirst, &[0, 6, 3, 2, 1, 7, 8, 5]);
        check(Ordering::Backlink, &[0, 6, 2, 3, 1, 7, 8, 5]);
        check(BY_PAGERANK, &[0, 6, 2, 8, 5, 3, 1, 7]);
    }

    #[test]
    fn a_link_counts_as_often_as_it_is_listed() {
        let graph = Graph::from_links(4, &[(0, 1), (0, 2), (0, 2), (0, 3)]);
        assert_eq!(crawl_order(&graph, 0, Ordering::Backlink, usize::MAX), [0, 2, 1, 3]);
        assert_eq!(crawl_order(&graph, 0, BY_PAGERANK, usize::MAX), [0, 2, 1, 3]);
    }

    /// Figures 2.1 and 2.2 word for word: after each page, recompute every metric and sort the queue.
    fn by_sorting(graph: &Graph, start: u32, ordering: Ordering) -> Vec<u32> {
        let (mut queue, mut seen, mut visited) = (vec![start], vec![start], vec![]);
        let mut links = vec![];
        while !queue.is_empty() {
            let page = queue.remove(0);
            visited.push(page);
            for target in graph.links_from(page) {
                links.push((page, *target));
                if !seen.contains(target) {
                    seen.push(*target);
                    queue.push(*target);
                }
            }
            let position = |page: u32| seen.iter().position(|other| *other == page).expect("seen") as u32;
            let known: Vec<_> = links.iter().map(|(from, to)| (position(*from), position(*to))).collect();
            let known = Graph::from_links(seen.len(), &known);
            let values: Vec<f64> = match ordering {
                Ordering::BreadthFirst => vec![0.0; seen.len()],
                Ordering::Backlink => {
                    super::super::links::backlinks(&known).into_iter().map(f64::from).collect()
                }
                Ordering::PageRank(damping) => exact(&known, damping, Dangling::Drop).expect("a small web"),
            };
            let rounded = |page: &u32| (values[position(*page) as usize] * 1e10 + 0.501).floor() as u64;
            queue.sort_by_key(|page| (std::cmp::Reverse(rounded(page)), position(*page)));
        }
        visited
    }

    proptest! {
        #[test]
        fn the_order_is_that_of_sorting_the_queue_after_every_page(
            graph in any_graph(14, 50),
            damping in 0.0..0.9999,
        ) {
            for ordering in
                [Ordering::BreadthFirst, Ordering::Backlink, Ordering::PageRank(Damping::new(damping))]
            {
                prop_assert_eq!(
                    crawl_order(&graph, 0, ordering, usize::MAX),
                    by_sorting(&graph, 0, ordering)
                );
            }
        }

        #[test]
        fn every_order_visits_what_can_be_reached(graph in any_graph(14, 30), seed: u64) {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let mut expected = crawl_order(&graph, 0, Ordering::BreadthFirst, usize::MAX);
            expected.sort_unstable();
            let orders = [
                crawl_order(&graph, 0, Ordering::Backlink, usize::MAX),
                crawl_order(&graph, 0, BY_PAGERANK, usize::MAX),
                random_crawl_order(&graph, 0, usize::MAX, &mut random),
            ];
            for mut order in orders {
                prop_assert_eq!(order[0], 0);
                order.sort_unstable();
                prop_assert_eq!(&order, &expected);
            }
        }
    }
}
