//! Why a text database could not be read, kept or described.
//!
//! What a database does (no answer, a refusal, nonsense) is no error: it is a fact of its sample.

use std::io;
use std::path::{Path, PathBuf};

use freshet_store::error::StoreError;

/// A text or an error that says what is wrong.
type Why = Box<dyn std::error::Error + Send + Sync>;

/// Why something about text databases cannot be done.
#[derive(Debug, thiserror::Error)]
pub enum TextError {
    /// A file could not be read or written.
    #[error("cannot {act} {}", path.display())]
    File {
        /// What was tried.
        act: &'static str,
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A file is not what it should be.
    #[error("{} cannot be used: {why}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A name that cannot be the name of a directory.
    #[error(
        "`{0}` is no name for a database: use letters, digits, `.`, `-` and `_`, beginning with a letter or digit"
    )]
    Name(String),
    /// There is no such database.
    #[error("there is no database `{name}` in {}", store.display())]
    Unknown {
        /// The name.
        name: String,
        /// Where it was looked for.
        store: PathBuf,
    },
    /// There is one already.
    #[error("there is a database `{0}` already")]
    Exists(String),
    /// A description that means nothing.
    #[error("{what}: {why}")]
    Description {
        /// Which part of it.
        what: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// The stores of a crawl refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There is not enough to learn from.
    #[error("{0}")]
    TooLittle(String),
}

impl TextError {
    /// For `map_err`: what was tried with which file.
    pub(crate) fn file(act: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { act, path, source }
    }

    /// A file that is not what it should be.
    pub(crate) fn damaged(path: &Path, why: impl Into<Why>) -> Self {
        Self::Damaged { path: path.to_owned(), why: why.into().to_string() }
    }

    /// A part of a description that means nothing.
    pub(crate) fn description(what: &'static str, why: impl Into<Why>) -> Self {
        Self::Description { what, why: why.into().to_string() }
    }
}
