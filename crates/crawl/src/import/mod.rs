//! What others collected, taken in: learning starts with history.
//!
//! In reading order:
//! - [`importer`]: files become URLs, visits and versions of the stores.
//! - [`file_kind`]: what a file is: a WARC, an index, a sitemap, a list of URLs.
//! - [`warc_file`]: the records of a WARC file that another program wrote.
//! - [`http_message`]: the response in such a record.
//! - [`cdx`]: a line of an index, in CDX or CDXJ.

pub mod cdx;
pub mod file_kind;
pub mod http_message;
pub mod importer;
pub mod warc_file;

pub use importer::{ImportError, Imported, Importer};
