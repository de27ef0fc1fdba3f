//! Parses and formats time spans: `14d`, `3y`, `12h`, `2 weeks`. A year is 365.25 days, a month a twelfth
//! of it.
//!
//! # Promises
//! - Every text gives a span or a message that says what is wrong and how to write it; none panics.
//! - An accepted span is finite and more than zero.

use freshet_theory::units::{MINUTES_PER_DAY, SECONDS_PER_DAY};

/// Time units in days. Messages show the first spelling of each.
const UNITS: [(&[&str], f64); 7] = [
    (&["s", "sec", "secs", "second", "seconds"], 1.0 / SECONDS_PER_DAY),
    (&["min", "mins", "minute", "minutes"], 1.0 / MINUTES_PER_DAY),
    (&["h", "hr", "hour", "hours"], 1.0 / 24.0),
    (&["d", "day", "days"], 1.0),
    (&["w", "wk", "week", "weeks"], 7.0),
    (&["month", "months"], 365.25 / 12.0),
    (&["y", "yr", "year", "years"], 365.25),
];

/// Maximum span, in days: some 2,700 years.
const DAYS_MAX: f64 = 1e6;

/// Days of a unit of time, if it is one; case and outer blanks do not count.
pub(crate) fn days_of(unit: &str) -> Option<f64> {
    let lower = unit.trim().to_lowercase();
    UNITS.iter().find(|(spellings, _)| spellings.contains(&lower.as_str())).map(|(_, days)| *days)
}

/// The units of time, for messages.
pub(crate) fn known_units() -> String {
    UNITS.map(|(spellings, _)| spellings[0]).join(", ")
}

/// Parses a span to days.
pub(crate) fn parse_days(text: &str) -> Result<f64, String> {
    let unit_start = text.find(|letter: char| letter.is_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_start);
    let Ok(number) = number.trim().parse::<f64>() else {
        return Err("it is not a span of time; write a number and a unit, such as 14d or 3y".to_owned());
    };
    let Some(days) = days_of(unit) else {
        return Err(format!("it needs a unit of time, one of {}; such as 14d or 3y", known_units()));
    };
    let days = number * days;
    match days {
        _ if days <= 0.0 || days.is_nan() => {
            Err("it is empty; give a span of more than zero, such as 14d".to_owned())
        }
        _ if days > DAYS_MAX => Err(format!("it is longer than {DAYS_MAX} days")),
        _ => Ok(days),
    }
}

/// Formats a span in words: `3 years`, `14 days`, `12 hours`.
pub(crate) fn written(days: f64) -> String {
    /// Maximum count of a unit, except for days. Larger counts are hard to imagine.
    const COUNT_MAX: f64 = 100.0;
    let choices = [(365.25, "year"), (1.0, "day"), (1.0 / 24.0, "hour"), (1.0 / MINUTES_PER_DAY, "minute")];
    let whole = |unit: f64| {
        let count = days / unit;
        let is_small = unit == 1.0 || count <= COUNT_MAX;
        (is_small && count >= 1.0 && (count - count.round()).abs() < 1e-6).then_some(count.round())
    };
    for (unit, name) in choices {
        if let Some(count) = whole(unit) {
            return if count == 1.0 { format!("1 {name}") } else { format!("{count} {name}s") };
        }
    }
    match choices.iter().find(|(unit, _)| days >= *unit && *unit <= 1.0) {
        Some((unit, name)) => format!("{:.3} {name}s", days / unit),
        None => format!("{:.3} seconds", days * SECONDS_PER_DAY),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_in_days() {
        for (text, days) in
            [("14d", 14.0), ("3y", 1095.75), ("2 weeks", 14.0), ("12h", 0.5), ("1.5D", 1.5), ("43200s", 0.5)]
        {
            assert_eq!(parse_days(text), Ok(days), "{text}");
        }
    }

    #[test]
    fn what_is_no_span_says_what_to_write() {
        for (text, word) in [
            ("14", "unit of time"),
            ("d", "not a span"),
            ("", "not a span"),
            ("-3d", "empty"),
            ("0d", "empty"),
            ("3 lunes", "one of s, min"),
            ("9999999y", "longer than"),
            ("infy", "not a span"),
        ] {
            let error = parse_days(text).expect_err(text);
            assert!(error.contains(word), "{text}: {error}");
        }
    }

    #[test]
    fn spans_are_written_in_the_largest_whole_unit() {
        for (days, text) in [
            (1095.75, "3 years"),
            (14.0, "14 days"),
            (1.0, "1 day"),
            (0.5, "12 hours"),
            (1.30001, "1.300 days"),
            (400.001, "400.001 days"),
            (7910.0 / MINUTES_PER_DAY, "5.493 days"),
            (0.1001, "2.402 hours"),
            (0.0001, "8.640 seconds"),
        ] {
            assert_eq!(written(days), text);
        }
    }
}
