//! The baseline of a Cox model: the survival of a subject whose covariates are all zero.
//!
//! Breslow's estimate, per stratum (the S0(t) of **summary**, section 4.3, "defined only by a set of values"):
//!
//! > H0(t) = Σ over times u ≤ t of d(u) / Σ over the risk set of exp(β·x),  S0(t) = exp(−H0(t))
//!
//! with d(u) ends at u, for both ways of handling ties. The survival of any subject is S0(t)^exp(β·x).
//!
//! # Promises
//! - S0 falls from one to no less than zero; a stratum without an end keeps one.
//! - No overflow: a hazard too large for a double is infinite, and its survival zero.
//!
//! # Departures
//! None.

use super::cox::CoxFit;
use super::risk_sets::walk;
use super::subjects::Subjects;

/// The cumulative hazard of one stratum where all covariates are zero: steps in order of time.
#[derive(Clone, Debug, PartialEq)]
pub struct Baseline {
    /// The stratum's number.
    pub stratum: u32,
    /// Each time of an end, with the cumulative hazard from it on.
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

/// The baseline of each stratum, by rising number. Panics unless `fit` was made from `subjects`.
pub fn baselines(subjects: &Subjects, fit: &CoxFit) -> Vec<Baseline> {
    assert_eq!(subjects.covariates(), fit.scaled.len());
    let mut baselines: Vec<_> = subjects
        .strata
        .iter()
        .map(|stratum| Baseline { stratum: stratum.number, steps: Vec::new() })
        .collect();
    let mut current = 0;
    walk(fit.scaled.len(), subjects, &fit.scaled, |set| {
        while baselines[current].stratum != set.stratum.number {
            current += 1;
        }
        // Risks were summed with centred covariates; zero lies this far from the centre.
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
