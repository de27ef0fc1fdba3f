//! Link graph in compressed rows: the links of page 0, then those of page 1, and so on.
//!
//! Pages are numbered from zero. A link may be listed more than once and may lead back to its own page; each
//! metric defines what that means. The graph of sites is the "hypergraph" of the thesis, section 4.2.2: its
//! nodes are sites, its edges the links between different sites.
//!
//! # Promises
//! - The links of a page stay in the order in which they were listed.
//! - Reversing twice gives the same links.
//! - Four bytes per link and eight per page.

/// A web of pages and links.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    /// Start of the links of each page in `targets`, and the end of the last ones.
    starts: Vec<usize>,
    /// The pages linked to.
    targets: Vec<u32>,
}

impl Graph {
    /// Builds rows from links that are listed in any order. Panics if a link names a page that is not below
    /// `pages`, or if pages cannot be numbered with 32 bits.
    pub fn from_links(pages: usize, links: &[(u32, u32)]) -> Self {
        let mut starts = vec![0; pages + 1];
        for (source, _) in links {
            starts[*source as usize + 1] += 1;
        }
        accumulate(&mut starts);
        let mut next = starts.clone();
        let mut targets = vec![0; links.len()];
        for (source, target) in links {
            targets[next[*source as usize]] = *target;
            next[*source as usize] += 1;
        }
        Self::from_rows(starts, targets)
    }

    /// Uses rows as they are: the links of page `i` are `targets[starts[i]..starts[i + 1]]`.
    ///
    /// Panics unless the starts rise from zero to the number of links and every target is a page.
    pub fn from_rows(starts: Vec<usize>, targets: Vec<u32>) -> Self {
        assert!(!starts.is_empty());
        assert!(starts.len() - 1 <= u32::MAX as usize);
        assert!(starts[0] == 0);
        assert!(starts.is_sorted());
        assert!(starts[starts.len() - 1] == targets.len());
        let pages = starts.len() - 1;
        assert!(targets.iter().all(|target| (*target as usize) < pages));
        Self { starts, targets }
    }

    /// Number of pages.
    #[inline]
    pub fn pages(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of links, each as often as it is listed.
    #[inline]
    pub fn links(&self) -> usize {
        self.targets.len()
    }

    /// The pages that `page` links to, in the order of its links.
    #[inline]
    pub fn links_from(&self, page: u32) -> &[u32] {
        let page = page as usize;
        &self.targets[self.starts[page]..self.starts[page + 1]]
    }

    /// The graph with every link reversed: the links of a page are its backlinks.
    pub fn reversed(&self) -> Self {
        let mut starts = vec![0; self.starts.len()];
        for target in &self.targets {
            starts[*target as usize + 1] += 1;
        }
        accumulate(&mut starts);
        let mut next = starts.clone();
        let mut sources = vec![0; self.targets.len()];
        for page in 0..self.pages() as u32 {
            for target in self.links_from(page) {
                sources[next[*target as usize]] = page;
                next[*target as usize] += 1;
            }
        }
        Self { starts, targets: sources }
    }

    /// The graph of sites: one link for each link between pages of different sites.
    ///
    /// `site_of` holds the site of each page. Panics if its length is not the number of pages, or if it names
    /// a site that is not below `sites`.
    pub fn of_sites(&self, site_of: &[u32], sites: usize) -> Self {
        assert!(site_of.len() == self.pages());
        let between_sites = |page: u32| {
            let site = site_of[page as usize];
            let targets = self.links_from(page).iter().map(|target| site_of[*target as usize]);
            targets.filter(move |target| *target != site).map(move |target| (site, target))
        };
        let links: Vec<_> = (0..self.pages() as u32).flat_map(between_sites).collect();
        Self::from_links(sites, &links)
    }
}

/// Turns counts, each shifted by one place, into starts.
fn accumulate(starts: &mut [usize]) {
    let mut sum = 0;
    for start in starts {
        sum += *start;
        *start = sum;
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    /// Any web of one to `pages_max` pages and up to `links_max` links, including
    /// self-links and repeated links.
    pub(in crate::rank) fn any_graph(pages_max: u32, links_max: usize) -> impl Strategy<Value = Graph> {
        (1..=pages_max).prop_flat_map(move |pages| {
            vec((0..pages, 0..pages), 0..=links_max)
                .prop_map(move |links| Graph::from_links(pages as usize, &links))
        })
    }

    #[test]
    fn links_stay_in_their_order() {
        let graph = Graph::from_links(3, &[(2, 1), (0, 2), (2, 0), (0, 2), (0, 0)]);
        assert_eq!(graph.links_from(0), [2, 2, 0]);
        assert!(graph.links_from(1).is_empty());
        assert_eq!(graph.links_from(2), [1, 0]);
        assert_eq!((graph.pages(), graph.links()), (3, 5));
    }

    #[test]
    fn a_web_may_be_empty() {
        assert_eq!(Graph::from_links(0, &[]).reversed().pages(), 0);
    }

    #[test]
    fn sites_are_linked_as_often_as_their_pages_and_never_to_themselves() {
        let graph = Graph::from_links(4, &[(0, 1), (0, 2), (1, 3), (2, 0), (3, 2)]);
        let sites = graph.of_sites(&[0, 0, 1, 1], 2);
        assert_eq!(sites, Graph::from_links(2, &[(0, 1), (0, 1), (1, 0)]));
    }

    #[test]
    #[should_panic(expected = "pages")]
    fn a_link_to_nowhere_is_refused() {
        Graph::from_links(2, &[(0, 2)]);
    }

    proptest! {
        #[test]
        fn reversing_twice_gives_the_same_links(graph in any_graph(20, 60)) {
            let (mut there, mut back) = (graph.clone(), graph.reversed().reversed());
            for rows in [&mut there, &mut back] {
                for page in 0..graph.pages() {
                    rows.targets[graph.starts[page]..graph.starts[page + 1]].sort_unstable();
                }
            }
            prop_assert_eq!(there, back);
        }
    }
}
