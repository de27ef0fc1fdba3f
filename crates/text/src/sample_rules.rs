//! How large a sample is, and what it may cost.

use serde::{Deserialize, Serialize};

/// How a database is sampled.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct SampleRules {
    /// Documents that make a sample: about 300 suffice (Callan and Connell).
    pub documents: u32,
    /// Results of each query that are taken, from further pages if the first has fewer.
    pub results_per_query: u32,
    /// Queries that may be asked.
    pub queries_max: u32,
    /// Requests in all, for results and for documents.
    pub requests_max: u32,
    /// Queries that measure the size, where the interface reports how many documents match.
    pub size_queries: u32,
    /// The seed of all chance.
    pub seed: u64,
    /// Words to begin with; common ones if none is named.
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

/// Pages of results of one query that are asked for: results that go on for ever must not take the whole budget.
pub(crate) const PAGES_MAX: u32 = 20;

/// Queries in a row that bring nothing new before a sample ends.
pub(crate) const FRUITLESS_MAX: u32 = 40;

/// Queries in a row that fail before a sample ends.
pub(crate) const FAILURES_MAX: u32 = 5;

/// Questions whether we are human, in all, before a sample ends.
pub(crate) const CAPTCHAS_MAX: u32 = 2;

/// Queries in a row that are answered with the very same results before a sample ends.
pub(crate) const SAME_MAX: u32 = 8;

/// Words that most texts in English, and many in other languages, have or are about.
#[rustfmt::skip]
pub(crate) const START_WORDS: &[&str] = &[
    "new", "time", "world", "system", "information", "home", "data", "work", "people", "program", "general", "first", "part", "use",
    "number", "group", "history", "science", "health", "music", "law", "school", "water", "art", "city", "family", "market", "state",
    "service", "project", "question", "example", "study", "book", "page", "world", "life", "day", "year", "name", "international", "test",
];
