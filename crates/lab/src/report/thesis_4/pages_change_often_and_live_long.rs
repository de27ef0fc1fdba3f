//! How often pages change, how long they live, and how long until half of them changed.
//!
//! The **thesis**, sections 4.3 to 4.5, Figures 4.2, 4.4 and 4.5: over the last 127 days of each history, as
//! long as the author's window, and over the last three years.

use anyhow::Result;

use crate::evolution::{Group, Study, figures};
use crate::history::{Mass, Window};
use crate::report::chapter::{Maker, Progress};
use crate::report::exhibit::{Comparison, Exhibit, Verdict};
use crate::report::material;
use crate::report::sources::{Need, Sources};

/// Figure 4.2.
pub(super) const CHANGE_INTERVALS: Maker = Maker {
    name: "figure-4.2",
    title: "Figure 4.2: part of the pages with a given change interval",
    needs: Need::Nothing,
    make: change_intervals,
};

/// Figure 4.4.
pub(super) const LIFESPANS: Maker = Maker {
    name: "figure-4.4",
    title: "Figure 4.4: part of the pages with a given visible lifespan",
    needs: Need::Nothing,
    make: lifespans,
};

/// Figure 4.5.
pub(super) const HALF_CHANGED: Maker = Maker {
    name: "figure-4.5",
    title: "Figure 4.5: part of the pages that did not change or disappear until a day",
    needs: Need::Nothing,
    make: half_changed,
};

/// Days from 17 February to 24 June 1999.
const THESIS_DAYS: f64 = 127.0;
/// Length of the long window, in days.
const LONG_DAYS: f64 = 3.0 * 365.25;

/// The bars of Figure 4.2 in percent. The text gives the first two; the others are those that yield its Table
/// 5.7.
const THESIS_BARS: [f64; 5] = [23.0, 15.0, 16.0, 16.0, 30.0];
/// Assumed days between changes of a page of each bar: a day and a year at the ends, as the text says.
const THESIS_DAYS_OF_BARS: [f64; 5] = [1.0, 7.0, 30.4, 121.75, 365.25];

const DATA: &str = "the author's pages are not those of these histories";

/// The studies of the short and the long window, with a description of their data.
fn studies(sources: &Sources, progress: &Progress<'_>) -> Result<([Study; 2], String)> {
    let mut made = None;
    let (tables, note) = material::tables(sources, &mut made)?;
    let study = |days: f64| {
        Study::of(tables, &Window { family: None, days, mass: Mass::Keep, pages_per_site_max: None }, &|| {})
    };
    let short = study(THESIS_DAYS)?;
    progress(0.5);
    let long = study(LONG_DAYS)?;
    let all = &long.groups[0];
    let about = format!(
        "{note}Three years: {} sites with {} pages and {} changes; 127 days: {} sites with {} pages and {} \
         changes, seen by daily visits.",
        all.sites,
        all.pages,
        all.changes,
        short.groups[0].sites,
        short.groups[0].pages,
        short.groups[0].changes
    );
    Ok(([short, long], about))
}

fn change_intervals(sources: &Sources, progress: &Progress<'_>) -> Result<Exhibit> {
    let ([short, long], about) = studies(sources, progress)?;
    let all = &short.groups[0].change_intervals;
    let crude: f64 = THESIS_BARS.iter().zip(THESIS_DAYS_OF_BARS).map(|(part, days)| 0.01 * part * days).sum();
    let printed = |quantity: &str, printed: &str, part: f64| {
        Comparison::number(quantity, printed, 100.0 * part).because(Verdict::NotReproducible, DATA)
    };
    let exhibit = Exhibit::new(
        "The average change interval of a page is the time it was observed over the changes that daily \
         visits saw. Pages of 1999 changed far more often: one of four at every visit. The recorded pages \
         are documents, which people edit, and terms of service; what a template adds to a page with every \
         visit is not in them.",
    )
    .text(about)
    .picture(figures::change_intervals(&short))
    .text("The same over three years: slow pages show their intervals only in a long window.")
    .picture(figures::change_intervals(&long))
    .compare(printed("pages that change every day", "23%", all.bars[0]))
    .compare(printed("pages that change in a day to a week", "15%", all.bars[1]))
    .compare(
        Comparison::claim(
            "mean interval of the text's own bars, a page of the last one changing every year",
            "about 4 months",
            format!("{:.1} months", crude / 30.44),
            (3.5..4.95).contains(&(crude / 30.44)),
        )
        .noting("the text prints two of the five bars; the others are those that give its Table 5.7"),
    )
    .compare(
        Comparison::number("mean interval by the same rule", "4 months", all.crude_mean_days / 30.44)
            .because(Verdict::NotReproducible, DATA),
    );
    Ok(exhibit.command("freshet lab evolution --data DIR --window 127d"))
}

fn lifespans(sources: &Sources, progress: &Progress<'_>) -> Result<Exhibit> {
    let ([short, long], about) = studies(sources, progress)?;
    let all = &short.groups[0].lifespans;
    let over_a_month = |parts: &[f64; 4]| 100.0 * (parts[2] + parts[3]);
    Ok(Exhibit::new(
        "Method 1 takes the time that a page was seen for its lifespan, method 2 twice that when it was \
         there at either end of the window. Of documents and terms nearly all outlive a window of four \
         months.",
    )
    .text(about)
    .picture(figures::lifespans(&short))
    .text("The same over three years.")
    .picture(figures::lifespans(&long))
    .compare(
        Comparison::number("lifespan of a week to a month, method 1", "19%", 100.0 * all.method_1[1])
            .because(Verdict::NotReproducible, DATA),
    )
    .compare(
        Comparison::number("the same, method 2", "16%", 100.0 * all.method_2[1])
            .because(Verdict::NotReproducible, DATA),
    )
    .compare(Comparison::claim(
        "pages that are there for more than a month",
        "more than 70%",
        format!("{:.1}% and {:.1}%", over_a_month(&all.method_1), over_a_month(&all.method_2)),
        over_a_month(&all.method_1) > 70.0,
    ))
    .command("freshet lab evolution --data DIR --window 127d"))
}

fn half_changed(sources: &Sources, progress: &Progress<'_>) -> Result<Exhibit> {
    let ([short, long], about) = studies(sources, progress)?;
    let half = |group: &Group| {
        let days = |days: f64| format!("{}: {days:.0} days", group.name);
        let beyond = || format!("{}: beyond the window", group.name);
        group.unchanged.half_days.map_or_else(beyond, days)
    };
    let halves: Vec<String> = long.groups.iter().map(half).collect();
    Ok(Exhibit::new(
        "Of the pages that were there on the first day, the part that neither changed nor went until each \
         day. Families differ as the domains of the text do: some sites turn over within months, others in \
         years.",
    )
    .text(about)
    .picture(figures::unchanged(&short))
    .picture(figures::unchanged(&long))
    .compare(
        Comparison::statement(
            "days until half of the pages changed or went",
            "all 50, com 11, gov almost 4 months",
            halves.join("; "),
            Verdict::NotReproducible,
        )
        .noting(DATA),
    )
    .command("freshet lab evolution --data DIR --window 3y"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_needs_no_data_of_the_author_agrees() {
        let sources = Sources::new(None, 1).expect("no data");
        for maker in [CHANGE_INTERVALS, LIFESPANS, HALF_CHANGED] {
            let exhibit = (maker.make)(&sources, &|_| {}).expect("an exhibit");
            for comparison in &exhibit.comparisons {
                assert!(
                    matches!(comparison.verdict, Verdict::Agrees | Verdict::NotReproducible),
                    "{comparison:?}"
                );
            }
        }
    }
}
