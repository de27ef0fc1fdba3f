//! Counting in how many documents each word stands: a complete summary, one document after the other.
//!
//! **summary**, Definition 1. Each distinct word has a number, a count and the last document that had it: a word that
//! stands twice in a document finds itself there and is not counted again. So a document costs one look-up for each of its
//! words and nothing else, and memory grows with the vocabulary, not with the documents.
//!
//! # Promises
//! - A word counts once per document, as in the theory's [`DocumentFrequencies`](freshet_theory::summary::document_frequencies::DocumentFrequencies).
//! - At most [`VOCABULARY_MAX`] words are kept; what comes beyond is counted as left out.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};

use rust_stemmers::Stemmer;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::summary::Summary;
use crate::words::{Wording, split};

/// Distinct words that are kept: some 2 GB. No collection of text in human languages has as many; broken text has.
pub const VOCABULARY_MAX: usize = 20_000_000;

/// The number of a stop word.
const STOPPED: u32 = u32::MAX;

/// Words and the number of documents that have each.
pub struct Counting {
    wording: Wording,
    stemmer: Option<Stemmer>,
    /// The number of each word as it stands in texts.
    numbers: HashMap<Box<str>, u32, Hashing>,
    /// The number of each stem, where words are stemmed.
    stems: HashMap<Box<str>, u32, Hashing>,
    counts: Vec<Count>,
    documents: u32,
    left_out: u64,
}

#[derive(Clone, Copy, Default)]
struct Count {
    /// The number of the last document that had the word, from one.
    last_document: u32,
    documents: u32,
}

impl Counting {
    /// Nothing counted yet.
    pub fn new(wording: Wording) -> Self {
        let hashing = Hashing(RandomState::new().hash_one(0u8));
        Self {
            wording,
            stemmer: wording.stemmer(),
            numbers: HashMap::with_hasher(hashing),
            stems: HashMap::with_hasher(hashing),
            counts: Vec::new(),
            documents: 0,
            left_out: 0,
        }
    }

    /// Counts one document. Panics from 2³² documents on.
    pub fn add(&mut self, text: &str) {
        self.documents = self.documents.checked_add(1).expect("fewer than 2^32 documents");
        split(text, |word| {
            let number = match self.numbers.get(word) {
                Some(number) => *number,
                None => match self.number(word) {
                    Some(number) => number,
                    None => {
                        self.left_out += 1;
                        return;
                    }
                },
            };
            if let Some(count) = self.counts.get_mut(number as usize)
                && count.last_document != self.documents
            {
                *count = Count { last_document: self.documents, documents: count.documents + 1 };
            }
        });
    }

    /// Documents counted.
    pub fn documents(&self) -> u32 {
        self.documents
    }

    /// Words that were not counted because there were too many different ones.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// The summary of all that was counted.
    pub fn finish(self) -> Summary {
        let words = if self.wording.stemming.is_some() { self.stems } else { self.numbers };
        let counts = self.counts;
        let frequencies = words
            .into_iter()
            .filter(|(_, number)| *number != STOPPED)
            .map(|(word, number)| (word, f64::from(counts[number as usize].documents)));
        Summary::from_words(f64::from(self.documents), frequencies.collect())
    }

    /// A number for a word that was not met before; none if there is no room.
    fn number(&mut self, word: &str) -> Option<u32> {
        if VOCABULARY_MAX <= self.numbers.len() {
            return None;
        }
        let number = match self.wording.form(word, self.stemmer.as_ref()) {
            None => STOPPED,
            Some(_) if self.stemmer.is_none() => self.next_number(),
            Some(stem) => match self.stems.get(stem.as_str()) {
                Some(number) => *number,
                None => {
                    let number = self.next_number();
                    self.stems.insert(stem.into(), number);
                    number
                }
            },
        };
        self.numbers.insert(word.into(), number);
        Some(number)
    }

    fn next_number(&mut self) -> u32 {
        self.counts.push(Count::default());
        self.counts.len() as u32 - 1
    }
}

/// A fast hash of words, with a seed that no document can know.
#[derive(Clone, Copy)]
struct Hashing(u64);

impl BuildHasher for Hashing {
    type Hasher = WordHasher;

    fn build_hasher(&self) -> WordHasher {
        WordHasher(self.0)
    }
}

struct WordHasher(u64);

impl Hasher for WordHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = xxh3_64_with_seed(bytes, self.0);
    }

    // The mark after a text: there is only ever one text in a key.
    fn write_u8(&mut self, _: u8) {}

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use freshet_theory::summary::document_frequencies::DocumentFrequencies;
    use proptest::prelude::*;

    use super::*;
    use crate::words::Language;

    fn counted(wording: Wording, documents: &[&str]) -> Vec<(String, f64)> {
        let mut counting = Counting::new(wording);
        documents.iter().for_each(|document| counting.add(document));
        let summary = counting.finish();
        summary.words().map(|(word, frequency)| (word.to_owned(), frequency)).collect()
    }

    #[test]
    fn words_with_one_stem_count_once_per_document() {
        let wording = Wording { stop_words: Some(Language::English), stemming: Some(Language::English) };
        let words = counted(wording, &["ring rings the", "rings", "the"]);
        assert_eq!(words, [("ring".to_owned(), 2.0)]);
    }

    proptest! {
        #[test]
        fn counts_are_those_of_the_definition(documents in prop::collection::vec("[a-d ]{0,20}", 0..8)) {
            let mut expected = DocumentFrequencies::new();
            documents.iter().for_each(|document| expected.add_document(document.split_whitespace()));
            let documents: Vec<&str> = documents.iter().map(String::as_str).collect();
            let expected: Vec<_> = expected.words().map(|(word, count)| (word.to_owned(), count)).collect();
            prop_assert_eq!(counted(Wording::default(), &documents), expected);
        }
    }
}
