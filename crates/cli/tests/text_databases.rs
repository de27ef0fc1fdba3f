//! `freshet db` as a user meets it: databases are added, learned, shown, compared, studied, fitted, planned,
//! refreshed and selected.

use std::fs;
use std::path::Path;
use std::process::Command;

use freshet_crawl::query_socket::{Loan, borrow_turn};
use freshet_protocol::time::{MILLIS_PER_DAY, Timestamp};
use freshet_text::database::{Database, Place};
use freshet_text::summary::Summary;
use freshet_text::summary_store::SummaryStore;
use freshet_text::version::{Facts, Kind, Size, Version};
use freshet_text::words::Wording;
use serde_json::Value;

/// Runs a `freshet db` command in a directory. Returns its output and whether it succeeded.
fn run(home: &Path, arguments: &[&str]) -> (String, bool) {
    let output = Command::new(env!("CARGO_BIN_EXE_freshet"))
        .arg("db")
        .args(arguments)
        .arg("--home")
        .arg(home)
        .output()
        .expect("the command runs");
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (text, output.status.success())
}

/// Output of a command that must succeed.
#[track_caller]
fn succeed(home: &Path, arguments: &[&str]) -> String {
    let (text, is_success) = run(home, arguments);
    assert!(is_success, "{arguments:?}: {text}");
    text
}

#[track_caller]
fn json(home: &Path, arguments: &[&str]) -> Value {
    let text = succeed(home, &[arguments, &["--json"]].concat());
    serde_json::from_str(&text).expect("it is JSON")
}

#[test]
fn databases_of_files_are_learned_compared_and_chosen() {
    let place = tempfile::tempdir().expect("a directory");
    let (home, texts) = (place.path().join("crawl"), place.path().join("texts"));
    fs::create_dir_all(texts.join("deeper")).expect("a directory");
    fs::write(texts.join("a.txt"), "Saturn has rings").expect("a file");
    fs::write(texts.join("deeper/b.html"), "<title>Cassini</title><p>The rings of <b>Saturn</b>")
        .expect("a file");
    fs::write(texts.join("c.bin"), [0u8, 1, 2, 3, 0, 255]).expect("a file");
    let path = texts.to_str().expect("a path");
    succeed(&home, &["add", "planets", "--dir", path, "--category", "science"]);
    assert!(run(&home, &["add", "planets", "--dir", path]).0.contains("already"));
    let shown = json(&home, &["sample", "planets"]);
    assert_eq!((&shown["facts"]["documents_read"], &shown["words"]["saturn"]), (&2.into(), &2.0.into()));
    assert!(shown["facts"]["notes"][0].as_str().expect("a note").contains("1 documents could not be read"));
    fs::write(texts.join("d.txt"), "Jupiter").expect("a file");
    succeed(&home, &["sample", "planets"]);
    let compared = json(&home, &["compare", "planets"]);
    assert_eq!(compared["came"], serde_json::json!(["jupiter"]));
    assert_eq!(compared["precision"], 1.0);
    assert!(succeed(&home, &["list"]).contains("science"));
    for algorithm in ["cori", "bgloss", "kl"] {
        let chosen = json(&home, &["select", "rings of saturn", "--algorithm", algorithm]);
        assert_eq!(chosen[0]["name"], "planets", "{algorithm}");
    }
    assert!(succeed(&home, &["select", "volcano"]).contains("no database has"));
    assert!(succeed(&home, &["search", "saturn"]).contains("no search interface"));
    assert!(succeed(&home, &["show", "planets", "--words", "2"]).contains("saturn"));
}

#[test]
fn what_is_wrong_is_said_with_what_to_do() {
    let place = tempfile::tempdir().expect("a directory");
    let search = "http://127.0.0.1:1/?q={query}";
    for (arguments, words) in [
        (&["list"][..], "`freshet db add` adds one"),
        (&["show", "nothing"], "there is no database `nothing`"),
        (&["add", "../x", "--dir", "/tmp"], "is no name"),
        (&["add", "x", "--search", search], "--results is missing"),
        (&["add", "x", "--search", "http://127.0.0.1/", "--results", "li"], "{query}"),
        (&["add", "x", "--search", search, "--results", "li["], "CSS"),
        (&["add", "x", "--search", search, "--results", "$.hits["], "JSON path"),
        (&["add", "x", "--dir", "/nowhere/at/all"], "cannot read /nowhere"),
        (&["plan", "--every", "10w"], "there is no database"),
        (&["fit"], "there is no database"),
    ] {
        let (text, is_success) = run(place.path(), arguments);
        assert!(!is_success && text.contains(words), "{arguments:?}: {text}");
    }
    succeed(place.path(), &["add", "far", "--search", "http://example.org/?q={query}", "--results", "li"]);
    assert!(run(place.path(), &["sample", "far"]).0.contains("--contact"));
}

/// Four databases with weekly versions; the words of database `n` come and go `n + 1` times as fast.
fn shelf_with_a_past(home: &Path, weeks: i64) {
    let store = SummaryStore::in_directory(home);
    let now = freshet_crawl::clock::wall_now().millis();
    for n in 0..4usize {
        let name = format!("db{n}");
        store.add(&name, &Database::of(Place::Dir { path: home.to_owned() })).expect("it is added");
        for week in 0..weeks {
            let shift = (week as usize) * (n + 1);
            let words = (0..60usize).map(|word| {
                let place = (word + 600 - shift % 600) % 60;
                (
                    format!("w{}", (word + shift / 60) % 90),
                    1.0 + place as f64 + ((word * 7 + shift) % 5) as f64,
                )
            });
            let time_ms = now - (weeks - 1 - week) * 7 * MILLIS_PER_DAY;
            let size = 100.0 * (1.0 + n as f64) * if n == 2 { 5.0 } else { 1.0 };
            let facts = Facts {
                time_ms,
                kind: Kind::Complete,
                size: Size::Counted(size),
                documents_read: 100,
                wording: Wording::default(),
                notes: Vec::new(),
                sampling: None,
            };
            let version = Version { facts, summary: Summary::from_words(size, words.collect()) };
            store.keep(&name, &version).expect("it is kept");
        }
    }
    assert_eq!(store.times("db0").expect("times").last().map(|time: &Timestamp| time.millis()), Some(now));
}

#[test]
fn a_past_is_studied_fitted_planned_and_kept_fresh() {
    let place = tempfile::tempdir().expect("a directory");
    let home = place.path();
    fs::write(home.join("text.txt"), "w1 w2 w3").expect("a file");
    shelf_with_a_past(home, 45);
    let studied =
        json(home, &["study", "--ages", "1,5,20", "--out", home.join("figures").to_str().expect("a path")]);
    assert_eq!(studied.as_array().map(Vec::len), Some(3));
    assert!(fs::read_to_string(home.join("figures/study.svg")).expect("a figure").starts_with("<svg"));
    let published = json(home, &["plan", "--every", "10w", "--model", "published"]);
    assert!(published["model"].as_str().expect("a model").contains("published"));
    assert_eq!(published["databases"].as_array().map(Vec::len), Some(4));
    let fitted = json(home, &["fit", "--training", "5"]);
    assert!(!fitted["sets"].as_array().expect("sets").is_empty());
    let planned = json(home, &["plan", "--budget", "1/week"]);
    assert_eq!(planned["model"], "fitted");
    let (plan, naive) = (&planned["up_to_date"], &planned["naive"]["up_to_date"]);
    assert!(naive.as_f64() <= plan.as_f64().map(|plan| plan + 1e-9), "{planned}");
    let asked = json(home, &["plan", "--precision", "0.5"]);
    assert!((asked["update_precision"].as_f64().expect("a share") - 0.5).abs() < 0.01, "{asked}");
    let status = json(home, &["status", "--every", "10w"]);
    assert_eq!(status["databases"].as_array().map(Vec::len), Some(4));
    // A database without a summary is learned at once; the others are fresh.
    succeed(home, &["add", "new", "--dir", home.to_str().expect("a path")]);
    let refreshed = succeed(home, &["run", "--every", "10w", "--once"]);
    assert!(refreshed.contains("new: ") && !refreshed.contains("db0: "), "{refreshed}");
    assert_eq!(succeed(home, &["run", "--every", "10w", "--once"]), "");
}

/// A program, killed when the test ends.
struct Running(std::process::Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits for a condition, for half a minute at most.
#[track_caller]
fn wait_for(what: &str, mut is_there: impl FnMut() -> bool) {
    for _ in 0..300 {
        if is_there() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    panic!("{what} never came");
}

#[test]
fn a_crawl_that_runs_lends_its_turns_and_shows_its_pages() {
    let place = tempfile::tempdir().expect("a directory");
    let (home, seeds, log) =
        (place.path().join("crawl"), place.path().join("seeds"), place.path().join("log"));
    let freshet = || Command::new(env!("CARGO_BIN_EXE_freshet"));
    let web = ["lab", "web", "--sites", "3", "--pages", "900", "--seed", "3", "--for", "120s"];
    let web = freshet()
        .args(web)
        .arg("--seeds")
        .arg(&seeds)
        .arg("--log")
        .arg(&log)
        .stdout(std::process::Stdio::null())
        .spawn();
    let _web = Running(web.expect("the program starts"));
    let sites =
        || fs::read_to_string(&seeds).unwrap_or_default().lines().map(str::to_owned).collect::<Vec<_>>();
    wait_for("the web", || sites().len() == 3);
    // The largest site: crawling its pages takes longer than the test.
    let site = sites().remove(0);
    let host = site.trim_start_matches("http://").split([':', '/']).next().expect("a host").to_owned();
    let asked = || {
        let log = fs::read_to_string(&log).unwrap_or_default();
        let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines.filter(|line| line["host"].as_str().is_some_and(|other| other.starts_with(&host))).count()
    };
    let mut crawl = freshet();
    crawl.arg("crawl").arg(&site).arg("--dir").arg(&home);
    crawl.args(["--allow-private", "--budget", "unlimited", "--host-delay", "50ms", "--quiet"]);
    let crawl = Running(crawl.spawn().expect("the program starts"));
    wait_for("the first pages", || asked() > 10);

    // While a turn is lent, the crawl does not send requests to the host; afterwards it continues.
    let Ok(Loan::Turn(turn)) = borrow_turn(&home, &host, None) else { panic!("no turn is lent") };
    let before = asked();
    std::thread::sleep(std::time::Duration::from_millis(600));
    assert_eq!(asked(), before);
    drop(turn);
    wait_for("another request", || asked() > before);

    succeed(&home, &["add", "lent", "--site", &host]);
    let shown = json(&home, &["sample", "lent"]);
    assert!(shown["facts"]["documents_read"].as_u64().is_some_and(|documents| documents > 3), "{shown}");
    drop(crawl);
    let again = json(&home, &["sample", "lent"]);
    assert!(
        shown["facts"]["documents_read"].as_u64() <= again["facts"]["documents_read"].as_u64(),
        "{again}"
    );
    assert!(matches!(borrow_turn(&home, &host, None), Ok(Loan::NoCrawl)));
}
