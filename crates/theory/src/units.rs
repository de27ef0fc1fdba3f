//! Units as types: change rates, visit frequencies and time spans that must not be mixed up.
//!
//! The texts write λ, f and I; here they are [`ChangesPerDay`], [`VisitsPerDay`] and [`Days`]. The
//! formulas hold in any unit of time as long as all quantities use the same one: the types say *day*
//! because a crawl is planned in days.
//!
//! # Promises
//! - A rate or a frequency is finite and never negative.
//! - A time span is never negative and never NaN; it may be infinite (the age of a copy
//!   that is never refreshed).

/// Minutes of one day.
pub const MINUTES_PER_DAY: f64 = 1_440.0;
/// Seconds of one day.
pub const SECONDS_PER_DAY: f64 = 86_400.0;
/// Milliseconds of one day.
pub const MILLIS_PER_DAY: f64 = 86_400_000.0;

/// How often a page changes: the λ of its process, in changes per day. Finite and never negative.
///
/// Zero means that no change is expected.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
#[repr(transparent)]
pub struct ChangesPerDay(f64);

impl ChangesPerDay {
    /// No change is ever expected.
    pub const ZERO: Self = Self(0.0);

    /// Panics unless the rate is finite and not negative.
    #[inline]
    pub fn new(changes_per_day: f64) -> Self {
        assert!(changes_per_day.is_finite());
        assert!(0.0 <= changes_per_day);
        Self(changes_per_day)
    }

    /// Changes per day as a number.
    #[inline]
    pub fn get(self) -> f64 {
        self.0
    }
}

/// How often we visit a page: the f of the texts, in visits per day. Finite and never negative.
///
/// The sum over all pages is the visit budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
#[repr(transparent)]
pub struct VisitsPerDay(f64);

impl VisitsPerDay {
    /// The page is never visited.
    pub const ZERO: Self = Self(0.0);

    /// Panics unless the frequency is finite and not negative.
    #[inline]
    pub fn new(visits_per_day: f64) -> Self {
        assert!(visits_per_day.is_finite());
        assert!(0.0 <= visits_per_day);
        Self(visits_per_day)
    }

    /// Visits per day as a number.
    #[inline]
    pub fn get(self) -> f64 {
        self.0
    }
}

/// A span of time in days: an interval between visits, or an age. Never negative,
/// never NaN, possibly infinite.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
#[repr(transparent)]
pub struct Days(f64);

impl Days {
    /// A span of length zero.
    pub const ZERO: Self = Self(0.0);

    /// Infinite: the age of a copy that is never refreshed.
    pub const FOREVER: Self = Self(f64::INFINITY);

    /// Panics if the span is negative or NaN.
    #[inline]
    pub fn new(days: f64) -> Self {
        assert!(0.0 <= days);
        Self(days)
    }

    /// Days as a number.
    #[inline]
    pub fn get(self) -> f64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_of_zero_and_an_endless_age_are_ordinary() {
        assert_eq!(ChangesPerDay::new(0.0), ChangesPerDay::ZERO);
        assert_eq!(VisitsPerDay::new(0.0), VisitsPerDay::ZERO);
        assert_eq!(Days::new(f64::INFINITY), Days::FOREVER);
    }

    #[test]
    fn what_is_no_quantity_is_refused() {
        for wrong in [-1.0, f64::NAN, f64::NEG_INFINITY] {
            assert!(std::panic::catch_unwind(|| ChangesPerDay::new(wrong)).is_err());
            assert!(std::panic::catch_unwind(|| VisitsPerDay::new(wrong)).is_err());
            assert!(std::panic::catch_unwind(|| Days::new(wrong)).is_err());
        }
        assert!(std::panic::catch_unwind(|| ChangesPerDay::new(f64::INFINITY)).is_err());
        assert!(std::panic::catch_unwind(|| VisitsPerDay::new(f64::INFINITY)).is_err());
    }
}
