//! Check of a store: whether everything on disk is as `docs/FORMAT.md` says, and consistent.
//!
//! In reading order:
//! - `course`: the parts of a check in their order;
//! - `inspect`: opening a store without changing it;
//! - `log`: the log, and whether everything else agrees with it;
//! - `records`: records of URLs, pages, sites, links and versions;
//! - `segments`: the Collection and its index;
//! - `history`: the files of the History.

mod course;
mod history;
mod inspect;
mod log;
mod records;
mod segments;

pub use crate::findings::{Fault, Findings};
pub use course::{check, check_directory};
pub(crate) use course::{check_into, unreadable_space};
