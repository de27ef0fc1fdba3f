//! `freshet crawl`, from its options to its end.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use clap::Args;
use freshet_crawl::clock::{Clock, Pace};
use freshet_crawl::opening::{Crawl, is_crawl};
use freshet_crawl::query_socket;
use freshet_crawl::settings::Settings;
use freshet_protocol::time::Timestamp;
use freshet_store::store::is_earlier;

use super::config;
use super::saved_options::{How, SavedOptions, config_of};
use super::screen::{self, Show};

/// Crawl sites and keep the copy fresh, or go on with a crawl
///
/// Discovers the pages of the named sites, keeps the important ones, learns how often each changes, and
/// visits each at the rate that buys the most freshness for the budget. Everything is kept in one directory;
/// Ctrl-C stops, and the same command goes on. Options that are not given again hold as they were given last,
/// unless the configuration file says something else.
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

    #[command(flatten)]
    told: SavedOptions,

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
  freshet crawl --dir crawl                      # goes on as it was told before
  freshet crawl urls.txt --once --dir snapshot --contact me@example.org
While it runs and afterwards: freshet status, pages, explain, changes, cat (with --dir).";

/// Runs a crawl until it is stopped.
pub(crate) fn run(options: &CrawlOptions) -> Result<()> {
    let (settings, told) = settings(options)?;
    let clock = Arc::new(Clock::new(options.clock.as_deref().map_or(Ok(Pace::WALL), pace_of)?));
    let limit = options.duration.as_deref().map(config::span).transpose().context("--for")?;
    let show = match (options.quiet, options.json) {
        (true, _) => Show::Quiet,
        (_, true) => Show::Json,
        _ => Show::Usual,
    };
    let before = told.beyond(&options.told)?;
    if show == Show::Usual && !before.is_empty() {
        writeln!(io::stderr(), "It goes on as it was told before: {before}").context("cannot say so")?;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start")?;
    let result = runtime.block_on(crawl(settings, told, clock, limit, show));
    runtime.shutdown_timeout(Duration::from_millis(200));
    result
}

async fn crawl(
    settings: Settings,
    told: SavedOptions,
    clock: Arc<Clock>,
    limit: Option<Duration>,
    show: Show,
) -> Result<()> {
    let directory = settings.directory.clone();
    if settings.seeds.is_empty() && !is_crawl(&directory) {
        bail!(
            "there is nothing to crawl: name a URL, or a directory with a crawl ({} has none)",
            directory.display()
        );
    }
    warn_of_conversion(&directory);
    let mut crawl =
        Crawl::open(settings, clock).with_context(|| format!("cannot crawl into {}", directory.display()))?;
    if let Some(text) = told.text()? {
        crawl.writer_mut().save_options(&text)?;
    }
    told.keep(&directory)?;
    run_open(crawl, limit, show).await
}

/// Runs and closes a crawl. Meanwhile answers queries and shows the status.
pub(super) async fn run_open(mut crawl: Crawl, limit: Option<Duration>, show: Show) -> Result<()> {
    let crawler = crawl.crawler();
    let directory = crawler.reader().directory().to_owned();
    let asked =
        crawl.take_socket().map(|socket| tokio::spawn(query_socket::serve(socket, Arc::clone(&crawler))));
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
    shown.abort();
    stopper.abort();
    if let Some(asked) = asked {
        asked.abort();
        // Ending the task also removes the socket.
        let _ = asked.await;
    }
    if show != Show::Quiet {
        let mut status = crawler.status_now();
        status.running = false;
        screen::close(&status, show)?;
    }
    result.with_context(|| format!("the crawl in {} stopped", directory.display()))
}

/// Waits for Ctrl-C (SIGINT) or SIGTERM.
pub(crate) async fn stop_signal() -> io::Result<()> {
    let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    tokio::select! {
        pressed = tokio::signal::ctrl_c() => pressed,
        _ = terminate.recv() => Ok(()),
    }
}

/// The settings of the crawl, and the options to save.
fn settings(options: &CrawlOptions) -> Result<(Settings, SavedOptions)> {
    let mut config = config_of(&options.dir, options.config.as_deref())?;
    for seed in &options.seeds {
        config.seeds.extend(urls_of(seed)?);
    }
    options.told.lay(How::Over, &mut config)?;
    let mut settings = config.settings(&options.dir)?;
    settings.once = options.once;
    Ok((settings, options.told.clone().or(SavedOptions::before(&options.dir)?)))
}

/// The URL, or the URLs listed in a file.
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

/// Asks a living web for the pace of its clock.
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

/// Warns the user before a directory in an earlier format is converted. Returns whether it is in one.
#[expect(clippy::print_stderr, reason = "a user is told before it is done, whatever is shown")]
pub(super) fn warn_of_conversion(directory: &Path) -> bool {
    let is_earlier = is_earlier(directory);
    if is_earlier {
        eprintln!(
            "freshet: {} was made by an earlier version of this program; it is converted now, once, and \
             nothing of it is lost",
            directory.display()
        );
    }
    is_earlier
}
