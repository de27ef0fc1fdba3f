//! The share of refreshes that find a change.
//!
//! **summary**, section 5.2, Figure 10: the share of refreshes that find a summary changed beyond the
//! threshold, by the mean time between refreshes.

use anyhow::Result;
use freshet_text::weeks::evaluation::evaluate;

use super::{DATA, shown};
use crate::figure::chart::{Axis, Chart, Plate, Series};
use crate::figure::scale::Scale;
use crate::report::chapter::{Maker, Progress};
use crate::report::exhibit::{Comparison, Exhibit, Verdict};
use crate::report::sources::{Need, Sources};
use crate::report::text_databases::{TRAINING, TextDatabases};

/// Figure 10.
pub(super) const UPDATE_PRECISION: Maker = Maker {
    name: "summary-figure-10",
    title: "Figure 10: precision of updates by the time between refreshes",
    needs: Need::Words,
    make: update_precision,
};

/// Mean intervals between refreshes, in weeks.
const BETWEEN: [f64; 9] = [2.0, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0, 50.0];

/// What a plan found and predicted, by the mean time between refreshes.
struct Curve {
    name: &'static str,
    found: Vec<(f64, f64)>,
    foretold: Vec<(f64, f64)>,
}

fn update_precision(sources: &Sources, progress: &Progress<'_>) -> Result<Exhibit> {
    let databases = sources.text_databases(progress)?;
    let curves = curves(databases);
    let found = |name: &str, weeks: f64| {
        let curve = curves.iter().find(|curve| curve.name == name);
        curve
            .and_then(|curve| curve.found.iter().find(|point| point.0 == weeks))
            .map_or(f64::NAN, |point| point.1)
    };
    let printed = |weeks: f64, printed: &str| {
        Comparison::statement(
            format!("update precision at T = {weeks}"),
            printed,
            format!(
                "{:.0}% (naive), {:.0}% (κ1)",
                100.0 * found("naive", weeks),
                100.0 * found("past_divergence", weeks)
            ),
            Verdict::NotReproducible,
        )
        .noting(format!("printed for τ = 0.25 nats, ours for {}; {DATA}", databases.threshold))
    };
    let rises = BETWEEN.windows(2).all(|pair| found("naive", pair[0]) <= found("naive", pair[1]) + 0.02);
    let gap = |curve: &Curve| {
        let gaps =
            curve.found.iter().zip(&curve.foretold).map(|(found, foretold)| (found.1 - foretold.1).abs());
        gaps.fold(0.0, f64::max)
    };
    let hindsight = curves.iter().find(|curve| curve.name == "hindsight").map_or(f64::NAN, gap);
    let others = curves
        .iter()
        .filter(|curve| !["hindsight", "naive"].contains(&curve.name))
        .map(gap)
        .fold(0.0, f64::max);
    Ok(Exhibit::new(
        "A refresh is precise if the new summary differs from the old one by more than the threshold. The \
         longer one waits, the more refreshes find something. What a plan foretells is one minus the \
         survival at the end of each interval, as a refresh comes there.",
    )
    .text(databases.about())
    .picture(draw(&curves))
    .compare(printed(10.0, "40%"))
    .compare(printed(25.0, "80%"))
    .compare(Comparison::claim(
        "it rises with the time between refreshes",
        "it does",
        format!("{:.2} at T = 2, {:.2} at T = 50", found("naive", 2.0), found("naive", 50.0)),
        rises,
    ))
    .compare(
        Comparison::statement(
            "it can be foretold",
            "approximately",
            format!(
                "at most {hindsight:.2} off where the law of each database is known, {others:.2} by models \
                 that have not seen it"
            ),
            if others < 0.15 { Verdict::Agrees } else { Verdict::NotReproducible },
        )
        .noting(if others < 0.15 {
            ""
        } else {
            "a curve through the mean of many databases promises early changes that few of them have"
        }),
    )
    .command("freshet db plan --data DIR/text --evaluate 2,5,10,15,20,25,30,40,50"))
}

fn curves(databases: &TextDatabases) -> Vec<Curve> {
    let mut curves: Vec<Curve> = Vec::new();
    for weeks in BETWEEN {
        for schedule in databases.contest.schedules(weeks) {
            let outcome = evaluate(&databases.complete, &schedule.intervals, TRAINING, databases.threshold);
            let place = match curves.iter().position(|curve| curve.name == schedule.name) {
                Some(place) => place,
                None => {
                    curves.push(Curve { name: schedule.name, found: Vec::new(), foretold: Vec::new() });
                    curves.len() - 1
                }
            };
            curves[place].found.extend(outcome.precision.map(|precision| (weeks, precision)));
            curves[place].foretold.extend(schedule.precision.map(|precision| (weeks, precision)));
        }
    }
    curves
}

fn draw(curves: &[Curve]) -> String {
    let chart = |title: &str, points: fn(&Curve) -> &Vec<(f64, f64)>| {
        let drawn = curves.iter().filter(|curve| !points(curve).is_empty());
        Chart {
            title: title.to_owned(),
            across: Axis::new("T: weeks between refreshes", Scale::linear(0.0, 50.0)),
            up: Axis::new("share of refreshes that find a change", Scale::linear(0.0, 1.0)),
            series: drawn.map(|curve| Series::line(shown(curve.name), points(curve).clone())).collect(),
            notes: Vec::new(),
        }
    };
    let charts = vec![chart("found", |curve| &curve.found), chart("foretold", |curve| &curve.foretold)];
    Plate { heading: String::new(), columns: 2, charts }.draw()
}
