//! `freshet db sample`: learns a new version of a database's summary.

use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use clap::Args;
use freshet_crawl::clock::{Clock, Pace, wall_now};
use freshet_crawl::queries::{Answer, Question};
use freshet_crawl::query_socket::{self, Reply};
use freshet_protocol::time::Timestamp;
use freshet_text::database::{Database, Place};
use freshet_text::sample::event::Journal;
use freshet_text::sample::take_sample;
use freshet_text::source::complete_summary;
use freshet_text::summary_store::SummaryStore;
use freshet_text::version::Version;
use freshet_text::visitor::Visitor;
use freshet_text::weeks::from_summary_store::WEEK_MS;

use super::home::{Home, parse_moment};
use super::show::describe;
use crate::crawl::manners::Manners;

/// Learn the summary of a database: all documents where they can be read, a sample where they can only be
/// searched
///
/// A sample asks the interface single words and reads the first documents of each answer, about 300 in all,
/// politely and within robots.txt. Ctrl-C stops it; the same command goes on. While a crawl runs in the same
/// directory, it lends its turns at hosts, and its site can be read.
#[derive(Args)]
#[command(after_help = "Examples:\n  freshet db sample medline --contact me@example.org\
        \n  freshet db sample medline --average 3   # three samples, averaged: more words, a steadier size")]
pub(crate) struct SampleOptions {
    /// The database
    name: String,

    /// Of a site of the crawl: as it was at this moment, such as 2026-11-16
    #[arg(long, value_name = "TIME", value_parser = parse_moment)]
    at: Option<Timestamp>,

    /// Of a site of the crawl: also as it was a week ago, two weeks ago, and so on, as far back as the crawl
    /// remembers; `fit` learns from it
    #[arg(long, conflicts_with = "at")]
    weekly: bool,

    /// Of a search interface: take this many samples and average them
    #[arg(long, default_value_t = 1, value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=100))]
    average: u32,

    /// Of a search interface: words to begin with, that it is likely to have
    #[arg(long, value_name = "WORDS")]
    start: Option<String>,

    #[command(flatten)]
    manners: Manners,

    #[command(flatten)]
    home: Home,
}

/// Runs the command.
pub(crate) fn run(options: &SampleOptions) -> Result<()> {
    let store = options.home.store();
    let mut database = store.database(&options.name)?;
    if let Some(words) = &options.start {
        database.sample.start_words = words.split_whitespace().map(str::to_lowercase).collect();
    }
    if (options.at.is_some() || options.weekly) && !matches!(database.place, Place::Site { .. }) {
        bail!("--at, --weekly: only a site of the crawl can be read as it was");
    }
    if options.weekly {
        let weeks = learn_past(options, &store, &database)?;
        if !options.home.json {
            writeln!(io::stdout(), "{} is known as it was in {weeks} weeks before", options.name)?;
        }
    }
    if options.average > 1 && !matches!(database.place, Place::Search(_)) {
        bail!("--average: {} is read whole, there is nothing to average", options.name);
    }
    let Some(version) = learn(options, &store, &database)? else {
        writeln!(io::stdout(), "stopped; the same command goes on with the sample")?;
        return Ok(());
    };
    journal(&store, &options.name)?.clear()?;
    if let Some(why) = nothing_learned(&version) {
        bail!("nothing was learned of {}: {why}", options.name);
    }
    store.keep(&options.name, &version)?;
    describe(&options.home, &options.name, &version, 20)
}

fn learn(options: &SampleOptions, store: &SummaryStore, database: &Database) -> Result<Option<Version>> {
    let directory = &options.home.directory;
    if let Some(version) = complete_summary(database, directory, now_of(database, directory), options.at)
        .with_context(|| format!("cannot read {}", options.name))?
    {
        return Ok(Some(version));
    }
    let (web, politeness) = options.manners.settings(directory)?;
    let runtime = tokio::runtime::Runtime::new().context("cannot start")?;
    runtime.block_on(async {
        let visitor = Visitor::new(web, politeness, Arc::new(Clock::new(Pace::WALL)))?;
        let visitor = visitor.beside_crawl(directory.clone());
        let stop = stop_by_signal();
        sample(database, &visitor, &journal(store, &options.name)?, options.average, &stop).await
    })
}

/// The current time of a database. For a site it is the time of its crawl, whose clock may be faster than the
/// wall clock.
pub(super) fn now_of(database: &Database, directory: &Path) -> Timestamp {
    if matches!(database.place, Place::Site { .. })
        && let Ok(Reply::Answer(Answer::Status(status))) = query_socket::ask(directory, &Question::Status)
    {
        return Timestamp::from_millis(status.now_ms);
    }
    wall_now()
}

/// Maximum number of weeks to look back: ten years.
const WEEKS_MAX: i64 = 520;

/// Adds the missing weekly versions of a site, as it was in each earlier week. Returns how many weeks are
/// there now.
fn learn_past(options: &SampleOptions, store: &SummaryStore, database: &Database) -> Result<usize> {
    let directory = &options.home.directory;
    let now = now_of(database, directory);
    let known = store.times(&options.name)?;
    let is_known = |moment: Timestamp| known.iter().any(|time| time.millis_since(moment).abs() < WEEK_MS / 2);
    for week in 1..=WEEKS_MAX {
        let moment = now.plus_millis(-week * WEEK_MS);
        if is_known(moment) {
            continue;
        }
        match complete_summary(database, directory, now, Some(moment))? {
            Some(version) if version.facts.documents_read > 0 => store.keep(&options.name, &version)?,
            _ => return Ok(week as usize - 1),
        }
    }
    Ok(WEEKS_MAX as usize)
}

/// Takes one sample, or the mean of several. `None` if it was stopped.
pub(super) async fn sample(
    database: &Database,
    visitor: &Visitor,
    journal: &Journal,
    average: u32,
    stop: &AtomicBool,
) -> Result<Option<Version>> {
    let Place::Search(interface) = &database.place else { bail!("it is no search interface") };
    let host = interface.host().unwrap_or_default();
    if visitor.needs_contact(&host) {
        bail!("{host} is a host of the public Internet: say with --contact whom its owner may write to");
    }
    let bar = crate::progress::steps("documents", u64::from(average) * u64::from(database.sample.documents));
    let mut versions: Vec<Version> = Vec::new();
    for round in 0..average {
        let mut rules = database.sample.clone();
        rules.seed = rules.seed.wrapping_add(u64::from(round));
        let journal = if round == 0 {
            journal.clone()
        } else {
            Journal::at(journal.path().with_extension(format!("{round}.jsonl")))
        };
        let before = u64::from(round) * u64::from(rules.documents);
        let progress = |read: u32, _: u32| bar.set_position(before + u64::from(read));
        let is_stopped = || stop.load(Ordering::Relaxed);
        let taken = take_sample(interface, &rules, database.wording, visitor, &journal, progress, is_stopped);
        // Every fact is in the journal before the next query, so a sample may be dropped while it waits.
        let version = tokio::select! {
            version = taken => version?,
            () = stopped(stop) => None,
        };
        let Some(version) = version else { return Ok(None) };
        versions.push(version);
    }
    for round in 1..average {
        Journal::at(journal.path().with_extension(format!("{round}.jsonl"))).clear()?;
    }
    bar.finish_and_clear();
    Ok(Version::mean(&versions))
}

/// The reason if a version holds nothing because no document could be read. Such a version is not stored: it
/// would hide an older one.
pub(super) fn nothing_learned(version: &Version) -> Option<String> {
    if version.facts.documents_read > 0 {
        return None;
    }
    let mut why = version.facts.notes.clone();
    if let Some(sampling) = &version.facts.sampling {
        why = sampling.failures.clone();
        why.push(sampling.ended.clone());
    }
    why.dedup();
    let why = if why.is_empty() { "it has no documents".to_owned() } else { why.join("; ") };
    Some(match version.facts.sampling.as_ref() {
        _ if why.contains("loopback") || why.contains("private") => {
            format!("{why}. If that is meant, allow it with --allow-private")
        }
        Some(sampling) if sampling.queries == sampling.queries_without_results => {
            format!(
                "{why}. It had nothing for any of {} words: name some that it has, with --start",
                sampling.queries
            )
        }
        Some(sampling) if sampling.queries_failed == 0 && sampling.documents_failed == 0 => {
            format!(
                "{why}. If it did have results, --results of `freshet db add` does not say where they stand"
            )
        }
        _ => why,
    })
}

/// The journal of a database's unfinished sample.
pub(super) fn journal(store: &SummaryStore, name: &str) -> Result<Journal> {
    let place = store.place(name)?;
    Ok(Journal::at(Path::join(&place, "sampling.jsonl")))
}

/// Waits until the user presses Ctrl-C.
pub(super) async fn stopped(stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Becomes true when the user presses Ctrl-C.
pub(super) fn stop_by_signal() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let set = Arc::clone(&stop);
    tokio::spawn(async move {
        if crate::crawl::run::stop_signal().await.is_ok() {
            set.store(true, Ordering::Relaxed);
        }
    });
    stop
}
