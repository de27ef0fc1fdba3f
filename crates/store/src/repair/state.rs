//! A key-value store that can be read to its end: damaged commits are cut out of the journal, and if a keyspace still cannot be read, all that
//! can be is copied to a new store.
//!
//! # Promises
//! - Whole commits stay, also those after a damaged one.
//! - A keyspace with one damaged part keeps what stands before and after it.

use std::fs;
use std::path::Path;

use super::aside::Aside;
use crate::check::{relative, unreadable_space};
use crate::error::StoreError;
use crate::inspect::{CACHE_BYTES, journals, open_state};
use crate::key_value::{Batch, Direction, Durability, KeyRange, KeyValue, OnDisk, Space, View, journal};
use crate::making::UNFINISHED;
use crate::store::FORMAT_FILE;

/// Entries that are copied in one commit.
const ENTRIES_PER_COMMIT: usize = 10_000;

/// A store that can be read.
pub(super) struct Sound {
    pub(super) state: Box<dyn KeyValue>,
    /// Whether commits or records were lost.
    pub(super) lost_commits: bool,
}

/// Opens the key-value store, mended or made anew as far as it must be.
pub(super) fn sound_state(
    directory: &Path,
    aside: &mut Aside,
    said: &mut Vec<String>,
) -> Result<Sound, StoreError> {
    write_format(directory, aside, said)?;
    let path = directory.join("state");
    if !path.is_dir() {
        said.push("state: it is missing; made anew from the Collection and the History".to_owned());
        return Ok(Sound { state: Box::new(OnDisk::open(&path, CACHE_BYTES)?), lost_commits: true });
    }
    let mut lost_commits = mend_journals(directory, aside, said)?;
    if lacks_current(&path) {
        aside.take("state")?;
        said.push(
            "state: a keyspace has lost its tables; made anew from the Collection and the History".to_owned(),
        );
        return Ok(Sound { state: Box::new(OnDisk::open(&path, CACHE_BYTES)?), lost_commits: true });
    }
    let state = match open_state(directory)? {
        Ok(state) => state,
        Err(problem) => {
            aside.take("state")?;
            said.push(format!("state: {problem}; made anew from the Collection and the History"));
            return Ok(Sound { state: Box::new(OnDisk::open(&path, CACHE_BYTES)?), lost_commits: true });
        }
    };
    if let Some((space, problem)) = unreadable_space(state.as_ref()) {
        copy_readable(directory, state, aside)?;
        said.push(format!("state: {} cannot be read ({problem}); what can be was copied", space.name()));
        let state = Box::new(OnDisk::open(&path, CACHE_BYTES)?);
        return Ok(Sound { state, lost_commits: true });
    }
    lost_commits |= state.get(Space::Meta, crate::store::COUNTERS)?.is_none();
    Ok(Sound { state, lost_commits })
}

fn write_format(directory: &Path, aside: &mut Aside, said: &mut Vec<String>) -> Result<(), StoreError> {
    let path = directory.join(FORMAT_FILE);
    match fs::read(&path) {
        Ok(found) if found == crate::store::format_text().as_bytes() => return Ok(()),
        Ok(_) => aside.take(FORMAT_FILE)?,
        Err(_) => {}
    }
    said.push(format!("{FORMAT_FILE}: written anew"));
    fs::write(&path, crate::store::format_text()).map_err(StoreError::file("write", &path))
}

/// Cuts damaged commits out of the journals; whether there were any, or no journal at all.
fn mend_journals(directory: &Path, aside: &mut Aside, said: &mut Vec<String>) -> Result<bool, StoreError> {
    let journals = journals(&directory.join("state"))?;
    let mut lost = journals.is_empty();
    if lost {
        said.push(
            "state: its journal is missing; what it held is made again as far as files tell".to_owned(),
        );
    }
    for path in journals {
        let bytes = fs::read(&path).map_err(StoreError::file("read", &path))?;
        let reading = journal::read(&bytes);
        if reading.damaged.is_empty() {
            continue;
        }
        lost = true;
        let name = relative(&path, directory);
        aside.copy(&name)?;
        let whole: Vec<u8> = reading.whole.iter().flat_map(|range| &bytes[range.clone()]).copied().collect();
        let unfinished = path.with_extension("jnl.unfinished");
        fs::write(&unfinished, whole).map_err(StoreError::file("write", &unfinished))?;
        fs::rename(&unfinished, &path).map_err(StoreError::file("write", &path))?;
        let cut: usize = reading.damaged.iter().map(ExactSizeIterator::len).sum();
        said.push(format!(
            "{name}: {cut} bytes of damaged commits cut out, {} commits kept",
            reading.batches
        ));
    }
    Ok(lost)
}

/// Whether a keyspace has tables and does not know which of them count: the engine would take it for empty and remove them.
fn lacks_current(state: &Path) -> bool {
    let Ok(folders) = fs::read_dir(state.join("keyspaces")) else {
        return true;
    };
    folders.filter_map(Result::ok).map(|folder| folder.path()).any(|folder| {
        let has_tables = fs::read_dir(folder.join("tables")).is_ok_and(|mut tables| tables.next().is_some());
        has_tables && !folder.join("current").exists()
    })
}

/// Makes a new store of everything that can be read, and puts the old one aside.
fn copy_readable(directory: &Path, old: Box<dyn KeyValue>, aside: &mut Aside) -> Result<(), StoreError> {
    let unfinished = directory.join(UNFINISHED);
    if unfinished.exists() {
        fs::remove_dir_all(&unfinished).map_err(StoreError::file("remove", &unfinished))?;
    }
    let new = OnDisk::open(&unfinished, CACHE_BYTES)?;
    for space in Space::ALL {
        copy_space(old.as_ref(), &new, *space)?;
    }
    new.sync()?;
    drop(new);
    drop(old);
    aside.take("state")?;
    let path = directory.join("state");
    fs::rename(&unfinished, &path).map_err(StoreError::file("rename", &path))
}

/// Copies a keyspace from its first entry on, and if it cannot be read to its end, from its last entry back.
fn copy_space(old: &dyn View, new: &dyn KeyValue, space: Space) -> Result<(), StoreError> {
    for direction in [Direction::Forward, Direction::Backward] {
        let mut batch = Batch::new();
        let mut is_whole = true;
        for entry in old.scan(space, KeyRange::all(), direction) {
            let Ok((key, value)) = entry else {
                is_whole = false;
                break;
            };
            batch.put(space, key, value);
            if batch.len() >= ENTRIES_PER_COMMIT {
                new.commit(std::mem::take(&mut batch), Durability::Buffered)?;
            }
        }
        new.commit(batch, Durability::Buffered)?;
        if is_whole {
            break;
        }
    }
    Ok(())
}
