//! Creates a new store, completely or not at all.
//!
//! The engine writes several files before it could reopen them, and the process may be killed in between. So
//! the state of a new store is made under another name, with the identity of the store in it. It gets its own
//! name last, after the log and `SYNCED` exist.
//!
//! # Promises
//! - If there is a folder `state`, it can be opened and has an identity, and there are a log, `SYNCED`, and
//!   folders for the rest.
//! - A missing state next to files of a crawl is an error: a new one would not list them.

use std::fs;
use std::path::{Path, PathBuf};

use freshet_protocol::codec::Record as _;
use freshet_protocol::time::Timestamp;

use crate::collection::segment::segments;
use crate::counters::{COUNTERS, Counters};
use crate::directory::folders::sync_directory;
use crate::error::StoreError;
use crate::identity::{IDENTITY, Identity, new_identity};
use crate::key_value::{Batch, Durability, KeyValue as _, OnDisk, Space, View};
use crate::ledger::Ledger;
use crate::log::event::{OPTIONS, options_hash};
use crate::log::files::{LogFile, listed};
use crate::synced::{Synced, SyncedFile};
use crate::url_files;

/// The name of a state that is being made.
pub(crate) const UNFINISHED: &str = "state.unfinished";

/// Creates a store in this directory, unless there is one.
pub(crate) fn make_if_new(directory: &Path, cache_bytes: u64) -> Result<(), StoreError> {
    let state = directory.join("state");
    if state.exists() {
        return Ok(());
    }
    if has_files(directory) {
        return Err(StoreError::behind(
            &state,
            "it is missing, and with it all that is known of URLs and pages",
        ));
    }
    for part in ["collection", "history", url_files::FOLDER] {
        let part = directory.join(part);
        fs::create_dir_all(&part).map_err(StoreError::file("make", &part))?;
    }
    let unfinished = directory.join(UNFINISHED);
    if unfinished.exists() {
        fs::remove_dir_all(&unfinished).map_err(StoreError::file("remove", &unfinished))?;
    }
    let identity = new_identity();
    let counters = Counters::default();
    {
        let engine = OnDisk::open(&unfinished, cache_bytes)?;
        let mut batch = Batch::new();
        batch.put(Space::Meta, IDENTITY, identity.encode());
        batch.put(Space::Meta, COUNTERS, counters.encode());
        engine.commit(batch, Durability::Synced)?;
        begin_log(directory, &engine, &identity, &counters, Timestamp::default())?;
    }
    fs::rename(&unfinished, &state).map_err(StoreError::file("make", &state))?;
    sync_directory(directory)
}

/// Begins the log of a state and records in `SYNCED` that both are durable.
pub(crate) fn begin_log(
    directory: &Path,
    state: &dyn View,
    identity: &Identity,
    counters: &Counters,
    time: Timestamp,
) -> Result<(), StoreError> {
    let log = Ledger::begin(directory, state, identity, counters, (time, false))?;
    let segment = segments(state).last().transpose()?;
    let synced = Synced {
        number: 0,
        store: identity.id,
        step: counters.commits,
        log: log.first(),
        log_bytes: log.length(),
        segment: segment.as_ref().map_or(0, |(number, _)| *number),
        segment_bytes: segment.map_or(0, |(_, record)| record.bytes),
        visits: counters.visits,
        urls: counters.urls,
        pages: counters.pages,
        clean: true,
        options: options_hash(state.get(Space::Commands, OPTIONS.as_bytes())?.as_deref()),
    };
    SyncedFile::create(directory, synced)?;
    sync_directory(directory)
}

/// Whether a crawl has begun in this directory. A process killed before that has left nothing of value.
pub(crate) fn has_begun(directory: &Path) -> bool {
    directory.join("state").exists() || has_files(directory)
}

/// Whether the Collection or the History has files, or the log a step.
fn has_files(directory: &Path) -> bool {
    let has_any =
        |part: &str| fs::read_dir(directory.join(part)).is_ok_and(|mut files| files.next().is_some());
    let has_step = || {
        let files = listed(directory).unwrap_or_default();
        let has_steps = |(first, path): &(u64, PathBuf)| {
            LogFile::read_any(path, *first).map_or(true, |file| file.readable_frames().nth(1).is_some())
        };
        files.len() > 1 || files.iter().any(has_steps)
    };
    ["collection", "history", url_files::FOLDER].into_iter().any(has_any) || has_step()
}
