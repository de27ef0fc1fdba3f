//! The optimal allocation gives fewer visits to pages that change too often, and none to the worst.
//!
//! The **thesis**, sections 5.5.4, 5.5.5 and 5.6: Table 5.5 with Figure 5.14, Figure 5.15, and Table 5.6 with
//! Figure 5.16. On a curve one more visit gains the same everywhere: it is the inverted index of each
//! objective.
//!
//! # Promises
//! - Every printed frequency agrees to its last digit but one, which is off by one.

use anyhow::Result;
use freshet_theory::freshness::order::Order;
use freshet_theory::refresh::index::due_after;
use freshet_theory::refresh::{
    Allocation, Constraints, Objective, Pages, allocate, evaluate, proportional, uniform,
};
use freshet_theory::units::{ChangesPerDay, VisitsPerDay};
use rand_chacha::ChaCha8Rng;

use super::simulated_copies::simulate_collection;
use crate::figure::chart::{Axis, Chart, Note, Plate, Series};
use crate::figure::number::readable;
use crate::figure::scale::Scale;
use crate::report::chapter::{Maker, Progress};
use crate::report::exhibit::{Comparison, Exhibit, Table, Verdict};
use crate::report::sources::{Need, Sources};

/// Table 5.5.
pub(super) const FIVE_PAGES: Maker = Maker {
    name: "table-5.5",
    title: "Table 5.5: the best frequencies for five pages",
    needs: Need::Nothing,
    make: five_pages,
};

/// Figure 5.14.
pub(super) const FIVE_PAGES_CURVE: Maker = Maker {
    name: "figure-5.14",
    title: "Figure 5.14: the best frequency by rate of change, for freshness and for age",
    needs: Need::Nothing,
    make: five_pages_curve,
};

/// Figure 5.15.
pub(super) const SCALING: Maker = Maker {
    name: "figure-5.15",
    title: "Figure 5.15: the curve of the best frequencies has one shape",
    needs: Need::Nothing,
    make: scaling,
};

/// Table 5.6.
pub(super) const WEIGHTED: Maker = Maker {
    name: "table-5.6",
    title: "Table 5.6: the best frequencies for pages of different weight",
    needs: Need::Nothing,
    make: weighted,
};

/// Figure 5.16.
pub(super) const WEIGHTED_CURVE: Maker = Maker {
    name: "figure-5.16",
    title: "Figure 5.16: the best frequency by rate of change and weight",
    needs: Need::Nothing,
    make: weighted_curve,
};

/// A collection of Examples 5.4 and 5.5 and its printed values.
struct Example {
    rates: &'static [f64],
    weights: Option<&'static [f64]>,
    budget: f64,
    for_freshness: &'static [&'static str],
    for_age: &'static [&'static str],
}

const EXAMPLE_5_4: Example = Example {
    rates: &[1.0, 2.0, 3.0, 4.0, 5.0],
    weights: None,
    budget: 5.0,
    for_freshness: &["1.15", "1.36", "1.35", "1.14", "0.00"],
    for_age: &["0.84", "0.97", "1.03", "1.07", "1.09"],
};

const EXAMPLE_5_5: Example = Example {
    rates: &[1.0, 2.0, 3.0, 1.0, 2.0, 3.0],
    weights: Some(&[1.0, 1.0, 1.0, 2.0, 2.0, 2.0]),
    budget: 6.0,
    for_freshness: &["0.78", "0.76", "0.00", "1.28", "1.56", "1.62"],
    for_age: &["0.76", "0.88", "0.94", "0.99", "1.17", "1.26"],
};

/// Visits simulated for each page.
const VISITS: u32 = 20_000;

impl Example {
    fn rates(&self) -> Vec<ChangesPerDay> {
        self.rates.iter().map(|rate| ChangesPerDay::new(*rate)).collect()
    }

    fn with_pages<T>(&self, ask: impl FnOnce(&Pages<'_>, &Constraints<'_>) -> T) -> T {
        let rates = self.rates();
        let pages = Pages { importance: self.weights, ..Pages::new(&rates) };
        ask(&pages, &Constraints::budget(VisitsPerDay::new(self.budget)))
    }

    fn best(&self, objective: Objective) -> Allocation {
        self.with_pages(|pages, budget| allocate(pages, objective, budget))
    }

    fn comparisons(&self) -> impl Iterator<Item = Comparison> {
        let of = |objective, printed: &'static [&'static str], name: &'static str| {
            let best = self.best(objective).visit_frequencies;
            let compare = move |(page, (printed, best)): (usize, (&&str, VisitsPerDay))| {
                Comparison::number(
                    format!("visits a day to page {} for {name}", page + 1),
                    printed,
                    best.get(),
                )
            };
            printed.iter().zip(best).enumerate().map(compare).collect::<Vec<_>>()
        };
        let freshness = of(Objective::Freshness, self.for_freshness, "freshness");
        freshness.into_iter().chain(of(Objective::Age, self.for_age, "age"))
    }

    /// What each policy reaches, by formula and by simulation.
    fn qualities(&self, chance: &mut ChaCha8Rng) -> Table {
        let mut table = Table::new(
            "What the frequencies reach",
            ["policy", "freshness by formula", "by simulation", "age by formula (days)", "by simulation"],
        );
        let policies = [
            ("uniform", self.with_pages(uniform)),
            ("proportional", self.with_pages(proportional)),
            ("best for freshness", self.best(Objective::Freshness)),
            ("best for age", self.best(Objective::Age)),
        ];
        for (name, allocation) in policies {
            let frequencies = allocation.visit_frequencies;
            let formula = self.with_pages(|pages, _| evaluate(pages, &frequencies, Order::Fixed));
            let drawn = self.with_pages(|pages, _| simulate_collection(pages, &frequencies, VISITS, chance));
            let numbers = [formula.freshness, drawn.freshness, formula.age.get(), drawn.age.get()];
            table.row([name.to_owned()].into_iter().chain(numbers.map(readable)));
        }
        table
    }
}

fn five_pages(sources: &Sources, _: &Progress<'_>) -> Result<Exhibit> {
    Ok(Exhibit::new(
        "Five pages change 1, 2, 3, 4 and 5 times a day, and five visits a day are to be divided among them. \
         For freshness the fourth gets fewer visits than the second, and the fifth none; for age all get \
         about one.",
    )
    .table(EXAMPLE_5_4.qualities(&mut sources.chance("table-5.5")))
    .compare_all(EXAMPLE_5_4.comparisons()))
}

fn weighted(sources: &Sources, _: &Progress<'_>) -> Result<Exhibit> {
    Ok(Exhibit::new(
        "Pages that count twice get more visits, but not twice as many: the third page gets none, the sixth, \
         which changes as often and counts twice, gets the most.",
    )
    .table(EXAMPLE_5_5.qualities(&mut sources.chance("table-5.6")))
    .compare_all(EXAMPLE_5_5.comparisons()))
}

/// The optimal frequency at a change rate if one more visit is to gain this much.
fn best_frequency(objective: Objective, rate: f64, gain: f64) -> f64 {
    let interval = due_after(objective, ChangesPerDay::new(rate), gain).get();
    // A page whose gain stays below this is never visited; its interval is infinite.
    1.0 / interval
}

fn curve(objective: Objective, gain: f64, rate_max: f64) -> Vec<(f64, f64)> {
    let rates = (1..=400).map(|step| f64::from(step) / 400.0 * rate_max);
    rates.map(|rate| (rate, best_frequency(objective, rate, gain))).collect()
}

fn highest(curve: &[(f64, f64)]) -> (f64, f64) {
    curve.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0.0, 0.0))
}

fn chart(title: &str, series: Vec<Series>, across: Scale, up: Scale) -> Chart {
    Chart {
        title: title.to_owned(),
        across: Axis::new("changes a day", across),
        up: Axis::new("visits a day", up),
        series,
        notes: Vec::new(),
    }
}

fn five_pages_curve(_: &Sources, _: &Progress<'_>) -> Result<Exhibit> {
    let one = |title: &str, objective| {
        let best = EXAMPLE_5_4.best(objective);
        let curve = curve(objective, best.marginal_gain, 6.0);
        let points =
            EXAMPLE_5_4.rates.iter().copied().zip(best.visit_frequencies.iter().map(|visits| visits.get()));
        let series =
            vec![Series::points("the five pages", points), Series::line("best frequency", curve.clone())];
        (chart(title, series, Scale::linear(0.0, 6.0), Scale::linear(0.0, 1.6)), highest(&curve).0)
    };
    let (freshness, turning) = one("(a) for freshness", Objective::Freshness);
    let (age, _) = one("(b) for age", Objective::Age);
    let plate = Plate { heading: String::new(), columns: 2, charts: vec![freshness, age] };
    Ok(Exhibit::new(
        "Where one more visit gains the same. For freshness the best frequency falls beyond a rate and ends \
         at zero; for age it rises, ever more slowly.",
    )
    .picture(plate.draw())
    .compare(Comparison::number(
        "rate beyond which the best frequency for freshness falls",
        "2.5",
        turning,
    )))
}

fn scaling(_: &Sources, _: &Progress<'_>) -> Result<Exhibit> {
    let curves = [1.0, 2.0].map(|gain| curve(Objective::Freshness, gain, 1.2));
    let tops = curves.clone().map(|curve| highest(&curve));
    let end = |gain: f64| {
        let visited = |rate: &f64| best_frequency(Objective::Freshness, *rate, gain) > 0.0;
        (1..=2_000).map(|step| f64::from(step) / 1_000.0).filter(visited).fold(0.0, f64::max)
    };
    let series =
        ["μ = 1", "μ = 2"].into_iter().zip(curves).map(|(name, curve)| Series::line(name, curve)).collect();
    let mut one = chart("", series, Scale::linear(0.0, 1.2), Scale::linear(0.0, 0.35));
    one.notes = tops.iter().map(|(x, y)| Note::Point(*x, *y, format!("({x:.3}, {y:.3})"))).collect();
    let [first, second] = tops;
    Ok(Exhibit::new(
        "The best frequency by rate of change for two values of the multiplier μ. The second curve is the \
         first, at half its size.",
    )
    .picture(one.draw())
    .compare(Comparison::number("rate at the top of the curve for μ = 1", "0.53", first.0))
    .compare(Comparison::number("frequency at the top for μ = 1", "0.3", first.1))
    .compare(Comparison::number("end of the curve for μ = 1", "1", end(1.0)))
    .compare(Comparison::number("end of the curve for μ = 2", "0.5", end(2.0)))
    .compare(
        Comparison::statement(
            "the curve for μ = 2 is that for μ = 1 scaled by",
            "2",
            format!("{:.3}", second.1 / first.1),
            Verdict::TextIsWrong,
        )
        .noting("By one half, as the next sentence of the text and its Theorem 5.5 say."),
    ))
}

fn weighted_curve(_: &Sources, _: &Progress<'_>) -> Result<Exhibit> {
    let one = |title: &str, objective: Objective| {
        let best = EXAMPLE_5_5.best(objective);
        // A page of weight w is due when its own gain is the w-th part of the common one.
        let curves = [1.0, 2.0].map(|weight| curve(objective, best.marginal_gain / weight, 6.0));
        let tops = curves.clone().map(|curve| highest(&curve));
        let mut series: Vec<Series> = ["weight 1", "weight 2"]
            .into_iter()
            .zip(curves)
            .map(|(name, curve)| Series::line(name, curve))
            .collect();
        let points =
            EXAMPLE_5_5.rates.iter().copied().zip(best.visit_frequencies.iter().map(|visits| visits.get()));
        series.push(Series::points("the six pages", points));
        (chart(title, series, Scale::linear(0.0, 6.0), Scale::linear(0.0, 2.0)), tops)
    };
    let (freshness, tops) = one("(a) for freshness", Objective::Freshness);
    let (age, _) = one("(b) for age", Objective::Age);
    // Along one direction from the origin, the curve for the age of a page of weight k is √k times as far
    // out.
    let gain = EXAMPLE_5_5.best(Objective::Age).marginal_gain;
    let outer = best_frequency(Objective::Age, 2.0 * 2.0_f64.sqrt(), gain / 2.0);
    let inner = best_frequency(Objective::Age, 2.0, gain);
    let plate = Plate { heading: String::new(), columns: 2, charts: vec![freshness, age] };
    Ok(Exhibit::new(
        "Pages of weight two follow the same curve at a larger size: twice for freshness, √2 times for age.",
    )
    .picture(plate.draw())
    .compare(Comparison::number(
        "size of the curve for freshness at weight 2 over weight 1",
        "2",
        tops[1].1 / tops[0].1,
    ))
    .compare(Comparison::number(
        "size of the curve for age at weight 2 over weight 1",
        "1.4142",
        outer / inner,
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::making::check;

    #[test]
    fn printed_frequencies_agree_but_for_one_that_is_rounded() {
        let makers = [FIVE_PAGES, FIVE_PAGES_CURVE, SCALING, WEIGHTED, WEIGHTED_CURVE];
        let exhibits = makers.map(|maker| check(&maker));
        let rounded = exhibits.iter().flat_map(|exhibit| &exhibit.comparisons);
        assert_eq!(rounded.filter(|comparison| comparison.verdict == Verdict::Rounding).count(), 1);
    }
}
