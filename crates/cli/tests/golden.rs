//! Reference values: every case of `seed-values.json` through the real `freshet eval`.
//!
//! There is one test per function. A case agrees if each number is within its tolerance and all else is
//! equal. The members that `expected` names must be present; others may be.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

const GOLDEN: &str = include_str!("data/seed-values.json");

/// Runs `freshet eval` on these lines and returns the answers by id.
fn evaluate(lines: &str) -> BTreeMap<String, Value> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_freshet"))
        .arg("eval")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut input = child.stdin.take().expect("the input is piped");
    let lines = lines.to_owned();
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()).expect("the program reads"));
    let output = child.wait_with_output().expect("the program ends");
    writer.join().expect("the input is written");
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).expect("the output is UTF-8");
    text.lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("an answer is JSON"))
        .map(|answer| (answer["id"].as_str().expect("an id is a string").to_owned(), answer))
        .collect()
}

/// Whether `got` agrees with `want` under the contract's comparison.
fn agrees(got: &Value, want: &Value, tolerance: (f64, f64)) -> bool {
    match (got, want) {
        (Value::Number(got), Value::Number(want)) => {
            let (got, want) = (got.as_f64().expect("a double"), want.as_f64().expect("a double"));
            (got - want).abs() <= tolerance.0 + tolerance.1 * want.abs()
        }
        (Value::Array(got), Value::Array(want)) => {
            got.len() == want.len() && got.iter().zip(want).all(|(got, want)| agrees(got, want, tolerance))
        }
        (Value::Object(got), Value::Object(want)) => {
            want.iter().all(|(name, want)| got.get(name).is_some_and(|got| agrees(got, want, tolerance)))
        }
        _ => got == want,
    }
}

/// Checks all cases of one function.
fn check(function: &str) {
    let golden: Value = serde_json::from_str(GOLDEN).expect("the golden file is JSON");
    let cases: Vec<&Value> =
        golden["cases"].as_array().expect("cases").iter().filter(|case| case["fn"] == function).collect();
    assert!(!cases.is_empty(), "no case for {function}");
    let lines: String = cases
        .iter()
        .map(|case| json!({"id": case["id"], "fn": function, "args": case["args"]}).to_string() + "\n")
        .collect();
    let answers = evaluate(&lines);
    assert_eq!(answers.len(), cases.len());
    for case in cases {
        let answer = &answers[case["id"].as_str().expect("an id")];
        if case["expect_error"] == true {
            assert!(answer.get("error").is_some(), "{case} got {answer}");
            continue;
        }
        let tolerance = |kind: &str| case["tolerance"][kind].as_f64().unwrap_or(0.0);
        let value = answer.get("value").unwrap_or_else(|| panic!("{case} got {answer}"));
        assert!(
            agrees(value, &case["expected"], (tolerance("abs"), tolerance("rel"))),
            "{case} got {answer}"
        );
    }
}

macro_rules! golden {
    ($($function:ident)*) => {
        $(#[test] fn $function() { check(stringify!($function)); })*

        #[test]
        fn every_function_of_the_file_has_its_test() {
            let golden: Value = serde_json::from_str(GOLDEN).expect("the golden file is JSON");
            for case in golden["cases"].as_array().expect("cases") {
                assert!(
                    [$(stringify!($function)),*].contains(&case["fn"].as_str().expect("a name")),
                    "{case}"
                );
            }
        }
    };
}

golden! {
    freshness_age expected_at freshness_trace gamma_rates evaluate_allocation optimal_freshness optimal_age
    class_allocation sync_benefit crawl_mode_freshness
    estimate_naive estimate_log estimate_mle estimate_last_modified singularity_constant estimator_moments
    last_modified_moments bayes_update bayes_accuracy
    allocate_greedy allocate_proportional expected_change_ratio sample_size proportion_ci adaptive_step
    change_ratio fairness simulate_policy
    link_distance link_download directory_distance download_probability
    pagerank crawl_order crawl_quality similarity parallel_crawl
    summary_metrics survival_time survival_model weibull_average weibull_schedule weibull_fit cox_fit
    concordance
}
