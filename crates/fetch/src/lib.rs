//! Fetching and parsing: requests to sites, the contents of their responses, and change detection. Nothing is
//! decided here.
//!
//! In reading order:
//! - [`web`]: the only code that talks to sites: robots, politeness, DNS, TLS, HTTP;
//! - [`page`]: URLs, and the contents of a response;
//! - [`change`]: change detection, and ephemeral parts of pages.

pub mod change;
pub mod page;
pub mod web;
