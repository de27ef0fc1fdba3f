//! Compares our Cox regression with the crate `survival`, an independent implementation modelled on
//! R's package of that name.
//!
//! We do not build on it: it has no least-squares Weibull fit, returns NaN for coefficients it cannot
//! determine and a large number for unbounded ones, and has only the newer variant of the test of
//! proportional hazards. The results must agree where both have them.

use freshet_theory::survival::cox::fit;
use freshet_theory::survival::kaplan_meier::kaplan_meier;
use freshet_theory::survival::lifetime::Lifetime;
use freshet_theory::survival::risk_sets::Ties;
use freshet_theory::survival::subjects::Subjects;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use survival::regression::{CoxPHFit, CoxphData, CoxphOptions, TieMethod};
use survival::surv_analysis::{SurvfitKMData, SurvfitKMOptions, survfitkm};

struct Cohort {
    lifetimes: Vec<Lifetime>,
    rows: Vec<[f64; 3]>,
    strata: Vec<u32>,
}

impl Cohort {
    /// Times with many ties, and covariates of different magnitudes.
    fn draw(seed: u64, count: usize) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut cohort = Self { lifetimes: Vec::new(), rows: Vec::new(), strata: Vec::new() };
        for _ in 0..count {
            let row =
                [random.random::<f64>(), 1e4 * random.random::<f64>(), f64::from(random.random::<bool>())];
            let hazard = -(1.0 - random.random::<f64>()).ln() / (row[0] - 1e-4 * row[1] + row[2]).exp();
            let time = (20.0 * hazard).ceil();
            let ended = random.random::<f64>() < 0.7;
            cohort.lifetimes.push(if ended { Lifetime::ended_at(time) } else { Lifetime::censored_at(time) });
            cohort.rows.push(row);
            cohort.strata.push(random.random_range(0..3));
        }
        cohort
    }

    fn columns(&self) -> [Vec<f64>; 3] {
        std::array::from_fn(|k| self.rows.iter().map(|row| row[k]).collect())
    }

    fn times(&self) -> Vec<f64> {
        self.lifetimes.iter().map(|lifetime| lifetime.time()).collect()
    }

    fn status(&self) -> Vec<i32> {
        self.lifetimes.iter().map(|lifetime| i32::from(lifetime.ended())).collect()
    }
}

#[track_caller]
fn check(ours: f64, theirs: f64) {
    assert!((ours - theirs).abs() <= 1e-8 * theirs.abs(), "{ours} is not {theirs}");
}

#[test]
fn cox_regression() {
    for (seed, count) in [(1, 40), (2, 150), (3, 1000)] {
        let cohort = Cohort::draw(seed, count);
        let subjects = Subjects::stratified(&cohort.lifetimes, &cohort.columns(), &cohort.strata);
        for (ties, method) in [(Ties::Efron, TieMethod::Efron), (Ties::Breslow, TieMethod::Breslow)] {
            let ours = fit(&subjects, ties).expect("the data are ordinary");
            let strata = cohort.strata.iter().map(|stratum| *stratum as i32).collect();
            let rows = cohort.rows.clone().into();
            let data =
                CoxphData::try_new(cohort.times(), None, cohort.status(), rows, None, Some(strata), None);
            let options = CoxphOptions { method, eps: 1e-14, iter_max: 50, ..CoxphOptions::default() };
            let theirs = CoxPHFit::fit(data.expect("the data are ordinary"), options).expect("it converges");
            for k in 0..3 {
                check(ours.coefficients[k], theirs.coefficients[k]);
                check(ours.standard_errors[k], theirs.var[[k, k]].sqrt());
            }
            check(ours.log_likelihood_null, theirs.loglik[0]);
            check(ours.log_likelihood, theirs.loglik[1]);
        }
    }
}

#[test]
fn kaplan_meier_curve() {
    let cohort = Cohort::draw(4, 200);
    let ours = kaplan_meier(&cohort.lifetimes);
    let data = SurvfitKMData::right_censored(cohort.times(), cohort.status()).expect("the data are ordinary");
    let theirs = survfitkm(&data, &SurvfitKMOptions::default()).expect("the data are ordinary");
    for (time, survival) in theirs.time.iter().zip(&theirs.surv) {
        check(ours.survival_at(*time), *survival);
    }
}
