//! Estimates the size of a database by capture and recapture: by the documents that several queries return.
//!
//! Used where the interface does not report the number of matches. The answers of different queries count as
//! samples of the database, and documents in two of them reveal its size (Shokouhi, Zobel, Scholer,
//! Tahaghoghi: *Capturing collection size for distributed non-cooperative retrieval*, multiple
//! capture-recapture). Two answers of mᵢ and mⱼ evenly drawn documents have mᵢ mⱼ/|D| in common:
//!
//! > |D| = Σ mᵢ mⱼ / Σ (documents in both), over all pairs i < j
//!
//! # Promises
//! - With fewer than [`REPEATS_MIN`] repeated documents there is no size, and the reason says so.
//! - The range contains the estimate. It is the 90% interval by the jackknife over queries, on a logarithmic
//!   scale.
//! - The size is at least the number of documents seen.
//!
//! # Departures
//! - Answers are not drawn evenly: an interface shows the documents that it ranks highest, and these repeat
//!   more often than others. So the estimate tends to be too low, and every report of it says so.
//! - Words are learned from documents, and a word's document is returned again when the word is queried. The
//!   caller leaves that document out of the answer; with it the estimate would be less than half of the
//!   truth.

use std::collections::HashMap;

use crate::version::Size;

/// Minimum number of repeats (a document in two answers) for an estimate. With this many the size is known to
/// about a third.
pub const REPEATS_MIN: u64 = 25;

/// Normal quantile of a 90% interval.
const QUANTILE: f64 = 1.645;

/// Estimates the size from answers, each the documents that one query returned. Also returns why the size is
/// unknown, if it is.
pub fn estimate(answers: &[Vec<u64>]) -> (Size, Option<String>) {
    let mut times: HashMap<u64, u64> = HashMap::new();
    for document in answers.iter().flatten() {
        *times.entry(*document).or_default() += 1;
    }
    let whole = Pairs {
        returned: answers.iter().map(|answer| answer.len() as f64).sum(),
        squares: answers.iter().map(|answer| (answer.len() as f64).powi(2)).sum(),
        repeats: times.values().map(|times| times * times.saturating_sub(1) / 2).sum(),
    };
    if whole.repeats < REPEATS_MIN {
        let why = format!(
            "the interface does not say how many documents match, and too few came again to tell ({} times, \
             {REPEATS_MIN} are needed; {} different documents were seen)",
            whole.repeats,
            times.len()
        );
        return (Size::Unknown, Some(why));
    }
    let seen = times.len() as f64;
    let documents = whole.documents().max(seen);
    let without: Vec<f64> = answers
        .iter()
        .filter(|answer| !answer.is_empty())
        .filter_map(|answer| whole.without(answer, &times))
        .map(|pairs| pairs.documents().ln())
        .collect();
    let n = without.len() as f64;
    let mean = without.iter().sum::<f64>() / n;
    let error = ((n - 1.0) / n * without.iter().map(|value| (value - mean).powi(2)).sum::<f64>()).sqrt();
    let factor = if error.is_finite() { (QUANTILE * error).exp() } else { f64::INFINITY };
    if !factor.is_finite() {
        return (Size::Unknown, Some("one query returned all documents that came again".to_owned()));
    }
    let (low, high) = ((documents / factor).max(seen), documents * factor);
    (Size::Estimated { documents, low: low.min(documents), high }, None)
}

/// Sums over all pairs of answers.
#[derive(Clone, Copy, Debug)]
struct Pairs {
    /// Σ mᵢ.
    returned: f64,
    /// Σ mᵢ².
    squares: f64,
    /// Σ over pairs of the number of documents in both.
    repeats: u64,
}

impl Pairs {
    fn documents(&self) -> f64 {
        (self.returned.powi(2) - self.squares) / 2.0 / self.repeats as f64
    }

    /// The sums without one answer. `None` if no document is repeated then.
    fn without(&self, answer: &[u64], times: &HashMap<u64, u64>) -> Option<Self> {
        let own: u64 = answer.iter().map(|document| times[document] - 1).sum();
        let length = answer.len() as f64;
        let repeats = self.repeats.checked_sub(own).filter(|repeats| *repeats > 0)?;
        Some(Self { returned: self.returned - length, squares: self.squares - length * length, repeats })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::SeedableRng as _;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// Answers of ten distinct documents each, drawn evenly from `documents`.
    fn drawn(documents: u64, queries: usize, seed: u64) -> Vec<Vec<u64>> {
        let mut chance = ChaCha8Rng::seed_from_u64(seed);
        let answer = |_| {
            let mut answer = Vec::new();
            while answer.len() < 10 {
                let document = chance.random_range(0..documents);
                if !answer.contains(&document) {
                    answer.push(document);
                }
            }
            answer
        };
        (0..queries).map(answer).collect()
    }

    #[test]
    fn documents_drawn_evenly_tell_their_number_and_the_range_holds_it() {
        let mut held = 0;
        for seed in 0..40 {
            let (size, why) = estimate(&drawn(2_000, 80, seed));
            assert_eq!(why, None);
            let Size::Estimated { documents, low, high } = size else { panic!("{size:?}") };
            assert!((1_300.0..3_000.0).contains(&documents), "{documents}");
            held += u32::from((low..=high).contains(&2_000.0));
        }
        assert!((31..=40).contains(&held), "{held} of 40");
    }

    #[test]
    fn documents_that_do_not_come_again_tell_nothing() {
        let apart: Vec<Vec<u64>> = (0..50).map(|n| vec![2 * n, 2 * n + 1]).collect();
        for answers in [&[][..], &[vec![]], &apart] {
            let (size, why) = estimate(answers);
            assert_eq!(size, Size::Unknown);
            assert!(why.expect("a reason").contains("too few"));
        }
        let same = vec![vec![1, 2, 3]; 20];
        assert_eq!(estimate(&same).0.documents(), Some(3.0));
    }

    proptest! {
        #[test]
        fn any_answers_give_a_size_or_a_reason(
            answers in prop::collection::vec(prop::collection::btree_set(0u64..30, 0..8), 0..30),
        ) {
            let answers: Vec<Vec<u64>> =
                answers.into_iter().map(|answer| answer.into_iter().collect()).collect();
            match estimate(&answers) {
                (Size::Estimated { documents, low, high }, None) => {
                    prop_assert!(
                        low <= documents && documents <= high && high.is_finite(),
                        "{low} {documents} {high}"
                    );
                    let mut seen: Vec<u64> = answers.concat();
                    seen.sort_unstable();
                    seen.dedup();
                    prop_assert!(seen.len() as f64 <= low);
                }
                (Size::Unknown, Some(_)) => {}
                other => prop_assert!(false, "{other:?}"),
            }
        }
    }
}
