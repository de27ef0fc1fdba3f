//! One question with its limits, asked for any budget.
//!
//! Joins [`crate::refresh`], which spreads the visits, and what a plan is judged by: freshness and age, the
//! share of changes found, and the pages that are given up. Where rates are estimates a page has several that
//! are equally likely, and quality is the mean over them.
//!
//! # Promises
//! - An allocation keeps the limits; whether there is one is asked beforehand.
//! - A collection in which nothing changes, or nothing weighs anything, is perfect.

use crate::freshness::measure::FreshnessAndAge;
use crate::freshness::order::Order;
use crate::refresh::{
    Allocation, Constraints, HostLimits, Infeasible, Objective, Pages, allocate, evaluate, proportional,
    uniform,
};
use crate::units::{Days, VisitsPerDay};

/// The pages, the objective and all limits but the budget.
#[derive(Clone, Debug)]
pub struct Planner<'a> {
    /// The pages.
    pub pages: Pages<'a>,
    /// The pages under each of the rates that are equally likely; the pages themselves when their rates are
    /// certain.
    pub outlooks: Vec<Pages<'a>>,
    /// What the visits are for.
    pub objective: Objective,
    /// Every page is visited at least this often.
    pub visit_frequency_min: VisitsPerDay,
    /// Limits per host; none when left out.
    pub host_limits: Option<HostLimits<'a>>,
}

/// How visits are distributed over the pages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Policy {
    /// Best for the objective.
    Planned,
    /// All pages equally often.
    Uniform,
    /// Each page in proportion to its change rate.
    Proportional,
}

impl Policy {
    /// Every policy, the plan first.
    pub const ALL: [Self; 3] = [Self::Planned, Self::Uniform, Self::Proportional];
}

/// What an allocation achieves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// Expected freshness and age, each page counted with its weight.
    pub quality: FreshnessAndAge,
    /// Share of the changes, each counted with the weight of its page, that a visit finds before the next
    /// change.
    pub changes_found_share: f64,
    /// What the visits take from the budget.
    pub cost_per_day: VisitsPerDay,
    /// Pages that change, have a weight, and are never visited.
    pub pages_given_up: usize,
    /// Their share of the weight of all pages.
    pub weight_given_up_share: f64,
    /// The age over the other pages: finite, where giving up a page makes the age of the whole infinite.
    pub age_of_visited: Days,
    /// Pages that get no more than the minimum frequency, when there is one.
    pub pages_at_minimum: usize,
}

impl Planner<'_> {
    /// Why no plan on this budget can keep the limits, or `None` when there is one.
    pub fn infeasible(&self, visit_budget: VisitsPerDay) -> Option<Infeasible> {
        self.constraints(visit_budget).infeasible(&self.pages)
    }

    /// The allocation of a policy. Panics when the limits cannot be kept.
    pub fn allocate(&self, policy: Policy, visit_budget: VisitsPerDay) -> Allocation {
        let constraints = self.constraints(visit_budget);
        match policy {
            Policy::Planned => allocate(&self.pages, self.objective, &constraints),
            Policy::Uniform => uniform(&self.pages, &constraints),
            Policy::Proportional => proportional(&self.pages, &constraints),
        }
    }

    /// Expected freshness and age under an allocation: where rates are not certain, the mean over what they
    /// may be.
    pub fn quality(&self, visit_frequencies: &[VisitsPerDay]) -> FreshnessAndAge {
        self.mean_over_outlooks(|pages| evaluate(pages, visit_frequencies, Order::Fixed))
    }

    /// What the visits of an allocation take from the budget.
    pub fn cost_per_day(&self, visit_frequencies: &[VisitsPerDay]) -> VisitsPerDay {
        let cost = |page: usize| self.pages.costs.map_or(1.0, |costs| costs[page]);
        VisitsPerDay::new(visit_frequencies.iter().enumerate().map(|(page, f)| cost(page) * f.get()).sum())
    }

    /// The least budget that the minimum frequency leaves possible; zero when there is no minimum.
    pub fn budget_min(&self) -> VisitsPerDay {
        let cost: f64 = self.pages.costs.map_or(self.pages.len() as f64, |costs| costs.iter().sum());
        // A little more, so that rounding in the sum does not make the smallest budget impossible.
        VisitsPerDay::new(cost * self.visit_frequency_min.get() * (1.0 + 1e-9))
    }

    /// Everything a report says of an allocation.
    pub fn outcome(&self, visit_frequencies: &[VisitsPerDay]) -> Outcome {
        let weight = |page: usize| self.pages.importance.map_or(1.0, |importance| importance[page]);
        let rates = self.pages.change_rates;
        let given_up: Vec<bool> = visit_frequencies
            .iter()
            .enumerate()
            .map(|(page, f)| *f == VisitsPerDay::ZERO && rates[page].get() > 0.0 && weight(page) > 0.0)
            .collect();
        let quality = self.quality(visit_frequencies);
        let weight_of_all: f64 = (0..rates.len()).map(weight).sum();
        // An empty sum is -0.0; adding 0.0 makes it 0.0.
        let weight_given_up = (0..rates.len()).filter(|page| given_up[*page]).map(weight).sum::<f64>() + 0.0;
        let minimum = self.visit_frequency_min.get();
        let at_minimum = |f: &&VisitsPerDay| minimum > 0.0 && f.get() <= minimum * (1.0 + 1e-9);
        Outcome {
            quality,
            changes_found_share: self.changes_found_share(visit_frequencies),
            cost_per_day: self.cost_per_day(visit_frequencies),
            pages_given_up: given_up.iter().filter(|given_up| **given_up).count(),
            weight_given_up_share: weight_given_up / weight_of_all,
            age_of_visited: self
                .quality_by(visit_frequencies, |page| if given_up[page] { 0.0 } else { weight(page) })
                .age,
            pages_at_minimum: visit_frequencies.iter().filter(at_minimum).count(),
        }
    }

    /// Share of the changes that visits find. It equals the freshness of a collection whose pages are
    /// weighted by their changes.
    fn changes_found_share(&self, visit_frequencies: &[VisitsPerDay]) -> f64 {
        let (mut found, mut all) = (0.0, 0.0);
        for pages in &self.outlooks {
            let weight = |page: usize| pages.importance.map_or(1.0, |importance| importance[page]);
            let changes: Vec<f64> =
                pages.change_rates.iter().enumerate().map(|(page, rate)| weight(page) * rate.get()).collect();
            let changes_per_day: f64 = changes.iter().sum();
            if changes_per_day > 0.0 {
                let pages = Pages { importance: Some(&changes), ..*pages };
                found += changes_per_day * evaluate(&pages, visit_frequencies, Order::Fixed).freshness;
                all += changes_per_day;
            }
        }
        if all > 0.0 { found / all } else { 1.0 }
    }

    /// Freshness and age under an allocation with these page weights. Perfect if all weights are zero.
    fn quality_by(
        &self,
        visit_frequencies: &[VisitsPerDay],
        weight: impl Fn(usize) -> f64,
    ) -> FreshnessAndAge {
        let importance: Vec<f64> = (0..self.pages.len()).map(weight).collect();
        if importance.iter().all(|weight| *weight == 0.0) {
            return FreshnessAndAge { freshness: 1.0, age: Days::ZERO };
        }
        self.mean_over_outlooks(|pages| {
            let pages = Pages { importance: Some(&importance), ..*pages };
            evaluate(&pages, visit_frequencies, Order::Fixed)
        })
    }

    fn mean_over_outlooks(&self, quality: impl Fn(&Pages<'_>) -> FreshnessAndAge) -> FreshnessAndAge {
        let qualities: Vec<FreshnessAndAge> = self.outlooks.iter().map(quality).collect();
        let mean = |value: fn(&FreshnessAndAge) -> f64| {
            qualities.iter().map(value).sum::<f64>() / qualities.len() as f64
        };
        FreshnessAndAge {
            freshness: mean(|quality| quality.freshness),
            age: Days::new(mean(|quality| quality.age.get())),
        }
    }

    fn constraints(&self, visit_budget: VisitsPerDay) -> Constraints<'_> {
        let Self { visit_frequency_min, host_limits, .. } = *self;
        Constraints { visit_budget, visit_frequency_min, host_limits }
    }
}
