//! Size and budget of a sample.

use serde::{Deserialize, Serialize};

/// How a database is sampled.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct SampleRules {
    /// Number of documents to read. About 300 suffice (Callan and Connell).
    pub documents: u32,
    /// Number of results taken of each query, from further pages if the first has fewer.
    pub results_per_query: u32,
    /// Maximum number of queries.
    pub queries_max: u32,
    /// Maximum number of requests, for results and for documents.
    pub requests_max: u32,
    /// Number of queries that measure the size, where the interface reports the number of matches.
    pub size_queries: u32,
    /// Seed of all random choices.
    pub seed: u64,
    /// Words to start with. Common words if empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub start_words: Vec<String>,
}

impl Default for SampleRules {
    fn default() -> Self {
        Self {
            documents: 300,
            results_per_query: 4,
            queries_max: 400,
            requests_max: 1_500,
            size_queries: 25,
            seed: 1,
            start_words: Vec::new(),
        }
    }
}

/// Maximum pages of results requested per query, so that endless results cannot use up the budget.
pub(super) const PAGES_MAX: u32 = 20;

/// Queries in a row without anything new that end a sample.
pub(super) const FRUITLESS_MAX: u32 = 40;

/// Failed queries in a row that end a sample.
pub(super) const FAILURES_MAX: u32 = 5;

/// Total number of requests for proof of a human client that end a sample.
pub(super) const CAPTCHAS_MAX: u32 = 2;

/// Queries in a row with identical results that end a sample.
pub(super) const SAME_MAX: u32 = 8;

/// Words that are common in English texts, and in many in other languages.
#[rustfmt::skip]
pub(super) const START_WORDS: &[&str] = &[
    "new", "time", "world", "system", "information", "home", "data", "work", "people", "program", "general",
    "first", "part", "use", "number", "group", "history", "science", "health", "music", "law", "school",
    "water", "art", "city", "family", "market", "state", "service", "project", "question", "example", "study",
    "book", "page", "world", "life", "day", "year", "name", "international", "test",
];
