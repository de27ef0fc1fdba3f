//! Opens a store for a check without repairing it. Whatever would make the engine drop data is found before
//! the engine is opened.
//!
//! # Promises
//! - A directory that holds no crawl or cannot be read is an error. A damaged one is not; its
//!   faults are listed.
//! - Nothing in the directory is changed, and a process that uses it is not disturbed.
//! - The engine never opens files from which it would silently drop batches or tables.

use std::fs;
use std::io;
use std::path::Path;

use crate::collection::segment::segments;
use crate::directory::folders::{listed, relative};
use crate::directory::format::{FORMAT, FORMAT_FILE, format_text, refuse_what_is_none};
use crate::directory::lock::Lock;
use crate::directory::odd_files::odd_files;
use crate::directory::readers::Reading;
use crate::error::StoreError;
use crate::findings::Findings;
use crate::identity::{IDENTITY, Identity};
use crate::key_value::{KeyValue, Space, View};
use crate::ledger::steps_beyond;
use crate::opening::engine::keyspace_folders;
use crate::opening::making::has_begun;
use crate::opening::recovery::recover;
use crate::reader::{Copy, Reader};
use crate::records::read;
use crate::synced::{self, Synced};

/// A store as the check found it.
pub(crate) struct Inspected {
    /// The faults found so far.
    pub(crate) findings: Findings,
    /// The store, if its key-value store can be opened without loss.
    pub(crate) reader: Option<Reader>,
    /// Why a crawl would refuse to start: the place and the reason.
    pub(crate) refused: Option<(String, String)>,
}

/// Opens the store in this directory without changing it. The state is copied. Files of a running process are
/// no leftovers.
pub(crate) fn inspect(directory: &Path) -> Result<Inspected, StoreError> {
    refuse_what_is_none(directory)?;
    let mut findings = Findings::default();
    let nothing = |findings| Ok(Inspected { findings, reader: None, refused: None });
    for (path, what) in odd_files(directory)? {
        findings.add(relative(&path, directory), what);
    }
    if findings.fault_count > 0 {
        return nothing(findings);
    }
    let reading = Reading::begin(directory);
    let is_held = Lock::holder(directory).is_some();
    inspect_format(directory, &mut findings)?;
    if !has_begun(directory) {
        if !is_held {
            findings.leftovers.push("a store in the making".to_owned());
        }
        return nothing(findings);
    }
    let before = findings.fault_count;
    inspect_state(directory, &mut findings)?;
    if findings.fault_count > before {
        return nothing(findings);
    }
    let synced = synced::read(directory).ok();
    let copy = match Copy::try_of(directory)? {
        Ok(copy) => copy,
        Err(problem) => {
            let holds = "all that is known of URLs, pages and sites".to_owned();
            findings.add_loss("state", problem, holds);
            return nothing(findings);
        }
    };
    let identity = match read::<Identity>(copy.state.as_ref(), Space::Meta, IDENTITY) {
        Ok(Some(identity)) => Some(identity),
        Ok(None) => {
            findings.add("meta", "the store has no identity");
            None
        }
        Err(error) => {
            findings.add("meta", error.to_string());
            None
        }
    };
    let refused = match synced.as_ref().zip(identity.as_ref()) {
        Some((synced, identity)) => refusal(directory, copy.state.as_ref(), identity, synced)?,
        None => None,
    };
    if !is_held {
        inspect_names(directory, copy.state.as_ref(), &mut findings);
    }
    let identity = identity.unwrap_or(Identity { id: [0; 16], seed: [0; 8] });
    let reader = copy.reader(directory, &identity, u64::MAX, reading);
    Ok(Inspected { findings, reader: Some(reader), refused })
}

/// Applies the steps of the log that the copy lacks. Returns where and why a crawl would refuse to start.
fn refusal(
    directory: &Path,
    state: &dyn KeyValue,
    identity: &Identity,
    synced: &Synced,
) -> Result<Option<(String, String)>, StoreError> {
    match recover(directory, state, identity, synced).and_then(|end| steps_beyond(state, &end)) {
        Ok(_) => Ok(None),
        Err(StoreError::Behind { path, reason }) => Ok(Some((relative(&path, directory), reason))),
        Err(error @ (StoreError::Corrupt { .. } | StoreError::State { .. } | StoreError::Damaged { .. })) => {
            Ok(Some(("state".to_owned(), error.to_string())))
        }
        Err(error) => Err(error),
    }
}

fn inspect_format(directory: &Path, findings: &mut Findings) -> Result<(), StoreError> {
    let path = directory.join(FORMAT_FILE);
    match fs::read(&path) {
        Ok(found) if found == format_text().as_bytes() => {}
        Ok(found) => {
            let text = String::from_utf8_lossy(&found).into_owned();
            let number = text.trim().strip_prefix("freshet store ").and_then(|rest| rest.parse::<u32>().ok());
            if number == Some(1) {
                return Err(StoreError::Earlier { directory: directory.to_path_buf() });
            }
            if let Some(number) = number.filter(|number| *number != FORMAT) {
                let (directory, found) = (directory.to_path_buf(), number.to_string());
                return Err(StoreError::Format { directory, found, known: FORMAT });
            }
            findings.add(FORMAT_FILE, format!("it says {text:?}, not {:?}", format_text()));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => findings.add(FORMAT_FILE, "it is missing"),
        Err(error) => return Err(StoreError::file("read", &path)(error)),
    }
    Ok(())
}

/// Finds what would make the engine silently drop batches or tables.
fn inspect_state(directory: &Path, findings: &mut Findings) -> Result<(), StoreError> {
    let state = directory.join("state");
    if !state.is_dir() {
        let holds = "all that is known of URLs, pages and sites".to_owned();
        findings.add_loss("state", "it is missing", holds);
        return Ok(());
    }
    for folder in keyspace_folders(&state)? {
        let has_tables = fs::read_dir(folder.join("tables")).is_ok_and(|mut tables| tables.next().is_some());
        if has_tables && !folder.join("current").exists() {
            let name = format!("{}/current", relative(&folder, directory));
            findings.add_loss(name, "it is missing", "which tables of the keyspace count".to_owned());
        }
    }
    Ok(())
}

/// Lists files that no commit refers to: leftovers of a crash.
fn inspect_names(directory: &Path, state: &dyn View, findings: &mut Findings) {
    let known_segments: Vec<u32> = segments(state).filter_map(|entry| Some(entry.ok()?.0)).collect();
    let known_files = crate::history::files::registered(state).unwrap_or_default();
    for folder in ["collection", "history"] {
        let path = directory.join(folder);
        if !path.is_dir() {
            findings.add(folder, "it is missing");
            continue;
        }
        for path in listed(&path).unwrap_or_default() {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let segment = crate::collection::segment::number_of(name);
            let is_unknown = name.ends_with(".unfinished")
                || folder == "collection" && segment.is_some_and(|number| !known_segments.contains(&number))
                || folder == "history" && name.ends_with(".parquet") && !known_files.contains_key(name);
            if is_unknown {
                findings.leftovers.push(format!("{folder}/{name}: no commit knows of it"));
            }
        }
    }
}
