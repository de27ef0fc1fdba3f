//! Clusters: neighbours by the features of pages.
//!
//! **neighbours**, section 4.3: pages are clustered by their features; the distance is 0 within a cluster, 1
//! to the cluster whose centroid is nearest, and so on. A crawler knows these features without a visit: the
//! words of the URL, its depth, and the links to and from the page.
//!
//! # Promises
//! - The same seed makes the same clusters.
//! - Every page that was there when the clusters were made is in one.
//!
//! # Departures
//! - The words, images and size of a page are not in the catalogue and are left out. The site is among the
//!   words of the URL.
//! - The paper clusters once. Here the clusters are remade when half of the pages are new; until then a new
//!   page is in the cluster of the last page of its directory.

use freshet_theory::neighbourhood::cluster::ClusteredPages;
use freshet_theory::neighbourhood::features::{Page, WordClusters};
use freshet_theory::neighbourhood::granularity::Granularity;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;

use crate::policy::catalogue::{Catalogue, PageId};

/// Mean number of pages of a cluster, when there are many pages: the paper's.
const PAGES_PER_CLUSTER: usize = 3_000;
/// Minimum number of clusters, as long as there are pages.
const CLUSTERS_MIN: usize = 10;
/// Clusters of the words of URLs: the ranks of the ten largest become features.
const URL_CLUSTERS: usize = 20;
/// Share of new pages at which the clusters are remade.
const NEW_SHARE_MAX: f64 = 0.5;

/// The clusters and the pages in them.
#[derive(Debug)]
pub(super) struct Clusters {
    rng: ChaCha8Rng,
    clustered: Option<ClusteredPages>,
    /// Number of pages when the clusters were made.
    known: usize,
    members: Vec<Vec<PageId>>,
    /// For each page, one that was there when the clusters were made: itself or one of its directory.
    stands_for: Vec<Option<PageId>>,
    last_of_directory: Vec<Option<PageId>>,
}

impl Clusters {
    /// No pages yet.
    pub(super) fn new(seed: u64) -> Self {
        Self {
            rng: ChaCha8Rng::seed_from_u64(seed),
            clustered: None,
            known: 0,
            members: Vec::new(),
            stands_for: Vec::new(),
            last_of_directory: Vec::new(),
        }
    }

    /// The pages from `first` on are new.
    pub(super) fn discover(&mut self, catalogue: &Catalogue, first: PageId) {
        let pages = catalogue.pages();
        if (pages - self.known) as f64 > NEW_SHARE_MAX * pages as f64 {
            self.make(catalogue);
        } else {
            self.last_of_directory.resize(catalogue.directories().len(), None);
            (first.0..pages as u32).for_each(|page| self.join_directory(catalogue, PageId(page)));
        }
    }

    /// Appends the neighbours of a page to `neighbours`, without the page itself.
    pub(super) fn neighbours(&self, page: PageId, granularity: Granularity, neighbours: &mut Vec<PageId>) {
        let (Some(clustered), Some(sample)) = (&self.clustered, self.stands_for[page.index()]) else {
            return;
        };
        for members in &self.members {
            let Some(first) = members.first() else { continue };
            if granularity.reaches(clustered.distance(sample.index(), first.index())) {
                neighbours.extend(members.iter().filter(|member| **member != page));
            }
        }
    }

    /// Makes the clusters of all pages.
    fn make(&mut self, catalogue: &Catalogue) {
        let pages = catalogue.pages();
        let address = |page| format!("http://site{}.org/{}", catalogue.site_of(page).0, catalogue.path(page));
        let urls: Vec<String> = (0..pages as u32).map(|page| address(PageId(page))).collect();
        let features: Vec<Page<'_>> = (0..pages as u32)
            .map(PageId)
            .map(|page| Page {
                url: &urls[page.index()],
                incoming_links: catalogue.links_to(page).len() as u64,
                outgoing_links: catalogue.links_from(page).len() as u64,
                ..Page::default()
            })
            .collect();
        let clusters = (pages / PAGES_PER_CLUSTER).max(CLUSTERS_MIN).min(pages.max(1));
        let words = WordClusters { content: 1, url: URL_CLUSTERS };
        let clustered = ClusteredPages::new(&features, words, clusters, &mut self.rng);
        let member = |page: usize| PageId(page as u32);
        let members = clustered.clustering().members();
        self.members = members.into_iter().map(|pages| pages.into_iter().map(member).collect()).collect();
        self.clustered = Some(clustered);
        self.known = pages;
        self.stands_for = (0..pages).map(|page| Some(member(page))).collect();
        self.last_of_directory = vec![None; catalogue.directories().len()];
        for page in (0..pages).map(member) {
            self.last_of_directory[catalogue.directory_of(page).index()] = Some(page);
        }
    }

    /// Puts a new page into the cluster of the last page of its directory, if there is one.
    fn join_directory(&mut self, catalogue: &Catalogue, page: PageId) {
        let stands_for = self.last_of_directory[catalogue.directory_of(page).index()];
        self.stands_for.push(stands_for);
        if let (Some(clustered), Some(other)) = (&self.clustered, stands_for) {
            self.members[clustered.clustering().cluster_of(other.index())].push(page);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::catalogue::SiteId;

    fn neighbours(clusters: &Clusters, page: PageId, granularity: i64) -> Vec<PageId> {
        let mut found = Vec::new();
        clusters.neighbours(page, Granularity(granularity), &mut found);
        found
    }

    #[test]
    fn pages_are_in_one_cluster_each_and_new_ones_join_their_directory() {
        let mut catalogue = Catalogue::new();
        for page in 0..200 {
            let (kind, site) = (["news", "docs/guide", "blog/archive/old"][page % 3], page as u32 % 4);
            catalogue.add_page(SiteId(site), &format!("{kind}/{page}"));
        }
        let mut clusters = Clusters::new(3);
        clusters.discover(&catalogue, PageId(0));
        assert!(clusters.members.len() > 1);
        assert_eq!(clusters.members.iter().map(Vec::len).sum::<usize>(), 200);
        for page in (0..200).map(PageId) {
            let near = neighbours(&clusters, page, 0);
            assert!(!near.contains(&page));
            assert!(near.len() < neighbours(&clusters, page, 1).len());
            assert!(neighbours(&clusters, page, -1).is_empty());
        }
        let new = catalogue.add_page(SiteId(0), "news/late");
        clusters.discover(&catalogue, new);
        assert!(!neighbours(&clusters, new, 0).is_empty());
        let alone = catalogue.add_page(SiteId(9), "elsewhere/late");
        clusters.discover(&catalogue, alone);
        assert!(neighbours(&clusters, alone, 5).is_empty());
    }
}
