//! Parallel crawling: several processes, each of which owns a part of the Web.
//!
//! Implements the thesis, sections 3.3 and 3.4: the modes of static assignment (firewall, cross-over and
//! exchange), with batch communication and replication, and the measures
//!
//! > coverage I/U, overlap (N − I)/I, communication: URLs sent per page downloaded
//!
//! where N pages were downloaded, I of them unique, of U to download. The processes take turns
//! in rising order, one page per turn, until none has work. Each serves its queue in the order
//! in which URLs entered it.
//!
//! # Promises
//! - Firewall and exchange modes have no overlap; firewall and cross-over modes no communication.
//! - Exchange mode downloads every page that can be reached from the seeds, whatever the batches.
//! - A URL enters the queues of a process once. The receiver of a URL can use it at its next turn.
//! - The time is proportional to downloads and links read, however many processes wait.
//!
//! # Departures
//! The text leaves the timing of the processes open; here they take turns. A seed that belongs to another
//! process is used in cross-over mode only: the other modes download no foreign pages, and seeds are not
//! sent. Quality, the fourth measure, is in [`crate::rank::quality`].

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::num::NonZeroUsize;
use std::ops::Bound;

use crate::rank::Graph;

/// What a process does with links to pages of other processes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mode {
    /// It ignores them.
    Firewall,
    /// It follows them itself when it has no own page left.
    CrossOver,
    /// It sends them to their owner.
    Exchange {
        /// Number of downloads after which it sends the URLs it collected. `None`: it sends after each
        /// download, repeats included.
        batch: Option<NonZeroUsize>,
    },
}

/// A Web divided among processes, with the seeds of each.
#[derive(Clone, Copy, Debug)]
pub struct Plan<'a> {
    /// The pages and their links.
    pub graph: &'a Graph,
    /// The process that owns each page.
    pub owners: &'a [u32],
    /// The seeds of each process.
    pub seeds: &'a [Vec<u32>],
    /// Popular pages that every process knows. They are never sent, and their owner adds them to its seeds.
    pub replicated: &'a [u32],
    /// What happens to links between the parts.
    pub mode: Mode,
}

/// Result of a parallel crawl.
#[derive(Clone, Debug, PartialEq)]
pub struct ParallelCrawl {
    /// The pages that each process downloaded, in order.
    pub downloads: Vec<Vec<u32>>,
    /// Number of URLs sent from one process to another.
    pub urls_sent: usize,
}

impl ParallelCrawl {
    /// N: number of pages downloaded.
    pub fn downloaded(&self) -> usize {
        self.downloads.iter().map(Vec::len).sum()
    }

    /// I: number of different pages downloaded.
    pub fn unique(&self) -> usize {
        self.downloads.iter().flatten().collect::<HashSet<_>>().len()
    }

    /// I/U: the fraction of `wanted` pages that was downloaded. `None` when none was wanted.
    pub fn coverage(&self, wanted: usize) -> Option<f64> {
        ratio(self.unique(), wanted)
    }

    /// (N − I)/I: repeated downloads per unique page. `None` when nothing was downloaded.
    pub fn overlap(&self) -> Option<f64> {
        ratio(self.downloaded() - self.unique(), self.unique())
    }

    /// URLs sent per download. `None` when nothing was downloaded.
    pub fn communication(&self) -> Option<f64> {
        ratio(self.urls_sent, self.downloaded())
    }
}

fn ratio(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Crawls until no process has work.
///
/// Panics unless every page has an owner that has a list of seeds, and every seed and
/// replicated page is a page.
pub fn parallel_crawl(plan: &Plan<'_>) -> ParallelCrawl {
    let mut processes = Processes::new(plan);
    let mut last = None;
    while let Some(process) = processes.next_after(last) {
        processes.take_turn(process);
        last = Some(process);
    }
    ParallelCrawl {
        downloads: processes.each.into_iter().map(|process| process.downloads).collect(),
        urls_sent: processes.urls_sent,
    }
}

/// State of all processes during a crawl.
struct Processes<'a> {
    plan: &'a Plan<'a>,
    each: Vec<Process>,
    /// The processes that have a page to download or URLs to send.
    with_work: BTreeSet<usize>,
    is_replicated: Vec<bool>,
    urls_sent: usize,
}

/// State of one process during a crawl.
#[derive(Default)]
struct Process {
    downloads: Vec<u32>,
    /// Own pages to download. Filled by its own links and by the other processes.
    own: VecDeque<u32>,
    /// Foreign pages to download; in cross-over mode only.
    foreign: VecDeque<u32>,
    /// Every URL that ever entered one of the queues.
    entered: HashSet<u32>,
    /// URLs to send, each once, in the order in which they were found. Emptied when sent.
    outbox: Vec<u32>,
    /// The same URLs, to detect repeats.
    in_outbox: HashSet<u32>,
    downloads_since_sending: usize,
}

impl<'a> Processes<'a> {
    fn new(plan: &'a Plan<'a>) -> Self {
        assert!(plan.owners.len() == plan.graph.pages());
        let mut is_replicated = vec![false; plan.graph.pages()];
        for page in plan.replicated {
            is_replicated[*page as usize] = true;
        }
        let mut processes = Self {
            plan,
            each: plan.seeds.iter().map(|_| Process::default()).collect(),
            with_work: BTreeSet::new(),
            is_replicated,
            urls_sent: 0,
        };
        for (process, seeds) in plan.seeds.iter().enumerate() {
            for seed in seeds {
                processes.enter(process, *seed);
            }
        }
        for page in plan.replicated {
            processes.enter(plan.owners[*page as usize] as usize, *page);
        }
        processes
    }

    /// The next process with work in the order of turns, after `last`.
    fn next_after(&self, last: Option<usize>) -> Option<usize> {
        let later =
            last.and_then(|last| self.with_work.range((Bound::Excluded(last), Bound::Unbounded)).next());
        later.or_else(|| self.with_work.first()).copied()
    }

    /// Downloads one page, or sends the collected URLs when there is none.
    fn take_turn(&mut self, process: usize) {
        let state = &mut self.each[process];
        match state.own.pop_front().or_else(|| state.foreign.pop_front()) {
            Some(page) => self.download(process, page),
            None => self.send_outbox(process),
        }
        let Process { own, foreign, outbox, .. } = &self.each[process];
        if own.is_empty() && foreign.is_empty() && outbox.is_empty() {
            self.with_work.remove(&process);
        }
    }

    fn download(&mut self, process: usize, page: u32) {
        self.each[process].downloads.push(page);
        self.each[process].downloads_since_sending += 1;
        let graph = self.plan.graph;
        for target in graph.links_from(page) {
            self.follow(process, *target);
        }
        if let Mode::Exchange { batch: Some(batch) } = self.plan.mode
            && self.each[process].downloads_since_sending >= batch.get()
        {
            self.send_outbox(process);
        }
    }

    /// Handles a link as the mode requires.
    fn follow(&mut self, process: usize, target: u32) {
        let is_own = self.plan.owners[target as usize] as usize == process;
        match self.plan.mode {
            Mode::Exchange { .. } if is_own || self.is_replicated[target as usize] => {
                self.enter(process, target);
            }
            Mode::Exchange { batch: None } => self.send(target),
            Mode::Exchange { batch: Some(_) } => {
                let state = &mut self.each[process];
                if state.in_outbox.insert(target) {
                    state.outbox.push(target);
                }
            }
            Mode::Firewall | Mode::CrossOver => self.enter(process, target),
        }
    }

    fn send_outbox(&mut self, process: usize) {
        let state = &mut self.each[process];
        state.downloads_since_sending = 0;
        state.in_outbox.clear();
        for target in std::mem::take(&mut state.outbox) {
            self.send(target);
        }
    }

    fn send(&mut self, target: u32) {
        self.urls_sent += 1;
        self.enter(self.plan.owners[target as usize] as usize, target);
    }

    /// Puts a URL into the queue of the process where it belongs, if there is one,
    /// unless it was entered before.
    fn enter(&mut self, process: usize, page: u32) {
        let is_own = self.plan.owners[page as usize] as usize == process;
        if !is_own && self.plan.mode != Mode::CrossOver {
            return;
        }
        let state = &mut self.each[process];
        if state.entered.insert(page) {
            if is_own { &mut state.own } else { &mut state.foreign }.push_back(page);
            self.with_work.insert(process);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    const FIREWALL: Mode = Mode::Firewall;
    const CROSS_OVER: Mode = Mode::CrossOver;
    const EXCHANGE: Mode = Mode::Exchange { batch: None };

    fn batches_of(downloads: usize) -> Mode {
        Mode::Exchange { batch: NonZeroUsize::new(downloads) }
    }

    /// Figure 3.2: pages a to e belong to process 0, f to i to process 1; a and f are seeds.
    #[track_caller]
    fn check_figure(mode: Mode, replicated: &str, downloads: [&str; 2], measures: [f64; 3]) {
        let number = |letter: char| letter as u32 - 'a' as u32;
        let links = ["ab", "ac", "ag", "cg", "de", "fg", "fi", "gh", "hd"];
        let links = links.map(|link| (number(link.as_bytes()[0].into()), number(link.as_bytes()[1].into())));
        let crawl = parallel_crawl(&Plan {
            graph: &Graph::from_links(9, &links),
            owners: &[0, 0, 0, 0, 0, 1, 1, 1, 1],
            seeds: &[vec![number('a')], vec![number('f')]],
            replicated: &replicated.chars().map(number).collect::<Vec<_>>(),
            mode,
        });
        assert_eq!(crawl.downloads, downloads.map(|pages| pages.chars().map(number).collect::<Vec<_>>()));
        let got = [crawl.coverage(9), crawl.overlap(), crawl.communication()];
        assert_eq!(got, measures.map(Some));
    }

    #[test]
    fn the_modes_differ_as_in_the_text() {
        check_figure(FIREWALL, "", ["abc", "fgih"], [7.0 / 9.0, 0.0, 0.0]);
        check_figure(CROSS_OVER, "", ["abcghde", "fgihde"], [1.0, 4.0 / 9.0, 0.0]);
        check_figure(EXCHANGE, "", ["abcde", "fgih"], [1.0, 0.0, 3.0 / 9.0]);
    }

    #[test]
    fn batches_and_replication_save_communication() {
        check_figure(batches_of(3), "", ["abcde", "fgih"], [1.0, 0.0, 2.0 / 9.0]);
        check_figure(batches_of(1), "", ["abcde", "fgih"], [1.0, 0.0, 3.0 / 9.0]);
        check_figure(batches_of(99), "", ["abcde", "fgih"], [1.0, 0.0, 2.0 / 9.0]);
        check_figure(EXCHANGE, "g", ["abcde", "fgih"], [1.0, 0.0, 1.0 / 9.0]);
        check_figure(FIREWALL, "d", ["adbce", "fgih"], [1.0, 0.0, 0.0]);
    }

    #[track_caller]
    fn check(
        links: &[(u32, u32)],
        owners: &[u32],
        seeds: &[Vec<u32>],
        mode: Mode,
        downloads: &[&[u32]],
        urls_sent: usize,
    ) {
        let graph = Graph::from_links(owners.len(), links);
        let crawl = parallel_crawl(&Plan { graph: &graph, owners, seeds, replicated: &[], mode });
        assert_eq!(crawl.downloads, downloads);
        assert_eq!(crawl.urls_sent, urls_sent);
    }

    #[test]
    fn a_link_listed_twice_is_sent_twice_without_a_batch_and_once_in_one() {
        let links = [(0, 1), (0, 1)];
        check(&links, &[0, 1], &[vec![0], vec![]], EXCHANGE, &[&[0], &[1]], 2);
        check(&links, &[0, 1], &[vec![0], vec![]], batches_of(1), &[&[0], &[1]], 1);
    }

    #[test]
    fn a_url_is_used_at_the_receivers_next_turn() {
        // Process 1 has 3 and 4 waiting. It gets 2 from process 0 before its first turn,
        // and downloads it after them.
        let links = [(0, 2), (2, 1)];
        check(&links, &[0, 0, 1, 1, 1], &[vec![0], vec![3, 4]], EXCHANGE, &[&[0, 1], &[3, 4, 2]], 2);
    }

    #[test]
    fn what_was_collected_is_sent_when_no_page_is_left() {
        // Process 0 sends 3 after its second download, and 4 when it has no work.
        let links = [(0, 3), (0, 1), (1, 2), (2, 4), (4, 3)];
        check(&links, &[0, 0, 0, 1, 1], &[vec![0], vec![]], batches_of(2), &[&[0, 1, 2], &[3, 4]], 2);
    }

    #[test]
    fn an_idle_turn_without_anything_to_send_does_not_restart_the_count() {
        // Process 0 downloads 0, waits, and gets 1 from process 1. It sends 3 with this second download,
        // before process 1 has finished 4 and 5.
        let links = [(2, 1), (1, 3)];
        let seeds = [vec![0], vec![4, 2, 5, 6]];
        check(&links, &[0, 0, 1, 1, 1, 1, 1], &seeds, batches_of(2), &[&[0, 1], &[4, 2, 5, 6, 3]], 2);
    }

    #[test]
    fn a_foreign_seed_is_used_in_cross_over_mode_only() {
        for mode in [FIREWALL, EXCHANGE, batches_of(2)] {
            check(&[], &[0, 1], &[vec![1, 0], vec![]], mode, &[&[0], &[]], 0);
        }
        check(&[], &[0, 1], &[vec![1, 0], vec![]], CROSS_OVER, &[&[0, 1], &[]], 0);
    }

    #[test]
    fn a_crawl_without_downloads_has_no_overlap_and_no_communication() {
        let graph = Graph::from_links(1, &[]);
        let plan = Plan { graph: &graph, owners: &[0], seeds: &[vec![]], replicated: &[], mode: EXCHANGE };
        let crawl = parallel_crawl(&plan);
        assert_eq!((crawl.overlap(), crawl.communication()), (None, None));
        assert_eq!((crawl.coverage(1), crawl.coverage(0)), (Some(0.0), None));
    }

    proptest! {
        #[test]
        fn the_modes_keep_their_promises(
            links in vec((0..12_u32, 0..12_u32), 0..40),
            owners in vec(0..4_u32, 12),
            seeds in vec(0..12_u32, 0..4),
            replicated in vec(0..12_u32, 0..3),
            batch in 0_usize..5,
        ) {
            let graph = Graph::from_links(12, &links);
            let mut own_seeds = vec![vec![]; 4];
            seeds.iter().for_each(|seed| own_seeds[owners[*seed as usize] as usize].push(*seed));
            let crawl = |mode| {
                let (owners, seeds, replicated) = (&owners, &own_seeds, &replicated);
                parallel_crawl(&Plan { graph: &graph, owners, seeds, replicated, mode })
            };
            let (firewall, cross_over, exchange) =
                (crawl(FIREWALL), crawl(CROSS_OVER), crawl(batches_of(batch)));
            prop_assert_eq!(firewall.downloaded(), firewall.unique());
            prop_assert_eq!(exchange.downloaded(), exchange.unique());
            prop_assert_eq!(firewall.urls_sent + cross_over.urls_sent, 0);
            let mut reached: Vec<u32> = [seeds, replicated.clone()].concat();
            let mut next = 0;
            while let Some(page) = reached.get(next).copied() {
                let new = graph.links_from(page).iter().copied().filter(|target| !reached.contains(target));
                let new: HashSet<u32> = new.collect();
                reached.extend(new);
                next += 1;
            }
            let reached: HashSet<u32> = reached.into_iter().collect();
            prop_assert_eq!(exchange.unique(), reached.len());
            prop_assert_eq!(cross_over.unique(), reached.len());
            prop_assert!(firewall.unique() <= reached.len());
        }
    }
}
