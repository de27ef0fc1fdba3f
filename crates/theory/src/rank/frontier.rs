//! Frontier of a virtual crawler: the URLs seen so far, and which one it visits next.
//!
//! Implements the queues of the thesis, section 2.5: `url_queue` and, for the crawlers of section
//! 2.5.4, `hot_queue`, with `reorder_queue` as in Figure 2.2 and `dequeue2` as in Figure 2.11. Only
//! PageRank requires sorting the whole queue after every page; by backlinks, only the URLs that
//! were just linked to move.
//!
//! # Promises
//! - The next URL is taken from the hot queue unless that is empty. It has the highest metric over the links
//!   read so far; among equals it is the one that was seen first.
//! - PageRank is compared at ten decimals.
//!
//! # Departures
//! None. The text does not say how ties are broken.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Graph;
use super::crawl_order::Ordering;
use super::pagerank::growing::GrowingPageRank;

/// The queue in which a URL waits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Queue {
    /// Visited before all others.
    Hot,
    /// Visited when no hot URL waits.
    Other,
}

/// The URLs seen so far. Invariant: a URL is in one queue from its discovery until it is taken.
pub(super) struct Frontier<'a> {
    graph: &'a Graph,
    metric: Metric,
    /// Order in which each page was first seen, counting from zero; [`UNSEEN`] before.
    seen_at: Vec<u32>,
    /// The URLs, in the order in which they were first seen.
    seen: Vec<Seen>,
    hot: Heap,
    other: Heap,
}

struct Seen {
    page: u32,
    queue: Queue,
    is_taken: bool,
}

/// URLs by metric; among equals the one seen first is the greatest. Outdated entries, whose metric has
/// risen since, are skipped.
type Heap = BinaryHeap<(u64, Reverse<u32>)>;

const UNSEEN: u32 = u32::MAX;

impl<'a> Frontier<'a> {
    /// A frontier without URLs.
    pub(super) fn new(graph: &'a Graph, ordering: Ordering) -> Self {
        let metric = match ordering {
            Ordering::BreadthFirst => Metric::BreadthFirst,
            Ordering::Backlink => Metric::Backlink(Vec::new()),
            Ordering::PageRank(damping) => Metric::PageRank(GrowingPageRank::new(damping)),
        };
        Self {
            graph,
            metric,
            seen_at: vec![UNSEEN; graph.pages()],
            seen: Vec::new(),
            hot: Heap::new(),
            other: Heap::new(),
        }
    }

    pub(super) fn has_seen(&self, page: u32) -> bool {
        self.seen_at[page as usize] != UNSEEN
    }

    /// Puts a page that has not been seen into a queue.
    pub(super) fn discover(&mut self, page: u32, queue: Queue) {
        assert!(!self.has_seen(page));
        let url = self.seen.len() as u32;
        self.seen_at[page as usize] = url;
        self.seen.push(Seen { page, queue, is_taken: false });
        self.metric.discover();
        self.enqueue(url);
    }

    /// Takes the next page to visit.
    pub(super) fn take(&mut self) -> Option<u32> {
        loop {
            let (value, Reverse(url)) = self.hot.pop().or_else(|| self.other.pop())?;
            let seen = &mut self.seen[url as usize];
            if !seen.is_taken && value == self.metric.value(url) {
                seen.is_taken = true;
                return Some(seen.page);
            }
        }
    }

    /// Counts the links of a visited page and reorders the queues. Panics if one leads to a page not yet
    /// seen.
    pub(super) fn read(&mut self, page: u32) {
        let links: Vec<u32> =
            self.graph.links_from(page).iter().map(|target| self.seen_at[*target as usize]).collect();
        self.metric.read(self.seen_at[page as usize], &links);
        match self.metric {
            Metric::BreadthFirst => {}
            Metric::Backlink(_) => {
                for url in links {
                    self.enqueue(url);
                }
            }
            Metric::PageRank(_) => {
                for heap in [&mut self.hot, &mut self.other] {
                    let reorder = |(_, Reverse(url))| (self.metric.value(url), Reverse(url));
                    *heap = heap.drain().map(reorder).collect();
                }
            }
        }
    }

    /// Enters a URL with its current value.
    fn enqueue(&mut self, url: u32) {
        let Seen { queue, is_taken, .. } = self.seen[url as usize];
        if !is_taken {
            let heap = match queue {
                Queue::Hot => &mut self.hot,
                Queue::Other => &mut self.other,
            };
            heap.push((self.metric.value(url), Reverse(url)));
        }
    }
}

/// The metric of each URL, indexed by the order in which the URLs were first seen.
enum Metric {
    BreadthFirst,
    /// Number of links to each URL that were read.
    Backlink(Vec<u64>),
    PageRank(GrowingPageRank),
}

impl Metric {
    fn discover(&mut self) {
        match self {
            Self::BreadthFirst => {}
            Self::Backlink(counts) => counts.push(0),
            Self::PageRank(ranks) => ranks.discover(),
        }
    }

    fn read(&mut self, url: u32, links: &[u32]) {
        match self {
            Self::BreadthFirst => {}
            Self::Backlink(counts) => links.iter().for_each(|link| counts[*link as usize] += 1),
            Self::PageRank(ranks) => {
                let links: Vec<_> = links.iter().map(|link| *link as usize).collect();
                ranks.read(url as usize, &links);
            }
        }
    }

    /// Sort key of the queue, the greatest first.
    fn value(&self, url: u32) -> u64 {
        match self {
            Self::BreadthFirst => 0,
            Self::Backlink(counts) => counts[url as usize],
            Self::PageRank(ranks) => ten_decimals(ranks.rank(url as usize)),
        }
    }
}

/// A rank in units of 1e-10, rounded half up.
fn ten_decimals(rank: f64) -> u64 {
    // Equal ranks computed in different ways differ in their last bits. Ranks such as 0.1 + 0.09/2⁹
    // lie half way between two decimals, where those bits would decide. Adding a little more than a
    // half rounds all of them up.
    const HALF: f64 = 0.501;
    (rank * 1e10 + HALF).floor() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_half_way_between_two_decimals_rounds_up_whatever_its_last_bits() {
        let half_way = 0.100_175_781_25_f64;
        for rank in [half_way.next_down().next_down(), half_way, half_way.next_up()] {
            assert_eq!(ten_decimals(rank), 1_001_757_813);
        }
        assert_eq!(ten_decimals(0.100_175_781_249), 1_001_757_812);
    }

    #[test]
    fn the_hot_queue_is_emptied_first() {
        let graph = Graph::from_links(3, &[]);
        let mut frontier = Frontier::new(&graph, Ordering::Backlink);
        frontier.discover(0, Queue::Other);
        frontier.discover(1, Queue::Hot);
        frontier.discover(2, Queue::Other);
        assert_eq!([(); 4].map(|()| frontier.take()), [Some(1), Some(0), Some(2), None]);
    }
}
