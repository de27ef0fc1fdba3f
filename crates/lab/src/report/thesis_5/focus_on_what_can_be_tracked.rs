//! Two pages, one of which changes too fast to be kept: visits gain more on the other.
//!
//! The **thesis**, section 5.5.3, Table 5.4: a page that changes exactly once in each ninth of a day and one that changes exactly
//! once a day. The gain is computed by [`visit_benefit`] and drawn by lot besides.
//!
//! # Promises
//! - Every printed benefit and every printed best choice agrees.

use anyhow::Result;
use freshet_theory::freshness::visit_benefit::{EvenlyChangingPage, visit_benefit};
use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;

use crate::report::chapter::{Maker, Progress};
use crate::report::exhibit::{Comparison, Exhibit, Table};
use crate::report::sources::{Need, Sources};

/// Table 5.4.
pub(super) const BENEFITS: Maker = Maker {
    name: "table-5.4",
    title: "Table 5.4: benefits of visiting a fast and a slow page",
    needs: Need::Nothing,
    make: benefits,
};

/// Changes a day of the two pages.
const CHANGES: [u64; 2] = [9, 1];

/// The rows of the table: visits a day of the two pages, and the benefit as printed.
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

/// The best choices as printed: visits in all, and those of the two pages.
const BEST: [(u64, [u64; 2]); 4] = [(1, [0, 1]), (2, [0, 2]), (5, [2, 3]), (10, [7, 3])];

/// Days drawn by lot for each row: enough for three digits.
const DAYS: u32 = 50_000;

fn benefits(sources: &Sources, progress: &Progress<'_>) -> Result<Exhibit> {
    let mut chance = sources.chance("table-5.4");
    let mut table = Table::new(
        "Days of freshness gained in a day",
        ["row", "visits to fast page", "visits to slow page", "printed", "by formula", "by simulation"],
    );
    let mut exhibit = Exhibit::new(
        "One page changes nine times a day, another once. When visits are few it is best to give up the page that cannot be \
         kept; when they are many the best division lies between equal shares (j) and shares in proportion to the rates (h).",
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

/// Mean days gained in a day, with the change of each interval at a time drawn by lot.
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

/// Share of an interval for which evenly spaced visits keep a copy fresh after a change at this share of it.
fn gain(visits: u64, change: f64) -> f64 {
    let spacing = 1.0 / (visits + 1) as f64;
    let first_after = (1..=visits).map(|visit| visit as f64 * spacing).find(|visit| *visit >= change);
    first_after.map_or(0.0, |visit| 1.0 - visit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::exhibit::Verdict;

    #[test]
    fn every_printed_value_agrees() {
        let sources = Sources::new(None, 1).expect("no data");
        let exhibit = benefits(&sources, &|_| {}).expect("an exhibit");
        for comparison in &exhibit.comparisons {
            assert_eq!(comparison.verdict, Verdict::Agrees, "{comparison:?}");
        }
    }
}
