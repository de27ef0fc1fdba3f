//! What stands before already: a block as copies of what precedes them, and the bytes between.
//!
//! One table remembers for the hash of seven bytes where they stood last. At each place one guess is looked up and one comparison of eight bytes made; a
//! copy that is found is taken, and grows to both sides. The longer nothing is found the larger the steps: what is compressed already
//! is passed by in a hurry.
//!
//! # Promises
//! - Bytes and copies, one after the other, are the block.
//! - Copies reach at most 32,768 bytes back, never before the beginning, and are 7 to 258 bytes long.

use std::ops::Range;

use super::symbols::{DISTANCE_MAX, DISTANCES, END, LENGTH_MAX, LITERALS, of_distance, of_length};

/// Bytes that are compared at once.
const WORD: usize = 8;
/// The shortest copy. Shorter ones save a few bits and cost as much time as long ones.
const LENGTH_MIN: u32 = 7;
/// The table has two bytes for each of so many places: 16 KB, half of a processor's nearest cache.
const PLACES_LOG: u32 = 13;
/// After so many places without a copy, as a power of two, the steps become larger by one.
const PATIENCE_LOG: u32 = 6;

/// Bytes that stand for themselves, and then a copy.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Step {
    /// Bytes that stand for themselves.
    pub literals: u32,
    /// Bytes of the copy.
    pub length: u16,
    /// How far before it they stand.
    pub distance: u16,
}

/// How a block is put together.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// Bytes and copies. What follows the last copy stands for itself.
    pub steps: Vec<Step>,
    /// How often each byte, the end and each kind of length occurs.
    pub literals: [u32; LITERALS],
    /// How often each kind of distance occurs.
    pub distances: [u32; DISTANCES],
}

impl Found {
    pub(super) fn new() -> Self {
        Self { steps: Vec::new(), literals: [0; LITERALS], distances: [0; DISTANCES] }
    }

    fn clear(&mut self) {
        self.steps.clear();
        self.literals = [0; LITERALS];
        self.distances = [0; DISTANCES];
    }
}

/// Where seven bytes stood last.
#[derive(Clone, Debug)]
pub(super) struct Copies {
    /// The place of the bytes with each hash, of which 16 bits tell enough: none is remembered for longer than it can be reached.
    places: Box<[u16; 1 << PLACES_LOG]>,
}

impl Copies {
    pub(super) fn new() -> Self {
        Self { places: Box::new([0; 1 << PLACES_LOG]) }
    }

    /// Forgets everything: other bytes come.
    pub(super) fn forget(&mut self) {
        self.places.fill(0);
    }

    /// Puts a block together. Blocks of the same bytes come one after the other.
    pub(super) fn find(&mut self, bytes: &[u8], block: Range<usize>, found: &mut Found) {
        found.clear();
        found.literals[END] = 1;
        let bytes = &bytes[..block.end];
        // What is not yet part of a step begins here.
        let mut rest = block.start;
        let mut at = block.start;
        while at + WORD <= block.end {
            let word = word_at(bytes, at);
            // A place that was never seen is the beginning of the bytes, or what stood there 65,536 bytes later: to compare tells.
            let distance = self.distance(word, at);
            let before = at.saturating_sub(distance);
            let differs = word ^ word_at(bytes, before);
            if differs.trailing_zeros() < 8 * LENGTH_MIN || distance.wrapping_sub(1) >= DISTANCE_MAX.min(at) {
                found.literals[usize::from(word as u8)] += 1;
                at += 1;
                let more = (at - rest) >> PATIENCE_LOG;
                if more > 0 {
                    let next = (at + more).min(block.end);
                    bytes[at..next].iter().for_each(|byte| found.literals[usize::from(*byte)] += 1);
                    at = next;
                }
                continue;
            }
            let ahead = same_bytes(bytes, before, at, differs, block.end);
            let behind = same_bytes_behind(bytes, before, at, rest, LENGTH_MAX - ahead);
            bytes[at - behind..at].iter().for_each(|byte| found.literals[usize::from(*byte)] -= 1);
            let (length, distance) = ((ahead + behind) as u16, distance as u16);
            found.literals[of_length(length).0] += 1;
            found.distances[of_distance(distance).0] += 1;
            found.steps.push(Step { literals: (at - behind - rest) as u32, length, distance });
            at += ahead;
            rest = at;
            if at + WORD <= block.end {
                // One place within the copy is remembered too: the next occurrence may be a longer one.
                self.distance(word_at(bytes, at - 2), at - 2);
            }
        }
        bytes[at..block.end].iter().for_each(|byte| found.literals[usize::from(*byte)] += 1);
    }

    /// How far before `at` the first seven bytes of a word may stand, which are remembered to stand at `at` from now on.
    #[inline]
    fn distance(&mut self, word: u64, at: usize) -> usize {
        let kept = word << (64 - 8 * LENGTH_MIN);
        let place = (kept.wrapping_mul(0x9E37_79B1_85EB_CA87) >> (64 - PLACES_LOG)) as usize;
        let before = std::mem::replace(&mut self.places[place], at as u16);
        usize::from((at as u16).wrapping_sub(before))
    }
}

#[inline]
fn word_at(bytes: &[u8], at: usize) -> u64 {
    let word = bytes[at..].first_chunk::<WORD>().expect("the callers stay eight bytes before the end");
    u64::from_le_bytes(*word)
}

/// How many bytes from two places on are the same, given how their first words differ.
#[inline]
fn same_bytes(bytes: &[u8], before: usize, at: usize, differs: u64, end: usize) -> usize {
    if differs != 0 {
        return differs.trailing_zeros() as usize / 8;
    }
    let mut same = WORD;
    while same < LENGTH_MAX && at + same + WORD <= end {
        let differs = word_at(bytes, before + same) ^ word_at(bytes, at + same);
        if differs != 0 {
            same += differs.trailing_zeros() as usize / 8;
            break;
        }
        same += WORD;
    }
    same.min(LENGTH_MAX)
}

/// How many bytes before two places are the same, back to `rest` and up to `most`.
#[inline]
fn same_bytes_behind(bytes: &[u8], before: usize, at: usize, rest: usize, most: usize) -> usize {
    let most = most.min(before).min(at - rest);
    let (one, other) = (bytes[..before].iter().rev(), bytes[..at].iter().rev());
    one.zip(other).take(most).take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The bytes that the steps of all blocks tell, block by block.
    fn told(bytes: &[u8], block_bytes: usize) -> Vec<u8> {
        let (mut copies, mut found, mut told) = (Copies::new(), Found::new(), Vec::new());
        for start in (0..bytes.len()).step_by(block_bytes) {
            let end = (start + block_bytes).min(bytes.len());
            copies.find(bytes, start..end, &mut found);
            for step in &found.steps {
                assert!((LENGTH_MIN as usize..=LENGTH_MAX).contains(&usize::from(step.length)), "{step:?}");
                assert!((1..=DISTANCE_MAX).contains(&usize::from(step.distance)), "{step:?}");
                told.extend_from_slice(&bytes[told.len()..][..step.literals as usize]);
                for _ in 0..step.length {
                    told.push(told[told.len() - usize::from(step.distance)]);
                }
            }
            let literals: u32 =
                found.steps.iter().map(|step| step.literals).sum::<u32>() + (end - told.len()) as u32;
            assert_eq!(found.literals[..END].iter().sum::<u32>(), literals);
            assert_eq!(found.distances.iter().sum::<u32>() as usize, found.steps.len());
            told.extend_from_slice(&bytes[told.len()..end]);
        }
        told
    }

    #[test]
    fn a_repetition_is_one_copy() {
        let bytes = b"once upon a time, and again once upon a time, and never".to_vec();
        let (mut copies, mut found) = (Copies::new(), Found::new());
        copies.find(&bytes, 0..bytes.len(), &mut found);
        assert_eq!(found.steps, [Step { literals: 28, length: 22, distance: 28 }]);
    }

    #[test]
    fn what_repeats_out_of_reach_is_no_copy() {
        let mut bytes = b"a word that is repeated".to_vec();
        bytes.extend((0..70_000_u32).flat_map(|number| number.wrapping_mul(0x9E37_79B1).to_le_bytes()));
        bytes.extend_from_within(..23);
        assert_eq!(told(&bytes, bytes.len()), bytes);
    }

    proptest! {
        #[test]
        fn steps_tell_the_bytes(words in prop::collection::vec("[ab]{1,9} |<p class=\"x\">", 0..800), block_bytes in 9..5000_usize) {
            let bytes = words.concat().into_bytes();
            prop_assert_eq!(told(&bytes, block_bytes), bytes);
        }

        #[test]
        fn any_bytes_are_told(bytes in prop::collection::vec(any::<u8>(), 0..400), times in 1..4_usize) {
            let bytes = bytes.repeat(times);
            prop_assert_eq!(told(&bytes, 1 << 16), bytes);
        }
    }
}
