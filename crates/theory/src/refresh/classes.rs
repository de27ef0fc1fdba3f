//! A plan from a histogram: what a budget buys, in microseconds, whatever the number of pages.
//!
//! By the scaling of the thesis (Theorem 5.5) the optimal frequency of a page depends on μλ/w alone:
//!
//! > f = (w/μ) φ(u),  u = μλ/w,  φ(u) = u/g⁻¹(u) for 0 < u < 1 and 0 from 1 on,  freshness (1 − e^-x)/x at x = g⁻¹(u)
//!
//! So one table of φ serves all pages, and a histogram of importance over classes of λ/w all budgets: the demand at μ is one sum over
//! the classes. A page that changes its class costs two additions.
//!
//! # Promises
//! - The freshness of a plan is within 0.1% of that of the exact allocation.
//! - Adding a page and removing it leaves the histogram as it was, up to rounding.
//! - Pages that never change need no visit and are always fresh.
//!
//! # Departures
//! The ratio of a class is the mean of its pages' logarithms, weighted with their importance, instead of its middle.

use std::sync::LazyLock;

use crate::numerics::{freshness_gain_inverse, mean_survival};
use crate::units::{ChangesPerDay, VisitsPerDay};

/// Classes of λ/w.
const CLASSES: usize = 512;
/// ln of the lowest and highest λ/w that are told apart: from a change in ten million years to a million a second.
const LOG_RATIOS: (f64, f64) = (-22.0, 25.0);
/// Points of a table of φ, evenly spaced in √u, in which φ is nearly straight.
const POINTS: usize = 2048;
/// Halvings of the search for μ, in logarithms.
const HALVINGS: usize = 60;

/// Importance of pages by class of λ/w.
#[derive(Clone, Debug)]
pub struct ClassHistogram {
    importance: Vec<f64>,
    /// Sum of importance times ln(λ/w).
    log_ratio: Vec<f64>,
    unchanging: f64,
}

/// What a budget buys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClassPlan {
    /// μ: the freshness that one more visit a day gains. Zero when the budget is more than all pages can use.
    pub marginal_gain: f64,
    /// Mean freshness of all pages, each counted with its importance.
    pub freshness: f64,
}

impl Default for ClassHistogram {
    fn default() -> Self {
        Self { importance: vec![0.0; CLASSES], log_ratio: vec![0.0; CLASSES], unchanging: 0.0 }
    }
}

impl ClassHistogram {
    /// No page yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts a page. Panics unless its importance is finite and not negative.
    pub fn add(&mut self, change_rate: ChangesPerDay, importance: f64) {
        assert!(importance.is_finite());
        assert!(0.0 <= importance);
        self.count(change_rate, importance, importance);
    }

    /// Takes a page out that was added with the same rate and importance.
    pub fn remove(&mut self, change_rate: ChangesPerDay, importance: f64) {
        self.count(change_rate, importance, -importance);
    }

    fn count(&mut self, change_rate: ChangesPerDay, importance: f64, change: f64) {
        if importance == 0.0 {
            return;
        }
        if change_rate == ChangesPerDay::ZERO {
            self.unchanging += change;
            return;
        }
        let log_ratio = (change_rate.get() / importance).ln().clamp(LOG_RATIOS.0, LOG_RATIOS.1);
        let class = class_of(log_ratio);
        self.importance[class] += change;
        self.log_ratio[class] += change * log_ratio;
    }

    /// The optimal plan for a budget. Panics if the budget is zero.
    pub fn plan(&self, visit_budget: VisitsPerDay) -> ClassPlan {
        assert!(visit_budget > VisitsPerDay::ZERO);
        let classes: Vec<(f64, f64)> = self
            .importance
            .iter()
            .zip(&self.log_ratio)
            .filter(|(importance, _)| **importance > 0.0)
            .map(|(importance, log_ratio)| (*importance, (log_ratio / importance).exp()))
            .collect();
        let (mut low, mut high) = (-LOG_RATIOS.1 - 60.0, -LOG_RATIOS.0 + 1.0);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if demand(&classes, middle.exp()) > visit_budget.get() { low = middle } else { high = middle }
        }
        let price = (0.5 * (low + high)).exp();
        let fresh: f64 =
            classes.iter().map(|(importance, ratio)| importance * TABLE.freshness(price * ratio)).sum();
        let changing: f64 = classes.iter().map(|(importance, _)| importance).sum();
        let total = changing + self.unchanging.max(0.0);
        ClassPlan {
            marginal_gain: price,
            freshness: if total > 0.0 { (fresh + self.unchanging.max(0.0)) / total } else { 1.0 },
        }
    }
}

impl ClassPlan {
    /// How often the plan visits a page.
    pub fn visit_frequency(&self, change_rate: ChangesPerDay, importance: f64) -> VisitsPerDay {
        if importance == 0.0 || change_rate == ChangesPerDay::ZERO {
            return VisitsPerDay::ZERO;
        }
        let u = self.marginal_gain * change_rate.get() / importance;
        VisitsPerDay::new(importance / self.marginal_gain * TABLE.frequency(u))
    }
}

/// Visits a day that all classes ask for at a price.
fn demand(classes: &[(f64, f64)], price: f64) -> f64 {
    classes.iter().map(|(importance, ratio)| importance * TABLE.frequency(price * ratio)).sum::<f64>() / price
}

fn class_of(log_ratio: f64) -> usize {
    let part = (log_ratio - LOG_RATIOS.0) / (LOG_RATIOS.1 - LOG_RATIOS.0);
    ((part * CLASSES as f64) as usize).min(CLASSES - 1)
}

/// φ and the freshness at evenly spaced √u.
struct PhiTable {
    frequency: Vec<f64>,
    freshness: Vec<f64>,
}

static TABLE: LazyLock<PhiTable> = LazyLock::new(|| {
    let u = |point: usize| (point as f64 / POINTS as f64).powi(2);
    let changes = |point| freshness_gain_inverse(u(point));
    let frequency = |point| if point == 0 { 0.0 } else { u(point) / changes(point) };
    PhiTable {
        frequency: (0..=POINTS).map(frequency).collect(),
        freshness: (0..=POINTS).map(|point| mean_survival(changes(point))).collect(),
    }
});

impl PhiTable {
    fn frequency(&self, u: f64) -> f64 {
        interpolate(&self.frequency, u)
    }

    fn freshness(&self, u: f64) -> f64 {
        interpolate(&self.freshness, u)
    }
}

/// Linear in √u between the points; the last value from u = 1 on, which is zero in both columns.
fn interpolate(column: &[f64], u: f64) -> f64 {
    let place = u.sqrt() * POINTS as f64;
    if place >= POINTS as f64 {
        return column[POINTS];
    }
    let point = place as usize;
    let part = place - point as f64;
    column[point] + part * (column[point + 1] - column[point])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::freshness::order::Order;
    use crate::refresh::{Constraints, Objective, Pages, allocate, evaluate};
    use proptest::prelude::*;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng as _;

    fn web(pages: usize, seed: u64) -> (Vec<ChangesPerDay>, Vec<f64>) {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut spread = |low: f64, high: f64| 10f64.powf(low + (high - low) * random.random::<f64>());
        (0..pages).map(|_| (ChangesPerDay::new(spread(-5.0, 3.0)), spread(-1.0, 1.0))).unzip()
    }

    #[test]
    fn the_freshness_is_that_of_the_exact_allocation_within_a_thousandth() {
        let (change_rates, importance) = web(20_000, 1);
        let mut histogram = ClassHistogram::new();
        for (rate, importance) in change_rates.iter().zip(&importance) {
            histogram.add(*rate, *importance);
        }
        for share in [0.001, 0.01, 0.1, 1.0, 10.0] {
            let budget = VisitsPerDay::new(share * 20_000.0);
            let pages = Pages { change_rates: &change_rates, importance: Some(&importance), costs: None };
            let exact = allocate(&pages, Objective::Freshness, &Constraints::budget(budget));
            let exact = evaluate(&pages, &exact.visit_frequencies, Order::Fixed).freshness;
            let plan = histogram.plan(budget);
            assert!((plan.freshness / exact - 1.0).abs() < 1e-3, "{share}: {} and {exact}", plan.freshness);
            let spent: f64 = change_rates
                .iter()
                .zip(&importance)
                .map(|(rate, importance)| plan.visit_frequency(*rate, *importance).get())
                .sum();
            assert!((spent / budget.get() - 1.0).abs() < 0.02, "{share}: {spent}");
        }
    }

    #[test]
    fn pages_that_never_change_are_fresh_without_visits() {
        let mut histogram = ClassHistogram::new();
        histogram.add(ChangesPerDay::ZERO, 3.0);
        histogram.add(ChangesPerDay::new(1e6), 1.0);
        let plan = histogram.plan(VisitsPerDay::new(1e-3));
        assert!((plan.freshness - 0.75).abs() < 1e-6, "{plan:?}");
        assert_eq!(plan.visit_frequency(ChangesPerDay::ZERO, 3.0), VisitsPerDay::ZERO);
    }

    proptest! {
        #[test]
        fn what_is_added_and_removed_leaves_no_trace(exponent in -8.0..6.0f64, importance in 0.01..100.0f64) {
            let mut histogram = ClassHistogram::new();
            histogram.add(ChangesPerDay::new(1.0), 1.0);
            let before = histogram.plan(VisitsPerDay::new(1.0));
            let rate = ChangesPerDay::new(10f64.powf(exponent));
            histogram.add(rate, importance);
            histogram.remove(rate, importance);
            let after = histogram.plan(VisitsPerDay::new(1.0));
            prop_assert!((after.freshness - before.freshness).abs() < 1e-9);
        }
    }
}
