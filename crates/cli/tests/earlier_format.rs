//! A directory in an earlier format is refused by readers, and converted once by the first writer.
//!
//! `data/earlier_format/crawl.tar.gz` was made by the last version without a log (format 1) from a living web
//! of the lab, with a pin and a pause, and was killed while it crawled. `visits.jsonl` is that version's own
//! export of it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// Site of the pinned page, and the paused site.
const PINNED: &str = "http://127.1.0.1:45061/";
const PAUSED: &str = "http://127.1.0.2:45061/";

fn run(arguments: &[&str], directory: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_freshet"));
    command.args(arguments).arg("--dir").arg(directory).output().expect("the program starts")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Unpacks the directory as the earlier version left it.
fn earlier(place: &Path) -> PathBuf {
    let archive = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/earlier_format/crawl.tar.gz");
    let unpacked = Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(place).status();
    assert!(unpacked.expect("tar is there").success());
    place.join("earlier")
}

/// Visits as number, URL, time and kind.
fn visits(lines: &str) -> BTreeSet<(u64, String, i64, String)> {
    let visit = |line: &str| {
        let row: Value = serde_json::from_str(line).expect("a line of JSON");
        let text = |name: &str| row[name].as_str().expect("a text").to_owned();
        let time = row["time_ms"].as_i64().expect("a time");
        (row["visit"].as_u64().expect("a number"), text("url"), time, text("kind"))
    };
    lines.lines().map(visit).collect()
}

/// The directory is in the current format, intact, and has every visit, the pin and the pause.
#[track_caller]
fn check_converted(directory: &Path) {
    assert_eq!(fs::read_to_string(directory.join("FORMAT")).expect("it is read"), "freshet store 2\n");
    let checked = run(&["fsck", "--json"], directory);
    assert!(checked.status.success(), "{} {}", said(&checked), String::from_utf8_lossy(&checked.stdout));
    let out = directory.with_extension("jsonl");
    let exported = run(&["export", "--out", out.to_str().expect("a path")], directory);
    assert!(exported.status.success(), "{}", said(&exported));
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/earlier_format/visits.jsonl");
    let before = visits(&fs::read_to_string(data).expect("it is read"));
    let after = visits(&fs::read_to_string(out).expect("it is read"));
    assert!(before.len() > 40 && after.is_superset(&before), "{:?}", before.difference(&after).next());
    let explained = |url: &str| -> Value {
        let explained = run(&["explain", url, "--json"], directory);
        serde_json::from_slice(&explained.stdout).unwrap_or_else(|_| panic!("{}", said(&explained)))
    };
    assert_eq!(explained(PINNED)["pinned_every_ms"].as_u64(), Some(3_600_000));
    assert_eq!(explained(PAUSED)["paused"].as_bool(), Some(true));
}

#[test]
fn reading_refuses_it_and_changes_nothing() {
    let place = tempfile::tempdir().expect("a directory");
    let directory = earlier(place.path());
    for reading in [&["status"][..], &["pages"], &["changes", "--since", "1d"], &["fsck"]] {
        let refused = run(reading, &directory);
        let said = said(&refused);
        assert!(!refused.status.success() && said.contains("earlier version"), "{reading:?}: {said}");
        assert!(said.contains("freshet crawl --dir") && said.contains("fsck"), "{said}");
    }
    let fresh = tempfile::tempdir().expect("a directory");
    let same = Command::new("diff").arg("-r").arg(&directory).arg(earlier(fresh.path())).status();
    assert!(same.expect("diff is there").success());
}

#[test]
fn a_crawl_converts_it_once_after_a_word() {
    let place = tempfile::tempdir().expect("a directory");
    let directory = earlier(place.path());
    let crawl = ["crawl", "--allow-private", "--for", "1s", "--quiet"];
    let first = run(&crawl, &directory);
    assert!(first.status.success() && said(&first).contains("it is converted now"), "{}", said(&first));
    check_converted(&directory);
    let second = run(&crawl, &directory);
    assert!(second.status.success() && !said(&second).contains("converted"), "{}", said(&second));
    check_converted(&directory);
}

#[test]
fn a_repair_converts_it_and_a_command_does() {
    for command in [&["fsck", "--repair"][..], &["pin", PINNED, "--every", "1h"]] {
        let place = tempfile::tempdir().expect("a directory");
        let directory = earlier(place.path());
        let converted = run(command, &directory);
        assert!(
            converted.status.success() && said(&converted).contains("it is converted now"),
            "{converted:?}"
        );
        check_converted(&directory);
    }
}

#[test]
fn one_that_is_damaged_is_refused_and_repaired() {
    let place = tempfile::tempdir().expect("a directory");
    let directory = earlier(place.path());
    let table = directory.join("state/keyspaces/0/tables/18");
    let mut bytes = fs::read(&table).expect("it is read");
    bytes.iter_mut().for_each(|byte| *byte = 0);
    fs::write(&table, bytes).expect("it is written");
    let crawled = run(&["crawl", "--allow-private", "--for", "1s", "--quiet"], &directory);
    assert!(!crawled.status.success() && said(&crawled).contains("fsck --repair"), "{}", said(&crawled));
    let repaired = run(&["fsck", "--repair"], &directory);
    assert!(repaired.status.success(), "{}{}", said(&repaired), String::from_utf8_lossy(&repaired.stdout));
    let checked = run(&["fsck"], &directory);
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
    let status = run(&["status", "--json"], &directory);
    let status: Value = serde_json::from_slice(&status.stdout).expect("JSON");
    assert!(status["pages_kept"].as_u64() >= Some(27), "{status}");
}
