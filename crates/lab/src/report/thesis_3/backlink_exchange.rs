//! Parallel crawl by backlinks: processes visit the URL with most backlinks first, and periodically exchange
//! backlink counts.
//!
//! The **thesis**, section 3.9: each process counts the links it has read. At each exchange it sends, for
//! every URL of another process that it has seen since the last one, one pair of URL and count. Without
//! exchanges it is the firewall mode. Exchanges take place at equal numbers of downloads, and when no process
//! has a URL left.
//!
//! # Promises
//! - A page is downloaded once, by its owner.
//! - A single process equals the crawler by backlinks of chapter 2.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use freshet_theory::rank::Graph;

/// A web shared by processes that exchange counts.
pub(super) struct Exchange<'a> {
    pub(super) graph: &'a Graph,
    pub(super) owners: &'a [u32],
    pub(super) seeds: &'a [Vec<u32>],
    /// Number of exchanges during the crawl.
    pub(super) exchanges: usize,
}

/// Result of such a crawl.
pub(super) struct ExchangeCrawl {
    pub(super) visited: Vec<u32>,
    pub(super) pairs_sent: usize,
}

/// Crawls until `downloads` pages are downloaded, or nothing is left to download or send.
pub(super) fn crawl(plan: &Exchange<'_>, downloads: usize) -> ExchangeCrawl {
    let mut state = State::new(plan);
    let every = downloads as f64 / (plan.exchanges + 1) as f64;
    let mut exchanged = 0;
    while state.crawl.visited.len() < downloads {
        let mut is_idle = true;
        for process in 0..plan.seeds.len() {
            is_idle &= !state.take_turn(process);
            if state.crawl.visited.len() >= downloads {
                break;
            }
        }
        let is_due = state.crawl.visited.len() as f64 >= every * (exchanged + 1) as f64;
        let is_over = state.crawl.visited.len() >= downloads;
        if exchanged < plan.exchanges && !is_over && (is_due || is_idle) {
            exchanged += 1;
            state.exchange();
        } else if is_idle {
            break;
        }
    }
    state.crawl
}

struct State<'a> {
    plan: &'a Exchange<'a>,
    /// Number of backlinks of each page that its owner knows, and when the page was first reported.
    backlinks: Vec<u32>,
    seen_at: Vec<u32>,
    is_visited: Vec<bool>,
    seen: u32,
    queues: Vec<BinaryHeap<(u32, Reverse<u32>, u32)>>,
    /// Counts for other processes since the last exchange.
    outboxes: Vec<BTreeMap<u32, u32>>,
    crawl: ExchangeCrawl,
}

const UNSEEN: u32 = u32::MAX;

impl<'a> State<'a> {
    fn new(plan: &'a Exchange<'a>) -> Self {
        let (pages, processes) = (plan.graph.pages(), plan.seeds.len());
        let mut state = Self {
            plan,
            backlinks: vec![0; pages],
            seen_at: vec![UNSEEN; pages],
            is_visited: vec![false; pages],
            seen: 0,
            queues: vec![BinaryHeap::new(); processes],
            outboxes: vec![BTreeMap::new(); processes],
            crawl: ExchangeCrawl { visited: Vec::new(), pairs_sent: 0 },
        };
        plan.seeds.iter().flatten().for_each(|seed| state.hear(*seed, 0));
        state
    }

    /// Reports further backlinks of a page to its owner.
    fn hear(&mut self, page: u32, backlinks: u32) {
        let place = page as usize;
        if self.seen_at[place] == UNSEEN {
            self.seen_at[place] = self.seen;
            self.seen += 1;
        }
        self.backlinks[place] += backlinks;
        if !self.is_visited[place] {
            let entry = (self.backlinks[place], Reverse(self.seen_at[place]), page);
            self.queues[self.plan.owners[place] as usize].push(entry);
        }
    }

    /// Downloads one page. Returns whether there was one.
    fn take_turn(&mut self, process: usize) -> bool {
        while let Some((backlinks, _, page)) = self.queues[process].pop() {
            let place = page as usize;
            if self.is_visited[place] || backlinks != self.backlinks[place] {
                continue;
            }
            self.is_visited[place] = true;
            self.crawl.visited.push(page);
            for target in self.plan.graph.links_from(page) {
                if self.plan.owners[*target as usize] as usize == process {
                    self.hear(*target, 1);
                } else {
                    *self.outboxes[process].entry(*target).or_default() += 1;
                }
            }
            return true;
        }
        false
    }

    fn exchange(&mut self) {
        for outbox in std::mem::take(&mut self.outboxes) {
            self.crawl.pairs_sent += outbox.len();
            for (page, backlinks) in outbox {
                self.hear(page, backlinks);
            }
        }
        self.outboxes = vec![BTreeMap::new(); self.plan.seeds.len()];
    }
}

#[cfg(test)]
mod tests {
    use freshet_theory::rank::crawl_order::{Ordering, crawl_order};
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng as _;

    use super::super::super::thesis_2::webs::generated;
    use super::*;

    #[test]
    fn one_process_is_the_crawler_by_backlinks() {
        let graph = generated(600, &mut ChaCha8Rng::seed_from_u64(2));
        let plan = Exchange { graph: &graph, owners: &[0; 600], seeds: &[vec![0]], exchanges: 0 };
        assert_eq!(crawl(&plan, 400).visited, crawl_order(&graph, 0, Ordering::Backlink, 400));
    }

    #[test]
    fn counts_are_sent_as_pairs_and_pages_downloaded_once() {
        let graph = Graph::from_links(4, &[(0, 2), (0, 1), (1, 2), (2, 3), (3, 1)]);
        let plan = Exchange { graph: &graph, owners: &[0, 0, 1, 1], seeds: &[vec![0], vec![]], exchanges: 9 };
        let ExchangeCrawl { visited, pairs_sent } = crawl(&plan, 4);
        assert_eq!((visited, pairs_sent), (vec![0, 1, 2, 3], 2));
        let firewall = crawl(&Exchange { exchanges: 0, ..plan }, 4);
        assert_eq!((firewall.visited, firewall.pairs_sent), (vec![0, 1], 0));
    }
}
