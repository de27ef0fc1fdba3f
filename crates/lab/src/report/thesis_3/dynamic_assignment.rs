//! Dynamic assignment: a coordinator hands out sites, one at a time, to idle processes.
//!
//! The **thesis**, section 3.2, *dynamic assignment*: the coordinator sends the known URLs of a partition to
//! a process as seeds. The process follows links within the partition and reports all others. Every URL sent
//! either way counts. When all known URLs of the partition are downloaded, it is handed back. It is handed
//! out again when more of its URLs are reported.
//!
//! # Promises
//! - Every page reachable from the seeds is downloaded once.

use std::collections::VecDeque;

use freshet_theory::rank::Graph;

/// Result of a crawl with a coordinator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct DynamicCrawl {
    pub(super) downloaded: usize,
    /// Number of URLs reported to the coordinator.
    pub(super) reported: usize,
    /// Number of URLs handed out by the coordinator.
    pub(super) handed: usize,
    /// Number of times that partitions were handed out.
    pub(super) assignments: usize,
    /// Maximum number of URLs waiting at the coordinator at a time.
    pub(super) waiting_max: usize,
}

/// Crawls from the seeds with this many processes. `partition_of` gives the partition of each page.
pub(super) fn crawl(graph: &Graph, partition_of: &[u32], seeds: &[u32], processes: usize) -> DynamicCrawl {
    let mut coordinator = Coordinator::new(partition_of);
    for seed in seeds {
        coordinator.take(*seed);
    }
    let mut crawl = DynamicCrawl { downloaded: 0, reported: 0, handed: 0, assignments: 0, waiting_max: 0 };
    let mut queues: Vec<Option<(u32, VecDeque<u32>)>> = vec![None; processes];
    loop {
        for queue in queues.iter_mut().filter(|queue| queue.is_none()) {
            if let Some((partition, urls)) = coordinator.hand_out() {
                crawl.handed += urls.len();
                crawl.assignments += 1;
                *queue = Some((partition, urls));
            }
        }
        if queues.iter().all(Option::is_none) {
            return crawl;
        }
        for slot in &mut queues {
            let Some((partition, queue)) = slot else { continue };
            let Some(page) = queue.pop_front() else { continue };
            crawl.downloaded += 1;
            for target in graph.links_from(page) {
                if partition_of[*target as usize] == *partition {
                    if coordinator.is_new(*target) {
                        queue.push_back(*target);
                    }
                } else {
                    crawl.reported += 1;
                    coordinator.take(*target);
                }
            }
            if queue.is_empty() {
                coordinator.take_back(*partition);
                *slot = None;
            }
        }
        crawl.waiting_max = crawl.waiting_max.max(coordinator.waiting);
    }
}

/// State of the coordinator.
struct Coordinator<'a> {
    partition_of: &'a [u32],
    is_known: Vec<bool>,
    /// Waiting URLs of each partition.
    urls: Vec<VecDeque<u32>>,
    state: Vec<State>,
    /// Partitions that have URLs and no process.
    ready: VecDeque<u32>,
    waiting: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Idle,
    Ready,
    Out,
}

impl<'a> Coordinator<'a> {
    fn new(partition_of: &'a [u32]) -> Self {
        let partitions = partition_of.iter().max().map_or(0, |partition| *partition as usize + 1);
        Self {
            partition_of,
            is_known: vec![false; partition_of.len()],
            urls: vec![VecDeque::new(); partitions],
            state: vec![State::Idle; partitions],
            ready: VecDeque::new(),
            waiting: 0,
        }
    }

    /// Whether a URL was unknown. Marks it as known.
    fn is_new(&mut self, page: u32) -> bool {
        !std::mem::replace(&mut self.is_known[page as usize], true)
    }

    /// Accepts a reported URL.
    fn take(&mut self, page: u32) {
        if self.is_new(page) {
            let partition = self.partition_of[page as usize];
            self.urls[partition as usize].push_back(page);
            self.waiting += 1;
            self.make_ready(partition);
        }
    }

    fn make_ready(&mut self, partition: u32) {
        let state = &mut self.state[partition as usize];
        if *state == State::Idle && !self.urls[partition as usize].is_empty() {
            *state = State::Ready;
            self.ready.push_back(partition);
        }
    }

    fn hand_out(&mut self) -> Option<(u32, VecDeque<u32>)> {
        let partition = self.ready.pop_front()?;
        self.state[partition as usize] = State::Out;
        let urls = std::mem::take(&mut self.urls[partition as usize]);
        self.waiting -= urls.len();
        Some((partition, urls))
    }

    fn take_back(&mut self, partition: u32) {
        self.state[partition as usize] = State::Idle;
        self.make_ready(partition);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_is_downloaded_once_and_every_url_sent_is_counted() {
        // Sites {0, 1} and {2, 3}. Page 3 is known only through page 1.
        let graph = Graph::from_links(4, &[(0, 1), (0, 2), (1, 3), (1, 2), (2, 0)]);
        let crawl = crawl(&graph, &[0, 0, 1, 1], &[0], 2);
        let expected = DynamicCrawl { downloaded: 4, reported: 4, handed: 3, assignments: 3, waiting_max: 1 };
        assert_eq!(crawl, expected);
    }

    #[test]
    fn pages_as_partitions_report_every_link() {
        let graph = Graph::from_links(3, &[(0, 1), (0, 2), (1, 2), (2, 0)]);
        let crawl = crawl(&graph, &[0, 1, 2], &[0], 3);
        assert_eq!((crawl.downloaded, crawl.reported, crawl.handed), (3, 4, 3));
    }
}
