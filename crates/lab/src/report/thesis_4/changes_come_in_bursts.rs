//! Changes come in bursts, which biases the rate estimators.
//!
//! The **thesis**, section 4.6, Figure 4.6: intervals between changes, which the author finds exponential.
//! Section 6.8.2 and Figure 6.19: estimates from weekly visits, compared with the rate counted from all
//! changes.

use anyhow::Result;

use crate::evolution::estimator_bias::AtInterval;
use crate::evolution::poisson_fit::LEVEL;
use crate::evolution::{Group, Study, figures};
use crate::history::{Mass, Window};
use crate::report::chapter::{Maker, Progress};
use crate::report::exhibit::{Comparison, Exhibit, Table, Verdict};
use crate::report::material;
use crate::report::sources::{Need, Sources};

/// Figure 4.6.
pub(super) const POISSON_FIT: Maker = Maker {
    name: "figure-4.6",
    title: "Figure 4.6: intervals between changes, beside those of a Poisson process",
    needs: Need::Nothing,
    make: poisson_fit,
};

/// Effect of bursts on estimators.
pub(super) const ESTIMATORS: Maker = Maker {
    name: "bursts-and-estimators",
    title: "What bursts do to the estimators of chapter 6 (section 6.8.2, Figure 6.19)",
    needs: Need::Nothing,
    make: estimators,
};

/// Length of the window, in days.
const DAYS: f64 = 3.0 * 365.25;

const DATA: &str = "the author's pages are not those of these histories";

fn study(sources: &Sources) -> Result<(Study, String)> {
    let mut made = None;
    let (tables, note) = material::tables(sources, &mut made)?;
    let window = Window { family: None, days: DAYS, mass: Mass::Keep, pages_per_site_max: None };
    let study = Study::of(tables, &window, &|| {})?;
    let all = &study.groups[0];
    let about =
        format!("{note}Three years of {} sites, {} pages, {} changes.", all.sites, all.pages, all.changes);
    Ok((study, about))
}

fn poisson_fit(sources: &Sources, _: &Progress<'_>) -> Result<Exhibit> {
    let (study, about) = study(sources)?;
    let tested = study.groups[0].poisson_fit.one_by_one;
    let mut exhibit = Exhibit::new(
        "Pages are chosen that change about every 10, 20 or 60 days. Were they Poisson processes, the points \
         would lie on the line. They come near it, as in the text; but there are too many short intervals \
         and too many very long ones: a page that was edited is edited again within days, and then rests. \
         Beside each page stands a twin with as many changes at random times, which goes through the same \
         selection and tests: what these say of twins is of our making, the rest is of the pages.",
    )
    .text(about);
    for group in &study.groups {
        if let Some(svg) = figures::poisson_fit(group) {
            exhibit = exhibit.picture(svg);
        }
    }
    let bursty = tested.rejected > 2.0 * tested.twins_rejected;
    Ok(exhibit
        .table(fits(&study))
        .compare(
            Comparison::statement(
                "pages whose intervals are not exponential, of those with more than ten changes",
                "a Poisson process predicts the observed data very well",
                format!(
                    "{:.0}% rejected at {LEVEL} ({:.0}% of Poisson twins); variation {:.2} ({:.2})",
                    100.0 * tested.rejected,
                    100.0 * tested.twins_rejected,
                    tested.variation,
                    tested.twins_variation
                ),
                Verdict::NotReproducible,
            )
            .noting(if bursty {
                "these histories are burstier than a Poisson process; the text shows no test, only two plots \
                 of daily visits"
            } else {
                DATA
            }),
        )
        .command("freshet lab evolution --data DIR --window 3y"))
}

fn fits(study: &Study) -> Table {
    let mut table = Table::new(
        "Intervals between changes against the exponential distribution: variation (deviation over mean) and \
         the statistic A* of Anderson and Darling (2.5 at a p-value of 0.001)",
        ["family", "interval / days", "pages", "intervals", "variation", "of twins", "A*", "of twins"],
    );
    for group in &study.groups {
        for sample in &group.poisson_fit.samples {
            let number = |value: Option<f64>, digits: usize| {
                value.map_or_else(|| "–".to_owned(), |value| format!("{value:.digits$}"))
            };
            table.row([
                group.name.clone(),
                format!("{:.0}", sample.interval_days),
                sample.pages.to_string(),
                sample.intervals.to_string(),
                number(sample.fit.map(|fit| fit.variation), 2),
                number(sample.twins.map(|fit| fit.variation), 2),
                number(sample.fit.map(|fit| fit.statistic), 1),
                number(sample.twins.map(|fit| fit.statistic), 1),
            ]);
        }
    }
    table
}

fn estimators(sources: &Sources, _: &Progress<'_>) -> Result<Exhibit> {
    let (study, about) = study(sources)?;
    let all = &study.groups[0];
    let mut exhibit = Exhibit::new(
        "Pages that changed at least three times and at most every three days, visited less often. An \
         estimate over the rate counted from all changes is right at 1. On Poisson twins with the same rates \
         the improved and the last-modified estimator are nearly right, as the theory says. On the recorded \
         pages all come out lower, by some percent on documents and by more on terms of service, because a \
         visit that finds a burst finds one change; and the less often a page is visited, the lower they \
         come out. No estimator of a Poisson rate can know better: what a crawler learns is the rate of \
         bursts, and that is what its visits can catch.",
    )
    .text(about);
    for svg in [figures::estimates(all), figures::estimator_bias(all)].into_iter().flatten() {
        exhibit = exhibit.picture(svg);
    }
    exhibit = exhibit.table(ratios(&study.groups));
    if let Some(weekly) = all.estimator_bias.by_interval.first().filter(|weekly| weekly.comparison.pages > 0)
    {
        exhibit = exhibit.compare_all(weekly_comparisons(weekly));
    }
    Ok(exhibit.command("freshet lab evolution --data DIR --window 3y"))
}

fn weekly_comparisons(weekly: &AtInterval) -> Vec<Comparison> {
    let [naive, improved, _] = weekly.comparison.mean_ratio;
    let [twin_naive, twin_improved, _] = weekly.comparison.twins_mean_ratio;
    let bias = |ratio: f64| 100.0 * (ratio - 1.0);
    let own = "a mean over other pages, which change less often than theirs and in bursts";
    vec![
        Comparison::number(
            "improved nearer than naive, visits every week",
            "83%",
            100.0 * weekly.improved_is_nearer[0],
        )
        .because(Verdict::NotReproducible, DATA),
        Comparison::statement(
            "bias of the improved estimator, visits every week",
            "about 15%",
            format!("{:+.1}% (Poisson twins {:+.1}%)", bias(improved), bias(twin_improved)),
            Verdict::NotReproducible,
        )
        .noting(own),
        Comparison::statement(
            "bias of the naive estimator, visits every week",
            "more than 35%",
            format!("{:+.1}% (Poisson twins {:+.1}%)", bias(naive), bias(twin_naive)),
            Verdict::NotReproducible,
        )
        .noting(own),
        Comparison::claim(
            "which is the better estimator",
            "the improved one",
            if improved > naive { "the improved one" } else { "the naive one" },
            (improved - 1.0).abs() < (naive - 1.0).abs(),
        ),
    ]
}

fn ratios(groups: &[Group]) -> Table {
    let mut table = Table::new(
        "Mean of estimated over counted rate; 1 is right",
        [
            "family",
            "visits every / days",
            "pages",
            "naive",
            "of twins",
            "improved",
            "of twins",
            "last-modified",
            "of twins",
        ],
    );
    for group in groups {
        for at in group.estimator_bias.by_interval.iter().filter(|at| at.comparison.pages > 0) {
            let found = &at.comparison;
            let mut cells =
                vec![group.name.clone(), format!("{:.0}", at.visit_interval_days), found.pages.to_string()];
            for (own, twins) in found.mean_ratio.iter().zip(&found.twins_mean_ratio) {
                cells.extend([format!("{own:.2}"), format!("{twins:.2}")]);
            }
            table.row(cells);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_show_and_the_better_estimator_stays_better() {
        let sources = Sources::new(None, 1).expect("no data");
        let fit = poisson_fit(&sources, &|_| {}).expect("an exhibit");
        assert!(fit.comparisons[0].note.contains("burstier"), "{:?}", fit.comparisons);
        let exhibit = estimators(&sources, &|_| {}).expect("an exhibit");
        assert_eq!(exhibit.comparisons.last().expect("a claim").verdict, Verdict::Agrees);
    }
}
