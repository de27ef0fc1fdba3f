//! Chronicle: the weekly summaries of a database over one common list of words.
//!
//! Frequencies are stored as columns: one list of words, and for each week the frequency of each word. So
//! comparing two weeks is one pass over two columns.
//!
//! # Departures
//! A sample of documents is drawn as **summary** would draw it only where there are documents. Where there
//! are only frequencies, each word of a sample of `n` documents is drawn independently: its number of
//! documents is hypergeometric. So words that occur together in documents do not occur together in the
//! sample. This changes no frequency on average.

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

/// Weekly summaries of one database.
#[derive(Clone, Debug, PartialEq)]
pub struct Chronicle {
    /// The database.
    pub name: String,
    /// Kind of database.
    pub stratum: String,
    /// |D| in each week.
    pub documents: Vec<f64>,
    /// Number of distinct words in each week, as far as known.
    pub vocabulary: Vec<f64>,
    /// For each week, the frequency of each word.
    pub frequencies: Vec<Vec<f32>>,
}

impl Chronicle {
    /// Number of weeks.
    pub fn weeks(&self) -> usize {
        self.frequencies.len()
    }

    /// Simulates samples of `sample` documents, one per week.
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

/// The number of `drawn` documents that contain a word, if `with_word` of all documents do: drawn exactly,
/// one document at a time. The distribution is symmetric in the two numbers, so the loop runs over the
/// smaller.
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
