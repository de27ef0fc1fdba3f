//! How a crawl judges what a site sends: changes that count, ephemeral parts, stand-ins for pages, and
//! duplicates. A real crawl of a real server on loopback, whose pages a test can replace, on a clock that
//! runs fast.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use freshet_crawl::clock::{Clock, Pace, wall_now};
use freshet_crawl::crawler::Crawler;
use freshet_crawl::opening::Crawl;
use freshet_crawl::queries::{Account, Answer, Question, answer};
use freshet_crawl::settings::{Mode, Publication, Settings};
use freshet_crawl::writer::Message;
use freshet_fetch::change::{Definition, Definitions, Extent};
use freshet_fetch::page::Canonical;
use freshet_fetch::web::politeness::PolitenessSettings;
use freshet_fetch::web::{PrivateAddresses, WebSettings};
use freshet_store::collection::Keep;
use freshet_store::history::{VisitKind, VisitQuery};

/// Seconds of the crawl's time in one second of system time.
const SPEED: f64 = 500.0;
/// How long a test waits for an event.
const PATIENCE: Duration = Duration::from_secs(20);

/// A site whose pages can be replaced. In them, `{n}` is the number of the request. It sends the version of a
/// page as an ETag, and answers "not modified".
struct Site {
    origin: String,
    pages: Arc<Mutex<HashMap<String, String>>>,
    /// What was answered, in order: the path, the status and the version.
    log: Log,
}

type Log = Arc<Mutex<Vec<(String, u16, String)>>>;

impl Site {
    fn new(pages: &[(&str, &str)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a socket");
        let origin = format!("http://{}", listener.local_addr().expect("an address"));
        let pages = pages.iter().map(|(path, html)| ((*path).to_owned(), (*html).to_owned())).collect();
        let site = Self { origin, pages: Arc::new(Mutex::new(pages)), log: Log::default() };
        let (pages, log) = (Arc::clone(&site.pages), Arc::clone(&site.log));
        let requests = Arc::new(AtomicU64::new(1));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (pages, log, requests) = (Arc::clone(&pages), Arc::clone(&log), Arc::clone(&requests));
                std::thread::spawn(move || serve(stream, &pages, &log, &requests));
            }
        });
        site
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.origin)
    }

    fn put(&self, path: &str, html: &str) {
        self.pages.lock().expect("the pages").insert(path.to_owned(), html.to_owned());
    }
}

fn serve(
    mut stream: TcpStream,
    pages: &Mutex<HashMap<String, String>>,
    log: &Log,
    requests: &AtomicU64,
) -> Option<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head);
    let path = head.split(' ').nth(1)?;
    let page = pages.lock().ok()?.get(path).cloned();
    let number = requests.fetch_add(1, Ordering::Relaxed);
    // A page that differs at every request has no version.
    let version = page.as_ref().filter(|page| !page.contains("{n}")).map_or_else(String::new, tag);
    let is_same = !version.is_empty() && head.lines().any(|line| line.ends_with(version.as_str()));
    let (status, words) = match page {
        None => (404, "Not Found"),
        Some(_) if is_same => (304, "Not Modified"),
        Some(_) => (200, "OK"),
    };
    log.lock().ok()?.push((path.to_owned(), status, version.clone()));
    let body = page.filter(|_| !is_same).unwrap_or_default().replace("{n}", &number.to_string());
    let validator = if version.is_empty() { String::new() } else { format!("ETag: {version}\r\n") };
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status} {words}\r\nContent-Type: text/html\r\n{validator}Content-Length: {length}\r\n\
         Connection: close\r\n\r\n{body}"
    )
    .ok()
}

/// The ETag of a page in this version.
fn tag(page: &String) -> String {
    let mut hasher = DefaultHasher::new();
    page.hash(&mut hasher);
    format!("\"{:x}\"", hasher.finish())
}

fn settings(directory: &Path, site: &Site, definition: Definition) -> Settings {
    Settings {
        directory: directory.to_owned(),
        seeds: vec![site.url("/")],
        sites: Vec::new(),
        follow_other_sites: false,
        visits_per_day: None,
        bytes_per_day: None,
        discovery_share: 0.8,
        audit_share: 0.0,
        pages_max: 1000,
        connections: 4,
        policy: "uniform".parse().expect("a policy"),
        topic: Vec::new(),
        pins: Vec::new(),
        change: Definitions { usual: definition, ..Definitions::default() },
        clean_urls: true,
        trap_defence: true,
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
    }
}

/// Runs a crawl until a condition holds.
fn run_until(settings: Settings, what: &str, is_so: impl Fn(&Crawler) -> bool) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let clock = Arc::new(Clock::new(Pace { start: wall_now(), wall_start: wall_now(), speed: SPEED }));
    runtime.block_on(async {
        let crawl = Crawl::open(settings, clock).expect("it opens");
        let crawler = crawl.crawler();
        let running = tokio::spawn(crawl.run());
        let begun = Instant::now();
        while !is_so(&crawler) {
            assert!(begun.elapsed() < PATIENCE, "in vain: {what}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        crawler.ask_to_stop();
        running.await.expect("it ends").expect("it runs");
    });
}

/// The kinds of the visits to a page, in order.
fn kinds(crawler: &Crawler, url: &str) -> Vec<VisitKind> {
    let visits = crawler.reader().visits(&VisitQuery::of_url(url)).expect("the visits");
    visits.into_iter().map(|visit| visit.row.kind).collect()
}

fn explain(crawler: &Crawler, url: &str) -> Account {
    match answer(crawler.reader(), crawler, &Question::Explain { url: url.to_owned() }) {
        Answer::Explain(account) => *account,
        other => panic!("{url}: {other:?}"),
    }
}

/// Pins a page at a short interval.
fn pin(crawler: &Crawler, url: &str) {
    let url = Canonical::default().of(url).expect("a URL");
    let _ = tokio::task::block_in_place(|| crawler.tell_writer_blocking(Message::Pin(url, 5_000)));
}

fn prose(seed: u32, words: u32) -> String {
    (0..words).map(|word| format!("word{} ", (word * 7919 + seed * 104_729) % 9973)).collect()
}

#[test]
fn what_never_lasts_is_no_change_and_what_changed_is_one() {
    let place = tempfile::tempdir().expect("a place");
    let page = |text: &str| {
        format!(
            "<main><h1>Title</h1><p>{}</p><p class=views>Seen {{n}} times.</p><p>{text}</p></main>",
            prose(1, 50)
        )
    };
    let site = Site::new(&[("/", &page("old"))]);
    let url = site.url("/");
    let visits = |crawler: &Crawler| kinds(crawler, &url).len();
    run_until(settings(place.path(), &site, Definition::default()), "five visits", |crawler| {
        pin(crawler, &url);
        visits(crawler) >= 5
    });
    site.put("/", &page("new"));
    // In another run, what was learned is still known.
    run_until(settings(place.path(), &site, Definition::default()), "a change", |crawler| {
        let account = explain(crawler, &url);
        assert_eq!(
            account.ephemeral.first().map(|part| part.element.as_str()),
            Some("p.views"),
            "{account:?}"
        );
        account.changes >= 1 && visits(crawler) >= 9
    });
    run_until(settings(place.path(), &site, Definition::default()), "a look", |crawler| {
        let changed = kinds(crawler, &url).iter().filter(|kind| **kind == VisitKind::Changed).count();
        assert_eq!(changed, 1);
        true
    });
}

#[test]
fn a_second_look_downloads_nothing_where_the_server_has_proved_honest() {
    let place = tempfile::tempdir().expect("a place");
    let page = |text: &str| format!("<main><h1>Title</h1><p>{}</p><p>{text}</p></main>", prose(1, 50));
    let site = Site::new(&[("/", &page("old"))]);
    let url = site.url("/");
    // At first one visit in eight tests the server.
    run_until(settings(place.path(), &site, Definition::default()), "a change", |crawler| {
        pin(crawler, &url);
        if kinds(crawler, &url).len() >= 40 {
            site.put("/", &page("new"));
        }
        explain(crawler, &url).changes >= 1
    });
    let (log, new) = (site.log.lock().expect("the log"), tag(&page("new")));
    let statuses: Vec<u16> =
        log.iter().filter(|(path, _, version)| path == "/" && *version == new).map(|line| line.1).collect();
    assert_eq!(statuses[..2], [200, 304]);
    let tests = log.iter().filter(|(path, status, version)| path == "/" && *status == 200 && *version != new);
    assert!((3..20).contains(&tests.count()), "{log:?}");
}

#[test]
fn another_definition_invents_no_change() {
    let place = tempfile::tempdir().expect("a place");
    let html = format!("<nav>menu</nav><main><p>{}</p></main><footer>17</footer>", prose(2, 60));
    let site = Site::new(&[("/", &html)]);
    let url = site.url("/");
    for (round, extent) in [Extent::Main, Extent::Text, Extent::Raw, Extent::Main].into_iter().enumerate() {
        let definition = Definition { extent, ..Definition::default() };
        run_until(settings(place.path(), &site, definition), "two more visits", |crawler| {
            pin(crawler, &url);
            kinds(crawler, &url).len() > 2 * (round + 1)
        });
    }
    run_until(settings(place.path(), &site, Definition::default()), "a look", |crawler| {
        assert!(!kinds(crawler, &url).contains(&VisitKind::Changed));
        true
    });
}

#[test]
fn what_is_no_page_is_not_kept_and_what_is_there_twice_is_kept_once() {
    let place = tempfile::tempdir().expect("a place");
    let article = prose(3, 200);
    let root = "<title>Home</title><a href=/article>a</a> <a href=/article?print=1>b</a> <a href=/lost>c</a> \
                <a href=/wall>d</a>";
    let site = Site::new(&[
        ("/", root),
        ("/article", &format!("<nav>menu</nav><main><h1>T</h1><p>{article}</p></main>")),
        ("/article?print=1", &format!("<body><h1>T</h1><p>{article}</p>")),
        ("/lost", "<title>Shop</title><h1>Page not found</h1><p>Sorry."),
        ("/wall", "<title>Sign in</title><form><input type=password></form>"),
    ]);
    run_until(settings(place.path(), &site, Definition::default()), "a visit to each page", |crawler| {
        ["/article", "/article?print=1", "/lost", "/wall"]
            .iter()
            .all(|path| !kinds(crawler, &site.url(path)).is_empty())
    });
    run_until(settings(place.path(), &site, Definition::default()), "a look", |crawler| {
        assert_eq!(kinds(crawler, &site.url("/lost"))[0], VisitKind::Failed);
        assert_eq!(kinds(crawler, &site.url("/wall"))[0], VisitKind::Failed);
        let standing = |path: &str| explain(crawler, &site.url(path)).standing;
        let both = [standing("/article"), standing("/article?print=1")];
        assert_eq!(both.iter().filter(|standing| *standing == "kept").count(), 1, "{both:?}");
        assert!(both.iter().any(|standing| standing.contains("it says the same as")), "{both:?}");
        true
    });
}

#[test]
fn an_audit_measures_freshness_and_is_remembered() {
    let place = tempfile::tempdir().expect("a place");
    let paths: Vec<String> = (0..12).map(|number| format!("/page{number}")).collect();
    let links: String = paths.iter().map(|path| format!("<a href={path}>{path}</a> ")).collect();
    let site = Site::new(&[("/", &links)]);
    for (seed, path) in paths.iter().enumerate() {
        site.put(path, &format!("<p>{}", prose(seed as u32 + 10, 60)));
    }
    let all_copied = |crawler: &Crawler| paths.iter().all(|path| !kinds(crawler, &site.url(path)).is_empty());
    run_until(settings(place.path(), &site, Definition::default()), "a copy of each page", all_copied);
    for (seed, path) in paths.iter().enumerate().take(6) {
        site.put(path, &format!("<p>{}", prose(seed as u32 + 100, 60)));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let clock = Arc::new(Clock::new(Pace {
        start: wall_now().plus_millis(3_600_000),
        wall_start: wall_now(),
        speed: SPEED,
    }));
    let silent =
        Settings { visits_per_day: Some(1e-3), ..settings(place.path(), &site, Definition::default()) };
    runtime.block_on(async {
        let crawl = Crawl::open(silent, clock).expect("it opens");
        let crawler = crawl.crawler();
        crawler.begin_audit(100).expect("it begins");
        let running = tokio::spawn(crawl.run());
        let begun = Instant::now();
        let report = loop {
            let report = crawler.audit_so_far(false).await.expect("it is told").expect("it is under way");
            if report.done {
                break report;
            }
            assert!(begun.elapsed() < PATIENCE, "{report:?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        };
        assert_eq!((report.judged, report.fresh), (13, 7), "{report:?}");
        crawler.ask_to_stop();
        running.await.expect("it ends").expect("it runs");
        assert_eq!(crawler.status_now().audits, 1);
    });
}
