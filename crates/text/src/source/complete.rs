//! The complete summary of a database whose documents can all be read (**summary**, Definition 1).
//!
//! # Promises
//! - An unreadable document is counted and named in the notes, and is not part of the summary.
//! - Memory grows with the vocabulary, not with the documents.

use std::path::Path;

use freshet_fetch::page::charset::Charset;
use freshet_fetch::page::kind::Kind as Sort;
use freshet_fetch::page::reading::{Limits, read};
use freshet_fetch::page::{Canonical, PageUrl};
use freshet_protocol::time::Timestamp;

use super::{archive, files, site};
use crate::counting::Counting;
use crate::database::{Database, Place};
use crate::error::TextError;
use crate::version::{Facts, Kind, Size, Version};

/// Maximum number of notes about single documents. Further ones are only counted.
const NOTES_MAX: usize = 20;

/// The documents read so far, one after the other.
pub(super) struct Documents {
    counting: Counting,
    notes: Vec<String>,
    unread: u64,
}

impl Documents {
    /// Adds a document from bytes of this content type.
    pub(super) fn take(&mut self, url: &PageUrl, content_type: Option<&str>, body: &[u8]) {
        let limits = Limits::default();
        let start = &body[..body.len().min(limits.text_bytes)];
        // Plain text needs no further analysis, which would take many times as long.
        if Sort::of(content_type, url.path(), body) == Sort::Text {
            return self.take_text(&Charset::of(content_type, url.host(), start).decode(start));
        }
        let reading = read(url, content_type, &[], &[], body, &Canonical::default(), &limits);
        if reading.charset.is_none() && reading.text.is_empty() {
            return self.pass_over(url.as_str(), "it is no text");
        }
        match reading.title {
            Some(title) => self.counting.add(&format!("{title}\n{}", reading.text)),
            None => self.counting.add(&reading.text),
        }
    }

    /// Adds a document as text.
    pub(super) fn take_text(&mut self, text: &str) {
        self.counting.add(text);
    }

    /// Records that a document could not be read.
    pub(super) fn pass_over(&mut self, document: &str, why: impl std::fmt::Display) {
        self.unread += 1;
        if self.notes.len() < NOTES_MAX {
            self.notes.push(format!("{document}: {why}"));
        }
    }
}

/// The complete summary of a database as it is now, or as a crawl held it at a moment. `directory` is the
/// directory of the crawl.
///
/// Returns `None` for a database that can only be searched.
pub fn complete_summary(
    database: &Database,
    directory: &Path,
    now: Timestamp,
    at: Option<Timestamp>,
) -> Result<Option<Version>, TextError> {
    let mut documents = Documents { counting: Counting::new(database.wording), notes: Vec::new(), unread: 0 };
    match &database.place {
        Place::Dir { path } => files::read_all(path, &mut documents)?,
        Place::Warc { path } => archive::read_all(path, &mut documents)?,
        Place::Site { site } => site::read_all(directory, site, at, &mut documents)?,
        Place::Search(_) => return Ok(None),
    }
    let Documents { counting, mut notes, unread } = documents;
    if unread > 0 {
        notes.insert(0, format!("{unread} documents could not be read"));
    }
    if counting.left_out() > 0 {
        notes.push(format!("{} words were left out: there are too many different ones", counting.left_out()));
    }
    let documents = counting.documents();
    let facts = Facts {
        time_ms: at.unwrap_or(now).millis(),
        kind: Kind::Complete,
        size: Size::Counted(f64::from(documents)),
        documents_read: documents.into(),
        wording: database.wording,
        notes,
        sampling: None,
    };
    Ok(Some(Version { facts, summary: counting.finish() }))
}
