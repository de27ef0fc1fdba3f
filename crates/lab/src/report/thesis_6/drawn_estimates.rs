//! Estimators on simulated pages: mean and standard deviation of the estimate, both divided by the true rate.

use freshet_theory::estimate::even::EvenVisits;
use freshet_theory::estimate::last_modified::DatedVisits;
use freshet_theory::estimate::quality::EstimatorQuality;
use freshet_theory::estimate::rate::RateEstimate;
use freshet_theory::units::Days;
use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution as _, Exp1};

/// Pages simulated for each value.
const PAGES: u32 = 20_000;

/// An estimator for evenly spaced visits.
pub(super) type EvenEstimator = fn(&EvenVisits, Days) -> Option<RateEstimate>;

/// The quality of an estimator for evenly spaced visits, one per day, measured on simulated pages.
pub(super) fn even_quality(
    estimator: EvenEstimator,
    visits: u64,
    changes_per_visit: f64,
    chance: &mut ChaCha8Rng,
) -> EstimatorQuality {
    let chance_of_change = -(-changes_per_visit).exp_m1();
    quality(changes_per_visit, || {
        let changes = (0..visits).filter(|_| chance.random_bool(chance_of_change)).count() as u64;
        estimator(&EvenVisits::new(visits, changes), Days::new(1.0))
    })
}

/// The quality of an estimator from dates of change, with one visit per day, measured on simulated pages.
pub(super) fn dated_quality(
    estimator: fn(&DatedVisits) -> Option<RateEstimate>,
    visits: u64,
    changes_per_visit: f64,
    chance: &mut ChaCha8Rng,
) -> EstimatorQuality {
    quality(changes_per_visit, || {
        let mut history = DatedVisits::NONE;
        for _ in 0..visits {
            // Seen backwards from a visit, the time to the previous change is exponential too.
            let since_change: f64 = Exp1.sample(chance);
            history.observe(Days::new(since_change / changes_per_visit), Days::new(1.0));
        }
        estimator(&history)
    })
}

fn quality(rate: f64, mut draw: impl FnMut() -> Option<RateEstimate>) -> EstimatorQuality {
    let (mut sum, mut squares) = (0.0, 0.0);
    for _ in 0..PAGES {
        let ratio = draw().map_or(0.0, RateEstimate::get) / rate;
        sum += ratio;
        squares += ratio * ratio;
    }
    let mean = sum / f64::from(PAGES);
    let variance = squares / f64::from(PAGES) - mean * mean;
    EstimatorQuality { mean_ratio: mean, deviation_ratio: variance.max(0.0).sqrt() }
}
