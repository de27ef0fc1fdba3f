//! Search interfaces: from a query to a URL, and from an answer to results.
//!
//! In reading order:
//! - `description`: description of a search interface;
//! - [`template`]: URL templates of queries;
//! - [`open_search`]: an interface from an OpenSearch description;
//! - [`pattern`]: patterns that locate something on a page: CSS, JSON path, regular expression;
//! - [`json_path`]: JSON paths;
//! - [`answer`]: parses a page of results.

pub mod answer;
mod description;
pub mod json_path;
pub mod open_search;
pub mod pattern;
pub mod template;

pub use answer::{Answer, Found, read_answer};
pub(crate) use description::plain_urls;
pub use description::{Documents, Interface};
