//! The crawl's clock: the system time, or a faster time that the lab's simulated web shares.
//!
//! Everything that is stored or decided uses the crawl's time. Timeouts of connections use the system time.
//!
//! # Promises
//! - Time never runs backwards and never stands still, whatever happens to the system clock. If the system
//!   clock is set ahead, the crawl's time follows at once. If it is set back, the crawl's time runs at half
//!   speed until the system clock has caught up.
//! - A restarted crawl never starts before the moment at which it ended.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use freshet_protocol::time::Timestamp;

/// Speed of the crawl's time, as a fraction of normal, while it is ahead of the system clock.
const SPEED_AHEAD: f64 = 0.5;

/// The clock of a crawl.
#[derive(Debug)]
pub struct Clock {
    pace: Pace,
    hand: Mutex<Hand>,
}

/// The hand of the clock: the latest time that it returned, and when.
#[derive(Clone, Copy, Debug)]
struct Hand {
    /// In milliseconds of the crawl's time.
    millis: f64,
    told: Instant,
}

impl Hand {
    /// Moves the hand. `wall` is the system time converted to milliseconds of the crawl's time.
    fn moved(self, wall: f64, elapsed_millis: f64, told: Instant) -> Self {
        let millis =
            if wall >= self.millis { wall } else { self.millis + SPEED_AHEAD * elapsed_millis.max(0.0) };
        Self { millis, told }
    }
}

/// How the crawl's time follows the system time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// The crawl's time when the system clock showed `wall_start`.
    pub start: Timestamp,
    /// See `start`.
    pub wall_start: Timestamp,
    /// Seconds of the crawl's time in one second of system time. Above zero.
    pub speed: f64,
}

impl Pace {
    /// The system time itself.
    pub const WALL: Self =
        Self { start: Timestamp::from_millis(0), wall_start: Timestamp::from_millis(0), speed: 1.0 };
}

impl Clock {
    /// Creates a clock. Panics unless the speed is finite and above zero.
    pub fn new(pace: Pace) -> Self {
        assert!(pace.speed.is_finite());
        assert!(pace.speed > 0.0);
        Self { pace, hand: Mutex::new(Hand { millis: f64::NEG_INFINITY, told: Instant::now() }) }
    }

    /// The current time.
    pub fn now(&self) -> Timestamp {
        let elapsed = wall_now().millis_since(self.pace.wall_start) as f64 * self.pace.speed;
        let wall = self.pace.start.plus_millis(elapsed as i64).millis() as f64;
        let mut hand = self.hand.lock().unwrap_or_else(PoisonError::into_inner);
        let told = Instant::now();
        let elapsed = told.duration_since(hand.told).as_secs_f64() * 1000.0 * self.pace.speed;
        *hand = hand.moved(wall, elapsed, told);
        Timestamp::from_millis(hand.millis as i64)
    }

    /// Moves the time forward to at least this moment, which the crawl has already reached.
    pub fn not_before(&self, moment: Timestamp) {
        let mut hand = self.hand.lock().unwrap_or_else(PoisonError::into_inner);
        if hand.millis < moment.millis() as f64 {
            *hand = Hand { millis: moment.millis() as f64, told: Instant::now() };
        }
    }

    /// Seconds of the crawl's time in one second of system time.
    pub fn speed(&self) -> f64 {
        self.pace.speed
    }

    /// System time left until `moment`; zero if it has passed.
    pub fn wall_time_until(&self, moment: Timestamp) -> Duration {
        let millis = moment.millis_since(self.now()).max(0) as f64 / self.pace.speed;
        Duration::try_from_secs_f64(millis / 1000.0).unwrap_or(Duration::MAX)
    }

    /// Milliseconds of the crawl's time that pass in `duration` of system time.
    pub fn millis_in(&self, duration: Duration) -> i64 {
        (duration.as_secs_f64() * 1000.0 * self.pace.speed) as i64
    }
}

/// The system time.
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

    #[test]
    fn a_wall_that_jumps_is_followed_ahead_and_never_back() {
        let told = Instant::now();
        let hand = Hand { millis: 1000.0, told };
        assert_eq!(hand.moved(1010.0, 10.0, told).millis, 1010.0);
        assert_eq!(hand.moved(9_000_000.0, 10.0, told).millis, 9_000_000.0);
        // Set back by an hour: time goes on at half speed until the system clock has caught up.
        let mut ahead = hand;
        for step in 1..=100 {
            ahead = ahead.moved(1000.0 - 3_600_000.0 + 10.0 * f64::from(step), 10.0, told);
        }
        assert_eq!(ahead.millis, 1500.0);
        assert_eq!(ahead.moved(1501.0, 10.0, told).millis, 1501.0);
    }

    #[test]
    fn a_crawl_goes_on_no_earlier_than_it_ended() {
        let clock = Clock::new(Pace::WALL);
        let tomorrow = wall_now().plus_millis(freshet_protocol::time::MILLIS_PER_DAY);
        clock.not_before(tomorrow);
        assert!(clock.now() >= tomorrow);
        assert!(clock.now().millis_since(tomorrow) < 60_000);
    }
}
