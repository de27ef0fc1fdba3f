//! Finds repeated bytes (LZ77): turns a block into copies of earlier bytes, and the bytes between them.
//!
//! One table maps the hash of seven bytes to the place where they occurred last. The input is processed in
//! stretches. Every place of a stretch is put into the table and every second one is looked up, with one
//! candidate and one comparison, and matches are only marked. Then the marks are turned into copies from
//! first to last: each copy grows to both sides, and marks within it are skipped. A processor cannot predict
//! whether a place begins a copy, so looking up without branches is faster than looking only where no copy is
//! yet. The longer nothing is found, the more is skipped: data that is compressed already takes little time.
//!
//! # Promises
//! - The bytes and copies of a block, in order, decode to the block.
//! - Copies reach at most 32,768 bytes back, never before the start of the input, and are 7 to
//!   258 bytes long.

use std::ops::Range;

use super::items::Items;
use super::symbols::{DISTANCE_MAX, LENGTH_MAX};
use super::window::{WORD, Window};

/// Minimum length of a copy. Shorter ones save a few bits and take as much time as long ones.
const COPY_MIN: usize = 7;
/// Logarithm of the number of places in the table, two bytes each: 16 KB, a third of a typical L1 cache.
const PLACES_LOG: u32 = 13;
/// Number of bytes whose places are looked up before any copy is made.
pub(super) const STRETCH: usize = 128;
/// Every second place is looked up. A copy that begins between two of them grows back to its start.
const LOOK_EVERY: usize = 2;
/// Number of lookups in a stretch: one per bit of the word that marks them. A smaller number would mean more
/// rounds of decisions, a larger one more useless lookups where copies are long.
const LOOKS: usize = STRETCH / LOOK_EVERY;
const _: () = assert!(LOOKS == u64::BITS as usize);

/// The hash table of seven-byte sequences, and the window they are in.
#[derive(Clone, Debug)]
pub(super) struct Copies {
    /// The place of the last bytes with each hash. The default is the first place; the comparison rejects it.
    places: Box<[u16; 1 << PLACES_LOG]>,
    window: Window,
}

impl Copies {
    pub(super) fn new() -> Self {
        Self { places: Box::new([0; 1 << PLACES_LOG]), window: Window::new() }
    }

    /// Clears everything before other input.
    pub(super) fn forget(&mut self) {
        self.places.fill(0);
        self.window.clear();
    }

    /// Finds the items of a block. The blocks of one input must be passed in order.
    pub(super) fn find(&mut self, bytes: &[u8], block: Range<usize>, items: &mut Items) {
        items.clear();
        let mut later = &bytes[block];
        while !later.is_empty() {
            if self.window.is_full() {
                let gone = self.window.give_up();
                self.places.iter_mut().for_each(|place| *place = place.saturating_sub(gone));
            }
            let start = self.window.len();
            later = self.window.append(later);
            self.find_from(start, items);
        }
    }

    /// Finds the items of the bytes of the window from a place on.
    fn find_from(&mut self, start: usize, items: &mut Items) {
        let end = self.window.len();
        let mut befores = [0; LOOKS];
        // Items cover the input up to `at`; the last copy ends at `rest`.
        let (mut at, mut rest) = (start, start);
        while at < end {
            let stretch = at;
            let stretch_end = (stretch + STRETCH).min(end);
            let mut marks = self.mark(stretch, &mut befores) & first_bits(looks_before(stretch, end));
            while marks != 0 {
                let look = marks.leading_zeros() as usize;
                marks &= !(1 << (LOOKS - 1) >> look);
                let (place, before) = (stretch + look * LOOK_EVERY, befores[look]);
                let distance = place.wrapping_sub(usize::from(before));
                if distance.wrapping_sub(1) >= DISTANCE_MAX {
                    continue;
                }
                let ahead = self.window.same_ahead(before, place as u16).min(end - place);
                let behind = self.window.same_behind(before, place as u16).min(usize::from(before));
                let behind = behind.min(place - rest).min(LENGTH_MAX - ahead);
                items.add_bytes(self.window.from(at), place - at);
                items.take_back(behind);
                items.add_copy(ahead + behind, distance);
                at = place + ahead;
                rest = at;
                marks &= !first_bits((at - stretch).div_ceil(LOOK_EVERY));
            }
            if at < stretch_end {
                // Beyond the first two stretches without a copy, skips half the distance since the last one.
                let passed_by = ((stretch_end - rest) / 2).saturating_sub(STRETCH);
                let next = (stretch_end + passed_by).min(end);
                items.add_bytes(self.window.from(at), next - at);
                at = next;
            }
        }
    }

    /// Adds the places of a stretch to the table, and marks the lookups whose seven bytes occurred before,
    /// the first in the highest bit. Their earlier places are put into `befores`.
    #[inline(never)]
    fn mark(&mut self, stretch: usize, befores: &mut [u16; LOOKS]) -> u64 {
        let bytes: &[u8; STRETCH + WORD] =
            self.window.from(stretch).first_chunk().expect("zeros follow the last byte");
        let kept = |word: u64| word << (64 - 8 * COPY_MIN);
        let hash = |word: u64| kept(word).wrapping_mul(0x9E37_79B1_85EB_CA87) >> (64 - PLACES_LOG);
        let mut marks = 0;
        // Four lookups per turn of the loop reduce its overhead.
        for (four, befores) in befores.as_chunks_mut::<4>().0.iter_mut().enumerate() {
            for (look, before) in befores.iter_mut().enumerate() {
                let place = (4 * four + look) * LOOK_EVERY;
                let next = place + 1;
                let word = word_of(bytes, place);
                *before = std::mem::replace(&mut self.places[hash(word) as usize], (stretch + place) as u16);
                self.places[hash(word_of(bytes, next)) as usize] = (stretch + next) as u16;
                let differs = kept(word ^ self.window.word_at(*before));
                marks = marks << 1 | u64::from(differs == 0);
            }
        }
        marks
    }
}

#[inline(always)]
fn word_of(bytes: &[u8; STRETCH + WORD], at: usize) -> u64 {
    u64::from_le_bytes(*bytes[at..].first_chunk().expect("a word follows each place of the stretch"))
}

/// Number of lookups in a stretch whose shortest copy ends within the window.
fn looks_before(stretch: usize, end: usize) -> usize {
    (end - stretch + 1).saturating_sub(COPY_MIN).div_ceil(LOOK_EVERY)
}

/// A mask of the `count` highest bits.
#[inline(always)]
fn first_bits(count: usize) -> u64 {
    !u64::MAX.checked_shr(count as u32).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::block::BLOCK_BYTES_MAX;
    use super::super::items::Told;
    use super::*;

    /// The bytes that the items of all blocks decode to, block by block.
    fn told(bytes: &[u8], block_bytes: usize) -> Vec<u8> {
        let (mut copies, mut items, mut told) = (Copies::new(), Items::new(), Vec::new());
        for start in (0..bytes.len()).step_by(block_bytes) {
            let end = (start + block_bytes).min(bytes.len());
            copies.find(bytes, start..end, &mut items);
            for item in items.told() {
                match item {
                    Told::Byte(byte) => told.push(byte),
                    Told::Copy { length, distance } => {
                        assert!((COPY_MIN..=LENGTH_MAX).contains(&length), "{item:?}");
                        assert!((1..=DISTANCE_MAX).contains(&distance), "{item:?}");
                        for _ in 0..length {
                            told.push(told[told.len() - distance]);
                        }
                    }
                }
            }
            assert_eq!(told.len(), end);
        }
        told
    }

    #[test]
    fn a_repetition_is_one_copy() {
        for more in [b"once upon a time, ".as_slice(), b"-once upon a time, "] {
            let bytes = [more, b"and again once upon a time, and never"].concat();
            let (mut copies, mut items) = (Copies::new(), Items::new());
            copies.find(&bytes, 0..bytes.len(), &mut items);
            let copies: Vec<_> =
                items.told().into_iter().filter(|told| matches!(told, Told::Copy { .. })).collect();
            assert_eq!(copies, [Told::Copy { length: 22, distance: 28 }]);
        }
    }

    #[test]
    fn what_repeats_out_of_reach_is_no_copy() {
        let mut bytes = b"a word that is repeated".to_vec();
        bytes.extend((0..70_000_u32).flat_map(|number| number.wrapping_mul(0x9E37_79B1).to_le_bytes()));
        bytes.extend_from_within(..23);
        assert_eq!(told(&bytes, BLOCK_BYTES_MAX), bytes);
    }

    proptest! {
        #[test]
        fn items_tell_the_bytes(
            words in prop::collection::vec("[ab]{1,9} |<p class=\"x\">", 0..800),
            block_bytes in 9..5000_usize,
        ) {
            let bytes = words.concat().into_bytes();
            prop_assert_eq!(told(&bytes, block_bytes), bytes);
        }

        #[test]
        fn any_bytes_are_told(bytes in prop::collection::vec(any::<u8>(), 0..400), times in 1..4_usize) {
            let bytes = bytes.repeat(times);
            prop_assert_eq!(told(&bytes, BLOCK_BYTES_MAX), bytes);
        }
    }
}
