//! The summaries of a database, week by week, over one list of words.
//!
//! Frequencies are kept as columns: one list of words, and for each week the frequency of each. Comparing two weeks is then one pass over
//! two columns.
//!
//! # Departures
//! A sample of documents is drawn as **summary** would draw it only where there are documents. Where there are only frequencies, each word of
//! a sample of `n` documents is drawn by itself: its number of documents is hypergeometric. Words that come together in documents then come
//! apart in the sample, which changes no frequency on average.

use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution as _, Hypergeometric};

/// Weekly summaries of one database.
#[derive(Clone, Debug, PartialEq)]
pub struct Chronicle {
    /// The database.
    pub name: String,
    /// What sort of database it is.
    pub stratum: String,
    /// |D| in each week.
    pub documents: Vec<f64>,
    /// How many different words it had in each week, as far as is known.
    pub vocabulary: Vec<f64>,
    /// The frequency of each word, for each week.
    pub frequencies: Vec<Vec<f32>>,
}

impl Chronicle {
    /// How many weeks it tells of.
    pub fn weeks(&self) -> usize {
        self.frequencies.len()
    }

    /// What samples of so many documents, one each week, would have found.
    pub fn sampled(&self, sample: u32, seed: u64) -> Vec<Vec<f32>> {
        let mut chance = ChaCha8Rng::seed_from_u64(seed);
        let draw = |(week, frequencies): (usize, &Vec<f32>)| {
            let documents = self.documents[week].round().max(1.0) as u64;
            let drawn = u64::from(sample).min(documents);
            // Few frequencies differ, and making a law costs more than drawing from it.
            let mut laws: Vec<Option<Hypergeometric>> = vec![None; documents as usize + 1];
            let of_word = |frequency: &f32| {
                let with_word = (f64::from(*frequency).round() as u64).min(documents);
                if with_word == 0 || drawn == documents {
                    return with_word as f32;
                }
                let law = laws[with_word as usize].get_or_insert_with(|| {
                    Hypergeometric::new(documents, with_word, drawn)
                        .expect("no more have the word or are drawn than there are")
                });
                law.sample(&mut chance) as f32
            };
            frequencies.iter().map(of_word).collect()
        };
        self.frequencies.iter().enumerate().map(draw).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_of_all_documents_is_the_summary_and_a_smaller_one_is_right_on_average() {
        let words = 2_000;
        let chronicle = Chronicle {
            name: "d".to_owned(),
            stratum: "misc".to_owned(),
            documents: vec![100.0],
            vocabulary: vec![f64::from(words)],
            frequencies: vec![vec![40.0; words as usize]],
        };
        assert_eq!(chronicle.sampled(100, 1), chronicle.frequencies);
        let sampled = chronicle.sampled(30, 1);
        let mean = sampled[0].iter().map(|f| f64::from(*f)).sum::<f64>() / f64::from(words);
        assert!((mean - 12.0).abs() < 0.2, "{mean}");
        assert_eq!(sampled, chronicle.sampled(30, 1));
    }
}
