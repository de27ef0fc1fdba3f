//! Clustering of vectors by repeated bisection.
//!
//! **neighbours**, section 4.3: the whole set is divided in two, then one of the parts, and so on until there
//! are `k` clusters. Each bisection makes a criterion function locally best. The criterion is the usual one
//! of the program that the text uses (CLUTO's I₂), for clusters S_r of vectors of length one:
//!
//! > Σ_r ‖Σ of the vectors in S_r‖, the sum of the cosines of all vectors to the centroid of their cluster
//!
//! A bisection starts from two vectors that are likely to be far apart and puts every other one with the
//! nearer. Then it moves single vectors, in random order, as long as the criterion grows. The best of several
//! trials counts. The part that is divided next is the one whose division adds most to the criterion.
//!
//! # Promises
//! - Clear groups are found: vectors without a common dimension end in different clusters.
//! - There are as many clusters as requested, or fewer when no division would add to the criterion: vectors
//!   of one direction stay together.
//! - Clusters are numbered from the largest to the smallest.
//! - The same random source gives the same clusters.
//! - A pass takes time linear in the number of entries of the vectors, whatever the number of dimensions.
//!
//! # Departures
//! The text does not say how the two starting vectors are chosen nor how often a bisection is tried. The
//! first is drawn uniformly, the second in proportion to its distance (one minus the cosine) from the first;
//! there are `TRIALS` trials. An empty vector adds nothing to any cluster and stays where it falls.

use rand::Rng;
use rand::RngExt as _;
use rand::seq::SliceRandom as _;

use super::vectors::UnitVectors;

/// Number of trials of a bisection, each from new starting vectors.
const TRIALS: usize = 3;

/// Maximum number of passes over the vectors in a trial. In practice nothing moves after about five.
const PASSES_MAX: usize = 20;

/// Minimum gain of the criterion for a move or a division to count: above rounding, far below one vector.
const GAIN_MIN: f64 = 1e-9;

/// Which vector belongs to which cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clustering {
    cluster_of: Vec<usize>,
    sizes: Vec<usize>,
}

impl Clustering {
    /// The cluster of a vector.
    ///
    /// Panics if there is no such vector.
    pub fn cluster_of(&self, vector: usize) -> usize {
        self.cluster_of[vector]
    }

    /// Number of vectors in each cluster, the largest first.
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// The vectors of each cluster, in rising order.
    pub fn members(&self) -> Vec<Vec<usize>> {
        let mut members: Vec<Vec<usize>> = self.sizes.iter().map(|&size| Vec::with_capacity(size)).collect();
        for (vector, &cluster) in self.cluster_of.iter().enumerate() {
            members[cluster].push(vector);
        }
        members
    }

    fn new(vectors: usize, mut members: Vec<Vec<usize>>) -> Self {
        members.sort_by_key(|members| (std::cmp::Reverse(members.len()), members.iter().min().copied()));
        let mut cluster_of = vec![0; vectors];
        for (cluster, members) in members.iter().enumerate() {
            members.iter().for_each(|&vector| cluster_of[vector] = cluster);
        }
        Self { cluster_of, sizes: members.iter().map(Vec::len).collect() }
    }
}

/// Clusters the vectors into at most `clusters` clusters.
///
/// Panics if no cluster is requested.
pub fn repeated_bisection(vectors: &UnitVectors, clusters: usize, rng: &mut impl Rng) -> Clustering {
    assert!(clusters > 0);
    let mut bisector = Bisector::new(vectors);
    let mut leaves = vec![Leaf::new((0..vectors.len()).collect())];
    while leaves.len() < clusters {
        for leaf in &mut leaves {
            leaf.division.get_or_insert_with(|| bisector.bisect(&leaf.members, rng));
        }
        let Some(best) = best_leaf(&leaves) else { break };
        let division = leaves.swap_remove(best).division.flatten();
        leaves.extend(division.into_iter().flat_map(|division| division.halves).map(Leaf::new));
    }
    let members = leaves.into_iter().map(|leaf| leaf.members).filter(|members| !members.is_empty());
    Clustering::new(vectors.len(), members.collect())
}

/// A cluster that may be divided.
struct Leaf {
    members: Vec<usize>,
    /// The best division, once it was searched; `None` inside when no division adds to the criterion.
    division: Option<Option<Division>>,
}

impl Leaf {
    fn new(members: Vec<usize>) -> Self {
        Self { members, division: None }
    }

    /// What its division adds to the criterion.
    fn gain(&self) -> Option<f64> {
        self.division.as_ref()?.as_ref().map(|division| division.gain)
    }
}

/// The index of the leaf whose division adds most; the first of equals.
fn best_leaf(leaves: &[Leaf]) -> Option<usize> {
    let gains = leaves.iter().enumerate().filter_map(|(leaf, state)| Some((leaf, state.gain()?)));
    gains.reduce(|best, next| if next.1 > best.1 { next } else { best }).map(|(leaf, _)| leaf)
}

/// One of the two sides of a division: 0 or 1.
type Side = usize;

/// The division of a set of vectors in two.
struct Division {
    halves: [Vec<usize>; 2],
    /// What the division adds to the criterion.
    gain: f64,
}

impl Division {
    fn new(members: &[usize], sides: &[Side], gain: f64) -> Self {
        let half = |half: Side| {
            let members = members.iter().zip(sides).filter(|(_, side)| **side == half);
            members.map(|(&vector, _)| vector).collect()
        };
        Self { halves: [half(0), half(1)], gain }
    }
}

/// Divides sets of vectors. Holds the sums of the vectors on both sides, in one array
/// that all bisections reuse.
struct Bisector<'a> {
    vectors: &'a UnitVectors,
    /// For each dimension the sum on each side; all zero between trials.
    sums: Vec<[f64; 2]>,
}

impl<'a> Bisector<'a> {
    fn new(vectors: &'a UnitVectors) -> Self {
        Self { vectors, sums: vec![[0.0; 2]; vectors.dimensions()] }
    }

    /// The best of several trials, if it adds to the criterion.
    fn bisect(&mut self, members: &[usize], rng: &mut impl Rng) -> Option<Division> {
        if members.len() < 2 {
            return None;
        }
        let mut best: Option<Division> = None;
        for _ in 0..TRIALS {
            let trial = self.try_bisection(members, rng)?;
            if best.as_ref().is_none_or(|best| trial.gain > best.gain) {
                best = Some(trial);
            }
        }
        best.filter(|best| best.gain > GAIN_MIN)
    }

    /// One trial; `None` when all vectors have one direction.
    fn try_bisection(&mut self, members: &[usize], rng: &mut impl Rng) -> Option<Division> {
        let seeds = self.choose_seeds(members, rng)?;
        let mut sides = self.nearer_seed(members, seeds);
        let mut lengths_squared = self.sum_up(members, &sides);
        let mut order: Vec<usize> = (0..members.len()).collect();
        for _ in 0..PASSES_MAX {
            order.shuffle(rng);
            if !self.improve(members, &order, &mut sides, &mut lengths_squared) {
                break;
            }
        }
        Some(Division::new(members, &sides, self.take_gain(members)))
    }

    /// Two members: one drawn uniformly, the other in proportion to its distance from the first.
    fn choose_seeds(&mut self, members: &[usize], rng: &mut impl Rng) -> Option<[usize; 2]> {
        let first = members[rng.random_range(0..members.len())];
        self.add(first, 0, 1.0);
        let distances: Vec<f64> =
            members.iter().map(|&vector| (1.0 - self.products(vector)[0]).max(0.0)).collect();
        self.clear(first);
        let total: f64 = distances.iter().sum();
        if total <= GAIN_MIN {
            return None;
        }
        let mut left = rng.random_range(0.0..total);
        let drawn = distances.iter().position(|distance| {
            left -= distance;
            left < 0.0
        });
        // Rounding may leave a little of the total after the last member: then take the
        // last one with a distance.
        let drawn = drawn.or_else(|| distances.iter().rposition(|distance| *distance > 0.0))?;
        Some([first, members[drawn]])
    }

    /// The side of the seed that each member is more like.
    fn nearer_seed(&mut self, members: &[usize], seeds: [usize; 2]) -> Vec<Side> {
        self.add(seeds[0], 0, 1.0);
        self.add(seeds[1], 1, 1.0);
        let side = |&vector: &usize| {
            let [first, second] = self.products(vector);
            usize::from(second > first || vector == seeds[1])
        };
        let sides = members.iter().map(side).collect();
        seeds.iter().for_each(|&seed| self.clear(seed));
        sides
    }

    /// Computes the sums of both sides; returns the squares of their lengths.
    fn sum_up(&mut self, members: &[usize], sides: &[Side]) -> [f64; 2] {
        let mut lengths_squared = [0.0; 2];
        for (&vector, &side) in members.iter().zip(sides) {
            lengths_squared[side] += 2.0 * self.products(vector)[side] + self.square(vector);
            self.add(vector, side, 1.0);
        }
        lengths_squared
    }

    /// Moves each vector to the other side if that adds to the criterion; returns whether any moved.
    fn improve(
        &mut self,
        members: &[usize],
        order: &[usize],
        sides: &mut [Side],
        lengths_squared: &mut [f64; 2],
    ) -> bool {
        let mut moved = false;
        for &index in order {
            let (vector, here) = (members[index], sides[index]);
            let there = 1 - here;
            let (products, square) = (self.products(vector), self.square(vector));
            let without = (lengths_squared[here] - 2.0 * products[here] + square).max(0.0);
            let with = lengths_squared[there] + 2.0 * products[there] + square;
            let gain =
                without.sqrt() + with.sqrt() - lengths_squared[here].sqrt() - lengths_squared[there].sqrt();
            if gain > GAIN_MIN {
                self.add(vector, here, -1.0);
                self.add(vector, there, 1.0);
                lengths_squared[here] = without;
                lengths_squared[there] = with;
                sides[index] = there;
                moved = true;
            }
        }
        moved
    }

    /// What the division adds to the criterion, computed from the sums. Clears the sums.
    fn take_gain(&mut self, members: &[usize]) -> f64 {
        let (mut sides, mut whole) = ([0.0; 2], 0.0);
        for &vector in members {
            for (dimension, _) in self.vectors.entries(vector) {
                let [first, second] = std::mem::take(&mut self.sums[dimension]);
                sides[0] += first * first;
                sides[1] += second * second;
                whole += (first + second) * (first + second);
            }
        }
        sides[0].sqrt() + sides[1].sqrt() - whole.sqrt()
    }

    /// Dot products of a vector with both sums.
    #[inline]
    fn products(&self, vector: usize) -> [f64; 2] {
        let mut products = [0.0; 2];
        for (dimension, value) in self.vectors.entries(vector) {
            let [first, second] = self.sums[dimension];
            products[0] += first * value;
            products[1] += second * value;
        }
        products
    }

    /// Adds a multiple of a vector to the sum of a side.
    #[inline]
    fn add(&mut self, vector: usize, side: Side, factor: f64) {
        for (dimension, value) in self.vectors.entries(vector) {
            self.sums[dimension][side] += factor * value;
        }
    }

    /// Sets the sums to zero in the dimensions of the vector.
    fn clear(&mut self, vector: usize) {
        for (dimension, _) in self.vectors.entries(vector) {
            self.sums[dimension] = [0.0; 2];
        }
    }

    /// The square of a vector's length: one, or zero for an empty vector.
    fn square(&self, vector: usize) -> f64 {
        if self.vectors.is_zero(vector) { 0.0 } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng as _;

    fn grouped(vectors: &[&[(u32, f64)]], clusters: usize, seed: u64) -> Clustering {
        repeated_bisection(&UnitVectors::new(vectors), clusters, &mut ChaCha8Rng::seed_from_u64(seed))
    }

    #[track_caller]
    fn check(vectors: &[&[(u32, f64)]], clusters: usize, expected: &[&[usize]]) {
        for seed in 0..20 {
            assert_eq!(grouped(vectors, clusters, seed).members(), expected, "seed {seed}");
        }
    }

    #[test]
    fn vectors_without_a_common_dimension_are_divided() {
        check(&[&[(0, 1.0)], &[(1, 2.0)], &[(0, 3.0)], &[(1, 1.0)], &[(0, 0.5)]], 2, &[&[0, 2, 4], &[1, 3]]);
    }

    #[test]
    fn the_loosest_group_is_divided_first() {
        let vectors: [&[(u32, f64)]; 6] = [
            &[(0, 1.0)],
            &[(0, 1.0), (1, 0.1)],
            &[(0, 1.0), (2, 0.1)],
            &[(5, 1.0)],
            &[(6, 1.0)],
            &[(6, 1.0), (7, 0.1)],
        ];
        check(&vectors, 3, &[&[0, 1, 2], &[4, 5], &[3]]);
    }

    #[test]
    fn vectors_of_one_direction_stay_together() {
        check(&[&[(3, 1.0)], &[(3, 2.0)], &[(3, 5.0)]], 3, &[&[0, 1, 2]]);
        check(&[&[(0, 1.0)], &[(1, 1.0)], &[(1, 4.0)]], 3, &[&[1, 2], &[0]]);
        check(&[&[], &[]], 2, &[&[0, 1]]);
        check(&[], 2, &[]);
        check(&[&[(0, 1.0)]], 5, &[&[0]]);
    }

    /// Pages of four topics: each has ten words of the thirty of its topic, and five
    /// of a hundred common ones.
    fn topics(pages: usize, rng: &mut impl Rng) -> UnitVectors {
        let page = |page: usize| {
            let topic = (page % 4) as u32;
            let mut words: Vec<u32> = (0..10).map(|_| 100 + 30 * topic + rng.random_range(0..30)).collect();
            words.extend((0..5).map(|_| rng.random_range(0..100)));
            words.sort_unstable();
            words.dedup();
            words.into_iter().map(|word| (word, 1.0)).collect::<Vec<_>>()
        };
        UnitVectors::new((0..pages).map(page).collect::<Vec<_>>())
    }

    #[test]
    fn noisy_topics_are_found() {
        for seed in 0..5 {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let clustering = repeated_bisection(&topics(400, &mut rng), 4, &mut rng);
            assert_eq!(clustering.sizes(), [100; 4], "seed {seed}");
            assert!((0..400).all(|page| clustering.cluster_of(page) == page % 4), "seed {seed}");
        }
    }

    #[test]
    fn the_same_source_gives_the_same_clusters() {
        let vectors = topics(60, &mut ChaCha8Rng::seed_from_u64(1));
        let group = |seed| repeated_bisection(&vectors, 20, &mut ChaCha8Rng::seed_from_u64(seed));
        assert_eq!(group(2), group(2));
        assert_ne!(group(2), group(3));
    }

    proptest! {
        #[test]
        fn every_vector_is_in_a_cluster_and_the_largest_come_first(
            vectors in prop::collection::vec(
                prop::collection::btree_map(0u32..6, -1.0..1.0f64, 0..4), 0..25),
            clusters in 1usize..10,
            seed in any::<u64>(),
        ) {
            let vectors: Vec<Vec<_>> =
                vectors.into_iter().map(|vector| vector.into_iter().collect()).collect();
            let clustering =
                repeated_bisection(
                    &UnitVectors::new(&vectors),
                    clusters,
                    &mut ChaCha8Rng::seed_from_u64(seed),
                );
            prop_assert!(clustering.sizes().len() <= clusters);
            prop_assert!(clustering.sizes().is_sorted_by(|a, b| a >= b));
            prop_assert!(clustering.sizes().iter().all(|&size| size > 0));
            prop_assert_eq!(clustering.sizes().iter().sum::<usize>(), vectors.len());
        }
    }
}
