//! Clock of the living web: wall-clock time from a fixed start, sped up by a fixed factor.
//!
//! > now = start + speed × (wall − wall start)
//!
//! A crawler that gets start, speed and wall start (by [`WebClock::reading`], or `GET /-/clock`) runs on the
//! same time. A clock can also be held and set by hand, so that a test does not depend on the wall clock.
//!
//! # Promises
//! - Two clocks with the same start, speed and wall start agree.
//! - A held clock moves only when it is set.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use freshet_protocol::time::Timestamp;
use freshet_theory::units::MILLIS_PER_DAY;
use serde::Serialize;

/// Start time of every living web: 2026-01-01 00:00 UTC, a Thursday.
pub const START: Timestamp = Timestamp::from_millis(1_767_225_600_000);

/// Maximum speed: a year in half a minute.
pub const SPEED_MAX: f64 = 1e6;

/// A clock of the living web. Clones share the same time.
#[derive(Clone, Debug)]
pub struct WebClock(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Running { speed: f64, wall_start: i64 },
    Held(Arc<AtomicI64>),
}

/// The time of a clock, with all that is needed to run another one like it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ClockReading {
    /// Simulated milliseconds since 1970.
    pub now_ms: i64,
    /// Start of the web, in simulated milliseconds since 1970.
    pub start_ms: i64,
    /// Simulated milliseconds per wall-clock millisecond. Zero for a held clock.
    pub speed: f64,
    /// Start of the web, in wall-clock milliseconds since 1970.
    pub wall_start_ms: i64,
}

impl WebClock {
    /// A clock that starts now and runs `speed` times as fast as the wall clock.
    ///
    /// Panics unless the speed is above zero and at most [`SPEED_MAX`].
    pub fn running(speed: f64) -> Self {
        Self::running_since(speed, wall_now())
    }

    /// A clock that started when the wall clock showed `wall_start` milliseconds since 1970.
    ///
    /// Panics unless the speed is above zero and at most [`SPEED_MAX`].
    pub fn running_since(speed: f64, wall_start: i64) -> Self {
        assert!(0.0 < speed);
        assert!(speed <= SPEED_MAX);
        Self(Kind::Running { speed, wall_start })
    }

    /// A clock that stands at the start until it is set.
    pub fn held() -> Self {
        Self(Kind::Held(Arc::new(AtomicI64::new(START.millis()))))
    }

    /// Sets a held clock. Does nothing to a running one.
    pub fn set(&self, now: Timestamp) {
        if let Kind::Held(millis) = &self.0 {
            millis.store(now.millis(), Ordering::SeqCst);
        }
    }

    /// The simulated time.
    pub fn now(&self) -> Timestamp {
        match &self.0 {
            Kind::Running { speed, wall_start } => simulated(*speed, *wall_start, wall_now()),
            Kind::Held(millis) => Timestamp::from_millis(millis.load(Ordering::SeqCst)),
        }
    }

    /// The time now, with what another clock needs to agree.
    pub fn reading(&self) -> ClockReading {
        let (speed, wall_start_ms) = match &self.0 {
            Kind::Running { speed, wall_start } => (*speed, *wall_start),
            Kind::Held(_) => (0.0, 0),
        };
        ClockReading { now_ms: self.now().millis(), start_ms: START.millis(), speed, wall_start_ms }
    }
}

/// The moment this many days after the start, rounded to the second: HTTP cannot express fractions of
/// seconds.
pub fn days_after_start(days: f64) -> Timestamp {
    START.plus_millis(((days * MILLIS_PER_DAY / 1_000.0).round() as i64).saturating_mul(1_000))
}

/// Wall-clock milliseconds since 1970.
pub(super) fn wall_now() -> i64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX)
}

fn simulated(speed: f64, wall_start: i64, wall: i64) -> Timestamp {
    START.plus_millis((speed * (wall - wall_start) as f64) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_runs_at_its_speed_from_the_start() {
        assert_eq!(simulated(1_000.0, 5_000, 5_000), START);
        assert_eq!(simulated(1_000.0, 5_000, 6_500), START.plus_millis(1_500_000));
        assert_eq!(days_after_start(1.0), START.plus_millis(freshet_protocol::time::MILLIS_PER_DAY));
        assert_eq!(days_after_start(f64::INFINITY).millis(), i64::MAX);
    }

    #[test]
    fn a_held_clock_moves_when_it_is_set() {
        let clock = WebClock::held();
        let other = clock.clone();
        assert_eq!(clock.now(), START);
        clock.set(START.plus_millis(7));
        assert_eq!(other.now(), START.plus_millis(7));
    }

    #[test]
    fn a_clock_tells_what_another_needs_to_agree() {
        let reading = WebClock::running_since(250.0, 1_000).reading();
        assert_eq!((reading.speed, reading.wall_start_ms, reading.start_ms), (250.0, 1_000, START.millis()));
    }
}
