//! Opening a state: creates it, converts it, replays its log, or refuses it, before it is read or written.
//!
//! In reading order:
//! - `engine`: opens the key-value store, whatever the condition of its files;
//! - `making`: creates a new store;
//! - `convert`: converts a store of format 1;
//! - `recovery`: refuses what is behind, and replays the log;
//! - `mend`: repairs the last segment after a power loss;
//! - `moment`: the latest time in a state.

pub(crate) mod convert;
pub(crate) mod engine;
pub(crate) mod making;
pub(crate) mod mend;
pub(crate) mod moment;
pub(crate) mod recovery;
