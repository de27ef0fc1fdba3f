//! Maintenance of a crawl through the real program: check, repair, export, import, audit, and what happens
//! without files, disk space or permissions.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

fn freshet() -> Command {
    Command::new(env!("CARGO_BIN_EXE_freshet"))
}

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

fn web(place: &Path) -> Web {
    let seeds = place.join("seeds");
    let mut server = freshet()
        .args([
            "lab", "web", "--sites", "4", "--pages", "80", "--seed", "5", "--speed", "1x", "--for", "120s",
            "--seeds",
        ])
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
    Web { server, seeds: seeds.lines().map(str::to_owned).collect() }
}

impl Web {
    /// Command that visits every page once.
    fn crawl(&self, directory: &Path) -> Command {
        let mut command = freshet();
        command.arg("crawl").args(&self.seeds).arg("--dir").arg(directory);
        command.args(["--allow-private", "--once", "--budget", "unlimited", "--host-delay", "0", "--quiet"]);
        command
    }
}

#[track_caller]
fn run(command: &mut Command) -> Output {
    let output = command.output().expect("the program starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

fn fsck(directory: &Path, options: &[&str]) -> (Option<i32>, String) {
    let output = freshet().arg("fsck").arg(directory).args(options).output().expect("the program starts");
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&text).into_owned())
}

fn status(directory: &Path) -> Value {
    let output = run(freshet().args(["status", "--json", "--dir"]).arg(directory));
    serde_json::from_slice(&output.stdout).expect("the answer is JSON")
}

#[test]
fn a_damaged_crawl_is_named_repaired_and_goes_on() {
    let place = tempfile::tempdir().expect("a place");
    let (web, directory) = (web(place.path()), place.path().join("crawl"));
    let (code, said) = fsck(&directory, &[]);
    assert_eq!(code, Some(2), "{said}");
    run(&mut web.crawl(&directory));
    let (code, said) = fsck(&directory, &[]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("is whole"), "{said}");
    let before = status(&directory)["pages_kept"].as_u64();
    let copied = status(&directory)["pages_copied"].as_u64();

    let segment = directory.join("collection/segment-00000001.warc.gz");
    let mut bytes = fs::read(&segment).expect("it is read");
    // Inside the first response, which follows the record that every segment begins with.
    bytes[700] ^= 0x40;
    fs::write(&segment, bytes).expect("it is written");
    let (code, said) = fsck(&directory, &["--json"]);
    assert_eq!(code, Some(1), "{said}");
    let found: Value = serde_json::from_str(&said).expect("it is JSON");
    assert_eq!(found["faults"][0]["place"], "collection/segment-00000001.warc.gz", "{found}");
    assert!(found["faults"][0]["holds"].as_str().is_some_and(|holds| holds.contains("http://")), "{found}");

    let (code, said) = fsck(&directory, &["--repair"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("whole again") && said.contains("had to go"), "{said}");
    assert_eq!(fsck(&directory, &[]).0, Some(0));
    // The crawl had ended normally, and one page has no copy any more.
    let repaired = status(&directory);
    assert_eq!(repaired["process"], "ended", "{repaired}");
    assert_eq!(repaired["pages_copied"].as_u64(), copied.map(|pages| pages - 1), "{repaired}");
    let as_others_do =
        freshet().args(["fsck", "--dir"]).arg(&directory).output().expect("the program starts");
    assert!(as_others_do.status.success(), "{as_others_do:?}");
    run(&mut web.crawl(&directory));
    assert_eq!(status(&directory)["pages_kept"].as_u64(), before);
    assert_eq!(status(&directory)["pages_copied"].as_u64(), copied);
    assert_eq!(fsck(&directory, &[]).0, Some(0));
}

#[test]
fn what_is_exported_is_imported_elsewhere_the_same() {
    let place = tempfile::tempdir().expect("a place");
    let (web, directory) = (web(place.path()), place.path().join("crawl"));
    run(&mut web.crawl(&directory));
    for name in ["all.warc.gz", "all.wacz", "all.parquet", "all.jsonl"] {
        run(freshet().args(["export", "--dir"]).arg(&directory).arg("--out").arg(place.path().join(name)));
        assert!(fs::metadata(place.path().join(name)).expect("it is there").len() > 100, "{name}");
    }
    let copy = place.path().join("copy");
    let output = run(freshet()
        .arg("import")
        .arg(place.path().join("all.warc.gz"))
        .args(["--json", "--dir"])
        .arg(&copy));
    let imported: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    let versions = imported["with_content"].as_u64().expect("a number");
    assert!(versions > 40, "{imported}");
    assert_eq!(imported["faults"].as_array().map(Vec::len), Some(0), "{imported}");
    let said = |directory: &Path| run(freshet().args(["cat", &web.seeds[0], "--dir"]).arg(directory)).stdout;
    assert_eq!(said(&directory), said(&copy));
    assert_eq!(fsck(&copy, &[]).0, Some(0));
    let wrong =
        freshet().args(["export", "--out", "x.zip", "--dir"]).arg(&directory).output().expect("it runs");
    assert!(String::from_utf8_lossy(&wrong.stderr).contains(".wacz"), "{wrong:?}");
}

#[test]
fn a_url_list_and_a_sitemap_begin_a_crawl() {
    let place = tempfile::tempdir().expect("a place");
    let (list, sitemap, directory) =
        (place.path().join("list"), place.path().join("sitemap.xml"), place.path().join("crawl"));
    fs::write(&list, "http://127.0.0.1/a\n# no\nhttp://127.0.0.1/b\nftp://127.0.0.1/\n")
        .expect("it is written");
    fs::write(&sitemap, "<urlset><url><loc>http://127.0.0.1/c</loc></url></urlset>").expect("it is written");
    let output =
        run(freshet().arg("import").arg(&list).arg(&sitemap).args(["--json", "--dir"]).arg(&directory));
    let imported: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    assert_eq!((&imported["urls"], &imported["visits"]), (&3.into(), &0.into()), "{imported}");
    assert_eq!(status(&directory)["pages_kept"], 3);
}

#[test]
fn urls_beyond_the_size_of_the_collection_are_known_and_not_left_out() {
    let place = tempfile::tempdir().expect("a place");
    let (list, config, directory) =
        (place.path().join("list"), place.path().join("freshet.toml"), place.path().join("crawl"));
    let urls: String = (0..5_000).map(|page| format!("http://127.0.0.1/page-{page}\n")).collect();
    fs::write(&list, urls).expect("it is written");
    fs::write(&config, "pages = 100\n").expect("it is written");
    let output = run(freshet()
        .arg("import")
        .arg(&list)
        .arg("--config")
        .arg(&config)
        .args(["--json", "--dir"])
        .arg(&directory));
    let imported: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    assert_eq!(imported["urls"], 5_000, "{imported}");
    let status = status(&directory);
    assert_eq!((&status["urls_known"], &status["pages_kept"]), (&5_000.into(), &100.into()));
}

#[test]
fn with_few_files_a_crawl_says_so_and_keeps_what_it_can() {
    let place = tempfile::tempdir().expect("a place");
    let (web, directory) = (web(place.path()), place.path().join("crawl"));
    run(&mut web.crawl(&directory));
    let output = Command::new("sh")
        .args([
            "-c",
            "ulimit -n 64; exec \"$@\"",
            "sh",
            env!("CARGO_BIN_EXE_freshet"),
            "crawl",
            "--allow-private",
            "--quiet",
        ])
        .args(["--budget", "unlimited", "--host-delay", "0", "--for", "2s", "--connections", "200", "--dir"])
        .arg(&directory)
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() || said.contains("open"), "{said}");
    assert_eq!(fsck(&directory, &[]).0, Some(0));
}

#[test]
fn a_directory_that_goes_away_ends_the_crawl_with_its_name() {
    let place = tempfile::tempdir().expect("a place");
    let web = web(place.path());
    /// A change to the directory of a running crawl.
    type Meddle = fn(&Path);
    let cases: [(&str, &str, Meddle); 4] = [
        ("deleted", "", |path| {
            // Files written meanwhile may keep a folder from being empty.
            while path.exists() {
                let _ = fs::remove_dir_all(path);
            }
        }),
        ("moved", "", |path| fs::rename(path, path.with_extension("away")).expect("it is moved")),
        ("stateless", "state", |path| {
            fs::rename(path.join("state"), path.join("away")).expect("it is moved");
        }),
        ("empty", "collection", |path| {
            fs::rename(path.join("collection"), path.join("away")).expect("it is moved");
        }),
    ];
    for (name, part, meddle) in cases {
        let directory = place.path().join(name);
        let mut command = freshet();
        command.arg("crawl").args(&web.seeds).arg("--dir").arg(&directory).arg("--allow-private");
        command.args(["--budget", "unlimited", "--host-delay", "100ms", "--for", "60s", "--quiet"]);
        let mut crawl = command.stderr(Stdio::piped()).spawn().expect("the program starts");
        let begun = Instant::now();
        // The socket is there before the rest of the directory is made.
        while !directory.join("status.json").exists() && begun.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(20));
        }
        std::thread::sleep(Duration::from_millis(500));
        meddle(&directory);
        let gone = Instant::now();
        while crawl.try_wait().expect("it is looked at").is_none() && gone.elapsed() < Duration::from_secs(20)
        {
            std::thread::sleep(Duration::from_millis(20));
        }
        let took = gone.elapsed();
        let output = crawl.wait_with_output().expect("it has ended");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{name}: {said}");
        let lost = if part.is_empty() { directory } else { directory.join(part) };
        let lost = format!("{} is no longer there: it was deleted or moved away", lost.display());
        assert!(said.contains(&lost), "{name}: {said}");
        // Two seconds, with some slack for a busy machine.
        assert!(took < Duration::from_secs(6), "{name}: {took:?}");
    }
}

/// Regression: an audit of a stopped crawl did not know that private addresses were allowed, and every page
/// that it drew left the collection.
#[test]
fn an_audit_of_a_stopped_crawl_goes_on_as_it_was_told() {
    let place = tempfile::tempdir().expect("a directory");
    let web = web(place.path());
    let directory = place.path().join("crawl");
    run(&mut web.crawl(&directory));
    let kept = || {
        let status = run(freshet().args(["status", "--json", "--dir"]).arg(&directory));
        let status: Value = serde_json::from_slice(&status.stdout).expect("JSON");
        status["pages_kept"].as_u64().expect("pages")
    };
    let before = kept();
    let audit =
        run(freshet().args(["audit", "--sample", "5", "--for", "20s", "--json", "--dir"]).arg(&directory));
    let report: Value = serde_json::from_slice(&audit.stdout).expect("JSON");
    assert!(report["judged"].as_u64() > Some(0), "{report}");
    assert_eq!(kept(), before);
}

/// Regression: a crawl kept writing to files that had been deleted or cut under it, lost what it wrote, and
/// still ended with success.
#[test]
fn a_file_that_goes_away_under_a_crawl_ends_it() {
    let place = tempfile::tempdir().expect("a directory");
    let web = web(place.path());
    type Meddle = fn(&Path);
    let ways: [(&str, Meddle); 6] = [
        ("collection", |path| fs::remove_file(path).expect("it is removed")),
        ("log", |path| fs::remove_file(path).expect("it is removed")),
        ("log", |path| {
            let file = fs::OpenOptions::new().write(true).open(path).expect("it is opened");
            file.set_len(100).expect("it is cut");
        }),
        ("LOCK", |path| fs::remove_file(path).expect("it is removed")),
        ("state/version", |path| fs::remove_file(path).expect("it is removed")),
        ("state/keyspaces/2/current", |path| fs::remove_file(path).expect("it is removed")),
    ];
    for (number, (part, meddle)) in ways.into_iter().enumerate() {
        let directory = place.path().join(format!("crawl-{number}"));
        let mut command = web.crawl(&directory);
        command.args(["--for", "60s"]).stderr(Stdio::piped());
        let arguments: Vec<_> =
            command.get_args().filter(|argument| *argument != "--once").map(ToOwned::to_owned).collect();
        let crawl = freshet().args(arguments).stderr(Stdio::piped()).spawn().expect("the program starts");
        let begun = Instant::now();
        while !directory.join("status.json").exists() && begun.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(50));
        }
        let path = directory.join(part);
        let victim = match fs::read_dir(&path) {
            Ok(mut files) => files.next().expect("a file").expect("an entry").path(),
            Err(_) => path,
        };
        meddle(&victim);
        let begun = Instant::now();
        let ended = crawl.wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(!ended.status.success() && begun.elapsed() < Duration::from_secs(30), "{said}");
        assert!(said.contains(&victim.display().to_string()) && said.contains("no longer there"), "{said}");
    }
}
