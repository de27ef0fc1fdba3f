//! A replay as text tables.

use std::fmt::Write as _;

use comfy_table::{CellAlignment, Table, presets};
use freshet_lab::replay::Score;
use freshet_lab::replay::contest::Oracles;
use freshet_lab::replay::score::RANGES;

use super::replay::Replay;
use super::source;
use crate::span;

/// What was replayed, ChangeRatio by range of cycles, and the other metrics with the oracle's values.
pub(super) fn report(replay: &Replay<'_>) -> String {
    let mut text = heading(replay);
    write!(text, "\nChangeRatio by cycles\n{}", finish(&change_ratios(replay)))
        .expect("a string takes everything");
    write!(
        text,
        "\nBy the end, each with the oracle's value beside it (freshness and age: of oracle:fresh)\n{}",
        finish(&qualities(replay))
    )
    .expect("a string takes everything");
    text
}

fn heading(replay: &Replay<'_>) -> String {
    let Replay { options, stage, blur, .. } = replay;
    let setting = stage.setting();
    format!(
        "{} of {} (family {}, sweeps {}): {} sites, {} pages at the start and {} later, {} changes\n\
         {} cycles of {}, {} downloads per page and cycle ({} in all), {} run(s) of each policy\n{}",
        span::written(stage.window_days()),
        options.data().display(),
        options.family(),
        options.mass().done(),
        stage.sites(),
        stage.known(0),
        stage.pages() - stage.known(0),
        stage.changes_total(),
        stage.cycles(),
        span::written(setting.cycle_days),
        setting.budget,
        stage.downloads_total(),
        options.seeds(),
        blur.map_or_else(String::new, source::caveat),
    )
}

fn change_ratios(replay: &Replay<'_>) -> Table {
    let ranges = RANGES.map(|range| range.name());
    let header = ["policy"].into_iter().chain(ranges.iter().map(String::as_str));
    let mut table = new_table(header.chain(["mean", "spread", "of oracle"]));
    for (score, oracles) in with_oracles(replay) {
        let ratio = &score.change_ratio;
        let mut cells = vec![score.name.clone()];
        cells.extend(ratio.ranges.iter().map(|value| digits(*value, 3)));
        cells.push(digits(ratio.mean, 4));
        cells.push(digits(Some(score.spread), 4));
        cells.push(percent(ratio.mean, oracles.changes.change_ratio.mean));
        table.add_row(cells);
    }
    table
}

fn qualities(replay: &Replay<'_>) -> Table {
    let total = replay.stage.changes_total() as f64;
    let mut table = new_table(
        [
            "policy",
            "freshness",
            "oracle",
            "age/days",
            "oracle",
            "weighted",
            "oracle",
            "fairness",
            "oracle",
            "found",
            "oracle",
            "s/million",
        ]
        .into_iter(),
    );
    for (score, Oracles { changes, fresh, .. }) in with_oracles(replay) {
        let found = |score: &Score| percent(Some(score.changes_found), Some(total));
        table.add_row([
            score.name.clone(),
            digits(score.freshness.mean, 4),
            digits(fresh.freshness.mean, 4),
            digits(score.age_days.mean, 3),
            digits(fresh.age_days.mean, 3),
            digits(score.weighted_change_ratio.mean, 4),
            digits(changes.weighted_change_ratio.mean, 4),
            digits(score.fairness.mean, 3),
            digits(changes.fairness.mean, 3),
            found(score),
            found(changes),
            digits(Some(score.policy_seconds), 2),
        ]);
    }
    table
}

/// All scores, then those of the oracles that are not among them. Each comes with the oracles of its form.
fn with_oracles<'a>(replay: &'a Replay<'_>) -> Vec<(&'a Score, &'a Oracles)> {
    let outcome = replay.outcome;
    let mut rows = Vec::new();
    for (score, form) in outcome.scores.iter().zip(&outcome.forms) {
        let oracles = outcome.oracles.iter().find(|oracles| oracles.form == *form);
        rows.push((score, oracles.expect("oracles of every form have run")));
    }
    for oracles in &outcome.oracles {
        for score in [&oracles.changes, &oracles.fresh] {
            if !outcome.scores.iter().any(|named| named.name == score.name) {
                rows.push((score, oracles));
            }
        }
    }
    rows
}

fn new_table<'a>(header: impl Iterator<Item = &'a str>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header.map(str::to_owned).collect::<Vec<_>>());
    table.column_iter_mut().skip(1).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    table
}

fn finish(table: &Table) -> String {
    table.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

fn digits(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.digits$}"))
}

fn percent(part: Option<f64>, whole: Option<f64>) -> String {
    let share = part.zip(whole).filter(|(_, whole)| *whole > 0.0).map(|(part, whole)| 100.0 * part / whole);
    share.map_or_else(|| "–".to_owned(), |share| format!("{share:.1}%"))
}
