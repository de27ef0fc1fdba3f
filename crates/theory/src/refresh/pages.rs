//! Input of an allocation: the pages, column by column, and the constraints of a plan.

use rayon::prelude::*;

use super::scaled::Spread;
use crate::units::{ChangesPerDay, VisitsPerDay};

/// Pages to plan for. All columns are in the same order and of the same length.
#[derive(Clone, Copy, Debug)]
pub struct Pages<'a> {
    /// How often each page changes.
    pub change_rates: &'a [ChangesPerDay],
    /// Importance of each page; all equal when left out. Finite and not negative.
    pub importance: Option<&'a [f64]>,
    /// Cost of one visit to each page in units of the budget; one when left out. Finite and above zero.
    pub costs: Option<&'a [f64]>,
}

/// Maximum visits per day to each host.
#[derive(Clone, Copy, Debug)]
pub struct HostLimits<'a> {
    /// Host of each page, as an index into `limits`.
    pub host_of: &'a [u32],
    /// Maximum visits per day to the pages of each host together, whatever they cost.
    pub limits: &'a [VisitsPerDay],
}

/// The constraints of a plan.
#[derive(Clone, Copy, Debug)]
pub struct Constraints<'a> {
    /// Visits per day to spend, each counted with its cost.
    pub visit_budget: VisitsPerDay,
    /// Every page is visited at least this often.
    pub visit_frequency_min: VisitsPerDay,
    /// Limits per host; none when left out.
    pub host_limits: Option<HostLimits<'a>>,
}

/// Why no plan can satisfy the constraints.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Infeasible {
    /// Visiting every page at the minimum frequency already costs more than the budget.
    MinimumExceedsBudget {
        /// The cost of the minimum.
        needed: VisitsPerDay,
    },
    /// Visiting every page of a host at the minimum frequency already exceeds the limit of the host.
    MinimumExceedsHostLimit {
        /// The first such host.
        host: u32,
        /// Visits per day to this host at the minimum frequency.
        needed: VisitsPerDay,
    },
}

/// Panics unless the columns have the same length and their values are in range. Returns the
/// spread of the importances.
pub(super) fn check_columns(pages: usize, importance: Option<&[f64]>, costs: Option<&[f64]>) -> Spread {
    if let Some(costs) = costs {
        assert_eq!(costs.len(), pages);
        assert!(costs.par_iter().all(|cost| cost.is_finite() && 0.0 < *cost));
    }
    let Some(importance) = importance else { return Spread::ONE };
    assert_eq!(importance.len(), pages);
    assert!(importance.par_iter().all(|importance| importance.is_finite() && 0.0 <= *importance));
    Spread::of(importance.par_iter().copied())
}

impl<'a> Pages<'a> {
    /// Pages of equal importance and cost.
    pub fn new(change_rates: &'a [ChangesPerDay]) -> Self {
        Self { change_rates, importance: None, costs: None }
    }

    /// Number of pages.
    pub fn len(&self) -> usize {
        self.change_rates.len()
    }

    /// Whether there are no pages.
    pub fn is_empty(&self) -> bool {
        self.change_rates.is_empty()
    }

    #[inline(always)]
    pub(super) fn change_rate(&self, page: usize) -> f64 {
        self.change_rates[page].get()
    }

    #[inline(always)]
    pub(super) fn importance(&self, page: usize) -> f64 {
        self.importance.map_or(1.0, |importance| importance[page])
    }

    #[inline(always)]
    pub(super) fn cost(&self, page: usize) -> f64 {
        self.costs.map_or(1.0, |costs| costs[page])
    }
}

impl Constraints<'_> {
    /// A budget without other constraints.
    pub fn budget(visit_budget: VisitsPerDay) -> Self {
        Self { visit_budget, visit_frequency_min: VisitsPerDay::ZERO, host_limits: None }
    }

    /// Why no plan for these pages satisfies the constraints, or `None` when there is one.
    ///
    /// Panics if the columns differ in length or name a host that has no limit.
    pub fn infeasible(&self, pages: &Pages<'_>) -> Option<Infeasible> {
        self.infeasible_for(pages.len(), pages.costs)
    }

    /// [`Self::infeasible`] when only the number and the costs of the pages are known.
    ///
    /// Panics as it does.
    pub fn infeasible_for(&self, pages: usize, costs: Option<&[f64]>) -> Option<Infeasible> {
        assert!(costs.is_none_or(|costs| costs.len() == pages));
        if let Some(hosts) = self.host_limits {
            assert_eq!(hosts.host_of.len(), pages);
            assert!(hosts.host_of.par_iter().all(|host| (*host as usize) < hosts.limits.len()));
        }
        let f_min = self.visit_frequency_min.get();
        if f_min == 0.0 {
            return None;
        }
        let needed = f_min * costs.map_or(pages as f64, |costs| costs.iter().sum());
        if needed > self.visit_budget.get() {
            return Some(Infeasible::MinimumExceedsBudget {
                needed: VisitsPerDay::new(needed.min(f64::MAX)),
            });
        }
        let hosts = self.host_limits?;
        let mut pages_of = vec![0u32; hosts.limits.len()];
        hosts.host_of.iter().for_each(|host| pages_of[*host as usize] += 1);
        pages_of.iter().zip(hosts.limits).enumerate().find_map(|(host, (pages, limit))| {
            let needed = f64::from(*pages) * f_min;
            (needed > limit.get()).then(|| Infeasible::MinimumExceedsHostLimit {
                host: host as u32,
                needed: VisitsPerDay::new(needed.min(f64::MAX)),
            })
        })
    }
}
