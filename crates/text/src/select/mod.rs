//! Database selection: which databases to query.
//!
//! In reading order:
//! - [`ranking`]: CORI, bGlOSS and KL;
//! - [`index`]: an inverted index in memory;
//! - `segment`: an inverted index of some databases in a file;
//! - [`catalogue`]: an inverted index of a whole summary store, made of segments.

pub mod catalogue;
pub mod index;
pub mod ranking;
mod segment;

pub use catalogue::Catalogue;
pub use index::Index;
pub use ranking::{Algorithm, Choice};
