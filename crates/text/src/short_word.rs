//! Short words as three numbers, and how they are read eight bytes at a time.
//!
//! Nearly all words of nearly all texts are short runs of ASCII letters and digits. Such a word is found, put in lower case and ready to be
//! compared after a few operations on whole registers, without a look at single bytes. What is beyond that is left to the rules of
//! [`words`](crate::words), which it must agree with.
//!
//! # Promises
//! - What [`Piece::at`] calls a word is a word by the rules, and the same; where it cannot know, it says so.
//! - No two words are the same three numbers: a word has no zero byte.

/// The longest short word, in bytes.
pub(crate) const SHORT_BYTES_MAX: usize = 24;

/// A word of at most [`SHORT_BYTES_MAX`] bytes, its first byte in the lowest place, zeros behind it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct ShortWord([u64; 3]);

impl ShortWord {
    /// A word that is short; none if it is longer, or none at all.
    pub(crate) fn of(word: &str) -> Option<Self> {
        if word.is_empty() || SHORT_BYTES_MAX < word.len() {
            return None;
        }
        let part = |place: usize| eight_at(word.as_bytes(), 8 * place);
        Some(Self([part(0), part(1), part(2)]))
    }

    /// The word as text.
    pub(crate) fn text(&self) -> String {
        let bytes: Vec<u8> =
            self.0.iter().flat_map(|part| part.to_le_bytes()).take_while(|byte| *byte != 0).collect();
        String::from_utf8(bytes).expect("a word was text before")
    }

    /// A hash that nobody can foresee who does not know the seeds: products of 64 bits, folded.
    #[inline(always)]
    pub(crate) fn hash(&self, seeds: [u64; 2]) -> u64 {
        let [first, second, third] = self.0;
        let both = folded(first ^ seeds[0], second ^ seeds[1]);
        if third == 0 { both } else { folded(both ^ third, seeds[1] | 1) }
    }
}

fn folded(left: u64, right: u64) -> u64 {
    let product = u128::from(left) * u128::from(right);
    product as u64 ^ (product >> 64) as u64
}

/// What stands at a place of a text, as far as eight bytes at a time can tell. Ends are counted from the start of the text.
pub(crate) enum Piece {
    /// A short word; the next one begins at `end` or later.
    Word { word: ShortWord, end: usize },
    /// Nothing of a word up to here.
    Gap { end: usize },
    /// Something that only the rules can tell: beyond ASCII, with an apostrophe, or long.
    Unclear,
}

impl Piece {
    /// What stands at this place, where the word before has ended.
    #[inline(always)]
    pub(crate) fn at(bytes: &[u8], start: usize) -> Self {
        let mut word = ShortWord::default();
        for (place, part) in word.0.iter_mut().enumerate() {
            let eight = eight_at(bytes, start + 8 * place);
            let Classes { letters, of_words } = classes(eight);
            // A letter in upper case differs from that in lower case by this bit.
            let lower = eight | (letters >> 2);
            let ends = !of_words & HIGH;
            if ends == 0 {
                *part = lower;
                continue;
            }
            let bits = ends.trailing_zeros() & !7;
            let length = (bits / 8) as usize;
            let next = (eight >> bits) as u8;
            if next == b'\'' || !next.is_ascii() {
                return Self::Unclear;
            }
            if place == 0 && length == 0 {
                let stops = of_words | (eight & HIGH);
                let gap = if stops == 0 { 8 } else { (stops.trailing_zeros() / 8) as usize };
                return Self::Gap { end: start + gap };
            }
            *part = lower & ((1 << bits) - 1);
            // The byte behind the word belongs to none.
            return Self::Word { word, end: start + 8 * place + length + 1 };
        }
        Self::Unclear
    }
}

/// The high bit of each of eight bytes.
const HIGH: u64 = each(0x80);

const fn each(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// The eight bytes at a place, the first in the lowest; zeros behind the end.
#[inline(always)]
fn eight_at(bytes: &[u8], start: usize) -> u64 {
    if let Some(eight) = bytes.get(start..start + 8).and_then(|eight| eight.try_into().ok()) {
        return u64::from_le_bytes(eight);
    }
    let rest = bytes.get(start..).unwrap_or_default();
    let mut eight = [0; 8];
    eight[..rest.len()].copy_from_slice(rest);
    u64::from_le_bytes(eight)
}

/// Which of eight bytes are ASCII letters, and which letters or digits: their high bits.
struct Classes {
    letters: u64,
    of_words: u64,
}

/// Sums of seven bits reach the eighth where a byte is at least the first of its class, and not where it is beyond the last.
#[inline(always)]
fn classes(eight: u64) -> Classes {
    let low = eight & !HIGH;
    let cased = low | each(0x20);
    let letters = (cased + each(0x80 - b'a')) & !(cased + each(0x7f - b'z'));
    let digits = (low + each(0x80 - b'0')) & !(low + each(0x7f - b'9'));
    let ascii = !eight & HIGH;
    Classes { letters: letters & ascii, of_words: (letters | digits) & ascii }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_classed_as_ascii_does_wherever_it_stands() {
        for byte in 0..=255u8 {
            for place in 0..8 {
                let Classes { letters, of_words } = classes(u64::from(byte) << (8 * place));
                let is = |classes: u64| classes >> (8 * place + 7) & 1 == 1;
                assert_eq!(
                    (is(letters), is(of_words)),
                    (byte.is_ascii_alphabetic(), byte.is_ascii_alphanumeric()),
                    "{byte} at {place}"
                );
            }
        }
    }

    #[test]
    fn a_short_word_is_read_back() {
        for word in ["a", "saturn", "größe", "eight888", "24-bytes-are-short-enough"] {
            let word: String = word.chars().take(SHORT_BYTES_MAX).collect();
            assert_eq!(ShortWord::of(&word).map(|short| short.text()), Some(word));
        }
        assert_eq!(ShortWord::of(""), None);
        assert_eq!(ShortWord::of(&"x".repeat(SHORT_BYTES_MAX + 1)), None);
    }
}
