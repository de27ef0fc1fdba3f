//! Formats numbers for people, on axes and in tables.
//!
//! # Promises
//! - Four significant digits, grouped by thousands, without trailing zeros. Every number has a text.

/// Formats a number with four significant digits, grouped by thousands: `12,345`, `3.142`, `0.001234`, `∞`.
pub fn readable(number: f64) -> String {
    let size = number.abs();
    if size.is_infinite() {
        return if number > 0.0 { "∞" } else { "-∞" }.to_owned();
    }
    if size == 0.0 {
        return "0".to_owned();
    }
    if !(1e-4..1e15).contains(&size) {
        return format!("{number:.3e}");
    }
    // The digits before the point of a number below ten thousand count towards the four.
    let decimals = (3.0 - size.log10().floor()).max(0.0) as usize;
    let text = format!("{number:.decimals$}");
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{}{point}{fraction}", group_by_thousands(whole))
}

/// Formats a count, grouped by thousands: `1,234,567`.
pub fn grouped(count: usize) -> String {
    group_by_thousands(&count.to_string())
}

fn group_by_thousands(digits: &str) -> String {
    let mut grouped = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        let left = digits.len() - index;
        if left.is_multiple_of(3) && grouped.ends_with(|last: char| last.is_ascii_digit()) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(number: f64, text: &str) {
        assert_eq!(readable(number), text);
    }

    #[test]
    fn numbers_read_with_four_digits() {
        check(0.0, "0");
        check(1_234_567.8, "1,234,568");
        check(12_345.0, "12,345");
        check(1_234.0, "1,234");
        check(999.99, "1,000");
        check(2.34567, "2.346");
        check(2.5, "2.5");
        check(0.001_234_5, "0.001234");
        check(1.5e-9, "1.500e-9");
        check(f64::INFINITY, "∞");
        check(-1_234.0, "-1,234");
    }

    proptest! {
        #[test]
        fn every_number_is_readable(bits in any::<u64>()) {
            prop_assert!(!readable(f64::from_bits(bits)).is_empty());
        }
    }
}
