//! Time in ticks (the length of a download cycle) and 1024ths of a tick.
//!
//! A tick is the step of the clocks: within a tick, only the times of visits are distinguished. The tick with
//! number `k` ends at `k` cycle lengths. A policy that is driven cycle by cycle makes all its visits at the
//! ends of ticks; one that is driven steadily makes them at any time.

use freshet_theory::units::Days;

/// Moments in a tick. A crawl may last four million cycles before they run out; from then on time stands
/// still.
const MOMENTS_PER_TICK: u32 = 1024;

/// A time since the crawl began, in 1024ths of a tick.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Moment(u32);

impl Moment {
    /// The beginning of the crawl.
    pub(super) const START: Self = Self(0);

    /// The moment at `time`, for cycles of this length.
    pub(super) fn at(time: Days, cycle: Days) -> Self {
        Self((time.get() / cycle.get() * f64::from(MOMENTS_PER_TICK)).round() as u32)
    }

    /// The time of the moment, for cycles of this length.
    pub(super) fn days(self, cycle: Days) -> Days {
        Days::new(f64::from(self.0) / f64::from(MOMENTS_PER_TICK) * cycle.get())
    }

    /// The end of a tick.
    pub(super) fn end_of(tick: u32) -> Self {
        Self(tick.saturating_mul(MOMENTS_PER_TICK))
    }

    /// The tick that contains the moment; the end of a tick belongs to it.
    pub(super) fn tick(self) -> u32 {
        self.0.div_ceil(MOMENTS_PER_TICK)
    }

    /// The elapsed part of the moment's tick, above 0 and up to 1.
    pub(super) fn part_of_tick(self) -> f32 {
        match self.0 % MOMENTS_PER_TICK {
            0 => 1.0,
            rest => rest as f32 / MOMENTS_PER_TICK as f32,
        }
    }

    /// The moment this many ticks later.
    pub(super) fn after(self, ticks: f32) -> Self {
        Self(self.0.saturating_add((ticks * MOMENTS_PER_TICK as f32) as u32))
    }

    /// Ticks since an earlier moment; 0 if `earlier` is later.
    pub(super) fn since(self, earlier: Self) -> f32 {
        self.0.saturating_sub(earlier.0) as f32 / MOMENTS_PER_TICK as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_tick_belongs_to_it() {
        let moment = |days: f64| Moment::at(Days::new(days), Days::new(14.0));
        assert_eq!([0.0, 1.0, 14.0, 14.1, 28.0].map(|days| moment(days).tick()), [0, 1, 1, 2, 2]);
        assert_eq!(moment(28.0), Moment::end_of(2));
        assert!((moment(21.0).part_of_tick() - 0.5).abs() < 1e-6);
        assert!((moment(28.0).part_of_tick() - 1.0).abs() < 1e-6);
        assert!((moment(35.0).since(moment(14.0)) - 1.5).abs() < 1e-6);
        assert!(moment(14.0).since(moment(35.0)) == 0.0);
    }
}
