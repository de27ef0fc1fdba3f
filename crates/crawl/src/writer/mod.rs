//! The writer: the only code that writes to the stores. It makes visits part of them.
//!
//! In reading order:
//! - [`message`]: what the writer is told;
//! - [`writer_thread`]: the stores, and what is on its way into them;
//! - [`memory`]: what is known beside the stores, also to those who only ask;
//! - `apply`: how a visit becomes records;
//! - [`rhythm`]: pages that change at their hour;
//! - `dates`: what sitemaps say of pages that we have, and how far it can be believed;
//! - [`readings`]: what lists said when they were last read, as the stores keep it;
//! - `topical`: what copies say about the topic of a crawl;
//! - [`troubles`]: what was met on a site: troubles, counted by kind;
//! - [`imports`]: how what others collected does;
//! - [`admission`]: which URLs may become pages;
//! - [`duplicates`]: pages that say the same as another;
//! - [`known`]: which URLs are known, without asking the disk;
//! - `startup_index`: what a start needs of URLs and pages, written down as they become known;
//! - [`recall`]: what the stores know, read back when a crawl is opened.

pub mod admission;
mod apply;
mod dates;
pub mod duplicates;
pub mod imports;
pub mod known;
pub mod memory;
pub mod message;
pub mod readings;
pub mod recall;
pub mod rhythm;
mod startup_index;
mod topical;
pub mod troubles;
pub mod writer_thread;

pub use admission::Admission;
pub use imports::ImportedVisit;
pub use memory::Memory;
pub use message::Message;
pub use writer_thread::Writer;
