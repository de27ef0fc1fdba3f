//! Poisson change process: a page that changes at random with a fixed rate.
//!
//! Implements the thesis, section 4.6, Lemma 4.1: the time `T` to the next change of a
//! Poisson process of rate `λ` has
//!
//! > P(T > t) = e^-λt
//!
//! # Promises
//! - It has no memory: it looks the same from a change and from any other time.
//! - A rate of zero is a page that never changes.
//!
//! # Departures
//! None.

use rand::Rng;
use rand_distr::{Distribution as _, Exp1};

use super::change_process::{ChangeProcess, Since, changes_until};
use crate::units::{ChangesPerDay, Days};

/// A Poisson process of changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Poisson {
    /// Its rate.
    pub change_rate: ChangesPerDay,
}

impl ChangeProcess for Poisson {
    fn mean_rate(&self) -> ChangesPerDay {
        self.change_rate
    }

    fn survival(&self, elapsed: Days, _since: Since) -> f64 {
        if self.change_rate == ChangesPerDay::ZERO {
            return 1.0;
        }
        (-self.change_rate.get() * elapsed.get()).exp()
    }

    fn sample(&self, horizon: Days, _since: Since, random: &mut impl Rng) -> Vec<f64> {
        if self.change_rate == ChangesPerDay::ZERO {
            return Vec::new();
        }
        let mut interval = || -> f64 {
            let standard: f64 = Exp1.sample(random);
            standard / self.change_rate.get()
        };
        changes_until(horizon, interval(), interval)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::change_process::agreement;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng as _;

    #[test]
    fn samples_agree_with_the_theory() {
        agreement::check(&Poisson { change_rate: ChangesPerDay::new(0.4) });
    }

    #[test]
    fn a_page_of_rate_zero_never_changes() {
        let never = Poisson { change_rate: ChangesPerDay::ZERO };
        assert_eq!(never.survival(Days::FOREVER, Since::AnyTime), 1.0);
        let mut random = ChaCha8Rng::seed_from_u64(0);
        assert!(never.sample(Days::FOREVER, Since::Change, &mut random).is_empty());
    }

    #[test]
    fn the_past_does_not_matter() {
        let process = Poisson { change_rate: ChangesPerDay::new(2.0) };
        let survival = |since| process.survival(Days::new(0.7), since);
        assert_eq!(survival(Since::Change), survival(Since::AnyTime));
        assert!((survival(Since::Change) - 0.246_596_963_941_606_5).abs() < 1e-15);
    }
}
