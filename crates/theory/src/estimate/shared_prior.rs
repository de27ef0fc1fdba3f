//! Rates of many pages at once, with a prior over classes of rates that is learned from the pages themselves.
//!
//! Completes the Bayesian estimator of thesis, section 6.6, which leaves open where its prior comes from.
//! Here it is the prior with which the visits to all pages are most likely (empirical Bayes), found by
//! expectation maximisation. With p the posterior of class j for page i, N pages and J classes, a round is
//!
//! > prior of j ← (s/J + Σ p_ij) / (s + N)
//!
//! where an even prior, worth s pages, keeps every class possible. The likelihood of a visit is exact
//! whatever the intervals. So a page that changed at every visit is known to change often, but not how often;
//! the prior from the other pages fills that in.
//!
//! # Promises
//! - No round lowers the likelihood of all visits, the even prior included.
//! - A page without visits has the learned prior.
//! - Rates are finite and above zero, also of pages never or always seen to change.
//! - When pages come from the prior, the intervals contain the true rate about as often as they say.

use super::bayes::{ClassEvidence, RateClasses};
use super::rate::{Confidence, RateEstimate, RateInterval};
use crate::units::{ChangesPerDay, Days};

/// Expected changes that set the range of the classes: the slowest class has 0.05 in the longest history, the
/// fastest has 5 in the shortest interval. Visits can hardly distinguish rates beyond them.
const CHANGES_IN_LONGEST: f64 = 0.05;
const CHANGES_IN_SHORTEST: f64 = 5.0;

/// Classes at equal ratios and with equal priors, for visits with this short interval
/// and this longest history.
///
/// Panics unless 0 < `short_interval` <= `longest_history` < ∞ and there are at least two classes.
pub fn spaced_classes(short_interval: Days, longest_history: Days, classes: usize) -> RateClasses {
    assert!(Days::ZERO < short_interval);
    assert!(short_interval <= longest_history);
    assert!(longest_history < Days::FOREVER);
    assert!(classes >= 2);
    let low = (CHANGES_IN_LONGEST / longest_history.get()).ln();
    let high = (CHANGES_IN_SHORTEST / short_interval.get()).ln();
    let rate = |class: usize| (low + (high - low) * class as f64 / (classes - 1) as f64).exp();
    let rates: Vec<ChangesPerDay> = (0..classes).map(|class| ChangesPerDay::new(rate(class))).collect();
    RateClasses::new(&rates, &vec![1.0; classes])
}

/// The same classes with the prior learned from these pages in this many rounds. `strength` is the number of
/// pages that an even prior is worth.
///
/// Panics unless `strength` is above zero and finite and every class is above zero.
pub fn learn_prior<L: AsRef<[f64]> + AsMut<[f64]>>(
    mut classes: RateClasses,
    pages: &[ClassEvidence<L>],
    strength: f64,
    rounds: usize,
) -> RateClasses {
    assert!(0.0 < strength);
    assert!(strength.is_finite());
    for _ in 0..rounds {
        let mut priors = vec![strength / classes.count() as f64; classes.count()];
        for page in pages {
            let posterior = posterior(page, &classes);
            priors.iter_mut().zip(posterior).for_each(|(prior, probability)| *prior += probability);
        }
        classes = RateClasses::new(classes.rates(), &priors);
    }
    classes
}

/// Number of equally likely rates that represent the posterior of a page.
pub const OUTLOOKS: usize = 16;

/// Posterior of one page's rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateBelief {
    /// The posterior mean of the rate.
    pub mean: ChangesPerDay,
    /// The interval of the rate at the requested confidence.
    pub interval: RateInterval,
    /// Equally likely rates in rising order: the middle of each of [`OUTLOOKS`] equal parts of the
    /// probability. Average a non-linear function of the rate over them; do not evaluate it at the mean.
    pub outlooks: [ChangesPerDay; OUTLOOKS],
}

impl RateBelief {
    /// The posterior from these visits under these classes, which must rise at equal ratios. Within a class
    /// all ratios are equally likely.
    ///
    /// Panics unless there are at least two classes and every class is above zero.
    pub fn new<L: AsRef<[f64]> + AsMut<[f64]>>(
        page: &ClassEvidence<L>,
        classes: &RateClasses,
        confidence: Confidence,
    ) -> Self {
        let posterior = posterior(page, classes);
        let mean =
            posterior.iter().zip(classes.rates()).map(|(probability, rate)| probability * rate.get()).sum();
        let quantile = |part: f64| quantile(&posterior, classes.rates(), part);
        Self {
            mean: ChangesPerDay::new(mean),
            interval: RateInterval::new(
                RateEstimate::new(quantile(confidence.tail())),
                RateEstimate::new(quantile(1.0 - confidence.tail())),
            ),
            outlooks: std::array::from_fn(|part| {
                ChangesPerDay::new(quantile((part as f64 + 0.5) / OUTLOOKS as f64))
            }),
        }
    }
}

/// The rate below which this part of the probability lies.
fn quantile(posterior: &[f64], rates: &[ChangesPerDay], part: f64) -> f64 {
    let ratio = rates[1].get() / rates[0].get();
    let mut below = 0.0;
    for (probability, rate) in posterior.iter().zip(rates) {
        if below + probability >= part {
            return rate.get() * ratio.powf((part - below) / probability - 0.5);
        }
        below += probability;
    }
    rates[rates.len() - 1].get() * ratio.sqrt()
}

fn posterior<L: AsRef<[f64]> + AsMut<[f64]>>(page: &ClassEvidence<L>, classes: &RateClasses) -> Vec<f64> {
    page.posterior(classes).expect("a class above zero explains every visit")
}

#[cfg(test)]
mod tests {
    use rand::{RngExt as _, SeedableRng as _};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    const CLASSES: usize = 64;

    fn classes() -> RateClasses {
        spaced_classes(Days::new(1.0), Days::new(30.0), CLASSES)
    }

    /// The evidence of this many daily visits that found a change or not.
    fn daily(changed: usize, unchanged: usize) -> ClassEvidence<Vec<f64>> {
        let mut page = ClassEvidence::from_parts(Days::ZERO, vec![0.0; CLASSES]);
        (0..changed).for_each(|_| page.observe(&classes(), Days::new(1.0), true));
        (0..unchanged).for_each(|_| page.observe(&classes(), Days::new(1.0), false));
        page
    }

    fn belief(page: &ClassEvidence<Vec<f64>>, classes: &RateClasses) -> RateBelief {
        RateBelief::new(page, classes, Confidence::new(0.95))
    }

    #[test]
    fn the_classes_reach_from_the_longest_to_the_shortest_time() {
        let classes = classes();
        assert!((classes.rates()[0].get() - 0.05 / 30.0).abs() < 1e-15);
        assert!((classes.rates()[CLASSES - 1].get() - 5.0).abs() < 1e-12);
    }

    #[test]
    fn a_page_never_or_always_seen_to_change_has_a_finite_rate_above_zero() {
        let pages: Vec<_> = (0..50).map(|page| daily(page % 4, 30 - page % 4)).collect();
        let learned = learn_prior(classes(), &pages, 1.0, 20);
        let never = belief(&daily(0, 30), &learned);
        let always = belief(&daily(30, 0), &learned);
        let unseen = belief(&daily(0, 0), &learned);
        assert!((0.001..0.05).contains(&never.mean.get()), "{never:?}");
        assert!((1.0..5.0).contains(&always.mean.get()), "{always:?}");
        assert!(never.mean < unseen.mean);
        assert!(unseen.mean < always.mean);
    }

    #[test]
    fn a_page_without_visits_has_the_prior() {
        let learned = learn_prior(classes(), &[daily(3, 7), daily(0, 9)], 1.0, 5);
        let prior: Vec<f64> = daily(0, 0).posterior(&learned).expect("a prior");
        let mean: f64 = prior.iter().zip(learned.rates()).map(|(prior, rate)| prior * rate.get()).sum();
        assert!((belief(&daily(0, 0), &learned).mean.get() / mean - 1.0).abs() < 1e-12);
    }

    #[test]
    fn no_round_makes_the_visits_less_likely() {
        let pages: Vec<_> = (0..40).map(|page| daily(page % 13, (7 * page) % 17)).collect();
        let strength = 2.0;
        // ln of the likelihood of all visits and of the even prior, from the posteriors of the slowest class.
        let log_likelihood = |classes: &RateClasses| {
            let prior: Vec<f64> = daily(0, 0).posterior(classes).expect("a prior");
            let page_likelihood = |page: &ClassEvidence<Vec<f64>>| {
                let terms = prior.iter().zip(classes.rates()).zip(page.log_likelihoods());
                terms
                    .map(|((prior, rate), log)| prior * (log - rate.get() * page.unchanged().get()).exp())
                    .sum::<f64>()
                    .ln()
            };
            let even: f64 = prior.iter().map(|prior| prior.ln() * strength / CLASSES as f64).sum();
            pages.iter().map(page_likelihood).sum::<f64>() + even
        };
        let mut classes = classes();
        for _ in 0..10 {
            let before = log_likelihood(&classes);
            classes = learn_prior(classes, &pages, strength, 1);
            assert!(log_likelihood(&classes) >= before - 1e-9);
        }
    }

    #[test]
    fn intervals_hold_the_true_rate_about_as_often_as_they_say() {
        let mut random = ChaCha8Rng::seed_from_u64(5);
        let mut draw = || {
            let rate = (-6.0 + 7.0 * random.random::<f64>()).exp();
            let changed = (0..20).filter(|_| random.random::<f64>() < -(-rate).exp_m1()).count();
            (ChangesPerDay::new(rate), daily(changed, 20 - changed))
        };
        let (rates, pages): (Vec<_>, Vec<_>) = (0..1_000).map(|_| draw()).unzip();
        let learned = learn_prior(classes(), &pages, 5.0, 20);
        let held =
            rates.iter().zip(&pages).filter(|(rate, page)| belief(page, &learned).interval.contains(**rate));
        let held = held.count();
        assert!((920..=990).contains(&held), "{held}");
    }

    #[test]
    fn outlooks_rise_around_the_mean() {
        let belief = belief(&daily(4, 16), &classes());
        assert!(belief.outlooks.is_sorted_by(|one, next| one < next), "{belief:?}");
        let mean = belief.outlooks.iter().map(|rate| rate.get()).sum::<f64>() / OUTLOOKS as f64;
        assert!((mean / belief.mean.get() - 1.0).abs() < 0.02, "{mean} {belief:?}");
        assert!(belief.interval.low().get() < belief.outlooks[0].get());
        assert!(belief.interval.high().get() > belief.outlooks[OUTLOOKS - 1].get());
    }

    #[test]
    fn a_sure_rate_lies_in_its_class() {
        let belief = belief(&daily(40_000, 60_000), &classes());
        // -ln 0.6, with classes that are an eighth apart.
        let rate = 0.510_825_623_765_990_7;
        assert!((belief.mean.get() / rate - 1.0).abs() < 0.08, "{belief:?}");
        assert!(belief.interval.high().get() / belief.interval.low().get() < 1.3, "{belief:?}");
    }
}
