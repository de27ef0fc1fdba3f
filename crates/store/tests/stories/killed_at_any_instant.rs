//! A writing process is killed with SIGKILL at many moments. Each time the store opens with everything
//! acknowledged, nothing twice, and no torn page.
//!
//! The writer is this test binary, started again with a directory in `FRESHET_WRITER_DIRECTORY`.
//! `FRESHET_KILLS` is the number of kills.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use bytes::Bytes;
use freshet_protocol::ids::{PageNumber, SiteNumber, UrlId};
use freshet_protocol::time::Timestamp;
use freshet_store::all_urls::{Source, Standing, UrlRecord};
use freshet_store::changes::Changes;
use freshet_store::check::check;
use freshet_store::coll_urls::PageRecord;
use freshet_store::collection::{Exchange, ExchangeKind};
use freshet_store::history::{VisitKind, VisitRow};
use freshet_store::sites::SiteRecord;
use freshet_store::store::{Numbered, Settings, Store};

const DIRECTORY: &str = "FRESHET_WRITER_DIRECTORY";

/// Number of pages, all visited in each commit.
const PAGES: u32 = 5;

/// Number of commits per simulated day, so that days, months, segments and files of the History pass quickly.
const COMMITS_PER_DAY: i64 = 7;

fn settings() -> Settings {
    Settings { segment_bytes: 30_000, waiting_visits: 60, ..Settings::default() }
}

/// The time of a commit.
fn moment(commit: u64) -> Timestamp {
    Timestamp::from_millis(1_794_790_000_000 + commit as i64 * 86_400_000 / COMMITS_PER_DAY)
}

fn body(page: u32, commit: u64) -> String {
    format!("<p>Page {page} as of commit {commit}. ").repeat(1 + page as usize * 20)
}

fn url(page: u32) -> String {
    format!("http://a.example/{page}")
}

/// The changes of commit number `commit`.
fn changes(store: &mut Store, commit: u64) -> Changes {
    let mut changes = Changes::default();
    if commit == 0 {
        let Numbered::New(site) = store.site_number("http://a.example").expect("a number") else {
            panic!("the site is known");
        };
        changes
            .sites
            .push((site, SiteRecord { site: "http://a.example".to_owned(), ..SiteRecord::default() }));
    }
    for page in 0..PAGES {
        let (url, time) = (url(page), moment(commit));
        if commit == 0 {
            store.page_number().expect("a number");
        }
        // Every commit discovers a new URL.
        let discovered = format!("{url}/{commit}");
        for (url, standing) in
            [(url.as_str(), Standing::Kept(PageNumber(page))), (&discovered, Standing::Waiting)]
        {
            if let Numbered::New(id) = store.url_number(url).expect("a number") {
                changes.urls.push((id, url_record(url, standing)));
            }
        }
        let id = store.url_number(&url).expect("a number").number();
        let record =
            PageRecord { visits: commit as u32, ..PageRecord::admitted(id, SiteNumber(0), moment(0)) };
        changes.pages.push((PageNumber(page), record));
        changes
            .links
            .push((PageNumber(page), vec![store.url_number(&discovered).expect("a number").number()]));
        let row = VisitRow { page: Some(PageNumber(page)), ..VisitRow::new(time, &url, VisitKind::Changed) };
        changes.visits.push(row);
        changes.exchanges.push(exchange(page, commit));
    }
    changes.notes.push(("commit".to_owned(), Some(commit.to_be_bytes().to_vec())));
    changes
}

fn url_record(url: &str, standing: Standing) -> UrlRecord {
    UrlRecord {
        url: url.to_owned(),
        site: SiteNumber(0),
        discovered: moment(0),
        found_on: Some(UrlId(0)),
        depth: 1,
        anchor: "words".to_owned(),
        source: Source::Link,
        listed_modified: None,
        standing,
        detail: String::new(),
    }
}

fn exchange(page: u32, commit: u64) -> Exchange {
    Exchange {
        page: Some(PageNumber(page)),
        url: url(page),
        time: moment(commit),
        kind: ExchangeKind::Full,
        address: None,
        request_head: b"GET / HTTP/1.1\r\n\r\n".to_vec(),
        response_head: b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n".to_vec(),
        status: 200,
        body: Bytes::from(body(page, commit)),
        truncated: None,
        millis: 1,
        charset: None,
        via: None,
        raw_digest: None,
        text_digest: None,
        simhash: None,
        folded: None,
    }
}

/// The number of the next commit, from the note of the last one.
fn next_commit(store: &Store) -> u64 {
    let note = store.reader().note("commit").expect("it is read");
    note.map_or(0, |note| u64::from_be_bytes(note.try_into().expect("eight bytes")) + 1)
}

/// The process that is killed: until then it commits and acknowledges.
#[test]
fn writer() {
    let Ok(directory) = std::env::var(DIRECTORY) else {
        return;
    };
    let mut store = Store::open(Path::new(&directory), settings()).expect("it opens");
    let mut acknowledged = std::io::stdout();
    for commit in next_commit(&store).. {
        let changes = changes(&mut store, commit);
        store.commit(changes).expect("it is committed");
        writeln!(acknowledged, "\nacknowledged {commit}").expect("somebody listens");
        store.tidy(moment(commit)).expect("it is tidied");
    }
}

/// Runs the writer for a while and kills it. Returns the last acknowledged commit.
fn run_and_kill(directory: &Path, millis: u64) -> Option<u64> {
    let mut child = Command::new(std::env::current_exe().expect("a path"))
        .args(["--exact", "killed_at_any_instant::writer", "--nocapture"])
        .env(DIRECTORY, directory)
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let output = BufReader::new(child.stdout.take().expect("a pipe"));
    let (sender, receiver) = std::sync::mpsc::channel();
    let listener = std::thread::spawn(move || {
        let mut last = None;
        for line in output.lines().map_while(Result::ok) {
            if let Some(commit) = line.strip_prefix("acknowledged ") {
                last = commit.parse().ok();
                let _ = sender.send(());
            }
        }
        last
    });
    // The wait begins with the first acknowledgement, because a busy machine may take long to
    // start a process.
    let _ = receiver.recv_timeout(Duration::from_secs(20));
    std::thread::sleep(Duration::from_millis(millis));
    child.kill().expect("it is killed");
    child.wait().expect("it is gone");
    listener.join().expect("it ended")
}

#[test]
fn a_killed_writer_loses_nothing_it_acknowledged() {
    let kills: u64 = std::env::var("FRESHET_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(20);
    let place = tempfile::tempdir().expect("a directory");
    for kill in 0..kills {
        // Spread over the first 101 milliseconds, in no order.
        let acknowledged = run_and_kill(place.path(), kill * 37 % 101);
        let store = Store::open(place.path(), settings()).expect("it opens");
        let next = next_commit(&store);
        assert!(
            acknowledged.is_none_or(|commit| commit < next),
            "{acknowledged:?} of {next} in round {kill}"
        );
        assert_eq!(store.counters().visits, next * u64::from(PAGES), "round {kill}");
        // The full check runs in every fifth round and in the last, because it takes longer and longer.
        if kill % 5 == 4 || kill + 1 == kills {
            let findings = check(&store.reader()).expect("it is checked");
            assert_eq!(findings.faults, [], "round {kill}");
        }
        for page in 0..PAGES {
            let last = store.reader().response_at(PageNumber(page), moment(next)).expect("it is read");
            assert_eq!(last.map(|last| last.body), (next > 0).then(|| body(page, next - 1).into_bytes()));
        }
    }
}
