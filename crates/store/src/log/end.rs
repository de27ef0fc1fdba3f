//! The end of the log: where the next step is appended, and whether a torn record follows.

use std::path::PathBuf;

use freshet_protocol::time::Timestamp;

/// The end of the log, as found when it was opened.
#[derive(Debug)]
pub(crate) struct LogEnd {
    /// The last file.
    pub(crate) path: PathBuf,
    /// The first step that it may hold.
    pub(crate) first: u64,
    /// Its length up to the last complete record, in bytes.
    pub(crate) bytes: u64,
    /// Bytes after that, of a record that a crash has torn.
    pub(crate) torn: u64,
    /// The last step of the log.
    pub(crate) step: u64,
    /// When it was taken.
    pub(crate) time: Timestamp,
    /// Steps that were replayed, because the state did not have them.
    pub(crate) replayed: u64,
}
