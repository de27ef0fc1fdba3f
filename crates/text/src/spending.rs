//! The request budget for text databases: a share of a crawl's budget, and what was spent of it today.
//!
//! # Promises
//! - No span of time spends more than its share allows, plus a burst of one minute's worth or one request.
//! - Other processes can read at any time what was spent on a day (UTC). A file that cannot be written or
//!   read stops nothing.

use std::fs;
use std::path::{Path, PathBuf};

use freshet_partition::budget::Budget;
use freshet_protocol::time::{MILLIS_PER_DAY, Timestamp};
use freshet_theory::units::MINUTES_PER_DAY;
use serde::{Deserialize, Serialize};

use crate::summary_store::SummaryStore;

/// What was spent on a day, as other processes read it.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Spent {
    /// Maximum requests per day. `None` means unlimited.
    pub per_day: Option<f64>,
    /// The share of the crawl's budget.
    pub share: f64,
    /// The day, counted from 1970.
    pub day: i64,
    /// Requests made on that day.
    pub requests: u64,
}

impl Spent {
    /// What was spent today, as the summary store's file says. `None` if unknown.
    pub fn today(store: &SummaryStore, now: Timestamp) -> Option<Self> {
        let spent: Self = serde_json::from_slice(&fs::read(path_of(store)).ok()?).ok()?;
        let day = now.millis().div_euclid(MILLIS_PER_DAY);
        Some(if spent.day == day { spent } else { Self { day, requests: 0, ..spent } })
    }
}

/// Spends a share of a budget, one request at a time.
#[derive(Debug)]
pub struct Spending {
    budget: Budget,
    spent: Spent,
    path: PathBuf,
}

impl Spending {
    /// Creates a budget of a share of `visits_per_day`, unlimited if `None`. Panics unless the share is from
    /// 0 to 1.
    pub fn of(store: &SummaryStore, visits_per_day: Option<f64>, share: f64, now: Timestamp) -> Self {
        assert!((0.0..=1.0).contains(&share));
        let per_day = visits_per_day.map(|visits| visits * share);
        let burst = per_day.map_or(1.0, |per_day| (per_day / MINUTES_PER_DAY).max(1.0));
        let before = Spent::today(store, now).unwrap_or_default();
        let day = now.millis().div_euclid(MILLIS_PER_DAY);
        let spent = Spent { per_day, share, day, requests: before.requests };
        let spending = Self { budget: Budget::new(per_day, burst, now), spent, path: path_of(store) };
        spending.write();
        spending
    }

    /// Spends one request, or returns when one will be available.
    pub(crate) fn spend(&mut self, now: Timestamp) -> Option<Timestamp> {
        if self.budget.gather(now) < 1.0 {
            // A share of nothing is looked at again in a day.
            return Some(self.budget.ready_at(1.0).unwrap_or(now.plus_millis(MILLIS_PER_DAY)));
        }
        self.budget.spend(1.0);
        let day = now.millis().div_euclid(MILLIS_PER_DAY);
        let before = if self.spent.day == day { self.spent.requests } else { 0 };
        self.spent = Spent { day, requests: before + 1, ..self.spent };
        self.write();
        None
    }

    fn write(&self) {
        let pending = self.path.with_extension("pending");
        if let Ok(text) = serde_json::to_vec(&self.spent) {
            // The file is only a report: a failure to write it does not stop the request.
            let _ = fs::write(&pending, text).and_then(|()| fs::rename(&pending, &self.path));
        }
    }
}

fn path_of(store: &SummaryStore) -> PathBuf {
    Path::join(store.directory(), "spending.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_spent_no_faster_than_it_gathers_and_can_be_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = SummaryStore::in_directory(folder.path());
        fs::create_dir_all(store.directory()).expect("a folder");
        let at = |seconds: i64| Timestamp::from_millis(1_000 * seconds);
        // A tenth of 8,640 a day: one request every 100 seconds.
        let mut spending = Spending::of(&store, Some(8_640.0), 0.1, at(0));
        assert_eq!(spending.spend(at(0)), None);
        assert_eq!(spending.spend(at(1)), Some(at(100)));
        assert_eq!(spending.spend(at(100)), None);
        let spent = Spent { per_day: Some(864.0), share: 0.1, day: 0, requests: 2 };
        assert_eq!(Spent::today(&store, at(200)), Some(spent));
        assert_eq!(Spent::today(&store, at(90_000)), Some(Spent { day: 1, requests: 0, ..spent }));
        // A new run continues the count.
        let mut again = Spending::of(&store, None, 0.1, at(300));
        assert_eq!((again.spend(at(300)), again.spend(at(300))), (None, None));
        assert_eq!(
            Spent::today(&store, at(300)).map(|spent| (spent.requests, spent.per_day)),
            Some((4, None))
        );
        fs::write(path_of(&store), b"{").expect("it is damaged");
        assert_eq!(Spent::today(&store, at(300)), None);
        let mut nothing = Spending::of(&store, Some(100.0), 0.0, at(0));
        assert_eq!(nothing.spend(at(0)), None, "one at once");
        assert_eq!(nothing.spend(at(1)), Some(at(86_401)));
    }
}
