//! Content summaries and their survival, as functions of `freshet eval`.

use std::collections::BTreeMap;

use freshet_theory::summary::comparison::compare;
use freshet_theory::summary::document_frequencies::DocumentFrequencies;
use freshet_theory::summary::survival_model::{DatabaseFeatures, SurvivalModel};
use freshet_theory::summary::survival_time::survival_time as time_above;
use serde_json::json;

use super::Function;
use super::answer::{Answer, defined, number, numbers};
use super::arguments::{Arguments, NonNegative, Positive};

/// The functions of this family.
pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "summary_metrics",
        arguments: "old {word: count}, current {word: count}, base?=e|2",
        evaluate: summary_metrics,
    },
    Function { name: "survival_time", arguments: "kl [], tau", evaluate: survival_time },
    Function {
        name: "survival_model",
        arguments: "lambda_dom, gamma, t [], size?=1, kappa?=0, tau?=0, beta_s?=0, beta_k?=0, beta_t?=0",
        evaluate: survival_model,
    },
];

fn summary_metrics(arguments: &Arguments<'_>) -> Answer {
    let in_bits = arguments.choice("base", &[("e", false), ("2", true)], Some("e"))?;
    let comparison = compare(&summary(arguments, "old")?, &summary(arguments, "current")?);
    let divergence = if in_bits { comparison.divergence_bits() } else { comparison.divergence };
    Ok(json!({
        "ur": defined(comparison.recall),
        "wr": defined(comparison.weighted_recall),
        "up": defined(comparison.precision),
        "wp": defined(comparison.weighted_precision),
        "kl": defined(divergence),
    }))
}

/// A summary given by the frequencies of its words. Comparing needs no number of documents.
fn summary(arguments: &Arguments<'_>, name: &str) -> Result<DocumentFrequencies, String> {
    let words: BTreeMap<String, NonNegative> = arguments.get(name)?;
    let words = words.into_iter().map(|(word, frequency)| (word, frequency.0));
    Ok(DocumentFrequencies::from_frequencies(0.0, words))
}

fn survival_time(arguments: &Arguments<'_>) -> Answer {
    let divergences: Vec<f64> = arguments.get("kl")?;
    let threshold: NonNegative = arguments.get("tau")?;
    let lifetime = time_above(&divergences, threshold.0);
    Ok(json!({"time": lifetime.time() as u64, "censored": !lifetime.ended()}))
}

fn survival_model(arguments: &Arguments<'_>) -> Answer {
    let times: Vec<NonNegative> = arguments.get("t")?;
    let model = SurvivalModel {
        baseline_scale: arguments.get::<NonNegative>("lambda_dom")?.0,
        shape: arguments.get::<Positive>("gamma")?.0,
        size_coefficient: arguments.get_or("beta_s", 0.0)?,
        past_divergence_coefficient: arguments.get_or("beta_k", 0.0)?,
        threshold_coefficient: arguments.get_or("beta_t", 0.0)?,
    };
    let database = DatabaseFeatures {
        size: arguments.get_or("size", Positive(1.0))?.0,
        past_divergence: arguments.get_or("kappa", 0.0)?,
        divergence_threshold: arguments.get_or("tau", 0.0)?,
    };
    let effects = [
        ("beta_s", "size", model.size_coefficient * database.size.ln()),
        ("beta_k", "kappa", model.past_divergence_coefficient * database.past_divergence),
        ("beta_t", "tau", model.threshold_coefficient * database.divergence_threshold),
    ];
    if let Some((coefficient, feature, _)) = effects.iter().find(|(_, _, effect)| !effect.is_finite()) {
        return Err(format!("arguments `{coefficient}` and `{feature}`: their product is too large"));
    }
    let curve = model.survival(&database);
    Ok(json!({
        "lambda": number(curve.scale()),
        "s": numbers(times.iter().map(|time| curve.survival_at(time.0))),
    }))
}

#[cfg(test)]
mod tests {
    use super::super::calls::{call, check_error};
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    #[test]
    fn a_count_of_zero_is_no_word() {
        let arguments = json!({"old": {"a": 1, "b": 0, "c": 3}, "current": {"a": 2, "b": 5, "c": 0}});
        let expected = json!({"ur": 0.5, "wr": 2.0 / 7.0, "up": 0.5, "wp": 0.25, "kl": 0.0});
        assert_eq!(call("summary_metrics", &arguments), Ok(expected));
    }

    #[test]
    fn what_is_not_defined_is_null() {
        let null = json!({"ur": null, "wr": null, "up": null, "wp": null, "kl": null});
        assert_eq!(call("summary_metrics", json!({"old": {"a": 0}, "current": {}})), Ok(null));
    }

    #[test]
    fn an_endless_watch_of_nothing_is_censored_at_zero() {
        let expected = json!({"time": 0, "censored": true});
        assert_eq!(call("survival_time", json!({"kl": [], "tau": 0.5})), Ok(expected));
    }

    #[test]
    fn extreme_models_have_a_survival() {
        let at = |arguments: Value| call("survival_model", &arguments).expect("a model");
        assert_eq!(
            at(json!({"lambda_dom": 0, "gamma": 1e308, "t": [0, 1e308]})),
            json!({"lambda": 0.0, "s": [1.0, 1.0]})
        );
        let steep =
            at(json!({"lambda_dom": 1, "gamma": 1e-300, "t": [0, 1e-300], "kappa": 1000, "beta_k": 1}));
        assert_eq!(steep, json!({"lambda": "inf", "s": [1.0, 0.0]}));
    }

    #[test]
    fn wrong_arguments_are_named() {
        check_error("summary_metrics", json!({"old": {"a": -1}, "current": {}}), "`old`");
        check_error("summary_metrics", json!({"old": {}, "current": {}, "base": 2}), "`base`");
        check_error("summary_metrics", json!({"old": {}, "current": {}, "base": "10"}), "none of e, 2");
        check_error("survival_time", json!({"kl": [0.1, null], "tau": 1}), "`kl`");
        check_error("survival_time", json!({"kl": [], "tau": -1}), "`tau`");
        check_error("survival_model", json!({"lambda_dom": 1, "gamma": 0, "t": []}), "`gamma`");
        check_error("survival_model", json!({"lambda_dom": 1, "gamma": 1, "t": [-1]}), "`t`");
        check_error("survival_model", json!({"lambda_dom": 1, "gamma": 1, "t": [], "size": 0}), "`size`");
        check_error(
            "survival_model",
            json!({"lambda_dom": 1, "gamma": 1, "t": [], "kappa": 1e200, "beta_k": 1e200}),
            "`beta_k` and `kappa`",
        );
    }

    fn hostile_number() -> impl Strategy<Value = Value> {
        prop_oneof![
            4 => prop::sample::select(vec![0.0, 1.0, -1.0, 0.5, 1e308, -1e308, 5e-324, 1e-300, 1e9, 2.0])
                .prop_map(Value::from),
            1 => Just(Value::Null),
            1 => Just(json!("x")),
        ]
    }

    proptest! {
        #[test]
        fn no_argument_is_too_hostile(
            singles in prop::collection::vec(hostile_number(), 8),
            list in prop::collection::vec(hostile_number(), 0..4),
            words in prop::collection::vec((hostile_number(), hostile_number()), 0..4),
        ) {
            let side = |pick: fn(&(Value, Value)) -> &Value| -> Value {
                words.iter().enumerate().map(|(i, pair)| (i.to_string(), pick(pair).clone())).collect()
            };
            let names = ["lambda_dom", "gamma", "size", "kappa", "tau", "beta_s", "beta_k", "beta_t"];
            let mut arguments: serde_json::Map<_, _> =
                names.iter().map(|name| (*name).to_owned()).zip(singles).collect();
            arguments.insert("t".to_owned(), list.clone().into());
            arguments.insert("kl".to_owned(), list.into());
            arguments.insert("old".to_owned(), side(|pair| &pair.0));
            arguments.insert("current".to_owned(), side(|pair| &pair.1));
            for function in FUNCTIONS {
                if let Ok(value) = (function.evaluate)(&Arguments::new(&arguments)) {
                    prop_assert!(value.get("s").is_none_or(|s| !s.to_string().contains("null")), "{value}");
                }
            }
        }
    }
}
