//! Database selection: which databases to query.
//!
//! In reading order:
//! - [`ranking`]: CORI, bGlOSS and KL;
//! - `index`: summaries in memory, against which the tests hold the answers of the files;
//! - `segment`: the summaries of some databases in a file, of which a query reads its own words;
//! - [`catalogue`]: the summaries of all databases of a summary store in such files.

pub mod catalogue;
#[cfg(test)]
mod index;
pub mod ranking;
mod segment;

pub use catalogue::Catalogue;
#[cfg(test)]
use index::Index;
pub use ranking::{Algorithm, Choice};
