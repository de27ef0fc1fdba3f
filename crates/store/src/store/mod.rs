//! The store: everything on disk, opened, changed in single steps, closed.
//!
//! A commit appends the records of its exchanges to the Collection, then its step to the log
//! ([`crate::log`]), and then makes it true in the key-value store. Killed at any instant, the store opens
//! with all commits that returned, possibly the one that was under way, and nothing of what came after: bytes
//! that belong to no step are moved to `aside/`. What is behind `SYNCED` is refused.
//!
//! # Promises
//! - One process at a time: a second is refused and told the first.
//! - After an error nothing of the changes is there, and the store can be opened again; if there was no room
//!   for the pages, it can go on as it is.
//! - Opening removes nothing that was collected, and takes nothing for the truth that is older than what was
//!   made durable.
//! - Nothing is counted by looking through everything.
//!
//! In reading order:
//! - `settings`: how it is kept.
//! - `opened`: opened, synced, closed.
//! - `leftovers`: what a crash leaves, put aside.
//! - `numbers`: the numbers of URLs, pages and sites; `recent_urls` spares lookups.
//! - `commit`: changes made true in one step.
//! - `reopening`: going on after a write of the key-value store failed.
//! - `tidy`: files kept in order between commits; `sweep` drops what is beyond the limits.

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
