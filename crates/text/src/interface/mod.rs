//! Search interfaces: how a query becomes a URL, and an answer results.
//!
//! In reading order:
//! - `description`: what is said of an interface;
//! - [`template`]: the URL of a query;
//! - [`open_search`]: an interface from an OpenSearch description;
//! - [`pattern`]: where on a page something stands: CSS, JSON path, regular expression;
//! - [`json_path`]: paths into JSON;
//! - [`answer`]: what a page of results says.

pub mod answer;
mod description;
pub mod json_path;
pub mod open_search;
pub mod pattern;
pub mod template;

pub use answer::{Answer, Found, read_answer};
pub(crate) use description::plain_urls;
pub use description::{Documents, Interface};
