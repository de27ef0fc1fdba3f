//! Queries for visits in a time range, from a consistent view of the key-value store and the files.
//!
//! # Promises
//! - Every visit is returned once, even while rows are moved into files and files are merged.
//! - Row groups without matching visits are not read.

use std::fs::File;
use std::io;
use std::path::Path;

use freshet_protocol::time::Timestamp;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::statistics::Statistics;

use crate::error::StoreError;
use crate::history::columns::{NumberedVisit, OUTCOME, VisitOutcome, columns, from_batch, outcomes};
use crate::history::files::{decode, parquet_error, registered};
use crate::history::row::VisitRow;
use crate::key_value::{Direction, KeyRange, Readable, Space};

/// Maximum number of attempts of a query. It restarts if a file was merged away between listing and opening.
const ATTEMPTS: usize = 5;

/// The visits to be returned.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct VisitQuery {
    /// Only visits from this time on.
    pub since: Timestamp,
    /// Only visits before this time.
    pub until: Timestamp,
    /// Only visits to this site.
    pub site: Option<String>,
    /// Only visits to this URL.
    pub url: Option<String>,
}

impl VisitQuery {
    /// All visits.
    pub fn all() -> Self {
        let (since, until) = (Timestamp::from_millis(i64::MIN), Timestamp::from_millis(i64::MAX));
        Self { since, until, site: None, url: None }
    }

    /// The visits from this time on.
    pub fn since(moment: Timestamp) -> Self {
        Self { since: moment, ..Self::all() }
    }

    /// The visits to a URL.
    pub fn of_url(url: &str) -> Self {
        let site = crate::all_urls::site_of(url).to_owned();
        Self { site: Some(site), url: Some(url.to_owned()), ..Self::all() }
    }

    fn asks_for(&self, row: &VisitRow) -> bool {
        self.since <= row.time
            && row.time < self.until
            && self.site.as_ref().is_none_or(|site| *site == row.site)
            && self.url.as_ref().is_none_or(|url| *url == row.url)
    }

    fn may_be_in(&self, group: &RowGroupMetaData) -> bool {
        let texts = [("site", &self.site), ("url", &self.url)];
        texts.into_iter().all(|(name, wanted)| {
            let Some(wanted) = wanted else { return true };
            text_range(group, name)
                .is_none_or(|(min, max)| min <= wanted.as_bytes() && wanted.as_bytes() <= max)
        }) && time_range(group)
            .is_none_or(|(min, max)| self.since.millis() <= max && min < self.until.millis())
    }
}

/// Passes every matching visit to `each`, in no particular order.
pub(crate) fn for_each(
    store: &dyn Readable,
    directory: &Path,
    query: &VisitQuery,
    each: &mut dyn FnMut(NumberedVisit),
) -> Result<(), StoreError> {
    let (files, rows) = open_all(store, directory, query)?;
    for (path, file) in files {
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(parquet_error(&path))?;
        let groups = builder.metadata().row_groups().iter().enumerate();
        let wanted = groups.filter(|(_, group)| query.may_be_in(group)).map(|(at, _)| at).collect();
        let reader = builder.with_row_groups(wanted).build().map_err(parquet_error(&path))?;
        for batch in reader {
            let damaged = |reason: String| StoreError::Damaged { path: path.clone(), reason };
            let visits = from_batch(&batch.map_err(|error| damaged(error.to_string()))?).map_err(damaged)?;
            visits.into_iter().filter(|visit| query.asks_for(&visit.row)).for_each(&mut *each);
        }
    }
    rows.into_iter().for_each(each);
    Ok(())
}

/// Passes the outcome of every visit to `each`, in no particular order.
pub(crate) fn for_each_outcome(
    store: &dyn Readable,
    directory: &Path,
    each: &mut dyn FnMut(VisitOutcome<'_>),
) -> Result<(), StoreError> {
    let (files, rows) = open_all(store, directory, &VisitQuery::all())?;
    for (path, file) in files {
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(parquet_error(&path))?;
        let wanted = ProjectionMask::columns(builder.parquet_schema(), OUTCOME);
        let reader = builder.with_projection(wanted).build().map_err(parquet_error(&path))?;
        for batch in reader {
            let damaged = |reason: String| StoreError::Damaged { path: path.clone(), reason };
            outcomes(&batch.map_err(|error| damaged(error.to_string()))?, each).map_err(damaged)?;
        }
    }
    rows.iter().for_each(|visit| each(visit.into()));
    Ok(())
}

/// The matching visits, ordered by time.
pub(crate) fn visits(
    store: &dyn Readable,
    directory: &Path,
    query: &VisitQuery,
) -> Result<Vec<NumberedVisit>, StoreError> {
    let mut visits = Vec::new();
    for_each(store, directory, query, &mut |visit| visits.push(visit))?;
    visits.sort_unstable_by_key(|visit| (visit.row.time, visit.number));
    Ok(visits)
}

type Opened = (Vec<(std::path::PathBuf, File)>, Vec<NumberedVisit>);

/// Opens the files, and reads the rows, of one snapshot. All files are opened before anything is read, so
/// that a merge cannot remove them.
fn open_all(store: &dyn Readable, directory: &Path, query: &VisitQuery) -> Result<Opened, StoreError> {
    'attempts: for attempt in 1.. {
        let snapshot = store.snapshot();
        let mut files = Vec::new();
        for (name, record) in registered(snapshot.as_ref())? {
            if record.last < query.since || query.until <= record.first {
                continue;
            }
            let path = directory.join(&name);
            match File::open(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound && attempt < ATTEMPTS => {
                    continue 'attempts;
                }
                other => files.push((path.clone(), other.map_err(StoreError::file("open", &path))?)),
            }
        }
        let mut rows = Vec::new();
        for entry in snapshot.scan(Space::Visits, KeyRange::all(), Direction::Forward) {
            let (key, value) = entry?;
            let visit = decode(&key, &value)?;
            if query.asks_for(&visit.row) {
                rows.push(visit);
            }
        }
        return Ok((files, rows));
    }
    unreachable!("the last attempt returns")
}

fn statistics<'a>(group: &'a RowGroupMetaData, name: &str) -> Option<&'a Statistics> {
    let at = columns().iter().position(|column| column.0 == name)?;
    group.columns().get(at).filter(|column| column.column_path().string() == name)?.statistics()
}

fn text_range<'a>(group: &'a RowGroupMetaData, name: &str) -> Option<(&'a [u8], &'a [u8])> {
    let statistics = statistics(group, name)?;
    Some((statistics.min_bytes_opt()?, statistics.max_bytes_opt()?))
}

fn time_range(group: &RowGroupMetaData) -> Option<(i64, i64)> {
    match statistics(group, "time")? {
        Statistics::Int64(values) => Some((*values.min_opt()?, *values.max_opt()?)),
        _ => None,
    }
}
