//! The write-ahead log, the primary record of a crawl: every step is appended to it before it is committed
//! anywhere else.
//!
//! In reading order:
//! - `frame`: the encoding of a record, with its number and checksum;
//! - `step`: the content of a step, and its batch restored from it;
//! - `files`: the files of the log: appended to, read, truncated, dropped;
//! - `end`: the end of the log;
//! - [`event`]: steps as readers see them: visits, URLs, commands.

pub(crate) mod end;
pub mod event;
pub(crate) mod files;
pub(crate) mod frame;
pub(crate) mod step;
