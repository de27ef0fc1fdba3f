//! Fast single-precision `ln` and `exp`, short enough to be inlined.
//!
//! Scoring a page takes a dozen of them, and library calls would cost more than their extra digits are worth.
//!
//! > ln x = e ln 2 + 2 artanh s, s = (m − 1)/(m + 1), for x = 2^e m with m from √½ to √2
//! > e^x = 2^n e^r, n = x/ln 2 rounded, r from −½ ln 2 to ½ ln 2
//!
//! The series of artanh and of e^r are cut off at single precision.
//!
//! # Promises
//! - Exponentials have a relative error below 1e-6 from −87 to 88; arguments beyond are clamped. Logarithms
//!   of positive normal numbers have a relative error below 1e-6, or an absolute one below 1e-7 where the
//!   logarithm is near zero.

use std::f32::consts::{LN_2, LOG2_E};

/// Bits of √½ in single precision: mantissas are taken from √½ to √2.
const SQRT_HALF: u32 = 0x3f35_04f3;
/// Bits of the fraction in single and in double precision.
const FRACTION: u32 = 23;
const FRACTION_DOUBLE: u32 = 52;
/// Added to a small number to round it to an integer, which then stands in the lowest bits.
const ROUNDING: f32 = 12_582_912.0;
/// ln 2 in two parts. The first times any exponent is exact.
const LN_2_HIGH: f32 = 0.693_359_4;
const LN_2_LOW: f32 = -2.121_944_4e-4;
/// Range of arguments of the exponential.
const EXP_RANGE: (f32, f32) = (-87.0, 88.0);

/// The natural logarithm of a positive number.
#[inline]
pub(super) fn ln(number: f32) -> f32 {
    debug_assert!(number >= f32::MIN_POSITIVE);
    let bits = number.to_bits();
    let exponent = bits.wrapping_sub(SQRT_HALF) as i32 >> FRACTION;
    ln_of_parts(exponent, f32::from_bits(bits.wrapping_sub((exponent as u32) << FRACTION)))
}

/// The natural logarithm of a positive double, which may be smaller than the single-precision range.
#[inline]
pub(super) fn ln_of_double(number: f64) -> f32 {
    debug_assert!(number >= f64::MIN_POSITIVE);
    let bits = number.to_bits();
    let top = (bits >> (FRACTION_DOUBLE - FRACTION)) as u32;
    // The fraction as a number from 1 to 2, which `ln` splits again.
    let mantissa = f32::from_bits(top & ((1 << FRACTION) - 1) | 1f32.to_bits());
    let exponent = (bits >> FRACTION_DOUBLE) as i32 - 1023;
    exponent as f32 * LN_2 + ln(mantissa)
}

#[inline]
fn ln_of_parts(exponent: i32, mantissa: f32) -> f32 {
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let square = s * s;
    let series = (2.0 + square * (2.0 / 3.0)) + (square * square) * (2.0 / 5.0 + square * (2.0 / 7.0));
    exponent as f32 * LN_2 + s * series
}

/// The exponential.
#[inline]
pub(super) fn exp(number: f32) -> f32 {
    let number = number.clamp(EXP_RANGE.0, EXP_RANGE.1);
    let rounded = number * LOG2_E + ROUNDING;
    let power = rounded - ROUNDING;
    let r = number - power * LN_2_HIGH - power * LN_2_LOW;
    // Summed in pairs that do not wait for each other.
    let square = r * r;
    let series = (1.0 + r)
        + square * (0.5 + r * (1.0 / 6.0))
        + (square * square) * ((1.0 / 24.0 + r * (1.0 / 120.0)) + square * (1.0 / 720.0));
    let exponent = rounded.to_bits().wrapping_sub(ROUNDING.to_bits());
    f32::from_bits(series.to_bits().wrapping_add(exponent << FRACTION))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check_ln(number: f64, computed: f32) {
        let error = (f64::from(computed) - number.ln()).abs();
        assert!(error < 1e-7_f64.max(1e-6 * number.ln().abs()), "{number}: {computed}");
    }

    #[test]
    fn the_ends_are_right() {
        assert_eq!((ln(1.0), exp(0.0), ln_of_double(1.0)), (0.0, 1.0, 0.0));
        for number in [f32::MIN_POSITIVE, 0.999_999_9, 1.000_000_1, f32::MAX] {
            check_ln(f64::from(number), ln(number));
        }
        check_ln(2f64.powi(-132), ln_of_double(2f64.powi(-132)));
        assert!(exp(-1e9) < 1e-37 && exp(f32::NEG_INFINITY) < 1e-37);
        assert!(exp(1e9) > 1e38 && exp(1e9).is_finite());
    }

    proptest! {
        #[test]
        fn logarithms_have_six_digits(power in -80.0f64..80.0) {
            let number = power.exp();
            check_ln(f64::from(number as f32), ln(number as f32));
            check_ln(number, ln_of_double(number));
        }

        #[test]
        fn logarithms_near_one_have_six_digits(number in 0.7f32..1.5) {
            check_ln(f64::from(number), ln(number));
        }

        #[test]
        fn exponentials_have_six_digits(number in -87.0f32..88.0) {
            let exact = f64::from(number).exp();
            prop_assert!((f64::from(exp(number)) / exact - 1.0).abs() < 1e-6, "{number} {exact}");
        }
    }
}
