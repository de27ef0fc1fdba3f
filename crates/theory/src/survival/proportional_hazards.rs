//! Whether hazards are proportional: does the effect of a covariate stay the same over time?
//!
//! **summary**, sections 4.2 and 4.3: Cox's model requires it, and the domain of a database failed it, which is why the
//! text stratifies by domain. The text does not name its test; this is the one of Grambsch and Therneau (1994), with the
//! scaled Schoenfeld residuals.
//!
//! A Schoenfeld residual s is what a subject that ends has of a covariate above the mean of its risk set (weighted by
//! risk; Efron's ties average the means). With d ends, V the covariance of the coefficients, and g(t) a scale of time:
//!
//! > u = Σ (g − ḡ) s,  χ²_k = d (V u)_k² / (V_kk Σ (g − ḡ)²),  χ² = d uᵀ V u / Σ (g − ḡ)²
//!
//! with one degree of freedom per covariate and as many as covariates together.
//!
//! # Promises
//! - A statistic does not depend on the units of the covariates.
//! - Hazards that do cross are found out, proportional ones are not (tests by simulation).
//!
//! # Departures
//! The test takes the variance of the residuals as equal at all ends, as the 1994 article and lifelines do. R's `cox.zph`
//! does so up to version 2; since version 3 it uses the exact score test, whose values differ by a few percent.

use nalgebra::DVector;
use statrs::distribution::{ChiSquared, ContinuousCDF};

use super::cox::CoxFit;
use super::kaplan_meier::kaplan_meier;
use super::risk_sets::walk;
use super::subjects::Subjects;

/// The scale of time on which an effect is checked for a trend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeScale {
    /// Time as it is.
    Identity,
    /// The rank of each end among the ends, equal times sharing the mean of theirs.
    Rank,
    /// One minus the Kaplan-Meier estimate of all subjects just before the end: what R uses unless told otherwise.
    KaplanMeier,
}

/// A test statistic, and how likely one as large is when hazards are proportional.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChiSquare {
    /// The statistic.
    pub statistic: f64,
    /// Its degrees of freedom.
    pub degrees_of_freedom: usize,
    /// The probability of a statistic at least as large under proportional hazards.
    pub p_value: f64,
}

/// The test of each covariate and of all together.
#[derive(Clone, Debug, PartialEq)]
pub struct ProportionalHazards {
    /// One test per covariate.
    pub covariates: Vec<ChiSquare>,
    /// The test of all covariates together.
    pub global: ChiSquare,
}

/// Tests whether the effects stay the same over time; none where all ends share one time, or without covariates.
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

/// Ends at one time in one stratum.
struct Ends {
    /// When, on the scale of the test.
    time: f64,
    ends: usize,
    /// The sum of their Schoenfeld residuals, in scaled covariates.
    residual: DVector<f64>,
}

fn residuals(subjects: &Subjects, fit: &CoxFit) -> Vec<Ends> {
    let width = fit.scaled.len();
    let mut ends = Vec::with_capacity(subjects.blocks.len());
    walk(width, subjects, &fit.scaled, |set| {
        let mut residual = DVector::zeros(width);
        for row in set.block.ending.clone() {
            residual += DVector::from_column_slice(&subjects.rows[row * width..(row + 1) * width]);
        }
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

/// Puts the times of the ends on the scale of the test.
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
