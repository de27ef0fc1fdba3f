//! Quality of summaries by age: recall, precision and divergence (**summary**, Figures 1, 4 and 7; for
//! samples the curves called Naive of Figures 2, 3, 5, 6 and 8).
//!
//! # Departures
//! The text gives intervals of 95% without saying over what. Weeks of one database depend on each other. So
//! here the mean of each database is one observation, and the interval is Student's over databases.

use freshet_theory::summary::comparison::Comparison;
use statrs::distribution::{ContinuousCDF as _, StudentsT};

use super::drift::Drift;

/// Reads one measure of a comparison. `None` where the comparison does not have it.
pub type Measure = fn(&Comparison) -> Option<f64>;

/// The measures, with names, in the order of a comparison.
pub const MEASURES: [(&str, Measure); 5] = [
    ("recall, weighted", |c| c.weighted_recall),
    ("recall", |c| c.recall),
    ("precision, weighted", |c| c.weighted_precision),
    ("precision", |c| c.precision),
    ("KL", |c| c.divergence),
];

/// A mean with half of its 95% interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// The mean over databases.
    pub mean: f64,
    /// Half-width of the interval. NaN for one database.
    pub reach: f64,
}

/// Quality of summaries of one age.
#[derive(Clone, Debug, PartialEq)]
pub struct Aged {
    /// Age in weeks.
    pub age: usize,
    /// The mean of each of [`MEASURES`].
    pub means: Vec<Option<Mean>>,
}

/// The quality of summaries of these ages.
pub fn study(drifts: &[Drift], ages: &[usize]) -> Vec<Aged> {
    let of_age = |&age: &usize| {
        let means = MEASURES.iter().map(|(_, measure)| {
            let of_database = |drift: &Drift| drift.past(drift.weeks(), age, *measure);
            mean(&drifts.iter().filter_map(of_database).collect::<Vec<_>>())
        });
        Aged { age, means: means.collect() }
    };
    ages.iter().map(of_age).collect()
}

/// The mean of some values with its 95% interval. `None` without values.
pub fn mean(values: &[f64]) -> Option<Mean> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let reach = match StudentsT::new(0.0, 1.0, n - 1.0) {
        Ok(law) => law.inverse_cdf(0.975) * (variance / n).sqrt(),
        Err(_) => f64::NAN,
    };
    (!values.is_empty()).then_some(Mean { mean, reach })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weeks::chronicle::Chronicle;

    #[test]
    fn the_interval_is_that_of_student() {
        let Mean { mean, reach } = mean(&[1.0, 2.0, 3.0]).expect("there are values");
        assert_eq!(mean, 2.0);
        // t(0.975, 2) = 4.302653; standard deviation 1, divided by √3.
        assert!((reach - 4.302_653 / 3f64.sqrt()).abs() < 1e-5, "{reach}");
    }

    #[test]
    fn summaries_lose_the_words_that_come_later() {
        // One word is added each week: an old summary of age t lacks the t newest words.
        let words = 40;
        let week = |week: usize| (0..words).map(|word| if word < 10 + week { 1.0 } else { 0.0 }).collect();
        let chronicle = Chronicle {
            name: "d".to_owned(),
            stratum: "misc".to_owned(),
            documents: vec![10.0; 30],
            vocabulary: vec![10.0; 30],
            frequencies: (0..30).map(week).collect(),
        };
        let aged = study(&[Drift::complete(&chronicle, 29)], &[0, 1, 29]);
        let recall = |n: usize| aged[n].means[1].expect("there are words").mean;
        assert_eq!(recall(0), 1.0);
        assert!((recall(2) - 10.0 / 39.0).abs() < 1e-12);
        assert!(recall(1) < 1.0 && recall(1) > 0.9);
        assert_eq!(aged[2].means[3].expect("there are words").mean, 1.0);
    }
}
