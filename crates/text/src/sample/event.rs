//! Events of a sample, and the journal that records them.
//!
//! The journal is a file with one event per line, as JSON. An interrupted sample continues from it: the next
//! step depends only on past events.
//!
//! # Promises
//! - A sample killed at any instant loses no recorded event. An incomplete last line is ignored.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::TextError;
use crate::summary_store::append_line;

/// An event of a sample.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// A word was queried.
    Asked {
        /// The word.
        word: String,
        /// The outcome.
        came: Came,
    },
    /// A further page of results was requested.
    Turned {
        /// The word.
        word: String,
        /// The number of the page, starting at two.
        page: u32,
        /// The outcome.
        came: Came,
    },
    /// A document was read.
    Read {
        /// Its name: its URL, or the hash of its text.
        document: String,
        /// Its distinct words.
        words: Vec<String>,
    },
    /// A document could not be read.
    NotRead {
        /// Its name.
        document: String,
        /// The cause.
        why: String,
    },
    /// A word was queried to learn in how many documents it occurs.
    Measured {
        /// The word.
        word: String,
        /// The number of documents, as the interface reports it.
        count: Option<u64>,
    },
}

/// Outcome of a query.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Came {
    /// A page of results, possibly empty.
    Results {
        /// Number of results on the page.
        results: u32,
        /// Total number of matches, as the interface reports it.
        count: Option<u64>,
        /// Hash of the results, to recognise a repeated page.
        mark: u64,
        /// Hash of each result, to recognise a repeated document.
        #[serde(default)]
        documents: Vec<u64>,
    },
    /// The page asks for proof that the client is human.
    Captcha,
    /// The site's rules forbid the query.
    Forbidden(String),
    /// Nothing readable came; the cause.
    Failed(String),
}

/// File that stores the events of a running sample.
#[derive(Clone, Debug)]
pub struct Journal {
    path: PathBuf,
}

impl Journal {
    /// The journal in this file, which need not exist yet.
    pub fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// All events so far.
    pub fn events(&self) -> Result<Vec<Event>, TextError> {
        let bytes = match fs::read(&self.path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other.map_err(TextError::file("read", &self.path))?,
        };
        Ok(String::from_utf8_lossy(&bytes)
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect())
    }

    /// Appends an event.
    pub fn note(&self, event: &Event) -> Result<(), TextError> {
        let line = serde_json::to_string(event).map_err(|error| TextError::damaged(&self.path, error))?;
        append_line(&self.path, &line)
    }

    /// Ends an incomplete last line, so that the next event starts on a line of its own.
    pub fn mend(&self) -> Result<(), TextError> {
        let has_half_line =
            fs::read(&self.path).is_ok_and(|bytes| bytes.last().is_some_and(|last| *last != b'\n'));
        if has_half_line { append_line(&self.path, "") } else { Ok(()) }
    }

    /// Deletes all events. Called once their summary is stored.
    pub fn clear(&self) -> Result<(), TextError> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            other => other.map_err(TextError::file("remove", &self.path)),
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn half_a_line_is_passed_over_and_the_next_fact_stands_on_its_own() {
        let folder = tempfile::tempdir().expect("a folder");
        let journal = Journal::at(folder.path().join("sampling.jsonl"));
        let event = Event::Measured { word: "größe".to_owned(), count: Some(3) };
        journal.note(&event).expect("it is noted");
        let mut bytes = fs::read(journal.path()).expect("it reads");
        bytes.extend_from_slice(&bytes.clone()[..12]);
        fs::write(journal.path(), bytes).expect("it is cut");
        journal.mend().expect("it is mended");
        journal.note(&event).expect("it is noted");
        assert_eq!(journal.events().expect("they read"), [event.clone(), event]);
        journal.clear().expect("it is cleared");
        assert_eq!(journal.events().expect("they read"), []);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn any_bytes_are_a_journal(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let folder = tempfile::tempdir().expect("a folder");
            let journal = Journal::at(folder.path().join("j"));
            fs::write(journal.path(), bytes).expect("written");
            journal.events().expect("they read");
        }
    }
}
