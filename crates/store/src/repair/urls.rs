//! Repairs the URL files: reads them where records are lost, and rewrites them where they are wrong.
//!
//! # Promises
//! - Afterwards the registered files hold every URL once.

use std::collections::HashMap;
use std::fs;

use super::segments::Ground;
use crate::directory::aside::Aside;
use crate::directory::folders::listed;
use crate::error::StoreError;
use crate::history::files::checksum;
use crate::key_value::{Batch, Space};
use crate::url_files::{FOLDER, UrlRow, is_own_name, read_file, registered, settle};

/// The rows of the URL files, if steps were lost; otherwise all records exist.
pub(super) fn url_rows(ground: &Ground<'_>) -> Result<HashMap<u32, UrlRow>, StoreError> {
    let mut rows = HashMap::new();
    let folder = ground.directory.join(FOLDER);
    if !ground.lost_commits || !folder.is_dir() {
        return Ok(rows);
    }
    for path in listed(&folder)? {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if is_own_name(name) {
            // Of a damaged file, the rows before the damage are used.
            let _ = read_file(&path, &mut |row| {
                rows.insert(row.number, row);
            });
        }
    }
    Ok(rows)
}

/// Rewrites the files if one of them differs from its registration.
pub(super) fn repair_url_files(
    ground: &Ground<'_>,
    aside: &mut Aside,
    said: &mut Vec<String>,
) -> Result<(), StoreError> {
    let folder = ground.directory.join(FOLDER);
    fs::create_dir_all(&folder).map_err(StoreError::file("make", &folder))?;
    let files = registered(ground.state)?;
    let is_right = |name: &String, record: &crate::history::files::FileRecord| {
        checksum(&folder.join(name)).is_ok_and(|found| found == record.checksum)
    };
    let (known, settled) = {
        let ledger = ground.ledger.borrow();
        (ledger.1.urls, ledger.1.urls_settled)
    };
    let rows: u64 = files.values().map(|record| record.rows).sum();
    if files.iter().all(|(name, record)| is_right(name, record)) && rows == settled && settled <= known {
        return Ok(());
    }
    for path in listed(&folder)? {
        aside.take(&ground.name(&path))?;
    }
    let mut batch = Batch::new();
    files.keys().for_each(|name| batch.remove(Space::UrlFiles, name.as_bytes()));
    ground.commit(batch)?;
    let mut batch = Batch::new();
    if known > 0 {
        settle(ground.state, &folder, (0, known), &mut batch)?;
    }
    said.push(format!("{FOLDER}: written anew with {known} URLs"));
    ground.ledger.borrow_mut().1.urls_settled = known;
    ground.commit(batch)
}
