//! One question with its limits, asked of the theory for any budget.

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

/// The pages, the objective and all limits but the budget.
pub(super) struct Planner<'a> {
    pages: Pages<'a>,
    /// The pages under each of the rates that are equally likely.
    outlooks: Vec<Pages<'a>>,
    hosts: Option<&'a Hosts>,
    host_limits: Vec<VisitsPerDay>,
    objective: Objective,
    visit_frequency_min: VisitsPerDay,
}

/// How visits are spread over the pages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Policy {
    /// As the objective asks.
    Planned,
    /// Every page as often as every other.
    Uniform,
    /// Every page as often as it changes.
    Proportional,
}

impl Policy {
    /// Every policy, the plan first.
    pub(super) const ALL: [Self; 3] = [Self::Planned, Self::Uniform, Self::Proportional];

    /// Its name in a report.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Planned => "this plan",
            Self::Uniform => "uniform",
            Self::Proportional => "proportional",
        }
    }
}

/// What an allocation does for the copy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Outcome {
    /// Expected freshness and age, each page counted with its weight.
    pub(super) quality: FreshnessAndAge,
    /// Share of the changes, each counted with the weight of its page, that a visit finds before the next change.
    pub(super) changes_found_share: f64,
    /// What the visits take from the budget.
    pub(super) cost_per_day: VisitsPerDay,
    /// Pages that change, have a weight, and are never visited.
    pub(super) pages_given_up: usize,
    /// Their share of the weight of all pages.
    pub(super) weight_given_up_share: f64,
    /// The age over the other pages: finite, where giving up a page makes the age of the whole infinite.
    pub(super) age_of_visited: Days,
    /// Pages that get no more than the minimum frequency, when there is one.
    pub(super) pages_at_minimum: usize,
}

impl<'a> Planner<'a> {
    /// A planner for these pages. Every host gets the same limit.
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

    /// Fails, with the numbers, when no plan can keep the limits.
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
                "--at-least asks for {minimum} to each page, which is {} to the host {}, but --host-limit is {}",
                visits_a_day(needed.get()),
                self.host_name(host),
                visits_a_day(self.host_limits[host as usize].get())
            ),
        }
    }

    /// The allocation of a policy. Panics when the limits cannot be kept.
    pub(super) fn allocate(&self, policy: Policy, visit_budget: VisitsPerDay) -> Allocation {
        let constraints = self.constraints(visit_budget);
        match policy {
            Policy::Planned => allocate(&self.pages, self.objective, &constraints),
            Policy::Uniform => uniform(&self.pages, &constraints),
            Policy::Proportional => proportional(&self.pages, &constraints),
        }
    }

    /// Expected freshness and age under an allocation: where rates are not certain, the mean over what they may be.
    pub(super) fn quality(&self, visit_frequencies: &[VisitsPerDay]) -> FreshnessAndAge {
        self.mean_over_outlooks(|pages| evaluate(pages, visit_frequencies, Order::Fixed))
    }

    /// What the visits of an allocation take from the budget.
    pub(super) fn cost_per_day(&self, visit_frequencies: &[VisitsPerDay]) -> VisitsPerDay {
        let cost = |page: usize| self.pages.costs.map_or(1.0, |costs| costs[page]);
        VisitsPerDay::new(visit_frequencies.iter().enumerate().map(|(page, f)| cost(page) * f.get()).sum())
    }

    /// The least budget that the minimum frequency leaves possible; zero when there is no minimum.
    pub(super) fn budget_min(&self) -> VisitsPerDay {
        let cost: f64 = self.pages.costs.map_or(self.pages.len() as f64, |costs| costs.iter().sum());
        // A hair more, so that rounding in the sum does not make the least budget impossible.
        VisitsPerDay::new(cost * self.visit_frequency_min.get() * (1.0 + 1e-9))
    }

    /// Everything a report says of an allocation.
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
        // The sum of nothing is a negative zero, which the addition mends.
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

    /// The share of changes that visits find: the freshness of a collection whose pages weigh as much as their changes.
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

    /// Freshness and age under an allocation when the pages weigh this much; perfect when none weighs anything.
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
