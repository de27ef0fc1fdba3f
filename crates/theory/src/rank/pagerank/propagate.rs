//! One iteration of PageRank: what each page receives through its backlinks, as two straight passes through memory.
//!
//! The plain loop adds the share of a page to each page that it links to. In a large web those lie anywhere in memory, and
//! the loop waits for it. Here the pages are divided into blocks of 65,536, small enough that the numbers of one block stay
//! in the cache of a core. The first pass goes through the blocks of linking pages and writes the share of each link down,
//! sorted by the block it leads to; the second goes through the blocks of linked pages and adds the shares up. Both read
//! and write long runs, and all blocks of a pass can be done at once ("propagation blocking": Beamer, Asanović, Patterson,
//! 2017; with the order of the links fixed beforehand: Lakhotia, Kannan, Prasanna, 2018).
//!
//! # Promises
//! - What a page receives is the sum over its backlinks of rank / links, with a relative error of 2⁻²⁴ = 6e-8 from shares
//!   written as 32-bit numbers; the sums have 64 bits.
//! - The result does not depend on the number of threads.
//! - Eight bytes per link beside the graph: where it leads from and to within its blocks, and its share.
//!
//! # Departures
//! None; the text names no method.

use rayon::prelude::*;

use super::super::Graph;

/// Pages per block: a place within a block has 16 bits, and the sums of a block take 512 KiB.
const BLOCK_PAGES: usize = 1 << 16;

/// The links of a web, laid out for [`Propagation::receive`].
#[derive(Debug)]
pub struct Propagation {
    pages: usize,
    blocks: Vec<Block>,
}

/// The links of one block of linking pages, in runs: first those that lead to block 0, then those to block 1, ...
#[derive(Debug)]
struct Block {
    /// How many links each page of the block has.
    link_counts: Vec<u32>,
    /// Where the run to each block begins, and where the last one ends.
    run_starts: Vec<u32>,
    /// For each link, the place of the linking page within this block.
    sources: Vec<u16>,
    /// For each link, the place of the linked page within the block of its run.
    targets: Vec<u16>,
    /// For each link, what it carries. Filled by the first pass, read by the second.
    shares: Vec<f32>,
}

impl Propagation {
    /// Lays out the links. Panics if 65,536 consecutive pages have more than 2³² links.
    pub fn new(graph: &Graph) -> Self {
        let pages = graph.pages();
        let blocks =
            (0..pages.div_ceil(BLOCK_PAGES)).into_par_iter().map(|block| Block::new(graph, block)).collect();
        Self { pages, blocks }
    }

    /// Sets `received` to what each page receives when every page divides its rank among its links.
    ///
    /// Panics unless both slices have one number per page.
    pub fn receive(&mut self, ranks: &[f64], received: &mut [f64]) {
        assert!(ranks.len() == self.pages);
        assert!(received.len() == self.pages);
        self.blocks
            .par_iter_mut()
            .zip(ranks.par_chunks(BLOCK_PAGES))
            .for_each_init(|| vec![0.0; BLOCK_PAGES], |scratch, (block, ranks)| block.send(ranks, scratch));
        received.par_chunks_mut(BLOCK_PAGES).enumerate().for_each(|(target_block, received)| {
            received.fill(0.0);
            for block in &self.blocks {
                block.deliver(target_block, received);
            }
        });
    }
}

impl Block {
    fn new(graph: &Graph, block: usize) -> Self {
        let first = block * BLOCK_PAGES;
        let pages = first..(first + BLOCK_PAGES).min(graph.pages());
        let links_of = |place: usize| graph.links_from((first + place) as u32);
        let link_counts: Vec<u32> = (0..pages.len()).map(|place| links_of(place).len() as u32).collect();
        let links: usize = link_counts.iter().map(|count| *count as usize).sum();
        assert!(links <= u32::MAX as usize);

        let mut run_starts = vec![0_u32; graph.pages().div_ceil(BLOCK_PAGES) + 1];
        for target in (0..pages.len()).flat_map(links_of) {
            run_starts[*target as usize / BLOCK_PAGES + 1] += 1;
        }
        for run in 1..run_starts.len() {
            run_starts[run] += run_starts[run - 1];
        }
        let mut next = run_starts.clone();
        let (mut sources, mut targets) = (vec![0; links], vec![0; links]);
        for place in 0..pages.len() {
            for target in links_of(place) {
                let position = &mut next[*target as usize / BLOCK_PAGES];
                sources[*position as usize] = place as u16;
                targets[*position as usize] = (*target as usize % BLOCK_PAGES) as u16;
                *position += 1;
            }
        }
        Self { link_counts, run_starts, sources, targets, shares: vec![0.0; links] }
    }

    /// First pass: writes down what each link of this block carries.
    fn send(&mut self, ranks: &[f64], scratch: &mut [f32]) {
        for ((share, rank), links) in scratch.iter_mut().zip(ranks).zip(&self.link_counts) {
            *share = (rank / f64::from((*links).max(1))) as f32;
        }
        for (share, source) in self.shares.iter_mut().zip(&self.sources) {
            *share = scratch[*source as usize];
        }
    }

    /// Second pass: adds what the links of this block carry to the pages of one block.
    fn deliver(&self, target_block: usize, received: &mut [f64]) {
        let run = self.run_starts[target_block] as usize..self.run_starts[target_block + 1] as usize;
        for (share, target) in self.shares[run.clone()].iter().zip(&self.targets[run]) {
            received[*target as usize] += f64::from(*share);
        }
    }
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
