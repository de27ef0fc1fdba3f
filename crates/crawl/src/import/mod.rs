//! Import of data that other programs collected, so that a crawl starts with a history.
//!
//! In reading order:
//! - [`importer`]: turns files into URLs, visits and versions of the stores;
//! - [`file_kind`]: detects the type of a file: a WARC file, an index, a sitemap, a list of URLs;
//! - [`warc_file`]: reads the records of a WARC file that another program wrote;
//! - [`http_message`]: parses the HTTP response in such a record;
//! - [`cdx`]: parses a line of an index, in CDX or CDXJ.

pub mod cdx;
pub mod file_kind;
pub mod http_message;
pub mod importer;
pub mod warc_file;

pub use importer::{ImportError, Imported, Importer};
