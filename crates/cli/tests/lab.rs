//! The lab through the real program: histories are made, replayed and compared, and errors name what
//! is wrong.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use freshet_lab::history::tables::{ChangeKind, Tables};
use freshet_protocol::time::SECONDS_PER_DAY;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;
use tempfile::TempDir;

fn freshet(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_freshet"))
        .arg("lab")
        .args(arguments)
        .output()
        .expect("the program starts")
}

#[track_caller]
fn answer(arguments: &[&str]) -> String {
    let output = freshet(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("the output is UTF-8")
}

#[track_caller]
fn check_error(arguments: &[&str], words: &[&str]) {
    let output = freshet(arguments);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success(), "{arguments:?} succeeded");
    assert!(output.stdout.is_empty());
    for word in words {
        assert!(error.contains(word), "{arguments:?}: {error}");
    }
}

fn path(place: &TempDir, name: &str) -> String {
    place.path().join(name).to_str().expect("a path in UTF-8").to_owned()
}

/// A small model history in a new directory, under the name `model`.
fn model(kind: &str) -> (TempDir, String) {
    let place = tempfile::tempdir().expect("a directory");
    let data = path(&place, "model");
    let said = answer(&[
        "history",
        "--synthetic",
        kind,
        "--sites",
        "4",
        "--pages",
        "25",
        "--span",
        "2y",
        "--seed",
        "7",
        "--out",
        &data,
    ]);
    assert!(said.contains("4 site(s), 100 pages"), "{said}");
    (place, data)
}

fn replay<'a>(data: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec!["replay", "--data", data, "--window", "1y", "--seeds", "2"];
    arguments.extend(more);
    arguments
}

fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

#[test]
fn a_replay_answers_in_json() {
    let (_place, data) = model("gamma");
    let text = answer(&replay(&data, &["--policy", "freshet:changes,greedy,uniform", "--json"]));
    let json: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(json["settings"]["budget"], 0.1);
    assert_eq!(json["settings"]["cycles"], 26);
    let policies = json["policies"].as_array().expect("policies");
    let names: Vec<_> = policies.iter().map(|policy| policy["policy"].as_str().expect("a name")).collect();
    assert_eq!(names, ["freshet:changes", "greedy", "uniform"]);
    for policy in policies {
        let expected = [
            "policy",
            "change_ratio",
            "freshness",
            "age_days",
            "weighted_change_ratio",
            "fairness",
            "changes_found",
            "changes_total",
            "policy_seconds",
        ];
        assert_eq!(keys(policy), expected.into());
        assert_eq!(keys(&policy["change_ratio"]), ["mean", "ranges", "spread"].into());
        assert_eq!(keys(&policy["change_ratio"]["ranges"]), ["1-3", "4-10", "11-25", "26-50", "51-"].into());
        assert_eq!(policy["change_ratio"]["ranges"]["51-"], Value::Null, "there are 26 cycles");
        for part in ["freshness", "weighted_change_ratio", "fairness"] {
            let value = policy[part].as_f64().expect("a number");
            assert!((0.0..=1.0).contains(&value), "{part} {value}");
        }
        let found = policy["changes_found"].as_u64().expect("a count");
        assert!(0 < found && found < policy["changes_total"].as_u64().expect("a count"));
    }
    let oracles = json["oracles"].as_array().expect("oracles");
    assert_eq!(oracles.len(), 4, "two for cycles and two for the steady form");
    let mean = |entry: &Value| entry["change_ratio"]["mean"].as_f64().expect("a number");
    assert!(policies.iter().take(2).all(|policy| mean(policy) <= mean(&oracles[0])));
}

#[test]
fn the_same_command_gives_the_same_figures() {
    let (_place, data) = model("v-shape");
    let figures = |threads: &str| {
        let text = answer(&replay(&data, &["--policy", "random,freshet", "--json", "--threads", threads]));
        let mut json: Value = serde_json::from_str(&text).expect("JSON");
        for entry in json["policies"].as_array_mut().expect("policies") {
            entry["policy_seconds"] = Value::Null;
        }
        json["policies"].take()
    };
    assert_eq!(figures("1"), figures("2"));
}

#[test]
fn a_replay_answers_in_tables_and_figures() {
    let (place, data) = model("normal");
    let figures = path(&place, "figures");
    let text = answer(&replay(&data, &["--policy", "round-robin,freshet", "--out", &figures]));
    for word in
        ["round-robin", "freshet", "oracle:fresh", "51-", "freshness", "age/days", "fairness", "s/million"]
    {
        assert!(text.contains(word), "{word} is not in\n{text}");
    }
    assert!(text.starts_with("1 year of "), "{text}");
    let names: BTreeSet<_> = fs::read_dir(&figures)
        .expect("the figures are there")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"))
        .collect();
    let expected = [
        "age.svg",
        "change_ratio.svg",
        "changes_found.svg",
        "fairness.svg",
        "freshness.svg",
        "policy_seconds.svg",
        "weighted_change_ratio.svg",
    ];
    assert_eq!(names, expected.map(str::to_owned).into());
    let svg = fs::read_to_string(Path::new(&figures).join("change_ratio.svg")).expect("a figure");
    assert!(svg.starts_with("<svg") && svg.contains(">round-robin<") && svg.contains(">cycles 4-10<"));
}

#[test]
fn every_policy_runs_by_its_name() {
    let (_place, data) = model("gamma");
    let text =
        answer(&["replay", "--data", &data, "--window", "100d", "--policy", "all", "--seeds", "1", "--json"]);
    let json: Value = serde_json::from_str(&text).expect("JSON");
    assert!(json["policies"].as_array().expect("policies").len() > 20);
}

#[test]
fn wrong_settings_are_named() {
    let (_place, data) = model("v-shape");
    check_error(&replay(&data, &["--policy", "magic"]), &["magic", "round-robin", "rate-oracle"]);
    check_error(&replay(&data, &["--policy", ""]), &["polic"]);
    check_error(&replay(&data, &["--budget", "0"]), &["budget 0", "for instance 0.1"]);
    check_error(&replay(&data, &["--budget", "-0.5"]), &["budget -0.5"]);
    check_error(&replay(&data, &["--budget", "2"]), &["budget 2", "shorter cycle"]);
    check_error(&replay(&data, &["--budget", "much"]), &["much"]);
    check_error(&replay(&data, &["--cycle", "2y"]), &["longer than the window"]);
    check_error(&replay(&data, &["--cycle", "0d"]), &["--cycle", "empty"]);
    check_error(&replay(&data, &["--seeds", "0"]), &["--seeds"]);
    check_error(&replay(&data, &["--family", "git"]), &["`git`", "synthetic"]);
    check_error(&["replay", "--data", &data, "--window", "9y"], &["longer than every history", "730.5 days"]);
    check_error(&["replay", "--data", &data, "--window", "-1y"], &["--window", "empty"]);
    check_error(&["replay", "--data", &data, "--window", "3"], &["--window", "unit"]);
}

/// Replaces a table of a data directory by one of whole numbers.
fn overwrite(data: &str, file: &str, columns: &[(&str, Vec<i64>)]) {
    let columns =
        columns.iter().map(|(name, values)| (*name, Arc::new(Int64Array::from(values.clone())) as ArrayRef));
    let table = RecordBatch::try_from_iter(columns).expect("a table");
    write(data, file, &table);
}

fn write(data: &str, file: &str, table: &RecordBatch) {
    let file = File::create(Path::new(data).join(file)).expect("a file");
    let mut writer = ArrowWriter::try_new(file, table.schema(), None).expect("a writer");
    writer.write(table).expect("it is written");
    writer.close().expect("it is closed");
}

fn read(data: &str, file: &str) -> RecordBatch {
    let file = File::open(Path::new(data).join(file)).expect("a file");
    let mut reader = ParquetRecordBatchReaderBuilder::try_new(file)
        .expect("Parquet")
        .with_batch_size(1 << 20)
        .build()
        .expect("rows");
    reader.next().expect("a batch").expect("rows")
}

#[test]
fn wrong_data_is_named() {
    let (place, data) = model("v-shape");
    let nowhere = path(&place, "nowhere");
    check_error(&replay(&nowhere, &[]), &["nowhere is not a directory"]);
    fs::create_dir(&nowhere).expect("a directory");
    check_error(&replay(&nowhere, &[]), &["cannot open", "sites.parquet"]);

    let changes = read(&data, "changes.parquet");
    write(&data, "changes.parquet", &changes.project(&[0, 1, 3]).expect("three columns"));
    check_error(&replay(&data, &[]), &["changes.parquet", "`kind` is missing", "page_id, time, mass"]);

    let backwards: Vec<usize> = (0..changes.num_rows()).rev().collect();
    let parts: Vec<RecordBatch> = backwards.iter().map(|row| changes.slice(*row, 1)).collect();
    let file = File::create(Path::new(&data).join("changes.parquet")).expect("a file");
    let mut writer = ArrowWriter::try_new(file, changes.schema(), None).expect("a writer");
    parts.iter().for_each(|part| writer.write(part).expect("it is written"));
    writer.close().expect("it is closed");
    check_error(&replay(&data, &[]), &["changes.parquet", "not sorted by time", "synthetic/3"]);

    write(&data, "changes.parquet", &changes);
    overwrite(&data, "links.parquet", &[("src", vec![0, 5]), ("dst", vec![1, 100])]);
    check_error(&replay(&data, &[]), &["links.parquet", "row 2", "unknown page 100"]);
    overwrite(&data, "links.parquet", &[("src", vec![0]), ("dst", vec![1])]);
    overwrite(&data, "sites.parquet", &[("site_id", vec![0])]);
    check_error(&replay(&data, &[]), &["sites.parquet", "`name` is missing"]);
    fs::write(Path::new(&data).join("pages.parquet"), "no Parquet").expect("a file");
    fs::remove_file(Path::new(&data).join("sites.parquet")).expect("it was there");
    check_error(&replay(&data, &[]), &["sites.parquet"]);
}

/// A repository with pages, pictures, a merge, a move and a return, committed on days of 2024.
fn repository(place: &TempDir) -> String {
    let clone = path(place, "clone");
    fs::create_dir(&clone).expect("a directory");
    let git = |day: u32, arguments: &[&str]| {
        let date = format!("{} +0000", 1_704_067_200 + i64::from(day) * SECONDS_PER_DAY);
        let output = Command::new("git")
            .args(["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"])
            .args(["-c", "init.defaultBranch=main", "-c", "core.autocrlf=false"])
            .args(arguments)
            .current_dir(&clone)
            .env("GIT_AUTHOR_DATE", &date)
            .env("GIT_COMMITTER_DATE", &date)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env_remove("GIT_DIR")
            .env_remove("GIT_INDEX_FILE")
            .output()
            .expect("git starts");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    let put = |file: &str, text: &str| {
        let file = Path::new(&clone).join(file);
        fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        fs::write(file, text).expect("a file");
    };
    let commit = |day: u32| {
        git(day, &["add", "-A"]);
        git(day, &["commit", "-q", "-m", "a commit"]);
    };
    git(0, &["init", "-q"]);
    put("docs/index.md", "# Home\n[guide](guide/start.md) and [about](/about/)\n");
    put("docs/guide/start.md", "start, see [more](more.md#part)\n");
    put("docs/guide/more.md", "more\n");
    put("docs/about.rst", "About\n=====\n`home <index.html>`_\n");
    put("docs/ünïcode name.md", "strange\n");
    put("docs/logo.svg", "<svg/>\n");
    commit(0);
    put("docs/guide/start.md", "started, see [more](more.md#part)\n");
    put("docs/logo.svg", "<svg></svg>\n");
    commit(10);
    // A change on a branch counts when it is merged.
    git(20, &["checkout", "-q", "-b", "side"]);
    put("docs/guide/more.md", "more and more\n");
    put("docs/late.html", "<a href=\"about.html\">about</a>\n");
    commit(20);
    git(30, &["checkout", "-q", "main"]);
    git(30, &["merge", "-q", "--no-ff", "-m", "merged", "side"]);
    // A page that is away for ten days has not gone.
    git(40, &["rm", "-q", "docs/about.rst"]);
    commit(40);
    git(50, &["checkout", "-q", "HEAD~1", "--", "docs/about.rst"]);
    commit(50);
    git(60, &["mv", "docs/guide/more.md", "docs/guide/most.md"]);
    commit(60);
    put("docs/guide/start.md", "started again\n");
    commit(100);
    clone
}

#[test]
fn a_clone_becomes_a_history() {
    let place = tempfile::tempdir().expect("a directory");
    let clone = repository(&place);
    let data = path(&place, "history");
    let said = answer(&["history", "--git", &clone, "--out", &data]);
    assert!(said.contains("1 site(s), 7 pages"), "{said}");
    let tables = Tables::read(Path::new(&data)).expect("tables");
    let site = &tables.sites[0];
    assert_eq!((site.name.as_str(), site.family.as_str()), ("clone", "git"));
    assert_eq!((site.end - site.start) / SECONDS_PER_DAY, 100);
    let paths: Vec<_> = (0..tables.paths.len()).map(|page| &tables.paths[page]).collect();
    let expected = ["/", "/about", "/guide/more", "/guide/most", "/guide/start", "/late", "/ünïcode name"];
    assert_eq!(paths, expected);
    let born: Vec<_> =
        tables.pages.iter().map(|page| (page.first_seen - site.start) / SECONDS_PER_DAY).collect();
    assert_eq!(born, [0, 0, 0, 60, 0, 30, 0]);
    let changes: Vec<_> = tables
        .changes
        .iter()
        .map(|change| {
            ((change.time - site.start) / SECONDS_PER_DAY, paths[change.page as usize], change.kind)
        })
        .collect();
    let expected = [
        (10, "/guide/start", ChangeKind::Modified),
        (30, "/guide/more", ChangeKind::Modified),
        (60, "/guide/more", ChangeKind::Deleted),
        (100, "/guide/start", ChangeKind::Modified),
    ];
    assert_eq!(changes, expected);
    let links: Vec<_> =
        tables.links.iter().map(|(from, to)| (paths[*from as usize], paths[*to as usize])).collect();
    assert_eq!(links, [("/", "/about"), ("/", "/guide/start"), ("/about", "/"), ("/late", "/about")]);
    let pages = read(&data, "pages.parquet");
    let names: Vec<String> = pages.schema().fields().iter().map(|field| field.name().clone()).collect();
    let documented =
        ["page_id", "site_id", "path", "first_seen", "last_seen", "size", "initial", "moved_from"];
    assert_eq!(names, documented);

    let text = answer(&[
        "replay", "--data", &data, "--family", "git", "--window", "90d", "--cycle", "7d", "--budget", "0.3",
        "--json",
    ]);
    let json: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(json["settings"]["pages_at_start"], 5);
}

#[test]
fn two_clones_of_one_name_are_two_sites() {
    let place = tempfile::tempdir().expect("a directory");
    let clone = repository(&place);
    let data = path(&place, "history");
    answer(&["history", "--git", &clone, &clone, "--out", &data]);
    let tables = Tables::read(Path::new(&data)).expect("tables");
    let names: Vec<_> = tables.sites.iter().map(|site| site.name.as_str()).collect();
    assert_eq!(names, ["clone", "clone (2)"]);
}

#[test]
fn a_history_that_cannot_be_made_says_why() {
    let (place, data) = model("normal");
    let nowhere = path(&place, "nowhere");
    let out = path(&place, "out");
    check_error(&["history", "--git", &nowhere, "--out", &out], &["nowhere does not exist"]);
    check_error(
        &["history", "--git", &data, "--out", &out],
        &["is not the clone of a repository", "git clone"],
    );
    check_error(&["history", "--synthetic", "normal", "--out", &data], &["already holds a history"]);
    check_error(&["history", "--synthetic", "linear", "--out", &out], &["linear", "v-shape"]);
    check_error(&["history", "--out", &out], &["--git", "--synthetic"]);
    check_error(
        &["history", "--synthetic", "normal", "--sites", "30000", "--pages", "1000", "--out", &out],
        &["30000 sites of 1000 pages", "fewer"],
    );
    let empty = path(&place, "empty");
    let made = Command::new("git").args(["init", "-q", &empty]).status().expect("git starts");
    assert!(made.success());
    check_error(&["history", "--git", &empty, "--out", &out], &["has no commit yet"]);
    let without_git = Command::new(env!("CARGO_BIN_EXE_freshet"))
        .args(["lab", "history", "--git", &empty, "--out", &out])
        .env("PATH", &nowhere)
        .output()
        .expect("the program starts");
    assert!(String::from_utf8_lossy(&without_git.stderr).contains("cannot start the program `git`"));
    assert!(!Path::new(&out).exists());
}
