//! Crawl order of a crawler that looks for a topic, with a hot queue.
//!
//! Implements the thesis, section 2.5.4: two queues, of which the hot one is served first. The basic
//! crawler (Figure 2.11) puts a URL into the hot queue if the topic word is in its anchor or in the
//! URL itself. The modified one (Figure 2.13) also does so if the URL is within a few links of a page
//! that turned out to be hot:
//!
//! > return 0 if hot\[u\]; return 1 if hot\[v\] and (v, u) ∈ links for some v; ...
//!
//! Each queue is ordered by one of the metrics of [`super::crawl_order`].
//!
//! # Promises
//! - No URL of the other queue is visited while a hot one waits.
//! - With a maximum distance of zero it is the basic crawler; with no topic at all it is the crawler of
//!   [`super::crawl_order`].
//! - The distance is the shortest over the links read so far, also when a later link shortens it.
//!
//! # Departures
//! The loop runs while *either* queue has a URL: as printed ("and") nothing would ever be crawled. The
//! captions of the two algorithms are exchanged in the text. Its figure says "< 3" and its prose "within 3
//! links": the number is an argument here, 2 for the figure. A URL stays in its queue, as in the figure, even
//! when a later link brings it near a hot page.

use std::collections::VecDeque;

use super::Graph;
use super::crawl_order::Ordering;
use super::frontier::{Frontier, Queue};

/// What a crawler can find out about the topic.
#[derive(Clone, Copy, Debug)]
pub struct Topic<L, P> {
    /// Whether the link with this index among the links of this page has the topic in its anchor or URL.
    pub link_is_hot: L,
    /// Whether this page, once visited, turns out to be about the topic.
    pub page_is_hot: P,
    /// Maximum number of links from a hot page at which a URL counts as hot; 0 for the basic crawler.
    pub distance_max: u32,
}

/// The pages in the order of their visits, from `start`, at most `visits_max`. Panics
/// if the start is not a page.
pub fn topic_crawl_order<L, P>(
    graph: &Graph,
    start: u32,
    ordering: Ordering,
    topic: &Topic<L, P>,
    visits_max: usize,
) -> Vec<u32>
where
    L: Fn(u32, usize) -> bool,
    P: Fn(u32) -> bool,
{
    assert!((start as usize) < graph.pages());
    let mut frontier = Frontier::new(graph, ordering);
    let mut distances = HotDistances::new(graph, topic.distance_max);
    frontier.discover(start, Queue::Other);
    let mut visited = Vec::new();
    while visited.len() < visits_max
        && let Some(page) = frontier.take()
    {
        visited.push(page);
        if (topic.page_is_hot)(page) {
            distances.shorten(page, 0);
        }
        for (index, target) in graph.links_from(page).iter().enumerate() {
            distances.link(page, *target);
            if !frontier.has_seen(*target) {
                let is_hot = (topic.link_is_hot)(page, index) || distances.is_near(*target);
                frontier.discover(*target, if is_hot { Queue::Hot } else { Queue::Other });
            }
        }
        distances.has_read(page);
        frontier.read(page);
    }
    visited
}

/// Distance of each page from a hot page in links, over the links read so far.
struct HotDistances<'a> {
    graph: &'a Graph,
    distance_max: u32,
    distances: Vec<u32>,
    is_read: Vec<bool>,
}

impl<'a> HotDistances<'a> {
    fn new(graph: &'a Graph, distance_max: u32) -> Self {
        let pages = graph.pages();
        Self { graph, distance_max, distances: vec![u32::MAX; pages], is_read: vec![false; pages] }
    }

    fn is_near(&self, page: u32) -> bool {
        self.distances[page as usize] <= self.distance_max
    }

    /// Adds one link.
    fn link(&mut self, page: u32, target: u32) {
        self.shorten(target, self.distances[page as usize].saturating_add(1));
    }

    /// Marks that all links of a page were added.
    fn has_read(&mut self, page: u32) {
        self.is_read[page as usize] = true;
    }

    /// Shortens the distance of a page, and then of the pages it links to. Distances
    /// beyond the limit are not kept.
    fn shorten(&mut self, page: u32, distance: u32) {
        let mut shorter = VecDeque::from([(page, distance)]);
        while let Some((page, distance)) = shorter.pop_front() {
            if distance > self.distance_max || self.distances[page as usize] <= distance {
                continue;
            }
            self.distances[page as usize] = distance;
            if self.is_read[page as usize] {
                shorter.extend(self.graph.links_from(page).iter().map(|target| (*target, distance + 1)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::crawl_order::crawl_order;
    use super::super::graph::tests::any_graph;
    use super::super::pagerank::Damping;
    use super::*;
    use proptest::prelude::*;

    /// Page 1 is hot, and so is the anchor of the second link of page 0.
    #[track_caller]
    fn check(distance_max: u32, expected: &[u32]) {
        let links = [(0, 2), (0, 1), (2, 8), (8, 9), (1, 3), (3, 4), (4, 5)];
        let graph = Graph::from_links(10, &links);
        let topic = Topic {
            link_is_hot: |page, index| (page, index) == (0, 1),
            page_is_hot: |page| page == 1,
            distance_max,
        };
        assert_eq!(topic_crawl_order(&graph, 0, Ordering::BreadthFirst, &topic, 99), expected);
    }

    #[test]
    fn a_hot_anchor_goes_first() {
        check(0, &[0, 1, 2, 3, 8, 4, 9, 5]);
    }

    #[test]
    fn what_a_hot_page_leads_to_goes_first_within_the_distance() {
        check(1, &[0, 1, 3, 2, 4, 8, 5, 9]);
        check(2, &[0, 1, 3, 4, 2, 5, 8, 9]);
        check(3, &[0, 1, 3, 4, 5, 2, 8, 9]);
    }

    #[test]
    fn a_later_link_shortens_the_distance_of_what_lies_behind() {
        // When page 5 is discovered from 4, this distance counts: 0 → 2 → 4 was read before 3,
        // which is hot, linked to 2.
        let graph = Graph::from_links(6, &[(0, 2), (0, 3), (2, 4), (3, 2), (4, 5)]);
        let mut distances = HotDistances::new(&graph, 9);
        for page in [0, 2] {
            graph.links_from(page).iter().for_each(|target| distances.link(page, *target));
            distances.has_read(page);
        }
        assert_eq!(distances.distances[4], u32::MAX);
        distances.shorten(3, 0);
        distances.link(3, 2);
        assert_eq!(distances.distances[2..5], [1, 0, 2]);
    }

    proptest! {
        #[test]
        fn without_a_topic_it_is_the_plain_crawler(graph in any_graph(14, 40)) {
            let topic = Topic { link_is_hot: |_, _| false, page_is_hot: |_| false, distance_max: 3 };
            for ordering in
                [Ordering::BreadthFirst, Ordering::Backlink, Ordering::PageRank(Damping::THESIS)]
            {
                let order = topic_crawl_order(&graph, 0, ordering, &topic, usize::MAX);
                prop_assert_eq!(order, crawl_order(&graph, 0, ordering, usize::MAX));
            }
        }
    }
}
