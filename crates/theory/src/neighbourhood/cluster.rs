//! Neighbours of a changed page by cluster: pages with similar features.
//!
//! **neighbours**, section 4.3: the pages are clustered by their feature vectors. The distance of a page from
//! the sample is 0 in the sample's own cluster, 1 in the cluster whose centroid is nearest to it, 2 in the
//! second nearest, and so on.
//!
//! # Promises
//! - Granularity 0 is the sample's cluster; each step further adds one cluster; below 0
//!   there is only the sample.
//! - The same random source gives the same neighbours.
//!
//! # Departures
//! The text clusters 300,000 pages into about a hundred clusters and does not say how the number was chosen.
//! Here the caller chooses it.

use rand::Rng;

use super::bisection::{Clustering, repeated_bisection};
use super::centroids::CentroidRanks;
use super::features::{Page, WordClusters, feature_vectors};
use super::granularity::{Granularity, reached};
use super::vectors::UnitVectors;

/// Pages in clusters, with the distances between the clusters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusteredPages {
    clustering: Clustering,
    ranks: CentroidRanks,
}

impl ClusteredPages {
    /// Clusters pages by all their features.
    ///
    /// Panics if a number of clusters is zero.
    pub fn new(pages: &[Page<'_>], word_clusters: WordClusters, clusters: usize, rng: &mut impl Rng) -> Self {
        Self::from_vectors(&feature_vectors(pages, word_clusters, rng), clusters, rng)
    }

    /// Clusters pages by vectors that the caller made.
    ///
    /// Panics if the number of clusters is zero.
    pub fn from_vectors(vectors: &UnitVectors, clusters: usize, rng: &mut impl Rng) -> Self {
        let clustering = repeated_bisection(vectors, clusters, rng);
        let ranks = CentroidRanks::new(vectors, &clustering);
        Self { clustering, ranks }
    }

    /// The clustering: which page is in which cluster.
    pub fn clustering(&self) -> &Clustering {
        &self.clustering
    }

    /// Distance of a page from the sample: never negative.
    ///
    /// Panics if there is no such page.
    pub fn distance(&self, sample: usize, page: usize) -> i64 {
        self.ranks.rank(self.clustering.cluster_of(sample), self.clustering.cluster_of(page)) as i64
    }

    /// The pages to download for a changed sample, the sample included, in rising order.
    ///
    /// Panics if the sample is not among the pages.
    pub fn neighbours(&self, sample: usize, granularity: Granularity) -> Vec<usize> {
        let pages: usize = self.clustering.sizes().iter().sum();
        reached((0..pages).map(|page| Some(self.distance(sample, page))), sample, granularity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng as _;

    #[track_caller]
    fn check(pages: &ClusteredPages, sample: usize, granularity: i64, expected: &[usize]) {
        assert_eq!(pages.neighbours(sample, Granularity(granularity)), expected);
    }

    #[test]
    fn each_step_adds_the_next_cluster() {
        let (a, b, c) = ([(0, 1.0), (9, 0.5)], [(1, 1.0), (9, 0.5), (8, 0.2)], [(2, 1.0), (8, 0.2)]);
        let vectors = UnitVectors::new([&a[..], &b, &a, &c, &b, &a]);
        let pages = ClusteredPages::from_vectors(&vectors, 3, &mut ChaCha8Rng::seed_from_u64(0));
        check(&pages, 0, -3, &[0]);
        check(&pages, 0, 0, &[0, 2, 5]);
        check(&pages, 0, 1, &[0, 1, 2, 4, 5]);
        check(&pages, 0, 2, &[0, 1, 2, 3, 4, 5]);
        check(&pages, 3, 1, &[1, 3, 4]);
    }

    /// A site with three kinds of pages: news with many images and links, articles, and small notes.
    fn site() -> Vec<Page<'static>> {
        const KINDS: [(&str, [&str; 4], u64, u64); 3] = [
            ("news", ["today", "match", "vote", "storm"], 30, 90_000),
            ("article", ["theorem", "proof", "lemma", "graph"], 2, 40_000),
            ("note", ["todo", "call", "buy", "later"], 0, 700),
        ];
        const URLS: [[&str; 3]; 3] = [
            ["http://n.com/news/a", "http://n.com/news/b", "http://n.com/news/c"],
            ["http://u.edu/math/papers/a", "http://u.edu/math/papers/b", "http://u.edu/math/papers/c"],
            ["http://h.org/~me/notes/x/a", "http://h.org/~me/notes/x/b", "http://h.org/~me/notes/x/c"],
        ];
        let page = |index: usize| {
            let (kind, words, many, bytes) = KINDS[index % 3];
            Page {
                url: URLS[index % 3][index / 3],
                words: vec![kind, words[index / 3], words[index / 3 + 1], words[index / 3]],
                incoming_links: many + index as u64 / 3,
                outgoing_links: 2 * many,
                images: many,
                bytes: bytes + 13 * index as u64,
            }
        };
        (0..9).map(page).collect()
    }

    #[test]
    fn pages_of_a_kind_are_neighbours() {
        for seed in 0..20 {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let clusters = WordClusters { content: 3, url: 3 };
            let pages = ClusteredPages::new(&site(), clusters, 3, &mut rng);
            check(&pages, 0, 0, &[0, 3, 6]);
            check(&pages, 4, 0, &[1, 4, 7]);
            check(&pages, 8, 0, &[2, 5, 8]);
        }
    }
}
