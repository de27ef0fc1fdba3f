//! The words of a canonical text, each as a hash.
//!
//! A word is short and the next has another length, so that a processor that guesses what comes next guesses wrong at nearly every word: that costs
//! more than the hashing. Therefore the ends of words are found for 64 bytes at a time, and words of about one length are hashed together.
//!
//! # Promises
//! - The hashes are the xxh3 of what stands between spaces and line ends, in the order of the text.

use xxhash_rust::xxh3::xxh3_64;

/// Bytes in which the ends of words are found at a time: one bit of a word for each.
const ROW: usize = 64;
/// Words that are hashed at a time.
const WORDS: usize = 256;
/// Kinds of lengths that xxh3 tells apart: up to 3, 8 and 16 bytes, and longer.
const KINDS: usize = 4;
/// The kind of each length up to 17.
const KIND: [u8; 18] = [0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 3];

/// Gives the hash of each word.
pub(super) fn each_word_hash(text: &[u8], mut give: impl FnMut(u64)) {
    let mut words = Words::new();
    each_word(text, |start, end| {
        words.push(start, end);
        if words.is_full() {
            words.hashes(text).iter().for_each(|hash| give(*hash));
        }
    });
    words.hashes(text).iter().for_each(|hash| give(*hash));
}

/// Words that wait to be hashed.
struct Words {
    places: [(usize, usize); WORDS],
    count: usize,
    /// Which of them are of each kind.
    of_kind: [[u8; WORDS]; KINDS],
    count_of_kind: [usize; KINDS],
    hashes: [u64; WORDS],
}

impl Words {
    fn new() -> Self {
        Self {
            places: [(0, 0); WORDS],
            count: 0,
            of_kind: [[0; WORDS]; KINDS],
            count_of_kind: [0; KINDS],
            hashes: [0; WORDS],
        }
    }

    fn is_full(&self) -> bool {
        self.count == WORDS
    }

    fn push(&mut self, start: usize, end: usize) {
        self.places[self.count] = (start, end);
        let kind = usize::from(KIND[(end - start).min(KIND.len() - 1)]);
        self.of_kind[kind][self.count_of_kind[kind]] = self.count as u8;
        self.count_of_kind[kind] += 1;
        self.count += 1;
    }

    /// The hashes of the words that wait, in their order; none wait any longer.
    fn hashes(&mut self, text: &[u8]) -> &[u64] {
        for (words, count) in self.of_kind.iter().zip(self.count_of_kind) {
            for word in &words[..count] {
                let (start, end) = self.places[usize::from(*word)];
                self.hashes[usize::from(*word)] = xxh3_64(&text[start..end]);
            }
        }
        self.count_of_kind = [0; KINDS];
        &self.hashes[..std::mem::take(&mut self.count)]
    }
}

/// Gives where each word begins and ends.
fn each_word(text: &[u8], mut give: impl FnMut(usize, usize)) {
    let mut start = 0;
    let mut end_at = |end: usize| {
        if start < end {
            give(start, end);
        }
        start = end + 1;
    };
    let (rows, rest) = text.as_chunks::<ROW>();
    for (number, row) in rows.iter().enumerate() {
        let mut ends = ends(row);
        while ends != 0 {
            end_at(number * ROW + ends.trailing_zeros() as usize);
            ends &= ends - 1;
        }
    }
    let first = text.len() - rest.len();
    rest.iter().enumerate().filter(|(_, byte)| is_end(**byte)).for_each(|(at, _)| end_at(first + at));
    end_at(text.len());
}

fn is_end(byte: u8) -> bool {
    byte == b' ' || byte == b'\n'
}

/// Which bytes end a word: a bit for each, the first the lowest.
fn ends(row: &[u8; ROW]) -> u64 {
    let eights = row.as_chunks::<8>().0.iter().enumerate();
    eights.fold(0, |ends, (number, eight)| {
        let eight = u64::from_le_bytes(*eight);
        let found = same(eight, b' ') | same(eight, b'\n');
        // The product brings the lowest bits of the eight bytes together in the highest byte.
        ends | (found >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56 << (8 * number)
    })
}

/// The highest bit of each byte that is `byte`, and no other bit.
fn same(eight: u64, byte: u8) -> u64 {
    const LOWEST: u64 = 0x0101_0101_0101_0101;
    const HIGHEST: u64 = 0x80 * LOWEST;
    let differs = eight ^ (LOWEST * u64::from(byte));
    // A byte that differs below its highest bit overflows into it.
    !(((differs & !HIGHEST) + !HIGHEST) | differs) & HIGHEST
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hashes(text: &[u8]) -> Vec<u64> {
        let mut hashes = Vec::new();
        each_word_hash(text, |hash| hashes.push(hash));
        hashes
    }

    fn slowly(text: &[u8]) -> Vec<u64> {
        text.split(|byte| is_end(*byte)).filter(|word| !word.is_empty()).map(xxh3_64).collect()
    }

    #[test]
    fn more_words_than_are_hashed_together_keep_their_order() {
        let text: String = (0..1000).map(|word| format!("{} ", "x".repeat(word % 40))).collect();
        assert_eq!(hashes(text.as_bytes()), slowly(text.as_bytes()));
    }

    proptest! {
        #[test]
        fn the_words_are_what_stands_between_spaces(text in "[ab\\n\u{a0}ü!\u{8}\u{20ac} ]{0,300}", bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            prop_assert_eq!(hashes(text.as_bytes()), slowly(text.as_bytes()));
            prop_assert_eq!(hashes(&bytes), slowly(&bytes));
        }
    }
}
