//! Test of proportional hazards: does the effect of a covariate stay the same over time?
//!
//! **summary**, sections 4.2 and 4.3: Cox's model requires it, and the domain of a database failed the test,
//! which is why the text stratifies by domain. The text does not name its test; this is the one of Grambsch
//! and Therneau (1994), with the scaled Schoenfeld residuals.
//!
//! A Schoenfeld residual s is the covariate of a subject that ends minus the mean of its risk set
//! (weighted by risk; Efron's ties average the means). With d ends, V the covariance of the coefficients,
//! and g(t) a scale of time:
//!
//! > u = Σ (g − ḡ) s,  χ²_k = d (V u)_k² / (V_kk Σ (g − ḡ)²),  χ² = d uᵀ V u / Σ (g − ḡ)²
//!
//! with one degree of freedom per covariate, and as many as covariates for all together.
//!
//! # Promises
//! - A statistic does not depend on the units of the covariates.
//! - Crossing hazards are rejected, proportional ones are not (tests by simulation).
//!
//! # Departures
//! The test assumes that the variance of the residuals is equal at all ends, as the 1994 article and
//! lifelines do. R's `cox.zph` does so up to version 2; since version 3 it uses the exact score test, whose
//! values differ by a few percent.

use nalgebra::DVector;
use statrs::distribution::{ChiSquared, ContinuousCDF};

use super::cox::CoxFit;
use super::kaplan_meier::kaplan_meier;
use super::risk_sets::{Risks, walk};
use super::subjects::Subjects;

/// The scale of time on which an effect is checked for a trend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeScale {
    /// Untransformed time.
    Identity,
    /// The rank of each end among the ends; equal times share their mean rank.
    Rank,
    /// One minus the Kaplan-Meier estimate of all subjects just before the end: the default of R.
    KaplanMeier,
}

/// A test statistic with its p-value under proportional hazards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChiSquare {
    /// The statistic.
    pub statistic: f64,
    /// Its degrees of freedom.
    pub degrees_of_freedom: usize,
    /// The probability of a statistic at least as large under proportional hazards.
    pub p_value: f64,
}

/// Tests of each covariate and of all together.
#[derive(Clone, Debug, PartialEq)]
pub struct ProportionalHazards {
    /// One test per covariate.
    pub covariates: Vec<ChiSquare>,
    /// The test of all covariates together.
    pub global: ChiSquare,
}

/// Tests whether the effects stay the same over time. `None` where all ends share one
/// time, or without covariates.
///
/// Panics unless `fit` was made from `subjects`.
pub fn test_proportional_hazards(
    subjects: &Subjects,
    fit: &CoxFit,
    scale: TimeScale,
) -> Option<ProportionalHazards> {
    assert_eq!(subjects.covariates(), fit.scaled.len());
    let mut ends = residuals(subjects, fit);
    rescale(&mut ends, subjects, scale);
    let d: f64 = ends.iter().map(|end| end.ends as f64).sum();
    let mean = ends.iter().map(|end| end.ends as f64 * end.time).sum::<f64>() / d;
    let spread: f64 = ends.iter().map(|end| end.ends as f64 * (end.time - mean).powi(2)).sum();
    if spread <= 0.0 || fit.scaled.is_empty() {
        return None;
    }
    let mut trend = DVector::zeros(fit.scaled.len());
    for end in &ends {
        trend += &end.residual * (end.time - mean);
    }
    let covariance = &fit.scaled_covariance;
    let scaled = covariance * &trend;
    let single = |k: usize| chi_square(d * scaled[k].powi(2) / (covariance[(k, k)] * spread), 1);
    Some(ProportionalHazards {
        covariates: (0..trend.len()).map(single).collect(),
        global: chi_square(d * trend.dot(&scaled) / spread, trend.len()),
    })
}

/// The subjects that end at one time in one stratum.
struct Ends {
    /// The time, on the scale of the test.
    time: f64,
    ends: usize,
    /// The sum of their Schoenfeld residuals, in scaled covariates.
    residual: DVector<f64>,
}

fn residuals(subjects: &Subjects, fit: &CoxFit) -> Vec<Ends> {
    let width = fit.scaled.len();
    let mut ends = Vec::with_capacity(subjects.blocks.len());
    walk(subjects, &Risks::at(subjects, &fit.scaled), |set| {
        let sum_of = |k: usize, _| subjects.columns[k].values[set.block.ending.clone()].iter().sum();
        let mut residual = DVector::from_fn(width, sum_of);
        for g in set.weights(fit.ties) {
            let total = set.others[0] + g * set.ended[0];
            for k in 0..width {
                residual[k] -= (set.others[1 + k] + g * set.ended[1 + k]) / total;
            }
        }
        ends.push(Ends { time: set.block.time, ends: set.ends(), residual });
    });
    ends
}

/// Converts the times of the ends to the scale of the test.
fn rescale(ends: &mut [Ends], subjects: &Subjects, scale: TimeScale) {
    ends.sort_by(|a, b| a.time.total_cmp(&b.time));
    match scale {
        TimeScale::Identity => {}
        TimeScale::Rank => {
            let mut before = 0;
            for same_time in ends.chunk_by_mut(|a, b| a.time == b.time) {
                let count: usize = same_time.iter().map(|end| end.ends).sum();
                let rank = before as f64 + (count as f64 + 1.0) / 2.0;
                same_time.iter_mut().for_each(|end| end.time = rank);
                before += count;
            }
        }
        TimeScale::KaplanMeier => {
            let curve = kaplan_meier(&subjects.lifetimes);
            ends.iter_mut().for_each(|end| end.time = 1.0 - curve.survival_at(end.time.next_down()));
        }
    }
}

fn chi_square(statistic: f64, degrees_of_freedom: usize) -> ChiSquare {
    let distribution = ChiSquared::new(degrees_of_freedom as f64).expect("there is a degree of freedom");
    ChiSquare { statistic, degrees_of_freedom, p_value: distribution.sf(statistic) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::survival::cox::{fit, tests::all_remissions};
    use crate::survival::lifetime::Lifetime;
    use crate::survival::risk_sets::Ties;
    use rand::{RngExt as _, SeedableRng as _};
    use rand_chacha::ChaCha8Rng;

    #[track_caller]
    fn check(scale: TimeScale, expected: [f64; 3]) {
        let subjects = all_remissions();
        let fit = fit(&subjects, Ties::Efron).expect("there is a maximum");
        let test = test_proportional_hazards(&subjects, &fit, scale).expect("the times differ");
        let got = [test.covariates[0].statistic, test.covariates[1].statistic, test.global.statistic];
        for (got, expected) in got.iter().zip(expected) {
            assert!((got / expected - 1.0).abs() < 1e-8, "{got} is not {expected}");
        }
    }

    #[test]
    fn the_statistics_are_those_of_the_article() {
        // lifelines gives the same first two values on the identity scale; the others are
        // computed from the definition.
        check(TimeScale::Identity, [0.069_397_123_768_52, 0.024_726_354_060_157, 0.088_119_989_247_646]);
        check(TimeScale::Rank, [0.012_212_658_715_309, 9.077_928_061_244e-5, 0.012_213_277_036_615]);
        check(
            TimeScale::KaplanMeier,
            [0.034_454_747_290_35, 0.000_541_990_100_863_17, 0.034_529_067_485_903],
        );
        let subjects = all_remissions();
        let fit = fit(&subjects, Ties::Efron).expect("there is a maximum");
        let test =
            test_proportional_hazards(&subjects, &fit, TimeScale::KaplanMeier).expect("the times differ");
        assert!((test.global.p_value - 0.982_883_644_352_385).abs() < 1e-9);
        assert_eq!(test.global.degrees_of_freedom, 2);
    }

    /// The p-value of a group whose lifetimes have this Weibull shape, against one whose shape is one.
    fn p_value(shape: f64) -> f64 {
        let mut random = ChaCha8Rng::seed_from_u64(3);
        let group: Vec<f64> = (0..600).map(|i| f64::from(i % 2)).collect();
        let lifetimes: Vec<_> = group
            .iter()
            .map(|group| {
                let hazard = -(1.0 - random.random::<f64>()).ln();
                Lifetime::ended_at(if *group == 0.0 { hazard } else { (hazard / 2.0).powf(1.0 / shape) })
            })
            .collect();
        let subjects = Subjects::new(&lifetimes, &[group]);
        let fit = fit(&subjects, Ties::Efron).expect("there is a maximum");
        test_proportional_hazards(&subjects, &fit, TimeScale::KaplanMeier)
            .expect("the times differ")
            .global
            .p_value
    }

    #[test]
    fn crossing_hazards_are_found_out_and_proportional_ones_are_not() {
        assert!(p_value(1.0) > 0.05, "{}", p_value(1.0));
        assert!(p_value(1.6) < 1e-4, "{}", p_value(1.6));
    }

    #[test]
    fn ends_at_one_time_have_no_trend() {
        let subjects = Subjects::new(&[Lifetime::ended_at(1.0); 4], &[[1.0, 2.0, 4.0, 3.0]]);
        let fit = fit(&subjects, Ties::Efron).expect("there is a maximum");
        assert_eq!(test_proportional_hazards(&subjects, &fit, TimeScale::Rank), None);
    }
}
