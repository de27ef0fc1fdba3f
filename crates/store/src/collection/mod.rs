//! The Collection: the pages themselves, every version of them, as WARC/1.1 files with an index.
//!
//! In reading order:
//! - [`exchange`]: a request and its response, as the crawler hands them over.
//! - [`digest`]: SHA-1 in base 32, and the identifiers of records.
//! - [`deflate`]: bytes made smaller, quickly.
//! - [`gzip`]: one gzip member per record.
//! - [`http_head`]: the head of a response as the archive keeps it.
//! - [`warc`]: the records, written and parsed.
//! - [`folding`]: the records of whole responses, made on any thread.
//! - [`surt`]: the sort key of a URL.
//! - [`index`]: CDXJ, one line per record.
//! - [`segment`]: the files, appended to and cut back after a crash.
//! - [`reading`]: one record or all records of a segment.
//! - [`retention`]: old versions dropped to keep within limits.

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
