//! Repairs a damaged store, and keeps everything intact in it.
//!
//! In reading order:
//! - [`course`]: the parts of a repair in their order, and its report;
//! - `state`: makes the state readable and replays the log;
//! - `log`: repairs the files of the log;
//! - `segments`: repairs the Collection: damaged bytes are replaced by a filler record;
//! - `filler`: that record, of any length;
//! - `visits`: repairs the History: keeps readable rows, and records which are lost;
//! - `commands`: applies pins, pauses and options again;
//! - `urls`: repairs the URL files;
//! - `records`: makes records of URLs, pages and sites consistent, from the Collection and the History.

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
