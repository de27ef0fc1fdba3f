//! Regularised incomplete gamma functions and their inverse, accurate in both tails.
//!
//! > P(a, z) = γ(a, z)/Γ(a),  Q(a, z) = 1 − P(a, z)
//!
//! P is computed by Kummer's series below z = a + 1 and Q by Legendre's continued fraction above, both
//! times the common factor z^a e^-z/Γ(a). The other one is one minus it, where that loses nothing. The
//! inverse uses Halley's method.
//!
//! # Promises
//! - Ten digits of P, of −ln Q and of the inverse for `a` from 1 to 200; four digits less at
//!   a = 1e6, where lnΓ has lost them.

use std::sync::LazyLock;

use statrs::function::gamma::ln_gamma;

use crate::refresh::tabulated::Tabulated;

/// ln Γ(1 + x) for x ≥ 0.
#[inline]
pub(super) fn ln_gamma_of_one_plus(x: f64) -> f64 {
    const END: f64 = 32.0;
    static TABLE: LazyLock<Tabulated> = LazyLock::new(|| Tabulated::new(END, 16.0, |x| ln_gamma(1.0 + x)));
    if x < END { TABLE.at(x) } else { ln_gamma(1.0 + x) }
}

/// The gamma distribution with shape a = 1 + `shape_over_one`, and ln Γ(a).
#[derive(Clone, Copy, Debug)]
pub(super) struct Gamma {
    shape: f64,
    ln_gamma: f64,
}

/// The logarithm of a tail at some z, and its slope in ln z.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tail {
    pub(super) value: f64,
    pub(super) slope: f64,
}

impl Gamma {
    /// Creates the distribution from its shape minus one.
    #[inline]
    pub(super) fn one_plus(shape_over_one: f64) -> Self {
        Self { shape: 1.0 + shape_over_one, ln_gamma: ln_gamma_of_one_plus(shape_over_one) }
    }

    /// ln Γ(a).
    #[inline]
    pub(super) fn ln_gamma(&self) -> f64 {
        self.ln_gamma
    }

    /// ln of z^a e^-z/Γ(a), the density times z.
    #[inline]
    pub(super) fn log_mass(&self, z: f64, log_z: f64) -> f64 {
        self.shape * log_z - z - self.ln_gamma
    }

    /// ln P(a, z) for z above zero and finite.
    #[inline]
    pub(super) fn log_below(&self, z: f64, log_z: f64) -> Tail {
        let (a, log_mass) = (self.shape, self.log_mass(z, log_z));
        if z < a + 1.0 {
            // P = mass · kummer/a, and its slope in ln z is the mass.
            let part = kummer(a, z) / a;
            Tail { value: log_mass + part.ln(), slope: 1.0 / part }
        } else {
            let below = 1.0 - log_mass.exp() * legendre(a, z);
            Tail { value: below.ln(), slope: log_mass.exp() / below }
        }
    }

    /// −ln Q(a, z) for z above zero and finite.
    pub(super) fn log_above(&self, z: f64, log_z: f64) -> Tail {
        let (a, log_mass) = (self.shape, self.log_mass(z, log_z));
        if z < a + 1.0 {
            // This near to its mode Q has no fewer digits than P.
            let value = -(-log_mass.exp() * kummer(a, z) / a).ln_1p();
            Tail { value, slope: (log_mass + value).exp() }
        } else {
            let part = legendre(a, z);
            Tail { value: -log_mass - part.ln(), slope: 1.0 / part }
        }
    }

    /// The ln z at which ln P(a, z) = `log_below`, and the slope of ln P there. The search begins at
    /// `log_start`. P must not be near one.
    #[inline]
    pub(super) fn inverse_of_log_below(&self, log_below: f64, log_start: f64) -> (f64, f64) {
        solve(log_start, |z, log_z| {
            let Tail { value, slope } = self.log_below(z, log_z);
            Solving { excess: value - log_below, slope, bend: self.shape - z - slope }
        })
    }

    /// The ln z at which −ln Q(a, z) = `log_above`, which is above zero.
    pub(super) fn inverse_of_log_above(&self, log_above: f64) -> f64 {
        if log_above < 1.0 {
            // There its logarithm is nearly linear, like that of P.
            let log_start = self.log_start((-(-log_above).exp_m1()).ln());
            let (log_z, _) = solve(log_start, |z, log_z| {
                let Tail { value, slope } = self.log_above(z, log_z);
                let relative = slope / value;
                Solving {
                    excess: (value / log_above).ln(),
                    slope: relative,
                    bend: self.shape - z + slope - relative,
                }
            });
            return log_z;
        }
        let (log_z, _) = solve((self.shape + log_above).ln(), |z, log_z| {
            let Tail { value, slope } = self.log_above(z, log_z);
            Solving { excess: value - log_above, slope, bend: self.shape - z + slope }
        });
        log_z
    }

    /// An approximation of the ln z at which ln P has this value, better for smaller P: four terms of z in
    /// powers of the root w of z^a/Γ(a + 1) = P (DiDonato and Morris, 1986).
    #[inline]
    pub(super) fn log_start(&self, log_below: f64) -> f64 {
        let a = self.shape;
        let log_w = (log_below + self.ln_gamma + a.ln()) / a;
        let w = log_w.exp().min(1.5);
        let b = a + 1.0;
        let third = (3.0 * a + 5.0) / (2.0 * b * b * (a + 2.0));
        let fourth = (8.0 * a * a + 33.0 * a + 31.0) / (3.0 * b * b * b * (a + 2.0) * (a + 3.0));
        log_w + (w * (1.0 / b + w * (third + w * fourth))).ln_1p()
    }
}

/// Σ z^n/((a + 1)…(a + n)) over n ≥ 0, for z < a + 1.
#[inline]
pub(super) fn kummer(a: f64, z: f64) -> f64 {
    let (mut sum, mut term, mut n) = (1.0, 1.0, a);
    // Below z = a + 1 the terms fall from the first on, and a few times √a of them matter. Four are computed
    // at a time, so that their divisions do not wait for each other.
    for _ in 0..KUMMER_TERMS_MAX / 4 {
        let [p, q, r, s] = [z / (n + 1.0), z / (n + 2.0), z / (n + 3.0), z / (n + 4.0)];
        let (pq, rs) = (p * q, r * s);
        sum += term * ((p + pq) + pq * (r + rs));
        term *= pq * rs;
        n += 4.0;
        if term < 1e-17 * sum {
            break;
        }
    }
    sum
}

const KUMMER_TERMS_MAX: usize = 100_000;

/// Γ(a, z) e^z/z^a by Lentz's method, for z ≥ a + 1.
fn legendre(a: f64, z: f64) -> f64 {
    let mut b = z + 1.0 - a;
    let mut c = f64::MAX;
    let mut d = 1.0 / b;
    let mut fraction = d;
    for n in 1..LEGENDRE_TERMS_MAX {
        let n = f64::from(n);
        let numerator = -n * (n - a);
        b += 2.0;
        d = 1.0 / (numerator * d + b);
        c = b + numerator / c;
        let factor = c * d;
        fraction *= factor;
        if (factor - 1.0).abs() < 1e-16 {
            break;
        }
    }
    fraction
}

const LEGENDRE_TERMS_MAX: u32 = 100_000;

/// Value and derivatives of a function of ln z whose root is searched.
#[derive(Clone, Copy)]
struct Solving {
    /// The value; zero at the root.
    excess: f64,
    /// Its slope.
    slope: f64,
    /// The second derivative divided by the first.
    bend: f64,
}

/// Solves by Halley's method in ln z, within brackets that it finds itself; returns the
/// root and the slope there.
#[inline]
fn solve(log_start: f64, function: impl Fn(f64, f64) -> Solving) -> (f64, f64) {
    let mut log_z = log_start.clamp(-LOG_MAX, LOG_MAX);
    let (mut low, mut high) = (-2.0 * LOG_MAX, 2.0 * LOG_MAX);
    let mut slope_there = 0.0;
    for _ in 0..INVERSE_PASSES_MAX {
        let Solving { excess, slope, bend } = function(log_z.exp(), log_z);
        if excess > 0.0 {
            high = log_z;
        } else {
            low = log_z;
        }
        // Newton's step where the bend would reverse Halley's.
        let newton = -excess / slope;
        let turn = 1.0 + 0.5 * newton * bend;
        let step = if turn > 0.5 { newton / turn } else { newton };
        let next = log_z + step.clamp(-20.0, 20.0);
        slope_there = slope * (1.0 + bend * step);
        // The step after this one would be of the order of its cube.
        if step.abs() < 3e-5 {
            return (next, slope_there);
        }
        log_z = if low < next && next < high { next } else { 0.5 * (low + high) };
    }
    (log_z, slope_there)
}

/// The root is searched within e^±690.
const LOG_MAX: f64 = 690.0;

const INVERSE_PASSES_MAX: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(a: f64, z: f64, below: f64, log_above: f64) {
        let gamma = Gamma::one_plus(a - 1.0);
        let (got_below, got_above) =
            (gamma.log_below(z, z.ln()).value.exp(), gamma.log_above(z, z.ln()).value);
        assert!((got_below / below - 1.0).abs() < 1e-11, "P({a}, {z}) = {got_below:e}");
        assert!((got_above / log_above - 1.0).abs() < 1e-11, "-ln Q({a}, {z}) = {got_above:e}");
        let back = gamma.inverse_of_log_above(log_above).exp();
        assert!((back / z - 1.0).abs() < 1e-10, "{a}, {z} came back as {back} from above");
        for start in [1e-9, 0.9 * z, 1.0, 1e6, gamma.log_start(below.ln()).exp()] {
            let (log_z, slope) = gamma.inverse_of_log_below(below.ln(), start.ln());
            let back = log_z.exp();
            assert!(below > 0.9 || (back / z - 1.0).abs() < 1e-10, "{a}, {z} came back as {back} from below");
            let exact = gamma.log_below(back, log_z).slope;
            assert!(below > 0.9 || (slope / exact - 1.0).abs() < 1e-7, "slope {slope}, not {exact}");
        }
    }

    #[test]
    fn both_tails_keep_eleven_digits() {
        check(1.1, 1e-8, 1.5144907969128735e-09, 1.5144907980597145e-09);
        check(1.1, 0.01, 0.005997821164551594, 0.006015880340592776);
        check(1.1, 1.0, 0.5891809618706485, 0.8896024579671368);
        check(1.1, 3.5, 0.963175023205294, 3.301578946784192);
        check(1.1, 12.0, 0.9999916552510645, 11.693878086927269);
        check(1.1, 60.0, 1.0, 59.539052027447134);
        check(1.1, 700.0, 1.0, 699.2948768614469);
        check(2.0, 1e-8, 4.999999966666667e-17, 4.999999966666667e-17);
        check(2.0, 0.01, 4.966791334026589e-05, 4.966914683191715e-05);
        check(2.0, 1.0, 0.2642411176571154, 0.3068528194400547);
        check(2.0, 3.5, 0.8641117745995668, 1.9959226032237258);
        check(2.0, 12.0, 0.9999201252394068, 9.435050642538464);
        check(2.0, 60.0, 1.0, 55.889126135826686);
        check(2.0, 700.0, 1.0, 693.4474921129654);
        check(2.7, 1e-8, 6.022767047919288e-23, 6.022767047919288e-23);
        check(2.7, 0.01, 9.476060057078839e-07, 9.476064546867386e-07);
        check(2.7, 1.0, 0.11816076225543164, 0.12574550971943968);
        check(2.7, 3.5, 0.7407366308971257, 1.3499108648207179);
        check(2.7, 12.0, 0.999687510868765, 8.070940869440648);
        check(2.7, 60.0, 1.0, 53.44617560615325);
        check(2.7, 700.0, 1.0, 689.295555935218);
        check(11.0, 1e-8, 2.5052108155797393e-96, 2.5052108155797393e-96);
        check(11.0, 0.01, 2.482352068247564e-30, 2.482352068247564e-30);
        check(11.0, 1.0, 1.0047766375690937e-08, 1.0047766426169741e-08);
        check(11.0, 3.5, 0.001019394437617005, 0.0010199143735032605);
        check(11.0, 12.0, 0.6527705824458283, 1.0577695718065494);
        check(11.0, 60.0, 0.9999999999999982, 33.98245995547752);
        check(11.0, 700.0, 1.0, 649.5792414274707);
        check(101.0, 1.0, 3.94147589063752e-161, 3.94147589063752e-161);
        check(101.0, 3.5, 2.9626161723538723e-107, 2.9626161723538723e-107);
        check(101.0, 12.0, 7.340576265861183e-57, 7.340576265861183e-57);
        check(101.0, 60.0, 8.685389315683087e-07, 8.685393087484649e-07);
        check(101.0, 700.0, 1.0, 408.4774680374917);
    }

    #[test]
    fn the_logarithm_of_the_gamma_function_keeps_its_digits() {
        for k in 0..4000 {
            let x = f64::from(k) / 100.0;
            let (got, want) = (ln_gamma_of_one_plus(x), ln_gamma(1.0 + x));
            assert!((got - want).abs() < 3e-14 * (1.0 + want), "{x}: {got:e}, not {want:e}");
        }
    }
}
