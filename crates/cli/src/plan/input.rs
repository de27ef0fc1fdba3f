//! Opens a table, recognises CSV or Parquet by the first bytes, and reads it into pages.
//!
//! # Promises
//! - A file of another kind, such as a compressed one, is named in the error, with what to do about it.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek as _};
use std::path::Path;

use anyhow::{Context as _, anyhow, bail};
use indicatif::ProgressBar;

use super::columns::{Fault, Kind, Layout, Row};
use super::history::VisitRows;
use super::pages::{AttributeColumns, PageTable, RateRows};
use super::read_csv::{CsvFault, CsvTable};
use super::read_parquet::{ParquetFault, ParquetTable};
use crate::progress::{self, Watched};

/// The first bytes of every Parquet file.
const PARQUET_MAGIC: [u8; 4] = *b"PAR1";

/// The path that stands for standard input.
const STANDARD_INPUT: &str = "-";

/// Reads the pages of a table. Hosts are read only if they are limited.
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
            rows.finish().with_context(|| shown(path))?
        }
    };
    if pages.len() == 0 {
        bail!("{}: the table has no rows", shown(path));
    }
    if pages.attributes.importance.as_ref().is_some_and(|weights| weights.iter().all(|weight| *weight == 0.0))
    {
        bail!("{}: column weight: every weight is zero; at least one page must count", shown(path));
    }
    Ok(pages)
}

/// A table whose columns are known.
enum Table {
    Csv(CsvTable),
    Parquet(ParquetTable),
}

fn open(path: &Path) -> anyhow::Result<Table> {
    let cannot = || format!("cannot read {}", shown(path));
    if path.as_os_str() == STANDARD_INPUT {
        return open_stream(path, io::stdin().lock(), progress::unknown("reading"));
    }
    let mut file = File::open(path).with_context(cannot)?;
    let metadata = file.metadata().with_context(cannot)?;
    if metadata.is_dir() {
        bail!("{}: it is a folder", cannot());
    }
    // Parquet needs seeking and a pipe cannot be rewound: only an ordinary file can be Parquet.
    if metadata.is_file() {
        let start = first_bytes(&mut file).with_context(cannot)?;
        file.rewind().with_context(cannot)?;
        if start == PARQUET_MAGIC {
            return ParquetTable::open(file).map(Table::Parquet).map_err(|fault| in_row(path, &fault));
        }
    }
    open_stream(path, file, progress::bytes(&reading(path), metadata.len()))
}

/// Opens a table that can be read only once.
fn open_stream(path: &Path, mut input: impl Read + 'static, progress: ProgressBar) -> anyhow::Result<Table> {
    let start = first_bytes(&mut input).with_context(|| format!("cannot read {}", shown(path)))?;
    if let Some(what) = not_text(&start) {
        bail!("{}: it is {what}", shown(path));
    }
    let delimiter = if path.extension().is_some_and(|ending| ending == "tsv") { b'\t' } else { b',' };
    let input = Watched::new(Cursor::new(start).chain(input), progress);
    CsvTable::open(input, delimiter).map(Table::Csv).map_err(|fault| at_line(path, &fault))
}

fn first_bytes(input: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    input.take(PARQUET_MAGIC.len() as u64).read_to_end(&mut start)?;
    Ok(start)
}

/// Names the kind of a file that is not text, by its first bytes, with what to do about it.
fn not_text(start: &[u8]) -> Option<&'static str> {
    match start {
        [0x1f, 0x8b, ..] => Some("compressed with gzip: read it with gzip -dc FILE | freshet plan -"),
        [0x28, 0xb5, 0x2f, 0xfd] => Some("compressed with zstd: read it with zstd -dc FILE | freshet plan -"),
        [b'P', b'K', 3, 4] => Some("an archive or a spreadsheet: save the table as CSV"),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some("text of 16 bits a character: save it as UTF-8"),
        b"PAR1" => Some("Parquet, which cannot be read from a stream: give the name of the file"),
        _ => None,
    }
}

impl Table {
    fn layout(&self) -> &Layout {
        match self {
            Self::Csv(table) => &table.layout,
            Self::Parquet(table) => &table.layout,
        }
    }

    /// The word for the position of a row: line or row.
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

/// The name of the table in messages.
pub(super) fn shown(path: &Path) -> String {
    if path.as_os_str() == STANDARD_INPUT { "standard input".to_owned() } else { path.display().to_string() }
}

fn reading(path: &Path) -> String {
    format!("reading {}", path.display())
}

fn at_line(path: &Path, fault: &CsvFault) -> anyhow::Error {
    anyhow!("{}:{}: {}", shown(path), fault.line, fault.message)
}

fn in_row(path: &Path, fault: &ParquetFault) -> anyhow::Error {
    match fault.row {
        Some(row) => anyhow!("{}: row {row}: {}", path.display(), fault.message),
        None => anyhow!("{}: {}", path.display(), fault.message),
    }
}
