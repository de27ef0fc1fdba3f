//! A Parquet file written by another program, opened and read batch by batch.
//!
//! The Arrow schema that the program may have stored is ignored: the types of the file itself are fewer, so
//! that dictionaries and large strings become plain strings.
//!
//! # Promises
//! - Any changed byte, and truncation at any place, gives the remaining data or an error: no panic, and no
//!   allocation for data that is not there.
//! - Only the requested columns are read, in the order of the file.

use std::fs::File;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::Schema;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, RowGroups};
use parquet::arrow::{ProjectionMask, parquet_to_arrow_field_levels, parquet_to_arrow_schema};
use parquet::column::page::{PageIterator, PageReader};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData};
use parquet::file::serialized_reader::SerializedPageReader;

use super::contained::{Unreadable, contained};
use super::footer;
use super::pages::{Bounded, CheckedPages};

/// An open Parquet file with a known schema.
pub struct ForeignTable {
    groups: Groups,
    schema: Schema,
}

impl ForeignTable {
    /// Reads the metadata and the schema of the file.
    pub fn open(mut file: File) -> Result<Self, Unreadable> {
        let metadata = footer::read(&mut file)?;
        let decode = || {
            let metadata = ParquetMetaDataReader::decode_metadata(&metadata)?;
            let schema = parquet_to_arrow_schema(metadata.file_metadata().schema_descr(), None)?;
            Ok((metadata, schema))
        };
        let (metadata, schema) =
            contained(decode)?.map_err(|error: ParquetError| Unreadable::damaged(&error))?;
        Ok(Self { groups: Groups { file: Arc::new(Bounded(file)), metadata: Arc::new(metadata) }, schema })
    }

    /// The names and types of the columns.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The number of rows that the file claims.
    pub fn rows(&self) -> u64 {
        u64::try_from(self.groups.metadata.file_metadata().num_rows()).unwrap_or(0)
    }

    /// The rows in batches, with the columns at these positions of the schema.
    pub fn batches(
        self,
        columns: impl IntoIterator<Item = usize>,
        rows_per_batch: usize,
    ) -> Result<Batches, Unreadable> {
        let columns: Vec<usize> = columns.into_iter().collect();
        let groups = &self.groups;
        let build = || {
            let schema = groups.metadata.file_metadata().schema_descr();
            let mask = ProjectionMask::roots(schema, columns);
            let levels = parquet_to_arrow_field_levels(schema, mask, None)?;
            ParquetRecordBatchReader::try_new_with_row_groups(&levels, groups, rows_per_batch, None)
        };
        let reader = contained(build)?.map_err(|error| Unreadable::damaged(&error))?;
        Ok(Batches { reader: Some(reader) })
    }
}

/// The rows of a table in batches. After an error there are no more.
pub struct Batches {
    reader: Option<ParquetRecordBatchReader>,
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, Unreadable>;

    fn next(&mut self) -> Option<Self::Item> {
        let reader = self.reader.as_mut()?;
        let batch = contained(|| reader.next()).transpose()?;
        let batch = batch.and_then(|batch| batch.map_err(|error| Unreadable::damaged(&error)));
        if batch.is_err() {
            self.reader = None;
        }
        Some(batch)
    }
}

/// All row groups of a file.
#[derive(Clone)]
struct Groups {
    file: Arc<Bounded>,
    metadata: Arc<ParquetMetaData>,
}

impl RowGroups for Groups {
    fn num_rows(&self) -> usize {
        self.row_groups().filter_map(|group| usize::try_from(group.num_rows()).ok()).sum()
    }

    fn column_chunks(&self, column: usize) -> ParquetResult<Box<dyn PageIterator>> {
        Ok(Box::new(Chunks { groups: self.clone(), column, next: 0 }))
    }

    fn row_groups(&self) -> Box<dyn Iterator<Item = &RowGroupMetaData> + '_> {
        Box::new(self.metadata.row_groups().iter())
    }

    fn metadata(&self) -> &ParquetMetaData {
        &self.metadata
    }
}

/// The chunks of one column, group by group.
struct Chunks {
    groups: Groups,
    column: usize,
    next: usize,
}

impl Iterator for Chunks {
    type Item = ParquetResult<Box<dyn PageReader>>;

    fn next(&mut self) -> Option<Self::Item> {
        let group = self.groups.metadata.row_groups().get(self.next)?;
        self.next += 1;
        let pages = || -> ParquetResult<Box<dyn PageReader>> {
            let chunk = group.column(self.column);
            let rows =
                usize::try_from(group.num_rows()).map_err(|_| damaged("a group has less than no rows"))?;
            let column = chunk.column_descr();
            let has_levels = [column.max_rep_level() > 0, column.max_def_level() > 0];
            let pages = SerializedPageReader::new(Arc::clone(&self.groups.file), chunk, rows, None)?;
            Ok(Box::new(CheckedPages { pages, has_levels }))
        };
        Some(pages())
    }
}

impl PageIterator for Chunks {}

fn damaged(why: &str) -> ParquetError {
    ParquetError::General(why.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Float64Array, Int64Array, StringArray};
    use parquet::arrow::ArrowWriter;
    use parquet::basic::{Compression, Encoding};
    use parquet::file::properties::{WriterProperties, WriterVersion};

    const ROWS: i64 = 40;

    /// A table as programs write it: with and without dictionaries, compressed and uncompressed, of
    /// either version.
    fn table(properties: WriterProperties) -> Vec<u8> {
        let numbers: ArrayRef =
            Arc::new(Int64Array::from_iter((0..ROWS).map(|row| (row % 7 != 0).then_some(row % 5))));
        let floats: ArrayRef =
            Arc::new(Float64Array::from_iter_values((0..ROWS).map(|row| row as f64 / 3.0)));
        let texts: ArrayRef =
            Arc::new(StringArray::from_iter_values((0..ROWS).map(|row| format!("http://a/{}", row % 9))));
        let columns = [("url", texts), ("count", numbers), ("rate", floats)];
        let batch =
            RecordBatch::try_from_iter_with_nullable(columns.map(|(name, column)| (name, column, true)))
                .expect("a batch");
        let mut writer =
            ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).expect("a writer");
        writer.write(&batch).expect("rows");
        writer.flush().expect("a group");
        writer.write(&batch).expect("more rows");
        writer.into_inner().expect("a file")
    }

    fn tables() -> Vec<Vec<u8>> {
        let plain = WriterProperties::builder();
        let zstd = WriterProperties::builder().set_compression(Compression::ZSTD(Default::default()));
        let differences = WriterProperties::builder()
            .set_writer_version(WriterVersion::PARQUET_2_0)
            .set_dictionary_enabled(false)
            .set_column_encoding("url".into(), Encoding::DELTA_LENGTH_BYTE_ARRAY)
            .set_column_encoding("count".into(), Encoding::DELTA_BINARY_PACKED)
            .set_compression(Compression::SNAPPY);
        [plain, zstd, differences].map(|properties| table(properties.build())).to_vec()
    }

    /// The number of rows decoded from these bytes, or the first error.
    fn read(bytes: &[u8]) -> Result<usize, Unreadable> {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(bytes).expect("bytes");
        let table = ForeignTable::open(file)?;
        let columns = 0..table.schema().fields().len();
        table.batches(columns, 16)?.map(|batch| batch.map(|batch| batch.num_rows())).sum()
    }

    #[test]
    fn a_sound_file_is_read() {
        for bytes in tables() {
            assert_eq!(read(&bytes), Ok(2 * ROWS as usize));
        }
    }

    #[test]
    fn a_file_cut_anywhere_is_refused() {
        for bytes in tables() {
            for length in (0..bytes.len()).rev().step_by(7) {
                let message = read(&bytes[..length]).expect_err("not all of a file").to_string();
                assert!(message.contains("its end is missing"), "{length}: {message}");
            }
        }
    }

    /// Every byte is changed in turn, in one of three ways, so that counts become wrong lengths.
    #[test]
    fn any_changed_byte_is_an_error_or_does_not_matter() {
        for bytes in tables() {
            for place in 0..bytes.len() {
                let mut bytes = bytes.clone();
                bytes[place] ^= [0x01, 0x80, 0xff][place % 3];
                let _ = read(&bytes);
            }
        }
    }

    #[test]
    fn what_is_not_parquet_is_said_not_to_be() {
        for bytes in [&b""[..], b"PAR1", b"url,changes_per_day\na,1\n"] {
            assert!(read(bytes).expect_err("no table").to_string().starts_with("it is not a Parquet file"));
        }
        let message = read(b"PAR1\xff\xff\xff\x7fPAR1").expect_err("no table").to_string();
        assert!(message.contains("longer than the file"), "{message}");
    }
}
