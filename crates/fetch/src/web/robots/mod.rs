//! robots.txt (RFC 9309).
//!
//! In reading order:
//! - [`mod@file`]: the parser of `robots.txt`, for one robot;
//! - [`pattern`]: paths and the patterns that match them;
//! - [`policy`]: the consequences of any response to a request for `robots.txt`.

pub mod file;
pub mod pattern;
pub mod policy;

pub use file::{Robots, Verdict};
pub use policy::{Chase, RobotsPolicy, Step};
