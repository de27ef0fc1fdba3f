//! A whole crawl among hostile sites: the good site is crawled completely, memory stays bounded, and `status`
//! reports what the hostile sites did.
//!
//! Every site is a real socket on its own loopback address. Time runs a thousand times as fast as the wall
//! clock, so that what must be waited for (a site that returns, a page that is visited again) happens within
//! the test.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

/// Number of pages of the good site.
const GOOD_PAGES: usize = 60;

/// Maximum memory that the crawl may take, in kilobytes. The fixed part is 64 MB of cache, the buffers of the
/// key-value store and the threads.
const MEMORY_MAX_KB: u64 = 400_000;

/// Time limit for the crawl to find everything, generous for a busy machine.
const PATIENCE: Duration = Duration::from_secs(150);

/// Maximum number of bytes read of a page.
const PAGE_BYTES: usize = 1_600_000;

/// How a site answers a request, given its path and a counter.
type Manner = fn(&mut TcpStream, &str, u64);

/// Starts a site of this kind at 127.9.0.`number`. Returns host and port.
fn site(number: u8, manner: Manner) -> String {
    let listener = TcpListener::bind((std::net::Ipv4Addr::new(127, 9, 0, number), 0))
        .expect("loopback addresses can be listened on");
    let authority = listener.local_addr().expect("it has an address").to_string();
    let requests = Arc::new(AtomicU64::new(0));
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let requests = Arc::clone(&requests);
            thread::spawn(move || serve(stream, manner, &requests));
        }
    });
    authority
}

/// Answers the requests of a connection until either side closes it.
fn serve(mut stream: TcpStream, manner: Manner, requests: &AtomicU64) {
    let _ = stream.set_read_timeout(Some(PATIENCE));
    let _ = stream.set_write_timeout(Some(PATIENCE));
    loop {
        let Ok(clone) = stream.try_clone() else { return };
        let mut lines = BufReader::new(clone).lines();
        let Some(Ok(first)) = lines.next() else { return };
        let path = first.split(' ').nth(1).unwrap_or("/").to_owned();
        while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
        manner(&mut stream, &path, requests.fetch_add(1, Ordering::Relaxed));
        if stream.take_error().is_err() || stream.write(&[]).is_err() {
            return;
        }
    }
}

fn answer(stream: &mut TcpStream, head: &str, body: &[u8]) {
    let head = format!("HTTP/1.1 {head}\r\nContent-Length: {}\r\n\r\n", body.len());
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
}

fn html(stream: &mut TcpStream, body: &str) {
    answer(stream, "200 OK\r\nContent-Type: text/html", body.as_bytes());
}

/// Answers a request for robots.txt with 404. Returns whether it was one.
fn has_no_rules(stream: &mut TcpStream, path: &str) -> bool {
    if path == "/robots.txt" {
        answer(stream, "404 Not Found", b"");
    }
    path == "/robots.txt"
}

fn close(stream: &TcpStream) {
    let _ = stream.shutdown(std::net::Shutdown::Both);
}

fn good(stream: &mut TcpStream, path: &str, _: u64) {
    if has_no_rules(stream, path) {
        return;
    }
    let links: String = (0..GOOD_PAGES).map(|page| format!("<a href=/p{page}>page {page}</a> ")).collect();
    html(stream, &format!("<title>{path}</title><p>This is the page {path} of the good site.</p>{links}"));
}

/// The clock of the crawl: a thousand times as fast as the wall clock.
fn clock(stream: &mut TcpStream, _: &str, _: u64) {
    let wall =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970").as_millis();
    html(stream, &format!("{{\"start_ms\": {wall}, \"wall_start_ms\": {wall}, \"speed\": 1000}}"));
    close(stream);
}

fn slow_head(stream: &mut TcpStream, path: &str, _: u64) {
    if has_no_rules(stream, path) {
        return;
    }
    let mut written = stream.write_all(b"HTTP/1.1 200 OK\r\n");
    while written.is_ok() {
        thread::sleep(Duration::from_millis(50));
        written = stream.write_all(b"X: y\r\n");
    }
}

fn slow_body(stream: &mut TcpStream, path: &str, _: u64) {
    if has_no_rules(stream, path) {
        return;
    }
    let mut written = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
    while written.is_ok() {
        thread::sleep(Duration::from_millis(50));
        written = stream.write_all(b"z");
    }
}

fn endless_body(stream: &mut TcpStream, path: &str, _: u64) {
    if has_no_rules(stream, path) {
        return;
    }
    let mut written = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n");
    while written.is_ok() {
        written = stream.write_all(&[b'x'; 65_536]);
    }
}

fn huge_headers(stream: &mut TcpStream, path: &str, _: u64) {
    if has_no_rules(stream, path) {
        return;
    }
    let mut written = stream.write_all(b"HTTP/1.1 200 OK\r\n");
    for _ in 0..100_000_000 / 60_000 {
        if written.is_ok() {
            written = stream.write_all(
                "X-Header: ..................................................\r\n".repeat(1000).as_bytes(),
            );
        }
    }
    close(stream);
}

fn gzip_bomb(stream: &mut TcpStream, path: &str, _: u64) {
    static BOMB: LazyLock<Vec<u8>> = LazyLock::new(|| {
        let mut bomb = Vec::new();
        let spaces = std::io::repeat(b' ').take(4 * PAGE_BYTES as u64);
        flate2::read::GzEncoder::new(spaces, flate2::Compression::best())
            .read_to_end(&mut bomb)
            .expect("packed");
        bomb
    });
    if !has_no_rules(stream, path) {
        answer(stream, "200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip", &BOMB);
    }
}

fn zstd_bomb(stream: &mut TcpStream, path: &str, _: u64) {
    static BOMB: LazyLock<Vec<u8>> = LazyLock::new(|| {
        zstd::stream::encode_all(std::io::repeat(b' ').take(4 * PAGE_BYTES as u64), 1).expect("packed")
    });
    if !has_no_rules(stream, path) {
        answer(stream, "200 OK\r\nContent-Type: text/html\r\nContent-Encoding: zstd", &BOMB);
    }
}

fn brotli_bomb(stream: &mut TcpStream, path: &str, _: u64) {
    /// A compressed body of 64 MB of zeros.
    const BOMB: &str = "\
        cbffff3f002400e2b14072effff8ffff078004401c1680eefd1fffffff00900088c302d0bdffe3ffff1f001200715800baf7\
        7ffcffff034002200e0b40f7fe8fffff7f004800c46101e8defff1ffff0f000980382c00ddfbbffcffff032001108705a07b\
        ff07";
    if has_no_rules(stream, path) {
        return;
    }
    let bomb: Vec<u8> =
        (0..BOMB.len() / 2).filter_map(|at| u8::from_str_radix(&BOMB[2 * at..2 * at + 2], 16).ok()).collect();
    answer(stream, "200 OK\r\nContent-Type: text/html\r\nContent-Encoding: br", &bomb);
}

fn bad_chunks(stream: &mut TcpStream, path: &str, _: u64) {
    if !has_no_rules(stream, path) {
        let _ = stream
            .write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\nwhat?");
    }
}

fn broken_body(stream: &mut TcpStream, path: &str, _: u64) {
    if !has_no_rules(stream, path) {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\nhalf of it");
        close(stream);
    }
}

fn redirects(stream: &mut TcpStream, path: &str, number: u64) {
    if has_no_rules(stream, path) {
        return;
    }
    let to = match path {
        "/" => "/self".to_owned(),
        "/self" => "/self".to_owned(),
        _ => format!("/on-{number}"),
    };
    answer(stream, &format!("302 Found\r\nLocation: {to}"), b"");
}

/// More links than the crawler reads.
fn many_links(stream: &mut TcpStream, path: &str, _: u64) {
    static LINKS: LazyLock<String> =
        LazyLock::new(|| (0..105_000).map(|link| format!("<a href={link}>")).collect());
    if has_no_rules(stream, path) {
        return;
    }
    html(stream, if path == "/" { &LINKS } else { "<p>one of many" });
}

fn calendar(stream: &mut TcpStream, path: &str, _: u64) {
    if has_no_rules(stream, path) {
        return;
    }
    let month: u64 = path.rsplit('=').next().and_then(|month| month.parse().ok()).unwrap_or(0);
    html(
        stream,
        &format!(
            "<p>month {month}<a href='/?month={}'>next</a><a href='/{month}/?month={}'>day</a>",
            month + 1,
            month + 2
        ),
    );
}

fn session_maze(stream: &mut TcpStream, path: &str, number: u64) {
    if has_no_rules(stream, path) {
        return;
    }
    html(
        stream,
        &format!(
            "<p>a maze<a href='/a?PHPSESSID={number:032x}'>a</a><a href='/b;jsessionid={number:032x}'>b</a>"
        ),
    );
}

fn lying_validators(stream: &mut TcpStream, path: &str, number: u64) {
    if has_no_rules(stream, path) {
        return;
    }
    // The word stays the same for a few requests: text that differs at every visit is no change.
    let word = ["rain", "snow", "sun", "wind", "hail", "fog"][(number / 4 % 6) as usize];
    let body = format!("<title>Event</title><p>The word of the day is {word}, and nothing else is new here.");
    answer(
        stream,
        "200 OK\r\nContent-Type: text/html\r\nETag: \"always\"\r\n\
         Last-Modified: Fri, 01 Jan 2100 00:00:00 GMT",
        body.as_bytes(),
    );
}

fn storm(stream: &mut TcpStream, path: &str, _: u64) {
    if !has_no_rules(stream, path) {
        answer(stream, "429 Too Many Requests\r\nRetry-After: 60", b"slow down");
    }
}

/// Refuses its first requests, then behaves well.
fn returning(stream: &mut TcpStream, path: &str, number: u64) {
    if number < 3 {
        return close(stream);
    }
    if !has_no_rules(stream, path) {
        html(
            stream,
            "<title>Back</title><p>We are back after a short break, and glad that you are here again.",
        );
    }
}

fn garbage(stream: &mut TcpStream, _: &str, _: u64) {
    let bytes: Vec<u8> = (0..5000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let _ = stream.write_all(&bytes);
    close(stream);
}

fn malformed_page(stream: &mut TcpStream, path: &str, number: u64) {
    if has_no_rules(stream, path) {
        return;
    }
    let mut body =
        b"<html><a href='http://[::bad'><a href=//><a href='http://a b/'><!DOCTYPE <table><script>".to_vec();
    body.extend(
        (0..20_000_u32).map(|at| (at.wrapping_mul(2_654_435_761).wrapping_add(number as u32) >> 24) as u8),
    );
    answer(stream, "200 OK\r\nContent-Type: text/html; charset=x-no-such", &body);
}

/// Peak memory of a process, in kilobytes.
fn memory_peak(child: &Child) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().split(' ').next()?.parse().ok())
}

#[track_caller]
fn asked(directory: &Path, question: &[&str]) -> Value {
    answered(directory, question).expect("it is answered")
}

/// The answer to a query; `None` while the crawl is being opened.
fn answered(directory: &Path, question: &[&str]) -> Option<Value> {
    let output = Command::new(env!("CARGO_BIN_EXE_freshet"))
        .args(question)
        .arg("--dir")
        .arg(directory)
        .arg("--json")
        .output()
        .expect("the program starts");
    serde_json::from_slice(&output.stdout).ok()
}

#[test]
fn the_good_site_is_crawled_whole_among_hostile_ones() {
    let place = tempfile::tempdir().expect("a place");
    let directory = place.path().join("crawl");
    let zoo: Vec<(Manner, &str)> = vec![
        (slow_head, "time-out"),
        (slow_body, "slow body"),
        // Cut by its size, or by its time on a busy machine.
        (endless_body, "body"),
        (huge_headers, "huge headers"),
        (gzip_bomb, "bomb"),
        (zstd_bomb, "bomb"),
        (brotli_bomb, "bomb"),
        (bad_chunks, "bad HTTP"),
        (broken_body, "broken connection"),
        (redirects, "redirect loop"),
        (many_links, "too many links"),
        (lying_validators, "lying validators"),
        (storm, "asked to slow down"),
        (returning, "broken connection"),
        (garbage, "bad HTTP"),
    ];
    let hostile: Vec<(String, &str)> = zoo
        .into_iter()
        .enumerate()
        .map(|(number, (manner, trouble))| (site(number as u8 + 10, manner), trouble))
        .collect();
    let quiet = [site(100, calendar), site(101, session_maze), site(102, malformed_page)];
    let not_tls = site(103, good);
    let good_site = site(1, good);
    let clock_site = site(2, clock);
    let news = &hostile.iter().find(|(_, trouble)| *trouble == "lying validators").expect("it is there").0;
    let seeds: Vec<String> = hostile
        .iter()
        .map(|(site, _)| site)
        .chain(&quiet)
        .chain([&good_site])
        .map(|site| format!("http://{site}/"))
        .chain([format!("https://{not_tls}/")])
        .collect();
    fs::create_dir(&directory).expect("a directory");
    let config = format!(
        "seeds = {seeds:?}\nbudget = \"5000/day\"\nallow_private = true\n[limits]\nvisit_time = \"2s\"\n\
         page_bytes = \"{PAGE_BYTES}B\"\n[politeness]\ndelay = \"1s\"\n[[pin]]\nurl = \"http://{news}/\"\n\
         every = \"30min\"\n[[site]]\nname = \"127.9.0.20\"\npages = 20\n"
    );
    fs::write(directory.join("freshet.toml"), config).expect("it is written");
    let mut crawl = Running(
        Command::new(env!("CARGO_BIN_EXE_freshet"))
            .args(["crawl", "--quiet", "--clock", &format!("http://{clock_site}/-/clock"), "--dir"])
            .arg(&directory)
            .spawn()
            .expect("the program starts"),
    );

    // Everything must be found while the good site is crawled.
    let begun = Instant::now();
    let mut missing;
    loop {
        thread::sleep(Duration::from_secs(1));
        missing = what_is_missing(&directory, &good_site, &hostile, &not_tls);
        if missing.is_empty() || begun.elapsed() > PATIENCE {
            break;
        }
    }
    assert_eq!(missing, [""; 0]);
    let peak = memory_peak(&crawl.0).expect("it runs");
    assert!(peak < MEMORY_MAX_KB, "it took {peak} kB");
    let stopped = Command::new("kill").args(["-INT", &crawl.0.id().to_string()]).status();
    assert!(stopped.expect("it is told to stop").success());
    assert!(crawl.0.wait().expect("it ends").success());

    // A maze of session ids counts as a few pages.
    let pages = asked(&directory, &["pages", "--site", &quiet[1], "--limit", "100000"]);
    assert!(pages.as_array().expect("pages").len() < 10, "{pages}");
    let fsck =
        Command::new(env!("CARGO_BIN_EXE_freshet")).arg("fsck").arg(&directory).output().expect("it runs");
    assert!(fsck.status.success(), "{}", String::from_utf8_lossy(&fsck.stdout));
}

/// A process, killed when the test ends.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What the crawl has not found yet, in words.
fn what_is_missing(directory: &Path, good: &str, hostile: &[(String, &str)], not_tls: &str) -> Vec<String> {
    let mut missing = Vec::new();
    let Some(pages) = answered(directory, &["pages", "--site", good, "--limit", "1000"]) else {
        return vec!["an answer".to_owned()];
    };
    let is_copied = |page: &&Value| page["title"].as_str().is_some_and(|title| !title.is_empty());
    let copied = pages.as_array().map_or(0, |pages| pages.iter().filter(is_copied).count());
    if copied < GOOD_PAGES + 1 {
        missing.push(format!("{} good pages", GOOD_PAGES + 1 - copied));
    }
    let status = asked(directory, &["status"]);
    let has_met = |site: &str, what: &str| {
        status["met"].as_array().is_some_and(|lines| {
            lines.iter().any(|line| {
                let text = |name: &str| line[name].as_str().unwrap_or_default();
                text("site").ends_with(site) && text("what").contains(what)
            })
        })
    };
    let not_met = hostile.iter().filter(|(site, what)| !has_met(site, what));
    missing.extend(not_met.map(|(site, what)| format!("{what} of {site}")));
    missing.extend((!has_met(not_tls, "TLS")).then(|| "TLS failure".to_owned()));
    // The site that was away is back.
    let (back, _) = &hostile[13];
    let pages = asked(directory, &["pages", "--site", back]);
    missing.extend((pages[0]["title"] != "Back").then(|| "the site that was away".to_owned()));
    missing
}
