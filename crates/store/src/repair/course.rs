//! The parts of a repair in their order, and its report.
//!
//! First the state is made readable and gets the steps of the log that it lacks. Then the log is repaired,
//! then the Collection, the History, the records that refer to them, the user commands, and `urls/`. The
//! changes of a repair are steps of the log as well. Each leaves the store no worse than before: an
//! interrupted repair can be repeated.
//!
//! # Promises
//! - Everything intact is kept; what must be removed is moved to `aside/`.
//! - Afterwards a check finds no faults.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use freshet_protocol::time::Timestamp;

use super::commands::repair_commands;
use super::log::sound_log;
use super::records::{Traces, repair_records};
use super::segments::{Ground, repair_segments};
use super::state::sound_state;
use super::urls::{repair_url_files, url_rows};
use super::visits::repair_visits;
use crate::check::check_into;
use crate::directory::aside::Aside;
use crate::directory::folders::relative;
use crate::directory::format::{Format, known_format, refuse_what_is_none};
use crate::directory::lock::{self, Lock};
use crate::directory::odd_files::{STATUS_FILE, odd_files};
use crate::error::StoreError;
use crate::findings::Findings;
use crate::key_value::{Batch, KeyValue};
use crate::opening::convert::{convert, put_commands};
use crate::reader::{Hold, Reader, Shared};
use crate::repair::state::CACHE_BYTES;
use crate::startup_index;

/// The report of a repair.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Repaired {
    /// The changes made, in order.
    pub done: Vec<String>,
    /// The folder with everything removed; none if nothing was.
    pub aside: Option<PathBuf>,
    /// Number of lost versions of pages.
    pub versions_lost: u64,
    /// Number of lost visits, in this and earlier repairs.
    pub visits_lost: u64,
    /// The findings of a check afterwards.
    pub findings: Findings,
}

/// Repairs a damaged store, which no process may have open. `now` names the folder for what must be removed.
pub fn repair(directory: &Path, now: Timestamp) -> Result<Repaired, StoreError> {
    let mut aside = Aside::new(directory, now);
    let mut done = Vec::new();
    let lock = take_lock(directory, &mut aside, &mut done)?;
    // A repair may give a number to another URL. The contents of the start-up index are in the
    // store, or lost.
    startup_index::remove(directory)?;
    // The last published status may count what is lost.
    let _ = fs::remove_file(directory.join(STATUS_FILE));
    let is_damaged_earlier =
        known_format(directory).ok().flatten() == Some(Format::First) && !converted(directory, &mut done)?;
    let sound = sound_state(directory, &mut aside, &mut done)?;
    let (ledger, counters) = sound_log(directory, &sound, &mut aside, &mut done)?;
    let ground = Ground {
        directory,
        state: sound.state.as_ref(),
        identity: &sound.identity,
        lost_commits: sound.lost_commits,
        now,
        ledger: RefCell::new((ledger, counters)),
    };
    if is_damaged_earlier {
        // The log that was just begun has no commands yet.
        let mut batch = Batch::new();
        put_commands(ground.state, &mut batch)?;
        ground.commit(batch)?;
    }
    let rows = url_rows(&ground)?;
    let versions_lost = repair_segments(&ground, &mut aside, &mut done)?;
    let mut traces = Traces::default();
    let synced_visits = sound.synced.as_ref().map_or(0, |synced| synced.visits);
    let tally =
        repair_visits(&ground, synced_visits, &mut aside, &mut done, &mut |visit| traces.hear(visit))?;
    if sound.lost_commits {
        traces.add_from_collection(&ground, &mut done)?;
    }
    repair_records(&ground, &traces, (&tally, &rows), &mut done)?;
    repair_commands(&ground, &mut aside, &mut done)?;
    repair_url_files(&ground, &mut aside, &mut done)?;
    ground.sync(sound.synced.as_ref().is_some_and(|synced| synced.clean))?;
    let (lost_commits, seed) = (sound.lost_commits, u64::from_le_bytes(sound.identity.seed));
    drop(ground);
    if lost_commits {
        done.push(LOST.to_owned());
    }
    let shared = Shared {
        directory: directory.to_path_buf(),
        view: Arc::<dyn KeyValue>::from(sound.state),
        seed,
        durable_visits: AtomicU64::new(u64::MAX),
        _hold: Hold::Lock(lock),
    };
    let findings = check_into(&Reader { shared: Arc::new(shared) }, Findings::default())?;
    let aside = aside.folder().map(Path::to_path_buf);
    Ok(Repaired { done, aside, versions_lost, visits_lost: tally.lost, findings })
}

/// Takes the lock of a directory that holds a crawl, and moves away whatever is in place of a file
/// or a folder.
fn take_lock(directory: &Path, aside: &mut Aside, done: &mut Vec<String>) -> Result<Lock, StoreError> {
    refuse_what_is_none(directory)?;
    let mut put_aside = |(path, what): (PathBuf, &str)| {
        let name = relative(&path, directory);
        done.push(format!("{name}: {what}"));
        aside.take(&name)
    };
    let (locks, others): (Vec<_>, Vec<_>) =
        odd_files(directory)?.into_iter().partition(|(path, _)| path.ends_with(lock::FILE_NAME));
    locks.into_iter().try_for_each(&mut put_aside)?;
    let lock = Lock::take(directory)?;
    others.into_iter().try_for_each(put_aside)?;
    Ok(lock)
}

/// Converts a directory of format 1; returns whether it could. A damaged one is repaired as if it had
/// lost its log.
fn converted(directory: &Path, done: &mut Vec<String>) -> Result<bool, StoreError> {
    match convert(directory, CACHE_BYTES) {
        Ok(()) => {
            done.push("FORMAT: the crawl was made by an earlier version, and was converted".to_owned());
            Ok(true)
        }
        Err(error @ (StoreError::File { .. } | StoreError::DiskFull { .. })) => Err(error),
        Err(_) => Ok(false),
    }
}

/// The message about a repair that lacks steps of the log.
const LOST: &str = "steps of the log are missing: made again were visits, URLs, pages and versions from the \
                    History, `urls/` and the Collection, and pins and pauses from the log; not links \
                    between pages, robots.txt, what was learned of the parts of pages, and which of the \
                    URLs that were never visited had been kept: all of that is learned again as pages are \
                    visited";
