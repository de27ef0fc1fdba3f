//! A damaged store made sound, with everything in it that is intact.
//!
//! In reading order:
//! - [`course`]: the steps in their order, and what was done.
//! - `state`: a state that can be read to its end and has the steps of the log.
//! - `log`: a log whose files are whole.
//! - `segments`: the Collection: damaged bytes replaced by a record that says so.
//! - `filler`: that record, of any length.
//! - `visits`: the History: rows that can be read, and which are lost.
//! - `commands`: what users told: pins, pauses, options.
//! - `urls`: the files of the URLs.
//! - `records`: URLs, pages and sites that fit together again, from what the Collection and the History
//!   tell of them.

mod commands;
pub mod course;
mod filler;
mod log;
mod records;
mod segments;
mod state;
mod urls;
mod visits;

pub use course::{Repaired, repair};
