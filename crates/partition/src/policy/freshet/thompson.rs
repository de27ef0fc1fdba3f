//! Seeded random draws: the Thompson factor of a page in a cycle.
//!
//! A page whose rate is uncertain should sometimes be tried. Its exposure is multiplied by a draw from
//! Gamma(4, 1/4), mean one. The draw depends on seed, page and cycle alone, so it is the same in all batches
//! and in every replay.

use super::logarithms::{exp, ln_of_double};

/// A draw from Gamma(4, 1/4): the mean of four exponentials.
#[inline]
pub(super) fn factor(seed: u64, page: u32, cycle: u32) -> f32 {
    -0.25 * ln_of_double(product(seed, page, cycle))
}

/// The product of four uniform numbers behind a draw; its logarithm is −4 times the draw.
#[inline]
pub(super) fn product(seed: u64, page: u32, cycle: u32) -> f64 {
    let first = mix(seed ^ (u64::from(cycle) << 32 | u64::from(page)));
    let second = mix(first);
    // Four uniforms of 32 bits, none of them zero.
    let uniform = |bits: u64| (f64::from(bits as u32) + 0.5) / 4_294_967_296.0;
    (uniform(first) * uniform(first >> 32)) * (uniform(second) * uniform(second >> 32))
}

/// The largest product whose draw is at least `factor`.
#[inline]
pub(super) fn product_max(factor: f32) -> f64 {
    f64::from(exp(-4.0 * factor))
}

/// A number in [0, 1) that breaks ties between pages with equal index.
#[inline]
pub(super) fn tie_break(seed: u64, page: u32, cycle: u32) -> f32 {
    (mix(seed.rotate_left(17) ^ (u64::from(page) << 32 | u64::from(cycle))) >> 40) as f32 / 16_777_216.0
}

/// The finaliser of SplitMix64: every bit of the output depends on every bit of the input.
#[inline]
fn mix(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_factor_has_mean_one_and_variance_a_quarter() {
        let draws: Vec<f64> = (0..200_000).map(|page| f64::from(factor(7, page, 3))).collect();
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        let variance = draws.iter().map(|draw| (draw - mean).powi(2)).sum::<f64>() / draws.len() as f64;
        assert!((mean - 1.0).abs() < 0.005, "{mean}");
        assert!((variance - 0.25).abs() < 0.005, "{variance}");
    }

    #[test]
    fn a_draw_reaches_a_factor_when_its_product_is_small_enough() {
        for page in 0..1000 {
            for least in [0.3, 1.0, 2.5] {
                let reaches = product(7, page, 3) <= product_max(least);
                assert!(reaches == (factor(7, page, 3) >= least), "{page} {least}");
            }
        }
    }

    #[test]
    fn the_same_seed_draws_the_same() {
        assert_eq!(factor(1, 2, 3), factor(1, 2, 3));
        assert_ne!(factor(1, 2, 3), factor(2, 2, 3));
        assert_ne!(factor(1, 2, 3), factor(1, 2, 4));
    }
}
