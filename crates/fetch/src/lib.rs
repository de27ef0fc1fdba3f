//! How sites are asked, what their answers mean, and what is a change. Nothing is decided here.
//!
//! In reading order:
//! - [`web`]: the only code that talks to sites: robots, politeness, DNS, TLS, HTTP;
//! - [`page`]: what a page is called and what its bytes mean;
//! - [`change`]: what is a change, and what never lasts.

pub mod change;
pub mod page;
pub mod web;
