//! Distances between clusters, as ranks of their centroids.
//!
//! **neighbours**, section 4.3: for a cluster `f`, the cluster itself has rank 0, the one whose centroid is
//! nearest has rank 1, the second nearest rank 2, and so on. The ranks serve twice: as features that stand
//! for the words of a page, and as the distance between pages.
//!
//! # Promises
//! - The ranks of the clusters as seen from one of them are 0, 1, 2, … without gaps.
//! - Of clusters equally far away the one with the lower number, the larger one, comes first.
//!
//! # Departures
//! The text does not say which distance. It is one minus the cosine of the centroids, the similarity on which
//! the clusters were made.

use super::bisection::Clustering;
use super::vectors::UnitVectors;

/// The ranks of all clusters as seen from each cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CentroidRanks {
    /// Row by row: the ranks as seen from each cluster.
    ranks: Vec<usize>,
    clusters: usize,
}

impl CentroidRanks {
    /// Computes the ranks of the clusters from the centroids of their vectors.
    ///
    /// Panics unless the clustering is one of these vectors.
    pub fn new(vectors: &UnitVectors, clustering: &Clustering) -> Self {
        let centroids = centroids(vectors, clustering);
        let clusters = centroids.len();
        let mut ranks = vec![0; clusters * clusters];
        for (from, ranks) in ranks.chunks_mut(clusters.max(1)).enumerate() {
            let likeness = likeness_to(&centroids, from);
            let mut order: Vec<usize> = (0..clusters).filter(|&cluster| cluster != from).collect();
            order.sort_by(|&a, &b| likeness[b].total_cmp(&likeness[a]));
            order.into_iter().zip(1..).for_each(|(cluster, rank)| ranks[cluster] = rank);
        }
        Self { ranks, clusters }
    }

    /// Number of clusters.
    pub fn clusters(&self) -> usize {
        self.clusters
    }

    /// The rank of a cluster as seen from another.
    ///
    /// Panics if there is no such cluster.
    pub fn rank(&self, from: usize, cluster: usize) -> usize {
        assert!(cluster < self.clusters);
        self.ranks[from * self.clusters + cluster]
    }
}

/// The direction of the sum of the vectors of each cluster.
fn centroids(vectors: &UnitVectors, clustering: &Clustering) -> UnitVectors {
    let mut sums = vec![0.0; vectors.dimensions()];
    let sum_of = |members: &Vec<usize>| {
        let mut touched = Vec::new();
        for (dimension, value) in members.iter().flat_map(|&vector| vectors.entries(vector)) {
            touched.push(dimension as u32);
            sums[dimension] += value;
        }
        touched.sort_unstable();
        touched.dedup();
        touched
            .into_iter()
            .map(|dimension| (dimension, std::mem::take(&mut sums[dimension as usize])))
            .collect::<Vec<_>>()
    };
    UnitVectors::new(clustering.members().iter().map(sum_of))
}

/// Cosines of all vectors to one of them.
fn likeness_to(vectors: &UnitVectors, from: usize) -> Vec<f64> {
    let mut dense = vec![0.0; vectors.dimensions()];
    vectors.entries(from).for_each(|(dimension, value)| dense[dimension] = value);
    let product = |vector| vectors.entries(vector).map(|(dimension, value)| dense[dimension] * value).sum();
    (0..vectors.len()).map(product).collect()
}

#[cfg(test)]
mod tests {
    use super::super::bisection::repeated_bisection;
    use super::*;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng as _;

    /// Clusters 0, 1 and 2 of three, two and one vectors. 0 and 1 share dimension 9; 1 and 2
    /// share dimension 8 more weakly.
    fn ranks() -> CentroidRanks {
        let (a, b, c) = ([(0, 1.0), (9, 0.5)], [(1, 1.0), (9, 0.5), (8, 0.2)], [(2, 1.0), (8, 0.2)]);
        let vectors = UnitVectors::new([&a[..], &a, &a, &b, &b, &c]);
        let clustering = repeated_bisection(&vectors, 3, &mut ChaCha8Rng::seed_from_u64(0));
        assert_eq!(clustering.sizes(), [3, 2, 1]);
        CentroidRanks::new(&vectors, &clustering)
    }

    #[test]
    fn the_nearest_centroid_has_rank_one() {
        let ranks = ranks();
        let row = |from| (0..3).map(|cluster| ranks.rank(from, cluster)).collect::<Vec<_>>();
        assert_eq!([row(0), row(1), row(2)], [[0, 1, 2], [1, 0, 2], [2, 1, 0]]);
    }

    #[test]
    fn of_clusters_equally_far_the_larger_comes_first() {
        let vectors =
            UnitVectors::new([[(0, 1.0)], [(0, 1.0)], [(0, 1.0)], [(1, 1.0)], [(1, 1.0)], [(2, 1.0)]]);
        let clustering = repeated_bisection(&vectors, 3, &mut ChaCha8Rng::seed_from_u64(0));
        let ranks = CentroidRanks::new(&vectors, &clustering);
        assert_eq!((ranks.rank(2, 0), ranks.rank(2, 1), ranks.rank(2, 2)), (1, 2, 0));
    }
}
