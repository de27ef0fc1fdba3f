//! Plans how often to refresh each summary on a budget (**summary**, section 5.1, Problem 1).
//!
//! Maximises the mean share of up-to-date summaries under Σ f = n/T, each by its own Weibull survival. The
//! share of refreshes that find a change (update precision, Figure 10) is the mean over refreshes of 1 −
//! S(interval).
//!
//! # Promises
//! - The frequencies add up to the budget, unless no refresh is worth it.
//! - No plan has a higher mean survival than the optimal one. The naive plan is never better.
//!
//! # Departures
//! The text predicts the update precision "in principle" as one minus the mean survival over time. But a
//! refresh comes at the end of its interval, when the survival is lowest. We use the survival at that time.

use freshet_theory::refresh::survival::law::Survival as _;
use freshet_theory::refresh::survival::weibull::WeibullSurvival;
use freshet_theory::refresh::{Constraints, LawPages, allocate_by_law};
use freshet_theory::units::{Days, VisitsPerDay};

/// How often each summary is refreshed, and the expected result.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Weeks between two refreshes of each summary. Infinite where none is worth it.
    pub intervals: Vec<f64>,
    /// Mean share of summaries that are up to date.
    pub survival: f64,
    /// Expected share of refreshes that find a change.
    pub precision: f64,
}

/// The plan that keeps the most summaries up to date, with one refresh per summary every `weeks` weeks on
/// average.
///
/// Panics without summaries, and unless `weeks` is above zero and finite.
pub fn optimal(laws: &[WeibullSurvival], weeks: f64) -> Plan {
    let constraints = Constraints::budget(VisitsPerDay::new(laws.len() as f64 / weeks));
    let allocation = allocate_by_law(&LawPages { laws, importance: None, costs: None }, &constraints);
    judge(laws, allocation.visit_frequencies.iter().map(|frequency| 1.0 / frequency.get()).collect())
}

/// The plan that refreshes all summaries equally often.
///
/// Panics as [`optimal`] does.
pub fn naive(laws: &[WeibullSurvival], weeks: f64) -> Plan {
    judge(laws, vec![weeks; laws.len()])
}

/// The optimal plan with the shortest mean interval whose refreshes find a change with at least this
/// probability. `None` if even refreshes [`WEEKS_MAX`] weeks apart do not reach it.
pub fn for_precision(laws: &[WeibullSurvival], precision: f64) -> Option<(f64, Plan)> {
    let reaches = |weeks: f64| optimal(laws, weeks).precision >= precision;
    if !reaches(WEEKS_MAX) {
        return None;
    }
    // Precision grows with the interval, so bisect for the shortest interval that reaches it: it refreshes
    // most.
    let (mut low, mut high) = (WEEKS_MIN.ln(), WEEKS_MAX.ln());
    for _ in 0..60 {
        let middle = low.midpoint(high);
        if reaches(middle.exp()) { high = middle } else { low = middle }
    }
    Some((high.exp(), optimal(laws, high.exp())))
}

/// Shortest mean interval tried for a precision: about an hour.
const WEEKS_MIN: f64 = 0.006;

/// Longest mean interval tried for a precision: about a century.
pub const WEEKS_MAX: f64 = 5_000.0;

fn judge(laws: &[WeibullSurvival], intervals: Vec<f64>) -> Plan {
    let mut survival = 0.0;
    let (mut refreshes, mut found) = (0.0, 0.0);
    for (law, &interval) in laws.iter().zip(&intervals) {
        survival += if interval.is_finite() { law.mean_freshness(Days::new(interval)) } else { 0.0 };
        if interval.is_finite() {
            refreshes += 1.0 / interval;
            found += (1.0 - law.survival(Days::new(interval))) / interval;
        }
    }
    let precision = if refreshes > 0.0 { found / refreshes } else { 0.0 };
    Plan { intervals, survival: survival / laws.len() as f64, precision }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn two_databases_of_table_5_turn_around_when_refreshes_are_few() {
        // λ of Table 5, γ = 0.901: the optimum for these two alone (the table's own pair belongs to a plan
        // for 152 databases).
        let laws = [WeibullSurvival::new(0.088, 0.901), WeibullSurvival::new(0.023, 0.901)];
        let often = optimal(&laws, 10.0);
        assert!(
            (often.intervals[0] - 7.7).abs() < 0.1 && (often.intervals[1] - 14.1).abs() < 0.1,
            "{often:?}"
        );
        let seldom = optimal(&laws, 100.0);
        assert!(seldom.intervals[0] > seldom.intervals[1], "{seldom:?}");
    }

    #[test]
    fn a_wanted_precision_is_reached() {
        let laws = [WeibullSurvival::new(0.1, 0.9), WeibullSurvival::new(0.02, 0.9)];
        let (weeks, plan) = for_precision(&laws, 0.6).expect("it can be");
        assert!((plan.precision - 0.6).abs() < 1e-3, "{weeks} {plan:?}");
        assert!(for_precision(&[WeibullSurvival::new(1e-30, 1.0)], 0.9).is_none());
    }

    proptest! {
        #[test]
        fn no_plan_is_worse_than_naive(
            scales in prop::collection::vec(1e-4f64..1.0, 1..12),
            shape in 0.4f64..2.0,
            weeks in 1f64..60.0,
        ) {
            let laws: Vec<_> = scales.iter().map(|scale| WeibullSurvival::new(*scale, shape)).collect();
            let (best, plain) = (optimal(&laws, weeks), naive(&laws, weeks));
            prop_assert!(plain.survival <= best.survival + 1e-9, "{best:?} {plain:?}");
            let refreshes: f64 = best.intervals.iter().map(|interval| 1.0 / interval).sum();
            prop_assert!((refreshes * weeks / laws.len() as f64 - 1.0).abs() < 1e-6, "{refreshes}");
        }
    }
}
