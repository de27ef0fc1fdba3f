//! The log: the primary fact. Every step that the store takes is appended to it before it becomes true
//! anywhere else.
//!
//! In reading order:
//! - [`frame`]: a record of the log as bytes, with its number and checksum.
//! - [`step`]: what a step says: a batch without what follows from it, and the batch made again.
//! - [`files`]: the files of the log: appended to, read, cut back, dropped.
//! - `end`: where the log ends.
//! - [`event`]: a step as its readers see it: visits, admissions, commands.

pub(crate) mod end;
pub mod event;
pub(crate) mod files;
pub(crate) mod frame;
pub(crate) mod step;
