//! Two sites: too few samples mislead, too many waste downloads.
//!
//! **sample**, sections 3.2 and 3.3, Figure 1: two sites of 100 pages, of which 70 and 20 changed, and 100
//! downloads. [`two_sites`](freshet_theory::sample::two_sites) computes the exact expectation. Section 3.1:
//! if a sample costs a fraction `c` of a download, `s` samples of each site leave B − 2cs downloads. That is
//! a budget of B' = B + 2s(1 − c) with samples at full price. Its ChangeRatio is B'/B times as large if it
//! counts changes found per unit of budget.

use anyhow::Result;
use freshet_theory::sample::two_sites::{KnownSite, Policy, expected_change_ratio};

use crate::figure::chart::{Axis, Chart, Note, Plate, Series};
use crate::figure::scale::Scale;
use crate::report::chapter::{Maker, Progress};
use crate::report::exhibit::{Comparison, Exhibit, Verdict};
use crate::report::sources::{Need, Sources};

/// Figure 1.
pub(super) const TWO_SITES: Maker = Maker {
    name: "sample-figure-1",
    title: "Figure 1: expected ChangeRatio for various sample sizes",
    needs: Need::Nothing,
    make,
};

/// Number of downloads.
const BUDGET: u64 = 100;
/// Largest sample of each site.
const SAMPLE_MAX: u64 = 50;
/// Cost of a cheap sample, as a fraction of a download: that of the text.
const CHEAP: f64 = 0.1;

fn make(_: &Sources, _: &Progress<'_>) -> Result<Exhibit> {
    let greedy: Vec<f64> = (0..=SAMPLE_MAX).map(|size| ratio(size, Policy::Greedy)).collect();
    let best = (0..greedy.len()).max_by(|a, b| greedy[*a].total_cmp(&greedy[*b])).unwrap_or(0);
    let plate = Plate {
        heading: "Two sites of 100 pages, 70 and 20 of them changed; 100 downloads".to_owned(),
        columns: 2,
        charts: vec![
            chart("a sample costs a download", 1.0),
            chart("a sample costs a tenth of a download", CHEAP),
        ],
    };
    Ok(Exhibit::new(
        "Without samples, or with nothing but samples, every policy finds what round robin finds. In between \
         the greedy policy finds the most, and with few samples it is no better than the proportional one. \
         When samples are cheap more of them pay.",
    )
    .picture(plate.draw())
    .compare(Comparison::number("round robin", "0.45", ratio(10, Policy::RoundRobin)))
    .compare(Comparison::number("greedy without samples", "0.45", greedy[0]))
    .compare(Comparison::number("greedy with 50 samples of each site", "0.45", greedy[50]))
    .compare(Comparison::number(
        "Example 2: greedy after 7 and 2 of 10 samples changed",
        "0.65",
        example([80.0, 0.0]),
    ))
    .compare(Comparison::number(
        "Example 2: proportional, 62 and 18 further downloads",
        "0.56",
        example([62.0, 18.0]),
    ))
    .compare(
        Comparison::statement(
            "sample size with the highest ChangeRatio",
            "about 5",
            best.to_string(),
            Verdict::TextIsWrong,
        )
        .noting(format!(
            "exactly computed, {best} samples give {:.4} and 5 samples {:.4}; the curve is flat there",
            greedy[best], greedy[5]
        )),
    ))
}

/// ChangeRatio of Example 2, from the changed fractions of the samples themselves.
fn example(downloads: [f64; 2]) -> f64 {
    (0.7 * downloads[0] + 0.2 * downloads[1] + 9.0) / 100.0
}

fn sites() -> [KnownSite; 2] {
    [KnownSite::new(100, 70), KnownSite::new(100, 20)]
}

fn ratio(sample_size: u64, policy: Policy) -> f64 {
    expected_change_ratio(sites(), BUDGET, sample_size, policy).expect("there are downloads")
}

/// Changes found per unit of budget if a sample costs this fraction of a download.
fn ratio_at_price(sample_size: u64, policy: Policy, price: f64) -> f64 {
    let budget = (BUDGET as f64 + 2.0 * sample_size as f64 * (1.0 - price)).floor();
    let ratio =
        expected_change_ratio(sites(), budget as u64, sample_size, policy).expect("there are downloads");
    // The sites have 200 pages in total, so a larger budget is not spent.
    ratio * budget.min(200.0) / BUDGET as f64
}

fn chart(title: &str, price: f64) -> Chart {
    let curve = |name: &str, policy: Policy| {
        Series::line(name, (0..=SAMPLE_MAX).map(|size| (size as f64, ratio_at_price(size, policy, price))))
    };
    let series = vec![
        curve("greedy", Policy::Greedy),
        curve("proportional", Policy::Proportional),
        Series::line("round robin", [(0.0, 0.45), (SAMPLE_MAX as f64, 0.45)]),
    ];
    let best = series[0].points.iter().max_by(|a, b| a.1.total_cmp(&b.1)).copied().unwrap_or((0.0, 0.0));
    let values: Vec<f64> =
        series.iter().flat_map(|series| series.points.iter().map(|point| point.1)).collect();
    Chart {
        title: title.to_owned(),
        across: Axis::new("pages sampled of each site", Scale::linear(0.0, SAMPLE_MAX as f64)),
        up: Axis::new("changes found per download paid", Scale::linear_from_zero(values)),
        series,
        notes: vec![Note::At(best.0, format!("best: {}", best.0))],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_values_agree_but_for_the_best_size() {
        let sources = Sources::new(None, 1).expect("no data");
        let exhibit = make(&sources, &|_| {}).expect("an exhibit");
        let wrong: Vec<_> =
            exhibit.comparisons.iter().filter(|comparison| comparison.verdict != Verdict::Agrees).collect();
        assert_eq!(wrong.len(), 1, "{wrong:?}");
        assert_eq!(wrong[0].ours, "6");
    }

    #[test]
    fn cheap_samples_find_more_and_full_price_is_the_figure() {
        assert!((ratio_at_price(5, Policy::Greedy, 1.0) - ratio(5, Policy::Greedy)).abs() < 1e-12);
        assert!(ratio_at_price(10, Policy::Greedy, CHEAP) > ratio(10, Policy::Greedy) + 0.05);
    }
}
