//! Allocation of visits, as functions of `freshet eval`.
//!
//! What these check beyond the types of the arguments: that lists belong together, that they are not empty where a mean or an
//! optimum is asked for, and that they are not longer than [`ELEMENTS_MAX`].

use freshet_theory::freshness::measure::FreshnessAndAge;
use freshet_theory::freshness::order::Order;
use freshet_theory::refresh::survival::law::Survival as _;
use freshet_theory::refresh::survival::weibull::WeibullSurvival;
use freshet_theory::refresh::{
    AllocationPolicy, Constraints, LawPages, Objective, Pages, allocate, allocate_by_law,
    allocate_to_classes, evaluate,
};
use freshet_theory::units::{ChangesPerDay, Days, VisitsPerDay};
use serde_json::{Value, json};

use super::Function;
use super::answer::{Answer, number, numbers};
use super::arguments::{Arguments, NonNegative, Positive};

/// The functions of this family.
pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "evaluate_allocation",
        arguments: "lambda[], f[], weights?[], policy?=fixed|random|poisson",
        evaluate: evaluate_allocation,
    },
    Function {
        name: "optimal_freshness",
        arguments: "lambda[], total, weights?[]",
        evaluate: optimal_freshness,
    },
    Function { name: "optimal_age", arguments: "lambda[], total, weights?[]", evaluate: optimal_age },
    Function {
        name: "class_allocation",
        arguments: "fractions[], lambda[], interval, policy=uniform|proportional|optimal_freshness|optimal_age",
        evaluate: class_allocation,
    },
    Function { name: "weibull_average", arguments: "lambda, gamma, f", evaluate: weibull_average },
    Function {
        name: "weibull_schedule",
        arguments: "lambda[], gamma[], total, weights?[]",
        evaluate: weibull_schedule,
    },
];

/// Longest list that is answered; a longer one would take more than a few seconds.
const ELEMENTS_MAX: usize = 1_000_000;

fn evaluate_allocation(arguments: &Arguments<'_>) -> Answer {
    let rates = change_rates(arguments)?;
    let frequencies: Vec<NonNegative> = arguments.get("f")?;
    check_length("f", frequencies.len(), rates.len())?;
    let weights = weights(arguments, rates.len())?;
    let orders = [("fixed", Order::Fixed), ("random", Order::Random), ("poisson", Order::PurelyRandom)];
    let order = arguments.choice("policy", &orders, Some("fixed"))?;
    let frequencies: Vec<_> = frequencies.iter().map(|frequency| VisitsPerDay::new(frequency.0)).collect();
    let pages = Pages { change_rates: &rates, importance: weights.as_deref(), costs: None };
    let FreshnessAndAge { freshness, age } = evaluate(&pages, &frequencies, order);
    let counts = counts(rates.len(), weights.as_deref());
    Ok(json!({"freshness": if_any(counts, freshness), "age": if_any(counts, age.get())}))
}

fn optimal_freshness(arguments: &Arguments<'_>) -> Answer {
    let optimum = optimum(arguments, Objective::Freshness)?;
    Ok(json!({"f": optimum.frequencies, "freshness": optimum.freshness}))
}

fn optimal_age(arguments: &Arguments<'_>) -> Answer {
    let optimum = optimum(arguments, Objective::Age)?;
    Ok(json!({"f": optimum.frequencies, "age": optimum.age}))
}

/// An allocation and what it achieves, as JSON.
struct Optimum {
    frequencies: Value,
    freshness: Value,
    age: Value,
}

fn optimum(arguments: &Arguments<'_>, objective: Objective) -> Result<Optimum, String> {
    let rates = change_rates(arguments)?;
    check_not_empty("lambda", rates.len())?;
    let weights = weights(arguments, rates.len())?;
    let total: Positive = arguments.get("total")?;
    let pages = Pages { change_rates: &rates, importance: weights.as_deref(), costs: None };
    let allocation = allocate(&pages, objective, &Constraints::budget(VisitsPerDay::new(total.0)));
    let FreshnessAndAge { freshness, age } = evaluate(&pages, &allocation.visit_frequencies, Order::Fixed);
    let counts = counts(rates.len(), weights.as_deref());
    Ok(Optimum {
        frequencies: visits(&allocation.visit_frequencies),
        freshness: if_any(counts, freshness),
        age: if_any(counts, age.get()),
    })
}

fn class_allocation(arguments: &Arguments<'_>) -> Answer {
    let rates = change_rates(arguments)?;
    check_not_empty("lambda", rates.len())?;
    let fractions: Vec<NonNegative> = arguments.get("fractions")?;
    check_length("fractions", fractions.len(), rates.len())?;
    let fractions: Vec<f64> = fractions.iter().map(|fraction| fraction.0).collect();
    if !counts(rates.len(), Some(&fractions)) {
        return Err("argument `fractions`: all are zero".to_owned());
    }
    let interval: Positive = arguments.get("interval")?;
    let policies = [
        ("uniform", AllocationPolicy::Uniform),
        ("proportional", AllocationPolicy::Proportional),
        ("optimal_freshness", AllocationPolicy::Optimal(Objective::Freshness)),
        ("optimal_age", AllocationPolicy::Optimal(Objective::Age)),
    ];
    let policy = arguments.choice("policy", &policies, None)?;
    let frequencies = allocate_to_classes(&fractions, &rates, Days::new(interval.0), policy);
    let pages = Pages { change_rates: &rates, importance: Some(&fractions), costs: None };
    let FreshnessAndAge { freshness, age } = evaluate(&pages, &frequencies, Order::Fixed);
    Ok(json!({"f": visits(&frequencies), "freshness": number(freshness), "age": number(age.get())}))
}

fn weibull_average(arguments: &Arguments<'_>) -> Answer {
    let scale: NonNegative = arguments.get("lambda")?;
    let shape: Positive = arguments.get("gamma")?;
    let frequency: NonNegative = arguments.get("f")?;
    // Without changes the summary is up to date for ever, also when it is never updated.
    if scale.0 == 0.0 {
        return Ok(number(1.0));
    }
    Ok(number(WeibullSurvival::new(scale.0, shape.0).mean_freshness(Days::new(1.0 / frequency.0))))
}

fn weibull_schedule(arguments: &Arguments<'_>) -> Answer {
    let scales: Vec<Positive> = arguments.get("lambda")?;
    let shapes: Vec<Positive> = arguments.get("gamma")?;
    check_not_empty("lambda", scales.len())?;
    check_not_too_long("lambda", scales.len())?;
    check_length("gamma", shapes.len(), scales.len())?;
    let weights = weights(arguments, scales.len())?;
    let total: Positive = arguments.get("total")?;
    let laws: Vec<_> =
        scales.iter().zip(&shapes).map(|(scale, shape)| WeibullSurvival::new(scale.0, shape.0)).collect();
    let pages = LawPages { laws: &laws, importance: weights.as_deref(), costs: None };
    let allocation = allocate_by_law(&pages, &Constraints::budget(VisitsPerDay::new(total.0)));
    let average = pages.mean_freshness(&allocation.visit_frequencies);
    Ok(json!({"f": visits(&allocation.visit_frequencies), "average": average.map_or(Value::Null, number)}))
}

fn change_rates(arguments: &Arguments<'_>) -> Result<Vec<ChangesPerDay>, String> {
    let rates: Vec<NonNegative> = arguments.get("lambda")?;
    check_not_too_long("lambda", rates.len())?;
    Ok(rates.iter().map(|rate| ChangesPerDay::new(rate.0)).collect())
}

fn weights(arguments: &Arguments<'_>, elements: usize) -> Result<Option<Vec<f64>>, String> {
    let weights: Option<Vec<NonNegative>> = arguments.optional("weights")?;
    check_length("weights", weights.as_ref().map_or(elements, Vec::len), elements)?;
    Ok(weights.map(|weights| weights.iter().map(|weight| weight.0).collect()))
}

fn check_length(name: &str, length: usize, lambda: usize) -> Result<(), String> {
    if length == lambda {
        return Ok(());
    }
    Err(format!("argument `{name}`: has {length} elements, `lambda` has {lambda}"))
}

fn check_not_empty(name: &str, length: usize) -> Result<(), String> {
    if length > 0 { Ok(()) } else { Err(format!("argument `{name}`: is empty")) }
}

fn check_not_too_long(name: &str, length: usize) -> Result<(), String> {
    if length <= ELEMENTS_MAX {
        return Ok(());
    }
    Err(format!("argument `{name}`: has {length} elements, at most {ELEMENTS_MAX} are answered"))
}

/// Whether any element counts, so that there is a mean.
fn counts(elements: usize, weights: Option<&[f64]>) -> bool {
    weights.map_or(elements > 0, |weights| weights.iter().any(|weight| *weight > 0.0))
}

/// A mean, which is not defined over nothing.
fn if_any(counts: bool, mean: f64) -> Value {
    if counts { number(mean) } else { Value::Null }
}

fn visits(frequencies: &[VisitsPerDay]) -> Value {
    numbers(frequencies.iter().map(|frequency| frequency.get()))
}
