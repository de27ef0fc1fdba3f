//! A 16-bit floating-point format for non-negative numbers: 6 bits of exponent, 10 of fraction.
//!
//! # Promises
//! - From 2^-32 up to 2^30 the relative error is at most one part in two thousand. Smaller numbers become
//!   zero, larger ones the maximum.
//! - Encoding a decoded number loses nothing further.

/// Bits of the fraction that are dropped.
const DROPPED: u32 = 13;
/// Lowers the exponent of a 32-bit float, in place: 2^-33 would be zero.
const BIAS: u32 = 94 << 10;

/// A non-negative number in 16 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Compact(u16);

impl Compact {
    /// Encodes a number. Negative numbers become zero.
    pub(super) fn new(number: f32) -> Self {
        if number.is_nan() || number <= 0.0 {
            return Self(0);
        }
        // Adds half of the last place that is kept, so that the number is rounded.
        let rounded = number.to_bits().saturating_add(1 << (DROPPED - 1)) >> DROPPED;
        let code = rounded.saturating_sub(BIAS);
        Self(if code < 1 << 10 { 0 } else { u16::try_from(code).unwrap_or(u16::MAX) })
    }

    /// The number.
    #[inline]
    pub(super) fn get(self) -> f32 {
        if self.0 == 0 { 0.0 } else { f32::from_bits((u32::from(self.0) + BIAS) << DROPPED) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_ends_are_zero_and_the_top() {
        let kept = |number: f32| Compact::new(number).get();
        assert_eq!([0.0, -1.0, 1e-12, f32::NAN].map(kept), [0.0; 4]);
        assert_eq!([0.5, 1.0, 3.0, 1024.0].map(kept), [0.5, 1.0, 3.0, 1024.0]);
        assert!(kept(f32::MAX) == kept(f32::INFINITY) && kept(f32::MAX) > 1e9);
        assert_eq!(kept(2f32.powi(-32)), 2f32.powi(-32));
    }

    proptest! {
        #[test]
        fn a_number_keeps_three_digits_and_is_kept_again_as_it_is(number in 1e-9f32..1e9) {
            let kept = Compact::new(number).get();
            prop_assert!((kept / number - 1.0).abs() <= 1.0 / 2048.0, "{} {}", number, kept);
            prop_assert_eq!(Compact::new(kept).get(), kept);
        }
    }
}
