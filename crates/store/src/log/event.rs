//! Steps as readers see them: visits, URLs, commands.
//!
//! # Promises
//! - Steps are returned in order and complete, and only durable ones.

use std::path::Path;

use freshet_protocol::codec::Record as _;
use freshet_protocol::ids::UrlId;
use freshet_protocol::time::Timestamp;
use xxhash_rust::xxh3::xxh3_64;

use super::files::{LogFile, listed};
use super::frame::Kind;
use super::step::entries;
use crate::all_urls::UrlRecord;
use crate::directory::format::{Format, known_format};
use crate::error::StoreError;
use crate::history::columns::NumberedVisit;
use crate::history::files::decode;
use crate::key_value::Space;
use crate::synced;

/// The command name of the options of a crawl.
pub const OPTIONS: &str = "options";

/// The options file.
pub(crate) const OPTIONS_FILE: &str = "options.toml";

/// The command name of the pin of a page. Its value is the interval in milliseconds, eight bytes, the
/// highest first.
pub fn pin_name(url: &str) -> String {
    format!("pin {url}")
}

/// The command name of the pause of a site. It has no value.
pub fn pause_name(site: &str) -> String {
    format!("pause {site}")
}

/// The hash of options; 0 if there are none.
pub(crate) fn options_hash(text: Option<&[u8]>) -> u64 {
    text.map_or(0, xxh3_64)
}

/// The contents of a step, as far as readers need them.
#[derive(Clone, Debug, Default)]
pub struct StepEvents {
    /// Its number.
    pub step: u64,
    /// When it was taken, in the crawl's own time.
    pub time: Timestamp,
    /// Visits.
    pub visits: Vec<NumberedVisit>,
    /// New or changed URLs.
    pub urls: Vec<(UrlId, UrlRecord)>,
    /// User commands: a name and a value; none deletes the command.
    pub commands: Vec<(String, Option<Vec<u8>>)>,
}

/// Passes every durable step after `after` to `each`, in order. A step that is no longer in the log is an
/// error that names the first one that is.
pub fn steps(directory: &Path, after: u64, mut each: impl FnMut(StepEvents)) -> Result<(), StoreError> {
    let synced = synced::read(directory)?;
    let files = listed(directory)?;
    let begin = files.iter().rposition(|(first, _)| *first <= after + 1);
    let Some(begin) = begin else {
        let first = files.first().map_or(synced.step + 1, |(first, _)| *first);
        let path = directory.join(super::files::FOLDER);
        let reason = format!("step {} is no longer there; the first is {first}", after + 1);
        return Err(StoreError::Damaged { path, reason });
    };
    for (first, path) in &files[begin..] {
        let file = LogFile::read(path, *first, synced.store)?;
        for frame in file.frames() {
            if frame.kind == Kind::Step && (after + 1..=synced.step).contains(&frame.step) {
                each(events(frame.step, frame.time, &frame.content)?);
            }
        }
    }
    Ok(())
}

fn events(step: u64, time: Timestamp, content: &[u8]) -> Result<StepEvents, StoreError> {
    let mut events = StepEvents { step, time, ..StepEvents::default() };
    for entry in entries(content) {
        let (space, key, value) = entry.map_err(StoreError::corrupt(Space::Steps, &step.to_be_bytes()))?;
        match (space, value) {
            (Space::Visits, Some(value)) => events.visits.push(decode(&key, &value)?),
            (Space::Urls, Some(value)) => {
                let record = UrlRecord::decode(&value).map_err(StoreError::corrupt(space, &key))?;
                events.urls.extend(UrlId::from_key(&key).map(|id| (id, record)));
            }
            (Space::Commands, value) => {
                events.commands.push((String::from_utf8_lossy(&key).into_owned(), value));
            }
            _ => {}
        }
    }
    Ok(events)
}

/// The last options given to the crawl in a directory. `found` are those in its options file: the log is read
/// only if they differ. None if there are none, or if the directory is no crawl of this format.
pub fn saved_options(directory: &Path, found: Option<&[u8]>) -> Result<Option<Vec<u8>>, StoreError> {
    if !matches!(known_format(directory)?, Some(Format::Ours)) || !directory.join(synced::FILE_NAME).exists()
    {
        return Ok(found.map(<[u8]>::to_vec));
    }
    let synced = synced::read(directory)?;
    if options_hash(found) == synced.options {
        return Ok(found.map(<[u8]>::to_vec));
    }
    for (first, path) in listed(directory)?.into_iter().rev() {
        let file = LogFile::read(&path, first, synced.store)?;
        let told = file.frames().filter_map(|frame| {
            let said = entries(&frame.content).filter_map(Result::ok);
            said.filter(|(space, key, _)| *space == Space::Commands && key == OPTIONS.as_bytes()).last()
        });
        if let Some((.., value)) = told.last() {
            return Ok(value);
        }
    }
    Ok(None)
}
