//! Limits that no plan can keep, in words.

use anyhow::bail;
use freshet_theory::plan::planner::Planner;
use freshet_theory::refresh::Infeasible;
use freshet_theory::units::VisitsPerDay;

use super::pages::PageTable;
use super::quantity::{grouped, plural, visits_a_day};

/// Fails, with the numbers, when no plan on this budget can keep the limits.
pub(super) fn check(
    planner: &Planner<'_>,
    table: &PageTable,
    visit_budget: VisitsPerDay,
) -> anyhow::Result<()> {
    let minimum = visits_a_day(planner.visit_frequency_min.get());
    match planner.infeasible(visit_budget) {
        None => Ok(()),
        Some(Infeasible::MinimumExceedsBudget { needed }) => bail!(
            "--at-least asks for {minimum} to each of {} {}, which takes {}, but --budget is {}",
            grouped(table.len()),
            plural(table.len(), "page", "pages"),
            visits_a_day(needed.get()),
            visits_a_day(visit_budget.get())
        ),
        Some(Infeasible::MinimumExceedsHostLimit { host, needed }) => bail!(
            "--at-least asks for {minimum} to each page, which is {} to the host {}, but --host-limit is {}",
            visits_a_day(needed.get()),
            table.attributes.hosts.as_ref().map_or("", |hosts| &hosts.names[host as usize]),
            visits_a_day(planner.host_limits.map_or(0.0, |hosts| hosts.limits[host as usize].get()))
        ),
    }
}
