//! `freshet lab evolution` through the real program: a model is studied, and bad arguments are named.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use freshet_lab::history::synthetic::{Model, Synthetic};
use serde_json::Value;

fn evolution(data: &Path, more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_freshet"));
    command.args(["lab", "evolution", "--data"]).arg(data).args(more).output().expect("the program starts")
}

/// Writes sites whose pages are edited in bursts.
fn model(directory: &Path) {
    let synthetic = Synthetic { model: Model::Gamma, sites: 10, pages_per_site: 60, days: 1200.0, seed: 11 };
    synthetic.record().write(directory).expect("written");
}

#[track_caller]
fn check_error(data: &Path, more: &[&str], words: &[&str]) {
    let output = evolution(data, more);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success(), "{more:?} succeeded");
    for word in words {
        assert!(error.contains(word), "{more:?}: {error}");
    }
}

#[test]
fn a_model_with_bursts_is_told_from_a_poisson_process() {
    let place = tempfile::tempdir().expect("a directory");
    model(&place.path().join("model"));
    let figures = place.path().join("figures");
    let out = figures.to_str().expect("UTF-8");
    let output = evolution(&place.path().join("model"), &["--window", "3y", "--json", "--out", out]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let group = &answer["groups"][0];
    let number = |pointer: &str| group.pointer(pointer).and_then(Value::as_f64).expect("a number");
    assert_eq!((group["name"].as_str(), number("/sites")), (Some("all"), 10.0));
    let bars = group["change_interval"]["bars"].as_object().expect("bars");
    let sum: f64 = bars.values().map(|part| part.as_f64().expect("a part")).sum();
    assert!((sum - 1.0).abs() < 1e-9, "{sum}");
    let (own, twins) =
        (number("/poisson_fit/one_by_one/rejected"), number("/poisson_fit/one_by_one/twins_rejected"));
    assert!(own > 2.0 * twins, "{own} {twins}");
    let improved = number("/estimators/by_visit_interval/2/ratio/mean/improved");
    let of_twins = number("/estimators/by_visit_interval/2/ratio/twins_mean/improved");
    assert!(improved < 0.9 && (of_twins - 1.0).abs() < 0.1, "{improved} {of_twins}");
    for name in
        ["change_intervals.svg", "lifespans.svg", "unchanged.svg", "poisson_fit.svg", "estimator_bias.svg"]
    {
        let svg = fs::read_to_string(figures.join(name)).expect(name);
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{name}");
    }
}

#[test]
fn people_get_a_table_for_each_question() {
    let place = tempfile::tempdir().expect("a directory");
    model(place.path());
    let output = evolution(place.path(), &["--window", "2y"]);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    for words in ["How often does a page change?", "over 4 months", "half/days", "of twins", "last-modified"]
    {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn what_is_wrong_is_named() {
    let place = tempfile::tempdir().expect("a directory");
    check_error(place.path(), &[], &["sites.parquet"]);
    check_error(&place.path().join("nowhere"), &[], &["is not a directory"]);
    model(place.path());
    check_error(place.path(), &["--family", "ota"], &["`ota`", "synthetic"]);
    check_error(place.path(), &["--window", "9y"], &["longer than every history"]);
    check_error(place.path(), &["--window", "0d"], &["empty"]);
    fs::write(place.path().join("changes.parquet"), "not a table").expect("a file");
    check_error(place.path(), &[], &["changes.parquet"]);
}
