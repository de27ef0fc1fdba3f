//! In the long run the history of every page is more informative than samples.
//!
//! **sample**, section 4.5, Figure 10: frequency and greedy over many cycles. The text repeats its five
//! cycles for ever. The V-shaped model does the same; recorded histories are long enough.

use anyhow::Result;

use super::{BUDGET, DATA};
use crate::figure::chart::{Axis, Chart, Plate, Series};
use crate::figure::scale::Scale;
use crate::report::chapter::{Maker, Progress};
use crate::report::exhibit::{Comparison, Exhibit, Verdict};
use crate::report::material::{MODEL_CYCLE, Material, recorded, v_shape_repeated};
use crate::report::replays::{Pace, Part, change_ratios, curve, replay};
use crate::report::sources::{Need, Sources};

/// Figure 10.
pub(super) const LONG_RUN: Maker = Maker {
    name: "sample-figure-10",
    title: "Figure 10: frequency and greedy over time",
    needs: Need::Nothing,
    make,
};

/// Number of cycles of the text's data, and of its figure.
const PERIOD: usize = 5;
const CYCLES: usize = 120;
/// Pages per site of the model: a seventh of the text's, to save time.
const PAGES: usize = 200;
/// Days per cycle on histories (a month), and number of cycles (six years).
const MONTH: f64 = 365.25 / 12.0;
const HISTORY_CYCLES: f64 = 72.0;
/// By history for freshness, as in the text; by samples; by history for the number of changes found.
const NAMES: [&str; 3] = ["frequency:improved:optimal", "greedy", "frequency:improved:rank"];
/// Number of cycles over which curves are averaged for comparison.
const SMOOTH: usize = 5;

fn make(sources: &Sources, progress: &Progress<'_>) -> Result<Exhibit> {
    let model = v_shape_repeated(sources, PAGES, PERIOD, CYCLES)?;
    let histories = recorded(sources, history_days(sources)?, 500)?;
    let (model_chart, model_crossing) = chart(sources, &model, MODEL_CYCLE, Part::of(progress, 0, 2))?;
    let (history_chart, history_crossing) = chart(sources, &histories, MONTH, Part::of(progress, 1, 2))?;
    let written = |crossings: [Option<usize>; 2]| {
        let cycle = |crossing: Option<usize>| {
            crossing.map_or_else(|| "never".to_owned(), |cycle| format!("cycle {cycle}"))
        };
        let [optimal, rank] = crossings.map(cycle);
        format!("optimal {optimal}, rank {rank}")
    };
    let later = model_crossing.iter().flatten().any(|cycle| *cycle > PERIOD);
    let plate = Plate {
        heading: "ChangeRatio of each cycle".to_owned(),
        columns: 1,
        charts: vec![model_chart, history_chart],
    };
    Ok(Exhibit::new(
        "The frequency policy begins as round robin and learns which pages change. The greedy policy starts \
         well and learns nothing. A page that was not visited stays changed until it is, here as in a crawl, \
         so that both find more than the share of pages that change in one cycle. The optimal allocation is \
         made for freshness and gives fast pages up; ranking pages by the chance that they changed is made \
         for finding changes.",
    )
    .text(format!("{} {}", model.about, histories.about))
    .picture(plate.draw())
    .compare(
        Comparison::statement(
            "frequency overtakes greedy for good",
            "around cycle 100",
            format!("repeated model: {}; histories: {}", written(model_crossing), written(history_crossing)),
            Verdict::NotReproducible,
        )
        .noting(format!(
            "greater for the rest of the run, averaged over {SMOOTH} cycles. Our frequency policy has the \
             improved estimator and the optimal allocation of the thesis; which estimator the text used it \
             does not say. {DATA}"
        )),
    )
    .compare(
        Comparison::statement(
            "which is better, first and in the end, on the repeated model",
            "greedy first, frequency in the end",
            if later { "the same for a policy by history" } else { "greedy throughout" },
            if later { Verdict::Agrees } else { Verdict::NotReproducible },
        )
        .noting(if later {
            ""
        } else {
            "the text does not say what became of changes that were missed; here they wait"
        }),
    ))
}

/// As long a window as the histories have, up to [`HISTORY_CYCLES`]; a model has fewer.
fn history_days(sources: &Sources) -> Result<f64> {
    let wanted = HISTORY_CYCLES * MONTH;
    Ok(if sources.meet(Need::Histories) { wanted } else { wanted.min(48.0 * MONTH) })
}

/// The curves of the policies, and the cycles from which each of the two policies by history stays above
/// greedy.
fn chart(
    sources: &Sources,
    material: &Material,
    cycle_days: f64,
    part: Part<'_>,
) -> Result<(Chart, [Option<usize>; 2])> {
    let names = NAMES;
    let pace = Pace { cycle_days, budget: BUDGET, seed: sources.seed() };
    let runs = replay(&material.world, pace, &names, part)?;
    let ratios = change_ratios(&runs);
    let series: Vec<Series> = names.iter().zip(&ratios).map(|(name, ratios)| curve(name, ratios)).collect();
    let chart = Chart {
        title: material.name.to_owned(),
        across: Axis::new("cycle", Scale::linear(0.0, ratios[0].len() as f64)),
        up: Axis::new(
            "changed pages per download",
            Scale::linear_from_zero(ratios.iter().flatten().copied()),
        ),
        series,
        notes: Vec::new(),
    };
    let crossings = [crossing(&ratios[0], &ratios[1]), crossing(&ratios[2], &ratios[1])];
    Ok((chart, crossings))
}

/// The cycle from which the first curve stays above the second on average. `None` if it does not end above.
fn crossing(first: &[f64], second: &[f64]) -> Option<usize> {
    let smooth =
        |ratios: &[f64]| -> Vec<f64> { ratios.windows(SMOOTH).map(|window| window.iter().sum()).collect() };
    let (first, second) = (smooth(first), smooth(second));
    let last_below = first.iter().zip(&second).rposition(|(first, second)| first <= second);
    match last_below {
        None => Some(1),
        Some(cycle) if cycle + 1 == first.len() => None,
        Some(cycle) => Some(cycle + 2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_crosses_where_it_stays_above() {
        let low = [0.1; 20];
        let rising: Vec<f64> = (0..20).map(|cycle| if cycle < 9 { 0.0 } else { 0.3 }).collect();
        let found = crossing(&rising, &low).expect("it crosses");
        assert!((5..=9).contains(&found), "{found}");
        assert_eq!((crossing(&low, &rising), crossing(&rising[10..], &low[10..])), (None, Some(1)));
    }
}
