//! Exports of a store in common file formats: WARC, WACZ, Parquet.
//!
//! In reading order:
//! - [`selection`]: which versions are exported, by site and time;
//! - [`warc`]: one WARC file;
//! - [`wacz`]: one WACZ package: the WARC, its index, and its pages;
//! - `zip`, `sha256`: parts of a package;
//! - [`visits`]: the History as one Parquet file.

pub mod selection;
pub mod unfinished;
pub mod visits;
pub mod wacz;
pub mod warc;
mod zip;

pub use selection::{Exported, Selection};
pub use visits::export_visits;
pub use wacz::export_wacz;
pub use warc::export_warc;
