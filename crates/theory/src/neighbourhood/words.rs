//! Pages as vectors of their words, weighted by tf·idf.
//!
//! The word-level vectors of **neighbours**, section 4.3: each word of a page has the weight
//!
//! > tf · idf, with tf its count in the page and idf = ln(pages / pages that have it)
//!
//! # Promises
//! - A word that every page has carries no information: its weight is zero.
//! - Words are numbered in the order in which they first appear, so the same pages give the same vectors.
//!
//! # Departures
//! The text specifies neither the logarithm nor how a URL is split into words. We use the natural logarithm,
//! and split at every character that is neither a letter nor a digit. Letters are compared without folding
//! case; the code that reads the pages folds it.

use std::collections::HashMap;

use super::vectors::UnitVectors;

/// The words of each document as a vector of tf·idf weights.
pub fn tf_idf<'a, D>(documents: impl IntoIterator<Item = D>) -> UnitVectors
where
    D: IntoIterator<Item = &'a str>,
{
    let mut numbers: HashMap<&str, u32> = HashMap::new();
    let mut documents_with: Vec<u32> = Vec::new();
    let mut counts: Vec<Vec<(u32, f64)>> = Vec::new();
    for document in documents {
        let words = document.into_iter().map(|word| {
            let next = numbers.len() as u32;
            *numbers.entry(word).or_insert(next)
        });
        let counted = count(words.collect());
        documents_with.resize(numbers.len(), 0);
        counted.iter().for_each(|(word, _)| documents_with[*word as usize] += 1);
        counts.push(counted);
    }
    let documents = counts.len() as f64;
    for (word, weight) in counts.iter_mut().flatten() {
        *weight *= (documents / f64::from(documents_with[*word as usize])).ln();
    }
    UnitVectors::new(counts)
}

/// The words of a URL, after its scheme.
pub fn url_words(url: &str) -> impl Iterator<Item = &str> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// Each word once, with its count, in rising order.
fn count(mut words: Vec<u32>) -> Vec<(u32, f64)> {
    words.sort_unstable();
    let runs = words.chunk_by(|a, b| a == b);
    runs.map(|run| (run[0], run.len() as f64)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_weighs_its_count_times_its_rarity() {
        // Three pages: `a` is in all, `b` in two, `c` in one.
        let vectors = tf_idf([vec!["a", "b", "b"], vec!["a", "b", "c"], vec!["a"]]);
        let (b, c) = (1.5f64.ln(), 3f64.ln());
        let entries: Vec<_> = vectors.entries(1).collect();
        assert_eq!((entries.len(), entries[0].0, entries[1].0), (2, 1, 2));
        assert!((entries[0].1 - b / b.hypot(c)).abs() < 1e-15, "{entries:?}");
        assert!((entries[1].1 - c / b.hypot(c)).abs() < 1e-15, "{entries:?}");
        assert_eq!(vectors.entries(0).collect::<Vec<_>>(), [(1, 1.0)]);
        assert!(vectors.is_zero(2));
    }

    #[test]
    fn a_url_is_divided_at_what_is_no_letter_or_digit() {
        let words: Vec<_> = url_words("http://www.abc.com/dir1/news_2024.htm?q=a%20b").collect();
        assert_eq!(words, ["www", "abc", "com", "dir1", "news", "2024", "htm", "q", "a", "20b"]);
        assert_eq!(url_words("").count(), 0);
    }
}
