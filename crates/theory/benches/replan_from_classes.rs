//! What a new plan from class histograms costs, and how far it is from the exact one.
//!
//! Ten million pages (or the number given), rates over eight orders of magnitude and importance over two, are counted into a
//! histogram; then plans for several budgets are made from it and from all pages. Worrying would be a plan that takes more than a
//! millisecond, or a freshness more than 0.1% from the exact one.

mod table;

use freshet_theory::freshness::order::Order;
use freshet_theory::refresh::rate_classes::RateClasses;
use freshet_theory::refresh::{Constraints, Objective, Pages, allocate, evaluate};
use freshet_theory::units::{ChangesPerDay, VisitsPerDay};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use table::{Table, best_of};

const PAGES: usize = 10_000_000;

fn main() {
    let count = std::env::args().find_map(|argument| argument.parse().ok()).unwrap_or(PAGES);
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let (rates, importance): (Vec<_>, Vec<_>) = (0..count)
        .map(|_| (ChangesPerDay::new(spread(&mut random, -5.0, 3.0)), spread(&mut random, -1.0, 1.0)))
        .unzip();
    let mut histogram = RateClasses::new(1e-7, 1e5);
    let (counting, ()) = best_of(1, || {
        for (rate, importance) in rates.iter().zip(&importance) {
            histogram.add(*rate, *importance);
        }
    });
    let pages = Pages { change_rates: &rates, importance: Some(&importance), costs: None };
    let title = format!(
        "{count} pages in 512 classes; counting a page takes {:.0} ns",
        counting.as_secs_f64() * 1e9 / count as f64
    );
    let table = Table::new(
        &title,
        &[
            "budget, visits per page and day",
            "plan, µs",
            "at most",
            "freshness",
            "exact",
            "off by",
            "at most",
        ],
    );
    for share in [0.01, 0.1, 1.0] {
        let budget = VisitsPerDay::new(share * count as f64);
        let (time, plan) = best_of(20, || histogram.plan(budget));
        let exact = allocate(&pages, Objective::Freshness, &Constraints::budget(budget));
        let exact = evaluate(&pages, &exact.visit_frequencies, Order::Fixed).freshness;
        table.row(&[
            share.to_string(),
            format!("{:.0}", time.as_secs_f64() * 1e6),
            "1000".to_owned(),
            format!("{:.6}", plan.freshness),
            format!("{exact:.6}"),
            format!("{:.4}%", 100.0 * (plan.freshness / exact - 1.0).abs()),
            "0.1%".to_owned(),
        ]);
    }
}

/// A number whose logarithm is uniform between two powers of ten.
fn spread(random: &mut impl Rng, low: f64, high: f64) -> f64 {
    10f64.powf(low + (high - low) * random.random::<f64>())
}
