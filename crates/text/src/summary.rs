//! A content summary in memory: sorted words, each with the number of documents that contain it.
//!
//! **summary**, Definitions 1 and 2. Words are stored in one buffer, as in the file, so that a summary of a
//! million words is read without an allocation per word. A word is found by bisection.
//!
//! # Promises
//! - Words are sorted and different; every frequency is above zero and finite.

use arrow_array::{Array as _, StringArray};
use freshet_theory::summary::comparison::{Comparison, compare_columns};

/// Added and removed words, each with its frequency, most frequent first.
#[derive(Clone, Debug, PartialEq)]
pub struct Turnover<'a> {
    /// Words that only the current summary contains.
    pub came: Vec<(&'a str, f64)>,
    /// Words that only the old summary contains.
    pub went: Vec<(&'a str, f64)>,
}

/// The words of a database and the number of documents that contain each, counted or estimated.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    documents: f64,
    words: StringArray,
    frequencies: Vec<f64>,
}

impl Summary {
    /// Creates a summary from distinct words in any order. Words whose frequency is zero or not a finite
    /// number are left out.
    ///
    /// Panics if the number of documents is negative or not finite.
    pub fn from_words<W: AsRef<str> + Ord>(documents: f64, mut words: Vec<(W, f64)>) -> Self {
        assert!(documents.is_finite());
        assert!(0.0 <= documents);
        words.retain(|(_, frequency)| 0.0 < *frequency && frequency.is_finite());
        words.sort_unstable_by(|a, b| a.0.as_ref().cmp(b.0.as_ref()));
        words.dedup_by(|a, b| a.0.as_ref() == b.0.as_ref());
        let frequencies = words.iter().map(|(_, frequency)| *frequency).collect();
        let words = StringArray::from_iter_values(words.iter().map(|(word, _)| word));
        Self { documents, words, frequencies }
    }

    /// Creates a summary from columns that were read. `None` if they break the promises of a summary.
    pub fn from_columns(documents: f64, words: StringArray, frequencies: Vec<f64>) -> Option<Self> {
        let (bytes, ends) = (words.value_data(), words.value_offsets());
        let word = |pair: &[i32]| &bytes[pair[0] as usize..pair[1] as usize];
        let is_sorted = ends.windows(3).all(|ends| word(&ends[..2]) < word(&ends[1..]));
        let is_sound = documents.is_finite()
            && 0.0 <= documents
            && words.len() == frequencies.len()
            && words.null_count() == 0
            && is_sorted
            && frequencies.iter().all(|frequency| 0.0 < *frequency && frequency.is_finite());
        is_sound.then_some(Self { documents, words, frequencies })
    }

    /// |D|: the number of documents.
    pub fn documents(&self) -> f64 {
        self.documents
    }

    /// Number of distinct words.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether there are no words.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The words with their frequencies, in byte order.
    pub fn words(&self) -> impl Iterator<Item = (&str, f64)> {
        (0..self.words.len()).map(|n| (self.words.value(n), self.frequencies[n]))
    }

    /// The sum of all frequencies.
    pub fn frequency_sum(&self) -> f64 {
        self.frequencies.iter().sum()
    }

    /// The columns: words and frequencies.
    pub fn columns(&self) -> (&StringArray, &[f64]) {
        (&self.words, &self.frequencies)
    }

    /// Scales every frequency to a database of another size.
    pub fn scaled_to(&self, documents: f64) -> Self {
        assert!(0.0 < documents);
        assert!(documents.is_finite());
        let factor = if self.documents > 0.0 { documents / self.documents } else { 1.0 };
        let frequencies = self.frequencies.iter().map(|frequency| frequency * factor).collect();
        Self { documents, words: self.words.clone(), frequencies }
    }

    /// The mean of several summaries of one database, for example of several samples.
    pub fn mean(summaries: &[Self]) -> Option<Self> {
        let parts = summaries.len() as f64;
        let mut words: Vec<(&str, f64)> = summaries
            .iter()
            .flat_map(Self::words)
            .map(|(word, frequency)| (word, frequency / parts))
            .collect();
        words.sort_unstable_by(|a, b| a.0.cmp(b.0));
        let mut merged: Vec<(&str, f64)> = Vec::with_capacity(words.len());
        for (word, part) in words {
            match merged.last_mut() {
                Some((last, sum)) if *last == word => *sum += part,
                _ => merged.push((word, part)),
            }
        }
        let documents = summaries.iter().map(|summary| summary.documents / parts).sum();
        (!summaries.is_empty()).then(|| Self::from_words(documents, merged))
    }

    /// Recall, precision and divergence of this old summary relative to `current`.
    pub fn compare(&self, current: &Self) -> Comparison {
        let (mut old, mut new) = (Vec::new(), Vec::new());
        walk(self, current, |_, before, after| {
            old.push(before);
            new.push(after);
        });
        compare_columns(&old, &new)
    }

    /// The words that only `current` contains and those that only this summary contains, most frequent first.
    pub fn came_and_went<'a>(&'a self, current: &'a Self) -> Turnover<'a> {
        let (mut came, mut went) = (Vec::new(), Vec::new());
        walk(self, current, |word, before, after| {
            if before == 0.0 {
                came.push((word, after));
            } else if after == 0.0 {
                went.push((word, before));
            }
        });
        for words in [&mut came, &mut went] {
            words.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
        }
        Turnover { came, went }
    }
}

/// Calls `each` for every word of either summary, with its frequency in both. The frequency of a missing word
/// is zero.
fn walk<'a>(old: &'a Summary, current: &'a Summary, mut each: impl FnMut(&'a str, f64, f64)) {
    let (mut left, mut right) = (old.words().peekable(), current.words().peekable());
    loop {
        match (left.peek().copied(), right.peek().copied()) {
            (Some((word, before)), Some((other, after))) if word == other => {
                each(word, before, after);
                left.next();
                right.next();
            }
            (Some((word, before)), Some((other, _))) if word.as_bytes() < other.as_bytes() => {
                each(word, before, 0.0);
                left.next();
            }
            (_, Some((other, after))) => {
                each(other, 0.0, after);
                right.next();
            }
            (Some((word, before)), None) => {
                each(word, before, 0.0);
                left.next();
            }
            (None, None) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use freshet_theory::summary::comparison::compare;
    use freshet_theory::summary::document_frequencies::DocumentFrequencies;
    use proptest::prelude::*;

    use super::*;

    fn summary(words: &[(&str, f64)]) -> Summary {
        Summary::from_words(10.0, words.to_vec())
    }

    #[test]
    fn words_are_sorted_and_those_of_frequency_zero_left_out() {
        let summary = summary(&[("saturn", 2.0), ("cassini", 5.0), ("none", 0.0)]);
        assert_eq!(summary.words().collect::<Vec<_>>(), [("cassini", 5.0), ("saturn", 2.0)]);
        assert_eq!(summary.len(), 2);
    }

    #[test]
    fn the_words_that_came_and_went_are_told_the_most_frequent_first() {
        let (old, new) =
            (summary(&[("a", 1.0), ("b", 2.0), ("d", 7.0)]), summary(&[("b", 9.0), ("c", 1.0), ("e", 3.0)]));
        let Turnover { came, went } = old.came_and_went(&new);
        assert_eq!((came, went), (vec![("e", 3.0), ("c", 1.0)], vec![("d", 7.0), ("a", 1.0)]));
    }

    #[test]
    fn the_mean_of_samples_counts_words_of_either() {
        let mean = Summary::mean(&[summary(&[("a", 2.0)]), summary(&[("a", 4.0), ("b", 2.0)])])
            .expect("there are two");
        assert_eq!(mean.words().collect::<Vec<_>>(), [("a", 3.0), ("b", 1.0)]);
        assert_eq!(mean.documents(), 10.0);
    }

    #[test]
    fn columns_out_of_order_are_refused() {
        let words = |words: &[&str]| StringArray::from_iter_values(words);
        assert!(Summary::from_columns(1.0, words(&["a", "b"]), vec![1.0, 1.0]).is_some());
        assert!(Summary::from_columns(1.0, words(&["b", "a"]), vec![1.0, 1.0]).is_none());
        assert!(Summary::from_columns(1.0, words(&["a", "a"]), vec![1.0, 1.0]).is_none());
        assert!(Summary::from_columns(1.0, words(&["a"]), vec![0.0]).is_none());
        assert!(Summary::from_columns(f64::NAN, words(&["a"]), vec![1.0]).is_none());
    }

    proptest! {
        #[test]
        fn comparison_is_that_of_the_theory(
            old in prop::collection::btree_map("[a-f]", 1u8..9, 0..6),
            new in prop::collection::btree_map("[a-f]", 1u8..9, 0..6),
        ) {
            let mine = |map: &std::collections::BTreeMap<String, u8>| {
                Summary::from_words(
                    1.0,
                    map.iter().map(|(word, count)| (word.clone(), f64::from(*count))).collect(),
                )
            };
            let theirs = |map: &std::collections::BTreeMap<String, u8>| {
                DocumentFrequencies::from_frequencies(
                    1.0,
                    map.iter().map(|(word, count)| (word.clone(), f64::from(*count))),
                )
            };
            let (got, expected) = (mine(&old).compare(&mine(&new)), compare(&theirs(&old), &theirs(&new)));
            let near = |a: Option<f64>, b: Option<f64>| match (a, b) {
                (Some(a), Some(b)) => (a - b).abs() < 1e-12,
                (a, b) => a == b,
            };
            prop_assert!(
                near(got.recall, expected.recall) && near(got.weighted_recall, expected.weighted_recall)
            );
            prop_assert!(
                near(got.precision, expected.precision)
                    && near(got.weighted_precision, expected.weighted_precision)
            );
            prop_assert!(
                near(got.divergence, expected.divergence),
                "{:?} {:?}",
                got.divergence,
                expected.divergence
            );
        }
    }
}
