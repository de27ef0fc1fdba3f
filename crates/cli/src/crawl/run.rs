//! `freshet crawl`: from its options to its end.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use clap::Args;
use freshet_crawl::clock::{Clock, Pace};
use freshet_crawl::counter;
use freshet_crawl::opening::{Crawl, is_crawl};
use freshet_crawl::settings::Settings;
use freshet_store::time::Timestamp;

use super::config::{self, Config, ModeName, UpdateName};
use super::screen::{self, Show};

/// Crawl sites and keep the copy fresh, or go on with a crawl
///
/// Discovers the pages of the named sites, keeps the important ones, learns how often each changes, and visits each at the rate that
/// buys the most freshness for the budget. Everything is kept in one directory; Ctrl-C stops, and the same command goes on.
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct CrawlOptions {
    /// URLs to begin with: pages, sitemaps, feeds, or files with one URL on each line
    #[arg(value_name = "URL")]
    seeds: Vec<String>,

    /// Where the crawl keeps its files
    #[arg(long, default_value = "crawl", value_name = "DIR")]
    dir: PathBuf,

    /// A configuration file; what is said here comes before it
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Visits: 20000/day, 1/s, unlimited
    #[arg(long, value_name = "VISITS/SPAN")]
    budget: Option<String>,

    /// Bytes: 5GB/day, unlimited
    #[arg(long, value_name = "BYTES/SPAN")]
    bytes: Option<String>,

    /// Pages to keep at most
    #[arg(long, value_name = "N")]
    pages: Option<usize>,

    /// What the copy is kept for: mix, changes, fresh or age
    #[arg(long, value_name = "OBJECTIVE", conflicts_with = "policy")]
    objective: Option<String>,

    /// Which page next: any policy of `freshet lab replay`
    #[arg(long, value_name = "POLICY")]
    policy: Option<String>,

    /// Words that pages should be about: such pages, those whose links say so and those near them are visited first, and kept
    #[arg(long, value_name = "WORDS")]
    topic: Option<String>,

    /// What changes are worth by their kinds: title, text, links, numbers; as in numbers=0.1,links=0.2
    #[arg(long, value_name = "KIND=WEIGHT,...")]
    change_weights: Option<String>,

    /// How visits are spread over time; batch needs --cycle
    #[arg(long, value_enum, value_name = "MODE")]
    mode: Option<ModeName>,

    /// When readers see what was found; shadow needs --cycle
    #[arg(long, value_enum, value_name = "WHEN")]
    update: Option<UpdateName>,

    /// The length of a batch, or between two collections with shadowing: 7d
    #[arg(long, value_name = "SPAN")]
    cycle: Option<String>,

    /// Whom the owner of a site may write to: a page or a mail address
    #[arg(long, value_name = "ADDRESS")]
    contact: Option<String>,

    /// Between two visits to a host: 1s, 500ms, 0
    #[arg(long, value_name = "SPAN")]
    host_delay: Option<String>,

    /// Connections at a time
    #[arg(long, value_name = "N")]
    connections: Option<usize>,

    /// Allow private, loopback and link-local addresses
    #[arg(long)]
    allow_private: bool,

    /// Follow links to other sites too
    #[arg(long)]
    follow_other_sites: bool,

    /// Stop after this time
    #[arg(long = "for", value_name = "SPAN")]
    duration: Option<String>,

    /// Stop when everything known has been visited once
    #[arg(long)]
    once: bool,

    /// Run on the time of a living web of the lab: the address of its clock
    #[arg(long, value_name = "URL")]
    clock: Option<String>,

    /// Show nothing
    #[arg(long, conflicts_with = "json")]
    quiet: bool,

    /// Show the status as lines of JSON
    #[arg(long)]
    json: bool,
}

const AFTER_HELP: &str = "Examples:
  freshet crawl https://example.org/ --budget 20000/day --contact me@example.org
  freshet crawl --dir crawl                      # goes on
  freshet crawl urls.txt --once --dir snapshot --contact me@example.org
While it runs and afterwards: freshet status, pages, explain, changes, cat (with --dir).";

/// Runs a crawl until it is stopped.
pub(crate) fn run(options: &CrawlOptions) -> Result<()> {
    let settings = settings(options)?;
    let clock = Arc::new(Clock::new(options.clock.as_deref().map_or(Ok(Pace::WALL), pace_of)?));
    let limit = options.duration.as_deref().map(config::span).transpose().context("--for")?;
    let show = match (options.quiet, options.json) {
        (true, _) => Show::Quiet,
        (_, true) => Show::Json,
        _ => Show::Usual,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start")?;
    let result = runtime.block_on(crawl(settings, clock, limit, show));
    runtime.shutdown_timeout(Duration::from_millis(200));
    result
}

async fn crawl(settings: Settings, clock: Arc<Clock>, limit: Option<Duration>, show: Show) -> Result<()> {
    let directory = settings.directory.clone();
    if settings.seeds.is_empty() && !is_crawl(&directory) {
        bail!(
            "there is nothing to crawl: name a URL, or a directory with a crawl ({} has none)",
            directory.display()
        );
    }
    let crawl =
        Crawl::open(settings, clock).with_context(|| format!("cannot crawl into {}", directory.display()))?;
    run_open(crawl, limit, show).await
}

/// Runs and closes a crawl, answers questions about it, and shows how it stands.
pub(super) async fn run_open(crawl: Crawl, limit: Option<Duration>, show: Show) -> Result<()> {
    let crawler = crawl.crawler();
    let directory = crawler.reader().directory().to_owned();
    let asked = tokio::spawn(counter::serve(Arc::clone(&crawler)));
    let shown = tokio::spawn(screen::watch(Arc::clone(&crawler), show));
    let stopper = {
        let crawler = Arc::clone(&crawler);
        tokio::spawn(async move {
            let over = async {
                match limit {
                    Some(limit) => tokio::time::sleep(limit).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                _ = stop_signal() => {}
                () = over => {}
            }
            crawler.ask_to_stop();
        })
    };
    let result = crawl.run().await;
    for task in [asked.abort_handle(), shown.abort_handle(), stopper.abort_handle()] {
        task.abort();
    }
    let _ = fs::remove_file(directory.join("socket"));
    if show != Show::Quiet {
        let mut status = crawler.status_now();
        status.running = false;
        screen::close(&status, show)?;
    }
    result.with_context(|| format!("the crawl in {} stopped", directory.display()))
}

/// Ctrl-C, or the signal by which a system ends a program.
pub(crate) async fn stop_signal() -> io::Result<()> {
    let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    tokio::select! {
        pressed = tokio::signal::ctrl_c() => pressed,
        _ = terminate.recv() => Ok(()),
    }
}

fn settings(options: &CrawlOptions) -> Result<Settings> {
    let beside = options.dir.join("freshet.toml");
    let mut config = match &options.config {
        Some(path) => Config::read(path)?,
        None if beside.is_file() => Config::read(&beside)?,
        None => Config::default(),
    };
    for seed in &options.seeds {
        config.seeds.extend(urls_of(seed)?);
    }
    let replace = |old: &mut Option<String>, new: &Option<String>| {
        if new.is_some() {
            old.clone_from(new);
        }
    };
    replace(&mut config.budget, &options.budget);
    replace(&mut config.bytes, &options.bytes);
    replace(&mut config.policy, &options.policy);
    replace(&mut config.topic, &options.topic);
    replace(&mut config.cycle, &options.cycle);
    replace(&mut config.contact, &options.contact);
    replace(&mut config.politeness.delay, &options.host_delay);
    config.mode = options.mode.or(config.mode);
    config.update = options.update.or(config.update);
    if let Some(objective) = &options.objective {
        let form = if config.mode == Some(ModeName::Batch) { "" } else { ":steady" };
        config.policy = Some(format!("freshet:{objective}{form}"));
    }
    if let Some(weights) = &options.change_weights {
        config.change.weights.replace(weights).context("--change-weights")?;
    }
    config.pages = options.pages.or(config.pages);
    config.connections = options.connections.or(config.connections);
    config.allow_private = options.allow_private.then_some(true).or(config.allow_private);
    config.follow_other_sites = options.follow_other_sites.then_some(true).or(config.follow_other_sites);
    let mut settings = config.settings(&options.dir)?;
    settings.once = options.once;
    Ok(settings)
}

/// A URL, or the URLs of a file.
fn urls_of(seed: &str) -> Result<Vec<String>> {
    if seed.contains("://") {
        return Ok(vec![seed.to_owned()]);
    }
    if Path::new(seed).is_file() {
        let text = fs::read_to_string(seed).with_context(|| format!("cannot read the URLs in {seed}"))?;
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        return Ok(lines.map(str::to_owned).collect());
    }
    if seed.contains('.') && !seed.contains(char::is_whitespace) {
        return Ok(vec![format!("https://{seed}")]);
    }
    bail!("`{seed}` is neither a URL nor a file with URLs");
}

/// The pace of a living web's clock, asked of it.
pub(super) fn pace_of(url: &str) -> Result<Pace> {
    let rest = url.strip_prefix("http://").with_context(|| format!("--clock: {url} is no http URL"))?;
    let (authority, path) = rest.split_once('/').unwrap_or((rest, "-/clock"));
    let mut stream =
        TcpStream::connect(authority).with_context(|| format!("--clock: cannot reach {authority}"))?;
    write!(stream, "GET /{path} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream
        .take(64 * 1024)
        .read_to_string(&mut answer)
        .with_context(|| format!("--clock: {url} does not answer"))?;
    let json = answer.find('{').zip(answer.rfind('}')).map(|(start, end)| &answer[start..=end]);
    let reading: serde_json::Value = serde_json::from_str(json.unwrap_or_default())
        .with_context(|| format!("--clock: {url} is not the clock of a living web"))?;
    let field =
        |name: &str| reading[name].as_f64().with_context(|| format!("--clock: {url} does not say {name}"));
    Ok(Pace {
        start: Timestamp::from_millis(field("start_ms")? as i64),
        wall_start: Timestamp::from_millis(field("wall_start_ms")? as i64),
        speed: field("speed")?,
    })
}
