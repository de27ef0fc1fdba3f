//! Repairs the log: unreadable parts of its files are moved aside, and the readable steps stay.
//!
//! # Promises
//! - Every readable step is in the log afterwards, in a file without gaps.
//! - The steps of the repair follow the last known step.

use std::path::Path;

use freshet_protocol::codec::Record as _;

use super::records::last_serial;
use super::state::Sound;
use crate::counters::{COUNTERS, Counters};
use crate::directory::aside::Aside;
use crate::directory::folders::relative;
use crate::error::StoreError;
use crate::identity::IDENTITY;
use crate::key_value::{Batch, Space};
use crate::ledger::{GAP, Ledger};
use crate::log::end::LogEnd;
use crate::log::files::{LogFile, LogWriter, file_name, listed};
use crate::log::frame::{Frame, Kind};
use crate::log::step;
use crate::records::read;
use crate::synced::{self, Synced, SyncedFile};

/// Repairs the files of the log and opens it for appending.
pub(super) fn sound_log(
    directory: &Path,
    sound: &Sound,
    aside: &mut Aside,
    said: &mut Vec<String>,
) -> Result<(Ledger, Counters), StoreError> {
    for (first, path) in listed(directory)? {
        let file = LogFile::read_any(&path, first)?;
        if !is_whole(&file, sound) {
            rewrite(directory, &file, sound, aside, said)?;
        }
    }
    let state = sound.state.as_ref();
    let mut counters: Counters = read(state, Space::Meta, COUNTERS).ok().flatten().unwrap_or_default();
    let known = counters.commits.max(sound.last_step).max(last_serial(state)?);
    let end = match last_file(directory, sound)? {
        Some(end) if end.step == known => end,
        // Steps are missing between the last file and the state, so the log continues in a new file.
        _ => {
            counters.commits = known;
            let log = Ledger::begin(directory, state, &sound.identity, &counters, (sound.time, true))?;
            said.push(format!("log: it goes on with step {}", known + 1));
            let path = directory.join(crate::log::files::FOLDER).join(file_name(known + 1));
            let (first, bytes) = (log.first(), log.length());
            LogEnd { path, first, bytes, torn: 0, step: known, time: sound.time, replayed: 0 }
        }
    };
    counters.commits = known;
    let mut batch = Batch::new();
    batch.put(Space::Meta, COUNTERS, counters.encode());
    state.commit(batch, crate::key_value::Durability::Buffered)?;
    let last = say_anew(directory, sound, aside, said)?;
    let ledger = Ledger::open(directory, state, &sound.identity, (&end, last), FILE_BYTES)?;
    Ok((ledger, counters))
}

/// Size of a log file in bytes, the default of a crawl.
const FILE_BYTES: u64 = 32 << 20;

/// A `SYNCED` with the identity of the store only; the end of the repair fills in the rest.
fn say_anew(
    directory: &Path,
    sound: &Sound,
    aside: &mut Aside,
    said: &mut Vec<String>,
) -> Result<Synced, StoreError> {
    if let Some(synced) = sound.synced.as_ref().filter(|synced| synced.store == sound.identity.id) {
        return Ok(synced.clone());
    }
    if directory.join(synced::FILE_NAME).exists() {
        aside.take(synced::FILE_NAME)?;
    }
    said.push(format!("{}: written anew", synced::FILE_NAME));
    let first = Synced { store: sound.identity.id, ..Synced::default() };
    Ok(SyncedFile::create(directory, first)?.last().clone())
}

/// Whether a file is completely readable and belongs to this crawl.
fn is_whole(file: &LogFile, sound: &Sound) -> bool {
    let mut frames = file.frames();
    let mut expected = file.first;
    let mut has_base = false;
    for frame in frames.by_ref() {
        match frame.kind {
            Kind::Base => has_base = true,
            Kind::Step if frame.step == expected => expected += 1,
            Kind::Step => return false,
        }
    }
    has_base && frames.problem().is_none() && file.store() == Some(sound.identity.id)
}

/// Moves a file aside and writes its readable steps again, each run without gaps to a file of its own.
fn rewrite(
    directory: &Path,
    file: &LogFile,
    sound: &Sound,
    aside: &mut Aside,
    said: &mut Vec<String>,
) -> Result<(), StoreError> {
    let name = relative(&file.path, directory);
    aside.take(&name)?;
    let mut steps = 0;
    let mut log: Option<(LogWriter, u64)> = None;
    for frame in file.readable_frames().filter(|frame| frame.kind == Kind::Step) {
        if log.as_ref().is_none_or(|(_, last)| last + 1 != frame.step) {
            let mut batch = Batch::new();
            batch.put(Space::Meta, IDENTITY, sound.identity.encode());
            if frame.step != file.first {
                batch.put(Space::Meta, GAP, []);
            }
            let content = step::content(&batch);
            let base = Frame { step: frame.step - 1, time: frame.time, kind: Kind::Base, content };
            log = Some((LogWriter::create(directory, sound.identity.id, &base)?, frame.step));
        }
        if let Some((log, last)) = &mut log {
            log.append(&frame.encode())?;
            *last = frame.step;
            steps += 1;
        }
    }
    if let Some((log, _)) = &log {
        log.sync()?;
    }
    said.push(format!("{name}: damaged; the {steps} steps that can be read were written anew"));
    Ok(())
}

/// The end of the last file of the log.
fn last_file(directory: &Path, sound: &Sound) -> Result<Option<LogEnd>, StoreError> {
    let Some((first, path)) = listed(directory)?.pop() else { return Ok(None) };
    let file = LogFile::read_any(&path, first)?;
    let mut frames = file.frames();
    let step = frames.by_ref().last().map_or(first - 1, |frame| frame.step);
    let bytes = frames.end() as u64;
    Ok(Some(LogEnd { path, first, bytes, torn: 0, step, time: sound.time, replayed: 0 }))
}
