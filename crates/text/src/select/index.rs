//! Inverted index over summaries of databases, in memory.

use std::collections::HashMap;
use std::convert::Infallible;

use super::ranking::{Algorithm, Choice, Posting, Ranked, Ranking};
use crate::summary::Summary;
use crate::words::Wording;

/// Inverted index: for each word, the databases that contain it.
///
/// # Examples
///
/// ```
/// use freshet_text::select::{Algorithm, Index};
/// use freshet_text::summary::Summary;
/// use freshet_text::words::Wording;
///
/// let medicine = Summary::from_words(1_000.0, vec![("heart", 400.0), ("disease", 300.0)]);
/// let poetry = Summary::from_words(1_000.0, vec![("heart", 500.0), ("rose", 200.0)]);
/// let mut index = Index::default();
/// index.add("medicine", Wording::default(), &medicine);
/// index.add("poetry", Wording::default(), &poetry);
///
/// let choices = index.select("heart disease", Algorithm::Cori, 10);
/// let names: Vec<_> = choices.iter().map(|choice| choice.name.as_str()).collect();
/// assert_eq!(names, ["medicine", "poetry"]);
/// ```
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    databases: Vec<Ranked>,
    numbers: HashMap<Box<str>, u32>,
    /// For each word, the databases that contain it.
    postings: Vec<Vec<Posting>>,
}

impl Index {
    /// Adds a database.
    pub(super) fn add(&mut self, name: &str, wording: Wording, summary: &Summary) {
        let number = u32::try_from(self.databases.len()).expect("fewer than 2^32 databases");
        self.databases.push(Ranked::of(name, wording, summary));
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

    /// The databases that have words of the query, the best first, `top` at most.
    pub(super) fn select(&self, query: &str, algorithm: Algorithm, top: usize) -> Vec<Choice> {
        let who_has = |word: &str| {
            let place = self.numbers.get(word);
            Ok::<_, Infallible>(place.map_or(Vec::new(), |place| self.postings[*place as usize].clone()))
        };
        let Ok(ranking) = Ranking::new(&self.databases, query, who_has);
        ranking.best(algorithm, top)
    }
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
        fn more_documents_with_the_word_never_rank_lower(
            few in 1u32..50,
            more in 0u32..50,
            other in 1u32..50,
        ) {
            let (few, more) = (f64::from(few), f64::from(few + more));
            let index = index(&[
                ("few", 100.0, &[("x", few), ("rest", 100.0 - few)]),
                ("more", 100.0, &[("x", more), ("rest", 100.0 - more)]),
                ("other", 100.0, &[("y", f64::from(other))]),
            ]);
            for algorithm in [Algorithm::Cori, Algorithm::Kl] {
                let ranked = index.select("x", algorithm, 5);
                let place = |name: &str|
                    ranked.iter().find(|choice| choice.name == name).expect("it is ranked").score;
                prop_assert!(place("few") <= place("more") + 1e-12);
            }
        }
    }
}
