//! Survival of a page whose rate has a gamma distribution: S(t) = (b/(b + t))^a.
//!
//! A rate with shape `a` and exposure `b` (mean a/b), as it follows from a history of visits, makes the
//! survival of a copy a power of time. With y = ln(1 + t/b) the index is
//!
//! > V = b v(y),  v(y) = a ∫₀^y (e^s − 1) e^-as ds = a (1 − e^-(a−1)y)/(a − 1) − (1 − e^-ay)
//!
//! Up to a = 1 it has no ceiling: the rate may be so small that the mean lifetime of a copy is infinite, and
//! every page is visited. Above, the ceiling is b/(a − 1), and 1 − V/ceiling = e^-(a−1)y (a − (a − 1)e^-y).
//!
//! # Promises
//! - Those of [`super::law`], for shapes from 1e-3 to 1e6, continuous through a = 1.
//!
//! # Departures
//! None: the formula is that of the policy's index for a gamma posterior, in a form that does not cancel.

use super::law::{Survival, solve};
use crate::numerics::mean_change_probability;
use crate::refresh::inverse::log_complement_of_freshness;
use crate::units::Days;

/// Survival of a copy of a page whose rate has a gamma distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GammaPosterior {
    shape: f64,
    exposure: f64,
}

impl GammaPosterior {
    /// Creates the law from the shape `a` and the exposure `b` of the rate. Its mean is a/b changes per day.
    ///
    /// Panics unless the shape is above zero and finite, and the exposure too.
    pub fn new(shape: f64, exposure: Days) -> Self {
        assert!(0.0 < shape);
        assert!(shape.is_finite());
        assert!(Days::ZERO < exposure);
        assert!(exposure < Days::FOREVER);
        Self { shape, exposure: exposure.get() }
    }

    /// ln(1 + t/b).
    fn log_time(&self, time: Days) -> f64 {
        (time.get() / self.exposure).ln_1p()
    }

    fn time_of(&self, log_time: f64) -> Days {
        Days::new(self.exposure * log_time.exp_m1())
    }

    /// v(y).
    fn index_of(&self, y: f64) -> f64 {
        let a = self.shape;
        if y == 0.0 {
            return 0.0;
        }
        if a > 1.0 {
            -(-self.log_complement_of(y)).exp_m1() / (a - 1.0)
        } else if y < 0.3 {
            self.index_series(y)
        } else {
            a * y * mean_power(a - 1.0, y) + (-a * y).exp_m1()
        }
    }

    /// a Σ ((1 − a)^n − (−a)^n) y^(n+1)/(n + 1)! over n ≥ 1, for a ≤ 1: each term is
    /// below a third of the last.
    fn index_series(&self, y: f64) -> f64 {
        let a = self.shape;
        let (mut difference, mut power, mut term, mut sum) = (1.0, -a, y * y / 2.0, 0.0);
        for n in 1..20 {
            sum += difference * term;
            difference = (1.0 - a) * difference + power;
            power *= -a;
            term *= y / f64::from(n + 2);
        }
        a * sum
    }
}

/// (1 − e^-cy)/(cy) for `c` of either sign.
fn mean_power(c: f64, y: f64) -> f64 {
    let x = c * y;
    if x.abs() < 1e-5 { 1.0 - x * (0.5 - x / 6.0) } else { -(-x).exp_m1() / x }
}

impl Survival for GammaPosterior {
    fn survival(&self, since_visit: Days) -> f64 {
        (-self.shape * self.log_time(since_visit)).exp()
    }

    fn mean_freshness(&self, visit_interval: Days) -> f64 {
        let (a, y) = (self.shape, self.log_time(visit_interval));
        if y == 0.0 {
            1.0
        } else if y == f64::INFINITY {
            0.0
        } else if (a - 1.0) * y > -600.0 {
            y * (-y).exp() * mean_power(a - 1.0, y) / -(-y).exp_m1()
        } else {
            // The limit of the same when e^(1−a)y overflows.
            (-a * y).exp() / (1.0 - a)
        }
    }

    fn index(&self, since_visit: Days) -> f64 {
        if since_visit == Days::FOREVER {
            return self.index_ceiling();
        }
        self.exposure * self.index_of(self.log_time(since_visit))
    }

    fn index_ceiling(&self) -> f64 {
        if self.shape <= 1.0 { f64::INFINITY } else { self.exposure / (self.shape - 1.0) }
    }

    fn due_after(&self, index: f64) -> Days {
        assert!(0.0 <= index);
        let ceiling = self.index_ceiling();
        if index >= ceiling {
            return Days::FOREVER;
        }
        if index > 0.5 * ceiling {
            return self.due_after_log_complement(-((ceiling - index) / ceiling).ln());
        }
        let target = index / self.exposure;
        if target == 0.0 {
            return Days::ZERO;
        }
        let a = self.shape;
        let start = (2.0 * target / a).sqrt();
        let y = solve(start, |y| {
            let v = self.index_of(y);
            // a (e^y − 1) e^-ay = a (1 − e^-y) e^-(a−1)y is the derivative.
            let derivative = -a * (-y).exp_m1() * (-(a - 1.0) * y).exp();
            (v.ln() - target.ln(), y * derivative / v)
        });
        self.time_of(y)
    }

    fn due_after_log_complement(&self, log_complement: f64) -> Days {
        if log_complement == 0.0 || log_complement == f64::INFINITY {
            return Days::new(log_complement);
        }
        let c = self.shape - 1.0;
        let start = log_complement / c;
        let y = solve(start, |y| {
            let stale = -(-y).exp_m1();
            let value = self.log_complement_of(y);
            (value.ln() - log_complement.ln(), y * c * self.shape * stale / (1.0 + c * stale) / value)
        });
        self.time_of(y)
    }

    fn log_complement(&self, since_visit: Days) -> f64 {
        self.log_complement_of(self.log_time(since_visit))
    }

    fn growth(&self, since_visit: Days, index: f64) -> f64 {
        let y = self.log_time(since_visit);
        let stale = -(-y).exp_m1();
        self.shape * stale * stale * (-(self.shape - 1.0) * y).exp() * (self.exposure / index)
    }

    fn in_units_of(&self, unit: f64) -> Self {
        Self { shape: self.shape, exposure: (self.exposure / unit).clamp(f64::MIN_POSITIVE, f64::MAX) }
    }
}

impl GammaPosterior {
    /// (a − 1)y − ln(a − (a − 1)e^-y) as a sum of two terms that do not cancel.
    fn log_complement_of(&self, y: f64) -> f64 {
        let c = self.shape - 1.0;
        let q = -c * (-y).exp_m1();
        if y == f64::INFINITY {
            y
        } else {
            c * y * mean_change_probability(y) + log_complement_of_freshness(q)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::law::checks::{check_law, times};
    use super::*;

    fn law(shape: f64, exposure: f64) -> GammaPosterior {
        GammaPosterior::new(shape, Days::new(exposure))
    }

    #[test]
    fn index_and_inverse_agree() {
        for shape in [1e-3, 0.3, 0.999_999, 1.0, 1.000_001, 1.5, 4.0, 60.0, 1e4] {
            check_law(&law(shape, 3.0), times().filter(|t| *t < 1e4));
        }
    }

    #[track_caller]
    fn check(shape: f64, exposure: f64, time: f64, expected: f64) {
        let index = law(shape, exposure).index(Days::new(time));
        assert!((index / expected - 1.0).abs() < 1e-12, "{index:e}");
    }

    #[test]
    fn the_index_is_that_of_the_printed_formula() {
        // b/(a−1) (1 − (b/(b+t))^(a−1)) − t (b/(b+t))^a with 60 digits.
        check(2.5, 3.0, 1.0, 0.2138226046945953);
        check(2.5, 3.0, 1e-6, 4.1666634259277487e-13);
        check(1.0, 2.0, 5.0, 1.0769545084193075);
        check(0.4, 2.0, 50.0, 6.6271884879150385);
    }
}
