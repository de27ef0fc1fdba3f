//! Allocation of visits, as functions of `freshet eval`.

use freshet_theory::refresh::{self, Allocation, Constraints, Objective, Pages, VisitOrder};
use freshet_theory::units::{ChangesPerDay, VisitsPerDay};
use serde_json::json;

use super::Function;
use super::answer::{Answer, number, numbers};
use super::arguments::{Arguments, NonNegative, Positive};

/// The functions of this family.
pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "optimal_freshness",
        arguments: "lambda[], total, weights?[]",
        evaluate: optimal_freshness,
    },
    Function { name: "optimal_age", arguments: "lambda[], total, weights?[]", evaluate: optimal_age },
];

fn optimal_freshness(arguments: &Arguments<'_>) -> Answer {
    optimal(arguments, Objective::Freshness)
}

fn optimal_age(arguments: &Arguments<'_>) -> Answer {
    optimal(arguments, Objective::Age)
}

fn optimal(arguments: &Arguments<'_>, objective: Objective) -> Answer {
    let rates: Vec<NonNegative> = arguments.get("lambda")?;
    let rates: Vec<_> = rates.iter().map(|rate| ChangesPerDay::new(rate.0)).collect();
    let weights: Option<Vec<NonNegative>> = arguments.optional("weights")?;
    let weights: Option<Vec<f64>> = weights.map(|weights| weights.iter().map(|w| w.0).collect());
    let total: Positive = arguments.get("total")?;
    let pages = Pages { change_rates: &rates, importance: weights.as_deref(), costs: None };
    let Allocation { visit_frequencies, .. } =
        refresh::allocate(&pages, objective, &Constraints::budget(VisitsPerDay::new(total.0)));
    let q = refresh::evaluate(&pages, &visit_frequencies, VisitOrder::Fixed);
    Ok(
        json!({"f": numbers(visit_frequencies.iter().map(|f| f.get())), "freshness": number(q.freshness), "age": number(q.age.get())}),
    )
}
