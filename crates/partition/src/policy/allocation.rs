//! Allocations: how often to visit every page, given its rate of change (the thesis, chapter 5).
//!
//! The mathematics is in [`freshet_theory::refresh`].

use freshet_theory::refresh::{Constraints, Objective, Pages, allocate, proportional, uniform};
use freshet_theory::units::{ChangesPerDay, VisitsPerDay};

/// An allocation of the thesis, chapter 5.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Allocation {
    /// The same frequency for all pages (5.5.1).
    Uniform,
    /// In proportion to the rate of change (5.5.1).
    Proportional,
    /// For the greatest freshness (5.5.4).
    #[default]
    Freshness,
    /// For the least age (5.5.4).
    Age,
    /// For the harmonic objective, which abandons no page.
    Harmonic,
}

/// Distributes a budget of visits per day over the pages.
pub(super) fn visit_frequencies(
    allocation: Allocation,
    change_rates: &[ChangesPerDay],
    visit_budget: VisitsPerDay,
) -> Vec<VisitsPerDay> {
    let pages = Pages::new(change_rates);
    let constraints =
        Constraints { visit_budget, visit_frequency_min: VisitsPerDay::ZERO, host_limits: None };
    let planned = match allocation {
        Allocation::Uniform => uniform(&pages, &constraints),
        Allocation::Proportional => proportional(&pages, &constraints),
        Allocation::Freshness => allocate(&pages, Objective::Freshness, &constraints),
        Allocation::Age => allocate(&pages, Objective::Age, &constraints),
        Allocation::Harmonic => allocate(&pages, Objective::Harmonic, &constraints),
    };
    planned.visit_frequencies
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(allocation: Allocation, expected: [f64; 5]) {
        let rates = [1.0, 2.0, 3.0, 4.0, 5.0].map(ChangesPerDay::new);
        let frequencies = visit_frequencies(allocation, &rates, VisitsPerDay::new(5.0));
        for (frequency, expected) in frequencies.iter().zip(expected) {
            assert!((frequency.get() - expected).abs() < 6e-3, "{allocation:?}: {frequencies:?}");
        }
    }

    #[test]
    fn the_five_pages_of_the_thesis_get_the_visits_of_its_table() {
        check(Allocation::Uniform, [1.0; 5]);
        check(Allocation::Proportional, [0.333, 0.667, 1.0, 1.333, 1.667]);
        check(Allocation::Freshness, [1.15, 1.36, 1.35, 1.14, 0.0]);
        check(Allocation::Age, [0.835, 0.97, 1.03, 1.07, 1.09]);
    }
}
