//! The arguments of a call: read by name, checked by type, and named in error messages.
//!
//! An argument is read as a type that guarantees what its formula needs ([`NonNegative`], [`Positive`],
//! [`Count`]), so no formula sees invalid input. Conditions on two arguments are checked where they are used.

use std::collections::BTreeMap;

use freshet_theory::units::{ChangesPerDay, Days, VisitsPerDay};
use serde_json::{Map, Value};

/// The arguments of one call.
pub(super) struct Arguments<'a> {
    by_name: &'a Map<String, Value>,
}

impl<'a> Arguments<'a> {
    /// Reads from the `args` of a call.
    pub(super) fn new(by_name: &'a Map<String, Value>) -> Self {
        Self { by_name }
    }

    /// A required argument.
    pub(super) fn get<T: Argument>(&self, name: &str) -> Result<T, String> {
        self.optional(name)?.ok_or_else(|| format!("argument `{name}` is missing"))
    }

    /// An argument with a default.
    pub(super) fn get_or<T: Argument>(&self, name: &str, default: T) -> Result<T, String> {
        Ok(self.optional(name)?.unwrap_or(default))
    }

    /// An argument that may be missing or `null`.
    pub(super) fn optional<T: Argument>(&self, name: &str) -> Result<Option<T>, String> {
        match self.by_name.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => T::read(value).map(Some).map_err(|wrong| format!("argument `{name}`: {wrong}")),
        }
    }

    /// One of several words. Without a default word the argument is required.
    pub(super) fn choice<T: Copy>(
        &self,
        name: &str,
        choices: &[(&str, T)],
        default: Option<&str>,
    ) -> Result<T, String> {
        let given: Option<String> = self.optional(name)?;
        let word = given.as_deref().or(default).ok_or_else(|| format!("argument `{name}` is missing"))?;
        choices.iter().find(|(choice, _)| *choice == word).map(|(_, meaning)| *meaning).ok_or_else(|| {
            let words: Vec<_> = choices.iter().map(|(choice, _)| *choice).collect();
            format!("argument `{name}`: {word:?} is none of {}", words.join(", "))
        })
    }

    /// Numbers that all have a property.
    pub(super) fn numbers<T: Argument + Into<f64>>(&self, name: &str) -> Result<Vec<f64>, String> {
        Ok(self.get::<Vec<T>>(name)?.into_iter().map(Into::into).collect())
    }

    /// The elements of a list of objects, each with its own arguments.
    pub(super) fn objects<T>(
        &self,
        name: &str,
        read: impl Fn(&Arguments<'_>) -> Result<T, String>,
    ) -> Result<Vec<T>, String> {
        let list = self.by_name.get(name).ok_or_else(|| format!("argument `{name}` is missing"))?;
        let list =
            list.as_array().ok_or_else(|| format!("argument `{name}`: {}", expected("a list", list)))?;
        let element = |(index, value): (usize, &Value)| {
            let object = value.as_object().ok_or_else(|| expected("an object", value));
            object
                .and_then(|object| read(&Arguments::new(object)))
                .map_err(|wrong| format!("argument `{name}`: element {index}: {wrong}"))
        };
        list.iter().enumerate().map(element).collect()
    }
}

/// A type that an argument can be read as.
pub(super) trait Argument: Sized {
    /// Parses the value, or says what is wrong with it.
    fn read(value: &Value) -> Result<Self, String>;
}

/// A finite number.
impl Argument for f64 {
    fn read(value: &Value) -> Result<Self, String> {
        value.as_f64().filter(|number| number.is_finite()).ok_or_else(|| expected("a number", value))
    }
}

/// A finite number of at least zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct NonNegative(pub(super) f64);

impl Argument for NonNegative {
    fn read(value: &Value) -> Result<Self, String> {
        // Adding zero turns −0 into 0.
        number_that(|number| number >= 0.0, "negative", value).map(|number| Self(number + 0.0))
    }
}

/// A finite number above zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Positive(pub(super) f64);

impl Argument for Positive {
    fn read(value: &Value) -> Result<Self, String> {
        number_that(|number| number > 0.0, "not above zero", value).map(Self)
    }
}

/// A whole number of at least zero that a double represents exactly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Count(pub(super) u64);

impl Argument for Count {
    fn read(value: &Value) -> Result<Self, String> {
        let is_count = |number: f64| number.fract() == 0.0 && (0.0..=EXACT_MAX).contains(&number);
        number_that(is_count, "no whole number from 0 to 2^53", value).map(|number| Self(number as u64))
    }
}

impl From<NonNegative> for f64 {
    fn from(number: NonNegative) -> Self {
        number.0
    }
}

/// The greatest number up to which a double holds every whole number.
pub(super) const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// A finite number that has a property, or in which way it has not.
pub(super) fn number_that(
    holds: impl Fn(f64) -> bool,
    otherwise_is: &str,
    value: &Value,
) -> Result<f64, String> {
    let number = f64::read(value)?;
    if holds(number) { Ok(number) } else { Err(format!("{number} is {otherwise_is}")) }
}

impl Argument for ChangesPerDay {
    fn read(value: &Value) -> Result<Self, String> {
        NonNegative::read(value).map(|NonNegative(number)| Self::new(number))
    }
}

impl Argument for VisitsPerDay {
    fn read(value: &Value) -> Result<Self, String> {
        NonNegative::read(value).map(|NonNegative(number)| Self::new(number))
    }
}

impl Argument for Days {
    fn read(value: &Value) -> Result<Self, String> {
        NonNegative::read(value).map(|NonNegative(number)| Self::new(number))
    }
}

impl Argument for bool {
    fn read(value: &Value) -> Result<Self, String> {
        value.as_bool().ok_or_else(|| expected("true or false", value))
    }
}

impl Argument for String {
    fn read(value: &Value) -> Result<Self, String> {
        value.as_str().map(str::to_owned).ok_or_else(|| expected("a string", value))
    }
}

/// The name of a page: a string or a number as it stands in JSON, so `"1"` and `1` are two names.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(super) struct Id(String);

impl Argument for Id {
    fn read(value: &Value) -> Result<Self, String> {
        match value {
            Value::String(_) | Value::Number(_) => Ok(Self(value.to_string())),
            _ => Err(expected("a string or a number", value)),
        }
    }
}

impl<T: Argument> Argument for Vec<T> {
    fn read(value: &Value) -> Result<Self, String> {
        let list = value.as_array().ok_or_else(|| expected("a list", value))?;
        let element = |(index, value)| T::read(value).map_err(|wrong| format!("element {index}: {wrong}"));
        list.iter().enumerate().map(element).collect()
    }
}

/// A pair, given as a list of two.
impl<A: Argument, B: Argument> Argument for (A, B) {
    fn read(value: &Value) -> Result<Self, String> {
        match value.as_array().map(Vec::as_slice) {
            Some([first, second]) => Ok((A::read(first)?, B::read(second)?)),
            _ => Err(expected("a list of two", value)),
        }
    }
}

impl<T: Argument> Argument for BTreeMap<String, T> {
    fn read(value: &Value) -> Result<Self, String> {
        let object = value.as_object().ok_or_else(|| expected("an object", value))?;
        let member = |(name, value): (&String, _)| {
            T::read(value)
                .map(|value| (name.clone(), value))
                .map_err(|wrong| format!("member {name:?}: {wrong}"))
        };
        object.iter().map(member).collect()
    }
}

/// Says what was expected and which kind of value was given.
fn expected(what: &str, value: &Value) -> String {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    format!("expected {what}, got {kind}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check_wrong<T: Argument + std::fmt::Debug>(value: Value, message: &str) {
        let by_name = Map::from_iter([("x".to_owned(), value)]);
        let error = Arguments::new(&by_name).get::<T>("x").expect_err("the argument is wrong");
        assert_eq!(error, format!("argument `x`{message}"));
    }

    #[test]
    fn what_is_wrong_is_named() {
        check_wrong::<f64>(json!("1"), ": expected a number, got a string");
        check_wrong::<f64>(json!(null), " is missing");
        check_wrong::<NonNegative>(json!(-1), ": -1 is negative");
        check_wrong::<Positive>(json!(0), ": 0 is not above zero");
        check_wrong::<Count>(json!(1.5), ": 1.5 is no whole number from 0 to 2^53");
        check_wrong::<Vec<bool>>(json!([true, 1]), ": element 1: expected true or false, got a number");
        check_wrong::<(f64, f64)>(json!([1]), ": expected a list of two, got a list");
        check_wrong::<BTreeMap<String, Count>>(
            json!({"a": -1}),
            ": member \"a\": -1 is no whole number from 0 to 2^53",
        );
    }

    #[test]
    fn a_whole_number_may_be_written_with_a_point() {
        let by_name = Map::from_iter([("n".to_owned(), json!(10.0))]);
        assert_eq!(Arguments::new(&by_name).get::<Count>("n"), Ok(Count(10)));
    }
}
