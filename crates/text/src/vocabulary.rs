//! A hash table of distinct words, each with a count, optimised for batches of look-ups.
//!
//! Words are stored in the order of their first occurrence, so that frequent ones are close together. An
//! index over their hashes says where they are. Words are looked up by the hundred: all index entries of a
//! batch are read before the first word is, so that memory accesses overlap. Long words are rare and are
//! stored separately.
//!
//! # Promises
//! - Each word is stored once, with one count.
//! - At most [`VOCABULARY_MAX`] words are kept.
//! - Hashes depend on random seeds, so no text can make its words collide.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Place;
use std::hash::{BuildHasher as _, RandomState};

use crate::short_word::ShortWord;

/// Maximum number of distinct words: some 1 GB. No collection of text in human languages has as many; broken
/// text has.
pub const VOCABULARY_MAX: usize = 20_000_000;

/// Initial size of the index, a power of two. The index has at least four times as many entries as there are
/// words.
const PLACES_MIN: usize = 1 << 12;

/// The count of a word.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Count {
    /// Number of the last document that contained it, from one.
    pub(crate) last_document: u32,
    /// Number of documents that contained it, or the number of the form it counts as.
    pub(crate) value: u32,
}

/// Callback for occurrences of words.
pub(crate) trait Tally {
    /// The initial value of a new word.
    fn value_of_new(&mut self, word: &str) -> u32;
    /// A word occurred.
    fn meet(&mut self, count: &mut Count);
}

/// Words with their counts.
pub(crate) struct Vocabulary {
    entries: Vec<Entry>,
    /// The number of an entry, from one, at its hash or after it; zero if empty.
    index: Vec<u32>,
    long: HashMap<Box<str>, Count>,
    seeds: [u64; 2],
    /// The first index entry of each word of a batch.
    looks: Vec<u32>,
}

// Two entries per cache line; none crosses a line.
#[derive(Clone, Copy, Default)]
#[repr(align(32))]
struct Entry {
    word: ShortWord,
    count: Count,
}

impl Vocabulary {
    /// An empty vocabulary.
    pub(crate) fn new() -> Self {
        let random = RandomState::new();
        Self {
            entries: Vec::new(),
            index: vec![0; PLACES_MIN],
            long: HashMap::new(),
            seeds: [random.hash_one(0), random.hash_one(1)],
            looks: Vec::new(),
        }
    }

    /// Counts short words. Returns how many of them were left out for lack of room.
    pub(crate) fn meet(&mut self, words: &[ShortWord], tally: &mut impl Tally) -> u64 {
        let (seeds, mask) = (self.seeds, self.index.len() - 1);
        self.looks.clear();
        self.looks.extend(words.iter().map(|word| self.index[word.hash(seeds) as usize & mask]));
        let mut left_out = 0;
        for (place, word) in words.iter().enumerate() {
            let entry = self.entries.get_mut((self.looks[place] as usize).wrapping_sub(1));
            match entry.filter(|entry| entry.word == *word) {
                Some(entry) => tally.meet(&mut entry.count),
                None => match self.search(*word, tally) {
                    Some(number) => tally.meet(&mut self.entries[number].count),
                    None => left_out += 1,
                },
            }
        }
        left_out
    }

    /// Counts a word that is not short. Returns how many words were left out: one or none.
    pub(crate) fn meet_long(&mut self, word: &str, tally: &mut impl Tally) -> u64 {
        if let Some(count) = self.long.get_mut(word) {
            tally.meet(count);
            return 0;
        }
        if VOCABULARY_MAX <= self.len() {
            return 1;
        }
        if let Place::Vacant(place) = self.long.entry(word.into()) {
            let count = place.insert(Count { last_document: 0, value: tally.value_of_new(word) });
            tally.meet(count);
        }
        0
    }

    /// All words with their counts, unordered.
    pub(crate) fn into_words(self) -> impl Iterator<Item = (Box<str>, Count)> {
        let short = self.entries.into_iter().map(|entry| (entry.word.text().into(), entry.count));
        short.chain(self.long)
    }

    fn len(&self) -> usize {
        self.entries.len() + self.long.len()
    }

    /// Index of a word's entry. Adds the word if it is new and there is room.
    #[cold]
    fn search(&mut self, word: ShortWord, tally: &mut impl Tally) -> Option<usize> {
        let mask = self.index.len() - 1;
        let mut place = word.hash(self.seeds) as usize & mask;
        while self.index[place] != 0 {
            let number = self.index[place] as usize - 1;
            if self.entries[number].word == word {
                return Some(number);
            }
            place = (place + 1) & mask;
        }
        if VOCABULARY_MAX <= self.len() {
            return None;
        }
        let value = tally.value_of_new(&word.text());
        self.entries.push(Entry { word, count: Count { last_document: 0, value } });
        self.index[place] = self.entries.len() as u32;
        if self.index.len() < 4 * self.entries.len() {
            self.grow();
        }
        Some(self.entries.len() - 1)
    }

    fn grow(&mut self) {
        let mask = 2 * self.index.len() - 1;
        let mut index = vec![0; mask + 1];
        for (number, entry) in (1..).zip(&self.entries) {
            let mut place = entry.word.hash(self.seeds) as usize & mask;
            while index[place] != 0 {
                place = (place + 1) & mask;
            }
            index[place] = number;
        }
        self.index = index;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    /// Counts every occurrence; a new word starts at 100.
    struct Meetings;

    impl Tally for Meetings {
        fn value_of_new(&mut self, _: &str) -> u32 {
            100
        }

        fn meet(&mut self, count: &mut Count) {
            count.value += 1;
        }
    }

    fn met(words: &[String]) -> BTreeMap<String, u32> {
        let mut vocabulary = Vocabulary::new();
        for batch in words.chunks(7) {
            let (short, long): (Vec<&String>, Vec<&String>) =
                batch.iter().partition(|word| ShortWord::of(word).is_some());
            let short: Vec<ShortWord> = short.into_iter().filter_map(|word| ShortWord::of(word)).collect();
            assert_eq!(vocabulary.meet(&short, &mut Meetings), 0);
            for word in long {
                assert_eq!(vocabulary.meet_long(word, &mut Meetings), 0);
            }
        }
        vocabulary.into_words().map(|(word, count)| (word.into(), count.value)).collect()
    }

    #[test]
    fn words_are_found_again_after_the_index_has_grown() {
        let words: Vec<String> = (0..3 * PLACES_MIN).map(|n| format!("w{}", n % 10_000)).collect();
        let counts = met(&words);
        assert_eq!((counts.len(), counts["w7"], counts["w9999"]), (10_000, 102, 101));
    }

    proptest! {
        #[test]
        fn a_word_is_there_once_with_all_its_meetings(
            words in prop::collection::vec("[ab]{1,3}|[ab]{23,26}", 0..200),
        ) {
            let mut expected: BTreeMap<String, u32> = BTreeMap::new();
            words.iter().for_each(|word| *expected.entry(word.clone()).or_insert(100) += 1);
            prop_assert_eq!(met(&words), expected);
        }
    }
}
