//! The symbols of RFC 1951, section 3.2.5: bytes, the end of a block, lengths and distances of copies.
//!
//! # Promises
//! - The symbol of a length or distance and its extra bits give that length or distance back.

/// Symbols of bytes (0 to 255), of the end (256) and of lengths.
pub(super) const LITERALS: usize = 286;
/// Symbols of distances.
pub(super) const DISTANCES: usize = 30;
/// The symbol that ends a block.
pub(super) const END: usize = 256;
/// The symbol of the shortest lengths.
pub(super) const FIRST_LENGTH: usize = 257;
/// The shortest copy that the format allows.
pub(super) const LENGTH_MIN: usize = 3;
/// The longest copy.
pub(super) const LENGTH_MAX: usize = 258;
/// The farthest copy.
pub(super) const DISTANCE_MAX: usize = 32_768;

/// Kinds of lengths.
const LENGTHS: usize = LITERALS - FIRST_LENGTH;

/// The shortest length of each kind.
const LENGTH_BASE: [u16; LENGTHS] = [
    3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195,
    227, 258,
];

/// Bits that tell the lengths of a kind apart.
const LENGTH_EXTRA: [u8; LENGTHS] =
    [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];

/// The kind of each length.
const LENGTH_KIND: [u8; LENGTH_MAX + 1] = {
    let mut kinds = [0; LENGTH_MAX + 1];
    let mut kind = 0;
    while kind < LENGTHS {
        let mut length = LENGTH_BASE[kind] as usize;
        // The longest length has a kind of its own, although the one before could say it.
        while length <= LENGTH_MAX {
            kinds[length] = kind as u8;
            length += 1;
        }
        kind += 1;
    }
    kinds
};

/// The symbol of a length, its extra bits, and how many these are.
pub(super) fn of_length(length: u16) -> (usize, u16, u8) {
    let kind = usize::from(LENGTH_KIND[usize::from(length)]);
    (FIRST_LENGTH + kind, length - LENGTH_BASE[kind], LENGTH_EXTRA[kind])
}

/// How many extra bits follow a symbol of a length.
pub(super) fn extra_of_length(symbol: usize) -> u8 {
    LENGTH_EXTRA[symbol - FIRST_LENGTH]
}

/// The symbol of a distance, its extra bits, and how many these are.
#[inline]
pub(super) fn of_distance(distance: u16) -> (usize, u16, u8) {
    let before = distance - 1;
    // Two symbols for each power of two: the highest bit tells the power, the next one which of the two. The nearest four have one each.
    let extra = 14 - (before | 2).leading_zeros();
    let symbol = 2 * extra + u32::from(before >> extra);
    (symbol as usize, before & ((1 << extra) - 1), extra as u8)
}

/// How many extra bits follow a symbol of a distance.
pub(super) fn extra_of_distance(symbol: usize) -> u8 {
    (symbol as u8 / 2).saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of the standard, spelled out.
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
