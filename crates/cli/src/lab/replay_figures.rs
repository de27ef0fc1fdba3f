//! A replay as pictures: one for each metric.

use freshet_lab::figure::bars::{Bars, Row};
use freshet_lab::replay::Score;
use freshet_lab::replay::score::{Figure, RANGES};

use super::replay::Replay;
use crate::span;

/// The picture of each metric, by the name of its file.
pub(super) fn figures(replay: &Replay<'_>) -> Vec<(&'static str, String)> {
    let total = replay.stage.changes_total() as f64;
    let by_range = |metric: Metric, of: fn(&Score) -> &Figure| {
        metric.draw(replay, &by_range_panels(), &|score| values(of(score)))
    };
    let single = |metric: Metric, of: &dyn Fn(&Score) -> f64| {
        metric.draw(replay, &["all cycles".to_owned()], &|score| vec![Some(of(score))])
    };
    vec![
        (
            "change_ratio.svg",
            by_range(Metric::new("ChangeRatio", "changed / downloads", 3, Best::Changes), |score| {
                &score.change_ratio
            }),
        ),
        (
            "weighted_change_ratio.svg",
            by_range(
                Metric::new("ChangeRatio weighted by PageRank", "weight changed / all", 3, Best::Changes),
                |score| &score.weighted_change_ratio,
            ),
        ),
        (
            "freshness.svg",
            by_range(Metric::new("Freshness", "part up to date", 3, Best::Fresh), |score| &score.freshness),
        ),
        ("age.svg", by_range(Metric::new("Age of copies", "days", 2, Best::Fresh), |score| &score.age_days)),
        (
            "fairness.svg",
            by_range(
                Metric::new("Fairness at the end of each range", "visited / changed pages", 3, Best::Changes),
                |score| &score.fairness,
            ),
        ),
        (
            "changes_found.svg",
            single(Metric::new("Changes found", "found / all changes", 3, Best::Changes), &|score| {
                score.changes_found / total.max(1.0)
            }),
        ),
        (
            "policy_seconds.svg",
            single(Metric::new("Policy time", "seconds per million downloads", 2, Best::None), &|score| {
                score.policy_seconds
            }),
        ),
    ]
}

/// Which oracle is the ceiling of a metric.
#[derive(Clone, Copy)]
enum Best {
    Changes,
    Fresh,
    None,
}

/// What a picture shows.
struct Metric {
    title: &'static str,
    axis: &'static str,
    digits: usize,
    best: Best,
}

impl Metric {
    fn new(title: &'static str, axis: &'static str, digits: usize, best: Best) -> Self {
        Self { title, axis, digits, best }
    }

    fn draw(
        &self,
        replay: &Replay<'_>,
        panels: &[String],
        values: &dyn Fn(&Score) -> Vec<Option<f64>>,
    ) -> String {
        let outcome = replay.outcome;
        let row = |score: &Score| Row {
            name: score.name.clone(),
            values: values(score),
            is_ours: score.name.starts_with("freshet"),
        };
        let oracles = outcome.oracles.first();
        let ceiling = oracles.and_then(|oracles| match self.best {
            Best::Changes => Some(&oracles.changes),
            Best::Fresh => Some(&oracles.fresh),
            Best::None => None,
        });
        let bars = Bars {
            title: format!("{}: {}", self.title, subtitle(replay)),
            axis: self.axis.to_owned(),
            digits: self.digits,
            panels: panels.to_vec(),
            ceiling: ceiling.map(|score| (score.name.clone(), values(score))),
            rows: outcome.scores.iter().map(row).collect(),
        };
        bars.draw()
    }
}

fn subtitle(replay: &Replay<'_>) -> String {
    let Replay { options, stage, .. } = replay;
    format!(
        "{} sites ({}), {} pages, cycles of {}, budget {}",
        stage.sites(),
        options.family(),
        stage.pages(),
        span::written(stage.setting().cycle_days),
        stage.setting().budget
    )
}

fn by_range_panels() -> Vec<String> {
    let ranges = RANGES.iter().map(|range| format!("cycles {}", range.name()));
    ["all cycles".to_owned()].into_iter().chain(ranges).collect()
}

fn values(figure: &Figure) -> Vec<Option<f64>> {
    [figure.mean].into_iter().chain(figure.ranges).collect()
}
