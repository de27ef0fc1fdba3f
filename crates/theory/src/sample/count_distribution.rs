//! Distribution of the number of changed pages in a sample: binomial and hypergeometric, term by term.
//!
//! Both are computed outwards from their most probable count by the ratio of neighbouring terms,
//!
//! > binomial p(x+1)/p(x) = (s − x)ρ / ((x + 1)(1 − ρ)),
//! > hypergeometric p(x+1)/p(x) = (K − x)(s − x) / ((x + 1)(N − K − s + x + 1))
//!
//! and divided by their sum, so that no factorial is needed.
//!
//! # Promises
//! - The probabilities add up to one, and each is exact to ten digits.
//! - Counts less probable than the most probable one by a factor of 1e-24 are left out: a sample of `s` pages
//!   takes on the order of √s terms.

/// Terms below this fraction of the largest one are left out.
const NEGLIGIBLE: f64 = 1e-24;

/// Probabilities of consecutive counts.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CountDistribution {
    first: u64,
    probabilities: Vec<f64>,
}

impl CountDistribution {
    /// The number of changed pages among `sample_size` drawn without replacement from `pages`,
    /// of which `changed` changed.
    ///
    /// Panics if more pages changed or are drawn than there are.
    pub(super) fn hypergeometric(pages: u64, changed: u64, sample_size: u64) -> Self {
        assert!(changed <= pages);
        assert!(sample_size <= pages);
        let unchanged = pages - changed;
        let (low, high) = (sample_size.saturating_sub(unchanged), sample_size.min(changed));
        let mode = u128::from(sample_size + 1) * u128::from(changed + 1) / (u128::from(pages) + 2);
        let ratio = |x: u64| {
            let gain = (changed - x) as f64 * (sample_size - x) as f64;
            gain / ((x + 1) as f64 * (unchanged + x + 1 - sample_size) as f64)
        };
        Self::from_mode(low, (mode as u64).clamp(low, high), high, ratio)
    }

    /// The number of changed pages among `sample_size`, each changed with probability `changed_fraction`.
    ///
    /// Panics unless the fraction lies between zero and one.
    pub(super) fn binomial(sample_size: u64, changed_fraction: f64) -> Self {
        assert!((0.0..=1.0).contains(&changed_fraction));
        if changed_fraction == 1.0 {
            return Self { first: sample_size, probabilities: vec![1.0] };
        }
        let odds = changed_fraction / (1.0 - changed_fraction);
        let mode = ((sample_size + 1) as f64 * changed_fraction) as u64;
        let ratio = |x: u64| (sample_size - x) as f64 / (x + 1) as f64 * odds;
        Self::from_mode(0, mode.min(sample_size), sample_size, ratio)
    }

    /// Computes the terms outwards from the most probable count, within `low..=high`.
    fn from_mode(low: u64, mode: u64, high: u64, ratio: impl Fn(u64) -> f64) -> Self {
        let mut below = Vec::new();
        let mut term = 1.0;
        for x in (low..mode).rev() {
            term /= ratio(x);
            if term < NEGLIGIBLE {
                break;
            }
            below.push(term);
        }
        let first = mode - below.len() as u64;
        let mut probabilities = below;
        probabilities.reverse();
        probabilities.push(1.0);
        let mut term = 1.0;
        for x in mode..high {
            term *= ratio(x);
            if term < NEGLIGIBLE {
                break;
            }
            probabilities.push(term);
        }
        let total: f64 = probabilities.iter().sum();
        probabilities.iter_mut().for_each(|term| *term /= total);
        Self { first, probabilities }
    }

    /// Counts and their probabilities, in rising order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, f64)> + '_ {
        (self.first..).zip(self.probabilities.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(distribution: &CountDistribution, count: u64, expected: f64) {
        let found = distribution.iter().find(|(x, _)| *x == count).map_or(0.0, |(_, p)| p);
        assert!((found / expected - 1.0).abs() < 1e-10, "{found} for {expected}");
    }

    #[test]
    fn terms_agree_with_exact_values() {
        // Computed from binomial coefficients as whole numbers.
        check(&CountDistribution::hypergeometric(100, 70, 10), 7, 0.28116339430253845);
        check(&CountDistribution::hypergeometric(100, 20, 10), 0, 0.09511627243078842);
        check(&CountDistribution::hypergeometric(1_000_000, 300_000, 1000), 300, 0.027534774643522726);
        check(&CountDistribution::binomial(10, 0.7), 7, 0.266827932);
        check(&CountDistribution::binomial(1000, 0.001), 0, 0.36769542477096373);
    }

    #[test]
    fn certain_counts_are_certain() {
        for (distribution, count) in [
            (CountDistribution::binomial(9, 0.0), 0),
            (CountDistribution::binomial(9, 1.0), 9),
            (CountDistribution::binomial(0, 0.5), 0),
            (CountDistribution::hypergeometric(9, 9, 4), 4),
            (CountDistribution::hypergeometric(9, 3, 9), 3),
            (CountDistribution::hypergeometric(0, 0, 0), 0),
        ] {
            assert_eq!(distribution.iter().collect::<Vec<_>>(), [(count, 1.0)]);
        }
    }

    proptest! {
        #[test]
        fn the_mean_is_the_mean(
            pages in 1u64..1 << 53,
            changed in 0.0..=1.0f64,
            sample_size in 0u64..100_000,
        ) {
            let changed = ((pages as f64 * changed) as u64).min(pages);
            let sample_size = sample_size.min(pages);
            let distribution = CountDistribution::hypergeometric(pages, changed, sample_size);
            let mean: f64 = distribution.iter().map(|(x, p)| x as f64 * p).sum();
            let expected = sample_size as f64 * (changed as f64 / pages as f64);
            prop_assert!(
                distribution.probabilities.len() as f64 <= 20.0 + 11.0 * (sample_size as f64).sqrt()
            );
            prop_assert!((mean - expected).abs() <= 1e-9 * expected.max(1e-9), "{mean} for {expected}");
        }
    }
}
