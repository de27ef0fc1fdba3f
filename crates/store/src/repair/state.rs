//! Repairs the state: makes it readable to its end, with every step of the log.
//!
//! A state that the engine cannot open, or that is older than its own marks, is moved aside and rebuilt from
//! everything readable in it, and from the steps of the log from the first that it may lack. Steps hold
//! absolute values, so replaying one twice does no harm.
//!
//! # Promises
//! - If the log goes back to where the state is sound, the state is restored completely.
//! - A keyspace with one damaged part keeps the entries before and after it.

use std::fs;
use std::path::Path;

use freshet_protocol::codec::Record as _;
use freshet_protocol::time::Timestamp;

use crate::check::unreadable_space;
use crate::counters::{COUNTERS, Counters};
use crate::directory::aside::Aside;
use crate::directory::format::FORMAT_FILE;
use crate::error::StoreError;
use crate::identity::{IDENTITY, Identity, new_identity};
use crate::key_value::{Batch, Direction, Durability, KeyRange, KeyValue, OnDisk, Space, View};
use crate::log::files::{LogFile, listed};
use crate::log::frame::{Frame, Kind};
use crate::log::step::{entries, replayed};
use crate::opening::engine::open_state;
use crate::opening::making::UNFINISHED;
use crate::records::read;
use crate::synced::{self, Synced};

/// Size of the read cache during a repair in bytes.
pub(super) const CACHE_BYTES: u64 = 64 << 20;

/// Number of entries copied in one commit.
const ENTRIES_PER_COMMIT: usize = 10_000;

/// A readable state, and what is known of its store.
pub(super) struct Sound {
    pub(super) state: Box<dyn KeyValue>,
    pub(super) identity: Identity,
    /// Whether steps or records were lost.
    pub(super) lost_commits: bool,
    /// The last known step, from any source.
    pub(super) last_step: u64,
    /// The time of the last step of the log.
    pub(super) time: Timestamp,
    /// The contents of `SYNCED`, if it can be read.
    pub(super) synced: Option<Synced>,
}

/// Opens the state, repaired or rebuilt as far as necessary.
pub(super) fn sound_state(
    directory: &Path,
    aside: &mut Aside,
    said: &mut Vec<String>,
) -> Result<Sound, StoreError> {
    write_format(directory, aside, said)?;
    let synced = match synced::read(directory) {
        Ok(synced) => Some(synced),
        Err(StoreError::Behind { .. }) => None,
        Err(error) => return Err(error),
    };
    let path = directory.join("state");
    let (state, is_sound) = open_readable(directory, aside, said)?;
    let Some(identity) = identity_of(directory, state.as_ref())? else {
        return Err(StoreError::behind(&path, "neither it nor the log says whose it is"));
    };
    let counters: Option<Counters> = read(state.as_ref(), Space::Meta, COUNTERS).ok().flatten();
    let known = counters.as_ref().filter(|_| is_sound).map_or(0, |counters| counters.commits);
    let mut batch = Batch::new();
    batch.put(Space::Meta, IDENTITY, identity.encode());
    state.commit(batch, Durability::Buffered)?;
    let told = take_steps_again(directory, state.as_ref(), &identity, known)?;
    if told.steps > 0 {
        said.push(format!("state: {} steps of the log were taken again", told.steps));
    }
    let needed = synced.as_ref().map_or(0, |synced| synced.step).max(known);
    let last_step = told.last.max(needed);
    let lost_commits = told.has_gap || told.last.max(known) < needed || !is_sound && told.last == 0;
    Ok(Sound { state, identity, lost_commits, last_step, time: told.time, synced })
}

/// Opens a state that can be read to its end. Returns whether it is the original one and up to date with
/// its own marks.
fn open_readable(
    directory: &Path,
    aside: &mut Aside,
    said: &mut Vec<String>,
) -> Result<(Box<dyn KeyValue>, bool), StoreError> {
    let path = directory.join("state");
    let new = || OnDisk::open(&path, CACHE_BYTES).map(|state| (Box::new(state) as Box<dyn KeyValue>, false));
    if !path.is_dir() {
        said.push("state: it is missing; made anew from the log, the History and the Collection".to_owned());
        return Ok(new()?);
    }
    let state = match open_state(directory, CACHE_BYTES)? {
        Ok(state) => state,
        Err(problem) => {
            aside.take("state")?;
            said.push(format!("state: {problem}; made anew from the log, the History and the Collection"));
            return Ok(new()?);
        }
    };
    let problem = match unreadable_space(state.as_ref()) {
        Some((space, problem)) => Some(format!("{} cannot be read ({problem})", space.name())),
        None => state.behind()?.first().map(ToString::to_string),
    };
    let problem = problem.or_else(|| {
        let counters: Option<Counters> = read(state.as_ref(), Space::Meta, COUNTERS).ok().flatten();
        counters.is_none().then(|| "it does not say which steps it knows".to_owned())
    });
    let Some(problem) = problem else { return Ok((state, true)) };
    copy_readable(directory, state, aside)?;
    said.push(format!("state: {problem}; what can be read was copied"));
    Ok(new()?)
}

/// The identity of the store, from the state or else from the log.
fn identity_of(directory: &Path, state: &dyn View) -> Result<Option<Identity>, StoreError> {
    if let Ok(Some(identity)) = read::<Identity>(state, Space::Meta, IDENTITY) {
        return Ok(Some(identity));
    }
    let files = listed(directory)?;
    for (first, path) in &files {
        let file = LogFile::read_any(path, *first)?;
        let told = file.readable_frames().filter(|frame| frame.kind == Kind::Base).find_map(|base| {
            let identity = entries(&base.content)
                .filter_map(Result::ok)
                .find(|(space, key, _)| *space == Space::Meta && key == IDENTITY);
            Identity::decode(&identity?.2?).ok()
        });
        if told.is_some() {
            return Ok(told);
        }
    }
    // Without a log nothing has the identity, and nothing depends on it.
    Ok(Some(new_identity()))
}

/// The result of replaying the log.
#[derive(Debug, Default)]
struct Told {
    steps: u64,
    /// The last step.
    last: u64,
    time: Timestamp,
    /// Whether a step is missing after those of the state.
    has_gap: bool,
}

/// Replays every step of the log after those of the state.
fn take_steps_again(
    directory: &Path,
    state: &dyn KeyValue,
    identity: &Identity,
    known: u64,
) -> Result<Told, StoreError> {
    let seed = u64::from_le_bytes(identity.seed);
    let mut told = Told { last: 0, ..Told::default() };
    let mut expected = known + 1;
    for (first, path) in listed(directory)? {
        let file = LogFile::read_any(&path, first)?;
        for frame in file.readable_frames() {
            told.time = told.time.max(frame.time);
            if frame.kind == Kind::Base {
                take_commands_again(state, known, &frame)?;
                continue;
            }
            told.last = told.last.max(frame.step);
            if frame.step <= known {
                continue;
            }
            told.has_gap |= frame.step != expected;
            expected = frame.step + 1;
            let mut batch = replayed(state, seed, &frame)?;
            batch.at_step(frame.step);
            state.commit(batch, Durability::Buffered)?;
            told.steps += 1;
        }
    }
    Ok(told)
}

/// Restores the commands that were active when a log file was begun: the file with them may no longer exist.
fn take_commands_again(state: &dyn KeyValue, known: u64, base: &Frame) -> Result<(), StoreError> {
    if base.step <= known && known > 0 {
        return Ok(());
    }
    let mut batch = Batch::new();
    for (space, key, value) in entries(&base.content).filter_map(Result::ok) {
        if space == Space::Commands {
            batch.items.push((space, key, value));
        }
    }
    Ok(state.commit(batch, Durability::Buffered)?)
}

fn write_format(directory: &Path, aside: &mut Aside, said: &mut Vec<String>) -> Result<(), StoreError> {
    let path = directory.join(FORMAT_FILE);
    match fs::read(&path) {
        Ok(found) if found == crate::directory::format::format_text().as_bytes() => return Ok(()),
        Ok(_) => aside.take(FORMAT_FILE)?,
        Err(_) => {}
    }
    said.push(format!("{FORMAT_FILE}: written anew"));
    fs::write(&path, crate::directory::format::format_text()).map_err(StoreError::file("write", &path))
}

/// Copies everything readable to a new store, and moves the old one aside.
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

/// Copies a keyspace from its first entry on; if that does not reach the end, also from its last entry back.
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
