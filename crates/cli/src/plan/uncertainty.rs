//! How sure a plan is whose rates were estimated, in words and as JSON. The seed is fixed: the same table
//! gives the same answer.

use freshet_theory::estimate::rate::Confidence;
use freshet_theory::plan::uncertainty::{QualitySpread, Spread, draws_for, spread_of_quality};
use freshet_theory::units::{Days, VisitsPerDay};
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

use super::history::CONFIDENCE;
use super::pages::PageTable;
use super::quantity::{readable_span, share};
use super::report_json::number;
use crate::progress;

/// The seed of all draws.
const SEED: u64 = 1;

/// The quality of a plan over draws of the rates.
#[derive(Debug)]
pub(super) struct Uncertainty {
    draws: usize,
    quality: QualitySpread,
}

impl Uncertainty {
    /// Uncertainty of the plan for these pages; `None` if their rates were given.
    pub(super) fn of_plan(table: &PageTable, visit_frequencies: &[VisitsPerDay]) -> Option<Self> {
        let evidence = table.evidence.as_ref()?;
        let draws = draws_for(table.len());
        let progress = progress::steps("drawing rates", draws as u64);
        let quality = spread_of_quality(
            &table.pages(),
            &evidence.outlooks,
            visit_frequencies,
            Confidence::new(CONFIDENCE),
            &mut ChaCha8Rng::seed_from_u64(SEED),
            || progress.inc(1),
        );
        progress.finish_and_clear();
        Some(Self { draws, quality })
    }

    /// The result as a sentence.
    pub(super) fn sentence(&self) -> String {
        let Self { draws, quality: QualitySpread { freshness, age_days } } = self;
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
            "freshness": spread_json(self.quality.freshness),
            "age_days": spread_json(self.quality.age_days),
        })
    }
}

fn spread_json(spread: Spread) -> Value {
    json!({"low": number(spread.low), "high": number(spread.high)})
}
