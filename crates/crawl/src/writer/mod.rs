//! The writer: the only code that writes to the stores. It makes visits part of them.
//!
//! In reading order:
//! - [`writer_thread`]: the writer, and the changes that wait for the next commit;
//! - [`memory`]: the in-memory state of a crawl, also for queries only;
//! - `apply`: turns visits into records;
//! - [`rhythm`]: pages that change at a fixed hour;
//! - `dates`: evidence from sitemaps, and how far it can be trusted;
//! - [`readings`]: the stored last readings of lists;
//! - `topical`: how much copies are about the topic of a crawl;
//! - [`troubles`]: troubles of sites, counted by kind;
//! - [`imports`]: writes imported URLs and visits;
//! - [`admission`]: which URLs may become pages;
//! - [`duplicates`]: detection of near-duplicate pages;
//! - [`known`]: an in-memory map of known URLs;
//! - `startup_index`: an index of URLs and pages for fast starts, written as they become known;
//! - [`recall`]: restores what the stores know when a crawl is opened;
//! - [`event`]: what was committed, as reported to the UpdateModule.

pub mod admission;
mod apply;
mod dates;
pub mod duplicates;
pub mod event;
pub mod imports;
pub mod known;
pub mod memory;
pub mod readings;
pub mod recall;
pub mod rhythm;
mod startup_index;
mod topical;
pub mod troubles;
pub mod writer_thread;

pub use admission::Admission;
pub use event::Event;
pub use imports::ImportedVisit;
pub use memory::Memory;
pub use writer_thread::Writer;
