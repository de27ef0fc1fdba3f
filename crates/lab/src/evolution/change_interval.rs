//! Change intervals: how often pages change.
//!
//! **thesis**, section 4.3: the average change interval of a page is the time it was observed, divided by the
//! number of changes that daily visits saw. Figure 4.2 shows the fraction of pages with intervals in each of
//! [`BARS`]. Pages that did not change are in the last bar. For a crude mean the text assumes that a page of
//! the first bar changes every day and one of the last bar every year.
//!
//! # Promises
//! - The fractions of all bars add up to one.
//! - The crude mean is between a day and a year, whatever the window.
//!
//! # Departures
//! The text's window of four months cannot distinguish slower pages. With a longer window they have intervals
//! of their own, but a page that changed once in three years is still in the last bar.

use super::daily::DailyPage;

/// Days per month: a third of a season.
pub const MONTH: f64 = 365.25 / 12.0;

/// The bars of Figure 4.2: a name, and the longest interval in days.
pub const BARS: [(&str, f64); 5] = [
    ("up to 1 day", 1.0),
    ("1 day to 1 week", 7.0),
    ("1 week to 1 month", MONTH),
    ("1 to 4 months", 4.0 * MONTH),
    ("over 4 months", f64::INFINITY),
];

/// Interval in days that the crude mean assumes for pages of the last bar.
const YEAR: f64 = 365.25;

/// Distribution of change intervals.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangeIntervals {
    /// Fraction of the pages in each of [`BARS`].
    pub bars: [f64; BARS.len()],
    /// Fraction of the pages that never changed. They are in the last bar too.
    pub never: f64,
    /// Mean interval in days, estimated as in the text.
    pub crude_mean_days: f64,
    /// Median interval in days. `None` if half of the pages never changed.
    pub median_days: Option<f64>,
}

impl ChangeIntervals {
    /// Sorts pages into bars. Panics without pages.
    pub fn of(pages: &[DailyPage]) -> Self {
        assert!(!pages.is_empty());
        let part = 1.0 / pages.len() as f64;
        let mut intervals: Vec<f64> =
            pages.iter().map(|page| page.mean_interval().unwrap_or(f64::INFINITY)).collect();
        intervals.sort_unstable_by(f64::total_cmp);
        let mut bars = [0.0; BARS.len()];
        let (mut never, mut sum) = (0.0, 0.0);
        for interval in &intervals {
            let bar = bar_of(*interval);
            bars[bar] += part;
            never += if interval.is_infinite() { part } else { 0.0 };
            sum += if bar + 1 == BARS.len() { YEAR } else { interval.max(1.0) };
        }
        let median = intervals[intervals.len() / 2];
        Self { bars, never, crude_mean_days: sum * part, median_days: median.is_finite().then_some(median) }
    }
}

fn bar_of(interval: f64) -> usize {
    BARS.iter().position(|(_, longest)| interval <= *longest).expect("the last bar has no end")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pages observed for 120 days, with these numbers of changes.
    fn pages(changes: &[u32]) -> Vec<DailyPage> {
        let page = |count: &u32| DailyPage {
            first: 0.0,
            last: 120.0,
            changes: (0..*count).map(|day| f64::from(day) + 0.5).collect(),
        };
        changes.iter().map(page).collect()
    }

    #[test]
    fn pages_stand_in_the_bars_of_their_intervals() {
        // The text: a page that changed 5 times in 50 days changes every 10 days.
        let intervals = ChangeIntervals::of(&pages(&[120, 119, 20, 12, 4, 3, 1, 0]));
        let counts = intervals.bars.map(|part| (part * 8.0).round() as u32);
        assert_eq!(counts, [1, 2, 2, 2, 1]);
        assert_eq!((intervals.never, intervals.median_days), (0.125, Some(30.0)));
        assert!((intervals.bars.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_crude_mean_takes_still_pages_to_change_every_year() {
        assert_eq!(ChangeIntervals::of(&pages(&[0, 0])).crude_mean_days, 365.25);
        assert_eq!(ChangeIntervals::of(&pages(&[120, 12])).crude_mean_days, 5.5);
        assert_eq!(ChangeIntervals::of(&pages(&[0, 0, 5])).median_days, None);
    }
}
