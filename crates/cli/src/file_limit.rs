//! SIGXFSZ: the signal sent when a write would exceed the file size limit (`ulimit -f`).
//!
//! The default action ends the process without a message. With a handler installed the write fails with an
//! error, which is reported and treated like a full disk.

use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};

/// SIGXFSZ on Linux.
const FILE_SIZE_EXCEEDED: i32 = 25;

/// Makes writes beyond the limit fail instead of ending the process.
pub(crate) fn let_writes_fail() {
    let Ok(runtime) = Builder::new_current_thread().enable_io().build() else { return };
    let _guard = runtime.enter();
    // A handler stays installed for the life of the process. If it cannot be installed, the default
    // action applies.
    let _ = signal(SignalKind::from_raw(FILE_SIZE_EXCEEDED));
}
