//! JSON paths: `$.response.docs[*].title`, `$['total hits']`, `$..url`, `$.hits[0]`.
//!
//! The part of RFC 9535 that describes where results are: names, indices, all members (`*`), and descent
//! (`..name`). Filters and slices are not supported.
//!
//! # Promises
//! - Every text is a path or is refused with a reason.
//! - Values are found in list order, and within an object by name. At most [`FOUND_MAX`] values are found.

use serde_json::Value;

/// Maximum number of values that a path finds.
pub const FOUND_MAX: usize = 10_000;

/// Maximum number of steps of a path.
const STEPS_MAX: usize = 50;

/// A parsed JSON path.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct JsonPath {
    steps: Vec<Step>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
enum Step {
    Name(String),
    Place(usize),
    All,
    Within(String),
}

impl JsonPath {
    /// Parses a path, or returns what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut rest = text.strip_prefix('$').ok_or("a JSON path begins with `$`")?;
        let mut steps = Vec::new();
        while !rest.is_empty() {
            let (step, after) = next_step(rest)?;
            steps.push(step);
            rest = after;
            if STEPS_MAX < steps.len() {
                return Err(format!("it has more than {STEPS_MAX} steps"));
            }
        }
        Ok(Self { steps })
    }

    /// The values that the path selects.
    pub fn find<'a>(&self, value: &'a Value) -> Vec<&'a Value> {
        let mut found = vec![value];
        for step in &self.steps {
            let mut next = Vec::new();
            for value in found {
                step.take(value, &mut next);
            }
            next.truncate(FOUND_MAX);
            found = next;
        }
        found
    }
}

impl Step {
    fn take<'a>(&self, value: &'a Value, found: &mut Vec<&'a Value>) {
        match self {
            Self::Name(name) => found.extend(value.get(name)),
            Self::Place(place) => found.extend(value.get(place)),
            Self::All => match value {
                Value::Array(values) => found.extend(values.iter().take(FOUND_MAX)),
                Value::Object(members) => found.extend(members.values().take(FOUND_MAX)),
                _ => {}
            },
            Self::Within(name) => within(value, name, found),
        }
    }
}

fn within<'a>(value: &'a Value, name: &str, found: &mut Vec<&'a Value>) {
    // The JSON parser limits the depth of documents, and so of this recursion.
    if FOUND_MAX <= found.len() {
        return;
    }
    match value {
        Value::Array(values) => values.iter().for_each(|value| within(value, name, found)),
        Value::Object(members) => {
            for (key, value) in members {
                if key == name {
                    found.push(value);
                }
                within(value, name, found);
            }
        }
        _ => {}
    }
}

fn next_step(text: &str) -> Result<(Step, &str), String> {
    if let Some(rest) = text.strip_prefix("..") {
        let (name, rest) = plain_name(rest)?;
        return Ok((Step::Within(name.to_owned()), rest));
    }
    if let Some(rest) = text.strip_prefix(".*") {
        return Ok((Step::All, rest));
    }
    if let Some(rest) = text.strip_prefix('.') {
        let (name, rest) = plain_name(rest)?;
        return Ok((Step::Name(name.to_owned()), rest));
    }
    let rest = text.strip_prefix('[').ok_or_else(|| format!("`{text}`: a step begins with `.` or `[`"))?;
    if let Some(quote @ ('\'' | '"')) = rest.chars().next() {
        let end = rest[1..].find(quote).ok_or("a quoted name has no end")? + 1;
        let after = rest[end + 1..].strip_prefix(']').ok_or("a `[` has no `]`")?;
        return Ok((Step::Name(rest[1..end].to_owned()), after));
    }
    let end = rest.find(']').ok_or("a `[` has no `]`")?;
    let (inner, after) = (&rest[..end], &rest[end + 1..]);
    match inner.trim() {
        "*" => Ok((Step::All, after)),
        number => match number.parse() {
            Ok(place) => Ok((Step::Place(place), after)),
            Err(_) => Err(format!("`[{number}]`: write [*], a number, or a name in quotes")),
        },
    }
}

fn plain_name(text: &str) -> Result<(&str, &str), String> {
    let end = text.find(['.', '[']).unwrap_or(text.len());
    if end == 0 { Err("a name is missing".to_owned()) } else { Ok(text.split_at(end)) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(path: &str, found: &[Value]) {
        let document =
            json!({"hits": [{"url": "a", "n": 1}, {"url": "b", "more": {"url": "c"}}], "total hits": 7});
        let path = JsonPath::parse(path).expect("a path");
        assert_eq!(path.find(&document).into_iter().cloned().collect::<Vec<_>>(), found);
    }

    #[test]
    fn paths_lead_where_they_say() {
        check("$.hits[*].url", &[json!("a"), json!("b")]);
        check("$.hits[1].more.url", &[json!("c")]);
        check("$['total hits']", &[json!(7)]);
        check("$..url", &[json!("a"), json!("c"), json!("b")]);
        check("$.hits[1].more.*", &[json!("c")]);
        check("$.nothing[3]", &[]);
    }

    #[test]
    fn what_is_no_path_says_why() {
        for (text, word) in [
            ("hits", "`$`"),
            ("$.", "missing"),
            ("$[", "no `]`"),
            ("$['a", "no end"),
            ("$[?x]", "write"),
            ("$a", "begins"),
        ] {
            assert!(JsonPath::parse(text).expect_err(text).contains(word), "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_text_is_a_path_or_refused(text in "\\$?[a-c.\\[\\]*'\"0-9 ]{0,20}|\\PC{0,20}") {
            if let Ok(path) = JsonPath::parse(&text) {
                path.find(&json!({"a": [1, {"b": [2]}], "b": {"c": 3}}));
            }
        }
    }
}
