//! Cox proportional hazards regression: the effect of covariates on a lifetime, whatever its baseline.
//!
//! **summary**, section 4.2:
//!
//! > ln h(t) = ln h0(t) + Σ β_k x_k
//!
//! with one unspecified baseline h0 per stratum and coefficients common to all strata. The coefficients
//! maximise the partial likelihood (see [`super::risk_sets`]). They are found by Newton's method, which
//! halves a step that does not raise the likelihood. Their standard errors are the square roots of the
//! diagonal of the inverse of the observed information.
//!
//! # Promises
//! - The gradient vanishes at the coefficients, to rounding, whatever the units of the covariates.
//! - A covariate that the likelihood does not depend on (constant in every risk set, or a
//!   combination of others) is reported, and so is a likelihood that grows without bound; no
//!   coefficient is made up for them.
//! - Without covariates the likelihood is that of the null model.
//!
//! # Departures
//! None. "The algorithm presented by Cox" is Newton's method on the same likelihood; the text does
//! not say how it handles ties.

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

use super::risk_sets::{Likelihood, Ties, likelihood};
use super::subjects::{Column, Subjects};

/// A fitted regression.
#[derive(Clone, Debug)]
pub struct CoxFit {
    /// β, one per covariate: the logarithm of the hazard ratio of one unit. Infinite
    /// where it exceeds a double.
    pub coefficients: Vec<f64>,
    /// Standard error of each coefficient.
    pub standard_errors: Vec<f64>,
    /// Logarithm of the partial likelihood at the coefficients.
    pub log_likelihood: f64,
    /// The same with all coefficients at zero.
    pub log_likelihood_null: f64,
    /// How ties were handled.
    pub ties: Ties,
    /// The coefficients of the scaled covariates.
    pub(super) scaled: Vec<f64>,
    /// The inverse of the information about them.
    pub(super) scaled_covariance: DMatrix<f64>,
}

/// Why the likelihood has no maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoMaximum {
    /// The likelihood does not depend on this covariate, given those before it.
    Undetermined {
        /// Its index among the covariates, from zero.
        covariate: usize,
    },
    /// The covariates order the ends perfectly: the likelihood grows with the coefficients without bound.
    Unbounded,
}

/// Fits the coefficients.
pub fn fit(subjects: &Subjects, ties: Ties) -> Result<CoxFit, NoMaximum> {
    let zero = DVector::zeros(subjects.covariates());
    let null = likelihood(subjects, zero.as_slice(), ties);
    let ends = subjects.blocks.iter().map(|block| block.ending.len()).sum::<usize>();
    if let Some(covariate) = undetermined(&null.information, ends) {
        return Err(NoMaximum::Undetermined { covariate });
    }
    let log_likelihood_null = null.logarithm;
    let (scaled, at, inverse) = climb(subjects, ties, ends, zero, null).ok_or(NoMaximum::Unbounded)?;
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

/// Maximum number of Newton steps before the likelihood counts as unbounded. An
/// ordinary fit takes five to ten.
const STEPS_MAX: usize = 100;

/// Maximum halvings of a step before it is taken anyway: by then it is lost in rounding.
const HALVINGS_MAX: usize = 40;

/// Newton's decrement (the square of the distance to the maximum in standard errors) below
/// which one more step is exact.
const DECREMENT_EXACT: f64 = 1e-18;

/// Maximum change of ln risk of any subject in the last step of a bounded fit. Where the likelihood is
/// unbounded each step adds about one, without end.
const LAST_CHANGE_MAX: f64 = 0.01;

/// Smallest variance of a covariate in the risk sets, as a share of its total variance and of the variance
/// that the other covariates leave it. Below this only rounding is left.
const DETERMINED_MIN: f64 = 1e-11;

/// Climbs from `coefficients` to the maximum; `None` when there is none.
fn climb(
    subjects: &Subjects,
    ties: Ties,
    ends: usize,
    mut coefficients: DVector<f64>,
    mut at: Likelihood,
) -> Option<(DVector<f64>, Likelihood, DMatrix<f64>)> {
    for _ in 0..STEPS_MAX {
        let factor = Factor::of(&at.information, ends)?;
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

/// The farthest point along `step`, halved as often as needed, at which the likelihood is not lower.
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

/// The first covariate that the likelihood does not depend on, given those before it.
fn undetermined(information: &DMatrix<f64>, ends: usize) -> Option<usize> {
    let singular =
        |first: &usize| Factor::of(&information.view((0, 0), (*first, *first)).into_owned(), ends).is_none();
    (1..=information.nrows()).find(singular).map(|first| first - 1)
}

/// An information matrix, scaled to a diagonal of ones and factored.
struct Factor {
    /// The square roots of the diagonal.
    scales: DVector<f64>,
    factor: Cholesky<f64, Dyn>,
}

impl Factor {
    /// `None` where the matrix is singular up to rounding.
    fn of(information: &DMatrix<f64>, ends: usize) -> Option<Self> {
        let p = information.nrows();
        // A scaled covariate has variance one: each end gives about one unit of
        // information, or only rounding.
        if !information.diagonal().iter().all(|element| *element > DETERMINED_MIN * ends as f64) {
            return None;
        }
        let scales = information.diagonal().map(f64::sqrt);
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

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::survival::lifetime::Lifetime;
    use proptest::prelude::*;

    /// Remission of 42 leukaemia patients (Freireich et al., 1963): week, ended, sex,
    /// ln of white cells, placebo.
    const REMISSIONS: [(u8, bool, u32, f64, f64); 42] = [
        (35, false, 1, 1.45, 0.0),
        (34, false, 1, 1.47, 0.0),
        (32, false, 1, 2.2, 0.0),
        (32, false, 1, 2.53, 0.0),
        (25, false, 1, 1.78, 0.0),
        (23, true, 1, 2.57, 0.0),
        (22, true, 1, 2.32, 0.0),
        (20, false, 1, 2.01, 0.0),
        (19, false, 0, 2.05, 0.0),
        (17, false, 0, 2.16, 0.0),
        (16, true, 1, 3.6, 0.0),
        (13, true, 0, 2.88, 0.0),
        (11, false, 0, 2.6, 0.0),
        (10, false, 0, 2.7, 0.0),
        (10, true, 0, 2.96, 0.0),
        (9, false, 0, 2.8, 0.0),
        (7, true, 0, 4.43, 0.0),
        (6, false, 0, 3.2, 0.0),
        (6, true, 0, 2.31, 0.0),
        (6, true, 1, 4.06, 0.0),
        (6, true, 0, 3.28, 0.0),
        (23, true, 1, 1.97, 1.0),
        (22, true, 0, 2.73, 1.0),
        (17, true, 0, 2.95, 1.0),
        (15, true, 0, 2.3, 1.0),
        (12, true, 0, 1.5, 1.0),
        (12, true, 0, 3.06, 1.0),
        (11, true, 0, 3.49, 1.0),
        (11, true, 0, 2.12, 1.0),
        (8, true, 0, 3.52, 1.0),
        (8, true, 0, 3.05, 1.0),
        (8, true, 0, 2.32, 1.0),
        (8, true, 1, 3.26, 1.0),
        (5, true, 1, 3.49, 1.0),
        (5, true, 0, 3.97, 1.0),
        (4, true, 1, 4.36, 1.0),
        (4, true, 1, 2.42, 1.0),
        (3, true, 1, 4.01, 1.0),
        (2, true, 1, 4.91, 1.0),
        (2, true, 1, 4.48, 1.0),
        (1, true, 1, 2.8, 1.0),
        (1, true, 1, 5.0, 1.0),
    ];

    fn lifetime(time: f64, ended: bool) -> Lifetime {
        if ended { Lifetime::ended_at(time) } else { Lifetime::censored_at(time) }
    }

    /// The patients, with both covariates multiplied by a factor and shifted by an offset.
    fn remissions(by_sex: bool, factor: f64, offset: f64) -> Subjects {
        let lifetimes: Vec<_> = REMISSIONS.iter().map(|r| lifetime(f64::from(r.0), r.1)).collect();
        let column = |pick: fn(&(u8, bool, u32, f64, f64)) -> f64| -> Vec<f64> {
            REMISSIONS.iter().map(|r| pick(r) * factor + offset).collect()
        };
        let strata: Vec<_> = REMISSIONS.iter().map(|r| if by_sex { r.2 } else { 0 }).collect();
        Subjects::stratified(&lifetimes, &[column(|r| r.3), column(|r| r.4)], &strata)
    }

    /// The patients in one stratum.
    pub(in crate::survival) fn all_remissions() -> Subjects {
        remissions(false, 1.0, 0.0)
    }

    #[track_caller]
    fn check(by_sex: bool, ties: Ties, expected: [f64; 6]) {
        let fit = fit(&remissions(by_sex, 1.0, 0.0), ties).expect("there is a maximum");
        let got = [
            fit.coefficients[0],
            fit.coefficients[1],
            fit.standard_errors[0],
            fit.standard_errors[1],
            fit.log_likelihood_null,
            fit.log_likelihood,
        ];
        for (got, expected) in got.iter().zip(expected) {
            assert!((got / expected - 1.0).abs() < 1e-9, "{got} is not {expected}");
        }
    }

    #[test]
    fn the_textbook_fits_come_out() {
        // Computed by Newton's method on the likelihoods of statsmodels.
        check(
            false,
            Ties::Efron,
            [
                1.690_890_388_820_6,
                1.386_075_530_630_8,
                0.335_897_590_278_8,
                0.424_798_393_979_6,
                -93.184_269_996_847_8,
                -69.828_101_060_734_5,
            ],
        );
        check(
            false,
            Ties::Breslow,
            [
                1.604_343_233_268_9,
                1.294_067_216_930_2,
                0.329_328_297_650_1,
                0.422_103_966_046_9,
                -93.985_050_478_245_2,
                -72.279_259_757_417_9,
            ],
        );
        check(
            true,
            Ties::Efron,
            [
                1.453_654_254_178_2,
                0.998_103_772_434_1,
                0.344_068_718_641_8,
                0.473_554_589_603_1,
                -71.764_694_487_336_5,
                -55.734_815_031_158_2,
            ],
        );
        check(
            true,
            Ties::Breslow,
            [
                1.390_239_034_380_2,
                0.930_964_615_514_2,
                0.337_623_224_557_2,
                0.471_766_348_201_4,
                -72.559_709_248_246_9,
                -57.559_751_393_394_3,
            ],
        );
    }

    #[test]
    fn units_of_the_covariates_only_scale_the_coefficients() {
        let plain = fit(&remissions(true, 1.0, 0.0), Ties::Efron).expect("there is a maximum");
        for (factor, offset) in [(1e-250, 0.0), (1e250, 0.0), (-1e3, 1e6), (1.0, -4096.0)] {
            let scaled = fit(&remissions(true, factor, offset), Ties::Efron).expect("there is a maximum");
            for k in 0..2 {
                let error = (scaled.coefficients[k] * factor / plain.coefficients[k] - 1.0).abs();
                assert!(error < 1e-9, "{factor:e} {offset:e}: {error:e}");
                let error = (scaled.standard_errors[k] * factor.abs() / plain.standard_errors[k] - 1.0).abs();
                assert!(error < 1e-9, "{factor:e} {offset:e}: {error:e}");
            }
        }
    }

    #[track_caller]
    fn check_none(lifetimes: &[Lifetime], covariates: &[Vec<f64>], strata: &[u32], expected: NoMaximum) {
        let subjects = Subjects::stratified(lifetimes, covariates, strata);
        for ties in [Ties::Efron, Ties::Breslow] {
            assert_eq!(fit(&subjects, ties).map(|fit| fit.coefficients).expect_err("no maximum"), expected);
        }
    }

    #[test]
    fn a_covariate_without_a_say_is_named() {
        let lifetimes: Vec<_> = (0..6).map(|t| lifetime(f64::from(t), t != 3)).collect();
        let x = vec![0.3, 0.1, 0.7, 0.2, 0.9, 0.4];
        let twice: Vec<_> = x.iter().map(|x| 3.0 - 2.0 * x).collect();
        let named = |covariate| NoMaximum::Undetermined { covariate };
        check_none(&lifetimes, &[x.clone(), vec![0.1; 6]], &[0; 6], named(1));
        check_none(&lifetimes, &[x.clone(), twice], &[0; 6], named(1));
        check_none(&lifetimes, &[vec![0.1, 0.1, 0.1, 0.7, 0.7, 0.7], x], &[1, 1, 1, 2, 2, 2], named(0));
        check_none(&[Lifetime::ended_at(1.0)], &[vec![5.0]], &[0], named(0));
        // Only the last one ends, alone in its risk set.
        let last: Vec<_> = (0..4).map(|t| lifetime(f64::from(t), t == 3)).collect();
        check_none(&last, &[vec![1.0, 2.0, 4.0, 3.0]], &[0; 4], named(0));
    }

    #[test]
    fn a_likelihood_without_end_is_told() {
        let lifetimes: Vec<_> = (0..6).map(|t| lifetime(f64::from(t), true)).collect();
        let falling: Vec<_> = (0..6).map(|t| f64::from(-t)).collect();
        check_none(&lifetimes, &[falling], &[0; 6], NoMaximum::Unbounded);
        // No subject of one group ends.
        let lifetimes: Vec<_> = (0..40).map(|t| lifetime(f64::from(t % 7), t % 2 == 0)).collect();
        let group: Vec<_> = (0..40).map(|t| f64::from(t % 2)).collect();
        let other: Vec<_> = (0..40).map(|t| f64::from(t * t % 11)).collect();
        check_none(&lifetimes, &[other, group], &[0; 40], NoMaximum::Unbounded);
    }

    #[test]
    fn without_covariates_the_likelihood_is_the_null_one() {
        let lifetimes: Vec<_> = (0..6).map(|t| lifetime(f64::from(t / 2), t != 3)).collect();
        let none: [Vec<f64>; 0] = [];
        let fit = fit(&Subjects::new(&lifetimes, &none), Ties::Breslow).expect("there is a maximum");
        assert!(fit.coefficients.is_empty());
        // Risk sets of six, six, four, two and two.
        let expected = -f64::ln(6.0 * 6.0 * 4.0 * 2.0 * 2.0);
        assert!((fit.log_likelihood - expected).abs() < 1e-14, "{}", fit.log_likelihood);
        assert_eq!(fit.log_likelihood, fit.log_likelihood_null);
    }

    #[test]
    fn if_all_end_at_once_no_covariate_matters() {
        let lifetimes = [Lifetime::ended_at(1.0); 5];
        let fit =
            fit(&Subjects::new(&lifetimes, &[[1.0, 4.0, 2.0, 8.0, 3.0]]), Ties::Efron).expect("a maximum");
        assert!(fit.coefficients[0].abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn the_gradient_vanishes_at_the_maximum(
            people in prop::collection::vec((0u8..9, 0u8..4, 0u32..3, -3.0..3.0f64, -1e3..1e3f64), 20..60),
            efron in any::<bool>(),
        ) {
            let lifetimes: Vec<_> = people.iter().map(|p| lifetime(f64::from(p.0), p.1 > 0)).collect();
            let strata: Vec<_> = people.iter().map(|p| p.2).collect();
            let columns =
                [people.iter().map(|p| p.3).collect(), people.iter().map(|p| p.4).collect::<Vec<_>>()];
            prop_assume!(lifetimes.iter().any(|lifetime| lifetime.ended()));
            let subjects = Subjects::stratified(&lifetimes, &columns, &strata);
            let ties = if efron { Ties::Efron } else { Ties::Breslow };
            if let Ok(fit) = fit(&subjects, ties) {
                let at = likelihood(&subjects, &fit.scaled, ties);
                let distance = (&fit.scaled_covariance * &at.score).dot(&at.score).sqrt();
                prop_assert!(distance < 1e-11, "{distance:e}");
                prop_assert!((at.logarithm - fit.log_likelihood).abs() < 1e-9);
                prop_assert!(fit.log_likelihood >= fit.log_likelihood_null);
            }
        }
    }
}
