//! Parses frequencies such as `10000/day`, `1/s`, `1/90d` or `20k/h`, and formats numbers for people.
//!
//! A frequency is a count, a slash and a time span. The count may end in `k`, `M` or `G`; the span may begin
//! with a number. A month is a twelfth of a year and a year is 365.25 days.
//!
//! # Promises
//! - Every text gives a frequency or a message that says what is wrong and how to write it; none panics.
//! - An accepted frequency is finite and more than zero.
//! - The units are exact: `1/s` is 86,400 a day.

pub(crate) use freshet_lab::figure::number::{grouped, readable};
use freshet_theory::units::{Days, MINUTES_PER_DAY, SECONDS_PER_DAY, VisitsPerDay};

use crate::span::{days_of, known_units};

/// Examples of frequencies, for messages.
const EXAMPLES: &str = "write a count per time span, such as 10000/day, 20k/h, 1/s or 1/90d";

/// Maximum frequency, in visits a day. Far beyond any crawl, and low enough that sums over pages stay finite.
const VISITS_PER_DAY_MAX: f64 = 1e15;

/// Minimum frequency, in visits a day: one visit in some 2.7 billion years.
const VISITS_PER_DAY_MIN: f64 = 1e-12;

/// Multiples that a count may end in.
const MULTIPLES: [(char, f64); 4] = [('k', 1e3), ('K', 1e3), ('M', 1e6), ('G', 1e9)];

/// Parses a frequency, or says what is wrong with it.
pub(crate) fn parse_frequency(text: &str) -> Result<VisitsPerDay, String> {
    let (count, span) = text
        .split_once('/')
        .or_else(|| text.split_once(" per "))
        .ok_or_else(|| format!("{text:?} does not say per what; {EXAMPLES}"))?;
    let visits_per_day = parse_count(count.trim())? / parse_span(span.trim())?;
    if visits_per_day > VISITS_PER_DAY_MAX {
        return Err(format!("{text:?} is more than {VISITS_PER_DAY_MAX:e} a day"));
    }
    if visits_per_day < VISITS_PER_DAY_MIN {
        return Err(format!("{text:?} is less than {VISITS_PER_DAY_MIN:e} a day"));
    }
    Ok(VisitsPerDay::new(visits_per_day))
}

fn parse_count(text: &str) -> Result<f64, String> {
    let (digits, factor) = MULTIPLES
        .iter()
        .find_map(|(letter, factor)| Some((text.strip_suffix(*letter)?.trim_end(), *factor)))
        .unwrap_or((text, 1.0));
    positive(digits).map(|count| count * factor).ok_or_else(|| not_a_count(text))
}

fn not_a_count(text: &str) -> String {
    let hint = match text {
        _ if text.contains(',') => "leave out the commas",
        _ if text.ends_with('m') => "a million is written M",
        _ if text.parse::<f64>().is_ok_and(|number| number <= 0.0) => "it must be more than zero",
        _ => EXAMPLES,
    };
    format!("{text:?} is not a count; {hint}")
}

/// Parses a span such as `day`, `90d` or `1.5 weeks` to days.
fn parse_span(text: &str) -> Result<f64, String> {
    let unit_start = text.find(|letter: char| letter.is_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_start);
    let Some(days) = days_of(unit) else {
        let is_m = unit.to_lowercase() == "m";
        let hint = if is_m { "write min or month" } else { &format!("known are {}", known_units()) };
        return Err(format!("{unit:?} is not a unit of time; {hint}"));
    };
    let number = number.trim();
    let number = if number.is_empty() { Some(1.0) } else { positive(number) };
    number.map(|number| number * days).ok_or_else(|| format!("{text:?} is not a time span; {EXAMPLES}"))
}

/// Parses a plain decimal number above zero. Underscores may group its digits.
fn positive(text: &str) -> Option<f64> {
    let plain = |letter: char| letter.is_ascii_digit() || "._eE+-".contains(letter);
    if !text.starts_with(|first: char| first.is_ascii_digit() || first == '.') || !text.chars().all(plain) {
        return None;
    }
    let number: f64 = text.replace('_', "").parse().ok()?;
    (number > 0.0 && number.is_finite()).then_some(number)
}

/// Formats a time span in the unit that suits its size: `14 min`, `5.2 h`, `3.1 days`, `2.4 years`.
pub(crate) fn readable_span(span: Days) -> String {
    let days = span.get();
    let (number, unit) = match days {
        _ if days.is_infinite() => return "∞".to_owned(),
        _ if days == 0.0 => return "0".to_owned(),
        _ if days < 1.0 / MINUTES_PER_DAY => (days * SECONDS_PER_DAY, "s"),
        _ if days < 1.0 / 24.0 => (days * MINUTES_PER_DAY, "min"),
        _ if days < 1.0 => (days * 24.0, "h"),
        _ if days < 730.5 => (days, "days"),
        _ => (days / 365.25, "years"),
    };
    format!("{} {unit}", readable(number))
}

/// Formats a freshness with four decimals: `0.7123`.
pub(crate) fn share(share: f64) -> String {
    format!("{share:.4}")
}

/// Formats a number of visits a day: `10,000 visits a day`.
pub(crate) fn visits_a_day(visits: f64) -> String {
    let noun = if visits == 1.0 { "visit" } else { "visits" };
    format!("{} {noun} a day", readable(visits))
}

/// Formats a share in percent: `71.2 %`.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// The form of a noun or verb that agrees with a count.
pub(crate) fn plural(count: usize, one: &'static str, many: &'static str) -> &'static str {
    if count == 1 { one } else { many }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, visits_per_day: f64) {
        let frequency = parse_frequency(text).expect("a frequency").get();
        assert!((frequency / visits_per_day - 1.0).abs() < 1e-12, "{text} is {frequency}");
    }

    #[track_caller]
    fn check_error(text: &str, hint: &str) {
        let message = parse_frequency(text).expect_err("no frequency");
        assert!(message.contains(hint), "{text}: {message}");
    }

    #[test]
    fn a_frequency_is_a_count_per_span() {
        check("10000/day", 10_000.0);
        check("1/s", 86_400.0);
        check("1/90d", 1.0 / 90.0);
        check("20k/h", 480_000.0);
        check("1.5M/week", 1.5e6 / 7.0);
        check("2 per 10 min", 288.0);
        check("12/year", 12.0 / 365.25);
        check("1/month", 12.0 / 365.25);
        check(" 1_000 / 2 Days ", 500.0);
        check("1e3/d", 1_000.0);
    }

    #[test]
    fn a_wrong_frequency_says_how_to_write_it() {
        check_error("10000", "per what");
        check_error("", "per what");
        check_error("10,000/day", "commas");
        check_error("20m/h", "million");
        check_error("20/m", "min or month");
        check_error("20/fortnight", "known are s, min, h, d, w, month, y");
        check_error("20/", "unit of time");
        check_error("/day", "10000/day");
        check_error("x/day", "10000/day");
        check_error("10kk/day", "10000/day");
        check_error("0/day", "more than zero");
        check_error("-3/day", "more than zero");
        check_error("1/0d", "time span");
        check_error("nan/day", "10000/day");
        check_error("inf/day", "10000/day");
        check_error("1e300/s", "more than 1e15");
        check_error("1e-300/y", "less than 1e-12");
    }

    #[test]
    fn spans_read_in_the_unit_that_suits_them() {
        assert_eq!(readable_span(Days::new(0.01)), "14.4 min");
        assert_eq!(readable_span(Days::new(0.5)), "12 h");
        assert_eq!(readable_span(Days::new(30.0)), "30 days");
        assert_eq!(readable_span(Days::new(3_652.5)), "10 years");
        assert_eq!(readable_span(Days::FOREVER), "∞");
    }

    proptest! {
        #[test]
        fn no_text_panics_and_what_is_accepted_is_positive(
            text in "\\PC{0,12}|[0-9.kMGe+-]{0,8}/[0-9.]{0,4}[a-z]{0,5}"
        ) {
            if let Ok(frequency) = parse_frequency(&text) {
                prop_assert!(frequency.get() > 0.0);
            }
        }
    }
}
