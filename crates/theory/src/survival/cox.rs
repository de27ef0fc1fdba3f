//! Cox's proportional hazards regression: what the covariates do to a lifetime, whatever its baseline.
//!
//! **summary**, section 4.2:
//!
//! > ln h(t) = ln h0(t) + Σ β_k x_k
//!
//! with one unspecified baseline h0 per stratum and coefficients common to all strata. The coefficients maximise the
//! partial likelihood (see [`super::risk_sets`]), found by Newton's method, which halves a step that does not climb; their
//! standard errors are the roots of the diagonal of the inverse of the observed information.
//!
//! # Promises
//! - The gradient vanishes at the coefficients, to rounding, whatever the units of the covariates.
//! - A covariate that the likelihood does not depend on (constant in every risk set, or a combination of others) is named,
//!   and so is a likelihood that grows without end; no coefficient is invented for them.
//! - Without covariates the likelihood is that of the null model.
//!
//! # Departures
//! None. "The algorithm presented by Cox" is Newton's method on the same likelihood; the text does not name its ties.

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

use super::risk_sets::{Likelihood, Ties, likelihood};
use super::subjects::{Column, Subjects};

/// A fitted regression.
#[derive(Clone, Debug)]
pub struct CoxFit {
    /// β, one per covariate: the logarithm of the hazard ratio of one unit. Infinite where it exceeds a double.
    pub coefficients: Vec<f64>,
    /// Standard error of each coefficient.
    pub standard_errors: Vec<f64>,
    /// Logarithm of the partial likelihood at the coefficients.
    pub log_likelihood: f64,
    /// The same with all coefficients zero.
    pub log_likelihood_null: f64,
    /// How ties were handled.
    pub ties: Ties,
    /// The coefficients of the scaled covariates.
    pub(super) scaled: Vec<f64>,
    /// The inverse of the information about them.
    pub(super) scaled_covariance: DMatrix<f64>,
}

/// Why there are no coefficients at which the likelihood is greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoMaximum {
    /// The likelihood does not depend on this covariate, given those before it.
    Undetermined {
        /// Its place among the covariates, from zero.
        covariate: usize,
    },
    /// The covariates order the ends perfectly: the likelihood grows on and on with the coefficients.
    Unbounded,
}

/// Fits the coefficients.
pub fn fit(subjects: &Subjects, ties: Ties) -> Result<CoxFit, NoMaximum> {
    let zero = DVector::zeros(subjects.covariates());
    let null = likelihood(subjects, zero.as_slice(), ties);
    let ends = subjects.blocks.iter().map(|block| block.ending.len()).sum::<usize>();
    if let Some(covariate) = undetermined(&null.information, ends as f64) {
        return Err(NoMaximum::Undetermined { covariate });
    }
    let log_likelihood_null = null.logarithm;
    let (scaled, at, inverse) = climb(subjects, ties, zero, null).ok_or(NoMaximum::Unbounded)?;
    let unscale = |value: f64, column: &Column| value / 2.0 / column.half_deviation;
    Ok(CoxFit {
        coefficients: scaled.iter().zip(&subjects.columns).map(|(b, column)| unscale(*b, column)).collect(),
        standard_errors: (0..scaled.len())
            .map(|k| unscale(inverse[(k, k)].sqrt(), &subjects.columns[k]))
            .collect(),
        log_likelihood: at.logarithm,
        log_likelihood_null,
        ties,
        scaled: scaled.as_slice().to_vec(),
        scaled_covariance: inverse,
    })
}

/// Steps of Newton's method before the likelihood counts as unbounded. An ordinary fit takes five to ten.
const STEPS_MAX: usize = 100;

/// Halvings of a step before it is taken as it is: by then it is lost in rounding.
const HALVINGS_MAX: usize = 40;

/// Newton's decrement, the square of the distance to the maximum in standard errors, from which one more step is exact.
const DECREMENT_EXACT: f64 = 1e-18;

/// How much the last step of a bounded fit may change the logarithm of any risk. Where the likelihood is unbounded each
/// step adds about one, for ever.
const LAST_CHANGE_MAX: f64 = 0.01;

/// Variance left to a covariate, as a share, below which the others explain it up to rounding.
const DETERMINED_MIN: f64 = 1e-11;

/// Climbs from `coefficients` to the maximum; none when there is none.
fn climb(
    subjects: &Subjects,
    ties: Ties,
    mut coefficients: DVector<f64>,
    mut at: Likelihood,
) -> Option<(DVector<f64>, Likelihood, DMatrix<f64>)> {
    for _ in 0..STEPS_MAX {
        let factor = Factor::of(&at.information)?;
        let step = factor.solve(&at.score);
        if at.score.dot(&step) <= DECREMENT_EXACT {
            let change: f64 =
                step.iter().zip(&subjects.columns).map(|(s, column)| s.abs() * column.reach).sum();
            return (change <= LAST_CHANGE_MAX).then(|| (coefficients + step, at, factor.inverse()));
        }
        (coefficients, at) = climb_once(subjects, ties, &coefficients, &at, step);
    }
    None
}

/// The farthest point along `step`, halved as often as needed, at which the likelihood is no lower.
fn climb_once(
    subjects: &Subjects,
    ties: Ties,
    coefficients: &DVector<f64>,
    at: &Likelihood,
    mut step: DVector<f64>,
) -> (DVector<f64>, Likelihood) {
    // Near the maximum the gain of a step is below the rounding of the sum.
    let floor = at.logarithm - 1e-12 * at.logarithm.abs();
    for _ in 0..HALVINGS_MAX {
        let next = coefficients + &step;
        let there = likelihood(subjects, next.as_slice(), ties);
        if there.logarithm >= floor {
            return (next, there);
        }
        step /= 2.0;
    }
    let next = coefficients + step;
    let there = likelihood(subjects, next.as_slice(), ties);
    (next, there)
}

/// The first covariate about which the likelihood says nothing, given those before it.
fn undetermined(information: &DMatrix<f64>, ends: f64) -> Option<usize> {
    // A scaled covariate has variance one: about one unit of information per end, or rounding only.
    let constant = (0..information.nrows()).find(|&k| information[(k, k)] <= DETERMINED_MIN * ends);
    let explained = (1..=information.nrows())
        .find(|&k| Factor::of(&information.view((0, 0), (k, k)).into_owned()).is_none())
        .map(|k| k - 1);
    constant.into_iter().chain(explained).min()
}

/// An information matrix, scaled to a diagonal of ones and factored.
struct Factor {
    /// The roots of the diagonal.
    scales: DVector<f64>,
    factor: Cholesky<f64, Dyn>,
}

impl Factor {
    /// None where the matrix is singular up to rounding.
    fn of(information: &DMatrix<f64>) -> Option<Self> {
        let p = information.nrows();
        let scales = information.diagonal().map(f64::sqrt);
        if !scales.iter().all(|scale| *scale > 0.0) {
            return None;
        }
        let scaled = DMatrix::from_fn(p, p, |i, j| information[(i, j)] / scales[i] / scales[j]);
        let factor = Cholesky::new(scaled)?;
        let pivots = factor.l_dirty().diagonal();
        pivots.iter().all(|pivot| pivot * pivot > DETERMINED_MIN).then_some(Self { scales, factor })
    }

    /// The x with information · x = `right`.
    fn solve(&self, right: &DVector<f64>) -> DVector<f64> {
        self.factor.solve(&right.component_div(&self.scales)).component_div(&self.scales)
    }

    /// The inverse of the information.
    fn inverse(&self) -> DMatrix<f64> {
        let inverse = self.factor.inverse();
        DMatrix::from_fn(inverse.nrows(), inverse.ncols(), |i, j| {
            inverse[(i, j)] / self.scales[i] / self.scales[j]
        })
    }
}
