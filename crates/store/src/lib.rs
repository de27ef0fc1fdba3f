//! What Freshet holds on disk. It answers what it is asked and keeps what it is told; it never decides.
//!
//! In reading order. What everything else is made of:
//! - [`key_value`]: the ordered key-value store underneath, on disk or in memory.
//! - [`error`]: why a store could not be opened, read or written.
//! - [`directory`]: the directory of a store: its format, its lock, and the files in it.
//! - [`synced`]: what has been made durable.
//! - `records`: records of a keyspace, decoded.
//! - [`digest`]: the digest by which content is compared; [`identity`]: who a store is.
//!
//! What is kept:
//! - [`all_urls`]: AllUrls, every URL ever discovered.
//! - [`sites`]: what is known of each site.
//! - [`links`]: which URLs each page links to.
//! - [`versions`]: when each page was seen, and where the bytes of it are.
//! - [`collection`]: the Collection, the pages themselves as WARC files.
//! - [`foreign_parquet`]: Parquet files of other programs, which may be damaged.
//! - [`history`]: the History, every visit as Parquet.
//! - [`coll_urls`]: CollUrls, what is known of each page that is or was kept.
//! - [`url_files`]: every URL as Parquet.
//! - [`counters`]: how much there is of everything, without counting.
//!
//! How it is written:
//! - [`changes`]: what becomes true in one step.
//! - [`log`]: the primary fact: every step, before it is true anywhere else.
//! - `ledger`: takes steps and makes them durable.
//! - `opening`: a state made, converted, brought up to its log, or refused.
//! - [`startup_index`]: what a start needs of every URL, to be read fast; `findings`: what a check found.
//!
//! What is done with all of it:
//! - [`reader`]: reads it, from any thread, whatever its process does.
//! - [`store`]: opens it for writing, changes it in steps, keeps its files in order.
//! - [`export`]: writes parts of it as files that others read.
//! - [`check`]: tells whether all of it is as `docs/FORMAT.md` says.
//! - [`repair`]: makes a damaged store sound, with everything in it that is intact.
//!
//! `docs/FORMAT.md` describes every file to the byte.

pub mod all_urls;
pub mod changes;
pub mod check;
pub mod coll_urls;
pub mod collection;
pub mod counters;
pub mod digest;
pub mod directory;
pub mod error;
pub mod export;
mod findings;
pub mod foreign_parquet;
pub mod history;
pub mod identity;
pub mod key_value;
mod ledger;
pub mod links;
pub mod log;
mod opening;
pub mod reader;
mod records;
pub mod repair;
pub mod sites;
pub mod startup_index;
pub mod store;
pub mod synced;
pub mod url_files;
pub mod versions;
