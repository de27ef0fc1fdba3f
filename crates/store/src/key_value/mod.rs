//! The ordered key-value store underneath.
//!
//! In reading order:
//! - [`engine`]: what it promises: get, atomic batch, ordered scan, snapshot.
//! - [`on_disk`]: on disk, a log-structured merge tree (fjall); `opened_engine` is the engine
//!   while it is open.
//! - [`in_memory`]: in memory, for tests.
//! - [`stamps`]: how it is noticed that a keyspace fell back.
//! - `conformance`: the promises as tests, run on both.

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
