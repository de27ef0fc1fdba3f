//! Reports of the policy: why a page is visited, and how fresh the copy is.
//!
//! The rate of a page is the mean of its gamma posterior. Its interval uses the cube-root approximation of
//! Wilson and Hilferty to the quantiles of a gamma distribution. The next visit is predicted for when the
//! index reaches the threshold, with all clocks running at their usual speed from now on.
//!
//! The estimate for the copy is computed from all pages, or from an evenly spaced part of them if there are
//! very many. A page with exposure L is up to date with probability e^-L, and its mean age after time t is t
//! (1 − (1 − e^-L)/L) (**thesis**, section 5.2). These reports are smoother than the decisions: they use
//! weights of their own ([`super::reported_freshness`]) and change signals about single pages.
//!
//! # Promises
//! - The mean rate lies within its interval.
//! - The cost of the estimate for the copy stops growing at a hundred thousand pages.

use freshet_theory::units::{ChangesPerDay, Days};

use super::index::changed_probability;
use super::model::Model;
use super::moments::Moment;
use super::records::Place;
use crate::policy::catalogue::{Catalogue, PageId};
use crate::policy::visit::{CopyEstimate, Explanation};

/// 97.5% of a normal distribution lie below this many standard deviations.
const NORMAL_QUANTILE: f64 = 1.959_964;
/// Ticks ahead within which the next visit is searched for.
const NEXT_VISIT_TICKS: f32 = 100.0;
/// Bisection steps of that search: to a ten-thousandth of a tick.
const HALVINGS: usize = 20;
/// Maximum number of pages examined for an estimate of the copy: some ten milliseconds of work.
const COPIES_LOOKED_AT: usize = 100_000;

/// Explains why a page is visited at its time.
pub(super) fn explain(
    model: &Model,
    catalogue: &Catalogue,
    page: PageId,
    time: Moment,
    cycle: Days,
    threshold: f32,
) -> Explanation {
    let number = page.index();
    let posterior = model.posterior(number);
    let view = model.view(number, time);
    let standing = model.standing(catalogue, number, &view);
    let rate = |per_tick: f64| ChangesPerDay::new(per_tick / cycle.get());
    let shape = f64::from(posterior.a);
    let mean = shape / f64::from(posterior.b);
    Explanation {
        change_rate: rate(mean),
        change_rate_low: rate(mean * gamma_quantile(shape, -NORMAL_QUANTILE).min(1.0)),
        change_rate_high: rate(mean * gamma_quantile(shape, NORMAL_QUANTILE).max(1.0)),
        changed_probability: f64::from(changed_probability(model.exposure_to_tell(number, &view))),
        index: f64::from(model.index(&standing)),
        threshold: f64::from(threshold),
        directory_clock: f64::from(view.times.clock / view.times.wall),
        site_clock: f64::from(view.times.site / view.times.wall),
        dates_are_believed: model.dates[model.site_of(number)].are_believed(),
        next_visit_in: ticks_until(model, catalogue, number, time, threshold)
            .map(|ticks| Days::new(f64::from(ticks) * cycle.get())),
    }
}

/// A quantile of a gamma distribution of mean one, from the quantile of the normal distribution.
fn gamma_quantile(shape: f64, normal: f64) -> f64 {
    (1.0 - 1.0 / (9.0 * shape) + normal / (3.0 * shape.sqrt())).max(0.0).powi(3)
}

/// Ticks until the index of a page reaches the threshold.
fn ticks_until(
    model: &Model,
    catalogue: &Catalogue,
    page: usize,
    time: Moment,
    threshold: f32,
) -> Option<f32> {
    let now = model.view(page, time).times;
    let reaches = |ticks: f32| {
        let view =
            model.view_after(page, model.times_of(now.clock + ticks, now.site + ticks, now.wall + ticks));
        model.index(&model.standing(catalogue, page, &view)) >= threshold
    };
    if reaches(0.0) {
        return Some(0.0);
    }
    let (mut early, mut late) = (0.0, NEXT_VISIT_TICKS);
    if !reaches(late) {
        return None;
    }
    for _ in 0..HALVINGS {
        let middle = 0.5 * (early + late);
        (early, late) = if reaches(middle) { (early, middle) } else { (middle, late) };
    }
    Some(late)
}

/// Estimated freshness and age of the copy; none without copies.
pub(super) fn copy_estimate(model: &Model, time: Moment, cycle: Days) -> Option<CopyEstimate> {
    let pages = model.records.len();
    let step = pages.div_ceil(COPIES_LOOKED_AT).max(1);
    let (mut freshness, mut age) = (Sample::default(), Sample::default());
    // Every `step`-th page: pages are numbered in the order of discovery, which is unrelated to their
    // freshness.
    for page in (0..pages).step_by(step).filter(|page| model.records.place(*page) != Place::Gone) {
        let view = model.view(page, time);
        let exposure = f64::from(model.exposure_to_tell(page, &view));
        let days = f64::from(view.times.wall) * cycle.get();
        let fresh = (-exposure).exp();
        // The variance of the age includes the page's own chance of having changed, spread over the whole
        // interval.
        freshness.add(fresh, fresh * (1.0 - fresh));
        let mean_age = days * (1.0 + (-exposure).exp_m1() / exposure);
        age.add(mean_age, mean_age * (days - mean_age).max(0.0));
    }
    (freshness.count > 0).then(|| CopyEstimate {
        freshness: freshness.mean(),
        freshness_error: freshness.error(model.pages_alive),
        age: Days::new(age.mean().max(0.0)),
        age_error: Days::new(age.error(model.pages_alive)),
        copies: freshness.count,
    })
}

/// A sample of values, each with the variance of the estimate behind it.
#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    count: usize,
    sum: f64,
    squares: f64,
    variances: f64,
}

impl Sample {
    fn add(&mut self, value: f64, variance: f64) {
        self.count += 1;
        self.sum += value;
        self.squares += value * value;
        self.variances += variance;
    }

    fn mean(&self) -> f64 {
        self.sum / self.count as f64
    }

    /// Standard error of the mean over all pages: the sampling error plus the variance of each page.
    fn error(&self, all: usize) -> f64 {
        let count = self.count as f64;
        let spread = (self.squares / count - self.mean().powi(2)).max(0.0);
        let unseen = (1.0 - count / all.max(1) as f64).max(0.0);
        (spread / count * unseen + self.variances / count / all.max(1) as f64).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_a_rate_closes_as_visits_are_made() {
        let width =
            |shape: f64| gamma_quantile(shape, NORMAL_QUANTILE) - gamma_quantile(shape, -NORMAL_QUANTILE);
        assert!(width(1.0) > width(4.0) && width(4.0) > width(50.0));
        // Exact values for shape 14: 0.546 and 1.588.
        assert!((gamma_quantile(14.0, -NORMAL_QUANTILE) - 0.546).abs() < 0.01);
        assert!((gamma_quantile(14.0, NORMAL_QUANTILE) - 1.588).abs() < 0.01);
    }
}
