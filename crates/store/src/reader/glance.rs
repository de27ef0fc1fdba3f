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

/// The counters after the last complete step of the log, if there are steps after the last sync: those that a
/// killed process had committed.
pub fn counters_beyond(directory: &Path, synced: &Synced) -> Result<Option<Counters>, StoreError> {
    let mut last = None;
    for (first, path) in listed(directory)? {
        if first < synced.log {
            continue;
        }
        let file = LogFile::read(&path, first, synced.store)?;
        let begin = if first == synced.log { synced.log_bytes } else { 0 };
        for frame in file.frames_from(begin) {
            let said = entries(&frame.content).filter_map(Result::ok);
            let counters = said.filter(|(space, key, _)| *space == Space::Meta && key == COUNTERS).last();
            last = counters.and_then(|(_, _, value)| Counters::decode(&value?).ok()).or(last);
        }
    }
    Ok(last)
}
