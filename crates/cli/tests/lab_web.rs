//! `freshet lab web` as a user runs it.

use std::fs;
use std::process::{Command, Output};

fn lab_web(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_freshet"))
        .args(["lab", "web"])
        .args(arguments)
        .output()
        .expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

#[test]
fn a_web_says_where_it_is_and_stops_when_its_time_is_over() {
    let place = tempfile::tempdir().expect("a directory");
    let path = |name: &str| place.path().join(name).to_str().expect("a path").to_owned();
    let (seeds, log) = (path("seeds.txt"), path("requests.jsonl"));
    let size = ["--sites", "12", "--pages", "100", "--for", "0.2s"];
    let run = |more: &[&str]| lab_web(&[&size, more].concat());
    let output = run(&["--seeds", &seeds, "--log", &log]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let out = text(&output.stdout);
    for word in ["12 sites", "to be born", "http://127.1.0.1:", "and 2 more", "/-/truth", "Stopped after"] {
        assert!(out.contains(word), "{word} is not in\n{out}");
    }
    let seeds = fs::read_to_string(seeds).expect("the seeds");
    assert_eq!(seeds.lines().count(), 12);
    assert!(seeds.lines().all(|line| line.starts_with("http://127.1.0.") && line.ends_with('/')));
    assert_eq!(fs::read_to_string(log).expect("the log"), "", "nobody asked for anything");
    let named = text(&run(&["--one-address"]).stdout);
    assert!(named.contains("http://site-0000.test:") && named.contains("listen on 127.0.0.1:"), "{named}");
}

#[test]
fn bad_values_are_refused_in_words() {
    for (arguments, word) in [
        (&["--speed", "fast"][..], "write 1000x"),
        (&["--speed", "-1x"], "above 0"),
        (&["--sites", "0"], "0 is not in 1..=60000"),
        (&["--sites", "100", "--pages", "10"], "a web of 100 sites has 100 to 5000000 pages, not 10"),
        (&["--noise", "2"], "a share lies from 0 to 1"),
        (&["--changes", "often"], "changes a day"),
        (&["--port", "70000"], "70000 is not in 0..=65535"),
        (&["--for", "60"], "unit of time"),
        (&["--sites", "3", "--pages", "9", "--log", "/nowhere/log"], "cannot write the log /nowhere/log"),
        (&["--sites", "3", "--pages", "9", "--seeds", "/nowhere/seeds"], "cannot write the seeds to"),
    ] {
        let output = lab_web(arguments);
        let error = text(&output.stderr);
        assert!(!output.status.success(), "{arguments:?}");
        assert!(error.contains(word), "{arguments:?}: {error}");
    }
}
