//! A study of change as one JSON object.

use freshet_lab::evolution::Group;
use freshet_lab::evolution::change_interval::{self, ChangeIntervals};
use freshet_lab::evolution::estimator_bias::{AtInterval, CLASSES, Comparison, ESTIMATORS};
use freshet_lab::evolution::lifespan;
use freshet_lab::evolution::poisson_fit::{IntervalSample, OneByOne};
use freshet_theory::process::exponential_fit::ExponentialFit;
use serde_json::{Map, Value, json};

use super::evolution::Studied;
use super::source;

/// Builds the object: the `settings`, how exactly a crawl's `observation` is known (null for tables), the
/// `groups` in the order of the tables, and the families that are `left_out`.
pub(super) fn object(studied: &Studied<'_>) -> Value {
    let Studied { options, study, window_days, blur } = studied;
    json!({
        "settings": {
            "data": options.data().display().to_string(),
            "family": options.family(),
            "window_days": window_days,
            "mass": options.mass().word(),
        },
        "observation": source::caveat_object(blur.as_ref()),
        "groups": study.groups.iter().map(group).collect::<Vec<_>>(),
        "left_out": study.left_out,
    })
}

fn group(group: &Group) -> Value {
    let curve: Vec<_> = group.unchanged.curve.iter().map(|(day, part)| json!([day, part])).collect();
    json!({
        "name": group.name,
        "sites": group.sites,
        "pages": group.pages,
        "changes": group.changes,
        "change_interval": change_intervals(&group.change_intervals),
        "lifespan": {
            "method_1": bars(&lifespan::BARS, &group.lifespans.method_1),
            "method_2": bars(&lifespan::BARS, &group.lifespans.method_2),
            "seen_whole": group.lifespans.whole,
        },
        "unchanged": {
            "pages": group.unchanged.pages,
            "half_days": group.unchanged.half_days,
            "curve": curve,
        },
        "poisson_fit": {
            "samples": group.poisson_fit.samples.iter().map(sample).collect::<Vec<_>>(),
            "one_by_one": one_by_one(&group.poisson_fit.one_by_one),
        },
        "estimators": {
            "pages": group.estimator_bias.pages,
            "by_visit_interval": group.estimator_bias.by_interval.iter().map(at_interval).collect::<Vec<_>>(),
            "by_changes_per_visit": CLASSES
                .windows(2)
                .zip(&group.estimator_bias.by_class)
                .map(|(class, found)| json!({"from": class[0], "to": class[1], "ratio": comparison(found)}))
                .collect::<Vec<_>>(),
        },
    })
}

fn change_intervals(intervals: &ChangeIntervals) -> Value {
    json!({
        "bars": bars(&change_interval::BARS, &intervals.bars),
        "never": intervals.never,
        "crude_mean_days": intervals.crude_mean_days,
        "median_days": intervals.median_days,
    })
}

fn bars(names: &[(&str, f64)], parts: &[f64]) -> Map<String, Value> {
    names.iter().zip(parts).map(|((name, _), part)| ((*name).to_owned(), json!(part))).collect()
}

fn sample(sample: &IntervalSample) -> Value {
    let histogram: Vec<_> = sample
        .histogram
        .iter()
        .map(|bin| json!({"start_days": bin.start.get(), "observed": bin.observed, "poisson": bin.expected}))
        .collect();
    json!({
        "interval_days": sample.interval_days,
        "pages": sample.pages,
        "intervals": sample.intervals,
        "fit": fit(sample.fit.as_ref()),
        "twins": fit(sample.twins.as_ref()),
        "histogram": histogram,
    })
}

fn fit(fit: Option<&ExponentialFit>) -> Value {
    fit.map_or(Value::Null, |fit| {
        json!({
            "mean_days": fit.mean.get(),
            "variation": fit.variation,
            "statistic": fit.statistic,
            "p_value": fit.p_value,
        })
    })
}

fn one_by_one(tested: &OneByOne) -> Value {
    json!({
        "pages": tested.pages,
        "rejected": tested.rejected,
        "twins_rejected": tested.twins_rejected,
        "variation": tested.variation,
        "twins_variation": tested.twins_variation,
    })
}

fn at_interval(at: &AtInterval) -> Value {
    json!({
        "visit_interval_days": at.visit_interval_days,
        "ratio": comparison(&at.comparison),
        "improved_is_nearer": {"pages": at.improved_is_nearer[0], "twins": at.improved_is_nearer[1]},
    })
}

fn comparison(comparison: &Comparison) -> Value {
    let by_name = |ratios: &[f64]| -> Map<String, Value> {
        ESTIMATORS.iter().zip(ratios).map(|(name, ratio)| ((*name).to_owned(), json!(ratio))).collect()
    };
    json!({
        "pages": comparison.pages,
        "mean": by_name(&comparison.mean_ratio),
        "twins_mean": by_name(&comparison.twins_mean_ratio),
    })
}
