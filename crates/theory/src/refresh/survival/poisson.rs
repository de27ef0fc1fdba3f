//! Survival of a page that changes at a known rate: S(t) = e^-λt.
//!
//! Implements the threshold form of the thesis, section 5.5.4: with x = λt the index is g(x)/λ,
//! g(x) = 1 − (1 + x)e^-x.
//!
//! # Promises
//! - Those of [`super::law`], from λt = 1e-140 on.

use super::law::Survival;
use crate::numerics::{freshness_gain, mean_survival};
use crate::refresh::inverse::{FreshnessCurve, log_complement_of_freshness};
use crate::units::{ChangesPerDay, Days};

/// Survival of a copy of a page that changes at a known rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PoissonSurvival {
    /// The rate.
    pub change_rate: ChangesPerDay,
}

impl PoissonSurvival {
    fn exposure(&self, time: Days) -> f64 {
        if self.change_rate == ChangesPerDay::ZERO { 0.0 } else { self.change_rate.get() * time.get() }
    }

    fn time_of(&self, exposure: f64) -> Days {
        Days::new(exposure / self.change_rate.get())
    }
}

impl Survival for PoissonSurvival {
    fn survival(&self, since_visit: Days) -> f64 {
        (-self.exposure(since_visit)).exp()
    }

    fn mean_freshness(&self, visit_interval: Days) -> f64 {
        mean_survival(self.exposure(visit_interval))
    }

    fn index(&self, since_visit: Days) -> f64 {
        if self.change_rate == ChangesPerDay::ZERO {
            return 0.0;
        }
        freshness_gain(self.exposure(since_visit)) / self.change_rate.get()
    }

    fn index_ceiling(&self) -> f64 {
        if self.change_rate == ChangesPerDay::ZERO { 0.0 } else { 1.0 / self.change_rate.get() }
    }

    fn due_after(&self, index: f64) -> Days {
        assert!(0.0 <= index);
        if index >= self.index_ceiling() {
            return if index == 0.0 { Days::ZERO } else { Days::FOREVER };
        }
        let gain = index * self.change_rate.get();
        let curve = FreshnessCurve::get();
        if gain < FreshnessCurve::GAIN_END {
            self.time_of(curve.at_gain(gain))
        } else {
            self.due_after_log_complement(-(-gain).ln_1p())
        }
    }

    fn due_after_log_complement(&self, log_complement: f64) -> Days {
        self.time_of(FreshnessCurve::get().at_log_complement(log_complement))
    }

    fn log_complement(&self, since_visit: Days) -> f64 {
        log_complement_of_freshness(self.exposure(since_visit))
    }

    fn growth(&self, since_visit: Days, index: f64) -> f64 {
        let x = self.exposure(since_visit);
        x * x * (-x).exp() / (index * self.change_rate.get())
    }

    fn in_units_of(&self, unit: f64) -> Self {
        Self { change_rate: ChangesPerDay::new((self.change_rate.get() * unit).min(f64::MAX)) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::law::checks::{check_law, times};
    use super::*;

    fn law(change_rate: f64) -> PoissonSurvival {
        PoissonSurvival { change_rate: ChangesPerDay::new(change_rate) }
    }

    #[test]
    fn index_and_inverse_agree() {
        for rate in [1e-3, 1.0, 40.0] {
            check_law(&law(rate), times().map(|x| x / rate));
        }
    }

    #[test]
    fn a_page_that_never_changes_is_never_due() {
        assert_eq!(law(0.0).due_after(1e-9), Days::FOREVER);
        assert_eq!(law(0.0).index(Days::new(1e9)), 0.0);
        assert_eq!(law(0.0).mean_freshness(Days::FOREVER), 1.0);
        assert_eq!(law(3.0).due_after(1.0 / 3.0), Days::FOREVER);
        assert_eq!(law(3.0).due_after(0.0), Days::ZERO);
    }
}
