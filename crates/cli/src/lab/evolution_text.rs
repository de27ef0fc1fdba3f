//! A study of change as text tables.

use std::fmt::Write as _;

use comfy_table::{CellAlignment, Table, presets};
use freshet_lab::evolution::estimator_bias::ESTIMATORS;
use freshet_lab::evolution::poisson_fit::LEVEL;
use freshet_lab::evolution::{Group, Study, change_interval, lifespan};

use super::evolution::Studied;
use super::source;
use crate::span;

/// What was studied, and one table per question.
pub(super) fn report(studied: &Studied<'_>) -> String {
    let study = &studied.study;
    let mut text = heading(studied);
    let sections = [
        ("How often does a page change? Part of the pages by change interval", change_intervals(study)),
        ("How long is a page there? Part of the pages by visible lifespan", lifespans(study)),
        ("How long until half of the pages there at first had changed or gone?", halves(study)),
        ("Do changes come as a Poisson process? Pages with about the same change interval", samples(study)),
        ("The same, page by page", one_by_one(study)),
        ("Estimated over counted rate, by estimator and days between visits; 1 is right", estimators(study)),
    ];
    for (title, table) in sections {
        let lines: String = table.lines().map(|line| line.trim_end().to_owned() + "\n").collect();
        write!(text, "\n{title}\n{lines}").expect("a string takes everything");
    }
    text
}

fn heading(studied: &Studied<'_>) -> String {
    let Studied { options, study, window_days, blur } = studied;
    let mut text = format!(
        "{} of {} (family {}, sweeps {}), seen by daily visits\n",
        span::written(*window_days),
        options.data().display(),
        options.family(),
        options.mass().done(),
    );
    for group in &study.groups {
        writeln!(
            text,
            "  {}: {} sites, {} pages, {} changes",
            group.name, group.sites, group.pages, group.changes
        )
        .expect("a string takes everything");
    }
    if !study.left_out.is_empty() {
        writeln!(text, "  left out, shorter than the window: {}", study.left_out.join(", "))
            .expect("a string takes everything");
    }
    text.push_str(&blur.as_ref().map_or_else(String::new, source::caveat));
    text
}

fn change_intervals(study: &Study) -> Table {
    let bars = change_interval::BARS.iter().map(|(name, _)| *name);
    let head = ["family"].into_iter().chain(bars).chain(["of these never", "crude mean/days", "median/days"]);
    let row = |group: &Group| {
        let intervals = &group.change_intervals;
        let mut cells: Vec<String> = intervals.bars.iter().map(|part| percent(*part)).collect();
        cells.push(percent(intervals.never));
        cells.push(format!("{:.0}", intervals.crude_mean_days));
        cells.push(intervals.median_days.map_or_else(|| "-".to_owned(), |days| format!("{days:.0}")));
        cells
    };
    table(head, study, |group| vec![row(group)])
}

fn lifespans(study: &Study) -> Table {
    let bars = lifespan::BARS.iter().map(|(name, _)| *name);
    let head = ["family", "method"].into_iter().chain(bars).chain(["seen whole"]);
    table(head, study, |group| {
        let row = |method: &str, parts: &[f64]| {
            let mut cells = vec![method.to_owned()];
            cells.extend(parts.iter().map(|part| percent(*part)));
            cells.push(percent(group.lifespans.whole));
            cells
        };
        vec![row("1", &group.lifespans.method_1), row("2", &group.lifespans.method_2)]
    })
}

fn halves(study: &Study) -> Table {
    table(["family", "pages", "half/days", "as they were at the end"].into_iter(), study, |group| {
        let unchanged = &group.unchanged;
        let half =
            unchanged.half_days.map_or_else(|| "beyond the window".to_owned(), |days| format!("{days:.1}"));
        let left = unchanged.curve.last().map_or(1.0, |(_, part)| *part);
        vec![vec![unchanged.pages.to_string(), half, percent(left)]]
    })
}

fn samples(study: &Study) -> Table {
    let head = [
        "family",
        "interval/days",
        "pages",
        "intervals",
        "variation",
        "of twins",
        "A*",
        "of twins",
        "p-value",
        "of twins",
    ];
    table(head.into_iter(), study, |group| {
        let samples = group.poisson_fit.samples.iter().map(|sample| {
            let mut cells = vec![
                format!("{:.0}", sample.interval_days),
                sample.pages.to_string(),
                sample.intervals.to_string(),
            ];
            let fits = [sample.fit, sample.twins];
            let dash = || "-".to_owned();
            cells.extend(fits.map(|fit| fit.map_or_else(dash, |fit| format!("{:.2}", fit.variation))));
            cells.extend(fits.map(|fit| fit.map_or_else(dash, |fit| format!("{:.1}", fit.statistic))));
            cells.extend(fits.map(|fit| fit.map_or_else(dash, |fit| probability(fit.p_value))));
            cells
        });
        samples.collect()
    })
}

fn one_by_one(study: &Study) -> Table {
    let rejected = format!("rejected at {LEVEL}");
    let head = ["family", "pages tested", &rejected, "of twins", "variation", "of twins"];
    table(head.into_iter(), study, |group| {
        let tested = &group.poisson_fit.one_by_one;
        if tested.pages == 0 {
            return vec![vec![
                "0".to_owned(),
                "-".to_owned(),
                "-".to_owned(),
                "-".to_owned(),
                "-".to_owned(),
            ]];
        }
        vec![vec![
            tested.pages.to_string(),
            percent(tested.rejected),
            percent(tested.twins_rejected),
            format!("{:.2}", tested.variation),
            format!("{:.2}", tested.twins_variation),
        ]]
    })
}

fn estimators(study: &Study) -> Table {
    let names: Vec<String> =
        ESTIMATORS.iter().flat_map(|name| [(*name).to_owned(), "of twins".to_owned()]).collect();
    let head = ["family", "visits every/days", "pages"]
        .into_iter()
        .chain(names.iter().map(String::as_str))
        .chain(["improved nearer", "of twins"]);
    table(head, study, |group| {
        let rows = group.estimator_bias.by_interval.iter().map(|at| {
            let found = &at.comparison;
            let mut cells = vec![format!("{:.0}", at.visit_interval_days), found.pages.to_string()];
            for (own, twins) in found.mean_ratio.iter().zip(&found.twins_mean_ratio) {
                cells.extend(
                    [own, twins]
                        .map(|ratio| if found.pages > 0 { format!("{ratio:.2}") } else { "-".to_owned() }),
                );
            }
            cells.extend(at.improved_is_nearer.map(percent));
            cells
        });
        rows.collect()
    })
}

/// A table with the name of each group before its rows.
fn table<'a>(
    head: impl Iterator<Item = &'a str>,
    study: &Study,
    rows: impl Fn(&Group) -> Vec<Vec<String>>,
) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(head.map(str::to_owned).collect::<Vec<_>>());
    for group in &study.groups {
        for cells in rows(group) {
            table.add_row([group.name.clone()].into_iter().chain(cells));
        }
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

fn percent(part: f64) -> String {
    format!("{:.1}%", 100.0 * part)
}

fn probability(value: f64) -> String {
    if value < 0.0001 { "<0.0001".to_owned() } else { format!("{value:.4}") }
}
