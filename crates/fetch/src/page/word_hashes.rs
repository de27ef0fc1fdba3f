//! Hashes of the words of a canonical text.
//!
//! Words are short and vary in length, so that branch prediction would fail at nearly every word. That would
//! cost more than the hashing. Therefore word ends are found for 64 bytes at a time, and words of similar
//! length are hashed together.
//!
//! # Promises
//! - The hashes are the xxh3 of the bytes between spaces and line ends, in the order of the text.

use std::ops::Range;

use xxhash_rust::xxh3::xxh3_64;

/// Bytes in which word ends are searched for at a time, one bit of a 64-bit word for each.
const ROW: usize = 64;
/// Words that are hashed at a time.
pub(super) const WORDS: usize = 256;
/// Classes of lengths that xxh3 treats differently: up to 3, 8 and 16 bytes, and longer.
const KINDS: usize = 4;
/// The class of each length up to 17.
const KIND: [u8; 18] = [0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 3];

/// Passes the hashes of the words of these parts of a text to `give`, in order, up to [`WORDS`] at a time. A
/// word ends at the end of its part.
pub(super) fn each_word_hashes(
    text: &[u8],
    parts: impl IntoIterator<Item = Range<usize>>,
    mut give: impl FnMut(&[u64]),
) {
    let mut words = Words::new();
    for part in parts {
        each_word(text, part, |start, end| {
            words.push(start, end);
            if words.is_full() {
                give(words.hashes(text));
            }
        });
    }
    give(words.hashes(text));
}

/// A batch of words to be hashed.
struct Words {
    places: [(usize, usize); WORDS],
    count: usize,
    hashes: [u64; WORDS],
}

impl Words {
    fn new() -> Self {
        Self { places: [(0, 0); WORDS], count: 0, hashes: [0; WORDS] }
    }

    fn is_full(&self) -> bool {
        self.count == WORDS
    }

    fn push(&mut self, start: usize, end: usize) {
        self.places[self.count] = (start, end);
        self.count += 1;
    }

    /// The hashes of the batch, in order. Empties the batch.
    fn hashes(&mut self, text: &[u8]) -> &[u64] {
        let count = std::mem::take(&mut self.count);
        let (of_kind, count_of_kind) = by_kind(&self.places[..count]);
        for (words, count) in of_kind.iter().zip(count_of_kind) {
            for word in &words[..count] {
                let (start, end) = self.places[usize::from(*word)];
                self.hashes[usize::from(*word)] = xxh3_64(&text[start..end]);
            }
        }
        &self.hashes[..count]
    }
}

/// The words of each class, and their number.
fn by_kind(places: &[(usize, usize)]) -> ([[u8; WORDS]; KINDS], [usize; KINDS]) {
    let mut of_kind = [[0; WORDS]; KINDS];
    let mut counts = [0; KINDS];
    for (word, (start, end)) in places.iter().enumerate() {
        let kind = KIND[(end - start).min(KIND.len() - 1)];
        // Written to every list and counted in one, so that the counts stay in registers.
        for (number, (words, count)) in of_kind.iter_mut().zip(&mut counts).enumerate() {
            words[*count % WORDS] = word as u8;
            *count += usize::from(usize::from(kind) == number);
        }
    }
    (of_kind, counts)
}

/// Passes the start and end of each word of a part of the text to `give`.
fn each_word(text: &[u8], part: Range<usize>, mut give: impl FnMut(usize, usize)) {
    let mut start = part.start;
    let mut end_at = |end: usize| {
        if start < end {
            give(start, end);
        }
        start = end + 1;
    };
    let (rows, rest) = text[part.clone()].as_chunks::<ROW>();
    for (number, row) in rows.iter().enumerate() {
        let mut ends = ends(row);
        while ends != 0 {
            end_at(part.start + number * ROW + ends.trailing_zeros() as usize);
            ends &= ends - 1;
        }
    }
    let first = part.end - rest.len();
    rest.iter().enumerate().filter(|(_, byte)| is_end(**byte)).for_each(|(at, _)| end_at(first + at));
    end_at(part.end);
}

fn is_end(byte: u8) -> bool {
    byte == b' ' || byte == b'\n'
}

/// A bit for each byte that ends a word; the lowest for the first byte.
fn ends(row: &[u8; ROW]) -> u64 {
    // All bits of each byte that ends a word; the compiler vectorises this.
    let found = row.map(|byte| if is_end(byte) { 0xFF } else { 0 });
    // Keeps the n-th bit of each byte of the n-th group of eight, so that all groups fit into one 64-bit
    // word.
    let eights = found.as_chunks::<8>().0.iter().enumerate();
    let mixed = eights.fold(0, |mixed, (number, eight)| {
        mixed | u64::from_le_bytes(*eight) & (0x0101_0101_0101_0101 << number)
    });
    transposed(mixed)
}

/// Transposes a matrix of eight by eight bits (Warren, "Hacker's Delight", section 7-3).
fn transposed(bits: u64) -> u64 {
    let steps = [(7, 0x00AA_00AA_00AA_00AA), (14, 0x0000_CCCC_0000_CCCC), (28, 0x0000_0000_F0F0_F0F0)];
    steps.into_iter().fold(bits, |bits, (shift, places)| {
        let differ = (bits ^ (bits >> shift)) & places;
        bits ^ differ ^ (differ << shift)
    })
}

#[cfg(test)]
mod tests {
    use std::iter;

    use proptest::prelude::*;

    use super::*;

    fn hashes(text: &[u8]) -> Vec<u64> {
        let mut hashes = Vec::new();
        each_word_hashes(text, iter::once(0..text.len()), |some| hashes.extend_from_slice(some));
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
        fn the_words_are_what_stands_between_spaces(
            text in "[ab\\n\u{a0}ü!\u{8}\u{20ac} ]{0,300}",
            bytes in prop::collection::vec(any::<u8>(), 0..300),
        ) {
            prop_assert_eq!(hashes(text.as_bytes()), slowly(text.as_bytes()));
            prop_assert_eq!(hashes(&bytes), slowly(&bytes));
        }

        #[test]
        fn the_words_of_parts_are_those_of_each(
            one in "[ab\\n ]{0,150}",
            left_out in "[a ]{0,9}",
            other in "[ab ]{0,150}",
        ) {
            let text = [one.as_str(), &left_out, &other].concat();
            let parts = [0..one.len(), one.len() + left_out.len()..text.len()];
            let mut hashes = Vec::new();
            each_word_hashes(text.as_bytes(), parts, |some| hashes.extend_from_slice(some));
            prop_assert_eq!(hashes, [slowly(one.as_bytes()), slowly(other.as_bytes())].concat());
        }
    }
}
