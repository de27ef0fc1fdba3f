//! Subjects of a Cox regression: lifetimes with covariates, sorted and scaled once.
//!
//! The partial likelihood of Cox's model (**summary**, section 4.2) compares each subject that ends with
//! everyone of its stratum who was still at risk. In order of falling time within each stratum, the risk set
//! only grows: each *block* of subjects joins it, then a tie of subjects ends.
//!
//! Only differences of covariates within a stratum matter to that likelihood, so each covariate is centred
//! within each stratum and divided by its deviation. The fit then works with numbers near one, whatever the
//! size of the coefficients.
//!
//! # Promises
//! - Covariates from 1e-300 to 1e308, with an offset of any size, lose no digit that the input had.
//! - The order of the input does not affect the results, beyond the last digit.

use std::ops::Range;

use super::lifetime::Lifetime;

/// Subjects ready for regression. Those who left before the first end in their stratum are counted and
/// otherwise dropped: they are in no risk set.
#[derive(Clone, Debug)]
pub struct Subjects {
    pub(super) columns: Vec<Column>,
    pub(super) strata: Vec<Stratum>,
    pub(super) blocks: Vec<Block>,
    pub(super) lifetimes: Vec<Lifetime>,
}

/// One covariate, centred and scaled.
#[derive(Clone, Debug)]
pub(super) struct Column {
    /// Its values: stratum after stratum, latest time first, at equal times the censored before the ended.
    pub(super) values: Vec<f64>,
    /// Half of the deviation within strata, in units of the input; the full deviation might
    /// overflow. Zero when constant.
    pub(super) half_deviation: f64,
    /// Sum over all subjects that end.
    pub(super) sum_of_ended: f64,
    /// Greatest absolute value after scaling.
    pub(super) reach: f64,
}

/// The subjects that share a baseline.
#[derive(Clone, Debug)]
pub(super) struct Stratum {
    pub(super) number: u32,
    /// Its blocks, latest first.
    pub(super) blocks: Range<usize>,
    /// The value subtracted from each covariate, in deviations.
    pub(super) centre: Vec<f64>,
}

/// Subjects that join the risk set, and then those of them who end, all at the same time. Ranges in
/// the order of the columns.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) time: f64,
    pub(super) joining: Range<usize>,
    pub(super) ending: Range<usize>,
}

impl Subjects {
    /// Creates subjects with a common baseline; one list per covariate, in the order of the lifetimes.
    ///
    /// Panics if no subject ends, if there are 2^31 subjects or more, if a list has another length, or if a
    /// covariate is not finite.
    pub fn new<C: AsRef<[f64]>>(lifetimes: &[Lifetime], covariates: &[C]) -> Self {
        Self::stratified(lifetimes, covariates, &vec![0; lifetimes.len()])
    }

    /// Creates subjects with one baseline for each different number in `strata`.
    ///
    /// Panics if no subject ends, if there are 2^31 subjects or more, if a list has another length, or if a
    /// covariate is not finite.
    pub fn stratified<C: AsRef<[f64]>>(lifetimes: &[Lifetime], covariates: &[C], strata: &[u32]) -> Self {
        assert!(lifetimes.iter().any(|lifetime| lifetime.ended()));
        assert_eq!(strata.len(), lifetimes.len());
        let mut subjects = Self {
            columns: Vec::new(),
            strata: Vec::new(),
            blocks: Vec::new(),
            lifetimes: lifetimes.to_vec(),
        };
        let mut kept = Vec::with_capacity(lifetimes.len());
        for same_stratum in latest_first(lifetimes, strata).chunk_by(|a, b| a.stratum == b.stratum) {
            subjects.add_stratum(same_stratum, &mut kept);
        }
        for values in covariates {
            assert_eq!(values.as_ref().len(), lifetimes.len());
            subjects.add_column(values.as_ref(), &kept);
        }
        subjects
    }

    /// Number of covariates.
    pub fn covariates(&self) -> usize {
        self.columns.len()
    }

    /// Splits one sorted stratum into its blocks.
    fn add_stratum(&mut self, sorted: &[Place], kept: &mut Vec<u32>) {
        let first_block = self.blocks.len();
        let mut joining_from = kept.len();
        for same_time in sorted.chunk_by(|a, b| a.time == b.time) {
            kept.extend(same_time.iter().map(|place| place.subject()));
            let ended = same_time.iter().filter(|place| place.ended()).count();
            if ended > 0 {
                let (middle, end) = (kept.len() - ended, kept.len());
                let time = self.lifetimes[same_time[0].subject() as usize].time();
                self.blocks.push(Block { time, joining: joining_from..middle, ending: middle..end });
                joining_from = end;
            }
        }
        kept.truncate(joining_from);
        let (number, blocks) = (sorted[0].stratum, first_block..self.blocks.len());
        self.strata.push(Stratum { number, blocks, centre: Vec::new() });
    }

    /// Centres one covariate within each stratum and scales it over all subjects that are kept.
    fn add_column(&mut self, input: &[f64], kept: &[u32]) {
        // Halves do not overflow when subtracted.
        let mut values: Vec<f64> = kept.iter().map(|&i| input[i as usize] / 2.0).collect();
        assert!(values.iter().all(|value| value.is_finite()));
        // Differences from one value of the stratum are exact even when the offset is large.
        let origins = self.subtract_in_strata(&mut values, |of_stratum| of_stratum[0]);
        let unit = power_of_two(largest(&values));
        values.iter_mut().for_each(|value| *value /= unit);
        let means = self.subtract_in_strata(&mut values, |of_stratum| {
            sum(of_stratum, |value| value) / of_stratum.len() as f64
        });
        let deviation = (sum(&values, |value| value * value) / values.len() as f64).sqrt();
        let divisor = if deviation > 0.0 { deviation } else { 1.0 };
        values.iter_mut().for_each(|value| *value /= divisor);
        for ((stratum, origin), mean) in self.strata.iter_mut().zip(origins).zip(means) {
            stratum.centre.push((origin / unit + mean) / divisor);
        }
        let of_ended = self.blocks.iter().map(|block| sum(&values[block.ending.clone()], |value| value));
        self.columns.push(Column {
            half_deviation: unit * deviation,
            sum_of_ended: of_ended.sum(),
            reach: largest(&values),
            values,
        });
    }

    /// Subtracts from the values of each stratum the result of `centre` for them. Returns these results; zero
    /// for a stratum without values.
    fn subtract_in_strata(&self, values: &mut [f64], centre: impl Fn(&[f64]) -> f64) -> Vec<f64> {
        let subtract = |stratum: &Stratum| {
            let of_stratum = &mut values[self.range_of(stratum)];
            let centre = if of_stratum.is_empty() { 0.0 } else { centre(of_stratum) };
            of_stratum.iter_mut().for_each(|value| *value -= centre);
            centre
        };
        self.strata.iter().map(subtract).collect()
    }

    /// The range of a stratum's values.
    fn range_of(&self, stratum: &Stratum) -> Range<usize> {
        match &self.blocks[stratum.blocks.clone()] {
            [] => 0..0,
            [only] => only.joining.start..only.ending.end,
            [first, .., last] => first.joining.start..last.ending.end,
        }
    }
}

/// Sort key of a subject.
#[derive(Clone, Copy, Default)]
struct Place {
    /// Falls as the time rises.
    time: u64,
    stratum: u32,
    /// The subject's index, doubled, plus one if it ended.
    subject_and_end: u32,
}

impl Place {
    fn subject(self) -> u32 {
        self.subject_and_end / 2
    }

    fn ended(self) -> bool {
        self.subject_and_end % 2 == 1
    }
}

/// Sorts subjects by stratum, in each by falling time, at equal times the censored first.
fn latest_first(lifetimes: &[Lifetime], strata: &[u32]) -> Vec<Place> {
    assert!(lifetimes.len() < 1 << 31);
    let place = |((subject, lifetime), stratum): ((u32, &Lifetime), &u32)| Place {
        time: !ordered_bits(lifetime.time()),
        stratum: *stratum,
        subject_and_end: 2 * subject + u32::from(lifetime.ended()),
    };
    let mut sorted: Vec<Place> = (0..).zip(lifetimes).zip(strata).map(place).collect();
    // Radix sort. Most digits of most data are the same everywhere and are skipped. The others are sorted
    // from the least to the most significant, each sort keeping the order of the one before.
    let (time, stratum) = sorted.iter().fold((0, 0), |(time, stratum), place| {
        (time | (place.time ^ sorted[0].time), stratum | (place.stratum ^ sorted[0].stratum))
    });
    let mut spare = vec![Place::default(); sorted.len()];
    sort_by_digit(&mut sorted, &mut spare, |place| u8::from(place.ended()));
    for shift in (0..64).step_by(8).filter(|shift| (time >> shift) as u8 != 0) {
        sort_by_digit(&mut sorted, &mut spare, |place| (place.time >> shift) as u8);
    }
    for shift in (0..32).step_by(8).filter(|shift| (stratum >> shift) as u8 != 0) {
        sort_by_digit(&mut sorted, &mut spare, |place| (place.stratum >> shift) as u8);
    }
    sorted
}

/// Sorts by one digit, stably, in time O(n). The content of `spare` does not matter;
/// its length must be the same.
fn sort_by_digit(places: &mut Vec<Place>, spare: &mut Vec<Place>, digit: impl Fn(&Place) -> u8) {
    let mut starts = [0; 256];
    places.iter().for_each(|place| starts[usize::from(digit(place))] += 1);
    let mut sum = 0;
    for start in &mut starts {
        sum += std::mem::replace(start, sum);
    }
    for place in places.iter() {
        let start = &mut starts[usize::from(digit(place))];
        spare[*start] = *place;
        *start += 1;
    }
    std::mem::swap(places, spare);
}

/// Bits whose order is the order of the numbers.
fn ordered_bits(number: f64) -> u64 {
    let bits = number.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// The largest power of two that is not above the number; one for zero.
fn power_of_two(number: f64) -> f64 {
    const EXPONENT: u64 = 0x7ff0_0000_0000_0000;
    if number == 0.0 { 1.0 } else { f64::from_bits(number.to_bits() & EXPONENT).max(f64::MIN_POSITIVE) }
}

/// The sum of a function of the values in four interleaved partial sums, which the
/// processor can add in parallel.
pub(super) fn sum(values: &[f64], of: impl Fn(f64) -> f64) -> f64 {
    let (chunks, rest) = values.as_chunks::<4>();
    let mut parts = [0.0; 4];
    for chunk in chunks {
        for k in 0..4 {
            parts[k] += of(chunk[k]);
        }
    }
    (parts[0] + parts[2]) + (parts[1] + parts[3]) + rest.iter().map(|value| of(*value)).sum::<f64>()
}

/// The largest absolute value.
fn largest(values: &[f64]) -> f64 {
    let (chunks, rest) = values.as_chunks::<4>();
    let mut parts = [0.0f64; 4];
    for chunk in chunks {
        for k in 0..4 {
            parts[k] = parts[k].max(chunk[k].abs());
        }
    }
    parts.iter().chain(rest).fold(0.0, |largest, value| largest.max(value.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_hold_who_joins_and_who_ends() {
        let lifetimes = [
            Lifetime::censored_at(1.0), // before any end: in no risk set
            Lifetime::ended_at(2.0),
            Lifetime::censored_at(2.0),
            Lifetime::ended_at(2.0),
            Lifetime::censored_at(3.0),
            Lifetime::ended_at(4.0),
        ];
        let subjects = Subjects::new(&lifetimes, &[[10.0, 1.0, 2.0, 3.0, 4.0, 5.0]]);
        let blocks: Vec<_> =
            subjects.blocks.iter().map(|b| (b.time, b.joining.clone(), b.ending.clone())).collect();
        assert_eq!(blocks, [(4.0, 0..0, 0..1), (2.0, 1..3, 3..5)]);
        assert_eq!(subjects.columns[0].values.len(), 5);
    }

    #[test]
    fn scaling_loses_no_digit_to_an_offset_or_a_size() {
        let lifetimes: Vec<_> = (0..4).map(|t| Lifetime::ended_at(f64::from(t))).collect();
        let plain = [1.0, 2.0, 4.0, 0.0];
        let expected = Subjects::new(&lifetimes, &[plain]).columns[0].values.clone();
        for (factor, offset) in [(1.0, 1e15), (2f64.powi(-1000), 0.0), (2f64.powi(1020), -2f64.powi(1021))] {
            let subjects = Subjects::new(&lifetimes, &[plain.map(|x| x * factor + offset)]);
            for (got, expected) in subjects.columns[0].values.iter().zip(&expected) {
                assert!((got - expected).abs() < 1e-15, "{factor:e} {offset:e}: {got} {expected}");
            }
        }
    }

    #[test]
    fn a_covariate_that_only_tells_the_strata_apart_is_constant() {
        let lifetimes: Vec<_> = (0..4).map(|t| Lifetime::ended_at(f64::from(t))).collect();
        let subjects = Subjects::stratified(&lifetimes, &[[0.1, 0.3, 0.1, 0.3]], &[7, 9, 7, 9]);
        assert_eq!(subjects.columns[0].half_deviation, 0.0);
        assert_eq!(subjects.strata.iter().map(|stratum| stratum.number).collect::<Vec<_>>(), [7, 9]);
    }
}
