//! `freshet audit`: measures how fresh the copies of a crawl really are by visiting a random sample.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use freshet_crawl::audit::{AuditReport, SAMPLE_MAX};
use freshet_crawl::clock::{Clock, Pace};
use freshet_crawl::crawler::Crawler;
use freshet_crawl::opening::Crawl;
use freshet_crawl::queries::{Answer, Question};
use freshet_crawl::query_socket::{self, Reply};

use super::ask::{Place, must_be_crawl, settings_to_go_on, show_answer};
use super::config::span;
use super::run::{pace_of, warn_of_conversion};
use super::words;

/// Interval at which the progress of an audit is queried.
const ASK_EVERY: Duration = Duration::from_millis(300);
/// Budget of other visits during the audit of a stopped crawl, in visits a day: effectively none.
const NO_BUDGET: f64 = 1e-3;

/// Visit pages drawn at random, and say how fresh the copies really are
///
/// Each page is visited in its turn and as politely as ever, by the crawl that runs or by this command if
/// none does; what the visits find is kept. The result stands beside what the crawl believed, and calibrates
/// what it will say from now on.
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct AuditOptions {
    /// How many pages
    #[arg(long, default_value_t = 200, value_name = "N")]
    sample: usize,

    /// Stop after this time, with what was visited until then
    #[arg(long = "for", default_value = "10min", value_name = "SPAN")]
    duration: String,

    /// Run on the time of a living web of the lab: the address of its clock
    #[arg(long, value_name = "URL")]
    clock: Option<String>,

    #[command(flatten)]
    place: Place,
}

const AFTER_HELP: &str = "Examples:
  freshet audit                        # 200 pages; half the width of the interval is about 7 points
  freshet audit --sample 2000 --json";

/// `freshet audit`.
pub(crate) fn audit(options: &AuditOptions) -> Result<()> {
    let directory = &options.place.dir;
    must_be_crawl(directory)?;
    if !(1..=SAMPLE_MAX).contains(&options.sample) {
        bail!("--sample: {} is not between 1 and {SAMPLE_MAX}", options.sample);
    }
    let limit = span(&options.duration).context("--for")?;
    let begun = query_socket::ask(directory, &Question::Audit { sample: options.sample })
        .and_then(Reply::required)
        .with_context(|| format!("cannot ask the crawl in {}", directory.display()))?;
    let answer = match begun {
        Some(Answer::Audit(report)) => wait(directory, report, limit)?,
        Some(other) => other,
        None => Answer::Audit(visit(options, limit)?),
    };
    if let Answer::Audit(AuditReport { sample: 0, .. }) = answer {
        bail!("there is nothing to audit: the crawl in {} has no copies yet", directory.display());
    }
    show_answer(&options.place, answer)
}

/// Waits until the running crawl has visited the pages.
fn wait(directory: &Path, report: AuditReport, limit: Duration) -> Result<Answer> {
    let begun = Instant::now();
    let mut last = Answer::Audit(report);
    loop {
        let is_over = begun.elapsed() >= limit;
        match query_socket::ask(directory, &Question::Audited { enough: is_over })?.required()? {
            Some(answer) => last = answer,
            // The crawl was stopped: its last report is the result.
            None => return Ok(last),
        }
        match &last {
            Answer::Audit(report) if !report.done && !is_over => std::thread::sleep(ASK_EVERY),
            _ => return Ok(last),
        }
    }
}

/// Opens a crawl that does not run and visits the pages.
fn visit(options: &AuditOptions, limit: Duration) -> Result<AuditReport> {
    let directory = &options.place.dir;
    let mut settings = settings_to_go_on(directory)?;
    warn_of_conversion(directory);
    settings.visits_per_day = Some(NO_BUDGET);
    let clock = Arc::new(Clock::new(options.clock.as_deref().map_or(Ok(Pace::WALL), pace_of)?));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start")?;
    let report = runtime.block_on(async {
        let crawl = Crawl::open(settings, clock)
            .with_context(|| format!("cannot audit the crawl in {}", directory.display()))?;
        let crawler = crawl.crawler();
        crawler.begin_audit(options.sample)?;
        let watched = tokio::spawn(watch(crawler, limit));
        crawl.run().await.with_context(|| format!("the audit of {} stopped", directory.display()))?;
        watched.await.context("the audit was not watched")?
    });
    runtime.shutdown_timeout(Duration::from_millis(200));
    report
}

/// Stops the crawl when its audit is done or has taken too long.
async fn watch(crawler: Arc<Crawler>, limit: Duration) -> Result<AuditReport> {
    let begun = Instant::now();
    loop {
        let is_over = begun.elapsed() >= limit || crawler.is_stopping();
        let report = crawler.audit_so_far(is_over).await?.unwrap_or_default();
        if report.done || is_over {
            crawler.ask_to_stop();
            return Ok(report);
        }
        tokio::time::sleep(ASK_EVERY).await;
    }
}

/// Prints the result of an audit.
pub(super) fn show(output: &mut impl Write, report: &AuditReport) -> Result<()> {
    let rest = report.sample - report.judged;
    writeln!(
        output,
        "{} pages drawn at random, {} judged, {rest} not visited or failing",
        report.sample, report.judged
    )?;
    let percent = |share: f64| 100.0 * share;
    if let Some((share, low, high)) = report.freshness {
        let believed = report
            .believed_freshness
            .map_or(String::new(), |believed| format!("; {:.1}% was believed", percent(believed)));
        let (share, low, high) = (percent(share), percent(low), percent(high));
        writeln!(output, "freshness  {share:.1}% (95%: {low:.1} to {high:.1}){believed}")?;
    }
    if let Some((age, low, high)) = report.age_days {
        let believed = report
            .believed_age_days
            .map_or(String::new(), |believed| format!("; {} was believed", words::span(believed)));
        let (age, low, high) = (words::span(age), words::span(low), words::span(high));
        writeln!(output, "age        {age} (95%: {low} to {high}){believed}")?;
    }
    Ok(())
}
