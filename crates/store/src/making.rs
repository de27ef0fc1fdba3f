//! A new store: there as a whole, or not there yet.
//!
//! The engine writes several files until it could open them again, and a process may be killed between any two of them. So the state of a new store is made under another
//! name, with the identity of the store in it, and gets its own name last.
//!
//! # Promises
//! - Where there is a folder `state`, it can be opened and has an identity, and there are folders for the Collection and the History.
//! - A state that is missing beside files of a crawl is an error: a new one would not know of them, and what no commit knows of is removed.

use std::fs;
use std::path::Path;

use crate::collection::segment::sync_directory;
use crate::error::StoreError;
use crate::key_value::OnDisk;
use crate::store::identity;

/// The name of a state that is being made.
pub(crate) const UNFINISHED: &str = "state.unfinished";

/// Makes a store in this directory, unless there is one.
pub(crate) fn make_if_new(directory: &Path, cache_bytes: u64) -> Result<(), StoreError> {
    let state = directory.join("state");
    if state.exists() {
        return Ok(());
    }
    if has_files(directory) {
        let reason = "it is missing, and with it all that is known of URLs and pages; `freshet fsck --repair` makes it anew from the files that are there";
        return Err(StoreError::Damaged { path: state, reason: reason.to_owned() });
    }
    for part in ["collection", "history"] {
        let part = directory.join(part);
        fs::create_dir_all(&part).map_err(StoreError::file("make", &part))?;
    }
    let unfinished = directory.join(UNFINISHED);
    if unfinished.exists() {
        fs::remove_dir_all(&unfinished).map_err(StoreError::file("remove", &unfinished))?;
    }
    identity(&OnDisk::open(&unfinished, cache_bytes)?)?;
    fs::rename(&unfinished, &state).map_err(StoreError::file("make", &state))?;
    sync_directory(directory)
}

/// Whether a crawl has begun in this directory: a process that was killed before has left nothing that counts.
pub(crate) fn has_begun(directory: &Path) -> bool {
    directory.join("state").exists() || has_files(directory)
}

/// Whether there is anything in the Collection or the History.
fn has_files(directory: &Path) -> bool {
    ["collection", "history"]
        .iter()
        .any(|part| fs::read_dir(directory.join(part)).is_ok_and(|mut files| files.next().is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::check_directory;
    use crate::store::{Settings, Store};

    /// Killed while the engine made its first files, a crawl could not be started again: the engine found some of them and gave up.
    #[test]
    fn what_a_kill_left_of_a_store_in_the_making_is_made_anew() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path();
        fs::write(path.join("FORMAT"), crate::store::format_text()).expect("it is written");
        fs::create_dir_all(path.join(UNFINISHED).join("keyspaces/0")).expect("it is made");
        fs::write(path.join(UNFINISHED).join("0.jnl"), b"half").expect("it is written");
        let findings = check_directory(path).expect("it can be looked at");
        assert!(findings.is_clean() && findings.leftovers.len() == 1, "{findings:?}");
        drop(Store::open(path, Settings::default()).expect("it is made anew"));
        assert!(!path.join(UNFINISHED).exists());
        assert!(check_directory(path).expect("it can be looked at").is_clean());
    }

    #[test]
    fn a_state_that_is_missing_beside_pages_is_not_made_anew_in_silence() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path();
        drop(Store::open(path, Settings::default()).expect("it is made"));
        fs::write(path.join("collection/segment-00000001.warc.gz"), b"pages").expect("it is written");
        fs::remove_dir_all(path.join("state")).expect("it is removed");
        let refused =
            Store::open(path, Settings::default()).expect_err("it would know of no page").to_string();
        assert!(refused.contains("fsck --repair"), "{refused}");
        assert!(path.join("collection/segment-00000001.warc.gz").exists());
        assert!(!check_directory(path).expect("it can be looked at").is_clean());
    }
}
