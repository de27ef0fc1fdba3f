//! `freshet import`: imports what other programs collected into a crawl.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use clap::Args;
use freshet_crawl::clock::{Clock, Pace};
use freshet_crawl::import::{Imported, Importer};
use serde_json::json;

use super::config::Config;
use super::run::warn_of_conversion;
use super::words::count;

/// Import what others collected: URL lists, sitemaps, CDX and CDXJ indexes, WARC files
///
/// URLs become known and their sites are crawled. Captures become visits of their time, so that learning how
/// often pages change starts with history; those of WARC files are kept as versions too. Importing a file
/// twice changes nothing. The kind of a file is seen from its content.
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ImportOptions {
    /// The files
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// The directory of the crawl, made if there is none; it must not be running
    #[arg(long, default_value = "crawl", value_name = "DIR")]
    dir: PathBuf,

    /// A configuration file, for the rules on sites and pages
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

const AFTER_HELP: &str = "Examples:
  freshet import urls.txt sitemap.xml
  freshet import 2024/*.warc.gz 2025/*.warc.gz --dir crawl
  freshet import index.cdxj && freshet crawl --contact me@example.org";

/// Imports the files and prints a summary.
pub(crate) fn run(options: &ImportOptions) -> Result<()> {
    let beside = options.dir.join("freshet.toml");
    let config = match &options.config {
        Some(path) => Config::read(path)?,
        None if beside.is_file() => Config::read(&beside)?,
        None => Config::default(),
    };
    let settings = config.settings(&options.dir)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let _guard = runtime.enter();
    let clock = Arc::new(Clock::new(Pace::WALL));
    warn_of_conversion(&options.dir);
    let importer = Importer::open(&settings, clock)
        .with_context(|| format!("cannot import into {}", options.dir.display()))?;
    let imported = importer
        .import(&options.files)
        .with_context(|| format!("cannot import into {}", options.dir.display()))?;
    let mut output = io::stdout().lock();
    if options.json {
        let Imported { urls, visits, with_content, left_out, faults } = &imported;
        let value = json!({
            "urls": urls, "visits": visits, "with_content": with_content, "left_out": left_out,
            "faults": faults,
        });
        writeln!(output, "{}", serde_json::to_string_pretty(&value)?)?;
    } else {
        write!(output, "{}", in_words(&imported))?;
    }
    Ok(())
}

fn in_words(imported: &Imported) -> String {
    let mut lines = Vec::new();
    if imported.urls > 0 || imported.visits == 0 {
        lines.push(format!("{} URLs are known", count(imported.urls)));
    }
    if imported.visits > 0 {
        lines.push(format!(
            "{} visits are part of the history, {} of them with their content",
            count(imported.visits),
            count(imported.with_content)
        ));
    }
    lines.extend(imported.left_out.iter().map(|(why, number)| format!("left out: {} {why}", count(*number))));
    lines.extend(imported.faults.iter().cloned());
    lines.push(String::new());
    lines.join("\n")
}
