//! Columns of a Parquet file, by name; what is missing or of another type is named.

use std::fs::File;
use std::path::Path;

use anyhow::{Context as _, Result, anyhow, bail};
use arrow_array::cast::AsArray as _;
use arrow_array::types::{Int8Type, Int16Type, Int32Type, Int64Type};
use arrow_array::{Array as _, ArrayRef, RecordBatch};
use arrow_schema::DataType;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

/// Rows that are read at a time.
const ROWS_PER_BATCH: usize = 65_536;

/// One batch of rows of a file.
pub(super) struct Rows<'a> {
    path: &'a Path,
    batch: RecordBatch,
}

/// Reads a Parquet file batch by batch.
pub(super) fn read(path: &Path, mut take: impl FnMut(&Rows<'_>) -> Result<()>) -> Result<()> {
    let name = path.display();
    let file = File::open(path).with_context(|| format!("cannot open {name}"))?;
    let reader = ParquetRecordBatchReaderBuilder::try_new(file)
        .and_then(|builder| builder.with_batch_size(ROWS_PER_BATCH).build())
        .with_context(|| format!("{name} cannot be read as Parquet"))?;
    for batch in reader {
        let batch = batch.with_context(|| format!("{name} cannot be read as Parquet"))?;
        take(&Rows { path, batch }).with_context(|| format!("{name} does not hold what it should"))?;
    }
    Ok(())
}

impl Rows<'_> {
    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.batch.num_rows()
    }

    fn column(&self, name: &str) -> Result<&ArrayRef> {
        self.batch.column_by_name(name).ok_or_else(|| {
            let schema = self.batch.schema();
            let columns: Vec<_> = schema.fields().iter().map(|field| field.name().as_str()).collect();
            anyhow!("column `{name}` is missing; there are: {}", columns.join(", "))
        })
    }

    /// Whole numbers of any width; none where a value is null.
    pub(super) fn optional_integers(&self, name: &str) -> Result<Vec<Option<i64>>> {
        let column = self.column(name)?;
        Ok(match column.data_type() {
            DataType::Int8 => {
                column.as_primitive::<Int8Type>().iter().map(|value| value.map(i64::from)).collect()
            }
            DataType::Int16 => {
                column.as_primitive::<Int16Type>().iter().map(|value| value.map(i64::from)).collect()
            }
            DataType::Int32 => {
                column.as_primitive::<Int32Type>().iter().map(|value| value.map(i64::from)).collect()
            }
            DataType::Int64 => column.as_primitive::<Int64Type>().iter().collect(),
            other => bail!("column `{name}` should hold whole numbers, but holds {other}"),
        })
    }

    /// Whole numbers of any width; a null is an error that names its row.
    pub(super) fn integers(&self, name: &str) -> Result<Vec<i64>> {
        let values = self.optional_integers(name)?;
        let missing =
            |row| anyhow!("{}: column `{name}` is null in row {row} of a batch", self.path.display());
        values.into_iter().enumerate().map(|(row, value)| value.ok_or_else(|| missing(row))).collect()
    }

    /// Truth values; null counts as false.
    pub(super) fn flags(&self, name: &str) -> Result<Vec<bool>> {
        let column = self.column(name)?;
        let Some(flags) = column.as_boolean_opt() else {
            bail!("column `{name}` should hold true and false, but holds {}", column.data_type());
        };
        Ok(flags.iter().map(|flag| flag.unwrap_or(false)).collect())
    }

    /// Texts; null counts as empty.
    pub(super) fn texts(&self, name: &str) -> Result<Vec<String>> {
        let column = self.column(name)?;
        let text = |value: Option<&str>| value.unwrap_or_default().to_owned();
        Ok(match column.data_type() {
            DataType::Utf8 => column.as_string::<i32>().iter().map(text).collect(),
            DataType::LargeUtf8 => column.as_string::<i64>().iter().map(text).collect(),
            other => bail!("column `{name}` should hold text, but holds {other}"),
        })
    }
}
