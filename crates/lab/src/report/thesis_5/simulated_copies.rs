//! Copies of pages that change by a Poisson process, visited in one of three orders: measured, not computed.

use freshet_theory::freshness::measure::FreshnessAndAge;
use freshet_theory::freshness::order::Order;
use freshet_theory::freshness::trace::trace_average;
use freshet_theory::process::change_process::{ChangeProcess as _, Since};
use freshet_theory::process::poisson::Poisson;
use freshet_theory::units::{ChangesPerDay, Days, VisitsPerDay};
use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;

/// Freshness and age of one copy over so many visits, drawn by lot.
pub(super) fn simulate(
    order: Order,
    change_rate: ChangesPerDay,
    visit_frequency: VisitsPerDay,
    visits: u32,
    chance: &mut ChaCha8Rng,
) -> FreshnessAndAge {
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

/// Mean freshness and age over pages visited at fixed intervals, each over so many of its visits. A page that is never visited
/// is never fresh and has no age that could be averaged: its age is infinite.
pub(super) fn simulate_collection(
    rates: &[ChangesPerDay],
    visit_frequencies: &[VisitsPerDay],
    visits: u32,
    chance: &mut ChaCha8Rng,
) -> FreshnessAndAge {
    let page = |(rate, frequency): (&ChangesPerDay, &VisitsPerDay)| {
        if *frequency == VisitsPerDay::ZERO {
            return FreshnessAndAge { freshness: 0.0, age: Days::FOREVER };
        }
        simulate(Order::Fixed, *rate, *frequency, visits, chance)
    };
    let pages: Vec<FreshnessAndAge> = rates.iter().zip(visit_frequencies).map(page).collect();
    let mean = |of: fn(&FreshnessAndAge) -> f64| pages.iter().map(of).sum::<f64>() / pages.len() as f64;
    FreshnessAndAge { freshness: mean(|page| page.freshness), age: Days::new(mean(|page| page.age.get())) }
}
