//! Writes a plan to a file, completely or not at all.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use freshet_theory::units::VisitsPerDay;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use super::pages::PageTable;
use super::plan_columns::{PlanColumn, Values, plan_columns};
use crate::pending_file::PendingFile;
use crate::progress;

/// File format of a plan, chosen by the file's extension.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Format {
    Csv,
    Parquet,
}

impl Format {
    fn of(path: &Path) -> anyhow::Result<Self> {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        match ending.as_deref() {
            Some("csv") => Ok(Self::Csv),
            Some("parquet") => Ok(Self::Parquet),
            _ => bail!("cannot tell how to write {}: let it end in .csv or .parquet", path.display()),
        }
    }
}

/// Rows written per batch.
const ROWS_PER_BATCH: usize = 65_536;

/// A plan being written.
pub(super) struct PlanFile {
    pending: PendingFile,
    format: Format,
}

impl PlanFile {
    /// Creates the file, or says why it cannot be written.
    pub(super) fn create(path: &Path) -> anyhow::Result<Self> {
        let format = Format::of(path)?;
        Ok(Self { pending: PendingFile::create(path)?, format })
    }

    /// Writes one row per page and gives the file its final name.
    pub(super) fn write(self, table: &PageTable, visit_frequencies: &[VisitsPerDay]) -> anyhow::Result<()> {
        let destination = self.pending.destination().to_owned();
        let columns = plan_columns(table, visit_frequencies);
        let progress = progress::steps("writing the plan", table.len() as u64);
        let advance = |rows: usize| progress.inc(rows as u64);
        let written = match self.format {
            Format::Csv => write_csv(self.pending.file(), &columns, table.len(), advance),
            Format::Parquet => write_parquet(self.pending.file(), &columns, table.len(), advance),
        };
        progress.finish_and_clear();
        written
            .and_then(|()| Ok(self.pending.finish()?))
            .with_context(|| format!("cannot write {}", destination.display()))
    }
}

fn write_csv(
    file: &File,
    columns: &[PlanColumn<'_>],
    pages: usize,
    advance: impl Fn(usize),
) -> anyhow::Result<()> {
    let mut writer = csv::Writer::from_writer(BufWriter::new(file));
    writer.write_record(columns.iter().map(|column| column.name))?;
    let mut number = Vec::new();
    for page in 0..pages {
        for column in columns {
            match &column.values {
                Values::Text(text) => writer.write_field(text(page))?,
                Values::Number(value) => {
                    number.clear();
                    write!(number, "{}", value(page))?;
                    writer.write_field(&number)?;
                }
            }
        }
        writer.write_record(None::<&[u8]>)?;
        if page % ROWS_PER_BATCH == 0 {
            advance(ROWS_PER_BATCH.min(pages - page));
        }
    }
    Ok(writer.flush()?)
}

fn write_parquet(
    file: &File,
    columns: &[PlanColumn<'_>],
    pages: usize,
    advance: impl Fn(usize),
) -> anyhow::Result<()> {
    let properties =
        WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default())).build();
    let schema = batch(columns, 0..0)?.schema();
    let mut writer = ArrowWriter::try_new(BufWriter::new(file), schema, Some(properties))?;
    for start in (0..pages).step_by(ROWS_PER_BATCH) {
        let end = pages.min(start + ROWS_PER_BATCH);
        writer.write(&batch(columns, start..end)?)?;
        advance(end - start);
    }
    writer.into_inner()?.flush()?;
    Ok(())
}

fn batch(columns: &[PlanColumn<'_>], pages: std::ops::Range<usize>) -> anyhow::Result<RecordBatch> {
    let array = |column: &PlanColumn<'_>| -> (&'static str, ArrayRef) {
        let array: ArrayRef = match &column.values {
            Values::Text(text) => Arc::new(StringArray::from_iter_values(pages.clone().map(text))),
            Values::Number(value) => Arc::new(Float64Array::from_iter_values(pages.clone().map(value))),
        };
        (column.name, array)
    };
    Ok(RecordBatch::try_from_iter(columns.iter().map(array))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_decides_the_format() {
        assert_eq!(Format::of(Path::new("a/plan.CSV")).expect("a format"), Format::Csv);
        assert_eq!(Format::of(Path::new("plan.parquet")).expect("a format"), Format::Parquet);
        assert!(Format::of(Path::new("plan.txt")).is_err());
        assert!(Format::of(Path::new("plan")).is_err());
    }
}
