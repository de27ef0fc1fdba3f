//! A state made, brought up to its log, or refused, before it is written or read.
//!
//! In reading order:
//! - `engine`: the key-value store, opened whatever its files are.
//! - `making`: a new store.
//! - `convert`: a store of the first format becomes one of this.
//! - `recovery`: what is behind is refused, and the log replayed.
//! - `mend`: what a loss of power took is forgotten.
//! - `moment`: the latest moment that a state tells of.

pub(crate) mod convert;
pub(crate) mod engine;
pub(crate) mod making;
pub(crate) mod mend;
pub(crate) mod moment;
pub(crate) mod recovery;
