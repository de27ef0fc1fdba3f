//! Estimated rates of change of all pages, from their visits, by the estimators of the thesis, chapter 6.
//!
//! The mathematics is in [`freshet_theory::estimate`]. This module holds the columns: the running state of
//! each page.
//!
//! # Promises
//! - Every page has a rate above zero and below infinity, so that it can be planned for and is visited again.
//! - A page without visits has the mean rate of all pages.
//!
//! # Departures
//! - A page never seen to change would have rate zero and would never be visited again. It gets the rate of a
//!   quarter of a change in the time that it was watched.
//! - A page that changed at every visit has no most likely rate by the irregular estimator; it gets the
//!   improved estimator's.
//! - The estimators for even visits are given the mean interval between the visits to a page, which are not
//!   even.

use freshet_theory::estimate::even::EvenVisits;
use freshet_theory::estimate::gamma::{Discount, DiscountedHistory, ExposedVisit, GammaPrior, group_mean};
use freshet_theory::estimate::improved::improved;
use freshet_theory::estimate::irregular_visits::IrregularVisits;
use freshet_theory::estimate::naive::naive;
use freshet_theory::estimate::rate::RateEstimate;
use freshet_theory::units::{ChangesPerDay, Days};

use super::catalogue::PageId;

/// An estimator of the thesis, chapter 6.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Estimator {
    /// Changes found over the time watched (6.4.1).
    Naive,
    /// Corrected for the changes missed between two visits (6.4.2).
    #[default]
    Improved,
    /// The most likely rate for visits at any intervals (6.4.3).
    Irregular,
    /// The mean of a gamma posterior whose prior has the mean of all pages (6.6 and 6.7).
    Gamma,
}

/// Number of changes assumed for a page never seen to change.
const UNSEEN_CHANGES: f64 = 0.25;
/// Rate of a page before anything is known of any page, in changes per cycle.
const FIRST_CHANGES_PER_CYCLE: f64 = 0.05;
/// Shape of the gamma prior that all pages share. It must leave room for pages that differ.
const PRIOR_SHAPE: f64 = 0.5;
/// Shrinkage of the mean of all towards the first rate, in changes.
const SHRINKAGE: f64 = 0.5;

/// The running state of all pages.
#[derive(Debug)]
pub(super) struct Estimates {
    estimator: Estimator,
    /// The rate before anything is known.
    first_rate: ChangesPerDay,
    /// The mean rate of all pages, as of the last [`Self::settle`].
    mean_rate: ChangesPerDay,
    counts: Vec<EvenVisits>,
    watched: Vec<f64>,
    rates: Vec<f64>,
    irregular: Vec<IrregularVisits>,
    gamma: Vec<DiscountedHistory>,
    prior: GammaPrior,
    /// Changes and exposure of all pages together.
    pooled: (f64, f64),
}

impl Estimates {
    /// Estimates without data. Panics unless the cycle is above zero and finite.
    pub(super) fn new(estimator: Estimator, cycle: Days) -> Self {
        assert!(Days::ZERO < cycle);
        assert!(cycle < Days::FOREVER);
        let first_rate = ChangesPerDay::new(FIRST_CHANGES_PER_CYCLE / cycle.get());
        Self {
            estimator,
            first_rate,
            mean_rate: first_rate,
            counts: Vec::new(),
            watched: Vec::new(),
            rates: Vec::new(),
            irregular: Vec::new(),
            gamma: Vec::new(),
            prior: GammaPrior::new(PRIOR_SHAPE, first_rate),
            pooled: (0.0, 0.0),
        }
    }

    /// Sets the number of pages.
    pub(super) fn grow(&mut self, pages: usize) {
        self.counts.resize(pages, EvenVisits::NONE);
        self.watched.resize(pages, 0.0);
        self.rates.resize(pages, 0.0);
        match self.estimator {
            Estimator::Irregular => self.irregular.resize(pages, IrregularVisits::NONE),
            Estimator::Gamma => self.gamma.resize(pages, DiscountedHistory::NONE),
            Estimator::Naive | Estimator::Improved => {}
        }
    }

    /// Whether the estimator has a rate for a page that was never visited.
    pub(super) fn has_prior(&self) -> bool {
        self.estimator == Estimator::Gamma
    }

    /// Whether the page had an informative visit.
    pub(super) fn is_seen(&self, page: PageId) -> bool {
        self.counts[page.index()].visits() > 0
    }

    /// Learns from a visit `interval` after the one before. A visit after no time carries no information.
    pub(super) fn observe(&mut self, page: PageId, interval: Days, changed: bool) {
        if interval == Days::ZERO {
            return;
        }
        let page = page.index();
        self.counts[page].observe(changed);
        self.watched[page] += interval.get();
        let (changes, exposure) = match self.estimator {
            Estimator::Gamma => self.observe_gamma(page, interval, changed),
            Estimator::Irregular => {
                self.irregular[page].observe(interval, changed);
                (f64::from(u8::from(changed)), interval.get())
            }
            Estimator::Naive | Estimator::Improved => (f64::from(u8::from(changed)), interval.get()),
        };
        self.pooled.0 += changes;
        self.pooled.1 += exposure;
        self.rates[page] = self.estimate(page);
    }

    /// Recomputes the mean of all pages.
    pub(super) fn settle(&mut self) {
        let pooled = DiscountedHistory::from_parts(self.pooled.0, Days::new(self.pooled.1));
        self.mean_rate = group_mean(&pooled, self.first_rate, SHRINKAGE);
        self.prior = GammaPrior::new(PRIOR_SHAPE, self.mean_rate);
    }

    /// The rate of a page.
    pub(super) fn rate(&self, page: PageId) -> ChangesPerDay {
        match self.estimator {
            Estimator::Gamma => self.gamma[page.index()].posterior(&self.prior).mean(),
            _ if self.is_seen(page) => ChangesPerDay::new(self.rates[page.index()]),
            _ => self.mean_rate,
        }
    }

    /// −ln of the probability that a page has not changed in `elapsed`. It ranks pages like the probability
    /// of a change.
    pub(super) fn exposure(&self, page: PageId, elapsed: Days) -> f64 {
        match self.estimator {
            Estimator::Gamma => -self.gamma[page.index()].posterior(&self.prior).survival(elapsed).ln(),
            _ => self.rate(page).get() * elapsed.get(),
        }
    }

    /// Returns by how much the page's changes and exposure grew.
    fn observe_gamma(&mut self, page: usize, interval: Days, changed: bool) -> (f64, f64) {
        let history = &mut self.gamma[page];
        let before = *history;
        let visit = ExposedVisit { elapsed: interval, exposure: interval, changed };
        history.observe(&self.prior, Discount::NONE, &visit);
        (history.changes() - before.changes(), history.exposure().get() - before.exposure().get())
    }

    /// The estimate from the page's visits. There must be at least one.
    fn estimate(&self, page: usize) -> f64 {
        let (counts, watched) = (&self.counts[page], self.watched[page]);
        let mean_interval = Days::new(watched / counts.visits() as f64);
        let estimate = match self.estimator {
            Estimator::Naive => naive(counts, mean_interval),
            Estimator::Improved => improved(counts, mean_interval),
            Estimator::Irregular => self.irregular[page].rate(),
            Estimator::Gamma => None,
        };
        let bounded = |estimate: &RateEstimate| estimate.finite().is_some();
        let estimate = estimate.filter(bounded).or_else(|| improved(counts, mean_interval));
        let rate = estimate.map_or(0.0, RateEstimate::get);
        // The rate may underflow for a page watched very long, and overflow for one watched very briefly.
        let least = UNSEEN_CHANGES / watched;
        if rate > 0.0 { rate.min(f64::MAX) } else { least.clamp(f64::MIN_POSITIVE, f64::MAX) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Estimator; 4] =
        [Estimator::Naive, Estimator::Improved, Estimator::Irregular, Estimator::Gamma];

    /// The rate after visits at the ends of these intervals.
    fn rate(estimator: Estimator, visits: &[(f64, bool)]) -> f64 {
        let mut estimates = Estimates::new(estimator, Days::new(1.0));
        estimates.grow(1);
        for (interval, changed) in visits {
            estimates.observe(PageId(0), Days::new(*interval), *changed);
        }
        estimates.rate(PageId(0)).get()
    }

    #[track_caller]
    fn check(estimator: Estimator, expected: f64) {
        let visits: Vec<_> = (0..10).map(|visit| (1.0, visit < 6)).collect();
        let rate = rate(estimator, &visits);
        assert!((rate - expected).abs() < 5e-4, "{estimator:?}: {rate}");
    }

    #[test]
    fn six_changes_in_ten_visits_have_the_rates_of_the_thesis() {
        check(Estimator::Naive, 0.6);
        check(Estimator::Improved, 0.8473);
        check(Estimator::Irregular, 0.9163);
    }

    #[test]
    fn every_page_has_a_rate_above_zero_and_below_infinity() {
        for estimator in ALL {
            for visits in [&[][..], &[(3.0, true)], &[(3.0, false)], &[(1e-200, false)], &[(1e-300, true); 3]]
            {
                let rate = rate(estimator, visits);
                assert!(rate > 0.0 && rate.is_finite(), "{estimator:?} {visits:?}: {rate}");
            }
        }
    }

    #[test]
    fn a_page_never_visited_has_the_mean_rate_of_all() {
        for estimator in ALL {
            let mut estimates = Estimates::new(estimator, Days::new(1.0));
            estimates.grow(3);
            for _ in 0..400 {
                estimates.observe(PageId(0), Days::new(1.0), true);
                estimates.observe(PageId(1), Days::new(1.0), false);
                estimates.settle();
            }
            let mean = estimates.rate(PageId(2)).get();
            assert!(estimates.rate(PageId(1)).get() < mean, "{estimator:?}");
            assert!(mean < estimates.rate(PageId(0)).get(), "{estimator:?}");
        }
    }

    #[test]
    fn a_visit_after_no_time_says_nothing() {
        for estimator in ALL {
            let before = rate(estimator, &[(2.0, true), (2.0, false)]);
            assert_eq!(rate(estimator, &[(2.0, true), (0.0, false), (2.0, false)]), before);
        }
    }
}
