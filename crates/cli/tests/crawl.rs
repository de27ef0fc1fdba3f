//! `freshet crawl` through the real program, on a living web of the lab: a crawl is made, continued, queried,
//! killed and resumed.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// A living web, killed when the test ends.
struct Web {
    server: Child,
    seeds: Vec<String>,
}

impl Drop for Web {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn freshet() -> Command {
    Command::new(env!("CARGO_BIN_EXE_freshet"))
}

fn web(place: &Path, options: &[&str]) -> Web {
    let (seeds, log) = (place.join("seeds"), place.join("log"));
    let mut server = freshet()
        .args(["lab", "web", "--sites", "6", "--pages", "240", "--seed", "3", "--for", "120s", "--seeds"])
        .arg(&seeds)
        .arg("--log")
        .arg(&log)
        .args(options)
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let output = server.stdout.take().expect("it has an output");
    let mut lines = BufReader::new(output).lines();
    let is_last = |line: &str| line.contains("/-/clock");
    while let Some(Ok(line)) = lines.next()
        && !is_last(&line)
    {}
    std::thread::spawn(move || lines.for_each(drop));
    let seeds = fs::read_to_string(&seeds).expect("the seeds are written");
    Web { server, seeds: seeds.lines().map(str::to_owned).collect() }
}

impl Web {
    fn clock(&self) -> String {
        format!("{}-/clock", self.seeds[0])
    }

    /// Answer of the web's own interface, such as its true state.
    fn ask(&self, path: &str) -> String {
        let authority = self.seeds[0].trim_start_matches("http://").trim_end_matches('/').to_owned();
        let mut stream = TcpStream::connect(&authority).expect("it listens");
        write!(stream, "GET {path} HTTP/1.0\r\nHost: {authority}\r\n\r\n").expect("it is asked");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default()
    }

    fn crawl(&self, place: &Path, options: &[&str]) -> Command {
        let mut command = freshet();
        command.arg("crawl").args(&self.seeds).arg("--dir").arg(place.join("crawl"));
        command.args(["--allow-private", "--clock", &self.clock()]).args(options);
        command
    }
}

fn run(command: &mut Command) -> Output {
    let output = command.output().expect("the program starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

fn asked(place: &Path, question: &[&str]) -> Value {
    let output = run(freshet().args(question).arg("--dir").arg(place.join("crawl")).arg("--json"));
    serde_json::from_slice(&output.stdout).expect("the answer is JSON")
}

/// The requests that the web has received: host, path and status.
fn requests(place: &Path) -> Vec<(String, String, u64)> {
    let log = fs::read_to_string(place.join("log")).expect("there is a log");
    let line = |line: &str| serde_json::from_str::<Value>(line).expect("a line is JSON");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let request =
        |line: Value| (text(&line["host"]), text(&line["path"]), line["status"].as_u64().unwrap_or(0));
    log.lines().map(line).map(request).collect()
}

#[test]
fn a_crawl_visits_every_page_once_and_obeys_robots() {
    let place = tempfile::tempdir().expect("a place");
    let web = web(place.path(), &["--speed", "20x"]);
    run(&mut web.crawl(place.path(), &["--once", "--budget", "unlimited", "--host-delay", "0", "--quiet"]));

    let requests = requests(place.path());
    let mut pages: Vec<_> = requests.iter().filter(|(_, path, _)| path != "/robots.txt").collect();
    let all = pages.len();
    pages.sort();
    pages.dedup();
    assert_eq!(pages.len(), all, "a page was visited twice: {requests:?}");
    let robots = requests.iter().filter(|(_, path, _)| path == "/robots.txt").count();
    assert_eq!(robots, 6);

    let status = asked(place.path(), &["status"]);
    assert!(status["pages_kept"].as_u64() > Some(200), "{status}");
    assert_eq!(status["running"], false);
    let listed = asked(place.path(), &["pages", "--limit", "100000"]);
    let urls: Vec<&str> =
        listed.as_array().expect("pages").iter().filter_map(|page| page["url"].as_str()).collect();
    // Every page that exists and may be visited was found.
    let truth = web.ask("/-/state");
    let live: Vec<Value> =
        truth.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect();
    assert!(live.len() > 200);
    for page in live.iter().filter(|page| page["allowed"] != Value::Bool(false)) {
        let url = page["url"].as_str().expect("a page has a URL");
        let may_be_younger = page["born_ms"].as_i64() > Some(1_767_225_600_000);
        assert!(urls.contains(&url) || may_be_younger, "{url} was missed");
    }
}

#[test]
fn a_crawl_that_is_killed_goes_on_where_it_was() {
    let place = tempfile::tempdir().expect("a place");
    let web = web(place.path(), &["--speed", "2000x"]);
    let options = ["--budget", "20000/day", "--quiet"];
    for _ in 0..3 {
        let mut crawl = web.crawl(place.path(), &options).spawn().expect("the program starts");
        std::thread::sleep(Duration::from_millis(2500));
        crawl.kill().expect("it is killed");
        crawl.wait().expect("it ends");
    }
    let killed = asked(place.path(), &["status"]);
    assert!(killed["visits"].as_u64() > Some(50), "{killed}");
    run(&mut web.crawl(place.path(), &["--budget", "20000/day", "--quiet", "--for", "3s"]));
    let status = asked(place.path(), &["status"]);
    assert!(status["visits"].as_u64() > killed["visits"].as_u64());
    // A visit is recorded once: there are never more than the web has served.
    let served = requests(place.path()).iter().filter(|(_, path, _)| path != "/robots.txt").count() as u64;
    assert!(status["visits"].as_u64() <= Some(served), "{status} {served}");
}

#[test]
fn a_crawl_answers_while_it_runs_and_a_second_one_is_refused() {
    let place = tempfile::tempdir().expect("a place");
    let web = web(place.path(), &["--speed", "1x"]);
    let options = ["--budget", "unlimited", "--host-delay", "0", "--quiet"];
    let mut crawl = web.crawl(place.path(), &options).spawn().expect("the program starts");
    std::thread::sleep(Duration::from_secs(3));
    let status = asked(place.path(), &["status"]);
    assert_eq!(status["running"], true);
    let second = web.crawl(place.path(), &options).output().expect("the program starts");
    assert!(!second.status.success());
    assert!(String::from_utf8_lossy(&second.stderr).contains("in use by process"));

    let account = asked(place.path(), &["explain", &web.seeds[0]]);
    assert_eq!(account["standing"], "kept");
    assert!(account["visits"].as_u64() >= Some(1), "{account}");
    let copy = asked(place.path(), &["cat", &web.seeds[0]]);
    assert!(copy["content"].as_str().is_some_and(|content| content.contains("<html")), "{copy}");
    assert_eq!(
        asked(place.path(), &["pin", &web.seeds[0], "--every", "6h"]),
        format!("{} is visited every 6.0 hours", web.seeds[0])
    );
    let crawl_pid = crawl.id().to_string();
    run(Command::new("kill").args(["-INT", &crawl_pid]));
    assert!(crawl.wait().expect("it ends").success());
}

#[test]
fn what_is_wrong_is_named() {
    let place = tempfile::tempdir().expect("a place");
    let check = |arguments: &[&str], expected: &str| {
        let output =
            freshet().args(arguments).current_dir(place.path()).output().expect("the program starts");
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{arguments:?}");
        assert!(error.contains(expected), "{error}");
    };
    check(&["crawl"], "nothing to crawl");
    check(&["crawl", "https://example.org/"], "--contact");
    check(&["crawl", "https://example.org/", "--budget", "lots"], "budget");
    check(&["crawl", "ftp://example.org/", "--contact", "me@example.org"], "ftp://example.org/");
    check(&["status"], "holds no crawl");
    fs::write(place.path().join("freshet.toml"), "bugdet = \"1/day\"").expect("a file is written");
    check(&["check-config"], "did you mean `budget`");
    check(&["init"], "freshet.toml");
}

#[test]
fn hours_and_intervals_that_a_user_sets_are_kept() {
    let place = tempfile::tempdir().expect("a place");
    // An hour of the web's time takes a second. The web's time begins at midnight.
    let web = web(place.path(), &["--speed", "3600x"]);
    let site = |index: usize| web.seeds[index].trim_end_matches('/').to_owned();
    let config = format!(
        "[[site]]\nname = \"{}\"\nhours = \"12:00-24:00\"\n\
         [[interval]]\nsite = \"{}\"\npath = \"/**\"\nlongest = \"2h\"\n\
         [[interval]]\nsite = \"{}\"\npath = \"/**\"\nshortest = \"12h\"\n",
        site(0),
        site(1),
        site(2)
    );
    let file = place.path().join("freshet.toml");
    fs::write(&file, config).expect("a file is written");
    let options = ["--budget", "4000/day", "--host-delay", "0", "--for", "7s", "--quiet", "--config"];
    run(web.crawl(place.path(), &options).arg(&file));
    let requests = requests(place.path());
    let visits = |index: usize| -> Vec<&str> {
        let host = site(index).trim_start_matches("http://").split(':').next().unwrap_or_default().to_owned();
        let of_host = requests.iter().filter(|(name, path, _)| *name == host && !path.ends_with(".xml"));
        of_host.map(|(_, path, _)| path.as_str()).filter(|path| *path != "/robots.txt").collect()
    };
    assert_eq!(visits(0), Vec::<&str>::new());
    let (often, rarely) = (visits(1), visits(2));
    let distinct = |paths: &[&str]| paths.iter().collect::<std::collections::HashSet<_>>().len();
    assert!(distinct(&often) > 5 && often.len() >= 2 * distinct(&often), "{often:?}");
    assert!(distinct(&rarely) > 5 && rarely.len() == distinct(&rarely), "{rarely:?}");
}

#[test]
fn with_shadowing_a_reader_sees_the_collection_of_the_last_cycle() {
    let place = tempfile::tempdir().expect("a place");
    let web = web(place.path(), &["--speed", "3600x"]);
    let options = ["--budget", "40000/day", "--host-delay", "0", "--quiet"];
    let cycles = ["--mode", "batch", "--update", "shadow", "--cycle", "6h"];
    let all: Vec<&str> = options.into_iter().chain(cycles).collect();
    let mut crawl = web.crawl(place.path(), &all).spawn().expect("the program starts");
    std::thread::sleep(Duration::from_secs(3));
    let early = freshet()
        .args(["cat", &web.seeds[0], "--dir"])
        .arg(place.path().join("crawl"))
        .output()
        .expect("the program starts");
    assert!(String::from_utf8_lossy(&early.stderr).contains("first cycle"), "{early:?}");
    std::thread::sleep(Duration::from_secs(7));
    let copy = asked(place.path(), &["cat", &web.seeds[0]]);
    assert!(copy["content"].as_str().is_some_and(|content| content.contains("<html")), "{copy}");
    run(Command::new("kill").args(["-INT", &crawl.id().to_string()]));
    assert!(crawl.wait().expect("it ends").success());
}

/// The lab's answer about a crawl, as JSON.
fn studied(place: &Path, arguments: &[&str]) -> Value {
    let output = run(freshet().arg("lab").args(arguments).arg("--data").arg(place).arg("--json"));
    serde_json::from_slice(&output.stdout).expect("the answer is JSON")
}

#[test]
fn the_lab_studies_and_replays_what_a_crawl_has_seen() {
    let place = tempfile::tempdir().expect("a place");
    let web = web(place.path(), &["--speed", "20000x"]);
    let dir = place.path().join("crawl");
    let crawl = web.crawl(place.path(), &["--budget", "1500/day", "--quiet"]).spawn();
    let mut crawl = crawl.expect("the program starts");
    // It is queried while it runs, until it has found some changes.
    let found = |study: &Value| study["observation"]["events"].as_u64().unwrap_or(0);
    let begun = Instant::now();
    let mut asked = freshet();
    asked.args(["lab", "evolution", "--json", "--data"]).arg(&dir);
    loop {
        let output = asked.output().expect("the program starts");
        if serde_json::from_slice(&output.stdout).is_ok_and(|study| found(&study) > 30) {
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(90), "{}", String::from_utf8_lossy(&output.stderr));
        std::thread::sleep(Duration::from_millis(300));
    }
    crawl.kill().expect("it is killed");
    crawl.wait().expect("it ends");

    let evolution = studied(&dir, &["evolution"]);
    let observed = &evolution["observation"];
    assert!(observed["visits"].as_u64() > Some(100) && found(&evolution) > 30, "{observed}");
    let window = evolution["settings"]["window_days"].as_f64().expect("a length");
    let gap = observed["event_gap_days_median"].as_f64().expect("a change lies between two visits");
    assert!(0.0 < gap && gap <= window, "{observed} of {window} days");

    let policies = ["replay", "--policy", "round-robin,freshet", "--seeds", "1"];
    let replayed = studied(&dir, &policies);
    let freshness = replayed["policies"][1]["freshness"].as_f64().expect("a share");
    assert!((0.1..=1.0).contains(&freshness), "{replayed}");

    // The tables give the same figures.
    let tables = place.path().join("tables");
    let made = run(freshet().args(["lab", "history", "--crawl"]).arg(&dir).arg("--out").arg(&tables));
    assert!(String::from_utf8_lossy(&made.stdout).contains("between two visits"));
    let settings = &replayed["settings"];
    let (window, cycle) = (format!("{}d", settings["window_days"]), format!("{}d", settings["cycle_days"]));
    let from_tables = studied(&tables, &[&policies[..], &["--window", &window, "--cycle", &cycle]].concat());
    let ratio = |replay: &Value| replay["policies"][0]["change_ratio"].clone();
    assert_eq!(ratio(&from_tables), ratio(&replayed));
    assert_eq!(from_tables["observation"], Value::Null);
}

#[test]
fn the_lab_says_that_a_crawl_without_second_visits_has_no_history() {
    let place = tempfile::tempdir().expect("a place");
    let web = web(place.path(), &["--speed", "20x"]);
    run(&mut web.crawl(place.path(), &["--once", "--budget", "unlimited", "--host-delay", "0", "--quiet"]));
    let dir = place.path().join("crawl");
    for command in
        [&["evolution", "--data"][..], &["replay", "--data"], &["history", "--out", "x", "--crawl"]]
    {
        let output = freshet().arg("lab").args(command).arg(&dir).output().expect("the program starts");
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && error.contains("visited twice"), "{error}");
    }
}
