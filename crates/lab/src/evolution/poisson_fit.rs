//! Tests whether changes are a Poisson process.
//!
//! **thesis**, section 4.6, Figure 4.6: the study selects pages with about a given average change interval.
//! Under a Poisson process their intervals are exponential. The text judges by eye. Here the test of
//! [`exponential_fit`](freshet_theory::process::exponential_fit) and the variation of the intervals (standard
//! deviation over mean, 1 for exponential ones) judge, for the pages and for their Poisson twins.
//!
//! # Promises
//! - The twins pass through the same selection and tests as the pages, so these cause no difference.
//!
//! # Departures
//! Pages with fewer than eleven changes are left out of a sample, because the end of the observation cuts off
//! their long intervals. The rates of a sample's pages differ by up to a tenth either way. So do those of the
//! twins: their test result shows the effect of these two choices.

use freshet_theory::process::exponential_fit::{
    Bin, ExponentialFit, INTERVALS_MIN, interval_histogram, test_exponential,
};
use freshet_theory::units::Days;
use rand_chacha::ChaCha8Rng;

use super::daily::DailyPage;

/// Average change intervals, in days, of the plotted pages: the 10 and 20 of the text, and slower ones.
pub const SAMPLES: [f64; 3] = [10.0, 20.0, 60.0];

/// Maximum relative difference of a page's interval from that of its sample.
const TOLERANCE: f64 = 0.1;

/// Number of bins of a plot, and the width of each as a fraction of the mean interval.
const BINS: (usize, f64) = (24, 0.2);

/// Significance level of the tests of single pages.
pub const LEVEL: f64 = 0.05;

/// Minimum days between changes of pages that are tested singly. Compared with it, a day is short.
const TESTED_INTERVAL_MIN: f64 = 10.0;

/// Results of the tests.
#[derive(Clone, Debug)]
pub struct PoissonFit {
    /// Pages with about each interval of [`SAMPLES`].
    pub samples: Vec<IntervalSample>,
    /// Tests of single pages.
    pub one_by_one: OneByOne,
}

/// Intervals of pages with about the same rate.
#[derive(Clone, Debug)]
pub struct IntervalSample {
    /// Average change interval in days.
    pub interval_days: f64,
    /// Number of pages selected.
    pub pages: usize,
    /// Number of intervals between their changes.
    pub intervals: usize,
    /// The test result. `None` if there are too few intervals.
    pub fit: Option<ExponentialFit>,
    /// The test result of as many twins.
    pub twins: Option<ExponentialFit>,
    /// Fraction of the intervals of each length, with that of a Poisson process.
    pub histogram: Vec<Bin>,
}

/// Results for pages with enough changes for a test of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OneByOne {
    /// Number of pages tested.
    pub pages: usize,
    /// Fraction of them whose intervals are not exponential, at [`LEVEL`].
    pub rejected: f64,
    /// The same for their twins.
    pub twins_rejected: f64,
    /// Mean variation of the intervals of a page.
    pub variation: f64,
    /// The same for their twins.
    pub twins_variation: f64,
}

impl PoissonFit {
    /// Tests pages and their twins.
    pub fn of(pages: &[DailyPage], twins: &[DailyPage]) -> Self {
        let samples = SAMPLES.map(|interval| IntervalSample::of(interval, pages, twins)).into();
        Self { samples, one_by_one: OneByOne::of(pages, twins) }
    }
}

/// The twin of each page.
pub fn twins(pages: &[DailyPage], chance: &mut ChaCha8Rng) -> Vec<DailyPage> {
    pages.iter().map(|page| page.poisson_twin(chance)).collect()
}

impl IntervalSample {
    fn of(interval_days: f64, pages: &[DailyPage], twins: &[DailyPage]) -> Self {
        // The end of the observation cuts off the long intervals of a page with few changes.
        let is_chosen = |page: &DailyPage| {
            INTERVALS_MIN < page.changes.len()
                && page
                    .mean_interval()
                    .is_some_and(|interval| (interval / interval_days - 1.0).abs() <= TOLERANCE)
        };
        let intervals = |pages: &[DailyPage]| -> Vec<Days> {
            pages
                .iter()
                .filter(|page| is_chosen(page))
                .flat_map(DailyPage::intervals)
                .map(Days::new)
                .collect()
        };
        let (own, of_twins) = (intervals(pages), intervals(twins));
        let test =
            |intervals: &[Days]| (INTERVALS_MIN <= intervals.len()).then(|| test_exponential(intervals));
        let fit = test(&own);
        let histogram = fit.map_or_else(Vec::new, |fit| {
            interval_histogram(&own, Days::new(BINS.1 * fit.mean.get()), BINS.0)
        });
        Self {
            interval_days,
            pages: pages.iter().filter(|page| is_chosen(page)).count(),
            intervals: own.len(),
            fit,
            twins: test(&of_twins),
            histogram,
        }
    }
}

impl OneByOne {
    fn of(pages: &[DailyPage], twins: &[DailyPage]) -> Self {
        let own = tests(pages);
        let of_twins = tests(twins);
        let mean = |fits: &[ExponentialFit], value: fn(&ExponentialFit) -> f64| {
            fits.iter().map(value).sum::<f64>() / fits.len().max(1) as f64
        };
        let rejected = |fit: &ExponentialFit| if fit.p_value < LEVEL { 1.0 } else { 0.0 };
        Self {
            pages: own.len(),
            rejected: mean(&own, rejected),
            twins_rejected: mean(&of_twins, rejected),
            variation: mean(&own, |fit| fit.variation),
            twins_variation: mean(&of_twins, |fit| fit.variation),
        }
    }
}

/// Tests each page that changes often enough, and not too often.
fn tests(pages: &[DailyPage]) -> Vec<ExponentialFit> {
    let is_tested = |page: &&DailyPage| {
        INTERVALS_MIN < page.changes.len()
            && page.mean_interval().is_some_and(|interval| TESTED_INTERVAL_MIN <= interval)
    };
    let test = |page: &DailyPage| test_exponential(&page.intervals().map(Days::new).collect::<Vec<_>>());
    pages.iter().filter(is_tested).map(test).collect()
}

#[cfg(test)]
mod tests {
    use rand::RngExt as _;
    use rand_chacha::rand_core::SeedableRng as _;

    use super::*;

    /// Pages that change every twenty days on average: singly, or in sessions of several days.
    fn pages(session: usize, chance: &mut ChaCha8Rng) -> Vec<DailyPage> {
        let page = |_| {
            let mut changes: Vec<f64> = (0..60 / session)
                .map(|_| (1190.0 * chance.random::<f64>()).floor())
                .flat_map(|start| (0..session).map(move |day| start + day as f64 + 0.3))
                .collect();
            changes.sort_by(f64::total_cmp);
            changes.dedup();
            DailyPage { first: 0.0, last: 1200.0, changes }
        };
        (0..300).map(page).collect()
    }

    #[test]
    fn bursts_are_told_from_a_poisson_process_and_twins_are_not() {
        let mut chance = ChaCha8Rng::seed_from_u64(5);
        let pages = pages(4, &mut chance);
        let fit = PoissonFit::of(&pages, &twins(&pages, &mut chance));
        let sample = &fit.samples[1];
        let (own, twins) = (sample.fit.expect("intervals"), sample.twins.expect("intervals"));
        assert!(own.variation > 1.5, "{own:?}");
        assert!((twins.variation - 1.0).abs() < 0.06, "{twins:?}");
        assert!(own.statistic > 20.0 * twins.statistic, "{own:?} {twins:?}");
        assert!(
            fit.one_by_one.rejected > 0.95 && fit.one_by_one.twins_rejected < 0.12,
            "{:?}",
            fit.one_by_one
        );
    }

    #[test]
    fn pages_without_bursts_are_like_their_twins() {
        let mut chance = ChaCha8Rng::seed_from_u64(6);
        let pages = pages(1, &mut chance);
        let fit = PoissonFit::of(&pages, &twins(&pages, &mut chance)).one_by_one;
        assert!((fit.variation - fit.twins_variation).abs() < 0.03, "{fit:?}");
        assert!((fit.rejected - fit.twins_rejected).abs() < 0.06, "{fit:?}");
    }

    #[test]
    fn too_few_intervals_are_not_tested() {
        let page =
            DailyPage { first: 0.0, last: 100.0, changes: (0..10).map(|n| 10.0 * f64::from(n)).collect() };
        let fit = PoissonFit::of(std::slice::from_ref(&page), std::slice::from_ref(&page));
        assert_eq!((fit.samples[0].pages, fit.samples[0].intervals), (0, 0));
        assert!(fit.samples[0].fit.is_none() && fit.samples[0].histogram.is_empty());
        assert_eq!(fit.one_by_one, OneByOne::default());
    }
}
