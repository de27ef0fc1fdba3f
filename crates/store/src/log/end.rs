//! The end of the log: where the next step is appended, and what stands behind the last whole one.

use std::path::PathBuf;

use freshet_protocol::time::Timestamp;

/// The end of the log, as it was found.
#[derive(Debug)]
pub(crate) struct LogEnd {
    /// The last file.
    pub(crate) path: PathBuf,
    /// The first step that it may hold.
    pub(crate) first: u64,
    /// Bytes of it that are whole records.
    pub(crate) bytes: u64,
    /// Bytes after them, of a record that a crash has torn.
    pub(crate) torn: u64,
    /// The last step of the log.
    pub(crate) step: u64,
    /// When it was taken.
    pub(crate) time: Timestamp,
    /// Steps that were taken again, because the state did not have them.
    pub(crate) replayed: u64,
}
