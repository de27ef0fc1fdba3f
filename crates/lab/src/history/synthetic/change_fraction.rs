//! Synthetic sites by the fraction of their pages that changes in a cycle: the ρ of **sample**.
//!
//! In every period of [`PERIOD`] days a page changes with its probability, at a random moment of the period.
//! In **sample**, section 4.8, ρ is N(0.5, 0.3), and all pages of a site are alike. For the V shape of
//! section 4.1, Figure 5, ρ is drawn from Beta(0.35, 0.6), and the pages of a site from Beta(3ρ, 3(1 − ρ)),
//! so that a page's own history is informative too.
//!
//! # Departures
//! The texts count changes per cycle of a month. The period here is the default cycle of a replay. A normal ρ
//! outside of 0 to 1 is moved to the nearer end.

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Beta, Distribution as _, Normal};

use super::super::recording::{Event, EventKind, RecordedPage};
use super::{START, Synthetic, time};

/// Length of a period, in days.
const PERIOD: f64 = 14.0;

/// Shapes of the V: many sites near zero, fewer near one, few between.
const V_SHAPE: (f64, f64) = (0.35, 0.6);
/// Ends of the V: no site is completely still, and none changes everywhere.
const V_ENDS: (f64, f64) = (0.003, 0.985);
/// Similarity of the pages of a site of the V: the larger, the more alike.
const V_LIKENESS: f64 = 3.0;
/// Mean and standard deviation of the normal distribution.
const NORMAL: (f64, f64) = (0.5, 0.3);

/// Pages of a site of the V-shaped distribution.
pub(super) fn v_shape(synthetic: &Synthetic, chance: &mut ChaCha8Rng) -> Vec<RecordedPage> {
    let sites = Beta::new(V_SHAPE.0, V_SHAPE.1).expect("the shapes are positive");
    let fraction = sites.sample(chance).clamp(V_ENDS.0, V_ENDS.1);
    let pages =
        Beta::new(V_LIKENESS * fraction, V_LIKENESS * (1.0 - fraction)).expect("the shapes are positive");
    let probabilities: Vec<f64> = (0..synthetic.pages_per_site).map(|_| pages.sample(chance)).collect();
    record(synthetic, &probabilities, chance)
}

/// Pages of a site of the normal distribution.
pub(super) fn normal(synthetic: &Synthetic, chance: &mut ChaCha8Rng) -> Vec<RecordedPage> {
    let sites = Normal::new(NORMAL.0, NORMAL.1).expect("the deviation is finite");
    let fraction = sites.sample(chance).clamp(0.0, 1.0);
    record(synthetic, &vec![fraction; synthetic.pages_per_site], chance)
}

fn record(synthetic: &Synthetic, probabilities: &[f64], chance: &mut ChaCha8Rng) -> Vec<RecordedPage> {
    let periods = (synthetic.days / PERIOD).floor() as usize;
    let mut recorded = Vec::with_capacity(probabilities.len());
    for (page, probability) in probabilities.iter().enumerate() {
        let mut events = Vec::new();
        for period in 0..periods {
            // Always draw both, so that a change does not shift all later random draws.
            let (draw, moment) = (chance.random::<f64>(), chance.random::<f64>());
            if draw < *probability {
                let day = (period as f64 + moment) * PERIOD;
                events.push(Event { time: time(day), kind: EventKind::Modified, mass: false });
            }
        }
        recorded.push(RecordedPage {
            path: Synthetic::path(page),
            first_seen: START,
            initial: true,
            size: Some(0),
            moved_from: None,
            events,
        });
    }
    recorded
}

#[cfg(test)]
mod tests {
    use super::super::Model;
    use super::*;

    /// The mean fraction of each site's pages that changes in a period.
    fn fractions(model: Model) -> Vec<f64> {
        let synthetic = Synthetic { model, sites: 400, pages_per_site: 20, days: 20.0 * PERIOD, seed: 1 };
        let fraction = |pages: &[RecordedPage]| {
            let changes: usize = pages.iter().map(|page| page.events.len()).sum();
            changes as f64 / (20.0 * 20.0)
        };
        synthetic.record().sites.iter().map(|site| fraction(&site.pages)).collect()
    }

    #[test]
    fn a_normal_history_has_the_mean_and_deviation_of_the_text() {
        let fractions = fractions(Model::Normal);
        let mean = fractions.iter().sum::<f64>() / 400.0;
        let variance = fractions.iter().map(|fraction| (fraction - mean).powi(2)).sum::<f64>() / 400.0;
        // Moving the tails to the ends reduces the standard deviation from 0.3 to 0.27.
        assert!((mean - 0.5).abs() < 0.04, "{mean}");
        assert!((variance.sqrt() - 0.27).abs() < 0.03, "{variance}");
    }

    #[test]
    fn a_v_has_two_ends_and_little_between() {
        let fractions = fractions(Model::VShape);
        let part = |low: f64, high: f64| {
            fractions.iter().filter(|fraction| (low..high).contains(*fraction)).count() as f64 / 400.0
        };
        assert!(part(0.0, 0.2) > 2.0 * part(0.4, 0.6), "{}", part(0.0, 0.2));
        assert!(part(0.8, 1.1) > 1.3 * part(0.4, 0.6), "{}", part(0.8, 1.1));
    }
}
