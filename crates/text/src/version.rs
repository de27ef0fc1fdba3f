//! One version of a summary as a Parquet file: the words, and how they were learned.
//!
//! Columns: `word` (sorted by its bytes), `documents` (f(w, D), counted or estimated). The file's metadata
//! holds the facts under `freshet.facts`, as JSON. Nothing is compressed: decompression would take as long as
//! reading a summary of a million words takes now.
//!
//! # Promises
//! - What is written is read back.
//! - Bytes that are not a version are refused with a reason.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::Float64Type;
use arrow_array::{Array as _, ArrayRef, Float64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use bytes::Bytes;
use freshet_protocol::time::Timestamp;
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::arrow::arrow_writer::{ArrowWriter, ArrowWriterOptions};
use parquet::basic::{Compression, Encoding};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use serde::{Deserialize, Serialize};

use crate::summary::Summary;
use crate::words::Wording;

/// Metadata key of the facts.
const FACTS: &str = "freshet.facts";

/// Maximum rows per batch: enough for all, so that the words are in one buffer.
const BATCH_ROWS: usize = 64 << 20;

/// Maximum number of failures kept as text. Further ones are only counted.
pub(crate) const FAILURES_TOLD: usize = 5;

/// A summary and how it was learned.
#[derive(Clone, Debug, PartialEq)]
pub struct Version {
    /// How it was learned.
    pub facts: Facts,
    /// The words.
    pub summary: Summary,
}

/// How a summary was learned.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Facts {
    /// Time, in milliseconds since 1970.
    pub time_ms: i64,
    /// From all documents, or from a sample.
    pub kind: Kind,
    /// How many documents the database has.
    pub size: Size,
    /// Number of documents read.
    pub documents_read: u64,
    /// How text became words.
    pub wording: Wording,
    /// Costs and failures, as text for people.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Facts about the sampling, for a sample.
    #[serde(default)]
    pub sampling: Option<SamplingFacts>,
}

/// Facts about how a sample went.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[expect(missing_docs, reason = "they are what they are called")]
pub struct SamplingFacts {
    pub queries: u32,
    pub requests: u32,
    pub queries_without_results: u32,
    pub queries_failed: u32,
    pub documents_failed: u32,
    /// Why it ended.
    pub ended: String,
    /// The first few failures, as text.
    pub failures: Vec<String>,
}

/// Whether a summary is from all documents or from a sample.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// All documents were read: **summary**, Definition 1.
    Complete,
    /// Some documents were read: **summary**, Definition 2.
    Sample,
}

/// |D|: the number of documents, as far as it is known.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Size {
    /// Counted.
    Counted(f64),
    /// Estimated, with the range that contained 90 of 100 redrawn estimates.
    Estimated {
        /// The estimate.
        documents: f64,
        /// Lower end of the range.
        low: f64,
        /// Upper end of the range.
        high: f64,
    },
    /// Unknown: frequencies are those within the sample.
    Unknown,
}

impl Size {
    /// The number of documents, if it is known or estimated.
    pub fn documents(self) -> Option<f64> {
        match self {
            Self::Counted(documents) | Self::Estimated { documents, .. } => Some(documents),
            Self::Unknown => None,
        }
    }
}

impl Size {
    fn low(self) -> Option<f64> {
        match self {
            Self::Counted(low) | Self::Estimated { low, .. } => Some(low),
            Self::Unknown => None,
        }
    }

    fn high(self) -> Option<f64> {
        match self {
            Self::Counted(high) | Self::Estimated { high, .. } => Some(high),
            Self::Unknown => None,
        }
    }
}

impl SamplingFacts {
    /// The sum of both, ended as the second.
    fn and(self, other: Self) -> Self {
        Self {
            queries: self.queries + other.queries,
            requests: self.requests + other.requests,
            queries_without_results: self.queries_without_results + other.queries_without_results,
            queries_failed: self.queries_failed + other.queries_failed,
            documents_failed: self.documents_failed + other.documents_failed,
            ended: other.ended,
            failures: self.failures.into_iter().chain(other.failures).take(FAILURES_TOLD).collect(),
        }
    }
}

impl Facts {
    /// When it was learned.
    pub fn time(&self) -> Timestamp {
        Timestamp::from_millis(self.time_ms)
    }
}

impl Version {
    /// The mean of versions of one database, for example of several samples. Its size is their mean size, as
    /// far as sizes are known. `None` without versions.
    pub fn mean(versions: &[Self]) -> Option<Self> {
        let last = versions.last()?;
        if versions.len() == 1 {
            return Some(last.clone());
        }
        let sizes: Vec<f64> = versions.iter().filter_map(|version| version.facts.size.documents()).collect();
        let size = sizes.iter().sum::<f64>() / sizes.len() as f64;
        let scaled = |version: &Self| match version.summary.documents() {
            documents if 0.0 < documents && 0.0 < size => version.summary.scaled_to(size),
            _ => version.summary.clone(),
        };
        let summary = Summary::mean(&versions.iter().map(scaled).collect::<Vec<_>>())?;
        let mut facts = last.facts.clone();
        facts.documents_read = versions.iter().map(|version| version.facts.documents_read).sum();
        facts.size = match size.is_finite() {
            true => Size::Estimated {
                documents: size,
                low: versions.iter().filter_map(|version| version.facts.size.low()).fold(size, f64::min),
                high: versions.iter().filter_map(|version| version.facts.size.high()).fold(size, f64::max),
            },
            false => Size::Unknown,
        };
        facts.sampling =
            versions.iter().filter_map(|version| version.facts.sampling.clone()).reduce(SamplingFacts::and);
        facts
            .notes
            .insert(0, format!("the mean of {} samples; the size ranges over those of all", versions.len()));
        Some(Self { facts, summary })
    }

    /// Serialises the version, or returns why it cannot be written.
    pub fn to_bytes(&self) -> Result<Vec<u8>, String> {
        let facts = serde_json::to_string(&self.facts).map_err(|error| error.to_string())?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::UNCOMPRESSED)
            .set_dictionary_enabled(false)
            .set_encoding(Encoding::PLAIN)
            .set_statistics_enabled(EnabledStatistics::None)
            .set_max_row_group_row_count(Some(BATCH_ROWS))
            .set_key_value_metadata(Some(vec![KeyValue::new(FACTS.to_owned(), facts)]))
            .build();
        let options = ArrowWriterOptions::new().with_properties(properties).with_skip_arrow_metadata(true);
        let (words, frequencies) = self.summary.columns();
        let columns: Vec<ArrayRef> =
            vec![Arc::new(words.clone()), Arc::new(Float64Array::from(frequencies.to_vec()))];
        let batch = RecordBatch::try_new(schema(), columns).map_err(|error| error.to_string())?;
        let mut writer = ArrowWriter::try_new_with_options(Vec::new(), batch.schema(), options)
            .map_err(|error| error.to_string())?;
        writer.write(&batch).map_err(|error| error.to_string())?;
        writer.into_inner().map_err(|error| error.to_string())
    }

    /// Parses a version, or returns what is wrong with it. The Parquet reader trusts the numbers in its
    /// files. So bytes that may be damaged must come through a
    /// [`SummaryStore`](crate::summary_store::SummaryStore), which checks their hash.
    pub fn from_bytes(bytes: Bytes) -> Result<Self, String> {
        // Skip the Arrow schema that other programs store: its reader trusts its input.
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(bytes, options)
            .map_err(|error| error.to_string())?;
        let metadata = builder.metadata().file_metadata();
        let facts = metadata
            .key_value_metadata()
            .into_iter()
            .flatten()
            .find(|entry| entry.key == FACTS)
            .and_then(|entry| entry.value.as_deref())
            .ok_or("it says nothing of how it was learned")?;
        let facts: Facts = serde_json::from_str(facts).map_err(|error| error.to_string())?;
        let rows = usize::try_from(metadata.num_rows()).unwrap_or(0).clamp(1, BATCH_ROWS);
        let mut reader = builder.with_batch_size(rows).build().map_err(|error| error.to_string())?;
        let batch = reader.next().transpose().map_err(|error| error.to_string())?;
        let batch = batch.unwrap_or_else(|| RecordBatch::new_empty(schema()));
        if reader.next().is_some() {
            return Err("it has more words than a summary can have".to_owned());
        }
        let words: StringArray = column(&batch, "word", &DataType::Utf8)?.as_string::<i32>().clone();
        let frequencies = column(&batch, "documents", &DataType::Float64)?;
        let frequencies = frequencies.as_primitive::<Float64Type>();
        if frequencies.null_count() > 0 {
            return Err("a word has no number".to_owned());
        }
        let documents = facts.size.documents().unwrap_or(facts.documents_read as f64);
        let summary = Summary::from_columns(documents, words, frequencies.values().to_vec())
            .ok_or("its words are not in order, or a number is out of range")?;
        Ok(Self { facts, summary })
    }
}

fn schema() -> Arc<Schema> {
    Arc::new(Schema::new(vec![
        Field::new("word", DataType::Utf8, false),
        Field::new("documents", DataType::Float64, false),
    ]))
}

fn column<'a>(batch: &'a RecordBatch, name: &str, form: &DataType) -> Result<&'a ArrayRef, String> {
    let column = batch.column_by_name(name).ok_or_else(|| format!("it has no column `{name}`"))?;
    if column.data_type() == form {
        Ok(column)
    } else {
        Err(format!("its column `{name}` is not of type {form}"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn version(words: &[(&str, f64)]) -> Version {
        let facts = Facts {
            time_ms: 1_700_000_000_000,
            kind: Kind::Complete,
            size: Size::Counted(7.0),
            documents_read: 7,
            wording: Wording::default(),
            notes: vec!["one file could not be read".to_owned()],
            sampling: None,
        };
        Version { facts, summary: Summary::from_words(7.0, words.to_vec()) }
    }

    #[test]
    fn what_is_written_is_read_back() {
        for words in [&[][..], &[("größe", 2.0), ("a", 7.0), ("日", 0.25)][..]] {
            let version = version(words);
            assert_eq!(Version::from_bytes(version.to_bytes().expect("it is written").into()), Ok(version));
        }
    }

    #[test]
    fn the_mean_of_samples_is_as_large_as_they_are_on_average() {
        let sample = |documents: Option<f64>, words: &[(&str, f64)]| {
            let mut sample = version(words);
            sample.facts.size = documents.map_or(Size::Unknown, |documents| Size::Estimated {
                documents,
                low: documents / 2.0,
                high: documents * 2.0,
            });
            sample.facts.sampling = Some(SamplingFacts { queries: 3, ..SamplingFacts::default() });
            sample.summary = Summary::from_words(documents.unwrap_or(10.0), words.to_vec());
            sample
        };
        // One sample does not know the size: its two of ten documents count as they would in 200.
        let samples = [
            sample(Some(100.0), &[("a", 50.0)]),
            sample(Some(300.0), &[("a", 30.0)]),
            sample(None, &[("b", 2.0)]),
        ];
        let mean = Version::mean(&samples).expect("there are three");
        assert_eq!(mean.facts.size, Size::Estimated { documents: 200.0, low: 50.0, high: 600.0 });
        let words: Vec<(&str, f64)> =
            mean.summary.words().map(|(word, f)| (word, (f * 1e6).round() / 1e6)).collect();
        assert_eq!(words, [("a", 40.0), ("b", 13.333_333)]);
        assert_eq!(
            (mean.facts.documents_read, mean.facts.sampling.map(|facts| facts.queries)),
            (21, Some(9))
        );
        assert_eq!(Version::mean(&[]), None);
        assert_eq!(
            Version::mean(&[sample(None, &[]), sample(None, &[])]).map(|mean| mean.facts.size),
            Some(Size::Unknown)
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = Version::from_bytes(bytes.into());
        }
    }
}
