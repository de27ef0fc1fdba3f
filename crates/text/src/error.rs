//! Errors: why a text database could not be read, stored or described.
//!
//! What a database does (no answer, a refusal, nonsense) is not an error. It is recorded as a fact of its
//! sample.

use std::io;
use std::path::{Path, PathBuf};

use freshet_store::error::StoreError;

/// A message or an error that explains the failure.
type Why = Box<dyn std::error::Error + Send + Sync>;

/// Why an operation on text databases failed.
#[derive(Debug, thiserror::Error)]
pub enum TextError {
    /// A file could not be read or written.
    #[error("cannot {act} {}", path.display())]
    File {
        /// What was tried.
        act: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A file has invalid content.
    #[error("{} cannot be used: {why}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A name that cannot be a directory name.
    #[error(
        "`{0}` is no name for a database: use letters, digits, `.`, `-` and `_`, beginning with a letter or \
         digit"
    )]
    Name(String),
    /// There is no such database.
    #[error("there is no database `{name}` in {}", store.display())]
    Unknown {
        /// The name.
        name: String,
        /// The summary store that was searched.
        store: PathBuf,
    },
    /// A database of this name exists already.
    #[error("there is a database `{0}` already")]
    Exists(String),
    /// An invalid description.
    #[error("{what}: {why}")]
    Description {
        /// Which part of it.
        what: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// A store of the crawl failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There is not enough data to learn from.
    #[error("{0}")]
    TooLittle(String),
}

impl TextError {
    /// For `map_err`: names the attempted operation and the file.
    pub(crate) fn file(act: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { act, path, source }
    }

    /// A file with invalid content.
    pub(crate) fn damaged(path: &Path, why: impl Into<Why>) -> Self {
        Self::Damaged { path: path.to_owned(), why: why.into().to_string() }
    }

    /// An invalid part of a description.
    pub(crate) fn description(what: &'static str, why: impl Into<Why>) -> Self {
        Self::Description { what, why: why.into().to_string() }
    }
}
