//! Bias and deviation of the estimators that use the date of the last change, for even visits.
//!
//! Thesis, section 6.5.2 (Lemma 6.3, Theorem 6.1, Figures 6.12, 6.13 and 6.15; **estimate**, section
//! 5.2). With r changes expected between two visits, k of n visits find one with the binomial
//! probability. Then T, in intervals, is n − k plus k exponential times cut to `[0, 1]`. With φ the
//! Laplace transform of one of these,
//!
//! > E 1/T = ∫ e^(−s(n−k)) φ(s)^k ds and E 1/T² = ∫ s e^(−s(n−k)) φ(s)^k ds over s > 0
//! > φ(s) = A(r + s)/A(r), A(x) = (1 − e^-x)/x
//!
//! In y = ln s the integrands fall off on both sides and are analytic for |Im y| < π/2, where they are no
//! larger than for the real part of s. So the trapezoid rule with step h is exact to about e^(−π²/h).
//!
//! # Promises
//! - Nine digits in both values for any `r` and up to 10^5 visits; eight up to [`VISITS_MAX`].
//! - The deviation is infinite for two visits, and so is the mean of the plain estimator for one. The
//!   corrected estimator always returns zero for one visit.
//!
//! # Departures
//! None. The density that the thesis prints in its proof for k = 3 holds for r = 1 only, and the limit
//! of P{X = n} it prints is that of P{X = n}/r. The limits n/(n − 1) and n ln(n/(n − 1)) that it
//! derives from them are right.

use super::binomial::ChangeCount;
use super::last_modified::corrected_changes;
use super::quality::EstimatorQuality;
use crate::numerics::{freshness_gain, mean_change_probability, mean_survival};

/// Maximum number of visits to sum over, which takes about a second.
pub const VISITS_MAX: u64 = 1_000_000;

/// Bias and deviation of X/T, [`super::last_modified::DatedVisits::plain_rate`].
///
/// Panics unless there are from one to [`VISITS_MAX`] visits and `changes_per_visit`
/// is finite and above zero.
pub fn plain_quality(visits: u64, changes_per_visit: f64) -> EstimatorQuality {
    if visits == 1 {
        return EstimatorQuality { mean_ratio: f64::INFINITY, deviation_ratio: f64::INFINITY };
    }
    quality(visits, changes_per_visit, |changes_found| changes_found as f64)
}

/// Bias and deviation of X'/T, [`super::last_modified::DatedVisits::rate`].
///
/// Panics unless there are from one to [`VISITS_MAX`] visits and `changes_per_visit`
/// is finite and above zero.
pub fn corrected_quality(visits: u64, changes_per_visit: f64) -> EstimatorQuality {
    if visits == 1 {
        return EstimatorQuality { mean_ratio: 0.0, deviation_ratio: 0.0 };
    }
    quality(visits, changes_per_visit, |changes_found| corrected_changes(visits, changes_found))
}

/// Above this r every visit finds a change: the probability of the contrary is lost in rounding.
const CERTAIN: f64 = 100.0;

/// Counts less likely than the most likely one by e^-60 are left out: they add nothing.
const DEPTH: f64 = 60.0;

fn quality(visits: u64, r: f64, numerator: impl Fn(u64) -> f64) -> EstimatorQuality {
    assert!(0 < visits);
    assert!(visits <= VISITS_MAX);
    assert!(0.0 < r);
    assert!(r.is_finite());
    let n = visits as f64;
    let (mean_ratio, deviation_ratio) = if r > CERTAIN {
        // T is a sum of n exponential times: E r̂ = X'/(n − 1), and its square has the
        // mean X'²/((n − 1)(n − 2)).
        let mean_ratio = numerator(visits) / (n - 1.0);
        (mean_ratio, mean_ratio / (n - 2.0).sqrt())
    } else {
        let (mean_ratio, square_ratio) = sum_over_counts(visits, r, numerator);
        (mean_ratio, ((square_ratio - r * mean_ratio * mean_ratio) / r).sqrt())
    };
    EstimatorQuality {
        mean_ratio,
        deviation_ratio: if visits == 2 { f64::INFINITY } else { deviation_ratio },
    }
}

/// E r̂ / r and E r̂² / r.
fn sum_over_counts(visits: u64, r: f64, numerator: impl Fn(u64) -> f64) -> (f64, f64) {
    let count = ChangeCount::new(visits, r);
    let nodes = nodes(visits, r);
    let (mut probability, mut first, mut second) = ((-(visits as f64) * r).exp(), 0.0, 0.0);
    for k in count.within(DEPTH, 1) {
        let log_probability = count.log_probability(k);
        let (inverse, inverse_square) = inverse_moments(&nodes, visits, k);
        let (weight, x) = ((log_probability - r.ln()).exp(), numerator(k));
        probability += log_probability.exp();
        first += weight * x * inverse;
        second += weight * (x * x) * inverse_square;
    }
    // The probabilities add up to one. Dividing by their computed sum removes their common rounding error.
    (first / probability, second / probability)
}

/// A node s of the trapezoid rule in ln s, with ln φ(s).
struct Node {
    s: f64,
    log_transform: f64,
}

/// Step in ln s: e^(−π²/h) is below 1e-17.
const STEP: f64 = 0.25;

/// Nats on either side of the peak beyond which the integrands, which fall at least as
/// e^-|y|, are below 1e-17 of it.
const REACH: f64 = 42.0;

fn nodes(visits: u64, r: f64) -> Vec<Node> {
    // T lies between n/(1 + r) and n on average, so the integrands peak between the reciprocals of these.
    let (low, high) = (-(visits as f64).ln() - REACH, (1.0 + r).ln() + REACH);
    let count = ((high - low) / STEP).ceil() as u32;
    let node = |i| {
        let s = (low + STEP * f64::from(i)).exp();
        Node { s, log_transform: log_transform(r, s) }
    };
    (0..=count).map(node).collect()
}

/// ln φ(s), accurate also where φ is nearly one.
fn log_transform(r: f64, s: f64) -> f64 {
    // 1 − φ = s/(r + s) · (A(r) − e^-r A(s))/A(r), and A(r) − e^-r A(s) = g(r)/r + e^-r
    // (1 − A(s)), all positive.
    let difference = freshness_gain(r) / r + (-r).exp() * mean_change_probability(s);
    let complement = s / (r + s) * difference / mean_survival(r);
    if complement < 0.5 { (-complement).ln_1p() } else { (mean_survival(r + s) / mean_survival(r)).ln() }
}

/// E 1/T and E 1/T² when k of n visits found a change. The second is infinite for
/// k = n = 2; there it is cut off.
fn inverse_moments(nodes: &[Node], visits: u64, changes_found: u64) -> (f64, f64) {
    let (k, unchanged) = (changes_found as f64, (visits - changes_found) as f64);
    let (mut first, mut second) = (0.0, 0.0);
    for node in nodes {
        let exponent = k * node.log_transform - unchanged * node.s;
        // From here on the integrands only fall.
        if exponent < -100.0 - 2.0 * node.s.max(1.0).ln() {
            break;
        }
        let term = node.s * exponent.exp();
        first += term;
        second += node.s * term;
    }
    (STEP * first, STEP * second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(quality: EstimatorQuality, mean_ratio: f64, deviation_ratio: f64) {
        let agrees = |got: f64, want: f64| got == want || (got / want - 1.0).abs() < 1e-10;
        assert!(agrees(quality.mean_ratio, mean_ratio), "{quality:?}");
        assert!(agrees(quality.deviation_ratio, deviation_ratio), "{quality:?}");
    }

    #[test]
    fn one_and_two_visits_have_no_finite_deviation() {
        check(plain_quality(1, 0.3), f64::INFINITY, f64::INFINITY);
        check(corrected_quality(1, 0.3), 0.0, 0.0);
        check(plain_quality(2, 1.0), 1.822053343912211, f64::INFINITY);
        check(corrected_quality(2, 1.0), 0.9864988381763158, f64::INFINITY);
        check(corrected_quality(2, 1e9), 1.0, f64::INFINITY);
    }

    #[test]
    fn the_limits_are_those_of_the_theorem() {
        for visits in [3, 10, 1000] {
            let n = visits as f64;
            check(plain_quality(visits, 1e6), n / (n - 1.0), n / (n - 1.0) / (n - 2.0).sqrt());
            check(corrected_quality(visits, 1e300), 1.0, 1.0 / (n - 2.0).sqrt());
            let rare = plain_quality(visits, 1e-300);
            // ∫ 1/t² from n − 1 to n, weighted by P{X = 1} = n r.
            check(rare, n * -(-1.0 / n).ln_1p(), (1.0 / (n - 1.0)).sqrt() * 1e150);
        }
    }

    #[test]
    fn the_two_forms_meet_where_changes_become_certain() {
        for visits in [3, 50, 100_000] {
            let (below, above) = (corrected_quality(visits, 99.9), corrected_quality(visits, 100.1));
            assert!((below.mean_ratio / above.mean_ratio - 1.0).abs() < 1e-12);
            assert!(
                (below.deviation_ratio / above.deviation_ratio - 1.0).abs() < 1e-9,
                "{below:?} {above:?}"
            );
        }
    }

    /// Computed with 40 digits from Lemma 6.3.
    #[test]
    fn ten_digits_from_rare_changes_to_certain_ones() {
        check(plain_quality(3, 1e-8), 1.2163953257193818, 7071.067865334909);
        check(corrected_quality(3, 1e-8), 1.0000000005600294, 5813.1330439713465);
        check(plain_quality(5, 0.01), 1.1162527051660238, 5.022166375690576);
        check(corrected_quality(5, 0.01), 1.000238455702331, 4.49881870042787);
        check(plain_quality(10, 1.0), 1.0742037582322257, 0.45302542612650837);
        check(corrected_quality(10, 1.0), 1.0086322945049564, 0.41873510567012434);
        check(plain_quality(10, 7.3), 1.1109314297148742, 0.3930698673124308);
        check(corrected_quality(10, 7.3), 0.9999625847197262, 0.3536011601684396);
        check(plain_quality(4, 60.0), 1.3333333333333333, 0.9428090415820634);
        check(plain_quality(40, 0.2), 1.013589336541504, 0.3773410929767351);
        check(corrected_quality(40, 0.2), 1.0004324134499503, 0.3722774824662626);
    }
}
