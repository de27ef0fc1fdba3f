//! The estimators on pages whose changes come in bursts or at regular intervals.
//!
//! The **thesis**, section 6.8.1, Figure 6.18: intervals between changes follow a gamma distribution of shape
//! α, one change per second on average, and the page is visited once per second. A Poisson process has α = 1,
//! bursts have less and regular changes more.
//!
//! # Promises
//! - With α = 1 the improved estimator has no bias and the naive one 37%.
//! - Simulation is within 0.02 of the limit for many visits.

use anyhow::Result;
use freshet_theory::estimate::even::EvenVisits;
use freshet_theory::estimate::improved::improved;
use freshet_theory::estimate::naive::naive;
use freshet_theory::estimate::rate::RateEstimate;
use freshet_theory::process::change_process::{ChangeProcess as _, Since};
use freshet_theory::process::gamma_renewal::GammaRenewal;
use freshet_theory::units::{ChangesPerDay, Days};
use rand_chacha::ChaCha8Rng;

use super::drawn_estimates::EvenEstimator;
use crate::figure::chart::{Axis, Chart, Note, Series};
use crate::figure::scale::Scale;
use crate::report::chapter::{Maker, Progress};
use crate::report::exhibit::{Comparison, Exhibit, Verdict};
use crate::report::sources::{Need, Sources};

/// Figure 6.18.
pub(super) const BIAS: Maker = Maker {
    name: "figure-6.18",
    title: "Figure 6.18: bias of both estimators where changes are not Poisson",
    needs: Need::Nothing,
    make: bias,
};

/// Visits simulated for each point.
const VISITS: u32 = 60_000;

fn bias(sources: &Sources, progress: &Progress<'_>) -> Result<Exhibit> {
    let mut chance = sources.chance("figure-6.18");
    let shapes: Vec<f64> = (4..=60).map(|step| 0.05 * f64::from(step)).collect();
    let curve = |estimate: fn(f64) -> f64| {
        shapes.iter().map(move |shape| (*shape, estimate(*shape))).collect::<Vec<_>>()
    };
    let drawn_shapes = [0.25, 0.5, 1.0, 1.5, 2.0, 3.0];
    let mut points = [Vec::new(), Vec::new()];
    let mut off = 0.0_f64;
    for shape in drawn_shapes {
        progress(shape / 3.0);
        let found = visits_of(shape, &mut chance);
        let limits: [fn(f64) -> f64; 2] = [naive_bias, improved_bias];
        for (points, (estimator, limit)) in
            points.iter_mut().zip([naive as EvenEstimator, improved].into_iter().zip(limits))
        {
            let value = estimator(&found, Days::new(1.0)).map_or(f64::NAN, RateEstimate::get) - 1.0;
            off = off.max((value - limit(shape)).abs());
            points.push((shape, value));
        }
    }
    let [naive_points, improved_points] = points;
    let chart = Chart {
        title: String::new(),
        across: Axis::new("shape α of the intervals between changes", Scale::linear(0.0, 3.0)),
        up: Axis::new("bias (mean estimate over truth, less 1)", Scale::linear(-1.0, 1.0)),
        series: vec![
            Series::line("naive", curve(naive_bias)),
            Series::line("improved", curve(improved_bias)),
            Series::points("naive, simulated", naive_points).like("naive"),
            Series::points("improved, simulated", improved_points).like("improved"),
        ],
        notes: vec![Note::At(1.0, "Poisson".to_owned()), Note::Level(0.0, "without bias".to_owned())],
    };
    let until = better_until();
    Ok(Exhibit::new(
        "Below α = 1 changes come in bursts and both estimators are too low, the naive one more. Above, \
         changes are more regular than a Poisson process: a visit that finds none becomes rare, and the \
         logarithm makes up for more changes than were missed.",
    )
    .picture(chart.draw())
    .compare(Comparison::number("bias of the improved estimator at α = 1", "0%", 100.0 * improved_bias(1.0)))
    .compare(Comparison::number("bias of the naive estimator at α = 1", "37%", -100.0 * naive_bias(1.0)))
    .compare(
        Comparison::statement(
            "the improved estimator has the smaller bias",
            "for every α",
            format!("for α up to {until:.2}"),
            Verdict::TextIsWrong,
        )
        .noting(
            "It holds for all bursty pages and near α = 1. For pages more regular than that the improved \
             estimator is too high by more than the naive one is too low. The text does not say how far to \
             the right its figure goes.",
        ),
    )
    .compare(Comparison::claim(
        "limit for many visits against simulation",
        "equal",
        format!("largest difference {off:.3}"),
        off < 0.03,
    )))
}

/// Probability that a visit finds no change.
fn unchanged(shape: f64) -> f64 {
    GammaRenewal::new(ChangesPerDay::new(1.0), shape).survival(Days::new(1.0), Since::AnyTime)
}

fn naive_bias(shape: f64) -> f64 {
    -unchanged(shape)
}

fn improved_bias(shape: f64) -> f64 {
    -unchanged(shape).ln() - 1.0
}

/// The shape up to which the improved estimator has the smaller bias.
fn better_until() -> f64 {
    let (mut low, mut high) = (1.0, 3.0);
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if improved_bias(middle).abs() < naive_bias(middle).abs() { low = middle } else { high = middle }
    }
    low
}

/// Simulates daily visits to a page with one change per day on average.
fn visits_of(shape: f64, chance: &mut ChaCha8Rng) -> EvenVisits {
    let process = GammaRenewal::new(ChangesPerDay::new(1.0), shape);
    let changes = process.sample(Days::new(f64::from(VISITS)), Since::AnyTime, chance);
    let mut days: Vec<u64> = changes.iter().map(|time| time.floor() as u64).collect();
    days.dedup();
    EvenVisits::new(u64::from(VISITS), days.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::making::check;

    #[test]
    fn the_improved_estimator_is_better_for_bursts_and_not_for_clockwork() {
        check(&BIAS);
        assert!((1.5..2.0).contains(&better_until()));
    }
}
