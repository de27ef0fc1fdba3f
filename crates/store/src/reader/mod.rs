//! Reading a store, from any thread, and also while another process writes it.
//!
//! In reading order:
//! - `handle`: the read handle of an open store;
//! - `opening`: opens a store for reading;
//! - `scratch`: the temporary copy of the state that is read;
//! - `glance`: a quick look without opening the state.

mod glance;
mod handle;
mod opening;
mod scratch;

pub use glance::{Beyond, beyond, glance};
pub use handle::{DiskUse, Reader};
pub(crate) use handle::{Hold, Shared};
pub(crate) use opening::Copy;
