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

/// Pages of results of one query that are asked for: results that go on for ever must not take the whole
/// budget.
pub(crate) const PAGES_MAX: u32 = 20;

/// Queries in a row that bring nothing new before a sample ends.
pub(crate) const FRUITLESS_MAX: u32 = 40;

/// Queries in a row that fail before a sample ends.
pub(crate) const FAILURES_MAX: u32 = 5;

/// Questions whether we are human, in all, before a sample ends.
pub(crate) const CAPTCHAS_MAX: u32 = 2;

/// Queries in a row that are answered with the very same results before a sample ends.
pub(crate) const SAME_MAX: u32 = 8;

/// Words that are common in English texts, and in many in other languages.
pub(crate) const START_WORDS: &[&str] = &[
    "new",
    "time",
    "world",
    "system",
    "information",
    "home",
    "data",
    "work",
    "people",
    "program",
    "general",
    "first",
    "part",
    "use",
    "number",
    "group",
    "history",
    "science",
    "health",
    "music",
    "law",
    "school",
    "water",
    "art",
    "city",
    "family",
    "market",
    "state",
    "service",
    "project",
    "question",
    "example",
    "study",
    "book",
    "page",
    "world",
    "life",
    "day",
    "year",
    "name",
    "international",
    "test",
];
