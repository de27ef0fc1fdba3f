//! A table from a file: opened, recognised as CSV or Parquet by its first bytes, and read into pages.

use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::path::Path;

use anyhow::{Context as _, anyhow, bail};

use super::columns::{Fault, Kind, Layout, Row};
use super::history::VisitRows;
use super::pages::{AttributeColumns, PageTable, RateRows};
use super::progress::{self, Watched};
use super::read_csv::{CsvFault, CsvTable};
use super::read_parquet::{ParquetFault, ParquetTable};

/// What every Parquet file begins with.
const PARQUET_MAGIC: [u8; 4] = *b"PAR1";

/// The name that stands for standard input.
const STANDARD_INPUT: &str = "-";

/// Reads the pages of a table; their hosts only when hosts are limited.
pub(super) fn read_pages(path: &Path, hosts_are_limited: bool) -> anyhow::Result<PageTable> {
    let table = open(path)?;
    let attributes = AttributeColumns::new(table.layout(), hosts_are_limited);
    let pages = match table.layout().kind {
        Kind::Rates => {
            let mut rows = RateRows::new(attributes, table.place_name());
            table.for_each(path, &mut |row, place| rows.take(row, place))?;
            rows.finish()
        }
        Kind::Visits => {
            let mut rows = VisitRows::new(attributes);
            table.for_each(path, &mut |row, _| rows.take(row))?;
            rows.finish().with_context(|| path.display().to_string())?
        }
    };
    if pages.len() == 0 {
        bail!("{}: the table has no rows", path.display());
    }
    if pages.attributes.importance.as_ref().is_some_and(|weights| weights.iter().all(|weight| *weight == 0.0))
    {
        bail!("{}: column weight: every weight is zero; at least one page must count", path.display());
    }
    Ok(pages)
}

/// A table whose columns are known.
enum Table {
    Csv(CsvTable),
    Parquet(ParquetTable),
}

fn open(path: &Path) -> anyhow::Result<Table> {
    let delimiter = if path.extension().is_some_and(|ending| ending == "tsv") { b'\t' } else { b',' };
    if path.as_os_str() == STANDARD_INPUT {
        let input = Watched::new(io::stdin().lock(), progress::unknown("reading"));
        return CsvTable::open(input, delimiter).map(Table::Csv).map_err(|fault| at_line(path, &fault));
    }
    let cannot = || format!("cannot read {}", path.display());
    let mut file = File::open(path).with_context(cannot)?;
    let metadata = file.metadata().with_context(cannot)?;
    if metadata.is_dir() {
        bail!("{}: it is a folder", cannot());
    }
    // A pipe cannot be rewound: only an ordinary file is looked into before it is read.
    if metadata.is_file() {
        let mut start = Vec::new();
        file.by_ref().take(PARQUET_MAGIC.len() as u64).read_to_end(&mut start).with_context(cannot)?;
        file.rewind().with_context(cannot)?;
        if start == PARQUET_MAGIC {
            return ParquetTable::open(file).map(Table::Parquet).map_err(|fault| in_row(path, &fault));
        }
    }
    let input = Watched::new(file, progress::bytes(&reading(path), metadata.len()));
    CsvTable::open(input, delimiter).map(Table::Csv).map_err(|fault| at_line(path, &fault))
}

impl Table {
    fn layout(&self) -> &Layout {
        match self {
            Self::Csv(table) => &table.layout,
            Self::Parquet(table) => &table.layout,
        }
    }

    /// What the place of a row is called.
    fn place_name(&self) -> &'static str {
        match self {
            Self::Csv(_) => "line",
            Self::Parquet(_) => "row",
        }
    }

    fn for_each(
        self,
        path: &Path,
        take: &mut dyn FnMut(&Row<'_>, u64) -> Result<(), Fault>,
    ) -> anyhow::Result<()> {
        match self {
            Self::Csv(table) => table.for_each(take).map_err(|fault| at_line(path, &fault)),
            Self::Parquet(table) => {
                table.for_each(&reading(path), take).map_err(|fault| in_row(path, &fault))
            }
        }
    }
}

fn reading(path: &Path) -> String {
    format!("reading {}", path.display())
}

fn at_line(path: &Path, fault: &CsvFault) -> anyhow::Error {
    let name =
        if path.as_os_str() == STANDARD_INPUT { "standard input".into() } else { path.display().to_string() };
    anyhow!("{name}:{}: {}", fault.line, fault.message)
}

fn in_row(path: &Path, fault: &ParquetFault) -> anyhow::Error {
    match fault.row {
        Some(row) => anyhow!("{}: row {row}: {}", path.display(), fault.message),
        None => anyhow!("{}: {}", path.display(), fault.message),
    }
}
