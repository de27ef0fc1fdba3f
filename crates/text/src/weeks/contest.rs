//! Contest of refresh plans with the same budget: uniform, by each set of features, and in hindsight
//! (**summary**, section 5.2).
//!
//! A plan by features uses, for each database, a model that was fitted without it. The plan in hindsight
//! knows the survival law of each database's own summaries, so no plan of this kind can know more.
//!
//! # Promises
//! - Each schedule spends the same, unless its plan leaves something unspent.
//! - A set of features whose coefficients the data do not determine does not take part.

use freshet_theory::refresh::survival::weibull::WeibullSurvival;

use super::drift::Drift;
use super::fit::{SETS, fit_without_each, law_in_hindsight, name_of};
use super::lives::{Features, Life, Observation, lives};
use super::model::{Known, Model};
use super::plan::optimal;

/// Scale and shape of a database that never changed beyond the threshold: a mean life of a thousand years.
const NEVER: (f64, f64) = (2e-5, 1.0);

/// The competing plans: for each, the survival law that it assumes for each database.
#[derive(Clone, Debug)]
pub struct Contest {
    databases: usize,
    laws: Vec<(&'static str, Vec<WeibullSurvival>)>,
}

/// How often a plan refreshes each database.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    /// Name of the plan.
    pub name: &'static str,
    /// Weeks between two refreshes of each database.
    pub intervals: Vec<f64>,
    /// Expected share of refreshes that find a change. `None` if the plan expects nothing.
    pub precision: Option<f64>,
}

impl Contest {
    /// Plans from observed lives, for a threshold in nats.
    pub fn of(
        drifts: &[Drift],
        observation: &Observation,
        features: &[Features],
        observed: &[Life],
        threshold: f64,
    ) -> Self {
        let at_threshold = lives(drifts, &Observation { thresholds: vec![threshold], ..observation.clone() });
        let hindsight = |database: usize| {
            law_in_hindsight(database, &at_threshold).unwrap_or(WeibullSurvival::new(NEVER.0, NEVER.1))
        };
        let mut laws = vec![("hindsight", (0..drifts.len()).map(hindsight).collect())];
        for set in SETS {
            let law = |(fit, features): (Option<_>, &Features)| {
                let model = Model {
                    origin: String::new(),
                    thresholds: Vec::new(),
                    usual_size: 1.0,
                    sets: vec![fit?],
                    training: Vec::new(),
                };
                let known = Known {
                    stratum: features.stratum.clone(),
                    size: Some(features.log_size.exp()),
                    past_divergence: Some(features.past_divergence),
                };
                Some(model.predict(&known, threshold).law)
            };
            let without = fit_without_each(set, features, observed);
            if let Some(of_set) = without.into_iter().zip(features).map(law).collect::<Option<Vec<_>>>() {
                laws.push((name_of(set), of_set));
            }
        }
        Self { databases: drifts.len(), laws }
    }

    /// The schedule of each plan with one refresh per `weeks` weeks on average. Panics unless `weeks` is
    /// above zero and finite.
    pub fn schedules(&self, weeks: f64) -> Vec<Schedule> {
        let naive = Schedule { name: "naive", intervals: vec![weeks; self.databases], precision: None };
        let planned = self.laws.iter().map(|(name, laws)| {
            let plan = optimal(laws, weeks);
            Schedule { name, intervals: plan.intervals, precision: Some(plan.precision) }
        });
        std::iter::once(naive).chain(planned).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weeks::chronicle::Chronicle;
    use crate::weeks::lives::features;

    #[test]
    fn all_spend_the_same_and_hindsight_tells_quick_from_slow() {
        let chronicle = |n: usize| Chronicle {
            name: n.to_string(),
            stratum: "misc".to_owned(),
            documents: vec![100.0 * (n + 1) as f64; 60],
            vocabulary: vec![2.0; 60],
            frequencies: (0..60)
                .map(|week| vec![10.0 + ((n + 1) * week) as f32 % 17.0, 40.0 - (week % 5) as f32])
                .collect(),
        };
        let drifts: Vec<Drift> = (0..5).map(|n| Drift::complete(&chronicle(n), 59)).collect();
        let observation = Observation::of(&drifts, 6, None, None).expect("there is change");
        let observed = lives(&drifts, &observation);
        let middle = observation.thresholds[observation.thresholds.len() / 2];
        let contest = Contest::of(&drifts, &observation, &features(&drifts, 6), &observed, middle);
        let schedules = contest.schedules(8.0);
        let names: Vec<&str> = schedules.iter().map(|schedule| schedule.name).collect();
        assert_eq!(names[..2], ["naive", "hindsight"]);
        for schedule in &schedules {
            let per_week: f64 = schedule.intervals.iter().map(|interval| 1.0 / interval).sum();
            assert!(per_week <= 5.0 / 8.0 + 1e-6, "{schedule:?}");
        }
    }
}
