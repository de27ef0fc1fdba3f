//! Scales of axes: maps values to positions, and selects round values for ticks.
//!
//! # Promises
//! - Every axis has ticks. Those of a linear axis are multiples of 1, 2, 2.5 or 5 times a power of ten.

/// The scale of an axis, from one value to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    low: f64,
    high: f64,
    spacing: Spacing,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Spacing {
    Linear,
    Logarithmic,
}

/// Approximate number of steps of a linear axis.
const LINEAR_STEPS: f64 = 5.0;

impl Scale {
    /// A linear scale. Panics unless `low` is below `high` and both are finite.
    pub fn linear(low: f64, high: f64) -> Self {
        assert!(low.is_finite());
        assert!(high.is_finite());
        assert!(low < high);
        Self { low, high, spacing: Spacing::Linear }
    }

    /// A linear scale with round ends around all given finite values.
    pub fn linear_over(values: impl IntoIterator<Item = f64>) -> Self {
        let (low, high) = ends(values.into_iter().filter(|value| value.is_finite()));
        let (low, high) = if low <= high { (low, high) } else { (0.0, 1.0) };
        let room = if high > low { 0.0 } else { (0.1 * high.abs()).max(0.5) };
        let (low, high) = (low - room, high + room);
        let step = round_step((high - low) / LINEAR_STEPS);
        Self::linear((low / step + 1e-9).floor() * step, (high / step - 1e-9).ceil() * step)
    }

    /// Like [`Scale::linear_over`], but always includes zero.
    pub fn linear_from_zero(values: impl IntoIterator<Item = f64>) -> Self {
        Self::linear_over(values.into_iter().chain([0.0]))
    }

    /// A logarithmic scale that contains all given finite positive values and spans at least a factor of two.
    pub fn logarithmic(values: impl IntoIterator<Item = f64>) -> Self {
        let (low, high) = ends(values.into_iter().filter(|value| value.is_finite() && *value > 0.0));
        let (low, high) = if low <= high { (low, high) } else { (1.0, 1.0) };
        let (low, high) = if high / low < 2.0 { (low / 1.5, high * 1.5) } else { (low, high) };
        Self { low, high, spacing: Spacing::Logarithmic }
    }

    /// Position of a value: 0 at the low end and 1 at the high end. `None` outside.
    pub fn place(&self, value: f64) -> Option<f64> {
        let place = match self.spacing {
            Spacing::Linear => (value - self.low) / (self.high - self.low),
            Spacing::Logarithmic => (value / self.low).ln() / (self.high / self.low).ln(),
        };
        // Tolerance for the rounding of the ends themselves.
        (-1e-9..=1.0 + 1e-9).contains(&place).then(|| place.clamp(0.0, 1.0))
    }

    /// The value at a position.
    pub fn value(&self, place: f64) -> f64 {
        match self.spacing {
            Spacing::Linear => self.low + place * (self.high - self.low),
            Spacing::Logarithmic => self.low * (self.high / self.low).powf(place),
        }
    }

    /// Position of a value between two others on this axis: 0 at the first and 1 at the second.
    pub fn share(&self, value: f64, from: f64, to: f64) -> f64 {
        match self.spacing {
            Spacing::Linear => (value - from) / (to - from),
            Spacing::Logarithmic => (value / from).ln() / (to / from).ln(),
        }
    }

    /// Round values on the axis, some three to nine of them.
    pub fn ticks(&self) -> Vec<f64> {
        match self.spacing {
            Spacing::Linear => self.linear_ticks(),
            Spacing::Logarithmic => self.logarithmic_ticks(),
        }
    }

    fn linear_ticks(&self) -> Vec<f64> {
        let step = round_step((self.high - self.low) / LINEAR_STEPS);
        let (first, last) =
            ((self.low / step - 1e-9).ceil() as i64, (self.high / step + 1e-9).floor() as i64);
        (first..=last).map(|number| number as f64 * step).collect()
    }

    fn logarithmic_ticks(&self) -> Vec<f64> {
        let (first, last) = (self.low.log10().floor() as i32, self.high.log10().ceil() as i32);
        // Short axes have ticks at 1, 2 and 5, long ones at every `step`th power of ten.
        let (marks, step): (&[f64], _) = match last - first {
            0..=3 => (&[1.0, 2.0, 5.0], 1),
            decades => (&[1.0], (decades as usize).div_ceil(8)),
        };
        let powers = (first..=last).step_by(step).map(|power| 10_f64.powi(power));
        let ticks = powers.flat_map(|power| marks.iter().map(move |mark| mark * power));
        let ticks: Vec<f64> = ticks.filter(|tick| self.place(*tick).is_some()).collect();
        // An axis may lie between two such ticks: from 2.1 to 4.9, for example.
        if ticks.is_empty() { self.linear_ticks() } else { ticks }
    }
}

fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
}

/// The next round step from `about` up: 1, 2, 2.5 or 5 times a power of ten.
fn round_step(about: f64) -> f64 {
    let power = 10_f64.powf(about.log10().floor());
    let steps = [1.0, 2.0, 2.5, 5.0];
    steps
        .map(|step| step * power)
        .into_iter()
        .find(|step| about <= step * (1.0 + 1e-9))
        .unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ends_lie_at_zero_and_one() {
        let scale = Scale::logarithmic([10.0, 1_000.0, f64::INFINITY, 0.0]);
        assert_eq!(scale.place(10.0), Some(0.0));
        assert_eq!(scale.place(100.0), Some(0.5));
        assert_eq!(scale.place(1_000.0), Some(1.0));
        assert_eq!(scale.place(f64::INFINITY), None);
        assert_eq!(scale.place(9.0), None);
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(Scale::linear(0.0, 1.0).ticks().len(), 6);
        assert_eq!(Scale::linear_over([0.013, 0.09]).ticks(), [0.0, 0.02, 0.04, 0.06, 0.08, 0.1]);
        assert_eq!(Scale::linear(-0.5, 2.0).ticks(), [-0.5, 0.0, 0.5, 1.0, 1.5, 2.0]);
        assert_eq!(Scale::logarithmic([300.0, 9_000.0]).ticks(), [500.0, 1e3, 2e3, 5e3]);
        assert_eq!(Scale::logarithmic([1e-3, 1e5]).ticks().len(), 9);
        assert_eq!(Scale::logarithmic([2.1, 4.4]).ticks(), [2.5, 3.0, 3.5, 4.0]);
    }

    proptest! {
        #[test]
        fn every_logarithmic_axis_has_ticks(low in -14.0..14.0_f64, decades in 0.0..20.0_f64) {
            let (low, high) = (10_f64.powf(low), 10_f64.powf(low + decades));
            let ticks = Scale::logarithmic([low, high]).ticks();
            prop_assert!((1..=13).contains(&ticks.len()), "{ticks:?}");
        }

        #[test]
        fn every_linear_axis_has_ticks_and_holds_its_values(low in -1e6..1e6_f64, width in 0.0..1e6_f64) {
            let scale = Scale::linear_over([low, low + width]);
            prop_assert!((3..=9).contains(&scale.ticks().len()), "{:?}", scale.ticks());
            prop_assert!(scale.place(low).is_some() && scale.place(low + width).is_some());
        }
    }
}
