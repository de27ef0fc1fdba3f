//! What sites ask for is respected: after a restart, and when a site's robots.txt redirects to another host.
//! Uses real sockets and the real program.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

/// Time limit for something that the program must do.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long the program is watched for something that it must not do.
const WATCHED: Duration = Duration::from_secs(4);

/// Milliseconds between two requests to a host, if there is a delay.
const DELAY: u64 = 1000;

/// How many milliseconds shorter a pause may seem to a slow server.
const SLOW_WATCH: u64 = 300;

/// A site that records the paths requested from it, and when.
struct Site {
    url: String,
    asked: Arc<Mutex<Vec<(Instant, String)>>>,
}

impl Site {
    /// Starts a site at 127.9.1.`number` that answers a path with `answer`.
    fn new(number: u8, answer: impl Fn(&str) -> String + Send + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::new(127, 9, 1, number), 0)).expect("it can listen");
        let url = format!("http://{}/", listener.local_addr().expect("it has an address"));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&asked);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                serve(stream, &answer, &seen);
            }
        });
        Self { url, asked }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("nobody panicked").iter().map(|(_, path)| path.clone()).collect()
    }

    /// Milliseconds between consecutive requests.
    fn gaps(&self) -> Vec<u64> {
        let asked = self.asked.lock().expect("nobody panicked");
        asked.windows(2).map(|pair| (pair[1].0 - pair[0].0).as_millis() as u64).collect()
    }

    fn wait_until_asked(&self, times: usize) {
        let begun = Instant::now();
        while self.asked().len() < times {
            assert!(begun.elapsed() < PATIENCE, "asked only for {:?}", self.asked());
            thread::sleep(Duration::from_millis(20));
        }
    }
}

fn serve(stream: TcpStream, answer: &dyn Fn(&str) -> String, asked: &Mutex<Vec<(Instant, String)>>) {
    let Ok(mut writer) = stream.try_clone() else { return };
    let mut lines = BufReader::new(stream).lines();
    let Some(Ok(first)) = lines.next() else { return };
    while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
    let path = first.split(' ').nth(1).unwrap_or("/").to_owned();
    let answer = answer(&path);
    asked.lock().expect("nobody panicked").push((Instant::now(), path));
    let _ = writer.write_all(format!("HTTP/1.1 {answer}").as_bytes());
}

/// A response without a body.
fn bare(head: &str) -> String {
    format!("{head}\r\nConnection: close\r\n\r\n")
}

/// A response with a body.
fn page(kind: &str, body: &str) -> String {
    bare(&format!("200 OK\r\nContent-Type: {kind}")) + body
}

fn busy(path: &str) -> String {
    bare(if path == "/robots.txt" { "404 Not Found" } else { "503 Busy\r\nRetry-After: 3600" })
}

fn overloaded(path: &str) -> String {
    bare(if path == "/robots.txt" { "404 Not Found" } else { "429 Too Many Requests\r\nRetry-After: 7200" })
}

fn without_rules(path: &str) -> String {
    bare(if path == "/robots.txt" { "500 Internal Server Error" } else { "200 OK" })
}

/// A site with an open page and a secret page.
fn with_a_secret(path: &str) -> String {
    page("text/html", &format!("<title>{path}</title><p>{path}</p><a href=/open>a</a> <a href=/secret>b</a>"))
}

/// Crawls until `is_enough` returns, then kills the crawl.
fn crawl(directory: &Path, sites: &[&Site], delay_millis: u64, is_enough: impl FnOnce()) {
    let mut crawl = Command::new(env!("CARGO_BIN_EXE_freshet"))
        .arg("crawl")
        .args(sites.iter().map(|site| &site.url))
        .arg("--dir")
        .arg(directory)
        .args(["--allow-private", "--budget", "unlimited", "--quiet"])
        .args(["--host-delay", &format!("{delay_millis}ms")])
        .spawn()
        .expect("the program starts");
    is_enough();
    crawl.kill().expect("it is killed");
    crawl.wait().expect("it ends");
}

#[test]
fn a_site_that_asked_to_be_left_alone_is_left_alone_after_a_restart() {
    let place = tempfile::tempdir().expect("a place");
    let directory = place.path().join("crawl");
    let sites = [Site::new(1, busy), Site::new(2, overloaded), Site::new(3, without_rules)];
    let [first, second, third] = &sites;
    let all = [first, second, third];
    let begun = Instant::now();
    crawl(&directory, &all, 0, || {
        first.wait_until_asked(2);
        second.wait_until_asked(2);
        third.wait_until_asked(1);
        // The results of the last responses are committed within a moment.
        thread::sleep(Duration::from_secs(2));
    });
    let asked = [first, second].map(Site::asked);
    for _ in 0..2 {
        crawl(&directory, &all, 0, || thread::sleep(WATCHED));
        assert_eq!([first, second].map(Site::asked), asked);
        // Unavailable rules are requested again after a minute, and nothing else is.
        let minutes = begun.elapsed().as_secs() / 60;
        assert!(third.asked().len() as u64 <= 1 + minutes, "{:?}", third.asked());
        assert!(third.asked().iter().all(|path| path == "/robots.txt"));
    }
    let output = Command::new(env!("CARGO_BIN_EXE_freshet"))
        .args(["status", "--json", "--dir"])
        .arg(&directory)
        .output()
        .expect("the program starts");
    let status: Value = serde_json::from_slice(&output.stdout).expect("the answer is JSON");
    assert!(status["visits"].as_u64() >= Some(2), "{status}");
}

#[test]
fn rules_that_are_kept_elsewhere_are_asked_for_in_that_hosts_turn() {
    let place = tempfile::tempdir().expect("a place");
    let writer = Site::new(4, |path| match path {
        "/rules.txt" => page("text/plain", "user-agent: *\ndisallow: /secret\n"),
        path => with_a_secret(path),
    });
    let at = format!("{}rules.txt", writer.url);
    let sent_there = |number| {
        let at = at.clone();
        Site::new(number, move |path| match path {
            "/robots.txt" => bare(&format!("301 Moved Permanently\r\nLocation: {at}")),
            path => with_a_secret(path),
        })
    };
    let sites = [sent_there(5), sent_there(6), sent_there(7)];
    let [first, second, third] = &sites;
    crawl(&place.path().join("crawl"), &[first, second, third, &writer], DELAY, || {
        // Each site is asked for its rules, the root, an open page and a sitemap that it does not have. The
        // writer is also asked for the rules of all three.
        sites.iter().for_each(|site| site.wait_until_asked(4));
        writer.wait_until_asked(7);
    });
    for site in &sites {
        assert_eq!(site.asked().iter().filter(|path| *path == "/robots.txt").count(), 1);
        assert!(site.asked().iter().any(|path| path == "/open"), "{:?}", site.asked());
        assert!(!site.asked().iter().any(|path| path == "/secret"), "{:?}", site.asked());
    }
    let asked = writer.asked();
    assert_eq!(asked.iter().filter(|path| *path == "/rules.txt").count(), 3, "{asked:?}");
    for site in sites.iter().chain([&writer]) {
        let gaps = site.gaps();
        assert!(gaps.iter().all(|gap| DELAY - SLOW_WATCH <= *gap), "{gaps:?} {:?}", site.asked());
    }
}
