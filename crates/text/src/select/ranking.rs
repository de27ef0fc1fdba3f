//! Ranks databases for a query by their summaries.
//!
//! Three rankings of the literature that **summary** (section 2) builds on:
//! - **CORI** (Callan, Lu, Croft): the belief 0.4 + 0.6 T I of each word, averaged, with T = f/(f + 50 + 150
//!   cw/mean cw) and I = ln((n + 0.5)/cf)/ln(n + 1); `cw` the number of words of a database, `cf` the number
//!   of databases that contain the word.
//! - **bGlOSS** (Gravano, García-Molina, Tomasic): |D| Π f/|D|, the expected number of documents that contain
//!   all words if words are independent.
//! - **KL** (Si, Jin, Callan, Ogilvie): Σ over query words of ln(λ p(w|D) + (1 − λ) p(w|all)).
//!
//! The cost of a query depends on the number of databases that contain its words, not on their vocabularies.
//! The databases of a word come from an inverted index in files ([`Catalogue`](super::Catalogue)).
//!
//! # Promises
//! - A database that contains no word of the query is not ranked.
//! - Under CORI and KL a database that differs from another only by more documents with a word is ranked no
//!   lower.
//! - Equal scores are ordered by name. The same summaries give the same ranking.

use std::collections::HashMap;

use crate::summary::Summary;
use crate::words::Wording;

/// How databases are ranked.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Algorithm {
    /// CORI: an inference network.
    #[default]
    Cori,
    /// bGlOSS: expected number of documents that contain all words.
    BGloss,
    /// KL: language models.
    Kl,
}

/// A ranked database, with the reason for its rank.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// Its name.
    pub name: String,
    /// Its score, comparable only within one ranking.
    pub score: f64,
    /// The score as a share of the maximum of the ranking, from 0 to 1.
    pub share: f64,
    /// Each word of the query, and the number of its documents that contain it.
    pub words: Vec<(String, f64)>,
}

/// λ of the KL ranking; the usual value.
const SMOOTHING: f64 = 0.7;

/// CORI's belief in a database without the word.
const BELIEF: f64 = 0.4;

/// Facts about a database that a ranking needs besides the words of the query.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ranked {
    pub(super) name: String,
    pub(super) documents: f64,
    /// The sum of the frequencies of all its words.
    pub(super) total: f64,
    pub(super) wording: Wording,
}

impl Ranked {
    pub(super) fn of(name: &str, wording: Wording, summary: &Summary) -> Self {
        Self {
            name: name.to_owned(),
            documents: summary.documents(),
            total: summary.frequency_sum(),
            wording,
        }
    }
}

/// A database, by its index among the ranked ones, and the frequency of a word in it.
pub(super) type Posting = (u32, f32);

/// A ranking of databases for a query.
pub(super) struct Ranking<'a> {
    databases: &'a [Ranked],
    found: Vec<Wanted>,
}

impl<'a> Ranking<'a> {
    /// A ranking of these databases, given a look-up of the databases that contain a word. A word may have
    /// another form in databases that stem.
    pub(super) fn new<E>(
        databases: &'a [Ranked],
        query: &str,
        mut who_has: impl FnMut(&str) -> Result<Vec<Posting>, E>,
    ) -> Result<Self, E> {
        let mut wordings: Vec<Wording> = Vec::new();
        for database in databases {
            if !wordings.contains(&database.wording) {
                wordings.push(database.wording);
            }
        }
        let mut found: Vec<Wanted> = Vec::new();
        for plain in unique(Wording::default().words(query)) {
            let mut places: HashMap<u32, f64> = HashMap::new();
            for wording in &wordings {
                let Some(form) = wording.words(&plain).pop() else { continue };
                for (database, frequency) in who_has(&form)? {
                    if databases[database as usize].wording == *wording {
                        places.insert(database, f64::from(frequency));
                    }
                }
            }
            found.push(Wanted { word: plain, places });
        }
        Ok(Self { databases, found })
    }

    /// The databases that contain words of the query, best first, at most `top`.
    pub(super) fn best(&self, algorithm: Algorithm, top: usize) -> Vec<Choice> {
        let scores = match algorithm {
            Algorithm::Cori => self.cori(),
            Algorithm::BGloss => self.bgloss(),
            Algorithm::Kl => self.kl(),
        };
        let mut ranked: Vec<(u32, f64)> = scores.into_iter().collect();
        let name = |database: u32| &self.database(database).name;
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| name(a.0).cmp(name(b.0))));
        let (best, worst) =
            (ranked.first().map_or(0.0, |first| first.1), ranked.last().map_or(0.0, |last| last.1));
        ranked.truncate(top);
        let choice = |(database, score): (u32, f64)| Choice {
            name: name(database).clone(),
            score,
            share: match algorithm {
                Algorithm::Cori => (score - BELIEF) / (1.0 - BELIEF),
                Algorithm::BGloss => (score / self.database(database).documents.max(1.0)).min(1.0),
                Algorithm::Kl if best > worst => (score - worst) / (best - worst),
                Algorithm::Kl => 1.0,
            },
            words: self.found.iter().filter_map(|word| word.of(database)).collect(),
        };
        ranked.into_iter().map(choice).collect()
    }

    fn database(&self, number: u32) -> &Ranked {
        &self.databases[number as usize]
    }

    fn cori(&self) -> HashMap<u32, f64> {
        let n = self.databases.len() as f64;
        let mean_total = self.total() / n.max(1.0);
        let words = self.found.len().max(1) as f64;
        let mut scores = HashMap::new();
        for wanted in &self.found {
            let rarity = ((n + 0.5) / wanted.places.len().max(1) as f64).ln() / (n + 1.0).ln();
            for (&database, &frequency) in &wanted.places {
                let length = self.database(database).total / mean_total.max(f64::MIN_POSITIVE);
                let belief = (1.0 - BELIEF) * frequency / (frequency + 50.0 + 150.0 * length) * rarity;
                *scores.entry(database).or_insert(BELIEF) += belief / words;
            }
        }
        scores
    }

    fn bgloss(&self) -> HashMap<u32, f64> {
        let Some(first) = self.found.first() else { return HashMap::new() };
        let mut scores: HashMap<u32, f64> =
            first.places.keys().map(|&database| (database, self.database(database).documents)).collect();
        for wanted in &self.found {
            scores.retain(|database, score| {
                let documents = self.database(*database).documents.max(1.0);
                *score *= (wanted.places.get(database).copied().unwrap_or(0.0) / documents).min(1.0);
                *score > 0.0
            });
        }
        scores
    }

    fn kl(&self) -> HashMap<u32, f64> {
        let all = self.total().max(1.0);
        let mut scores: HashMap<u32, f64> = self
            .found
            .iter()
            .flat_map(|wanted| wanted.places.keys())
            .map(|&database| (database, 0.0))
            .collect();
        for wanted in &self.found {
            let background = wanted.places.values().sum::<f64>() / all;
            // A word that no database contains distinguishes none.
            if background == 0.0 {
                continue;
            }
            for (database, score) in &mut scores {
                let here = wanted.places.get(database).copied().unwrap_or(0.0)
                    / self.database(*database).total.max(1.0);
                *score += (SMOOTHING * here + (1.0 - SMOOTHING) * background).ln();
            }
        }
        scores
    }

    fn total(&self) -> f64 {
        self.databases.iter().map(|database| database.total).sum()
    }
}

/// A word of the query and the databases that contain it.
struct Wanted {
    word: String,
    places: HashMap<u32, f64>,
}

impl Wanted {
    fn of(&self, database: u32) -> Option<(String, f64)> {
        self.places.get(&database).map(|frequency| (self.word.clone(), *frequency))
    }
}

fn unique(words: Vec<String>) -> Vec<String> {
    let mut unique: Vec<String> = Vec::new();
    for word in words {
        if !unique.contains(&word) {
            unique.push(word);
        }
    }
    unique
}
