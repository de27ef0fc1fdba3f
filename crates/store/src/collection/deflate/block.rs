//! Writes one DEFLATE block: with its own codes, with the fixed codes of the standard, or stored uncompressed
//! (RFC 1951, section 3.2.3).
//!
//! # Promises
//! - A block is at most five bytes larger than its uncompressed bytes.
//! - The size of a block in bits is computed before it is written, so it is written in one pass.

use super::items::{BITS_ITEMS, Counts, DISTANCE_ITEMS, Items, KINDS, LENGTH_ITEMS};
use super::prefix_code::PrefixCode;
use super::symbols::{
    DISTANCES, END, FIRST_LENGTH, LENGTH_MAX, LENGTH_MIN, LITERALS, extra_of_distance, extra_of_length,
    of_length,
};

/// Maximum bits of a code: four items then fit between two flushes of 64 bits.
const CODE_BITS: usize = 12;
/// Maximum bytes of a block: the limit of a stored block.
pub(super) const BLOCK_BYTES_MAX: usize = 65_535;
/// Blocks of fewer bytes use the fixed codes: codes of their own would cost what they save.
const OWN_CODES_FROM: usize = 1_000;

/// Writes bits to the end of a byte buffer.
#[derive(Debug)]
pub(super) struct Output<'a> {
    bytes: &'a mut Vec<u8>,
    /// Bits that do not fill a byte yet, and their number.
    waiting: (u64, u32),
}

impl<'a> Output<'a> {
    /// An output that appends to these bytes.
    pub(super) fn new(bytes: &'a mut Vec<u8>) -> Self {
        Self { bytes, waiting: (0, 0) }
    }

    /// Pads the last byte with zeros and writes it.
    pub(super) fn end(mut self) {
        self.write(0, |bits| {
            bits.fill_byte();
        });
    }

    /// Writes at most `most` bits.
    fn write(&mut self, most: u64, write: impl FnOnce(&mut Bits<'_>)) {
        let start = self.bytes.len();
        self.bytes.resize(start + most as usize / 8 + 2 * size_of::<u64>(), 0);
        let (waiting, waiting_bits) = self.waiting;
        let mut bits = Bits { room: &mut self.bytes[start..], at: 0, waiting, waiting_bits };
        write(&mut bits);
        self.waiting = (bits.waiting, bits.waiting_bits);
        let end = start + bits.at;
        self.bytes.truncate(end);
    }
}

/// A bit writer into a buffer that is large enough.
struct Bits<'a> {
    room: &'a mut [u8],
    at: usize,
    waiting: u64,
    waiting_bits: u32,
}

impl Bits<'_> {
    /// Adds bits, at most 56 between two flushes.
    #[inline]
    fn add(&mut self, value: u64, bits: u32) {
        self.waiting |= value << self.waiting_bits;
        self.waiting_bits += bits;
    }

    #[inline]
    fn flush(&mut self) {
        let room = self.room[self.at..].first_chunk_mut().expect("room was made for all bits");
        *room = self.waiting.to_le_bytes();
        self.at += self.waiting_bits as usize / 8;
        self.waiting >>= self.waiting_bits & !7;
        self.waiting_bits &= 7;
    }

    fn put(&mut self, value: u64, bits: u32) {
        self.add(value, bits);
        self.flush();
    }

    fn fill_byte(&mut self) {
        self.waiting_bits = self.waiting_bits.next_multiple_of(8);
        self.flush();
    }
}

/// The codes of literals (bytes, end of block, lengths) and distances.
#[derive(Clone, Debug)]
struct Codes {
    literals: PrefixCode<LITERALS>,
    distances: PrefixCode<DISTANCES>,
}

impl Codes {
    /// The fixed codes of the standard, section 3.2.6.
    fn fixed() -> Self {
        // Two symbols that never occur have codes here too; they determine the codes of the bytes
        // from 144 on.
        let literals: [u8; LITERALS + 2] = std::array::from_fn(|symbol| match symbol {
            0..144 => 8,
            144..256 => 9,
            256..280 => 7,
            _ => 8,
        });
        let literals = PrefixCode::of_lengths(literals);
        let distances = PrefixCode::of_lengths([5; DISTANCES]);
        Self { literals: literals.first(), distances }
    }

    fn of(counts: &Counts) -> Self {
        Self {
            literals: PrefixCode::for_counts(&counts.literals, CODE_BITS),
            distances: PrefixCode::for_counts(&counts.distances, CODE_BITS),
        }
    }

    /// Size of a block with these codes in bits, without its header.
    fn cost(&self, counts: &Counts) -> u64 {
        let cost = |count: &u32, code: &u8, extra: u8| u64::from(*count) * u64::from(code + extra);
        let literals = counts.literals.iter().zip(&self.literals.lengths).enumerate();
        let distances = counts.distances.iter().zip(&self.distances.lengths).enumerate();
        let literals = literals.map(|(symbol, (count, code))| {
            cost(count, code, if symbol < FIRST_LENGTH { 0 } else { extra_of_length(symbol) })
        });
        let distances = distances.map(|(symbol, (count, code))| cost(count, code, extra_of_distance(symbol)));
        literals.sum::<u64>() + distances.sum::<u64>()
    }
}

/// Writes a block, given as items, in the cheapest of the three forms.
pub(super) fn write(bytes: &[u8], items: &Items, is_last: bool, fixed: &Table, output: &mut Output<'_>) {
    let is_last = u64::from(is_last);
    let stored = 8 * (bytes.len() as u64 + 5);
    if bytes.len() < OWN_CODES_FROM {
        let cost = 3 + fixed.cost(items);
        if cost < stored {
            return output.write(cost, |bits| {
                bits.put(is_last | 1 << 1, 3);
                fixed.write(items, bits);
            });
        }
    } else {
        let counts = items.counts();
        let codes = Codes::of(&counts);
        let head = Head::of(&codes);
        let cost = 3 + head.cost() + codes.cost(&counts);
        if cost < stored {
            return output.write(cost, |bits| {
                bits.put(is_last | 2 << 1, 3);
                head.write(bits);
                Table::of(&codes).write(items, bits);
            });
        }
    }
    output.write(stored, |bits| {
        bits.put(is_last, 3);
        bits.fill_byte();
        let length = bytes.len() as u64;
        bits.put(length | (length ^ 0xffff) << 16, 32);
        bits.room[bits.at..][..bytes.len()].copy_from_slice(bytes);
        bits.at += bytes.len();
    });
}

/// The code and extra bits of each kind of item, for one table lookup per item.
#[derive(Clone, Debug)]
pub(super) struct Table {
    /// The bits of each kind.
    values: [u32; KINDS],
    /// Their number.
    bits: [u8; KINDS],
    end: (u64, u32),
}

impl Table {
    /// The fixed codes of the standard.
    pub(super) fn fixed() -> Self {
        Self::of(&Codes::fixed())
    }

    fn of(codes: &Codes) -> Self {
        let Codes { literals, distances } = codes;
        let end = (u64::from(literals.codes[END]), u32::from(literals.lengths[END]));
        let mut table = Self { values: [0; KINDS], bits: [0; KINDS], end };
        for byte in 0..LENGTH_ITEMS {
            table.set(byte, u32::from(literals.codes[byte]), literals.lengths[byte]);
        }
        for length in LENGTH_MIN..=LENGTH_MAX {
            let (symbol, extra, extra_bits) = of_length(length as u16);
            let bits = literals.lengths[symbol];
            let value = u32::from(literals.codes[symbol]) | u32::from(extra) << bits;
            table.set(LENGTH_ITEMS + length - LENGTH_MIN, value, bits + extra_bits);
        }
        for marked in 1..256_u32 {
            let bits = marked.ilog2();
            table.set(BITS_ITEMS + marked as usize, marked ^ 1 << bits, bits as u8);
        }
        for symbol in 0..DISTANCES {
            let (value, bits) = (u32::from(distances.codes[symbol]), distances.lengths[symbol]);
            table.set(DISTANCE_ITEMS + symbol, value, bits);
        }
        table
    }

    fn set(&mut self, item: usize, value: u32, bits: u8) {
        self.values[item] = value;
        self.bits[item] = bits;
    }

    /// Size of a block in bits, without its header.
    fn cost(&self, items: &Items) -> u64 {
        let bits = items.as_slice().iter().map(|item| u64::from(self.look(*item).1));
        bits.sum::<u64>() + u64::from(self.end.1)
    }

    fn write(&self, items: &Items, bits: &mut Bits<'_>) {
        // A local writer stays in registers. With the caller's, the compiler must assume that writing bytes
        // changes its fields.
        let Bits { room, at, waiting, waiting_bits } = bits;
        let mut own = Bits { room, at: *at, waiting: *waiting, waiting_bits: *waiting_bits };
        let (fours, rest) = items.as_slice().as_chunks::<4>();
        for [one, two, three, four] in fours {
            // Joining items in pairs first shortens the chain of dependent operations.
            let (first, first_bits) = joined(self.look(*one), self.look(*two));
            let (second, second_bits) = joined(self.look(*three), self.look(*four));
            own.add(first | second << first_bits, first_bits + second_bits);
            own.flush();
        }
        for item in rest {
            let (value, count) = self.look(*item);
            own.put(value, count);
        }
        own.put(self.end.0, self.end.1);
        (*at, *waiting, *waiting_bits) = (own.at, own.waiting, own.waiting_bits);
    }

    #[inline(always)]
    fn look(&self, item: u16) -> (u64, u32) {
        let item = usize::from(item) % KINDS;
        (u64::from(self.values[item]), u32::from(self.bits[item]))
    }
}

/// Joins two groups of bits. Each has its number of bits.
#[inline(always)]
fn joined((first, first_bits): (u64, u32), (second, second_bits): (u64, u32)) -> (u64, u32) {
    (first | second << first_bits, first_bits + second_bits)
}

/// The order of the lengths of the code-length codes in a block header.
const LENGTHS_IN_ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
/// Maximum bits of a code-length code.
const LENGTH_CODE_BITS: usize = 7;

/// The header of a block with its own codes: the lengths of all codes, themselves encoded (RFC 1951,
/// section 3.2.7).
struct Head {
    literals: usize,
    distances: usize,
    /// Lengths and repetitions: symbol, extra bits, and number of extra bits.
    symbols: Vec<(u8, u8, u8)>,
    code: PrefixCode<19>,
    lengths: usize,
}

impl Head {
    fn of(codes: &Codes) -> Self {
        let used = |lengths: &[u8], least: usize| {
            lengths.iter().rposition(|length| *length > 0).map_or(least, |last| (last + 1).max(least))
        };
        let literals = used(&codes.literals.lengths, FIRST_LENGTH);
        let distances = used(&codes.distances.lengths, 1);
        let mut all = [0; LITERALS + DISTANCES];
        all[..literals].copy_from_slice(&codes.literals.lengths[..literals]);
        all[literals..literals + distances].copy_from_slice(&codes.distances.lengths[..distances]);
        let symbols = repetitions(&all[..literals + distances]);
        let mut counts = [0; 19];
        symbols.iter().for_each(|(symbol, ..)| counts[usize::from(*symbol)] += 1);
        let code = PrefixCode::for_counts(&counts, LENGTH_CODE_BITS);
        let lengths = LENGTHS_IN_ORDER
            .iter()
            .rposition(|length| code.lengths[*length] > 0)
            .map_or(4, |last| (last + 1).max(4));
        Self { literals, distances, symbols, code, lengths }
    }

    fn cost(&self) -> u64 {
        let symbols = self.symbols.iter();
        let bits =
            symbols.map(|(symbol, _, extra_bits)| self.code.lengths[usize::from(*symbol)] + extra_bits);
        14 + 3 * self.lengths as u64 + bits.map(u64::from).sum::<u64>()
    }

    fn write(&self, bits: &mut Bits<'_>) {
        bits.put((self.literals - FIRST_LENGTH) as u64, 5);
        bits.put((self.distances - 1) as u64, 5);
        bits.put((self.lengths - 4) as u64, 4);
        for length in &LENGTHS_IN_ORDER[..self.lengths] {
            bits.put(u64::from(self.code.lengths[*length]), 3);
        }
        for (symbol, extra, extra_bits) in &self.symbols {
            let symbol = usize::from(*symbol);
            bits.add(u64::from(self.code.codes[symbol]), u32::from(self.code.lengths[symbol]));
            bits.put(u64::from(*extra), u32::from(*extra_bits));
        }
    }
}

/// Run-length encodes code lengths.
fn repetitions(lengths: &[u8]) -> Vec<(u8, u8, u8)> {
    let mut symbols = Vec::with_capacity(lengths.len());
    for run in lengths.chunk_by(|one, other| one == other) {
        let (length, mut left) = (run[0], run.len());
        if length != 0 {
            symbols.push((length, 0, 0));
            left -= 1;
        }
        while left >= 3 {
            let (symbol, least, most, extra_bits) = match (length, left) {
                (0, 11..) => (18, 11, 138, 7),
                (0, _) => (17, 3, 10, 3),
                _ => (16, 3, 6, 2),
            };
            let told = left.min(most);
            symbols.push((symbol, (told - least) as u8, extra_bits));
            left -= told;
        }
        symbols.extend(std::iter::repeat_n((length, 0, 0), left));
    }
    symbols
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_are_told_in_short() {
        assert_eq!(
            repetitions(&[5, 5, 5, 5, 5, 5, 5, 5, 0, 0]),
            [(5, 0, 0), (16, 3, 2), (5, 0, 0), (0, 0, 0), (0, 0, 0)]
        );
        assert_eq!(repetitions(&[0; 11]), [(18, 0, 7)]);
        assert_eq!(repetitions(&[0; 10]), [(17, 7, 3)]);
        assert_eq!(repetitions(&[0; 140]), [(18, 127, 7), (0, 0, 0), (0, 0, 0)]);
    }
}
