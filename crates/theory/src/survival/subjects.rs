//! Lifetimes with covariates, sorted and scaled once for all that is computed from them.
//!
//! The partial likelihood of Cox's model (**summary**, section 4.2) compares each subject that ends with everyone of its
//! stratum who was still at risk. In order of falling time within each stratum, the risk set only grows: each *block* of
//! subjects joins it, then a tie of subjects ends.
//!
//! Only differences of covariates within a stratum matter to that likelihood, so each covariate is centred within each
//! stratum and divided by its deviation. Coefficients of any size then come from numbers near one.
//!
//! # Promises
//! - Covariates from 1e-300 to 1e308, with an offset of any size, lose no digit that the input had.
//! - The order of the input does not matter to what is computed, beyond the last digit.

use std::ops::Range;

use super::lifetime::Lifetime;

/// Subjects ready for regression. Those who left before the first end in their stratum are counted and otherwise dropped:
/// they are in no risk set.
#[derive(Clone, Debug)]
pub struct Subjects {
    /// Centred and scaled covariates, subject by subject: stratum after stratum, latest time first, at equal times the
    /// censored before the ended.
    pub(super) rows: Vec<f64>,
    pub(super) columns: Vec<Column>,
    pub(super) strata: Vec<Stratum>,
    pub(super) blocks: Vec<Block>,
    pub(super) lifetimes: Vec<Lifetime>,
}

/// How one covariate was scaled.
#[derive(Clone, Debug)]
pub(super) struct Column {
    /// Half of the deviation within strata, in units of the input; the whole might overflow. Zero when constant.
    pub(super) half_deviation: f64,
    /// Greatest absolute value after scaling.
    pub(super) reach: f64,
}

/// The subjects that share a baseline.
#[derive(Clone, Debug)]
pub(super) struct Stratum {
    pub(super) number: u32,
    /// Its blocks, latest first.
    pub(super) blocks: Range<usize>,
    /// What was subtracted from each covariate, in deviations.
    pub(super) centre: Vec<f64>,
}

/// Subjects that join the risk set, and then those of them that end at the same time. Ranges of rows.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) time: f64,
    pub(super) joining: Range<usize>,
    pub(super) ending: Range<usize>,
}

impl Subjects {
    /// Subjects with a common baseline; one list per covariate, in the order of the lifetimes.
    ///
    /// Panics without an end, on a list of another length, and on a covariate that is not finite.
    pub fn new<C: AsRef<[f64]>>(lifetimes: &[Lifetime], covariates: &[C]) -> Self {
        Self::stratified(lifetimes, covariates, &vec![0; lifetimes.len()])
    }

    /// Subjects with one baseline for each different number in `strata`.
    ///
    /// Panics without an end, on a list of another length, and on a covariate that is not finite.
    pub fn stratified<C: AsRef<[f64]>>(lifetimes: &[Lifetime], covariates: &[C], strata: &[u32]) -> Self {
        assert!(lifetimes.iter().any(|lifetime| lifetime.ended()));
        assert_eq!(strata.len(), lifetimes.len());
        let order = latest_first(lifetimes, strata);
        let mut subjects = Self {
            rows: Vec::new(),
            columns: Vec::new(),
            strata: Vec::new(),
            blocks: Vec::new(),
            lifetimes: lifetimes.to_vec(),
        };
        let mut kept = Vec::with_capacity(order.len());
        for same_stratum in order.chunk_by(|&i, &j| strata[i] == strata[j]) {
            subjects.add_stratum(strata[same_stratum[0]], same_stratum, &mut kept);
        }
        subjects.rows = vec![0.0; kept.len() * covariates.len()];
        for (column, values) in covariates.iter().enumerate() {
            assert_eq!(values.as_ref().len(), lifetimes.len());
            let sorted = kept.iter().map(|&i| values.as_ref()[i]).collect();
            subjects.add_column(column, covariates.len(), sorted);
        }
        subjects
    }

    /// Number of covariates.
    pub fn covariates(&self) -> usize {
        self.columns.len()
    }

    /// Cuts one stratum, sorted, into its blocks.
    fn add_stratum(&mut self, number: u32, sorted: &[usize], kept: &mut Vec<usize>) {
        let first_block = self.blocks.len();
        let mut joining_from = kept.len();
        for same_time in sorted.chunk_by(|&i, &j| self.lifetimes[i].time() == self.lifetimes[j].time()) {
            kept.extend(same_time);
            let ended = same_time.iter().filter(|&&i| self.lifetimes[i].ended()).count();
            if ended > 0 {
                let (middle, end) = (kept.len() - ended, kept.len());
                let time = self.lifetimes[same_time[0]].time();
                self.blocks.push(Block { time, joining: joining_from..middle, ending: middle..end });
                joining_from = end;
            }
        }
        kept.truncate(joining_from);
        self.strata.push(Stratum { number, blocks: first_block..self.blocks.len(), centre: Vec::new() });
    }

    /// Centres one covariate within each stratum, scales it over all, and spreads it over the rows.
    fn add_column(&mut self, column: usize, width: usize, mut values: Vec<f64>) {
        assert!(values.iter().all(|value| value.is_finite()));
        // Differences from one value of the stratum are exact where an offset is large, and halves do not overflow.
        let origins: Vec<f64> =
            self.strata.iter().map(|stratum| halved_origin(&values[self.rows_of(stratum)])).collect();
        for (stratum, origin) in self.strata.iter().zip(&origins) {
            values[self.rows_of(stratum)].iter_mut().for_each(|value| *value = *value / 2.0 - origin);
        }
        let largest = values.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
        let unit = if largest > 0.0 { largest } else { 1.0 };
        values.iter_mut().for_each(|value| *value /= unit);
        let means: Vec<f64> =
            self.strata.iter().map(|stratum| mean(&values[self.rows_of(stratum)])).collect();
        for (stratum, mean) in self.strata.iter().zip(&means) {
            values[self.rows_of(stratum)].iter_mut().for_each(|value| *value -= mean);
        }
        let deviation = (values.iter().map(|value| value * value).sum::<f64>() / values.len() as f64).sqrt();
        let divisor = if deviation > 0.0 { deviation } else { 1.0 };
        let mut reach: f64 = 0.0;
        for (row, value) in self.rows.chunks_exact_mut(width).zip(&values) {
            row[column] = value / divisor;
            reach = reach.max(row[column].abs());
        }
        for ((stratum, origin), mean) in self.strata.iter_mut().zip(origins).zip(means) {
            stratum.centre.push((origin / unit + mean) / divisor);
        }
        self.columns.push(Column { half_deviation: largest * deviation, reach });
    }

    /// The rows that a stratum has.
    fn rows_of(&self, stratum: &Stratum) -> Range<usize> {
        match &self.blocks[stratum.blocks.clone()] {
            [] => 0..0,
            [only] => only.joining.start..only.ending.end,
            [first, .., last] => first.joining.start..last.ending.end,
        }
    }
}

/// Subjects by stratum, in each by falling time, at equal times the censored first.
fn latest_first(lifetimes: &[Lifetime], strata: &[u32]) -> Vec<usize> {
    let key = |i: usize| (strata[i], !ordered_bits(lifetimes[i].time()), lifetimes[i].ended());
    let mut keyed: Vec<_> = (0..lifetimes.len()).map(|i| (key(i), i)).collect();
    keyed.sort_by_key(|(key, _)| *key);
    keyed.into_iter().map(|(_, i)| i).collect()
}

/// Bits that are ordered as the numbers are.
fn ordered_bits(number: f64) -> u64 {
    let bits = number.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

fn halved_origin(values: &[f64]) -> f64 {
    values.first().map_or(0.0, |value| value / 2.0)
}

fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
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
        assert_eq!(subjects.rows.len(), 5);
    }

    #[test]
    fn scaling_loses_no_digit_to_an_offset_or_a_size() {
        let lifetimes: Vec<_> = (0..4).map(|t| Lifetime::ended_at(f64::from(t))).collect();
        let plain = [1.0, 2.0, 4.0, 0.0];
        let expected = Subjects::new(&lifetimes, &[plain]).rows;
        for (factor, offset) in [(1.0, 1e15), (2f64.powi(-1000), 0.0), (2f64.powi(1020), -2f64.powi(1021))] {
            let subjects = Subjects::new(&lifetimes, &[plain.map(|x| x * factor + offset)]);
            for (got, expected) in subjects.rows.iter().zip(&expected) {
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
