//! A restarted crawl reports the same freshness for its copies as before, also when it was not closed: a
//! scripted month of two sites, one with a sitemap that has proved right, the other without.
//!
//! Without the stored readings of the sitemap the reported freshness was 0.69 after the restart, where it had
//! been 0.81 before it and the truth was 0.82. Pages that the sitemap had confirmed were estimated from their
//! last visit, and those that it had dated as changed like any other.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use freshet_crawl::clock::{Clock, Pace, wall_now};
use freshet_crawl::opening::Crawl;
use freshet_crawl::settings::{Mode, Publication, Settings};
use freshet_crawl::visit::{Finding, PageVisit, Reason, Visit};
use freshet_crawl::writer::Message;
use freshet_fetch::change::{Change, Definitions, Kinds};
use freshet_fetch::page::reading::Limits;
use freshet_fetch::page::{Canonical, PageUrl, Reading, read};
use freshet_fetch::web::politeness::PolitenessSettings;
use freshet_fetch::web::{Answer, Fetch, PrivateAddresses, Response, WebSettings};
use freshet_protocol::ids::{PageNumber, SiteNumber};
use freshet_protocol::time::Timestamp;
use freshet_store::collection::Keep;
use freshet_store::sites::PolitenessState;

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;
const START: Timestamp = Timestamp::from_millis(1_790_000_000_000);
/// The first has a sitemap.
const SITES: [&str; 2] = ["http://127.0.0.1:1001", "http://127.0.0.2:1002"];
const PAGES_PER_SITE: u32 = 150;
const DAYS: i64 = 30;

/// Days between the changes of a page: from two to forty.
fn period(page: u32) -> i64 {
    2 + i64::from(page * 7 % 39)
}

/// How often a page has changed by a moment, and the time of its last change.
fn version(page: u32, now: Timestamp) -> (i64, Timestamp) {
    let (period, phase) = (period(page) * DAY, i64::from(page) * 37 * HOUR);
    let versions = (now.millis_since(START) + phase) / period;
    (versions, START.plus_millis(versions * period - phase))
}

struct Story {
    crawl: Crawl,
    numbers: HashMap<u32, PageNumber>,
    seen: HashMap<u32, i64>,
}

fn url(page: u32) -> PageUrl {
    let site = SITES[(page / PAGES_PER_SITE) as usize];
    PageUrl::stored(&format!("{site}/d{}/{page}", page % 5)).expect("a URL")
}

fn open(place: &Path, now: Timestamp) -> Crawl {
    let settings = Settings {
        directory: place.to_owned(),
        seeds: SITES.iter().map(|site| format!("{site}/")).collect(),
        sites: Vec::new(),
        follow_other_sites: false,
        visits_per_day: Some(f64::from(2 * PAGES_PER_SITE) / 7.0),
        bytes_per_day: None,
        discovery_share: 0.8,
        audit_share: 0.0,
        pages_max: 10_000,
        connections: 1,
        policy: "freshet".parse().expect("a policy"),
        topic: Vec::new(),
        pins: Vec::new(),
        change: Definitions::default(),
        clean_urls: true,
        trap_defence: false,
        politeness: PolitenessSettings::default(),
        web: WebSettings { private: PrivateAddresses::Allowed, ..WebSettings::default() },
        keep: Keep::default(),
        importance_weight: 0.0,
        intervals: Vec::new(),
        mode: Mode::default(),
        publication: Publication::default(),
        cycle: None,
        once: false,
        seed: 1,
    };
    let pace = Pace { start: now, wall_start: wall_now(), speed: 1.0 };
    Crawl::open(settings, Arc::new(Clock::new(pace))).expect("it opens")
}

fn fetch(status: u16, body: &str, time: Timestamp) -> Fetch {
    let body = Bytes::copy_from_slice(body.as_bytes());
    let response = Response {
        status,
        head: format!("HTTP/1.1 {status} OK\r\n\r\n").into_bytes(),
        headers: http::HeaderMap::new(),
        raw_body: body.clone(),
        body,
        truncated: None,
    };
    Fetch {
        started: time,
        address: None,
        request_head: Vec::new(),
        bytes_received: 1_000,
        elapsed: Duration::from_millis(10),
        answer: Answer::Response(response),
    }
}

fn reading(url: &PageUrl, kind: &str, body: &str) -> Reading {
    read(url, Some(kind), &[], &[], body.as_bytes(), &Canonical::default(), &Limits::default())
}

impl Story {
    /// Begins a crawl of two sites whose pages were copied.
    fn begin(place: &Path) -> Self {
        let mut story = Self { crawl: open(place, START), numbers: HashMap::new(), seen: HashMap::new() };
        for site in 0..SITES.len() as u32 {
            let fetches = vec![fetch(404, "", START)];
            let site = SiteNumber(site);
            story.take(Visit::Robots { site, time: START, fetches, onward: None }, site, START);
        }
        for page in 0..2 * PAGES_PER_SITE {
            let brought = story.crawl.writer_mut().bring(&url(page), None, START).expect("it is brought");
            story.numbers.insert(page, brought.expect("it is a page").0);
            story.visit(page, Reason::First, START.plus_millis(i64::from(page) * 1_000));
        }
        story
    }

    /// Ends the crawl without closing it, and starts it again.
    fn started_again(self, place: &Path, now: Timestamp) -> Self {
        let Self { crawl, numbers, seen } = self;
        drop(crawl);
        Self { crawl: open(place, now), numbers, seen }
    }

    /// Applies and commits the result of an order, and passes the events on.
    fn take(&mut self, visit: Visit, site: SiteNumber, now: Timestamp) {
        let writer = self.crawl.writer_mut();
        let message = Message::Visit(Box::new(visit), site, PolitenessState::default());
        writer.take(message, now).expect("it is taken in");
        let event = writer.commit().expect("it is committed");
        let crawler = self.crawl.crawler();
        let mut module = crawler.update_module();
        module.let_pass(now);
        event.into_iter().for_each(|event| module.hear(event, now));
    }

    fn visit(&mut self, page: u32, reason: Reason, now: Timestamp) {
        let (version, _) = version(page, now);
        let body = format!("<title>{page}</title><p>Page {page} for the {version}th time.</p>");
        let finding = match self.seen.insert(page, version) {
            None => Finding::New,
            Some(seen) if seen == version => Finding::Unchanged,
            Some(_) => Finding::Changed(Change { size: 0.5, kinds: Kinds::TEXT }),
        };
        let (url, site) = (url(page), SiteNumber(page / PAGES_PER_SITE));
        let visit = PageVisit {
            page: self.numbers[&page],
            site,
            reason,
            time: now,
            finding,
            fetch: Some(fetch(200, &body, now)),
            reading: Some(reading(&url, "text/html", &body)),
            url,
            second: None,
            lesson: None,
            folded: None,
        };
        self.take(Visit::Page(Box::new(visit)), site, now);
    }

    fn read_sitemap(&mut self, now: Timestamp) {
        let mut body = String::from("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">");
        for page in 0..PAGES_PER_SITE {
            let (_, changed) = version(page, now);
            let date = jiff::Timestamp::from_millisecond(changed.millis()).expect("a date");
            write!(body, "<url><loc>{}</loc><lastmod>{date}</lastmod></url>", url(page)).expect("written");
        }
        body += "</urlset>";
        let list = PageUrl::stored(&format!("{}/sitemap.xml", SITES[0])).expect("a URL");
        let reading = Some(Box::new(reading(&list, "application/xml", &body)));
        let (site, fetch) = (SiteNumber(0), Box::new(fetch(200, &body, now)));
        self.take(Visit::Listing { site, url: list, time: now, fetch, reading }, site, now);
    }

    /// Simulates a day: reads the sitemap and visits a seventh of the pages, and of the first site one in
    /// three of the pages that the sitemap dates as changed.
    fn live(&mut self, day: i64) {
        let morning = START.plus_millis(day * DAY);
        self.read_sitemap(morning);
        for page in 0..2 * PAGES_PER_SITE {
            let now = morning.plus_millis(HOUR + i64::from(page) * 60_000);
            let has_sitemap = page < PAGES_PER_SITE;
            let is_told = has_sitemap && self.seen[&page] != version(page, morning).0;
            let turn = i64::from(page) + day;
            if is_told && turn % 3 == 0 {
                self.visit(page, Reason::Signal, now);
            } else if turn % 7 == 0 && (!has_sitemap || page % 2 == 0) {
                self.visit(page, Reason::Refresh, now);
            }
        }
    }

    /// The reported probability that each page's copy is fresh, and the reported freshness of all.
    fn told(&self, now: Timestamp) -> (Vec<f64>, f64) {
        let crawler = self.crawl.crawler();
        let module = crawler.update_module();
        let fresh = |page: u32| {
            let explanation = module.refresh().explain(self.numbers[&page], now).expect("it is known");
            1.0 - explanation.changed_probability
        };
        let all = module.refresh().copy_estimate(now).expect("there are copies").freshness;
        ((0..2 * PAGES_PER_SITE).map(fresh).collect(), all)
    }

    fn truth(&self, now: Timestamp) -> f64 {
        let fresh = self.seen.iter().filter(|(page, seen)| version(**page, now).0 == **seen).count();
        fresh as f64 / self.seen.len() as f64
    }
}

/// Simulates a month. Returns the crawl and the time at its end.
fn month(place: &Path) -> (Story, Timestamp) {
    let mut story = Story::begin(place);
    (1..DAYS).for_each(|day| story.live(day));
    (story, START.plus_millis((DAYS - 1) * DAY + 8 * HOUR))
}

#[test]
fn a_crawl_that_is_killed_and_started_again_tells_what_it_told_before() {
    let place = tempfile::tempdir().expect("a place");
    let (story, now) = month(place.path());
    let (pages_before, before) = story.told(now);
    let story = story.started_again(place.path(), now);
    let (pages_after, after) = story.told(now);
    let truth = story.truth(now);
    let off = pages_before.iter().zip(&pages_after).map(|(before, after)| (before - after).abs());
    let off = off.sum::<f64>() / pages_before.len() as f64;
    assert!((before - after).abs() < 0.005, "{before} before, {after} after, {truth} in truth");
    assert!(off < 0.02, "a page is told otherwise by {off} on average");
    assert!((after - truth).abs() < 0.1, "{after} where {truth} is fresh");
}

#[test]
fn a_note_that_cannot_be_read_is_as_none_until_the_list_is_read_again() {
    let place = tempfile::tempdir().expect("a place");
    let (mut story, now) = month(place.path());
    let (_, before) = story.told(now);
    for damaged in [vec![], vec![1], vec![2, 0, 0], vec![1, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255]]
    {
        let writer = story.crawl.writer_mut();
        writer.write_note((format!("list {}/sitemap.xml", SITES[0]), Some(damaged)));
        writer.commit().expect("it is committed");
        story = story.started_again(place.path(), now);
        let (_, after) = story.told(now);
        assert!(after < before - 0.05, "{before} before, {after} without the sitemap");
    }
    story.read_sitemap(now);
    let (_, told) = story.told(now);
    story = story.started_again(place.path(), now);
    let (_, again) = story.told(now);
    assert!(before - 0.02 < told && (told - again).abs() < 0.005, "{before}, {told}, {again}");
}
