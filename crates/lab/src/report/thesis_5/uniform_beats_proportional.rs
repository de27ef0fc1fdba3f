//! Visiting pages in proportion to their change rates is worse than visiting all equally often, whatever the
//! rates.
//!
//! The **thesis**, sections 5.2.3, 5.5.1 and 5.5.2, Figure 5.4, Table 5.3 and Figure 5.11, for rates that
//! follow a gamma distribution; and Theorems 5.3 and 5.4 for arbitrary rates.
//!
//! # Promises
//! - No ratio is above one. Simulation is within 2% of the formulas where the age is finite.

use anyhow::Result;
use freshet_theory::freshness::gamma_rates::GammaRates;
use freshet_theory::freshness::measure::FreshnessAndAge;
use freshet_theory::freshness::order::Order;
use freshet_theory::process::gamma_mixed::GammaMixed;
use freshet_theory::refresh::{Constraints, Pages, evaluate, proportional, uniform};
use freshet_theory::units::{ChangesPerDay, Days, VisitsPerDay};
use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;

use super::simulated_copies::simulate;
use crate::figure::chart::{Axis, Chart, Look, Plate, Series};
use crate::figure::number::readable;
use crate::figure::scale::Scale;
use crate::report::chapter::{Maker, Progress};
use crate::report::exhibit::{Comparison, Exhibit, Table, Verdict};
use crate::report::sources::{Need, Sources};

/// Figure 5.4.
pub(super) const HISTOGRAM: Maker = Maker {
    name: "figure-5.4",
    title: "Figure 5.4: a histogram of change frequencies and its smooth model",
    needs: Need::Nothing,
    make: histogram,
};

/// Table 5.3.
pub(super) const FORMULAS: Maker = Maker {
    name: "table-5.3",
    title: "Table 5.3: freshness and age under uniform and proportional visits",
    needs: Need::Nothing,
    make: formulas,
};

/// Figure 5.11.
pub(super) const RATIOS: Maker = Maker {
    name: "figure-5.11",
    title: "Figure 5.11: proportional against uniform visits",
    needs: Need::Nothing,
    make: ratios,
};

/// Mean and relative spread of the rates of the histogram.
const HISTOGRAM_RATES: (f64, f64) = (10.0, 0.5);

fn histogram(sources: &Sources, _: &Progress<'_>) -> Result<Exhibit> {
    let (mean, variation) = HISTOGRAM_RATES;
    let model = GammaMixed::new(ChangesPerDay::new(mean), variation);
    let mut chance = sources.chance("figure-5.4");
    let rates: Vec<f64> = (0..5_000).map(|_| model.sample_page(&mut chance).change_rate.get()).collect();
    let bar = |rate: u32| {
        let middle = f64::from(rate);
        let within = rates.iter().filter(|rate| (middle - 0.5..middle + 0.5).contains(*rate)).count();
        (middle, within as f64 / rates.len() as f64)
    };
    let shape = 1.0 / (variation * variation);
    // The gamma distribution of shape 4: Γ(4) = 3! = 6.
    let density = |rate: f64| {
        let scaled = shape * rate / mean;
        shape / mean * scaled.powf(shape - 1.0) * (-scaled).exp() / 6.0
    };
    let chart = Chart {
        title: "5,000 pages whose rates follow a gamma distribution".to_owned(),
        across: Axis::new("changes a day", Scale::linear(0.0, 30.0)),
        up: Axis::new("share of pages", Scale::linear(0.0, 0.1)),
        series: vec![
            Series::line(
                "model g(λ)",
                (0..=300).map(|step| 0.1 * f64::from(step)).map(|rate| (rate, density(rate))),
            ),
            Series::with_look("pages", Look::Bars, (1..30).map(bar)),
        ],
        notes: Vec::new(),
    };
    Ok(Exhibit::new(
        "Pages change at different rates. The text draws a histogram and puts a smooth distribution in its \
         place; here the rates are drawn from the gamma distribution that section 5.5.1 chooses.",
    )
    .picture(chart.draw()))
}

/// Number of pages, and of visits to each, simulated for a value.
const PAGES: usize = 400;
const VISITS: u32 = 300;

fn formulas(sources: &Sources, progress: &Progress<'_>) -> Result<Exhibit> {
    let mut chance = sources.chance("table-5.3");
    let mut table = Table::new(
        "Freshness, and age in mean intervals between visits; r changes per visit on average, δ spread of \
         rates over their mean",
        ["policy", "r", "δ", "freshness by formula", "by simulation", "age by formula", "by simulation"],
    );
    let mut off = 0.0_f64;
    let cases = [(0.5, 0.3), (1.0, 0.3), (1.0, 0.6), (1.0, 1.5), (4.0, 0.6)];
    for (number, (ratio, variation)) in cases.into_iter().enumerate() {
        progress(number as f64 / cases.len() as f64);
        let rates = GammaRates::new(ratio, variation);
        let by_formula = [rates.uniform(Days::new(1.0)), rates.proportional(Days::new(1.0))];
        let by_lot = simulate_both(ratio, variation, &mut chance);
        for (name, formula, drawn) in
            [("uniform", by_formula[0], by_lot[0]), ("proportional", by_formula[1], by_lot[1])]
        {
            off = off.max((formula.freshness - drawn.freshness).abs() / formula.freshness);
            let numbers = [formula.freshness, drawn.freshness, formula.age.get(), drawn.age.get()];
            let cells = numbers.map(readable);
            table.row([name.to_owned(), ratio.to_string(), variation.to_string()].into_iter().chain(cells));
        }
    }
    let age_is_infinite = GammaRates::new(1.0, 1.5).proportional(Days::new(1.0)).age == Days::FOREVER;
    Ok(Exhibit::new(
        "The formulas of the text beside collections of pages whose rates are drawn by lot. A page with a \
         rate near zero is almost never visited by the proportional policy and grows old without limit: from \
         δ = 1 on its mean age is infinite, and what a simulation shows depends on the slowest page that was \
         drawn.",
    )
    .table(table)
    .compare(Comparison::claim(
        "freshness, formulas against simulation",
        "equal",
        format!("largest difference {:.1}%", 100.0 * off),
        off < 0.05,
    ))
    .compare(
        Comparison::statement(
            "age of the proportional policy at δ = 1.5",
            "formula with 1 − δ² < 0: negative",
            if age_is_infinite { "∞" } else { "finite" },
            Verdict::TextIsWrong,
        )
        .noting(
            "The text states the formula without its range: the mean of 1/λ exists only for δ < 1. Beyond, \
             the age is infinite.",
        ),
    ))
}

/// Simulates uniform and proportional visits to pages with random rates, once a day on average.
fn simulate_both(ratio: f64, variation: f64, chance: &mut ChaCha8Rng) -> [FreshnessAndAge; 2] {
    let model = GammaMixed::new(ChangesPerDay::new(ratio), variation);
    let mut sums = [(0.0, 0.0); 2];
    for _ in 0..PAGES {
        let rate = model.sample_page(chance).change_rate;
        let frequencies = [1.0, rate.get() / ratio];
        for (sum, frequency) in sums.iter_mut().zip(frequencies) {
            let drawn = simulate(Order::Fixed, rate, VisitsPerDay::new(frequency), VISITS, chance);
            sum.0 += drawn.freshness / PAGES as f64;
            sum.1 += drawn.age.get() / PAGES as f64;
        }
    }
    sums.map(|(freshness, age)| FreshnessAndAge { freshness, age: Days::new(age) })
}

/// Spreads of the random rates.
const VARIATIONS: [f64; 5] = [0.0, 0.3, 0.6, 0.9, 1.5];

/// Number of random collections to test the theorems.
const COLLECTIONS: u32 = 500;

fn ratios(sources: &Sources, _: &Progress<'_>) -> Result<Exhibit> {
    let curve = |variation: f64, ratio: fn(&GammaRates) -> f64| {
        let points =
            (1..=100).map(|step| 0.1 * f64::from(step)).map(|r| (r, ratio(&GammaRates::new(r, variation))));
        Series::line(format!("δ = {variation}"), points)
    };
    let chart = |title: &str, up: &str, ratio: fn(&GammaRates) -> f64| Chart {
        title: title.to_owned(),
        across: Axis::new("changes per visit on average (r)", Scale::linear(0.0, 10.0)),
        up: Axis::new(up, Scale::linear(0.0, 1.1)),
        series: VARIATIONS.iter().map(|variation| curve(*variation, ratio)).collect(),
        notes: Vec::new(),
    };
    let charts = vec![
        chart("freshness", "proportional over uniform", freshness_ratio),
        chart("age", "uniform over proportional", age_ratio),
    ];
    let plate = Plate { heading: String::new(), columns: 2, charts };
    let grid = || {
        (1..=40)
            .flat_map(|r| (0..=30).map(move |d| GammaRates::new(0.25 * f64::from(r), 0.05 * f64::from(d))))
    };
    let worst = grid().map(|rates| freshness_ratio(&rates).max(age_ratio(&rates))).fold(0.0, f64::max);
    let (held, most) = try_theorems(&mut sources.chance("figure-5.11"));
    let change_of_age = age_ratio(&GammaRates::new(10.0, 0.6)) - age_ratio(&GammaRates::new(1.0, 0.6));
    let change_of_freshness =
        freshness_ratio(&GammaRates::new(1.0, 0.6)) - freshness_ratio(&GammaRates::new(10.0, 0.6));
    Ok(Exhibit::new(
        "Below one the uniform policy is better. The text draws surfaces over r and δ; these are cuts \
         through them. With equal rates (δ = 0) the policies are the same; the more the rates differ, the \
         worse is the proportional one.",
    )
    .picture(plate.draw())
    .compare(Comparison::claim(
        "ratios over r to 10 and δ to 1.5",
        "below 1",
        format!("largest {worst:.4}"),
        worst <= 1.0 + 1e-12,
    ))
    .compare(Comparison::claim(
        "age ratio as r grows from 1 to 10 (δ = 0.6)",
        "does not change much; that of freshness does",
        format!("age by {:.3}, freshness by {change_of_freshness:.3}", change_of_age.abs()),
        change_of_age.abs() < change_of_freshness,
    ))
    .compare(Comparison::claim(
        "Theorems 5.3 and 5.4: uniform is better under any distribution",
        "always",
        format!("{held} of {COLLECTIONS} collections; largest ratio {most:.4}"),
        held == COLLECTIONS,
    )))
}

fn freshness_ratio(rates: &GammaRates) -> f64 {
    rates.proportional(Days::new(1.0)).freshness / rates.uniform(Days::new(1.0)).freshness
}

fn age_ratio(rates: &GammaRates) -> f64 {
    rates.uniform(Days::new(1.0)).age.get() / rates.proportional(Days::new(1.0)).age.get()
}

/// The number of random collections in which uniform visits are better by both measures, and the largest
/// ratio seen.
fn try_theorems(chance: &mut ChaCha8Rng) -> (u32, f64) {
    let (mut held, mut most) = (0, 0.0_f64);
    for _ in 0..COLLECTIONS {
        let pages = chance.random_range(2..30);
        let decades = chance.random_range(0.1..4.0);
        let draw = |_| ChangesPerDay::new(10_f64.powf(decades * (chance.random::<f64>() - 0.5)));
        let rates: Vec<ChangesPerDay> = (0..pages).map(draw).collect();
        let pages = Pages::new(&rates);
        let budget =
            Constraints::budget(VisitsPerDay::new(rates.len() as f64 * chance.random_range(0.1..3.0)));
        let quality = |frequencies: &[VisitsPerDay]| evaluate(&pages, frequencies, Order::Fixed);
        let alike = quality(&uniform(&pages, &budget).visit_frequencies);
        let in_proportion = quality(&proportional(&pages, &budget).visit_frequencies);
        let ratio =
            (in_proportion.freshness / alike.freshness).max(alike.age.get() / in_proportion.age.get());
        held += u32::from(ratio <= 1.0 + 1e-9);
        most = most.max(ratio);
    }
    (held, most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::making::check;

    #[test]
    fn uniform_visits_are_never_worse_and_simulation_agrees() {
        [HISTOGRAM, FORMULAS, RATIOS].iter().for_each(|maker| drop(check(maker)));
    }
}
