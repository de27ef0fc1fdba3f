//! Plain values that cross a border between the parts of Freshet. No I/O, no decisions.
//!
//! In reading order:
//! - [`time`]: moments, in milliseconds.
//! - [`ids`]: the dense numbers of URLs, pages and sites, and the place of a record in the Collection.
//! - [`codec`]: how records become bytes.
//! - [`texts`]: many short texts in one piece of memory.
//! - [`containment`]: a panic that is contained where it happens, and becomes a value.

pub mod codec;
pub mod containment;
pub mod ids;
pub mod texts;
pub mod time;
