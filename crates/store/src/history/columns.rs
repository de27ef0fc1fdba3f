//! Visits as columns of a Parquet file.
//!
//! `docs/FORMAT.md` describes the columns. Rows are sorted by site, URL, time and number: the visits of a
//! page are adjacent, and a reader of one site skips the rest by the statistics of the row groups.
//!
//! # Promises
//! - Rows are read back as they were written.
//! - A file with other columns is an error that names the column.

use std::sync::Arc;

use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, TimestampMillisecondType, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, FixedSizeBinaryArray, PrimitiveArray, RecordBatch, StringArray,
    TimestampMillisecondArray, UInt16Array, UInt32Array, UInt64Array,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use freshet_protocol::ids::{PageNumber, Place};
use freshet_protocol::time::Timestamp;

use crate::history::row::{VisitKind, VisitRow};

/// A visit and its number. Visits are numbered in commit order, from zero.
#[derive(Clone, Debug, PartialEq)]
pub struct NumberedVisit {
    /// The number.
    pub number: u64,
    /// The visit.
    pub row: VisitRow,
}

impl NumberedVisit {
    /// The sort key in files.
    pub(crate) fn order(&self) -> (&str, &str, Timestamp, u64) {
        (&self.row.site, &self.row.url, self.row.time, self.number)
    }
}

/// The outcome of a visit: a few of its columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VisitOutcome<'a> {
    /// The number of the visit.
    pub number: u64,
    /// Its time.
    pub time: Timestamp,
    /// The page; none if the URL is not kept.
    pub page: Option<PageNumber>,
    /// The kind of its outcome.
    pub kind: VisitKind,
    /// The bytes that it received.
    pub bytes: u64,
    /// The reason why it was made.
    pub reason: Option<&'a str>,
    /// The kinds of change that it found, separated by spaces.
    pub change_kinds: Option<&'a str>,
    /// The Last-Modified of the response.
    pub last_modified: Option<Timestamp>,
}

impl<'a> From<&'a NumberedVisit> for VisitOutcome<'a> {
    fn from(visit: &'a NumberedVisit) -> Self {
        let NumberedVisit { number, row } = visit;
        Self {
            number: *number,
            time: row.time,
            page: row.page,
            kind: row.kind,
            bytes: row.bytes,
            reason: row.reason.as_deref(),
            change_kinds: row.change_kinds.as_deref(),
            last_modified: row.last_modified,
        }
    }
}

/// The columns of a [`VisitOutcome`].
pub(crate) const OUTCOME: [&str; 8] =
    ["visit", "time", "page", "kind", "bytes", "reason", "change_kinds", "last_modified"];

/// A column: its name, its Arrow type, whether it is nullable, and its meaning.
type Column = (&'static str, DataType, bool, &'static str);

/// The columns, in order.
pub fn columns() -> Vec<Column> {
    let moment = DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into()));
    let digest = DataType::FixedSizeBinary(16);
    vec![
        ("visit", DataType::UInt64, false, "number of the visit, in the order of the commits, from 0"),
        ("time", moment.clone(), false, "when the request began, in the crawl's own time"),
        ("site", DataType::Utf8, false, "scheme and authority"),
        ("url", DataType::Utf8, false, "the URL"),
        ("page", DataType::UInt32, true, "number of the page; null if the URL is not kept"),
        ("kind", DataType::Utf8, false, "what came of it, a word of VisitKind"),
        ("status", DataType::UInt16, false, "status of the answer; 0 if there was none"),
        ("bytes", DataType::UInt64, false, "bytes received"),
        ("millis", DataType::UInt32, false, "milliseconds from the request to the end of the answer"),
        ("raw_digest", digest.clone(), true, "first 16 bytes of the blake3 hash of the decoded body"),
        ("text_digest", digest, true, "the same of the visible text"),
        ("simhash", DataType::UInt64, true, "similarity hash of the visible text"),
        ("change_size", DataType::Float32, true, "how much of the text changed, from 0 to 1"),
        ("last_modified", moment, true, "what the answer said of its last modification"),
        ("moved_to", DataType::Utf8, true, "the URL that it redirects to"),
        (
            "segment",
            DataType::UInt32,
            true,
            "number of the segment that holds the record; null if there is none",
        ),
        ("offset", DataType::UInt64, true, "byte of the segment at which the record begins"),
        ("length", DataType::UInt32, true, "bytes of the record"),
        ("error", DataType::Utf8, true, "why the visit failed or was refused"),
        (
            "change_kinds",
            DataType::Utf8,
            true,
            "what kinds of change it found, with spaces between them: title, text, links, numbers",
        ),
        (
            "reason",
            DataType::Utf8,
            true,
            "why the visit was made: first, refresh, signal, rhythm, pin, interval, retry, look, audit",
        ),
    ]
}

/// The schema of the files.
pub fn schema() -> SchemaRef {
    let fields = columns().into_iter().map(|(name, form, nullable, _)| Field::new(name, form, nullable));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// Converts visits to columns.
pub(crate) fn to_batch(visits: &[NumberedVisit]) -> RecordBatch {
    let rows = || visits.iter().map(|visit| &visit.row);
    let texts = |text: fn(&VisitRow) -> &str| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(rows().map(text)))
    };
    let optional_texts = |text: fn(&VisitRow) -> Option<&str>| -> ArrayRef {
        Arc::new(rows().map(text).collect::<StringArray>())
    };
    let moments = |moments: Vec<Option<i64>>| -> ArrayRef {
        Arc::new(TimestampMillisecondArray::from(moments).with_timezone("UTC"))
    };
    let digests = |digest: fn(&VisitRow) -> Option<[u8; 16]>| -> ArrayRef {
        let array = FixedSizeBinaryArray::try_from_sparse_iter_with_size(rows().map(digest), 16);
        Arc::new(array.expect("every digest has 16 bytes"))
    };
    let columns: Vec<ArrayRef> = vec![
        Arc::new(UInt64Array::from_iter_values(visits.iter().map(|visit| visit.number))),
        moments(rows().map(|row| Some(row.time.millis())).collect()),
        texts(|row| &row.site),
        texts(|row| &row.url),
        Arc::new(rows().map(|row| row.page.map(|page| page.0)).collect::<UInt32Array>()),
        texts(|row| row.kind.word()),
        Arc::new(UInt16Array::from_iter_values(rows().map(|row| row.status))),
        Arc::new(UInt64Array::from_iter_values(rows().map(|row| row.bytes))),
        Arc::new(UInt32Array::from_iter_values(rows().map(|row| row.millis))),
        digests(|row| row.raw_digest),
        digests(|row| row.text_digest),
        Arc::new(rows().map(|row| row.simhash).collect::<UInt64Array>()),
        Arc::new(rows().map(|row| row.change_size).collect::<PrimitiveArray<Float32Type>>()),
        moments(rows().map(|row| row.last_modified.map(Timestamp::millis)).collect()),
        optional_texts(|row| row.moved_to.as_deref()),
        Arc::new(rows().map(|row| row.place.map(|place| place.segment)).collect::<UInt32Array>()),
        Arc::new(rows().map(|row| row.place.map(|place| place.offset)).collect::<UInt64Array>()),
        Arc::new(rows().map(|row| row.place.map(|place| place.length)).collect::<UInt32Array>()),
        optional_texts(|row| row.error.as_deref()),
        optional_texts(|row| row.change_kinds.as_deref()),
        optional_texts(|row| row.reason.as_deref()),
    ];
    RecordBatch::try_new(schema(), columns).expect("the columns are those of the schema and have one length")
}

/// Converts columns to visits.
pub(crate) fn from_batch(batch: &RecordBatch) -> Result<Vec<NumberedVisit>, String> {
    let visit = numbers::<UInt64Type>(batch, "visit")?;
    let time = numbers::<TimestampMillisecondType>(batch, "time")?;
    let (site, url, kind) = (texts(batch, "site")?, texts(batch, "url")?, texts(batch, "kind")?);
    let page = numbers::<UInt32Type>(batch, "page")?;
    let status = numbers::<UInt16Type>(batch, "status")?;
    let (bytes, millis) = (numbers::<UInt64Type>(batch, "bytes")?, numbers::<UInt32Type>(batch, "millis")?);
    let (raw_digest, text_digest) = (digests(batch, "raw_digest")?, digests(batch, "text_digest")?);
    let simhash = numbers::<UInt64Type>(batch, "simhash")?;
    let change_size = numbers::<Float32Type>(batch, "change_size")?;
    let last_modified = numbers::<TimestampMillisecondType>(batch, "last_modified")?;
    let (moved_to, error) = (texts(batch, "moved_to")?, texts(batch, "error")?);
    // Earlier files do not have these columns.
    let if_there = |name| batch.column_by_name(name).map(|_| texts(batch, name)).transpose();
    let (change_kinds, reason) = (if_there("change_kinds")?, if_there("reason")?);
    let segment = numbers::<UInt32Type>(batch, "segment")?;
    let (offset, length) = (numbers::<UInt64Type>(batch, "offset")?, numbers::<UInt32Type>(batch, "length")?);
    (0..batch.num_rows())
        .map(|at| {
            let word = kind.value(at);
            let place = || {
                Some(Place {
                    segment: number(segment, at)?,
                    offset: number(offset, at)?,
                    length: number(length, at)?,
                })
            };
            let row = VisitRow {
                time: Timestamp::from_millis(time.value(at)),
                site: site.value(at).to_owned(),
                url: url.value(at).to_owned(),
                page: number(page, at).map(PageNumber),
                kind: VisitKind::from_word(word).ok_or_else(|| format!("{word:?} is no kind of visit"))?,
                status: status.value(at),
                bytes: bytes.value(at),
                millis: millis.value(at),
                raw_digest: digest(raw_digest, at),
                text_digest: digest(text_digest, at),
                simhash: number(simhash, at),
                change_size: number(change_size, at),
                last_modified: number(last_modified, at).map(Timestamp::from_millis),
                moved_to: text(moved_to, at),
                place: place(),
                error: text(error, at),
                change_kinds: change_kinds.and_then(|kinds| text(kinds, at)),
                reason: reason.and_then(|reasons| text(reasons, at)),
            };
            Ok(NumberedVisit { number: visit.value(at), row })
        })
        .collect()
}

/// The outcomes in a batch with the columns [`OUTCOME`].
pub(crate) fn outcomes(batch: &RecordBatch, each: &mut dyn FnMut(VisitOutcome<'_>)) -> Result<(), String> {
    let visit = numbers::<UInt64Type>(batch, "visit")?;
    let time = numbers::<TimestampMillisecondType>(batch, "time")?;
    let page = numbers::<UInt32Type>(batch, "page")?;
    let (kind, bytes) = (texts(batch, "kind")?, numbers::<UInt64Type>(batch, "bytes")?);
    let last_modified = numbers::<TimestampMillisecondType>(batch, "last_modified")?;
    // Earlier files do not have these columns.
    let if_there = |name| batch.column_by_name(name).map(|_| texts(batch, name)).transpose();
    let (reason, change_kinds) = (if_there("reason")?, if_there("change_kinds")?);
    for at in 0..batch.num_rows() {
        let word = kind.value(at);
        each(VisitOutcome {
            number: visit.value(at),
            time: Timestamp::from_millis(time.value(at)),
            page: number(page, at).map(PageNumber),
            kind: VisitKind::from_word(word).ok_or_else(|| format!("{word:?} is no kind of visit"))?,
            bytes: bytes.value(at),
            reason: value(reason, at),
            change_kinds: value(change_kinds, at),
            last_modified: number(last_modified, at).map(Timestamp::from_millis),
        });
    }
    Ok(())
}

fn column<'a, A: 'static>(batch: &'a RecordBatch, name: &str) -> Result<&'a A, String> {
    let column = batch.column_by_name(name).ok_or_else(|| format!("the column {name} is missing"))?;
    column
        .as_any()
        .downcast_ref()
        .ok_or_else(|| format!("the column {name} is of type {}", column.data_type()))
}

pub(crate) fn numbers<'a, T: ArrowPrimitiveType>(
    batch: &'a RecordBatch,
    name: &str,
) -> Result<&'a PrimitiveArray<T>, String> {
    column(batch, name)
}

pub(crate) fn texts<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a StringArray, String> {
    column(batch, name)
}

fn digests<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a FixedSizeBinaryArray, String> {
    column(batch, name)
}

pub(crate) fn number<T: ArrowPrimitiveType>(column: &PrimitiveArray<T>, at: usize) -> Option<T::Native> {
    column.is_valid(at).then(|| column.value(at))
}

fn value(column: Option<&StringArray>, at: usize) -> Option<&str> {
    column.filter(|column| column.is_valid(at)).map(|column| column.value(at))
}

pub(crate) fn text(column: &StringArray, at: usize) -> Option<String> {
    column.is_valid(at).then(|| column.value(at).to_owned())
}

fn digest(column: &FixedSizeBinaryArray, at: usize) -> Option<[u8; 16]> {
    if column.is_null(at) { None } else { column.value(at).try_into().ok() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::history::row::tests::visit_row;

    proptest! {
        #[test]
        fn rows_come_back(rows in prop::collection::vec(visit_row(), 0..5)) {
            let visits: Vec<_> =
                (7..).zip(rows).map(|(number, row)| NumberedVisit { number, row }).collect();
            let batch = to_batch(&visits);
            let mut at = 0;
            let told = outcomes(&batch, &mut |outcome| {
                assert_eq!(outcome, VisitOutcome::from(&visits[at]));
                at += 1;
            });
            prop_assert_eq!((told, at), (Ok(()), visits.len()));
            prop_assert_eq!(from_batch(&batch), Ok(visits));
        }
    }

    #[test]
    fn a_file_without_a_column_is_refused_by_its_name() {
        let batch = to_batch(&[]).project(&[0, 1, 2]).expect("columns are taken");
        assert_eq!(from_batch(&batch), Err("the column url is missing".to_owned()));
    }
}
