//! Splits text into words, in the same way for summaries and for the queries compared with them.
//!
//! A word is a run of letters and digits of any script, in lower case. An apostrophe between two letters
//! belongs to the word. In scripts that are written without spaces and have one character per word or
//! syllable (Han, kana), each character is a word.
//!
//! # Promises
//! - Any text gives words. None is empty or longer than [`WORD_BYTES_MAX`].
//! - Splitting a word gives the word itself, unless it is stemmed.
//! - The case of letters does not matter.
//!
//! # Departures
//! Unicode's own word boundaries (UAX 29) need tables that are five times as slow. They join `3.14` and
//! `e.g`; we do not. Accents written as letters of their own are not composed. Thai, Lao, Khmer and Burmese
//! are split at spaces only.

use rust_stemmers::Stemmer;
use serde::{Deserialize, Serialize};

pub use crate::language::Language;
use crate::short_word::{Piece, ShortWord};
use crate::stop_words::is_stop_word;

/// Maximum length of a word, in bytes. Longer runs are not words of any language but keys, sequences or
/// encoded data.
pub const WORD_BYTES_MAX: usize = 64;

/// Settings of how text becomes words.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Wording {
    /// Leave out the stop words of this language.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_words: Option<Language>,
    /// Reduce words to their stems by the rules of this language.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stemming: Option<Language>,
}

impl Wording {
    /// The words of a text in order, without stop words and stemmed, according to these settings.
    pub fn words(&self, text: &str) -> Vec<String> {
        let stemmer = self.stemmer();
        let mut words = Vec::new();
        split(text, |word| words.extend(self.form(word, stemmer.as_ref())));
        words
    }

    /// Whether words are left as they are in the text.
    pub fn is_plain(&self) -> bool {
        self.stop_words.is_none() && self.stemming.is_none()
    }

    pub(crate) fn stemmer(&self) -> Option<Stemmer> {
        self.stemming.map(Language::stemmer)
    }

    /// The form that a word counts as. `None` for a stop word.
    pub(crate) fn form(&self, word: &str, stemmer: Option<&Stemmer>) -> Option<String> {
        if self.stop_words.is_some_and(|language| is_stop_word(language, word)) {
            return None;
        }
        match stemmer {
            Some(stemmer) => Some(stemmer.stem(word).into_owned()).filter(|stem| !stem.is_empty()),
            None => Some(word.to_owned()),
        }
    }
}

/// A word of a text in lower case, in the form that is fastest to look up.
pub(crate) enum Token<'a> {
    /// A short word.
    Short(ShortWord),
    /// A long word.
    Long(&'a str),
}

/// Calls `each` for each word of a text, in lower case. Gives the same words as [`split`], faster.
#[inline]
pub(crate) fn tokens(text: &str, mut each: impl FnMut(Token<'_>)) {
    let mut lower = String::new();
    let mut at = 0;
    while at < text.len() {
        match Piece::at(text.as_bytes(), at) {
            Piece::Word { word, end } => {
                each(Token::Short(word));
                at = end;
            }
            Piece::Gap { end } => at = end,
            Piece::Unclear => {
                let run = Run::at(text, at);
                if let Some(word) = run.word(text, at, &mut lower) {
                    each(ShortWord::of(word).map_or(Token::Long(word), Token::Short));
                }
                at = run.next(at);
            }
        }
    }
}

/// Calls `each` for each word of a text, in lower case.
pub fn split(text: &str, mut each: impl FnMut(&str)) {
    let mut lower = String::new();
    let mut at = 0;
    while at < text.len() {
        let run = Run::at(text, at);
        if let Some(word) = run.word(text, at, &mut lower) {
            each(word);
        }
        at = run.next(at);
    }
}

/// Role of a byte in words.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Class {
    Between,
    Plain,
    Upper,
    Apostrophe,
    Beyond,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Between; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' | b'0'..=b'9' => Class::Plain,
            b'A'..=b'Z' => Class::Upper,
            b'\'' => Class::Apostrophe,
            0x80..=0xff => Class::Beyond,
            _ => Class::Between,
        };
        byte += 1;
    }
    classes
};

/// A run of word characters. Empty if none starts here.
struct Run {
    end: usize,
    /// Whether it is all ASCII and in lower case already.
    is_plain: bool,
    /// Number of bytes to skip if the run is empty.
    skipped: usize,
}

impl Run {
    fn at(text: &str, start: usize) -> Self {
        let bytes = text.as_bytes();
        let (mut end, mut is_plain) = (start, true);
        while end < bytes.len() {
            match CLASSES[usize::from(bytes[end])] {
                Class::Plain => end += 1,
                Class::Upper => {
                    is_plain = false;
                    end += 1;
                }
                Class::Between => return Self { end, is_plain, skipped: 1 },
                Class::Apostrophe if joins(text, start, end, 1) => end += 1,
                Class::Apostrophe => return Self { end, is_plain, skipped: 1 },
                Class::Beyond => {
                    let letter = text[end..].chars().next().expect("a character begins here");
                    let length = letter.len_utf8();
                    if stands_alone(letter) {
                        let end = if end == start { end + length } else { end };
                        return Self { end, is_plain: false, skipped: length };
                    }
                    if !(is_of_a_word(letter) || letter == '’' && joins(text, start, end, length)) {
                        return Self { end, is_plain, skipped: length };
                    }
                    is_plain = false;
                    end += length;
                }
            }
        }
        Self { end, is_plain, skipped: 1 }
    }

    /// The word of a run that starts at `start`, in lower case, if it is a word. `lower` is scratch space.
    fn word<'a>(&self, text: &'a str, start: usize, lower: &'a mut String) -> Option<&'a str> {
        let word = &text[start..self.end];
        if word.is_empty() || WORD_BYTES_MAX < word.len() {
            return None;
        }
        if self.is_plain {
            return Some(word);
        }
        lower.clear();
        if word.is_ascii() {
            lower.push_str(word);
            lower.make_ascii_lowercase();
        } else {
            let letters = word.chars().flat_map(char::to_lowercase);
            lower.extend(letters.map(|letter| if letter == '’' { '\'' } else { letter }));
        }
        (lower.len() <= WORD_BYTES_MAX).then_some(lower)
    }

    /// Where the next run starts.
    fn next(&self, start: usize) -> usize {
        if self.end == start { start + self.skipped } else { self.end }
    }
}

/// Whether an apostrophe at this position is between two letters.
fn joins(text: &str, start: usize, at: usize, length: usize) -> bool {
    let is_letter =
        |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphabetic() && !stands_alone(letter));
    start < at && is_letter(text[..at].chars().next_back()) && is_letter(text[at + length..].chars().next())
}

fn is_of_a_word(letter: char) -> bool {
    letter.is_alphanumeric()
        || matches!(letter, '\u{300}'..='\u{36f}')
        // Vowel signs and viramas of the scripts of India are parts of words. The dandas between sentences
        // are not.
        || matches!(letter, '\u{900}'..='\u{dff}' if !matches!(letter, '\u{964}' | '\u{965}' | '\u{970}'))
}

/// Whether a character is a word by itself: scripts without spaces.
fn stands_alone(letter: char) -> bool {
    matches!(
        letter,
        '\u{3041}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
            | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}'
    ) && letter.is_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, words: &[&str]) {
        assert_eq!(Wording::default().words(text), words, "{text}");
    }

    #[test]
    fn words_are_runs_of_letters_and_digits_in_lower_case() {
        check("Cassini: Saturn-bound, 1997!", &["cassini", "saturn", "bound", "1997"]);
        check("Don't say 'no' — it’s Ä é\u{301}", &["don't", "say", "no", "it's", "ä", "é\u{301}"]);
        check("Привет, Мир. हिन्दी।", &["привет", "мир", "हिन्दी"]);
        check("", &[]);
        check("'' ’ - ", &[]);
    }

    #[test]
    fn characters_of_scripts_without_spaces_are_words() {
        check("日本語 text日x", &["日", "本", "語", "text", "日", "x"]);
    }

    #[test]
    fn long_runs_are_no_words() {
        check(&format!("a {} b", "x".repeat(WORD_BYTES_MAX + 1)), &["a", "b"]);
    }

    #[test]
    fn stop_words_go_and_stems_stay() {
        let wording = Wording { stop_words: Some(Language::English), stemming: Some(Language::English) };
        assert_eq!(wording.words("The rings of Saturn are fascinating"), ["ring", "saturn", "fascin"]);
    }

    proptest! {
        #[test]
        fn any_text_gives_words_that_are_words(text in "\\PC{0,60}") {
            for word in Wording::default().words(&text) {
                prop_assert!(!word.is_empty() && word.len() <= WORD_BYTES_MAX);
                prop_assert_eq!(Wording::default().words(&word), [word.clone()]);
            }
        }

        #[test]
        fn case_does_not_matter(text in "[a-zA-Z' .]{0,60}") {
            prop_assert_eq!(Wording::default().words(&text), Wording::default().words(&text.to_uppercase()));
        }

        #[test]
        fn stems_never_fail(text in "\\PC{0,40}") {
            for language in Language::ALL {
                Wording { stop_words: Some(language), stemming: Some(language) }.words(&text);
            }
        }
    }
}
