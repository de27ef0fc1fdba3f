//! How fresh and how old a collection is under an allocation.

use super::Pages;
use crate::numerics::{mean_age_fraction, mean_survival};
use crate::units::{Days, VisitsPerDay};

/// In which order the pages of a round are visited (thesis, section 5.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VisitOrder {
    /// The same order in every round.
    Fixed,
}

/// Freshness and age of a collection, averaged over time and over its pages, each page counted with its importance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CollectionQuality {
    /// Fraction of the collection that is up to date.
    pub freshness: f64,
    /// Mean time since a copy stopped being up to date.
    pub age: Days,
}

/// The quality of the collection when its pages are visited this often.
pub fn evaluate(
    pages: &Pages<'_>,
    visit_frequencies: &[VisitsPerDay],
    _order: VisitOrder,
) -> CollectionQuality {
    assert_eq!(pages.len(), visit_frequencies.len());
    let (mut weight, mut freshness, mut age) = (0.0, 0.0, 0.0);
    for (page, visit_frequency) in visit_frequencies.iter().enumerate() {
        let (w, rate, f) = (pages.importance(page), pages.change_rate(page), visit_frequency.get());
        if w == 0.0 {
            continue;
        }
        weight += w;
        if rate == 0.0 {
            freshness += w;
        } else if f == 0.0 {
            age = f64::INFINITY;
        } else {
            freshness += w * mean_survival(rate / f);
            age += w * mean_age_fraction(rate / f) / f;
        }
    }
    CollectionQuality { freshness: freshness / weight, age: Days::new(age / weight) }
}
