//! Content summary of a text database: how many documents contain each word.
//!
//! **summary**, Definition 1 (of all documents) and Definition 2 (estimated from a sample):
//!
//! > |D|, the number of documents, and for each word w the number f(w, D) of documents that hold it
//!
//! # Promises
//! - A word counts once per document, however often the document has it.
//! - A word with a frequency of zero is not in the summary.
//! - Merging the summaries of two sets of documents gives the summary of both sets.
//!
//! # Departures
//! Frequencies are real numbers, because those of Definition 2 are estimates.

use std::collections::{BTreeMap, BTreeSet};

/// The content summary of a database. Every frequency is above zero and finite.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DocumentFrequencies {
    documents: f64,
    frequencies: BTreeMap<String, f64>,
}

impl DocumentFrequencies {
    /// The summary of no documents.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a summary from known or estimated numbers. Words with a frequency of zero are left out.
    ///
    /// Panics if a number is negative or not finite.
    pub fn from_frequencies(documents: f64, frequencies: impl IntoIterator<Item = (String, f64)>) -> Self {
        assert!(documents.is_finite());
        assert!(0.0 <= documents);
        let mut summary = Self { documents, frequencies: BTreeMap::new() };
        for (word, frequency) in frequencies {
            assert!(frequency.is_finite());
            assert!(0.0 <= frequency);
            if frequency > 0.0 {
                summary.frequencies.insert(word, frequency);
            }
        }
        summary
    }

    /// Adds one document, given as its words in any order.
    pub fn add_document<'a>(&mut self, words: impl IntoIterator<Item = &'a str>) {
        self.documents += 1.0;
        for word in words.into_iter().collect::<BTreeSet<_>>() {
            self.add(word, 1.0);
        }
    }

    /// Adds the documents of another summary.
    pub fn merge(&mut self, other: &Self) {
        self.documents += other.documents;
        for (word, frequency) in other.words() {
            self.add(word, frequency);
        }
    }

    /// |D|: the number of documents.
    pub fn documents(&self) -> f64 {
        self.documents
    }

    /// f(w, D): the number of documents that contain the word; zero for a word that is not in the summary.
    pub fn frequency(&self, word: &str) -> f64 {
        self.frequencies.get(word).copied().unwrap_or(0.0)
    }

    /// The words with their frequencies, in alphabetical order.
    pub fn words(&self) -> impl Iterator<Item = (&str, f64)> {
        self.frequencies.iter().map(|(word, frequency)| (word.as_str(), *frequency))
    }

    fn add(&mut self, word: &str, frequency: f64) {
        match self.frequencies.get_mut(word) {
            Some(sum) => *sum += frequency,
            None => {
                self.frequencies.insert(word.to_owned(), frequency);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(documents: &[&str]) -> DocumentFrequencies {
        let mut summary = DocumentFrequencies::new();
        documents.iter().for_each(|document| summary.add_document(document.split(' ')));
        summary
    }

    #[test]
    fn a_word_counts_once_per_document() {
        let summary = summary(&["cassini saturn saturn", "saturn"]);
        assert_eq!(summary.documents(), 2.0);
        assert_eq!(summary.words().collect::<Vec<_>>(), [("cassini", 1.0), ("saturn", 2.0)]);
        assert_eq!(summary.frequency("algorithm"), 0.0);
    }

    #[test]
    fn a_frequency_of_zero_is_no_word() {
        let summary =
            DocumentFrequencies::from_frequencies(3.0, [("a".to_owned(), 0.0), ("b".to_owned(), 2.5)]);
        assert_eq!(summary.words().collect::<Vec<_>>(), [("b", 2.5)]);
    }

    #[test]
    fn merged_summaries_are_the_summary_of_all_documents() {
        let mut merged = summary(&["a b", "b c"]);
        merged.merge(&summary(&["c d"]));
        assert_eq!(merged, summary(&["a b", "b c", "c d"]));
    }
}
