//! Benchmark: instruction counts of the small steps that a crawler repeats for every page.
//!
//! Instruction counts do not depend on the load of the machine. Each row runs its step ten thousand times;
//! the column *times exp* compares it with as many calls of `exp`.
//!
//! It would worry us if an estimator took more than a few `exp` for an observation, if the inverse of g
//! (thesis, section 5.5.4) or the answer of one page of an allocation took more than ten, or if a new plan
//! from classes took as many instructions as a millisecond has (about five million).
//!
//! Counted by Callgrind; `./bench` installs what is missing and makes the table.

#![expect(missing_docs, unused_qualifications, reason = "the macros of the harness write items of their own")]

use std::hint::black_box;

use freshet_theory::estimate::even::EvenVisits;
use freshet_theory::estimate::gamma::{Discount, DiscountedHistory, ExposedVisit, GammaPrior};
use freshet_theory::estimate::irregular_visits::IrregularVisits;
use freshet_theory::numerics::{freshness_gain, freshness_gain_inverse};
use freshet_theory::refresh::index::due_after;
use freshet_theory::refresh::rate_classes::RateClasses;
use freshet_theory::refresh::{Constraints, Objective, Pages, allocate};
use freshet_theory::units::{ChangesPerDay, Days, VisitsPerDay};
use gungraun::{library_benchmark, library_benchmark_group, main};

/// Number of steps of each row. The row of the plan has one.
const STEPS: u32 = 10_000;

/// Numbers spread evenly in their logarithm over six orders of magnitude, shuffled.
fn spread() -> Vec<f64> {
    let golden = 0.618_033_988_749_894_9;
    (0..STEPS).map(|step| 10f64.powf(6.0 * (f64::from(step) * golden).fract() - 4.0)).collect()
}

/// Whether the visit of a step found a change; true for a third of the steps.
fn changed(step: usize) -> bool {
    step.is_multiple_of(3)
}

fn gains() -> Vec<f64> {
    spread().into_iter().map(|x| freshness_gain(x).min(1.0 - f64::EPSILON)).collect()
}

fn rates() -> Vec<ChangesPerDay> {
    spread().into_iter().map(ChangesPerDay::new).collect()
}

fn classes() -> RateClasses {
    let mut classes = RateClasses::new(1e-6, 1e4);
    rates().into_iter().for_each(|rate| classes.add(rate, 1.0));
    classes
}

#[library_benchmark]
#[bench::steps(spread())]
fn exp(numbers: Vec<f64>) -> f64 {
    numbers.iter().map(|x| (-black_box(*x)).exp()).sum()
}

#[library_benchmark]
#[bench::steps(spread())]
fn even_visits(intervals: Vec<f64>) -> EvenVisits {
    let mut state = EvenVisits::NONE;
    for (step, _) in intervals.iter().enumerate() {
        black_box(&mut state).observe(changed(step));
    }
    state
}

#[library_benchmark]
#[bench::steps(spread())]
fn irregular_visits(intervals: Vec<f64>) -> IrregularVisits {
    let mut state = IrregularVisits::NONE;
    for (step, interval) in intervals.iter().enumerate() {
        black_box(&mut state).observe(Days::new(*interval), changed(step));
    }
    state
}

#[library_benchmark]
#[bench::steps(spread())]
fn gamma_posterior(intervals: Vec<f64>) -> DiscountedHistory {
    let (prior, discount) = (GammaPrior::new(1.0, ChangesPerDay::new(0.1)), Discount::new(0.97));
    let mut state = DiscountedHistory::NONE;
    for (step, interval) in intervals.iter().enumerate() {
        let (elapsed, exposure) = (Days::new(*interval), Days::new(*interval));
        let visit = ExposedVisit { elapsed, exposure, changed: changed(step) };
        black_box(&mut state).observe(&prior, discount, &visit);
    }
    state
}

#[library_benchmark]
#[bench::steps(gains())]
fn inverse_of_g(gains: Vec<f64>) -> f64 {
    gains.iter().map(|gain| freshness_gain_inverse(black_box(*gain))).sum()
}

#[library_benchmark]
#[bench::steps(rates())]
fn when_a_page_is_due(rates: Vec<ChangesPerDay>) -> f64 {
    rates.iter().map(|rate| due_after(Objective::Freshness, black_box(*rate), 0.01).get()).sum()
}

#[library_benchmark]
#[bench::steps(rates())]
fn allocation_of_a_page(rates: Vec<ChangesPerDay>) -> f64 {
    let budget = Constraints::budget(VisitsPerDay::new(f64::from(STEPS)));
    allocate(&Pages::new(&rates), Objective::Freshness, &budget).marginal_gain
}

#[library_benchmark]
#[bench::once(classes())]
fn plan_from_classes(classes: RateClasses) -> f64 {
    classes.plan(VisitsPerDay::new(f64::from(STEPS))).freshness
}

library_benchmark_group!(
    name = steps,
    benchmarks = [
        exp,
        even_visits,
        irregular_visits,
        gamma_posterior,
        inverse_of_g,
        when_a_page_is_due,
        allocation_of_a_page,
        plan_from_classes
    ]
);

main!(library_benchmark_groups = steps);
