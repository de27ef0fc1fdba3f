//! A crawler whose buffer holds only some of the pages.
//!
//! The **thesis**, section 2.3: "after the buffer fills up, the crawler must decide what pages to flush", and
//! can only guess which will turn out to be important. Here it flushes the page with the fewest backlinks
//! among the links read so far; of equals, the one visited last. A flushed page does not come back.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use freshet_theory::rank::Graph;

/// The pages left in a buffer of `room` pages after all pages were visited in this order.
pub(super) fn kept(graph: &Graph, order: &[u32], room: usize) -> Vec<u32> {
    let mut backlinks = vec![0_u32; graph.pages()];
    // When each page in the buffer was visited.
    let mut visited_at: Vec<Option<usize>> = vec![None; graph.pages()];
    let mut buffer = BTreeSet::new();
    for (visit, page) in order.iter().enumerate() {
        buffer.insert((backlinks[*page as usize], Reverse(visit), *page));
        visited_at[*page as usize] = Some(visit);
        for target in graph.links_from(*page) {
            let count = &mut backlinks[*target as usize];
            if let Some(visit) = visited_at[*target as usize] {
                buffer.remove(&(*count, Reverse(visit), *target));
                buffer.insert((*count + 1, Reverse(visit), *target));
            }
            *count += 1;
        }
        if buffer.len() > room
            && let Some((_, _, flushed)) = buffer.pop_first()
        {
            visited_at[flushed as usize] = None;
        }
    }
    buffer.into_iter().map(|(_, _, page)| page).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_seems_least_important_goes_and_does_not_come_back() {
        // Page 1 is flushed before its backlinks from 3 and 4 are read.
        let graph = Graph::from_links(5, &[(0, 2), (3, 1), (4, 1), (2, 0)]);
        let mut pages = kept(&graph, &[0, 1, 2, 3, 4], 2);
        pages.sort_unstable();
        assert_eq!(pages, [0, 2]);
        assert_eq!(kept(&graph, &[0, 1, 2, 3, 4], 9).len(), 5);
    }
}
