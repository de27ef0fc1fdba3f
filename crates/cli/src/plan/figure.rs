//! What is drawn of a curve, whether in characters or as a picture.

use super::curve::CurvePoint;
use super::planner::Policy;
use super::scale::Scale;

/// Curves over one horizontal axis, which is logarithmic.
pub(super) struct Figure<'a> {
    /// What the upright axis measures, with its unit.
    pub(super) title: &'a str,
    /// The curves, the most important first.
    pub(super) series: Vec<Series<'a>>,
    /// The horizontal axis.
    pub(super) across: Scale,
    /// What the horizontal axis measures, with its unit.
    pub(super) across_title: &'a str,
    /// The upright axis.
    pub(super) up: Scale,
    /// An abscissa to mark, and what it is.
    pub(super) marked: Option<(f64, String)>,
    /// A point to mark, and what it is.
    pub(super) noted: Option<(f64, f64, String)>,
}

/// One curve: points by rising abscissa. Where a value is not finite there is a gap.
pub(super) struct Series<'a> {
    /// What the legend calls it.
    pub(super) name: &'a str,
    /// Its points.
    pub(super) points: Vec<(f64, f64)>,
}

impl Series<'_> {
    /// The value of the curve between its points; nothing outside them or beside a gap.
    pub(super) fn value_at(&self, at: f64) -> Option<f64> {
        // A hair of room for the rounding of the ends themselves.
        let holds = |pair: &&[(f64, f64)]| pair[0].0 <= at * (1.0 + 1e-9) && at <= pair[1].0 * (1.0 + 1e-9);
        let pair = self.points.windows(2).find(holds)?;
        let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
        let share = ((at / x0).ln() / (x1 / x0).ln()).clamp(0.0, 1.0);
        let value = y0 + share * (y1 - y0);
        value.is_finite().then_some(value)
    }
}

/// Freshness against budget.
pub(super) fn freshness_figure<'a>(
    points: &[CurvePoint],
    marked: Option<(f64, String)>,
    noted: Option<(f64, f64, String)>,
) -> Figure<'a> {
    Figure {
        title: "freshness (share of the copy that is up to date)",
        series: series(points, |point, policy| point.qualities[policy].freshness),
        across: across(points),
        across_title: ACROSS_TITLE,
        up: Scale::linear(0.0, 1.0),
        marked,
        noted,
    }
}

/// Age against budget.
pub(super) fn age_figure<'a>(points: &[CurvePoint], marked: Option<(f64, String)>) -> Figure<'a> {
    let ages = points.iter().flat_map(|point| point.qualities.map(|quality| quality.age.get()));
    Figure {
        title: "age (mean days since copies went out of date; no curve where pages are never visited)",
        series: series(points, |point, policy| point.qualities[policy].age.get()),
        across: across(points),
        across_title: ACROSS_TITLE,
        up: Scale::logarithmic(ages),
        marked,
        noted: None,
    }
}

const ACROSS_TITLE: &str = "budget (visits a day)";

fn across(points: &[CurvePoint]) -> Scale {
    Scale::logarithmic(points.iter().map(|point| point.visit_budget.get()))
}

fn series<'a>(points: &[CurvePoint], value: impl Fn(&CurvePoint, usize) -> f64) -> Vec<Series<'a>> {
    Policy::ALL
        .iter()
        .enumerate()
        .map(|(index, policy)| Series {
            name: policy.name(),
            points: points.iter().map(|point| (point.visit_budget.get(), value(point, index))).collect(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(at: f64, value: Option<f64>) {
        let series = Series { name: "", points: vec![(1.0, 0.0), (100.0, 1.0), (1000.0, f64::INFINITY)] };
        assert_eq!(series.value_at(at), value);
    }

    #[test]
    fn a_curve_has_values_between_its_points_and_gaps_beside_infinity() {
        check(0.5, None);
        check(1.0, Some(0.0));
        check(10.0, Some(0.5));
        check(500.0, None);
        check(2000.0, None);
    }
}
