//! `freshet eval`: the formulas of the theory as functions, called with one JSON object per line.
//!
//! In reading order:
//! - [`mod@line`]: reads one line of input, bounded in length;
//! - [`arguments`]: the arguments of a call, checked, and named when wrong;
//! - [`answer`]: numbers as JSON that reads back unchanged;
//! - one file per family of functions, each a table of [`Function`]s.
//!
//! # Promises
//! - Every line that is not blank gets one answer, whatever it holds; a bad line is answered with an error.
//! - The same input gives the same output.

mod answer;
mod arguments;
#[cfg(test)]
mod calls;
mod estimate;
mod freshness;
mod line;
mod neighbourhood;
mod parallel;
mod rank;
mod refresh;
mod sample;
mod summary;
mod survival;

use std::io::{self, BufRead, BufWriter, Write};

use clap::Args;
use freshet_protocol::containment::contained;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use answer::Answer;
use arguments::Arguments;
use line::{LINE_BYTES_MAX, Line, read_line};

/// Evaluate formulas: reads one JSON object per line, {"id": "...", "fn": "...", "args": {...}}, and answers
/// each with {"id": ..., "value": ...} or {"id": ..., "error": "..."}.
///
/// A bad line is answered with an error and the run goes on; the exit status is 0 when all of the input was
/// read. An infinite value is the string "inf", a value that is not defined is null.
#[derive(Args)]
#[command(
    after_help = "Example:\n  echo '{\"id\":\"1\",\"fn\":\"freshness_age\",\"args\":{\"lambda\":1,\"f\":1}}' \
        | freshet eval"
)]
pub(crate) struct EvalOptions {
    /// Print the functions and their arguments (`?` marks an optional one) instead of reading input
    #[arg(long)]
    list: bool,
}

/// A formula that can be called.
struct Function {
    /// Name in a call.
    name: &'static str,
    /// Arguments as `--list` shows them; `?` marks an optional one.
    arguments: &'static str,
    /// Computes the value.
    evaluate: fn(&Arguments<'_>) -> Answer,
}

/// All functions by family, in the order of the papers.
fn functions() -> impl Iterator<Item = &'static Function> {
    [
        freshness::FUNCTIONS,
        refresh::FUNCTIONS,
        estimate::FUNCTIONS,
        sample::FUNCTIONS,
        neighbourhood::FUNCTIONS,
        rank::FUNCTIONS,
        parallel::FUNCTIONS,
        summary::FUNCTIONS,
        survival::FUNCTIONS,
    ]
    .into_iter()
    .flatten()
}

/// Runs the command on standard input and output.
pub(crate) fn run(options: &EvalOptions) -> io::Result<()> {
    let mut output = BufWriter::new(io::stdout().lock());
    if options.list {
        for function in functions() {
            writeln!(output, "{:<24} {}", function.name, function.arguments)?;
        }
        return output.flush();
    }
    evaluate_lines(io::stdin().lock(), output)
}

/// Answers every line of `input` on `output`.
fn evaluate_lines(mut input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    let mut text = Vec::new();
    loop {
        let answer = match read_line(&mut input, &mut text)? {
            Line::End => return output.flush(),
            Line::Whole if text.trim_ascii().is_empty() => continue,
            Line::Whole => answer_line(&text),
            Line::TooLong => json!({
                "id": null,
                "error": format!(
                    "the line is longer than {LINE_BYTES_MAX} bytes; split it into smaller calls"
                ),
            }),
        };
        serde_json::to_writer(&mut output, &answer)?;
        output.write_all(b"\n")?;
    }
}

/// A call as it stands on a line. The arguments are parsed only after the id is known, so that an error can
/// name it.
#[derive(Deserialize)]
struct Call<'a> {
    #[serde(default)]
    id: Value,
    #[serde(rename = "fn", default)]
    function: Value,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
}

fn answer_line(line: &[u8]) -> Value {
    let call: Call<'_> = match serde_json::from_slice(line) {
        Ok(call) => call,
        Err(error) => return json!({"id": null, "error": format!("not a call as JSON: {error}")}),
    };
    match evaluate_call(&call) {
        Ok(value) => json!({"id": call.id, "value": value}),
        Err(error) => json!({"id": call.id, "error": error}),
    }
}

fn evaluate_call(call: &Call<'_>) -> Answer {
    if !call.id.is_string() {
        return Err("`id` is missing or not a string".to_owned());
    }
    let name = call.function.as_str().ok_or("`fn` is missing or not a string")?;
    let function = functions()
        .find(|function| function.name == name)
        .ok_or_else(|| format!("unknown function {name:?}; `freshet eval --list` names them all"))?;
    let args = call.args.map_or("{}", RawValue::get);
    let args: Map<String, Value> =
        serde_json::from_str(args).map_err(|error| format!("`args` cannot be read: {error}"))?;
    // A defect of ours in one formula must not take the answers of the other lines with it.
    contained(|| (function.evaluate)(&Arguments::new(&args)))
        .unwrap_or_else(|_| Err(format!("internal error in {name}: please report this call")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(input: &[u8]) -> Vec<Value> {
        let mut output = Vec::new();
        evaluate_lines(input, &mut output).expect("a slice reads and a vector writes");
        output
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_slice(line).expect("every answer is JSON"))
            .collect()
    }

    #[track_caller]
    fn check_error(line: &[u8], id: &Value, word: &str) {
        let answers = answers(line);
        assert_eq!(answers.len(), 1, "{answers:?}");
        assert_eq!(&answers[0]["id"], id);
        assert!(answers[0].get("value").is_none());
        let error = answers[0]["error"].as_str().expect("an error is a string");
        assert!(error.contains(word), "{error}");
    }

    #[test]
    fn blank_lines_are_skipped() {
        assert!(answers(b"\n  \r\n\t\n").is_empty());
    }

    #[test]
    fn a_line_that_is_no_call_has_no_id() {
        check_error(b"nonsense", &Value::Null, "JSON");
        check_error(b"[1, 2]", &Value::Null, "JSON");
        check_error(b"{\"id\": \"a\xff\", \"fn\": \"f\"}", &Value::Null, "JSON");
        check_error(&[b'['; 100_000], &Value::Null, "JSON");
    }

    #[test]
    fn a_bad_call_keeps_its_id() {
        check_error(br#"{"id": "a", "fn": "no_such", "args": {}}"#, &json!("a"), "unknown function");
        check_error(br#"{"id": "a", "args": {}}"#, &json!("a"), "`fn`");
        check_error(br#"{"fn": "pagerank", "args": {}}"#, &Value::Null, "`id`");
        check_error(br#"{"id": "a", "fn": "freshness_age", "args": [1]}"#, &json!("a"), "args");
        check_error(
            br#"{"id": "a", "fn": "freshness_age", "args": {"lambda": 1e999, "f": 1}}"#,
            &json!("a"),
            "args",
        );
        check_error(br#"{"id": "a", "fn": "freshness_age"}"#, &json!("a"), "lambda");
    }

    #[test]
    fn an_endless_line_is_answered_and_the_next_one_too() {
        let mut input = vec![b' '; LINE_BYTES_MAX + 1];
        input.extend_from_slice(b"\n{\"id\": \"b\", \"fn\": \"no_such\"}\n");
        let answers = answers(&input);
        assert_eq!(answers.len(), 2);
        assert!(answers[0]["error"].as_str().is_some_and(|error| error.contains("longer")));
        assert_eq!(answers[1]["id"], "b");
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> = functions().map(|function| function.name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
