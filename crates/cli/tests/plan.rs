//! `freshet plan` as a user meets it: the real program, real files, its output and its exit status.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use proptest::prelude::*;
use serde_json::Value;
use tempfile::TempDir;

const RATES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/plan/rates.csv");
const VISITS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/plan/visits.csv");

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

/// Runs `freshet plan` in a folder.
fn plan_in(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_freshet"))
        .arg("plan")
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the program starts")
}

#[track_caller]
fn text(arguments: &[&str]) -> String {
    let output = plan_in(folder().path(), arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("the output is UTF-8")
}

#[track_caller]
fn json(arguments: &[&str]) -> Value {
    let text = text(&[arguments, &["--json"]].concat());
    assert_eq!(text.lines().count(), 1);
    serde_json::from_str(&text).expect("the output is JSON")
}

/// Runs on a table with this text and returns the error message.
#[track_caller]
fn failure(table: &[u8], arguments: &[&str]) -> String {
    let folder = folder();
    fs::write(folder.path().join("rates.csv"), table).expect("a table");
    let output = plan_in(folder.path(), &[&["rates.csv"], arguments].concat());
    assert!(!output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(output.stdout.is_empty());
    assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 1, "nothing is left behind");
    String::from_utf8(output.stderr).expect("the message is UTF-8")
}

#[track_caller]
fn check_failure(table: &str, arguments: &[&str], message: &str) {
    assert_eq!(failure(table.as_bytes(), arguments), format!("freshet: {message}\n"));
}

#[track_caller]
fn check_close(value: &Value, expected: f64, tolerance: f64) {
    let number = value.as_f64().unwrap_or_else(|| panic!("{value} is a number"));
    assert!((number - expected).abs() <= tolerance, "{number} is not {expected}");
}

/// Table 5.5 of the thesis: five pages that change 1 to 5 times a day, and five visits a day.
#[test]
fn the_example_of_the_thesis_comes_out() {
    let folder = folder();
    let output = plan_in(folder.path(), &[RATES, "--budget", "5/day", "--out", "plan.csv", "--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["pages"], 5);
    assert_eq!(report["plan"]["pages_given_up"], 1);
    assert_eq!(report["plan"]["age_days"], "inf");
    check_close(&report["plan"]["spent_visits_per_day"], 5.0, 1e-9);
    let freshness = |policy: &str| report[policy]["freshness"].as_f64().expect("a number");
    assert!(freshness("plan") > freshness("uniform"));
    assert!(freshness("uniform") > freshness("proportional"));
    let mut plan = csv::Reader::from_path(folder.path().join("plan.csv")).expect("a plan");
    let column = plan.headers().expect("names").iter().position(|name| name == "visits_per_day").expect("it");
    let visits: Vec<f64> =
        plan.records().map(|row| row.expect("a row")[column].parse().expect("a number")).collect();
    for (visits, expected) in visits.iter().zip([1.15, 1.36, 1.35, 1.14, 0.0]) {
        assert!((visits - expected).abs() < 0.006, "{visits} is not {expected}");
    }
}

#[test]
fn the_text_says_what_the_plan_gives_beside_the_others() {
    let text = text(&[RATES, "--budget", "5/day"]);
    for part in [
        "5 pages",
        "budget 5 visits a day",
        "this plan",
        "uniform",
        "proportional",
        "1 page (20.0 % of the weight)",
    ] {
        assert!(text.contains(part), "{part} is missing:\n{text}");
    }
}

#[test]
fn every_objective_is_best_at_what_it_is_for() {
    let outcome =
        |objective: &str| json(&[RATES, "--budget", "5/day", "--objective", objective])["plan"].clone();
    let outcomes = ["freshness", "age", "harmonic", "changes"].map(outcome);
    let best = |name: &str, sign: f64| {
        let value = |outcome: &Value| sign * outcome[name].as_f64().unwrap_or(f64::INFINITY);
        let best = outcomes.iter().map(value).fold(f64::NEG_INFINITY, f64::max);
        outcomes.iter().map(value).position(|value| value >= best - 1e-12).expect("there is a best")
    };
    assert_eq!(best("freshness", 1.0), 0);
    assert_eq!(best("age_days", -1.0), 1);
    assert_eq!(best("changes_found_share", 1.0), 3);
}

#[test]
fn a_host_limit_binds_and_is_reported() {
    let report = json(&[RATES, "--budget", "5/day", "--host-limit", "2/day"]);
    assert_eq!(report["hosts"], 2);
    assert_eq!(report["saturated_host_count"], 2);
    assert_eq!(report["saturated_hosts"][0]["host"], "a.example");
    check_close(&report["saturated_hosts"][0]["visits_per_day"], 2.0, 1e-9);
    check_close(&report["unspent_visits_per_day"], 1.0, 1e-9);
    assert!(text(&[RATES, "--budget", "5/day", "--host-limit", "2/day"]).contains("a.example"));
}

#[test]
fn at_least_leaves_no_page_out() {
    let report = json(&[RATES, "--budget", "5/day", "--at-least", "1/10d"]);
    assert_eq!(report["plan"]["pages_given_up"], 0);
    assert_eq!(report["plan"]["pages_at_minimum"], 1);
    assert!(report["plan"]["age_days"].is_number());
}

#[test]
fn what_the_limits_forbid_is_said_with_its_numbers() {
    let table = "url,changes_per_day\na.example/1,1\na.example/2,1\n";
    check_failure(
        table,
        &["--budget", "1/day", "--at-least", "1/day"],
        "--at-least asks for 1 visit a day to each of 2 pages, which takes 2 visits a day, but --budget is 1 \
         visit a day",
    );
    check_failure(
        table,
        &["--budget", "5/day", "--at-least", "1/day", "--host-limit", "1/day"],
        "--at-least asks for 1 visit a day to each page, which is 2 visits a day to the host a.example, \
         but --host-limit is 1 visit a day",
    );
}

#[test]
fn a_target_finds_its_budget() {
    let report = json(&[RATES, "--budget", "5/day", "--target", "0.8"]);
    let budget = report["target"]["budget_visits_per_day"].as_f64().expect("a budget");
    let again = json(&[RATES, "--budget", &format!("{budget}/day")]);
    check_close(&again["plan"]["freshness"], 0.8, 1e-4);
    let alone = json(&[RATES, "--target", "0.8"]);
    check_close(&alone["budget_visits_per_day"], budget, budget * 1e-4);
}

#[test]
fn a_target_out_of_reach_is_said_to_be_so() {
    let report = json(&[RATES, "--budget", "5/day", "--target", "0.9", "--host-limit", "1/day"]);
    assert_eq!(report["target"]["can_be_reached"], false);
    check_close(&report["target"]["visits_per_day_at_limits"], 2.0, 1e-9);
    let output = plan_in(folder().path(), &[RATES, "--target", "0.9", "--host-limit", "1/day"]);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot be reached"));
}

#[test]
fn a_curve_is_a_table_a_chart_and_a_picture() {
    let folder = folder();
    let output = plan_in(folder.path(), &[RATES, "--budget", "5/day", "--curve", "--target", "0.8"]);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(
        text.contains("┤") && text.contains('●') && text.contains("curve written to rates.curve.svg"),
        "{text}"
    );
    let svg = fs::read_to_string(folder.path().join("rates.curve.svg")).expect("a picture");
    assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
    assert!(svg.contains("budget (visits a day)") && svg.contains("0.8 takes"));
    assert!(!svg.contains("NaN") && !svg.contains("inf"));
    let report = json(&[RATES, "--budget", "5/day", "--curve"]);
    let freshness: Vec<f64> = report["curve"]
        .as_array()
        .expect("a curve")
        .iter()
        .map(|point| point["plan"]["freshness"].as_f64().expect("a number"))
        .collect();
    assert_eq!(freshness.len(), 21);
    assert!(freshness.is_sorted());
}

#[test]
fn a_plan_is_parquet_or_csv_and_can_be_planned_again() {
    let folder = folder();
    let arguments = ["--budget", "5/day", "--json"];
    let first = plan_in(folder.path(), &[&[RATES, "--out", "plan.parquet"], &arguments[..]].concat());
    let second = plan_in(folder.path(), &[&["plan.parquet", "--out", "plan.csv"], &arguments[..]].concat());
    let third = plan_in(folder.path(), &[&["plan.csv"], &arguments[..]].concat());
    let outcome = |output: &Output| {
        let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        report["plan"].clone()
    };
    assert_eq!(outcome(&first), outcome(&second));
    assert_eq!(outcome(&second), outcome(&third));
}

#[test]
fn costs_are_taken_from_the_budget() {
    let folder = folder();
    fs::write(folder.path().join("costs.csv"), "url,changes_per_day,cost\na,1,1\nb,1,0.05\n")
        .expect("a table");
    let output = plan_in(folder.path(), &["costs.csv", "--budget", "1/day", "--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    check_close(&report["plan"]["spent_visits_per_day"], 1.0, 1e-9);
    assert!(report["plan"]["freshness"].as_f64() > report["uniform"]["freshness"].as_f64());
}

#[test]
fn visits_are_estimated_with_their_uncertainty() {
    let report = json(&[VISITS, "--budget", "4/day"]);
    assert_eq!(report["pages"], 4);
    assert_eq!(report["estimated_from"]["intervals"], 63);
    assert_eq!(report["estimated_from"]["pages_visited_once"], 1);
    let spread = &report["uncertainty"]["freshness"];
    let (low, high) = (spread["low"].as_f64().expect("low"), spread["high"].as_f64().expect("high"));
    let freshness = report["plan"]["freshness"].as_f64().expect("a number");
    assert!(low < freshness && freshness < high, "{low} {freshness} {high}");
    assert_eq!(report, json(&[VISITS, "--budget", "4/day"]), "the draws have a fixed seed");
    let text = text(&[VISITS, "--budget", "4/day"]);
    assert!(
        text.contains("rates estimated from 63 intervals") && text.contains("The rates are estimates"),
        "{text}"
    );
}

#[test]
fn a_plan_from_visits_has_the_intervals_of_its_rates() {
    let folder = folder();
    plan_in(folder.path(), &[VISITS, "--budget", "4/day", "--out", "plan.csv"]);
    let mut plan = csv::Reader::from_path(folder.path().join("plan.csv")).expect("a plan");
    let rows: Vec<std::collections::HashMap<String, String>> =
        plan.deserialize().map(|row| row.expect("a row")).collect();
    for row in &rows {
        let number = |name: &str| row[name].parse::<f64>().expect("a number");
        assert!(number("changes_per_day_low") < number("changes_per_day"), "{row:?}");
        assert!(number("changes_per_day") < number("changes_per_day_high"), "{row:?}");
    }
    assert_eq!(rows[2]["changes_seen"], "21");
}

#[test]
fn an_error_names_file_line_and_column() {
    let budget = ["--budget", "1/day"];
    check_failure(
        "url,changes_per_day\na,1\nb,abc\n",
        &budget,
        "rates.csv:3: column changes_per_day: \"abc\" is not a number",
    );
    check_failure(
        "url,changes_per_day\na,1\n\nb,2\na,3\n",
        &budget,
        "rates.csv:5: column url: \"a\" stands on line 2 already",
    );
    check_failure(
        "url,changes_per_day\na,-1\n",
        &budget,
        "rates.csv:2: column changes_per_day: \"-1\" is negative",
    );
    check_failure("", &budget, "rates.csv:1: the file is empty");
    check_failure("url,changes_per_day\n", &budget, "rates.csv: the table has no rows");
    check_failure(
        "page,rate\na,1\n",
        &budget,
        "rates.csv:1: expected the columns url, changes_per_day (rates) or url, time, changed (visits), \
         and optionally weight, host, cost; found \"page\", \"rate\"",
    );
    check_failure(
        "url,time,changed\na,soon,1\n",
        &budget,
        "rates.csv:2: column time: \"soon\" is not a time: \
         write unix seconds or RFC 3339, such as 2024-05-01T12:00:00Z",
    );
}

#[test]
fn a_file_that_cannot_be_read_or_written_is_named_before_the_work() {
    let broken = "url,changes_per_day\na,broken\n";
    let message =
        |arguments: &[&str]| failure(broken.as_bytes(), &[&["--budget", "1/day"], arguments].concat());
    assert!(message(&["--out", "missing/plan.csv"]).starts_with("freshet: cannot write missing/plan.csv: "));
    assert!(message(&["--out", "plan.txt"]).contains("let it end in .csv or .parquet"));
    assert!(message(&["--out", "rates.csv"]).contains("is the table itself"));
    assert!(message(&["--curve", "--svg", "missing/curve.svg"]).contains("cannot write missing/curve.svg"));
    let output = plan_in(folder().path(), &["none.csv", "--budget", "1/day"]);
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("freshet: cannot read none.csv: "));
}

#[test]
fn a_wrong_budget_says_how_to_write_one() {
    let message = failure(b"", &["--budget", "10000"]);
    assert!(message.contains("such as 10000/day"), "{message}");
    let message = failure(b"", &["--budget", "-1/day"]);
    assert!(message.contains("it must be more than zero"), "{message}");
}

#[test]
fn a_file_that_is_no_table_is_said_to_be_what_it_is() {
    let message = |bytes: &[u8]| failure(bytes, &["--budget", "1/day"]);
    assert!(message(b"\x1f\x8b\x08\0rest").contains("rates.csv: it is compressed with gzip"));
    assert!(message(b"\x28\xb5\x2f\xfdrest").contains("compressed with zstd"));
    assert!(message(b"PK\x03\x04rest").contains("save the table as CSV"));
    assert!(message(b"\xff\xfeu\0r\0l\0").contains("save it as UTF-8"));
    assert!(message(b"PAR1").contains("rates.csv: it is not a Parquet file, or its end is missing"));
    assert!(message(b"url;changes_per_day\na;1\n").contains("separated by semicolons; write commas"));
}

#[test]
fn pages_that_never_change_need_no_visits() {
    let folder = folder();
    fs::write(folder.path().join("still.csv"), "url,changes_per_day\na,0\nb,0\n").expect("a table");
    let output = plan_in(folder.path(), &["still.csv", "--budget", "1/day", "--target", "0.9"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("Freshness 0.9 takes no visits."), "{text}");
    assert!(text.contains("Left over of the budget: 1 visit a day."), "{text}");
}

#[test]
fn standard_input_is_read_as_csv() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_freshet"))
        .args(["plan", "-", "--budget", "1/day"])
        .stdin(fs::File::open(RATES).expect("the table"))
        .stdout(std::process::Stdio::null())
        .spawn()
        .expect("the program starts");
    assert!(child.wait().expect("the program ends").success());
}

#[test]
fn the_help_explains_itself() {
    let help = text(&["--help"]);
    for part in [
        "--budget",
        "changes_per_day",
        "--at-least",
        "1/90d",
        "harmonic",
        "RFC 3339",
        "expected_age_days",
        "Examples",
    ] {
        assert!(help.contains(part), "{part} is missing:\n{help}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// A damaged Parquet file is refused with a message, or read as what it still is; it never causes
    /// a panic.
    #[test]
    fn damaged_parquet_does_not_panic(place in 0.0..1.0_f64, byte in any::<u8>(), cut in any::<bool>()) {
        let folder = folder();
        let path = folder.path().join("plan.parquet");
        plan_in(folder.path(), &[RATES, "--budget", "5/day", "--out", "plan.parquet"]);
        let mut bytes = fs::read(&path).expect("a plan");
        let place = (place * bytes.len() as f64) as usize;
        if cut { bytes.truncate(place) } else { bytes[place] = byte }
        fs::write(&path, bytes).expect("a damaged plan");
        let output = plan_in(folder.path(), &["plan.parquet", "--budget", "5/day"]);
        let message = String::from_utf8_lossy(&output.stderr);
        prop_assert!(output.status.code().is_some_and(|code| code < 2), "{message}");
        prop_assert!(!message.contains("panicked"), "{message}");
    }
    /// Rates, weights, costs and limits at the extremes of what is accepted still give a plan.
    #[test]
    fn extreme_tables_are_planned(
        pages in proptest::collection::vec(
            (extreme_or_zero(), extreme_or_zero(), extreme(), 0..3_u8), 1..12),
        budget in extreme(),
        host_limit in proptest::option::of(extreme()),
        objective in proptest::sample::select(&["freshness", "age", "harmonic", "changes"][..]),
    ) {
        let mut table = "url,changes_per_day,weight,cost,host\nfirst,1,1,1,0\n".to_owned();
        for (page, (rate, weight, cost, host)) in pages.iter().enumerate() {
            table += &format!("{page},{rate:e},{weight:e},{cost:e},{host}\n");
        }
        let folder = folder();
        fs::write(folder.path().join("table.csv"), table).expect("a table");
        let budget = format!("{budget:e}/day");
        let mut arguments =
            vec!["table.csv", "--json", "--target", "0.5", "--budget", &budget, "--objective", objective];
        let limit = host_limit.map(|limit| format!("{limit:e}/day"));
        arguments.extend(limit.iter().flat_map(|limit| ["--host-limit", limit]));
        let output = plan_in(folder.path(), &arguments);
        let message = String::from_utf8_lossy(&output.stderr);
        prop_assert!(output.status.success(), "{message}");
        let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let freshness = report["plan"]["freshness"].as_f64().expect("a number");
        prop_assert!((0.0..=1.0 + 1e-12).contains(&freshness), "{report}");
        let spent = report["plan"]["spent_visits_per_day"].as_f64().expect("a number");
        let budget = report["budget_visits_per_day"].as_f64().expect("a number");
        prop_assert!(spent <= budget * (1.0 + 1e-9), "{report}");
    }
}

fn extreme() -> impl Strategy<Value = f64> {
    (-11.9..14.9_f64).prop_map(|power| 10_f64.powf(power))
}

fn extreme_or_zero() -> impl Strategy<Value = f64> {
    prop_oneof![1 => Just(0.0), 5 => extreme()]
}
