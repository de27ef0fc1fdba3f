//! Tests of panic containment: where a panic is caught, what goes on, what is reported, and what ends the
//! crawl.
//!
//! Once a panic in the policy left the crawl hanging for ever, and another ended it after a second as if
//! nothing had happened. The sites are real servers on loopback. The names of pages and directories tell the
//! code under test where to panic.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use freshet_fetch::change::Definitions;
use freshet_fetch::web::politeness::PolitenessSettings;
use freshet_fetch::web::{PrivateAddresses, WebSettings};
use freshet_store::collection::Keep;
use freshet_store::history::{VisitKind, VisitQuery};
use freshet_store::reader::Reader;

use crate::clock::{Clock, Pace};
use crate::opening::{Crawl, CrawlError};
use crate::settings::{Mode, Publication, Settings};
use crate::status::Status;

/// A site whose pages link to these, and whose sitemap has this name; it answers until the test ends.
fn site(pages: &[&str], list: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let links: String = pages.iter().map(|page| format!("<a href=\"/{page}\">{page}</a> ")).collect();
    let list = list.to_owned();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut asked = [0; 2048];
            let length = stream.read(&mut asked).unwrap_or(0);
            let asked = String::from_utf8_lossy(&asked[..length]).into_owned();
            let (status, kind, body) = if asked.starts_with("GET /robots.txt") {
                ("200 OK", "text/plain", format!("Sitemap: http://{address}/{list}\n"))
            } else {
                let page = asked.split(' ').nth(1).unwrap_or_default();
                ("200 OK", "text/html", format!("<title>{page}</title><p>This is {page}. {links}</p>"))
            };
            let length = body.len();
            let _ = write!(
                stream,
                "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\
                 Connection: close\r\n\r\n{body}"
            );
        }
    });
    format!("http://{address}")
}

fn settings(directory: &Path, seed: &str) -> Settings {
    Settings {
        directory: directory.to_owned(),
        seeds: vec![format!("{seed}/")],
        sites: Vec::new(),
        follow_other_sites: false,
        visits_per_day: None,
        bytes_per_day: None,
        discovery_share: 0.8,
        audit_share: 0.0,
        pages_max: 1_000,
        connections: 4,
        policy: "round-robin".parse().expect("a policy"),
        topic: Vec::new(),
        pins: Vec::new(),
        change: Definitions::default(),
        clean_urls: true,
        trap_defence: false,
        politeness: PolitenessSettings {
            delay: Duration::from_millis(5),
            address_delay: Duration::ZERO,
            ..PolitenessSettings::default()
        },
        web: WebSettings { private: PrivateAddresses::Allowed, ..WebSettings::default() },
        keep: Keep::default(),
        importance_weight: 0.0,
        intervals: Vec::new(),
        mode: Mode::default(),
        publication: Publication::default(),
        cycle: None,
        once: false,
        seed: 1,
    }
}

/// The outcome of a crawl that is stopped when `is_enough`, or after half a minute.
struct Story {
    result: Result<(), CrawlError>,
    status: Status,
    took: Duration,
}

async fn run(settings: Settings, is_enough: impl Fn(&Status) -> bool + Send + 'static) -> Story {
    let crawl = Crawl::open(settings, Arc::new(Clock::new(Pace::WALL))).expect("it opens");
    let crawler = crawl.crawler();
    let begun = Instant::now();
    let stopper = {
        let crawler = Arc::clone(&crawler);
        tokio::spawn(async move {
            while begun.elapsed() < Duration::from_secs(30) && !is_enough(&crawler.status_now()) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            crawler.ask_to_stop();
        })
    };
    let result = crawl.run().await;
    stopper.abort();
    Story { result, status: crawler.status_now(), took: begun.elapsed() }
}

fn names_defect(status: &Status, place: &str) -> bool {
    status
        .troubles
        .iter()
        .any(|(_, trouble)| trouble.contains(&format!("internal error: a defect at {place}")))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_visit_that_panics_is_recorded_as_failed_and_the_crawl_goes_on() {
    let directory = tempfile::tempdir().expect("a directory");
    let site = site(&["a", "panic-in-visit", "b", "c", "d"], "list.xml");
    let settings = settings(directory.path(), &site);
    let story =
        run(settings.clone(), |status| status.pages_copied == 5 && names_defect(status, "panic-in-visit"))
            .await;
    assert!(story.result.is_ok(), "{:?}", story.result);
    assert_eq!(story.status.pages_copied, 5, "{:?}", story.status);
    assert!(names_defect(&story.status, "panic-in-visit"), "{:?}", story.status.troubles);
    let (doing, _) = &story.status.troubles[0];
    assert_eq!(*doing, format!("visiting {site}/panic-in-visit"));
    assert!(story.status.met.iter().any(|met| met.what == "internal error"), "{:?}", story.status.met);
    let crawl = Crawl::open(settings, Arc::new(Clock::new(Pace::WALL))).expect("it opens again");
    let visits = crawl.crawler().reader().visits(&VisitQuery::all()).expect("visits");
    let failed = visits.iter().find(|visit| visit.row.kind == VisitKind::Failed).expect("a failed visit");
    assert_eq!(failed.row.error.as_deref(), Some("internal error: a defect at panic-in-visit"));
    crawl.close().expect("it closes");
}

async fn check_end(place: &str, list: &str, doing: &str) {
    let directory = tempfile::tempdir().expect("a directory");
    let settings = settings(directory.path(), &site(&["a", "b", place], list));
    let story = run(settings.clone(), |_| false).await;
    let error = story.result.expect_err("it cannot go on").to_string();
    let begins = format!("internal error while {doing}: a defect at {place}; what was committed is kept");
    assert!(error.starts_with(&begins), "{error}");
    assert!(story.took < Duration::from_secs(20), "it stood still for {:?}", story.took);
    // What was committed is there.
    let reader = Reader::open(&settings.directory).expect("it can be read");
    assert!(reader.counters().expect("counters").visits > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_writer_that_panics_ends_the_crawl_with_an_error() {
    check_end("panic-in-writer", "list.xml", "taking in what visits found").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_policy_that_panics_ends_the_crawl_with_an_error() {
    check_end("panic-in-policy", "list.xml", "taking in what visits found").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decision_that_panics_ends_the_crawl_with_an_error() {
    check_end("panic-in-decision", "panic-in-decision", "deciding what to visit next").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ranking_that_panics_is_told_and_the_crawl_goes_on() {
    let directory = tempfile::Builder::new().prefix("panic-in-ranking").tempdir().expect("a directory");
    let settings = settings(directory.path(), &site(&["a", "b"], "list.xml"));
    let story = run(settings, |status| names_defect(status, "panic-in-ranking")).await;
    assert!(story.result.is_ok(), "{:?}", story.result);
    assert!(names_defect(&story.status, "panic-in-ranking"), "{:?}", story.status.troubles);
}
