//! Kaplan-Meier estimate of the survival function of observed lifetimes, without a model.
//!
//! **summary**, section 4.1, defines S(t), the probability that a lifetime is longer than t. Kaplan and
//! Meier's product estimates it from censored lifetimes, and Greenwood's sum its variance:
//!
//! > Ŝ(t) = Π (1 − d/n),  Var Ŝ(t) = Ŝ(t)² Σ d/(n(n − d))
//!
//! over the times u ≤ t at which `d` of the `n` lifetimes still at risk ended.
//!
//! # Promises
//! - The curve falls from one, by steps, only at the times of ends. Without censoring it is one minus the
//!   empirical distribution.
//! - An interval lies within [0, 1] and contains the estimate. Where the variance is zero (before the first
//!   end, and when the curve has reached zero) it is the estimate itself.
//!
//! # Departures
//! The text says "greater than or equal to t", but its Weibull form means the usual: S(t) is the probability
//! to last longer than t, so an end at t already counts at t.

use statrs::distribution::{ContinuousCDF, Normal};

use super::lifetime::Lifetime;

/// The Kaplan-Meier estimate of a survival function. Panics without lifetimes.
pub fn kaplan_meier(lifetimes: &[Lifetime]) -> SurvivalCurve {
    assert!(!lifetimes.is_empty());
    let mut sorted = lifetimes.to_vec();
    sorted.sort_by(|a, b| a.time().total_cmp(&b.time()));
    let mut at_risk = sorted.len();
    let (mut survival, mut variance_sum) = (1.0, 0.0);
    let mut steps = Vec::new();
    for same_time in sorted.chunk_by(|a, b| a.time() == b.time()) {
        let ended = same_time.iter().filter(|lifetime| lifetime.ended()).count();
        if ended > 0 {
            let (d, n) = (ended as f64, at_risk as f64);
            survival *= (n - d) / n;
            variance_sum += d / (n * (n - d));
            steps.push(Step { time: same_time[0].time(), at_risk, ended, survival, variance_sum });
        }
        at_risk -= same_time.len();
    }
    SurvivalCurve { steps }
}

/// A survival function that falls in steps.
#[derive(Clone, Debug, PartialEq)]
pub struct SurvivalCurve {
    steps: Vec<Step>,
}

/// A time at which lifetimes ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The time.
    pub time: f64,
    /// Number of lifetimes that reached this time.
    pub at_risk: usize,
    /// Number of lifetimes that ended at it.
    pub ended: usize,
    /// The estimate from this time on.
    pub survival: f64,
    /// Greenwood's sum up to this time; infinite when nothing is left at risk.
    variance_sum: f64,
}

/// The scale on which an interval is symmetric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntervalScale {
    /// The survival itself, cut to [0, 1].
    Plain,
    /// The logarithm of the cumulative hazard −ln S. It stays within [0, 1] without cutting and
    /// suits small samples better.
    LogHazard,
}

impl SurvivalCurve {
    /// The steps in order of time.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The estimated probability to last longer than `time`.
    pub fn survival_at(&self, time: f64) -> f64 {
        self.step_at(time).map_or(1.0, |step| step.survival)
    }

    /// Greenwood's interval at `time`, as (low, high). Panics unless `confidence` lies
    /// strictly between 0 and 1.
    pub fn interval_at(&self, time: f64, confidence: f64, scale: IntervalScale) -> (f64, f64) {
        assert!(0.0 < confidence);
        assert!(confidence < 1.0);
        let Some(step) = self.step_at(time).filter(|step| step.survival > 0.0) else {
            let survival = self.survival_at(time);
            return (survival, survival);
        };
        let z = Normal::standard().inverse_cdf(0.5 + confidence / 2.0);
        let (s, deviation) = (step.survival, z * step.variance_sum.sqrt());
        match scale {
            IntervalScale::Plain => ((s - s * deviation).max(0.0), (s + s * deviation).min(1.0)),
            IntervalScale::LogHazard => {
                let factor = (deviation / -s.ln()).exp();
                (s.powf(factor), s.powf(1.0 / factor))
            }
        }
    }

    /// The first time at which no more than half survive; `None` while more do.
    pub fn median(&self) -> Option<f64> {
        self.steps.iter().find(|step| step.survival <= 0.5).map(|step| step.time)
    }

    fn step_at(&self, time: f64) -> Option<&Step> {
        let passed = self.steps.partition_point(|step| step.time <= time);
        passed.checked_sub(1).map(|last| &self.steps[last])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Remission times of 21 patients under 6-MP (Freireich et al., 1963), the textbook example.
    fn remissions() -> SurvivalCurve {
        let ended = [6.0, 6.0, 6.0, 7.0, 10.0, 13.0, 16.0, 22.0, 23.0];
        let censored = [6.0, 9.0, 10.0, 11.0, 17.0, 19.0, 20.0, 25.0, 32.0, 32.0, 34.0, 35.0];
        let ended = ended.into_iter().map(Lifetime::ended_at);
        kaplan_meier(&ended.chain(censored.into_iter().map(Lifetime::censored_at)).collect::<Vec<_>>())
    }

    #[test]
    fn the_textbook_curve_comes_out() {
        let curve = remissions();
        for (time, expected) in [
            (5.9, 1.0),
            (6.0, 0.857_142_857),
            (7.0, 0.806_722_689),
            (10.0, 0.752_941_176),
            (13.0, 0.690_196_078),
            (16.0, 0.627_450_980),
            (22.0, 0.537_815_126),
            (100.0, 0.448_179_272),
        ] {
            assert!((curve.survival_at(time) - expected).abs() < 1e-9, "{time}");
        }
        assert_eq!(curve.median(), Some(23.0));
        assert_eq!((curve.steps()[1].at_risk, curve.steps()[1].ended), (17, 1));
    }

    #[test]
    fn greenwoods_interval_is_the_textbook_one() {
        // Standard error 0.096350 at ten weeks.
        let (low, high) = remissions().interval_at(10.0, 0.95, IntervalScale::Plain);
        assert!((low - 0.564_099_3).abs() < 1e-6 && (high - 0.941_783_0).abs() < 1e-6, "{low} {high}");
        // The same on the scale of the log hazard, as computed by lifelines.
        let (low, high) = remissions().interval_at(10.0, 0.95, IntervalScale::LogHazard);
        assert!((low - 0.503_199_5).abs() < 1e-6 && (high - 0.889_361_8).abs() < 1e-6, "{low} {high}");
    }

    #[test]
    fn an_end_of_all_leaves_nothing_and_no_nan() {
        let curve = kaplan_meier(&[Lifetime::ended_at(1.0), Lifetime::ended_at(1.0)]);
        for scale in [IntervalScale::Plain, IntervalScale::LogHazard] {
            assert_eq!(curve.interval_at(1.0, 0.95, scale), (0.0, 0.0));
            assert_eq!(curve.interval_at(0.5, 0.95, scale), (1.0, 1.0));
        }
        assert_eq!(kaplan_meier(&[Lifetime::censored_at(1.0)]).median(), None);
    }

    proptest! {
        #[test]
        fn without_censoring_the_curve_is_the_share_that_is_left(
            times in prop::collection::vec(0u8..20, 1..40),
        ) {
            let curve =
                kaplan_meier(&times.iter().map(|t| Lifetime::ended_at(f64::from(*t))).collect::<Vec<_>>());
            for t in 0..20 {
                let left = times.iter().filter(|time| **time > t).count() as f64 / times.len() as f64;
                prop_assert!((curve.survival_at(f64::from(t)) - left).abs() < 1e-12);
            }
        }

        #[test]
        fn an_interval_holds_its_estimate(
            lifetimes in prop::collection::vec((0u8..20, any::<bool>()), 1..40),
        ) {
            let lifetime = |(t, ended)| if ended {
                Lifetime::ended_at(f64::from(t))
            } else {
                Lifetime::censored_at(f64::from(t))
            };
            let curve = kaplan_meier(&lifetimes.into_iter().map(lifetime).collect::<Vec<_>>());
            for t in 0..20 {
                let s = curve.survival_at(f64::from(t));
                for scale in [IntervalScale::Plain, IntervalScale::LogHazard] {
                    let (low, high) = curve.interval_at(f64::from(t), 0.9, scale);
                    prop_assert!(0.0 <= low && low <= s && s <= high && high <= 1.0, "{low} {s} {high}");
                }
            }
        }
    }
}
