//! Survival analysis, as functions of `freshet eval`.

use std::collections::BTreeMap;

use freshet_theory::survival::baseline::{Baseline, baselines};
use freshet_theory::survival::concordance::concordance as concordance_of;
use freshet_theory::survival::cox::{NoMaximum, fit};
use freshet_theory::survival::lifetime::Lifetime;
use freshet_theory::survival::risk_sets::Ties;
use freshet_theory::survival::subjects::Subjects;
use freshet_theory::survival::weibull_curve::{SurvivalPoint, fit_weibull_curve};
use serde_json::{Value, json};

use super::Function;
use super::answer::{Answer, defined, number, numbers};
use super::arguments::{Argument, Arguments, Positive};

/// The functions of this family.
pub(super) const FUNCTIONS: &[Function] = &[
    Function { name: "weibull_fit", arguments: "t [], s []", evaluate: weibull_fit },
    Function {
        name: "cox_fit",
        arguments: "x [[]], time [], event [0 or 1], ties?=efron|breslow, strata? [string], at? []",
        evaluate: cox_fit,
    },
    Function { name: "concordance", arguments: "time [], event [0 or 1], risk []", evaluate: concordance },
];

/// Maximum number of points in a Weibull fit: each costs some thousand exponentials.
const POINTS_MAX: usize = 100_000;

/// Maximum number of covariates in a Cox fit.
const COVARIATES_MAX: usize = 200;

/// Maximum of subjects times (covariates + 1) squared, the work of one step of a Cox fit: a million subjects
/// with five covariates.
const WORK_MAX: usize = 40_000_000;

/// Maximum number of baseline survival values in one answer.
const BASELINE_VALUES_MAX: usize = 1_000_000;

fn weibull_fit(arguments: &Arguments<'_>) -> Answer {
    let times: Vec<Positive> = arguments.get("t")?;
    let survivals: Vec<Positive> = arguments.get("s")?;
    same_length("s", survivals.len(), "t", times.len())?;
    if times.len() < 2 {
        return Err(format!("argument `t`: {} points, and a fit needs at least two", times.len()));
    }
    if times.len() > POINTS_MAX {
        return Err(format!("argument `t`: more than {POINTS_MAX} points"));
    }
    if times.iter().all(|time| *time == times[0]) {
        return Err("argument `t`: all times are the same, and a fit needs two different ones".to_owned());
    }
    let point =
        |(time, survival): (&Positive, &Positive)| SurvivalPoint { time: time.0, survival: survival.0 };
    let (curve, squares) = fit_weibull_curve(&times.iter().zip(&survivals).map(point).collect::<Vec<_>>());
    // A constant curve at one has no hazard, so its shape is not defined.
    let shape =
        if curve.scale() == 0.0 && curve.shape() == 0.0 { Value::Null } else { number(curve.shape()) };
    Ok(json!({"lambda": number(curve.scale()), "gamma": shape, "rss": number(squares)}))
}

fn cox_fit(arguments: &Arguments<'_>) -> Answer {
    let lifetimes = lifetimes(arguments)?;
    let covariates = covariates(arguments, lifetimes.len())?;
    let ties =
        arguments.choice("ties", &[("efron", Ties::Efron), ("breslow", Ties::Breslow)], Some("efron"))?;
    let at: Option<Vec<f64>> = arguments.optional("at")?;
    let strata = Strata::read(arguments, lifetimes.len())?;
    if !lifetimes.iter().any(|lifetime| lifetime.ended()) {
        return Err("argument `event`: there is no event".to_owned());
    }
    let values = strata.names.len().max(1).saturating_mul(at.as_ref().map_or(0, Vec::len));
    if values > BASELINE_VALUES_MAX {
        return Err(format!("argument `at`: more than {BASELINE_VALUES_MAX} values over all strata"));
    }
    let subjects = Subjects::stratified(&lifetimes, &covariates, &strata.numbers);
    let fit = fit(&subjects, ties).map_err(|why| match why {
        NoMaximum::Undetermined { covariate } => format!(
            "argument `x`: column {covariate} has no coefficient of its own: it is constant wherever an \
             event occurs, or a combination of the columns before it"
        ),
        NoMaximum::Unbounded => {
            "argument `x`: the columns separate the events, so that the likelihood grows without bound with \
             the coefficients"
                .to_owned()
        }
    })?;
    let mut answer = json!({
        "beta": numbers(fit.coefficients.iter().copied()),
        "se": numbers(fit.standard_errors.iter().copied()),
        "loglik_null": number(fit.log_likelihood_null),
        "loglik": number(fit.log_likelihood),
    });
    if let Some(at) = at {
        answer["baseline_survival"] = strata.name(&baselines(&subjects, &fit), &at);
    }
    Ok(answer)
}

fn concordance(arguments: &Arguments<'_>) -> Answer {
    let lifetimes = lifetimes(arguments)?;
    let risks: Vec<f64> = arguments.get("risk")?;
    same_length("risk", risks.len(), "time", lifetimes.len())?;
    Ok(defined(concordance_of(&lifetimes, &risks)))
}

/// The lifetimes given by `time` and `event`.
fn lifetimes(arguments: &Arguments<'_>) -> Result<Vec<Lifetime>, String> {
    let times: Vec<f64> = arguments.get("time")?;
    let events: Vec<Event> = arguments.get("event")?;
    same_length("event", events.len(), "time", times.len())?;
    let lifetime = |(time, event): (f64, Event)| match event {
        Event(true) => Lifetime::ended_at(time),
        Event(false) => Lifetime::censored_at(time),
    };
    Ok(times.into_iter().zip(events).map(lifetime).collect())
}

/// The columns of `x`, whose rows are subjects.
fn covariates(arguments: &Arguments<'_>, subjects: usize) -> Result<Vec<Vec<f64>>, String> {
    let rows: Vec<Vec<f64>> = arguments.get("x")?;
    same_length("x", rows.len(), "time", subjects)?;
    let columns = rows.first().map_or(0, Vec::len);
    if let Some(row) = rows.iter().position(|row| row.len() != columns) {
        return Err(format!("argument `x`: row {row} has {} columns, row 0 has {columns}", rows[row].len()));
    }
    if columns > COVARIATES_MAX {
        return Err(format!("argument `x`: more than {COVARIATES_MAX} columns"));
    }
    if subjects.saturating_mul((columns + 1).pow(2)) > WORK_MAX {
        return Err(format!("argument `x`: rows times squared columns exceed {WORK_MAX}"));
    }
    Ok((0..columns).map(|column| rows.iter().map(|row| row[column]).collect()).collect())
}

/// Strata by name, numbered in alphabetical order.
struct Strata {
    /// Empty if `strata` was not given.
    names: Vec<String>,
    /// Stratum number of each subject.
    numbers: Vec<u32>,
}

impl Strata {
    fn read(arguments: &Arguments<'_>, subjects: usize) -> Result<Self, String> {
        let Some(of_subjects) = arguments.optional::<Vec<String>>("strata")? else {
            return Ok(Self { names: Vec::new(), numbers: vec![0; subjects] });
        };
        same_length("strata", of_subjects.len(), "time", subjects)?;
        let mut by_name: BTreeMap<&str, u32> = of_subjects.iter().map(|name| (name.as_str(), 0)).collect();
        by_name.values_mut().zip(0..).for_each(|(number, next)| *number = next);
        Ok(Self {
            names: by_name.keys().map(|name| (*name).to_owned()).collect(),
            numbers: of_subjects.iter().map(|name| by_name[name.as_str()]).collect(),
        })
    }

    /// The baseline survival at these times: a list, or one list per stratum under its name.
    fn name(&self, baselines: &[Baseline], at: &[f64]) -> Value {
        let survival = |baseline: &Baseline| numbers(at.iter().map(|time| baseline.survival_at(*time)));
        if self.names.is_empty() {
            return survival(&baselines[0]);
        }
        baselines
            .iter()
            .map(|baseline| (self.names[baseline.stratum as usize].clone(), survival(baseline)))
            .collect()
    }
}

/// Whether an event occurred, given as 0 or 1 or as a boolean.
struct Event(bool);

impl Argument for Event {
    fn read(value: &Value) -> Result<Self, String> {
        if let Some(occurred) = value.as_bool() {
            return Ok(Self(occurred));
        }
        match value.as_f64() {
            Some(0.0) => Ok(Self(false)),
            Some(1.0) => Ok(Self(true)),
            _ => Err(format!("{value} is neither 0 nor 1")),
        }
    }
}

fn same_length(name: &str, length: usize, other: &str, other_length: usize) -> Result<(), String> {
    if length == other_length {
        Ok(())
    } else {
        Err(format!("argument `{name}`: {length} elements, but `{other}` has {other_length}"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::calls::{call, check_error};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_fit_without_covariates_is_a_fit() {
        let arguments = json!({"x": [[], [], []], "time": [1, 2, 3], "event": [1, 0, true], "at": [0, 1, 3]});
        let value = call("cox_fit", &arguments).expect("a fit");
        assert_eq!(value["beta"], json!([]));
        assert_eq!(value["loglik"], value["loglik_null"]);
        let survival = value["baseline_survival"][2].as_f64().expect("a number");
        assert!((survival - (-4.0f64 / 3.0).exp()).abs() < 1e-15);
    }

    #[test]
    fn strata_make_the_baseline_an_object_even_when_there_is_one() {
        let arguments = json!({
            "x": [[1], [0], [1], [0]], "time": [1, 2, 3, 4], "event": [1, 1, 1, 0],
            "strata": ["a", "a", "a", "a"], "at": [],
        });
        assert_eq!(call("cox_fit", &arguments).expect("a fit")["baseline_survival"], json!({"a": []}));
    }

    #[test]
    fn a_fit_that_is_not_there_is_an_error() {
        let arguments = |x: Value| {
            json!({
                "x": x, "time": [1, 2, 3, 4], "event": [1, 1, 1, 1], "ties": "breslow", "strata": null
            })
        };
        check_error("cox_fit", arguments(json!([[7], [7], [7], [7]])), "column 0");
        check_error("cox_fit", arguments(json!([[1, 2], [5, 10], [3, 6], [4, 8]])), "column 1");
        check_error("cox_fit", arguments(json!([[4], [3], [2], [1]])), "separate");
        check_error("cox_fit", json!({"x": [[1], [2]], "time": [3, 4], "event": [0, 0]}), "no event");
        check_error("cox_fit", json!({"x": [], "time": [], "event": []}), "no event");
    }

    #[test]
    fn wrong_arguments_are_named() {
        check_error("cox_fit", json!({"x": [[1], [2, 3]], "time": [1, 2], "event": [1, 1]}), "row 1");
        check_error("cox_fit", json!({"x": [[1]], "time": [1, 2], "event": [1, 1]}), "`x`");
        check_error("cox_fit", json!({"x": [[1], [2]], "time": [1, 2], "event": [1, 2]}), "neither 0 nor 1");
        check_error("cox_fit", json!({"x": [[1], [2]], "time": [1, 2], "event": [1]}), "`event`");
        check_error("cox_fit", json!({"x": [[1]], "time": [1], "event": [1], "ties": "exact"}), "`ties`");
        check_error("cox_fit", json!({"x": [[1]], "time": [1], "event": [1], "strata": [1]}), "`strata`");
        check_error("cox_fit", json!({"x": [vec![0; 201]], "time": [1], "event": [1]}), "200 columns");
        check_error("concordance", json!({"time": [1], "event": [1], "risk": []}), "`risk`");
        check_error("weibull_fit", json!({"t": [1, 2], "s": [0.5]}), "`s`");
        check_error("weibull_fit", json!({"t": [1, 2], "s": [0.5, 0]}), "`s`");
        check_error("weibull_fit", json!({"t": [0, 2], "s": [0.5, 0.1]}), "`t`");
        check_error("weibull_fit", json!({"t": [2], "s": [0.5]}), "at least two");
        check_error("weibull_fit", json!({"t": [2, 2], "s": [0.5, 0.4]}), "different");
    }

    #[test]
    fn what_is_not_defined_is_null() {
        assert_eq!(call("concordance", json!({"time": [], "event": [], "risk": []})), Ok(Value::Null));
        assert_eq!(
            call("concordance", json!({"time": [1, 1], "event": [1, 1], "risk": [1, 2]})),
            Ok(Value::Null)
        );
        let level = json!({"lambda": 0.0, "gamma": null, "rss": 0.0});
        assert_eq!(call("weibull_fit", json!({"t": [1, 2, 3], "s": [1, 1, 1]})), Ok(level));
    }

    #[test]
    fn a_hundred_thousand_subjects_are_compared_in_one_call() {
        let times: Vec<u32> = (0..100_000).collect();
        let arguments = json!({"time": times, "event": vec![1; times.len()], "risk": times});
        assert_eq!(call("concordance", &arguments), Ok(json!(0.0)));
    }

    /// Covariates, time, event and stratum.
    type Person = (Vec<f64>, f64, bool, u8);

    fn hostile_number() -> impl Strategy<Value = f64> {
        prop::sample::select(vec![
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.5,
            2.0,
            3.0,
            1e308,
            -1e308,
            5e-324,
            1e-300,
            1e9,
            1e9 + 1.0,
        ])
    }

    proptest! {
        #[test]
        fn no_argument_is_too_hostile(
            people in prop::collection::vec(
                (prop::collection::vec(hostile_number(), 2), hostile_number(), any::<bool>(), 0..2u8),
                0..8,
            ),
            at in prop::collection::vec(hostile_number(), 0..3),
            ties in prop::sample::select(vec!["efron", "breslow"]),
            by_strata in any::<bool>(),
        ) {
            let list = |pick: fn(&Person) -> Value| -> Value { people.iter().map(pick).collect() };
            let mut arguments = json!({
                "x": list(|p| p.0.clone().into()),
                "time": list(|p| p.1.into()),
                "event": list(|p| p.2.into()),
                "risk": list(|p| p.0[0].into()),
                "t": list(|p| p.1.abs().into()),
                "s": list(|p| p.0[1].abs().into()),
                "at": at,
                "ties": ties,
            });
            if by_strata {
                arguments["strata"] = list(|p| p.3.to_string().into());
            }
            for function in FUNCTIONS {
                let arguments = arguments.as_object().expect("arguments are an object");
                if let Ok(value) = (function.evaluate)(&Arguments::new(arguments)) {
                    let may_be_null = function.name == "concordance" || value["lambda"] == 0.0;
                    let text = value.to_string().replace("loglik_null", "");
                    prop_assert!(may_be_null || !text.contains("null"), "{value}");
                }
            }
        }
    }
}
