//! Text databases: what they contain, how that changes, and which of them to query.
//!
//! Implements the system of the **summary** text. It reaches sites only through the crawler's own `web`, and
//! prints nothing.
//!
//! In reading order:
//! - `language`: languages whose words are known;
//! - [`words`], `stop_words`: from text to words;
//! - `short_word`: short words, eight bytes at a time;
//! - `vocabulary`: a hash table of words and their counts;
//! - [`counting`]: in how many documents each word occurs;
//! - [`summary`]: a content summary in memory;
//! - [`version`]: a summary as a file, with how it was learned;
//! - `sample_rules`: how large a sample is and what it may cost;
//! - [`database`]: what a text database is;
//! - [`summary_store`]: where databases and the versions of their summaries are kept;
//! - [`source`]: complete summaries of files, archives and crawled sites;
//! - [`interface`]: search interfaces;
//! - [`spending`]: the request budget;
//! - [`visitor`]: sends requests to databases;
//! - [`sample`]: approximate summaries by queries;
//! - [`select`]: which databases to query;
//! - [`weeks`]: how summaries change over weeks, and how often to refresh them;
//! - [`refresh`]: which summary is refreshed next;
//! - [`search`]: merges results of several databases;
//! - [`error`][]: errors.

pub mod counting;
pub mod database;
pub mod error;
pub mod interface;
mod language;
pub mod refresh;
pub mod sample;
mod sample_rules;
pub mod search;
pub mod select;
mod short_word;
pub mod source;
pub mod spending;
mod stop_words;
pub mod summary;
pub mod summary_store;
pub mod version;
pub mod visitor;
mod vocabulary;
pub mod weeks;
pub mod words;
