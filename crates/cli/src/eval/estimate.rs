//! How often a page changes, as functions of `freshet eval`.
//!
//! The time unit is the caller's: a rate comes out per unit of the intervals that went in.

use freshet_theory::estimate::bayes::RateClasses;
use freshet_theory::estimate::bayes_accuracy::class_probabilities;
use freshet_theory::estimate::even::EvenVisits;
use freshet_theory::estimate::improved::{improved, singularity_constant};
use freshet_theory::estimate::irregular::{Visit, most_likely_rate};
use freshet_theory::estimate::last_modified::DatedVisits;
use freshet_theory::estimate::last_modified_quality::{self, corrected_quality, plain_quality};
use freshet_theory::estimate::naive::naive;
use freshet_theory::estimate::quality::{self, EstimatorQuality, improved_quality, naive_quality};
use freshet_theory::estimate::rate::RateEstimate;
use freshet_theory::units::{ChangesPerDay, Days};
use serde_json::{Value, json};

use super::Function;
use super::answer::{Answer, number, numbers};
use super::arguments::{Arguments, Count, NonNegative, Positive};

/// The functions of this family.
pub(super) const FUNCTIONS: &[Function] = &[
    Function { name: "estimate_naive", arguments: "changes, accesses, interval", evaluate: estimate_naive },
    Function { name: "estimate_log", arguments: "changes, accesses, interval", evaluate: estimate_log },
    Function { name: "estimate_mle", arguments: "intervals [], changed [bool]", evaluate: estimate_mle },
    Function {
        name: "estimate_last_modified",
        arguments: "observations [{since_change, interval}], corrected?=true",
        evaluate: estimate_last_modified,
    },
    Function { name: "singularity_constant", arguments: "n", evaluate: singularity },
    Function {
        name: "estimator_moments",
        arguments: "estimator=naive|log, n, r",
        evaluate: estimator_moments,
    },
    Function {
        name: "last_modified_moments",
        arguments: "n, r, corrected?=true",
        evaluate: last_modified_moments,
    },
    Function {
        name: "bayes_update",
        arguments: "rates [], priors [], observations [{interval, changed}]",
        evaluate: bayes_update,
    },
    Function {
        name: "bayes_accuracy",
        arguments: "rates [], priors [], interval, n, lambda",
        evaluate: bayes_accuracy,
    },
];

fn estimate_naive(args: &Arguments<'_>) -> Answer {
    let (history, interval) = even_visits(args)?;
    rate(naive(&history, interval))
}

fn estimate_log(args: &Arguments<'_>) -> Answer {
    let (history, interval) = even_visits(args)?;
    rate(improved(&history, interval))
}

fn estimate_mle(args: &Arguments<'_>) -> Answer {
    let intervals: Vec<Positive> = args.get("intervals")?;
    let changed: Vec<bool> = args.get("changed")?;
    same_length(("intervals", intervals.len()), ("changed", changed.len()))?;
    let visit = |(interval, changed): (Positive, bool)| Visit { interval: Days::new(interval.0), changed };
    let visits: Vec<_> = intervals.into_iter().zip(changed).map(visit).collect();
    rate(most_likely_rate(&visits))
}

fn estimate_last_modified(args: &Arguments<'_>) -> Answer {
    let corrected = args.get_or("corrected", true)?;
    let observations = args.objects("observations", |observation| {
        Ok((observation.get("since_change")?, observation.get("interval")?))
    })?;
    let mut history = DatedVisits::NONE;
    for (since_change, interval) in observations {
        history.observe(since_change, interval);
    }
    let lambda = rate(if corrected { history.rate() } else { history.plain_rate() })?;
    Ok(json!({
        "n": history.visits(),
        "x": history.changes_found(),
        "t": number(history.looked_back().get()),
        "lambda": lambda,
    }))
}

fn singularity(args: &Arguments<'_>) -> Answer {
    Ok(number(singularity_constant(visits_up_to(args, u64::MAX)?)))
}

fn estimator_moments(args: &Arguments<'_>) -> Answer {
    type Quality = fn(u64, f64) -> EstimatorQuality;
    let choices: [(&str, (Quality, u64)); 2] =
        [("naive", (naive_quality, u64::MAX)), ("log", (improved_quality, quality::VISITS_MAX))];
    let (evaluate, visits_max) = args.choice("estimator", &choices, None)?;
    let visits = visits_up_to(args, visits_max)?;
    Ok(moments(evaluate(visits, args.get::<Positive>("r")?.0)))
}

fn last_modified_moments(args: &Arguments<'_>) -> Answer {
    let visits = visits_up_to(args, last_modified_quality::VISITS_MAX)?;
    let changes_per_visit = args.get::<Positive>("r")?.0;
    let evaluate = if args.get_or("corrected", true)? { corrected_quality } else { plain_quality };
    Ok(moments(evaluate(visits, changes_per_visit)))
}

fn bayes_update(args: &Arguments<'_>) -> Answer {
    let classes = rate_classes(args)?;
    let visits = args.objects("observations", |observation| {
        Ok(Visit { interval: observation.get("interval")?, changed: observation.get("changed")? })
    })?;
    let posterior = classes.posterior(&visits);
    posterior.map(numbers).ok_or_else(|| {
        "argument `observations`: a change that is impossible under every class with a prior above 0"
            .to_owned()
    })
}

fn bayes_accuracy(args: &Arguments<'_>) -> Answer {
    let classes = rate_classes(args)?;
    let interval = args.get("interval")?;
    let Count(visits) = args.get("n")?;
    let change_rate = args.get("lambda")?;
    // Numbers of changes outside forty standard deviations are next to impossible.
    let outcomes = (visits as f64).min(40.0 * (visits as f64).sqrt()) + 1.0;
    if visits > BAYES_VISITS_MAX || outcomes * classes.count() as f64 > BAYES_OUTCOMES_MAX {
        return Err(format!(
            "argument `n`: {visits} is too large for {} classes; at most {BAYES_VISITS_MAX}, less with many \
             classes",
            classes.count()
        ));
    }
    Ok(numbers(class_probabilities(&classes, interval, visits, change_rate)))
}

/// Maximum number of visits of [`bayes_accuracy`]: its probabilities are exact up to here.
const BAYES_VISITS_MAX: u64 = 1_000_000_000;

/// Maximum number of outcomes times classes in [`bayes_accuracy`]: about a second of work.
const BAYES_OUTCOMES_MAX: f64 = 1e8;

/// The counts of visits at even intervals, and the interval.
fn even_visits(args: &Arguments<'_>) -> Result<(EvenVisits, Days), String> {
    let (Count(changes), Count(accesses)) = (args.get("changes")?, args.get("accesses")?);
    if accesses == 0 {
        return Err("argument `accesses`: 0 is not above zero".to_owned());
    }
    if changes > accesses {
        return Err(format!("argument `changes`: {changes} is more than the {accesses} accesses"));
    }
    Ok((EvenVisits::new(accesses, changes), Days::new(args.get::<Positive>("interval")?.0)))
}

/// The number `n` of visits: at least one and at most `max`.
fn visits_up_to(args: &Arguments<'_>, max: u64) -> Result<u64, String> {
    match args.get("n")? {
        Count(0) => Err("argument `n`: 0 is not above zero".to_owned()),
        Count(visits) if visits > max => Err(format!("argument `n`: {visits} is more than {max}")),
        Count(visits) => Ok(visits),
    }
}

fn rate_classes(args: &Arguments<'_>) -> Result<RateClasses, String> {
    let rates: Vec<ChangesPerDay> = args.get("rates")?;
    let priors = args.numbers::<NonNegative>("priors")?;
    same_length(("rates", rates.len()), ("priors", priors.len()))?;
    if priors.iter().all(|prior| *prior == 0.0) {
        return Err("argument `priors`: none is above zero".to_owned());
    }
    Ok(RateClasses::new(&rates, &priors))
}

fn same_length(one: (&str, usize), other: (&str, usize)) -> Result<(), String> {
    if one.1 == other.1 {
        return Ok(());
    }
    Err(format!("argument `{}` has {} elements and `{}` has {}", one.0, one.1, other.0, other.1))
}

fn rate(estimate: Option<RateEstimate>) -> Answer {
    estimate.map(|rate| number(rate.get())).ok_or_else(|| "there are no observations".to_owned())
}

fn moments(quality: EstimatorQuality) -> Value {
    json!({"mean_ratio": number(quality.mean_ratio), "sd_ratio": number(quality.deviation_ratio)})
}

#[cfg(test)]
mod tests {
    use super::super::calls::{call, check_error};
    use super::*;
    use proptest::prelude::*;
    use serde_json::Map;

    #[test]
    fn what_is_outside_the_domain_is_named() {
        check_error("estimate_naive", json!({"changes": 0, "accesses": 0, "interval": 1}), "accesses");
        check_error("estimate_naive", json!({"changes": 3, "accesses": 2, "interval": 1}), "changes");
        check_error("estimate_log", json!({"changes": 1, "accesses": 2, "interval": 0}), "interval");
        check_error("estimate_mle", json!({"intervals": [], "changed": []}), "no observations");
        check_error("estimate_mle", json!({"intervals": [1, 2], "changed": [true]}), "`changed` has 1");
        check_error("estimate_mle", json!({"intervals": [1, 0], "changed": [true, false]}), "element 1");
        check_error("estimate_last_modified", json!({"observations": []}), "no observations");
        check_error(
            "estimate_last_modified",
            json!({"observations": [{"since_change": -1, "interval": 1}]}),
            "since_change",
        );
        check_error("singularity_constant", json!({"n": 0}), "`n`");
        check_error("estimator_moments", json!({"estimator": "best", "n": 3, "r": 1}), "estimator");
        check_error("estimator_moments", json!({"estimator": "log", "n": 3, "r": 0}), "`r`");
        check_error("estimator_moments", json!({"estimator": "log", "n": 1e13, "r": 1}), "more than");
        check_error("last_modified_moments", json!({"n": 1e7, "r": 1}), "more than");
        check_error("bayes_update", json!({"rates": [1], "priors": [0], "observations": []}), "priors");
        check_error("bayes_update", json!({"rates": [], "priors": [], "observations": []}), "priors");
        check_error(
            "bayes_update",
            json!({"rates": [0, 1], "priors": [1, 0], "observations": [{"interval": 1, "changed": true}]}),
            "impossible",
        );
        check_error(
            "bayes_accuracy",
            json!({"rates": [1], "priors": [1], "interval": 1, "n": 1e12, "lambda": 1}),
            "`n`",
        );
    }

    #[test]
    fn one_visit_and_none_changed_are_ordinary() {
        let one = call("last_modified_moments", json!({"n": 1, "r": 2, "corrected": false}));
        assert_eq!(one, Ok(json!({"mean_ratio": "inf", "sd_ratio": "inf"})));
        let corrected = call("last_modified_moments", json!({"n": 1, "r": 2, "corrected": null}));
        assert_eq!(corrected, Ok(json!({"mean_ratio": 0.0, "sd_ratio": 0.0})));
        assert_eq!(
            call("estimate_log", json!({"changes": 0, "accesses": 1, "interval": 1e-308})),
            Ok(json!(0.0))
        );
        let visit = json!({"since_change": 0, "interval": 1});
        let now = json!({"observations": [visit, visit]});
        assert_eq!(
            call("estimate_last_modified", &now),
            Ok(json!({"n": 2, "x": 2, "t": 0.0, "lambda": "inf"}))
        );
    }

    /// Any JSON value, often close to what the functions expect.
    fn hostile() -> impl Strategy<Value = Value> {
        let atom = prop_oneof![
            Just(json!(null)),
            Just(json!(true)),
            Just(json!("log")),
            Just(json!("naive")),
            (0u64..50).prop_map(|n| json!(n)),
            any::<f64>().prop_filter_map("finite", |x| x.is_finite().then(|| json!(x))),
            (-320.0..308.0f64).prop_map(|x| json!(10f64.powf(x))),
            prop::sample::select(vec![0.0, -0.0, 5e-324, 1e308, -1.0, 0.5]).prop_map(|x| json!(x)),
        ];
        let numbers = prop::collection::vec((-320.0..308.0f64).prop_map(|x| json!(10f64.powf(x))), 0..4);
        let flags = prop::collection::vec(any::<bool>().prop_map(|b| json!(b)), 0..4);
        let members = (atom.clone(), atom.clone(), any::<bool>());
        let object = members.prop_map(|(a, b, c)| json!({"interval": a, "since_change": b, "changed": c}));
        let objects = prop::collection::vec(object, 0..4);
        prop_oneof![
            4 => atom,
            2 => numbers.prop_map(Value::from),
            1 => flags.prop_map(Value::from),
            1 => objects.prop_map(Value::from),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn whatever_comes_in_an_answer_or_an_error_comes_out(values in prop::collection::vec(hostile(), 14)) {
            const NAMES: [&str; 14] = [
                "changes", "accesses", "interval", "intervals", "changed", "observations", "corrected",
                "estimator", "n",
                "r", "rates", "priors", "lambda", "more",
            ];
            let args: Map<String, Value> = NAMES.iter().map(|name| (*name).to_owned()).zip(values).collect();
            for function in FUNCTIONS {
                if let Ok(value) = (function.evaluate)(&Arguments::new(&args)) {
                    prop_assert!(!value.to_string().contains("null"), "{}: {value}", function.name);
                }
            }
        }

        #[test]
        fn any_numbers_have_an_answer(
            exponents in prop::collection::vec(-320.0..308.0f64, 4),
            flags in prop::collection::vec(any::<bool>(), 4),
            n in 1u64..200, x in 0u64..200,
        ) {
            let numbers: Vec<_> =
                exponents.iter().map(|exponent| 10f64.powf(*exponent).max(5e-324)).collect();
            let visits: Vec<_> = numbers
                .iter()
                .zip(&flags)
                .map(|(t, c)| json!({
                    "interval": t, "changed": c, "since_change": if *c { t / 2.0 } else { *t }
                }))
                .collect();
            for (name, args) in [
                ("estimate_naive", json!({"changes": x.min(n), "accesses": n, "interval": numbers[0]})),
                ("estimate_log", json!({"changes": x.min(n), "accesses": n, "interval": numbers[0]})),
                ("estimate_mle", json!({"intervals": numbers, "changed": flags})),
                ("estimate_last_modified", json!({"observations": visits, "corrected": flags[0]})),
                ("singularity_constant", json!({"n": n})),
                ("estimator_moments", json!({"estimator": "naive", "n": n, "r": numbers[0]})),
                ("estimator_moments", json!({"estimator": "log", "n": n, "r": numbers[0]})),
                ("last_modified_moments", json!({"n": n, "r": numbers[0], "corrected": flags[0]})),
                ("bayes_update", json!({"rates": numbers, "priors": numbers, "observations": visits})),
                (
                    "bayes_accuracy",
                    json!({
                        "rates": numbers, "priors": [1, 0, 2, 1], "interval": numbers[1], "n": n,
                        "lambda": numbers[2]
                    }),
                ),
            ] {
                let answer = call(name, &args);
                prop_assert!(answer.is_ok(), "{name} {args}: {answer:?}");
                prop_assert!(!answer.is_ok_and(|value| value.to_string().contains("null")), "{name} {args}");
            }
        }
    }
}
