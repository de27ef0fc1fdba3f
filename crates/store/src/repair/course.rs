//! The steps of a repair in their order, and what was done.
//!
//! First the key-value store is made readable, then the Collection, then the History, then the records that refer to them. Each step leaves the
//! store no worse than it was: a repair that is broken off can be done again.
//!
//! # Promises
//! - Everything that is intact is kept; what must go is put aside in `damaged/`.
//! - Afterwards a check finds nothing.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::aside::Aside;
use super::records::{Traces, repair_records};
use super::segments::{Ground, repair_segments};
use super::state::sound_state;
use super::visits::repair_visits;
use crate::check::{Findings, check_into};
use crate::error::StoreError;
use crate::gist;
use crate::inspect::take_lock;
use crate::reader::{Reader, Shared};
use crate::store::identity;
use crate::time::Timestamp;

/// What a repair did.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Repaired {
    /// What was done, in order.
    pub done: Vec<String>,
    /// Where that is which had to go; none if nothing had to.
    pub aside: Option<PathBuf>,
    /// Versions of pages that are lost.
    pub versions_lost: u64,
    /// Visits that are lost, now or in an earlier repair.
    pub visits_lost: u64,
    /// What a check finds afterwards.
    pub findings: Findings,
}

/// Makes a damaged store sound. No process may have it open; `now` names the folder for what must go.
pub fn repair(directory: &Path, now: Timestamp) -> Result<Repaired, StoreError> {
    let lock = take_lock(directory)?;
    // A repair may give a number to another URL. What the gist said is in the store, or lost.
    gist::remove(directory)?;
    let mut aside = Aside::new(directory, now);
    let mut done = Vec::new();
    let sound = sound_state(directory, &mut aside, &mut done)?;
    let identity = identity(sound.state.as_ref())?;
    let lost_commits = sound.lost_commits;
    let ground = Ground { directory, state: sound.state.as_ref(), identity: &identity, lost_commits, now };
    let versions_lost = repair_segments(&ground, &mut aside, &mut done)?;
    let mut traces = Traces::default();
    let tally = repair_visits(&ground, &mut aside, &mut done, &mut |visit| traces.hear(visit))?;
    repair_records(&ground, &traces, &tally, &mut done)?;
    sound.state.sync()?;
    let seed = u64::from_le_bytes(identity.seed);
    let shared = Shared { directory: directory.to_path_buf(), state: sound.state, seed, _lock: lock };
    let findings = check_into(&Reader { shared: Arc::new(shared) }, Findings::default())?;
    let aside = aside.folder().map(Path::to_path_buf);
    Ok(Repaired { done, aside, versions_lost, visits_lost: tally.lost, findings })
}
