//! The report as one JSON object.
//!
//! Names carry their units and do not change. An infinite number is the string "inf".

use std::path::Path;

use freshet_theory::freshness::measure::FreshnessAndAge;
use freshet_theory::plan::curve::{CurvePoint, Reach};
use freshet_theory::plan::planner::Outcome;
use serde_json::{Value, json};

use super::history::evidence_json;
use super::report::{Report, SaturatedHost, Target};

/// Maximum number of saturated hosts listed. Their count is always complete.
const HOSTS_MAX: usize = 1_000;

impl Report<'_> {
    /// The report as JSON, on one line.
    pub(super) fn json(&self, svg_path: Option<&Path>) -> String {
        let options = self.options;
        let mut report = json!({
            "table": options.input.display().to_string(),
            "pages": self.table.len(),
            "objective": self.objective_name(),
            "budget_visits_per_day": number(self.visit_budget.get()),
            "host_limit_visits_per_day": options.host_limit.map(|limit| number(limit.get())),
            "at_least_visits_per_day": options.at_least.map(|minimum| number(minimum.get())),
            "unspent_visits_per_day": number(self.unspent()),
            "plan_file": options.out.as_ref().map(|path| path.display().to_string()),
            "curve_file": svg_path.map(|path| path.display().to_string()),
        });
        for (policy, outcome) in ["plan", "uniform", "proportional"].iter().zip(&self.outcomes) {
            report[*policy] = outcome_json(outcome);
        }
        if let Some(hosts) = &self.table.attributes.hosts {
            let saturated = self.saturated_hosts();
            report["hosts"] = json!(hosts.names.len());
            report["saturated_host_count"] = json!(saturated.len());
            report["saturated_hosts"] = saturated.iter().take(HOSTS_MAX).map(SaturatedHost::json).collect();
        }
        if let Some(evidence) = &self.table.evidence {
            report["estimated_from"] = evidence_json(evidence);
        }
        if let Some(uncertainty) = &self.uncertainty {
            report["uncertainty"] = uncertainty.json();
        }
        if let Some(target) = &self.target {
            report["target"] = target.json();
        }
        if let Some(curve) = &self.curve {
            report["curve"] = curve.iter().map(point_json).collect();
        }
        report.to_string() + "\n"
    }
}

fn outcome_json(outcome: &Outcome) -> Value {
    json!({
        "freshness": number(outcome.quality.freshness),
        "age_days": number(outcome.quality.age.get()),
        "age_of_visited_pages_days": number(outcome.age_of_visited.get()),
        "changes_found_share": number(outcome.changes_found_share),
        "spent_visits_per_day": number(outcome.cost_per_day.get()),
        "pages_given_up": outcome.pages_given_up,
        "weight_given_up_share": number(outcome.weight_given_up_share),
        "pages_at_minimum": outcome.pages_at_minimum,
    })
}

fn point_json(point: &CurvePoint) -> Value {
    let quality = |quality: &FreshnessAndAge| {
        json!({
            "freshness": number(quality.freshness), "age_days": number(quality.age.get())
        })
    };
    let [plan, uniform, proportional] = &point.qualities;
    json!({
        "budget_visits_per_day": number(point.visit_budget.get()),
        "plan": quality(plan),
        "uniform": quality(uniform),
        "proportional": quality(proportional),
    })
}

impl Target {
    fn json(&self) -> Value {
        match self.reach {
            Reach::With(budget) => json!({
                "freshness": self.freshness,
                "can_be_reached": true,
                "budget_visits_per_day": number(budget.get()),
            }),
            Reach::Limited { visit_budget, freshness } => json!({
                "freshness": self.freshness,
                "can_be_reached": false,
                "freshness_at_limits": number(freshness),
                "visits_per_day_at_limits": number(visit_budget.get()),
            }),
            Reach::Beyond(budget) => json!({
                "freshness": self.freshness,
                "can_be_reached": false,
                "more_than_visits_per_day": number(budget.get()),
            }),
        }
    }
}

impl SaturatedHost<'_> {
    fn json(&self) -> Value {
        json!({"host": self.name, "pages": self.pages, "visits_per_day": number(self.visits_per_day)})
    }
}

/// A number as JSON, which has no infinity: that becomes the string "inf".
pub(super) fn number(number: f64) -> Value {
    if number.is_infinite() { json!("inf") } else { json!(number) }
}
