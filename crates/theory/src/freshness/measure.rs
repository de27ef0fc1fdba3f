//! Freshness and age of a copy, and their weighted mean over a collection.
//!
//! Implements the thesis, section 5.2.1 (Definitions 5.1 and 5.2, Theorem 5.1) and Definition 5.4:
//!
//! > F(S) = Σ wᵢ F(eᵢ) / Σ wᵢ,  A(S) = Σ wᵢ A(eᵢ) / Σ wᵢ
//!
//! where `wᵢ` is the importance of a page. With equal importance it is the plain mean of Theorem 5.1.
//!
//! # Promises
//! - A page without importance does not count, even if its age is infinite.
//! - Only the ratios of the importances matter, however large or small they are.
//!
//! # Departures
//! None.

use crate::units::Days;

/// Freshness and age of a copy or of a collection, at a time or averaged over time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FreshnessAndAge {
    /// Probability that the copy equals the page, or fraction of the copies that do: 0 to 1.
    pub freshness: f64,
    /// Time since the page first changed after the copy was taken; zero while it has not changed.
    pub age: Days,
}

impl FreshnessAndAge {
    /// The values of a page that never changes.
    pub const ALWAYS_FRESH: Self = Self { freshness: 1.0, age: Days::ZERO };
}

/// Mean over the pages of a collection, each given with its importance. `None` when no page has any
/// importance.
///
/// Panics if an importance is negative, infinite or NaN.
pub fn collection_mean<Pages>(pages: Pages) -> Option<FreshnessAndAge>
where
    Pages: IntoIterator<Item = (f64, FreshnessAndAge), IntoIter: Clone>,
{
    let pages = pages.into_iter();
    let largest = pages.clone().map(|(importance, _)| checked(importance)).fold(0.0, f64::max);
    let counted = || pages.clone().filter(|(importance, _)| *importance > 0.0);
    // Weights relative to the largest can neither all overflow nor all underflow.
    let total: f64 = counted().map(|(importance, _)| importance / largest).sum();
    let mean = |of: fn(FreshnessAndAge) -> f64| -> f64 {
        // Every counted page has a weight above zero, so that an infinite age is not multiplied by zero.
        let weight = |importance: f64| (importance / largest / total).max(f64::MIN_POSITIVE);
        counted().map(|(importance, page)| weight(importance) * of(page)).sum()
    };
    (largest > 0.0).then(|| FreshnessAndAge {
        freshness: mean(|page| page.freshness).min(1.0),
        age: Days::new(mean(|page| page.age.get())),
    })
}

fn checked(importance: f64) -> f64 {
    assert!(importance.is_finite());
    assert!(0.0 <= importance);
    importance
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn page(freshness: f64, age: f64) -> FreshnessAndAge {
        FreshnessAndAge { freshness, age: Days::new(age) }
    }

    #[track_caller]
    fn check(pages: &[(f64, FreshnessAndAge)], expected: Option<FreshnessAndAge>) {
        let got = collection_mean(pages.iter().copied());
        let close = |got: f64, want: f64| got == want || (got - want).abs() <= 1e-14 * want.abs();
        match (got, expected) {
            (Some(got), Some(want)) => {
                assert!(close(got.freshness, want.freshness), "{got:?}");
                assert!(close(got.age.get(), want.age.get()), "{got:?}");
            }
            _ => assert_eq!(got, expected),
        }
    }

    #[test]
    fn the_mean_follows_the_importance() {
        check(&[(1.0, page(0.5, 1.0)), (3.0, page(0.9, 5.0))], Some(page(0.8, 4.0)));
        check(&[(2.5, page(0.5, 1.0))], Some(page(0.5, 1.0)));
    }

    #[test]
    fn a_page_without_importance_does_not_count() {
        let never_visited = page(0.0, f64::INFINITY);
        check(&[(0.0, never_visited), (2.0, page(0.25, 7.0))], Some(page(0.25, 7.0)));
        check(&[(1e-300, never_visited), (2.0, page(1.0, 0.0))], Some(page(1.0, f64::INFINITY)));
        check(&[(5e-324, never_visited), (1e308, page(1.0, 0.0))], Some(page(1.0, f64::INFINITY)));
    }

    #[test]
    fn a_collection_in_which_nothing_counts_has_no_mean() {
        check(&[], None);
        check(&[(0.0, page(1.0, 0.0))], None);
    }

    #[test]
    fn only_the_ratios_of_the_importances_matter() {
        for scale in [f64::MAX / 4.0, 1.0, 1e-320] {
            check(&[(scale, page(0.0, 2.0)), (scale, page(1.0, 4.0))], Some(page(0.5, 3.0)));
        }
        check(&[(1.0, page(1.0, f64::MAX)), (1.0, page(1.0, f64::MAX))], Some(page(1.0, f64::MAX)));
    }

    #[test]
    #[should_panic(expected = "0.0 <= importance")]
    fn a_negative_importance_is_refused() {
        collection_mean([(-1.0, FreshnessAndAge::ALWAYS_FRESH)]);
    }

    proptest! {
        #[test]
        fn the_mean_lies_between_the_pages(
            pages in prop::collection::vec((0.0..10.0f64, 0.0..=1.0f64, 0.0..1e6f64), 1..20),
        ) {
            let pages: Vec<_> = pages.iter().map(|(w, f, a)| (w + 0.01, page(*f, *a))).collect();
            let mean = collection_mean(pages.iter().copied()).expect("every page counts");
            let ages = || pages.iter().map(|(_, page)| page.age.get());
            prop_assert!(mean.age.get() <= ages().fold(0.0, f64::max) * (1.0 + 1e-12));
            prop_assert!(mean.age.get() >= ages().fold(f64::MAX, f64::min) * (1.0 - 1e-12));
            prop_assert!((0.0..=1.0).contains(&mean.freshness));
        }
    }
}
