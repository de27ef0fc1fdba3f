//! Similarity of a page to the query that drives a crawl.
//!
//! Implements the thesis, section 2.2, item 1: page and query are vectors of word weights, and
//!
//! > IS(p, Q) is their inner product, or their cosine: the inner product of the normalised vectors
//!
//! A weight is the number of occurrences of the word. With idf it is multiplied by "one divided by the number
//! of times the word appears in the entire collection" (no logarithm).
//!
//! # Promises
//! - The cosine is in [0, 1], and 0 when a vector is empty, also where squares would overflow or underflow.
//! - Without idf only the page and the query are needed; with it, words unknown to the collection do not
//!   count.
//!
//! # Departures
//! None.

use std::collections::BTreeMap;

/// Weights of the words of a document; never negative.
pub type WordWeights = BTreeMap<String, f64>;

/// Multiplies each count by the word's idf, which is one divided by its count in the collection. Words that
/// are not in the collection, or have a count of zero there, are dropped.
pub fn with_idf(counts: &WordWeights, collection: &WordWeights) -> WordWeights {
    let weighted = |(word, count): (&String, &f64)| {
        let occurrences = collection.get(word).copied().filter(|occurrences| *occurrences > 0.0)?;
        Some((word.clone(), count / occurrences))
    };
    counts.iter().filter_map(weighted).collect()
}

/// Inner product; grows with the length of the page. Infinite when it is beyond the range of a double.
pub fn inner(page: &WordWeights, query: &WordWeights) -> f64 {
    shared_weights(page, query).map(|(in_page, in_query)| in_page * in_query).sum()
}

/// Cosine of the angle between the vectors, from 0 (no shared word) to 1 (the same proportions).
pub fn cosine(page: &WordWeights, query: &WordWeights) -> f64 {
    let (page_scale, query_scale) = (largest(page), largest(query));
    if page_scale == 0.0 || query_scale == 0.0 {
        return 0.0;
    }
    // Scaled by their largest weight, the vectors have norms from one to the square root of their length.
    let inner: f64 = shared_weights(page, query)
        .map(|(in_page, in_query)| (in_page / page_scale) * (in_query / query_scale))
        .sum();
    (inner / (norm(page, page_scale) * norm(query, query_scale))).min(1.0)
}

/// The weights, in the page and in the query, of the words that are in both.
fn shared_weights<'a>(
    page: &'a WordWeights,
    query: &'a WordWeights,
) -> impl Iterator<Item = (&'a f64, &'a f64)> {
    // A query is short: look its words up in the page.
    query.iter().filter_map(|(word, in_query)| page.get(word).map(|in_page| (in_page, in_query)))
}

fn largest(weights: &WordWeights) -> f64 {
    weights.values().copied().fold(0.0, f64::max)
}

fn norm(weights: &WordWeights, scale: f64) -> f64 {
    weights.values().map(|weight| (weight / scale) * (weight / scale)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words<const N: usize>(weights: [(&str, f64); N]) -> WordWeights {
        weights.into_iter().map(|(word, weight)| (word.to_owned(), weight)).collect()
    }

    #[track_caller]
    fn check(got: f64, expected: f64) {
        assert!((got - expected).abs() <= 1e-15 + 1e-14 * expected.abs(), "{got} instead of {expected}");
    }

    #[test]
    fn the_cosine_is_the_inner_product_of_the_normalised_vectors() {
        let page = words([("crawler", 3.0), ("web", 2.0), ("the", 10.0)]);
        let query = words([("web", 1.0), ("crawler", 1.0)]);
        check(cosine(&page, &query), 5.0 / (113.0_f64.sqrt() * 2.0_f64.sqrt()));
        check(inner(&page, &query), 5.0);
    }

    #[test]
    fn a_rare_word_weighs_more_with_idf() {
        let page = words([("crawler", 3.0), ("web", 2.0), ("unheard", 10.0)]);
        let query = words([("web", 1.0), ("crawler", 1.0)]);
        let collection = words([("crawler", 20.0), ("web", 200.0), ("zero", 0.0)]);
        check(inner(&with_idf(&page, &collection), &with_idf(&query, &collection)), 0.00755);
        assert!(!with_idf(&page, &collection).contains_key("unheard"));
    }

    #[test]
    fn an_empty_vector_is_like_nothing() {
        let (empty, page) = (words([("web", 0.0)]), words([("web", 1.0)]));
        check(cosine(&empty, &page), 0.0);
        check(cosine(&page, &WordWeights::new()), 0.0);
    }

    #[test]
    fn weights_may_be_huge_or_tiny() {
        let huge = words([("a", 1e308), ("b", 1e308)]);
        let tiny = words([("a", 5e-324), ("c", 5e-324)]);
        check(cosine(&huge, &tiny), 0.5);
        check(cosine(&huge, &huge), 1.0);
        assert_eq!(inner(&huge, &huge), f64::INFINITY);
    }

    proptest! {
        #[test]
        fn the_cosine_knows_no_scale(
            weights in proptest::collection::vec((0.0..10.0, 0.0..10.0), 1..8),
            scale in 1e-9..1e9,
        ) {
            let vector = |weight: fn(&(f64, f64)) -> f64, scale: f64| -> WordWeights {
                weights
                    .iter()
                    .enumerate()
                    .map(|(word, pair)| (word.to_string(), scale * weight(pair)))
                    .collect()
            };
            let (page, query) = (vector(|pair| pair.0, 1.0), vector(|pair| pair.1, 1.0));
            let scaled = vector(|pair| pair.0, scale);
            let likeness = cosine(&page, &query);
            prop_assert!((0.0..=1.0).contains(&likeness));
            prop_assert!((likeness - cosine(&scaled, &query)).abs() < 1e-12);
            prop_assert!((likeness - cosine(&query, &page)).abs() < 1e-12);
        }
    }
}
