//! Neighbours by links.
//!
//! **neighbours**, section 4.1: siblings, which have a common parent, are at distance 0; pages that links
//! lead to are at the number of links; pages that links come from are at minus that number. The graph in the
//! theory crate measures the distance of every page from a sample; here only the part of the graph within the
//! granularity is walked.
//!
//! # Promises
//! - For a granularity of zero and above: exactly the pages that the paper's distance reaches.
//!
//! # Departures
//! Below zero, a page that is also reached by forward links counts as such only if they reach it within as
//! many steps as the granularity allows. The paper would follow every link of the site to find out.

use freshet_theory::neighbourhood::granularity::Granularity;

use crate::policy::catalogue::{Catalogue, PageId};

/// Breadth-first search through the links, with its marks.
#[derive(Debug, Default)]
pub(super) struct Links {
    /// The search that last reached each page.
    met_in: Vec<u32>,
    walk: u32,
}

impl Links {
    /// Appends the neighbours of a page to `neighbours`, the nearest first, without the page itself.
    pub(super) fn neighbours(
        &mut self,
        catalogue: &Catalogue,
        page: PageId,
        granularity: Granularity,
        neighbours: &mut Vec<PageId>,
    ) {
        self.begin_walk(catalogue.pages(), page);
        let Granularity(limit) = granularity;
        let steps = limit.unsigned_abs().min(catalogue.pages() as u64);
        if limit >= 0 {
            self.add_siblings(catalogue, page, neighbours);
            self.follow(&|page| catalogue.links_from(page), page, steps, neighbours);
        } else {
            let mut not_reached = Vec::new();
            self.add_siblings(catalogue, page, &mut not_reached);
            self.follow(&|page| catalogue.links_from(page), page, steps, &mut not_reached);
            let mut sources = Vec::new();
            self.begin_walk(catalogue.pages(), page);
            self.follow(&|page| catalogue.links_to(page), page, steps, &mut sources);
            not_reached.sort_unstable();
            neighbours.extend(sources.into_iter().filter(|page| not_reached.binary_search(page).is_err()));
        }
    }

    fn begin_walk(&mut self, pages: usize, from: PageId) {
        self.met_in.resize(pages, 0);
        self.walk += 1;
        self.meet(from);
    }

    /// Marks a page and returns whether this search reaches it for the first time. Links may name unknown
    /// pages.
    fn meet(&mut self, page: PageId) -> bool {
        let walk = self.walk;
        self.met_in.get_mut(page.index()).is_some_and(|met_in| std::mem::replace(met_in, walk) != walk)
    }

    fn add_siblings(&mut self, catalogue: &Catalogue, page: PageId, neighbours: &mut Vec<PageId>) {
        for parent in catalogue.links_to(page) {
            for sibling in catalogue.links_from(*parent) {
                if self.meet(*sibling) {
                    neighbours.push(*sibling);
                }
            }
        }
    }

    /// Appends the pages within `steps` links, breadth first.
    ///
    /// Siblings are marked already, but the way to other pages may lead through them, so the search passes
    /// through them as well.
    fn follow<'a>(
        &mut self,
        links: &dyn Fn(PageId) -> &'a [PageId],
        from: PageId,
        steps: u64,
        neighbours: &mut Vec<PageId>,
    ) {
        let mut passed: Vec<PageId> = vec![from];
        let mut front = vec![from];
        for _ in 0..steps {
            let mut next: Vec<PageId> = front.iter().flat_map(|page| links(*page)).copied().collect();
            next.sort_unstable();
            next.dedup();
            next.retain(|page| page.index() < self.met_in.len() && passed.binary_search(page).is_err());
            if next.is_empty() {
                return;
            }
            for page in &next {
                if self.meet(*page) {
                    neighbours.push(*page);
                }
            }
            passed.extend_from_slice(&next);
            passed.sort_unstable();
            front = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use freshet_theory::neighbourhood::link::LinkGraph;
    use proptest::prelude::*;

    use super::*;
    use crate::policy::catalogue::SiteId;

    fn linked(pages: u32, links: &[(u32, u32)]) -> Catalogue {
        let mut catalogue = Catalogue::new();
        for page in 0..pages {
            catalogue.add_page(SiteId(0), &format!("{page}"));
        }
        let links: Vec<_> = links.iter().map(|(from, to)| (PageId(*from), PageId(*to))).collect();
        catalogue.set_links(&links);
        catalogue
    }

    fn neighbours(catalogue: &Catalogue, page: u32, granularity: i64) -> Vec<u32> {
        let mut found = Vec::new();
        Links::default().neighbours(catalogue, PageId(page), Granularity(granularity), &mut found);
        let mut found: Vec<u32> = found.into_iter().map(|page| page.0).collect();
        found.sort_unstable();
        found
    }

    #[test]
    fn links_are_followed_forward_above_zero_and_backward_below() {
        let catalogue = linked(7, &[(0, 1), (0, 2), (1, 3), (3, 4), (4, 5)]);
        assert_eq!(neighbours(&catalogue, 1, 0), [2]);
        assert_eq!(neighbours(&catalogue, 1, 2), [2, 3, 4]);
        assert_eq!(neighbours(&catalogue, 4, -2), [1, 3]);
        assert!(neighbours(&catalogue, 6, 3).is_empty());
    }

    proptest! {
        #[test]
        fn from_zero_on_the_neighbours_are_those_of_the_theory(
            links in prop::collection::vec((0u32..12, 0u32..12), 0..30),
            page in 0u32..12,
            granularity in 0i64..5,
        ) {
            let pairs: Vec<_> = links.iter().map(|(from, to)| (*from as usize, *to as usize)).collect();
            let expected = LinkGraph::new(12, &pairs).neighbours(page as usize, Granularity(granularity));
            let expected: Vec<u32> =
                expected.into_iter().map(|page| page as u32).filter(|neighbour| *neighbour != page).collect();
            prop_assert_eq!(neighbours(&linked(12, &links), page, granularity), expected);
        }

        #[test]
        fn below_zero_the_neighbours_are_at_least_those_of_the_theory(
            links in prop::collection::vec((0u32..12, 0u32..12), 0..30),
            page in 0u32..12,
            granularity in -4i64..0,
        ) {
            let pairs: Vec<_> = links.iter().map(|(from, to)| (*from as usize, *to as usize)).collect();
            let expected = LinkGraph::new(12, &pairs).neighbours(page as usize, Granularity(granularity));
            let found = neighbours(&linked(12, &links), page, granularity);
            let is_found =
                |expected: &usize| *expected == page as usize || found.contains(&(*expected as u32));
            prop_assert!(expected.iter().all(is_found));
            prop_assert!(!found.contains(&page));
        }
    }
}
