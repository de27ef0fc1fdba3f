//! CPU cost of a commit of 100 visits. `cargo bench -p freshet-store --bench commit_visits [-- LEVEL...]`
//!
//! Each visit has a page of 10 KB of text-like HTML, a request head and 30 links. In the first part every
//! page is new, and so are ten of its links. In the second part every page is visited again: a tenth changed,
//! the others are revisits. Printed is the CPU time of all threads per commit, compaction included, and the
//! writer's share of it. It would worry us if a commit without its gzip took more than 5 ms.

#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use std::path::Path;
use std::time::Instant;

use bytes::Bytes;
use freshet_protocol::ids::{PageNumber, SiteNumber, UrlId};
use freshet_protocol::time::Timestamp;
use freshet_store::all_urls::{Source, Standing, UrlRecord};
use freshet_store::changes::Changes;
use freshet_store::coll_urls::PageRecord;
use freshet_store::collection::{Exchange, ExchangeKind};
use freshet_store::history::{VisitKind, VisitRow};
use freshet_store::sites::SiteRecord;
use freshet_store::store::{Numbered, Settings, Store};

const COMMITS: u32 = 200;
const VISITS: u32 = 100;
const LINKS: u32 = 30;
const NEW_LINKS: u32 = 10;

fn main() {
    let named: Vec<u32> = std::env::args().filter_map(|level| level.parse().ok()).collect();
    let levels = if named.is_empty() { vec![0, 1, 2, 3, 4, 6, 9] } else { named };
    println!(
        "level  phase     CPU ms/commit  writer ms/commit  wall ms/commit  WARC bytes/visit  \
         state bytes/visit"
    );
    for level in levels {
        let place = tempfile::tempdir().expect("a directory");
        measure(place.path(), level);
    }
}

fn measure(directory: &Path, gzip_level: u32) {
    let mut store = Store::open(directory, Settings { gzip_level, ..Settings::default() }).expect("it opens");
    let Numbered::New(site) = store.site_number("http://a.example").expect("a number") else {
        panic!("the store is new");
    };
    let record = SiteRecord { site: "http://a.example".to_owned(), ..SiteRecord::default() };
    let first = Changes { sites: vec![(site, record)], ..Changes::default() };
    store.commit(first).expect("it is committed");
    for revisit in [false, true] {
        let (cpu, writer, wall) = (cpu_millis("/proc/self/task"), thread_millis(), Instant::now());
        let before = store.disk_use();
        let mut preparing = 0.0;
        for commit in 0..COMMITS {
            let begun = thread_millis();
            let exchanges: Vec<_> = (0..VISITS).map(|at| exchange(commit * VISITS + at, revisit)).collect();
            preparing += thread_millis() - begun;
            let changes = changes(&mut store, commit, revisit, exchanges);
            store.commit(changes).expect("it is committed");
        }
        let (commits, visits) = (f64::from(COMMITS), f64::from(COMMITS * VISITS));
        let after = store.disk_use();
        println!(
            "{gzip_level:5}  {:8}  {:13.2}  {:16.2}  {:14.2}  {:16.0}  {:17.0}",
            if revisit { "revisit" } else { "first" },
            (cpu_millis("/proc/self/task") - cpu - preparing) / commits,
            (thread_millis() - writer - preparing) / commits,
            (wall.elapsed().as_secs_f64() * 1000.0 - preparing) / commits,
            (after.collection - before.collection) as f64 / visits,
            after.state.saturating_sub(before.state) as f64 / visits,
        );
    }
}

fn changes(store: &mut Store, commit: u32, revisit: bool, exchanges: Vec<Exchange>) -> Changes {
    let mut changes = Changes { exchanges, ..Changes::default() };
    for at in 0..VISITS {
        let number = commit * VISITS + at;
        let (url, time) = (url(number), changes.exchanges[at as usize].time);
        let page = if revisit { PageNumber(number) } else { store.page_number().expect("a number") };
        let id = match store.url_number(&url).expect("a number") {
            Numbered::New(id) => {
                changes.urls.push((id, url_record(&url, Standing::Kept(page))));
                id
            }
            Numbered::Known(id) => id,
        };
        let links: Vec<UrlId> =
            (0..LINKS).map(|link| link_number(store, &mut changes, number, link)).collect();
        changes.links.push((page, links));
        let record = PageRecord {
            etag: Some("\"0123456789abcdef\"".to_owned()),
            title: "The title of a page".to_owned(),
            raw_digest: Some([7; 16]),
            text_digest: Some([8; 16]),
            last_visit: Some(time),
            ..PageRecord::admitted(id, SiteNumber(0), time)
        };
        changes.pages.push((page, record));
        let row = VisitRow {
            page: Some(page),
            status: 200,
            bytes: 10_000,
            ..VisitRow::new(time, &url, VisitKind::New)
        };
        changes.visits.push(row);
    }
    changes
}

/// The number of a link of a page. Some links are to new URLs, the others to pages that most pages link to.
fn link_number(store: &mut Store, changes: &mut Changes, page: u32, link: u32) -> UrlId {
    let url = if link < NEW_LINKS { format!("{}/{link}", url(page)) } else { url(page % 50 * 31 + link) };
    match store.url_number(&url).expect("a number") {
        Numbered::Known(id) => id,
        Numbered::New(id) => {
            changes.urls.push((id, url_record(&url, Standing::Waiting)));
            id
        }
    }
}

fn url(number: u32) -> String {
    format!("http://a.example/articles/2026/{:02}/the-name-of-page-{number}.html", number % 12)
}

fn url_record(url: &str, standing: Standing) -> UrlRecord {
    UrlRecord {
        url: url.to_owned(),
        site: SiteNumber(0),
        discovered: Timestamp::from_millis(1_794_790_000_000),
        found_on: Some(UrlId(1)),
        depth: 3,
        anchor: "read more about it".to_owned(),
        source: Source::Link,
        listed_modified: None,
        standing,
        detail: String::new(),
    }
}

fn exchange(number: u32, revisit: bool) -> Exchange {
    let kind =
        if revisit && !number.is_multiple_of(10) { ExchangeKind::NotModified } else { ExchangeKind::Full };
    let body = if kind == ExchangeKind::Full { text(number + u32::from(revisit)) } else { Vec::new() };
    Exchange {
        page: Some(PageNumber(number)),
        url: url(number),
        time: Timestamp::from_millis(1_794_790_000_000 + i64::from(number) + i64::from(revisit) * 86_400_000),
        kind,
        address: Some([127, 0, 0, 1].into()),
        request_head: b"GET /articles HTTP/1.1\r\nHost: a.example\r\n\
            User-Agent: freshet (+https://example.org/contact)\r\nAccept: */*\r\n\r\n"
            .to_vec(),
        response_head: b"HTTP/1.1 200 OK\r\nServer: nginx\r\nDate: Mon, 16 Nov 2026 01:00:00 GMT\r\n\
            Content-Type: text/html\r\nContent-Length: 10000\r\n\
            Last-Modified: Mon, 16 Nov 2026 01:00:00 GMT\r\nETag: \"0123456789abcdef\"\r\n\r\n"
            .to_vec(),
        status: if kind == ExchangeKind::Full { 200 } else { 304 },
        body: Bytes::from(body),
        truncated: None,
        millis: 5,
        charset: Some("UTF-8".to_owned()),
        via: Some(url(number / 2)),
        raw_digest: Some([7; 16]),
        text_digest: Some([8; 16]),
        simhash: Some(0x0123_4567_89ab_cdef),
        folded: None,
    }
}

/// 10 KB that resemble a page: pseudo-random words with links among them.
fn text(seed: u32) -> Vec<u8> {
    const WORDS: [&str; 64] = [
        "the",
        "of",
        "and",
        "water",
        "river",
        "crawler",
        "page",
        "time",
        "change",
        "<p>",
        "</p>",
        "is",
        "was",
        "a",
        "with",
        "measure",
        "visited",
        "site",
        "small",
        "large",
        "between",
        "years",
        "record",
        "number",
        "fresh",
        "copy",
        "kept",
        "when",
        "every",
        "first",
        "second",
        "third",
        "house",
        "window",
        "paper",
        "light",
        "green",
        "north",
        "south",
        "people",
        "world",
        "under",
        "over",
        "after",
        "before",
        "machine",
        "letter",
        "word",
        "table",
        "figure",
        "chapter",
        "section",
        "<div class=\"box\">",
        "</div>",
        "<li>",
        "</li>",
        "<span>",
        "</span>",
        "open",
        "closed",
        "market",
        "price",
        "offer",
        "sale",
    ];
    let mut state = u64::from(seed) + 1;
    let mut text = String::with_capacity(10_100);
    text.push_str("<!doctype html><html><head><title>The title of a page</title></head><body>");
    while text.len() < 10_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        match state >> 58 {
            0 => text.push_str(&format!(
                "<a href=\"{}\">{}</a>",
                url((state >> 40) as u32 & 0xffff),
                state >> 50
            )),
            word => text.push_str(WORDS[word as usize]),
        }
        text.push(' ');
    }
    text.into_bytes()
}

/// CPU milliseconds of all running threads.
fn cpu_millis(tasks: &str) -> f64 {
    let tasks = std::fs::read_dir(tasks).expect("threads are listed");
    tasks.flatten().map(|task| schedstat(&task.path().join("schedstat"))).sum()
}

/// CPU milliseconds of this thread.
fn thread_millis() -> f64 {
    schedstat(Path::new("/proc/thread-self/schedstat"))
}

fn schedstat(path: &Path) -> f64 {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.split(' ').next().and_then(|nanos| nanos.parse::<f64>().ok()).unwrap_or(0.0) / 1e6
}
