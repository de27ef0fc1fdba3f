//! Freshness and age of a copy, as functions of `freshet eval`.

use freshet_theory::freshness::after_visit::expected_after_visit;
use freshet_theory::freshness::crawl_mode::{self, CrawlMode, UpdateMode};
use freshet_theory::freshness::gamma_rates::GammaRates;
use freshet_theory::freshness::measure::FreshnessAndAge;
use freshet_theory::freshness::order::{Order, time_average};
use freshet_theory::freshness::trace::trace_average;
use freshet_theory::freshness::visit_benefit::{EvenlyChangingPage, visit_benefit};
use freshet_theory::units::{ChangesPerDay, Days};
use serde_json::{Value, json};

use super::Function;
use super::answer::{Answer, number};
use super::arguments::{Arguments, Count, NonNegative, Positive};

/// The functions of this family.
pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "freshness_age",
        arguments: "lambda, f, policy?=fixed|random|poisson",
        evaluate: freshness_age,
    },
    Function { name: "expected_at", arguments: "lambda, t", evaluate: expected_at },
    Function {
        name: "freshness_trace",
        arguments: "changes [t], syncs [t], horizon",
        evaluate: freshness_trace,
    },
    Function { name: "gamma_rates", arguments: "r, delta, interval?=1", evaluate: gamma_rates },
    Function { name: "sync_benefit", arguments: "lambda [int], f [int]", evaluate: sync_benefit },
    Function {
        name: "crawl_mode_freshness",
        arguments: "crawl=steady|batch, update=in_place|shadow, lambda, period, duration? (batch)",
        evaluate: crawl_mode_freshness,
    },
];

fn freshness_age(arguments: &Arguments<'_>) -> Answer {
    let (change_rate, visit_frequency) = (arguments.get("lambda")?, arguments.get("f")?);
    Ok(freshness_and_age(time_average(order(arguments)?, change_rate, visit_frequency)))
}

fn expected_at(arguments: &Arguments<'_>) -> Answer {
    Ok(freshness_and_age(expected_after_visit(arguments.get("lambda")?, arguments.get("t")?)))
}

fn freshness_trace(arguments: &Arguments<'_>) -> Answer {
    let changes: Vec<f64> = arguments.get("changes")?;
    let visits: Vec<f64> = arguments.get("syncs")?;
    let Positive(horizon) = arguments.get("horizon")?;
    Ok(freshness_and_age(trace_average(&changes, &visits, Days::new(horizon))))
}

fn gamma_rates(arguments: &Arguments<'_>) -> Answer {
    let NonNegative(r) = arguments.get("r")?;
    let NonNegative(delta) = arguments.get("delta")?;
    let Positive(interval) = arguments.get_or("interval", Positive(1.0))?;
    let rates = GammaRates::new(r, delta);
    let uniform = rates.uniform(Days::new(interval));
    let proportional = rates.proportional(Days::new(interval));
    Ok(json!({
        "freshness_uniform": number(uniform.freshness),
        "freshness_proportional": number(proportional.freshness),
        "age_uniform": number(uniform.age.get()),
        "age_proportional": number(proportional.age.get()),
    }))
}

fn sync_benefit(arguments: &Arguments<'_>) -> Answer {
    let lambda: Vec<Count> = arguments.get("lambda")?;
    let f: Vec<Count> = arguments.get("f")?;
    if lambda.len() != f.len() {
        return Err(format!("`lambda` has {} elements and `f` has {}", lambda.len(), f.len()));
    }
    let pages = lambda.iter().zip(&f);
    Ok(number(visit_benefit(pages.map(|(Count(lambda), Count(f))| EvenlyChangingPage {
        changes_per_day: *lambda,
        visits_per_day: *f,
    }))))
}

fn crawl_mode_freshness(arguments: &Arguments<'_>) -> Answer {
    let is_batch = arguments.choice("crawl", &[("steady", false), ("batch", true)], None)?;
    let updates = [("in_place", UpdateMode::InPlace), ("shadow", UpdateMode::Shadowing)];
    let update = arguments.choice("update", &updates, None)?;
    let change_rate: ChangesPerDay = arguments.get("lambda")?;
    let Positive(period) = arguments.get("period")?;
    let duration = arguments.optional("duration")?.map(|NonNegative(duration)| duration);
    let crawl = match (is_batch, duration, update) {
        (false, _, _) => CrawlMode::Steady,
        (true, Some(duration), _) if duration > period => {
            return Err(format!("argument `duration`: {duration} is longer than the period of {period}"));
        }
        (true, Some(duration), _) => CrawlMode::Batch { duration: Days::new(duration) },
        // When pages are updated in place, the length of the crawl does not matter.
        (true, None, UpdateMode::InPlace) => CrawlMode::Batch { duration: Days::ZERO },
        (true, None, UpdateMode::Shadowing) => {
            return Err("argument `duration` is missing: a batch crawl that is shadowed needs it".to_owned());
        }
    };
    Ok(number(crawl_mode::crawl_mode_freshness(crawl, update, change_rate, Days::new(period))))
}

/// Reads `policy`, the order in which pages are visited.
pub(super) fn order(arguments: &Arguments<'_>) -> Result<Order, String> {
    let orders = [("fixed", Order::Fixed), ("random", Order::Random), ("poisson", Order::PurelyRandom)];
    arguments.choice("policy", &orders, Some("fixed"))
}

fn freshness_and_age(measured: FreshnessAndAge) -> Value {
    json!({"freshness": number(measured.freshness), "age": number(measured.age.get())})
}

#[cfg(test)]
mod tests {
    use super::super::calls::{call, check, check_error};
    use super::*;
    use proptest::prelude::*;
    use serde_json::Map;

    #[test]
    fn a_page_without_changes_is_fresh_even_without_visits() {
        for policy in ["fixed", "random", "poisson"] {
            let fresh = json!({"freshness": 1.0, "age": 0.0});
            check("freshness_age", json!({"lambda": 0, "f": 0, "policy": policy}), fresh.clone());
            check("freshness_age", json!({"lambda": -0.0, "f": 1e308, "policy": policy}), fresh);
            let stale = json!({"freshness": 0.0, "age": "inf"});
            check("freshness_age", json!({"lambda": 1e-300, "f": 0, "policy": policy}), stale);
        }
        check("expected_at", json!({"lambda": 0, "t": 1e308}), json!({"freshness": 1.0, "age": 0.0}));
    }

    #[test]
    fn what_may_be_left_out_may_be_null() {
        let fixed = call("freshness_age", json!({"lambda": 1, "f": 2, "policy": "fixed"})).ok();
        assert_eq!(call("freshness_age", json!({"lambda": 1, "f": 2})).ok(), fixed);
        assert_eq!(call("freshness_age", json!({"lambda": 1, "f": 2, "policy": null})).ok(), fixed);
        let once = call("gamma_rates", json!({"r": 1, "delta": 1, "interval": 1})).ok();
        assert_eq!(call("gamma_rates", json!({"r": 1, "delta": 1, "interval": null, "more": []})).ok(), once);
    }

    #[test]
    fn lists_may_be_empty() {
        let fresh = json!({"freshness": 1.0, "age": 0.0});
        check("freshness_trace", json!({"changes": [], "syncs": [], "horizon": 5}), fresh);
        check("sync_benefit", json!({"lambda": [], "f": []}), json!(0.0));
        check("sync_benefit", json!({"lambda": [0], "f": [3]}), json!(0.0));
    }

    #[test]
    fn a_batch_needs_its_duration_only_when_shadowed() {
        let steady = json!({"crawl": "steady", "update": "shadow", "lambda": 0, "period": 1});
        check("crawl_mode_freshness", steady, json!(1.0));
        let in_place = json!({"crawl": "batch", "update": "in_place", "lambda": 0, "period": 1});
        check("crawl_mode_freshness", in_place, json!(1.0));
        let shadowed = json!({"crawl": "batch", "update": "shadow", "lambda": 0, "period": 1});
        check_error("crawl_mode_freshness", shadowed, "duration");
    }

    #[test]
    fn what_is_outside_the_domain_is_named() {
        check_error("freshness_age", json!({"lambda": -1, "f": 1}), "lambda");
        check_error("freshness_age", json!({"lambda": 1, "f": -1}), "`f`");
        check_error("freshness_age", json!({"lambda": 1, "f": 1, "policy": "Fixed"}), "policy");
        check_error("freshness_age", json!({"lambda": 1, "f": 1, "policy": 1}), "policy");
        check_error("expected_at", json!({"lambda": 1, "t": -1e-9}), "`t`");
        check_error("expected_at", json!({"lambda": 1}), "`t`");
        check_error("freshness_trace", json!({"changes": [], "syncs": [], "horizon": 0}), "horizon");
        check_error("freshness_trace", json!({"changes": [1, "2"], "syncs": [], "horizon": 1}), "element 1");
        check_error("freshness_trace", json!({"syncs": [], "horizon": 1}), "changes");
        check_error("gamma_rates", json!({"r": -1, "delta": 1}), "`r`");
        check_error("gamma_rates", json!({"r": 1, "delta": -1}), "delta");
        check_error("gamma_rates", json!({"r": 1, "delta": 1, "interval": 0}), "interval");
        check_error("sync_benefit", json!({"lambda": [1, 2], "f": [1]}), "2 elements");
        check_error("sync_benefit", json!({"lambda": [1.5], "f": [1]}), "lambda");
        let long = json!({"crawl": "batch", "update": "shadow", "lambda": 1, "period": 1, "duration": 2});
        check_error("crawl_mode_freshness", long, "duration");
        let never = json!({"crawl": "steady", "update": "shadow", "lambda": 1, "period": 0});
        check_error("crawl_mode_freshness", never, "period");
    }

    /// Numbers of every magnitude, and sometimes a value that is not a number.
    fn hostile_number() -> impl Strategy<Value = Value> {
        let extremes =
            [0.0, -0.0, 5e-324, 1e-308, 1e-8, 0.5, 1.0, 1.5, 9.0, 1e9, 9_007_199_254_740_992.0, 1e308];
        prop_oneof![
            8 => prop::sample::select(extremes.to_vec()).prop_map(Value::from),
            4 => (-320.0..308.0f64).prop_map(|exponent| Value::from(10f64.powf(exponent))),
            2 => (0..100u32).prop_map(Value::from),
            1 => prop::sample::select(
                vec![json!(-1), json!("1"), json!([]), json!(null), json!(true), json!({})]
            ),
        ]
    }

    fn hostile_list() -> impl Strategy<Value = Value> {
        prop_oneof![
            9 => prop::collection::vec(hostile_number(), 0..5).prop_map(Value::from),
            1 => hostile_number(),
        ]
    }

    fn hostile_arguments() -> impl Strategy<Value = Map<String, Value>> {
        let numbers = ["lambda", "f", "t", "r", "delta", "interval", "horizon", "period", "duration"];
        let numbers = prop::collection::vec(hostile_number(), numbers.len())
            .prop_map(move |values| numbers.into_iter().zip(values).collect::<Vec<_>>());
        let words = (
            prop::sample::select(vec![json!("fixed"), json!("random"), json!("poisson"), json!(null)]),
            prop::sample::select(vec![json!("steady"), json!("batch"), json!(0)]),
            prop::sample::select(vec![json!("in_place"), json!("shadow")]),
        );
        (numbers, words, hostile_list(), hostile_list()).prop_map(
            |(numbers, (policy, crawl, update), changes, syncs)| {
                let named = [
                    ("policy", policy),
                    ("crawl", crawl),
                    ("update", update),
                    ("changes", changes),
                    ("syncs", syncs),
                ];
                numbers.into_iter().chain(named).map(|(name, value)| (name.to_owned(), value)).collect()
            },
        )
    }

    /// Whether a value that should hold numbers holds a null, which stands for a NaN here.
    fn has_null(value: &Value) -> bool {
        match value {
            Value::Object(members) => members.values().any(has_null),
            value => value.is_null(),
        }
    }

    proptest! {
        #[test]
        fn hostile_arguments_are_answered(
            mut arguments in hostile_arguments(),
            lambda in hostile_list(),
            f in hostile_list(),
        ) {
            for function in FUNCTIONS {
                let answer = (function.evaluate)(&Arguments::new(&arguments));
                prop_assert!(!answer.as_ref().is_ok_and(has_null), "{} {answer:?}", function.name);
            }
            arguments.insert("lambda".to_owned(), lambda);
            arguments.insert("f".to_owned(), f);
            let answer = sync_benefit(&Arguments::new(&arguments));
            prop_assert!(!answer.as_ref().is_ok_and(has_null), "{answer:?}");
        }
    }
}
