//! Allocation of visits, as functions of `freshet eval`.

use freshet_theory::freshness::measure::{FreshnessAndAge, collection_mean};
use freshet_theory::freshness::order::{Order, time_average};
use freshet_theory::refresh::lifetime::{Lifetime, WeibullLifetime};
use freshet_theory::refresh::schedule::{LastingPage, mean_freshness, schedule};
use freshet_theory::refresh::{self, Allocation, Constraints, Objective, Pages};
use freshet_theory::units::{ChangesPerDay, Days, VisitsPerDay};
use serde_json::json;

use super::Function;
use super::answer::{Answer, number, numbers};
use super::arguments::{Arguments, NonNegative, Positive};

/// The functions of this family.
pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "evaluate_allocation",
        arguments: "lambda [], f [], weights? [], policy?=fixed|random|poisson",
        evaluate: evaluate_allocation,
    },
    Function {
        name: "optimal_freshness",
        arguments: "lambda [], total, weights? []",
        evaluate: optimal_freshness,
    },
    Function { name: "optimal_age", arguments: "lambda [], total, weights? []", evaluate: optimal_age },
    Function {
        name: "class_allocation",
        arguments: "fractions [], lambda [], interval, policy=uniform|proportional|optimal_freshness|optimal_age",
        evaluate: class_allocation,
    },
    Function { name: "weibull_average", arguments: "lambda, gamma, f", evaluate: weibull_average },
    Function {
        name: "weibull_schedule",
        arguments: "lambda [], gamma [], total, weights? []",
        evaluate: weibull_schedule,
    },
];

/// Pages that one `weibull_schedule` may have: some seconds.
const SCHEDULED_MAX: usize = 5_000;

fn evaluate_allocation(arguments: &Arguments<'_>) -> Answer {
    let rates = rates(arguments)?;
    let frequencies: Vec<NonNegative> = arguments.get("f")?;
    same_length("f", frequencies.len(), rates.len())?;
    let weights = weights(arguments, rates.len())?;
    let orders = [("fixed", Order::Fixed), ("random", Order::Random), ("poisson", Order::PurelyRandom)];
    let order = arguments.choice("policy", &orders, Some("fixed"))?;
    let pages = rates.iter().zip(&frequencies).zip(&weights);
    let pages =
        pages.map(|((rate, f), weight)| (*weight, time_average(order, *rate, VisitsPerDay::new(f.0))));
    let mean = collection_mean(pages).ok_or("argument `weights`: all are 0, so that nothing counts")?;
    Ok(json!({"freshness": number(mean.freshness), "age": number(mean.age.get())}))
}

fn optimal_freshness(arguments: &Arguments<'_>) -> Answer {
    let (frequencies, quality) = optimal(arguments, Objective::Freshness)?;
    Ok(json!({"f": numbers(frequencies), "freshness": number(quality.freshness)}))
}

fn optimal_age(arguments: &Arguments<'_>) -> Answer {
    let (frequencies, quality) = optimal(arguments, Objective::Age)?;
    Ok(json!({"f": numbers(frequencies), "age": number(quality.age.get())}))
}

fn optimal(arguments: &Arguments<'_>, objective: Objective) -> Result<(Vec<f64>, FreshnessAndAge), String> {
    let rates = rates(arguments)?;
    let weights = weights(arguments, rates.len())?;
    let Positive(total) = arguments.get("total")?;
    let pages = Pages { change_rates: &rates, importance: Some(&weights), costs: None };
    Ok(spend(&pages, total, |pages, constraints| refresh::allocate(pages, objective, constraints)))
}

/// The frequencies of a policy, and what they give.
fn spend(
    pages: &Pages<'_>,
    budget: f64,
    policy: impl Fn(&Pages<'_>, &Constraints<'_>) -> Allocation,
) -> (Vec<f64>, FreshnessAndAge) {
    let Allocation { visit_frequencies, .. } = policy(pages, &Constraints::budget(VisitsPerDay::new(budget)));
    let quality = refresh::evaluate(pages, &visit_frequencies, Order::Fixed);
    (visit_frequencies.iter().map(|frequency| frequency.get()).collect(), quality)
}

fn class_allocation(arguments: &Arguments<'_>) -> Answer {
    let rates = rates(arguments)?;
    let fractions: Vec<NonNegative> = arguments.get("fractions")?;
    same_length("fractions", fractions.len(), rates.len())?;
    let fractions: Vec<f64> = fractions.iter().map(|fraction| fraction.0).collect();
    let Positive(interval) = arguments.get("interval")?;
    let policies = [("uniform", 0), ("proportional", 1), ("optimal_freshness", 2), ("optimal_age", 3)];
    let policy = arguments.choice("policy", &policies, None)?;
    // An empty class needs no visit, and has no price per visit either.
    let (members, sizes): (Vec<ChangesPerDay>, Vec<f64>) =
        rates.iter().zip(&fractions).filter(|(_, fraction)| **fraction > 0.0).unzip();
    let total: f64 = sizes.iter().sum();
    let budget = total / interval;
    if !(budget > 0.0 && budget.is_finite()) {
        return Err("argument `fractions`: all are 0, or too large or small beside `interval`".to_owned());
    }
    // A visit to every page of a class costs as much as the class is large, and counts as much.
    let pages = Pages { change_rates: &members, importance: Some(&sizes), costs: Some(&sizes) };
    let (frequencies, quality) = spend(&pages, budget, |pages, constraints| match policy {
        0 => refresh::uniform(pages, constraints),
        1 => refresh::proportional(pages, constraints),
        2 => refresh::allocate(pages, Objective::Freshness, constraints),
        _ => refresh::allocate(pages, Objective::Age, constraints),
    });
    let mut frequencies = frequencies.into_iter();
    let by_class = fractions
        .iter()
        .map(|fraction| if *fraction > 0.0 { frequencies.next().unwrap_or(0.0) } else { 0.0 });
    let by_class = numbers(by_class);
    Ok(json!({"f": by_class, "freshness": number(quality.freshness), "age": number(quality.age.get())}))
}

fn weibull_average(arguments: &Arguments<'_>) -> Answer {
    let NonNegative(scale) = arguments.get("lambda")?;
    let shape = shape(arguments.get("gamma")?)?;
    let Positive(frequency) = arguments.get("f")?;
    if scale == 0.0 {
        return Ok(number(1.0));
    }
    let lifetime = Lifetime::Weibull(WeibullLifetime::new(scale, shape));
    Ok(number(lifetime.mean_freshness(Days::new(1.0 / frequency))))
}

fn weibull_schedule(arguments: &Arguments<'_>) -> Answer {
    let scales: Vec<Positive> = arguments.get("lambda")?;
    let shapes: Vec<Positive> = arguments.get("gamma")?;
    same_length("gamma", shapes.len(), scales.len())?;
    not_empty(scales.len())?;
    if scales.len() > SCHEDULED_MAX {
        return Err(format!("argument `lambda`: {} elements, above {SCHEDULED_MAX}", scales.len()));
    }
    let weights = weights(arguments, scales.len())?;
    let Positive(total) = arguments.get("total")?;
    let mut pages = Vec::new();
    for ((scale, gamma), importance) in scales.iter().zip(shapes).zip(weights) {
        let lifetime = Lifetime::Weibull(WeibullLifetime::new(scale.0, shape(gamma)?));
        if !(1e-290..=1e290).contains(&lifetime.index_limit()) {
            return Err("argument `lambda`: such a lifetime is beyond the range of doubles".to_owned());
        }
        pages.push(LastingPage { lifetime, importance });
    }
    let frequencies = schedule(&pages, VisitsPerDay::new(total));
    let average = mean_freshness(&pages, &frequencies)
        .ok_or("argument `weights`: all are 0, so that nothing counts")?;
    Ok(json!({"f": numbers(frequencies.iter().map(|f| f.get())), "average": number(average)}))
}

fn shape(gamma: Positive) -> Result<f64, String> {
    let shapes = WeibullLifetime::SHAPES;
    if shapes.contains(&gamma.0) {
        Ok(gamma.0)
    } else {
        Err(format!("argument `gamma`: {} is not within {} to {}", gamma.0, shapes.start(), shapes.end()))
    }
}

fn rates(arguments: &Arguments<'_>) -> Result<Vec<ChangesPerDay>, String> {
    let rates: Vec<NonNegative> = arguments.get("lambda")?;
    not_empty(rates.len())?;
    Ok(rates.iter().map(|rate| ChangesPerDay::new(rate.0)).collect())
}

/// The argument `weights`, all one when it is left out.
fn weights(arguments: &Arguments<'_>, length: usize) -> Result<Vec<f64>, String> {
    let weights: Option<Vec<NonNegative>> = arguments.optional("weights")?;
    let weights: Vec<f64> =
        weights.map_or_else(|| vec![1.0; length], |weights| weights.iter().map(|weight| weight.0).collect());
    same_length("weights", weights.len(), length)?;
    Ok(weights)
}

fn not_empty(length: usize) -> Result<(), String> {
    if length == 0 { Err("argument `lambda`: the list is empty".to_owned()) } else { Ok(()) }
}

fn same_length(name: &str, length: usize, wanted: usize) -> Result<(), String> {
    if length == wanted {
        Ok(())
    } else {
        Err(format!("argument `{name}`: {length} elements, but `lambda` has {wanted}"))
    }
}
