//! Baseline survival of a Cox model: the survival of a subject whose covariates are all zero.
//!
//! Breslow's estimate, per stratum (the S0(t) of **summary**, section 4.3, "defined
//! only by a set of values"):
//!
//! > H0(t) = Σ over times u ≤ t of d(u) / Σ over the risk set of exp(β·x),  S0(t) = exp(−H0(t))
//!
//! with d(u) ends at u, for both ways of handling ties. The survival of any subject is S0(t)^exp(β·x).
//!
//! # Promises
//! - S0 falls from one and never below zero. In a stratum without an end it stays at one.
//! - No overflow: a hazard too large for a double is infinite, and its survival zero.
//!
//! # Departures
//! None.

use super::cox::CoxFit;
use super::risk_sets::{Risks, walk};
use super::subjects::Subjects;

/// Baseline of one stratum: its cumulative hazard where all covariates are zero, as steps in order of time.
#[derive(Clone, Debug, PartialEq)]
pub struct Baseline {
    /// The stratum's number.
    pub stratum: u32,
    /// Each time at which subjects end, with the cumulative hazard from that time on.
    pub steps: Vec<(f64, f64)>,
}

impl Baseline {
    /// H0 at this time.
    pub fn hazard_at(&self, time: f64) -> f64 {
        let passed = self.steps.partition_point(|(step, _)| *step <= time);
        passed.checked_sub(1).map_or(0.0, |last| self.steps[last].1)
    }

    /// S0 at this time.
    pub fn survival_at(&self, time: f64) -> f64 {
        (-self.hazard_at(time)).exp()
    }
}

/// The baseline of each stratum, in rising order of its number. Panics unless `fit` was made from `subjects`.
pub fn baselines(subjects: &Subjects, fit: &CoxFit) -> Vec<Baseline> {
    assert_eq!(subjects.covariates(), fit.scaled.len());
    let mut baselines: Vec<_> = subjects
        .strata
        .iter()
        .map(|stratum| Baseline { stratum: stratum.number, steps: Vec::new() })
        .collect();
    let mut current = 0;
    walk(subjects, &Risks::at(subjects, &fit.scaled), |set| {
        while baselines[current].stratum != set.stratum.number {
            current += 1;
        }
        // Risks were summed with centred covariates; this is the offset of zero from the centre.
        let at_zero: f64 =
            fit.scaled.iter().zip(&set.stratum.centre).map(|(beta, centre)| beta * centre).sum();
        let total = set.others[0] + set.ended[0];
        let log_hazard = (set.ends() as f64).ln() - total.ln() - set.reference - at_zero;
        baselines[current].steps.push((set.block.time, log_hazard.exp()));
    });
    for baseline in &mut baselines {
        baseline.steps.reverse();
        let mut sum = 0.0;
        for (_, hazard) in &mut baseline.steps {
            sum += *hazard;
            *hazard = sum;
        }
    }
    baselines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::survival::cox::fit;
    use crate::survival::lifetime::Lifetime;
    use crate::survival::risk_sets::Ties;

    fn cohort() -> (Vec<Lifetime>, Vec<f64>, Vec<u32>) {
        let lifetimes = (0..30).map(|i| {
            let time = f64::from(i * i % 13);
            if i % 4 == 0 || i % 3 == 2 { Lifetime::censored_at(time) } else { Lifetime::ended_at(time) }
        });
        let covariate = (0..30).map(|i| f64::from(i * 7 % 11) / 10.0);
        // No subject of the last stratum ends.
        (lifetimes.collect(), covariate.collect(), (0..30).map(|i| i % 3).collect())
    }

    #[test]
    fn the_hazard_is_the_sum_of_its_definition() {
        let (lifetimes, x, strata) = cohort();
        for ties in [Ties::Efron, Ties::Breslow] {
            let subjects = Subjects::stratified(&lifetimes, &[&x], &strata);
            let fit = fit(&subjects, ties).expect("there is a maximum");
            let baselines = baselines(&subjects, &fit);
            assert_eq!(baselines.iter().map(|baseline| baseline.stratum).collect::<Vec<_>>(), [0, 1, 2]);
            for baseline in baselines {
                let of_stratum: Vec<usize> =
                    (0..x.len()).filter(|&i| strata[i] == baseline.stratum).collect();
                let mut expected = 0.0;
                for t in 0..13 {
                    let time = f64::from(t);
                    let risk = |&&i: &&usize| {
                        (lifetimes[i].time() >= time).then(|| (fit.coefficients[0] * x[i]).exp())
                    };
                    let total: f64 = of_stratum.iter().filter_map(|i| risk(&i)).sum();
                    let ended =
                        of_stratum.iter().filter(|&&i| lifetimes[i] == Lifetime::ended_at(time)).count();
                    expected += if ended > 0 { ended as f64 / total } else { 0.0 };
                    assert!((baseline.hazard_at(time) - expected).abs() < 1e-12);
                    assert!((baseline.survival_at(time + 0.5) - (-expected).exp()).abs() < 1e-12);
                }
                assert_eq!(baseline.survival_at(-1.0), 1.0);
                assert_eq!(baseline.stratum == 2, baseline.survival_at(100.0) == 1.0);
            }
        }
    }

    #[test]
    fn a_zero_far_from_the_data_has_an_extreme_survival_and_no_nan() {
        let (lifetimes, x, _) = cohort();
        for offset in [-1e6, 1e6] {
            let far: Vec<f64> = x.iter().map(|x| x + offset).collect();
            let subjects = Subjects::new(&lifetimes, &[far]);
            let fit = fit(&subjects, Ties::Efron).expect("there is a maximum");
            let survival = baselines(&subjects, &fit)[0].survival_at(100.0);
            let near = if fit.coefficients[0] * offset > 0.0 { 1.0 } else { 0.0 };
            assert_eq!(survival, near);
        }
    }
}
