//! The objective, and what visiting a page is worth under it.
//!
//! What detects the most changes is not what keeps the copy freshest, so the index is a setting. With L the exposure (changes to
//! expect since the last visit), x the clock time and t the wall time since then, w the importance:
//!
//! > changes 1 − e^-L, mix w (1 − e^-L) t^0.3, fresh w g(L)/L (x t)^(p/2), age w G(L) x t
//!
//! with g and G of [`freshet_theory::numerics`]. The thesis's threshold rule, visit when the gain of a visit reaches a common
//! level, is `fresh` with one rate in past and future; the exponents keep a burst in the past from looking like a fast future.

use freshet_theory::numerics::{age_gain, freshness_gain};

/// What the copy is kept for.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Objective {
    /// The most changes found per download: an archive of versions.
    Changes,
    /// The largest part of the copy up to date.
    Fresh,
    /// Nearly the best of both.
    #[default]
    Mix,
    /// The least time that copies have been out of date.
    Age,
}

/// Exponent of wall time in `mix`.
const MIX_EXPONENT: f32 = 0.3;

/// What is known of a page at the moment of choice.
#[derive(Clone, Copy, Debug)]
pub(super) struct Standing {
    /// Changes to expect since the last visit.
    pub(super) exposure: f32,
    /// Clock time since the last visit, in ticks.
    pub(super) clock_time: f32,
    /// Wall time since the last visit, in ticks.
    pub(super) wall_time: f32,
    /// Importance of the page.
    pub(super) importance: f32,
}

/// What a visit is worth. `fresh_exponent` is the p of `fresh`.
pub(super) fn index(objective: Objective, standing: &Standing, fresh_exponent: f32) -> f32 {
    let Standing { exposure, clock_time, wall_time, importance } = *standing;
    let changed = -(-exposure).exp_m1();
    let exact = f64::from(exposure);
    match objective {
        Objective::Changes => changed,
        Objective::Mix => importance * changed * wall_time.powf(MIX_EXPONENT),
        Objective::Fresh => {
            let gain = (freshness_gain(exact) / exact) as f32;
            importance * gain * (clock_time * wall_time).powf(0.5 * fresh_exponent)
        }
        Objective::Age => importance * age_gain(exact) as f32 * clock_time * wall_time,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_index_grows_with_exposure_and_time_except_fresh_with_exposure() {
        let base = Standing { exposure: 0.1, clock_time: 3.0, wall_time: 3.0, importance: 1.0 };
        for objective in [Objective::Changes, Objective::Mix, Objective::Fresh, Objective::Age] {
            let value = |standing: Standing| index(objective, &standing, 0.7);
            assert!(value(Standing { exposure: 0.2, ..base }) > value(base));
            if objective != Objective::Changes {
                assert!(value(Standing { wall_time: 6.0, ..base }) > value(base));
                assert!(value(Standing { importance: 2.0, ..base }) > value(base));
            }
        }
        let fast = Standing { exposure: 20.0, ..base };
        let slow = Standing { exposure: 2.0, ..base };
        assert!(index(Objective::Fresh, &fast, 0.7) < index(Objective::Fresh, &slow, 0.7));
    }
}
