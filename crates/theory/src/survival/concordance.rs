//! Harrell's index of concordance: how well a risk score orders lifetimes.
//!
//! Two subjects can be compared when it is known who ended first: `i` ended, and `j` lasted longer, or was
//! still alive when `i` ended. The pair agrees when `i` has the higher risk; equal risks count one half.
//!
//! **summary** validates its Cox model (section 4.3) without naming a measure; this is the usual one.
//!
//! # Promises
//! - The count is exact, whatever the order of the input, in O(n log n).
//! - Reversing all risks turns the index into one minus itself; equal risks give one half.
//!
//! # Departures
//! None.

use super::lifetime::Lifetime;

/// The share of comparable pairs that the risk orders correctly. `None` without a comparable pair.
///
/// Panics if the lengths differ or a risk is NaN.
pub fn concordance(lifetimes: &[Lifetime], risks: &[f64]) -> Option<f64> {
    assert_eq!(lifetimes.len(), risks.len());
    let ranks = ranks(risks);
    let mut latest_first: Vec<usize> = (0..lifetimes.len()).collect();
    latest_first.sort_by(|&i, &j| lifetimes[j].time().total_cmp(&lifetimes[i].time()));
    let mut lasting = RankCounts::new(risks.len());
    let (mut pairs, mut agreeing_halves) = (0u64, 0u64);
    for same_time in latest_first.chunk_by(|&i, &j| lifetimes[i].time() == lifetimes[j].time()) {
        // A subject censored at this time outlasts one that ends at it.
        let (ended, censored): (Vec<usize>, Vec<usize>) =
            same_time.iter().partition(|&&i| lifetimes[i].ended());
        censored.iter().for_each(|&i| lasting.add(ranks[i]));
        for &i in &ended {
            let (below, up_to) = (lasting.below(ranks[i]), lasting.below(ranks[i] + 1));
            pairs += lasting.total;
            agreeing_halves += below + up_to;
        }
        ended.iter().for_each(|&i| lasting.add(ranks[i]));
    }
    (pairs > 0).then(|| agreeing_halves as f64 / 2.0 / pairs as f64)
}

/// The rank of each value among the different values, from zero.
fn ranks(values: &[f64]) -> Vec<usize> {
    assert!(values.iter().all(|value| !value.is_nan()));
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&i, &j| values[i].partial_cmp(&values[j]).expect("no value is NaN"));
    let mut ranks = vec![0; values.len()];
    for (rank, equal) in order.chunk_by(|&i, &j| values[i] == values[j]).enumerate() {
        for &i in equal {
            ranks[i] = rank;
        }
    }
    ranks
}

/// Number of subjects of each rank, with fast partial sums (a Fenwick tree).
struct RankCounts {
    sums: Vec<u64>,
    total: u64,
}

impl RankCounts {
    fn new(ranks: usize) -> Self {
        Self { sums: vec![0; ranks + 1], total: 0 }
    }

    fn add(&mut self, rank: usize) {
        self.total += 1;
        let mut node = rank + 1;
        while node < self.sums.len() {
            self.sums[node] += 1;
            node += node & node.wrapping_neg();
        }
    }

    /// Number of subjects with a rank below this one.
    fn below(&self, rank: usize) -> u64 {
        let (mut node, mut sum) = (rank, 0);
        while node > 0 {
            sum += self.sums[node];
            node &= node - 1;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lifetimes(of: &[(f64, bool)]) -> Vec<Lifetime> {
        of.iter()
            .map(|&(time, ended)| if ended { Lifetime::ended_at(time) } else { Lifetime::censored_at(time) })
            .collect()
    }

    #[track_caller]
    fn check(of: &[(f64, bool)], risks: &[f64], expected: Option<f64>) {
        assert_eq!(concordance(&lifetimes(of), risks), expected);
    }

    #[test]
    fn a_pair_needs_an_end_before_the_other() {
        check(&[], &[], None);
        check(&[(1.0, true)], &[1.0], None);
        check(&[(1.0, false), (2.0, true)], &[1.0, 2.0], None);
        check(&[(1.0, true), (1.0, true)], &[1.0, 2.0], None);
        check(&[(1.0, true), (1.0, false)], &[2.0, 1.0], Some(1.0));
        check(&[(1.0, true), (2.0, false)], &[1.0, 2.0], Some(0.0));
        check(&[(1.0, true), (2.0, false)], &[0.0, -0.0], Some(0.5));
    }

    proptest! {
        #[test]
        fn the_count_is_that_of_all_pairs(
            subjects in prop::collection::vec((0u8..8, any::<bool>(), 0u8..6), 0..40),
        ) {
            let of: Vec<_> = subjects.iter().map(|(t, ended, _)| (f64::from(*t), *ended)).collect();
            let risks: Vec<_> = subjects.iter().map(|(_, _, risk)| f64::from(*risk)).collect();
            let (mut pairs, mut agreeing) = (0.0, 0.0);
            for (&(time, ended), risk) in of.iter().zip(&risks) {
                for (&(other_time, other_ended), other_risk) in of.iter().zip(&risks) {
                    if ended && (time < other_time || time == other_time && !other_ended) {
                        pairs += 1.0;
                        agreeing +=
                            f64::midpoint(f64::from(risk > other_risk), f64::from(risk >= other_risk));
                    }
                }
            }
            let expected = (pairs > 0.0).then(|| agreeing / pairs);
            prop_assert_eq!(concordance(&lifetimes(&of), &risks), expected);
            let reversed: Vec<_> = risks.iter().map(|risk| -risk).collect();
            let turned = concordance(&lifetimes(&of), &reversed);
            prop_assert!(turned.zip(expected).is_none_or(|(a, b)| (a + b - 1.0).abs() < 1e-12));
        }
    }
}
