//! Budgets: visits or bytes that may be spent now. They accumulate at a steady rate.
//!
//! A budget accumulates at its rate up to a burst (a token bucket). An overdraft, as from a page that was
//! larger than expected, is paid back before anything more is spent. A budget for batches gives out the
//! allowance of a whole cycle at its beginning.
//!
//! # Promises
//! - Over any span no more is spent than the rate allows in it, one burst, and one debt.

use freshet_protocol::time::Timestamp;
use freshet_theory::units::MILLIS_PER_DAY;

/// Milliseconds of one day.
const DAY: f64 = MILLIS_PER_DAY;

/// An allowance that accumulates at a steady rate.
///
/// # Examples
///
/// ```
/// use freshet_partition::budget::Budget;
/// use freshet_protocol::time::Timestamp;
///
/// // One visit a second, and at most ten that were not made can be made up for.
/// let start = Timestamp::from_millis(0);
/// let mut budget = Budget::new(Some(86_400.0), 10.0, start);
/// assert_eq!(budget.gather(start), 10.0);
/// budget.spend(10.0);
/// assert_eq!(budget.gather(start), 0.0);
/// assert_eq!(budget.ready_at(1.0), Some(Timestamp::from_millis(1_000)));
/// assert_eq!(budget.gather(Timestamp::from_millis(3_000)).round(), 3.0);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// None for no limit.
    per_day: Option<f64>,
    burst: f64,
    gathered: f64,
    at: Timestamp,
    spent: f64,
    /// The beginning of a cycle and the length of all cycles in milliseconds, if the allowance comes in
    /// lumps.
    cycle: Option<(Timestamp, i64)>,
}

impl Budget {
    /// A budget of `per_day`, or without limit, with a burst of at least `burst`; it starts with a full
    /// burst. Panics unless the rate is finite and not negative.
    pub fn new(per_day: Option<f64>, burst: f64, now: Timestamp) -> Self {
        if let Some(rate) = per_day {
            assert!(rate.is_finite());
            assert!(0.0 <= rate);
        }
        Self { per_day, burst, gathered: burst, at: now, spent: 0.0, cycle: None }
    }

    /// A budget that comes in lumps: the allowance of a cycle is available at its beginning. `cycle` is in
    /// milliseconds, and the first one began at `start`. `used` was already spent in the cycle that contains
    /// `now`; it counts at most up to the whole lump, because spending under another budget is no debt.
    /// Panics unless the rate is finite and not negative.
    pub fn in_lumps(per_day: f64, start: Timestamp, cycle: i64, used: f64, now: Timestamp) -> Self {
        let cycle = cycle.max(1);
        let mut budget = Self::new(Some(per_day), (per_day * cycle as f64 / DAY).max(1.0), now);
        budget.gathered = (budget.gathered - used).max(0.0);
        budget.cycle = Some((start, cycle));
        budget
    }

    /// A budget with another rate that accumulates in the same way as this one.
    pub fn part(&self, per_day: f64, now: Timestamp) -> Self {
        match self.cycle {
            Some((start, cycle)) => Self::in_lumps(per_day, start, cycle, 0.0, now),
            None => {
                let scale = self.per_day.map_or(1.0, |whole| per_day / whole.max(f64::MIN_POSITIVE));
                Self::new(Some(per_day), (self.burst * scale).max(1.0), now)
            }
        }
    }

    /// Accumulates until `now` and returns the amount that may be spent.
    pub fn gather(&mut self, now: Timestamp) -> f64 {
        let Some(per_day) = self.per_day else { return f64::INFINITY };
        let millis = now.millis_since(self.at).max(0) as f64;
        let before = self.at;
        self.at = before.max(now);
        self.gathered = match self.cycle {
            Some(_) if self.next_lump(before) <= self.at => self.gathered.min(0.0) + self.burst,
            Some(_) => self.gathered,
            None => (self.gathered + per_day * millis / DAY).min(self.burst),
        };
        self.gathered.max(0.0)
    }

    /// Spends an amount, whether it is available or not.
    pub fn spend(&mut self, amount: f64) {
        self.spent += amount;
        self.gathered -= amount;
    }

    /// When `amount` will be available; none if never.
    pub fn ready_at(&self, amount: f64) -> Option<Timestamp> {
        let Some(per_day) = self.per_day else { return Some(self.at) };
        let missing = (amount - self.gathered).max(0.0);
        if missing == 0.0 {
            return Some(self.at);
        }
        let ready = match self.cycle {
            Some(_) => self.next_lump(self.at),
            None => self.at.plus_millis((missing / per_day.max(f64::MIN_POSITIVE) * DAY).ceil() as i64),
        };
        (per_day > 0.0 && amount <= self.burst).then_some(ready)
    }

    /// When the cycle after the one that contains `moment` begins; the end of time if there are no cycles.
    fn next_lump(&self, moment: Timestamp) -> Timestamp {
        self.cycle.map_or(Timestamp::from_millis(i64::MAX), |(start, cycle)| {
            let begun = moment.millis_since(start).div_euclid(cycle);
            start.plus_millis((begun + 1).saturating_mul(cycle))
        })
    }

    /// Total amount spent.
    pub fn spent(&self) -> f64 {
        self.spent
    }

    /// The rate per day; none if unlimited.
    pub fn per_day(&self) -> Option<f64> {
        self.per_day
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_more_is_spent_than_was_gathered(
            steps in prop::collection::vec((0i64..1_000_000, 0.0f64..50.0), 1..200),
        ) {
            let start = Timestamp::from_millis(0);
            let mut budget = Budget::new(Some(86_400.0), 10.0, start);
            let (mut now, mut spent) = (start, 0.0);
            for (wait, wanted) in steps {
                now = now.plus_millis(wait);
                let can = budget.gather(now);
                let amount = wanted.min(can);
                budget.spend(amount);
                spent += amount;
                prop_assert!(spent <= 10.0 + now.millis() as f64 / 1000.0 + 1e-6);
            }
        }
    }

    #[test]
    fn a_lump_is_there_at_once_and_what_is_left_of_it_is_lost() {
        let at = Timestamp::from_millis;
        let mut budget = Budget::in_lumps(86_400.0, at(0), 10_000, 3.0, at(4_000));
        assert_eq!(budget.gather(at(5_000)), 7.0);
        let mut lavish_before = Budget::in_lumps(86_400.0, at(0), 10_000, 95.0, at(4_000));
        assert_eq!((lavish_before.gather(at(5_000)), lavish_before.gather(at(10_000))), (0.0, 10.0));
        budget.spend(7.0);
        assert_eq!(budget.gather(at(9_999)), 0.0);
        assert_eq!(budget.ready_at(1.0), Some(at(10_000)));
        assert_eq!(budget.gather(at(10_000)), 10.0);
        budget.spend(2.0);
        assert_eq!(budget.gather(at(45_000)), 10.0);
    }

    #[test]
    fn a_debt_is_paid_back_first() {
        let start = Timestamp::from_millis(0);
        let mut budget = Budget::new(Some(86_400.0), 1.0, start);
        budget.spend(11.0);
        assert_eq!(budget.gather(Timestamp::from_millis(9_000)), 0.0);
        assert_eq!(budget.ready_at(1.0), Some(Timestamp::from_millis(11_000)));
    }
}
