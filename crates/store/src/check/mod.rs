//! Whether everything on disk is as `docs/FORMAT.md` says, and fits together.
//!
//! In reading order:
//! - `course`: the parts of a check in their order.
//! - `inspect`: a store opened without altering it.
//! - `log`: the log, and whether all else is as its steps say.
//! - `records`: what is known of URLs, pages, sites, links and versions.
//! - `segments`: the Collection and its index.
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
