//! The signal by which the system says that a file would become larger than it may be (`ulimit -f`).
//!
//! Without a handler it ends the process without a word. With one the write fails with an error, which is told and
//! treated as a full disk.

use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};

/// SIGXFSZ on Linux.
const FILE_SIZE_EXCEEDED: i32 = 25;

/// Lets writes beyond the limit fail instead of ending the process.
pub(crate) fn let_writes_fail() {
    let Ok(runtime) = Builder::new_current_thread().enable_io().build() else { return };
    let _guard = runtime.enter();
    // A handler stays for the life of the process. Where it cannot be had the system does as it always did.
    let _ = signal(SignalKind::from_raw(FILE_SIZE_EXCEEDED));
}
