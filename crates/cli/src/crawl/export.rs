//! `freshet export`: exports a site or a time span as WARC, WACZ, Parquet or JSON lines.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use freshet_crawl::clock::wall_now;
use freshet_crawl::queries::sites_named;
use freshet_protocol::time::Timestamp;
use freshet_store::export::unfinished::Unfinished;
use freshet_store::export::{Exported, Selection, export_visits, export_wacz, export_warc};
use freshet_store::history::VisitQuery;
use freshet_store::reader::Reader;
use serde_json::json;

use super::ask::must_be_crawl;
use super::words::{bytes, count};

/// Name of this program as stated in the exported files.
const SOFTWARE: &str = concat!("freshet/", env!("CARGO_PKG_VERSION"));

/// Export pages as WARC or WACZ, or visits as Parquet or JSON
///
/// The name of the file says what is written: .warc.gz and .wacz hold the versions of pages that were kept,
/// .parquet and .jsonl the visits. A page that was found unchanged goes with the response whose content it
/// still has, even if that is older.
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ExportOptions {
    /// The file to write: NAME.warc.gz, NAME.wacz, NAME.parquet or NAME.jsonl
    #[arg(long, value_name = "FILE")]
    out: PathBuf,

    /// Only of this site: a host, or scheme and host
    #[arg(long, value_name = "SITE")]
    site: Option<String>,

    /// From this time on: 2026-11-16 or 2026-11-16T12:00:00Z
    #[arg(long, value_name = "TIME")]
    since: Option<String>,

    /// Before this time
    #[arg(long, value_name = "TIME")]
    until: Option<String>,

    /// The directory of the crawl
    #[arg(long, default_value = "crawl", value_name = "DIR")]
    dir: PathBuf,

    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

const AFTER_HELP: &str = "Examples:
  freshet export --out crawl.wacz
  freshet export --site example.org --since 2026-11-01 --until 2026-12-01 --out november.warc.gz
  freshet export --out visits.parquet";

/// Writes the file and prints what it holds.
pub(crate) fn run(options: &ExportOptions) -> Result<()> {
    must_be_crawl(&options.dir)?;
    let since = options.since.as_deref().map(moment).transpose()?;
    let until = options.until.as_deref().map(moment).transpose()?;
    let reader = Reader::open(&options.dir)
        .with_context(|| format!("cannot read the crawl in {}", options.dir.display()))?;
    let mut selection = Selection::all();
    selection.since = since.unwrap_or(selection.since);
    selection.until = until.unwrap_or(selection.until);
    let span = VisitQuery { since: selection.since, until: selection.until, ..VisitQuery::all() };
    let mut queries = vec![span.clone()];
    if let Some(site) = &options.site {
        let named = sites_named(&reader, site)?;
        if named.is_empty() {
            bail!("{site} is not a site of this crawl");
        }
        selection.sites = Some(named.iter().map(|(number, _)| *number).collect());
        queries =
            named.into_iter().map(|(_, name)| VisitQuery { site: Some(name), ..span.clone() }).collect();
    }
    let exported = write(&reader, &selection, &queries, &options.out)
        .with_context(|| format!("cannot write {}", options.out.display()))?;
    let path = options.out.display();
    let mut output = io::stdout().lock();
    if options.json {
        writeln!(
            output,
            "{}",
            json!({"file": path.to_string(), "entries": exported.entries, "bytes": exported.bytes})
        )?;
    } else {
        let (entries, size) = (count(exported.entries), bytes(exported.bytes));
        writeln!(
            output,
            "{path}: {entries} {}, {size}",
            if holds_visits(&options.out) { "visits" } else { "versions of pages" }
        )?;
    }
    Ok(())
}

fn holds_visits(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "parquet" || extension == "jsonl")
}

fn write(reader: &Reader, selection: &Selection, queries: &[VisitQuery], path: &Path) -> Result<Exported> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    Ok(match name.rsplit('.').next().unwrap_or_default() {
        "gz" if name.ends_with(".warc.gz") => export_warc(reader, selection, SOFTWARE, path)?,
        "wacz" => export_wacz(reader, selection, SOFTWARE, wall_now(), path)?,
        "parquet" => export_visits(reader, queries, path)?,
        "jsonl" => write_lines(reader, queries, path)?,
        _ => bail!(
            "`{name}` does not say what to write: use a name that ends in .warc.gz, .wacz, .parquet or .jsonl"
        ),
    })
}

/// Writes visits as JSON lines.
fn write_lines(reader: &Reader, queries: &[VisitQuery], path: &Path) -> Result<Exported> {
    let unfinished = Unfinished::of(path);
    let mut file = BufWriter::new(File::create(unfinished.path())?);
    let mut entries = 0;
    let mut written: io::Result<()> = Ok(());
    for query in queries {
        reader.for_each_visit(query, |visit| {
        let row = &visit.row;
        let line = json!({
            "visit": visit.number, "time_ms": row.time.millis(), "url": row.url, "kind": row.kind.word(),
            "status": row.status, "bytes": row.bytes, "millis": row.millis, "change_size": row.change_size,
            "moved_to": row.moved_to, "error": row.error,
        });
        entries += 1;
        if written.is_ok() {
            written = writeln!(file, "{line}");
        }
    })?;
    }
    written?;
    file.flush()?;
    let bytes = file.get_ref().metadata()?.len();
    fs::rename(unfinished.path(), path)?;
    Ok(Exported { entries, bytes })
}

/// Parses a time given by a user. A date means the start of that day.
fn moment(text: &str) -> Result<Timestamp> {
    if let Ok(moment) = text.parse::<jiff::Timestamp>() {
        return Ok(Timestamp::from_millis(moment.as_millisecond()));
    }
    let civil = text.replace(' ', "T").parse::<jiff::civil::DateTime>();
    let civil = civil.or_else(|_| text.parse::<jiff::civil::Date>().map(|date| date.at(0, 0, 0, 0)));
    let zoned = civil.ok().and_then(|civil| civil.to_zoned(jiff::tz::TimeZone::UTC).ok());
    match zoned {
        Some(zoned) => Ok(Timestamp::from_millis(zoned.timestamp().as_millisecond())),
        None => bail!("`{text}` is no moment: write 2026-11-16 or 2026-11-16T12:00:00Z"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_its_beginning() {
        assert_eq!(moment("2026-11-16").unwrap().iso(), "2026-11-16T00:00:00.000Z");
        assert_eq!(moment("2026-11-16T12:00:00Z").unwrap().iso(), "2026-11-16T12:00:00.000Z");
        assert!(moment("soon").is_err());
    }
}
