//! Survival of a page whose rate is a mixture of classes: S(t) = Σ pⱼ e^-λⱼt.
//!
//! The Bayesian estimator of **estimate**, section 6, gives such a mixture: a probability for each class of
//! rates. The index is the mean of those of the classes, Σ pⱼ g(λⱼt)/λⱼ with g(x) = 1 − (1 + x)e^-x, and its
//! ceiling is Σ pⱼ/λⱼ over the classes that change at all.
//!
//! # Promises
//! - Those of [`super::law`]. One class is the Poisson law; a class that never changes
//!   adds nothing to the index.

use super::law::{Survival, solve};
use super::poisson::PoissonSurvival;
use crate::refresh::inverse::log_complement_of_freshness;
use crate::units::{ChangesPerDay, Days};

/// Survival of a copy of a page that belongs to one of several classes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClassMixture<'a> {
    change_rates: &'a [ChangesPerDay],
    probabilities: &'a [f64],
    probability_sum: f64,
    unit: f64,
}

impl<'a> ClassMixture<'a> {
    /// Creates the mixture from the rate of each class and its probability. The
    /// probabilities need not add up to one.
    ///
    /// Panics if the lengths differ, if a probability is negative or not finite, or if all are zero.
    pub fn new(change_rates: &'a [ChangesPerDay], probabilities: &'a [f64]) -> Self {
        assert_eq!(change_rates.len(), probabilities.len());
        assert!(probabilities.iter().all(|probability| 0.0 <= *probability));
        let probability_sum: f64 = probabilities.iter().sum();
        assert!(probability_sum.is_finite());
        assert!(0.0 < probability_sum);
        Self { change_rates, probabilities, probability_sum, unit: 1.0 }
    }

    /// The classes with a probability above zero.
    fn classes(&self) -> impl Iterator<Item = (f64, PoissonSurvival)> {
        let class = |(rate, probability): (&ChangesPerDay, &f64)| {
            let law = PoissonSurvival { change_rate: *rate };
            (probability / self.probability_sum, law.in_units_of(self.unit))
        };
        self.change_rates
            .iter()
            .zip(self.probabilities)
            .map(class)
            .filter(|(probability, _)| *probability > 0.0)
    }

    fn mean(&self, of: impl Fn(&PoissonSurvival) -> f64) -> f64 {
        self.classes().map(|(probability, law)| probability * of(&law)).sum()
    }

    /// Sums over the classes that change: the distance of the index to the ceiling and its rate of
    /// decrease, both times e^`scale`.
    fn tail(&self, time: Days) -> Tail {
        let changing = || self.classes().filter(|(_, law)| law.change_rate > ChangesPerDay::ZERO);
        let scale = changing().map(|(_, law)| law.log_complement(time)).fold(f64::INFINITY, f64::min);
        let mut tail = Tail { missing: 0.0, falling: 0.0, scale };
        for (probability, law) in changing() {
            let x = law.change_rate.get() * time.get();
            let weight = probability * law.index_ceiling();
            // (1 + x)e^-x and x²e^-x, relative to the slowest class.
            let missing = weight * (scale - log_complement_of_freshness(x)).exp();
            tail.missing += missing;
            tail.falling += missing * x * x / (1.0 + x);
        }
        tail
    }
}

struct Tail {
    missing: f64,
    falling: f64,
    scale: f64,
}

impl Survival for ClassMixture<'_> {
    fn survival(&self, since_visit: Days) -> f64 {
        self.mean(|class| class.survival(since_visit))
    }

    fn mean_freshness(&self, visit_interval: Days) -> f64 {
        self.mean(|class| class.mean_freshness(visit_interval))
    }

    fn index(&self, since_visit: Days) -> f64 {
        self.mean(|class| class.index(since_visit))
    }

    fn index_ceiling(&self) -> f64 {
        self.mean(PoissonSurvival::index_ceiling)
    }

    fn due_after(&self, index: f64) -> Days {
        assert!(0.0 <= index);
        let ceiling = self.index_ceiling();
        if index == 0.0 {
            return Days::ZERO;
        }
        if index >= ceiling {
            return Days::FOREVER;
        }
        if index > 0.5 * ceiling {
            return self.due_after_log_complement(-((ceiling - index) / ceiling).ln());
        }
        self.due_near(index, Days::new(ceiling)).0
    }

    fn due_after_log_complement(&self, log_complement: f64) -> Days {
        if log_complement == 0.0 || log_complement == f64::INFINITY {
            return Days::new(log_complement);
        }
        let slowest = self.classes().map(|(_, law)| law.index_ceiling()).fold(0.0, f64::max);
        Days::new(solve(slowest * log_complement, |t| {
            let value = self.log_complement(Days::new(t));
            let Tail { missing, falling, .. } = self.tail(Days::new(t));
            (value.ln() - log_complement.ln(), falling / missing / value)
        }))
    }

    fn log_complement(&self, since_visit: Days) -> f64 {
        let ceiling = self.index_ceiling();
        let part = self.index(since_visit) / ceiling;
        if part < 0.5 {
            return -(-part).ln_1p();
        }
        if since_visit == Days::FOREVER {
            return f64::INFINITY;
        }
        let Tail { missing, scale, .. } = self.tail(since_visit);
        scale - (missing / ceiling).ln()
    }

    fn growth(&self, since_visit: Days, index: f64) -> f64 {
        self.mean(|class| {
            let own = class.index(since_visit);
            if own == 0.0 { 0.0 } else { own * class.growth(since_visit, own) }
        }) / index
    }

    fn due_near(&self, index: f64, guess: Days) -> (Days, f64) {
        let ceiling = self.index_ceiling();
        if index > 0.5 * ceiling {
            let due = self.due_after(index);
            return (due, if due == Days::FOREVER { f64::INFINITY } else { self.growth(due, index) });
        }
        let start = if guess == Days::FOREVER { ceiling } else { guess.get() };
        let due = Days::new(solve(start, |t| {
            let (time, target) = (Days::new(t), index);
            let index = self.index(time);
            (index.ln() - target.ln(), self.growth(time, index))
        }));
        (due, self.growth(due, index))
    }

    fn in_units_of(&self, unit: f64) -> Self {
        Self { unit: self.unit * unit, ..*self }
    }
}

#[cfg(test)]
mod tests {
    use super::super::law::checks::{check_law, times};
    use super::*;

    const RATES: [f64; 4] = [0.0, 0.01, 0.5, 20.0];

    #[test]
    fn index_and_inverse_agree() {
        let rates = RATES.map(ChangesPerDay::new);
        for probabilities in
            [[0.0, 1.0, 0.0, 0.0], [0.5, 0.2, 0.2, 0.1], [0.0, 1e-6, 0.0, 1.0], [1.0, 3.0, 5.0, 7.0]]
        {
            check_law(&ClassMixture::new(&rates, &probabilities), times().filter(|t| *t < 1e6));
        }
    }

    #[test]
    fn one_class_is_the_poisson_law() {
        let rates = RATES.map(ChangesPerDay::new);
        let mixture = ClassMixture::new(&rates, &[0.0, 0.0, 2.0, 0.0]);
        let poisson = PoissonSurvival { change_rate: rates[2] };
        for t in times() {
            let (time, index) = (Days::new(t), poisson.index(Days::new(t)));
            assert!((mixture.index(time) - index).abs() <= 1e-14 * index);
            assert!((mixture.survival(time) - poisson.survival(time)).abs() <= 1e-14);
        }
    }

    #[test]
    fn a_page_that_surely_never_changes_is_never_due() {
        let rates = RATES.map(ChangesPerDay::new);
        assert_eq!(ClassMixture::new(&rates, &[1.0, 0.0, 0.0, 0.0]).due_after(1e-9), Days::FOREVER);
    }
}
