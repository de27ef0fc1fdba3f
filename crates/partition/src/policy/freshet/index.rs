//! The objective of the crawl and the index: what a visit to a page is worth under it.
//!
//! Finding the most changes and keeping the copy fresh are different goals, so the index is a setting. Let L
//! be the exposure (expected changes since the last visit), x the clock time and t the wall time since then,
//! in ticks, and w the importance over the cost of a visit (for `changes` only the cost counts). A visit is
//! worth w times
//!
//! | objective | | where groups are large | where they are tiny |
//! |---|---|---|---|
//! | `changes` | 1 − e^-L | | |
//! | `mix` | √((1 − e^-L) g(L)/L), where groups are tiny 1 − e^-L | x^0.15 t^0.2 | x^0.08 t^0.1 |
//! | `fresh` | g(L)/L | x^0.35 t^0.35 | x^0.1 t^0.9 |
//! | `age` | G(L) | x^0.5 t^0.5 | x^0.1 t^1.4 |
//!
//! with g and G of [`freshet_theory::numerics`]. `mix` lies between `changes` and `fresh`. Where groups are
//! tiny it is nearer to `changes`: there a few pages change all the time, and visiting them finds most of the
//! changes.
//!
//! The thesis's threshold rule (visit when the gain of a visit reaches a common level) is `fresh` with x = t
//! and exponents that add up to 1, and `age` with exponents that add up to 2. Smaller exponents keep a burst
//! in the past from looking like a fast future, and keep an uncertain rate from being trusted too far. The
//! clocks of tiny groups carry little information, so there wall time counts.

use freshet_theory::numerics::{age_gain, freshness_gain};

use super::logarithms::exp;

/// What the copy is kept for.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Objective {
    /// Most changes found per download: an archive of versions.
    Changes,
    /// Largest part of the copy up to date.
    Fresh,
    /// Nearly the best of both.
    #[default]
    Mix,
    /// Shortest time that copies have been out of date.
    Age,
}

/// What the index of a page is computed from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Standing {
    /// Expected number of changes since the last visit (L).
    pub(super) exposure: f32,
    /// The factor for the times since the last visit ([`Valuation::time_worth`]).
    pub(super) time_worth: f32,
    /// Importance of the page over the cost of a visit.
    pub(super) importance: f32,
}

/// P(changed) = 1 − e^-L.
#[inline]
pub(super) fn changed_probability(exposure: f32) -> f32 {
    // The difference loses digits here; the series does not: its remainder is below a millionth.
    if exposure < 0.01 { exposure * (1.0 - exposure * (0.5 - exposure / 6.0)) } else { 1.0 - exp(-exposure) }
}

/// g(L)/L = (1 − (1 + L) e^-L)/L.
fn freshness_per_change(exposure: f32) -> f32 {
    // The difference loses digits here; the series does not: its remainder is below a millionth.
    if exposure < 0.2 {
        exposure
            * (0.5 - exposure * (1.0 / 3.0 - exposure * (0.125 - exposure * (1.0 / 30.0 - exposure / 144.0))))
    } else {
        let changed = changed_probability(exposure);
        changed / exposure - (1.0 - changed)
    }
}

/// How an index is computed from the exposure and the time since the last visit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Valuation {
    gain: Gain,
    /// Exponents of clock time and wall time.
    clock: f32,
    wall: f32,
}

/// The value of a visit by the exposure alone.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Gain {
    /// P(changed).
    Change,
    /// The freshness gained per expected change: g(L)/L.
    Freshness,
    /// The geometric mean of both.
    Both,
    /// The reduction of age: G(L).
    Age,
}

impl Valuation {
    /// The valuation where groups have many pages each.
    pub(super) fn of_large_groups(objective: Objective) -> Self {
        let (gain, clock, wall) = match objective {
            Objective::Changes => (Gain::Change, 0.0, 0.0),
            Objective::Mix => (Gain::Both, 0.15, 0.2),
            Objective::Fresh => (Gain::Freshness, 0.35, 0.35),
            Objective::Age => (Gain::Age, 0.5, 0.5),
        };
        Self { gain, clock, wall }
    }

    /// The valuation where groups have one or two pages.
    pub(super) fn of_tiny_groups(objective: Objective) -> Self {
        let (gain, clock, wall) = match objective {
            Objective::Changes => (Gain::Change, 0.0, 0.0),
            Objective::Mix => (Gain::Change, 0.08, 0.1),
            Objective::Fresh => (Gain::Freshness, 0.1, 0.9),
            Objective::Age => (Gain::Age, 0.1, 1.4),
        };
        Self { gain, clock, wall }
    }

    /// The factor for clock time and wall time since a visit, given their logarithms: x^p t^q, in ticks.
    #[inline]
    pub(super) fn time_worth(self, log_clock_time: f32, log_wall_time: f32) -> f32 {
        exp(self.clock * log_clock_time + self.wall * log_wall_time)
    }
}

/// The index of a page: what a visit to it is worth.
#[inline]
pub(super) fn index(standing: &Standing, valuation: Valuation) -> f32 {
    let Standing { exposure, time_worth, importance } = *standing;
    let gain = match valuation.gain {
        Gain::Change => changed_probability(exposure),
        Gain::Freshness => freshness_per_change(exposure),
        Gain::Both => (changed_probability(exposure) * freshness_per_change(exposure)).sqrt(),
        Gain::Age => age_gain(f64::from(exposure)) as f32,
    };
    importance * gain * time_worth
}

/// Clock time, in ticks, for which a visit is expected to make an outdated copy fresh: g(L)/λ for a page that
/// may have changed (**thesis**, section 5.3).
pub(super) fn fresh_time_expected(exposure: f32, clock_time: f32) -> f32 {
    freshness_gain(f64::from(exposure)) as f32 * fresh_time_known(exposure, clock_time)
}

/// The same for a page that is known to have changed: 1/λ, until it changes again.
pub(super) fn fresh_time_known(exposure: f32, clock_time: f32) -> f32 {
    clock_time / exposure
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_index_grows_with_exposure_and_time_except_fresh_with_exposure() {
        for objective in [Objective::Changes, Objective::Mix, Objective::Fresh, Objective::Age] {
            for valuation in [Valuation::of_large_groups(objective), Valuation::of_tiny_groups(objective)] {
                let after = |log_wall_time: f32| Standing {
                    exposure: 0.1,
                    time_worth: valuation.time_worth(1.0, log_wall_time),
                    importance: 1.0,
                };
                let (base, value) = (after(1.0), |standing: Standing| index(&standing, valuation));
                assert!(value(Standing { exposure: 0.2, ..base }) > value(base));
                assert!(value(Standing { importance: 2.0, ..base }) > value(base));
                if objective != Objective::Changes {
                    assert!(value(after(2.0)) > value(base));
                }
            }
        }
        let fresh = |exposure: f32| {
            let standing = Standing { exposure, time_worth: 1.0, importance: 1.0 };
            index(&standing, Valuation::of_large_groups(Objective::Fresh))
        };
        assert!(fresh(20.0) < fresh(2.0));
    }

    #[test]
    fn a_known_change_makes_a_copy_fresh_for_longer_than_one_that_is_expected() {
        for (rate, time) in [(0.001, 1.0), (0.1, 1.0), (0.1, 20.0), (3.0, 1.0)] {
            let (known, expected) =
                (fresh_time_known(rate * time, time), fresh_time_expected(rate * time, time));
            assert!((known * rate - 1.0).abs() < 1e-5, "{known}");
            assert!(expected < known, "{expected} and {known}");
        }
        // 1 - 2/e for a page that is visited as often as it changes.
        assert!((fresh_time_expected(1.0, 10.0) - 2.642_411).abs() < 1e-5);
    }

    #[test]
    fn the_freshness_that_is_gained_is_exact_everywhere() {
        for exposure in [1e-7f32, 1e-4, 0.1, 0.199, 0.201, 0.5, 5.0, 20.0] {
            let exact = freshness_gain(f64::from(exposure)) / f64::from(exposure);
            let off = f64::from(freshness_per_change(exposure)) / exact - 1.0;
            assert!(off.abs() < 1e-4, "{exposure}: {off}");
        }
    }

    #[test]
    fn the_probability_of_a_change_is_exact_everywhere() {
        for exposure in [1e-7f32, 1e-4, 0.0099, 0.0101, 0.3, 5.0, 20.0] {
            let exact = -f64::from(-exposure).exp_m1();
            assert!((f64::from(changed_probability(exposure)) / exact - 1.0).abs() < 2e-5, "{exposure}");
        }
    }
}
