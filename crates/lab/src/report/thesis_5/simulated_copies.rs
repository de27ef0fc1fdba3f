//! Simulates copies of pages that change by a Poisson process and are visited in one of three orders.

use freshet_theory::freshness::measure::{FreshnessAndAge, collection_mean};
use freshet_theory::freshness::order::Order;
use freshet_theory::freshness::trace::trace_average;
use freshet_theory::process::change_process::{ChangeProcess as _, Since};
use freshet_theory::process::poisson::Poisson;
use freshet_theory::refresh::Pages;
use freshet_theory::units::{ChangesPerDay, Days, VisitsPerDay};
use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;

/// Simulates freshness and age of one copy over this many visits. A copy that is never visited is never
/// fresh, and its age is infinite.
pub(super) fn simulate(
    order: Order,
    change_rate: ChangesPerDay,
    visit_frequency: VisitsPerDay,
    visits: u32,
    chance: &mut ChaCha8Rng,
) -> FreshnessAndAge {
    if visit_frequency == VisitsPerDay::ZERO {
        return FreshnessAndAge { freshness: 0.0, age: Days::FOREVER };
    }
    let interval = 1.0 / visit_frequency.get();
    let horizon = Days::new(f64::from(visits) * interval);
    let changes = Poisson { change_rate }.sample(horizon, Since::AnyTime, chance);
    let visit_times = match order {
        Order::Fixed => (0..visits).map(|round| f64::from(round) * interval).collect(),
        Order::Random => {
            (0..visits).map(|round| (f64::from(round) + chance.random::<f64>()) * interval).collect()
        }
        Order::PurelyRandom => {
            let visits = Poisson { change_rate: ChangesPerDay::new(visit_frequency.get()) };
            visits.sample(horizon, Since::AnyTime, chance)
        }
    };
    trace_average(&changes, &visit_times, horizon)
}

/// Mean freshness and age over pages visited at fixed intervals, each with its weight and over this many
/// visits.
pub(super) fn simulate_collection(
    pages: &Pages<'_>,
    visit_frequencies: &[VisitsPerDay],
    visits: u32,
    chance: &mut ChaCha8Rng,
) -> FreshnessAndAge {
    let page = |(page, frequency): (usize, &VisitsPerDay)| {
        let weight = pages.importance.map_or(1.0, |importance| importance[page]);
        (weight, simulate(Order::Fixed, pages.change_rates[page], *frequency, visits, chance))
    };
    let copies: Vec<(f64, FreshnessAndAge)> = visit_frequencies.iter().enumerate().map(page).collect();
    collection_mean(copies).unwrap_or(FreshnessAndAge::ALWAYS_FRESH)
}
