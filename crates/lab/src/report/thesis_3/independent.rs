//! Processes that do not coordinate at all (**thesis**, section 3.2, *independent*): each crawls from its own
//! seeds as if alone.
//!
//! # Promises
//! - A process downloads every page that it can reach once, breadth first, whether or not others do.

use freshet_theory::parallel::ParallelCrawl;
use freshet_theory::rank::Graph;

/// What the processes download, each from its own seeds. Nothing is ever sent.
pub(super) fn crawl(graph: &Graph, seeds: &[Vec<u32>]) -> ParallelCrawl {
    ParallelCrawl { downloads: seeds.iter().map(|seeds| alone(graph, seeds)).collect(), urls_sent: 0 }
}

/// All reachable pages, in the order of discovery.
fn alone(graph: &Graph, seeds: &[u32]) -> Vec<u32> {
    let mut is_seen = vec![false; graph.pages()];
    let mut downloads = Vec::new();
    let mut see = |page: u32, downloads: &mut Vec<u32>| {
        if !std::mem::replace(&mut is_seen[page as usize], true) {
            downloads.push(page);
        }
    };
    seeds.iter().for_each(|seed| see(*seed, &mut downloads));
    let mut next = 0;
    while let Some(page) = downloads.get(next).copied() {
        graph.links_from(page).iter().for_each(|target| see(*target, &mut downloads));
        next += 1;
    }
    downloads
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_goes_its_own_way_and_repeats_the_others() {
        let graph = Graph::from_links(4, &[(0, 2), (0, 1), (1, 3), (3, 1)]);
        let crawl = crawl(&graph, &[vec![0], vec![3, 1]]);
        assert_eq!(crawl.downloads, [vec![0, 2, 1, 3], vec![3, 1]]);
        assert_eq!((crawl.unique(), crawl.downloaded(), crawl.urls_sent), (4, 6, 0));
    }
}
