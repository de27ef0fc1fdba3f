//! One copy over time: fresh until its page changes, then ageing until the next visit.
//!
//! The **thesis**, sections 5.2.1, 5.2.2 and 5.4.1, Figures 5.2, 5.3 and 5.7: the freshness and age of one
//! copy, their expectations after a visit, and their saw-tooth shape under visits at fixed intervals.
//!
//! # Promises
//! - The mean of many simulated copies is within 0.02 of the expectation at every time.

use anyhow::Result;
use freshet_theory::freshness::after_visit::expected_after_visit;
use freshet_theory::process::change_process::{ChangeProcess as _, Since};
use freshet_theory::process::poisson::Poisson;
use freshet_theory::units::{ChangesPerDay, Days};
use rand_chacha::ChaCha8Rng;

use crate::figure::chart::{Axis, Chart, Note, Plate, Series};
use crate::figure::scale::Scale;
use crate::report::chapter::{Maker, Progress};
use crate::report::exhibit::{Comparison, Exhibit};
use crate::report::sources::{Need, Sources};

/// Figure 5.2.
pub(super) const EXAMPLE: Maker = Maker {
    name: "figure-5.2",
    title: "Figure 5.2: freshness and age of one copy over time",
    needs: Need::Nothing,
    make: example,
};

/// Figure 5.3.
pub(super) const EXPECTATION: Maker = Maker {
    name: "figure-5.3",
    title: "Figure 5.3: expected freshness and age after a visit",
    needs: Need::Nothing,
    make: expectation,
};

/// Figure 5.7.
pub(super) const FIXED_INTERVALS: Maker = Maker {
    name: "figure-5.7",
    title: "Figure 5.7: expected freshness under visits at fixed intervals",
    needs: Need::Nothing,
    make: fixed_intervals,
};

/// The page of all three figures changes once a day on average.
const CHANGE_RATE: f64 = 1.0;

/// Copies simulated for a mean: enough for two digits.
const COPIES: usize = 4_000;

fn example(_: &Sources, _: &Progress<'_>) -> Result<Exhibit> {
    let (changes, visits, end) = ([0.7, 1.6, 2.1, 4.4], [1.2, 3.0, 5.2], 6.0);
    let freshness: Vec<(f64, f64)> = moments(&changes, &visits, end)
        .map(|time| (time, if age_at(&changes, &visits, time).is_some() { 0.0 } else { 1.0 }))
        .collect();
    let age: Vec<(f64, f64)> = moments(&changes, &visits, end)
        .map(|time| (time, age_at(&changes, &visits, time).unwrap_or(0.0)))
        .collect();
    let chart = |title: &str, up: Axis, points| Chart {
        title: title.to_owned(),
        across: Axis::new("time (days)", Scale::linear(0.0, end)),
        up,
        series: vec![Series::line("copy", points)],
        notes: changes
            .map(|time| Note::At(time, "change".to_owned()))
            .into_iter()
            .chain(visits.map(|time| Note::At(time, "visit".to_owned())))
            .collect(),
    };
    let charts = vec![
        chart("freshness", Axis::new("freshness", Scale::linear(0.0, 1.2)), freshness),
        chart("age", Axis::new("age (days)", Scale::linear(0.0, 2.0)), age),
    ];
    let plate = Plate { heading: String::new(), columns: 1, charts };
    Ok(Exhibit::new(
        "A copy is fresh until its page changes; from the first change after a visit on it grows older, \
         until the next visit makes it fresh again. A second change before the visit adds nothing. The \
         text's figure is a sketch without numbers; this one follows from Definitions 5.1 and 5.2 for four \
         changes and three visits.",
    )
    .picture(plate.draw()))
}

fn expectation(sources: &Sources, _: &Progress<'_>) -> Result<Exhibit> {
    let copies = drawn_copies(&mut sources.chance("figure-5.3"), 3.0);
    let times: Vec<f64> = (0..=60).map(|step| f64::from(step) * 0.05).collect();
    let expected = |time: f64| expected_after_visit(ChangesPerDay::new(CHANGE_RATE), Days::new(time));
    let measured: Vec<(f64, f64, f64)> = (1..=10)
        .map(|step| {
            let time = f64::from(step) * 0.3;
            (time, mean_freshness(&copies, time), mean_age(&copies, time))
        })
        .collect();
    let chart = |title: &str, curve: Vec<(f64, f64)>, points: Vec<(f64, f64)>, high: f64| Chart {
        title: title.to_owned(),
        across: Axis::new("time since the visit (days)", Scale::linear(0.0, 3.0)),
        up: Axis::new(title, Scale::linear(0.0, high)),
        series: vec![Series::line("by formula", curve), Series::points("by simulation", points)],
        notes: Vec::new(),
    };
    let freshness = times.iter().map(|time| (*time, expected(*time).freshness)).collect();
    let age = times.iter().map(|time| (*time, expected(*time).age.get())).collect();
    let charts = vec![
        chart("expected freshness", freshness, measured.iter().map(|(t, f, _)| (*t, *f)).collect(), 1.0),
        chart("expected age (days)", age, measured.iter().map(|(t, _, a)| (*t, *a)).collect(), 2.5),
    ];
    let off = measured.iter().map(|(time, freshness, age)| {
        let expected = expected(*time);
        (expected.freshness - freshness).abs().max((expected.age.get() - age).abs())
    });
    let off = off.fold(0.0, f64::max);
    let plate = Plate { heading: "A page that changes once a day on average".to_owned(), columns: 2, charts };
    let late = expected(50.0).age.get() / 50.0;
    Ok(Exhibit::new(
        "After a visit the chance that a copy is still fresh falls as e^-λt, and its expected age rises from \
         zero towards the time that has passed.",
    )
    .picture(plate.draw())
    .compare(Comparison::number("expected freshness at the visit", "1", expected(0.0).freshness))
    .compare(Comparison::number("expected age over time passed, after long", "1", late))
    .compare(Comparison::claim(
        "formula against simulation",
        "equal",
        format!("largest difference {off:.3}"),
        off < 0.05,
    )))
}

fn fixed_intervals(sources: &Sources, _: &Progress<'_>) -> Result<Exhibit> {
    let copies = drawn_copies(&mut sources.chance("figure-5.7"), 4.0);
    let expected = |time: f64| {
        expected_after_visit(ChangesPerDay::new(CHANGE_RATE), Days::new(time.rem_euclid(1.0))).freshness
    };
    // One visit per day: the last instant before it and the visit itself are both points of the curve.
    let curve = (0..4).flat_map(|day| {
        let day = f64::from(day);
        let within = (0..=20).map(move |step| (day + f64::from(step) * 0.0499, f64::from(step) * 0.0499));
        within.map(|(time, since)| (time, expected(since))).chain([(day + 1.0, 1.0)]).collect::<Vec<_>>()
    });
    let measured: Vec<(f64, f64)> = (0..20)
        .map(|step| {
            let time = 0.1 + 0.2 * f64::from(step);
            (time, mean_freshness_with_daily_visits(&copies, time))
        })
        .collect();
    let off = measured.iter().map(|(time, value)| (expected(*time) - value).abs()).fold(0.0, f64::max);
    let chart = Chart {
        title: "visits every day to a page that changes once a day on average".to_owned(),
        across: Axis::new("time (days)", Scale::linear(0.0, 4.0)),
        up: Axis::new("expected freshness", Scale::linear(0.0, 1.0)),
        series: vec![
            Series::line("by formula", curve),
            Series::points("by simulation", measured.iter().copied()),
        ],
        notes: Vec::new(),
    };
    Ok(Exhibit::new(
        "Every visit sets the expected freshness back to one, and between visits it falls in the same way; \
         so the mean over one interval is the mean over all time (Theorem 5.2).",
    )
    .picture(chart.draw())
    .compare(Comparison::claim(
        "formula against simulation",
        "equal",
        format!("largest difference {off:.3}"),
        off < 0.03,
    )))
}

/// Change times of many simulated copies of the page.
fn drawn_copies(chance: &mut ChaCha8Rng, days: f64) -> Vec<Vec<f64>> {
    let page = Poisson { change_rate: ChangesPerDay::new(CHANGE_RATE) };
    (0..COPIES).map(|_| page.sample(Days::new(days), Since::AnyTime, chance)).collect()
}

fn mean_freshness(copies: &[Vec<f64>], time: f64) -> f64 {
    let fresh = copies.iter().filter(|changes| age_at(changes, &[], time).is_none()).count();
    fresh as f64 / copies.len() as f64
}

fn mean_age(copies: &[Vec<f64>], time: f64) -> f64 {
    copies.iter().filter_map(|changes| age_at(changes, &[], time)).sum::<f64>() / copies.len() as f64
}

fn mean_freshness_with_daily_visits(copies: &[Vec<f64>], time: f64) -> f64 {
    let fresh = copies.iter().filter(|changes| age_at(changes, &[time.floor()], time).is_none()).count();
    fresh as f64 / copies.len() as f64
}

/// Age of a copy. `None` while it is fresh.
fn age_at(changes: &[f64], visits: &[f64], time: f64) -> Option<f64> {
    let visit = visits.iter().copied().filter(|visit| *visit <= time).fold(0.0, f64::max);
    let change = changes.iter().copied().find(|change| visit < *change && *change <= time);
    change.map(|change| time - change)
}

/// Times at which the figure needs a point: just before and at every event, and between them.
fn moments(changes: &[f64], visits: &[f64], end: f64) -> impl Iterator<Item = f64> {
    let events = changes.iter().chain(visits).flat_map(|time| [time - 1e-6, *time]);
    let mut times: Vec<f64> = events.chain([0.0, end]).collect();
    times.sort_by(f64::total_cmp);
    times.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::making::check;

    #[test]
    fn simulation_agrees_with_expectation() {
        [EXAMPLE, EXPECTATION, FIXED_INTERVALS].iter().for_each(|maker| drop(check(maker)));
    }

    #[test]
    fn a_second_change_before_a_visit_adds_nothing() {
        assert_eq!(age_at(&[1.0, 2.0], &[], 3.0), Some(2.0));
        assert_eq!(age_at(&[1.0, 2.0], &[1.5], 3.0), Some(1.0));
        assert_eq!(age_at(&[1.0, 2.0], &[2.5], 3.0), None);
    }
}
