//! Neighbours of a changed page by links.
//!
//! **neighbours**, section 4.1, equation 1. From the sample `s` to the page `p`, with `h`
//! the fewest links on a path:
//!
//! > 0 if s and p have a common parent, h if a path leads from s to p, −h if one leads from p to s,
//! > otherwise ∞
//!
//! # Promises
//! - The first case that holds counts: siblings are at 0 whatever links exist, and a page reachable both ways
//!   has the distance of the links that lead to it.
//! - Computing the distances takes time linear in the number of pages and links; no path is followed twice.
//!
//! # Departures
//! The text does not print the order of the cases; it follows from the description of its figure. A page that
//! links to itself is its own parent.

use std::collections::VecDeque;

use super::granularity::{Granularity, reached};

/// Links between pages numbered from zero.
#[derive(Clone, Debug)]
pub struct LinkGraph {
    out_links: Adjacency,
    in_links: Adjacency,
}

impl LinkGraph {
    /// Creates the graph of links `(from, to)` among `pages` pages. Repeated links do no harm.
    ///
    /// Panics if a link names a page that does not exist.
    pub fn new(pages: usize, links: &[(usize, usize)]) -> Self {
        assert!(links.iter().all(|&(from, to)| from < pages && to < pages));
        let out_links = Adjacency::new(pages, links.iter().copied());
        let in_links = Adjacency::new(pages, links.iter().map(|&(from, to)| (to, from)));
        Self { out_links, in_links }
    }

    /// Distance of every page from the sample; `None` when there is no path either way.
    ///
    /// Panics if the sample is not among the pages.
    pub fn distances(&self, sample: usize) -> Vec<Option<i64>> {
        let mut distances = self.in_links.hops(sample);
        distances.iter_mut().flatten().for_each(|hops| *hops = -*hops);
        for (distance, hops) in distances.iter_mut().zip(self.out_links.hops(sample)) {
            *distance = hops.or(*distance);
        }
        for &parent in self.in_links.of(sample) {
            for &sibling in self.out_links.of(parent) {
                distances[sibling] = Some(0);
            }
        }
        distances
    }

    /// The pages to download for a changed sample, the sample included, in rising order.
    ///
    /// Panics if the sample is not among the pages.
    pub fn neighbours(&self, sample: usize, granularity: Granularity) -> Vec<usize> {
        reached(self.distances(sample), sample, granularity)
    }
}

/// Adjacency lists of all pages, one list after the other.
#[derive(Clone, Debug)]
struct Adjacency {
    /// Start of the list of each page, and the end of the last one.
    starts: Vec<usize>,
    targets: Vec<usize>,
}

impl Adjacency {
    fn new(pages: usize, links: impl Iterator<Item = (usize, usize)> + Clone) -> Self {
        let mut starts = vec![0; pages + 1];
        for (from, _) in links.clone() {
            starts[from + 1] += 1;
        }
        for page in 0..pages {
            starts[page + 1] += starts[page];
        }
        let mut next = starts.clone();
        let mut targets = vec![0; starts[pages]];
        for (from, to) in links {
            targets[next[from]] = to;
            next[from] += 1;
        }
        Self { starts, targets }
    }

    fn of(&self, page: usize) -> &[usize] {
        &self.targets[self.starts[page]..self.starts[page + 1]]
    }

    /// Fewest steps from a page to every other one, by breadth-first search.
    fn hops(&self, from: usize) -> Vec<Option<i64>> {
        let mut hops = vec![None; self.starts.len() - 1];
        hops[from] = Some(0);
        let mut queue = VecDeque::from([(from, 0)]);
        while let Some((page, steps)) = queue.pop_front() {
            for &next in self.of(page) {
                if hops[next].is_none() {
                    hops[next] = Some(steps + 1);
                    queue.push_back((next, steps + 1));
                }
            }
        }
        hops
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// A graph that agrees with everything that the text says of its Figure 1. Page 3 is the sample.
    const FIGURE: [(usize, usize); 11] =
        [(1, 2), (2, 3), (2, 4), (2, 5), (3, 5), (3, 6), (3, 7), (3, 10), (7, 10), (6, 8), (8, 9)];

    #[track_caller]
    fn check(pages: usize, links: &[(usize, usize)], sample: usize, expected: &[Option<i64>]) {
        assert_eq!(LinkGraph::new(pages, links).distances(sample), expected);
    }

    #[test]
    fn the_figure_of_the_text() {
        let expected = [
            None,
            Some(-2),
            Some(-1),
            Some(0),
            Some(0),
            Some(0),
            Some(1),
            Some(1),
            Some(2),
            Some(3),
            Some(1),
        ];
        check(11, &FIGURE, 3, &expected);
        let graph = LinkGraph::new(11, &FIGURE);
        assert_eq!(graph.neighbours(3, Granularity(1)), [3, 4, 5, 6, 7, 10]);
        assert_eq!(graph.neighbours(3, Granularity(-2)), [1, 2, 3]);
    }

    #[test]
    fn links_that_lead_to_a_page_count_before_links_that_lead_back() {
        check(3, &[(0, 1), (1, 2), (2, 0)], 0, &[Some(0), Some(1), Some(2)]);
    }

    #[test]
    fn a_sibling_is_near_whatever_links_exist() {
        check(3, &[(0, 1), (0, 2), (1, 2), (2, 1)], 1, &[Some(-1), Some(0), Some(0)]);
    }

    #[test]
    fn a_page_that_links_to_itself_is_its_own_parent() {
        check(3, &[(0, 0), (0, 1), (1, 2)], 0, &[Some(0), Some(0), Some(2)]);
    }

    #[test]
    fn a_page_alone_is_near_to_itself_only() {
        check(2, &[], 1, &[None, Some(0)]);
    }

    proptest! {
        #[test]
        fn distances_agree_with_the_shortest_paths_of_all_pairs(
            links in prop::collection::vec((0usize..9, 0usize..9), 0..25),
        ) {
            let mut hops: BTreeMap<(usize, usize), i64> = links.iter().map(|&link| (link, 1)).collect();
            hops.extend((0..9).map(|page| ((page, page), 0)));
            for (via, from, to) in (0..729).map(|step| (step / 81, step / 9 % 9, step % 9)) {
                if let (Some(first), Some(second)) = (hops.get(&(from, via)), hops.get(&(via, to))) {
                    let detour = first + second;
                    hops.entry((from, to)).and_modify(|known| *known = detour.min(*known)).or_insert(detour);
                }
            }
            let are_siblings =
                |a, b| (0..9).any(|parent| links.contains(&(parent, a)) && links.contains(&(parent, b)));
            let graph = LinkGraph::new(9, &links);
            for sample in 0..9 {
                for (page, distance) in graph.distances(sample).into_iter().enumerate() {
                    let expected = if page == sample || are_siblings(sample, page) {
                        Some(0)
                    } else {
                        let back = hops.get(&(page, sample)).map(|hops| -hops);
                        hops.get(&(sample, page)).copied().or(back)
                    };
                    prop_assert_eq!(distance, expected);
                }
            }
        }
    }
}
