//! Numbers as JSON that reads back unchanged.

use serde_json::Value;

/// The value of a call, or a message that says what is wrong with it.
pub(super) type Answer = Result<Value, String>;

/// A number as JSON: infinity is the string `"inf"` (JSON has none), and an undefined value is `null`.
pub(super) fn number(value: f64) -> Value {
    if value == f64::INFINITY {
        Value::from("inf")
    } else if value == f64::NEG_INFINITY {
        Value::from("-inf")
    } else {
        // NaN becomes null.
        Value::from(value)
    }
}

/// A number, or `null` when it is not defined.
pub(super) fn defined(value: Option<f64>) -> Value {
    value.map_or(Value::Null, number)
}

/// A list of numbers.
pub(super) fn numbers(values: impl IntoIterator<Item = f64>) -> Value {
    values.into_iter().map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_json_cannot_say_is_said_in_words() {
        assert_eq!(number(f64::INFINITY), "inf");
        assert_eq!(number(f64::NAN), Value::Null);
        assert_eq!(numbers([0.1, f64::INFINITY]).to_string(), r#"[0.1,"inf"]"#);
    }
}
