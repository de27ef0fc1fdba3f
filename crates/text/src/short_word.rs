//! Short words as three 64-bit numbers, read eight bytes at a time.
//!
//! Nearly all words of most texts are short runs of ASCII letters and digits. A few operations on whole
//! registers find such a word, convert it to lower case and make it ready to compare, without looking at
//! single bytes. Everything else is left to the rules of [`words`](crate::words), which this module must
//! agree with.
//!
//! # Promises
//! - Every word that [`Piece::at`] returns is the word that the rules give. Where it cannot tell, it says so.
//! - Different words have different numbers: a word contains no zero byte.

/// Maximum length of a short word, in bytes.
pub(crate) const SHORT_BYTES_MAX: usize = 24;

/// A word of at most [`SHORT_BYTES_MAX`] bytes: its first byte in the lowest position, padded with zeros.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct ShortWord([u64; 3]);

impl ShortWord {
    /// Converts a word. `None` if it is empty or too long.
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

    /// A hash that is unpredictable without the seeds: folded 64-bit products.
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

/// What starts at an offset of a text, as far as eight bytes at a time can tell. `end` is an offset into the
/// text.
pub(crate) enum Piece {
    /// A short word. The next word starts at `end` or later.
    Word { word: ShortWord, end: usize },
    /// No part of a word before `end`.
    Gap { end: usize },
    /// Needs the rules: it is beyond ASCII, has an apostrophe, or is long.
    Unclear,
}

impl Piece {
    /// Reads what starts at this offset, which must follow the end of a word.
    #[inline(always)]
    pub(crate) fn at(bytes: &[u8], start: usize) -> Self {
        let mut word = ShortWord::default();
        for (place, part) in word.0.iter_mut().enumerate() {
            let eight = eight_at(bytes, start + 8 * place);
            let Classes { letters, of_words } = classes(eight);
            // This bit distinguishes upper case from lower case.
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
            // The byte after the word belongs to no word.
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

/// The eight bytes at an offset, the first in the lowest position, padded with zeros after the end.
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

/// Which of eight bytes are ASCII letters, and which are letters or digits, as their high bits.
struct Classes {
    letters: u64,
    of_words: u64,
}

/// Adds to the low seven bits of each byte: the sum carries into the high bit if the byte is at least the
/// first of its class. A second sum excludes bytes beyond the last.
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
