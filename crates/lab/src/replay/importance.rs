//! Importance of pages: PageRank over the table of links.
//!
//! Thesis, section 2.2, with the damping 0.9 of its experiments, scaled so that the mean importance is 1.
//! Without links all pages are equal. Pages that are only linked from menus and templates count as not
//! linked: the tables do not have such links.

use freshet_theory::rank::Graph;
use freshet_theory::rank::pagerank::{Damping, Dangling, approximate};

/// Maximum total error of all ranks, as a fraction of their sum.
const RELATIVE_ERROR: f64 = 1e-6;

/// The importance of each page. Panics if a link refers to a page not below `pages`.
pub fn page_rank(pages: usize, links: &[(u32, u32)]) -> Vec<f32> {
    if links.is_empty() {
        return vec![1.0; pages];
    }
    let graph = Graph::from_links(pages, links);
    let ranks = approximate(&graph, Damping::THESIS, Dangling::LinksToAll, RELATIVE_ERROR);
    ranks.into_iter().map(|rank| rank as f32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_is_linked_is_important_and_the_mean_is_one() {
        let ranks = page_rank(4, &[(0, 3), (1, 3), (2, 3), (3, 0)]);
        assert!(ranks[3] > ranks[0] && ranks[0] > ranks[1], "{ranks:?}");
        assert!((ranks.iter().sum::<f32>() - 4.0).abs() < 1e-3);
    }

    #[test]
    fn without_links_all_pages_are_equal() {
        assert_eq!(page_rank(3, &[]), [1.0; 3]);
    }
}
