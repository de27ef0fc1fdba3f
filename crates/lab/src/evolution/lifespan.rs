//! Lifespans: how long pages exist.
//!
//! **thesis**, section 4.4, Figures 4.3 and 4.4: if a page appeared and disappeared within the window, its
//! visible lifespan is known. If it existed when the window opened, or when it closed, only a part `s` is
//! seen: method 1 takes `s` as the lifespan, method 2 takes `2s`.
//!
//! # Promises
//! - The fractions of all bars add up to one for either method. Method 2 never gives a shorter life than
//!   method 1.
//!
//! # Departures
//! None. A page that came back after a deletion is two pages, as everywhere in a window of a history.

use super::change_interval::MONTH;
use super::daily::DailyPage;

/// The bars of Figure 4.4: a name, and the longest lifespan in days.
pub const BARS: [(&str, f64); 4] = [
    ("up to 1 week", 7.0),
    ("1 week to 1 month", MONTH),
    ("1 to 4 months", 4.0 * MONTH),
    ("over 4 months", f64::INFINITY),
];

/// Distribution of lifespans.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lifespans {
    /// Fraction of the pages in each of [`BARS`], by the visible part of the life.
    pub method_1: [f64; BARS.len()],
    /// The same with twice the visible part where the life began before the window or continued after it.
    pub method_2: [f64; BARS.len()],
    /// Fraction of the pages whose whole life was seen.
    pub whole: f64,
}

impl Lifespans {
    /// Sorts the pages of a window of `window_days` days into bars. Panics without pages.
    pub fn of(pages: &[DailyPage], window_days: f64) -> Self {
        assert!(!pages.is_empty());
        let part = 1.0 / pages.len() as f64;
        let mut lifespans = Self { method_1: [0.0; BARS.len()], method_2: [0.0; BARS.len()], whole: 0.0 };
        for page in pages {
            let is_whole = 0.0 < page.first && page.last < window_days;
            let seen = page.days();
            let guess = if is_whole { seen } else { 2.0 * seen };
            lifespans.method_1[bar_of(seen)] += part;
            lifespans.method_2[bar_of(guess)] += part;
            lifespans.whole += if is_whole { part } else { 0.0 };
        }
        lifespans
    }
}

fn bar_of(days: f64) -> usize {
    BARS.iter().position(|(_, longest)| days <= *longest).expect("the last bar has no end")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(first: f64, last: f64) -> DailyPage {
        DailyPage { first, last, changes: Vec::new() }
    }

    #[test]
    fn a_life_that_was_not_seen_whole_counts_twice_by_method_2() {
        // As in Figure 4.3: cut at the beginning, seen whole, cut at the end, cut at both.
        let pages = [page(0.0, 6.0), page(10.0, 16.0), page(114.0, 120.0), page(0.0, 120.0)];
        let lifespans = Lifespans::of(&pages, 120.0);
        assert_eq!(lifespans.method_1, [0.75, 0.0, 0.25, 0.0]);
        assert_eq!(lifespans.method_2, [0.25, 0.5, 0.0, 0.25]);
        assert_eq!(lifespans.whole, 0.25);
    }
}
