//! Reads columns of a Parquet file by name. Errors name columns that are missing or of another type.
//!
//! # Promises
//! - Only the requested columns are read.
//! - Integers may have any width. How another program stored its texts (as a dictionary, with long offsets)
//!   does not matter.
//! - A damaged file is an error that names it: [`freshet_store::foreign_parquet`] opens it.

use std::fs::File;
use std::path::Path;

use anyhow::{Context as _, Result, anyhow, bail};
use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    ArrowPrimitiveType, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type,
};
use arrow_array::{Array as _, ArrayRef, RecordBatch, StringArray};
use arrow_schema::{DataType, Schema};
use freshet_store::foreign_parquet::table::ForeignTable;

/// Number of rows read at a time.
const ROWS_PER_BATCH: usize = 65_536;

/// One batch of rows of a file.
pub(super) struct Rows {
    batch: RecordBatch,
    /// Number of rows of the file before this batch.
    before: usize,
}

/// Reads the named columns of a Parquet file batch by batch.
pub(super) fn read(path: &Path, names: &[&str], mut take: impl FnMut(&Rows) -> Result<()>) -> Result<()> {
    let name = path.display();
    let file = File::open(path).with_context(|| {
        format!("cannot open {name}: a data directory holds sites.parquet, pages.parquet and changes.parquet")
    })?;
    let table = ForeignTable::open(file).with_context(|| name.to_string())?;
    let places: Result<Vec<usize>> = names.iter().map(|column| place(table.schema(), column)).collect();
    let places = places.with_context(|| name.to_string())?;
    let mut before = 0;
    for batch in table.batches(places, ROWS_PER_BATCH).with_context(|| name.to_string())? {
        let rows = Rows { batch: batch.with_context(|| name.to_string())?, before };
        take(&rows).with_context(|| name.to_string())?;
        before += rows.len();
    }
    Ok(())
}

/// Index of a column. A missing column is an error that lists the existing ones.
fn place(schema: &Schema, name: &str) -> Result<usize> {
    schema.index_of(name).map_err(|_| {
        let columns: Vec<_> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        anyhow!("the column `{name}` is missing; there are: {}", columns.join(", "))
    })
}

impl Rows {
    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.batch.num_rows()
    }

    /// Number of a row within the whole file, counted from one.
    pub(super) fn number(&self, row: usize) -> usize {
        self.before + row + 1
    }

    fn column(&self, name: &str) -> &ArrayRef {
        self.batch.column_by_name(name).expect("`read` has checked that the column is there")
    }

    /// Integers of any width. A null is an error that names its row.
    pub(super) fn integers(&self, name: &str) -> Result<Vec<i64>> {
        let column = self.column(name);
        if let Some(row) = (0..column.len()).find(|row| column.is_null(*row)) {
            bail!("the column `{name}` is null in row {}", self.number(row));
        }
        Ok(match column.data_type() {
            DataType::Int8 => widened::<Int8Type>(column),
            DataType::Int16 => widened::<Int16Type>(column),
            DataType::Int32 => widened::<Int32Type>(column),
            DataType::Int64 => widened::<Int64Type>(column),
            DataType::UInt8 => widened::<UInt8Type>(column),
            DataType::UInt16 => widened::<UInt16Type>(column),
            DataType::UInt32 => widened::<UInt32Type>(column),
            other => bail!("the column `{name}` should hold whole numbers, but holds {other}"),
        })
    }

    /// Booleans. Null counts as false.
    pub(super) fn flags(&self, name: &str) -> Result<Vec<bool>> {
        let column = self.column(name);
        let Some(flags) = column.as_boolean_opt() else {
            bail!("the column `{name}` should hold true and false, but holds {}", column.data_type());
        };
        Ok(flags.iter().map(|flag| flag.unwrap_or(false)).collect())
    }

    /// Strings. Null counts as the empty string.
    pub(super) fn texts(&self, name: &str) -> Result<&StringArray> {
        let column = self.column(name);
        column
            .as_string_opt::<i32>()
            .ok_or_else(|| anyhow!("the column `{name}` should hold text, but holds {}", column.data_type()))
    }
}

fn widened<T: ArrowPrimitiveType>(column: &ArrayRef) -> Vec<i64>
where
    T::Native: Into<i64>,
{
    column.as_primitive::<T>().values().iter().map(|value| (*value).into()).collect()
}
