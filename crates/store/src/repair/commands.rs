//! Applies the user commands again: pins and pauses to the records of pages and sites, the options
//! to their file.
//!
//! # Promises
//! - Afterwards pages and sites agree with the active commands.

use std::fs;

use freshet_protocol::codec::Record as _;

use super::segments::Ground;
use crate::all_urls::{AllUrls, Standing};
use crate::coll_urls::CollUrls;
use crate::directory::aside::Aside;
use crate::error::StoreError;
use crate::key_value::{Batch, Direction, KeyRange, Space};
use crate::log::event::{OPTIONS, OPTIONS_FILE};
use crate::sites::Sites;

/// Makes pages, sites and the options file agree with the commands.
pub(super) fn repair_commands(
    ground: &Ground<'_>,
    aside: &mut Aside,
    said: &mut Vec<String>,
) -> Result<(), StoreError> {
    let state = ground.state;
    let all_urls = AllUrls::new(state, u64::from_le_bytes(ground.identity.seed));
    let mut batch = Batch::new();
    for entry in state.scan(Space::Commands, KeyRange::all(), Direction::Forward) {
        let (name, value) = entry?;
        let name = String::from_utf8_lossy(&name).into_owned();
        if let Some(url) = name.strip_prefix("pin ") {
            let every = value.try_into().ok().map(u64::from_be_bytes);
            let record = all_urls.find(url)?.map(|id| all_urls.get(id)).transpose()?.flatten();
            let Some(Standing::Kept(page)) = record.map(|record| record.standing) else { continue };
            let Some(mut record) = CollUrls(state).get(page)? else { continue };
            if record.pinned_every != every {
                record.pinned_every = every;
                batch.put(Space::Pages, page.key(), record.encode());
                said.push(format!("{url}: pinned again"));
            }
        } else if let Some(site) = name.strip_prefix("pause ") {
            let Some(number) = Sites(state).find(site)? else { continue };
            let Some(mut record) = Sites(state).get(number)? else { continue };
            if !record.paused {
                record.paused = true;
                batch.put(Space::Sites, number.key(), record.encode());
                said.push(format!("{site}: paused again"));
            }
        } else if name == OPTIONS {
            write_options(ground, &value, aside, said)?;
        }
    }
    ground.commit(batch)
}

fn write_options(
    ground: &Ground<'_>,
    text: &[u8],
    aside: &mut Aside,
    said: &mut Vec<String>,
) -> Result<(), StoreError> {
    let path = ground.directory.join(OPTIONS_FILE);
    match fs::read(&path) {
        Ok(found) if found == text => return Ok(()),
        Ok(_) => aside.take(OPTIONS_FILE)?,
        Err(_) => {}
    }
    said.push(format!("{OPTIONS_FILE}: written anew, as the crawl was told last"));
    fs::write(&path, text).map_err(StoreError::file("write", &path))
}
