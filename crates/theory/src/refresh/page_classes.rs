//! Allocation to classes of pages, when all pages together are visited once per interval on average.
//!
//! Implements the thesis, section 5.7 (Table 5.7): classes hold fractions pᵢ of the pages, each with one
//! change rate, and the visits per page and day of a class are fᵢ, with
//!
//! > Σ pᵢ fᵢ = 1/I
//!
//! A class is planned for like one page whose importance and cost are both its fraction.
//!
//! # Promises
//! - The fractions are relative: only their ratios matter.
//! - A class without pages gets the frequency that a page of its rate would get.
//!
//! # Departures
//! None. The text prints 0.12 for the freshness of the proportional policy; it is 0.1287.

use super::allocation::{Objective, allocate, proportional, uniform};
use super::pages::{Constraints, Pages};
use crate::units::{ChangesPerDay, Days, VisitsPerDay};

/// How visits are allocated to the classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllocationPolicy {
    /// The same frequency for every page (thesis, section 5.5.1).
    Uniform,
    /// Frequencies proportional to the change rates (the same section).
    Proportional,
    /// The best frequencies for an objective (section 5.5.4).
    Optimal(Objective),
}

/// Visit frequency of the pages of each class.
///
/// Panics if the lengths differ, if a fraction is negative or not finite, if all are zero, or if the
/// interval is zero or infinite.
pub fn allocate_to_classes(
    fractions: &[f64],
    change_rates: &[ChangesPerDay],
    visit_interval: Days,
    policy: AllocationPolicy,
) -> Vec<VisitsPerDay> {
    assert_eq!(fractions.len(), change_rates.len());
    assert!(fractions.iter().all(|fraction| fraction.is_finite() && 0.0 <= *fraction));
    let largest = fractions.iter().copied().fold(0.0, f64::max);
    assert!(0.0 < largest);
    assert!(Days::ZERO < visit_interval);
    assert!(visit_interval < Days::FOREVER);
    // A class without pages gets a tiny share instead of zero, so that it has a frequency too.
    let shares: Vec<f64> = fractions.iter().map(|fraction| (fraction / largest).max(SHARE_MIN)).collect();
    let budget = (shares.iter().sum::<f64>() / visit_interval.get()).min(f64::MAX);
    let constraints = Constraints::budget(VisitsPerDay::new(budget));
    let pages = Pages { change_rates, importance: Some(&shares), costs: Some(&shares) };
    let allocation = match policy {
        AllocationPolicy::Uniform => uniform(&pages, &constraints),
        AllocationPolicy::Proportional => proportional(&pages, &constraints),
        AllocationPolicy::Optimal(objective) => allocate(&pages, objective, &constraints),
    };
    allocation.visit_frequencies
}

/// The share of a class without pages, too small to affect any sum.
const SHARE_MIN: f64 = 1e-30;

#[cfg(test)]
mod tests {
    use super::*;

    /// Fractions and rates of Figure 4.2, as the thesis uses them.
    const FRACTIONS: [f64; 5] = [0.23, 0.15, 0.16, 0.16, 0.3];
    const INTERVALS: [f64; 5] = [1.0, 7.0, 30.0, 120.0, 365.0];

    #[track_caller]
    fn check(policy: AllocationPolicy, expected: [f64; 5]) {
        let rates = INTERVALS.map(|interval| ChangesPerDay::new(1.0 / interval));
        for scale in [1.0, 1e-5, 1e200] {
            let fractions = FRACTIONS.map(|fraction| fraction * scale);
            let got = allocate_to_classes(&fractions, &rates, Days::new(30.0), policy);
            for (got, expected) in got.iter().zip(expected) {
                assert!((got.get() - expected).abs() < 1e-10, "{got:?}, not {expected}");
            }
        }
    }

    #[test]
    fn the_policies_share_as_the_text_says() {
        check(AllocationPolicy::Uniform, [1.0 / 30.0; 5]);
        check(
            AllocationPolicy::Proportional,
            [0.128_741_308_072, 0.018_391_615_439, 0.004_291_376_936, 0.001_072_844_234, 0.000_352_715_913],
        );
        check(
            AllocationPolicy::Optimal(Objective::Freshness),
            [0.0, 0.087_581_718_193, 0.058_145_452_217, 0.032_162_176_126, 0.019_156_183_565],
        );
        check(
            AllocationPolicy::Optimal(Objective::Age),
            [0.051_717_209_101, 0.047_096_338_340, 0.035_011_696_450, 0.023_593_823_714, 0.016_656_804_210],
        );
    }

    #[test]
    fn a_class_without_pages_gets_what_a_page_of_its_rate_would() {
        let rates = [2.0, 1.0, 1.0].map(ChangesPerDay::new);
        let policy = AllocationPolicy::Optimal(Objective::Freshness);
        let got = allocate_to_classes(&[0.5, 0.5, 0.0], &rates, Days::new(1.0), policy);
        assert!((got[1].get() - got[2].get()).abs() < 1e-12, "{got:?}");
    }
}
