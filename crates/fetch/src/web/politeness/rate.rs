//! Rate limit of all visits per second: the generic cell rate algorithm.
//!
//! # Promises
//! - In any span of time at most `rate x span` visits begin, plus a burst of a tenth of a second's.

use freshet_protocol::time::Timestamp;

/// A limit to the number of visits per second.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rate {
    /// Microseconds that one visit costs; zero: no limit.
    cost: i64,
    /// Microseconds that may be spent in advance.
    burst: i64,
    /// Time until which the rate is used up, in microseconds since 1970.
    used_until: i64,
}

impl Rate {
    pub(super) fn new(per_second: Option<f64>) -> Self {
        /// Time that may be spent in advance: short enough that no host notices, long enough for a clock of
        /// milliseconds.
        const BURST_MICROS: i64 = 100_000;
        // A rate below one visit in eleven days is raised to that.
        let cost = per_second.map_or(0, |rate| (1e6 / rate.clamp(1e-6, 1e6)).ceil() as i64);
        Self { cost, burst: BURST_MICROS.max(cost), used_until: i64::MIN }
    }

    /// When the next visit may begin.
    pub(super) fn open_at(&self) -> Timestamp {
        if self.cost == 0 || self.used_until == i64::MIN {
            return Timestamp::from_millis(i64::MIN);
        }
        let micros = self.used_until.saturating_add(self.cost).saturating_sub(self.burst);
        Timestamp::from_millis(micros.div_euclid(1000) + i64::from(micros.rem_euclid(1000) != 0))
    }

    /// Counts a visit that begins now.
    pub(super) fn use_up(&mut self, now: Timestamp) {
        if self.cost != 0 {
            self.used_until =
                self.used_until.max(now.millis().saturating_mul(1000)).saturating_add(self.cost);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_span_holds_more_visits_than_the_rate(
            per_second in 0.5f64..5000.0,
            steps in prop::collection::vec(0i64..40, 1..300),
        ) {
            let mut rate = Rate::new(Some(per_second));
            let mut begun = Vec::new();
            let mut now = Timestamp::from_millis(0);
            for step in steps {
                now = now.plus_millis(step);
                if rate.open_at() <= now {
                    rate.use_up(now);
                    begun.push(now);
                }
            }
            for first in 0..begun.len() {
                for last in first..begun.len() {
                    let span = begun[last].millis_since(begun[first]) as f64 / 1000.0;
                    let allowed = per_second * span + (per_second / 10.0).max(1.0);
                    prop_assert!((last - first + 1) as f64 <= allowed + 1.0);
                }
            }
        }
    }

    #[test]
    fn a_rate_is_reached_and_no_rate_never_waits() {
        let (mut rate, mut begun) = (Rate::new(Some(100.0)), 0);
        for milli in 0..10_000 {
            let now = Timestamp::from_millis(milli);
            while rate.open_at() <= now {
                rate.use_up(now);
                begun += 1;
            }
        }
        assert!((1000..=1012).contains(&begun), "{begun}");
        let mut none = Rate::new(None);
        none.use_up(Timestamp::from_millis(i64::MAX));
        assert!(none.open_at() <= Timestamp::from_millis(0));
    }
}
