//! Processes that do not coordinate at all (**thesis**, section 3.2, *independent*): each crawls from its own seeds as if alone.

use freshet_theory::parallel::{Mode, ParallelCrawl, Plan, parallel_crawl};

use super::divided_webs::DividedWeb;

/// What the processes download, each from its own seeds; nothing is ever sent.
pub(super) fn crawl(web: &DividedWeb, seeds: &[Vec<u32>]) -> ParallelCrawl {
    // Whoever owns everything meets no link that leads elsewhere.
    let owners = vec![0; web.pages()];
    let alone = |seeds: &Vec<u32>| {
        let plan = Plan {
            graph: &web.graph,
            owners: &owners,
            seeds: std::slice::from_ref(seeds),
            replicated: &[],
            mode: Mode::Firewall,
        };
        parallel_crawl(&plan).downloads.remove(0)
    };
    ParallelCrawl { downloads: seeds.iter().map(alone).collect(), urls_sent: 0 }
}
