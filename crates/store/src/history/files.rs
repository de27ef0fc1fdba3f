//! The files of the History: one or more per day at first, merged into one per day and later one per month.
//!
//! Rows leave the key-value store in this order: the file is written under another name, synced and renamed;
//! then one batch registers the file and removes the rows. A crash in between leaves an unregistered file,
//! which is removed when the store is opened. Files are merged in the same way.
//!
//! # Promises
//! - A visit is at every moment either a row of the key-value store or in exactly one registered file.
//! - Files are sorted by site, URL, time and number.
//! - The memory for a merge does not grow with the files.

use std::collections::{BTreeMap, BinaryHeap};
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use freshet_protocol::codec::{Malformed, Record as _, record};
use freshet_protocol::time::Timestamp;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use xxhash_rust::xxh3::Xxh3;

use crate::directory::folders::sync_directory;
use crate::error::StoreError;
use crate::foreign_parquet::contained::{Unreadable, contained};
use crate::foreign_parquet::footer;
use crate::history::columns::{NumberedVisit, from_batch, schema, to_batch};
use crate::history::row::VisitRow;
use crate::key_value::{Batch, Direction, KeyRange, Space, View};

/// Maximum number of rows moved into one file at once. Limits the memory to some 40 MB.
pub(crate) const ROWS_PER_MOVE: usize = 1 << 17;

/// Rows of a row group; readers skip whole groups.
const ROWS_PER_GROUP: usize = 1 << 16;

/// Rows that are read or written at once.
pub(crate) const ROWS_PER_BATCH: usize = 1 << 12;

/// Maximum number of files merged at once; each is held open.
const FILES_PER_MERGE: usize = 64;

/// Files with more rows than this in total are not merged: it would take minutes.
const ROWS_PER_MERGE: u64 = 20_000_000;

/// Zstandard compression level, from 1 to 22.
const ZSTD_LEVEL: i32 = 3;

record! {
    /// A file of the History.
    #[derive(Clone, Debug, Default, Eq, PartialEq)]
    pub struct FileRecord {
        /// Rows in it.
        rows: u64,
        /// Its bytes.
        bytes: u64,
        /// The xxh3-64 of its bytes.
        checksum: u64,
        /// The time of its earliest visit.
        first: Timestamp,
        /// The time of its latest visit.
        last: Timestamp,
    }
}

/// The result of moving rows into a file or of merging files.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Settled {
    /// The file that was written.
    pub name: String,
    /// Its record.
    pub record: FileRecord,
    /// Bytes of the files that it replaces.
    pub replaced_bytes: u64,
    /// Whether its rows came from the key-value store.
    pub moved: bool,
    /// The files that it replaces. They are deleted once the step that says so is on disk.
    pub(crate) replaced: Vec<String>,
}

/// Writes the file for the oldest rows of the key-value store that belong to one day, and prepares the batch
/// that registers it. Rows of days before `today` are always moved; rows of `today` and later only if `all`.
/// `serial` makes the file name unique.
pub(crate) fn move_rows(
    view: &dyn View,
    directory: &Path,
    today: &str,
    all: bool,
    (serial, batch): (u64, &mut Batch),
) -> Result<Option<Settled>, StoreError> {
    let mut visits = Vec::new();
    let mut of_day: Option<String> = None;
    for entry in view.scan(Space::Visits, KeyRange::all(), Direction::Forward).take(ROWS_PER_MOVE) {
        let (key, value) = entry?;
        let visit = decode(&key, &value)?;
        let day = visit.row.time.day();
        if !all && day.as_str() >= today {
            // Rows are in commit order: if the first is of today, so are nearly all.
            if visits.is_empty() {
                break;
            }
            continue;
        }
        if *of_day.get_or_insert_with(|| day.clone()) == day {
            visits.push(visit);
        }
    }
    let Some(day) = of_day else {
        return Ok(None);
    };
    visits.iter().for_each(|visit| batch.remove(Space::Visits, visit.number.to_be_bytes()));
    let name = format!("day-{day}-{serial:012}.parquet");
    let record = write_file(directory, &name, visits)?;
    batch.put(Space::Files, name.as_bytes(), record.encode());
    Ok(Some(Settled { name, record, replaced_bytes: 0, moved: true, replaced: Vec::new() }))
}

/// Merges the files of one day before `today`, or of one month before that of `today`, if there are several,
/// and prepares the batch that registers the merged file.
pub(crate) fn merge_files(
    view: &dyn View,
    directory: &Path,
    today: &str,
    (serial, batch): (u64, &mut Batch),
) -> Result<Option<Settled>, StoreError> {
    let files = registered(view)?;
    let Some((span, group)) = next_group(&files, today) else {
        return Ok(None);
    };
    let name = format!("{span}-{serial:012}.parquet");
    let mut sources = Vec::new();
    for file in &group {
        sources.push(Source::open(&directory.join(file))?);
    }
    let mut writer = FileWriter::create(directory, &name, schema())?;
    merge(sources, &mut writer)?;
    let record = writer.finish(directory)?;
    let replaced_bytes = group.iter().map(|name| files[name].bytes).sum();
    group.iter().for_each(|name| batch.remove(Space::Files, name.as_bytes()));
    batch.put(Space::Files, name.as_bytes(), record.encode());
    Ok(Some(Settled { name, record, replaced_bytes, moved: false, replaced: group }))
}

/// The registered files, by name.
pub(crate) fn registered(view: &dyn View) -> Result<BTreeMap<String, FileRecord>, StoreError> {
    registered_in(view, Space::Files)
}

/// The registered files in a keyspace, by name.
pub(crate) fn registered_in(
    view: &dyn View,
    space: Space,
) -> Result<BTreeMap<String, FileRecord>, StoreError> {
    view.scan(space, KeyRange::all(), Direction::Forward)
        .map(|entry| {
            let (key, value) = entry?;
            let record = FileRecord::decode(&value).map_err(StoreError::corrupt(space, &key))?;
            let name = String::from_utf8(key)
                .map_err(|error| StoreError::corrupt(space, error.as_bytes())(Malformed::NotText))?;
            Ok((name, record))
        })
        .collect()
}

/// Whether this is the name of a History file.
pub(crate) fn is_own_name(name: &str) -> bool {
    (name.starts_with("day-") || name.starts_with("month-")) && name.ends_with(".parquet")
}

/// Decodes the visit under a key.
pub(crate) fn decode(key: &[u8], value: &[u8]) -> Result<NumberedVisit, StoreError> {
    let corrupt = |malformed| StoreError::corrupt(Space::Visits, key)(malformed);
    let number = u64::from_be_bytes(key.try_into().map_err(|_| corrupt(Malformed::Short))?);
    Ok(NumberedVisit { number, row: VisitRow::decode(value).map_err(corrupt)? })
}

/// The day or month whose files are to be merged, and their names. Past months come first, because that
/// spares merging their days.
fn next_group(files: &BTreeMap<String, FileRecord>, today: &str) -> Option<(String, Vec<String>)> {
    let month_of = |name: &str| {
        let date = name.strip_prefix("day-").or_else(|| name.strip_prefix("month-"))?;
        Some((date.get(..7)? < today.get(..7)?).then(|| format!("month-{}", &date[..7])))
    };
    let day_of = |name: &str| {
        let date = name.strip_prefix("day-")?.get(..10)?;
        Some((date < today).then(|| format!("day-{date}")))
    };
    let mut groups: BTreeMap<(bool, String), Vec<String>> = BTreeMap::new();
    for name in files.keys() {
        if let Some(Some(month)) = month_of(name) {
            groups.entry((false, month)).or_default().push(name.clone());
        } else if let Some(Some(day)) = day_of(name) {
            groups.entry((true, day)).or_default().push(name.clone());
        }
    }
    groups.into_iter().find_map(|((_, span), mut group)| {
        group.truncate(FILES_PER_MERGE);
        let rows: u64 = group.iter().map(|name| files[name].rows).sum();
        (group.len() > 1 && rows <= ROWS_PER_MERGE).then_some((span, group))
    })
}

/// A file that is being written.
pub(crate) struct FileWriter {
    name: String,
    path: PathBuf,
    writer: ArrowWriter<File>,
    record: FileRecord,
}

impl FileWriter {
    pub(crate) fn create(directory: &Path, name: &str, schema: SchemaRef) -> Result<Self, StoreError> {
        let path = directory.join(format!("{name}.unfinished"));
        let file = File::create(&path).map_err(StoreError::file("create", &path))?;
        let level = ZstdLevel::try_new(ZSTD_LEVEL).expect("the level is one of the allowed");
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(level))
            .set_max_row_group_row_count(Some(ROWS_PER_GROUP))
            .set_created_by("freshet".to_owned())
            .build();
        let writer = ArrowWriter::try_new(file, schema, Some(properties)).map_err(parquet_error(&path))?;
        Ok(Self { name: name.to_owned(), path, writer, record: FileRecord::default() })
    }

    pub(crate) fn write(&mut self, visits: &[NumberedVisit]) -> Result<(), StoreError> {
        self.write_rows(&to_batch(visits), visits.iter().map(|visit| visit.row.time))
    }

    /// Writes rows with these times.
    pub(crate) fn write_rows(
        &mut self,
        rows: &RecordBatch,
        times: impl Iterator<Item = Timestamp>,
    ) -> Result<(), StoreError> {
        for time in times {
            let first = self.record.rows == 0;
            self.record.first = if first { time } else { self.record.first.min(time) };
            self.record.last = if first { time } else { self.record.last.max(time) };
            self.record.rows += 1;
        }
        self.writer.write(rows).map_err(parquet_error(&self.path))
    }

    pub(crate) fn finish(mut self, directory: &Path) -> Result<FileRecord, StoreError> {
        let file = self.writer.into_inner().map_err(parquet_error(&self.path))?;
        file.sync_all().map_err(StoreError::file("sync", &self.path))?;
        self.record.bytes =
            file.metadata().map_err(StoreError::file("read the length of", &self.path))?.len();
        self.record.checksum = checksum(&self.path)?;
        let path = directory.join(&self.name);
        fs::rename(&self.path, &path).map_err(StoreError::file("rename", &path))?;
        sync_directory(directory)?;
        Ok(self.record)
    }
}

/// The xxh3-64 of the bytes of a file.
pub(crate) fn checksum(path: &Path) -> Result<u64, StoreError> {
    let failed = |error| StoreError::file("read", path)(error);
    let mut file = File::open(path).map_err(StoreError::file("open", path))?;
    let (mut hasher, mut buffer) = (Xxh3::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut buffer).map_err(failed)? {
            0 => return Ok(hasher.digest()),
            count => hasher.update(&buffer[..count]),
        }
    }
}

/// The error of a file that cannot be decoded.
fn unreadable(path: &Path) -> impl FnOnce(Unreadable) -> StoreError {
    move |why| StoreError::Damaged { path: path.to_path_buf(), reason: why.to_string() }
}

/// Converts an error of the Parquet library; an I/O error remains one.
pub(crate) fn parquet_error(path: &Path) -> impl FnOnce(ParquetError) -> StoreError {
    move |error| {
        let path = path.to_path_buf();
        match error {
            ParquetError::External(inner) => match inner.downcast::<std::io::Error>() {
                Ok(source) => StoreError::file("read or write", &path)(*source),
                Err(other) => StoreError::Damaged { path, reason: other.to_string() },
            },
            other => StoreError::Damaged { path, reason: other.to_string() },
        }
    }
}

/// A file that is being merged, read row by row.
struct Source {
    path: PathBuf,
    reader: ParquetRecordBatchReader,
    rows: std::vec::IntoIter<NumberedVisit>,
}

impl Source {
    fn open(path: &Path) -> Result<Self, StoreError> {
        let mut file = File::open(path).map_err(StoreError::file("open", path))?;
        footer::read(&mut file).map_err(unreadable(path))?;
        let reader = || {
            ParquetRecordBatchReaderBuilder::try_new(file)
                .and_then(|builder| builder.with_batch_size(ROWS_PER_BATCH).build())
        };
        let reader = contained(reader).map_err(unreadable(path))?.map_err(parquet_error(path))?;
        Ok(Self { path: path.to_path_buf(), reader, rows: Vec::new().into_iter() })
    }

    fn next(&mut self) -> Result<Option<NumberedVisit>, StoreError> {
        loop {
            if let Some(visit) = self.rows.next() {
                return Ok(Some(visit));
            }
            let damaged = |reason: String| StoreError::Damaged { path: self.path.clone(), reason };
            match contained(|| self.reader.next()).map_err(unreadable(&self.path))? {
                None => return Ok(None),
                Some(Err(error)) => return Err(damaged(error.to_string())),
                Some(Ok(batch)) => self.rows = from_batch(&batch).map_err(damaged)?.into_iter(),
            }
        }
    }
}

/// Summary of the contents of a file.
pub(crate) struct FileSummary {
    /// The number of its rows.
    pub(crate) rows: u64,
    /// Whether they are sorted.
    pub(crate) sorted: bool,
}

/// Reads a file to its end.
pub(crate) fn read_file(path: &Path) -> Result<FileSummary, StoreError> {
    let mut source = Source::open(path)?;
    let mut summary = FileSummary { rows: 0, sorted: true };
    let mut before: Option<NumberedVisit> = None;
    while let Some(visit) = source.next()? {
        summary.rows += 1;
        summary.sorted &= before.is_none_or(|before| before.order() < visit.order());
        before = Some(visit);
    }
    Ok(summary)
}

/// The readable rows of a damaged file, row group by row group.
pub(crate) fn readable_rows(path: &Path) -> Vec<NumberedVisit> {
    let open = || {
        let mut file = File::open(path).ok()?;
        footer::read(&mut file).ok()?;
        contained(|| ParquetRecordBatchReaderBuilder::try_new(file)).ok()?.ok()
    };
    let Some(groups) = open().map(|builder| builder.metadata().num_row_groups()) else {
        return Vec::new();
    };
    let mut rows = Vec::new();
    for group in 0..groups {
        let Some(builder) = open() else { break };
        let builder = builder.with_row_groups(vec![group]).with_batch_size(ROWS_PER_BATCH);
        let Ok(Ok(mut reader)) = contained(|| builder.build()) else { continue };
        // A batch that cannot be read ends its group: the columns are no longer at the same row.
        let batches = std::iter::from_fn(|| contained(|| reader.next()).ok()?.and_then(Result::ok));
        rows.extend(batches.map_while(|batch| from_batch(&batch).ok()).flatten());
    }
    rows
}

/// Writes a file of these visits; replaces a file with the same name.
pub(crate) fn write_file(
    directory: &Path,
    name: &str,
    mut visits: Vec<NumberedVisit>,
) -> Result<FileRecord, StoreError> {
    visits.sort_unstable_by(|one, other| one.order().cmp(&other.order()));
    let mut writer = FileWriter::create(directory, name, schema())?;
    for rows in visits.chunks(ROWS_PER_BATCH) {
        writer.write(rows)?;
    }
    writer.finish(directory)
}

/// The next row of a source, ordered so that the heap returns the smallest first.
struct Head {
    visit: NumberedVisit,
    source: usize,
}

impl Ord for Head {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        other.visit.order().cmp(&self.visit.order())
    }
}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Head {}

fn merge(mut sources: Vec<Source>, writer: &mut FileWriter) -> Result<(), StoreError> {
    let mut heads = BinaryHeap::new();
    for (source, reader) in sources.iter_mut().enumerate() {
        heads.extend(reader.next()?.map(|visit| Head { visit, source }));
    }
    let mut rows = Vec::with_capacity(ROWS_PER_BATCH);
    while let Some(Head { visit, source }) = heads.pop() {
        rows.push(visit);
        heads.extend(sources[source].next()?.map(|visit| Head { visit, source }));
        if rows.len() == ROWS_PER_BATCH {
            writer.write(&rows)?;
            rows.clear();
        }
    }
    writer.write(&rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::query::{VisitQuery, visits};
    use crate::history::row::VisitKind;
    use crate::key_value::{Durability, InMemory, KeyValue as _};

    const DAY: i64 = freshet_protocol::time::MILLIS_PER_DAY;

    fn settle(store: &InMemory, directory: &Path, today: &str, serials: std::ops::Range<u64>) -> Vec<String> {
        let mut names = Vec::new();
        for serial in serials {
            let mut batch = Batch::new();
            let moved = move_rows(store, directory, today, false, (serial, &mut batch)).expect("it is moved");
            let settled = match moved {
                Some(settled) => Some(settled),
                None => merge_files(store, directory, today, (serial, &mut batch)).expect("it is merged"),
            };
            let Some(settled) = settled else { break };
            store.commit(batch, Durability::Buffered).expect("it is committed");
            for replaced in &settled.replaced {
                fs::remove_file(directory.join(replaced)).expect("it is removed");
            }
            names.push(settled.name);
        }
        names
    }

    fn put(store: &InMemory, first: u64, days: &[i64]) {
        let mut batch = Batch::new();
        for (number, day) in (first..).zip(days) {
            let url = format!("http://a.example/{}", 9 - number % 3);
            let row = VisitRow::new(Timestamp::from_millis(day * DAY + number as i64), &url, VisitKind::New);
            batch.put(Space::Visits, number.to_be_bytes(), row.encode());
        }
        store.commit(batch, Durability::Buffered).expect("it is committed");
    }

    fn numbers(store: &InMemory, directory: &Path) -> Vec<u64> {
        let mut numbers: Vec<_> = visits(store, directory, &VisitQuery::all())
            .expect("they are read")
            .into_iter()
            .map(|visit| visit.number)
            .collect();
        numbers.sort_unstable();
        numbers
    }

    #[test]
    fn rows_of_past_days_are_moved_merged_and_none_is_lost_or_doubled() {
        let place = tempfile::tempdir().expect("a directory");
        let store = InMemory::new();
        put(&store, 0, &[0, 0, 1, 0, 1, 40]);
        let names = settle(&store, place.path(), "1970-01-03", 10..20);
        assert_eq!(names, ["day-1970-01-01-000000000010.parquet", "day-1970-01-02-000000000011.parquet"]);
        assert_eq!(numbers(&store, place.path()), [0, 1, 2, 3, 4, 5]);
        put(&store, 6, &[0, 41, 40]);
        let names = settle(&store, place.path(), "1970-02-11", 20..30);
        let expected =
            ["day-1970-02-10-000000000020", "day-1970-01-01-000000000021", "month-1970-01-000000000022"];
        assert_eq!(names, expected.map(|name| format!("{name}.parquet")));
        assert_eq!(numbers(&store, place.path()), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(fs::read_dir(place.path()).expect("listed").count(), 2);
    }
}
