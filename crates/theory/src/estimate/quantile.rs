//! Quantiles of the binomial and the gamma distribution, as far as confidence intervals of rates need them.
//!
//! Both are solved by Newton steps on the logarithm of a tail, as a function of the logarithm of the unknown.
//! There the tails are concave, so the steps converge from one side.
//!
//! # Promises
//! - Ten digits for up to 10^9 visits, for gamma shapes from 0.1 to 10^9, and for tails from 1e-12 to 1/2.

use statrs::function::gamma::ln_gamma;

use super::binomial::{ChangeCount, deviance, log_change_probability, stirling_error};
use super::root::root;

/// The r = −ln(1 − p) at which `n` visits find at least `k` changes with probability `tail`; zero for k = 0.
///
/// This is the lower end of the Clopper-Pearson interval of a change probability p, as changes per visit.
pub(super) fn changes_per_visit_at_least(visits: u64, changes_found: u64, tail: f64) -> f64 {
    assert!(changes_found <= visits);
    if changes_found == 0 {
        return 0.0;
    }
    let evaluate = |y: f64| {
        let r = y.exp();
        let odds = r.exp_m1();
        let last = ChangeCount::new(visits, r).log_probability(changes_found);
        let tail_over_last = tail_sum(visits, changes_found, odds);
        // dP/dp = k/p times the last term, and dp/dy = r e^-r; p/q is the odds.
        let slope = changes_found as f64 * r / odds / tail_over_last;
        (last + tail_over_last.ln() - tail.ln(), slope)
    };
    // P{X ≥ k} lies between the probability of one given visit, raised to k, and the
    // union over all choices of k.
    let (n, k) = (visits as f64, changes_found as f64);
    let log_choices = ChangeCount::new(visits, std::f64::consts::LN_2).log_probability(changes_found)
        + n * std::f64::consts::LN_2;
    let least = log_of_rate((tail.ln() - log_choices) / k);
    let most = log_of_rate(tail.ln() / k);
    let start = (-(-wilson_low(n, k, tail)).ln_1p()).ln();
    root(least - 1e-9, most + 1e-9, start, evaluate).exp()
}

/// The r at which `n` visits find at most `k` changes with probability `tail`; infinite for k = n.
pub(super) fn changes_per_visit_at_most(visits: u64, changes_found: u64, tail: f64) -> f64 {
    let unchanged = visits - changes_found;
    if unchanged == 0 {
        return f64::INFINITY;
    }
    // The same with the roles of changed and unchanged visits exchanged: q = 1 − e^-s, so r = −ln q.
    let s = changes_per_visit_at_least(visits, unchanged, tail);
    -log_change_probability(s)
}

/// ln(−ln(1 − p)) for p = e^`log_probability`.
fn log_of_rate(log_probability: f64) -> f64 {
    if log_probability < -30.0 { log_probability } else { (-(-log_probability.exp()).ln_1p()).ln() }
}

/// The lower end of the score interval of k of n, where the search for the exact one begins.
fn wilson_low(n: f64, k: f64, tail: f64) -> f64 {
    let z = statrs::function::erf::erfc_inv(2.0 * tail) * std::f64::consts::SQRT_2;
    let z2 = z * z;
    let spread = z * (k * (n - k) / n + 0.25 * z2).sqrt();
    // k² divided by the conjugate: the plain difference cancels for few changes.
    let low = k * k / n / (k + 0.5 * z2 + spread);
    low.clamp(1e-300, 1.0 - 1e-16)
}

/// P{X ≥ k} / P{X = k} as the sum of the falling products of (n − j)/(j + 1) times the odds p/q.
fn tail_sum(visits: u64, changes_found: u64, odds: f64) -> f64 {
    let n = visits as f64;
    let mut j = changes_found as f64;
    let (mut term, mut sum) = (1.0, 1.0);
    while j < n {
        term *= (n - j) / (j + 1.0) * odds;
        sum += term;
        if term < 1e-17 * sum || sum > SUM_MAX {
            break;
        }
        j += 1.0;
    }
    sum
}

/// Limit of a tail sum. A larger sum means that the rate is far too high, which is all that
/// the search needs to know.
const SUM_MAX: f64 = 1e290;

/// The x below which a gamma variable of this shape (and scale one) lies with probability `tail`.
pub(super) fn gamma_low(shape: f64, tail: f64) -> f64 {
    let target = tail.ln();
    let evaluate = |y: f64| {
        let x = y.exp();
        let (log_low, _) = log_gamma_tails(shape, x);
        (log_low - target, (log_gamma_mass(shape, x) - log_low).exp())
    };
    // P ≤ x^a/Γ(a + 1) gives the lower end. The median is below the shape, and so is every quantile below it.
    let least = (target + ln_gamma(shape + 1.0)) / shape;
    let most = shape.ln();
    root(least.min(most) - 1e-9, most + 1e-9, wilson_hilferty(shape, tail, -1.0), evaluate).exp()
}

/// The x above which a gamma variable of this shape (and scale one) lies with probability `tail`.
pub(super) fn gamma_high(shape: f64, tail: f64) -> f64 {
    let target = tail.ln();
    let evaluate = |y: f64| {
        let x = y.exp();
        let (_, log_high) = log_gamma_tails(shape, x);
        (target - log_high, (log_gamma_mass(shape, x) - log_high).exp())
    };
    let least = ((-tail).ln_1p() + ln_gamma(shape + 1.0)) / shape;
    // Chernoff: the tail beyond a + √(2 a L) + L, L = −ln tail, is below e^-L.
    let most = (shape + (-2.0 * target * shape).sqrt() - target).ln();
    root(least.min(most) - 1e-9, most + 1e-9, wilson_hilferty(shape, tail, 1.0), evaluate).exp()
}

/// ln x of the Wilson-Hilferty approximation of a quantile, where the search for the exact one begins.
fn wilson_hilferty(shape: f64, tail: f64, side: f64) -> f64 {
    let z = side * statrs::function::erf::erfc_inv(2.0 * tail) * std::f64::consts::SQRT_2;
    let cube_root = 1.0 - 1.0 / (9.0 * shape) + z / (3.0 * shape.sqrt());
    if cube_root > 0.0 { shape.ln() + 3.0 * cube_root.ln() } else { f64::MIN }
}

/// ln of x times the density, x^a e^-x / Γ(a), computed from its deviance from the shape.
fn log_gamma_mass(shape: f64, x: f64) -> f64 {
    if shape < 1.0 {
        return shape * x.ln() - x - ln_gamma(shape);
    }
    0.5 * (shape / (2.0 * std::f64::consts::PI)).ln() - stirling_error(shape) - deviance(shape, x)
}

/// ln P(a, x) and ln Q(a, x): the two tails of the gamma distribution.
fn log_gamma_tails(shape: f64, x: f64) -> (f64, f64) {
    let mass = log_gamma_mass(shape, x);
    if x < shape + 1.0 {
        // P = mass/a · (1 + x/(a+1) + x²/((a+1)(a+2)) + …)
        let (mut term, mut sum, mut a) = (1.0, 1.0, shape);
        while term > 1e-17 * sum {
            a += 1.0;
            term *= x / a;
            sum += term;
        }
        let low = (mass - shape.ln() + f64::ln(sum)).min(0.0);
        (low, (-low.exp()).ln_1p())
    } else {
        let high = (mass + continued_fraction(shape, x).ln()).min(0.0);
        ((-high.exp()).ln_1p(), high)
    }
}

/// Q(a, x) Γ(a) / (x^a e^-x), by Lentz's evaluation of its continued fraction. Requires x ≥ a + 1.
fn continued_fraction(shape: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let mut b = x + 1.0 - shape;
    let mut c = 1.0 / TINY;
    let mut d = 1.0 / b;
    let mut fraction = d;
    let mut i = 1.0;
    while i < FRACTION_STEPS_MAX {
        let a = -i * (i - shape);
        b += 2.0;
        d = 1.0 / (a * d + b);
        c = b + a / c;
        let factor = c * d;
        fraction *= factor;
        if (factor - 1.0).abs() < 1e-16 {
            break;
        }
        i += 1.0;
    }
    fraction
}

/// Limit of the steps. The fraction needs a few times √a steps, so no shape below 10^12 reaches it.
const FRACTION_STEPS_MAX: f64 = 1e7;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(got: f64, expected: f64) {
        assert!((got / expected - 1.0).abs() < 1e-10, "{got:e} is not {expected:e}");
    }

    #[test]
    fn exact_binomial_ends_agree_with_quantiles_of_the_beta_distribution() {
        for (visits, changes_found, low, high) in [
            (10, 3, 0.0690709222232607, 1.05685493990085),
            (1000, 1, 2.53178079842899e-5, 0.00557443259915286),
            (1000, 999, 5.19235066428965, 10.5840151958136),
            (1_000_000, 500_000, 0.691188139125935, 0.695110067371782),
            (1_000_000_000, 3, 6.186721235142734e-10, 8.767273082893236e-09),
            (1_000_000_000, 999_999_998, 18.74576183587544, 22.14121897573437),
        ] {
            check(changes_per_visit_at_least(visits, changes_found, 0.025), low);
            check(changes_per_visit_at_most(visits, changes_found, 0.025), high);
        }
    }

    #[test]
    fn thin_tails_and_medians_keep_ten_digits() {
        check(changes_per_visit_at_least(30, 7, 1e-12), 0.0024436923055644907);
        check(changes_per_visit_at_most(30, 7, 1e-12), 1.7793023538178714);
        check(changes_per_visit_at_least(30, 7, 0.5), 0.24827751180062366);
        check(changes_per_visit_at_most(30, 7, 0.5), 0.29143432868831126);
    }

    #[test]
    fn none_changed_and_all_changed_leave_one_end_open() {
        assert_eq!(changes_per_visit_at_least(10, 0, 0.025), 0.0);
        check(changes_per_visit_at_most(10, 0, 0.025), 0.368887945411394);
        check(changes_per_visit_at_least(10, 10, 0.025), 1.17604281066035);
        assert_eq!(changes_per_visit_at_most(10, 10, 0.025), f64::INFINITY);
    }

    #[test]
    fn gamma_quantiles_keep_ten_digits() {
        for (shape, tail, low, high) in [
            (0.5, 0.025, 0.0004910345585876278, 2.511943093657445),
            (0.5, 1e-6, 7.853981633978593e-13, 11.964063488467414),
            (1.0, 0.025, 0.025317807984289876, 3.6888794541139363),
            (1.0, 0.5, 0.6931471805599455, 0.6931471805599455),
            (3.7, 0.025, 0.9408724643775055, 8.312977261150271),
            (3.7, 1e-6, 0.050610571164472734, 20.70130816773577),
            (3.7, 1e-12, 0.001196900557404844, 35.95051409695515),
            (0.1, 1e-12, 6.073048362407883e-121, 22.537026473243614),
            (40.0, 0.025, 28.576586441788965, 53.31428386583285),
            (1e4, 0.025, 9804.952467260184, 10196.941824999883),
            (1e9, 0.025, 999938021.4439279, 1000061980.450378),
        ] {
            check(gamma_low(shape, tail), low);
            check(gamma_high(shape, tail), high);
        }
    }
}
