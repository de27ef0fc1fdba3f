//! `freshet lab report`: reproduces the figures and tables of the papers on one page.

use std::fs;
use std::io::{self, Write as _};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use freshet_lab::report::chapter::{self, Maker};
use freshet_lab::report::contents::CHAPTERS;
use freshet_lab::report::exhibit::Verdict;
use freshet_lab::report::making::{self, Made, MadeChapter};
use freshet_lab::report::page::{self, Imprint};
use freshet_lab::report::sources::Sources;

use crate::pending_file::PendingFile;
use crate::progress;

/// Make the figures and tables of the research texts again, and compare them with what is printed
///
/// Writes one self-contained page, report.html, to a directory. Without --data it holds what formulas and
/// simulation can show; exhibits that need recorded histories, a web graph or word counts say so in their
/// place.
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ReportOptions {
    /// Directory to write report.html to
    #[arg(long, value_name = "DIR", required_unless_present = "list")]
    out: Option<PathBuf>,

    /// Directory of recorded histories, as for `freshet lab replay`, and of what else exhibits need
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,

    /// Only these chapters or exhibits, with commas between them
    #[arg(long, value_name = "NAME[,NAME...]", value_delimiter = ',')]
    only: Vec<String>,

    /// Seed of all chance
    #[arg(long, default_value_t = DEFAULT_SEED, value_name = "SEED")]
    seed: u64,

    /// Exhibits made at once; without it as many as there are processors
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,

    /// List the chapters and exhibits, and make nothing
    #[arg(long)]
    list: bool,
}

const DEFAULT_SEED: u64 = 1;

const AFTER_HELP: &str = "Examples:
  freshet lab report --out report
  freshet lab report --out report --data histories
  freshet lab report --out report --only thesis-5
  freshet lab report --out report --only table-5.4,table-5.5 --seed 7
  freshet lab report --list";

/// Runs the command.
pub(super) fn run(options: &ReportOptions) -> Result<()> {
    let Some(directory) = options.out.as_deref().filter(|_| !options.list) else {
        return Ok(writeln!(io::stdout().lock(), "{}", chapter::list(CHAPTERS))?);
    };
    let selected = chapter::select(CHAPTERS, &options.only)?;
    let sources = Sources::new(options.data.clone(), options.seed).context("cannot read the data")?;
    fs::create_dir_all(directory).with_context(|| format!("cannot make {}", directory.display()))?;
    let path = directory.join("report.html");
    // The file is created first: an unwritable file is reported before the long work.
    let file = PendingFile::create(&path)?;
    let exhibits: usize = selected.iter().map(|chapter| chapter.exhibits.len()).sum();
    let made = watched(exhibits, |watch| making::make(&selected, &sources, options.thread_count(), watch));
    file.write_text(&page::page(&made, &options.imprint()))?;
    tell(&made, &path)
}

/// Runs work on exhibits while a progress line says which are being made.
fn watched<T>(exhibits: usize, work: impl FnOnce(&making::Watch<'_>) -> T) -> T {
    /// Progress steps per exhibit.
    const STEPS: f64 = 1000.0;
    let bar = progress::steps("making", exhibits as u64 * STEPS as u64);
    let under_way: Mutex<Vec<(&'static str, f64)>> = Mutex::new(Vec::new());
    let watch = |maker: &'static Maker, share: f64| {
        let Ok(mut under_way) = under_way.lock() else { return };
        let before = under_way.iter().find(|(name, _)| *name == maker.name).map_or(0.0, |(_, share)| *share);
        under_way.retain(|(name, _)| *name != maker.name);
        if share < 1.0 {
            under_way.push((maker.name, share));
        }
        let names: Vec<&str> = under_way.iter().map(|(name, _)| *name).collect();
        bar.set_message(names.join(", "));
        bar.inc(((share - before).max(0.0) * STEPS).round() as u64);
    };
    let done = work(&watch);
    bar.finish_and_clear();
    done
}

/// Prints what was made. Fails if an exhibit could not be made although its data is there.
fn tell(made: &[MadeChapter], path: &Path) -> Result<()> {
    let mut output = io::stdout().lock();
    let exhibits = || made.iter().flat_map(|chapter| &chapter.exhibits);
    let there = exhibits().filter_map(|(_, made)| match made {
        Made::Exhibit(exhibit) => Some(exhibit),
        Made::Absent | Made::Failed(_) => None,
    });
    let comparisons: Vec<_> = there.clone().flat_map(|exhibit| &exhibit.comparisons).collect();
    writeln!(
        output,
        "{}: {} exhibit(s), {} printed value(s) compared",
        path.display(),
        there.count(),
        comparisons.len()
    )?;
    for verdict in Verdict::ALL {
        let count = comparisons.iter().filter(|comparison| comparison.verdict == verdict).count();
        if count > 0 {
            writeln!(output, "  {count:>4} {}", verdict.name())?;
        }
    }
    let absent: Vec<&str> =
        exhibits().filter(|(_, made)| matches!(made, Made::Absent)).map(|(maker, _)| maker.name).collect();
    if !absent.is_empty() {
        writeln!(output, "not made for want of data (see --data): {}", absent.join(", "))?;
    }
    let failed: Vec<String> = exhibits()
        .filter_map(|(maker, made)| match made {
            Made::Failed(why) => Some(format!("{}: {why}", maker.name)),
            Made::Exhibit(_) | Made::Absent => None,
        })
        .collect();
    ensure!(failed.is_empty(), "some exhibits could not be made: {}", failed.join("; "));
    Ok(())
}

impl ReportOptions {
    fn thread_count(&self) -> usize {
        let all = || std::thread::available_parallelism().map_or(1, NonZero::get);
        self.threads.map_or_else(all, usize::from)
    }

    fn imprint(&self) -> Imprint {
        let data = self.data.as_ref().map(|data| format!("--data {}", data.display()));
        let seed = (self.seed != DEFAULT_SEED).then(|| format!("--seed {}", self.seed));
        let arguments: Vec<String> = data.into_iter().chain(seed).collect();
        Imprint { version: env!("CARGO_PKG_VERSION").to_owned(), arguments: arguments.join(" ") }
    }
}
