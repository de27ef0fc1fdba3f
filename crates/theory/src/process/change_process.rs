//! Trait of all change processes: mean rate, survival, and random samples of changes.
//!
//! A process is observed from a time 0 on. For all but Poisson processes it matters what that time is
//! ([`Since`]): right after a change of a bursty page the next one is near, at an arbitrary time it may
//! be far. The thesis, section 4.6 (Lemma 4.1), compares intervals from change to change; a copy is
//! taken at an arbitrary time.
//!
//! # Promises
//! - Survival falls from 1 at time 0, and samples agree with it.
//! - Observed from an arbitrary time on, the expected number of changes is the mean
//!   rate times the time, exactly.
//! - A sample is in order of time, lies in `[0, horizon)` and has at most [`CHANGES_MAX`] changes.
//!
//! # Departures
//! None.

use rand::Rng;

use crate::units::{ChangesPerDay, Days};

/// Maximum number of changes in one sample (80 MB). A sample that reaches it ends there, before its horizon.
pub const CHANGES_MAX: usize = 10_000_000;

/// What happens at the time from which a process is observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// A change, which is not counted itself.
    Change,
    /// Nothing: an arbitrary time, such as that of a visit. The process has been running for long.
    AnyTime,
}

/// A random process of the changes of a page.
pub trait ChangeProcess {
    /// Changes per day in the long run.
    fn mean_rate(&self) -> ChangesPerDay;

    /// Probability that nothing changes for this long.
    fn survival(&self, elapsed: Days, since: Since) -> f64;

    /// Random times in days at which changes happen before the horizon, which may be
    /// infinite: see [`CHANGES_MAX`].
    fn sample(&self, horizon: Days, since: Since, random: &mut impl Rng) -> Vec<f64>;
}

/// The times of changes when the first comes after `first` days and each further one
/// after one more `interval`.
pub(super) fn changes_until(horizon: Days, first: f64, mut interval: impl FnMut() -> f64) -> Vec<f64> {
    let mut changes = Vec::new();
    let mut time = first;
    while time < horizon.get() && changes.len() < CHANGES_MAX {
        changes.push(time);
        time += interval();
    }
    changes
}

#[cfg(test)]
pub(super) mod agreement {
    //! Checks that the samples of a process agree with its rate and survival.

    use super::*;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng as _;

    const PAGES: usize = 20_000;

    /// Standard errors that a mean may be off. The seed is fixed, so that a run gives
    /// the same result every time.
    const ERRORS_MAX: f64 = 4.5;

    /// Checks rate, survival and bounds on many samples.
    #[track_caller]
    pub(in crate::process) fn check(process: &impl ChangeProcess) {
        let horizon = Days::new(3.0 / process.mean_rate().get());
        for since in [Since::Change, Since::AnyTime] {
            let mut random = ChaCha8Rng::seed_from_u64(1);
            let samples: Vec<_> = (0..PAGES).map(|_| process.sample(horizon, since, &mut random)).collect();
            for sample in &samples {
                assert!(sample.is_sorted());
                assert!(sample.iter().all(|time| (0.0..horizon.get()).contains(time)));
            }
            for fraction in [0.01, 0.1, 0.3, 0.6, 1.0] {
                let elapsed = Days::new(fraction * horizon.get());
                let unchanged =
                    |sample: &Vec<f64>| sample.first().is_none_or(|first| elapsed.get() <= *first);
                let survived: Vec<_> =
                    samples.iter().map(|sample| f64::from(u8::from(unchanged(sample)))).collect();
                check_mean(&survived, process.survival(elapsed, since), "survival");
            }
            if since == Since::AnyTime {
                let counts: Vec<_> = samples.iter().map(|sample| sample.len() as f64).collect();
                check_mean(&counts, process.mean_rate().get() * horizon.get(), "rate");
            }
        }
        check_limits(process);
    }

    #[track_caller]
    fn check_mean(values: &[f64], expected: f64, what: &str) {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n;
        let off = (mean - expected).abs();
        assert!(off <= ERRORS_MAX * (variance / n).sqrt() + 1.0 / n, "{what}: {mean}, not {expected}");
    }

    #[track_caller]
    fn check_limits(process: &impl ChangeProcess) {
        for since in [Since::Change, Since::AnyTime] {
            assert_eq!(process.survival(Days::ZERO, since), 1.0);
            assert_eq!(process.survival(Days::FOREVER, since), 0.0);
            let mut last = 1.0;
            for exponent in -300..=300 {
                let survival = process.survival(Days::new(10f64.powi(exponent)), since);
                assert!(survival <= last + 1e-12, "{since:?} at 1e{exponent}: {survival} after {last}");
                assert!((0.0..=1.0).contains(&survival));
                last = survival;
            }
            let mut random = ChaCha8Rng::seed_from_u64(2);
            assert!(process.sample(Days::ZERO, since, &mut random).is_empty());
        }
    }

    #[test]
    fn a_sample_ends_at_its_bound() {
        assert_eq!(changes_until(Days::FOREVER, 0.0, || 1.0).len(), CHANGES_MAX);
        assert_eq!(changes_until(Days::new(1.0), 0.0, || 0.0).len(), CHANGES_MAX);
    }
}
