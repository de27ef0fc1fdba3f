//! Bias of the rate estimators on pages whose changes are not a Poisson process.
//!
//! **thesis**, section 6.8.2: the study selects pages of which nearly all changes were seen, those that
//! changed at least three times and less than once in three days. Their number of changes divided by the
//! observed time is the projected rate. A crawler then visits them less often and estimates the rate from
//! what it finds, by the naive estimator, the improved one (6.4.2) and the one from last-modified dates
//! (6.5). A ratio of estimate to projected rate of 1 is unbiased.
//!
//! The Poisson twins of the pages go through the same. The error on the twins is the estimators' own bias and
//! the effect of few changes. Any further error on the pages comes from bursts.
//!
//! # Promises
//! - Pages and twins have the same projected rates and the same visits.
//!
//! # Departures
//! Only pages that existed during the whole window are visited, so that they have the same number of visits.

use freshet_theory::estimate::even::EvenVisits;
use freshet_theory::estimate::improved::improved;
use freshet_theory::estimate::last_modified::DatedVisits;
use freshet_theory::estimate::naive::naive;
use freshet_theory::units::Days;

use super::daily::DailyPage;

/// Days between visits: the week of the text, and longer.
pub const VISIT_INTERVALS: [f64; 4] = [7.0, 14.0, 28.0, 56.0];

/// Boundaries of the classes of changes per visit in which the bias is shown.
pub const CLASSES: [f64; 7] = [0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2];

/// Minimum number of changes of a selected page.
const CHANGES_MIN: usize = 3;
/// Minimum mean days between changes of a selected page.
const CHANGE_INTERVAL_MIN: f64 = 3.0;
/// Bar width and number of bars of the distribution of estimate divided by projected rate. Bars are centred
/// on multiples of the width, from zero on, so that 1 is in the middle of a bar. The last bar has no upper
/// end.
pub const RATIO_BARS: (f64, usize) = (0.2, 13);

/// Names of the compared estimators.
pub const ESTIMATORS: [&str; 3] = ["naive", "improved", "last-modified"];

/// Bias of the estimators.
#[derive(Clone, Debug)]
pub struct EstimatorBias {
    /// Number of pages visited.
    pub pages: usize,
    /// Results for each of [`VISIT_INTERVALS`] that fits into the window at least twice.
    pub by_interval: Vec<AtInterval>,
    /// Results for each class of changes per visit between two of [`CLASSES`], over all visit intervals.
    pub by_class: Vec<Comparison>,
}

/// Results for one visit interval.
#[derive(Clone, Debug)]
pub struct AtInterval {
    /// Days between visits.
    pub visit_interval_days: f64,
    /// Mean ratios of estimate to projected rate.
    pub comparison: Comparison,
    /// Fraction of the pages, and of their twins, whose improved estimate is nearer to the projected rate
    /// than the naive one.
    pub improved_is_nearer: [f64; 2],
    /// Fraction of the pages in each bar of [`RATIO_BARS`], by estimator.
    pub distribution: [Vec<f64>; ESTIMATORS.len()],
}

/// Mean ratios of estimate to projected rate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Comparison {
    /// Number of pages.
    pub pages: usize,
    /// Mean ratio for each of [`ESTIMATORS`]. 1 is unbiased.
    pub mean_ratio: [f64; ESTIMATORS.len()],
    /// The same for the twins.
    pub twins_mean_ratio: [f64; ESTIMATORS.len()],
}

/// Ratios of estimate to projected rate, of one page and of its twin.
struct Ratios {
    changes_per_visit: f64,
    own: [f64; ESTIMATORS.len()],
    twin: [f64; ESTIMATORS.len()],
}

impl EstimatorBias {
    /// Visits pages and their twins in a window of `window_days` days.
    pub fn of(pages: &[DailyPage], twins: &[DailyPage], window_days: f64) -> Self {
        let is_chosen = |page: &DailyPage| {
            let is_whole = page.first <= 0.0 && window_days <= page.last;
            let interval = page.mean_interval().unwrap_or(f64::INFINITY);
            is_whole && CHANGES_MIN <= page.changes.len() && CHANGE_INTERVAL_MIN <= interval
        };
        let chosen: Vec<_> = pages.iter().zip(twins).filter(|(page, _)| is_chosen(page)).collect();
        let intervals: Vec<f64> =
            VISIT_INTERVALS.into_iter().filter(|interval| 2.0 * interval <= window_days).collect();
        let ratios: Vec<Vec<Ratios>> = intervals
            .iter()
            .map(|interval| chosen.iter().map(|(page, twin)| ratios(page, twin, *interval)).collect())
            .collect();
        let in_class = |class: &[f64]| {
            let all = ratios.iter().flatten();
            Comparison::of(all.filter(|ratios| (class[0]..class[1]).contains(&ratios.changes_per_visit)))
        };
        Self {
            pages: chosen.len(),
            by_interval: intervals
                .iter()
                .zip(&ratios)
                .map(|(interval, all)| at_interval(*interval, all))
                .collect(),
            by_class: CLASSES.windows(2).map(in_class).collect(),
        }
    }
}

impl Comparison {
    fn of<'a>(all: impl Iterator<Item = &'a Ratios>) -> Self {
        let mut comparison = Self::default();
        for ratios in all {
            comparison.pages += 1;
            for estimator in 0..ESTIMATORS.len() {
                comparison.mean_ratio[estimator] += ratios.own[estimator];
                comparison.twins_mean_ratio[estimator] += ratios.twin[estimator];
            }
        }
        let count = comparison.pages.max(1) as f64;
        comparison.mean_ratio = comparison.mean_ratio.map(|sum| sum / count);
        comparison.twins_mean_ratio = comparison.twins_mean_ratio.map(|sum| sum / count);
        comparison
    }
}

fn at_interval(visit_interval_days: f64, all: &[Ratios]) -> AtInterval {
    let part = 1.0 / all.len().max(1) as f64;
    let is_nearer = |[naive, improved, _]: [f64; 3]| (improved - 1.0).abs() < (naive - 1.0).abs();
    let nearer =
        |of: fn(&Ratios) -> [f64; 3]| all.iter().filter(|ratios| is_nearer(of(ratios))).count() as f64 * part;
    let distribution = |estimator: usize| {
        let mut bars = vec![0.0; RATIO_BARS.1];
        for ratios in all {
            bars[((ratios.own[estimator] / RATIO_BARS.0).round() as usize).min(RATIO_BARS.1 - 1)] += part;
        }
        bars
    };
    AtInterval {
        visit_interval_days,
        comparison: Comparison::of(all.iter()),
        improved_is_nearer: [nearer(|ratios| ratios.own), nearer(|ratios| ratios.twin)],
        distribution: [distribution(0), distribution(1), distribution(2)],
    }
}

fn ratios(page: &DailyPage, twin: &DailyPage, visit_interval: f64) -> Ratios {
    let rate = |page: &DailyPage| page.changes.len() as f64 / page.days();
    let over = |page: &DailyPage| estimates(page, visit_interval).map(|estimate| estimate / rate(page));
    Ratios { changes_per_visit: rate(page) * visit_interval, own: over(page), twin: over(twin) }
}

/// The rate of a page by each estimator, in changes per day, from evenly spaced visits.
fn estimates(page: &DailyPage, visit_interval: f64) -> [f64; ESTIMATORS.len()] {
    let visits = (page.days() / visit_interval + 1e-9).floor() as u32;
    let interval = Days::new(visit_interval);
    let (mut even, mut dated) = (EvenVisits::NONE, DatedVisits::NONE);
    let mut seen = 0;
    for visit in 1..=visits {
        let now = page.first + f64::from(visit) * visit_interval;
        let until = page.changes.partition_point(|time| *time <= now);
        even.observe(seen < until);
        let since = if seen < until { now - page.changes[until - 1] } else { f64::INFINITY };
        dated.observe(Days::new(since), interval);
        seen = until;
    }
    let rate = |estimate: Option<freshet_theory::estimate::rate::RateEstimate>| {
        estimate.expect("the window has two visits").get()
    };
    [rate(naive(&even, interval)), rate(improved(&even, interval)), rate(dated.rate())]
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng as _;

    use super::super::poisson_fit::twins;
    use super::*;

    const WINDOW: f64 = 1120.0;

    /// Pages with 40 changes in evenly spaced sessions of `session` successive days.
    fn pages(session: usize) -> Vec<DailyPage> {
        let page = |number: usize| {
            let start = |session_number: usize| (session_number * 28 * session + number % 20) as f64;
            let days = |first: f64| (0..session).map(move |day| first + day as f64 + 0.5);
            DailyPage {
                first: 0.0,
                last: WINDOW,
                changes: (0..40 / session).map(start).flat_map(days).collect(),
            }
        };
        (0..400).map(page).collect()
    }

    fn bias(session: usize) -> EstimatorBias {
        let pages = pages(session);
        let twins = twins(&pages, &mut ChaCha8Rng::seed_from_u64(3));
        EstimatorBias::of(&pages, &twins, WINDOW)
    }

    #[test]
    fn twins_are_estimated_as_the_theory_says() {
        let monthly = &bias(1).by_interval[2];
        assert_eq!(monthly.visit_interval_days, 28.0);
        let [naive, improved, last_modified] = monthly.comparison.twins_mean_ratio;
        // A visit finds a change with probability 1 - 1/e if one change is expected per visit.
        assert!((naive - 0.632).abs() < 0.02, "{naive}");
        assert!((improved - 1.0).abs() < 0.03, "{improved}");
        assert!((last_modified - 1.0).abs() < 0.03, "{last_modified}");
        assert!(monthly.improved_is_nearer[1] > 0.9);
    }

    #[test]
    fn bursts_make_every_estimate_too_low() {
        let monthly = bias(5).by_interval[2].comparison;
        let [naive, improved, _] = monthly.mean_ratio;
        assert!(naive < 0.45 && improved < 0.6, "{monthly:?}");
        assert!((monthly.twins_mean_ratio[1] - 1.0).abs() < 0.03, "{monthly:?}");
    }

    #[test]
    fn only_pages_with_known_rates_are_visited() {
        let page = |last: f64, changes: usize| DailyPage {
            first: 0.0,
            last,
            changes: (0..changes).map(|day| day as f64).collect(),
        };
        let pages = [page(WINDOW, 2), page(WINDOW, 3), page(500.0, 10), page(WINDOW, 373), page(WINDOW, 374)];
        let bias = EstimatorBias::of(&pages, &pages, WINDOW);
        assert_eq!(bias.pages, 2);
        assert!(EstimatorBias::of(&pages, &pages, 10.0).by_interval.is_empty());
    }
}
