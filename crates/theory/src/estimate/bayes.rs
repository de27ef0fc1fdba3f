//! Bayesian estimator: the probability that a page belongs to each of several classes of change rates.
//!
//! Thesis, section 6.6, equation 6.7 (**estimate**, section 6). A page of class j changes with the rate λ_j.
//! A visit after the time t multiplies the probability of the class by 1 − e^(−λ_j t) if the page had
//! changed, and by e^(−λ_j t) if not. Then all probabilities are divided by their sum.
//!
//! Here the products are sums of logarithms. Of the unchanged visits only the total time is kept, because the
//! posterior depends on nothing else of them.
//!
//! # Promises
//! - However long the history, nothing underflows and nothing becomes NaN.
//! - Merging two histories gives the same evidence as observing all visits in one. The evidence is
//!   kept apart from the prior.
//! - Probabilities add up to one. With no visits they are the prior.
//! - Of equally probable classes (to 1e-12 of the logarithm) the last one is the most probable.
//!
//! # Departures
//! None.

use super::binomial::log_change_probability;
use super::irregular::Visit;
use super::rate::{Confidence, RateEstimate, RateInterval};
use crate::units::{ChangesPerDay, Days};

/// Classes of pages, each with its rate of change and a prior weight.
#[derive(Clone, Debug, PartialEq)]
pub struct RateClasses {
    rates: Vec<ChangesPerDay>,
    log_priors: Vec<f64>,
}

impl RateClasses {
    /// Creates classes with these rates and prior weights. The weights need not add up to one.
    ///
    /// Panics if the lengths differ, a weight is negative or not finite, or none is above zero.
    pub fn new(rates: &[ChangesPerDay], priors: &[f64]) -> Self {
        assert_eq!(rates.len(), priors.len());
        assert!(priors.iter().all(|prior| 0.0 <= *prior));
        assert!(priors.iter().all(|prior| prior.is_finite()));
        assert!(priors.iter().any(|prior| 0.0 < *prior));
        Self { rates: rates.to_vec(), log_priors: priors.iter().map(|prior| prior.ln()).collect() }
    }

    /// The rate of each class.
    pub fn rates(&self) -> &[ChangesPerDay] {
        &self.rates
    }

    /// The number of classes.
    pub fn count(&self) -> usize {
        self.rates.len()
    }

    /// The probability of each class after these visits, summed without loss of digits. `None` if no
    /// class explains the visits.
    pub fn posterior(&self, visits: &[Visit]) -> Option<Vec<f64>> {
        let mut unchanged = PreciseSum::default();
        let mut evidence = vec![PreciseSum::default(); self.count()];
        for visit in visits {
            if visit.changed {
                for (sum, rate) in evidence.iter_mut().zip(&self.rates) {
                    sum.add(log_probability_of_change(*rate, visit.interval));
                }
            } else {
                unchanged.add(visit.interval.get());
            }
        }
        let evidence: Vec<_> = evidence.iter().map(PreciseSum::get).collect();
        probabilities(&self.log_posteriors(&evidence, unchanged.get()))
    }

    /// ln of the posterior of each class, up to a constant: prior, changed visits and unchanged visits. The
    /// unchanged ones are taken relative to the slowest possible class, so that the greatest result is finite
    /// even where λt overflows.
    pub(super) fn log_posteriors(&self, changed_evidence: &[f64], unchanged_days: f64) -> Vec<f64> {
        let so_far = self.log_priors.iter().zip(changed_evidence).map(|(prior, evidence)| prior + evidence);
        let possible = so_far.clone().zip(&self.rates).filter(|(log, _)| *log > f64::NEG_INFINITY);
        let slowest = possible.map(|(_, rate)| rate.get()).fold(f64::INFINITY, f64::min);
        let with_unchanged = |(log, rate): (f64, &ChangesPerDay)| {
            let faster = rate.get() - slowest;
            if log == f64::NEG_INFINITY || faster == 0.0 { log } else { log - faster * unchanged_days }
        };
        so_far.zip(&self.rates).map(with_unchanged).collect()
    }
}

/// Evidence for each class: ln of the likelihood of the changed visits, and the total
/// time of the unchanged ones.
///
/// `L` holds a number per class: an array for states that are stored by the million, a vector where the
/// number of classes is not known at compile time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClassEvidence<L> {
    unchanged_days: f64,
    log_likelihoods: L,
}

impl<L: AsRef<[f64]> + AsMut<[f64]>> ClassEvidence<L> {
    /// Evidence with these parts. Zero days and zero for every class mean that no visit was made yet.
    ///
    /// Panics if the time is negative or not finite, or the logarithm of a likelihood is above zero.
    pub fn from_parts(unchanged: Days, log_likelihoods: L) -> Self {
        assert!(unchanged.get().is_finite());
        assert!(log_likelihoods.as_ref().iter().all(|log| *log <= 0.0));
        Self { unchanged_days: unchanged.get(), log_likelihoods }
    }

    /// The total time of the visits that found no change.
    pub fn unchanged(&self) -> Days {
        Days::new(self.unchanged_days)
    }

    /// ln of the likelihood, for each class, of the visits that found a change.
    pub fn log_likelihoods(&self) -> &L {
        &self.log_likelihoods
    }

    /// Adds one visit, `interval` after the one before.
    ///
    /// Panics if the number of classes differs.
    #[inline]
    pub fn observe(&mut self, classes: &RateClasses, interval: Days, changed: bool) {
        let log_likelihoods = self.log_likelihoods.as_mut();
        assert_eq!(log_likelihoods.len(), classes.count());
        if changed {
            for (log, rate) in log_likelihoods.iter_mut().zip(&classes.rates) {
                *log += log_probability_of_change(*rate, interval);
            }
        } else {
            self.unchanged_days += interval.get();
        }
    }

    /// Adds the visits of another history with the same classes.
    ///
    /// Panics if the number of classes differs.
    pub fn merge(&mut self, other: &Self) {
        let (own, others) = (self.log_likelihoods.as_mut(), other.log_likelihoods.as_ref());
        assert_eq!(own.len(), others.len());
        own.iter_mut().zip(others).for_each(|(own, other)| *own += other);
        self.unchanged_days += other.unchanged_days;
    }

    /// The probability of each class. `None` if no class explains the visits (a change, but
    /// all classes never change).
    ///
    /// Panics if the number of classes differs.
    pub fn posterior(&self, classes: &RateClasses) -> Option<Vec<f64>> {
        probabilities(&self.log_posteriors(classes))
    }

    /// The index of the most probable class. Of equally probable ones, the last.
    ///
    /// Panics if the number of classes differs.
    pub fn most_probable_class(&self, classes: &RateClasses) -> usize {
        most_probable(&self.log_posteriors(classes))
    }

    /// The posterior mean of the rate. `None` if no class explains the visits.
    ///
    /// Panics if the number of classes differs.
    pub fn mean_rate(&self, classes: &RateClasses) -> Option<ChangesPerDay> {
        let posterior = self.posterior(classes)?;
        let mean =
            posterior.iter().zip(&classes.rates).map(|(probability, rate)| probability * rate.get()).sum();
        Some(ChangesPerDay::new(mean))
    }

    /// The interval between the posterior quantiles of the rate: no more than (1 − confidence)/2 of the
    /// probability lies below it, and no more above it. Contains every rate if no class explains the visits.
    ///
    /// Panics if the number of classes differs.
    pub fn interval(&self, classes: &RateClasses, confidence: Confidence) -> RateInterval {
        let Some(posterior) = self.posterior(classes) else { return RateInterval::ANY };
        let mut by_rate: Vec<_> = classes.rates.iter().map(|rate| rate.get()).zip(posterior).collect();
        by_rate.sort_by(|one, other| one.0.total_cmp(&other.0));
        let low = quantile(by_rate.iter(), confidence.tail());
        let high = quantile(by_rate.iter().rev(), confidence.tail());
        RateInterval::new(RateEstimate::new(low), RateEstimate::new(high))
    }

    fn log_posteriors(&self, classes: &RateClasses) -> Vec<f64> {
        assert_eq!(self.log_likelihoods.as_ref().len(), classes.count());
        classes.log_posteriors(self.log_likelihoods.as_ref(), self.unchanged_days)
    }
}

/// Logarithms of probabilities that differ by less than this count as equal.
const TIE: f64 = 1e-12;

/// The last of the classes with the greatest log-posterior.
pub(super) fn most_probable(log_posteriors: &[f64]) -> usize {
    let greatest = log_posteriors.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    log_posteriors.iter().rposition(|log| *log >= greatest - TIE).unwrap_or(0)
}

/// ln(1 − e^(−λt)), finite also where λt underflows.
#[inline]
pub(super) fn log_probability_of_change(rate: ChangesPerDay, interval: Days) -> f64 {
    let x = rate.get() * interval.get();
    if x < 1e-290 { rate.get().ln() + interval.get().ln() } else { log_change_probability(x) }
}

/// Normalises probabilities that are given as logarithms up to a constant. `None` if all are zero.
fn probabilities(logs: &[f64]) -> Option<Vec<f64>> {
    let greatest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if greatest == f64::NEG_INFINITY {
        return None;
    }
    let weights: Vec<_> = logs.iter().map(|log| (log - greatest).exp()).collect();
    let sum: f64 = weights.iter().sum();
    Some(weights.iter().map(|weight| weight / sum).collect())
}

/// The first value at which the cumulative probability exceeds `tail`.
fn quantile<'a>(mut ordered: impl Iterator<Item = &'a (f64, f64)>, tail: f64) -> f64 {
    let mut sum = 0.0;
    let reached = ordered.find(|(_, probability)| {
        sum += probability;
        sum > tail
    });
    // Always found: the probabilities add up to one, and the tail is at most a half.
    reached.map_or(0.0, |(value, _)| *value)
}

/// A sum that compensates for rounding (Neumaier).
#[derive(Clone, Copy, Default)]
struct PreciseSum {
    sum: f64,
    lost: f64,
}

impl PreciseSum {
    fn add(&mut self, term: f64) {
        let sum = self.sum + term;
        if sum.is_finite() {
            let (large, small) =
                if self.sum.abs() >= term.abs() { (self.sum, term) } else { (term, self.sum) };
            self.lost += (large - sum) + small;
        }
        self.sum = sum;
    }

    fn get(&self) -> f64 {
        self.sum + self.lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn week_and_month() -> RateClasses {
        RateClasses::new(&[ChangesPerDay::new(1.0 / 7.0), ChangesPerDay::new(1.0 / 30.0)], &[0.5, 0.5])
    }

    fn visit(days: f64, changed: bool) -> Visit {
        Visit { interval: Days::new(days), changed }
    }

    fn observe<const CLASSES: usize>(
        classes: &RateClasses,
        visits: &[Visit],
    ) -> ClassEvidence<[f64; CLASSES]> {
        let mut evidence = ClassEvidence::from_parts(Days::ZERO, [0.0; CLASSES]);
        visits.iter().for_each(|visit| evidence.observe(classes, visit.interval, visit.changed));
        evidence
    }

    #[track_caller]
    fn check(visits: &[Visit], expected: [f64; 2]) {
        let classes = week_and_month();
        for posterior in [classes.posterior(visits), observe::<2>(&classes, visits).posterior(&classes)] {
            let posterior = posterior.expect("these classes explain any visit");
            for (got, want) in posterior.iter().zip(expected) {
                assert!((got - want).abs() <= 1e-13 * want, "{posterior:?}");
            }
        }
    }

    #[test]
    fn changes_within_a_week_speak_for_the_weekly_class() {
        check(&[], [0.5, 0.5]);
        check(&[visit(5.0, true)], [0.7687896357891193, 0.23121036421088076]);
        check(&[visit(5.0, true); 2], [0.9170541719961169, 0.082945828003883]);
        check(&[visit(30.0, false)], [0.03606453809916634, 0.9639354619008337]);
    }

    #[test]
    fn a_long_history_does_not_underflow() {
        let visits = vec![visit(10.0, true); 1_000_000];
        let posterior = week_and_month().posterior(&visits);
        assert_eq!(posterior, Some(vec![1.0, 0.0]));
    }

    #[test]
    fn a_balanced_history_keeps_its_digits() {
        // Changed and unchanged visits in the proportion that makes the two classes nearly
        // equal; computed with 40 digits.
        let visits: Vec<_> = (0..100_000).map(|i| visit(10.0, i % 2 == 0)).collect();
        let classes =
            RateClasses::new(&[ChangesPerDay::new(0.06), ChangesPerDay::new(0.0795758)], &[0.5, 0.5]);
        let posterior = classes.posterior(&visits).expect("explained");
        assert!((posterior[0] / 0.2691502945444957 - 1.0).abs() < 1e-10, "{posterior:?}");
    }

    #[test]
    fn products_that_no_double_holds_still_have_an_order() {
        let fast = RateClasses::new(&[ChangesPerDay::new(1e308), ChangesPerDay::new(1.1e308)], &[0.5, 0.5]);
        assert_eq!(fast.posterior(&[visit(1e300, false)]), Some(vec![1.0, 0.0]));
        let slow = RateClasses::new(&[ChangesPerDay::new(1e-200), ChangesPerDay::new(3e-200)], &[0.5, 0.5]);
        let posterior = slow.posterior(&[visit(1e-200, true)]).expect("explained");
        assert!((posterior[1] - 0.75).abs() < 1e-12, "{posterior:?}");
    }

    #[test]
    fn a_change_that_no_class_explains_has_no_posterior() {
        let never = RateClasses::new(&[ChangesPerDay::ZERO, ChangesPerDay::new(1.0)], &[1.0, 0.0]);
        assert_eq!(never.posterior(&[visit(1.0, true)]), None);
        let evidence = observe::<2>(&never, &[visit(1.0, true)]);
        assert_eq!(evidence.mean_rate(&never), None);
        assert_eq!(evidence.interval(&never, Confidence::new(0.9)), RateInterval::ANY);
    }

    #[test]
    fn the_mean_and_the_interval_follow_the_posterior() {
        let classes = week_and_month();
        let evidence = observe::<2>(&classes, &[visit(5.0, true); 2]);
        let mean = evidence.mean_rate(&classes).map(ChangesPerDay::get);
        assert!(
            mean.is_some_and(
                |mean| (mean - (0.9170541719961169 / 7.0 + 0.082945828003883 / 30.0)).abs() < 1e-13
            )
        );
        let wide = evidence.interval(&classes, Confidence::new(0.95));
        assert_eq!((wide.low().get(), wide.high().get()), (1.0 / 30.0, 1.0 / 7.0));
        let narrow = evidence.interval(&classes, Confidence::new(0.5));
        assert_eq!((narrow.low().get(), narrow.high().get()), (1.0 / 7.0, 1.0 / 7.0));
    }

    #[test]
    fn of_equal_classes_the_later_one_is_the_most_probable() {
        assert_eq!(most_probable(&[-1.0, -2.0, -1.0, -3.0]), 2);
        assert_eq!(most_probable(&[-1.0, -1.0 - 2e-12]), 0);
        assert_eq!(most_probable(&[-1.0, -1.0 - 5e-13]), 1);
        let classes = week_and_month();
        assert_eq!(observe::<2>(&classes, &[]).most_probable_class(&classes), 1);
    }

    proptest! {
        #[test]
        fn merging_is_the_same_as_going_on(
            history in prop::collection::vec((0.001..100.0f64, any::<bool>()), 0..60),
            cut in 0usize..60,
        ) {
            let classes = RateClasses::new(
                &[0.0, 0.01, 0.1, 1.0, 10.0].map(ChangesPerDay::new),
                &[1.0, 2.0, 3.0, 2.0, 1.0],
            );
            let visits: Vec<_> = history.iter().map(|(days, changed)| visit(*days, *changed)).collect();
            let cut = cut.min(visits.len());
            let mut merged = observe::<5>(&classes, &visits[..cut]);
            merged.merge(&observe::<5>(&classes, &visits[cut..]));
            let whole = observe::<5>(&classes, &visits).posterior(&classes).expect("explained");
            let at_once = classes.posterior(&visits).expect("explained");
            prop_assert!((whole.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            for ((one, other), at_once) in
                merged.posterior(&classes).expect("explained").iter().zip(whole).zip(at_once)
            {
                prop_assert!((one - other).abs() < 1e-10);
                prop_assert!((other - at_once).abs() < 1e-10);
            }
            let again = ClassEvidence::from_parts(merged.unchanged(), *merged.log_likelihoods());
            prop_assert_eq!(again, merged);
        }
    }
}
