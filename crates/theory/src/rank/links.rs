//! Importance by counting links.
//!
//! Implements the thesis, section 2.2, items 2 and 4:
//!
//! > IB(p), the number of links to p; IF(p), the number of links that emanate from p
//!
//! Counted over the links seen so far, the backlinks are the estimate IB'(p); forward links
//! need only the page itself.
//!
//! # Promises
//! - A link counts as often as it is listed; both counts add up to the number of links.
//!
//! # Departures
//! None.

use super::Graph;

/// Number of links to each page.
pub fn backlinks(graph: &Graph) -> Vec<u32> {
    let mut counts = vec![0; graph.pages()];
    for page in 0..graph.pages() as u32 {
        for target in graph.links_from(page) {
            counts[*target as usize] += 1;
        }
    }
    counts
}

/// Number of links on each page.
pub fn forward_links(graph: &Graph) -> Vec<u32> {
    (0..graph.pages() as u32).map(|page| graph.links_from(page).len() as u32).collect()
}

#[cfg(test)]
mod tests {
    use super::super::graph::tests::any_graph;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn links_are_counted_where_they_lead_and_where_they_stand() {
        let graph = Graph::from_links(3, &[(0, 1), (0, 1), (2, 1), (1, 1)]);
        assert_eq!(backlinks(&graph), [0, 4, 0]);
        assert_eq!(forward_links(&graph), [2, 1, 1]);
    }

    proptest! {
        #[test]
        fn both_counts_add_up_to_the_links(graph in any_graph(20, 60)) {
            prop_assert_eq!(backlinks(&graph).iter().sum::<u32>() as usize, graph.links());
            prop_assert_eq!(forward_links(&graph).iter().sum::<u32>() as usize, graph.links());
            prop_assert_eq!(backlinks(&graph), forward_links(&graph.reversed()));
        }
    }
}
