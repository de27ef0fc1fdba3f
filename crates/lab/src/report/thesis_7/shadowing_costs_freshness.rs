//! Shadowing, which shows new copies only at the end of a crawl, costs freshness: much for a steady crawler,
//! little for a batch crawler.
//!
//! The **thesis**, section 7.2, Figures 7.1 and 7.2 and Table 7.1. The text gives curves and table without
//! their formulas. The averages are those of [`crawl_mode_freshness`], compared with simulated pages.
//!
//! # Promises
//! - Printed values agree, except for one that is the square of a rounded number.
//! - Simulation is within 0.01 of the formulas.

use anyhow::Result;
use freshet_theory::freshness::crawl_mode::{CrawlMode, UpdateMode, crawl_mode_freshness};
use freshet_theory::process::change_process::{ChangeProcess as _, Since};
use freshet_theory::process::poisson::Poisson;
use freshet_theory::units::{ChangesPerDay, Days};
use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;

use crate::figure::chart::{Axis, Chart, Note, Plate, Series};
use crate::figure::scale::Scale;
use crate::report::chapter::{Maker, Progress};
use crate::report::exhibit::{Comparison, Exhibit, Table, Verdict};
use crate::report::sources::{Need, Sources};

/// Figure 7.1.
pub(super) const EVOLUTION: Maker = Maker {
    name: "figure-7.1",
    title: "Figure 7.1: freshness over time of a batch and a steady crawler",
    needs: Need::Nothing,
    make: evolution,
};

/// Figure 7.2.
pub(super) const SHADOWING: Maker = Maker {
    name: "figure-7.2",
    title: "Figure 7.2: freshness of the crawler's and of the current collection",
    needs: Need::Nothing,
    make: shadowing,
};

/// Table 7.1.
pub(super) const CHOICES: Maker = Maker {
    name: "table-7.1",
    title: "Table 7.1: freshness of the collection for the four choices",
    needs: Need::Nothing,
    make: choices,
};

/// A crawler that visits every page once per period, at the same point of each crawl. Times are in periods.
#[derive(Clone, Copy)]
struct Crawler {
    /// Duration of a crawl; 1 for a steady crawler.
    crawl: f64,
    /// Changes of a page per period.
    change_rate: f64,
}

/// Number of pages that represent all pages in the curves.
const PLACES: u32 = 200;

impl Crawler {
    fn places(&self) -> impl Iterator<Item = f64> {
        let crawl = self.crawl;
        (0..PLACES).map(move |place| (f64::from(place) + 0.5) / f64::from(PLACES) * crawl)
    }

    fn mean(&self, freshness: impl Fn(f64) -> f64) -> f64 {
        self.places().map(freshness).sum::<f64>() / f64::from(PLACES)
    }

    /// Expected freshness at a time if copies are shown immediately.
    fn in_place(&self, time: f64) -> f64 {
        self.mean(|place| (-self.change_rate * (time - place).rem_euclid(1.0)).exp())
    }

    /// Expected freshness of the running crawl's collection, as a fraction of all pages. NaN if no crawl
    /// runs.
    fn collected(&self, time: f64) -> f64 {
        let time = time.rem_euclid(1.0);
        if time > self.crawl {
            return f64::NAN;
        }
        self.mean(|place| if place <= time { (-self.change_rate * (time - place)).exp() } else { 0.0 })
    }

    /// Expected freshness at a time if copies are shown together at the end of a crawl.
    fn shadowed(&self, time: f64) -> f64 {
        let since_end = (time - self.crawl).rem_euclid(1.0);
        self.mean(|place| (-self.change_rate * (since_end + self.crawl - place)).exp())
    }

    fn curve(&self, freshness: impl Fn(&Self, f64) -> f64) -> Vec<(f64, f64)> {
        (0..600).map(|step| 0.005 * f64::from(step)).map(|time| (time, freshness(self, time))).collect()
    }
}

/// Changes of a page per month in the curves: high, as in the text, to show their shape.
const HIGH_RATE: f64 = 2.0;

const STEADY: Crawler = Crawler { crawl: 1.0, change_rate: HIGH_RATE };
const BATCH: Crawler = Crawler { crawl: 0.25, change_rate: HIGH_RATE };

fn chart(title: &str, series: Vec<Series>, notes: Vec<Note>) -> Chart {
    Chart {
        title: title.to_owned(),
        across: Axis::new("time (months)", Scale::linear(0.0, 3.0)),
        up: Axis::new("freshness", Scale::linear(0.0, 1.0)),
        series,
        notes,
    }
}

fn evolution(_: &Sources, _: &Progress<'_>) -> Result<Exhibit> {
    let panel = |title: &str, crawler: Crawler| {
        let curve = crawler.curve(Crawler::in_place);
        let mean = curve.iter().map(|(_, value)| value).sum::<f64>() / curve.len() as f64;
        let notes = vec![Note::Level(mean, format!("on average {mean:.2}"))];
        (chart(title, vec![Series::line("freshness", curve)], notes), mean)
    };
    let (batch, batch_mean) = panel("(a) batch: the first week of each month", BATCH);
    let (steady, steady_mean) = panel("(b) steady", STEADY);
    let plate = Plate {
        heading: "Pages that change twice a month, visited once a month".to_owned(),
        columns: 2,
        charts: vec![batch, steady],
    };
    Ok(Exhibit::new(
        "While the crawler works freshness rises, while it rests freshness falls exponentially; a steady \
         crawler keeps it level. On average they are the same.",
    )
    .picture(plate.draw())
    .compare(Comparison::claim(
        "freshness averaged over time",
        "the same for both",
        format!("{batch_mean:.3} and {steady_mean:.3}"),
        (batch_mean - steady_mean).abs() < 2e-3,
    )))
}

fn shadowing(_: &Sources, _: &Progress<'_>) -> Result<Exhibit> {
    let columns = [("(a) steady", STEADY), ("(b) batch", BATCH)];
    let top = columns.map(|(title, crawler)| {
        let series = vec![Series::line("crawler's collection", crawler.curve(Crawler::collected))];
        chart(&format!("{title}: crawler's collection"), series, Vec::new())
    });
    let bottom = columns.map(|(title, crawler)| {
        let series = vec![
            Series::line("current collection, shadowed", crawler.curve(Crawler::shadowed)),
            Series::line("current collection, in place", crawler.curve(Crawler::in_place)),
        ];
        chart(&format!("{title}: current collection"), series, Vec::new())
    });
    let plate = Plate {
        heading: "Pages that change twice a month, visited once a month".to_owned(),
        columns: 2,
        charts: top.into_iter().chain(bottom).collect(),
    };
    let never_above = |crawler: Crawler| {
        crawler
            .curve(|crawler, time| crawler.in_place(time) - crawler.shadowed(time))
            .iter()
            .all(|(_, gap)| *gap > -1e-9)
    };
    let same = BATCH
        .curve(|crawler, time| crawler.in_place(time) - crawler.shadowed(time))
        .iter()
        .filter(|(time, _)| time.rem_euclid(1.0) > BATCH.crawl + 1e-6)
        .map(|(_, gap)| gap.abs())
        .fold(0.0, f64::max);
    let holds = never_above(STEADY) && never_above(BATCH);
    Ok(Exhibit::new(
        "Above, what a crawl has collected so far, as part of all pages; below, what users see. In place is \
         never worse. For a batch crawler the two differ only while it works.",
    )
    .picture(plate.draw())
    .compare(Comparison::claim(
        "in place against shadowed",
        "always higher, or the same",
        if holds { "never lower" } else { "sometimes lower" },
        holds,
    ))
    .compare(Comparison::claim(
        "batch crawler at rest, in place against shadowed",
        "the same",
        format!("largest difference {same:.3}"),
        same < 1e-9,
    )))
}

/// The rows of the comparison: days between changes, days of a crawl, and the printed freshness in place and
/// shadowed.
const PRINTED: [(&str, f64, f64, &str, &str); 3] = [
    ("steady, pages change every four months", 120.0, 30.0, "0.88", "0.77"),
    ("batch of one week, pages change every four months", 120.0, 7.0, "0.88", "0.86"),
    ("batch of two weeks, pages change every month", 30.0, 15.0, "0.63", "0.50"),
];

const MONTH: f64 = 30.0;

fn choices(sources: &Sources, progress: &Progress<'_>) -> Result<Exhibit> {
    let mut chance = sources.chance("table-7.1");
    let mut table = Table::new(
        "Freshness averaged over time; every page is visited once a month",
        ["crawler", "in place by formula", "by simulation", "shadowed by formula", "by simulation"],
    );
    let mut comparisons = Vec::new();
    let mut off = 0.0_f64;
    for (number, (name, change_days, crawl_days, in_place, shadowed)) in PRINTED.into_iter().enumerate() {
        progress(number as f64 / 3.0);
        let crawl = if crawl_days < MONTH {
            CrawlMode::Batch { duration: Days::new(crawl_days) }
        } else {
            CrawlMode::Steady
        };
        let rate = ChangesPerDay::new(1.0 / change_days);
        let formula = [UpdateMode::InPlace, UpdateMode::Shadowing]
            .map(|update| crawl_mode_freshness(crawl, update, rate, Days::new(MONTH)));
        let drawn = simulate(rate, crawl_days, &mut chance);
        off = formula.iter().zip(drawn).map(|(formula, drawn)| (formula - drawn).abs()).fold(off, f64::max);
        let numbers = [formula[0], drawn[0], formula[1], drawn[1]].map(|number| format!("{number:.4}"));
        table.row([name.to_owned()].into_iter().chain(numbers));
        comparisons.push(Comparison::number(format!("in place: {name}"), in_place, formula[0]));
        let comparison = Comparison::number(format!("shadowed: {name}"), shadowed, formula[1]);
        comparisons.push(if comparison.verdict == Verdict::Differs {
            comparison.because(
                Verdict::TextIsWrong,
                "The square of (1 − e^-1/4)/(1/4) is 0.783; 0.77 is the square of that number rounded to \
                 0.88.",
            )
        } else {
            comparison
        });
    }
    Ok(Exhibit::new(
        "A steady crawler in place, and a batch crawler with or without shadowing, are reasonable; a steady \
         crawler with shadowing is not. How much that matters depends on how often pages change.",
    )
    .table(table)
    .compare_all(comparisons)
    .compare(Comparison::claim(
        "formulas against simulation",
        "equal",
        format!("largest difference {off:.4}"),
        off < 0.01,
    )))
}

/// Number of simulated pages, and of months of each.
const PAGES: u32 = 2_000;
const MONTHS: u32 = 24;

/// Number of times at which each page is checked.
const LOOKS: u32 = 60;

/// Freshness in place and shadowed of simulated pages at random times.
fn simulate(change_rate: ChangesPerDay, crawl_days: f64, chance: &mut ChaCha8Rng) -> [f64; 2] {
    let horizon = MONTH * f64::from(MONTHS);
    let mut fresh = [0_u32; 2];
    for _ in 0..PAGES {
        let changes = Poisson { change_rate }.sample(Days::new(horizon), Since::AnyTime, chance);
        let place = chance.random::<f64>() * crawl_days;
        for _ in 0..LOOKS {
            // After two months all copies have been taken.
            let time = chance.random_range(2.0 * MONTH..horizon);
            let visited = ((time - place) / MONTH).floor() * MONTH + place;
            let crawl_ended = ((time - crawl_days) / MONTH).floor() * MONTH + place;
            for (fresh, copied) in fresh.iter_mut().zip([visited, crawl_ended]) {
                let changed = changes.iter().any(|change| copied < *change && *change <= time);
                *fresh += u32::from(!changed);
            }
        }
    }
    fresh.map(|fresh| f64::from(fresh) / f64::from(PAGES * LOOKS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::making::check;

    #[test]
    fn printed_values_agree_but_for_a_rounded_square() {
        [EVOLUTION, SHADOWING].iter().for_each(|maker| drop(check(maker)));
        let exhibit = check(&CHOICES);
        let wrong =
            exhibit.comparisons.iter().filter(|comparison| comparison.verdict == Verdict::TextIsWrong);
        assert_eq!(wrong.count(), 1);
    }
}
