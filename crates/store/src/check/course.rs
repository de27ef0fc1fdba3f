//! The whole check: whether everything on disk is as `docs/FORMAT.md` says, and consistent.
//!
//! Every record of the key-value store is decoded. Every gzip member of every segment is decompressed and its
//! digest computed. Every file of the History is read. References between records are followed. Each fault
//! names the file or record it is in, and what is lost by it.
//!
//! # Promises
//! - Finds a flipped byte, a truncated file and a missing file.
//! - Changes nothing. Leftovers of a crash are no fault; the next start removes them.

use std::path::Path;

use crate::check::inspect::{Inspected, inspect};
use crate::check::log::{check_log, check_options, check_url_files};
use crate::counters::{COUNTERS, Counters};
use crate::directory::lock::Lock;
use crate::error::StoreError;
use crate::findings::Findings;
use crate::identity::{IDENTITY, Identity};
use crate::key_value::{Direction, KeyRange, Space, View};
use crate::reader::{Reader, Shared};
use crate::startup_index::{self, Reach};

/// Maximum number of checks of a directory that a process is writing to. The findings of the last one
/// are reported.
const TRIES: u32 = 3;

/// Checks everything in a directory. It reads all files and takes that long. A running crawl is
/// not disturbed.
pub fn check_directory(directory: &Path) -> Result<Findings, StoreError> {
    let mut tries = 0;
    loop {
        tries += 1;
        let found = check_as_it_is(directory);
        // Faults found while a process writes may be changes in progress.
        let is_sure = match &found {
            Ok(found) => found.is_clean(),
            Err(error) => !matches!(error, StoreError::File { .. } | StoreError::Damaged { .. }),
        };
        if is_sure || tries == TRIES || Lock::holder(directory).is_none() {
            return found;
        }
    }
}

fn check_as_it_is(directory: &Path) -> Result<Findings, StoreError> {
    let Inspected { findings, reader, refused } = inspect(directory)?;
    let Some(reader) = reader else { return Ok(findings) };
    let mut findings = check_into(&reader, findings)?;
    if let Some((place, problem)) = refused.filter(|_| findings.is_clean()) {
        findings.add(place, problem);
    }
    if Lock::holder(directory).is_some() {
        // They belong to the process that has the directory open.
        findings.leftovers.clear();
    }
    Ok(findings)
}

/// Checks everything in an open store.
pub fn check(reader: &Reader) -> Result<Findings, StoreError> {
    check_into(reader, Findings::default())
}

pub(crate) fn check_into(reader: &Reader, findings: Findings) -> Result<Findings, StoreError> {
    let shared = reader.shared.as_ref();
    let snapshot = shared.view.snapshot();
    let mut check = Check { shared, view: snapshot.as_ref(), findings };
    if let Some(problem) = unreadable_space(check.view) {
        // The other checks look up records in every keyspace: with one unreadable, every finding
        // would repeat it.
        check.findings.add_loss(
            format!("state ({})", problem.0.name()),
            problem.1,
            problem.0.holds().to_owned(),
        );
        return Ok(check.findings);
    }
    let counters = match crate::records::read(check.view, Space::Meta, COUNTERS) {
        Ok(counters) => counters.unwrap_or_default(),
        Err(error) => {
            check.findings.add_error("meta", &error);
            Counters::default()
        }
    };
    let directory = &shared.directory;
    let logged = check_log(directory, check.view, &counters, &mut check.findings)?;
    check_url_files(directory, check.view, &counters, &mut check.findings)?;
    check_options(directory, check.view, &mut check.findings)?;
    check.urls(&counters);
    check.pages(&counters);
    check.sites(&counters);
    check.links(&counters);
    check.segments();
    check.versions(&counters);
    check.history(reader, &counters, logged);
    if let Ok(Some(identity)) = crate::records::read::<Identity>(check.view, Space::Meta, IDENTITY) {
        startup_index::check(&shared.directory, identity.id, Reach::of(&counters), &mut check.findings);
    }
    Ok(check.findings)
}

/// The first keyspace that cannot be read to its end, and the reason.
pub(crate) fn unreadable_space(view: &dyn View) -> Option<(Space, String)> {
    Space::ALL.iter().find_map(|space| {
        let error = view.scan(*space, KeyRange::all(), Direction::Forward).find_map(Result::err)?;
        let error = StoreError::from(error);
        let cause = std::error::Error::source(&error).map_or(String::new(), |cause| format!(": {cause}"));
        Some((*space, format!("{error}{cause}")))
    })
}

/// A running check: the store and the findings so far.
pub(super) struct Check<'a> {
    pub(super) shared: &'a Shared,
    pub(super) view: &'a dyn View,
    pub(super) findings: Findings,
}

impl Check<'_> {
    pub(super) fn compare(&mut self, place: &str, what: &str, found: u64, expected: u64) {
        if found != expected {
            self.findings.add(place, format!("{what}: {found} are there, {expected} should be"));
        }
    }
}
