//! Running state of fixed size for the maximum-likelihood rate from visits at any intervals.
//!
//! Equation 6.3 of the thesis needs every changed interval, so a history of fixed size can only approximate
//! it. The unchanged visits are exact: only their total matters. The changed ones are kept in [`BUCKETS`]
//! octaves of the interval's length, each with the count and the first three sums of powers. To compute the
//! rate, each octave is replaced by the two intervals that have the same sums (Gauss's rule with two nodes),
//! and [`super::irregular`] does the rest.
//!
//! # Promises
//! - One visit costs a few additions, whatever the history. Merging two histories gives the same
//!   result as one history of both.
//! - Exact, up to rounding, when no octave holds more than two different intervals, for
//!   example with even visits.
//! - Otherwise the rate differs from the exact one by less than 0.2 % while no changed interval expects more
//!   than four changes, and by less than 3 % up to twelve, for intervals from 2^-13 days (11 seconds) to
//!   2^11 days (5.6 years). An octave in which x changes are expected enters the equation with an error of
//!   at most about x⁴/10⁴ of its terms. Intervals outside that range are kept in the first and the last
//!   octave, with a larger error.
//! - No visits, no change and a change at every visit give the same answers as in [`super::irregular`].
//!
//! # Departures
//! The thesis keeps every interval.

use super::irregular::{ChangedInterval, Likelihood};
use super::rate::{Confidence, RateEstimate, RateInterval};
use crate::units::Days;

/// Number of octaves of interval lengths.
pub const BUCKETS: usize = 24;

/// The first octave begins at two to this power, in days.
const FIRST_EXPONENT: i32 = -13;

/// Longer intervals, in days, are cut to this one: more than two million years.
const DAYS_MAX: f64 = (1u64 << 30) as f64;

/// Summary of a page's visits at any intervals.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct IrregularVisits {
    unchanged: Unchanged,
    octaves: [Octave; BUCKETS],
}

/// Sums over the visits that found no change.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Unchanged {
    /// Number of these visits: a whole number.
    pub count: f64,
    /// The sum of their intervals, in days.
    pub days: f64,
}

/// The changed intervals of one octave, from 2^k to 2^(k+1) days: sums over
/// v = t/2^k − 1.5, from −0.5 to 0.5.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Octave {
    /// Number of these intervals: a whole number.
    pub count: f64,
    /// Σ v.
    pub first: f64,
    /// Σ v².
    pub second: f64,
    /// Σ v³.
    pub third: f64,
}

impl IrregularVisits {
    /// No visit yet.
    pub const NONE: Self = Self {
        unchanged: Unchanged { count: 0.0, days: 0.0 },
        octaves: [Octave { count: 0.0, first: 0.0, second: 0.0, third: 0.0 }; BUCKETS],
    };

    /// The state with these parts, as [`Self::unchanged`] and [`Self::octaves`] return them.
    ///
    /// Panics if the parts are not finite, if a count is negative, or if the sums contradict each other.
    pub fn from_parts(unchanged: Unchanged, octaves: [Octave; BUCKETS]) -> Self {
        assert!(is_amount(unchanged.count));
        assert!(is_amount(unchanged.days));
        for octave in octaves {
            assert!(is_amount(octave.count));
            assert!(is_amount(octave.second));
            assert!(octave.first.is_finite());
            assert!(octave.third.is_finite());
            // Cauchy-Schwarz inequality, with room for rounding.
            assert!(octave.first * octave.first <= octave.count * octave.second * (1.0 + 1e-6));
        }
        Self { unchanged, octaves }
    }

    /// The visits that found no change.
    pub fn unchanged(&self) -> &Unchanged {
        &self.unchanged
    }

    /// The visits that found a change, by octave of their interval.
    pub fn octaves(&self) -> &[Octave; BUCKETS] {
        &self.octaves
    }

    /// Adds one visit, `interval` after the one before.
    ///
    /// Panics unless the interval is above zero.
    #[inline]
    pub fn observe(&mut self, interval: Days, changed: bool) {
        assert!(Days::ZERO < interval);
        let days = interval.get().min(DAYS_MAX);
        // Both kinds of visits do the same additions, one kind with zeros: the branch would be unpredictable.
        let found = f64::from(u8::from(changed));
        let (octave, v) = place(days);
        let octave = &mut self.octaves[octave];
        octave.count += found;
        octave.first += found * v;
        octave.second += found * (v * v);
        octave.third += found * (v * v * v);
        self.unchanged.count += 1.0 - found;
        self.unchanged.days += (1.0 - found) * days;
    }

    /// Adds the visits of another history.
    pub fn merge(&mut self, other: &Self) {
        for (octave, other) in self.octaves.iter_mut().zip(&other.octaves) {
            octave.count += other.count;
            octave.first += other.first;
            octave.second += other.second;
            octave.third += other.third;
        }
        self.unchanged.count += other.unchanged.count;
        self.unchanged.days += other.unchanged.days;
    }

    /// The rate with the greatest likelihood. `None` without visits; infinite if each visit found a change.
    pub fn rate(&self) -> Option<RateEstimate> {
        self.likelihood().most_likely_rate()
    }

    /// The confidence interval of the rate, by profile likelihood.
    pub fn interval(&self, confidence: Confidence) -> RateInterval {
        self.likelihood().interval(confidence)
    }

    fn likelihood(&self) -> Likelihood {
        let mut changed = Vec::with_capacity(2 * BUCKETS);
        for (index, octave) in self.octaves.iter().enumerate().filter(|(_, octave)| octave.count > 0.0) {
            let length = 2f64.powi(FIRST_EXPONENT + index as i32);
            changed.extend(representatives(octave).into_iter().filter(|node| node.count > 0.0).map(|node| {
                // Gauss's nodes lie within the range of the intervals; rounding must not move one to zero.
                ChangedInterval { days: (node.v + 1.5).max(f64::EPSILON) * length, count: node.count }
            }));
        }
        Likelihood::new(changed, self.unchanged.days.ln())
    }
}

fn is_amount(number: f64) -> bool {
    number.is_finite() && 0.0 <= number
}

/// The octave of an interval, and its position in it: v = t/2^k − 1.5.
#[inline]
fn place(days: f64) -> (usize, f64) {
    const BIAS: i32 = 1023;
    let exponent = (days.to_bits() >> 52) as i32 - BIAS;
    let exponent = exponent.clamp(FIRST_EXPONENT, FIRST_EXPONENT + BUCKETS as i32 - 1);
    let scale = f64::from_bits(((BIAS - exponent) as u64) << 52);
    ((exponent - FIRST_EXPONENT) as usize, days * scale - 1.5)
}

#[derive(Clone, Copy)]
struct Node {
    v: f64,
    count: f64,
}

/// The two positions, with their counts, that have the same sums as the octave: Gauss's
/// rule for its distribution.
fn representatives(octave: &Octave) -> [Node; 2] {
    let n = octave.count;
    let mean = octave.first / n;
    let variance = octave.second / n - mean * mean;
    if variance < VARIANCE_MIN {
        return [Node { v: mean, count: n }, Node { v: mean, count: 0.0 }];
    }
    let third = octave.third / n - mean * (3.0 * variance + mean * mean);
    // The nodes are the roots of z² − s z − variance, s = third/variance, around the mean.
    let half = 0.5 * third / variance;
    let spread = (half * half + variance).sqrt();
    // The root of larger magnitude is computed as a sum; the other follows from the product of both.
    let larger = half + spread.copysign(half);
    let smaller = -variance / larger;
    let count = n * -smaller / (larger - smaller);
    [Node { v: mean + larger, count }, Node { v: mean + smaller, count: n - count }]
}

/// Below this variance, relative to the octave, the intervals count as equal. It covers
/// rounding and a jitter of 0.01 %.
const VARIANCE_MIN: f64 = 1e-9;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::irregular::{Visit, likely_rates, most_likely_rate};
    use proptest::prelude::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    fn observe(visits: &[Visit]) -> IrregularVisits {
        let mut state = IrregularVisits::NONE;
        visits.iter().for_each(|visit| state.observe(visit.interval, visit.changed));
        state
    }

    /// Relative difference of the rate of the running state from the exact one.
    fn error(visits: &[Visit]) -> f64 {
        let exact = most_likely_rate(visits).map_or(f64::NAN, RateEstimate::get);
        let running = observe(visits).rate().map_or(f64::NAN, RateEstimate::get);
        (running / exact - 1.0).abs()
    }

    fn visit(days: f64, changed: bool) -> Visit {
        Visit { interval: Days::new(days), changed }
    }

    #[test]
    fn even_visits_are_exact() {
        let visits: Vec<_> = (0..1000).map(|i| visit(0.3, i % 3 == 0)).collect();
        assert!(error(&visits) < 1e-12, "{:e}", error(&visits));
    }

    #[test]
    fn two_intervals_in_an_octave_are_exact() {
        let visits: Vec<_> = (0..300).map(|i| visit([4.1, 7.3, 0.02][i % 3], i % 7 < 4)).collect();
        assert!(error(&visits) < 1e-11, "{:e}", error(&visits));
    }

    #[test]
    fn nothing_none_and_all_are_ordinary() {
        let confidence = Confidence::new(0.95);
        for visits in [
            vec![],
            vec![visit(1.0, false), visit(2.5, false)],
            vec![visit(1.0, true), visit(1.5, true)],
            vec![visit(6.0, true), visit(4.0, false), visit(3.0, true), visit(7.0, false)],
        ] {
            let state = observe(&visits);
            assert_eq!(
                state.rate().map(|rate| (rate.get() * 1e9).round()),
                most_likely_rate(&visits).map(|rate| (rate.get() * 1e9).round())
            );
            let (got, want) = (state.interval(confidence), likely_rates(&visits, confidence));
            assert!((got.low().get() - want.low().get()).abs() < 1e-9, "{got:?} {want:?}");
            assert!(got.high() == want.high() || (got.high().get() - want.high().get()).abs() < 1e-9);
        }
    }

    /// The worst relative error over random histories in which the longest changed
    /// interval expects `changes`.
    fn worst_error(changes: f64, seed: u64) -> f64 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let one_history = |random: &mut ChaCha8Rng| {
            let shape = random.random_range(0.2..6.0);
            let octaves = random.random_range(0.5..6.0);
            let mut visits: Vec<_> = (0..random.random_range(3..200))
                .map(|_| visit(64.0 * (-octaves * random.random::<f64>().powf(shape)).exp2(), true))
                .collect();
            // Add the unchanged time that makes the wanted rate the most likely one.
            let longest = visits.iter().map(|visit| visit.interval.get()).fold(0.0, f64::max);
            let rate = changes / longest;
            let unchanged: f64 =
                visits.iter().map(|v| v.interval.get() / (rate * v.interval.get()).exp_m1()).sum();
            visits.push(visit(unchanged, false));
            error(&visits)
        };
        (0..2000).map(|_| one_history(&mut random)).fold(0.0, f64::max)
    }

    #[test]
    fn the_error_stays_within_its_bounds() {
        assert!(worst_error(1.0, 1) < 2e-4, "{:e}", worst_error(1.0, 1));
        assert!(worst_error(4.0, 2) < 2e-3, "{:e}", worst_error(4.0, 2));
        assert!(worst_error(12.0, 3) < 3e-2, "{:e}", worst_error(12.0, 3));
    }

    #[test]
    fn intervals_outside_the_octaves_are_kept_too() {
        let visits =
            [visit(1e-9, true), visit(1e-7, false), visit(1e5, true), visit(1e30, true), visit(4.0, false)];
        let rate = observe(&visits).rate();
        assert!(rate.is_some_and(|rate| rate.get() > 0.0 && rate.get().is_finite()), "{rate:?}");
    }

    #[test]
    fn parts_that_contradict_each_other_are_refused() {
        let mut octaves = [Octave::default(); BUCKETS];
        octaves[3] = Octave { count: 1.0, first: 0.4, second: 0.01, third: 0.0 };
        let wrong = || IrregularVisits::from_parts(Unchanged::default(), octaves);
        assert!(std::panic::catch_unwind(wrong).is_err());
    }

    proptest! {
        #[test]
        fn merging_is_the_same_as_going_on(
            history in prop::collection::vec((-20.0..14.0f64, any::<bool>()), 0..60),
            cut in 0usize..60,
        ) {
            let visits: Vec<_> =
                history.iter().map(|(exponent, changed)| visit(exponent.exp2(), *changed)).collect();
            let cut = cut.min(visits.len());
            let mut merged = observe(&visits[..cut]);
            merged.merge(&observe(&visits[cut..]));
            let whole = observe(&visits);
            prop_assert_eq!(merged.unchanged().count, whole.unchanged().count);
            for (one, other) in merged.octaves().iter().zip(whole.octaves()) {
                prop_assert_eq!(one.count, other.count);
                prop_assert!((one.third - other.third).abs() < 1e-9);
            }
            match (merged.rate(), whole.rate()) {
                (Some(one), Some(other)) if other.get().is_finite() => {
                    prop_assert!((one.get() - other.get()).abs() <= 1e-9 * other.get());
                }
                (one, other) => prop_assert_eq!(one, other),
            }
            prop_assert_eq!(whole, IrregularVisits::from_parts(*whole.unchanged(), *whole.octaves()));
        }
    }
}
