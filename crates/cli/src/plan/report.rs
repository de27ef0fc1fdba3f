//! The result of a plan, which [`super::report_text`] and [`super::report_json`] format.

use std::collections::HashMap;

use freshet_lab::figure::chart::{Chart, Note, Plate};
use freshet_theory::plan::curve::{BUDGET_MIN, CurvePoint, Reach};
use freshet_theory::plan::planner::{Outcome, Policy};
use freshet_theory::refresh::Allocation;
use freshet_theory::units::VisitsPerDay;

use super::PlanOptions;
use super::figure::{age_figure, freshness_figure};
use super::pages::PageTable;
use super::quantity::{grouped, share, visits_a_day};
use super::uncertainty::Uncertainty;

/// Everything that a report shows.
pub(super) struct Report<'a> {
    /// The options given.
    pub(super) options: &'a PlanOptions,
    /// The pages.
    pub(super) table: &'a PageTable,
    /// The budget that is planned for.
    pub(super) visit_budget: VisitsPerDay,
    /// The visit frequencies of the plan.
    pub(super) allocation: Allocation,
    /// What each policy achieves, in the order of [`Policy::ALL`].
    pub(super) outcomes: [Outcome; Policy::ALL.len()],
    /// Uncertainty of the result, if rates were estimated.
    pub(super) uncertainty: Option<Uncertainty>,
    /// The budget for a target freshness.
    pub(super) target: Option<Target>,
    /// What other budgets achieve.
    pub(super) curve: Option<Vec<CurvePoint>>,
}

/// The name of a policy.
pub(super) fn policy_name(policy: Policy) -> &'static str {
    match policy {
        Policy::Planned => "this plan",
        Policy::Uniform => "uniform",
        Policy::Proportional => "proportional",
    }
}

/// A target freshness, and the budget for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    /// The freshness.
    pub(super) freshness: f64,
    /// The budget for it.
    pub(super) reach: Reach,
}

impl Target {
    /// The result for the target, as a sentence without its full stop.
    pub(super) fn sentence(&self) -> String {
        let target = self.freshness;
        match self.reach {
            Reach::With(budget) if budget.get() <= BUDGET_MIN => {
                format!("freshness {target} takes no visits")
            }
            Reach::With(budget) => format!("freshness {target} takes {}", visits_a_day(budget.get())),
            Reach::Limited { visit_budget, freshness } => format!(
                "freshness {target} cannot be reached: the most that --host-limit lets be spent, {}, gives \
                 {}",
                visits_a_day(visit_budget.get()),
                share(freshness)
            ),
            Reach::Beyond(budget) => {
                format!("freshness {target} takes more than {}", visits_a_day(budget.get()))
            }
        }
    }
}

/// A host whose limit is reached.
pub(super) struct SaturatedHost<'a> {
    /// The host.
    pub(super) name: &'a str,
    /// Number of its pages.
    pub(super) pages: usize,
    /// Visits a day to all of them.
    pub(super) visits_per_day: f64,
}

impl Report<'_> {
    /// The curve as SVG.
    pub(super) fn svg(&self) -> String {
        let heading = format!(
            "What a budget buys: {} pages, objective {}",
            grouped(self.table.len()),
            self.objective_name()
        );
        Plate { heading, columns: 1, charts: self.figures() }.draw()
    }

    /// The name of the objective.
    pub(super) fn objective_name(&self) -> &'static str {
        self.options.objective.name()
    }

    /// The unspent budget, beyond rounding error.
    pub(super) fn unspent(&self) -> f64 {
        let budget = self.visit_budget.get();
        let left = budget - self.outcomes[0].cost_per_day.get();
        if left > budget * 1e-6 { left } else { 0.0 }
    }

    /// The hosts whose limit is reached, those with most pages first.
    pub(super) fn saturated_hosts(&self) -> Vec<SaturatedHost<'_>> {
        let Some(hosts) = &self.table.attributes.hosts else { return Vec::new() };
        let mut sums: HashMap<u32, (usize, f64)> =
            self.allocation.saturated_hosts.iter().map(|host| (*host, (0, 0.0))).collect();
        for (host, visit_frequency) in hosts.of_page.iter().zip(&self.allocation.visit_frequencies) {
            if let Some((pages, visits)) = sums.get_mut(host) {
                *pages += 1;
                *visits += visit_frequency.get();
            }
        }
        let named = |(host, (pages, visits_per_day)): (u32, (usize, f64))| SaturatedHost {
            name: &hosts.names[host as usize],
            pages,
            visits_per_day,
        };
        let mut saturated: Vec<_> = sums.into_iter().map(named).collect();
        saturated.sort_by(|a, b| b.pages.cmp(&a.pages).then_with(|| a.name.cmp(b.name)));
        saturated
    }

    /// The charts of the curve.
    pub(super) fn figures(&self) -> Vec<Chart> {
        let Some(curve) = &self.curve else { return Vec::new() };
        let budget = self.visit_budget.get();
        let marked = vec![Note::At(budget, format!("budget: {}", visits_a_day(budget)))];
        let noted = self.target.and_then(|target| match target.reach {
            Reach::With(needed) => {
                let name = format!("{} takes {}", target.freshness, visits_a_day(needed.get()));
                Some(Note::Point(needed.get(), target.freshness, name))
            }
            Reach::Limited { .. } | Reach::Beyond(_) => None,
        });
        let freshness_notes = marked.iter().cloned().chain(noted).collect();
        vec![freshness_figure(curve, freshness_notes), age_figure(curve, marked)]
    }
}
