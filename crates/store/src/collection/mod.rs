//! The Collection: every version of every page, as WARC/1.1 files with a CDXJ index.
//!
//! In reading order:
//! - [`exchange`]: a request and its response, as the crawler passes them;
//! - [`digest`]: SHA-1 in base 32, and WARC record identifiers;
//! - [`deflate`]: a fast DEFLATE encoder;
//! - [`gzip`]: one gzip member per record;
//! - [`http_head`]: the head of a response in archived form;
//! - [`warc`]: WARC records, written and parsed;
//! - [`folding`]: compressed records of whole responses, made on any thread;
//! - [`surt`]: the sort key of a URL;
//! - [`index`]: the CDXJ index, one line per record;
//! - [`segment`]: the segment files, appended to and truncated after a crash;
//! - [`reading`]: one record, or all records of a segment;
//! - [`retention`]: which old versions are dropped to keep within limits.

pub mod deflate;
pub mod digest;
pub mod exchange;
pub mod folding;
pub mod gzip;
pub mod http_head;
pub mod index;
pub mod reading;
pub mod retention;
pub mod segment;
pub mod surt;
pub mod warc;

pub use exchange::{Exchange, ExchangeKind, Truncation};
pub use folding::{Folded, Folding};
pub use reading::StoredResponse;
pub use retention::Keep;
