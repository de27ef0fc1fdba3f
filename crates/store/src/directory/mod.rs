//! The directory of a store: what it says it is, who uses it, and whether it is still there.
//!
//! In reading order:
//! - [`mod@format`]: the file that says what the directory is.
//! - [`lock`]: one process writes it, and others are told which.
//! - `readers`: readers and the process that writes, out of each other's way.
//! - `presence`: whether the directory and the files that are written are still there.
//! - `room`: whether there is room on the disk.
//! - [`odd_files`]: whether files are files and folders are folders.
//! - `aside`: what belongs to no step is put aside.
//! - `folders`: what stands in a folder.

pub(crate) mod aside;
pub(crate) mod folders;
pub mod format;
pub mod lock;
pub mod odd_files;
pub(crate) mod presence;
pub(crate) mod readers;
pub(crate) mod room;
