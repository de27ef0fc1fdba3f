//! Survival time of a content summary: until its divergence exceeds a threshold.
//!
//! **summary**, Definition 3:
//!
//! > the survival time is the smallest t for which KL of the t weeks old summary is greater than τ
//!
//! A summary whose divergence never exceeds it during the observation is censored at the last observed age.
//!
//! # Promises
//! - A divergence equal to the threshold is no change.
//! - Values after the first change do not matter.
//!
//! # Departures
//! None.

use crate::survival::lifetime::Lifetime;

/// The survival time of a summary, in periods: `divergences[t − 1]` is its divergence at age `t`.
///
/// Panics if a divergence is NaN.
pub fn survival_time(divergences: &[f64], divergence_threshold: f64) -> Lifetime {
    assert!(!divergence_threshold.is_nan());
    assert!(divergences.iter().all(|divergence| !divergence.is_nan()));
    match divergences.iter().position(|divergence| *divergence > divergence_threshold) {
        Some(before) => Lifetime::ended_at(before as f64 + 1.0),
        None => Lifetime::censored_at(divergences.len() as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(divergences: &[f64], expected: Lifetime) {
        assert_eq!(survival_time(divergences, 0.5), expected);
    }

    #[test]
    fn a_summary_lasts_until_it_first_exceeds_the_threshold() {
        check(&[0.1, 0.3, 0.5, 0.50001, 0.2], Lifetime::ended_at(4.0));
        check(&[0.6, 0.1], Lifetime::ended_at(1.0));
        check(&[0.1, 0.3, 0.5], Lifetime::censored_at(3.0));
        check(&[], Lifetime::censored_at(0.0));
    }
}
