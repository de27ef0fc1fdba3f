//! Confidence interval of the fraction of a site's pages that changed, from a sample.
//!
//! Step 6 of Algorithm 3.1 of **sample**, section 3.4. With `p = c/s` and `z` the
//! normal quantile of (1 + α)/2:
//!
//! > Wald p ± z √(p(1 − p)/s), conservative p ± z/(2√s),
//! > Wilson (p + z²/2s ± z √(p(1 − p)/s + z²/4s²)) / (1 + z²/s)
//!
//! # Promises
//! - `z` keeps twelve digits for every confidence between zero and one.
//! - Wilson's interval lies within [0, 1]. It begins at exactly zero when nothing changed, and ends at
//!   exactly one when everything did. The other two can be cut.
//!
//! # Departures
//! The text names no method. Its Lemma 1 uses 1/(2√s) for the deviation, which is the conservative interval.
//! The Wald interval has zero width when none or all of the samples changed.

use statrs::function::erf::erf_inv;

use super::site::Sample;

/// The confidence α of an interval: strictly between zero and one.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Confidence(f64);

impl Confidence {
    /// Panics unless the confidence lies strictly between zero and one.
    pub fn new(confidence: f64) -> Self {
        assert!(0.0 < confidence);
        assert!(confidence < 1.0);
        Self(confidence)
    }

    /// The `z` with P(|Z| ≤ z) = α for a standard normal Z: the quantile of (1 + α)/2.
    pub fn normal_quantile(self) -> f64 {
        std::f64::consts::SQRT_2 * erf_inv(self.0)
    }
}

/// Method of computing an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Uses the deviation of the estimated fraction.
    Wald,
    /// Uses the largest deviation of any fraction.
    Conservative,
    /// Contains the fractions that the sample does not contradict (score interval).
    Wilson,
}

/// An interval of fractions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end; may be below zero until it is cut.
    pub low: f64,
    /// The upper end; may be above one until it is cut.
    pub high: f64,
}

impl Interval {
    /// The part within [0, 1].
    pub fn cut(self) -> Self {
        Self { low: self.low.clamp(0.0, 1.0), high: self.high.clamp(0.0, 1.0) }
    }
}

/// Interval of the fraction of changed pages of the site from which the sample was taken.
///
/// Panics if the sample is empty.
pub fn changed_fraction_interval(sample: Sample, confidence: Confidence, method: Method) -> Interval {
    assert!(sample.sampled() > 0);
    let n = sample.sampled() as f64;
    let p = sample.changed_fraction();
    let z = confidence.normal_quantile();
    match method {
        Method::Wald => around(p, z * (p * (1.0 - p) / n).sqrt()),
        Method::Conservative => around(p, z / (2.0 * n.sqrt())),
        Method::Wilson => wilson(sample, z),
    }
}

fn around(center: f64, half_width: f64) -> Interval {
    Interval { low: center - half_width, high: center + half_width }
}

/// The two roots, each in a form that does not cancel. The product of the lower root and `upper` below is p².
/// The interval of the unchanged fraction is the mirror image, which is exact at its ends.
fn wilson(sample: Sample, z: f64) -> Interval {
    let n = sample.sampled() as f64;
    let (p, q) = (sample.changed_fraction(), (sample.sampled() - sample.changed()) as f64 / n);
    let half_width = z * (p * q / n + (z / (2.0 * n)).powi(2)).sqrt();
    let shift = z * z / (2.0 * n);
    let lower_root = |fraction: f64| {
        if fraction == 0.0 { 0.0 } else { fraction * fraction / (fraction + shift + half_width) }
    };
    let upper = p + shift + half_width;
    let high = if p < 0.5 { upper / (1.0 + 2.0 * shift) } else { 1.0 - lower_root(q) };
    Interval { low: lower_root(p), high }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Confidence and quantile, computed from the inverse error function with 60 digits.
    const QUANTILES: [(f64, f64); 12] = [
        (1e-300, 1.2533141373155002e-300),
        (1e-12, 1.2533141373155002e-12),
        (1e-05, 1.253314137348312e-05),
        (0.1, 0.12566134685507405),
        (0.5, 0.6744897501960817),
        (0.75, 1.150349380376008),
        (0.9, 1.6448536269514729),
        (0.95, 1.9599639845400538),
        (0.99, 2.5758293035489004),
        (0.999999, 4.891638475692932),
        (0.999999999999, 7.130509892879273),
        (0.9999999999999999, 8.292361075813595),
    ];

    #[track_caller]
    fn check(changed: u64, sampled: u64, method: Method, expected: (f64, f64)) {
        let sample = Sample::new(sampled, changed);
        let interval = changed_fraction_interval(sample, Confidence::new(0.9), method).cut();
        assert!((interval.low - expected.0).abs() < 1e-12, "{interval:?}");
        assert!((interval.high - expected.1).abs() < 1e-12, "{interval:?}");
    }

    #[test]
    fn seven_of_ten_changed() {
        check(7, 10, Method::Wald, (0.46163806399510077, 0.9383619360048991));
        check(7, 10, Method::Conservative, (0.43992580606222126, 0.9600741939377786));
        check(7, 10, Method::Wilson, (0.44169979586983504, 0.8731234160968022));
    }

    #[test]
    fn none_and_all_changed() {
        check(0, 10, Method::Wald, (0.0, 0.0));
        check(10, 10, Method::Wald, (1.0, 1.0));
        check(0, 1, Method::Conservative, (0.0, 0.8224268134757361));
        check(0, 10, Method::Wilson, (0.0, 0.2129419700834071));
        check(10, 10, Method::Wilson, (0.7870580299165929, 1.0));
    }

    #[test]
    fn the_normal_quantile_keeps_twelve_digits() {
        for (confidence, expected) in QUANTILES {
            let z = Confidence::new(confidence).normal_quantile();
            assert!((z / expected - 1.0).abs() < 1e-12, "{confidence}: {z} for {expected}");
        }
    }

    proptest! {
        #[test]
        fn wilson_lies_within_the_unit_interval_and_holds_the_estimate(
            sampled in 1u64..1_000_000_000_000,
            part in 0.0..=1.0f64,
            confidence in 1e-9..0.999_999_999f64,
        ) {
            let changed = (sampled as f64 * part) as u64;
            let sample = Sample::new(sampled, changed);
            let Interval { low, high } =
                changed_fraction_interval(sample, Confidence::new(confidence), Method::Wilson);
            prop_assert!(0.0 <= low && low <= sample.changed_fraction() + 1e-15);
            prop_assert!(sample.changed_fraction() <= high + 1e-15 && high <= 1.0);
        }
    }
}
