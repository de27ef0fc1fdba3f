//! Freshness of the collection that users see, for steady and batch crawlers, in place and shadowed.
//!
//! Implements the thesis, section 7.2, whose curves and Table 7.1 come without their formulas. Every page is
//! visited once per period `P`. With M(x) = (1 − e^-x)/x the mean of e^-s over `[0, x]`:
//!
//! > in place: M(λP),  shadowed: M(λC) M(λP)
//!
//! where `C` is the length of the crawl: `P` for a steady crawler. In place, a copy is shown from its visit
//! to the next one, `P` later, in either mode. Shadowed, a page is collected at a uniform time of the crawl,
//! so its copy has a uniform age in `[0, C]` when the crawl ends. It is then shown for the time `P` until the
//! end of the next crawl. The probability e^-λ(a + s) of being fresh is averaged over both.
//!
//! # Promises
//! - In place, steady and batch crawlers are equally fresh.
//! - Shadowing costs freshness, and the more the longer the crawl takes: a steady crawler loses most.
//!
//! # Departures
//! Table 7.1 prints 0.77 for steady shadowing; the formula gives 0.7829 (0.77 is the
//! square of the rounded 0.88).

use crate::numerics::mean_survival;
use crate::units::{ChangesPerDay, Days};

/// When a crawler works.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CrawlMode {
    /// Always, visiting every page once per period.
    Steady,
    /// At the start of each period, for at most the length of the period.
    Batch {
        /// How long the crawl takes.
        duration: Days,
    },
}

/// When new copies are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdateMode {
    /// At once.
    InPlace,
    /// All together, when the crawl is over.
    Shadowing,
}

/// Freshness of the current collection averaged over time.
///
/// Panics unless the period is above zero and no crawl takes longer than its period.
pub fn crawl_mode_freshness(
    crawl: CrawlMode,
    update: UpdateMode,
    change_rate: ChangesPerDay,
    period: Days,
) -> f64 {
    assert!(period > Days::ZERO);
    let duration = match crawl {
        CrawlMode::Steady => period,
        CrawlMode::Batch { duration } => duration,
    };
    assert!(duration <= period);
    let shown = mean_survival_over(change_rate, period);
    match update {
        UpdateMode::InPlace => shown,
        UpdateMode::Shadowing => mean_survival_over(change_rate, duration) * shown,
    }
}

/// Probability that a page is unchanged, averaged over a span of time.
fn mean_survival_over(change_rate: ChangesPerDay, stretch: Days) -> f64 {
    if change_rate == ChangesPerDay::ZERO || stretch == Days::ZERO {
        return 1.0;
    }
    mean_survival(change_rate.get() * stretch.get())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn freshness(crawl: CrawlMode, update: UpdateMode, change_rate: f64) -> f64 {
        crawl_mode_freshness(crawl, update, ChangesPerDay::new(change_rate), Days::new(1.0))
    }

    fn batch(duration: f64) -> CrawlMode {
        CrawlMode::Batch { duration: Days::new(duration) }
    }

    #[track_caller]
    fn check(crawl: CrawlMode, update: UpdateMode, change_rate: f64, expected: f64) {
        let got = freshness(crawl, update, change_rate);
        assert!((got - expected).abs() < 1e-14, "{got}");
    }

    #[test]
    fn the_table_comes_out_as_corrected() {
        check(CrawlMode::Steady, UpdateMode::InPlace, 0.25, 0.8847968677143805);
        check(batch(0.25), UpdateMode::InPlace, 0.25, 0.8847968677143805);
        check(CrawlMode::Steady, UpdateMode::Shadowing, 0.25, 0.7828654971171789);
        check(batch(0.25), UpdateMode::Shadowing, 0.25, 0.8577141159527127);
        check(batch(0.5), UpdateMode::Shadowing, 1.0, 0.4974401185287082);
    }

    #[test]
    fn extremes_are_values() {
        check(CrawlMode::Steady, UpdateMode::Shadowing, 0.0, 1.0);
        check(CrawlMode::Steady, UpdateMode::Shadowing, f64::MAX, 0.0);
        let never = crawl_mode_freshness(
            CrawlMode::Steady,
            UpdateMode::Shadowing,
            ChangesPerDay::new(f64::MAX),
            Days::new(f64::MAX),
        );
        assert_eq!(never, 0.0);
    }

    #[test]
    #[should_panic(expected = "duration <= period")]
    fn a_crawl_longer_than_its_period_is_refused() {
        freshness(batch(1.5), UpdateMode::Shadowing, 1.0);
    }

    proptest! {
        #[test]
        fn shadowing_costs_the_more_the_longer_the_crawl(
            rate in 1e-3..1e3f64,
            duration in 0.0..1.0f64,
            longer in 0.0..1.0f64,
        ) {
            let [short, long] = [duration.min(longer), duration.max(longer)];
            let in_place = freshness(batch(short), UpdateMode::InPlace, rate);
            let [short, long] =
                [short, long].map(|duration| freshness(batch(duration), UpdateMode::Shadowing, rate));
            prop_assert_eq!(in_place, freshness(CrawlMode::Steady, UpdateMode::InPlace, rate));
            prop_assert!(short <= in_place);
            prop_assert!(long <= short);
            prop_assert!(freshness(CrawlMode::Steady, UpdateMode::Shadowing, rate) <= long);
        }
    }
}
