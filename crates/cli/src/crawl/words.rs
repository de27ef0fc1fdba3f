//! Formats times, amounts and shares for people.

use freshet_theory::units::{MINUTES_PER_DAY, SECONDS_PER_DAY};
use jiff::Timestamp;

/// Formats a time, in UTC to the second.
pub(super) fn moment(millis: i64) -> String {
    Timestamp::from_millisecond(millis)
        .map_or_else(|_| millis.to_string(), |time| time.strftime("%Y-%m-%d %H:%M:%S").to_string())
}

/// Formats an amount of bytes.
pub(super) fn bytes(amount: u64) -> String {
    let units = ["B", "kB", "MB", "GB", "TB"];
    let (mut value, mut unit) = (amount as f64, 0);
    while value >= 1000.0 && unit + 1 < units.len() {
        value /= 1000.0;
        unit += 1;
    }
    if unit == 0 { format!("{amount} B") } else { format!("{value:.1} {}", units[unit]) }
}

/// Formats a span of days, in the unit that fits.
pub(crate) fn span(days: f64) -> String {
    match days {
        days if days >= 2.0 => format!("{days:.1} days"),
        days if days >= 2.0 / 24.0 => format!("{:.1} hours", days * 24.0),
        days if days >= 2.0 / MINUTES_PER_DAY => format!("{:.1} minutes", days * MINUTES_PER_DAY),
        days => format!("{:.1} seconds", days * SECONDS_PER_DAY),
    }
}

/// Formats a count with its thousands separated.
pub(super) fn count(number: u64) -> String {
    crate::plan::quantity::grouped(usize::try_from(number).unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_written_in_the_unit_that_fits() {
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(1_500_000), "1.5 MB");
        assert_eq!(span(0.5), "12.0 hours");
        assert_eq!(span(3.0), "3.0 days");
        assert_eq!(moment(0), "1970-01-01 00:00:00");
    }
}
