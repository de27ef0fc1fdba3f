//! The columns of a plan: what is known of each page, its visit frequency, and the freshness and age
//! that result.
//!
//! Known values keep the column names that `freshet plan` reads, so that a plan can be planned again.

use std::rc::Rc;

use freshet_theory::freshness::measure::FreshnessAndAge;
use freshet_theory::freshness::order::{Order, time_average};
use freshet_theory::refresh::Pages;
use freshet_theory::units::VisitsPerDay;

use super::pages::PageTable;

/// One column of a plan.
pub(super) struct PlanColumn<'a> {
    /// Its name.
    pub(super) name: &'static str,
    /// Its value for each page.
    pub(super) values: Values<'a>,
}

/// The values of a column by page number.
pub(super) enum Values<'a> {
    Text(Box<dyn Fn(usize) -> &'a str + 'a>),
    Number(Box<dyn Fn(usize) -> f64 + 'a>),
}

/// All columns of the plan for these pages.
pub(super) fn plan_columns<'a>(
    table: &'a PageTable,
    visit_frequencies: &'a [VisitsPerDay],
) -> Vec<PlanColumn<'a>> {
    let mut columns = known_columns(table);
    let outlooks = Rc::new(table.outlooks());
    let mean = move |value: fn(FreshnessAndAge) -> f64| {
        let outlooks = Rc::clone(&outlooks);
        move |page: usize| {
            let of_outlook = |pages: &Pages<'_>| {
                value(time_average(Order::Fixed, pages.change_rates[page], visit_frequencies[page]))
            };
            outlooks.iter().map(of_outlook).sum::<f64>() / outlooks.len() as f64
        }
    };
    columns.push(number("visits_per_day", move |page| visit_frequencies[page].get()));
    // A page that is never visited has an infinite interval.
    columns.push(number("visit_interval_days", move |page| 1.0 / visit_frequencies[page].get()));
    columns.push(number("expected_freshness", mean(|average| average.freshness)));
    columns.push(number("expected_age_days", mean(|average| average.age.get())));
    columns
}

/// Columns with what the table says of each page and what was learned from its visits.
fn known_columns(table: &PageTable) -> Vec<PlanColumn<'_>> {
    let attributes = &table.attributes;
    let mut columns = vec![text("url", |page| &table.urls[page])];
    if let Some(hosts) = &attributes.hosts {
        columns.push(text("host", |page| &hosts.names[hosts.of_page[page] as usize]));
    }
    columns.push(number("changes_per_day", |page| table.change_rates[page].get()));
    if let Some(evidence) = &table.evidence {
        columns.push(number("changes_per_day_low", |page| evidence.intervals[page].low().get()));
        columns.push(number("changes_per_day_high", |page| evidence.intervals[page].high().get()));
        columns.push(number("intervals_seen", |page| f64::from(evidence.intervals_seen[page])));
        columns.push(number("changes_seen", |page| f64::from(evidence.changes_seen[page])));
    }
    if let Some(importance) = &attributes.importance {
        columns.push(number("weight", |page| importance[page]));
    }
    if let Some(costs) = &attributes.costs {
        columns.push(number("cost", |page| costs[page]));
    }
    columns
}

fn text<'a>(name: &'static str, value: impl Fn(usize) -> &'a str + 'a) -> PlanColumn<'a> {
    PlanColumn { name, values: Values::Text(Box::new(value)) }
}

fn number<'a>(name: &'static str, value: impl Fn(usize) -> f64 + 'a) -> PlanColumn<'a> {
    PlanColumn { name, values: Values::Number(Box::new(value)) }
}
