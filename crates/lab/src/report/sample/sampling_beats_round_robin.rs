//! Sampling finds more changes than round robin from the first cycle on.
//!
//! **sample**, section 4.2, Figure 6, and section 4.8, Figure 15: the policies over five cycles, with 100,000
//! downloads in each. On histories a cycle is a month. The policies are the crawler's own. Greedy and
//! proportional sample √(N r) pages of each site, which here is about the 10 of the text.
//!
//! If a page changed and was not visited, a later cycle still finds the change, here as in a crawl. The text
//! compares each cycle only with the one before, as if every page had been seen then. Its values are compared
//! with those of [`simulation`](freshet_theory::sample::simulation), which counts in the same way.

use anyhow::Result;
use freshet_theory::sample::interval::{Confidence, Method};
use freshet_theory::sample::simulation::{EqualSites, Policy, Run, simulate};

use super::{BUDGET, DATA, PAGES_PER_SITE};
use crate::figure::bars::{Bars, Row};
use crate::figure::chart::{Axis, Chart};
use crate::figure::scale::Scale;
use crate::report::chapter::{Maker, Progress};
use crate::report::exhibit::{Comparison, Exhibit, Verdict};
use crate::report::material::{MODEL_CYCLE, Material, changed_fractions, normal, recorded, v_shape};
use crate::report::replays::{Pace, Part, change_ratio, change_ratios, curve, replay};
use crate::report::sources::{Need, Sources};

/// Figure 6.
pub(super) const POLICIES: Maker = Maker {
    name: "sample-figure-6",
    title: "Figure 6: comparison of download policies",
    needs: Need::Nothing,
    make: on_histories_and_v,
};

/// Figure 15.
pub(super) const NORMAL: Maker = Maker {
    name: "sample-figure-15",
    title: "Figure 15: comparison of policies under a normal distribution",
    needs: Need::Nothing,
    make: on_normal,
};

/// The policies of the figure, and the ceiling.
const POLICIES_SHOWN: [&str; 6] =
    ["round-robin", "frequency:improved:optimal", "proportional", "greedy", "adaptive", "oracle"];

/// Days per cycle on histories.
const MONTH: f64 = 365.25 / 12.0;

/// Number of pages sampled per site in the text.
const SAMPLE_SIZE: u64 = 10;
/// Number of cycles of a simulation: more than the five of the text, to reduce random variation.
const CYCLES_SIMULATED: u64 = 40;
/// Maximum number of cycles for frequency to catch up with greedy.
const LONG: usize = 25;

fn on_histories_and_v(sources: &Sources, progress: &Progress<'_>) -> Result<Exhibit> {
    let histories = recorded(sources, 5.0 * MONTH, 2_000)?;
    let shape = v_shape(sources, PAGES_PER_SITE, 5)?;
    let ours = ratios(sources, &histories, MONTH, BUDGET, Part::of(progress, 0, 2))?;
    let model = ratios(sources, &shape, MODEL_CYCLE, BUDGET, Part::of(progress, 1, 2))?;
    let text =
        counted_by_cycle(sources, &changed_fractions(&shape.world, MODEL_CYCLE), PAGES_PER_SITE, BUDGET);
    let greedy = text[3].unwrap_or(0.0);
    let beats =
        |ratios: &[f64]| ratios[3] > ratios[1] && ratios[4] > ratios[1] && ratios[1] >= 0.95 * ratios[0];
    Ok(Exhibit::new(
        "Five cycles, in which the frequency policy has hardly learned anything: it must see every page once \
         first. Greedy and adaptive sampling need no history. On the V they come near what the text found; \
         on document sites, where few pages change, everything is lower, and the order is the same.",
    )
    .text(histories.about.clone())
    .text(shape.about.clone())
    .picture(bars(&[
        ("histories", some(&ours)),
        ("V-shaped", some(&model)),
        ("V-shaped, cycle by cycle", text),
    ]))
    .compare(Comparison::number("greedy", "0.75", greedy).because(
        Verdict::NotReproducible,
        format!("ours is that of the V-shaped model, cycle by cycle as the text counts; {DATA}"),
    ))
    .compare(Comparison::claim(
        "greedy against frequency",
        "almost twice as high",
        format!(
            "{:.2} times on the V-shaped model, {:.2} times on histories",
            model[3] / model[1],
            ours[3] / ours[1]
        ),
        model[3] > 1.5 * model[1],
    ))
    .compare(Comparison::claim(
        "greedy against adaptive",
        "the difference is marginal",
        format!("{:.3} and {:.3}", model[3], model[4]),
        (model[3] - model[4]).abs() < 0.05,
    ))
    .compare(Comparison::claim(
        "order on the V-shaped model",
        "greedy and adaptive above frequency, frequency not below round robin",
        if beats(&model) { "the same" } else { "another" },
        beats(&model),
    ))
    .compare(proportional(&model))
    .command(command("git", "31d", BUDGET)))
}

fn proportional(model: &[f64]) -> Comparison {
    let like_frequency = (model[2] - model[1]).abs() < 0.06;
    let ours = format!("proportional {:.3}, frequency {:.3}", model[2], model[1]);
    let comparison = Comparison::claim("proportional", "similar to frequency", ours, like_frequency);
    if like_frequency {
        return comparison;
    }
    comparison.because(
        Verdict::NotReproducible,
        "on sites with such different changed fractions samples must tell where to go: the shares follow the \
         changed samples, and proportional lies between round robin and greedy, as the text's own Figure 1 \
         and Example 2 have it",
    )
}

fn on_normal(sources: &Sources, progress: &Progress<'_>) -> Result<Exhibit> {
    let material = normal(sources, 1000, 5)?;
    let budget = 1.0 / 3.0;
    let ratios = ratios(sources, &material, MODEL_CYCLE, budget, Part::of(progress, 0, 2))?;
    let long = normal(sources, 200, LONG)?;
    let pace = Pace { cycle_days: MODEL_CYCLE, budget, seed: sources.seed() };
    let runs =
        replay(&long.world, pace, &["frequency:improved:optimal", "greedy"], Part::of(progress, 1, 2))?;
    let by_cycle = change_ratios(&runs);
    let tail = |cycles: &[f64]| cycles[LONG - 10..].iter().sum::<f64>() / 10.0;
    let (frequency, greedy) = (tail(&by_cycle[0]), tail(&by_cycle[1]));
    let text = counted_by_cycle(sources, &changed_fractions(&material.world, MODEL_CYCLE), 1000, budget);
    let [round_robin, proportional, sampled] = [text[0], text[2], text[3]].map(|ratio| ratio.unwrap_or(0.0));
    let wrong = "with 100,000 downloads from the best sites of N(0.5, 0.3) even one who knows every changed \
                 fraction finds 0.81; samples of ten pages cost a part of that";
    Ok(Exhibit::new(
        "300 sites of 1,000 pages, whose changed fractions are N(0.5, 0.3), cut to 0 to 1. The order of the \
         text holds for greedy, adaptive and round robin; the values do not follow from its description.",
    )
    .text(material.about.clone())
    .picture(bars(&[("cycle by cycle", text), ("changes wait", some(&ratios))]))
    .text(format!("The same over {LONG} cycles, with 200 pages of each site."))
    .picture(long_chart(&by_cycle))
    .compare(Comparison::number("greedy", "0.82", sampled).because(Verdict::TextIsWrong, wrong))
    .compare(Comparison::claim(
        "round robin",
        "about 0.5: the mean of the distribution",
        format!("{round_robin:.3}"),
        (round_robin - 0.5).abs() < 0.03,
    ))
    .compare(
        Comparison::statement(
            "proportional",
            "similar to round robin",
            format!("{proportional:.3} against {round_robin:.3}"),
            Verdict::TextIsWrong,
        )
        .noting(
            "shares that follow the changed samples find E[ρ²]/E[ρ], about 0.65, as the definition in its \
             section 3.2 gives it",
        ),
    )
    .compare(Comparison::claim(
        "frequency over five cycles",
        "similar to round robin",
        format!("{:.3} against {:.3}", ratios[1], ratios[0]),
        (ratios[1] - ratios[0]).abs() < 0.07,
    ))
    .compare(
        Comparison::statement(
            "frequency in the long run",
            "about the same as greedy",
            format!("{frequency:.3} against {greedy:.3} in the last 10 of {LONG} cycles"),
            if (frequency - greedy).abs() < 0.05 { Verdict::Agrees } else { Verdict::NotReproducible },
        )
        .noting(
            "a page that was not visited may have changed in any cycle since: the longer it waits the surer \
             it has, so that more is found in later cycles. The text repeats five cycles and does not say \
             what became of changes that were missed",
        ),
    ))
}

fn ratios(
    sources: &Sources,
    material: &Material,
    cycle_days: f64,
    budget: f64,
    part: Part<'_>,
) -> Result<Vec<f64>> {
    let pace = Pace { cycle_days, budget, seed: sources.seed() };
    let runs = replay(&material.world, pace, &POLICIES_SHOWN, part)?;
    Ok(runs.iter().map(|cycles| change_ratio(cycles)).collect())
}

/// The policies of [`POLICIES_SHOWN`], in order, with only the changes of each cycle counted. `None` for
/// policies by history.
fn counted_by_cycle(sources: &Sources, fractions: &[f64], pages: usize, budget: f64) -> Vec<Option<f64>> {
    let mut chance = sources.chance("counted by cycle");
    let adaptive = Policy::Adaptive(Confidence::new(0.9), Method::Wald);
    let policies = [
        Some(Policy::RoundRobin),
        None,
        Some(Policy::Proportional),
        Some(Policy::Greedy),
        Some(adaptive),
        Some(Policy::Oracle),
    ];
    let downloads = ((fractions.len() * pages) as f64 * budget).round() as u64;
    let mut ratio = |policy: Policy| {
        let run = Run { policy, budget: downloads, sample_size: SAMPLE_SIZE, cycles: CYCLES_SIMULATED };
        simulate(EqualSites::new(fractions, pages as u64), &run, &mut chance)
    };
    policies.into_iter().map(|policy| policy.and_then(&mut ratio)).collect()
}

fn some(ratios: &[f64]) -> Vec<Option<f64>> {
    ratios.iter().copied().map(Some).collect()
}

fn bars(sets: &[(&str, Vec<Option<f64>>)]) -> String {
    let row = |policy: usize| Row {
        name: POLICIES_SHOWN[policy].to_owned(),
        values: sets.iter().map(|(_, ratios)| ratios[policy]).collect(),
        is_ours: false,
    };
    let oracle = POLICIES_SHOWN.len() - 1;
    let bars = Bars {
        title: "Mean ChangeRatio of five cycles".to_owned(),
        axis: "changed pages per download".to_owned(),
        digits: 3,
        panels: sets.iter().map(|(name, _)| (*name).to_owned()).collect(),
        ceiling: Some(("oracle".to_owned(), sets.iter().map(|(_, ratios)| ratios[oracle]).collect())),
        rows: (0..oracle).map(row).collect(),
    };
    bars.draw()
}

fn long_chart(by_cycle: &[Vec<f64>]) -> String {
    let chart = Chart {
        title: String::new(),
        across: Axis::new("cycle", Scale::linear(1.0, LONG as f64)),
        up: Axis::new("changed pages per download", Scale::linear(0.0, 1.0)),
        series: vec![curve("frequency:improved:optimal", &by_cycle[0]), curve("greedy", &by_cycle[1])],
        notes: Vec::new(),
    };
    chart.draw()
}

/// The command of a replay that shows the same on histories.
pub(super) fn command(family: &str, cycle: &str, budget: f64) -> String {
    let policies = POLICIES_SHOWN.join(",");
    format!(
        "freshet lab replay --data DIR --family {family} --cycle {cycle} --budget {budget:.2} --policy \
         {policies}"
    )
}

#[cfg(test)]
mod tests {
    use freshet_theory::sample::many_sites::normal_fractions;

    use super::*;

    #[test]
    fn cycle_by_cycle_the_normal_set_has_the_values_that_its_description_gives() {
        let sources = Sources::new(None, 1).expect("no data");
        let ratios = counted_by_cycle(&sources, &normal_fractions(300, 0.5, 0.3), 1000, 1.0 / 3.0);
        let near =
            |policy: usize, expected: f64| (ratios[policy].expect("simulated") - expected).abs() < 0.02;
        assert!(near(0, 0.5) && near(2, 0.65), "{ratios:?}");
        assert!(ratios[3] < Some(0.81) && Some(0.74) < ratios[3], "{ratios:?}");
        assert_eq!(ratios[1], None);
    }
}
