//! How fresh and how old a collection is when its pages are visited this often.
//!
//! Implements the thesis, Definition 5.4 over the time averages of Table 5.2.
//!
//! # Promises
//! - A page without importance does not count, even if its age is infinite.
//! - A collection in which nothing counts is always fresh.

use super::Pages;
use crate::freshness::measure::{FreshnessAndAge, collection_mean};
use crate::freshness::order::{Order, time_average};
use crate::units::VisitsPerDay;

/// Freshness and age averaged over time and over the pages, each counted with its importance.
///
/// Panics unless there is a frequency for every page.
pub fn evaluate(pages: &Pages<'_>, visit_frequencies: &[VisitsPerDay], order: Order) -> FreshnessAndAge {
    assert_eq!(pages.len(), visit_frequencies.len());
    let page = |(page, visit_frequency): (usize, &VisitsPerDay)| {
        (pages.importance(page), time_average(order, pages.change_rates[page], *visit_frequency))
    };
    collection_mean(visit_frequencies.iter().enumerate().map(page)).unwrap_or(FreshnessAndAge::ALWAYS_FRESH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{ChangesPerDay, Days};

    #[test]
    fn what_does_not_count_may_be_endlessly_old() {
        let change_rates = [ChangesPerDay::new(1.0), ChangesPerDay::new(2.0)];
        let frequencies = [VisitsPerDay::new(1.0), VisitsPerDay::ZERO];
        let quality = |importance: &[f64]| {
            let pages = Pages { change_rates: &change_rates, importance: Some(importance), costs: None };
            evaluate(&pages, &frequencies, Order::Fixed)
        };
        assert_eq!(quality(&[1.0, 1.0]).age, Days::FOREVER);
        assert!((quality(&[1.0, 0.0]).freshness - 0.6321205588285577).abs() < 1e-15);
        assert!(quality(&[1.0, 0.0]).age < Days::FOREVER);
        assert_eq!(quality(&[0.0, 0.0]), FreshnessAndAge::ALWAYS_FRESH);
    }
}
