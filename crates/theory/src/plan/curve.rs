//! Freshness and age against budget, and the budget that a wanted freshness needs.
//!
//! # Promises
//! - The budget that is found is the least that is enough, within a factor of 1 + 10⁻⁵.
//! - The search ends, also where limits of hosts keep a freshness out of reach.

use super::planner::{Planner, Policy};
use crate::freshness::measure::FreshnessAndAge;
use crate::units::VisitsPerDay;

/// The curve spans budgets from 1/`SPAN` to `SPAN` times the budget in question.
const SPAN: f64 = 32.0;

/// How many budgets the curve is computed for: two for each doubling.
pub const POINTS: usize = 21;

/// Maximum budget tried for a target freshness, in visits a day.
const BUDGET_MAX: f64 = 1e15;

/// The least budget that the search for a wanted freshness tries, in visits a day.
pub const BUDGET_MIN: f64 = 1e-9;

/// The budget for a target freshness is exact within this factor.
const BUDGET_TOLERANCE: f64 = 1.0 + 1e-5;

/// A plan that leaves more than this share of its budget unspent has reached the limits of its hosts.
const UNSPENT_SHARE_MAX: f64 = 1e-6;

/// What one budget achieves.
#[derive(Clone, Copy, Debug)]
pub struct CurvePoint {
    /// The budget.
    pub visit_budget: VisitsPerDay,
    /// What it buys under each policy, in the order of [`Policy::ALL`].
    pub qualities: [FreshnessAndAge; Policy::ALL.len()],
}

/// Freshness and age for [`POINTS`] budgets around this one; smaller budgets than the limits allow are left
/// out. After each of them `progress` is called.
pub fn curve_around(
    planner: &Planner<'_>,
    visit_budget: VisitsPerDay,
    mut progress: impl FnMut(),
) -> Vec<CurvePoint> {
    let high = visit_budget.get() * SPAN;
    let low = (visit_budget.get() / SPAN).max(planner.budget_min().get());
    let point = |index: usize| {
        let budget = low * (high / low).powf(index as f64 / (POINTS - 1) as f64);
        let visit_budget = VisitsPerDay::new(budget);
        let qualities = Policy::ALL
            .map(|policy| planner.quality(&planner.allocate(policy, visit_budget).visit_frequencies));
        progress();
        CurvePoint { visit_budget, qualities }
    };
    (0..POINTS).map(point).collect()
}

/// Result of the search for a target freshness.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reach {
    /// This budget reaches the target.
    With(VisitsPerDay),
    /// No budget does: no more than this can be spent within the limits of the hosts, and it gives this
    /// freshness.
    Limited {
        /// What can be spent.
        visit_budget: VisitsPerDay,
        /// The freshness that it gives.
        freshness: f64,
    },
    /// It takes more than this, the maximum budget tried.
    Beyond(VisitsPerDay),
}

/// The least budget with which the plan is at least this fresh. `start` is a first guess; before each budget
/// that is tried `progress` is called.
pub fn budget_for(
    planner: &Planner<'_>,
    target_freshness: f64,
    start: VisitsPerDay,
    mut progress: impl FnMut(),
) -> Reach {
    let floor = planner.budget_min().get().max(BUDGET_MIN);
    let is_enough = |budget: f64| {
        progress();
        let visit_budget = VisitsPerDay::new(budget);
        let allocation = planner.allocate(Policy::Planned, visit_budget);
        let spent = planner.cost_per_day(&allocation.visit_frequencies).get();
        let freshness = planner.quality(&allocation.visit_frequencies).freshness;
        match freshness >= target_freshness {
            true => Trial::Enough,
            false if spent < budget * (1.0 - UNSPENT_SHARE_MAX) => {
                Trial::Limited(Reach::Limited { visit_budget: VisitsPerDay::new(spent), freshness })
            }
            false => Trial::TooLittle,
        }
    };
    search(start.get().max(floor), floor, is_enough)
}

/// Result of trying one budget.
enum Trial {
    Enough,
    TooLittle,
    /// Too little, and a larger budget would not be spent.
    Limited(Reach),
}

/// Brackets the least budget that is enough by factors of four, then halves the bracket.
fn search(start: f64, floor: f64, mut trial: impl FnMut(f64) -> Trial) -> Reach {
    let (mut low, mut high) = (start, start);
    if let Trial::Enough = trial(start) {
        loop {
            if low <= floor {
                return Reach::With(VisitsPerDay::new(floor));
            }
            low = (low / 4.0).max(floor);
            match trial(low) {
                Trial::Enough => high = low,
                Trial::TooLittle | Trial::Limited(_) => break,
            }
        }
    } else {
        loop {
            high *= 4.0;
            match trial(high) {
                Trial::Enough => break,
                Trial::Limited(reach) => return reach,
                Trial::TooLittle if high > BUDGET_MAX => return Reach::Beyond(VisitsPerDay::new(high)),
                Trial::TooLittle => low = high,
            }
        }
    }
    while high > low * BUDGET_TOLERANCE {
        let middle = (low * high).sqrt();
        if let Trial::Enough = trial(middle) { high = middle } else { low = middle }
    }
    Reach::With(VisitsPerDay::new(high))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Searches where budgets from `needed` suffice and nothing is spent beyond `limit`.
    fn reach(needed: f64, limit: f64, start: f64, floor: f64) -> Reach {
        search(start, floor, |budget| match budget {
            _ if budget >= needed && needed <= limit => Trial::Enough,
            _ if budget > limit => {
                Trial::Limited(Reach::Limited { visit_budget: VisitsPerDay::new(limit), freshness: 0.5 })
            }
            _ => Trial::TooLittle,
        })
    }

    #[test]
    fn the_search_finds_the_least_budget_from_either_side() {
        for start in [1e-6, 1.0, 99.0, 100.0, 101.0, 1e9] {
            let Reach::With(budget) = reach(100.0, f64::INFINITY, start, 1e-9) else {
                panic!("it is reachable")
            };
            assert!((1.0..=BUDGET_TOLERANCE).contains(&(budget.get() / 100.0)), "{budget:?}");
        }
    }

    #[test]
    fn the_search_ends_at_floor_limit_and_greatest_budget() {
        assert_eq!(reach(1.0, f64::INFINITY, 50.0, 7.0), Reach::With(VisitsPerDay::new(7.0)));
        let limited = Reach::Limited { visit_budget: VisitsPerDay::new(10.0), freshness: 0.5 };
        assert_eq!(reach(100.0, 10.0, 1.0, 1e-9), limited);
        assert!(matches!(reach(f64::MAX, f64::MAX, 1.0, 1e-9), Reach::Beyond(_)));
    }
}
