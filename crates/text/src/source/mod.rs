//! Complete summaries of databases whose documents can all be read.
//!
//! In reading order:
//! - [`complete`]: the complete summary of a database;
//! - [`files`]: documents from files under a directory;
//! - [`archive`]: documents from responses in WARC files;
//! - [`site`]: documents from pages of a crawl.

pub mod archive;
pub mod complete;
pub mod files;
pub mod site;

pub use complete::complete_summary;
