//! Weibull survival curve, and its least-squares fit to a survival function that is known at points.
//!
//! **summary**, section 4.1 and, for the fit ("curve fitting using a least-squares method"), section 4.3:
//!
//! > S(t) = exp(−λ t^γ),  minimise Σ (exp(−λ t^γ) − s)²
//!
//! The squares are those of S itself, not of its logarithm. They can have several minima, so the fit first
//! searches a grid over the position and the steepness of the fall. From the best points it then descends by
//! a damped Newton method (Levenberg and Marquardt's, with the second derivatives while they are those of a
//! minimum) in a, the logarithm of the cumulative hazard at the mean of ln t, and b = ln γ.
//!
//! # Promises
//! - A curve through all points is found, whatever the unit of time: λ from 1e-300 to 1e300.
//! - No curve of the grid, and none near the answer, has a smaller sum of squares.
//! - Where a constant is better than any falling curve, the shape is zero; where that constant is one or
//!   above, so is the scale.
//!
//! # Departures
//! None.

use nalgebra::{Matrix2, Vector2};

/// A survival function exp(−λ t^γ).
///
/// The scale is kept as its logarithm: a curve over long times may have a λ beyond the range of a double.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WeibullCurve {
    log_scale: f64,
    shape: f64,
}

impl WeibullCurve {
    /// The curve with ln λ and γ. Panics on NaN, and on a shape that is negative or infinite.
    pub fn new(log_scale: f64, shape: f64) -> Self {
        assert!(!log_scale.is_nan());
        assert!(0.0 <= shape);
        assert!(shape.is_finite());
        Self { log_scale, shape }
    }

    /// λ; zero or infinite where it is beyond the range of a double.
    pub fn scale(self) -> f64 {
        self.log_scale.exp()
    }

    /// γ.
    pub fn shape(self) -> f64 {
        self.shape
    }

    /// S at a time. Panics unless the time is at least zero.
    pub fn survival_at(self, time: f64) -> f64 {
        assert!(0.0 <= time);
        // Zero times the logarithm of zero is zero here: t^0 is one everywhere.
        let log_power = if self.shape == 0.0 { 0.0 } else { self.shape * time.ln() };
        if self.log_scale == f64::NEG_INFINITY || log_power == f64::NEG_INFINITY {
            return 1.0;
        }
        (-(self.log_scale + log_power).exp()).exp()
    }
}

/// A value of a survival function at a time above zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurvivalPoint {
    /// The time.
    pub time: f64,
    /// The fraction that survives it.
    pub survival: f64,
}

/// The curve with the smallest sum of squared differences from the points, and that sum.
///
/// Panics unless two times differ, all times are above zero and all values are finite.
pub fn fit_weibull_curve(points: &[SurvivalPoint]) -> (WeibullCurve, f64) {
    assert!(points.iter().all(|point| 0.0 < point.time && point.time.is_finite()));
    assert!(points.iter().all(|point| point.survival.is_finite()));
    assert!(points.iter().any(|point| point.time != points[0].time));
    let data = CentredPoints::new(points);
    let straight = data.straight_line();
    let best = starts(&data)
        .into_iter()
        .chain(straight)
        .map(|start| descend(&data, start))
        // A curve through all points is a straight line, which gives it to more digits than any descent.
        .chain(straight)
        .min_by(|a, b| a.squares.total_cmp(&b.squares))
        .expect("there is a start");
    let level = data.level();
    let rounding = 1e-13 * best.squares + 1e-31 * points.len() as f64;
    if level.squares <= best.squares + rounding {
        return (WeibullCurve::new(level.log_hazard, 0.0), level.squares);
    }
    (WeibullCurve::new(best.log_hazard - best.shape * data.centre, best.shape), best.squares)
}

/// The points with the logarithms of their times, centred. The logarithm of the hazard at the centre and the
/// shape are then nearly independent.
struct CentredPoints {
    centre: f64,
    log_times: Vec<f64>,
    survivals: Vec<f64>,
}

/// A curve as (ln hazard at the centre, shape), with its sum of squares.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    log_hazard: f64,
    shape: f64,
    squares: f64,
}

/// First and second derivatives of half the sum of squares in (a, b).
struct Slope {
    gradient: Vector2<f64>,
    /// The second derivatives.
    full: Matrix2<f64>,
    /// The positive semidefinite part of them (Gauss and Newton's).
    safe: Matrix2<f64>,
}

impl CentredPoints {
    fn new(points: &[SurvivalPoint]) -> Self {
        let log_times: Vec<f64> = points.iter().map(|point| point.time.ln()).collect();
        let centre = log_times.iter().sum::<f64>() / log_times.len() as f64;
        Self {
            centre,
            log_times: log_times.into_iter().map(|log_time| log_time - centre).collect(),
            survivals: points.iter().map(|point| point.survival).collect(),
        }
    }

    fn candidate(&self, log_hazard: f64, shape: f64) -> Candidate {
        let square = |(log_time, survival): (&f64, &f64)| {
            let modelled = (-(log_hazard + shape * log_time).exp()).exp();
            (modelled - survival).powi(2)
        };
        let squares = self.log_times.iter().zip(&self.survivals).map(square).sum();
        Candidate { log_hazard, shape, squares }
    }

    /// The best constant: the mean of the values, limited to what a survival can be.
    fn level(&self) -> Candidate {
        let mean = self.survivals.iter().sum::<f64>() / self.survivals.len() as f64;
        let level = mean.clamp(f64::MIN_POSITIVE, 1.0);
        self.candidate((-level.ln()).ln(), 0.0)
    }

    /// The straight line through (ln t, ln −ln s), by least squares over the points where the latter is
    /// finite. `None` where it does not rise.
    fn straight_line(&self) -> Option<Candidate> {
        let points: Vec<(f64, f64)> = (self.log_times.iter().zip(&self.survivals))
            .filter(|(_, survival)| 0.0 < **survival && **survival < 1.0)
            .map(|(log_time, survival)| (*log_time, (-survival.ln()).ln()))
            .collect();
        let n = points.len() as f64;
        let (mean_x, mean_y) =
            points.iter().fold((0.0, 0.0), |(sum_x, sum_y), (x, y)| (sum_x + x / n, sum_y + y / n));
        let (sxx, sxy) = points.iter().fold((0.0, 0.0), |(sxx, sxy), (x, y)| {
            (sxx + (x - mean_x) * (x - mean_x), sxy + (x - mean_x) * (y - mean_y))
        });
        let shape = sxy / sxx;
        (0.0 < shape && shape.is_finite()).then(|| self.candidate(mean_y - shape * mean_x, shape))
    }

    fn slope(&self, at: Candidate) -> Slope {
        let mut slope = Slope { gradient: Vector2::zeros(), full: Matrix2::zeros(), safe: Matrix2::zeros() };
        for (log_time, survival) in self.log_times.iter().zip(&self.survivals) {
            // With h = a + γx and H = e^h: S = e^-H, S' = −H e^-H and S'' = S'(1 − H)
            // in h; h' = (1, v), v = γx.
            let v = at.shape * log_time;
            let hazard = (at.log_hazard + v).exp();
            let modelled = (-hazard).exp();
            // Far out both factors are extreme and their product is zero.
            let first = if hazard < 800.0 { -hazard * modelled } else { 0.0 };
            if first == 0.0 {
                continue;
            }
            let residual = modelled - survival;
            let direction = Vector2::new(1.0, v);
            let outer = direction * direction.transpose();
            slope.gradient += direction * (residual * first);
            slope.safe += outer * (first * first);
            slope.full += outer * (first * first + residual * first * (1.0 - hazard));
            slope.full[(1, 1)] += residual * first * v;
        }
        slope
    }
}

/// Range of the steepness in the grid: the shape times the spread of ln t, from a gentle fall to a step
/// between neighbouring points.
const STEEPNESS: (f64, f64) = (0.02, 300.0);

/// Number of rows and of columns of the grid.
const GRID: usize = 40;

/// Number of grid points from which the fit descends.
const STARTS: usize = 10;

/// Number of data points, about, to which the evaluation of the grid is limited.
const GRID_POINTS_MAX: usize = 500;

/// The best points of a grid over the position and the steepness of the fall.
fn starts(data: &CentredPoints) -> Vec<Candidate> {
    let stride = data.log_times.len().div_ceil(GRID_POINTS_MAX);
    let thin = |values: &[f64]| values.iter().copied().step_by(stride).collect();
    let sample = CentredPoints {
        centre: data.centre,
        log_times: thin(&data.log_times),
        survivals: thin(&data.survivals),
    };
    let (low, high) = range(&data.log_times);
    let spread = high - low;
    let share = |i: usize| i as f64 / (GRID - 1) as f64;
    let mut grid: Vec<(usize, usize, Candidate)> = Vec::with_capacity(GRID * GRID);
    for row in 0..GRID {
        let shape = STEEPNESS.0 * (STEEPNESS.1 / STEEPNESS.0).powf(share(row)) / spread;
        // Positions where the hazard is one: from well before the first time to well after the last,
        // farther for gentle falls.
        let margin = 0.1 * spread + 5.0 / shape;
        for column in 0..GRID {
            let place = low - margin + share(column) * (spread + 2.0 * margin);
            grid.push((row, column, sample.candidate(-shape * place, shape)));
        }
    }
    grid.sort_by(|a, b| a.2.squares.total_cmp(&b.2.squares));
    // Neighbours of a start lead to the same minimum.
    let mut chosen: Vec<(usize, usize, Candidate)> = Vec::new();
    for candidate in grid {
        let near = |other: &(usize, usize, Candidate)| {
            other.0.abs_diff(candidate.0) <= 2 && other.1.abs_diff(candidate.1) <= 2
        };
        if chosen.len() < STARTS && !chosen.iter().any(near) {
            chosen.push(candidate);
        }
    }
    chosen.into_iter().map(|(_, _, start)| data.candidate(start.log_hazard, start.shape)).collect()
}

fn range(values: &[f64]) -> (f64, f64) {
    values
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(*value), high.max(*value)))
}

/// Maximum steps of a descent; a flat valley has no clear end.
const STEPS_MAX: usize = 200;

/// Descends to the nearest minimum.
fn descend(data: &CentredPoints, mut at: Candidate) -> Candidate {
    let mut damping = 1e-3;
    for _ in 0..STEPS_MAX {
        let slope = data.slope(at);
        let Some(step) = damped_step(&slope, damping) else { break };
        let next = data.candidate(at.log_hazard + step[0], at.shape * step[1].exp());
        let size = step.amax() / (1.0 + at.log_hazard.abs());
        // At the minimum a Newton step changes the sum by less than its rounding.
        let no_worse =
            next.squares <= at.squares || (size < 1e-6 && next.squares <= at.squares * (1.0 + 1e-12));
        if no_worse && next.shape.is_finite() && next.shape > 0.0 {
            at = next;
            damping = (damping * 0.1).max(1e-20);
            if size < 1e-15 {
                break;
            }
        } else {
            damping *= 10.0;
            if damping > 1e12 {
                break;
            }
        }
    }
    at
}

/// The Newton step with this damping; `None` where nothing slopes.
fn damped_step(slope: &Slope, damping: f64) -> Option<Vector2<f64>> {
    let solve = |matrix: &Matrix2<f64>| {
        let damped = matrix + Matrix2::from_diagonal(&slope.safe.diagonal()) * damping;
        damped.cholesky().map(|factor| -factor.solve(&slope.gradient))
    };
    solve(&slope.full).or_else(|| solve(&slope.safe)).filter(|step| step.iter().all(|s| s.is_finite()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn points(of: &[(f64, f64)]) -> Vec<SurvivalPoint> {
        of.iter().map(|&(time, survival)| SurvivalPoint { time, survival }).collect()
    }

    fn squares(points: &[SurvivalPoint], curve: WeibullCurve) -> f64 {
        points.iter().map(|point| (curve.survival_at(point.time) - point.survival).powi(2)).sum()
    }

    #[track_caller]
    fn check(of: &[(f64, f64)], (scale, shape): (f64, f64), expected_squares: f64) {
        let (curve, squares) = fit_weibull_curve(&points(of));
        assert!((curve.scale() - scale).abs() <= 1e-8 * scale, "{}", curve.scale());
        assert!((curve.shape() - shape).abs() <= 1e-8 * shape, "{}", curve.shape());
        assert!((squares - expected_squares).abs() <= 1e-9 * expected_squares + 1e-28, "{squares:e}");
    }

    #[test]
    fn noisy_points_have_the_curve_of_least_squares() {
        // The minimum, computed with 40 digits.
        check(
            &[(1.0, 0.95), (2.0, 0.8), (4.0, 0.7), (8.0, 0.35), (16.0, 0.2), (32.0, 0.02)],
            (0.09219080205056632, 1.0849996083977837),
            0.009770683408076134,
        );
    }

    #[test]
    fn two_falling_points_have_a_curve_through_them() {
        check(&[(1.0, 0.9), (2.0, 0.5)], (-f64::ln(0.9), f64::log2(0.5f64.ln() / 0.9f64.ln())), 0.0);
        check(
            &[(1e-200, 0.5), (1e200, 0.25)],
            (std::f64::consts::SQRT_2 * 2f64.ln(), 0.5 / 1e200f64.log2()),
            0.0,
        );
    }

    #[test]
    fn a_level_line_has_the_shape_zero() {
        check(&[(1.0, 0.5), (2.0, 0.5), (9.0, 0.5)], (2f64.ln(), 0.0), 0.0);
        check(&[(1.0, 0.2), (2.0, 0.4), (3.0, 0.6)], (-f64::ln(0.4), 0.0), 0.08);
        check(&[(1.0, 1.0), (2.0, 1.0)], (0.0, 0.0), 0.0);
        check(&[(1.0, 1.5), (2.0, 1.5)], (0.0, 0.0), 0.5);
    }

    #[test]
    fn a_step_is_followed_as_steeply_as_a_double_can_tell() {
        let (curve, squares) = fit_weibull_curve(&points(&[(1.0, 1.0), (2.0, 1.0), (3.0, 0.5), (4.0, 1e-9)]));
        assert!(squares < 1e-12, "{squares:e}");
        assert!((curve.survival_at(3.0) - 0.5).abs() < 1e-6);
    }

    #[test]
    fn a_curve_has_its_limits() {
        let curve = WeibullCurve::new(0.0, 2.0);
        assert_eq!((curve.survival_at(0.0), curve.survival_at(f64::INFINITY)), (1.0, 0.0));
        assert!((curve.survival_at(1.0) - (-1f64).exp()).abs() < 1e-16);
        assert_eq!(WeibullCurve::new(f64::NEG_INFINITY, 1e308).survival_at(1e308), 1.0);
        assert_eq!(WeibullCurve::new(f64::INFINITY, 1.0).survival_at(0.0), 1.0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn a_curve_through_all_points_is_found(
            log_unit in -300.0..300.0f64, shape in 0.05..8.0f64, middle in 0.05..0.95f64, count in 2u8..12,
        ) {
            let log_scale = (-f64::ln(middle)).ln() - shape * log_unit;
            let curve = WeibullCurve::new(log_scale, shape);
            let times = (0..count).map(|i| (log_unit + 0.3 * (f64::from(i) - f64::from(count) / 2.0)).exp());
            let points: Vec<_> =
                times.map(|time| SurvivalPoint { time, survival: curve.survival_at(time) }).collect();
            prop_assume!(points.iter().filter(|point| (1e-3..0.999).contains(&point.survival)).count() > 1);
            let (found, squares) = fit_weibull_curve(&points);
            prop_assert!(squares < 1e-20, "{squares:e}");
            prop_assert!((found.shape() / shape - 1.0).abs() < 1e-6, "{} is not {shape}", found.shape());
        }

        #[test]
        fn no_curve_nearby_and_no_level_line_is_better(
            survivals in prop::collection::vec(1e-3..1.2f64, 2..12),
            nudge in -0.2..0.2f64,
            turn in -0.2..0.2f64,
        ) {
            let points: Vec<_> = (1..)
                .map(f64::from)
                .zip(survivals)
                .map(|(time, survival)| SurvivalPoint { time, survival })
                .collect();
            let (curve, least) = fit_weibull_curve(&points);
            prop_assert!((squares(&points, curve) - least).abs() < 1e-9, "{curve:?}");
            let near = WeibullCurve::new(curve.log_scale + nudge, curve.shape * turn.exp());
            prop_assert!(squares(&points, near) >= least * (1.0 - 1e-9) - 1e-20);
            let mean = points.iter().map(|point| point.survival).sum::<f64>() / points.len() as f64;
            let level = WeibullCurve::new((-mean.min(1.0).ln()).ln(), 0.0);
            prop_assert!(squares(&points, level) >= least * (1.0 - 1e-9));
        }
    }
}
