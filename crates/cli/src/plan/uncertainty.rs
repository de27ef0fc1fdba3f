//! Uncertainty of a plan whose rates were estimated.
//!
//! The rates of all pages are drawn many times, independently, each from the equally likely rates of its
//! page. For each draw the quality of the plan is computed as if these were the true rates. The seed is
//! fixed: the same table gives the same answer. What all pages share, such as an error in their common prior,
//! is not drawn.

use freshet_theory::freshness::measure::FreshnessAndAge;
use freshet_theory::freshness::order::Order;
use freshet_theory::refresh::evaluate;
use freshet_theory::units::{ChangesPerDay, Days, VisitsPerDay};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

use super::history::{CONFIDENCE, Evidence};
use super::pages::PageTable;
use super::progress;
use super::quantity::{readable_span, share};
use super::report_json::number;

/// Maximum and minimum number of draws. Many pages need fewer, since their errors average out.
const DRAWS_MAX: usize = 400;
const DRAWS_MIN: usize = 40;

/// Maximum number of rates drawn in all, unless [`DRAWS_MIN`] asks for more. Some seconds of work.
const RATES_DRAWN_MAX: usize = 40_000_000;

/// The seed of all draws.
const SEED: u64 = 1;

/// The quality of a plan over draws of the rates.
#[derive(Debug)]
pub(super) struct Uncertainty {
    draws: usize,
    freshness: Spread,
    age_days: Spread,
}

/// Bounds that hold [`CONFIDENCE`] of the draws.
#[derive(Debug, PartialEq)]
struct Spread {
    low: f64,
    high: f64,
}

impl Uncertainty {
    /// Uncertainty of the plan for these pages; `None` if their rates were given.
    pub(super) fn of_plan(table: &PageTable, visit_frequencies: &[VisitsPerDay]) -> Option<Self> {
        let evidence = table.evidence.as_ref()?;
        let draws = (RATES_DRAWN_MAX / table.len()).clamp(DRAWS_MIN, DRAWS_MAX);
        let progress = progress::steps("drawing rates", draws as u64);
        let mut random = ChaCha8Rng::seed_from_u64(SEED);
        let mut qualities = Vec::with_capacity(draws);
        for _ in 0..draws {
            qualities.push(draw(table, evidence, visit_frequencies, &mut random));
            progress.inc(1);
        }
        progress.finish_and_clear();
        Some(Self {
            draws,
            freshness: Spread::of(qualities.iter().map(|quality| quality.freshness).collect()),
            age_days: Spread::of(qualities.iter().map(|quality| quality.age.get()).collect()),
        })
    }

    /// The result as a sentence.
    pub(super) fn sentence(&self) -> String {
        let Self { draws, freshness, age_days } = self;
        let span = |days: f64| readable_span(Days::new(days));
        let age = match age_days.high {
            high if high.is_finite() => {
                format!(" and its age between {} and {}", span(age_days.low), span(high))
            }
            _ => String::new(),
        };
        format!(
            "The rates are estimates. Drawn {draws} times from what the visits leave open, they put the \
             freshness of this plan between {} and {}{age} in {:.0} % of the draws.",
            share(freshness.low),
            share(freshness.high),
            100.0 * CONFIDENCE
        )
    }

    /// The same as JSON.
    pub(super) fn json(&self) -> Value {
        json!({
            "draws": self.draws,
            "seed": SEED,
            "confidence": CONFIDENCE,
            "freshness": self.freshness.json(),
            "age_days": self.age_days.json(),
        })
    }
}

/// The quality of the plan under one draw of all rates.
fn draw(
    table: &PageTable,
    evidence: &Evidence,
    visit_frequencies: &[VisitsPerDay],
    random: &mut ChaCha8Rng,
) -> FreshnessAndAge {
    let rate = |page: usize| evidence.outlooks[random.random_range(0..evidence.outlooks.len())][page];
    let change_rates: Vec<ChangesPerDay> = (0..table.len()).map(rate).collect();
    evaluate(&table.with_rates(&change_rates), visit_frequencies, Order::Fixed)
}

impl Spread {
    fn of(mut draws: Vec<f64>) -> Self {
        draws.sort_unstable_by(f64::total_cmp);
        let left_out = ((1.0 - CONFIDENCE) / 2.0 * draws.len() as f64) as usize;
        Self { low: draws[left_out], high: draws[draws.len() - 1 - left_out] }
    }

    fn json(&self) -> Value {
        json!({"low": number(self.low), "high": number(self.high)})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_leaves_out_as_many_draws_at_either_end() {
        let spread = Spread::of((0..=400).rev().map(f64::from).collect());
        assert_eq!(spread, Spread { low: 10.0, high: 390.0 });
        let spread = Spread::of((1..=40).map(f64::from).collect());
        assert_eq!(spread, Spread { low: 2.0, high: 39.0 });
    }
}
