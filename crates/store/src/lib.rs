//! Storage of a crawl on disk: the log, the state in a key-value store, pages as WARC files, visits and URLs
//! as Parquet files.
//!
//! The store answers queries and keeps what it is given; it makes no crawling decisions.
//!
//! In reading order. Foundations:
//! - [`key_value`]: the ordered key-value store, on disk or in memory;
//! - [`error`]: the errors of a store;
//! - [`directory`]: the directory of a store: its format, its lock, and the files in it;
//! - [`synced`]: the file `SYNCED`, which says what is durable;
//! - `records`: reads records of a keyspace;
//! - [`digest`]: the digest by which content is compared; [`identity`]: the identity of a store.
//!
//! The data:
//! - [`all_urls`]: AllUrls, every URL ever discovered;
//! - [`sites`]: the record of each site;
//! - [`links`]: which URLs each page links to;
//! - [`versions`]: when each page was seen, and where its bytes are;
//! - [`collection`]: the Collection, every version of every page as WARC files;
//! - [`foreign_parquet`]: Parquet files of other programs, which may be damaged;
//! - [`history`]: the History, every visit as Parquet;
//! - [`coll_urls`]: CollUrls, the record of each page that is or was kept;
//! - [`url_files`]: every URL as Parquet;
//! - [`counters`]: the number of URLs, pages, visits and more.
//!
//! Writing:
//! - [`changes`]: the changes of one step;
//! - [`log`]: the write-ahead log, which has every step first;
//! - `ledger`: takes steps and makes them durable;
//! - `opening`: creates, converts, opens and recovers a state, or refuses it;
//! - [`startup_index`]: a cache of URL data for a fast start; `findings`: the findings of a check.
//!
//! Operations:
//! - [`reader`]: reads a store from any thread or process;
//! - [`store`]: the store open for writing: commits changes and tidies its files;
//! - [`export`]: writes parts of a store in common file formats;
//! - [`check`]: checks everything against `docs/FORMAT.md`;
//! - [`repair`]: repairs a damaged store and keeps everything intact in it.
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
