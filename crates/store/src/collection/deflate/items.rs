//! A block as a list of items: bytes, lengths, and distances in three parts. One table lookup per item
//! gives its bits.
//!
//! A list of alternating bytes and copies would be shorter, but its reader would branch after each byte on
//! whether a copy follows. The processor cannot predict that branch, and a misprediction costs as much as ten
//! items. This list needs no branch. The extra bits of a distance are items as well, so that an item is
//! nothing but its kind.
//!
//! # Promises
//! - The list has no more items than the block has bytes, as long as copies are at least four bytes long.
//! - Any four consecutive items take at most 56 bits, if no code has more than 12.

use super::block::BLOCK_BYTES_MAX;
use super::symbols::{DISTANCES, END, LENGTH_MAX, LENGTH_MIN, LITERALS, of_distance, of_length};

/// Number of kinds of items: bytes, and those below. A power of two, so that no index is out of bounds.
pub(super) const KINDS: usize = 1024;
/// The item of the shortest length. Each length has its own item.
pub(super) const LENGTH_ITEMS: usize = 256;
/// Items of literal bits, at most seven: the bits after the highest set bit, whose position gives
/// their number.
pub(super) const BITS_ITEMS: usize = 512;
/// The item of the first symbol of distances.
pub(super) const DISTANCE_ITEMS: usize = 768;
/// Number of extra bits of a distance in the first of its two items of bits.
const LOW_BITS: u32 = 7;

/// Number of bytes that are always added at once. Most runs of bytes are no longer and need no loop.
pub(super) const BYTES_AT_ONCE: usize = 32;
const ITEMS_MAX: usize = BLOCK_BYTES_MAX + BYTES_AT_ONCE;

/// The items of a block.
#[derive(Clone, Debug)]
pub(super) struct Items {
    list: Box<[u16; ITEMS_MAX]>,
    count: usize,
}

/// The frequencies of the symbols of a block.
#[derive(Clone, Debug)]
pub(super) struct Counts {
    /// Of each byte, the end of the block, and each length symbol.
    pub literals: [u32; LITERALS],
    /// Of each distance symbol.
    pub distances: [u32; DISTANCES],
}

impl Items {
    pub(super) fn new() -> Self {
        Self { list: Box::new([0; ITEMS_MAX]), count: 0 }
    }

    pub(super) fn clear(&mut self) {
        self.count = 0;
    }

    pub(super) fn as_slice(&self) -> &[u16] {
        &self.list[..self.count]
    }

    /// Adds the first `count` bytes. Reads up to [`BYTES_AT_ONCE`] bytes after them, which must be there.
    #[inline(always)]
    pub(super) fn add_bytes(&mut self, bytes: &[u8], count: usize) {
        let mut added = 0;
        loop {
            let from: [u8; BYTES_AT_ONCE] = *bytes[added..].first_chunk().expect("more bytes follow");
            let to = self.list[self.count + added..].first_chunk_mut().expect("a block has room");
            // A separate array lets the compiler vectorize the conversion.
            let mut items = [0; BYTES_AT_ONCE];
            items.iter_mut().zip(from).for_each(|(item, byte)| *item = u16::from(byte));
            *to = items;
            added += BYTES_AT_ONCE;
            if added >= count {
                break;
            }
        }
        self.count += count;
    }

    /// Removes the last bytes: they are part of a copy.
    #[inline(always)]
    pub(super) fn take_back(&mut self, bytes: usize) {
        self.count -= bytes;
    }

    #[inline(always)]
    pub(super) fn add_copy(&mut self, length: usize, distance: usize) {
        let (symbol, extra, extra_bits) = of_distance(distance as u16);
        let all = 1 << extra_bits | extra;
        let low = if all >> LOW_BITS == 0 { all } else { 1 << LOW_BITS | all & ((1 << LOW_BITS) - 1) };
        let high = (all >> LOW_BITS).max(1);
        let copy = [
            (LENGTH_ITEMS + length - LENGTH_MIN) as u16,
            (DISTANCE_ITEMS + symbol) as u16,
            BITS_ITEMS as u16 + low,
            BITS_ITEMS as u16 + high,
        ];
        *self.list[self.count..].first_chunk_mut().expect("a block has room") = copy;
        self.count += copy.len();
    }

    pub(super) fn counts(&self) -> Counts {
        // Four counters of each kind, so that equal consecutive items do not depend on each
        // other's increment.
        let mut of_kind = [[0_u16; KINDS]; 4];
        let (fours, rest) = self.as_slice().as_chunks::<4>();
        for four in fours {
            of_kind.iter_mut().zip(four).for_each(|(counts, item)| counts[usize::from(*item) % KINDS] += 1);
        }
        rest.iter().for_each(|item| of_kind[0][usize::from(*item) % KINDS] += 1);
        let count = |kind: usize| of_kind.iter().map(|counts| u32::from(counts[kind])).sum::<u32>();
        let mut literals = [0; LITERALS];
        literals[..END].iter_mut().enumerate().for_each(|(byte, literal)| *literal = count(byte));
        literals[END] = 1;
        for length in LENGTH_MIN..=LENGTH_MAX {
            literals[of_length(length as u16).0] += count(LENGTH_ITEMS + length - LENGTH_MIN);
        }
        Counts { literals, distances: std::array::from_fn(|symbol| count(DISTANCE_ITEMS + symbol)) }
    }
}

/// A decoded item, for the tests.
#[cfg(test)]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Told {
    Byte(u8),
    Copy { length: usize, distance: usize },
}

#[cfg(test)]
impl Items {
    pub(super) fn told(&self) -> Vec<Told> {
        let mut told = Vec::new();
        let mut items = self.as_slice().iter().map(|item| usize::from(*item));
        while let Some(item) = items.next() {
            if let Ok(byte) = u8::try_from(item) {
                told.push(Told::Byte(byte));
                continue;
            }
            let [symbol, low, high] = std::array::from_fn(|_| items.next().expect("a copy has four items"));
            let bits = |item: usize| (item - BITS_ITEMS).ilog2();
            let value = |item: usize| (item - BITS_ITEMS) - (1 << bits(item));
            let (extra, extra_bits) = (value(low) | value(high) << bits(low), bits(low) + bits(high));
            // Two distance symbols have the same number of extra bits, except for the nearest distances.
            let first = if extra_bits == 0 { symbol - DISTANCE_ITEMS } else { 2 + symbol % 2 };
            let distance = (first << extra_bits) + extra + 1;
            assert_eq!(of_distance(distance as u16).0, symbol - DISTANCE_ITEMS);
            told.push(Told::Copy { length: item - LENGTH_ITEMS + LENGTH_MIN, distance });
        }
        told
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_is_told_and_counted() {
        let bytes: Vec<u8> = (0..=255).collect();
        let mut items = Items::new();
        items.add_bytes(&bytes, 70);
        items.take_back(1);
        items.add_bytes(&bytes[1..], 0);
        let mut expected: Vec<_> = (0..69).map(Told::Byte).collect();
        for (length, distance) in [(3, 1), (7, 5), (258, 32_768), (11, 512), (11, 513), (12, 257)] {
            items.add_copy(length, distance);
            expected.push(Told::Copy { length, distance });
        }
        assert_eq!(items.told(), expected);
        let counts = items.counts();
        assert_eq!(counts.literals[..END].iter().sum::<u32>(), 69);
        assert_eq!(counts.literals[of_length(11).0], 3, "two of eleven and one of twelve");
        assert_eq!(counts.distances.iter().sum::<u32>(), 6);
    }

    #[test]
    fn four_items_fit_between_two_flushes() {
        const CODE: u32 = 12;
        let (byte, copy) = (vec![CODE], vec![CODE + 5, CODE, LOW_BITS, 13 - LOW_BITS]);
        for pattern in 0..16 {
            let parts = (0..4).map(|part| if pattern >> part & 1 == 0 { &byte } else { &copy });
            let bits: Vec<u32> = parts.flatten().copied().collect();
            assert!(bits.windows(4).all(|four| four.iter().sum::<u32>() <= 56), "{bits:?}");
        }
    }
}
