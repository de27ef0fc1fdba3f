//! `freshet db`: text databases, their content summaries, and the choice of which to query.
//!
//! In reading order:
//! - [`home`]: where databases are kept, and how times and numbers are formatted;
//! - [`add`], [`list`]: `freshet db add` and `list`;
//! - [`sample`]: `freshet db sample`, a new version of a summary;
//! - [`show`], [`compare`]: `freshet db show` and `compare`;
//! - [`past`]: the past of databases, from versions or from tables;
//! - [`study`], [`fit`], [`plan`]: `freshet db study`, `fit` and `plan`;
//! - [`mod@run`]: `freshet db run` and `status`;
//! - [`select`], [`search`]: `freshet db select` and `search`.

mod add;
mod compare;
mod fit;
mod home;
mod list;
mod past;
mod plan;
mod run;
mod sample;
mod search;
mod select;
mod show;
mod study;

use clap::{Args, Subcommand};

/// Keep summaries of text databases fresh, and choose which databases to ask
///
/// A text database is a site of the crawl, a directory, WARC files, or anything behind a search form. Its
/// summary says how many documents it has and in how many each word stands.
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct DbOptions {
    #[command(subcommand)]
    command: DbCommand,
}

const AFTER_HELP: &str = "From nothing to an answer:
  freshet db add medline --search 'https://example.org/search?q={query}&page={page}' --results 'li.result' \
      --count '/of ([0-9,]+)/'
  freshet db sample medline --contact me@example.org   # asks single words, reads about 300 documents
  freshet db show medline                              # what it is about, how large it is, what could not \
      be learned
  freshet db add docs --site docs.example.org          # a site of the crawl in the same directory
  freshet db sample docs                               # all its pages are read
  freshet db fit; freshet db plan --every 10w          # how fast summaries rot, and how often to refresh each
  freshet db run --every 10w --contact me@example.org  # keeps them fresh
  freshet db select \"heart disease\"                    # which database to ask, and why";

#[derive(Subcommand)]
enum DbCommand {
    Add(Box<add::AddOptions>),
    List(list::ListOptions),
    Sample(sample::SampleOptions),
    Show(show::ShowOptions),
    Compare(compare::CompareOptions),
    Study(study::StudyOptions),
    Fit(fit::FitOptions),
    Plan(Box<plan::PlanOptions>),
    Run(run::RunOptions),
    Status(run::StatusOptions),
    Select(select::SelectOptions),
    Search(search::SearchOptions),
}

/// Runs a command about text databases.
pub(crate) fn run(options: &DbOptions) -> anyhow::Result<()> {
    match &options.command {
        DbCommand::Add(options) => add::run(options),
        DbCommand::List(options) => list::run(options),
        DbCommand::Sample(options) => sample::run(options),
        DbCommand::Show(options) => show::run(options),
        DbCommand::Compare(options) => compare::run(options),
        DbCommand::Study(options) => study::run(options),
        DbCommand::Fit(options) => fit::run(options),
        DbCommand::Plan(options) => plan::run(options),
        DbCommand::Run(options) => run::run(options),
        DbCommand::Status(options) => run::status(options),
        DbCommand::Select(options) => select::run(options),
        DbCommand::Search(options) => search::run(options),
    }
}
