//! The symbols of RFC 1951, section 3.2.5: bytes, the end of a block, lengths and distances of copies.
//!
//! # Promises
//! - A length or distance can be restored from its symbol and its extra bits.

/// Number of literal symbols: bytes (0 to 255), the end (256) and lengths.
pub(super) const LITERALS: usize = 286;
/// Number of distance symbols.
pub(super) const DISTANCES: usize = 30;
/// The symbol that ends a block.
pub(super) const END: usize = 256;
/// The symbol of the shortest length.
pub(super) const FIRST_LENGTH: usize = 257;
/// Minimum length of a copy in DEFLATE.
pub(super) const LENGTH_MIN: usize = 3;
/// Maximum length of a copy.
pub(super) const LENGTH_MAX: usize = 258;
/// Maximum distance of a copy.
pub(super) const DISTANCE_MAX: usize = 32_768;

/// Number of length symbols.
const LENGTHS: usize = LITERALS - FIRST_LENGTH;

/// The shortest length of each length symbol.
const LENGTH_BASE: [u16; LENGTHS] = [
    3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195,
    227, 258,
];

/// Number of extra bits of each length symbol.
const LENGTH_EXTRA: [u8; LENGTHS] =
    [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];

/// The length symbol of each length, counted from [`FIRST_LENGTH`].
const LENGTH_KIND: [u8; LENGTH_MAX + 1] = {
    let mut kinds = [0; LENGTH_MAX + 1];
    let mut kind = 0;
    while kind < LENGTHS {
        let mut length = LENGTH_BASE[kind] as usize;
        // The longest length has a symbol of its own, although the one before could express it.
        while length <= LENGTH_MAX {
            kinds[length] = kind as u8;
            length += 1;
        }
        kind += 1;
    }
    kinds
};

/// The symbol of a length, its extra bits, and their number.
pub(super) fn of_length(length: u16) -> (usize, u16, u8) {
    let kind = usize::from(LENGTH_KIND[usize::from(length)]);
    (FIRST_LENGTH + kind, length - LENGTH_BASE[kind], LENGTH_EXTRA[kind])
}

/// Number of extra bits of a length symbol.
pub(super) fn extra_of_length(symbol: usize) -> u8 {
    LENGTH_EXTRA[symbol - FIRST_LENGTH]
}

/// The symbol of a distance, its extra bits, and their number.
#[inline]
pub(super) fn of_distance(distance: u16) -> (usize, u16, u8) {
    let before = distance - 1;
    // Two symbols for each power of two: the highest bit selects the power, the next one the symbol. The
    // nearest four distances have one symbol each.
    let extra = 14 - (before | 2).leading_zeros();
    let symbol = 2 * extra + u32::from(before >> extra);
    (symbol as usize, before & ((1 << extra) - 1), extra as u8)
}

/// Number of extra bits of a distance symbol.
pub(super) fn extra_of_distance(symbol: usize) -> u8 {
    (symbol as u8 / 2).saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of the standard, written out.
    const DISTANCE_BASE: [u16; DISTANCES] = [
        1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049,
        3073, 4097, 6145, 8193, 12_289, 16_385, 24_577,
    ];

    #[test]
    fn every_length_comes_back() {
        for length in 3..=LENGTH_MAX as u16 {
            let (symbol, bits, count) = of_length(length);
            assert_eq!(LENGTH_BASE[symbol - FIRST_LENGTH] + bits, length);
            assert!(bits < 1 << count && count == extra_of_length(symbol), "{length}");
        }
        assert_eq!(of_length(LENGTH_MAX as u16), (285, 0, 0));
    }

    #[test]
    fn every_distance_comes_back() {
        for distance in 1..=DISTANCE_MAX as u16 {
            let (symbol, bits, count) = of_distance(distance);
            assert_eq!(DISTANCE_BASE[symbol] + bits, distance);
            assert!(bits < 1 << count && count == extra_of_distance(symbol), "{distance}");
        }
    }
}
