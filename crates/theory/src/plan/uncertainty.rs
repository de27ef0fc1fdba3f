//! The quality of a plan whose rates are estimates.
//!
//! The rates of all pages are drawn many times, each among the equally likely rates of its page,
//! independently, and each time the quality of the plan is computed as if these were the true rates. What all
//! pages share, such as an error in their common prior, is not drawn.
//!
//! # Promises
//! - The same chance gives the same answer.

use rand::{Rng, RngExt as _};

use crate::estimate::rate::Confidence;
use crate::freshness::order::Order;
use crate::refresh::{Pages, evaluate};
use crate::units::{ChangesPerDay, VisitsPerDay};

/// Most and fewest draws of the rates of all pages: many pages need fewer, since their errors average out.
const DRAWS_MAX: usize = 400;
const DRAWS_MIN: usize = 40;

/// Rates that are drawn in all, as far as [`DRAWS_MIN`] allows. Some seconds of work.
const RATES_DRAWN_MAX: usize = 40_000_000;

/// The quality of a plan over draws of the rates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QualitySpread {
    /// Its freshness.
    pub freshness: Spread,
    /// Its age in days.
    pub age_days: Spread,
}

/// Between which values the wanted share of the draws lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The least of them.
    pub low: f64,
    /// The greatest of them.
    pub high: f64,
}

/// How often the rates of so many pages are drawn. Panics when there is no page.
pub fn draws_for(pages: usize) -> usize {
    (RATES_DRAWN_MAX / pages).clamp(DRAWS_MIN, DRAWS_MAX)
}

/// Draws rates [`draws_for`] these pages, each from the page's place in one of the columns of equally likely
/// rates, and judges the plan under each draw. After each `progress` is called.
///
/// Panics when there is no page or no column.
pub fn spread_of_quality(
    pages: &Pages<'_>,
    outlooks: &[Vec<ChangesPerDay>],
    visit_frequencies: &[VisitsPerDay],
    confidence: Confidence,
    random: &mut impl Rng,
    mut progress: impl FnMut(),
) -> QualitySpread {
    let draws = draws_for(pages.len());
    let (mut freshness, mut age_days) = (Vec::with_capacity(draws), Vec::with_capacity(draws));
    for _ in 0..draws {
        let rate = |page: usize| outlooks[random.random_range(0..outlooks.len())][page];
        let change_rates: Vec<ChangesPerDay> = (0..pages.len()).map(rate).collect();
        let drawn = Pages { change_rates: &change_rates, ..*pages };
        let quality = evaluate(&drawn, visit_frequencies, Order::Fixed);
        freshness.push(quality.freshness);
        age_days.push(quality.age.get());
        progress();
    }
    QualitySpread { freshness: Spread::of(freshness, confidence), age_days: Spread::of(age_days, confidence) }
}

impl Spread {
    fn of(mut draws: Vec<f64>, confidence: Confidence) -> Self {
        draws.sort_unstable_by(f64::total_cmp);
        let left_out = ((1.0 - confidence.get()) / 2.0 * draws.len() as f64) as usize;
        Self { low: draws[left_out], high: draws[draws.len() - 1 - left_out] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_leaves_out_as_many_draws_at_either_end() {
        let confidence = Confidence::new(0.95);
        let spread = Spread::of((0..=400).rev().map(f64::from).collect(), confidence);
        assert_eq!(spread, Spread { low: 10.0, high: 390.0 });
        let spread = Spread::of((1..=40).map(f64::from).collect(), confidence);
        assert_eq!(spread, Spread { low: 2.0, high: 39.0 });
    }

    #[test]
    fn many_pages_are_drawn_less_often() {
        assert_eq!(draws_for(1), DRAWS_MAX);
        assert_eq!(draws_for(400_000), 100);
        assert_eq!(draws_for(usize::MAX), DRAWS_MIN);
    }
}
