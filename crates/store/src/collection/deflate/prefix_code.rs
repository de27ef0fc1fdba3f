//! A prefix code of limited length (Huffman): the more often a symbol occurs, the shorter its code.
//!
//! The lengths are those of Huffman's tree. If some are too long they are cut, and others are lengthened
//! until all codes fit again; remaining room shortens some. The codes follow from the lengths as RFC 1951,
//! section 3.2.2, says.
//!
//! # Promises
//! - The code is complete: every sequence of bits begins with the code of some symbol. This holds for no
//!   symbol or one as well; the code then has two symbols.
//! - No code is longer than the limit, and every symbol that occurs has one.
//! - Of two symbols that occur, the more frequent one never has the longer code.

/// Maximum bits of a code in DEFLATE.
pub(super) const CODE_BITS_MAX: usize = 15;

/// The codes of `N` symbols.
#[derive(Clone, Debug)]
pub(super) struct PrefixCode<const N: usize> {
    /// Bits of each code; 0 for a symbol that does not occur.
    pub lengths: [u8; N],
    /// The codes, with their first bit lowest.
    pub codes: [u16; N],
}

impl<const N: usize> PrefixCode<N> {
    /// The code for symbols with these frequencies, with at most `longest` bits.
    pub(super) fn for_counts(counts: &[u32; N], longest: usize) -> Self {
        Self::of_lengths(lengths(counts, longest))
    }

    /// The code with these lengths.
    pub(super) fn of_lengths(lengths: [u8; N]) -> Self {
        let mut of_length = [0_u16; CODE_BITS_MAX + 1];
        lengths.iter().filter(|length| **length > 0).for_each(|length| of_length[usize::from(*length)] += 1);
        let mut next = [0_u16; CODE_BITS_MAX + 1];
        for bits in 1..=CODE_BITS_MAX {
            next[bits] = (next[bits - 1] + of_length[bits - 1]) << 1;
        }
        let codes = lengths.map(|length| match usize::from(length) {
            0 => 0,
            bits => {
                next[bits] += 1;
                (next[bits] - 1).reverse_bits() >> (16 - bits)
            }
        });
        Self { lengths, codes }
    }

    /// The same code, restricted to the first symbols.
    pub(super) fn first<const FEWER: usize>(&self) -> PrefixCode<FEWER> {
        PrefixCode {
            lengths: std::array::from_fn(|symbol| self.lengths[symbol]),
            codes: std::array::from_fn(|symbol| self.codes[symbol]),
        }
    }
}

/// A symbol that occurs and its count in one number, ordered by count, so that sorting is fast.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct Occurring(u64);

impl Occurring {
    fn new(symbol: usize, count: u32) -> Self {
        Self(u64::from(count) << 32 | symbol as u64)
    }

    fn symbol(self) -> usize {
        self.0 as u32 as usize
    }

    fn count(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

fn lengths<const N: usize>(counts: &[u32; N], longest: usize) -> [u8; N] {
    let mut lengths = [0; N];
    let mut by_count = [Occurring(0); N];
    let mut occur = 0;
    for (symbol, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        by_count[occur] = Occurring::new(symbol, *count);
        occur += 1;
    }
    let by_count = &mut by_count[..occur];
    by_count.sort_unstable();
    if let [] | [_] = by_count {
        let symbol = by_count.first().map_or(0, |one| one.symbol());
        lengths[symbol] = 1;
        lengths[usize::from(symbol == 0)] = 1;
        return lengths;
    }
    let of_length = fitted(tree_depths::<N>(by_count), longest);
    // The rarest come first and get the longest codes.
    let mut rarest = by_count.iter();
    for bits in (1..=longest).rev() {
        for one in rarest.by_ref().take(of_length[bits] as usize) {
            lengths[one.symbol()] = bits as u8;
        }
    }
    lengths
}

/// The number of symbols at each depth of Huffman's tree; those deeper than the last depth are counted there.
/// Takes the symbols that occur, the rarest first.
fn tree_depths<const N: usize>(by_count: &[Occurring]) -> [u32; 64] {
    // Leaves and inner nodes are two queues, both in the order of their counts.
    let occur = by_count.len();
    let (mut leaf, mut node) = (0, 0);
    let mut counts = [0_u32; N];
    let mut parents = [[0_u16; N]; 2];
    for made in 0..occur - 1 {
        for _ in 0..2 {
            let is_leaf = leaf < occur && (node == made || by_count[leaf].count() <= counts[node]);
            if is_leaf {
                counts[made] += by_count[leaf].count();
                parents[0][leaf] = made as u16;
                leaf += 1;
            } else {
                counts[made] += counts[node];
                parents[1][node] = made as u16;
                node += 1;
            }
        }
    }
    let mut depths = [0; 64];
    let mut depth_of_node = [0_u8; N];
    let below = |depth: u8| (depth + 1).min(63);
    for node in (0..occur - 2).rev() {
        depth_of_node[node] = below(depth_of_node[usize::from(parents[1][node])]);
    }
    for parent in &parents[0][..occur] {
        depths[usize::from(below(depth_of_node[usize::from(*parent)]))] += 1;
    }
    depths
}

/// The number of codes of each length, so that none is longer than `longest` and the code is complete.
fn fitted(depths: [u32; 64], longest: usize) -> [u32; CODE_BITS_MAX + 1] {
    let mut of_length = [0; CODE_BITS_MAX + 1];
    for (depth, count) in depths.iter().enumerate() {
        of_length[depth.min(longest)] += count;
    }
    // The unit is the room of a code of the maximum length: a code one bit shorter takes twice that.
    let room = 1_u32 << longest;
    let mut taken: u32 = (1..=longest).map(|bits| of_length[bits] << (longest - bits)).sum();
    while taken > room {
        let bits =
            (1..longest).rev().find(|bits| of_length[*bits] > 0).expect("some code can be made longer");
        of_length[bits] -= 1;
        of_length[bits + 1] += 1;
        taken -= 1 << (longest - bits - 1);
    }
    while taken < room {
        let fits = |bits: &usize| of_length[*bits] > 0 && taken + (1 << (longest - bits)) <= room;
        let bits = (2..=longest).rev().find(fits).expect("the longest codes fit into any room that is left");
        of_length[bits] -= 1;
        of_length[bits - 1] += 1;
        taken += 1 << (longest - bits);
    }
    of_length
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check<const N: usize>(counts: [u32; N], longest: usize) {
        let code = PrefixCode::for_counts(&counts, longest);
        let room: u32 = code
            .lengths
            .iter()
            .filter(|bits| **bits > 0)
            .map(|bits| 1 << (CODE_BITS_MAX - usize::from(*bits)))
            .sum();
        assert_eq!(room, 1 << CODE_BITS_MAX, "it is complete: {code:?}");
        for (count, bits) in counts.iter().zip(code.lengths) {
            assert!(usize::from(bits) <= longest);
            assert!(*count == 0 || bits > 0);
            for (other, other_bits) in counts.iter().zip(code.lengths) {
                assert!(*other == 0 || count <= other || bits <= other_bits, "{counts:?} {code:?}");
            }
        }
    }

    #[test]
    fn frequent_symbols_have_short_codes() {
        let code = PrefixCode::for_counts(&[1, 2, 4, 8, 0], 15);
        assert_eq!(code.lengths, [3, 3, 2, 1, 0]);
        // 0, 10, 110 and 111, with their first bit lowest.
        assert_eq!(code.codes, [0b011, 0b111, 0b01, 0, 0]);
    }

    #[test]
    fn few_symbols_have_a_complete_code() {
        check([0, 0, 0], 15);
        check([7, 0, 0], 15);
        check([0, 0, 7], 15);
        check([0, 3, 7], 15);
    }

    #[test]
    fn a_tree_that_is_too_deep_is_cut() {
        let mut fibonacci = [1_u32; 40];
        for symbol in 2..40 {
            fibonacci[symbol] = fibonacci[symbol - 1] + fibonacci[symbol - 2];
        }
        for longest in [6, 7, 12, 15] {
            check(fibonacci, longest);
        }
    }

    proptest! {
        #[test]
        fn any_counts_give_a_code(
            counts in prop::array::uniform32(prop_oneof![Just(0_u32), 0..5_u32, 0..60_000_u32]),
            longest in 5..=15_usize,
        ) {
            check(counts, longest);
        }
    }
}
