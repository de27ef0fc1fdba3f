//! Compares an old content summary with the current one: recall, precision and KL divergence.
//!
//! **summary**, section 3.2, with Wo and Wc the words of the old and of the current summary
//! and W the words they share:
//!
//! > ur = |W|/|Wc|,  wr = Σ over W of fc / Σ over Wc of fc
//! >
//! > up = |W|/|Wo|,  wp = Σ over W of fo / Σ over Wo of fo
//! >
//! > KL = Σ over W of pc ln(pc/po), both p normalised over W
//!
//! # Promises
//! - Recall and precision lie within [0, 1] and are one for equal summaries; swapping old
//!   and current exchanges them.
//! - The divergence is never negative, not even by rounding, and zero when frequencies are proportional.
//! - A measure with no words to divide by is undefined (`None`); so is the divergence without a common word.
//! - [`compare_columns`] gives the same result as [`compare`], to 1e-12.
//!
//! # Departures
//! The logarithm is the natural one, in nats; the text writes log and speaks of bits.
//! [`Comparison::divergence_bits`] gives bits. A threshold means different things under the two.

use super::document_frequencies::DocumentFrequencies;

/// Result of comparing an old summary with the current one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// ur: the share of the current words that the old summary has. `None` without current words.
    pub recall: Option<f64>,
    /// wr: the same, each word weighted by its current frequency.
    pub weighted_recall: Option<f64>,
    /// up: the share of the old words that the current summary still has. `None` without old words.
    pub precision: Option<f64>,
    /// wp: the same, each word weighted by its old frequency.
    pub weighted_precision: Option<f64>,
    /// KL: the divergence of the old from the current summary over their common words, in
    /// nats. `None` without one.
    pub divergence: Option<f64>,
}

impl Comparison {
    /// The divergence in bits.
    pub fn divergence_bits(&self) -> Option<f64> {
        self.divergence.map(|nats| nats / std::f64::consts::LN_2)
    }
}

/// Compares an old summary with the current one.
pub fn compare(old: &DocumentFrequencies, current: &DocumentFrequencies) -> Comparison {
    let common: Vec<(f64, f64)> = old
        .words()
        .map(|(word, frequency)| (frequency, current.frequency(word)))
        .filter(|(_, current)| *current > 0.0)
        .collect();
    Comparison {
        recall: share(common.len() as f64, current.words().count() as f64),
        weighted_recall: weighted_share(common.iter().map(|(_, current)| *current), current),
        precision: share(common.len() as f64, old.words().count() as f64),
        weighted_precision: weighted_share(common.iter().map(|(old, _)| *old), old),
        divergence: (!common.is_empty()).then(|| divergence(&common)),
    }
}

/// Compares summaries given as columns over the same words, with zero where a summary does not have a word.
/// Many times faster than [`compare`], for frequencies no larger than counts.
///
/// Panics if the lengths differ.
pub fn compare_columns<F: Copy + Into<f64>>(old: &[F], current: &[F]) -> Comparison {
    assert_eq!(old.len(), current.len());
    let (mut old_words, mut current_words, mut common) = (0u64, 0u64, 0u64);
    let (mut old_sum, mut current_sum, mut old_common, mut current_common) = (0.0, 0.0, 0.0, 0.0);
    let mut logarithms = 0.0;
    for (old, current) in old.iter().zip(current) {
        let (before, after): (f64, f64) = ((*old).into(), (*current).into());
        old_words += u64::from(before > 0.0);
        current_words += u64::from(after > 0.0);
        old_sum += before;
        current_sum += after;
        if before > 0.0 && after > 0.0 {
            common += 1;
            old_common += before;
            current_common += after;
            // Most words of two summaries of one database keep their frequency.
            if before != after {
                logarithms += after * (after / before).ln();
            }
        }
    }
    let divergence = || (logarithms / current_common + (old_common / current_common).ln()).max(0.0);
    Comparison {
        recall: share(common as f64, current_words as f64),
        weighted_recall: share(current_common, current_sum),
        precision: share(common as f64, old_words as f64),
        weighted_precision: share(old_common, old_sum),
        divergence: (common > 0).then(divergence),
    }
}

fn share(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| (part / whole).min(1.0))
}

/// The frequencies of some words as a share of those of all words.
fn weighted_share(part: impl Iterator<Item = f64>, summary: &DocumentFrequencies) -> Option<f64> {
    let unit = unit(summary.words().map(|(_, frequency)| frequency));
    // Starts from 0.0: the sum of an empty iterator is −0.0.
    let part = part.map(|frequency| frequency / unit).fold(0.0, |sum, part| sum + part);
    share(part, summary.words().map(|(_, frequency)| frequency / unit).sum())
}

/// Σ pc ln(pc/po) over pairs of frequencies (old, current), all above zero.
fn divergence(common: &[(f64, f64)]) -> f64 {
    let old_unit = unit(common.iter().map(|(old, _)| *old));
    let current_unit = unit(common.iter().map(|(_, current)| *current));
    let old_sum: f64 = common.iter().map(|(old, _)| old / old_unit).sum();
    let current_sum: f64 = common.iter().map(|(_, current)| current / current_unit).sum();
    let term = |&(old, current): &(f64, f64)| {
        let (old_part, current_part) = (old / old_unit, current / current_unit);
        let old_share = old_part / old_sum;
        let difference =
            difference_of_products(current_part, old_sum, old_part, current_sum) / (old_sum * current_sum);
        if difference.abs() < 0.01 * old_share {
            // (1 + x) ln(1 + x) − x = x²/2 − x³/6 + x⁴/12 − …
            let x = difference / old_share;
            return old_share * x * x * horner(x);
        }
        // Computed in logarithms, because a share may be too small for a double.
        let old_log = old.ln() - old_unit.ln() - old_sum.ln();
        let current_log = current.ln() - current_unit.ln() - current_sum.ln();
        (current_part / current_sum * (current_log - old_log) - difference).max(0.0)
    };
    // pc ln(pc/po) − pc + po is never negative, and has the same sum because both shares add up to one.
    common.iter().map(term).sum()
}

/// A power of two near the largest value. In units of it no sum overflows, and no whole number loses a digit.
fn unit(values: impl Iterator<Item = f64>) -> f64 {
    const EXPONENT: u64 = 0x7ff0_0000_0000_0000;
    let largest = values.fold(f64::MIN_POSITIVE, f64::max);
    f64::from_bits(largest.to_bits() & EXPONENT)
}

/// ab − cd, with the digits that the difference of rounded products would lose.
fn difference_of_products(a: f64, b: f64, c: f64, d: f64) -> f64 {
    let product = c * d;
    a.mul_add(b, -product) - c.mul_add(d, -product)
}

/// Σ over k ≥ 0 of (−x)^k / ((k + 1)(k + 2)): for |x| ≤ 0.01 eight terms are exact.
fn horner(x: f64) -> f64 {
    (0..8u8).rev().fold(0.0, |sum, k| 1.0 / (f64::from(k + 1) * f64::from(k + 2)) - x * sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn summary(frequencies: &[(&str, f64)]) -> DocumentFrequencies {
        DocumentFrequencies::from_frequencies(
            0.0,
            frequencies.iter().map(|(word, f)| ((*word).to_owned(), *f)),
        )
    }

    #[track_caller]
    fn check(old: &[(&str, f64)], current: &[(&str, f64)], expected: [Option<f64>; 5]) {
        let got = compare(&summary(old), &summary(current));
        let got = [got.recall, got.weighted_recall, got.precision, got.weighted_precision, got.divergence];
        for (got, expected) in got.iter().zip(expected) {
            let near =
                got.zip(expected).is_none_or(|(got, expected)| (got - expected).abs() <= 1e-12 * expected);
            assert!(near && got.is_some() == expected.is_some(), "{got:?} is not {expected:?}");
            assert!(got.is_none_or(f64::is_sign_positive), "{got:?}");
        }
    }

    #[test]
    fn the_two_databases_of_table_1_are_far_apart() {
        let old = [("algorithm", 7210.0), ("cassini", 5.0), ("saturn", 2.0)];
        let current = [("algorithm", 2.0), ("cassini", 3260.0), ("saturn", 3730.0)];
        check(&old, &current, [Some(1.0), Some(1.0), Some(1.0), Some(1.0), Some(7.068_179_585_935_997)]);
        let bits = compare(&summary(&old), &summary(&current)).divergence_bits().expect("words are common");
        assert!((bits - 10.197_227_636_742_47).abs() < 1e-12);
    }

    #[test]
    fn only_common_words_count_in_the_divergence() {
        check(
            &[("a", 4.0), ("b", 1.0), ("x", 5.0)],
            &[("a", 2.0), ("b", 2.0), ("c", 6.0)],
            [Some(2.0 / 3.0), Some(0.4), Some(2.0 / 3.0), Some(0.5), Some(0.223_143_551_314_209_76)],
        );
    }

    #[test]
    fn what_has_no_words_is_not_defined() {
        check(&[], &[], [None; 5]);
        check(&[], &[("a", 1.0)], [Some(0.0), Some(0.0), None, None, None]);
        check(&[("a", 1.0)], &[("b", 1.0)], [Some(0.0), Some(0.0), Some(0.0), Some(0.0), None]);
    }

    #[test]
    fn extreme_frequencies_neither_overflow_nor_vanish() {
        check(
            &[("a", 1e308), ("b", 1e308), ("c", 1e308)],
            &[("a", 1e-308), ("b", 1e-308), ("d", 1e-308)],
            [Some(2.0 / 3.0), Some(2.0 / 3.0), Some(2.0 / 3.0), Some(2.0 / 3.0), Some(0.0)],
        );
        // Computed with 60 digits: nearly equal frequencies leave a small divergence with all its digits.
        check(
            &[("a", 1_000_000_000.0), ("b", 1_000_000_000.0)],
            &[("a", 1_000_000_001.0), ("b", 1_000_000_000.0)],
            [Some(1.0), Some(1.0), Some(1.0), Some(1.0), Some(1.249_999_998_75e-19)],
        );
    }

    proptest! {
        #[test]
        fn old_and_current_turned_around_exchange_recall_and_precision(
            words in prop::collection::vec((0u16..50, 0u16..50), 0..20),
        ) {
            let side = |pick: fn(&(u16, u16)) -> u16| DocumentFrequencies::from_frequencies(
                0.0,
                words.iter().enumerate().map(|(i, pair)| (i.to_string(), f64::from(pick(pair)))),
            );
            let (old, current) = (side(|pair| pair.0), side(|pair| pair.1));
            let (there, back) = (compare(&old, &current), compare(&current, &old));
            prop_assert_eq!(there.recall, back.precision);
            prop_assert_eq!(there.weighted_recall, back.weighted_precision);
            prop_assert!(there.divergence.is_none_or(|divergence| divergence >= 0.0));
            for part in [there.recall, there.weighted_recall, there.precision, there.weighted_precision] {
                prop_assert!(part.is_none_or(|part| (0.0..=1.0).contains(&part)));
            }
            prop_assert!(compare(&old, &old).divergence.is_none_or(|divergence| divergence == 0.0));
        }

        #[test]
        fn columns_compare_as_summaries_do(words in prop::collection::vec((0u16..50, 0u16..50), 0..20)) {
            let column =
                |pick: fn(&(u16, u16)) -> u16| words.iter().map(pick).map(f64::from).collect::<Vec<f64>>();
            let (old, current) = (column(|pair| pair.0), column(|pair| pair.1));
            let summary = |column: &[f64]| DocumentFrequencies::from_frequencies(
                0.0,
                column.iter().enumerate().map(|(i, frequency)| (i.to_string(), *frequency)),
            );
            let (fast, careful) =
                (compare_columns(&old, &current), compare(&summary(&old), &summary(&current)));
            let parts = |c: Comparison| [
                c.recall, c.weighted_recall, c.precision, c.weighted_precision, c.divergence
            ];
            for (fast, careful) in parts(fast).into_iter().zip(parts(careful)) {
                prop_assert_eq!(fast.is_some(), careful.is_some());
                prop_assert!(fast.zip(careful).is_none_or(|(fast, careful)| (fast - careful).abs() < 1e-12));
            }
        }
    }
}
