//! One block of DEFLATE: with codes of its own, with the fixed codes of the standard, or stored as it is (RFC 1951, section 3.2.3).
//!
//! # Promises
//! - A block is never larger than the stored bytes and five more.
//! - It is written in one go: how many bits it takes is known before.

use super::copies::Found;
use super::prefix_code::PrefixCode;
use super::symbols::{
    DISTANCES, END, FIRST_LENGTH, LENGTH_MAX, LITERALS, extra_of_distance, extra_of_length, of_distance,
    of_length,
};

/// Bits of the longest code: four bytes, or a copy, then fit between two flushes of 64 bits.
const CODE_BITS: usize = 12;
/// The most bytes of a block: those that can be stored.
pub(super) const BLOCK_BYTES_MAX: usize = 65_535;
/// Blocks of fewer bytes have the fixed codes: codes of their own would cost what they save.
const OWN_CODES_FROM: usize = 1_000;

/// Bytes that are being written, bit by bit.
#[derive(Debug)]
pub(super) struct Output<'a> {
    bytes: &'a mut Vec<u8>,
    /// Bits that do not fill a byte yet, and how many they are.
    waiting: (u64, u32),
}

impl<'a> Output<'a> {
    /// Bits that are appended to some bytes.
    pub(super) fn new(bytes: &'a mut Vec<u8>) -> Self {
        Self { bytes, waiting: (0, 0) }
    }

    /// Fills up the last byte.
    pub(super) fn end(mut self) {
        self.write(0, |bits| {
            bits.fill_byte();
        });
    }

    /// Writes so many bits at most.
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

/// Bits on their way into room that is large enough for them.
struct Bits<'a> {
    room: &'a mut [u8],
    at: usize,
    waiting: u64,
    waiting_bits: u32,
}

impl Bits<'_> {
    /// Adds bits, at most 56 until the next flush.
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

/// The codes of bytes, lengths and distances.
#[derive(Clone, Debug)]
pub(super) struct Codes {
    literals: PrefixCode<LITERALS>,
    distances: PrefixCode<DISTANCES>,
}

impl Codes {
    /// The fixed codes of the standard, section 3.2.6.
    pub(super) fn fixed() -> Self {
        // Two symbols that never occur have codes here too, and with them the bytes from 144 on have theirs.
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

    fn of(found: &Found) -> Self {
        Self {
            literals: PrefixCode::for_counts(&found.literals, CODE_BITS),
            distances: PrefixCode::for_counts(&found.distances, CODE_BITS),
        }
    }

    /// Bits that a block takes with these codes, without its head.
    fn cost(&self, found: &Found) -> u64 {
        let cost = |count: &u32, code: &u8, extra: u8| u64::from(*count) * u64::from(code + extra);
        let literals = found.literals.iter().zip(&self.literals.lengths).enumerate();
        let distances = found.distances.iter().zip(&self.distances.lengths).enumerate();
        let literals = literals.map(|(symbol, (count, code))| {
            cost(count, code, if symbol < FIRST_LENGTH { 0 } else { extra_of_length(symbol) })
        });
        let distances = distances.map(|(symbol, (count, code))| cost(count, code, extra_of_distance(symbol)));
        literals.sum::<u64>() + distances.sum::<u64>()
    }
}

/// Writes a block that was put together so, in the cheapest way.
pub(super) fn write(bytes: &[u8], found: &Found, is_last: bool, fixed: &Codes, output: &mut Output<'_>) {
    let is_last = u64::from(is_last);
    let stored = 8 * (bytes.len() as u64 + 5);
    if bytes.len() < OWN_CODES_FROM {
        let cost = 3 + fixed.cost(found);
        if cost < stored {
            return output.write(cost, |bits| {
                bits.put(is_last | 1 << 1, 3);
                write_symbols(bytes, found, fixed, bits);
            });
        }
    } else {
        let codes = Codes::of(found);
        let head = Head::of(&codes);
        let cost = 3 + head.cost() + codes.cost(found);
        if cost < stored {
            return output.write(cost, |bits| {
                bits.put(is_last | 2 << 1, 3);
                head.write(bits);
                write_symbols(bytes, found, &codes, bits);
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

fn write_symbols(bytes: &[u8], found: &Found, codes: &Codes, bits: &mut Bits<'_>) {
    // What stands for a byte or a length in one look: its bits, and how many they are in the highest byte.
    let in_one = |code: u32, code_bits: u8| code | u32::from(code_bits) << 24;
    let of_byte: [u32; 256] = std::array::from_fn(|byte| {
        in_one(u32::from(codes.literals.codes[byte]), codes.literals.lengths[byte])
    });
    let of_length: [u32; LENGTH_MAX + 1] = std::array::from_fn(|length| {
        let (symbol, extra, extra_bits) = of_length(length.max(3) as u16);
        let code_bits = codes.literals.lengths[symbol];
        in_one(
            u32::from(codes.literals.codes[symbol]) | u32::from(extra) << code_bits,
            code_bits + extra_bits,
        )
    });
    let mut rest = bytes;
    for step in &found.steps {
        let (literals, after) = rest.split_at(step.literals as usize);
        write_bytes(literals, &of_byte, bits);
        add_both(of_length[usize::from(step.length)], bits);
        let (symbol, extra, extra_bits) = of_distance(step.distance);
        let code_bits = codes.distances.lengths[symbol];
        let code = u64::from(codes.distances.codes[symbol]) | u64::from(extra) << code_bits;
        bits.add(code, u32::from(code_bits + extra_bits));
        bits.flush();
        rest = &after[usize::from(step.length)..];
    }
    write_bytes(rest, &of_byte, bits);
    bits.put(u64::from(codes.literals.codes[END]), u32::from(codes.literals.lengths[END]));
}

#[inline]
fn write_bytes(bytes: &[u8], of_byte: &[u32; 256], bits: &mut Bits<'_>) {
    let (fours, rest) = bytes.as_chunks::<4>();
    for four in fours {
        four.iter().for_each(|byte| add_both(of_byte[usize::from(*byte)], bits));
        bits.flush();
    }
    rest.iter().for_each(|byte| add_both(of_byte[usize::from(*byte)], bits));
    bits.flush();
}

/// Adds bits that come with their number.
#[inline]
fn add_both(code: u32, bits: &mut Bits<'_>) {
    bits.add(u64::from(code & 0xff_ffff), code >> 24);
}

/// The order in which the lengths of the codes of lengths stand.
const LENGTHS_IN_ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
/// Bits of the longest code of a length.
const LENGTH_CODE_BITS: usize = 7;

/// The codes of a block as its head tells them: the lengths of all codes, in codes (RFC 1951, section 3.2.7).
struct Head {
    literals: usize,
    distances: usize,
    /// Lengths and repetitions: a symbol, its extra bits, and how many these are.
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

/// The lengths of codes, with repetitions told in short.
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
