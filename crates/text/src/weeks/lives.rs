//! Lives of summaries: how long each stays valid, and the features of its database.
//!
//! **summary**, section 4.3: for each database, each current week and each threshold τ, a life is the
//! smallest age at which an old summary diverges from the current one by more than τ (Definition 3). It is
//! censored where the past ends. Features are taken only from the first weeks, which no lifetime reaches back
//! to.
//!
//! # Departures
//! The text trains on its first weeks and lets lifetimes end anywhere after. Here every lifetime may look
//! back equally far, so that censoring is independent of everything else.

use freshet_theory::summary::survival_time::survival_time;
use freshet_theory::survival::lifetime::Lifetime;

use super::drift::Drift;
use crate::error::TextError;

/// Settings of the observation of lives.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// Number of weeks from which the features of a database are taken.
    pub training: usize,
    /// Maximum age that is looked back to, in weeks.
    pub reach: usize,
    /// The thresholds τ, in nats, in rising order.
    pub thresholds: Vec<f64>,
}

/// The life of one summary: how long it stayed within a threshold of the current one.
#[derive(Clone, Debug, PartialEq)]
pub struct Life {
    /// Index of the database among the drifts.
    pub database: usize,
    /// τ.
    pub threshold: f64,
    /// Its length, in weeks.
    pub lifetime: Lifetime,
}

/// Features of a database.
#[derive(Clone, Debug, PartialEq)]
pub struct Features {
    /// The database.
    pub name: String,
    /// Kind of database.
    pub stratum: String,
    /// ln |D|.
    pub log_size: f64,
    /// κ1: mean divergence between summaries one week apart in training.
    pub past_divergence: f64,
    /// Features that the text tried and dropped: name and value.
    pub dropped: Vec<(String, f64)>,
}

impl Observation {
    /// Creates settings for these drifts. `reach` defaults to 52 weeks, but is at most two thirds of the
    /// weeks after training. Thresholds default to quantiles of the observed divergences. Fails if the
    /// history is too short or shows no change.
    pub fn of(
        drifts: &[Drift],
        training: usize,
        reach: Option<usize>,
        thresholds: Option<Vec<f64>>,
    ) -> Result<Self, TextError> {
        let weeks = drifts.iter().map(Drift::weeks).min().unwrap_or(0);
        let reach = reach.unwrap_or(52).min(weeks.saturating_sub(training + 1) * 2 / 3);
        if reach < 2 || training < 2 {
            return Err(TextError::TooLittle(format!(
                "there are {weeks} weeks of history: lives can be observed from about {} on, two of them for \
                 features",
                training.max(2) + 4
            )));
        }
        let mut observation = Self { training, reach, thresholds: thresholds.unwrap_or_default() };
        if observation.thresholds.is_empty() {
            observation.thresholds = observation.usual_thresholds(drifts);
        }
        if observation.thresholds.is_empty() {
            return Err(TextError::TooLittle(
                "no summary ever differed from another: there is no change to learn from".to_owned(),
            ));
        }
        Ok(observation)
    }

    /// The weeks that serve as the current week.
    fn currents(&self, drift: &Drift) -> std::ops::Range<usize> {
        (self.training + self.reach).min(drift.weeks())..drift.weeks()
    }

    /// Thresholds that some summaries reach and others do not: quantiles of the divergences from a fifth to
    /// four fifths.
    fn usual_thresholds(&self, drifts: &[Drift]) -> Vec<f64> {
        let of = |drift: &Drift| -> Vec<f64> {
            let ages = |current| (1..=self.reach).filter_map(move |age| drift.divergence(current, age));
            self.currents(drift).flat_map(ages).filter(|value| value.is_finite() && *value > 0.0).collect()
        };
        let mut divergences: Vec<f64> = drifts.iter().flat_map(of).collect();
        divergences.sort_by(f64::total_cmp);
        let quantile = |share: f64| divergences[((divergences.len() - 1) as f64 * share) as usize];
        let mut thresholds: Vec<f64> = match divergences.is_empty() {
            true => Vec::new(),
            false => [0.2, 0.35, 0.5, 0.65, 0.8].map(|share| two_digits(quantile(share))).into(),
        };
        thresholds.dedup();
        thresholds
    }
}

/// Rounds to two significant digits, as people choose thresholds.
fn two_digits(value: f64) -> f64 {
    format!("{value:.1e}").parse().unwrap_or(value)
}

/// The lives of all summaries.
pub fn lives(drifts: &[Drift], observation: &Observation) -> Vec<Life> {
    let mut lives = Vec::new();
    for (database, drift) in drifts.iter().enumerate() {
        for current in observation.currents(drift) {
            let divergences: Vec<f64> =
                (1..=observation.reach).filter_map(|age| drift.divergence(current, age)).collect();
            for &threshold in &observation.thresholds {
                lives.push(Life { database, threshold, lifetime: survival_time(&divergences, threshold) });
            }
        }
    }
    lives
}

/// Features of each database after training.
pub fn features(drifts: &[Drift], training: usize) -> Vec<Features> {
    drifts.iter().map(|drift| of_database(drift, training)).collect()
}

fn of_database(drift: &Drift, training: usize) -> Features {
    let weeks = training.min(drift.weeks());
    let at = weeks.saturating_sub(1);
    let divergence = |age: usize| drift.past(weeks, age, |c| c.divergence).unwrap_or(0.0);
    let mut dropped = vec![("ln words".to_owned(), drift.vocabulary[at].max(1.0).ln())];
    dropped.extend((2..weeks.min(10)).map(|age| (format!("κ{age}"), divergence(age))));
    for (name, measure) in &super::study::MEASURES[..4] {
        dropped.push((format!("{name}, 1 week"), drift.past(weeks, 1, *measure).unwrap_or(1.0)));
    }
    Features {
        name: drift.name.clone(),
        stratum: drift.stratum.clone(),
        log_size: drift.documents[at].max(1.0).ln(),
        past_divergence: divergence(1),
        dropped,
    }
}
