//! A replay as one JSON object.

use freshet_lab::replay::Score;
use freshet_lab::replay::score::RANGES;
use serde_json::{Map, Value, json};

use super::replay::Replay;
use super::source;

/// Builds the object: the `settings`, how exactly a crawl's `observation` is known (null for tables), the
/// `policies` in the order given, and the `oracles` to compare with.
pub(super) fn object(replay: &Replay<'_>) -> Value {
    let Replay { options, stage, outcome, blur } = replay;
    let changes_total = stage.changes_total();
    let policies: Vec<_> = outcome.scores.iter().map(|score| entry(score, changes_total)).collect();
    let oracles = outcome.oracles.iter().flat_map(|oracles| [&oracles.changes, &oracles.fresh]);
    let oracles: Vec<_> = oracles.map(|score| entry(score, changes_total)).collect();
    json!({
        "settings": {
            "data": options.data().display().to_string(),
            "family": options.family(),
            "window_days": stage.window_days(),
            "cycle_days": stage.setting().cycle_days,
            "budget": stage.setting().budget,
            "mass": options.mass().word(),
            "importance": options.importance(),
            "seeds": options.seeds(),
            "max_pages_per_site": options.max_pages_per_site(),
            "cycles": stage.cycles(),
            "sites": stage.sites(),
            "pages": stage.pages(),
            "pages_at_start": stage.known(0),
            "downloads": stage.downloads_total(),
        },
        "observation": source::caveat_object(*blur),
        "policies": policies,
        "oracles": oracles,
    })
}

fn entry(score: &Score, changes_total: usize) -> Value {
    let ranges: Map<String, Value> = RANGES
        .iter()
        .zip(score.change_ratio.ranges)
        .map(|(range, value)| (range.name(), json!(value)))
        .collect();
    json!({
        "policy": score.name,
        "change_ratio": {"mean": score.change_ratio.mean, "ranges": ranges, "spread": score.spread},
        "freshness": score.freshness.mean,
        "age_days": score.age_days.mean,
        "weighted_change_ratio": score.weighted_change_ratio.mean,
        "fairness": score.fairness.mean,
        "changes_found": score.changes_found.round() as u64,
        "changes_total": changes_total,
        "policy_seconds": score.policy_seconds,
    })
}
