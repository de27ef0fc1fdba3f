//! The one writer: what visits found becomes part of the stores.
//!
//! In reading order:
//! - [`keeper`]: the stores, and what is on its way into them;
//! - [`memory`]: what is known beside the stores, also to those who only ask;
//! - `absorb`: how a visit becomes records;
//! - [`rhythm`]: pages that change at their hour;
//! - `dates`: what sitemaps say of pages that we have, and how far it can be believed;
//! - [`readings`]: what lists said when they were last read, as the stores keep it;
//! - `topical`: what copies say about the topic of a crawl;
//! - [`met`]: what was met on a site: troubles, counted by kind;
//! - [`imports`]: how what others collected does;
//! - [`admission`]: which URLs may become pages;
//! - [`duplicates`]: pages that say the same as another;
//! - [`known`]: which URLs are known, without asking the disk;
//! - `gist`: what a start needs of URLs and pages, written down as they become known;
//! - [`recall`]: what the stores know, read back when a crawl is opened;
//! - [`news`]: what was taken in, as the UpdateModule hears it.

mod absorb;
pub mod admission;
mod dates;
pub mod duplicates;
mod gist;
pub mod imports;
pub mod keeper;
pub mod known;
pub mod memory;
pub mod met;
pub mod news;
pub mod readings;
pub mod recall;
pub mod rhythm;
mod topical;

pub use admission::Admission;
pub use imports::ToldVisit;
pub use keeper::Keeper;
pub use memory::Memory;
pub use news::News;
