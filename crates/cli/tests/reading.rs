//! Reading never writes: every query command is run as another user without write permission, on a crawl that
//! is closed, running, stopped by a signal, or killed.
//!
//! Regression: `status` used to open a crawl as a crawl does. Where the journal of its state was empty, it
//! cut the Collection to nothing and removed the History.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hasher as _};
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// A user that owns nothing.
const NOBODY: u32 = 65_534;

/// A living web and a crawl of it, in a place that other users may read.
struct Trial {
    place: tempfile::TempDir,
    server: Child,
    seeds: Vec<String>,
    /// A copy of the program that every user may run.
    program: PathBuf,
}

impl Drop for Trial {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

impl Trial {
    fn begin() -> Self {
        let place = tempfile::tempdir().expect("a place");
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).expect("others may look");
        let program = place.path().join("freshet");
        let built = Path::new(env!("CARGO_BIN_EXE_freshet"));
        fs::hard_link(built, &program)
            .or_else(|_| fs::copy(built, &program).map(|_| ()))
            .expect("it is put where others may run it");
        let seeds = place.path().join("seeds");
        let mut server = Command::new(&program)
            .args([
                "lab", "web", "--sites", "4", "--pages", "80", "--seed", "5", "--speed", "1x", "--for",
                "200s",
            ])
            .args(["--changes", "50", "--seeds"])
            .arg(&seeds)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut lines = BufReader::new(server.stdout.take().expect("it has an output")).lines();
        while let Some(Ok(line)) = lines.next()
            && !line.contains("/-/clock")
        {}
        std::thread::spawn(move || lines.for_each(drop));
        let seeds = fs::read_to_string(&seeds).expect("the seeds are written");
        Self { place, server, seeds: seeds.lines().map(str::to_owned).collect(), program }
    }

    fn directory(&self) -> PathBuf {
        self.place.path().join("crawl")
    }

    fn crawl(&self, options: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.arg("crawl").args(&self.seeds).arg("--dir").arg(self.directory());
        command
            .args(["--allow-private", "--budget", "unlimited", "--host-delay", "20ms", "--quiet"])
            .args(options);
        command
    }

    /// Crawls until `status` reports this many visits.
    fn start(&self, visits: u64) -> Child {
        let crawl = self.crawl(&["--for", "60s"]).stderr(Stdio::null()).spawn().expect("the program starts");
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(30) {
            std::thread::sleep(Duration::from_millis(200));
            let status = self.answer(&["status", "--json"]);
            if status.is_some_and(|status| status["visits"].as_u64() >= Some(visits)) {
                break;
            }
        }
        crawl
    }

    /// A command run as another user if possible, else as this one.
    fn reader(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        let scratch = self.place.path().join("scratch");
        if !scratch.exists() {
            fs::create_dir(&scratch).expect("it is made");
            fs::set_permissions(&scratch, fs::Permissions::from_mode(0o777)).expect("others may write");
        }
        command.args(arguments).env("TMPDIR", &scratch).current_dir(&scratch);
        if fs::metadata(self.place.path()).is_ok_and(|place| place.uid() == 0) {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }

    fn answer(&self, arguments: &[&str]) -> Option<Value> {
        let directory = self.directory();
        let mut arguments = arguments.to_vec();
        arguments.extend(["--dir", directory.to_str().expect("a path")]);
        let output = self.reader(&arguments).output().expect("the program starts");
        serde_json::from_slice(&output.stdout).ok()
    }

    /// Every command that reads, with its arguments.
    fn readings(&self) -> Vec<Vec<String>> {
        let (directory, url) = (self.directory().display().to_string(), self.seeds[0].clone());
        let scratch = self.place.path().join("scratch");
        let out = |name: &str| scratch.join(name).display().to_string();
        let exports = ["e.warc.gz", "e.wacz", "e.parquet", "e.jsonl"].map(out);
        let mut readings = vec![
            vec!["status", "--json"],
            vec!["pages", "--json", "--limit", "100000"],
            vec!["explain", &url, "--json"],
            vec!["changes", "--since", "100d", "--json"],
            vec!["cat", &url],
        ];
        readings.extend(exports.iter().map(|out| vec!["export", "--out", out]));
        readings.push(vec!["fsck", "--json"]);
        readings.iter_mut().for_each(|reading| reading.extend(["--dir", &directory]));
        readings.push(vec!["lab", "evolution", "--data", &directory]);
        readings.push(vec!["lab", "replay", "--data", &directory, "--policy", "round-robin", "--json"]);
        readings.into_iter().map(|reading| reading.into_iter().map(str::to_owned).collect()).collect()
    }

    /// Runs every command that reads. Returns each with its output.
    fn read_all(&self) -> Vec<(Vec<String>, Output)> {
        let run = |reading: Vec<String>| {
            let arguments: Vec<&str> = reading.iter().map(String::as_str).collect();
            let output = self.reader(&arguments).output().expect("the program starts");
            (reading, output)
        };
        self.readings().into_iter().map(run).collect()
    }
}

/// Everything about the files of a directory that must not change. The socket is not a file.
fn traces(directory: &Path) -> BTreeMap<PathBuf, (u64, i64, i64, u64)> {
    let mut traces = BTreeMap::new();
    let mut folders = vec![directory.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let found = fs::metadata(&folder).expect("it is there");
        traces.insert(folder.clone(), (0, found.mtime(), found.mtime_nsec(), 0));
        for entry in fs::read_dir(&folder).expect("listed") {
            let path = entry.expect("an entry").path();
            let found = fs::symlink_metadata(&path).expect("it is there");
            if found.is_dir() {
                folders.push(path);
            } else if found.is_file() {
                let mut hasher = DefaultHasher::new();
                hasher.write(&fs::read(&path).expect("it is read"));
                traces.insert(path, (found.len(), found.mtime(), found.mtime_nsec(), hasher.finish()));
            }
        }
    }
    traces
}

/// All commands succeed, and those that count pages or visits count at least the expected number.
#[track_caller]
fn check_answers(answers: &[(Vec<String>, Output)], visits: u64, pages: usize) {
    for (reading, output) in answers {
        let said = String::from_utf8_lossy(&output.stderr);
        // A short crawl may have visited no page twice, and then says so.
        let is_short = reading[0] == "lab" && said.contains("a history needs second visits");
        let is_answered = output.status.success() || is_short;
        assert!(is_answered, "{reading:?}: {said} {}", String::from_utf8_lossy(&output.stdout));
        let json = || serde_json::from_slice::<Value>(&output.stdout).expect("JSON");
        match reading[0].as_str() {
            "status" | "fsck" => {
                let found = json()["visits"].as_u64();
                assert!(found >= Some(visits), "{reading:?}: {found:?} of {visits}");
            }
            "pages" => {
                let found = json().as_array().map_or(0, Vec::len);
                assert!(found >= pages, "{reading:?}: {found} of {pages}");
            }
            "cat" => assert!(!output.stdout.is_empty()),
            _ => {}
        }
    }
}

/// No command changes a byte, and all answer as they should.
#[track_caller]
fn check_untouched(trial: &Trial) {
    let status = trial.answer(&["status", "--json"]).expect("a status");
    let (visits, pages) = (status["visits"].as_u64().expect("visits"), status["pages_kept"].as_u64());
    assert!(visits > 40, "{status}");
    let before = traces(&trial.directory());
    let answers = trial.read_all();
    assert_eq!(traces(&trial.directory()), before);
    check_answers(&answers, visits, pages.expect("pages") as usize);
}

#[test]
fn no_byte_of_a_crawl_that_was_closed_is_changed() {
    let trial = Trial::begin();
    let crawled = trial.crawl(&["--once"]).output().expect("the program starts");
    assert!(crawled.status.success(), "{crawled:?}");
    check_untouched(&trial);
    // Several readers at a time do not disturb each other.
    let directory = trial.directory().display().to_string();
    let readers: Vec<Child> = (0..4)
        .map(|_| {
            let mut command = trial.reader(&["pages", "--json", "--dir", &directory]);
            command.stdout(Stdio::null()).spawn().expect("the program starts")
        })
        .collect();
    for mut reader in readers {
        assert!(reader.wait().expect("it ends").success());
    }
    // Their temporary copies are gone.
    let left = fs::read_dir(trial.place.path().join("scratch")).expect("listed");
    let left: Vec<_> = left.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    assert!(left.iter().all(|name| !name.starts_with("freshet-read")), "{left:?}");
}

#[test]
fn no_byte_of_a_crawl_that_was_killed_is_changed_and_nothing_of_it_is_missed() {
    let trial = Trial::begin();
    let mut crawl = trial.start(100);
    crawl.kill().expect("it is killed");
    crawl.wait().expect("it has ended");
    let status = trial.answer(&["status", "--json"]).expect("a status");
    assert_eq!((status["running"].as_bool(), status["process"].as_str()), (Some(false), Some("killed")));
    // Visits that were committed but not yet durable survive a kill, and all commands count them.
    let found = trial.answer(&["fsck", "--json"]).expect("findings");
    assert_eq!(status["visits"].as_u64(), found["visits"].as_u64(), "{status} {found}");
    check_untouched(&trial);
}

#[test]
fn a_crawl_that_was_stopped_by_a_signal_is_read_and_one_that_runs_as_well() {
    let trial = Trial::begin();
    let mut crawl = trial.start(60);
    let status = trial.answer(&["status", "--json"]).expect("a status");
    let visits = status["visits"].as_u64().expect("visits");
    // The crawl goes on meanwhile, so only the answers are checked.
    check_answers(&trial.read_all(), visits, 1);
    let signal = |name: &str| {
        let sent = Command::new("kill").args([name, &crawl.id().to_string()]).status();
        assert!(sent.expect("kill is there").success());
    };
    signal("-STOP");
    let status = trial.answer(&["status", "--json"]).expect("a status");
    assert_eq!(status["process"].as_str(), Some("frozen"), "{status}");
    check_untouched(&trial);
    signal("-CONT");
    signal("-TERM");
    assert!(crawl.wait().expect("it ends").success());
    let found = trial.answer(&["fsck", "--json"]).expect("findings");
    assert_eq!(found["clean"].as_bool(), Some(true), "{found}");
}

/// Regression: a directory that another user may not search was said to hold no crawl.
#[test]
fn a_directory_that_may_not_be_looked_into_is_not_said_to_hold_no_crawl() {
    let trial = Trial::begin();
    let directory = trial.directory();
    fs::create_dir(&directory).expect("it is made");
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o600)).expect("it is closed");
    let path = directory.to_str().expect("a path");
    for command in ["status", "pages", "fsck"] {
        let said = trial.reader(&[command, "--dir", path]).output().expect("the program starts");
        let text = String::from_utf8_lossy(&said.stderr).to_lowercase();
        assert!(!said.status.success() && text.contains("permission denied"), "{command}: {text}");
        assert!(!text.contains("holds no crawl") && !text.contains("is not a crawl"), "{command}: {text}");
    }
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o755)).expect("it is opened");
}

/// A named pipe in place of a file made every command wait without end.
#[test]
fn a_named_pipe_in_place_of_a_file_is_refused_at_once() {
    let trial = Trial::begin();
    let crawled = trial.crawl(&["--for", "2s"]).status().expect("the program starts");
    assert!(crawled.success());
    for name in ["SYNCED", "LOCK", "FORMAT", "options.toml", "status.json", "startup-index", "state/version"]
    {
        let path = trial.directory().join(name);
        let kept = path.with_extension("kept");
        fs::rename(&path, &kept).expect("it is moved");
        let made = Command::new("mkfifo").arg("-m").arg("666").arg(&path).status().expect("mkfifo starts");
        assert!(made.success());
        for arguments in [&["status"][..], &["pages"], &["fsck"], &["crawl", "--for", "1s"]] {
            let directory = trial.directory();
            let place = ["--dir", directory.to_str().expect("a path")];
            let mut command = trial.reader(&[arguments, &place].concat());
            let mut child = command.stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
            let begun = Instant::now();
            while child.try_wait().expect("it is looked at").is_none()
                && begun.elapsed() < Duration::from_secs(20)
            {
                std::thread::sleep(Duration::from_millis(10));
            }
            let _ = child.kill();
            let output = child.wait_with_output().expect("it has ended");
            let said = [output.stdout, output.stderr].concat();
            let said = String::from_utf8_lossy(&said);
            assert!(!output.status.success() && said.contains("named pipe"), "{name} {arguments:?}: {said}");
        }
        fs::remove_file(&path).expect("it is removed");
        fs::rename(&kept, &path).expect("it is as it was");
    }
}

#[test]
fn a_state_that_was_emptied_is_refused_and_costs_nothing() {
    let trial = Trial::begin();
    let crawled = trial.crawl(&["--once"]).output().expect("the program starts");
    assert!(crawled.status.success(), "{crawled:?}");
    let state = trial.directory().join("state");
    let journals: Vec<PathBuf> = fs::read_dir(&state)
        .expect("listed")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|end| end == "jnl"))
        .collect();
    assert!(!journals.is_empty());
    journals.iter().for_each(|journal| fs::write(journal, b"").expect("it is emptied"));
    let before = traces(&trial.directory());
    for (reading, output) in trial.read_all() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        // The status is the last published one, and says so.
        let is_true = reading[0] == "status" && output.status.success();
        let is_named = reading[0] == "fsck" && output.status.code() == Some(1);
        assert!(is_true || is_named || said.contains("fsck --repair"), "{reading:?}: {said}");
    }
    let crawled = trial.crawl(&["--once"]).output().expect("the program starts");
    let said = String::from_utf8_lossy(&crawled.stderr);
    assert!(!crawled.status.success() && said.contains("fsck --repair"), "{said}");
    let mut after = traces(&trial.directory());
    let mut before = before;
    // The refused crawl has tested whether it may write.
    for traces in [&mut before, &mut after] {
        traces.retain(|path, _| *path != trial.directory() && !path.ends_with("LOCK"));
    }
    assert_eq!(after, before);
}
