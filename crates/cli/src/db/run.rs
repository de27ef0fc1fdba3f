//! `freshet db run` and `freshet db status`: refreshes summaries by plan, steadily, and reports on them.

use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use comfy_table::{Table, presets};
use freshet_crawl::clock::{Clock, Pace, wall_now};
use freshet_crawl::queries::{Answer, Question};
use freshet_crawl::query_socket::{self, Reply};
use freshet_protocol::time::Timestamp;
use freshet_text::database::{Database, Place};
use freshet_text::refresh::{Attempt, Standing, next, note_failure};
use freshet_text::source::complete_summary;
use freshet_text::spending::{Spending, Spent};
use freshet_text::summary_store::SummaryStore;
use freshet_text::version::Version;
use freshet_text::visitor::Visitor;
use freshet_theory::refresh::survival::law::Survival as _;
use freshet_theory::units::{Days, SECONDS_PER_DAY};
use serde_json::json;

use super::home::{Home, documents, moment, size};
use super::plan::{Effort, Planned, plan};
use super::sample::{journal, nothing_learned, now_of, sample, stop_by_signal, stopped};
use crate::crawl::manners::{Manners, Purse};
use crate::span::parse_days;

/// Refresh summaries by plan, steadily, until stopped
///
/// Learns the summary of every database that has none, then refreshes each at the interval that `freshet db
/// plan` gives it. What is due follows from what is on the summary store: Ctrl-C stops, and the same command
/// goes on. Requests take a share of the budget in freshet.toml. While a crawl runs in the same directory,
/// each request takes one of the crawl's turns at the host and one visit of its budget, so that both together
/// keep to politeness and budget.
#[derive(Args)]
#[command(after_help = "Examples:\n  freshet db run --every 10w --contact me@example.org\
    \n  freshet db run --budget 50/week --once\
    \n  freshet db run --every 10w --share 0.3")]
pub(crate) struct RunOptions {
    #[command(flatten)]
    effort: Effort,

    /// Refresh what is due now, and stop
    #[arg(long)]
    once: bool,

    /// The part of the crawl's budget that requests may take, from 0 to 1; db_share of freshet.toml if
    /// nothing is said
    #[arg(long, value_name = "PART")]
    share: Option<f64>,

    /// Stop after this time
    #[arg(long = "for", value_name = "SPAN", value_parser = parse_days)]
    duration: Option<f64>,

    #[command(flatten)]
    manners: Manners,

    #[command(flatten)]
    home: Home,
}

/// Say how the summaries stand: how old, how likely still right, when refreshed next
#[derive(Args)]
pub(crate) struct StatusOptions {
    #[command(flatten)]
    effort: Effort,

    #[command(flatten)]
    home: Home,
}

/// Maximum sleep before the plan is checked again: databases may have been added.
const SLEEP_MAX: Duration = Duration::from_secs(60);

/// Runs the command.
pub(crate) fn run(options: &RunOptions) -> Result<()> {
    let (web, politeness) = options.manners.settings(&options.home.directory)?;
    let spending = spending(options)?;
    let runtime = tokio::runtime::Runtime::new().context("cannot start")?;
    runtime.block_on(async {
        let visitor = Visitor::new(web, politeness, Arc::new(Clock::new(Pace::WALL)))?;
        let visitor = visitor.beside_crawl(options.home.directory.clone()).paid_from(spending);
        let stop = stop_by_signal();
        let ends =
            options.duration.map(|days| Instant::now() + Duration::from_secs_f64(days * SECONDS_PER_DAY));
        loop {
            let standings = standings(&options.home, &options.effort)?;
            let now = wall_now();
            let over = stop.load(Ordering::Relaxed) || ends.is_some_and(|ends| ends <= Instant::now());
            match next(&standings, now) {
                _ if over => return Ok(()),
                Some((standing, due)) if due <= now => {
                    refresh(&options.home, &standing.name, &visitor, &stop).await?;
                }
                _ if options.once => return Ok(()),
                next => {
                    let until_due = next.map_or(SLEEP_MAX, |(_, due)| {
                        Duration::from_millis(u64::try_from(due.millis_since(now)).unwrap_or(0))
                    });
                    let until_end =
                        ends.map_or(SLEEP_MAX, |ends| ends.saturating_duration_since(Instant::now()));
                    tokio::select! {
                        () = tokio::time::sleep(until_due.min(until_end).min(SLEEP_MAX)) => {}
                        () = stopped(&stop) => {}
                    }
                }
            }
        }
    })
}

/// The request budget: a share of the crawl's.
fn spending(options: &RunOptions) -> Result<Spending> {
    let directory = &options.home.directory;
    let mut purse = Purse::of(directory)?;
    // The budget of a running crawl may differ from the configuration.
    if let Ok(Reply::Answer(Answer::Status(status))) = query_socket::ask(directory, &Question::Status) {
        purse.visits_per_day = status.budget_per_day;
    }
    let share = options.share.unwrap_or(purse.db_share);
    if !(0.0..=1.0).contains(&share) {
        bail!("--share: {share} is not between 0 and 1");
    }
    Ok(Spending::of(&options.home.store(), purse.visits_per_day, share, wall_now()))
}

/// Refreshes one summary. A failure is recorded and tried again later.
async fn refresh(home: &Home, name: &str, visitor: &Visitor, stop: &AtomicBool) -> Result<()> {
    let store = home.store();
    let before = store.latest(name)?;
    let learned = match learn(home, &store, name, visitor, stop).await {
        Ok(None) => return Ok(()),
        Ok(Some(version)) => match nothing_learned(&version) {
            Some(why) => {
                journal(&store, name)?.clear()?;
                Err(why)
            }
            None => Ok(version),
        },
        Err(error) => Err(format!("{error:#}")),
    };
    let mut output = io::stdout().lock();
    let now = wall_now();
    match learned {
        Ok(version) => {
            store.keep(name, &version)?;
            journal(&store, name)?.clear()?;
            let divergence = before.and_then(|before| before.summary.compare(&version.summary).divergence);
            if home.json {
                writeln!(
                    output,
                    "{}",
                    json!({
                        "name": name,
                        "time_ms": version.facts.time_ms,
                        "documents_read": version.facts.documents_read,
                        "divergence": divergence
                    })
                )?;
            } else {
                let drifted = divergence.map_or("first summary".to_owned(), |divergence| {
                    format!("KL {divergence:.4} nats from the last")
                });
                writeln!(
                    output,
                    "{} {name}: {} documents, {drifted}",
                    moment(now),
                    size(version.facts.size)
                )?;
            }
        }
        Err(why) => {
            note_failure(&store, name, &Attempt { time_ms: now.millis(), why: why.clone() })?;
            if home.json {
                writeln!(output, "{}", json!({"name": name, "time_ms": now.millis(), "failed": why}))?;
            } else {
                writeln!(output, "{} {name}: failed: {why}", moment(now))?;
            }
        }
    }
    Ok(())
}

async fn learn(
    home: &Home,
    store: &SummaryStore,
    name: &str,
    visitor: &Visitor,
    stop: &AtomicBool,
) -> Result<Option<Version>> {
    let database: Database = store.database(name)?;
    if let Place::Search(_) = &database.place {
        let spent = Spent::today(store, wall_now())
            .and_then(|spent| spent.per_day.map(|per_day| (per_day, spent.share)));
        if let Some((per_day, share)) = spent.filter(|_| !home.json) {
            let (per_day, percent) = (documents(per_day), 100.0 * share);
            writeln!(
                io::stdout(),
                "{} {name}: is asked, with at most {per_day} requests a day ({percent:.0}% of the crawl's \
                 budget; --share alters it)",
                moment(wall_now())
            )?;
        }
        return sample(&database, visitor, &journal(store, name)?, 1, stop).await;
    }
    let now = now_of(&database, &home.directory);
    Ok(complete_summary(&database, &home.directory, now, None)?)
}

/// The refresh status of each database. Those without a summary are not yet in the plan.
fn standings(home: &Home, effort: &Effort) -> Result<Vec<Standing>> {
    let store = home.store();
    let names = home.names()?;
    let has_summary = names
        .iter()
        .map(|name| store.times(name))
        .collect::<Result<Vec<_>, _>>()?
        .iter()
        .any(|times| !times.is_empty());
    let planned = if has_summary { Some(plan(home, effort)?) } else { None };
    let interval =
        |name: &str| planned.as_ref().and_then(|planned| interval_of(planned, name)).unwrap_or(f64::INFINITY);
    names.iter().map(|name| Ok(Standing::of(&store, name, interval(name))?)).collect()
}

fn interval_of(planned: &Planned, name: &str) -> Option<f64> {
    let place = planned.names.iter().position(|other| other == name)?;
    Some(planned.plan.intervals[place])
}

/// Prints the status of the summaries.
pub(crate) fn status(options: &StatusOptions) -> Result<()> {
    let store = options.home.store();
    let now = wall_now();
    let planned = plan(&options.home, &options.effort);
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["database", "learned", "still right", "refresh", "documents", "last failure"]);
    let mut lines = Vec::new();
    for name in options.home.names()? {
        let place =
            planned.as_ref().ok().and_then(|planned| planned.names.iter().position(|other| *other == name));
        let interval = place
            .and_then(|place| Some(planned.as_ref().ok()?.plan.intervals[place]))
            .unwrap_or(f64::INFINITY);
        let standing = Standing::of(&store, &name, interval)?;
        let law = place.and_then(|place| Some(planned.as_ref().ok()?.predictions[place].law));
        let age = standing.learned.map(|learned| now.days_since(learned).get() / 7.0);
        let survival = law.zip(age).map(|(law, weeks)| law.survival(Days::new(weeks)));
        let due = standing.due();
        let known = store.latest(&name)?.map(|version| version.facts.size);
        let failure = standing.failures.last().map(|attempt| attempt.why.clone());
        lines.push(json!({
            "name": name, "learned_ms": standing.learned.map(Timestamp::millis), "age_weeks": age,
            "still_right": survival,
            "interval_weeks": interval.is_finite().then_some(interval),
            "due_ms": due.map(|due| due.millis().max(now.millis())), "failures": standing.failures.len(),
            "last_failure": failure,
        }));
        table.add_row([
            name,
            standing.learned.map_or("never".to_owned(), moment),
            survival.map_or(String::new(), |survival| format!("{:.0}%", 100.0 * survival)),
            match due {
                Some(due) if due <= now => "now".to_owned(),
                Some(due) => moment(due),
                None => "no plan".to_owned(),
            },
            known.map_or(String::new(), size),
            failure.unwrap_or_default(),
        ]);
    }
    let mut output = io::stdout().lock();
    let spent = Spent::today(&store, now);
    if options.home.json {
        writeln!(output, "{}", json!({"databases": lines, "requests": spent}))?;
    } else {
        writeln!(output, "{table}")?;
        if let Some(spent) = spent {
            writeln!(output, "{}", spent_in_words(&spent))?;
        }
        if let Err(why) = planned {
            writeln!(output, "without a plan: {why}")?;
        }
    }
    Ok(())
}

fn spent_in_words(spent: &Spent) -> String {
    let requests = documents(spent.requests as f64);
    match spent.per_day {
        Some(per_day) => format!(
            "`freshet db run` made {requests} requests today (UTC); it may make {} a day, {:.0}% of the \
             crawl's budget",
            documents(per_day),
            100.0 * spent.share
        ),
        None => {
            format!("`freshet db run` made {requests} requests today (UTC); the crawl's budget has no limit")
        }
    }
}
