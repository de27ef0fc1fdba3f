//! The summaries of a database, week by week, over one list of words.
//!
//! Frequencies are kept as columns: one list of words, and for each week the frequency of each. Comparing two weeks is then one pass over
//! two columns.
//!
//! # Departures
//! A sample of documents is drawn as **summary** would draw it only where there are documents. Where there are only frequencies, each word of
//! a sample of `n` documents is drawn by itself: its number of documents is hypergeometric. Words that come together in documents then come
//! apart in the sample, which changes no frequency on average.

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

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
            let of_word = |frequency: &f32| {
                let with_word = (f64::from(*frequency).round() as u64).min(documents);
                drawn_with_word(documents, with_word, drawn, &mut chance) as f32
            };
            frequencies.iter().map(of_word).collect()
        };
        self.frequencies.iter().enumerate().map(draw).collect()
    }
}

/// How many of `drawn` documents have a word that `with_word` of all have: drawn one after the other, exactly. Which of the two
/// is drawn from the other does not matter, so the smaller is.
fn drawn_with_word(documents: u64, with_word: u64, drawn: u64, chance: &mut ChaCha8Rng) -> u64 {
    let (draws, mut left) = (with_word.min(drawn), with_word.max(drawn));
    let full = left;
    for taken in 0..draws {
        if left == 0 {
            break;
        }
        let share = left as f64 / (documents - taken) as f64;
        if chance.random::<f64>() < share {
            left -= 1;
        }
    }
    full - left
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
