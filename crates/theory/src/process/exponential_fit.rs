//! Tests whether observed intervals between changes look like those of a Poisson process.
//!
//! Implements the thesis, section 4.6: under Lemma 4.1 the intervals of pages with the same rate are
//! exponential. The text plots the fraction of intervals of each length against λe^-λt (Figure 4.6) and
//! judges by eye. [`interval_histogram`] gives the numbers of that plot, and [`test_exponential`] is a
//! test: that of Anderson and Darling with the mean taken from the sample. With `x₁ ≤ … ≤ xₙ` the
//! intervals divided by their mean:
//!
//! > A² = −n − (1/n) Σ (2i − 1) (ln(1 − e^-xᵢ) − xₙ₊₁₋ᵢ),  A* = A² (1 + 0.6/n)
//!
//! Up to 2.5, the p-value of A* is the approximation of D'Agostino and Stephens, *Goodness-of-fit
//! techniques* (1986), chapter 4. Beyond it, it is the leading term of the limiting distribution, 0.945
//! e^(−2.1614 A*)/√A*, whose two constants come from the largest eigenvalue (0.23133) and the tail of that
//! distribution, computed numerically.
//!
//! # Promises
//! - An exponential sample is rejected about as often as the level says. Compared with simulated samples (a
//!   million of n = 10, 600,000 of 30, 300,000 of 100, 60,000 of 1,000), p-values from 0.01 to 0.15 are off
//!   by at most an eighth of themselves, the others by at most 0.04.
//! - The unit of time does not matter.
//! - Observed and expected fractions of a histogram each add up to one.
//!
//! # Departures
//! The text has no test. Like any test of a continuous distribution, ours rejects large samples of intervals
//! that were rounded to whole days. Give it times as fine as the visits allow.

use crate::units::Days;

/// Minimum number of intervals for a test. With fewer, the p-value is too rough.
pub const INTERVALS_MIN: usize = 10;

/// Maximum number of bins of a histogram.
pub const BINS_MAX: usize = 100_000;

/// Result of a test of intervals between changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExponentialFit {
    /// Mean interval; its reciprocal is the rate of the process tested.
    pub mean: Days,
    /// Standard deviation divided by mean: 1 for exponential intervals, above it for bursts,
    /// below it for regular changes.
    pub variation: f64,
    /// The statistic A*; infinite when an interval is negligible relative to the mean.
    pub statistic: f64,
    /// Probability that exponential intervals give a statistic at least this large.
    pub p_value: f64,
}

/// Tests intervals between changes against the exponential distribution with their mean.
///
/// Panics unless there are at least [`INTERVALS_MIN`] intervals, all finite and above
/// zero, and their sum is finite.
pub fn test_exponential(intervals: &[Days]) -> ExponentialFit {
    assert!(intervals.len() >= INTERVALS_MIN);
    let mean = checked_mean(intervals);
    let mut relative: Vec<f64> = intervals.iter().map(|interval| interval.get() / mean).collect();
    relative.sort_unstable_by(f64::total_cmp);
    let n = relative.len() as f64;
    let variance = relative.iter().map(|x| (x - 1.0).powi(2)).sum::<f64>() / n;
    let statistic = anderson_darling(&relative) * (1.0 + 0.6 / n);
    ExponentialFit {
        mean: Days::new(mean),
        variation: variance.sqrt(),
        statistic,
        p_value: p_value(statistic),
    }
}

/// One bin of a histogram of intervals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bin {
    /// Shortest interval of the bin. The bin ends where the next one starts; the last one has no end.
    pub start: Days,
    /// Fraction of the intervals in this bin.
    pub observed: f64,
    /// Fraction that a Poisson process with the same mean interval predicts.
    pub expected: f64,
}

/// Observed and predicted fractions of intervals in `bins` bins of equal width, and in a last bin
/// for all longer intervals.
///
/// Panics unless there is an interval, all are finite and above zero with a finite sum, the width is finite
/// and above zero, and there are at most [`BINS_MAX`] bins.
pub fn interval_histogram(intervals: &[Days], bin_width: Days, bins: usize) -> Vec<Bin> {
    assert!(!intervals.is_empty());
    assert!(bin_width > Days::ZERO);
    assert!(bin_width < Days::FOREVER);
    assert!(bins <= BINS_MAX);
    let mean = checked_mean(intervals);
    let mut counts = vec![0usize; bins + 1];
    for interval in intervals {
        // The cast saturates when the quotient is beyond the integers.
        let bin = (interval.get() / bin_width.get()) as usize;
        counts[bin.min(bins)] += 1;
    }
    let start = |bin: usize| bin as f64 * bin_width.get();
    let bin = |(index, count): (usize, usize)| {
        let longer = (-start(index) / mean).exp();
        let within = if index < bins { -(-bin_width.get() / mean).exp_m1() } else { 1.0 };
        Bin {
            start: Days::new(start(index)),
            observed: count as f64 / intervals.len() as f64,
            expected: longer * within,
        }
    };
    counts.into_iter().enumerate().map(bin).collect()
}

fn checked_mean(intervals: &[Days]) -> f64 {
    assert!(intervals.iter().all(|interval| *interval > Days::ZERO));
    let sum: f64 = intervals.iter().map(|interval| interval.get()).sum();
    assert!(sum.is_finite());
    sum / intervals.len() as f64
}

/// A² of sorted intervals that are divided by their mean.
fn anderson_darling(relative: &[f64]) -> f64 {
    let n = relative.len() as f64;
    let pairs = relative.iter().zip(relative.iter().rev());
    let term = |(index, (low, high)): (usize, (&f64, &f64))| {
        (2.0 * index as f64 + 1.0) * (high - (-(-low).exp_m1()).ln())
    };
    (pairs.enumerate().map(term).sum::<f64>() / n - n).max(0.0)
}

/// Probability that A* is at least this large for exponential intervals.
fn p_value(z: f64) -> f64 {
    if z < 0.26 {
        1.0 - (-12.2204 + 67.459 * z - 110.3 * z * z).exp()
    } else if z < 0.51 {
        1.0 - (-6.1327 + 20.218 * z - 18.663 * z * z).exp()
    } else if z < 0.95 {
        (0.9209 - 3.353 * z + 0.3 * z * z).exp()
    } else if z < 2.5 {
        (0.731 - 3.009 * z + 0.15 * z * z).exp()
    } else {
        0.945 * (-2.1614 * z).exp() / z.sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::change_process::{ChangeProcess, Since};
    use crate::process::gamma_renewal::GammaRenewal;
    use crate::process::poisson::Poisson;
    use crate::process::weibull::Weibull;
    use crate::units::ChangesPerDay;
    use proptest::prelude::*;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng as _;

    const SEVERAL: [f64; 12] = [0.3, 2.1, 0.7, 5.9, 1.2, 0.1, 3.3, 0.8, 1.9, 0.4, 7.2, 1.1];

    fn days(intervals: &[f64]) -> Vec<Days> {
        intervals.iter().copied().map(Days::new).collect()
    }

    /// Intervals between changes of one page with a mean rate of one change a day.
    fn intervals(process: &impl ChangeProcess, count: usize, random: &mut ChaCha8Rng) -> Vec<Days> {
        let horizon = Days::new(3.0 * count as f64 / process.mean_rate().get() + 100.0);
        let mut changes = vec![0.0];
        changes.extend(process.sample(horizon, Since::Change, random));
        assert!(count < changes.len());
        changes.windows(2).take(count).map(|pair| Days::new(pair[1] - pair[0])).collect()
    }

    fn fit(process: &impl ChangeProcess, count: usize) -> ExponentialFit {
        test_exponential(&intervals(process, count, &mut ChaCha8Rng::seed_from_u64(7)))
    }

    fn poisson() -> Poisson {
        Poisson { change_rate: ChangesPerDay::new(1.0) }
    }

    #[test]
    fn the_statistic_is_that_of_anderson_and_darling() {
        let fit = test_exponential(&days(&SEVERAL));
        // The unmodified statistic as computed by SciPy's `anderson(..., "expon")`.
        assert!((fit.statistic / 1.05 - 0.23305403995314).abs() < 1e-12, "{fit:?}");
        assert!((fit.mean.get() - 2.083333333333333).abs() < 1e-14);
        assert!((fit.variation - 1.0508663092896262).abs() < 1e-14);
    }

    #[test]
    fn published_critical_values_have_their_level() {
        for (statistic, level) in [(0.922, 0.15), (1.078, 0.10), (1.341, 0.05), (1.606, 0.025), (1.957, 0.01)]
        {
            assert!((p_value(statistic) / level - 1.0).abs() < 0.05, "{statistic}: {}", p_value(statistic));
        }
    }

    #[test]
    fn p_values_follow_the_limiting_distribution() {
        // Computed from 300 eigenvalues of the limiting process by inverting its characteristic function.
        for (statistic, exact) in
            [(0.2, 0.9632), (0.4, 0.6504), (0.8, 0.2076), (3.0, 8.335e-4), (4.0, 8.268e-5)]
        {
            let p: f64 = p_value(statistic);
            assert!((p - exact).abs() < 0.01 * exact.max(1.0), "{statistic}: {p}");
            assert!(exact > 0.01 || (p / exact - 1.0).abs() < 0.01, "{statistic}: {p}");
        }
    }

    #[test]
    fn exponential_intervals_pass() {
        for count in [10, 200, 5_000] {
            let fit = fit(&poisson(), count);
            assert!(fit.p_value > 0.05, "{count}: {fit:?}");
        }
    }

    #[test]
    fn bursts_are_rejected() {
        let fit = fit(&Weibull::new(1.0, 0.6), 200);
        assert!(fit.p_value < 1e-6, "{fit:?}");
        assert!(fit.variation > 1.2, "{fit:?}");
    }

    #[test]
    fn regular_changes_are_rejected() {
        let fit = fit(&GammaRenewal::new(ChangesPerDay::new(1.0), 3.0), 200);
        assert!(fit.p_value < 1e-6, "{fit:?}");
        assert!(fit.variation < 0.8, "{fit:?}");
    }

    #[test]
    fn the_level_is_kept() {
        let mut random = ChaCha8Rng::seed_from_u64(3);
        for count in [10, 30, 100] {
            let rejected = |level: f64, p_values: &[f64]| {
                p_values.iter().filter(|p| **p < level).count() as f64 / p_values.len() as f64
            };
            let p_values: Vec<_> = (0..4_000)
                .map(|_| test_exponential(&intervals(&poisson(), count, &mut random)).p_value)
                .collect();
            // Within four standard errors and a tenth for the error of the approximation.
            assert!((rejected(0.05, &p_values) - 0.05).abs() < 0.005 + 0.014, "{count}");
            assert!((rejected(0.5, &p_values) - 0.5).abs() < 0.035 + 0.032, "{count}");
        }
    }

    #[test]
    fn an_interval_that_is_nothing_beside_the_mean_is_rejected() {
        let mut hostile = vec![1.0; 20];
        hostile.extend([1e300, 1e-30]);
        let fit = test_exponential(&days(&hostile));
        assert_eq!(fit.p_value, 0.0);
        assert_eq!(test_exponential(&days(&[1.0; 20])).variation, 0.0);
    }

    #[test]
    #[should_panic(expected = "INTERVALS_MIN")]
    fn few_intervals_are_refused() {
        test_exponential(&days(&SEVERAL[..9]));
    }

    #[test]
    fn a_histogram_counts_beside_the_prediction() {
        let bins = interval_histogram(&days(&SEVERAL), Days::new(1.0), 3);
        let observed: Vec<_> = bins.iter().map(|bin| bin.observed * 12.0).collect();
        assert_eq!(observed, [5.0, 3.0, 1.0, 3.0]);
        let mean: f64 = 25.0 / 12.0;
        assert!((bins[1].expected - ((-1.0 / mean).exp() - (-2.0 / mean).exp())).abs() < 1e-15);
        assert!((bins[3].expected - (-3.0 / mean).exp()).abs() < 1e-15);
    }

    #[test]
    fn the_histogram_of_poisson_changes_follows_the_prediction() {
        let intervals = intervals(&poisson(), 20_000, &mut ChaCha8Rng::seed_from_u64(5));
        for bin in interval_histogram(&intervals, Days::new(0.5), 8) {
            let error = (bin.expected * (1.0 - bin.expected) / 20_000.0).sqrt();
            assert!((bin.observed - bin.expected).abs() < 4.5 * error, "{bin:?}");
        }
    }

    proptest! {
        #[test]
        fn fractions_add_up_to_one(
            intervals in prop::collection::vec(1e-3..1e3f64, 1..50),
            width in 1e-3..1e3f64,
            bins in 0..50usize,
        ) {
            let bins = interval_histogram(&days(&intervals), Days::new(width), bins);
            let sum = |of: fn(&Bin) -> f64| bins.iter().map(of).sum::<f64>();
            prop_assert!((sum(|bin| bin.observed) - 1.0).abs() < 1e-12);
            prop_assert!((sum(|bin| bin.expected) - 1.0).abs() < 1e-12);
        }

        #[test]
        fn the_unit_of_time_does_not_matter(
            intervals in prop::collection::vec(1e-3..1e3f64, 10..50),
            exponent in -100..100i32,
        ) {
            let scaled: Vec<_> = intervals.iter().map(|interval| interval * 10f64.powi(exponent)).collect();
            let (one, other) = (test_exponential(&days(&intervals)), test_exponential(&days(&scaled)));
            prop_assert!((one.statistic - other.statistic).abs() < 1e-9 * (1.0 + one.statistic));
        }

        #[test]
        fn a_larger_statistic_is_less_likely(z in 0.0..20.0f64, more in 0.001..1.0f64) {
            // The pieces of the approximation meet within 0.001.
            prop_assert!(p_value(z + more) <= p_value(z) + 1e-3);
            prop_assert!((0.0..=1.0).contains(&p_value(z)));
        }
    }
}
