//! `freshet lab web`: serves a living web on this machine, for trying a crawler.

use std::fs;
use std::future::pending;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result};
use clap::Args;
use freshet_lab::web::atlas::PageNumber;
use freshet_lab::web::clock::{SPEED_MAX, START, WebClock};
use freshet_lab::web::hosts::Hosts;
use freshet_lab::web::living_web::LivingWeb;
use freshet_lab::web::request_log::LogTarget;
use freshet_lab::web::server::{ServedWeb, Serving};
use freshet_lab::web::settings::{PAGES_MAX, Pace, SITES_MAX, WebSettings};
use freshet_theory::units::SECONDS_PER_DAY;

use crate::span::parse_days;

/// Serve a web on this machine whose pages change, are born, move and die, and which knows the truth about it
///
/// Sites of all sizes with directories, links, robots.txt, sitemaps and feeds, at loopback addresses. All of
/// it is made by chance from the seed: the same settings give the same web with the same history. Its time
/// can run faster than the clock, for a crawler that runs on the same time too. It serves until Ctrl-C.
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct WebOptions {
    /// Sites, their sizes by a power law
    #[arg(long, default_value_t = 200, value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=i64::from(SITES_MAX)))]
    sites: u32,

    /// Pages at the start, about, over all sites
    #[arg(long, default_value_t = 50_000, value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=i64::from(PAGES_MAX)))]
    pages: u32,

    /// Seed of all chance
    #[arg(long, default_value_t = 7, value_name = "SEED")]
    seed: u64,

    /// How many times as fast as the clock its time runs
    #[arg(long, default_value = "1000x", value_name = "FACTOR", value_parser = parse_speed,
        allow_hyphen_values = true)]
    speed: f64,

    /// Mean changes a day of the pages that change at random
    #[arg(long, default_value_t = 0.12, value_name = "RATE", value_parser = parse_rate,
        allow_hyphen_values = true)]
    changes: f64,

    /// Share of pages with text that differs at every request: clocks, tokens, counters, advertisements
    #[arg(long, default_value_t = 0.3, value_name = "SHARE", value_parser = parse_share,
        allow_hyphen_values = true)]
    noise: f64,

    /// Share of sites whose ETag or Last-Modified lies
    #[arg(long, default_value_t = 0.1, value_name = "SHARE", value_parser = parse_share,
        allow_hyphen_values = true)]
    lies: f64,

    /// Give some sites a calendar without end, as a trap
    #[arg(long)]
    calendars: bool,

    /// Port of all sites; 0 takes one that is free
    #[arg(long, default_value_t = 0, value_name = "PORT")]
    port: u16,

    /// Serve all sites at 127.0.0.1 under the names site-0000.test, site-0001.test, ... in the Host header
    #[arg(long)]
    one_address: bool,

    /// Write every request to this file, as lines of JSON
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,

    /// Write the URLs of all sites to this file, one on a line
    #[arg(long, value_name = "FILE")]
    seeds: Option<PathBuf>,

    /// Stop after this time on the wall
    #[arg(long = "for", value_name = "SPAN", value_parser = parse_days, allow_hyphen_values = true)]
    duration: Option<f64>,
}

const AFTER_HELP: &str = "The truth, on any site (moments in simulated milliseconds since 1970):
  /-/clock                          the moment, with what another clock needs to agree
  /-/truth?since=MS&until=MS        all that happened: born, changed, moved, died
  /-/truth/page?url=URL&at=MS       what there is at a URL
  /-/state?at=MS                    every page there is, with its version and last change

Examples:
  freshet lab web --sites 20 --pages 2000 --port 8080
  freshet lab web --speed 10000x --seeds seeds.txt --log requests.jsonl --for 10min";

/// Maximum number of sites shown on the screen. A file can list all.
const SITES_SHOWN: usize = 10;

/// Runs the command.
pub(super) fn run(options: &WebOptions) -> Result<()> {
    let settings = WebSettings {
        sites: options.sites,
        pages: options.pages,
        seed: options.seed,
        pace: Pace { changes_per_day: options.changes, ..Pace::default() },
        noise: options.noise,
        lies: options.lies,
        calendars: options.calendars,
        ..WebSettings::default()
    };
    settings.check()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the threads of the server")?;
    runtime.block_on(serve(options, settings))
}

async fn serve(options: &WebOptions, settings: WebSettings) -> Result<()> {
    let port = options.port;
    let serving = Serving {
        hosts: if options.one_address { Hosts::Names { port } } else { Hosts::Addresses { port } },
        clock: WebClock::running(options.speed),
        log: options.log.clone().map_or(LogTarget::Nowhere, LogTarget::File),
    };
    let served = LivingWeb::serve(settings, serving).await?;
    if let Some(path) = &options.seeds {
        fs::write(path, served.seeds().join("\n") + "\n")
            .with_context(|| format!("cannot write the seeds to {}", path.display()))?;
    }
    describe(&served, options)?;
    let time_out = async {
        match options.duration {
            Some(days) => tokio::time::sleep(Duration::from_secs_f64(days * SECONDS_PER_DAY)).await,
            None => pending().await,
        }
    };
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted.context("cannot wait for Ctrl-C")?,
        () = time_out => {}
    }
    let requests = served.request_count();
    let days = served.clock().now().days_since(START).get();
    served.stop().await?;
    writeln!(io::stdout().lock(), "Stopped after {days:.1} simulated days and {requests} requests.")?;
    Ok(())
}

/// Prints what is served, where, and for how long.
fn describe(served: &ServedWeb, options: &WebOptions) -> Result<()> {
    let web = served.web();
    let alive = web.live_pages(START).count();
    let to_come = web.atlas.pages() as usize - alive;
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "A living web: {} sites, {alive} pages and {to_come} to be born, seed {}, {} times as fast as the \
         clock.",
        options.sites, options.seed, options.speed
    )?;
    if options.one_address {
        writeln!(out, "All sites listen on {}; the Host header tells them apart.", served.address())?;
    }
    let seeds = served.seeds();
    for (url, site) in seeds.iter().zip(&web.atlas.sites).take(SITES_SHOWN) {
        let pages = site.pages.clone().filter(|page| web.life(PageNumber(*page)).is_live_at(START)).count();
        writeln!(out, "  {url:<30} {pages:>8} pages  {}", site.name)?;
    }
    if let Some(more) = seeds.len().checked_sub(SITES_SHOWN).filter(|more| *more > 0) {
        let where_all = match &options.seeds {
            Some(path) => format!("all of them in {}", path.display()),
            None => format!("all of them at {}-/seeds, or written by --seeds FILE", seeds[0]),
        };
        writeln!(out, "  and {more} more, {where_all}")?;
    }
    writeln!(out, "The truth: {0}-/clock {0}-/truth {0}-/state", seeds[0])?;
    if options.duration.is_none() {
        writeln!(out, "Ctrl-C stops it.")?;
    }
    Ok(out.flush()?)
}

fn parse_speed(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches(['x', 'X']).trim();
    match number.parse::<f64>() {
        Ok(speed) if 0.0 < speed && speed <= SPEED_MAX => Ok(speed),
        Ok(_) => Err(format!("it is a factor above 0 and up to {SPEED_MAX}x")),
        Err(_) => Err("it is not a factor; write 1000x, or 1x for the time of the wall".to_owned()),
    }
}

fn parse_rate(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(rate) if (0.0..=100.0).contains(&rate) => Ok(rate),
        Ok(_) => Err("it lies from 0 to 100 changes a day".to_owned()),
        Err(_) => Err("it is not a number of changes a day; write 0.12, or 2".to_owned()),
    }
}

fn parse_share(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        Ok(_) => Err("a share lies from 0 to 1".to_owned()),
        Err(_) => Err("it is not a share; write a number from 0 to 1, such as 0.3".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_are_read_with_or_without_their_sign() {
        for (text, speed) in [("1000x", 1_000.0), ("1000", 1_000.0), ("0.5X", 0.5), (" 1 x", 1.0)] {
            assert_eq!(parse_speed(text), Ok(speed), "{text}");
        }
    }

    #[test]
    fn what_is_no_value_says_what_to_write() {
        for (result, word) in [
            (parse_speed("fast"), "write 1000x"),
            (parse_speed("0x"), "above 0"),
            (parse_speed("-3"), "above 0"),
            (parse_speed("NaN"), "above 0"),
            (parse_speed("1e7x"), "up to 1000000x"),
            (parse_rate("-1"), "0 to 100"),
            (parse_rate("often"), "write 0.12"),
            (parse_share("1.5"), "0 to 1"),
            (parse_share("NaN"), "0 to 1"),
            (parse_share("half"), "0.3"),
        ] {
            let error = result.expect_err(word);
            assert!(error.contains(word), "{error}");
        }
    }
}
