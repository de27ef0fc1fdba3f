//! Which databases to ask.
//!
//! In reading order:
//! - [`ranking`]: CORI, bGlOSS and KL;
//! - [`index`]: summaries in memory, ready to be asked;
//! - `segment`: the summaries of some databases in a file, of which a query reads its own words;
//! - [`catalogue`]: the summaries of all databases of a summary store in such files.

pub mod catalogue;
pub mod index;
pub mod ranking;
mod segment;

pub use catalogue::Catalogue;
pub use index::Index;
pub use ranking::{Algorithm, Choice};
