//! What sites ask of robots (RFC 9309).
//!
//! In reading order:
//! - [`mod@file`]: a `robots.txt` read, for one robot;
//! - [`pattern`]: paths and the patterns that match them;
//! - [`policy`]: what follows from the answer to a request for `robots.txt`, whatever it is.

pub mod file;
pub mod pattern;
pub mod policy;

pub use file::{Robots, Verdict};
pub use policy::{Chase, RobotsPolicy, Step};
