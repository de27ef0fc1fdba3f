//! The directory of a store: its format, its lock, and whether its files are there and are what
//! they should be.
//!
//! In reading order:
//! - [`mod@format`]: the format file;
//! - [`lock`]: the lock of the process that writes;
//! - `readers`: keeps files that readers may need;
//! - `presence`: whether the directory and its open files are still there;
//! - `room`: whether the disk has enough free space;
//! - [`odd_files`]: whether files are files and folders are folders;
//! - `aside`: the folder for files removed from the store;
//! - `folders`: lists folders and syncs them.

pub(crate) mod aside;
pub(crate) mod folders;
pub mod format;
pub mod lock;
pub mod odd_files;
pub(crate) mod presence;
pub(crate) mod readers;
pub(crate) mod room;
