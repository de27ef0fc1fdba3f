//! Plans the pages of a table within its limits, for any budget.

use anyhow::bail;
use freshet_theory::freshness::measure::FreshnessAndAge;
use freshet_theory::freshness::order::Order;
use freshet_theory::refresh::{
    Allocation, Constraints, HostLimits, Infeasible, Objective, Pages, allocate, evaluate, proportional,
    uniform,
};
use freshet_theory::units::{Days, VisitsPerDay};

use super::pages::{Hosts, PageTable};
use super::quantity::{grouped, plural, visits_a_day};

/// The pages, the objective and all limits except the budget.
pub(super) struct Planner<'a> {
    pages: Pages<'a>,
    /// The pages under each of the equally likely rates.
    outlooks: Vec<Pages<'a>>,
    hosts: Option<&'a Hosts>,
    host_limits: Vec<VisitsPerDay>,
    objective: Objective,
    visit_frequency_min: VisitsPerDay,
}

/// How visits are distributed over the pages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Policy {
    /// Best for the objective.
    Planned,
    /// All pages equally often.
    Uniform,
    /// Each page in proportion to its change rate.
    Proportional,
}

impl Policy {
    /// All policies, the plan first.
    pub(super) const ALL: [Self; 3] = [Self::Planned, Self::Uniform, Self::Proportional];

    /// Name in a report.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Planned => "this plan",
            Self::Uniform => "uniform",
            Self::Proportional => "proportional",
        }
    }
}

/// What an allocation achieves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Outcome {
    /// Expected freshness and age, weighted by page.
    pub(super) quality: FreshnessAndAge,
    /// Share of the changes that a visit finds before the next change, weighted by page.
    pub(super) changes_found_share: f64,
    /// Budget used by the visits.
    pub(super) cost_per_day: VisitsPerDay,
    /// Number of pages that change, have a weight and are never visited.
    pub(super) pages_given_up: usize,
    /// Their share of the total weight.
    pub(super) weight_given_up_share: f64,
    /// Mean age of the other pages. Finite, whereas a page given up makes the overall age infinite.
    pub(super) age_of_visited: Days,
    /// Number of pages that get only the minimum frequency, if there is one.
    pub(super) pages_at_minimum: usize,
}

impl<'a> Planner<'a> {
    /// A planner for these pages. Every host has the same limit.
    pub(super) fn new(
        table: &'a PageTable,
        objective: Objective,
        visit_frequency_min: VisitsPerDay,
        host_limit: Option<VisitsPerDay>,
    ) -> Self {
        let hosts = table.attributes.hosts.as_ref();
        let host_limits = match (hosts, host_limit) {
            (Some(hosts), Some(limit)) => vec![limit; hosts.names.len()],
            _ => Vec::new(),
        };
        Self {
            pages: table.pages(),
            outlooks: table.outlooks(),
            hosts,
            host_limits,
            objective,
            visit_frequency_min,
        }
    }

    /// Fails, with the numbers, if no plan can satisfy the limits.
    pub(super) fn check(&self, visit_budget: VisitsPerDay) -> anyhow::Result<()> {
        let minimum = visits_a_day(self.visit_frequency_min.get());
        match self.constraints(visit_budget).infeasible(&self.pages) {
            None => Ok(()),
            Some(Infeasible::MinimumExceedsBudget { needed }) => bail!(
                "--at-least asks for {minimum} to each of {} {}, which takes {}, but --budget is {}",
                grouped(self.pages.len()),
                plural(self.pages.len(), "page", "pages"),
                visits_a_day(needed.get()),
                visits_a_day(visit_budget.get())
            ),
            Some(Infeasible::MinimumExceedsHostLimit { host, needed }) => bail!(
                "--at-least asks for {minimum} to each page, which is {} to the host {}, but --host-limit is \
                 {}",
                visits_a_day(needed.get()),
                self.host_name(host),
                visits_a_day(self.host_limits[host as usize].get())
            ),
        }
    }

    /// The allocation of a policy. Panics if the limits cannot be satisfied.
    pub(super) fn allocate(&self, policy: Policy, visit_budget: VisitsPerDay) -> Allocation {
        let constraints = self.constraints(visit_budget);
        match policy {
            Policy::Planned => allocate(&self.pages, self.objective, &constraints),
            Policy::Uniform => uniform(&self.pages, &constraints),
            Policy::Proportional => proportional(&self.pages, &constraints),
        }
    }

    /// Expected freshness and age under an allocation. If the rates are uncertain, the mean over the equally
    /// likely rates.
    pub(super) fn quality(&self, visit_frequencies: &[VisitsPerDay]) -> FreshnessAndAge {
        self.mean_over_outlooks(|pages| evaluate(pages, visit_frequencies, Order::Fixed))
    }

    /// Budget used by the visits of an allocation.
    pub(super) fn cost_per_day(&self, visit_frequencies: &[VisitsPerDay]) -> VisitsPerDay {
        let cost = |page: usize| self.pages.costs.map_or(1.0, |costs| costs[page]);
        VisitsPerDay::new(visit_frequencies.iter().enumerate().map(|(page, f)| cost(page) * f.get()).sum())
    }

    /// Smallest budget that allows the minimum frequency; zero if there is no minimum.
    pub(super) fn budget_min(&self) -> VisitsPerDay {
        let cost: f64 = self.pages.costs.map_or(self.pages.len() as f64, |costs| costs.iter().sum());
        // A little more, so that rounding in the sum does not make the smallest budget impossible.
        VisitsPerDay::new(cost * self.visit_frequency_min.get() * (1.0 + 1e-9))
    }

    /// All figures that a report gives for an allocation.
    pub(super) fn outcome(&self, visit_frequencies: &[VisitsPerDay]) -> Outcome {
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
        let host_limits = self
            .hosts
            .filter(|_| !self.host_limits.is_empty())
            .map(|hosts| HostLimits { host_of: &hosts.of_page, limits: &self.host_limits });
        Constraints { visit_budget, visit_frequency_min: self.visit_frequency_min, host_limits }
    }

    fn host_name(&self, host: u32) -> &str {
        self.hosts.map_or("", |hosts| hosts.names.get(host as usize))
    }
}
