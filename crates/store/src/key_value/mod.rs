//! The ordered key-value store that holds the state.
//!
//! In reading order:
//! - [`engine`]: its interface: get, atomic batch, ordered scan, snapshot;
//! - [`on_disk`]: the store on disk, a log-structured merge tree (fjall); `opened_engine` wraps the
//!   open engine;
//! - [`in_memory`]: the store in memory, for tests;
//! - [`stamps`]: detects a keyspace that was replaced by an older copy;
//! - `conformance`: conformance tests, run on both.

pub mod engine;
pub mod in_memory;
pub mod on_disk;
mod opened_engine;
pub mod stamps;

#[cfg(test)]
mod conformance;

pub use engine::{
    Batch, Direction, Durability, Entry, KeyRange, KeyValue, KeyValueError, Readable, Scan, Space, View,
};
pub use in_memory::InMemory;
pub use on_disk::OnDisk;
pub use stamps::{Behind, Mark};
