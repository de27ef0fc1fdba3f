//! How much two texts have in common, told by the runs of words they share.
//!
//! A *shingle* is a run of [`SHINGLE_WORDS`] words (Broder, "On the resemblance and containment of documents"). From the shingles
//! follow a 64-bit simhash (Charikar, "Similarity estimation techniques from rounding algorithms"), each of whose bits is the
//! majority of that bit among all shingles' hashes, so that similar texts differ in few bits; and, where both texts are at hand,
//! the exact share of shingles that differ.
//!
//! # Promises
//! - Few words changed in a long text move few bits; two unrelated texts differ in about half.
//! - Where lines end does not count.
//! - The size of a change is 0 for the same words, 1 for nothing in common, and the same in both directions.

use xxhash_rust::xxh3::xxh3_64;

/// Words of a shingle: long enough to tell texts apart, short enough that one new word touches only three.
pub const SHINGLE_WORDS: usize = 3;

/// The 64-bit simhash of a text; zero for a text without words.
pub fn simhash(text: &str) -> u64 {
    let mut votes = Votes::default();
    for shingle in shingles(text) {
        votes.add(shingle);
    }
    votes.majority()
}

/// In how many bits two simhashes differ, from 0 to 64.
pub fn distance(one: u64, other: u64) -> u32 {
    (one ^ other).count_ones()
}

/// The size of a change: which share of the different shingles of both texts only one of them has, from 0 to 1.
pub fn change_size(old: &str, new: &str) -> f32 {
    let (old, new) = (distinct_shingles(old), distinct_shingles(new));
    let (mut old_left, mut new_left) = (old.as_slice(), new.as_slice());
    let mut shared = 0;
    while let (Some(first_old), Some(first_new)) = (old_left.first(), new_left.first()) {
        shared += usize::from(first_old == first_new);
        old_left = &old_left[usize::from(first_old <= first_new)..];
        new_left = &new_left[usize::from(first_new <= first_old)..];
    }
    let all = old.len() + new.len() - shared;
    if all == 0 { 0.0 } else { (all - shared) as f32 / all as f32 }
}

fn distinct_shingles(text: &str) -> Vec<u64> {
    let mut shingles: Vec<u64> = shingles(text).collect();
    shingles.sort_unstable();
    shingles.dedup();
    shingles
}

/// The hashes of the shingles of a text, in order. A text of fewer words has one, made of all its words.
fn shingles(text: &str) -> impl Iterator<Item = u64> {
    let mut words = words(text.as_bytes()).map(xxh3_64);
    let mut window = [0; SHINGLE_WORDS];
    let mut filled = 0;
    while filled < SHINGLE_WORDS {
        let Some(word) = words.next() else { break };
        window[filled] = word;
        filled += 1;
    }
    let first = (0 < filled).then(|| joined(window));
    first.into_iter().chain(words.map(move |word| {
        window.rotate_left(1);
        window[SHINGLE_WORDS - 1] = word;
        joined(window)
    }))
}

/// The words of a canonical text: what stands between spaces and line ends.
fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut start = 0;
    let ends = memchr::memchr2_iter(b' ', b'\n', text).chain(std::iter::once(text.len()));
    ends.filter_map(move |end| {
        let word = &text[start..end];
        start = end + 1;
        (!word.is_empty()).then_some(word)
    })
}

/// One hash of the hashes of consecutive words, in which their order counts and every bit depends on all of them.
fn joined(words: [u64; SHINGLE_WORDS]) -> u64 {
    // Multiplication by odd constants and a shift between them, as the finalizer of MurmurHash3 does.
    let sum = words
        .into_iter()
        .fold(0u64, |sum, word| sum.rotate_left(21).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ word);
    let mixed = (sum ^ (sum >> 33)).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    let mixed = (mixed ^ (mixed >> 33)).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    mixed ^ (mixed >> 33)
}

/// How many hashes have each of the 64 bits set.
struct Votes {
    /// Counts of the last few hashes, one byte each: eight bits of the hash to a word.
    recent: [u64; 8],
    recent_hashes: u8,
    set: [u32; 64],
    hashes: u32,
}

impl Default for Votes {
    fn default() -> Self {
        Self { recent: [0; 8], recent_hashes: 0, set: [0; 64], hashes: 0 }
    }
}

impl Votes {
    fn add(&mut self, hash: u64) {
        for (counts, byte) in self.recent.iter_mut().zip(hash.to_le_bytes()) {
            *counts += SPREAD[usize::from(byte)];
        }
        self.recent_hashes += 1;
        // One more would overflow a byte.
        if self.recent_hashes == u8::MAX {
            self.settle();
        }
    }

    fn settle(&mut self) {
        for (total, recent) in self.set.iter_mut().zip(self.recent.iter().flat_map(|word| word.to_le_bytes()))
        {
            *total += u32::from(recent);
        }
        self.hashes += u32::from(self.recent_hashes);
        self.recent = [0; 8];
        self.recent_hashes = 0;
    }

    fn majority(mut self) -> u64 {
        self.settle();
        let half = self.hashes / 2;
        self.set.iter().enumerate().filter(|(_, set)| half < **set).fold(0, |bits, (bit, _)| bits | 1 << bit)
    }
}

/// For each byte, its eight bits as eight bytes of 0 or 1.
const SPREAD: [u64; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut bit = 0;
        while bit < 8 {
            table[byte] |= ((byte as u64 >> bit) & 1) << (8 * bit);
            bit += 1;
        }
        byte += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A text of many different words, from a seed.
    fn text(seed: u64, words: usize) -> Vec<String> {
        (0..words as u64)
            .map(|word| format!("w{}", xxh3_64(&(seed * 1_000_003 + word).to_le_bytes()) % 5_000))
            .collect()
    }

    #[test]
    fn each_bit_is_the_majority_of_the_shingles() {
        let words = text(1, 700).join(" ");
        let hashes: Vec<u64> = shingles(&words).collect();
        assert_eq!(hashes.len(), 698);
        let slowly = (0..64).fold(0u64, |bits, bit| {
            let set = hashes.iter().filter(|hash| **hash >> bit & 1 == 1).count();
            if hashes.len() / 2 < set { bits | 1 << bit } else { bits }
        });
        assert_eq!(simhash(&words), slowly);
    }

    #[test]
    fn small_edits_move_few_bits_and_another_text_moves_half() {
        for seed in 0..20 {
            let old = text(seed, 500);
            let mut new = old.clone();
            new[100] = "edited".into();
            new[300] = "twice".into();
            let edited = distance(simhash(&old.join(" ")), simhash(&new.join(" ")));
            assert!(edited <= 8, "seed {seed}: {edited} bits");
            let unrelated = distance(simhash(&old.join(" ")), simhash(&text(seed + 100, 500).join(" ")));
            assert!((16..=48).contains(&unrelated), "seed {seed}: {unrelated} bits");
        }
    }

    #[test]
    fn the_size_of_a_change_counts_shingles() {
        assert_eq!(change_size("a b c d e", "a b c d e"), 0.0);
        assert_eq!(change_size("a b c d e", "a b\nc d e"), 0.0);
        assert_eq!(change_size("a b c d e", "f g h"), 1.0);
        assert_eq!(change_size("", ""), 0.0);
        assert_eq!(change_size("", "a"), 1.0);
        assert_eq!(change_size("a b", "a b"), 0.0);
        // Three shingles before, three after, two of them the same: two of four differ.
        assert_eq!(change_size("a b c d e", "a b c d f"), 0.5);
    }

    #[test]
    fn texts_without_shingles_have_a_simhash_too() {
        assert_eq!(simhash(""), 0);
        assert_ne!(simhash("a"), simhash("b"));
        assert_ne!(simhash("a b"), simhash("b a"));
    }

    proptest! {
        #[test]
        fn a_change_has_a_size_between_none_and_all(old in "[ab \n]{0,40}", new in "[ab \n]{0,40}") {
            let size = change_size(&old, &new);
            prop_assert!((0.0..=1.0).contains(&size));
            prop_assert_eq!(size, change_size(&new, &old));
            prop_assert_eq!(change_size(&old, &old), 0.0);
        }
    }
}
