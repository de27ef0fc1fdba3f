//! Databases whose documents can all be read: complete summaries.
//!
//! In reading order:
//! - [`complete`]: the complete summary of a database;
//! - [`files`]: documents that are files under a directory;
//! - [`archive`]: documents that are responses in WARC files;
//! - [`site`]: documents that are pages of a crawl.

pub mod archive;
pub mod complete;
pub mod files;
pub mod site;

pub use complete::complete_summary;
