//! `freshet demo`: crawls a small living web on this machine for a minute, on a budget that cannot keep
//! everything fresh.

use std::collections::HashMap;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use clap::Args;
use freshet_crawl::clock::{Clock, Pace};
use freshet_crawl::opening::{Crawl, CrawlError};
use freshet_lab::web::clock::WebClock;
use freshet_lab::web::hosts::Hosts;
use freshet_lab::web::living_web::LivingWeb;
use freshet_lab::web::request_log::LogTarget;
use freshet_lab::web::server::Serving;
use freshet_lab::web::settings::WebSettings;
use freshet_lab::web::truth::Scope;
use freshet_protocol::time::Timestamp;
use freshet_store::error::StoreError;
use freshet_theory::units::MILLIS_PER_DAY;

use super::config::{Config, span};
use super::run::run_open;
use super::screen::Show;
use super::words::{count, moment};

/// Crawl a small living web on this machine for a minute, and say what was achieved
///
/// No network and no other program is needed. The web's time runs faster than the clock; it knows when each
/// page really changed, so that what the crawl believes can be held against the truth.
#[derive(Args)]
pub(crate) struct DemoOptions {
    /// Where the crawl keeps its files; a new directory
    #[arg(long, default_value = "freshet-demo", value_name = "DIR")]
    dir: PathBuf,

    /// How long to crawl
    #[arg(long = "for", default_value = "60s", value_name = "SPAN")]
    duration: String,

    /// Pages of the web, about
    #[arg(long, default_value_t = 2000, value_name = "N",
        value_parser = clap::value_parser!(u32).range(50..=1_000_000))]
    pages: u32,

    /// Seed of the web's chance
    #[arg(long, default_value_t = 7, value_name = "SEED")]
    seed: u64,
}

/// Speed of the web's time: a day passes in four seconds.
const SPEED: f64 = 21_600.0;
/// Maximum number of retries to reopen the crawl, a tenth of a second apart.
const OPEN_TRIES: u32 = 50;
/// Visits per page and day of the web's time: about as often as pages change.
const VISITS_PER_PAGE: f64 = 0.15;

/// Runs the demonstration.
pub(crate) fn run(options: &DemoOptions) -> Result<()> {
    if options.dir.exists() {
        bail!("{} exists already: remove it, or name another directory with --dir", options.dir.display());
    }
    let limit = span(&options.duration).context("--for")?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start")?;
    let result = runtime.block_on(demonstrate(options, limit));
    runtime.shutdown_timeout(Duration::from_millis(200));
    result
}

async fn demonstrate(options: &DemoOptions, limit: Duration) -> Result<()> {
    let clock = WebClock::running(SPEED);
    let reading = clock.reading();
    let pace = Pace {
        start: Timestamp::from_millis(reading.start_ms),
        wall_start: Timestamp::from_millis(reading.wall_start_ms),
        speed: reading.speed,
    };
    let settings =
        WebSettings { sites: 20, pages: options.pages, seed: options.seed, ..WebSettings::default() };
    let served = LivingWeb::serve(
        settings,
        Serving { hosts: Hosts::Addresses { port: 0 }, clock, log: LogTarget::Nowhere },
    )
    .await
    .context("cannot serve the web")?;
    let per_day = (f64::from(options.pages) * VISITS_PER_PAGE).ceil();
    let mut config = Config { seeds: served.seeds(), allow_private: Some(true), ..Config::default() };
    config.budget = Some(format!("{per_day}/day"));
    config.policy = Some("freshet:fresh:steady".to_owned());
    let mut crawl = config.settings(&options.dir)?;
    // The first copy is made without a budget; the budget is for keeping it fresh.
    crawl.visits_per_day = None;
    crawl.once = true;
    let mut output = io::stdout();
    writeln!(
        output,
        "A living web of about {} pages on 20 sites; a day of its time takes four seconds.",
        count(options.pages.into())
    )?;
    writeln!(
        output,
        "The budget is {} visits a day, and the objective freshness; pages change about {:.2} times a day on \
         average.\n",
        count(per_day as u64),
        0.12
    )?;
    let clock = Arc::new(Clock::new(pace));
    run_open(Crawl::open(crawl, Arc::clone(&clock))?, Some(limit), Show::Quiet).await?;
    let opened = open_again(&config, options, &clock).await?;
    let crawler = opened.crawler();
    let begun = clock.now();
    run_open(opened, Some(limit), Show::Usual).await?;
    let now = clock.now();
    let status = crawler.status_now();

    let mut copies: HashMap<String, Timestamp> = HashMap::new();
    for entry in crawler.reader().pages() {
        let (_, record) = entry?;
        if let (Some(url), Some(visited)) = (
            crawler.reader().url(record.url)?,
            record.last_visit.filter(|_| record.discarded.is_none() && record.text_digest.is_some()),
        ) {
            copies.insert(url.url, visited);
        }
    }
    let copies: Vec<(String, Timestamp)> = copies.into_iter().collect();
    let truth = served.web().quality_of(&copies, now, Scope::Main);
    // Uniform visiting on the same budget: every page is as old as its place in the round says.
    let round_millis = copies.len() as f64 / per_day * MILLIS_PER_DAY;
    let in_turn = |place: usize| -((place as f64 + 0.5) / copies.len() as f64 * round_millis) as i64;
    let uniform: Vec<(&str, Timestamp)> = copies
        .iter()
        .enumerate()
        .map(|(place, (url, _))| (url.as_str(), now.plus_millis(in_turn(place)).max(begun)))
        .collect();
    let uniform = served.web().quality_of(&uniform, now, Scope::Main);
    let happened = served.web().changes_between(begun, now, Scope::Main);
    writeln!(output)?;
    writeln!(
        output,
        "pages kept          {}, from {} to {} of the web's time",
        count(copies.len() as u64),
        moment(begun.millis()),
        moment(now.millis())
    )?;
    writeln!(
        output,
        "changes             {} happened, {} were found by {} visits",
        count(happened as u64),
        count(status.changes),
        count(status.visits)
    )?;
    if let Some((freshness, error)) = status.freshness {
        writeln!(
            output,
            "freshness           {:.1}% measured against the truth; the crawl believes {:.1}% ± {:.1}",
            100.0 * truth.freshness,
            100.0 * freshness,
            196.0 * error
        )?;
    }
    writeln!(
        output,
        "uniform visiting    {:.1}% would be fresh on the same budget",
        100.0 * uniform.freshness
    )?;
    writeln!(
        output,
        "\nThe files are in {0}. Ask about them: freshet status --dir {0}; freshet changes --since 365d \
         --dir {0}",
        options.dir.display()
    )?;
    served.stop().await
}

/// Reopens the crawl, as soon as the tasks of the first run have released it.
async fn open_again(config: &Config, options: &DemoOptions, clock: &Arc<Clock>) -> Result<Crawl> {
    let mut tries = 0;
    loop {
        match Crawl::open(config.settings(&options.dir)?, Arc::clone(clock)) {
            Err(CrawlError::Store(StoreError::InUse { .. })) if tries < OPEN_TRIES => tries += 1,
            opened => return Ok(opened?),
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
