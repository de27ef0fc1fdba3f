//! The store: everything on disk, open for writing and changed in atomic steps.
//!
//! A commit appends the records of its exchanges to the Collection, then its step to the log
//! ([`crate::log`]), and then commits it to the key-value store. After a kill at any moment, the store opens
//! with all commits that returned, possibly the one in progress, and nothing else: bytes that belong to no
//! step are moved to `aside/`. A store that is behind `SYNCED` is refused.
//!
//! # Promises
//! - Only one process opens a store at a time; a second one gets an error that names the first.
//! - After an error none of the changes is committed, and the store can be reopened. If the disk had no room
//!   for the pages, the store can be used without reopening.
//! - Opening deletes no collected data, and accepts nothing that is older than what was made durable.
//! - No count requires a scan of everything.
//!
//! In reading order:
//! - `settings`: the settings of a store;
//! - `opened`: opens, syncs and closes it;
//! - `leftovers`: moves leftovers of a crash aside;
//! - `numbers`: the numbers of URLs, pages and sites; `recent_urls` caches lookups;
//! - `commit`: commits changes as one step;
//! - `reopening`: reopens the key-value store after a failed write;
//! - `tidy`: maintains files between commits; `sweep` drops versions beyond the limits.

mod commit;
mod leftovers;
mod numbers;
mod opened;
mod recent_urls;
mod reopening;
mod settings;
mod sweep;
mod tidy;

pub use numbers::Numbered;
pub use opened::{Mended, Store, is_earlier};
pub use settings::Settings;
pub use tidy::Tidied;
