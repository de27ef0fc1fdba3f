//! Freshness and age of a collection under an allocation.
//!
//! Implements the thesis, Definition 5.4, with the averages over time of Table 5.2: each page is visited at
//! its own frequency in one of the orders of section 5.4, and is weighted by its importance.
//!
//! # Promises
//! - A page without importance does not count; a collection in which no page counts is fresh.
//! - The result does not depend on the number of threads.
//!
//! # Departures
//! None.

use rayon::prelude::*;

use super::market::CHUNK;
use super::pages::{Pages, check_columns};
use crate::freshness::measure::{FreshnessAndAge, collection_mean};
use crate::freshness::order::{Order, time_average};
use crate::units::VisitsPerDay;

/// Freshness and age of the collection when its pages are visited this often in this order.
///
/// Panics if columns differ in length, or if an importance or a cost is out of its range.
pub fn evaluate(pages: &Pages<'_>, visit_frequencies: &[VisitsPerDay], order: Order) -> FreshnessAndAge {
    assert_eq!(pages.len(), visit_frequencies.len());
    let largest = check_columns(pages.len(), pages.importance, pages.costs).max;
    let chunk = |(chunk, visit_frequencies): (usize, &[VisitsPerDay])| {
        let page = |(page, visit_frequency): (usize, &VisitsPerDay)| {
            let change_rate = pages.change_rates[page];
            (pages.importance(page), time_average(order, change_rate, *visit_frequency))
        };
        let pages: Vec<_> = (chunk * CHUNK..).zip(visit_frequencies).map(page).collect();
        // Relative to the largest, importances can neither all overflow nor all underflow.
        let importance =
            pages.iter().map(|(importance, _)| importance / largest).sum::<f64>().max(f64::MIN_POSITIVE);
        collection_mean(pages.iter().copied()).map(|mean| (importance, mean))
    };
    let chunks: Vec<_> = visit_frequencies.par_chunks(CHUNK).enumerate().filter_map(chunk).collect();
    collection_mean(chunks.iter().copied()).unwrap_or(FreshnessAndAge::ALWAYS_FRESH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::ChangesPerDay;

    #[track_caller]
    fn check(importance: Option<&[f64]>, visits: &[f64], freshness: f64, age: f64) {
        let change_rates = [4.0, 3.0, 2.0].map(ChangesPerDay::new);
        let visits: Vec<_> = visits.iter().copied().map(VisitsPerDay::new).collect();
        let pages = Pages { change_rates: &change_rates, importance, costs: None };
        let got = evaluate(&pages, &visits, Order::Fixed);
        assert!((got.freshness - freshness).abs() < 1e-14, "{got:?}");
        assert!(got.age.get() == age || (got.age.get() - age).abs() < 1e-14, "{got:?}");
    }

    #[test]
    fn the_uniform_policy_beats_the_proportional_one_on_three_pages() {
        check(None, &[3.0, 3.0, 3.0], 0.6380990088976248, 0.043462072312792165);
        check(None, &[4.0, 3.0, 2.0], 0.6321205588285577, 0.04771020179920138);
    }

    #[test]
    fn importance_weighs_and_its_lack_excludes() {
        check(Some(&[1.0, 2.0, 5.0]), &[3.0, 3.0, 3.0], 0.6832393589157351, 0.037605214097931654);
        check(Some(&[0.0, 0.0, 1e300]), &[0.0, 0.0, 2.0], 0.6321205588285577, 0.06606027941427885);
        check(Some(&[0.0, 0.0, 0.0]), &[0.0, 0.0, 0.0], 1.0, 0.0);
        check(None, &[0.0, 0.0, 0.0], 0.0, f64::INFINITY);
    }

    #[test]
    fn many_pages_have_the_mean_of_one_when_all_are_equal() {
        let change_rates = vec![ChangesPerDay::new(2.0); 3 * CHUNK + 7];
        let visits = vec![VisitsPerDay::new(2.0); change_rates.len()];
        let got = evaluate(&Pages::new(&change_rates), &visits, Order::Fixed);
        assert!((got.freshness - 0.6321205588285577).abs() < 1e-13, "{got:?}");
    }
}
