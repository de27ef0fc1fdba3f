//! Recorded histories of pages: when each was born, changed and died.
//!
//! In reading order:
//! - `columns`: columns of a Parquet file, named when they are wrong;
//! - [`tables`]: the four tables of a data directory;
//! - [`world`]: a window of the tables, aligned, ready for replay;
//! - [`recording`]: builds a history and writes it to files;
//! - `in_memory`: converts a recording into tables without files;
//! - [`git`]: histories from clones of content repositories;
//! - [`crawl`]: histories from the visits of a crawl;
//! - [`synthetic`]: histories from a model;
//! - [`web_graph`]: links of a web graph, which has no history.

mod columns;
pub mod crawl;
pub mod git;
mod in_memory;
pub mod recording;
pub mod synthetic;
pub mod tables;
pub mod web_graph;
pub mod world;

pub use recording::Recording;
pub use tables::{ChangeKind, Tables};
pub use world::{Mass, Window, World};
