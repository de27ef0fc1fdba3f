//! An observed lifetime: the time of its end, or the time until which no end was seen (censored).
//!
//! **summary**, section 4.2: a *censored* observation only says that there was no failure while it lasted;
//! leaving it out would bias every estimate.
//!
//! # Promises
//! - A time is finite. The caller chooses its unit: nothing here depends on it.

/// A lifetime that ended, or that was still going on at the last observation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lifetime {
    time: f64,
    ended: bool,
}

impl Lifetime {
    /// The end was seen at this time. Panics unless the time is finite.
    pub fn ended_at(time: f64) -> Self {
        Self::new(time, true)
    }

    /// No end was seen up to and including this time. Panics unless the time is finite.
    pub fn censored_at(time: f64) -> Self {
        Self::new(time, false)
    }

    /// The time of the end, or of the last observation.
    #[inline]
    pub fn time(self) -> f64 {
        self.time
    }

    /// Whether the end was seen.
    #[inline]
    pub fn ended(self) -> bool {
        self.ended
    }

    fn new(time: f64, ended: bool) -> Self {
        assert!(time.is_finite());
        // Adding zero turns −0 into 0, so that equal times have equal bits.
        Self { time: time + 0.0, ended }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_finite_and_zero_has_one_form() {
        for wrong in [f64::NAN, f64::INFINITY] {
            assert!(std::panic::catch_unwind(|| Lifetime::ended_at(wrong)).is_err());
        }
        assert_eq!(Lifetime::censored_at(-0.0).time().to_bits(), 0);
        assert!(Lifetime::ended_at(1.0).ended());
    }
}
