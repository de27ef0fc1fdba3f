//! Freshness objective for pages with any law of survival.
//!
//! Implements Problem 1 of **summary**, section 5.1, for the laws of [`super::survival`]. The frequency is
//! one divided by the time at which the index, times the importance, reaches the price.
//!
//! # Promises
//! - With the Poisson law the answers are those of the objective freshness.

use super::response::{Answer, Ceiling, Response};
use super::scaled::Units;
use super::survival::law::Survival;
use crate::units::{Days, VisitsPerDay};

/// Pages to plan for, given by their laws of survival. All columns are in the same
/// order and of the same length.
#[derive(Clone, Copy, Debug)]
pub struct LawPages<'a, L> {
    /// The law of survival of each page's copy.
    pub laws: &'a [L],
    /// Importance of each page; all equal when left out. Finite and not negative.
    pub importance: Option<&'a [f64]>,
    /// Cost of one visit to each page in units of the budget; one when left out. Finite and above zero.
    pub costs: Option<&'a [f64]>,
}

impl<L: Survival> LawPages<'_, L> {
    /// Mean freshness when the pages are visited this often, weighted by importance: the fraction of the time
    /// for which they are fresh. `None` when no page has importance.
    ///
    /// Panics if the columns differ in length.
    pub fn mean_freshness(&self, visit_frequencies: &[VisitsPerDay]) -> Option<f64> {
        assert_eq!(visit_frequencies.len(), self.laws.len());
        let importance = |page: usize| self.importance.map_or(1.0, |importance| importance[page]);
        let largest = (0..self.laws.len()).map(importance).fold(0.0, f64::max);
        let (mut sum, mut fresh) = (0.0, 0.0);
        for (page, (law, visit_frequency)) in self.laws.iter().zip(visit_frequencies).enumerate() {
            // Relative to the largest, importances can neither all overflow nor all underflow.
            let importance = importance(page) / largest;
            sum += importance;
            fresh += importance * law.mean_freshness(Days::new(1.0 / visit_frequency.get()));
        }
        (largest > 0.0).then(|| (fresh / sum).min(1.0))
    }
}

/// The response for [`LawPages`], which maximises mean freshness.
pub(super) struct ForSurvival<'a, L> {
    pages: &'a LawPages<'a, L>,
    units: Units,
}

impl<'a, L: Survival> ForSurvival<'a, L> {
    pub(super) fn new(pages: &'a LawPages<'a, L>, units: Units) -> Self {
        Self { pages, units }
    }

    #[inline]
    fn law(&self, page: usize) -> L {
        let law = self.pages.laws[page];
        if self.units.rate == 1.0 { law } else { law.in_units_of(self.units.rate) }
    }

    #[inline]
    fn importance(&self, page: usize) -> f64 {
        self.units.importance(self.pages.importance.map_or(1.0, |importance| importance[page]))
    }
}

impl<L: Survival> Response for ForSurvival<'_, L> {
    #[inline]
    fn pages(&self) -> usize {
        self.pages.laws.len()
    }

    #[inline]
    fn cost(&self, page: usize) -> f64 {
        self.pages.costs.map_or(1.0, |costs| costs[page])
    }

    #[inline]
    fn ceiling(&self, page: usize) -> Ceiling {
        let importance = self.importance(page);
        // Without the branch, an importance of zero times an infinite ceiling would be NaN.
        let value = if importance == 0.0 { 0.0 } else { importance * self.law(page).index_ceiling() };
        Ceiling { value, rest: 0.0 }
    }

    #[inline]
    fn at_price(&self, page: usize, price: f64, guess: f64) -> Answer {
        let guess = if guess > 0.0 { Days::new(1.0 / guess) } else { Days::FOREVER };
        let (due, growth) = self.law(page).due_near(price / self.importance(page), guess);
        Answer { frequency: 1.0 / due.get(), elasticity: 1.0 / growth }
    }

    fn under_ceiling(&self, page: usize, log_complement: f64) -> f64 {
        1.0 / self.law(page).due_after_log_complement(log_complement).get()
    }

    fn log_complement(&self, page: usize, frequency: f64) -> f64 {
        self.law(page).log_complement(Days::new(1.0 / frequency))
    }
}
