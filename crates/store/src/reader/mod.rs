//! The store, read from any thread, whatever its process does.
//!
//! In reading order:
//! - `handle`: what can be asked of an open store.
//! - `opening`: a store opened to be read.
//! - `scratch`: the copy of the state that is read.
//! - `glance`: what is known without opening it.

mod glance;
mod handle;
mod opening;
mod scratch;

pub use glance::{counters_beyond, glance};
pub use handle::{DiskUse, Reader};
pub(crate) use handle::{Hold, Shared};
pub(crate) use opening::Copy;
