//! Drift: compares every old summary of a database with every current one.
//!
//! **summary**, section 3.2: O(D, t) of `t` weeks ago against C(D) of the current week, for every choice of
//! the current week.

use freshet_theory::summary::comparison::{Comparison, compare_columns};
use rayon::prelude::*;

use super::chronicle::Chronicle;

/// Comparisons of a database's old summaries with its current ones.
#[derive(Clone, Debug)]
pub struct Drift {
    /// The database.
    pub name: String,
    /// Kind of database.
    pub stratum: String,
    /// |D| in each week.
    pub documents: Vec<f64>,
    /// Number of distinct words in each week.
    pub vocabulary: Vec<f64>,
    /// For each current week, the comparison with the summary of each age, from zero.
    rows: Vec<Vec<Comparison>>,
}

impl Drift {
    /// Compares complete summaries, up to this age in weeks.
    pub fn complete(chronicle: &Chronicle, age_max: usize) -> Self {
        Self::of(chronicle, &chronicle.frequencies, age_max)
    }

    /// Compares samples with the complete summary; the mean over several samples.
    pub fn sampled(chronicle: &Chronicle, age_max: usize, sample: u32, samples: u32, seed: u64) -> Self {
        let parts: Vec<Self> = (0..samples.max(1))
            .map(|n| {
                Self::of(chronicle, &chronicle.sampled(sample, seed.wrapping_add(u64::from(n))), age_max)
            })
            .collect();
        let mut mean = parts[0].clone();
        for (current, row) in mean.rows.iter_mut().enumerate() {
            for (age, comparison) in row.iter_mut().enumerate() {
                let of = |value: fn(&Comparison) -> Option<f64>| {
                    let values: Vec<f64> =
                        parts.iter().filter_map(|part| value(&part.rows[current][age])).collect();
                    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
                };
                *comparison = Comparison {
                    recall: of(|c| c.recall),
                    weighted_recall: of(|c| c.weighted_recall),
                    precision: of(|c| c.precision),
                    weighted_precision: of(|c| c.weighted_precision),
                    divergence: of(|c| c.divergence),
                };
            }
        }
        mean
    }

    fn of(chronicle: &Chronicle, old: &[Vec<f32>], age_max: usize) -> Self {
        let current = &chronicle.frequencies;
        let row = |week: usize| {
            (0..=age_max.min(week))
                .map(|age| compare_columns(&old[week - age], &current[week]))
                .collect::<Vec<_>>()
        };
        Self {
            name: chronicle.name.clone(),
            stratum: chronicle.stratum.clone(),
            documents: chronicle.documents.clone(),
            vocabulary: chronicle.vocabulary.clone(),
            rows: (0..current.len()).into_par_iter().map(row).collect(),
        }
    }

    /// Number of weeks.
    pub fn weeks(&self) -> usize {
        self.rows.len()
    }

    /// Compares the summary of `age` weeks before `current` with that of `current`.
    pub fn at(&self, current: usize, age: usize) -> Option<&Comparison> {
        self.rows.get(current)?.get(age)
    }

    /// The divergence. Infinite for a summary without a common word.
    pub fn divergence(&self, current: usize, age: usize) -> Option<f64> {
        self.at(current, age).map(|comparison| comparison.divergence.unwrap_or(f64::INFINITY))
    }

    /// The mean of a measure between summaries `age` weeks apart, both within the first `weeks` weeks.
    pub fn past(&self, weeks: usize, age: usize, measure: fn(&Comparison) -> Option<f64>) -> Option<f64> {
        let values: Vec<f64> =
            (age..weeks.min(self.weeks())).filter_map(|current| measure(self.at(current, age)?)).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    }
}
