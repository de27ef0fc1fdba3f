//! Two pages, one of which changes too fast to keep fresh: visits gain more on the other.
//!
//! The **thesis**, section 5.5.3, Table 5.4 and Figure 5.13. In the table one page changes exactly once in
//! each ninth of a day and another exactly once a day, as Figure 5.12 sketches. In the figure they change at
//! these rates by Poisson processes.
//!
//! # Promises
//! - Every printed benefit and every printed best choice of the table agrees.
//! - Simulation is within 0.02 of the curves.

use anyhow::Result;
use freshet_theory::freshness::order::{Order, time_average};
use freshet_theory::freshness::visit_benefit::{EvenlyChangingPage, visit_benefit};
use freshet_theory::refresh::{Constraints, Objective, Pages, allocate};
use freshet_theory::units::{ChangesPerDay, VisitsPerDay};
use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;

use super::simulated_copies::simulate_collection;
use crate::figure::chart::{Axis, Chart, Note, Plate, Series};
use crate::figure::scale::Scale;
use crate::report::chapter::{Maker, Progress};
use crate::report::exhibit::{Comparison, Exhibit, Table, Verdict};
use crate::report::sources::{Need, Sources};

/// Table 5.4.
pub(super) const BENEFITS: Maker = Maker {
    name: "table-5.4",
    title: "Table 5.4: benefits of visiting a fast and a slow page",
    needs: Need::Nothing,
    make: benefits,
};

/// Figure 5.13.
pub(super) const CURVES: Maker = Maker {
    name: "figure-5.13",
    title: "Figure 5.13: freshness by the share of visits that the slow page gets",
    needs: Need::Nothing,
    make: curves,
};

/// Changes per day of the two pages.
const CHANGES: [u64; 2] = [9, 1];

/// The rows of the table: visits per day of the two pages, and the printed benefit.
const ROWS: [(&str, [u64; 2], u32, u32); 10] = [
    ("(a)", [1, 0], 1, 36),
    ("(b)", [0, 1], 9, 36),
    ("(c)", [2, 0], 2, 36),
    ("(d)", [1, 1], 10, 36),
    ("(e)", [0, 2], 12, 36),
    ("(f)", [3, 2], 30, 72),
    ("(g)", [2, 3], 31, 72),
    ("(h)", [9, 1], 36, 72),
    ("(i)", [7, 3], 41, 72),
    ("(j)", [5, 5], 40, 72),
];

/// The printed best choices: total number of visits, and those of the two pages.
const BEST: [(u64, [u64; 2]); 4] = [(1, [0, 1]), (2, [0, 2]), (5, [2, 3]), (10, [7, 3])];

/// Days simulated for each row: enough for three digits.
const DAYS: u32 = 50_000;

fn benefits(sources: &Sources, progress: &Progress<'_>) -> Result<Exhibit> {
    let mut chance = sources.chance("table-5.4");
    let mut table = Table::new(
        "Days of freshness gained in a day",
        ["row", "visits to fast page", "visits to slow page", "printed", "by formula", "by simulation"],
    );
    let mut exhibit = Exhibit::new(
        "One page changes nine times a day, another once. When visits are few it is best to give up the page \
         that cannot be kept; when they are many the best division lies between equal shares (j) and shares \
         in proportion to the rates (h).",
    );
    for (number, (row, visits, over, under)) in ROWS.into_iter().enumerate() {
        progress(number as f64 / ROWS.len() as f64);
        let formula = benefit(visits);
        let simulated = simulate(visits, &mut chance);
        let printed = f64::from(over) / f64::from(under);
        let cells = [visits[0].to_string(), visits[1].to_string(), format!("{over}/{under} = {printed:.4}")];
        let found = [format!("{formula:.4}"), format!("{simulated:.4}")];
        table.row([row.to_owned()].into_iter().chain(cells).chain(found));
        let holds = (formula - printed).abs() < 1e-12 && (simulated - printed).abs() < 0.005;
        exhibit = exhibit.compare(Comparison::claim(
            format!("benefit {row} in days"),
            format!("{over}/{under}"),
            format!("{:.6}/{under}", formula * f64::from(under)),
            holds,
        ));
    }
    let best_choices = BEST.map(|(total, printed)| {
        let best = best(total);
        let written = |visits: [u64; 2]| format!("{} and {}", visits[0], visits[1]);
        let quantity = format!("best division of {total} visits");
        Comparison::claim(quantity, written(printed), written(best), best == printed)
    });
    Ok(exhibit.table(table).compare_all(best_choices))
}

fn benefit(visits: [u64; 2]) -> f64 {
    let page =
        |page: usize| EvenlyChangingPage { changes_per_day: CHANGES[page], visits_per_day: visits[page] };
    visit_benefit([page(0), page(1)])
}

fn best(total: u64) -> [u64; 2] {
    let choices = (0..=total).map(|slow| [total - slow, slow]);
    choices.max_by(|a, b| benefit(*a).total_cmp(&benefit(*b))).unwrap_or([0, 0])
}

/// Mean days gained per day, with the change of each interval at a random time.
fn simulate(visits: [u64; 2], chance: &mut ChaCha8Rng) -> f64 {
    let mut gained = 0.0;
    for _ in 0..DAYS {
        for page in 0..2 {
            let (intervals, visits) = (CHANGES[page], visits[page]);
            for interval in 0..intervals {
                let in_interval = visits / intervals + u64::from(interval < visits % intervals);
                gained += gain(in_interval, chance.random()) / intervals as f64;
            }
        }
    }
    gained / f64::from(DAYS)
}

/// Fraction of an interval for which evenly spaced visits keep a copy fresh after a change at this fraction
/// of it.
fn gain(visits: u64, change: f64) -> f64 {
    let spacing = 1.0 / (visits + 1) as f64;
    let first_after = (1..=visits).map(|visit| visit as f64 * spacing).find(|visit| *visit >= change);
    first_after.map_or(0.0, |visit| 1.0 - visit)
}

/// Total visits per day, in the six graphs.
const BUDGETS: [f64; 6] = [1.0, 2.0, 3.0, 5.0, 10.0, 100.0];

/// Visits simulated for each point of a curve.
const VISITS: u32 = 4_000;

fn curves(sources: &Sources, progress: &Progress<'_>) -> Result<Exhibit> {
    let mut chance = sources.chance("figure-5.13");
    let mut charts = Vec::new();
    let (mut off, mut uniform_is_better) = (0.0_f64, true);
    for (number, budget) in BUDGETS.into_iter().enumerate() {
        progress(number as f64 / BUDGETS.len() as f64);
        let at_uniform = freshness(budget, 0.5);
        let drawn: Vec<(f64, f64)> = (1..10)
            .map(|step| {
                let share = 0.1 * f64::from(step);
                let value =
                    simulate_collection(&Pages::new(&rates()), &divided(budget, share), VISITS, &mut chance)
                        .freshness;
                off = off.max((value - freshness(budget, share)).abs());
                (share, value / at_uniform)
            })
            .collect();
        uniform_is_better &= freshness(budget, 0.1) < at_uniform;
        let curve = (0..=100)
            .map(|step| 0.01 * f64::from(step))
            .map(|share| (share, freshness(budget, share) / at_uniform));
        let best = best_share(budget);
        charts.push(Chart {
            title: format!("visits a day: {budget}"),
            across: Axis::new("share of visits to the slow page", Scale::linear(0.0, 1.0)),
            up: Axis::new(
                "freshness over uniform",
                Scale::linear_over(curve.clone().map(|(_, value)| value)),
            ),
            series: vec![
                Series::points("proportional", [(0.1, freshness(budget, 0.1) / at_uniform)]),
                Series::line("by formula", curve),
                Series::points("by simulation", drawn),
            ],
            notes: vec![Note::At(best, format!("best {best:.2}"))],
        });
    }
    let plate = Plate { heading: "Rates of nine and one change a day".to_owned(), columns: 3, charts };
    let [given_up, not_quite, ten] = [1.0, 2.0, 10.0].map(best_share);
    Ok(Exhibit::new(
        "Freshness relative to equal shares. The middle of each graph is the uniform policy, a tenth the \
         proportional one. With          few visits the best is to give up the fast page, with many it lies \
         between the two policies.",
    )
    .picture(plate.draw())
    .compare(Comparison::claim(
        "uniform above proportional in all six graphs",
        "always",
        if uniform_is_better { "always" } else { "not always" },
        uniform_is_better,
    ))
    .compare(Comparison::number("best share with 1 visit a day", "1", given_up))
    .compare(
        Comparison::statement(
            "best share with 2 visits a day",
            "1 (give up the fast page)",
            format!("{not_quite:.3}"),
            Verdict::TextIsWrong,
        )
        .noting(format!(
            "The curve is flat there: {:.5} at the best share against {:.5} when the fast page is given up.",
            freshness(2.0, not_quite),
            freshness(2.0, 1.0)
        )),
    )
    .compare(Comparison::number("best share with 10 visits a day", "0.3", ten))
    .compare(Comparison::claim(
        "formula against simulation",
        "equal",
        format!("largest difference {off:.3}"),
        off < 0.02,
    )))
}

fn rates() -> [ChangesPerDay; 2] {
    CHANGES.map(|changes| ChangesPerDay::new(changes as f64))
}

/// Visits per day to the fast and the slow page if the slow one gets this share.
fn divided(budget: f64, share: f64) -> [VisitsPerDay; 2] {
    [VisitsPerDay::new(budget * (1.0 - share)), VisitsPerDay::new(budget * share)]
}

fn freshness(budget: f64, share: f64) -> f64 {
    let visits = divided(budget, share);
    let page = |page: usize| time_average(Order::Fixed, rates()[page], visits[page]).freshness;
    0.5 * (page(0) + page(1))
}

fn best_share(budget: f64) -> f64 {
    let rates = rates();
    let best =
        allocate(&Pages::new(&rates), Objective::Freshness, &Constraints::budget(VisitsPerDay::new(budget)));
    best.visit_frequencies[1].get() / budget
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::making::check;

    #[test]
    fn every_printed_value_agrees() {
        let exhibit = check(&BENEFITS);
        assert!(exhibit.comparisons.iter().all(|comparison| comparison.verdict == Verdict::Agrees));
    }

    #[test]
    fn with_two_visits_the_fast_page_is_not_quite_given_up() {
        check(&CURVES);
        assert!((best_share(2.0) - 0.882).abs() < 5e-4);
    }
}
