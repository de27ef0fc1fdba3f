//! The charts of a curve, drawn later as text or as SVG.

use freshet_lab::figure::chart::{Axis, Chart, Note, Series};
use freshet_lab::figure::scale::Scale;
use freshet_theory::plan::curve::CurvePoint;
use freshet_theory::plan::planner::Policy;

use super::report::policy_name;

/// Chart of freshness against budget.
pub(super) fn freshness_figure(points: &[CurvePoint], notes: Vec<Note>) -> Chart {
    Chart {
        title: "freshness (share of the copy that is up to date)".to_owned(),
        across: across(points),
        up: Axis::new("freshness", Scale::linear(0.0, 1.0)),
        series: series(points, |point, policy| point.qualities[policy].freshness),
        notes,
    }
}

/// Chart of age against budget.
pub(super) fn age_figure(points: &[CurvePoint], notes: Vec<Note>) -> Chart {
    let ages = points.iter().flat_map(|point| point.qualities.map(|quality| quality.age.get()));
    Chart {
        title: "age (mean days since copies went out of date; no curve where pages are never visited)"
            .to_owned(),
        across: across(points),
        up: Axis::new("age (days)", Scale::logarithmic(ages)),
        series: series(points, |point, policy| point.qualities[policy].age.get()),
        notes,
    }
}

fn across(points: &[CurvePoint]) -> Axis {
    let budgets = points.iter().map(|point| point.visit_budget.get());
    Axis::new("budget (visits a day)", Scale::logarithmic(budgets))
}

fn series(points: &[CurvePoint], value: impl Fn(&CurvePoint, usize) -> f64) -> Vec<Series> {
    let curve = |(index, policy): (usize, &Policy)| {
        let points = points.iter().map(|point| (point.visit_budget.get(), value(point, index)));
        Series::line(policy_name(*policy), points)
    };
    Policy::ALL.iter().enumerate().map(curve).collect()
}
