//! Which databases to ask a query, by their summaries.
//!
//! Three rankings of the literature that **summary** (section 2) stands on:
//! - **CORI** (Callan, Lu, Croft): the belief 0.4 + 0.6 T I of each word, averaged, with T = f/(f + 50 + 150 cw/mean cw) and
//!   I = ln((n + 0.5)/cf)/ln(n + 1); `cw` the words of a database, `cf` the databases that have the word.
//! - **bGlOSS** (Gravano, García-Molina, Tomasic): |D| Π f/|D|, the documents expected to hold all words if words are independent.
//! - **KL** (Si, Jin, Callan, Ogilvie): Σ over query words of ln(λ p(w|D) + (1 − λ) p(w|all)).
//!
//! Words are found in an inverted index over all summaries: a query costs time in the databases that have its words, not in their words.
//!
//! # Promises
//! - A database that has no word of the query is not ranked.
//! - Under CORI and KL a database that differs from another only by more documents with a word is ranked no lower.
//! - Equal scores are ordered by name; the same summaries give the same ranking.

use std::collections::HashMap;

use crate::summary::Summary;
use crate::words::Wording;

/// How databases are ranked.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Algorithm {
    /// Inference network.
    #[default]
    Cori,
    /// Documents expected to hold all words.
    BGloss,
    /// Language models.
    Kl,
}

/// A database that was ranked, and why it stands where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// Its name.
    pub name: String,
    /// Its score; only comparable within one ranking.
    pub score: f64,
    /// The score as a share of what the ranking could give, from 0 to 1.
    pub share: f64,
    /// Each word of the query, and in how many documents it stands there.
    pub words: Vec<(String, f64)>,
}

/// The summaries of many databases, ready to be asked.
#[derive(Clone, Debug, Default)]
pub struct Index {
    names: Vec<String>,
    documents: Vec<f64>,
    /// The sum of the frequencies of each database.
    totals: Vec<f64>,
    wordings: Vec<Wording>,
    numbers: HashMap<Box<str>, u32>,
    /// The databases that have each word, with its frequency.
    postings: Vec<Vec<(u32, f32)>>,
}

/// λ of the KL ranking: what is usual.
const SMOOTHING: f64 = 0.7;

/// The belief that CORI has in a database without the word.
const BELIEF: f64 = 0.4;

impl Index {
    /// Adds a database.
    pub fn add(&mut self, name: &str, wording: Wording, summary: &Summary) {
        let number = u32::try_from(self.names.len()).expect("fewer than 2^32 databases");
        self.names.push(name.to_owned());
        self.documents.push(summary.documents());
        self.totals.push(summary.frequency_sum());
        self.wordings.push(wording);
        for (word, frequency) in summary.words() {
            let place = match self.numbers.get(word) {
                Some(place) => *place as usize,
                None => {
                    self.numbers.insert(word.into(), self.postings.len() as u32);
                    self.postings.push(Vec::new());
                    self.postings.len() - 1
                }
            };
            self.postings[place].push((number, frequency as f32));
        }
    }

    /// Databases in it.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The databases that have words of the query, the best first, `top` at most.
    pub fn select(&self, query: &str, algorithm: Algorithm, top: usize) -> Vec<Choice> {
        let found = self.found(query);
        let scores = match algorithm {
            Algorithm::Cori => self.cori(&found),
            Algorithm::BGloss => self.bgloss(&found),
            Algorithm::Kl => self.kl(&found),
        };
        let mut ranked: Vec<(u32, f64)> = scores.into_iter().collect();
        ranked.sort_by(|a, b| {
            b.1.total_cmp(&a.1).then_with(|| self.names[a.0 as usize].cmp(&self.names[b.0 as usize]))
        });
        let (best, worst) =
            (ranked.first().map_or(0.0, |first| first.1), ranked.last().map_or(0.0, |last| last.1));
        ranked.truncate(top);
        let choice = |(database, score): (u32, f64)| Choice {
            name: self.names[database as usize].clone(),
            score,
            share: match algorithm {
                Algorithm::Cori => (score - BELIEF) / (1.0 - BELIEF),
                Algorithm::BGloss => (score / self.documents[database as usize].max(1.0)).min(1.0),
                Algorithm::Kl if best > worst => (score - worst) / (best - worst),
                Algorithm::Kl => 1.0,
            },
            words: found.iter().filter_map(|word| word.of(database)).collect(),
        };
        ranked.into_iter().map(choice).collect()
    }

    /// The words of a query, each with the databases that have it. A word may have another form in databases that stem.
    fn found(&self, query: &str) -> Vec<Wanted> {
        let mut wordings: Vec<Wording> = Vec::new();
        for wording in &self.wordings {
            if !wordings.contains(wording) {
                wordings.push(*wording);
            }
        }
        let mut wanted: Vec<Wanted> = Vec::new();
        for plain in unique(Wording::default().words(query)) {
            let mut places: HashMap<u32, f64> = HashMap::new();
            for wording in &wordings {
                let Some(form) = wording.words(&plain).pop() else { continue };
                let Some(number) = self.numbers.get(form.as_str()) else { continue };
                let of_wording = self.postings[*number as usize]
                    .iter()
                    .filter(|(database, _)| self.wordings[*database as usize] == *wording);
                places.extend(of_wording.map(|(database, frequency)| (*database, f64::from(*frequency))));
            }
            wanted.push(Wanted { word: plain, places });
        }
        wanted
    }

    fn cori(&self, found: &[Wanted]) -> HashMap<u32, f64> {
        let n = self.names.len() as f64;
        let mean_total = self.totals.iter().sum::<f64>() / n.max(1.0);
        let words = found.len().max(1) as f64;
        let mut scores = HashMap::new();
        for wanted in found {
            let rarity = ((n + 0.5) / wanted.places.len().max(1) as f64).ln() / (n + 1.0).ln();
            for (&database, &frequency) in &wanted.places {
                let length = self.totals[database as usize] / mean_total.max(f64::MIN_POSITIVE);
                let belief = (1.0 - BELIEF) * frequency / (frequency + 50.0 + 150.0 * length) * rarity;
                *scores.entry(database).or_insert(BELIEF) += belief / words;
            }
        }
        scores
    }

    fn bgloss(&self, found: &[Wanted]) -> HashMap<u32, f64> {
        let Some(first) = found.first() else { return HashMap::new() };
        let mut scores: HashMap<u32, f64> =
            first.places.keys().map(|&database| (database, self.documents[database as usize])).collect();
        for wanted in found {
            scores.retain(|database, score| {
                let documents = self.documents[*database as usize].max(1.0);
                *score *= (wanted.places.get(database).copied().unwrap_or(0.0) / documents).min(1.0);
                *score > 0.0
            });
        }
        scores
    }

    fn kl(&self, found: &[Wanted]) -> HashMap<u32, f64> {
        let all: f64 = self.totals.iter().sum();
        let in_all: Vec<f64> =
            found.iter().map(|wanted| wanted.places.values().sum::<f64>() / all.max(1.0)).collect();
        let mut scores: HashMap<u32, f64> = HashMap::new();
        found
            .iter()
            .flat_map(|wanted| wanted.places.keys())
            .for_each(|&database| _ = scores.insert(database, 0.0));
        for (wanted, background) in found.iter().zip(in_all) {
            // A word that no database has tells none from another.
            if background == 0.0 {
                continue;
            }
            for (database, score) in &mut scores {
                let here = wanted.places.get(database).copied().unwrap_or(0.0)
                    / self.totals[*database as usize].max(1.0);
                *score += (SMOOTHING * here + (1.0 - SMOOTHING) * background).ln();
            }
        }
        scores
    }
}

/// A word of the query and the databases that have it.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::words::Language;

    const ALGORITHMS: [Algorithm; 3] = [Algorithm::Cori, Algorithm::BGloss, Algorithm::Kl];

    /// Name, documents, and words with their frequencies.
    type Given<'a> = (&'a str, f64, &'a [(&'a str, f64)]);

    fn index(databases: &[Given<'_>]) -> Index {
        let mut index = Index::default();
        for (name, documents, words) in databases {
            index.add(name, Wording::default(), &Summary::from_words(*documents, words.to_vec()));
        }
        index
    }

    #[test]
    fn the_databases_of_table_1_are_told_apart() {
        let index = index(&[
            ("d1", 51_500.0, &[("algorithm", 7210.0), ("cassini", 5.0), ("saturn", 2.0)]),
            ("d2", 5_730.0, &[("algorithm", 2.0), ("cassini", 3260.0), ("saturn", 3730.0)]),
        ]);
        for algorithm in ALGORITHMS {
            let ranked = index.select("Cassini Saturn", algorithm, 5);
            assert_eq!(
                ranked.iter().map(|choice| choice.name.as_str()).collect::<Vec<_>>(),
                ["d2", "d1"],
                "{algorithm:?}"
            );
            assert_eq!(ranked[0].words, [("cassini".to_owned(), 3260.0), ("saturn".to_owned(), 3730.0)]);
            assert_eq!(index.select("algorithm", algorithm, 1)[0].name, "d1");
        }
    }

    #[test]
    fn a_database_without_any_word_is_not_ranked() {
        let index = index(&[("a", 10.0, &[("x", 1.0)]), ("b", 10.0, &[("y", 1.0)])]);
        for algorithm in ALGORITHMS {
            assert_eq!(index.select("x", algorithm, 5).len(), 1);
            assert!(
                index.select("nowhere", algorithm, 5).is_empty() && index.select("", algorithm, 5).is_empty()
            );
        }
    }

    #[test]
    fn bgloss_expects_the_documents_that_hold_all_words() {
        let index = index(&[("a", 100.0, &[("x", 50.0), ("y", 20.0)])]);
        assert_eq!(index.select("x y", Algorithm::BGloss, 1)[0].score, 10.0);
        assert!(index.select("x z", Algorithm::BGloss, 1).is_empty());
    }

    #[test]
    fn a_query_takes_the_form_that_each_database_has() {
        let mut index = index(&[("plain", 10.0, &[("rings", 3.0)])]);
        let stemmed = Wording { stop_words: None, stemming: Some(Language::English) };
        index.add("stemmed", stemmed, &Summary::from_words(10.0, vec![("ring", 4.0)]));
        let names: Vec<_> =
            index.select("rings", Algorithm::Kl, 5).into_iter().map(|choice| choice.name).collect();
        assert_eq!(names.len(), 2, "{names:?}");
    }

    proptest! {
        #[test]
        fn more_documents_with_the_word_never_rank_lower(few in 1u32..50, more in 0u32..50, other in 1u32..50) {
            let (few, more) = (f64::from(few), f64::from(few + more));
            let index = index(&[("few", 100.0, &[("x", few), ("rest", 100.0 - few)]), ("more", 100.0, &[("x", more), ("rest", 100.0 - more)]), ("other", 100.0, &[("y", f64::from(other))])]);
            for algorithm in [Algorithm::Cori, Algorithm::Kl] {
                let ranked = index.select("x", algorithm, 5);
                let place = |name: &str| ranked.iter().find(|choice| choice.name == name).expect("it is ranked").score;
                prop_assert!(place("few") <= place("more") + 1e-12);
            }
        }
    }
}
