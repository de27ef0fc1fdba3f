//! Exports the History, or a part of it, as one Parquet file with the same columns.
//!
//! # Promises
//! - Memory does not grow with the number of visits: rows are written in the order in which they are read,
//!   file by file.
//! - The file is complete or absent.

use std::path::Path;

use super::selection::Exported;
use super::unfinished::Unfinished;
use crate::error::StoreError;
use crate::history::VisitQuery;
use crate::history::columns::{NumberedVisit, schema};
use crate::history::files::{FileWriter, ROWS_PER_BATCH};
use crate::reader::Reader;

/// Writes the visits that match any of the queries to a Parquet file.
pub fn export_visits(reader: &Reader, queries: &[VisitQuery], output: &Path) -> Result<Exported, StoreError> {
    let directory = match output.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let name = output.file_name().and_then(|name| name.to_str()).unwrap_or("visits.parquet");
    let _unfinished = Unfinished::of(&directory.join(name));
    let mut writer = FileWriter::create(directory, name, schema())?;
    let mut rows: Vec<NumberedVisit> = Vec::with_capacity(ROWS_PER_BATCH);
    for query in queries {
        let mut written = Ok(());
        reader.for_each_visit(query, |visit| {
            rows.push(visit);
            if rows.len() >= ROWS_PER_BATCH && written.is_ok() {
                written = writer.write(&rows);
                rows.clear();
            }
        })?;
        written?;
    }
    writer.write(&rows)?;
    let record = writer.finish(directory)?;
    Ok(Exported { entries: record.rows, bytes: record.bytes })
}
