//! Converts a directory of format 1 to the current format, once. No collected data is removed.
//!
//! Format 1 had no log, no `SYNCED` and no `urls/`. The log begins after the last commit of the state;
//! earlier data is in the state, the History and the Collection. The format number is written last: an
//! interrupted conversion is done again.
//!
//! # Promises
//! - A state that lacks files of the directory is refused: it was emptied or is older than they are.

use std::fs;
use std::path::Path;

use freshet_protocol::codec::Record as _;
use freshet_protocol::ids::PageNumber;

use crate::coll_urls::CollUrls;
use crate::collection::segment;
use crate::collection::segment::segments;
use crate::counters::{COUNTERS, Counters};
use crate::directory::folders::{listed, sync_directory};
use crate::directory::format::{FORMAT_FILE, format_text};
use crate::error::StoreError;
use crate::history::files;
use crate::identity::known_identity;
use crate::key_value::{Batch, Durability, KeyValue, Space};
use crate::log::event::{pause_name, pin_name};
use crate::opening::engine::open_engine;
use crate::opening::making::begin_log;
use crate::opening::moment::latest_moment;
use crate::records::read;
use crate::sites::Sites;
use crate::url_files;

/// Converts the directory of a crawl that no process has open.
pub(crate) fn convert(directory: &Path, cache_bytes: u64) -> Result<(), StoreError> {
    let state = open_engine(directory, cache_bytes)?;
    let state = state.as_ref();
    let identity = known_identity(directory, state)?;
    refuse_unknown_files(directory, state)?;
    let urls = directory.join(url_files::FOLDER);
    fs::create_dir_all(&urls).map_err(StoreError::file("make", &urls))?;
    let mut counters: Counters = read(state, Space::Meta, COUNTERS)?.unwrap_or_default();
    let mut batch = Batch::new();
    if counters.urls_settled < counters.urls {
        url_files::settle(state, &urls, (counters.urls_settled, counters.urls), &mut batch)?;
        counters.urls_settled = counters.urls;
    }
    put_commands(state, &mut batch)?;
    batch.put(Space::Meta, COUNTERS, counters.encode());
    state.commit(batch, Durability::Synced)?;
    let time = latest_moment(state)?.unwrap_or_default();
    begin_log(directory, state, &identity, &counters, time)?;
    let (path, unfinished) = (directory.join(FORMAT_FILE), directory.join("FORMAT.unfinished"));
    fs::write(&unfinished, format_text())
        .and_then(|()| fs::rename(&unfinished, &path))
        .map_err(StoreError::file("write", &path))?;
    // The earlier name of the start-up index, which is rebuilt from the records.
    let _ = fs::remove_file(directory.join("gist"));
    sync_directory(directory)
}

/// Makes commands of the pins and pauses in the records of pages and sites, where format 1 kept them.
pub(crate) fn put_commands(state: &dyn KeyValue, batch: &mut Batch) -> Result<(), StoreError> {
    let all_urls = crate::all_urls::AllUrls::new(state, 0);
    for entry in CollUrls(state).from(PageNumber(0)) {
        let (_, page) = entry?;
        let Some(every) = page.pinned_every else { continue };
        if let Some(url) = all_urls.get(page.url)? {
            batch.put(Space::Commands, pin_name(&url.url), every.to_be_bytes());
        }
    }
    for entry in Sites(state).from(freshet_protocol::ids::SiteNumber(0)) {
        let (_, site) = entry?;
        if site.paused {
            batch.put(Space::Commands, pause_name(&site.site), []);
        }
    }
    Ok(())
}

/// Returns an error if the directory has files with data that the state does not list: the state is not the
/// last one of this crawl.
fn refuse_unknown_files(directory: &Path, state: &dyn KeyValue) -> Result<(), StoreError> {
    let path = directory.join("state");
    let known = segments(state)
        .map(|entry| entry.map(|(number, record)| (number, record.bytes)))
        .collect::<Result<std::collections::BTreeMap<_, _>, _>>()?;
    for file in listed(&directory.join("collection"))? {
        let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let Some(number) = segment::number_of(name).filter(|_| name.ends_with(".warc.gz")) else { continue };
        let length = fs::metadata(&file).map_err(StoreError::file("read the length of", &file))?.len();
        // A killed process may leave one segment that was just begun.
        let is_begun = known.last_key_value().is_some_and(|(last, _)| number == last + 1);
        if length > 0 && !known.contains_key(&number) && !is_begun {
            return Err(StoreError::behind(&path, &format!("it does not know collection/{name}")));
        }
    }
    let registered = files::registered(state)?;
    for (name, record) in &registered {
        let file = directory.join("history").join(name);
        if !fs::metadata(&file).is_ok_and(|found| found.len() == record.bytes) {
            return Err(StoreError::behind(&file, "it is missing, or has another length than it should"));
        }
    }
    let known_visits = read::<Counters>(state, Space::Meta, COUNTERS)?.unwrap_or_default().visits;
    for file in listed(&directory.join("history"))? {
        let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if files::is_own_name(name) && registered.is_empty() && known_visits == 0 {
            return Err(StoreError::behind(&path, &format!("it does not know history/{name}")));
        }
    }
    Ok(())
}
