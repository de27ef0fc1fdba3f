//! Draws the figures of a study: Figures 4.2, 4.4, 4.5, 4.6 and 6.19 of the **thesis**, and the bias of
//! estimators.
//!
//! # Promises
//! - An empty figure is not drawn.

use super::estimator_bias::{AtInterval, CLASSES, ESTIMATORS, RATIO_BARS};
use super::poisson_fit::IntervalSample;
use super::study::{Group, Study};
use super::{change_interval, lifespan};
use crate::figure::bars::{Bars, Row};
use crate::figure::chart::{Axis, Chart, Look, Note, Plate, Series};
use crate::figure::scale::Scale;

/// All figures of a study, by file name.
pub fn all(study: &Study) -> Vec<(&'static str, String)> {
    let group = &study.groups[0];
    let pictures = [
        ("change_intervals.svg", Some(change_intervals(study))),
        ("lifespans.svg", Some(lifespans(study))),
        ("unchanged.svg", Some(unchanged(study))),
        ("poisson_fit.svg", poisson_fit(group)),
        ("estimates.svg", estimates(group)),
        ("estimator_bias.svg", estimator_bias(group)),
    ];
    pictures.into_iter().filter_map(|(name, svg)| svg.map(|svg| (name, svg))).collect()
}

/// Figure 4.2: fraction of the pages with each change interval.
pub fn change_intervals(study: &Study) -> String {
    let row = |bar: usize| Row {
        name: change_interval::BARS[bar].0.to_owned(),
        values: study.groups.iter().map(|group| Some(100.0 * group.change_intervals.bars[bar])).collect(),
        is_ours: false,
    };
    bars(study, "Pages by average change interval", (0..change_interval::BARS.len()).map(row).collect())
}

/// Figure 4.4: fraction of the pages with each visible lifespan, by both methods.
pub fn lifespans(study: &Study) -> String {
    let method = |name: &str, of: fn(&Group) -> &[f64; 4]| -> Vec<Row> {
        let row = |bar: usize| Row {
            name: format!("{name}: {}", lifespan::BARS[bar].0),
            values: study.groups.iter().map(|group| Some(100.0 * of(group)[bar])).collect(),
            is_ours: false,
        };
        (0..lifespan::BARS.len()).map(row).collect()
    };
    let mut rows = method("method 1", |group| &group.lifespans.method_1);
    rows.extend(method("method 2", |group| &group.lifespans.method_2));
    bars(study, "Pages by visible lifespan", rows)
}

fn bars(study: &Study, title: &str, rows: Vec<Row>) -> String {
    let panel = |group: &Group| format!("{} ({} pages)", group.name, group.pages);
    let panels = study.groups.iter().map(panel).collect();
    let bars = Bars {
        title: title.to_owned(),
        axis: "% of pages".to_owned(),
        digits: 1,
        panels,
        ceiling: None,
        rows,
    };
    bars.draw()
}

/// Figure 4.5: fraction of the pages that did not change or disappear by each day.
pub fn unchanged(study: &Study) -> String {
    let days = study.groups.iter().flat_map(|group| group.unchanged.curve.iter().map(|point| point.0));
    let series =
        study.groups.iter().map(|group| Series::line(&group.name, group.unchanged.curve.iter().copied()));
    let chart = Chart {
        title: String::new(),
        across: Axis::new("days since the window opened", Scale::linear_from_zero(days)),
        up: Axis::new("part of the pages as they were", Scale::linear(0.0, 1.0)),
        series: series.collect(),
        notes: vec![Note::Level(0.5, "half of the pages".to_owned())],
    };
    chart.draw()
}

/// Figure 4.6: intervals between changes of pages with similar rates, compared with those of a Poisson
/// process. `None` if there are too few.
pub fn poisson_fit(group: &Group) -> Option<String> {
    let charts: Vec<Chart> = group.poisson_fit.samples.iter().filter_map(fit_chart).collect();
    let heading = format!("Intervals between changes ({})", group.name);
    let columns = charts.len();
    (columns > 0).then(|| Plate { heading, columns, charts }.draw())
}

fn fit_chart(sample: &IntervalSample) -> Option<Chart> {
    let (_, bins) = sample.histogram.split_last()?;
    let width = bins.first().zip(bins.get(1)).map(|(a, b)| b.start.get() - a.start.get())?;
    let middle = |start: f64| start + 0.5 * width;
    let observed = bins.iter().map(|bin| (middle(bin.start.get()), bin.observed));
    let expected = bins.iter().map(|bin| (middle(bin.start.get()), bin.expected));
    let parts: Vec<f64> = bins.iter().flat_map(|bin| [bin.observed, bin.expected]).collect();
    let end = bins.iter().map(|bin| bin.start.get() + width).fold(0.0, f64::max);
    let (pages, interval) = (sample.pages, sample.interval_days);
    Some(Chart {
        title: format!("about {interval:.0} days, {pages} pages"),
        across: Axis::new("days between changes", Scale::linear(0.0, end)),
        up: Axis::new("part of the intervals", Scale::logarithmic(parts)),
        series: vec![
            Series::points("recorded", observed.filter(|point| point.1 > 0.0).collect::<Vec<_>>()),
            Series::line("Poisson process", expected.collect::<Vec<_>>()),
        ],
        notes: Vec::new(),
    })
}

/// Figure 6.19: distribution of estimated over counted rate, with the most and the least frequent visits.
/// `None` if no page was visited.
pub fn estimates(group: &Group) -> Option<String> {
    let intervals = &group.estimator_bias.by_interval;
    let (often, seldom) = (intervals.first()?, intervals.last()?);
    if often.comparison.pages == 0 {
        return None;
    }
    let heading = format!("Estimated over counted rate ({}, {} pages)", group.name, often.comparison.pages);
    Some(Plate { heading, columns: 2, charts: vec![estimates_chart(often), estimates_chart(seldom)] }.draw())
}

fn estimates_chart(at: &AtInterval) -> Chart {
    let series = ESTIMATORS.iter().zip(&at.distribution).map(|(name, parts)| {
        let point = |(bar, part): (usize, &f64)| (bar as f64 * RATIO_BARS.0, *part);
        Series::with_look(*name, Look::LineAndPoints, parts.iter().enumerate().map(point))
    });
    Chart {
        title: format!("visits every {:.0} days", at.visit_interval_days),
        across: Axis::new(
            "estimated over counted rate",
            Scale::linear(0.0, RATIO_BARS.0 * (RATIO_BARS.1 - 1) as f64),
        ),
        up: Axis::new(
            "part of the pages",
            Scale::linear_from_zero(at.distribution.iter().flatten().copied()),
        ),
        series: series.collect(),
        notes: vec![Note::At(1.0, "right".to_owned())],
    }
}

/// Mean of estimated over counted rate by changes per visit, of pages and of their Poisson twins. `None` if
/// no page was visited.
pub fn estimator_bias(group: &Group) -> Option<String> {
    let middle = |class: usize| (CLASSES[class] * CLASSES[class + 1]).sqrt();
    let classes = &group.estimator_bias.by_class;
    let points = |estimator: usize, of_twins: bool| -> Vec<(f64, f64)> {
        let ratio = |class: usize| {
            let found = &classes[class];
            let ratios = if of_twins { &found.twins_mean_ratio } else { &found.mean_ratio };
            (middle(class), ratios[estimator])
        };
        (0..classes.len()).filter(|class| classes[*class].pages > 0).map(ratio).collect()
    };
    let charts: Vec<Chart> = ESTIMATORS
        .iter()
        .enumerate()
        .map(|(estimator, name)| Chart {
            title: (*name).to_owned(),
            across: Axis::new("changes per visit", Scale::logarithmic(CLASSES)),
            up: Axis::new("estimated over counted rate", Scale::linear(0.0, 1.4)),
            series: vec![
                Series::with_look("recorded", Look::LineAndPoints, points(estimator, false)),
                Series::with_look("Poisson twins", Look::LineAndPoints, points(estimator, true)),
            ],
            notes: vec![Note::Level(1.0, String::new())],
        })
        .collect();
    let heading = format!("Bias of estimators of the rate of change ({})", group.name);
    let is_empty = charts[0].series[0].points.is_empty();
    (!is_empty).then(|| Plate { heading, columns: charts.len(), charts }.draw())
}
