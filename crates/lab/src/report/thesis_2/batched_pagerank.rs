//! Crawls in PageRank order if the web is too large to reorder the queue after every page.
//!
//! The **thesis**, Figure 2.2, sorts the queue by the PageRank of all known URLs after each page. That costs
//! the number of pages times the number of links, times the steps of each solution. Here the queue is sorted
//! a given number of times, at equal numbers of visits. Between two reorders the pages are visited in the
//! order of the last one, and URLs found since wait for the next. A reorder uses all links read so far, for
//! as many steps as the ranks need.
//!
//! # Promises
//! - With a reorder after every page it equals
//!   [`crawl_order`](freshet_theory::rank::crawl_order::crawl_order), up to the digits of the ranks.
//! - Every reachable page is visited once.

use std::time::{Duration, Instant};

use freshet_theory::rank::Graph;
use freshet_theory::rank::pagerank::{Damping, Dangling, approximate};

/// A crawl and the cost of its reorders.
#[derive(Clone, Debug)]
pub(super) struct BatchedCrawl {
    pub(super) order: Vec<u32>,
    pub(super) reorders: usize,
    pub(super) reorder_time: Duration,
}

/// Maximum error of the ranks, summed over all pages: sufficient to order a queue.
const RELATIVE_ERROR: f64 = 1e-4;

/// Visits all pages reachable from `start`, with a reorder at most every `batch` visits.
pub(super) fn crawl(graph: &Graph, start: u32, batch: usize, progress: impl Fn(f64)) -> BatchedCrawl {
    let mut known = Known::new(graph);
    known.see(start);
    let mut crawl = BatchedCrawl { order: Vec::new(), reorders: 0, reorder_time: Duration::ZERO };
    loop {
        let began = Instant::now();
        let queue = known.queue();
        crawl.reorder_time += began.elapsed();
        crawl.reorders += 1;
        if queue.is_empty() {
            return crawl;
        }
        for page in queue.into_iter().take(batch.max(1)) {
            known.visit(page);
            crawl.order.push(page);
        }
        progress(crawl.order.len() as f64 / graph.pages() as f64);
    }
}

/// State of the crawler.
struct Known<'a> {
    graph: &'a Graph,
    /// URLs in the order in which they were seen.
    seen: Vec<u32>,
    /// Index of each page in `seen`.
    number: Vec<u32>,
    is_visited: Vec<bool>,
}

const UNSEEN: u32 = u32::MAX;

impl<'a> Known<'a> {
    fn new(graph: &'a Graph) -> Self {
        let pages = graph.pages();
        Self { graph, seen: Vec::new(), number: vec![UNSEEN; pages], is_visited: vec![false; pages] }
    }

    fn see(&mut self, page: u32) {
        if self.number[page as usize] == UNSEEN {
            self.number[page as usize] = self.seen.len() as u32;
            self.seen.push(page);
        }
    }

    fn visit(&mut self, page: u32) {
        self.is_visited[page as usize] = true;
        for target in self.graph.links_from(page) {
            self.see(*target);
        }
    }

    /// The waiting URLs, highest rank first. Ties are in the order in which they were seen.
    fn queue(&self) -> Vec<u32> {
        let mut waiting: Vec<u32> =
            self.seen.iter().copied().filter(|page| !self.is_visited[*page as usize]).collect();
        if waiting.len() > 1 {
            let ranks = approximate(&self.links_read(), Damping::THESIS, Dangling::Drop, RELATIVE_ERROR);
            let rank = |page: u32| ranks[self.number[page as usize] as usize];
            waiting.sort_by(|a, b| rank(*b).total_cmp(&rank(*a)));
        }
        waiting
    }

    /// All seen URLs, with the links of the visited ones.
    fn links_read(&self) -> Graph {
        let mut starts = vec![0];
        let mut targets = Vec::new();
        for page in &self.seen {
            if self.is_visited[*page as usize] {
                let links = self.graph.links_from(*page);
                targets.extend(links.iter().map(|target| self.number[*target as usize]));
            }
            starts.push(targets.len());
        }
        Graph::from_rows(starts, targets)
    }
}

#[cfg(test)]
mod tests {
    use freshet_theory::rank::crawl_order::{Ordering, crawl_order};
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng as _;

    use super::super::webs::{generated, part, reachable};
    use super::*;

    fn web() -> Graph {
        let graph = generated(300, &mut ChaCha8Rng::seed_from_u64(5));
        part(&graph, &reachable(&graph, 0))
    }

    #[test]
    fn a_reorder_after_every_page_is_the_crawler_of_the_text() {
        let graph = web();
        let exact = crawl_order(&graph, 0, Ordering::PageRank(Damping::THESIS), usize::MAX);
        let ours = crawl(&graph, 0, 1, |_| {}).order;
        let same = exact.iter().zip(&ours).filter(|(a, b)| a == b).count();
        // Only ranks that differ in their last digits may swap.
        assert!(same as f64 > 0.9 * exact.len() as f64, "{same} of {}", exact.len());
    }

    #[test]
    fn every_page_is_visited_once() {
        let graph = web();
        for batch in [1, 7, 1000] {
            let BatchedCrawl { mut order, reorders, .. } = crawl(&graph, 0, batch, |_| {});
            order.sort_unstable();
            assert!(order.iter().copied().eq(0..graph.pages() as u32), "{batch}");
            assert!(reorders > graph.pages() / batch);
        }
    }
}
