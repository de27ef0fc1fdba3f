//! Visits in a burst or spread over the day: the same mean freshness, but not at every hour.
//!
//! The **thesis**, section 5.3, Figure 5.5 and Example 5.3: ten pages visited once a day, all at midnight,
//! most at midnight, or spread evenly. The text continues with the last; this shows what that gives up.
//!
//! # Promises
//! - The mean over the day is the same for all three.

use anyhow::Result;
use freshet_theory::freshness::order::{Order, time_average};
use freshet_theory::units::{ChangesPerDay, VisitsPerDay};

use crate::figure::chart::{Axis, Chart, Plate, Series};
use crate::figure::scale::Scale;
use crate::report::chapter::{Maker, Progress};
use crate::report::exhibit::{Comparison, Exhibit};
use crate::report::sources::{Need, Sources};

/// Figure 5.5.
pub(super) const POINTS: Maker = Maker {
    name: "figure-5.5",
    title: "Figure 5.5: when in the day to visit",
    needs: Need::Nothing,
    make: points,
};

/// The fraction of the day at which each of the ten pages is visited.
const PLANS: [(&str, [f64; 10]); 3] = [
    ("(a) all at midnight", [0.0; 10]),
    ("(b) most at midnight", [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.2, 0.4, 0.6, 0.8]),
    ("(c) spread evenly", [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]),
];

/// Number of times of day at which the curves have points.
const STEPS: u32 = 960;

fn points(_: &Sources, _: &Progress<'_>) -> Result<Exhibit> {
    let times = || (0..STEPS).map(|step| (f64::from(step) + 0.5) / f64::from(STEPS));
    let chart = |(title, visits): &(&str, [f64; 10])| Chart {
        title: (*title).to_owned(),
        across: Axis::new("hour of the day", Scale::linear(0.0, 24.0)),
        up: Axis::new("expected freshness", Scale::linear(0.0, 1.0)),
        series: vec![Series::line("ten pages", times().map(|time| (24.0 * time, freshness(visits, time))))],
        notes: Vec::new(),
    };
    let plate = Plate {
        heading: "Ten pages that change once a day, visited once a day".to_owned(),
        columns: 3,
        charts: PLANS.iter().map(chart).collect(),
    };
    let formula = time_average(Order::Fixed, ChangesPerDay::new(1.0), VisitsPerDay::new(1.0)).freshness;
    let means = PLANS.map(|(title, visits)| {
        let mean = times().map(|time| freshness(&visits, time)).sum::<f64>() / f64::from(STEPS);
        let holds = (mean - formula).abs() < 1e-4;
        Comparison::claim(
            format!("mean over the day, {title}"),
            format!("{formula:.4} (Table 5.2)"),
            format!("{mean:.4}"),
            holds,
        )
    });
    Ok(Exhibit::new(
        "The figure of the text shows the visits; this one shows what they do. A page that is visited once a \
         day is as fresh on average whenever that is. What differs is when: a burst at midnight makes the \
         collection fresh in the small hours and stale in the evening.",
    )
    .picture(plate.draw())
    .compare_all(means))
}

/// Expected freshness of the collection at a time of day, if pages change once a day on average.
fn freshness(visits: &[f64; 10], time: f64) -> f64 {
    let page = |visit: &f64| (-(time - visit).rem_euclid(1.0)).exp();
    visits.iter().map(page).sum::<f64>() / visits.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::making::check;

    #[test]
    fn the_mean_over_the_day_is_the_same() {
        check(&POINTS);
    }
}
