//! Compares the changes that a crawl reports with the truth. The pages of a living web carry clocks, tokens,
//! counters, advertisements and boxes with other pages. The crawl learns what differs at every request, and
//! reports only real changes.
//!
//! `FRESHET_TRIAL="sites=100 pages=5000 seconds=120" cargo test -p freshet-lab --test changes_reported --
//! --nocapture` runs a larger trial.
#![expect(clippy::print_stdout, reason = "the figures of a trial are for whoever made it")]

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use freshet_crawl::clock::{Clock, Pace};
use freshet_crawl::crawler::Crawler;
use freshet_crawl::opening::{Crawl, CrawlError};
use freshet_crawl::settings::{Mode, Publication, Settings};
use freshet_fetch::change::Definitions;
use freshet_fetch::web::politeness::PolitenessSettings;
use freshet_fetch::web::{PrivateAddresses, WebSettings as FetchSettings};
use freshet_lab::web::clock::WebClock;
use freshet_lab::web::hosts::Hosts;
use freshet_lab::web::living_web::LivingWeb;
use freshet_lab::web::request_log::{LogTarget, RequestLine};
use freshet_lab::web::server::{ServedWeb, Serving};
use freshet_lab::web::settings::WebSettings;
use freshet_protocol::time::Timestamp;
use freshet_store::collection::Keep;
use freshet_store::history::{VisitKind, VisitQuery, VisitRow};

/// Size of a trial.
struct Trial {
    sites: u32,
    pages: u32,
    seconds: u64,
    speed: f64,
    noise: f64,
    visits_per_page: f64,
}

impl Trial {
    /// A small trial, or what the environment says.
    fn given() -> Self {
        let mut trial =
            Self { sites: 10, pages: 300, seconds: 10, speed: 40_000.0, noise: 0.5, visits_per_page: 0.8 };
        for pair in std::env::var("FRESHET_TRIAL").unwrap_or_default().split_whitespace() {
            let (name, value) = pair.split_once('=').expect("name=value");
            let number: f64 = value.parse().expect("a number");
            match name {
                "sites" => trial.sites = number as u32,
                "pages" => trial.pages = number as u32,
                "seconds" => trial.seconds = number as u64,
                "speed" => trial.speed = number,
                "noise" => trial.noise = number,
                "visits" => trial.visits_per_page = number,
                other => panic!("{other} is none of sites, pages, seconds, speed, noise, visits"),
            }
        }
        trial
    }

    async fn serve(&self) -> ServedWeb {
        let settings =
            WebSettings { sites: self.sites, pages: self.pages, noise: self.noise, ..WebSettings::default() };
        let clock = WebClock::running(self.speed);
        let serving = Serving { hosts: Hosts::Addresses { port: 0 }, clock, log: LogTarget::Memory };
        LivingWeb::serve(settings, serving).await.expect("it is served")
    }
}

fn settings(directory: &Path, seeds: Vec<String>, visits_per_day: Option<f64>) -> Settings {
    Settings {
        directory: directory.to_owned(),
        seeds,
        sites: Vec::new(),
        follow_other_sites: false,
        visits_per_day,
        bytes_per_day: None,
        discovery_share: 0.8,
        audit_share: 0.2,
        pages_max: 100_000,
        connections: 16,
        policy: "freshet:mix:steady".parse().expect("a policy"),
        importance_weight: 0.0,
        topic: Vec::new(),
        pins: Vec::new(),
        change: Definitions::default(),
        clean_urls: true,
        trap_defence: true,
        politeness: PolitenessSettings::default(),
        web: FetchSettings { private: PrivateAddresses::Allowed, ..FetchSettings::default() },
        keep: Keep::default(),
        intervals: Vec::new(),
        mode: Mode::default(),
        publication: Publication::default(),
        cycle: None,
        once: visits_per_day.is_none(),
        seed: 1,
    }
}

/// Runs a crawl for this long, or to its end. Returns the crawler for queries.
async fn run(settings: Settings, clock: &Arc<Clock>, limit: Duration) -> Arc<Crawler> {
    let crawl = loop {
        match Crawl::open(settings.clone(), Arc::clone(clock)) {
            // A reader of the previous run may hold its files a moment longer.
            Err(CrawlError::Store(freshet_store::error::StoreError::InUse { .. })) => {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            opened => break opened.expect("it opens"),
        }
    };
    let crawler = crawl.crawler();
    let stopper = {
        let crawler = Arc::clone(&crawler);
        tokio::spawn(async move {
            tokio::time::sleep(limit).await;
            crawler.ask_to_stop();
        })
    };
    crawl.run().await.expect("it runs");
    stopper.abort();
    crawler
}

/// Comparison of reported with real changes.
#[derive(Debug, Default)]
struct Tally {
    /// Numbers of changes that were reported and real, reported and not real, and real and not reported.
    right: u32,
    invented: u32,
    missed: u32,
}

impl Tally {
    fn count(&mut self, reported: bool, real: bool) {
        self.right += u32::from(reported && real);
        self.invented += u32::from(reported && !real);
        self.missed += u32::from(!reported && real);
    }

    fn precision(&self) -> f64 {
        f64::from(self.right) / f64::from((self.right + self.invented).max(1))
    }

    fn recall(&self) -> f64 {
        f64::from(self.right) / f64::from((self.right + self.missed).max(1))
    }
}

/// The visits that fetched a page, each with the version that the server says it served.
fn seen(rows: Vec<VisitRow>, requests: &[RequestLine]) -> HashMap<String, Vec<(VisitRow, u32)>> {
    let mut served: HashMap<(&str, &str), Vec<&RequestLine>> = HashMap::new();
    for request in requests {
        served.entry((&request.host, &request.path)).or_default().push(request);
    }
    let mut seen: HashMap<String, Vec<(VisitRow, u32)>> = HashMap::new();
    for row in rows {
        let rest = row.url.strip_prefix("http://").expect("a web without encryption");
        let (authority, _) = rest.split_once('/').expect("a path");
        let path = &rest[authority.len()..];
        let host = authority.split(':').next().unwrap_or(authority);
        let of_url = served.get(&(host, path)).or_else(|| served.get(&(authority, path)));
        let first =
            of_url.and_then(|requests| requests.iter().find(|request| row.time.millis() <= request.time_ms));
        if let Some((200, Some(version))) = first.map(|request| (request.status, request.version)) {
            seen.entry(row.url.clone()).or_default().push((row, version));
        }
    }
    seen
}

/// Counts for the crawl's reports, and for digests of the bytes.
fn judge(seen: &HashMap<String, Vec<(VisitRow, u32)>>, show: bool) -> (Tally, Tally) {
    let (mut crawl, mut raw) = (Tally::default(), Tally::default());
    for visits in seen.values() {
        let Some((first, version)) = visits.first() else { continue };
        let (mut copy, mut last, mut digest) = (*version, *version, first.raw_digest);
        for (row, version) in &visits[1..] {
            raw.count(row.raw_digest != digest, *version != last);
            (last, digest) = (*version, row.raw_digest);
            let reported = matches!(row.kind, VisitKind::Changed | VisitKind::New | VisitKind::Back);
            crawl.count(reported, *version != copy);
            if show && reported != (*version != copy) {
                println!(
                    "{} {} {} {copy}->{version} {:?}",
                    row.time.millis(),
                    row.kind.word(),
                    row.url,
                    row.change_size
                );
            }
            if reported {
                copy = *version;
            }
        }
    }
    (crawl, raw)
}

#[test]
fn what_is_reported_is_real_and_what_is_real_is_reported() {
    let trial = Trial::given();
    let place = tempfile::tempdir().expect("a place");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let served = trial.serve().await;
        let reading = served.clock().reading();
        let pace = Pace {
            start: Timestamp::from_millis(reading.start_ms),
            wall_start: Timestamp::from_millis(reading.wall_start_ms),
            speed: reading.speed,
        };
        let clock = Arc::new(Clock::new(pace));
        // The first copies are made at once. The budget is for keeping them fresh.
        drop(run(settings(place.path(), served.seeds(), None), &clock, Duration::from_secs(60)).await);
        let budget = f64::from(trial.pages) * trial.visits_per_page;
        let limit = Duration::from_secs(trial.seconds);
        let crawler = run(settings(place.path(), served.seeds(), Some(budget)), &clock, limit).await;

        let rows = crawler.reader().visits(&VisitQuery::all()).expect("the visits");
        let visits = rows.len();
        let audited = rows.iter().filter(|visit| visit.row.reason.as_deref() == Some("audit")).count();
        let requests = served.requests();
        let pages = requests.iter().filter(|request| request.status == 200 && request.page.is_some()).count();
        let whole = rows.iter().filter(|visit| visit.row.status == 200).count();
        let seen = seen(rows.into_iter().map(|visit| visit.row).collect(), &requests);
        let (crawl, raw) = judge(&seen, std::env::var_os("FRESHET_TRIAL").is_some());
        println!(
            "{visits} visits, {} second looks; reported: {:.1}% real, real: {:.1}% reported {crawl:?}; \
             bytes: {:.1}% real {raw:?}",
            pages.saturating_sub(whole),
            100.0 * crawl.precision(),
            100.0 * crawl.recall(),
            100.0 * raw.precision()
        );
        assert!(crawl.right >= 20, "there is something to judge: {crawl:?}");
        assert!(crawl.precision() >= 0.9, "{crawl:?}");
        assert!(crawl.recall() >= 0.9, "{crawl:?}");
        assert!(audited >= 30 && crawler.status_now().audits >= 1, "it audits itself: {audited} visits");
        assert!(raw.precision() < 0.9, "there is noise to tell from changes: {raw:?}");
        served.stop().await.expect("it stops");
    });
}
