//! Gamma posterior of a page's change rate, with a shared prior and discounted evidence.
//!
//! It starts from what similar pages do, follows a rate that drifts, and fits in two numbers. It is this
//! project's own estimator: it completes the Bayesian estimator of thesis, section 6.6, and answers its
//! section 6.7 on rates that change. Before the first visit a page's rate is Gamma(a₀, a₀/m), with m the mean
//! rate of its group. A page has a discounted number of changes n and a discounted exposure e, and the
//! posterior Gamma(a, b):
//!
//! > a = a₀ + n, b = a₀/m + e, mean θ = a/b
//! > visit: n ← ρ^t n + c L/(1 − e^-L), e ← ρ^t e + x, with L = θx
//!
//! Here t is the time since the visit before, and x the exposure in that time: t itself, or the time of a
//! clock that runs faster when similar pages change. c says whether the page had changed, and ρ is the
//! fraction of the evidence that is left after a day. L/(1 − e^-L) is the expected number of changes given
//! that there was one: a step of online expectation maximisation. The mean of a group follows from its pages,
//! drawn to the mean m' of the group above with a strength k:
//!
//! > m = (k + Σ n) / (k/m' + Σ e)
//!
//! # Promises
//! - The prior is kept apart: a better prior changes every page's posterior at once, and an unvisited page
//!   has exactly the prior.
//! - A change never lowers the mean (it adds nothing when a change was certain), and a visit without change
//!   lowers it. The mean stays above zero, so that a page never seen to change is still visited, and stays
//!   finite when each visit finds a change.
//! - Without discount, visits that found no change enter exactly: as their exposure.
//!
//! # Departures
//! The step for a changed visit uses the mean of that moment, so the order of visits matters a little. Merged
//! histories ([`DiscountedHistory::pool`]) are those of a group, not of one page visited at both times.

use super::quantile::{gamma_high, gamma_low};
use super::rate::{Confidence, RateEstimate, RateInterval};
use crate::numerics::changes_given_changed;
use crate::units::{ChangesPerDay, Days};

/// Prior distribution of a page's rate before its first visit: a gamma distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GammaPrior {
    /// a₀: the weight of the prior, in changes.
    shape: f64,
    /// a₀/m, in days.
    exposure: f64,
}

impl GammaPrior {
    /// The prior of a page in a group of this mean rate. `shape` is the number of changes that outweigh it.
    ///
    /// A shape of one suits pages that share a directory; with a fitted one small groups lose their
    /// individuality. Panics unless both are finite and above zero.
    pub fn new(shape: f64, mean_rate: ChangesPerDay) -> Self {
        assert!(0.0 < shape);
        assert!(shape.is_finite());
        assert!(ChangesPerDay::ZERO < mean_rate);
        Self { shape, exposure: shape / mean_rate.get() }
    }
}

/// The mean rate of a group whose pages have this pooled history. It is drawn to the mean of the group above
/// with a strength in changes: 0.5 for all pages, 2 for a site and for a directory.
///
/// Panics unless `strength` and the mean above are above zero.
pub fn group_mean(pooled: &DiscountedHistory, mean_above: ChangesPerDay, strength: f64) -> ChangesPerDay {
    assert!(0.0 < strength);
    assert!(ChangesPerDay::ZERO < mean_above);
    ChangesPerDay::new((strength + pooled.changes) / (strength / mean_above.get() + pooled.exposure))
}

/// Discount of old evidence: the fraction ρ of it that is left after a day.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Discount {
    log_kept_per_day: f64,
}

impl Discount {
    /// Evidence never loses weight.
    pub const NONE: Self = Self { log_kept_per_day: 0.0 };

    /// Panics unless the fraction is above zero and at most one.
    pub fn new(kept_per_day: f64) -> Self {
        assert!(0.0 < kept_per_day);
        assert!(kept_per_day <= 1.0);
        Self { log_kept_per_day: kept_per_day.ln() }
    }

    /// ρ^t: the fraction of evidence left after some time.
    #[inline]
    pub fn kept_after(self, elapsed: Days) -> f64 {
        (self.log_kept_per_day * elapsed.get()).exp()
    }
}

/// One visit, for a posterior with discount.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExposedVisit {
    /// Time since the visit before, by which old evidence is discounted. Finite.
    pub elapsed: Days,
    /// Exposure to change in that time: the same time, or the time of a clock of the group. Finite.
    pub exposure: Days,
    /// Whether the page had changed.
    pub changed: bool,
}

/// Discounted evidence of a page's visits: changes n and exposure e.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DiscountedHistory {
    changes: f64,
    exposure: f64,
}

impl DiscountedHistory {
    /// No visit yet.
    pub const NONE: Self = Self { changes: 0.0, exposure: 0.0 };

    /// Panics unless the changes are finite and not negative, and the exposure is finite.
    pub fn from_parts(changes: f64, exposure: Days) -> Self {
        assert!(0.0 <= changes);
        assert!(changes.is_finite());
        assert!(exposure.get().is_finite());
        Self { changes, exposure: exposure.get() }
    }

    /// Discounted number of changes: n.
    pub fn changes(&self) -> f64 {
        self.changes
    }

    /// Discounted exposure: e.
    pub fn exposure(&self) -> Days {
        Days::new(self.exposure)
    }

    /// Adds one visit.
    #[inline]
    pub fn observe(&mut self, prior: &GammaPrior, discount: Discount, visit: &ExposedVisit) {
        let exposure = visit.exposure.get();
        let kept = discount.kept_after(visit.elapsed);
        let mean = (prior.shape + self.changes) / (prior.exposure + self.exposure);
        let changes = if visit.changed { changes_given_changed(mean * exposure) } else { 0.0 };
        self.changes = kept * self.changes + changes;
        self.exposure = kept * self.exposure + exposure;
    }

    /// Adds the history of another page of the same group, discounted to the same time.
    pub fn pool(&mut self, other: &Self) {
        self.changes += other.changes;
        self.exposure += other.exposure;
    }

    /// The posterior of the rate after these visits.
    pub fn posterior(&self, prior: &GammaPrior) -> GammaPosterior {
        GammaPosterior { shape: prior.shape + self.changes, exposure: prior.exposure + self.exposure }
    }
}

/// Posterior of a page's rate: Gamma(a, b), with `shape` a changes in `exposure` b days.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GammaPosterior {
    shape: f64,
    exposure: f64,
}

impl GammaPosterior {
    /// a: number of changes, evidence and prior together.
    pub fn shape(&self) -> f64 {
        self.shape
    }

    /// b: exposure, evidence and prior together.
    pub fn exposure(&self) -> Days {
        Days::new(self.exposure)
    }

    /// The mean rate a/b.
    pub fn mean(&self) -> ChangesPerDay {
        ChangesPerDay::new(self.shape / self.exposure)
    }

    /// The probability (1 + t/b)^-a that the page does not change in an exposure t.
    pub fn survival(&self, exposure: Days) -> f64 {
        (-self.shape * (exposure.get() / self.exposure).ln_1p()).exp()
    }

    /// The interval between the quantiles that leave (1 − confidence)/2 on either side.
    pub fn interval(&self, confidence: Confidence) -> RateInterval {
        let rate = |quantile: f64| RateEstimate::new(quantile / self.exposure);
        RateInterval::new(
            rate(gamma_low(self.shape, confidence.tail())),
            rate(gamma_high(self.shape, confidence.tail())),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn prior() -> GammaPrior {
        GammaPrior::new(1.0, ChangesPerDay::new(0.1))
    }

    fn visit(days: f64, changed: bool) -> ExposedVisit {
        ExposedVisit { elapsed: Days::new(days), exposure: Days::new(days), changed }
    }

    #[test]
    fn a_page_not_seen_has_the_prior() {
        let posterior = DiscountedHistory::NONE.posterior(&prior());
        assert_eq!(posterior.mean(), ChangesPerDay::new(0.1));
        // An exponential distribution: quantiles −ln(1 − p)/b.
        let interval = posterior.interval(Confidence::new(0.95));
        assert!((interval.low().get() - 0.0025317807984289874).abs() < 1e-12);
        assert!((interval.high().get() - 0.36888794541139364).abs() < 1e-10);
    }

    #[test]
    fn a_visit_is_absorbed_as_the_formula_says() {
        let mut history = DiscountedHistory::from_parts(3.0, Days::new(20.0));
        history.observe(&prior(), Discount::new(0.97), &visit(5.0, true));
        let (kept, l) = (0.97f64.powi(5), 4.0 / 30.0 * 5.0f64);
        assert!((history.changes() - (kept * 3.0 + l / (1.0 - (-l).exp()))).abs() < 1e-14);
        assert!((history.exposure().get() - (kept * 20.0 + 5.0)).abs() < 1e-13);
    }

    #[test]
    fn unchanged_visits_without_discount_add_their_exposure() {
        let mut history = DiscountedHistory::NONE;
        (0..40).for_each(|_| history.observe(&prior(), Discount::NONE, &visit(2.0, false)));
        assert_eq!(history, DiscountedHistory::from_parts(0.0, Days::new(80.0)));
        let mean = history.posterior(&prior()).mean().get();
        assert!((mean - 1.0 / 90.0).abs() < 1e-16, "{mean}");
    }

    #[test]
    fn a_page_changed_at_every_visit_has_a_finite_rate() {
        let mut history = DiscountedHistory::NONE;
        (0..10_000).for_each(|_| history.observe(&prior(), Discount::new(0.97), &visit(1.0, true)));
        let posterior = history.posterior(&prior());
        assert!(posterior.mean().get() > 1.0, "{posterior:?}");
        let interval = posterior.interval(Confidence::new(0.9));
        assert!(interval.contains(posterior.mean()), "{interval:?}");
    }

    #[test]
    fn what_is_long_ago_is_forgotten() {
        let mut history = DiscountedHistory::from_parts(50.0, Days::new(10.0));
        history.observe(&prior(), Discount::new(0.5), &visit(100.0, false));
        assert!(history.changes() < 1e-28);
        assert!((history.exposure().get() - 100.0).abs() < 1e-12);
    }

    #[test]
    fn survival_is_that_of_a_mixture_of_rates() {
        let posterior = DiscountedHistory::from_parts(2.0, Days::new(10.0)).posterior(&prior());
        assert!((posterior.survival(Days::new(20.0)) - 0.125).abs() < 1e-15);
        assert_eq!(posterior.survival(Days::ZERO), 1.0);
        assert_eq!(posterior.survival(Days::FOREVER), 0.0);
    }

    #[test]
    fn a_group_without_history_has_the_mean_above() {
        let above = ChangesPerDay::new(0.25);
        assert_eq!(group_mean(&DiscountedHistory::NONE, above, 2.0), above);
        let mut pooled = DiscountedHistory::from_parts(3.0, Days::new(8.0));
        pooled.pool(&DiscountedHistory::from_parts(1.0, Days::new(4.0)));
        assert_eq!(group_mean(&pooled, above, 2.0), ChangesPerDay::new(6.0 / 20.0));
    }

    proptest! {
        #[test]
        fn a_change_never_lowers_the_mean_and_its_absence_does(
            changes in 0.0..50.0f64, exposure in 0.0..500.0f64, days in 0.01..100.0f64,
        ) {
            let mean = |history: &DiscountedHistory| history.posterior(&prior()).mean().get();
            let before = DiscountedHistory::from_parts(changes, Days::new(exposure));
            let (mut changed, mut unchanged) = (before, before);
            changed.observe(&prior(), Discount::NONE, &visit(days, true));
            unchanged.observe(&prior(), Discount::NONE, &visit(days, false));
            prop_assert!(mean(&unchanged) < mean(&before));
            prop_assert!(mean(&changed) >= mean(&before) * (1.0 - 1e-14));
            prop_assert_eq!(changed, DiscountedHistory::from_parts(changed.changes(), changed.exposure()));
        }
    }
}
