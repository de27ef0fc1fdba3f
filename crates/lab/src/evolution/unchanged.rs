//! How long until half of the pages changed.
//!
//! **thesis**, section 4.5, Figure 4.5: of the pages that existed when the window opened, the fraction that
//! did not change or disappear by each day, and the day on which it falls to one half.
//!
//! # Promises
//! - The curve begins at one and never rises.
//! - The half time is exact, not a point of the curve.

use super::daily::DailyPage;

/// The curve, and when it falls to one half.
#[derive(Clone, Debug, PartialEq)]
pub struct Unchanged {
    /// Number of pages that existed when the window opened.
    pub pages: usize,
    /// Day, and the fraction of the pages unchanged until then.
    pub curve: Vec<(f64, f64)>,
    /// Days until half of the pages had changed or disappeared. `None` if that takes longer than the window.
    pub half_days: Option<f64>,
}

/// Number of points of the curve besides the first.
const POINTS: usize = 120;

impl Unchanged {
    /// Follows the pages that existed when a window of `window_days` days opened.
    pub fn of(pages: &[DailyPage], window_days: f64) -> Self {
        let end = |page: &DailyPage| {
            let gone = if page.last < window_days { page.last } else { f64::INFINITY };
            page.changes.first().copied().unwrap_or(f64::INFINITY).min(gone)
        };
        let mut ends: Vec<f64> = pages.iter().filter(|page| page.first <= 0.0).map(end).collect();
        ends.sort_unstable_by(f64::total_cmp);
        let count = ends.len();
        let left = |day: f64| 1.0 - ends.partition_point(|end| *end <= day) as f64 / count.max(1) as f64;
        let day = |point: usize| window_days * point as f64 / POINTS as f64;
        let half = count.checked_sub(1).map_or(f64::INFINITY, |last| ends[last / 2]);
        Self {
            pages: count,
            curve: (0..=POINTS).map(|point| (day(point), left(day(point)))).collect(),
            half_days: half.is_finite().then_some(half),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_counts_until_it_changes_or_goes() {
        let page =
            |first: f64, last: f64, changes: &[f64]| DailyPage { first, last, changes: changes.to_vec() };
        let pages = [
            page(0.0, 120.0, &[30.0, 31.0]),
            page(0.0, 60.0, &[]),
            page(0.0, 120.0, &[]),
            page(0.0, 120.0, &[90.0]),
            page(50.0, 120.0, &[51.0]),
        ];
        let unchanged = Unchanged::of(&pages, 120.0);
        assert_eq!((unchanged.pages, unchanged.half_days), (4, Some(60.0)));
        let at = |day: f64| unchanged.curve.iter().find(|point| point.0 == day).expect("a day").1;
        assert_eq!((at(0.0), at(29.0), at(30.0), at(60.0), at(120.0)), (1.0, 1.0, 0.75, 0.5, 0.25));
        assert!(unchanged.curve.windows(2).all(|pair| pair[1].1 <= pair[0].1));
        assert_eq!(Unchanged::of(&pages[2..3], 120.0).half_days, None);
    }
}
