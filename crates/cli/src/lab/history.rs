//! `freshet lab history`: histories from clones of content repositories, from a crawl, or from a model.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use clap::{ArgGroup, Args, ValueEnum};
use freshet_lab::history::git;
use freshet_lab::history::recording::{RecordedSite, Recording};
use freshet_lab::history::synthetic::{Model, Synthetic};

use super::source;
use crate::progress;
use crate::span::parse_days;

/// Make a directory of histories that `freshet lab replay` reads
///
/// From local clones: a repository is a site, a content file a page, a commit on the first-parent line that
/// alters it a change. From a crawl, running or not: what its visits found, between the visits. Or from a
/// model, by chance from a seed.
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
#[command(group(ArgGroup::new("source").required(true).args(["git", "crawl", "synthetic"])))]
pub(crate) struct HistoryOptions {
    /// Local clones of content repositories, with their whole history
    #[arg(long, value_name = "CLONE", num_args = 1..)]
    git: Vec<PathBuf>,

    /// The directory of a crawl
    #[arg(long, value_name = "DIR")]
    crawl: Option<PathBuf>,

    /// How the pages of a model change
    #[arg(long, value_enum, value_name = "MODEL")]
    synthetic: Option<ModelChoice>,

    /// Sites of the model
    #[arg(long, default_value_t = 20, value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=32_767), conflicts_with_all = ["git", "crawl"])]
    sites: u32,

    /// Pages of each site of the model
    #[arg(long, default_value_t = 100, value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=10_000_000), conflicts_with_all = ["git", "crawl"])]
    pages: u32,

    /// Length of the model's history
    #[arg(long, default_value = "4y", value_name = "SPAN", value_parser = parse_days,
        allow_hyphen_values = true, conflicts_with_all = ["git", "crawl"])]
    span: f64,

    /// Seed of the model's chance
    #[arg(long, default_value_t = 1, value_name = "SEED", conflicts_with_all = ["git", "crawl"])]
    seed: u64,

    /// Directory to write the tables to
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

const AFTER_HELP: &str = "Examples:
  git clone https://github.com/rust-lang/book clones/book
  freshet lab history --git clones/* --out histories
  freshet lab history --crawl crawl --out histories
  freshet lab history --synthetic gamma --sites 20 --pages 100 --seed 7 --out model
docs/histories.md describes the tables.";

#[derive(Clone, Copy, ValueEnum)]
enum ModelChoice {
    /// Most sites change hardly at all or nearly everywhere
    VShape,
    /// The parts of sites that change in a fortnight are spread as N(0.5, 0.3)
    Normal,
    /// Every page has a rate of its own and changes in bursts; some pages come and go
    Gamma,
}

/// Maximum number of pages of a model: as many as fit into a few gigabytes.
const MODEL_PAGES_MAX: u64 = 10_000_000;

/// Maximum length of a model's history, in days: a century.
const MODEL_DAYS_MAX: f64 = 36_525.0;

/// Runs the command.
pub(super) fn run(options: &HistoryOptions) -> Result<()> {
    Recording::check_target(&options.out)?;
    let mut caveat = String::new();
    let recording = match (options.synthetic, &options.crawl) {
        (Some(model), _) => from_model(options, model)?,
        (None, Some(directory)) => {
            let history = source::read_crawl(directory)?;
            caveat = source::caveat(&history.blur);
            history.recording
        }
        (None, None) => from_clones(&options.git)?,
    };
    let size = recording.write(&options.out).context("cannot write the history")?;
    write!(
        io::stdout().lock(),
        "{}: {} site(s), {} pages, {} changes, {} links\n{caveat}",
        options.out.display(),
        size.sites,
        size.pages,
        size.changes,
        size.links
    )?;
    Ok(())
}

fn from_model(options: &HistoryOptions, model: ModelChoice) -> Result<Recording> {
    let pages = u64::from(options.sites) * u64::from(options.pages);
    ensure!(
        pages <= MODEL_PAGES_MAX,
        "{} sites of {} pages are more than {MODEL_PAGES_MAX} pages: choose fewer --sites or --pages",
        options.sites,
        options.pages
    );
    ensure!(
        options.span <= MODEL_DAYS_MAX,
        "the history of a model is at most 100y long: choose a shorter --span"
    );
    let bar = progress::unknown("drawing");
    let synthetic = Synthetic {
        model: match model {
            ModelChoice::VShape => Model::VShape,
            ModelChoice::Normal => Model::Normal,
            ModelChoice::Gamma => Model::Gamma,
        },
        sites: options.sites as usize,
        pages_per_site: options.pages as usize,
        days: options.span,
        seed: options.seed,
    };
    let recording = synthetic.record();
    bar.finish_and_clear();
    Ok(recording)
}

fn from_clones(clones: &[PathBuf]) -> Result<Recording> {
    let bar = progress::steps("reading clones", clones.len() as u64);
    let mut recording = Recording::default();
    for clone in clones {
        let site = record_clone(clone, &recording.sites)?;
        recording.sites.push(site);
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(recording)
}

/// Records a clone as a site. Adds a number to its name if another site has the same.
fn record_clone(clone: &Path, others: &[RecordedSite]) -> Result<RecordedSite> {
    let mut site = git::record(clone)?;
    let taken = |name: &str| others.iter().any(|other| other.name == name);
    let plain = site.name.clone();
    for number in 2.. {
        if !taken(&site.name) {
            break;
        }
        site.name = format!("{plain} ({number})");
    }
    Ok(site)
}
