//! Estimates the size of a database by sample and resample (Si and Callan, as **summary** section 4.3 uses
//! it).
//!
//! If a word occurs in `s` of `n` sampled documents and the interface reports it in `f` of all documents, the
//! database has about `f n/s` documents. Over several words:
//!
//! > |D| = n Σ f / Σ s
//!
//! # Promises
//! - Counts that contradict each other by more than [`CONTRADICTION`] give no size. Neither do counts that
//!   are all zero.
//! - The range contains the estimate. It covers 90 of 100 estimates from words redrawn from the same ones.
//!
//! # Departures
//! The texts average the estimates of single words. We use the ratio of sums, which gives more weight to
//! frequent words, whose share of the sample is known best. The mean of ratios divides by a small number
//! wherever a word was sampled by luck.

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::version::Size;

/// Maximum spread of single-word estimates: the ratio of their upper to their lower quartile.
pub const CONTRADICTION: f64 = 30.0;

/// Number of redraws of the words for the range.
const DRAWS: usize = 400;

/// A word's number of documents in the sample, and in the whole database as the interface reports it.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    /// s: number of sampled documents that contain it.
    pub sampled: u32,
    /// f: number of matches that the interface reports.
    pub reported: u64,
}

/// Estimates the size from measured words and the size of the sample. Also returns why the size is unknown,
/// if it is.
pub fn estimate(measures: &[Measure], sample: u32, seed: u64) -> (Size, Option<String>) {
    let measures: Vec<&Measure> = measures.iter().filter(|measure| measure.sampled > 0).collect();
    if measures.is_empty() || sample == 0 {
        return (Size::Unknown, Some("the interface does not say how many documents match".to_owned()));
    }
    let mut single: Vec<f64> = measures.iter().map(|m| m.reported as f64 / f64::from(m.sampled)).collect();
    single.sort_by(f64::total_cmp);
    let quarter = |share: f64| single[((single.len() - 1) as f64 * share).round() as usize];
    if quarter(0.5) == 0.0 {
        return (
            Size::Unknown,
            Some("the counts of the interface are zero for words that it has".to_owned()),
        );
    }
    if CONTRADICTION * quarter(0.25) < quarter(0.75) {
        return (Size::Unknown, Some("the counts of the interface contradict each other".to_owned()));
    }
    let ratio = |chosen: &mut dyn Iterator<Item = &Measure>| {
        let (reported, sampled) =
            chosen.fold((0.0, 0.0), |(f, s), m| (f + m.reported as f64, s + f64::from(m.sampled)));
        // The size is at least the number of documents seen.
        (f64::from(sample) * reported / sampled).max(f64::from(sample))
    };
    let documents = ratio(&mut measures.iter().copied());
    let mut chance = ChaCha8Rng::seed_from_u64(seed);
    let mut draws: Vec<f64> = (0..DRAWS)
        .map(|_| ratio(&mut (0..measures.len()).map(|_| measures[chance.random_range(0..measures.len())])))
        .collect();
    draws.sort_by(f64::total_cmp);
    let (low, high) = (draws[DRAWS / 20], draws[DRAWS - 1 - DRAWS / 20]);
    (Size::Estimated { documents, low: low.min(documents), high: high.max(documents) }, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measures(pairs: &[(u32, u64)]) -> Vec<Measure> {
        pairs.iter().map(|&(sampled, reported)| Measure { sampled, reported }).collect()
    }

    #[test]
    fn words_that_agree_give_the_size() {
        let (size, why) = estimate(&measures(&[(3, 30), (10, 100), (20, 200)]), 100, 1);
        assert_eq!((size, why), (Size::Estimated { documents: 1000.0, low: 1000.0, high: 1000.0 }, None));
    }

    #[test]
    fn counts_that_cannot_be_give_no_size() {
        for (pairs, word) in [
            (&[][..], "does not say"),
            (&[(3, 0), (4, 0), (5, 1)][..], "zero"),
            (&[(3, 3), (3, 1_000_000), (4, 5), (4, 9_000_000)][..], "contradict"),
        ] {
            let (size, why) = estimate(&measures(pairs), 100, 1);
            assert_eq!(size, Size::Unknown);
            assert!(why.expect("a reason").contains(word));
        }
    }

    #[test]
    fn there_are_at_least_as_many_documents_as_were_seen() {
        let (size, _) = estimate(&measures(&[(10, 1), (20, 2)]), 100, 1);
        assert_eq!(size.documents(), Some(100.0));
    }
}
