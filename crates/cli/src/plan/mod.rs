//! `freshet plan`: with this budget, how often to visit each page, and how fresh the copy will be.
//!
//! In reading order:
//! - [`quantity`]: parses frequencies and formats numbers;
//! - [`columns`]: the columns of a table, checked; [`read_csv`], [`read_parquet`]: the two file formats;
//!   [`input`]: opens either;
//! - [`names`], [`host`], [`pages`]: the pages in memory; [`history`]: rates from visits;
//! - [`limits`]: what the limits leave possible, in words; [`uncertainty`]: how sure a plan is whose rates
//!   were estimated;
//! - [`report`]: the answer; [`report_text`], [`report_json`]: told in words or as JSON; [`figure`],
//!   [`chart`]: as pictures;
//! - [`plan_columns`], [`output`]: as a file.

mod chart;
mod columns;
mod figure;
mod history;
mod host;
mod input;
mod limits;
mod names;
mod output;
mod pages;
mod plan_columns;
pub(crate) mod quantity;
mod read_csv;
mod read_parquet;
mod report;
mod report_json;
mod report_text;
mod uncertainty;

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::{Args, ValueEnum};
use freshet_theory::plan::curve::{POINTS, Reach, budget_for, curve_around};
use freshet_theory::plan::planner::{Planner, Policy};
use freshet_theory::refresh::Objective;
use freshet_theory::units::VisitsPerDay;

use output::PlanFile;
use pages::PageTable;
use quantity::parse_frequency;
use report::{Report, Target};
use uncertainty::Uncertainty;

use crate::pending_file::PendingFile;
use crate::progress;

/// Plan visits: with this budget, how often to visit each page, and how fresh the copy will be
///
/// Reads a table of pages, either with their rates of change or with the history of their visits, spreads the
/// budget over the pages so that the objective is best, and prints what the copy will be like, beside what
/// visiting all pages equally often (uniform) or in proportion to their changes (proportional) would give
/// within the same limits.
#[derive(Args)]
#[command(after_help = AFTER_HELP, after_long_help = AFTER_LONG_HELP)]
pub(crate) struct PlanOptions {
    /// The table of pages: CSV (a first line with column names) or Parquet; `-` reads CSV from standard input
    #[arg(value_name = "TABLE")]
    input: PathBuf,

    /// Visits to spend, such as 10000/day, 20k/h or 1/s; with costs, one counts as what it costs
    #[arg(long, value_name = "VISITS/TIME", value_parser = parse_frequency,
        allow_hyphen_values = true, required_unless_present = "target")]
    budget: Option<VisitsPerDay>,

    /// What the visits are for
    #[arg(long, value_enum, default_value_t = ObjectiveName::Freshness)]
    objective: ObjectiveName,

    /// Most visits to one host, such as 1/s; the host is the column `host`, or else read from the URL
    ///
    /// Where the column is missing or empty the host is what stands between `scheme://` and the next `/`, `?`
    /// or `#`, without user, password and default port, in lower case. `example.org/page` is on the host
    /// example.org.
    #[arg(long, value_name = "VISITS/TIME", value_parser = parse_frequency, allow_hyphen_values = true)]
    host_limit: Option<VisitsPerDay>,

    /// Visit every page at least this often, such as 1/90d
    #[arg(long, value_name = "VISITS/TIME", value_parser = parse_frequency, allow_hyphen_values = true)]
    at_least: Option<VisitsPerDay>,

    /// Show freshness and age for budgets from 1/32 to 32 times this one: a table, a chart and an SVG file
    #[arg(long)]
    curve: bool,

    /// The SVG file of the curve; without it TABLE.curve.svg in the current folder
    #[arg(long, value_name = "FILE", requires = "curve")]
    svg: Option<PathBuf>,

    /// Find the budget that gives this freshness, between 0 and 1; without --budget the plan is made for it
    #[arg(long, value_name = "FRESHNESS", value_parser = parse_target, allow_hyphen_values = true)]
    target: Option<f64>,

    /// Write the plan, a row for each page, to this file ending in .csv or .parquet
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

const AFTER_HELP: &str = "Examples:
  freshet plan rates.csv --budget 10000/day --out plan.parquet
  freshet plan rates.csv --budget 1/s --host-limit 1/10s --at-least 1/90d --curve
`freshet plan --help` explains tables, units and objectives.";

const AFTER_LONG_HELP: &str = "\
Tables:
  Rates: the columns url and changes_per_day, a row for each page:
      url,changes_per_day,weight
      https://example.org/,2.5,10
      https://example.org/about,0.01,1
  Visits: the columns url, time (unix seconds, or RFC 3339 such as 2024-05-01T12:00:00Z) and changed (true \
      or false: did
  this visit find the page changed since the visit before?), a row for each visit, in any order. Rates are \
      then estimated
  from the visits, and the report says how much their uncertainty matters.
  Both may have the columns weight (how much a page counts, 1 if empty), host, and cost (what a visit takes \
      from the budget,
  1 if empty); in visits the first row of a page says what they are. Other columns are ignored, and so is \
      case in names.

Units:
  A frequency is a count, a slash and a time: 10000/day, 20k/h, 1.5M/week, 1/90d. Counts may end in k, M or \
      G; times are
  s, min, h, d (day), w (week), month or y (year), with a number before them if need be.

Objectives:
  freshness  the largest share of the copy is up to date; pages that change too often may be given up
  age        copies went out of date as short a time ago as possible; no page is given up
  harmonic   the objective of LambdaCrawl, the mean logarithm of freshness at random visits; no page is \
      given up
  changes    the most changes are found

The report:
  freshness       expected share of the copy that is up to date, averaged over time, each page counted with \
      its weight
  age             expected time since a copy went out of date, none while it is up to date; infinite if a \
      page that changes is
                  never visited
  changes found   share of all changes that a visit finds before the next one covers them
  pages given up  pages that change and are never visited
  Changes are taken to come at random (a Poisson process), visits to a page at equal intervals.

The plan (--out):
  url, host (with --host-limit), changes_per_day, weight and cost as far as given, visits_per_day, \
      visit_interval_days (inf
  if never visited), expected_freshness, expected_age_days; after visits also changes_per_day_low and \
      changes_per_day_high (95 %
  interval), intervals_seen and changes_seen. A plan can be read as a table of rates again.

Examples:
  How fresh does a visit every ten seconds keep my pages, and what would more give?
      freshet plan rates.csv --budget 1/10s --curve
  Be polite, forget no page, keep the plan:
      freshet plan rates.parquet --budget 1M/day --host-limit 1/s --at-least 1/90d --out plan.parquet
  What must I spend to be 80 % fresh?
      freshet plan rates.csv --target 0.8
  Learn the rates from what a crawler saw:
      freshet plan visits.csv --budget 10000/day --json";

/// The objectives by the names a user gives them.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum ObjectiveName {
    Freshness,
    Age,
    Harmonic,
    Changes,
}

impl ObjectiveName {
    fn name(self) -> &'static str {
        match self {
            Self::Freshness => "freshness",
            Self::Age => "age",
            Self::Harmonic => "harmonic",
            Self::Changes => "changes",
        }
    }
}

impl From<ObjectiveName> for Objective {
    fn from(name: ObjectiveName) -> Self {
        match name {
            ObjectiveName::Freshness => Self::Freshness,
            ObjectiveName::Age => Self::Age,
            ObjectiveName::Harmonic => Self::Harmonic,
            ObjectiveName::Changes => Self::Changes,
        }
    }
}

fn parse_target(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(target) if 0.0 < target && target < 1.0 => Ok(target),
        _ => Err("write a freshness above 0 and below 1, such as 0.8".to_owned()),
    }
}

/// Runs the command.
pub(crate) fn run(options: &PlanOptions) -> anyhow::Result<()> {
    // The files are created first: an unwritable file is reported before the long work.
    let plan_file = options.out.as_deref().map(|path| plan_file(options, path)).transpose()?;
    let svg_path = svg_path(options);
    let svg_file = svg_path.as_deref().map(PendingFile::create).transpose()?;

    let table = input::read_pages(&options.input, options.host_limit.is_some())?;
    let report = plan(options, &table)?;

    if let Some(file) = plan_file {
        file.write(&table, &report.allocation.visit_frequencies)?;
    }
    if let Some(file) = svg_file {
        file.write_text(&report.svg())?;
    }
    let text = if options.json { report.json(svg_path.as_deref()) } else { report.text(svg_path.as_deref()) };
    Ok(io::stdout().lock().write_all(text.as_bytes())?)
}

/// Makes the plan for these pages and everything that is reported about it.
fn plan<'a>(options: &'a PlanOptions, table: &'a PageTable) -> anyhow::Result<Report<'a>> {
    let hosts = table.attributes.hosts.as_ref();
    let host_limits = match (hosts, options.host_limit) {
        (Some(hosts), Some(limit)) => vec![limit; hosts.names.len()],
        _ => Vec::new(),
    };
    let planner = Planner {
        pages: table.pages(),
        outlooks: table.outlooks(),
        objective: options.objective.into(),
        visit_frequency_min: options.at_least.unwrap_or(VisitsPerDay::ZERO),
        host_limits: hosts.and_then(|hosts| hosts.limits(&host_limits)),
    };
    limits::check(&planner, table, options.budget.unwrap_or_else(|| planner.budget_min()))?;

    let target = options.target.map(|freshness| {
        let start = options.budget.unwrap_or_else(|| VisitsPerDay::new(table.len() as f64));
        let progress = progress::unknown("searching the budget");
        let reach = budget_for(&planner, freshness, start, || progress.tick());
        progress.finish_and_clear();
        Target { freshness, reach }
    });
    let visit_budget = match (options.budget, target) {
        (Some(budget), _) => budget,
        (None, Some(Target { reach: Reach::With(budget), .. })) => budget,
        (None, Some(target)) => bail!("{}; give --budget to plan for less", target.sentence()),
        (None, None) => bail!("give --budget, --target or both"),
    };

    let progress = progress::unknown("planning");
    let allocation = planner.allocate(Policy::Planned, visit_budget);
    let outcomes = Policy::ALL.map(|policy| match policy {
        Policy::Planned => planner.outcome(&allocation.visit_frequencies),
        Policy::Uniform | Policy::Proportional => {
            planner.outcome(&planner.allocate(policy, visit_budget).visit_frequencies)
        }
    });
    progress.finish_and_clear();
    Ok(Report {
        uncertainty: Uncertainty::of_plan(table, &allocation.visit_frequencies),
        curve: options.curve.then(|| {
            let progress = progress::steps("computing the curve", POINTS as u64);
            let curve = curve_around(&planner, visit_budget, || progress.inc(1));
            progress.finish_and_clear();
            curve
        }),
        options,
        table,
        visit_budget,
        allocation,
        outcomes,
        target,
    })
}

fn plan_file(options: &PlanOptions, path: &Path) -> anyhow::Result<PlanFile> {
    let same = |path: &Path| fs::canonicalize(path).ok();
    if same(path).is_some_and(|path| Some(path) == same(&options.input)) {
        bail!("{} is the table itself; write the plan to another file", path.display());
    }
    PlanFile::create(path)
}

/// Path of the SVG file of the curve, if one is asked for.
fn svg_path(options: &PlanOptions) -> Option<PathBuf> {
    let default = || {
        let stem = options.input.file_stem().filter(|stem| *stem != "-");
        let stem = stem.map_or_else(|| "freshet".into(), |stem| stem.to_string_lossy());
        PathBuf::from(format!("{stem}.curve.svg"))
    };
    options.curve.then(|| options.svg.clone().unwrap_or_else(default))
}
