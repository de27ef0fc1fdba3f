//! Simhash and shingles: the similarity of two texts, by the runs of words they share.
//!
//! A *shingle* is a run of [`SHINGLE_WORDS`] words (Broder, "On the resemblance and containment of
//! documents"). From the shingles a 64-bit simhash is computed (Charikar, "Similarity estimation techniques
//! from rounding algorithms"): each of its bits is the majority of that bit among all shingles' hashes, so
//! that similar texts differ in few bits. If both texts are available, the exact share of shingles that
//! differ is computed instead.
//!
//! # Promises
//! - A few changed words in a long text change few bits; two unrelated texts differ in about half.
//! - Line ends do not matter.
//! - The size of a change is 0 for the same words, 1 for nothing in common, and the same in both directions.

use std::iter;
use std::ops::Range;

use super::word_hashes::{WORDS, each_word_hashes};

/// Words of a shingle: enough to distinguish texts, and so few that one new word affects only three shingles.
pub const SHINGLE_WORDS: usize = 3;

/// The 64-bit simhash of a text; zero for a text without words.
pub fn simhash(text: &str) -> u64 {
    simhash_of_parts(text, iter::once(0..text.len()))
}

/// The simhash of the concatenation of these parts of a text, each on lines of its own.
pub(super) fn simhash_of_parts(text: &str, parts: impl IntoIterator<Item = Range<usize>>) -> u64 {
    let mut votes = Votes::default();
    each_shingles(text, parts, |shingles| votes.add(shingles));
    votes.majority()
}

/// The number of bits in which two simhashes differ, from 0 to 64.
pub fn distance(one: u64, other: u64) -> u32 {
    (one ^ other).count_ones()
}

/// The size of a change: the share of the distinct shingles of both texts that only one of them has, from 0
/// to 1.
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
    let mut shingles = Vec::new();
    each_shingles(text, iter::once(0..text.len()), |some| shingles.extend_from_slice(some));
    shingles.sort_unstable();
    shingles.dedup();
    shingles
}

/// Words that a shingle shares with the previous one.
const SHARED_WORDS: usize = SHINGLE_WORDS - 1;

/// Passes the hashes of the shingles of parts of a text to `give`, in order, up to [`WORDS`] at a time. A
/// text with fewer words than a shingle has one shingle, made of all its words.
fn each_shingles(text: &str, parts: impl IntoIterator<Item = Range<usize>>, mut give: impl FnMut(&[u64])) {
    // The words of the next shingles: the last ones of the previous call, if any, and the new ones.
    let mut words = [0; SHARED_WORDS + WORDS];
    let mut count = 0;
    let mut shingles = [0; WORDS];
    let mut gave_any = false;
    each_word_hashes(text.as_bytes(), parts, |hashes| {
        words[count..][..hashes.len()].copy_from_slice(hashes);
        count += hashes.len();
        let made = shingles.iter_mut().zip(words[..count].array_windows());
        made.for_each(|(shingle, words)| *shingle = joined(*words));
        if SHARED_WORDS < count {
            gave_any = true;
            give(&shingles[..count - SHARED_WORDS]);
            words.copy_within(count - SHARED_WORDS..count, 0);
            count = SHARED_WORDS;
        }
    });
    if 0 < count && !gave_any {
        // The words of a short text, padded with zeros.
        words[count..SHINGLE_WORDS].fill(0);
        give(&[joined([words[0], words[1], words[2]])]);
    }
}

/// Combines the hashes of consecutive words. Their order matters, and every bit depends on all of them.
fn joined(words: [u64; SHINGLE_WORDS]) -> u64 {
    // Multiplication by odd constants and a shift between them, as the finalizer of MurmurHash3 does.
    let sum = words
        .into_iter()
        .fold(0u64, |sum, word| sum.rotate_left(21).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ word);
    let mixed = (sum ^ (sum >> 33)).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    let mixed = (mixed ^ (mixed >> 33)).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    mixed ^ (mixed >> 33)
}

/// Hashes that are added to the counts together.
const TOGETHER: usize = 8;
/// Bits of each count that a level stores.
const LEVEL_BITS: usize = 3;
/// Levels for counts of 33 bits.
const LEVELS: usize = 11;

/// Counts how many hashes have each of the 64 bits set. The 64 counts are bit-sliced: the lowest three bits
/// of each are in the first level, the next three in the second and so on.
///
/// Eight hashes are added to all of the counts by a few additions of three bits each (Harley and Seal's way
/// to count bits), and the carries of eight such groups are added to the next level in the same way. So a
/// hash costs little more than an eighth of such an addition, and there are no branches that depend on the
/// carries.
#[derive(Default)]
struct Votes {
    levels: [Level; LEVELS],
    hashes: u32,
}

impl Votes {
    /// Counts up to [`WORDS`] hashes.
    fn add(&mut self, hashes: &[u64]) {
        self.hashes += hashes.len() as u32;
        // Zeros pad the last group of eight and change no count.
        let mut bits = [0; WORDS];
        bits[..hashes.len()].copy_from_slice(hashes);
        let mut count = hashes.len();
        for level in &mut self.levels {
            let eights = count.div_ceil(TOGETHER);
            for eight in 0..eights {
                let carried = level.add(bits.as_chunks().0[eight]);
                bits[eight] = carried;
            }
            bits[eights..eights.next_multiple_of(TOGETHER)].fill(0);
            count = eights;
        }
    }

    /// The bits that more than half of the hashes have set.
    fn majority(self) -> u64 {
        let half = u64::from(self.hashes / 2);
        let (mut is_more, mut is_same) = (0, u64::MAX);
        for (place, count) in self.levels.map(|level| level.0).as_flattened().iter().enumerate().rev() {
            if half >> place & 1 == 0 {
                is_more |= is_same & count;
                is_same &= !count;
            } else {
                is_same &= count;
            }
        }
        is_more
    }
}

/// Three bits of each of the 64 counts, the lowest of each in the first word.
#[derive(Clone, Copy, Default)]
struct Level([u64; LEVEL_BITS]);

impl Level {
    /// Adds eight bits to each of the counts. Returns the carries.
    fn add(&mut self, [a, b, c, d, e, f, g, h]: [u64; TOGETHER]) -> u64 {
        let [ones, twos, fours] = &mut self.0;
        let two = [add(ones, a, b), add(ones, c, d), add(ones, e, f), add(ones, g, h)];
        let four = [add(twos, two[0], two[1]), add(twos, two[2], two[3])];
        add(fours, four[0], four[1])
    }
}

/// Adds two bits to a third, 64 times in parallel. Returns the carries.
fn add(sum: &mut u64, one: u64, other: u64) -> u64 {
    let differs = one ^ other;
    let carried = one & other | differs & *sum;
    *sum ^= differs;
    carried
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use xxhash_rust::xxh3::xxh3_64;

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
        let mut hashes = Vec::new();
        each_shingles(&words, iter::once(0..words.len()), |some| hashes.extend_from_slice(some));
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
        // Three shingles before, three after, two in common: two of four differ.
        assert_eq!(change_size("a b c d e", "a b c d f"), 0.5);
    }

    #[test]
    fn texts_without_shingles_have_a_simhash_too() {
        assert_eq!(simhash(""), 0);
        assert_ne!(simhash("a"), simhash("b"));
        assert_ne!(simhash("a b"), simhash("b a"));
    }

    /// Stored simhashes are compared with new ones, so the values must not change.
    #[test]
    fn the_values_are_those_of_earlier_versions() {
        assert_eq!(simhash("a"), 0xC4EA_B7AF_D7CC_C1B0);
        assert_eq!(simhash("a b"), 0xC2D1_E703_42FF_BCE2);
        assert_eq!(simhash("one two three"), 0x5400_6C96_C7BB_5A0D);
        assert_eq!(simhash("one two three four\nfive"), 0x542E_2886_C6EB_680D);
        assert_eq!(simhash(&text(7, 1000).join(" ")), 0x1E8B_3B5C_D409_4FA0);
    }

    proptest! {
        #[test]
        fn each_bit_is_the_majority_of_any_hashes(
            hashes in prop::collection::vec(any::<u64>(), 0..100),
            often in 1..300_usize,
        ) {
            let mut votes = Votes::default();
            (0..often).for_each(|_| votes.add(&hashes));
            let slowly = (0..64).fold(0u64, |bits, bit| {
                let set = often * hashes.iter().filter(|hash| **hash >> bit & 1 == 1).count();
                if often * hashes.len() / 2 < set { bits | 1 << bit } else { bits }
            });
            prop_assert_eq!(votes.majority(), slowly);
        }

        #[test]
        fn a_change_has_a_size_between_none_and_all(old in "[ab \n]{0,40}", new in "[ab \n]{0,40}") {
            let size = change_size(&old, &new);
            prop_assert!((0.0..=1.0).contains(&size));
            prop_assert_eq!(size, change_size(&new, &old));
            prop_assert_eq!(change_size(&old, &old), 0.0);
        }
    }
}
