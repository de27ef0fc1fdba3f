//! Calls of functions, for the tests of each family.

use std::borrow::Borrow;

use serde_json::Value;

use super::answer::Answer;
use super::arguments::Arguments;
use super::functions;

/// The answer of a function.
pub(super) fn call(name: &str, args: impl Borrow<Value>) -> Answer {
    let function = functions().find(|function| function.name == name).expect("the function is there");
    let args = args.borrow().as_object().expect("arguments are an object");
    (function.evaluate)(&Arguments::new(args))
}

/// Holds an answer against the right one.
#[track_caller]
pub(super) fn check(name: &str, args: impl Borrow<Value>, expected: Value) {
    assert_eq!(call(name, args.borrow()), Ok(expected), "{name} {}", args.borrow());
}

/// Checks that a call is wrong, and that the answer says so with this word.
#[track_caller]
pub(super) fn check_error(name: &str, args: impl Borrow<Value>, word: &str) {
    let error = call(name, args).expect_err("the call is wrong");
    assert!(error.contains(word), "{error}");
}

/// Replaces the value at a place, counted from the outside in, by another.
pub(super) fn replace(value: &mut Value, place: &mut usize, other: &Value) {
    if *place == 0 {
        *value = other.clone();
    }
    *place = place.wrapping_sub(1);
    match value {
        Value::Array(list) => list.iter_mut().for_each(|element| replace(element, place, other)),
        Value::Object(members) => members.values_mut().for_each(|member| replace(member, place, other)),
        _ => {}
    }
}
