//! The crawl's own time: the wall's, or a faster one that a living web of the lab shares.
//!
//! Everything that is stored or decided is in the crawl's time. Time-outs of connections are in the wall's.
//!
//! # Promises
//! - Time never runs backwards, even if the clock on the wall is set back: it then stands still until the wall catches up.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use freshet_store::time::Timestamp;

/// Where a crawl reads the time.
#[derive(Debug)]
pub struct Clock {
    pace: Pace,
    /// The latest moment told, in milliseconds.
    latest: AtomicI64,
}

/// How the crawl's time follows the wall's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// The moment in the crawl's time at which the wall showed `wall_start`.
    pub start: Timestamp,
    /// See `start`.
    pub wall_start: Timestamp,
    /// Seconds of the crawl's time in one second of the wall's; above zero.
    pub speed: f64,
}

impl Pace {
    /// The wall's own time.
    pub const WALL: Self =
        Self { start: Timestamp::from_millis(0), wall_start: Timestamp::from_millis(0), speed: 1.0 };
}

impl Clock {
    /// A clock of this pace. Panics unless the speed is finite and above zero.
    pub fn new(pace: Pace) -> Self {
        assert!(pace.speed.is_finite());
        assert!(pace.speed > 0.0);
        Self { pace, latest: AtomicI64::new(i64::MIN) }
    }

    /// The moment it is now.
    pub fn now(&self) -> Timestamp {
        let elapsed = wall_now().millis_since(self.pace.wall_start) as f64 * self.pace.speed;
        let now = self.pace.start.plus_millis(elapsed as i64).millis();
        Timestamp::from_millis(self.latest.fetch_max(now, Ordering::Relaxed).max(now))
    }

    /// Seconds of the crawl's time in one second of the wall's.
    pub fn speed(&self) -> f64 {
        self.pace.speed
    }

    /// How long the wall takes until `moment`; nothing if it has passed.
    pub fn wall_time_until(&self, moment: Timestamp) -> Duration {
        let millis = moment.millis_since(self.now()).max(0) as f64 / self.pace.speed;
        Duration::try_from_secs_f64(millis / 1000.0).unwrap_or(Duration::MAX)
    }

    /// Milliseconds of the crawl's time that pass while the wall counts `duration`.
    pub fn millis_in(&self, duration: Duration) -> i64 {
        (duration.as_secs_f64() * 1000.0 * self.pace.speed) as i64
    }
}

/// What the wall shows.
pub fn wall_now() -> Timestamp {
    let millis = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
    Timestamp::from_millis(i64::try_from(millis).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fast_clock_runs_ahead_and_never_back() {
        let start = Timestamp::from_millis(1_000_000);
        let wall_start = wall_now().plus_millis(-1000);
        let clock = Clock::new(Pace { start, wall_start, speed: 1000.0 });
        let first = clock.now();
        assert!(first.millis_since(start) >= 1_000_000);
        assert!(clock.now() >= first);
        assert_eq!(clock.millis_in(Duration::from_millis(5)), 5000);
        assert_eq!(clock.wall_time_until(start), Duration::ZERO);
    }
}
