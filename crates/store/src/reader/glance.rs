//! A quick look at a store by its files, without opening its state.

use std::path::Path;

use freshet_protocol::codec::Record as _;

use crate::counters::{COUNTERS, Counters};
use crate::directory::format::{Format, known_format, refuse_what_is_none};
use crate::directory::odd_files::refuse_odd_files;
use crate::error::StoreError;
use crate::key_value::Space;
use crate::log::files::{LogFile, listed};
use crate::log::step::entries;
use crate::opening::recovery::refuse_at_first_sight;
use crate::synced::{self, Synced};

/// What is durable of the store in this directory. An error if its most important files are missing
/// or too short.
pub fn glance(directory: &Path) -> Result<Synced, StoreError> {
    refuse_what_is_none(directory)?;
    refuse_odd_files(directory)?;
    if known_format(directory)? == Some(Format::First) {
        return Err(StoreError::Earlier { directory: directory.to_path_buf() });
    }
    let synced = synced::read(directory)?;
    refuse_at_first_sight(directory, &synced)?;
    Ok(synced)
}

/// What the log has beyond the last sync: the steps that a killed process had committed.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Beyond {
    /// The counters after the last complete step; none if there are no steps.
    pub counters: Option<Counters>,
    /// Whether the log ends with a record that is not complete. The state may have its step.
    pub is_torn: bool,
}

impl Beyond {
    /// Whether the log ends where the last sync left it.
    pub fn is_nothing(&self) -> bool {
        self.counters.is_none() && !self.is_torn
    }
}

/// Reads what the log has beyond the last sync.
pub fn beyond(directory: &Path, synced: &Synced) -> Result<Beyond, StoreError> {
    let mut beyond = Beyond::default();
    for (first, path) in listed(directory)? {
        if first < synced.log {
            continue;
        }
        let file = LogFile::read(&path, first, synced.store)?;
        let begin = if first == synced.log { synced.log_bytes } else { 0 };
        let mut frames = file.frames_from(begin);
        for frame in frames.by_ref() {
            let said = entries(&frame.content).filter_map(Result::ok);
            let counters = said.filter(|(space, key, _)| *space == Space::Meta && key == COUNTERS).last();
            let counters = counters.and_then(|(_, _, value)| Counters::decode(&value?).ok());
            beyond.counters = counters.or(beyond.counters);
        }
        beyond.is_torn |= frames.problem().is_some();
    }
    Ok(beyond)
}
