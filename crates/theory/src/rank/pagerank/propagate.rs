//! One PageRank iteration as two sequential passes through memory (propagation blocking).
//!
//! The plain loop adds the share of a page to each page that it links to. In a large web those are anywhere
//! in memory, and the loop waits for it. Here the pages are divided into blocks of 65,536, small enough that
//! the numbers of one block stay in the cache of a core. Links within a block, the majority in a real web,
//! are followed by the plain loop. Links between blocks take two passes. The first goes through the blocks of
//! linking pages and writes the share of each link, sorted by the block it leads to. The second goes through
//! the blocks of linked pages and sums the shares. Both read and write long runs, and all blocks of a pass
//! can be processed in parallel ("propagation blocking": Beamer, Asanović, Patterson, 2017; with the order of
//! the links fixed beforehand: Lakhotia, Kannan, Prasanna, 2018).
//!
//! # Promises
//! - A page receives the sum over its backlinks of rank / links, with a relative error of 2⁻²⁴ = 6e-8 because
//!   shares are stored as 32-bit numbers; the sums have 64 bits.
//! - The result does not depend on the number of threads.
//! - Memory in addition to the graph: two bytes for each link within a block, eight for each between blocks,
//!   and twelve for each page.
//!
//! # Departures
//! None; the text names no method.

use rayon::prelude::*;

use super::super::Graph;

/// Pages per block. A position within a block has 16 bits, and the sums of a block take 512 KiB.
const BLOCK_PAGES: usize = 1 << 16;

/// The links of a web, laid out for [`Propagation::receive`].
#[derive(Debug)]
pub struct Propagation {
    pages: usize,
    blocks: Vec<Block>,
}

/// The links of one block of linking pages.
#[derive(Debug)]
struct Block {
    /// Number of links of each page of the block.
    link_counts: Vec<u32>,
    /// The share that each link of a page carries. Filled by the first pass, like the shares of the far
    /// links.
    shares: Vec<f32>,
    /// Number of links of each page that stay within the block.
    near_counts: Vec<u32>,
    /// The positions that these lead to, page by page.
    near_targets: Vec<u16>,
    /// The links to other blocks, in runs.
    far: FarLinks,
}

/// The links from one block to others: first those that lead to block 0, then those to block 1, ...
#[derive(Debug)]
struct FarLinks {
    /// Start of the run to each block, and the end of the last one.
    run_starts: Vec<u32>,
    /// For each link, the position of the linking page within its block.
    sources: Vec<u16>,
    /// For each link, the position of the linked page within the block of its run.
    targets: Vec<u16>,
    /// For each link, its share. Filled by the first pass, read by the second.
    shares: Vec<f32>,
}

impl Propagation {
    /// Lays out the links. Panics if 65,536 consecutive pages have 2³² links or more.
    pub fn new(graph: &Graph) -> Self {
        let pages = graph.pages();
        let blocks =
            (0..pages.div_ceil(BLOCK_PAGES)).into_par_iter().map(|block| Block::new(graph, block)).collect();
        Self { pages, blocks }
    }

    /// Sets `received` to the amount each page receives when every page divides its rank among its links.
    ///
    /// Panics unless both slices have one number per page.
    pub fn receive(&mut self, ranks: &[f64], received: &mut [f64]) {
        assert!(ranks.len() == self.pages);
        assert!(received.len() == self.pages);
        self.blocks
            .par_iter_mut()
            .zip(ranks.par_chunks(BLOCK_PAGES))
            .for_each(|(block, ranks)| block.send(ranks));
        received.par_chunks_mut(BLOCK_PAGES).enumerate().for_each(|(target_block, received)| {
            received.fill(0.0);
            self.blocks[target_block].deliver_near(received);
            for block in &self.blocks {
                block.far.deliver(target_block, received);
            }
        });
    }
}

impl Block {
    fn new(graph: &Graph, block: usize) -> Self {
        let first = block * BLOCK_PAGES;
        let pages = first as u32..(first + BLOCK_PAGES).min(graph.pages()) as u32;
        let is_near = |target: &&u32| **target as usize / BLOCK_PAGES == block;
        let near_links = |page: u32| graph.links_from(page).iter().filter(is_near);
        let far_links = |page: u32| {
            let source = (page as usize % BLOCK_PAGES) as u16;
            graph
                .links_from(page)
                .iter()
                .filter(move |target| !is_near(target))
                .map(move |target| (source, *target))
        };
        Self {
            link_counts: pages.clone().map(|page| graph.links_from(page).len() as u32).collect(),
            shares: vec![0.0; pages.len()],
            near_counts: pages.clone().map(|page| near_links(page).count() as u32).collect(),
            near_targets: pages.clone().flat_map(near_links).map(|target| place(*target)).collect(),
            far: FarLinks::new(pages.flat_map(far_links), graph.pages().div_ceil(BLOCK_PAGES)),
        }
    }

    /// First pass: computes the share of the links of each page, and writes it down for
    /// each link to another block.
    fn send(&mut self, ranks: &[f64]) {
        for ((share, rank), links) in self.shares.iter_mut().zip(ranks).zip(&self.link_counts) {
            // A page without links has no share; any number will do.
            *share = (rank / f64::from(*links)) as f32;
        }
        for (share, source) in self.far.shares.iter_mut().zip(&self.far.sources) {
            *share = self.shares[*source as usize];
        }
    }

    /// Second pass: adds the shares of the links within the block.
    fn deliver_near(&self, received: &mut [f64]) {
        let mut targets = self.near_targets.as_slice();
        for (share, near) in self.shares.iter().zip(&self.near_counts) {
            let (of_page, after) = targets.split_at(*near as usize);
            targets = after;
            for target in of_page {
                received[*target as usize] += f64::from(*share);
            }
        }
    }
}

impl FarLinks {
    /// Sorts links, given as their source position and their target page, into runs.
    fn new(links: impl Iterator<Item = (u16, u32)> + Clone, blocks: usize) -> Self {
        let mut run_starts = vec![0_u32; blocks + 1];
        for (_, target) in links.clone() {
            let count = &mut run_starts[target as usize / BLOCK_PAGES + 1];
            *count = count.checked_add(1).expect("fewer than 2³² links");
        }
        for run in 1..run_starts.len() {
            run_starts[run] = run_starts[run].checked_add(run_starts[run - 1]).expect("fewer than 2³² links");
        }
        let count = run_starts[blocks] as usize;
        let mut next = run_starts.clone();
        let (mut sources, mut targets) = (vec![0; count], vec![0; count]);
        for (source, target) in links {
            let position = &mut next[target as usize / BLOCK_PAGES];
            sources[*position as usize] = source;
            targets[*position as usize] = place(target);
            *position += 1;
        }
        Self { run_starts, sources, targets, shares: vec![0.0; count] }
    }

    /// Second pass: adds the shares of these links to the pages of one block.
    fn deliver(&self, target_block: usize, received: &mut [f64]) {
        let run = self.run_starts[target_block] as usize..self.run_starts[target_block + 1] as usize;
        for (share, target) in self.shares[run.clone()].iter().zip(&self.targets[run]) {
            received[*target as usize] += f64::from(*share);
        }
    }
}

/// The position of a page in its block.
fn place(page: u32) -> u16 {
    (page as usize % BLOCK_PAGES) as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng as _, SeedableRng as _};
    use rand_chacha::ChaCha8Rng;

    /// A web of three blocks, with links within and between them.
    fn graph() -> Graph {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let pages = 150_000;
        let mut page = || (random.next_u32() >> 8) % pages;
        let links: Vec<_> = (0..600_000).map(|_| (page() / 2 * 2, page())).collect();
        Graph::from_links(pages as usize, &links)
    }

    fn received(graph: &Graph, ranks: &[f64]) -> Vec<f64> {
        let mut received = vec![f64::NAN; graph.pages()];
        Propagation::new(graph).receive(ranks, &mut received);
        received
    }

    #[test]
    fn every_page_receives_what_the_plain_loop_gives_it() {
        let graph = graph();
        let ranks: Vec<f64> = (0..graph.pages()).map(|page| 0.1 + (page % 97) as f64).collect();
        let mut expected = vec![0.0; graph.pages()];
        for page in 0..graph.pages() as u32 {
            let links = graph.links_from(page);
            for target in links {
                expected[*target as usize] += ranks[page as usize] / links.len() as f64;
            }
        }
        for (got, expected) in received(&graph, &ranks).iter().zip(expected) {
            assert!((got - expected).abs() <= 6e-8 * expected, "{got} instead of {expected}");
        }
    }

    #[test]
    fn the_number_of_threads_does_not_matter() {
        let graph = graph();
        let ranks = vec![1.0; graph.pages()];
        let on_threads = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start");
            pool.install(|| received(&graph, &ranks))
        };
        assert_eq!(on_threads(1), on_threads(3));
    }

    #[test]
    fn an_empty_web_receives_nothing() {
        assert!(received(&Graph::from_links(0, &[]), &[]).is_empty());
    }
}
