//! Number of machines and bandwidth of a parallel crawler: the calculations of the text.
//!
//! The **thesis**, Examples 3.1 to 3.3, sections 3.4 and 3.8, and the small web of Figure 3.2. They should
//! follow from numbers in the text alone; two of them do not.
//!
//! # Promises
//! - Printed values agree, except for two bandwidths that are too high.

use anyhow::Result;
use freshet_theory::units::SECONDS_PER_DAY;

use crate::report::chapter::{Maker, Progress};
use crate::report::exhibit::{Comparison, Exhibit, Table, Verdict};
use crate::report::sources::{Need, Sources};

/// Examples 3.1 to 3.3.
pub(super) const MAKER: Maker = Maker {
    name: "examples-3",
    title: "Examples 3.1 to 3.3: bandwidth of pages and of messages",
    needs: Need::Nothing,
    make,
};

/// Bytes of a page and of a URL in the text.
const PAGE_BYTES: f64 = 1e4;
const URL_BYTES: f64 = 40.0;

/// Megabits per second needed for this many pages in this many days.
fn megabits(pages: f64, days: f64) -> f64 {
    pages * PAGE_BYTES * 8.0 / (days * SECONDS_PER_DAY) / 1e6
}

fn make(_: &Sources, _: &Progress<'_>) -> Result<Exhibit> {
    let examples = [
        ("a billion pages a month (Example 3.1)", 1e9, 30.0, "34 Mbps", 10.0, "4"),
        ("a billion pages a week (Example 3.2)", 1e9, 7.0, "140 Mbps", 10.0, "14"),
        ("200 million pages a month (Example 3.3)", 2e8, 30.0, "6.2 Mbps", 1.5, "5"),
    ];
    let mut table = Table::new(
        "Bandwidth for pages of 10,000 bytes",
        [
            "what",
            "millions of pages",
            "days",
            "printed",
            "computed, Mbps",
            "a machine's link, Mbps",
            "machines",
        ],
    );
    let mut exhibit = Exhibit::new("What the numbers of the text amount to.");
    for (what, pages, days, printed, link, machines) in examples {
        let needed = megabits(pages, days);
        table.row([
            what.to_owned(),
            format!("{:.0}", pages / 1e6),
            format!("{days}"),
            printed.to_owned(),
            format!("{needed:.1}"),
            format!("{link}"),
            format!("{:.0}", (needed / link).ceil()),
        ]);
        let comparison = Comparison::number(format!("bandwidth for {what}"), printed, needed);
        let needed = (needed / link).ceil();
        let enough = Comparison::number(format!("machines for {what}"), machines, needed);
        exhibit = exhibit.compare(if comparison.verdict == Verdict::Differs {
            comparison.because(
                Verdict::TextIsWrong,
                "Pages times bytes times eight over the seconds is less; the number of machines stays the \
                 same.",
            )
        } else {
            comparison
        });
        exhibit = exhibit.compare(enough);
    }
    let pairs = 0.17 * 2e8;
    Ok(exhibit
        .table(table)
        .compare(Comparison::number(
            "coverage of the firewall mode in Figure 3.2: 7 of 9 pages",
            "0.77",
            7.0 / 9.0,
        ))
        .compare(Comparison::number(
            "bandwidth of one URL per page, over that of the pages (section 3.8)",
            "0.4%",
            100.0 * URL_BYTES / PAGE_BYTES,
        ))
        .compare(Comparison::number(
            "messages saved by 10,000 replicated URLs: 0.86 to 0.52 per page",
            "40%",
            100.0 * (0.86 - 0.52) / 0.86,
        ))
        .compare(Comparison::number(
            "messages saved by 100,000 replicated URLs: 0.86 to 0.42 per page",
            "51%",
            100.0 * (0.86 - 0.42) / 0.86,
        ))
        .compare(Comparison::number("pairs exchanged in Example 3.3, millions", "34", pairs / 1e6))
        .compare(Comparison::number(
            "their bandwidth over that of the pages",
            "0.06%",
            100.0 * pairs * URL_BYTES / (2e8 * PAGE_BYTES),
        )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::making::check;

    #[test]
    fn printed_values_agree_but_for_two_bandwidths() {
        let wrong = |comparison: &&Comparison| comparison.verdict == Verdict::TextIsWrong;
        assert_eq!(check(&MAKER).comparisons.iter().filter(wrong).count(), 2);
    }
}
