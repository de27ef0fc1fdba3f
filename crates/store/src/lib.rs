//! What Freshet holds on disk. It answers what it is asked and keeps what it is told; it never decides.
//!
//! In reading order:
//! - [`error`]: why a store could not be opened, read or written.
//! - [`key_value`]: the ordered key-value store underneath, on disk or in memory.
//! - [`all_urls`]: AllUrls, every URL ever discovered.
//! - [`coll_urls`]: CollUrls, what is known of each page that is or was kept.
//! - [`sites`]: what is known of each site.
//! - [`links`]: which URLs each page links to.
//! - [`versions`]: when each page was seen, and where the bytes of it are.
//! - [`collection`]: the Collection, the pages themselves as WARC files.
//! - [`history`]: the History, every visit as Parquet.
//! - [`counters`]: how much there is of everything, without counting.
//! - [`changes`]: what becomes true in one step.
//! - [`log`]: the primary fact: every step, before it is true anywhere else; [`synced`]: what has been made durable.
//! - [`url_files`]: every URL as Parquet.
//! - [`store`]: all of it together: opened, changed, closed; `commit` makes changes true, `ledger` takes steps and makes them durable,
//!   `recent_urls` spares lookups; `making` makes a new store, `convert` one of the first format, `recovery` refuses what is behind and replays the log,
//!   [`lock`] keeps others out, `mend` forgets what a loss of power took, `aside` keeps what belongs to no step, `room` asks whether there is room on
//!   the disk, `presence` whether the directory is still there, `reopening` goes on after a write of the key-value store failed.
//! - [`tidy`]: files kept in order between commits; `sweep` drops what is beyond the limits.
//! - [`reader`]: all of it read, from any thread; `reading` opens a store to be read whatever its process does, with a copy of the state (`scratch`), and
//!   `readers` keeps files in place for those who read.
//! - [`startup_index`]: what a start needs of every URL, to be read fast.
//! - [`foreign_parquet`]: Parquet files of other programs, which may be damaged.
//! - [`export`]: parts of it as files that others read.
//! - [`check`]: whether all of it is as `docs/FORMAT.md` says; `check_log` holds it against the log, `inspect` opens a store without altering it.
//! - [`repair`]: a damaged store made sound, with everything in it that is intact.
//!
//! `docs/FORMAT.md` describes every file to the byte.

pub mod all_urls;
mod aside;
pub mod changes;
pub mod check;
mod check_log;
pub mod coll_urls;
pub mod collection;
mod commit;
mod convert;
pub mod counters;
pub mod error;
pub mod export;
pub mod foreign_parquet;
pub mod history;
mod inspect;
pub mod key_value;
mod ledger;
pub mod links;
pub mod lock;
pub mod log;
mod making;
mod mend;
pub mod odd_files;
mod presence;
pub mod reader;
mod readers;
mod reading;
mod recent_urls;
mod recovery;
mod reopening;
pub mod repair;
mod room;
mod scratch;
pub mod sites;
pub mod startup_index;
pub mod store;
mod sweep;
pub mod synced;
pub mod tidy;
pub mod url_files;
pub mod versions;
