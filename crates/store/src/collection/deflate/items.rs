//! A block as a list of items, each of which is written by one look into a table: bytes, lengths, and distances in three parts.
//!
//! A list of bytes and copies in turn would be shorter, but whoever reads it asks after each byte whether a copy follows, and a processor
//! cannot foresee the answer: to guess wrong costs as much as ten items. Here nobody asks. The extra bits of a distance are items as well, so
//! that an item is nothing but its kind.
//!
//! # Promises
//! - The list has no more items than the block has bytes, as long as copies are four bytes or longer.
//! - Any four items that follow each other take at most 56 bits, if no code has more than 12.

use super::block::BLOCK_BYTES_MAX;
use super::symbols::{DISTANCES, END, LENGTH_MAX, LENGTH_MIN, LITERALS, of_distance, of_length};

/// Kinds of items: bytes, and those below. A power of two, so that no index is out of bounds.
pub(super) const KINDS: usize = 1024;
/// The item of the shortest length. Each length has its own.
pub(super) const LENGTH_ITEMS: usize = 256;
/// Bits as they are, at most seven: after the highest one that is set, which tells how many they are.
pub(super) const BITS_ITEMS: usize = 512;
/// The item of the first symbol of distances.
pub(super) const DISTANCE_ITEMS: usize = 768;
/// Extra bits of a distance that the first of its two items of bits holds.
const LOW_BITS: u32 = 7;

/// Bytes that are added at once, whether they are wanted or not: most runs of bytes are no longer, and need no loop.
pub(super) const BYTES_AT_ONCE: usize = 32;
const ITEMS_MAX: usize = BLOCK_BYTES_MAX + BYTES_AT_ONCE;

/// How a block is put together.
#[derive(Clone, Debug)]
pub(super) struct Items {
    list: Box<[u16; ITEMS_MAX]>,
    count: usize,
}

/// How often the symbols of a block occur.
#[derive(Clone, Debug)]
pub(super) struct Counts {
    /// Each byte, the end and each kind of length.
    pub literals: [u32; LITERALS],
    /// Each kind of distance.
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

    /// Adds the first `count` bytes. What follows them is read, too: [`BYTES_AT_ONCE`] more are there.
    #[inline(always)]
    pub(super) fn add_bytes(&mut self, bytes: &[u8], count: usize) {
        let mut added = 0;
        loop {
            let from: [u8; BYTES_AT_ONCE] = *bytes[added..].first_chunk().expect("more bytes follow");
            let to = self.list[self.count + added..].first_chunk_mut().expect("a block has room");
            // An array of its own, not the list: then the processor does it in a few instructions.
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

    /// Takes back the last bytes: they are part of a copy.
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
        // Four counts of each kind: an item that follows its like does not wait for the count before it.
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

/// What some items tell.
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
            // The symbols of distances with as many extra bits are two, but for the nearest.
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
