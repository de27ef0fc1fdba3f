//! Axes: where a value lies between two ends, and which round values to mark.

/// An axis from one value to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    spacing: Spacing,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Spacing {
    Linear,
    Logarithmic,
}

impl Scale {
    /// Equal steps for equal differences. Panics unless `low` is below `high` and both are finite.
    pub(super) fn linear(low: f64, high: f64) -> Self {
        assert!(low.is_finite());
        assert!(high.is_finite());
        assert!(low < high);
        Self { low, high, spacing: Spacing::Linear }
    }

    /// Equal steps for equal ratios, wide enough for all finite positive values given and for a factor of two at least.
    pub(super) fn logarithmic(values: impl Iterator<Item = f64>) -> Self {
        let usable = values.filter(|value| value.is_finite() && *value > 0.0);
        let (low, high) =
            usable.fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
        let (low, high) = if low <= high { (low, high) } else { (1.0, 1.0) };
        let (low, high) = if high / low < 2.0 { (low / 1.5, high * 1.5) } else { (low, high) };
        Self { low, high, spacing: Spacing::Logarithmic }
    }

    /// Where a value lies, 0 at the low end and 1 at the high end; nothing when it lies outside.
    pub(super) fn place(&self, value: f64) -> Option<f64> {
        let place = match self.spacing {
            Spacing::Linear => (value - self.low) / (self.high - self.low),
            Spacing::Logarithmic => (value / self.low).ln() / (self.high / self.low).ln(),
        };
        // A hair of room for the rounding of the ends themselves.
        (-1e-9..=1.0 + 1e-9).contains(&place).then(|| place.clamp(0.0, 1.0))
    }

    /// The value at a place.
    pub(super) fn value(&self, place: f64) -> f64 {
        match self.spacing {
            Spacing::Linear => self.low + place * (self.high - self.low),
            Spacing::Logarithmic => self.low * (self.high / self.low).powf(place),
        }
    }

    /// Round values on the axis, some three to eight of them.
    pub(super) fn ticks(&self) -> Vec<f64> {
        match self.spacing {
            Spacing::Linear => (0..=5).map(|step| self.value(f64::from(step) / 5.0)).collect(),
            Spacing::Logarithmic => self.logarithmic_ticks(),
        }
    }

    fn logarithmic_ticks(&self) -> Vec<f64> {
        let (first, last) = (self.low.log10().floor() as i32, self.high.log10().ceil() as i32);
        // Short axes are marked at 1, 2 and 5, long ones at every so many powers of ten.
        let (marks, step): (&[f64], _) = match last - first {
            0..=3 => (&[1.0, 2.0, 5.0], 1),
            decades => (&[1.0], (decades as usize).div_ceil(8)),
        };
        let powers = (first..=last).step_by(step).map(|power| 10_f64.powi(power));
        powers
            .flat_map(|power| marks.iter().map(move |mark| mark * power))
            .filter(|tick| self.place(*tick).is_some())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ends_lie_at_zero_and_one() {
        let scale = Scale::logarithmic([10.0, 1_000.0, f64::INFINITY, 0.0].into_iter());
        assert_eq!(scale.place(10.0), Some(0.0));
        assert_eq!(scale.place(100.0), Some(0.5));
        assert_eq!(scale.place(1_000.0), Some(1.0));
        assert_eq!(scale.place(f64::INFINITY), None);
        assert_eq!(scale.place(9.0), None);
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(Scale::linear(0.0, 1.0).ticks().len(), 6);
        assert_eq!(Scale::logarithmic([300.0, 9_000.0].into_iter()).ticks(), [500.0, 1e3, 2e3, 5e3]);
        assert_eq!(Scale::logarithmic([1e-3, 1e5].into_iter()).ticks().len(), 9);
    }

    proptest! {
        #[test]
        fn every_axis_has_ticks(low in -14.0..14.0_f64, decades in 0.0..20.0_f64) {
            let (low, high) = (10_f64.powf(low), 10_f64.powf(low + decades));
            let ticks = Scale::logarithmic([low, high].into_iter()).ticks();
            prop_assert!((1..=13).contains(&ticks.len()), "{ticks:?}");
        }
    }
}
