//! Allocation of visits, as functions of `freshet eval`.
//!
//! Beyond the types of the arguments, these check that lists belong together, that lists are not empty where
//! a mean or an optimum is asked for, and that they are not longer than [`ELEMENTS_MAX`].

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
use super::answer::{Answer, defined, number, numbers};
use super::arguments::{Arguments, NonNegative, Positive};
use super::freshness::order;

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
        arguments: "fractions[], lambda[], interval, \
            policy=uniform|proportional|optimal_freshness|optimal_age",
        evaluate: class_allocation,
    },
    Function { name: "weibull_average", arguments: "lambda, gamma, f", evaluate: weibull_average },
    Function {
        name: "weibull_schedule",
        arguments: "lambda[], gamma[], total, weights?[]",
        evaluate: weibull_schedule,
    },
];

/// Maximum length of a list; a longer one would take more than a few seconds.
const ELEMENTS_MAX: usize = 1_000_000;

fn evaluate_allocation(arguments: &Arguments<'_>) -> Answer {
    let rates = change_rates(arguments)?;
    let frequencies: Vec<VisitsPerDay> = arguments.get("f")?;
    check_length("f", frequencies.len(), rates.len())?;
    let weights = weights(arguments, rates.len())?;
    let order = order(arguments)?;
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

/// An allocation and its result, as JSON.
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
    let fractions = arguments.numbers::<NonNegative>("fractions")?;
    check_length("fractions", fractions.len(), rates.len())?;
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
    // Without changes the summary stays up to date forever, even if it is never updated.
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
    Ok(json!({"f": visits(&allocation.visit_frequencies), "average": defined(average)}))
}

fn change_rates(arguments: &Arguments<'_>) -> Result<Vec<ChangesPerDay>, String> {
    let rates: Vec<ChangesPerDay> = arguments.get("lambda")?;
    check_not_too_long("lambda", rates.len())?;
    Ok(rates)
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

/// Whether any element has weight, so that a mean exists.
fn counts(elements: usize, weights: Option<&[f64]>) -> bool {
    weights.map_or(elements > 0, |weights| weights.iter().any(|weight| *weight > 0.0))
}

/// A mean as JSON; `null` over nothing.
fn if_any(counts: bool, mean: f64) -> Value {
    if counts { number(mean) } else { Value::Null }
}

fn visits(frequencies: &[VisitsPerDay]) -> Value {
    numbers(frequencies.iter().map(|frequency| frequency.get()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::calls::{call, replace};
    use super::*;

    fn good_calls() -> Vec<(&'static str, Value)> {
        let pages = json!({"lambda": [1, 2.5, 0.1], "total": 3, "weights": [1, 2, 0.5]});
        let laws = json!({"lambda": [1, 2.5], "gamma": [0.7, 1.1], "total": 3, "weights": [1, 2]});
        vec![
            (
                "evaluate_allocation",
                json!({"lambda": [1, 2], "f": [0.5, 3], "weights": [1, 2], "policy": "random"}),
            ),
            ("optimal_freshness", pages.clone()),
            ("optimal_age", pages),
            (
                "class_allocation",
                json!({"fractions": [0.3, 0.7], "lambda": [1, 0.1], "interval": 7, "policy": "optimal_age"}),
            ),
            ("weibull_average", json!({"lambda": 0.2, "gamma": 0.8, "f": 0.5})),
            ("weibull_schedule", laws),
        ]
    }

    fn strange_value() -> impl Strategy<Value = Value> {
        let numbers = [-1.0, -0.0, 0.0, 5e-324, 1e-308, 1e-140, 1.0, 2.5, 1e17, 1e140, 1e308, -1e308];
        let others = [
            json!(null),
            json!(true),
            json!(""),
            json!("uniform"),
            json!("poisson"),
            json!([]),
            json!([[]]),
            json!({}),
            json!([0, 0]),
            json!([1e308, 1e308]),
            json!([5e-324, 1e308, 0]),
            json!(u64::MAX),
        ];
        prop_oneof![
            prop::sample::select(numbers.map(Value::from).into_iter().chain(others).collect::<Vec<_>>()),
            any::<f64>().prop_map(|number| json!(number)),
            (-300.0..300.0f64).prop_map(|power| json!(10f64.powf(power))),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]
        #[test]
        fn no_call_is_too_strange(
            changes in prop::collection::vec((1usize..14, strange_value()), 0..4),
        ) {
            for (name, mut args) in good_calls() {
                for (place, value) in &changes {
                    replace(&mut args, &mut place.clone(), value);
                }
                if let Ok(value) = call(name, args.clone()) {
                    let text = value.to_string();
                    prop_assert!(!text.contains("-inf"), "{name} {args} is {text}");
                    let has_unknown = value["f"].as_array().is_some_and(|list| list.contains(&Value::Null));
                    prop_assert!(!has_unknown, "{name} {args} is {text}");
                }
            }
        }
    }

    #[test]
    fn the_good_calls_are_good() {
        for (name, args) in good_calls() {
            assert!(call(name, args).is_ok(), "{name}");
        }
        assert_eq!(good_calls().len(), FUNCTIONS.len());
    }
}
