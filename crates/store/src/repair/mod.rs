//! A damaged store made sound, with everything in it that is intact.
//!
//! In reading order:
//! - [`course`]: the steps in their order, and what was done.
//! - `aside`: what must go is put aside, never removed.
//! - `state`: a key-value store that can be read to its end.
//! - `segments`: the Collection: damaged bytes replaced by a record that says so.
//! - `filler`: that record, of any length.
//! - `visits`: the History: rows that can be read, and which are lost.
//! - `records`: URLs, pages and sites that fit together again, from what the Collection and the History tell of them.

mod aside;
pub mod course;
mod filler;
mod records;
mod segments;
mod state;
mod visits;

pub use course::{Repaired, repair};
