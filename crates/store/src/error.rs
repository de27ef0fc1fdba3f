//! Why a store could not be opened, read or written.

use std::io;
use std::path::{Path, PathBuf};

use freshet_protocol::codec::Malformed;
use freshet_protocol::ids::Place;

use crate::key_value::{KeyValueError, Space};

/// Why a store could not be opened, read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process has the directory open.
    #[error(
        "{} is in use by process {pid}: stop that process first, or use another directory",
        .directory.display()
    )]
    InUse {
        /// The directory.
        directory: PathBuf,
        /// The process that holds it, as its lock file says.
        pid: String,
    },
    /// The directory is not that of a crawl.
    #[error("{} is not a crawl's directory: {reason}", .directory.display())]
    NotAStore {
        /// The directory.
        directory: PathBuf,
        /// What was found instead.
        reason: String,
    },
    /// The directory has another format.
    #[error(
        "{} has format {found}, this program reads format {known}: use the program that wrote it to \
         export it",
        .directory.display()
    )]
    Format {
        /// The directory.
        directory: PathBuf,
        /// Its format.
        found: String,
        /// The format of this program.
        known: u32,
    },
    /// The directory has an earlier format and was not converted yet.
    #[error(
        "{} was made by an earlier version of this program: `freshet crawl --dir {}` or \
         `freshet fsck {} --repair` converts it, once, and loses nothing",
        .directory.display(), .directory.display(), .directory.display()
    )]
    Earlier {
        /// The directory.
        directory: PathBuf,
    },
    /// The system's clock is not set.
    #[error("the system's clock says that it is before 1970: set it, a crawl goes by it")]
    Clock,
    /// The temporary folder has no room for the copy that a reader makes.
    #[error(
        "a reader copies the index of a crawl into the temporary folder, and {} has no room: let TMPDIR \
         name another",
        .folder.display()
    )]
    NoRoomToRead {
        /// The temporary folder.
        folder: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The running crawl changes the state faster than a reader can copy it.
    #[error(
        "the crawl in {} changes too fast to be read just now: try again, or stop it first",
        .directory.display()
    )]
    Restless {
        /// The directory.
        directory: PathBuf,
    },
    /// The disk, or the quota, is full.
    #[error(
        "no space is left on the disk to write {}: nothing is lost; free some space and start again",
        .path.display()
    )]
    DiskFull {
        /// The file that could not be written.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The system could not read or write a file.
    #[error("cannot {act} {}", .path.display())]
    File {
        /// The attempted operation.
        act: &'static str,
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The key-value store failed.
    #[error("the state in {} failed: {reason}", .path.display())]
    State {
        /// Its directory.
        path: PathBuf,
        /// Its error message.
        reason: String,
    },
    /// The key-value store accepts no writes until it is reopened, because a write of its own failed. What
    /// was committed is kept; the failed commit is there completely or not at all.
    #[error(
        "the state in {} takes no writes, for one failed (the disk may be full): free some space and \
         start again",
        .path.display()
    )]
    Poisoned {
        /// Its directory.
        path: PathBuf,
        /// The error of the system.
        source: Option<io::Error>,
    },
    /// A record of the key-value store cannot be decoded.
    #[error("the record {key} of {space} is corrupt: {source}")]
    Corrupt {
        /// The keyspace.
        space: &'static str,
        /// The key, in hexadecimal.
        key: String,
        /// Why it cannot be decoded.
        source: Malformed,
    },
    /// A record of the Collection is damaged.
    #[error(
        "the record at byte {} of {} is corrupt: {reason}. `freshet fsck --dir {}` lists what is damaged, \
         and with \
         `--repair` puts it aside",
        .place.offset, .path.display(), crawl_with(.path).display()
    )]
    CorruptRecord {
        /// The segment file.
        path: PathBuf,
        /// The place of the record.
        place: Place,
        /// What is wrong with it.
        reason: String,
    },
    /// A file is missing, too short, or malformed.
    #[error("{} is damaged: {reason}", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A file or folder is older, shorter or emptier than when it was made durable.
    #[error(
        "{}: {reason}. Nothing that was collected was changed: `freshet fsck --repair --dir {}` makes the \
         crawl whole again from what else there is",
        .path.display(), crawl_with(.path).display()
    )]
    Behind {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The directory of an open store, or a part of it, was removed, replaced or changed by somebody else.
    #[error(
        "{} is no longer there: {what} while it was in use; what was found since is not kept",
        .path.display()
    )]
    Lost {
        /// The directory or the part of it.
        path: PathBuf,
        /// What happened to it.
        what: &'static str,
    },
    /// All numbers of URLs, pages or sites are used up.
    #[error("the store is full: it holds at most 4,294,967,295 {what}")]
    TooMany {
        /// What there are too many of.
        what: &'static str,
    },
    /// The requested version was dropped to keep within the limits on disk use.
    #[error(
        "the version at byte {} of segment {} was dropped to keep within the limits on disk use",
        .place.offset, .place.segment
    )]
    Dropped {
        /// Where it was.
        place: Place,
    },
}

/// The directory of the crawl that contains a file or folder.
fn crawl_with(path: &Path) -> &Path {
    let is_crawl =
        |directory: &&Path| ["FORMAT", "collection"].iter().any(|part| directory.join(part).exists());
    path.ancestors().skip(1).find(is_crawl).or_else(|| path.parent()).unwrap_or(path)
}

impl StoreError {
    /// The error of an operation on a file.
    pub(crate) fn file(act: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| {
            let path = path.to_path_buf();
            if is_full(&source) { Self::DiskFull { path, source } } else { Self::File { act, path, source } }
        }
    }

    /// Whether the user lacks the permission for the operation.
    pub(crate) fn is_denied(&self) -> bool {
        matches!(self, Self::File { source, .. } if source.kind() == io::ErrorKind::PermissionDenied)
    }

    /// The error of a file or folder that is behind what was made durable.
    pub(crate) fn behind(path: &Path, reason: &str) -> Self {
        Self::Behind { path: path.to_path_buf(), reason: reason.to_owned() }
    }

    /// The error of a missing record that must exist.
    pub fn missing(what: &'static str, number: u32) -> Self {
        Self::Corrupt { space: what, key: number.to_string(), source: Malformed::Short }
    }

    /// The error of a record that cannot be decoded.
    pub(crate) fn corrupt(space: Space, key: &[u8]) -> impl FnOnce(Malformed) -> Self {
        move |source| Self::Corrupt { space: space.name(), key: hexadecimal(key), source }
    }
}

impl From<KeyValueError> for StoreError {
    fn from(error: KeyValueError) -> Self {
        match error {
            KeyValueError::Io { path, source } => Self::file("read or write the state in", &path)(source),
            KeyValueError::Engine { path, reason } => Self::State { path, reason },
            KeyValueError::Poisoned { path, source } => Self::Poisoned { path, source },
        }
    }
}

/// Whether the system reported a lack of space.
pub(crate) fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
    )
}

/// Whether the process or the system has too many open files.
pub(crate) fn is_out_of_files(error: &io::Error) -> bool {
    const EMFILE: i32 = 24;
    const ENFILE: i32 = 23;
    matches!(error.raw_os_error(), Some(EMFILE | ENFILE))
}

/// Bytes as hexadecimal digits.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a text cannot fail");
        text
    })
}
