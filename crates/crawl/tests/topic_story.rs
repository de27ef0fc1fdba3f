//! A crawl about a topic finds its pages sooner than a breadth-first crawl (**thesis** 2.5.4): real crawls of
//! a small web on loopback whose pages about the topic link to one another. Of the first fifth of its pages
//! 41% were about the topic, breadth-first 5%, and of all pages 12%.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use freshet_crawl::clock::{Clock, Pace};
use freshet_crawl::opening::Crawl;
use freshet_crawl::settings::{Mode, Publication, Settings};
use freshet_fetch::change::Definitions;
use freshet_fetch::web::politeness::PolitenessSettings;
use freshet_fetch::web::{PrivateAddresses, WebSettings};
use freshet_partition::topic::HOT;
use freshet_store::collection::Keep;

/// Number of sites.
const SITES: u64 = 6;
/// Number of pages of each site.
const PAGES: u64 = 250;
/// Number of pages that are crawled: a fifth of the web.
const CRAWLED: usize = (SITES * PAGES / 5) as usize;
/// Number of links of each page.
const LINKS: u64 = 8;
/// Percentage of pages about the topic: on the first site, and on the others.
const ABOUT: [u64; 2] = [50, 5];
/// Maximum time for a crawl, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// Response time of a page: long enough that its content is known before many others are chosen.
const ANSWER_TIME: Duration = Duration::from_millis(12);
/// The topic.
const TOPIC: &str = "harpsichord";

/// A random draw below `below`, the same for the same arguments.
fn lot(question: &str, first: u64, second: u64, below: u64) -> u64 {
    let bytes = format!("{question} {first} {second}");
    // FNV-1a, and its high half: the low bits of similar inputs are similar.
    let hash = bytes.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    ((hash ^ (hash >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 33) % below
}

/// Whether a page is about the topic.
fn is_about(page: u64) -> bool {
    let share = if page / PAGES == 0 { ABOUT[0] } else { ABOUT[1] };
    !page.is_multiple_of(PAGES) && lot("about", page, 0, 100) < share
}

/// The target of a link: two times in three on the same site, and mostly of the same kind (about the topic or
/// not).
fn target(page: u64, link: u64) -> u64 {
    let draw = |attempt: u64| {
        let number = lot("target", page, link * 64 + attempt, PAGES);
        let site = if lot("site", page, link * 64 + attempt, 3) < 2 {
            page / PAGES
        } else {
            lot("other", page, link * 64 + attempt, SITES)
        };
        site * PAGES + number
    };
    let wants_same = lot("same", page, link, 10) < 7;
    (0..64).map(draw).find(|to| !wants_same || is_about(*to) == is_about(page)).unwrap_or(page)
}

/// Six servers of the simulated web, which record the pages that were requested.
struct Web {
    seed: String,
    asked: Arc<Mutex<Vec<u64>>>,
}

impl Web {
    fn new() -> Self {
        let listen =
            |site: u64| TcpListener::bind((Ipv4Addr::new(127, 11, 0, site as u8 + 1), 0)).expect("a socket");
        let listeners: Vec<TcpListener> = (0..SITES).map(listen).collect();
        let origins: Arc<Vec<String>> = Arc::new(
            listeners.iter().map(|one| format!("http://{}", one.local_addr().expect("an address"))).collect(),
        );
        let (seed, asked) = (format!("{}/", origins[1]), Arc::new(Mutex::new(Vec::new())));
        for (site, listener) in (0..).zip(listeners) {
            let (origins, asked) = (Arc::clone(&origins), Arc::clone(&asked));
            std::thread::spawn(move || {
                for stream in listener.incoming().flatten() {
                    serve(&stream, site, &origins, &asked);
                }
            });
        }
        Self { seed, asked }
    }
}

fn serve(mut stream: &TcpStream, site: u64, origins: &[String], asked: &Mutex<Vec<u64>>) -> Option<()> {
    let mut lines = BufReader::new(stream).lines();
    let first = lines.next()?.ok()?;
    while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
    let path = first.split(' ').nth(1)?;
    let number = if path == "/" {
        Some(0)
    } else {
        path.strip_prefix("/page-").and_then(|number| number.parse().ok())
    };
    let (status, body) = match number {
        Some(number) => {
            let page = site * PAGES + number;
            asked.lock().ok()?.push(page);
            std::thread::sleep(ANSWER_TIME);
            ("200 OK", html(page, origins))
        }
        None => ("404 Not Found", String::new()),
    };
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n{body}"
    )
    .ok()
}

fn html(page: u64, origins: &[String]) -> String {
    let mut text: String = (0..150).map(|word| format!("word{} ", lot("word", page, word, 400))).collect();
    if is_about(page) {
        text += &format!("the {TOPIC} ").repeat(8);
    }
    let mut html = format!("<title>Page {page}</title><p>{text}</p>");
    for link in 0..LINKS {
        let to = target(page, link);
        // One in five of the links to pages about the topic says so.
        let anchor = if is_about(to) && lot("anchor", page, link, 5) == 0 { TOPIC } else { "more" };
        let (origin, number) = (&origins[(to / PAGES) as usize], to % PAGES);
        write!(html, "<a href=\"{origin}/page-{number}\">{anchor}</a> ").expect("a string takes everything");
    }
    html
}

fn settings(directory: &Path, web: &Web, topic: &[&str]) -> Settings {
    Settings {
        directory: directory.to_owned(),
        seeds: vec![web.seed.clone()],
        sites: Vec::new(),
        follow_other_sites: true,
        visits_per_day: None,
        bytes_per_day: None,
        discovery_share: 1.0,
        audit_share: 0.0,
        pages_max: 10_000,
        connections: 1,
        policy: "uniform".parse().expect("a policy"),
        topic: topic.iter().map(|word| (*word).to_owned()).collect(),
        pins: Vec::new(),
        change: Definitions::default(),
        clean_urls: true,
        trap_defence: false,
        politeness: PolitenessSettings {
            delay: Duration::ZERO,
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
        once: true,
        seed: 1,
    }
}

/// The first pages that a crawl requested, and the likeness that it found.
fn crawled(topic: &[&str]) -> (Vec<u64>, HashMap<u64, Option<f32>>) {
    let (web, place) = (Web::new(), tempfile::tempdir().expect("a place"));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let settings = settings(place.path(), &web, topic);
    let likeness = runtime.block_on(async {
        let crawl = Crawl::open(settings, Arc::new(Clock::new(Pace::WALL))).expect("it opens");
        let crawler = crawl.crawler();
        let running = tokio::spawn(crawl.run());
        let begun = Instant::now();
        while web.asked.lock().expect("nobody panicked").len() < CRAWLED {
            assert!(begun.elapsed() < PATIENCE, "the crawl takes too long");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        crawler.ask_to_stop();
        running.await.expect("it ends").expect("it runs");
        let mut likeness = HashMap::new();
        for entry in crawler.reader().pages() {
            let (_, record) = entry.expect("a page");
            let title = record.title.strip_prefix("Page ").and_then(|number| number.parse().ok());
            likeness.extend(title.map(|page: u64| (page, record.likeness)));
        }
        likeness
    });
    let mut order = web.asked.lock().expect("nobody panicked").clone();
    order.truncate(CRAWLED);
    (order, likeness)
}

fn share_about(order: &[u64]) -> f64 {
    order.iter().filter(|page| is_about(**page)).count() as f64 / order.len() as f64
}

#[test]
fn pages_about_the_topic_come_first() {
    let plain = std::thread::spawn(|| crawled(&[]));
    let (topical, likeness) = crawled(&[TOPIC]);
    let (breadth_first, unknown) = plain.join().expect("it crawls");
    let all: Vec<u64> = (0..SITES * PAGES).collect();
    let [all, plain, by_topic] = [&all, &breadth_first, &topical].map(|pages| share_about(pages));
    assert!(by_topic > 2.0 * plain.max(all), "{by_topic} beside {plain}, {all} of all");
    assert!(unknown.values().all(Option::is_none));
    let is_hot = |page: &u64| likeness[page].is_some_and(|likeness| HOT <= likeness);
    let (about, others): (Vec<u64>, Vec<u64>) = likeness.keys().partition(|page| is_about(**page));
    assert!(about.iter().all(is_hot));
    // A few other pages are hot because they have more such anchors than most.
    let mistaken = others.iter().filter(|page| is_hot(page)).count();
    assert!(mistaken < others.len() / 20, "{mistaken} of {}", others.len());
}
