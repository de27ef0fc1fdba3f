//! `freshet lab replay`: replays recorded histories against policies.

use std::num::NonZero;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, ValueEnum};
use freshet_lab::history::crawl::Blur;
use freshet_lab::history::{Window, World};
use freshet_lab::replay::contest::Outcome;
use freshet_lab::replay::stage::{KnownImportance, Setting};
use freshet_lab::replay::{Contest, Entry, Stage};

use super::answer::{self, Answer};
use super::source::{MassChoice, Source};
use super::{replay_figures, replay_json, replay_text, source};
use crate::progress;
use crate::span::parse_days;

/// Replay recorded histories against policies, and compare what each finds and how fresh it keeps its copies
///
/// All pages that are there when the window opens are copied at time 0; pages born later are discovered at
/// the first cycle after their birth; pages that are deleted answer 404 when visited. Every policy has
/// exactly the same downloads: in each cycle the budget times the pages alive, all at its end for cycle
/// policies, spread evenly over it for steady ones. `freshet` is driven cycle by cycle for the first three
/// and steadily from then on; `freshet:mix:cycle` and `freshet:mix:steady` have one form.
#[derive(Args)]
#[command(after_help = AFTER_HELP, after_long_help = AFTER_LONG_HELP)]
pub(crate) struct ReplayOptions {
    /// Directory with sites.parquet, pages.parquet, changes.parquet and links.parquet, or the directory of a
    /// crawl
    #[arg(long, value_name = "DIR")]
    data: PathBuf,

    /// Sites of this family only, such as git or ota; `all` for every site
    #[arg(long, default_value = "all", value_name = "NAME|all")]
    family: String,

    /// Replay the last part of each site's history, of this length; shorter histories are left out [default:
    /// 3y; of a crawl that which holds most pages for longest]
    #[arg(long, value_name = "SPAN", value_parser = parse_days, allow_hyphen_values = true)]
    window: Option<f64>,

    /// Time from one download cycle to the next [default: 14d; of a crawl the usual time between its visits
    /// of a page]
    #[arg(long, value_name = "SPAN", value_parser = parse_days, allow_hyphen_values = true)]
    cycle: Option<f64>,

    /// Downloads per page and cycle, more than 0 and at most 1
    #[arg(long, default_value_t = 0.1, value_name = "SHARE", allow_hyphen_values = true)]
    budget: f64,

    /// Policies to compare, with commas between them, or `all`
    #[arg(long, default_value = DEFAULT_POLICIES, value_name = "NAME[,NAME...]|all")]
    policy: String,

    /// What becomes of changes that are part of a sweep over a whole site
    #[arg(long, value_enum, default_value_t = MassChoice::Keep)]
    mass: MassChoice,

    /// Runs of each policy, with the seeds 1, 2, ...; figures are means over these
    #[arg(long, default_value_t = 3, value_name = "N",
        value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: u64,

    /// Of a larger site take only so many pages, chosen by chance
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_pages_per_site: Option<u32>,

    /// What policies are told of the importance of pages; weighted figures use PageRank in any case
    #[arg(long, value_enum, default_value_t = ImportanceChoice::Equal)]
    importance: ImportanceChoice,

    /// Runs that go at once; without it as many as there are processors. Use 1 to measure the time of
    /// policies
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,

    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,

    /// Write one SVG figure for each metric to this directory
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Policies compared by default: one of each kind.
const DEFAULT_POLICIES: &str = "round-robin,greedy,frequency,nutch,optimal,freshet";

const AFTER_HELP: &str = "Examples:
  freshet lab replay --data histories --family git --budget 0.1 --policy round-robin,greedy,freshet
  freshet lab replay --data histories --policy all --json > results.json
  freshet lab replay --data crawl                           # what other policies would have found on a \
      crawl's own pages
`freshet lab replay --help` explains the figures; `freshet lab history` makes histories.";

const AFTER_LONG_HELP: &str = "\
Figures:
  ChangeRatio    downloads that found a change over downloads allowed: the mean over cycles, in all and for \
      the cycles
                 1-3, 4-10, 11-25, 26-50 and 51-; the spread is the largest less the smallest mean of the runs
  freshness      part of the copies that is up to date, averaged over time exactly from the times of changes
  age            days since copies went out of date, averaged over all copies and over time
  weighted       ChangeRatio with the PageRank of each page in links.parquet as its weight
  fairness       of the pages that changed, the part that was visited by the end
  found          visits that found a change, over all changes there were; a deletion is a change
  s/million      seconds of policy time for a million downloads (`policy_seconds` in JSON)
Beside each stands the value of an oracle, which sees what differs: `oracle` finds the most changes that any \
    policy can
find, `oracle:fresh` keeps copies fresh. `rate-oracle:changes` and `rate-oracle:fresh` know the mean rate of \
    every page.

Examples:
  freshet lab replay --data histories --family git --budget 0.1 --policy round-robin,greedy,freshet
  freshet lab replay --data histories --family ota --cycle 7d --policy all --seeds 5 --out figures
  freshet lab history --synthetic gamma --sites 20 --pages 100 --out model && freshet lab replay \
      --data model";

#[derive(Clone, Copy, ValueEnum)]
enum ImportanceChoice {
    /// That all pages are equal
    Equal,
    /// Their PageRank
    Pagerank,
}

/// A finished replay, for the text, JSON and SVG output.
pub(super) struct Replay<'a> {
    pub(super) options: &'a ReplayOptions,
    pub(super) stage: &'a Stage<'a>,
    pub(super) outcome: &'a Outcome,
    /// How exactly the history is known; `Some` only for a crawl's own visits.
    pub(super) blur: Option<&'a Blur>,
}

/// Runs the command.
pub(super) fn run(options: &ReplayOptions) -> Result<()> {
    let entries = Entry::parse_list(&options.policy)?;
    let bar = progress::unknown("reading");
    let source = source::read(&options.data, options.window)?;
    let world = World::cut(&source.tables, &options.window_of(&source))?;
    bar.finish_and_clear();
    let setting = Setting {
        cycle_days: options.cycle.unwrap_or(source.cycle_days),
        budget: options.budget,
        told: match options.importance {
            ImportanceChoice::Equal => KnownImportance::Equal,
            ImportanceChoice::Pagerank => KnownImportance::PageRank,
        },
    };
    let stage = Stage::new(&world, setting)?;
    let contest = Contest { entries, seeds: options.seeds, threads: options.thread_count() };
    let bar = progress::steps("replaying", contest.work(&stage) as u64);
    let outcome = contest.hold(&stage, &|| bar.inc(1));
    bar.finish_and_clear();
    let replay = Replay { options, stage: &stage, outcome: &outcome, blur: source.blur.as_ref() };
    answer::print(&match options.json {
        true => Answer::Json(replay_json::object(&replay)),
        false => Answer::Text(replay_text::report(&replay)),
    })?;
    let out = options.out.as_deref();
    out.map_or(Ok(()), |directory| answer::write_figures(replay_figures::figures(&replay), directory))
}

impl ReplayOptions {
    fn thread_count(&self) -> usize {
        let all = || std::thread::available_parallelism().map_or(1, NonZero::get);
        self.threads.map_or_else(all, usize::from)
    }

    pub(super) fn data(&self) -> &Path {
        &self.data
    }

    pub(super) fn family(&self) -> &str {
        &self.family
    }

    fn window_of(&self, source: &Source) -> Window {
        Window {
            family: (self.family != "all").then(|| self.family.clone()),
            days: source.window_days,
            mass: self.mass.into(),
            pages_per_site_max: self.max_pages_per_site.map(|most| most as usize),
        }
    }

    pub(super) fn mass(&self) -> MassChoice {
        self.mass
    }

    pub(super) fn importance(&self) -> &'static str {
        match self.importance {
            ImportanceChoice::Equal => "equal",
            ImportanceChoice::Pagerank => "pagerank",
        }
    }

    pub(super) fn seeds(&self) -> u64 {
        self.seeds
    }

    pub(super) fn max_pages_per_site(&self) -> Option<u32> {
        self.max_pages_per_site
    }
}
