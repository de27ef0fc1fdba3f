//! Counts in how many documents each word occurs: a complete summary, built one document at a time.
//!
//! **summary**, Definition 1. Each distinct word has a count and the number of the last document that
//! contained it. A word that occurs twice in a document finds that document's number and is not counted
//! again. So a document costs one look-up per word and nothing else. Memory grows with the vocabulary, not
//! with the documents.
//!
//! # Promises
//! - A word counts once per document, as in the theory's
//!   [`DocumentFrequencies`](freshet_theory::summary::document_frequencies::DocumentFrequencies).
//! - At most [`VOCABULARY_MAX`] words are kept. Words beyond that are counted as left out.
//! - Words are those of [`Wording::words`], whatever the text.

use std::collections::HashMap;

use rust_stemmers::Stemmer;

use crate::short_word::ShortWord;
use crate::summary::Summary;
pub use crate::vocabulary::VOCABULARY_MAX;
use crate::vocabulary::{Count, Tally, Vocabulary};
use crate::words::{Token, Wording, tokens};

/// Number of words looked up together: enough to overlap memory accesses, few enough to stay in the
/// processor's cache.
const BATCH: usize = 512;

/// Form number of stop words, which are not counted.
const STOPPED: u32 = u32::MAX;

/// Words and the number of documents that contain each.
///
/// # Examples
///
/// ```
/// use freshet_text::counting::Counting;
/// use freshet_text::words::Wording;
///
/// let mut counting = Counting::new(Wording::default());
/// counting.add("The heart and the lungs.");
/// counting.add("Heart disease");
/// let summary = counting.finish();
///
/// // In how many documents each word stands.
/// assert_eq!(summary.documents(), 2.0);
/// assert!(summary.words().any(|counted| counted == ("heart", 2.0)));
/// assert!(summary.words().any(|counted| counted == ("the", 1.0)));
/// ```
pub struct Counting {
    vocabulary: Vocabulary,
    /// The form (stem, or none) that each word counts as. `None` if words count as they are.
    forms: Option<Forms>,
    batch: Vec<ShortWord>,
    documents: u32,
    left_out: u64,
}

impl Counting {
    /// An empty count.
    pub fn new(wording: Wording) -> Self {
        Self {
            vocabulary: Vocabulary::new(),
            forms: (!wording.is_plain()).then(|| Forms::new(wording)),
            batch: Vec::with_capacity(BATCH),
            documents: 0,
            left_out: 0,
        }
    }

    /// Counts one document. Panics at the 2³²nd document.
    pub fn add(&mut self, text: &str) {
        self.documents = self.documents.checked_add(1).expect("fewer than 2^32 documents");
        match self.forms.take() {
            None => self.count(text, &mut Plain { document: self.documents }),
            Some(mut forms) => {
                forms.document = self.documents;
                self.count(text, &mut forms);
                self.forms = Some(forms);
            }
        }
    }

    fn count(&mut self, text: &str, tally: &mut impl Tally) {
        let Self { vocabulary, batch, left_out, .. } = self;
        tokens(text, |token| match token {
            Token::Short(word) => {
                batch.push(word);
                if batch.len() == BATCH {
                    *left_out += vocabulary.meet(batch, tally);
                    batch.clear();
                }
            }
            Token::Long(word) => *left_out += vocabulary.meet_long(word, tally),
        });
        *left_out += vocabulary.meet(batch, tally);
        batch.clear();
    }

    /// Number of documents counted.
    pub fn documents(&self) -> u32 {
        self.documents
    }

    /// Number of word occurrences not counted because the vocabulary was full.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// The summary of all counted documents.
    pub fn finish(self) -> Summary {
        let documents = f64::from(self.documents);
        let frequencies = match self.forms {
            None => {
                self.vocabulary.into_words().map(|(word, count)| (word, f64::from(count.value))).collect()
            }
            Some(forms) => forms.into_words(),
        };
        Summary::from_words(documents, frequencies)
    }
}

/// Tally for words that count as they are.
struct Plain {
    document: u32,
}

impl Tally for Plain {
    fn value_of_new(&mut self, _: &str) -> u32 {
        0
    }

    // Branch-free, because whether the document contained the word before is unpredictable.
    #[inline]
    fn meet(&mut self, count: &mut Count) {
        count.value += u32::from(count.last_document != self.document);
        count.last_document = self.document;
    }
}

/// Tally for words that count as their stems, or not at all (stop words).
struct Forms {
    wording: Wording,
    stemmer: Option<Stemmer>,
    numbers: HashMap<Box<str>, u32>,
    counts: Vec<Count>,
    document: u32,
}

impl Forms {
    fn new(wording: Wording) -> Self {
        Self { wording, stemmer: wording.stemmer(), numbers: HashMap::new(), counts: Vec::new(), document: 0 }
    }

    fn into_words(self) -> Vec<(Box<str>, f64)> {
        let documents = |number: u32| f64::from(self.counts[number as usize].value);
        self.numbers.into_iter().map(|(form, number)| (form, documents(number))).collect()
    }
}

impl Tally for Forms {
    fn value_of_new(&mut self, word: &str) -> u32 {
        let Some(form) = self.wording.form(word, self.stemmer.as_ref()) else { return STOPPED };
        let next = self.counts.len() as u32;
        let number = *self.numbers.entry(form.into()).or_insert(next);
        if number == next {
            self.counts.push(Count::default());
        }
        number
    }

    fn meet(&mut self, count: &mut Count) {
        if count.last_document == self.document {
            return;
        }
        count.last_document = self.document;
        if let Some(form) = self.counts.get_mut(count.value as usize) {
            form.value += u32::from(form.last_document != self.document);
            form.last_document = self.document;
        }
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

    /// Reference implementation: counts the words of each document one by one.
    fn slowly(wording: Wording, documents: &[&str]) -> Vec<(String, f64)> {
        let mut counts = std::collections::BTreeMap::new();
        for document in documents {
            let words: std::collections::BTreeSet<String> = wording.words(document).into_iter().collect();
            words.into_iter().for_each(|word| *counts.entry(word).or_insert(0.0) += 1.0);
        }
        counts.into_iter().collect()
    }

    #[test]
    fn documents_longer_than_a_batch_are_counted_whole() {
        let words: Vec<String> = (0..5 * BATCH).map(|n| format!("Word{}", n % (2 * BATCH))).collect();
        let text = words.join(" ");
        assert_eq!(counted(Wording::default(), &[&text, &text]), slowly(Wording::default(), &[&text, &text]));
    }

    proptest! {
        #[test]
        fn eight_bytes_at_a_time_find_the_words_of_the_rules(
            documents in prop::collection::vec(
                "([a-zA-Z0-9]{0,30}|\\PC{0,3}|[ ,.'’@\\[`{\\x00-\\x1f]{1,3}|é|日|ﬁ){0,12}",
                0..4,
            ),
        ) {
            let documents: Vec<&str> = documents.iter().map(String::as_str).collect();
            for stemming in [None, Some(Language::English)] {
                let wording = Wording { stop_words: stemming, stemming };
                prop_assert_eq!(counted(wording, &documents), slowly(wording, &documents));
            }
        }

        #[test]
        fn any_text_is_counted_by_the_rules(text in any::<String>()) {
            prop_assert_eq!(counted(Wording::default(), &[&text]), slowly(Wording::default(), &[&text]));
        }

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
