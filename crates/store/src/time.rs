//! Moments, as every file of ours writes them: milliseconds since 1970 began (UTC).
//!
//! A crawl may run faster than the clock on the wall, for the lab: then these are moments of its own time.

use freshet_theory::units::Days;

/// Milliseconds of one day.
const DAY: f64 = 86_400_000.0;

/// A moment, to the millisecond.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The moment so many milliseconds after 1970 began (UTC).
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since 1970 began (UTC).
    pub const fn millis(self) -> i64 {
        self.0
    }

    /// The moment `millis` later, or as late as can be told.
    pub const fn plus_millis(self, millis: i64) -> Self {
        Self(self.0.saturating_add(millis))
    }

    /// Milliseconds from `earlier` to this moment; negative if it is not earlier.
    pub const fn millis_since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }

    /// Days from `earlier` to this moment, never negative.
    pub fn days_since(self, earlier: Self) -> Days {
        Days::new(self.millis_since(earlier).max(0) as f64 / DAY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_counted_and_no_span_is_negative() {
        let noon = Timestamp::from_millis(1_700_000_000_000);
        assert_eq!(noon.plus_millis(86_400_000).days_since(noon).get(), 1.0);
        assert_eq!(noon.days_since(noon.plus_millis(1)).get(), 0.0);
        assert_eq!(Timestamp::from_millis(i64::MAX).plus_millis(1).millis(), i64::MAX);
    }
}
