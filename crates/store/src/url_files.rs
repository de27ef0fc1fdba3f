//! `urls/`: every URL ever discovered, as Parquet files: when, from where, at which depth.
//!
//! A row never changes, because a URL keeps its number and its discovery for ever. Rows are written to a file
//! when many wait, and when a crawl is closed. A file with fewer than twice as many rows as wait is rewritten
//! together with them, so that there are few files.
//!
//! # Promises
//! - The registered files hold the URLs below `urls_settled`, each once, ordered by number.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::types::{TimestampMillisecondType, UInt16Type, UInt32Type};
use arrow_array::{ArrayRef, RecordBatch, StringArray, TimestampMillisecondArray, UInt16Array, UInt32Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use freshet_protocol::codec::{Malformed, Record as _};
use freshet_protocol::ids::UrlId;
use freshet_protocol::time::Timestamp;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::all_urls::{Source, UrlRecord, site_of};
use crate::error::StoreError;
use crate::foreign_parquet::contained::contained;
use crate::foreign_parquet::footer;
use crate::history::columns::{number, numbers, text, texts};
use crate::history::files::{FileRecord, FileWriter, ROWS_PER_BATCH, parquet_error};
use crate::key_value::{Batch, Direction, KeyRange, Space, View};

/// The name of the folder.
pub(crate) const FOLDER: &str = "urls";

/// Number of rows above which a file is never rewritten.
const ROWS_FINAL: u64 = 4_000_000;

/// The columns: name, type, nullability, meaning.
pub fn columns() -> Vec<(&'static str, DataType, bool, &'static str)> {
    let moment = DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into()));
    vec![
        ("number", DataType::UInt32, false, "number of the URL, in the order of discovery, from 0"),
        ("time", moment, false, "when it was discovered, in the crawl's own time"),
        ("site", DataType::Utf8, false, "scheme and authority"),
        ("url", DataType::Utf8, false, "the URL"),
        ("source", DataType::Utf8, false, "how it was discovered, a word of Source"),
        ("depth", DataType::UInt16, false, "the fewest links known from a seed to it"),
        (
            "found_on",
            DataType::UInt32,
            true,
            "number of the URL on whose page it was found first; null for seeds",
        ),
        ("anchor", DataType::Utf8, false, "the words of the link that it was found by, shortened"),
    ]
}

fn schema() -> SchemaRef {
    let fields = columns().into_iter().map(|(name, form, nullable, _)| Field::new(name, form, nullable));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// The row of a URL in a file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct UrlRow {
    pub(crate) number: u32,
    pub(crate) time: Timestamp,
    pub(crate) url: String,
    pub(crate) source: Source,
    pub(crate) depth: u16,
    pub(crate) found_on: Option<u32>,
    pub(crate) anchor: String,
}

impl UrlRow {
    /// The row of a URL.
    pub(crate) fn of(id: UrlId, record: &UrlRecord) -> Self {
        Self {
            number: id.0,
            time: record.discovered,
            url: record.url.clone(),
            source: record.source,
            depth: record.depth,
            found_on: record.found_on.map(|found_on| found_on.0),
            anchor: record.anchor.clone(),
        }
    }
}

/// A written file.
#[derive(Debug)]
pub(crate) struct UrlFile {
    pub(crate) name: String,
    pub(crate) record: FileRecord,
    /// The files that it replaces. They are deleted once the step that says so is on disk.
    pub(crate) replaced: Vec<String>,
}

/// Writes the URLs from `settled` to before `known` to a file, together with those of the last files if these
/// are small. Prepares the batch that registers the file.
pub(crate) fn settle(
    view: &dyn View,
    directory: &Path,
    (settled, known): (u64, u64),
    batch: &mut Batch,
) -> Result<UrlFile, StoreError> {
    let mut first = settled;
    let mut replaced = Vec::new();
    for (name, record) in registered(view)?.into_iter().rev() {
        let rows = record.rows;
        if rows > ROWS_FINAL || rows > 2 * (known - first) {
            break;
        }
        first = first.saturating_sub(rows);
        replaced.push(name);
    }
    let name = format!("urls-{first:010}-{:010}.parquet", known - 1);
    let mut writer = FileWriter::create(directory, &name, schema())?;
    let mut rows = Vec::with_capacity(ROWS_PER_BATCH);
    let end = KeyRange {
        from: (first as u32).to_be_bytes().to_vec(),
        to: u32::try_from(known).ok().map(|known| known.to_be_bytes().to_vec()),
    };
    for entry in view.scan(Space::Urls, end, Direction::Forward) {
        let (key, value) = entry?;
        let id =
            UrlId::from_key(&key).ok_or(Malformed::Short).map_err(StoreError::corrupt(Space::Urls, &key))?;
        let record = UrlRecord::decode(&value).map_err(StoreError::corrupt(Space::Urls, &key))?;
        rows.push(UrlRow::of(id, &record));
        if rows.len() == ROWS_PER_BATCH {
            writer.write_rows(&to_batch(&rows), rows.iter().map(|row| row.time))?;
            rows.clear();
        }
    }
    writer.write_rows(&to_batch(&rows), rows.iter().map(|row| row.time))?;
    let record = writer.finish(directory)?;
    replaced.iter().for_each(|name| batch.remove(Space::UrlFiles, name.as_bytes()));
    // A file of the same range has the same name, and was just replaced.
    replaced.retain(|replaced| *replaced != name);
    batch.put(Space::UrlFiles, name.as_bytes(), record.encode());
    Ok(UrlFile { name, record, replaced })
}

/// The registered files, by name.
pub(crate) fn registered(view: &dyn View) -> Result<BTreeMap<String, FileRecord>, StoreError> {
    crate::history::files::registered_in(view, Space::UrlFiles)
}

/// Whether this is the name of a URL file.
pub(crate) fn is_own_name(name: &str) -> bool {
    name.starts_with("urls-") && name.ends_with(".parquet")
}

/// Reads a file, and passes its rows to `each`.
pub(crate) fn read_file(path: &Path, each: &mut dyn FnMut(UrlRow)) -> Result<(), StoreError> {
    let damaged = |reason: String| StoreError::Damaged { path: path.to_path_buf(), reason };
    let mut file = File::open(path).map_err(StoreError::file("open", path))?;
    footer::read(&mut file).map_err(|why| damaged(why.to_string()))?;
    let reader = || {
        ParquetRecordBatchReaderBuilder::try_new(file)
            .and_then(|builder| builder.with_batch_size(ROWS_PER_BATCH).build())
    };
    let mut reader =
        contained(reader).map_err(|why| damaged(why.to_string()))?.map_err(parquet_error(path))?;
    while let Some(batch) = contained(|| reader.next()).map_err(|why| damaged(why.to_string()))? {
        let batch = batch.map_err(|error| damaged(error.to_string()))?;
        from_batch(&batch).map_err(damaged)?.into_iter().for_each(&mut *each);
    }
    Ok(())
}

fn to_batch(rows: &[UrlRow]) -> RecordBatch {
    let texts = |text: fn(&UrlRow) -> &str| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(rows.iter().map(text)))
    };
    let times: Vec<_> = rows.iter().map(|row| row.time.millis()).collect();
    let columns: Vec<ArrayRef> = vec![
        Arc::new(UInt32Array::from_iter_values(rows.iter().map(|row| row.number))),
        Arc::new(TimestampMillisecondArray::from(times).with_timezone("UTC")),
        texts(|row| site_of(&row.url)),
        texts(|row| &row.url),
        texts(|row| row.source.word()),
        Arc::new(UInt16Array::from_iter_values(rows.iter().map(|row| row.depth))),
        Arc::new(rows.iter().map(|row| row.found_on).collect::<UInt32Array>()),
        texts(|row| &row.anchor),
    ];
    RecordBatch::try_new(schema(), columns).expect("the columns are those of the schema and have one length")
}

fn from_batch(batch: &RecordBatch) -> Result<Vec<UrlRow>, String> {
    let id = numbers::<UInt32Type>(batch, "number")?;
    let time = numbers::<TimestampMillisecondType>(batch, "time")?;
    let (url, source, anchor) = (texts(batch, "url")?, texts(batch, "source")?, texts(batch, "anchor")?);
    let depth = numbers::<UInt16Type>(batch, "depth")?;
    let found_on = numbers::<UInt32Type>(batch, "found_on")?;
    (0..batch.num_rows())
        .map(|at| {
            let word = source.value(at);
            Ok(UrlRow {
                number: id.value(at),
                time: Timestamp::from_millis(time.value(at)),
                url: url.value(at).to_owned(),
                source: Source::from_word(word).ok_or_else(|| format!("{word:?} is no source of URLs"))?,
                depth: depth.value(at),
                found_on: number(found_on, at),
                anchor: text(anchor, at).unwrap_or_default(),
            })
        })
        .collect()
}
