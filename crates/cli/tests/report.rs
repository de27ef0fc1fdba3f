//! The report through the real program: one page with what was asked for, and errors that name what is wrong.

use std::fs;
use std::process::{Command, Output};

use tempfile::TempDir;

fn freshet(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_freshet"))
        .args(["lab", "report"])
        .args(arguments)
        .output()
        .expect("the program starts")
}

#[track_caller]
fn check_error(arguments: &[&str], words: &[&str]) {
    let output = freshet(arguments);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success(), "{arguments:?} succeeded");
    for word in words {
        assert!(error.contains(word), "{arguments:?}: {error}");
    }
}

fn path(place: &TempDir, name: &str) -> String {
    place.path().join(name).to_str().expect("a path in UTF-8").to_owned()
}

/// Makes a report. Returns the output and the page.
#[track_caller]
fn report(arguments: &[&str]) -> (String, String) {
    let place = tempfile::tempdir().expect("a directory");
    let out = path(&place, "a/report");
    let output = freshet(&[&["--out", &out], arguments].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let page = fs::read_to_string(place.path().join("a/report/report.html")).expect("a page");
    let files = fs::read_dir(place.path().join("a/report")).expect("the directory").count();
    assert_eq!(files, 1, "one page and nothing beside it");
    (String::from_utf8(output.stdout).expect("UTF-8"), page)
}

#[test]
fn one_page_holds_what_was_asked_for() {
    let (said, page) = report(&["--only", "table-5.5,thesis-7"]);
    assert!(said.contains("4 exhibit(s)") && said.contains("agrees"), "{said}");
    for piece in
        ["id=\"table-5.5\"", "id=\"figure-7.2\"", "<svg", "0.8349", "the text is wrong", "--only table-7.1"]
    {
        assert!(page.contains(piece), "{piece}");
    }
    assert!(!page.contains("id=\"figure-5.10\""));
    for foreign in ["<script", "http-equiv", "src=", "@import", "href=\"http"] {
        assert!(!page.contains(foreign), "{foreign}: the page stands alone");
    }
    assert!(!page.contains("NaN"));
}

#[test]
fn the_same_seed_makes_the_same_page() {
    let make =
        |threads: &str| report(&["--only", "table-5.2,figure-5.4", "--seed", "7", "--threads", threads]).1;
    let page = make("1");
    assert_eq!(page, make("2"));
    assert!(page.contains("--seed 7"));
}

#[test]
fn exhibits_without_their_data_say_so_and_how_to_give_it() {
    let (said, page) = report(&["--only", "table-6.1"]);
    assert!(said.contains("table-6.1") && said.contains("--data"), "{said}");
    assert!(page.contains("Not made.") && page.contains("--data DIR"));
}

#[test]
fn recorded_histories_are_measured() {
    let place = tempfile::tempdir().expect("a directory");
    let data = path(&place, "model");
    let made = Command::new(env!("CARGO_BIN_EXE_freshet"))
        .args(["lab", "history", "--synthetic", "gamma", "--sites", "5", "--pages", "60", "--out", &data])
        .output()
        .expect("the program starts");
    assert!(made.status.success());
    let (said, page) = report(&["--data", &data, "--only", "figure-6.19,table-6.1"]);
    assert!(said.contains("2 exhibit(s)"), "{said}");
    assert!(page.contains("as Poisson") && page.contains("not reproducible"));
}

#[test]
fn what_is_wrong_is_named() {
    let place = tempfile::tempdir().expect("a directory");
    let (out, missing) = (path(&place, "out"), path(&place, "missing"));
    check_error(&["--out", &out, "--only", "table-9.9"], &["table-9.9", "table-5.5", "thesis-6"]);
    check_error(&["--out", &out, "--data", &missing], &["missing", "directory"]);
    check_error(&[], &["--out"]);
    let file = path(&place, "file");
    fs::write(&file, "").expect("a file");
    check_error(&["--out", &file, "--only", "table-5.5"], &["file"]);
    check_error(&["--out", &format!("{file}/below"), "--only", "table-5.5"], &["below"]);
    assert!(!place.path().join("out/report.html").exists());
}

#[test]
fn bad_histories_are_named_and_the_rest_of_the_report_is_made() {
    let place = tempfile::tempdir().expect("a directory");
    for file in ["sites.parquet", "pages.parquet", "changes.parquet"] {
        fs::write(place.path().join(file), "no table").expect("a file");
    }
    let (out, data) = (path(&place, "out"), path(&place, ""));
    check_error(
        &["--out", &out, "--data", &data, "--only", "table-6.1,table-7.1"],
        &["table-6.1", "sites.parquet"],
    );
    let page = fs::read_to_string(place.path().join("out/report.html")).expect("a page");
    assert!(page.contains("could not be made") && page.contains("0.7829"));
}

#[test]
fn names_can_be_listed() {
    let output = freshet(&["--list"]);
    let list = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success());
    assert!(list.contains("thesis-5:") && list.contains("table-5.5"), "{list}");
}
