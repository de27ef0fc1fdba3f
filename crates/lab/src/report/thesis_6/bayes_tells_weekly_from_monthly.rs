//! The Bayesian estimator distinguishes weekly from monthly pages after a few visits, if these are neither
//! too close nor too far apart.
//!
//! The **thesis**, section 6.6, Figures 6.16 and 6.17 (**estimate**, Figures 16 and 17), and its worked
//! example.
//!
//! # Promises
//! - Printed probabilities agree. Simulation is within 0.02 of the formula.

use anyhow::Result;
use freshet_theory::estimate::bayes::{ClassEvidence, RateClasses};
use freshet_theory::estimate::bayes_accuracy::class_probabilities;
use freshet_theory::units::{ChangesPerDay, Days};
use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;

use crate::figure::chart::{Axis, Chart, Note, Plate, Series};
use crate::figure::scale::Scale;
use crate::report::chapter::{Maker, Progress};
use crate::report::exhibit::{Comparison, Exhibit, Verdict};
use crate::report::sources::{Need, Sources};

/// Figure 6.16.
pub(super) const BY_VISITS: Maker = Maker {
    name: "figure-6.16",
    title: "Figure 6.16 (16): how often Bayes takes a page for a monthly one, by visits",
    needs: Need::Nothing,
    make: by_visits,
};

/// Figure 6.17.
pub(super) const BY_INTERVAL: Maker = Maker {
    name: "figure-6.17",
    title: "Figure 6.17 (17): how often Bayes takes a page for a monthly one, by time between visits",
    needs: Need::Nothing,
    make: by_interval,
};

const WEEK: f64 = 7.0;
const MONTH: f64 = 30.0;

/// Pages simulated for a point.
const PAGES: u32 = 10_000;

/// The classes: weekly first, monthly second, equally probable.
fn classes() -> RateClasses {
    let rates = [1.0 / WEEK, 1.0 / MONTH].map(ChangesPerDay::new);
    RateClasses::new(&rates, &[0.5, 0.5])
}

/// Probability that a page with this rate is classified as monthly.
fn monthly(visits: u64, interval: f64, rate: f64) -> f64 {
    class_probabilities(&classes(), Days::new(interval), visits, ChangesPerDay::new(rate))[1]
}

fn drawn_monthly(visits: u64, interval: f64, rate: f64, chance: &mut ChaCha8Rng) -> f64 {
    let classes = classes();
    let chance_of_change = -(-rate * interval).exp_m1();
    let taken = (0..PAGES).filter(|_| {
        let mut evidence = ClassEvidence::from_parts(Days::ZERO, [0.0; 2]);
        for _ in 0..visits {
            evidence.observe(&classes, Days::new(interval), chance.random_bool(chance_of_change));
        }
        evidence.most_probable_class(&classes) == 1
    });
    taken.count() as f64 / f64::from(PAGES)
}

fn rates() -> impl Iterator<Item = f64> {
    (0..=80).map(|step| 0.01 * 50_f64.powf(f64::from(step) / 80.0))
}

fn chart(title: &str, series: Vec<Series>) -> Chart {
    Chart {
        title: title.to_owned(),
        across: Axis::new("changes a day", Scale::logarithmic(rates())),
        up: Axis::new("chance to be taken for monthly", Scale::linear(0.0, 1.0)),
        series,
        notes: vec![Note::At(1.0 / MONTH, "monthly".to_owned()), Note::At(1.0 / WEEK, "weekly".to_owned())],
    }
}

fn by_visits(sources: &Sources, progress: &Progress<'_>) -> Result<Exhibit> {
    let mut chance = sources.chance("figure-6.16");
    let counts = [3_u64, 10, 50];
    let mut series: Vec<Series> = counts
        .map(|n| Series::line(format!("n = {n}"), rates().map(|rate| (rate, monthly(n, 10.0, rate)))))
        .to_vec();
    let mut off = 0.0_f64;
    for n in [3_u64, 10] {
        progress(n as f64 / 10.0);
        let points: Vec<(f64, f64)> = [1.0 / 60.0, 1.0 / MONTH, 1.0 / 14.0, 1.0 / WEEK]
            .map(|rate| (rate, drawn_monthly(n, 10.0, rate, &mut chance)))
            .to_vec();
        off = points.iter().map(|(rate, value)| (value - monthly(n, 10.0, *rate)).abs()).fold(off, f64::max);
        series.push(Series::points(format!("n = {n}, simulated"), points).like(format!("n = {n}")));
    }
    let right = |n| (1.0 - monthly(n, 10.0, 1.0 / WEEK), monthly(n, 10.0, 1.0 / MONTH));
    let (weekly_3, monthly_3) = right(3);
    let (weekly_10, monthly_10) = right(10);
    Ok(Exhibit::new(
        "Visits every ten days. With ten of them few weekly pages are taken for monthly ones or the other \
         way round.",
    )
    .picture(chart("", series).draw())
    .compare_all(worked_example())
    .compare(Comparison::claim(
        "monthly pages taken for monthly, n = 3",
        "more than 80%",
        format!("{:.1}%", 100.0 * monthly_3),
        monthly_3 > 0.8,
    ))
    .compare(Comparison::claim(
        "weekly pages taken for weekly, n = 3",
        "more than 80%",
        format!("{:.1}%", 100.0 * weekly_3),
        weekly_3 > 0.8,
    ))
    .compare(
        Comparison::statement(
            "right for n = 10",
            "more than 95%",
            format!("{:.1}% of weekly, {:.1}% of monthly pages", 100.0 * weekly_10, 100.0 * monthly_10),
            Verdict::TextIsWrong,
        )
        .noting("It holds for monthly pages, and for the mean of both it is 94.9%; weekly pages fall short."),
    )
    .compare(Comparison::claim(
        "formula against simulation",
        "equal",
        format!("largest difference {off:.3}"),
        off < 0.02,
    )))
}

/// A page that was found changed after five days, and after five more days.
fn worked_example() -> [Comparison; 2] {
    let classes = classes();
    let mut evidence = ClassEvidence::from_parts(Days::ZERO, [0.0; 2]);
    let mut weekly = || {
        evidence.observe(&classes, Days::new(5.0), true);
        evidence.posterior(&classes).map_or(f64::NAN, |posterior| posterior[0])
    };
    [
        Comparison::number("chance to be weekly after one change in five days", "0.77", weekly()),
        Comparison::number("chance to be weekly after another", "0.92", weekly()),
    ]
}

fn by_interval(_: &Sources, _: &Progress<'_>) -> Result<Exhibit> {
    let panel = |visits: u64| {
        let curve = |(name, interval): (&str, f64)| {
            Series::line(name, rates().map(|rate| (rate, monthly(visits, interval, rate))))
        };
        let intervals = [("every ten days", 10.0), ("every day", 1.0), ("every two months", 60.0)];
        chart(&format!("n = {visits}"), intervals.map(curve).to_vec())
    };
    let plate = Plate { heading: String::new(), columns: 2, charts: vec![panel(3), panel(10)] };
    let wrong = |interval| 0.5 * (monthly(3, interval, 1.0 / WEEK) + 1.0 - monthly(3, interval, 1.0 / MONTH));
    let [daily, between, seldom] = [1.0, 10.0, 60.0].map(wrong);
    let fast = monthly(3, 1.0, 1.5 / WEEK);
    Ok(Exhibit::new(
        "Visits every day rarely see a change and take most pages for monthly; visits every two months see a \
         change nearly always and take most for weekly. The text does not say how many visits it made; here \
         are three and ten.",
    )
    .picture(plate.draw())
    .compare(Comparison::claim(
        "best time between visits",
        "between a week and a month",
        format!(
            "wrong with n = 3: {:.0}% daily, {:.0}% every ten days, {:.0}% every two months",
            100.0 * daily,
            100.0 * between,
            100.0 * seldom
        ),
        between < daily && between < seldom,
    ))
    .compare(Comparison::claim(
        "daily visits to a page that changes more than once a week",
        "monthly with high probability",
        format!("{:.0}% at 1.5 changes a week, n = 3", 100.0 * fast),
        fast > 0.5,
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::making::check;

    #[test]
    fn printed_values_are_accounted_for_and_simulation_agrees() {
        check(&BY_VISITS);
        check(&BY_INTERVAL);
    }
}
