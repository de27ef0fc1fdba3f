//! A store opened to be looked at: nothing is mended, and what would make the engine drop anything is found before it is opened.
//!
//! # Promises
//! - A directory that holds no crawl or cannot be read is an error; a damaged one is not, and its faults are named.
//! - Nothing in the directory is altered, and a process that uses it is not disturbed.
//! - The engine is not let near files that it would silently drop batches or tables from.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use freshet_protocol::containment::contained;

use crate::all_urls::read;
use crate::check::{Findings, relative};
use crate::error::StoreError;
use crate::key_value::{KeyValue, OnDisk, Space, View};
use crate::lock::Lock;
use crate::making::has_begun;
use crate::reader::Reader;
use crate::readers::Reading;
use crate::reading::{Copy, refuse_what_is_none};
use crate::recovery::recover;
use crate::store::{FORMAT, FORMAT_FILE, IDENTITY, Identity, format_text, segments};
use crate::synced::{self, Synced};

/// Bytes of memory for what was read last, while a store is repaired.
pub(crate) const CACHE_BYTES: u64 = 64 << 20;

/// A store as it was found.
pub(crate) struct Inspected {
    /// What is wrong so far.
    pub(crate) findings: Findings,
    /// The store, if its key-value store can be opened without loss.
    pub(crate) reader: Option<Reader>,
    /// What a crawl that starts would refuse.
    pub(crate) refused: Option<(String, String)>,
}

/// Opens the store in this directory without altering it: the state is copied, and what belongs to a process that runs is no leftover.
pub(crate) fn inspect(directory: &Path) -> Result<Inspected, StoreError> {
    refuse_what_is_none(directory)?;
    let reading = Reading::begin(directory);
    let is_held = Lock::holder(directory).is_some();
    let mut findings = Findings::default();
    let nothing = |findings| Ok(Inspected { findings, reader: None, refused: None });
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

/// Takes the steps of the log that the copy lacks; where and why a crawl that starts would refuse to.
fn refusal(
    directory: &Path,
    state: &dyn KeyValue,
    identity: &Identity,
    synced: &Synced,
) -> Result<Option<(String, String)>, StoreError> {
    match recover(directory, state, identity, synced) {
        Ok(_) => Ok(None),
        Err(StoreError::Behind { path, reason }) => Ok(Some((relative(&path, directory), reason))),
        Err(error @ (StoreError::Corrupt { .. } | StoreError::State { .. } | StoreError::Damaged { .. })) => {
            Ok(Some(("state".to_owned(), error.to_string())))
        }
        Err(error) => Err(error),
    }
}

/// Takes the lock of a directory that holds a crawl.
pub(crate) fn take_lock(directory: &Path) -> Result<Lock, StoreError> {
    refuse_what_is_none(directory)?;
    Lock::take(directory)
}

/// Opens the engine; why it cannot, if that is no refusal of the system.
pub(crate) fn open_state(
    directory: &Path,
    cache_bytes: u64,
) -> Result<Result<Box<dyn KeyValue>, String>, StoreError> {
    let path = directory.join("state");
    if let Some(folder) = folder_without_current(&path)? {
        return Ok(Err(format!(
            "{} is missing: which tables count is not known",
            relative(&folder.join("current"), directory)
        )));
    }
    if SystemTime::now() < SystemTime::UNIX_EPOCH {
        return Err(StoreError::Clock);
    }
    // The engine asserts what it expects of its own files: a panic of it is a fault of the files.
    match contained(|| OnDisk::open(&path, cache_bytes)) {
        Ok(Ok(state)) => Ok(Ok(Box::new(state))),
        Ok(Err(error)) => match StoreError::from(error) {
            StoreError::File { source, .. } if is_damage(&source) => {
                Ok(Err(format!("it cannot be opened: {source}")))
            }
            StoreError::State { reason, .. } => Ok(Err(format!("it cannot be opened: {reason}"))),
            refusal => Err(refusal),
        },
        Err(_) => Ok(Err("it cannot be opened: the engine gave up".to_owned())),
    }
}

/// Whether the system was asked in vain because of what is in the files.
fn is_damage(error: &io::Error) -> bool {
    !matches!(
        error.kind(),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::StorageFull
    ) && !is_out_of_files(error)
}

/// Whether the process may not open another file.
pub(crate) fn is_out_of_files(error: &io::Error) -> bool {
    const EMFILE: i32 = 24;
    const ENFILE: i32 = 23;
    matches!(error.raw_os_error(), Some(EMFILE | ENFILE))
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

/// What would make the engine drop batches or tables without a word.
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

/// The folder of a keyspace that has tables and does not know which of them count: the engine would take it for empty and remove them.
fn folder_without_current(state: &Path) -> Result<Option<PathBuf>, StoreError> {
    Ok(keyspace_folders(state)?.into_iter().find(|folder| {
        let has_tables = fs::read_dir(folder.join("tables")).is_ok_and(|mut tables| tables.next().is_some());
        has_tables && !folder.join("current").exists()
    }))
}

fn keyspace_folders(state: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let folder = state.join("keyspaces");
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut folders = listed(&folder)?;
    folders.retain(|path| path.is_dir());
    Ok(folders)
}

/// What stands in a folder, sorted.
pub(crate) fn listed(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let entries = fs::read_dir(folder).map_err(StoreError::file("list", folder))?;
    let mut paths = entries
        .map(|entry| Ok(entry.map_err(StoreError::file("list", folder))?.path()))
        .collect::<Result<Vec<_>, StoreError>>()?;
    paths.sort();
    Ok(paths)
}

/// Files of which no commit knows: what a crash leaves.
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
