//! Moves leftovers of a crash aside when a store is opened: bytes and files that belong to no step.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::collection::segment::{self, segments};
use crate::directory::aside::Aside;
use crate::directory::folders::{listed, relative};
use crate::error::StoreError;
use crate::history::files;
use crate::key_value::{Space, View};
use crate::log::end::LogEnd;
use crate::url_files;

/// Moves the bytes of a torn record from the end of the log to `aside/`.
pub(super) fn put_torn_record_aside(
    directory: &Path,
    end: &LogEnd,
    aside: &mut Aside,
) -> Result<(), StoreError> {
    if end.torn == 0 {
        return Ok(());
    }
    aside.cut(&relative(&end.path, directory), end.bytes)
}

/// Moves files that belong to no step to `aside/`, and deletes unfinished ones.
pub(super) fn put_unknown_files_aside(
    directory: &Path,
    state: &dyn View,
    aside: &mut Aside,
) -> Result<Vec<String>, StoreError> {
    let mut moved = Vec::new();
    let known = segments(state).map(|entry| Ok(entry?.0)).collect::<Result<BTreeSet<_>, StoreError>>()?;
    let (visits, urls) = (files::registered(state)?, url_files::registered(state)?);
    for folder in ["collection", "history", url_files::FOLDER, crate::log::files::FOLDER] {
        let path = directory.join(folder);
        fs::create_dir_all(&path).map_err(StoreError::file("make", &path))?;
        for path in listed(&path)? {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let is_unknown = match folder {
                "collection" => segment::number_of(name).is_some_and(|number| !known.contains(&number)),
                "history" => files::is_own_name(name) && !visits.contains_key(name),
                url_files::FOLDER => url_files::is_own_name(name) && !urls.contains_key(name),
                _ => false,
            };
            let place = format!("{folder}/{name}");
            let waits = state.get(Space::Removals, place.as_bytes())?.is_some();
            let is_empty = fs::metadata(&path).is_ok_and(|found| found.len() == 0);
            if name.ends_with(".unfinished") || is_unknown && is_empty {
                fs::remove_file(&path).map_err(StoreError::file("remove", &path))?;
            } else if is_unknown && !waits {
                aside.take(&place)?;
                moved.push(place);
            }
        }
    }
    Ok(moved)
}
