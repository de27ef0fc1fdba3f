//! Fast replanning from sums over classes of pages: a new price in less than a millisecond,
//! whatever the number of pages.
//!
//! By the scaling property (thesis, Theorem 5.5, with the weights of section 5.6) the visits of a page are
//! f = (w/μ) φ(μ λ/w) with one function φ. So pages with the same ratio λ/w share like one page that has the
//! sums of their rates and of their importances. Pages are counted in classes of nearly equal ratio, and each
//! class is planned for as that one page. A page that comes, goes or changes its rate costs two additions.
//!
//! # Promises
//! - Freshness within 0.1 % of the exact plan's: within a class the ratio is that of the sums, so the error
//!   is of second order in the width of a class.
//! - A page that is added and removed again leaves the sums as they were, up to rounding. The sums of a class
//!   without pages are exactly zero.
//!
//! # Departures
//! The classes keep the sum of the rates in addition to that of the importances, instead of the middle of the
//! class. For one more addition per change the error falls by an order of magnitude.

use super::allocation::{Objective, allocate};
use super::collection::evaluate;
use super::inverse::FreshnessCurve;
use super::pages::{Constraints, Pages};
use crate::freshness::order::Order;
use crate::units::{ChangesPerDay, VisitsPerDay};

/// Number of classes.
pub const CLASSES: usize = 512;

/// Sums of rates and importances over the pages of each class, by the ratio of change rate to importance.
#[derive(Clone, Debug)]
pub struct RateClasses {
    log_ratio_min: f64,
    classes_per_log: f64,
    classes: Vec<Class>,
    /// Importance of the pages that never change; they take no visits and are always fresh.
    unchanging: f64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Class {
    pages: u64,
    importance: f64,
    change_rate: f64,
}

/// Result of planning from classes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClassPlan {
    /// The gain of one more visit a day, in units of importance times freshness: the
    /// price at which a page is due.
    pub marginal_gain: f64,
    /// Mean freshness of the pages, weighted by importance; one when no page has importance.
    pub freshness: f64,
}

impl RateClasses {
    /// Creates empty classes for ratios of change rate to importance from the lowest to the highest. Ratios
    /// outside count with their sums in the outermost classes.
    ///
    /// Panics unless 0 < `ratio_min` < `ratio_max`, both finite.
    pub fn new(ratio_min: f64, ratio_max: f64) -> Self {
        assert!(0.0 < ratio_min);
        assert!(ratio_min < ratio_max);
        assert!(ratio_max.is_finite());
        let width = ratio_max.ln() - ratio_min.ln();
        Self {
            log_ratio_min: ratio_min.ln(),
            classes_per_log: CLASSES as f64 / width,
            classes: vec![Class::default(); CLASSES],
            unchanging: 0.0,
        }
    }

    /// Adds a page.
    ///
    /// Panics unless the importance is finite and not negative.
    pub fn add(&mut self, change_rate: ChangesPerDay, importance: f64) {
        if let Some(class) = self.class(change_rate, importance) {
            class.pages += 1;
            class.importance += importance;
            class.change_rate += change_rate.get();
        } else {
            self.unchanging += importance;
        }
    }

    /// Removes a page that was added with the same rate and importance.
    ///
    /// Panics unless the importance is finite and not negative, and if the class of the page is empty.
    pub fn remove(&mut self, change_rate: ChangesPerDay, importance: f64) {
        if let Some(class) = self.class(change_rate, importance) {
            assert!(0 < class.pages);
            class.pages -= 1;
            class.importance -= importance;
            class.change_rate -= change_rate.get();
            if class.pages == 0 {
                // The class is empty: remove what rounding has left.
                *class = Class::default();
            }
        } else {
            self.unchanging = (self.unchanging - importance).max(0.0);
        }
    }

    /// The optimal plan for freshness.
    pub fn plan(&self, visit_budget: VisitsPerDay) -> ClassPlan {
        let occupied =
            || self.classes.iter().filter(|class| class.importance > 0.0 && class.change_rate > 0.0);
        let change_rates: Vec<_> = occupied().map(|class| ChangesPerDay::new(class.change_rate)).collect();
        let importance: Vec<_> = occupied().map(|class| class.importance).collect();
        let pages = Pages { change_rates: &change_rates, importance: Some(&importance), costs: None };
        let allocation = allocate(&pages, Objective::Freshness, &Constraints::budget(visit_budget));
        let changing = evaluate(&pages, &allocation.visit_frequencies, Order::Fixed).freshness;
        let importance: f64 = importance.iter().sum();
        let all = importance + self.unchanging;
        let freshness = if all > 0.0 { (changing * importance + self.unchanging) / all } else { 1.0 };
        ClassPlan { marginal_gain: allocation.marginal_gain, freshness }
    }

    /// The class of a page, if it changes and has importance.
    fn class(&mut self, change_rate: ChangesPerDay, importance: f64) -> Option<&mut Class> {
        assert!(importance.is_finite());
        assert!(0.0 <= importance);
        if change_rate == ChangesPerDay::ZERO || importance == 0.0 {
            return None;
        }
        let position = (change_rate.get().ln() - importance.ln() - self.log_ratio_min) * self.classes_per_log;
        // The cast saturates, so that ratios out of range fall into the outermost classes.
        Some(&mut self.classes[(position as usize).min(CLASSES - 1)])
    }
}

impl ClassPlan {
    /// Visit frequency of a page under this plan.
    pub fn visit_frequency(&self, change_rate: ChangesPerDay, importance: f64) -> VisitsPerDay {
        let gain = self.marginal_gain * change_rate.get() / importance;
        let is_worth = 0.0 < gain && gain < 1.0;
        if !is_worth {
            return VisitsPerDay::ZERO;
        }
        let changes_per_visit = FreshnessCurve::get().at_log_complement(-(-gain).ln_1p());
        VisitsPerDay::new((change_rate.get() / changes_per_visit).min(f64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    const PAGES: usize = 20_000;

    fn some_pages() -> (Vec<ChangesPerDay>, Vec<f64>) {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let mut spread = |low: f64, high: f64| 10f64.powf(random.random_range(low..high));
        let rates = (0..PAGES).map(|_| ChangesPerDay::new(spread(-5.0, 3.0))).collect();
        (rates, (0..PAGES).map(|_| spread(-2.0, 1.0)).collect())
    }

    fn classes(rates: &[ChangesPerDay], importance: &[f64]) -> RateClasses {
        let mut classes = RateClasses::new(1e-6, 1e5);
        rates.iter().zip(importance).for_each(|(rate, importance)| classes.add(*rate, *importance));
        classes
    }

    #[test]
    fn the_plan_is_within_a_thousandth_of_the_exact_one() {
        let (rates, importance) = some_pages();
        let classes = classes(&rates, &importance);
        let pages = Pages { change_rates: &rates, importance: Some(&importance), costs: None };
        for visits_per_page in [1e-4, 1e-2, 0.3, 10.0, 1e3] {
            let budget = VisitsPerDay::new(visits_per_page * PAGES as f64);
            let exact = allocate(&pages, Objective::Freshness, &Constraints::budget(budget));
            let exact_freshness = evaluate(&pages, &exact.visit_frequencies, Order::Fixed).freshness;
            let plan = classes.plan(budget);
            assert!((plan.freshness / exact_freshness - 1.0).abs() < 1e-3, "{plan:?}, not {exact_freshness}");
            // Visited as the plan says, the pages themselves have the same freshness and take the budget.
            let visits: Vec<_> =
                rates.iter().zip(&importance).map(|(rate, w)| plan.visit_frequency(*rate, *w)).collect();
            let spent: f64 = visits.iter().map(|visits| visits.get()).sum();
            assert!((spent / budget.get() - 1.0).abs() < 1e-2, "{spent} of {budget:?}");
            let freshness = evaluate(&pages, &visits, Order::Fixed).freshness;
            assert!((freshness / exact_freshness - 1.0).abs() < 2e-3, "{freshness}, not {exact_freshness}");
        }
    }

    #[test]
    fn pages_that_come_and_go_leave_the_plan_as_it_was() {
        let (rates, importance) = some_pages();
        let mut classes = classes(&rates, &importance);
        let budget = VisitsPerDay::new(1000.0);
        let before = classes.plan(budget);
        let other = [(3.0, 0.1), (0.0, 5.0), (1e-9, 1.0), (1e9, 1.0)];
        other.iter().for_each(|(rate, importance)| classes.add(ChangesPerDay::new(*rate), *importance));
        assert!((classes.plan(budget).freshness - before.freshness).abs() > 1e-6);
        other.iter().for_each(|(rate, importance)| classes.remove(ChangesPerDay::new(*rate), *importance));
        let after = classes.plan(budget);
        assert!((after.freshness / before.freshness - 1.0).abs() < 1e-12);
        for (rate, importance) in rates.iter().zip(&importance) {
            classes.remove(*rate, *importance);
        }
        assert_eq!(classes.plan(budget), ClassPlan { marginal_gain: 0.0, freshness: 1.0 });
    }

    #[test]
    fn pages_that_never_change_are_fresh_without_visits() {
        let mut classes = RateClasses::new(0.01, 100.0);
        classes.add(ChangesPerDay::ZERO, 3.0);
        classes.add(ChangesPerDay::new(1.0), 1.0);
        let plan = classes.plan(VisitsPerDay::new(1.0));
        assert!((plan.freshness - (3.0 + 0.6321205588285577) / 4.0).abs() < 1e-12, "{plan:?}");
        assert_eq!(plan.visit_frequency(ChangesPerDay::ZERO, 3.0), VisitsPerDay::ZERO);
    }
}
