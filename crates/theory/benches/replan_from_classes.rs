//! Benchmark: time and accuracy of a new plan computed from class histograms.
//!
//! It would worry us if a plan took a millisecond, took longer for more pages, or if the freshness it
//! promises differed from the exact one by a thousandth.

mod table;

use std::time::Duration;

use freshet_theory::freshness::order::Order;
use freshet_theory::refresh::rate_classes::RateClasses;
use freshet_theory::refresh::{Constraints, Objective, Pages, allocate, evaluate};
use freshet_theory::units::{ChangesPerDay, VisitsPerDay};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use table::{Table, best_of};

const RUNS: usize = 20;

fn main() {
    let columns = [
        "pages, visits per page and day",
        "plan, ms",
        "at most",
        "exact, ms",
        "add, ns",
        "freshness",
        "off by",
        "at most",
    ];
    let table = Table::new("A new plan from 512 classes of pages", &columns);
    for pages in [10_000, 1_000_000, 10_000_000] {
        let mut random = ChaCha8Rng::seed_from_u64(3);
        let mut spread = |low: f64, high: f64| 10f64.powf(random.random_range(low..high));
        let rates: Vec<_> = (0..pages).map(|_| ChangesPerDay::new(spread(-5.0, 3.0))).collect();
        let importance: Vec<_> = (0..pages).map(|_| spread(-1.0, 1.0)).collect();
        let (add, classes) = best_of(1, || counted(&rates, &importance));
        for visits_per_page in [0.01, 1.0 / 7.0, 3.0] {
            let budget = VisitsPerDay::new(visits_per_page * f64::from(pages));
            let (time, plan) = best_of(RUNS, || classes.plan(budget));
            let (exact_time, exact) = best_of(1, || exact_freshness(&rates, &importance, budget));
            table.row(&[
                format!("{pages}, {visits_per_page:.3}"),
                milliseconds(time),
                "1".to_owned(),
                milliseconds(exact_time),
                format!("{:.0}", add.as_secs_f64() * 1e9 / f64::from(pages)),
                format!("{:.6}", plan.freshness),
                format!("{:.1e}", (plan.freshness / exact - 1.0).abs()),
                "1e-3".to_owned(),
            ]);
        }
    }
}

fn counted(rates: &[ChangesPerDay], importance: &[f64]) -> RateClasses {
    let mut classes = RateClasses::new(1e-6, 1e4);
    for (rate, importance) in rates.iter().zip(importance) {
        classes.add(*rate, *importance);
    }
    classes
}

fn exact_freshness(rates: &[ChangesPerDay], importance: &[f64], budget: VisitsPerDay) -> f64 {
    let pages = Pages { change_rates: rates, importance: Some(importance), costs: None };
    let exact = allocate(&pages, Objective::Freshness, &Constraints::budget(budget));
    evaluate(&pages, &exact.visit_frequencies, Order::Fixed).freshness
}

fn milliseconds(time: Duration) -> String {
    format!("{:.3}", time.as_secs_f64() * 1e3)
}
