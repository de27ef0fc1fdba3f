//! What happens in a sample, one fact after the other, and the journal of them.
//!
//! The journal is a file with one fact a line, as JSON. A sample that was interrupted goes on from it: what happens next depends on
//! nothing but what happened.
//!
//! # Promises
//! - A sample that is killed at any instant loses no fact that was noted: half a line at the end is passed over.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::TextError;
use crate::summary_store::append_line;

/// A fact of a sample.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// A word was asked for.
    Asked {
        /// The word.
        word: String,
        /// What came of it.
        came: Came,
    },
    /// A further page of results was asked for.
    Turned {
        /// The word.
        word: String,
        /// The number of the page, from two.
        page: u32,
        /// What came of it.
        came: Came,
    },
    /// A document was read.
    Read {
        /// Its name: its URL, or the hash of its text.
        document: String,
        /// Its different words.
        words: Vec<String>,
    },
    /// A document could not be read.
    NotRead {
        /// Its name.
        document: String,
        /// Why not.
        why: String,
    },
    /// A word was asked for to learn in how many documents it stands.
    Measured {
        /// The word.
        word: String,
        /// In how many, as the interface says.
        count: Option<u64>,
    },
}

/// What came of a query.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Came {
    /// Results, or none.
    Results {
        /// How many were on the page.
        results: u32,
        /// How many match in all, as the interface says.
        count: Option<u64>,
        /// A hash of what they are, to know the same page again.
        mark: u64,
        /// A hash of each, to know the same document again.
        #[serde(default)]
        documents: Vec<u64>,
    },
    /// A question whether we are human.
    Captcha,
    /// The site's rules forbid to ask.
    Forbidden(String),
    /// Nothing that could be read, and why.
    Failed(String),
}

/// Where the facts of a sample under way are kept.
#[derive(Clone, Debug)]
pub struct Journal {
    path: PathBuf,
}

impl Journal {
    /// The journal in a file, which need not be there yet.
    pub fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// The facts so far.
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

    /// Notes a fact.
    pub fn note(&self, event: &Event) -> Result<(), TextError> {
        let line = serde_json::to_string(event).map_err(|error| TextError::damaged(&self.path, error))?;
        append_line(&self.path, &line)
    }

    /// Begins a new journal where the last line of an old one may be half.
    pub fn mend(&self) -> Result<(), TextError> {
        let has_half_line =
            fs::read(&self.path).is_ok_and(|bytes| bytes.last().is_some_and(|last| *last != b'\n'));
        if has_half_line { append_line(&self.path, "") } else { Ok(()) }
    }

    /// Forgets all facts: the summary that they make is kept.
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
