//! How long a copy stays current, and what a visit gains: the index form of the optimal policy.
//!
//! Let S(t) be the chance that a copy taken `t` ago is still current. When a page is visited every T, its freshness is
//! (1/T) ∫₀^T S, and the optimum of all pages visits each when
//!
//! > V(t) = ∫₀^t S(s) ds − t S(t) = ∫₀^t s (−S′(s)) ds
//!
//! times its importance reaches a common threshold (thesis, section 5.5.4, for Poisson changes; Olston and Pandey for any). V
//! grows from 0 to its limit, the mean time that a copy lasts. With the models of the texts:
//!
//! > Poisson (thesis): g(λt)/λ, g(x) = 1 − (1 + x)e^-x
//! > Weibull (**summary**, section 5), S = e^(−λt^γ): λ^(−1/γ) Γ(a) P(a, λt^γ), a = 1 + 1/γ, P the incomplete gamma function
//! > rate unknown, Gamma(a, b): a b J(a, ln(1 + t/b)), J(a, L) = ∫₀^L (e^u − 1) e^-au du
//! > rate one of several classes (**estimate**, section 6): Σ pⱼ g(λⱼt)/λⱼ
//!
//! # Promises
//! - V, and what it lacks to its limit (the *shortfall*), each have nine digits and more: neither is a difference of large terms.
//! - The inverses undo both; a threshold at or above the limit is never reached.
//! - With γ = 1 Weibull is Poisson, with one class a mixture is Poisson, and a gamma posterior of much data tends to it.

use super::incomplete_gamma::{inverse_of_lower, inverse_of_upper, regularised, search};
use crate::numerics::{
    freshness_gain, freshness_gain_inverse, freshness_gain_inverse_of_complement, mean_survival,
};
use crate::units::{ChangesPerDay, Days};
use statrs::function::gamma::ln_gamma;

/// How long a copy of a page stays current.
#[derive(Clone, Debug, PartialEq)]
pub enum Lifetime {
    /// Changes form a Poisson process.
    Poisson(ChangesPerDay),
    /// S(t) = e^(−scale t^shape).
    Weibull(WeibullLifetime),
    /// Poisson changes whose rate is known only as Gamma(shape, exposure).
    Gamma(GammaLifetime),
    /// Poisson changes whose rate is one of several, each with its probability.
    Classes(Vec<(f64, ChangesPerDay)>),
}

/// S(t) = e^(−scale t^shape).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WeibullLifetime {
    scale: f64,
    shape: f64,
}

/// S(t) = (exposure / (exposure + t))^shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GammaLifetime {
    shape: f64,
    exposure: f64,
}

impl WeibullLifetime {
    /// Shapes that are computed; the texts have 0.5 to 1.1.
    pub const SHAPES: std::ops::RangeInclusive<f64> = 1e-3..=1e3;

    /// Panics unless the scale is positive and finite and the shape within [`WeibullLifetime::SHAPES`].
    pub fn new(scale: f64, shape: f64) -> Self {
        assert!(scale > 0.0);
        assert!(scale.is_finite());
        assert!(Self::SHAPES.contains(&shape));
        Self { scale, shape }
    }

    /// ln of λ^(−1/γ) Γ(a): the limit of V.
    fn ln_limit(self) -> f64 {
        ln_gamma(self.order()) - self.scale.ln() / self.shape
    }

    /// a = 1 + 1/γ.
    fn order(self) -> f64 {
        1.0 + 1.0 / self.shape
    }

    /// λt^γ.
    fn hazard(self, t: f64) -> f64 {
        if t == 0.0 { 0.0 } else { (self.scale.ln() + self.shape * t.ln()).exp() }
    }

    fn time_of_hazard(self, z: f64) -> f64 {
        ((z.ln() - self.scale.ln()) / self.shape).exp()
    }

    /// (1/T) ∫₀^T S at λT^γ = z: Σ (−z)^n / (n! (1 + nγ)) for small z, Γ(a) P(1/γ, z) z^(−1/γ) else.
    fn mean_survival(self, t: f64) -> f64 {
        let z = self.hazard(t);
        if z == f64::INFINITY {
            return 0.0;
        }
        if z < 1.0 {
            let (mut power, mut sum) = (1.0, 1.0);
            for n in 1..30 {
                let n = f64::from(n);
                power *= -z / n;
                sum += power / (1.0 + n * self.shape);
            }
            return sum;
        }
        let reciprocal = 1.0 / self.shape;
        let ln_lower = regularised(reciprocal, z).ln_lower;
        (ln_gamma(self.order()) + ln_lower - reciprocal * z.ln()).exp().min(1.0)
    }
}

impl GammaLifetime {
    /// Panics unless both are positive and finite.
    pub fn new(shape: f64, exposure: Days) -> Self {
        assert!(shape > 0.0);
        assert!(shape.is_finite());
        assert!(exposure > Days::ZERO);
        assert!(exposure < Days::FOREVER);
        Self { shape, exposure: exposure.get() }
    }

    /// ln(1 + t/b).
    fn log_time(self, t: f64) -> f64 {
        (t / self.exposure).ln_1p()
    }

    fn index(self, t: f64) -> f64 {
        self.exposure * self.shape * burst_integral(self.shape, self.log_time(t))
    }

    fn limit(self) -> f64 {
        if self.shape > 1.0 { self.exposure / (self.shape - 1.0) } else { f64::INFINITY }
    }

    /// a b ∫ from L on: b (a e^(−(a−1)L)/(a − 1) − e^-aL).
    fn shortfall(self, t: f64) -> f64 {
        let (a, l) = (self.shape, self.log_time(t));
        if a <= 1.0 {
            return f64::INFINITY;
        }
        // Both terms share e^-aL; what is left is at least one.
        self.exposure * (-a * l).exp() * (a * l.exp() - (a - 1.0)) / (a - 1.0)
    }

    fn mean_survival(self, t: f64) -> f64 {
        let l = self.log_time(t);
        let z = (self.shape - 1.0) * l;
        // ∫ S = b L (1 − e^-z)/z, regular at a = 1; for a < 1 with e^|z| taken out.
        let grown = if z >= 0.0 { mean_survival(z) } else { mean_survival(-z) * (-z).exp() };
        if t == 0.0 { 1.0 } else { (self.exposure / t * l * grown).min(1.0) }
    }
}

impl Lifetime {
    /// S(t): the chance that a copy taken `elapsed` ago is still current.
    pub fn survival(&self, elapsed: Days) -> f64 {
        let t = elapsed.get();
        match self {
            Self::Poisson(rate) => no_change(rate.get(), t),
            Self::Weibull(weibull) => (-weibull.hazard(t)).exp(),
            Self::Gamma(gamma) => (-gamma.shape * gamma.log_time(t)).exp(),
            Self::Classes(classes) => mixture(classes, |rate| no_change(rate, t)),
        }
    }

    /// (1/T) ∫₀^T S: freshness averaged over time when the page is visited every `visit_interval`.
    pub fn mean_freshness(&self, visit_interval: Days) -> f64 {
        let t = visit_interval.get();
        match self {
            Self::Poisson(rate) => poisson_freshness(rate.get(), t),
            Self::Weibull(weibull) => weibull.mean_survival(t),
            Self::Gamma(gamma) if t < f64::INFINITY => gamma.mean_survival(t),
            Self::Gamma(_) => 0.0,
            Self::Classes(classes) => mixture(classes, |rate| poisson_freshness(rate, t)),
        }
    }

    /// V(t): what a visit gains a time `elapsed` after the last one, in days of freshness. Zero for a page that never
    /// changes.
    pub fn index(&self, elapsed: Days) -> f64 {
        let t = elapsed.get();
        match self {
            Self::Poisson(rate) => poisson_index(rate.get(), t),
            Self::Weibull(weibull) => {
                let lower = regularised(weibull.order(), weibull.hazard(t)).ln_lower;
                (weibull.ln_limit() + lower).exp()
            }
            Self::Gamma(gamma) if t < f64::INFINITY => gamma.index(t),
            Self::Gamma(gamma) => gamma.limit(),
            Self::Classes(classes) => mixture(classes, |rate| poisson_index(rate, t)),
        }
    }

    /// The limit of V: the mean time that a copy lasts, infinite if that has none. Zero for a page that never changes.
    pub fn index_limit(&self) -> f64 {
        match self {
            Self::Poisson(rate) => mean_lifetime(rate.get()),
            Self::Weibull(weibull) => weibull.ln_limit().exp(),
            Self::Gamma(gamma) => gamma.limit(),
            Self::Classes(classes) => mixture(classes, mean_lifetime),
        }
    }

    /// What V lacks to its limit, exact where it is small.
    pub fn index_shortfall(&self, elapsed: Days) -> f64 {
        let t = elapsed.get();
        match self {
            Self::Poisson(rate) => poisson_shortfall(rate.get(), t),
            Self::Weibull(weibull) => {
                let upper = regularised(weibull.order(), weibull.hazard(t)).ln_upper;
                (weibull.ln_limit() + upper).exp()
            }
            Self::Gamma(gamma) => gamma.shortfall(t),
            Self::Classes(classes) => mixture(classes, |rate| poisson_shortfall(rate, t)),
        }
    }

    /// When V reaches `index`; never if that is not below its limit. Panics if the index is negative.
    pub fn time_of_index(&self, index: f64) -> Days {
        assert!(0.0 <= index);
        let limit = self.index_limit();
        if index == 0.0 && limit > 0.0 {
            return Days::ZERO;
        }
        if limit <= index {
            return Days::FOREVER;
        }
        if 0.6 * limit < index {
            return self.time_of_shortfall(limit - index);
        }
        Days::new(match self {
            Self::Poisson(rate) => freshness_gain_inverse(index * rate.get()) / rate.get(),
            Self::Weibull(weibull) => {
                let z = inverse_of_lower(weibull.order(), index.ln() - weibull.ln_limit());
                weibull.time_of_hazard(z)
            }
            Self::Gamma(_) | Self::Classes(_) => search((2.0 * index).ln(), |ln_t| {
                let t = Days::new(ln_t.exp());
                let value = self.index(t);
                (value.ln() - index.ln(), self.slope(t) / value)
            }),
        })
    }

    /// When what V lacks to its limit has fallen to `shortfall`; never if that is zero. Panics if it is negative or not below
    /// a finite limit.
    pub fn time_of_shortfall(&self, shortfall: f64) -> Days {
        assert!(0.0 <= shortfall);
        assert!(shortfall <= self.index_limit());
        assert!(self.index_limit() < f64::INFINITY);
        if shortfall == 0.0 {
            return Days::FOREVER;
        }
        if shortfall >= 0.5 * self.index_limit() {
            return self.time_of_index(self.index_limit() - shortfall);
        }
        Days::new(match self {
            Self::Poisson(rate) => freshness_gain_inverse_of_complement(shortfall * rate.get()) / rate.get(),
            Self::Weibull(weibull) => {
                let z = inverse_of_upper(weibull.order(), shortfall.ln() - weibull.ln_limit());
                weibull.time_of_hazard(z)
            }
            Self::Gamma(_) | Self::Classes(_) => search(self.index_limit().ln(), |ln_t| {
                let t = Days::new(ln_t.exp());
                let value = self.index_shortfall(t);
                (shortfall.ln() - value.ln(), self.slope(t) / value)
            }),
        })
    }

    /// dV/d(ln t) = −t² S′(t).
    fn slope(&self, elapsed: Days) -> f64 {
        let t = elapsed.get();
        match self {
            Self::Poisson(rate) => poisson_slope(rate.get(), t),
            Self::Weibull(weibull) => {
                let z = weibull.hazard(t);
                weibull.shape * z * t * (-z).exp()
            }
            Self::Gamma(gamma) => {
                let part = t / (gamma.exposure + t);
                gamma.shape * t * part * (-gamma.shape * gamma.log_time(t)).exp()
            }
            Self::Classes(classes) => mixture(classes, |rate| poisson_slope(rate, t)),
        }
    }
}

/// J(a, L) = ∫₀^L (e^u − 1) e^-au du.
///
/// In closed form (1 − e^(−(a−1)L))/(a − 1) − (1 − e^-aL)/a, which cancels for small L and for large a; there the integrand,
/// which is positive and smooth, is integrated.
fn burst_integral(a: f64, l: f64) -> f64 {
    if a < 2.0 && l >= 1.0 {
        return decay_integral(a - 1.0, l) - decay_integral(a, l);
    }
    // Beyond 60/(a − 1) the integrand is below the last digit of the integral.
    let end = if a < 2.0 { l } else { l.min(60.0 / (a - 1.0)) };
    let panels = (a * end / 3.0).ceil().max(1.0);
    let width = end / panels;
    let integrand = |u: f64| u.exp_m1() * (-a * u).exp();
    (0..panels as usize).map(|panel| gauss_legendre(panel as f64 * width, width, integrand)).sum()
}

/// ∫₀^L e^-cu du, for c of any sign.
fn decay_integral(c: f64, l: f64) -> f64 {
    if c >= 0.0 { l * mean_survival(c * l) } else { l * mean_survival(-c * l) * (-c * l).exp() }
}

/// The integral over `[start, start + width]`, exact to the last digits when the function is smooth on the scale of the width.
fn gauss_legendre(start: f64, width: f64, function: impl Fn(f64) -> f64) -> f64 {
    /// Positive nodes and their weights of the rule with ten nodes on [−1, 1].
    const RULE: [(f64, f64); 5] = [
        (0.148_874_338_981_631_2, 0.295_524_224_714_752_9),
        (0.433_395_394_129_247_2, 0.269_266_719_309_996_3),
        (0.679_409_568_299_024_4, 0.219_086_362_515_982),
        (0.865_063_366_688_984_5, 0.149_451_349_150_580_6),
        (0.973_906_528_517_171_7, 0.066_671_344_308_688_14),
    ];
    let (middle, half) = (start + 0.5 * width, 0.5 * width);
    let pair = |(node, weight): &(f64, f64)| {
        weight * (function(middle - node * half) + function(middle + node * half))
    };
    half * RULE.iter().map(pair).sum::<f64>()
}

fn mixture(classes: &[(f64, ChangesPerDay)], of_rate: impl Fn(f64) -> f64) -> f64 {
    classes.iter().map(|(probability, rate)| probability * of_rate(rate.get())).sum()
}

/// λt, where nothing happens in an endless time at no rate.
fn expected_changes(rate: f64, t: f64) -> f64 {
    if rate == 0.0 { 0.0 } else { rate * t }
}

fn no_change(rate: f64, t: f64) -> f64 {
    (-expected_changes(rate, t)).exp()
}

fn poisson_freshness(rate: f64, t: f64) -> f64 {
    mean_survival(expected_changes(rate, t))
}

fn poisson_index(rate: f64, t: f64) -> f64 {
    if rate == 0.0 { 0.0 } else { freshness_gain(rate * t) / rate }
}

fn poisson_shortfall(rate: f64, t: f64) -> f64 {
    let x = expected_changes(rate, t);
    if rate == 0.0 || x == f64::INFINITY { 0.0 } else { (1.0 + x) * (-x).exp() / rate }
}

fn poisson_slope(rate: f64, t: f64) -> f64 {
    rate * t * t * (-expected_changes(rate, t)).exp()
}

/// 1/λ; a rate of zero gains nothing by a visit and counts as zero.
fn mean_lifetime(rate: f64) -> f64 {
    if rate == 0.0 { 0.0 } else { 1.0 / rate }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn weibull(scale: f64, shape: f64) -> Lifetime {
        Lifetime::Weibull(WeibullLifetime::new(scale, shape))
    }

    fn gamma(shape: f64, exposure: f64) -> Lifetime {
        Lifetime::Gamma(GammaLifetime::new(shape, Days::new(exposure)))
    }

    fn poisson(rate: f64) -> Lifetime {
        Lifetime::Poisson(ChangesPerDay::new(rate))
    }

    fn classes() -> Lifetime {
        Lifetime::Classes(vec![
            (0.5, ChangesPerDay::new(0.1)),
            (0.3, ChangesPerDay::new(2.0)),
            (0.2, ChangesPerDay::ZERO),
        ])
    }

    /// Checks V, its shortfall and the mean freshness.
    #[track_caller]
    fn check(lifetime: &Lifetime, t: f64, expected: [f64; 3]) {
        let t = Days::new(t);
        let got = [lifetime.index(t), lifetime.index_shortfall(t), lifetime.mean_freshness(t)];
        for (got, expected) in got.into_iter().zip(expected) {
            assert!(
                got == expected || (got / expected - 1.0).abs() < 1e-11,
                "{lifetime:?}: {got:e}, not {expected:e}"
            );
        }
    }

    #[test]
    fn every_value_keeps_eleven_digits() {
        // Computed with 40 and 80 digits.
        check(&weibull(0.02, 0.58), 1.0, [0.007235206820945471, 1338.152107706077, 0.9874338801277007]);
        check(&weibull(0.3, 1.07), 20.0, [2.9872507655507, 0.013758922026438716, 0.14997387821575434]);
        check(&weibull(0.088, 0.901), 10.0, [2.0923128673778417, 13.514837531989441, 0.7055086897313024]);
        check(&weibull(2.0, 0.72), 1e-06, [4.0068652691541656e-11, 0.47091969741305656, 0.9999443472158162]);
        check(&weibull(1.0, 1.0), 30.0, [0.9999999999970991, 2.900863120340454e-12, 0.03333333333333022]);
        check(&weibull(0.5, 3.0), 0.01, [3.749998928571617e-09, 1.1250836800009405, 0.9999998750000179]);
        check(&gamma(0.3, 1.0), 0.01, [1.4871111470596082e-05, f64::INFINITY, 0.9985064628699204]);
        check(&gamma(0.3, 20.0), 80.0, [10.213557085257749, f64::INFINITY, 0.7447033262857315]);
        check(&gamma(1.5, 1.0), 5.0, [0.8432965103523882, 1.1567034896476118, 0.2367006838144548]);
        check(&gamma(2.5, 20.0), 0.5, [0.014750630146322974, 13.31858270318701, 0.9696365099293761]);
        check(&gamma(2.5, 1.0), 1e-07, [1.2499997083333825e-14, 0.6666666666666542, 0.9999998750000146]);
        check(
            &gamma(1000000.0, 100000.0),
            0.3,
            [0.08008516312127208, 0.019914936878827925, 0.3167378361473012],
        );
        check(&gamma(50.0, 3.0), 4.0, [0.061224489795918366, 1.6537151046171547e-18, 0.015306122448979591]);
        check(&gamma(0.999999, 2.0), 3.0, [0.6325812037878898, f64::INFINITY, 0.6108607677790906]);
    }

    #[test]
    fn the_inverses_undo_the_index_and_its_shortfall() {
        let lifetimes = [
            poisson(0.3),
            weibull(0.088, 0.901),
            weibull(3.0, 0.58),
            weibull(0.2, 1.5),
            gamma(3.0, 5.0),
            gamma(0.7, 5.0),
            classes(),
        ];
        for lifetime in lifetimes {
            for t in [1e-6, 0.01, 0.7, 5.0, 40.0, 150.0] {
                let t = Days::new(t);
                let (index, shortfall) = (lifetime.index(t), lifetime.index_shortfall(t));
                let back = if index < shortfall {
                    lifetime.time_of_index(index)
                } else {
                    lifetime.time_of_shortfall(shortfall)
                };
                assert!((back.get() / t.get() - 1.0).abs() < 1e-9, "{lifetime:?} at {t:?}: {back:?}");
            }
        }
    }

    #[test]
    fn a_threshold_at_the_limit_is_never_reached() {
        for lifetime in [poisson(2.0), weibull(0.5, 0.7), gamma(2.0, 1.0), classes()] {
            assert_eq!(lifetime.time_of_index(lifetime.index_limit()), Days::FOREVER);
            assert_eq!(lifetime.time_of_shortfall(0.0), Days::FOREVER);
            assert_eq!(lifetime.time_of_index(0.0), Days::ZERO);
        }
        assert_eq!(poisson(0.0).time_of_index(0.1), Days::FOREVER);
        assert_eq!(poisson(0.0).time_of_index(0.0), Days::FOREVER);
    }

    proptest! {
        #[test]
        fn special_cases_are_poisson(rate in 0.01..10.0f64, t in 0.001..50.0f64) {
            let (time, exact) = (Days::new(t), poisson(rate));
            let one_class = Lifetime::Classes(vec![(1.0, ChangesPerDay::new(rate))]);
            let much_data = gamma(1e9 * rate, 1e9);
            for (lifetime, tolerance) in [(weibull(rate, 1.0), 1e-12), (one_class, 1e-12), (much_data, 1e-6)] {
                prop_assert!((lifetime.index(time) / exact.index(time) - 1.0).abs() < tolerance);
                prop_assert!((lifetime.mean_freshness(time) / exact.mean_freshness(time) - 1.0).abs() < tolerance);
                prop_assert!((lifetime.survival(time) - exact.survival(time)).abs() < tolerance);
            }
        }

        #[test]
        fn the_index_grows(scale in 0.001..10.0f64, shape in 0.2..3.0f64, t in 0.001..10.0f64) {
            for lifetime in [poisson(scale), weibull(scale, shape), gamma(shape, 1.0 / scale)] {
                prop_assert!(lifetime.index(Days::new(t)) <= lifetime.index(Days::new(1.1 * t)));
            }
        }
    }
}
