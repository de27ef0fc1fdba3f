//! Timeline: freshness and age of the copies over time, computed exactly from the times of changes.
//!
//! Definitions 5.1 to 5.3 of the thesis: a copy is fresh while nothing has changed since it was taken. Its
//! age is the time since the first change that it misses. Freshness and age of a collection are averages over
//! its copies, and their time averages are integrals over time. Copies are added and removed only at visits,
//! so between two visits their number is constant:
//!
//! > F = 1/T Σ over intervals of (∫ fresh copies dt) / copies
//!
//! and the same for the age. The integrals over an interval are stored as differences, one addition per copy
//! and visit: a copy out of date since `s` adds `h` to the staleness and `h (middle − s)` to the age of every
//! later interval of `h` days.
//!
//! # Promises
//! - Nothing is sampled: the averages are exact up to rounding.
//! - The work for a copy does not depend on how long it is out of date.

/// Freshness and age over time, in equal intervals.
#[derive(Clone, Debug)]
pub struct Timeline {
    interval: f64,
    /// Number of copies held in each interval that has begun.
    held: Vec<u32>,
    /// For each interval, the number of copies that were out of date at its start, as the difference from the
    /// previous interval.
    stale: Vec<i64>,
    /// The sum of the times since which these are out of date, as the difference from the previous interval.
    stale_since: Vec<f64>,
    /// Days out of date, and the integral of the age, of copies that went out of date within the interval.
    partial: Vec<(f64, f64)>,
}

/// Freshness and age in one interval, or on average.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Quality {
    /// Fraction of the copies that is up to date.
    pub freshness: f64,
    /// Age in days.
    pub age_days: f64,
}

impl Timeline {
    /// An empty timeline. Panics unless the length of an interval, in days, is above zero.
    pub fn new(interval: f64, intervals: usize) -> Self {
        assert!(interval > 0.0);
        Self {
            interval,
            held: Vec::with_capacity(intervals),
            stale: vec![0; intervals + 1],
            stale_since: vec![0.0; intervals + 1],
            partial: vec![(0.0, 0.0); intervals],
        }
    }

    /// Starts the next interval with `held` copies.
    pub fn begin_interval(&mut self, held: usize) {
        self.held.push(held as u32);
    }

    /// Records a copy that has been out of date since `since`, and no longer is after the first `until`
    /// intervals. A time at or after that adds nothing.
    pub fn add_stale(&mut self, since: f64, until: usize) {
        // The quotient may round up to an interval that begins after the time.
        let mut within = (since / self.interval) as usize;
        if since < within as f64 * self.interval {
            within -= 1;
        }
        if until <= within {
            return;
        }
        let rest = ((within + 1) as f64 * self.interval - since).max(0.0);
        let (stale, age) = &mut self.partial[within];
        *stale += rest;
        *age += 0.5 * rest * rest;
        self.stale[within + 1] += 1;
        self.stale[until] -= 1;
        self.stale_since[within + 1] += since;
        self.stale_since[until] -= since;
    }

    /// Freshness and age of every interval that has begun. `None` where no copy was held.
    pub fn qualities(&self) -> Vec<Option<Quality>> {
        let (mut stale, mut stale_since) = (0, 0.0);
        let mut qualities = Vec::with_capacity(self.held.len());
        for (number, held) in self.held.iter().enumerate() {
            stale += self.stale[number];
            stale_since += self.stale_since[number];
            let middle = (number as f64 + 0.5) * self.interval;
            let (partial, partial_age) = self.partial[number];
            let stale_days = partial + stale as f64 * self.interval;
            let age = partial_age + self.interval * (stale as f64 * middle - stale_since);
            let copy_days = f64::from(*held) * self.interval;
            let quality = Quality {
                freshness: (1.0 - stale_days / copy_days).clamp(0.0, 1.0),
                age_days: (age / copy_days).max(0.0),
            };
            qualities.push((*held > 0).then_some(quality));
        }
        qualities
    }
}

impl Quality {
    /// The mean of several qualities. `None` without any.
    pub fn mean(qualities: impl Iterator<Item = Self>) -> Option<Self> {
        let (mut sum, mut count) = (Self::default(), 0u32);
        for quality in qualities {
            sum.freshness += quality.freshness;
            sum.age_days += quality.age_days;
            count += 1;
        }
        let mean = |sum: f64| sum / f64::from(count);
        (count > 0).then(|| Self { freshness: mean(sum.freshness), age_days: mean(sum.age_days) })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_copy_that_goes_out_of_date_halfway_is_half_fresh() {
        let mut timeline = Timeline::new(2.0, 3);
        (0..3).for_each(|_| timeline.begin_interval(1));
        timeline.add_stale(1.0, 2);
        let expected = [(0.5, 0.25), (0.0, 2.0), (1.0, 0.0)];
        let expected = expected.map(|(freshness, age_days)| Some(Quality { freshness, age_days }));
        assert_eq!(timeline.qualities(), expected);
    }

    #[test]
    fn without_copies_there_is_nothing_to_say() {
        let mut timeline = Timeline::new(1.0, 2);
        timeline.begin_interval(0);
        timeline.begin_interval(3);
        assert_eq!(timeline.qualities(), [None, Some(Quality { freshness: 1.0, age_days: 0.0 })]);
        assert_eq!(Quality::mean([].into_iter()), None);
    }

    #[test]
    fn a_copy_that_is_refreshed_before_it_goes_out_of_date_adds_nothing() {
        let mut timeline = Timeline::new(1.0, 2);
        (0..2).for_each(|_| timeline.begin_interval(1));
        timeline.add_stale(1.0, 1);
        timeline.add_stale(1.7, 1);
        timeline.add_stale(9.0, 2);
        assert!(timeline.qualities().iter().flatten().all(|quality| quality.freshness == 1.0));
    }

    proptest! {
        #[test]
        fn integrals_agree_with_a_fine_grid(
            interval in 0.1..3.0_f64,
            copies in prop::collection::vec((0.0..10.0_f64, 0usize..=10), 1..8),
        ) {
            let mut timeline = Timeline::new(interval, 10);
            (0..10).for_each(|_| timeline.begin_interval(copies.len()));
            for (since, until) in &copies {
                timeline.add_stale(since * interval, *until);
            }
            const GRID: usize = 400;
            for (number, quality) in timeline.qualities().into_iter().enumerate() {
                let (mut fresh, mut age) = (0.0, 0.0);
                for step in 0..GRID {
                    let now = (number as f64 + (step as f64 + 0.5) / GRID as f64) * interval;
                    for (since, until) in &copies {
                        let stale = now - since * interval;
                        let out_of_date = stale > 0.0 && number < *until;
                        fresh += if out_of_date { 0.0 } else { 1.0 };
                        age += if out_of_date { stale } else { 0.0 };
                    }
                }
                let samples = (GRID * copies.len()) as f64;
                let quality = quality.expect("there are copies");
                prop_assert!((quality.freshness - fresh / samples).abs() < 2e-3);
                prop_assert!((quality.age_days - age / samples).abs() < 2e-3 * 30.0);
            }
        }
    }
}
