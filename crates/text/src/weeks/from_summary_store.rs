//! Reads chronicles from a summary store: for each week, the newest version not later than it.
//!
//! # Promises
//! - A week without a new version has the summary of the week before, as a metasearcher would have used it.

use std::collections::BTreeMap;

use freshet_protocol::time::{MILLIS_PER_DAY, Timestamp};

use super::chronicle::Chronicle;
use crate::error::TextError;
use crate::summary_store::SummaryStore;

/// Milliseconds of a week.
pub const WEEK_MS: i64 = 7 * MILLIS_PER_DAY;

/// Maximum number of weeks read: the newest ones.
const WEEKS_MAX: i64 = 520;

/// The summary of one week, with words by their numbers.
#[derive(Clone)]
struct Week {
    documents: f64,
    vocabulary: f64,
    words: Vec<(usize, f32)>,
}

/// Reads the chronicle of a database. `None` if its versions span less than a week.
pub fn read_chronicle(store: &SummaryStore, name: &str) -> Result<Option<Chronicle>, TextError> {
    let stratum = store.database(name)?.stratum();
    let times = store.times(name)?;
    let (Some(first), Some(last)) = (times.first(), times.last()) else { return Ok(None) };
    let weeks = (last.millis_since(*first) / WEEK_MS).min(WEEKS_MAX);
    if weeks < 1 {
        return Ok(None);
    }
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    let mut rows: Vec<Week> = Vec::new();
    let mut loaded: Option<Timestamp> = None;
    for week in (0..=weeks).rev() {
        let moment = last.plus_millis(-week * WEEK_MS);
        let time = times.iter().rev().find(|time| **time <= moment).copied().unwrap_or(*first);
        if loaded == Some(time) {
            let again = rows.last().cloned();
            rows.extend(again);
            continue;
        }
        let version = store.version(name, time)?;
        let mut words = Vec::with_capacity(version.summary.len());
        for (word, frequency) in version.summary.words() {
            let next = numbers.len();
            words.push((*numbers.entry(word.to_owned()).or_insert(next), frequency as f32));
        }
        rows.push(Week {
            documents: version.summary.documents().max(1.0),
            vocabulary: version.summary.len().max(1) as f64,
            words,
        });
        loaded = Some(time);
    }
    let column = |words: &Vec<(usize, f32)>| {
        let mut frequencies = vec![0.0; numbers.len()];
        words.iter().for_each(|(place, frequency)| frequencies[*place] = *frequency);
        frequencies
    };
    Ok(Some(Chronicle {
        name: name.to_owned(),
        stratum,
        documents: rows.iter().map(|row| row.documents).collect(),
        vocabulary: rows.iter().map(|row| row.vocabulary).collect(),
        frequencies: rows.iter().map(|row| column(&row.words)).collect(),
    }))
}

/// κ1 of a database: the mean divergence between its summaries one week apart, in nats. `None` if its history
/// is shorter than a week.
pub fn past_divergence(store: &SummaryStore, name: &str) -> Result<Option<f64>, TextError> {
    let Some(chronicle) = read_chronicle(store, name)? else { return Ok(None) };
    let divergences: Vec<f64> = chronicle
        .frequencies
        .windows(2)
        .filter_map(|pair| {
            freshet_theory::summary::comparison::compare_columns(&pair[0], &pair[1]).divergence
        })
        .collect();
    Ok((!divergences.is_empty()).then(|| divergences.iter().sum::<f64>() / divergences.len() as f64))
}
