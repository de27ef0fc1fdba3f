//! What may be spent now: visits and bytes that gather steadily and are spent one by one.
//!
//! A budget gathers at its rate and keeps what is not spent, up to a burst; what is overspent (a page was larger than
//! expected) is paid back before anything more is spent.
//!
//! # Promises
//! - Over any span no more is spent than the rate allows in it, one burst, and one debt.

use freshet_store::time::Timestamp;

/// Milliseconds of one day.
const DAY: f64 = 86_400_000.0;

/// Something that gathers at a steady rate.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// None for as much as one likes.
    per_day: Option<f64>,
    burst: f64,
    gathered: f64,
    at: Timestamp,
    spent: f64,
}

impl Budget {
    /// A budget of `per_day`, or without limit, with a burst of at least `burst`, that begins with what a burst holds.
    /// Panics unless the rate is finite and not negative.
    pub fn new(per_day: Option<f64>, burst: f64, now: Timestamp) -> Self {
        if let Some(rate) = per_day {
            assert!(rate.is_finite());
            assert!(0.0 <= rate);
        }
        Self { per_day, burst, gathered: burst, at: now, spent: 0.0 }
    }

    /// Gathers until `now`; then says how much can be spent.
    pub fn gather(&mut self, now: Timestamp) -> f64 {
        let Some(per_day) = self.per_day else { return f64::INFINITY };
        let millis = now.millis_since(self.at).max(0) as f64;
        self.at = self.at.max(now);
        self.gathered = (self.gathered + per_day * millis / DAY).min(self.burst);
        self.gathered.max(0.0)
    }

    /// Spends so much, whether it is there or not.
    pub fn spend(&mut self, amount: f64) {
        self.spent += amount;
        self.gathered -= amount;
    }

    /// When there will be `amount` to spend; none if never.
    pub fn ready_at(&self, amount: f64) -> Option<Timestamp> {
        let Some(per_day) = self.per_day else { return Some(self.at) };
        let missing = (amount - self.gathered).max(0.0);
        if missing == 0.0 {
            return Some(self.at);
        }
        (per_day > 0.0 && amount <= self.burst)
            .then(|| self.at.plus_millis((missing / per_day * DAY).ceil() as i64))
    }

    /// What was spent since it began.
    pub fn spent(&self) -> f64 {
        self.spent
    }

    /// What it gathers in a day; none if it is without limit.
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
        fn no_more_is_spent_than_was_gathered(steps in prop::collection::vec((0i64..1_000_000, 0.0f64..50.0), 1..200)) {
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
    fn a_debt_is_paid_back_first() {
        let start = Timestamp::from_millis(0);
        let mut budget = Budget::new(Some(86_400.0), 1.0, start);
        budget.spend(11.0);
        assert_eq!(budget.gather(Timestamp::from_millis(9_000)), 0.0);
        assert_eq!(budget.ready_at(1.0), Some(Timestamp::from_millis(11_000)));
    }
}
