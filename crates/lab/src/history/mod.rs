//! Recorded histories of pages: when each was born, changed and died.
//!
//! In reading order:
//! - [`columns`]: columns of a Parquet file, named when they are wrong;
//! - [`tables`]: the four tables of a data directory;
//! - [`world`]: a window of them, aligned, ready to be replayed.

mod columns;
pub mod tables;
pub mod world;

pub use tables::{ChangeKind, Family, Tables};
pub use world::{Mass, Window, World};
