//! Benchmark: the exact allocation of visits to ten million pages, compared with one `exp` per page.
//!
//! Rates of change are spread evenly in their logarithm over eight orders of magnitude, importance over two.
//! The yardstick is one parallel pass over the same rates that computes one `exp` per page.
//!
//! It would worry us if the freshness allocation took more than 25 such passes or more than 24 bytes per page
//! beyond the input, age more than 60 passes, Weibull more than 120, or limits for 100,000 hosts more than 3
//! times the solve without limits.
//!
//! The number of pages may be given as an argument.

mod table;

use std::time::Duration;

use freshet_theory::refresh::survival::weibull::WeibullSurvival;
use freshet_theory::refresh::{
    Allocation, Constraints, HostLimits, LawPages, Objective, Pages, allocate, allocate_by_law,
};
use freshet_theory::units::{ChangesPerDay, VisitsPerDay};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use table::{Table, best_of};

const PAGES: usize = 10_000_000;
const HOSTS: u32 = 100_000;
const RUNS: usize = 5;

fn main() {
    let pages = std::env::args().filter_map(|argument| argument.parse().ok()).next().unwrap_or(PAGES);
    let mut random = ChaCha8Rng::seed_from_u64(2);
    let rates: Vec<_> = (0..pages).map(|_| ChangesPerDay::new(spread(&mut random, -5.0, 3.0))).collect();
    let importance: Vec<_> = (0..pages).map(|_| spread(&mut random, -1.0, 1.0)).collect();
    let host_of: Vec<_> = (0..pages).map(|_| random.random_range(0..HOSTS)).collect();
    let weighted = Pages { change_rates: &rates, importance: Some(&importance), costs: None };
    let budget = Constraints::budget(VisitsPerDay::new(pages as f64 / 7.0));

    let (exp, _) = best_of(2 * RUNS, || one_exp_per_page(&rates));
    let title = format!("{pages} pages, {} threads", rayon::current_num_threads());
    let table = Table::new(
        &title,
        &["what", "milliseconds", "in exp passes", "at most", "bytes per page", "sum/budget - 1"],
    );
    let row = |what: &str, time: Duration, most: &str, memory: u64, allocation: &Allocation| {
        let spent: f64 = allocation.visit_frequencies.iter().map(|f| f.get()).sum();
        table.row(&[
            what.to_owned(),
            format!("{:.0}", time.as_secs_f64() * 1e3),
            format!("{:.1}", time.as_secs_f64() / exp.as_secs_f64()),
            most.to_owned(),
            format!("{:.1}", memory as f64 / pages as f64),
            format!("{:.1e}", spent / budget.visit_budget.get() - 1.0),
        ]);
    };

    let (memory, _) = peak_memory(|| allocate(&weighted, Objective::Freshness, &budget));
    let (alone, allocation) = best_of(RUNS, || allocate(&weighted, Objective::Freshness, &budget));
    row("freshness", alone, "25", memory, &allocation);
    drop(allocation);
    for (what, objective, most) in [
        ("age", Objective::Age, "60"),
        ("harmonic", Objective::Harmonic, ""),
        ("changes", Objective::Changes, ""),
    ] {
        let (memory, _) = peak_memory(|| allocate(&weighted, objective, &budget));
        let (time, allocation) = best_of(RUNS, || allocate(&weighted, objective, &budget));
        row(what, time, most, memory, &allocation);
    }
    weibull(&mut random, &rates, &importance, &budget, &row);
    let in_order: Vec<_> = (0..pages).map(|page| (page * HOSTS as usize / pages) as u32).collect();
    let scattered = [3.0, 1.5, 1.2, 0.9].map(|share| (share, &host_of, ""));
    for (share, host_of, order) in scattered.into_iter().chain([(1.2, &in_order, ", pages in their order")]) {
        let limit = VisitsPerDay::new(share * budget.visit_budget.get() / f64::from(HOSTS));
        let limits: Vec<_> = (0..HOSTS).map(|_| limit).collect();
        let limited = Constraints { host_limits: Some(HostLimits { host_of, limits: &limits }), ..budget };
        let (memory, _) = peak_memory(|| allocate(&weighted, Objective::Freshness, &limited));
        // The solve without limits is timed again next to it, so that both run under the
        // same load of the machine.
        let (alone, _) = best_of(RUNS, || allocate(&weighted, Objective::Freshness, &budget));
        let (time, allocation) = best_of(RUNS, || allocate(&weighted, Objective::Freshness, &limited));
        let what =
            format!("freshness, {} of {HOSTS} hosts at limit{order}", allocation.saturated_hosts.len());
        let times = format!("3x alone: {:.2}x", time.as_secs_f64() / alone.as_secs_f64());
        row(&what, time, &times, memory, &allocation);
    }
}

/// Weibull laws with the shapes of text databases, a different one for each page.
fn weibull(
    random: &mut impl Rng,
    rates: &[ChangesPerDay],
    importance: &[f64],
    budget: &Constraints<'_>,
    row: &impl Fn(&str, Duration, &str, u64, &Allocation),
) {
    let law = |rate: &ChangesPerDay| WeibullSurvival::new(rate.get(), random.random_range(0.55..1.1));
    let laws: Vec<_> = rates.iter().map(law).collect();
    let pages = LawPages { laws: &laws, importance: Some(importance), costs: None };
    let (memory, _) = peak_memory(|| allocate_by_law(&pages, budget));
    let (time, allocation) = best_of(RUNS, || allocate_by_law(&pages, budget));
    row("Weibull, a shape for each page", time, "120", memory, &allocation);
}

fn spread(random: &mut impl Rng, low: f64, high: f64) -> f64 {
    10f64.powf(random.random_range(low..high))
}

/// The yardstick: the probability that a page is unchanged after a thousandth of a
/// day, summed over the pages.
fn one_exp_per_page(rates: &[ChangesPerDay]) -> f64 {
    rates.par_chunks(8192).map(|rates| rates.iter().map(|rate| (-1e-3 * rate.get()).exp()).sum::<f64>()).sum()
}

/// Peak memory in bytes that `run` adds, as the system counts it.
fn peak_memory<T>(run: impl FnOnce() -> T) -> (u64, T) {
    // Writing 5 to this file resets the peak. Where that is refused, the result is the
    // growth of the peak so far.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    let before = memory_high();
    let value = run();
    (memory_high().saturating_sub(before), value)
}

/// Peak memory of the process in bytes; zero where the system does not report it.
fn memory_high() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok()).unwrap_or(0) * 1024
}
