//! Parts of a store as files that others read: WARC, WACZ, Parquet.
//!
//! In reading order:
//! - [`selection`]: which versions: of some sites, of a span of time.
//! - [`warc`]: one WARC file.
//! - [`wacz`]: one WACZ package: the WARC, its index, the pages.
//! - `zip`: the archive that a package is.
//! - [`unfinished`]: files in the making.
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
