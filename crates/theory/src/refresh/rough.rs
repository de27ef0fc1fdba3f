//! Price search for many pages in few passes.
//!
//! The demand of many pages has a kink at the ceiling of each, and just under a ceiling its slope is
//! unbounded. Over the steps of a search these kinks do not average out: with ten million pages a step of a
//! thousandth leaves a tenth of itself, and the next steps leave more. So the pages are split after the
//! first pass. The *edge*, the pages with a ceiling near the price, are few and are computed exactly at
//! each price that is tried. The *rest* has no kink near the price. It is modelled by a power of the price
//! through the first pass, then by a cubic through the last two. After the second pass the price is exact
//! to twelve digits; the third confirms it and computes the frequencies. A first pass far from the price
//! only tells where to begin.
//!
//! # Promises
//! - The price found is that of [`super::price::clear`]: when the passes do not confirm it, that
//!   search goes on from there.

use super::price::{Cleared, Demand, Price, Reference, TOLERANCE, Total, clear};
use crate::units::VisitsPerDay;

/// A demand that can separate its kinks near a price from the rest.
pub(super) trait Kinked: Demand {
    /// The part of the demand that has the kinks.
    type Edge: Demand;

    /// The part that has kinks at prices within a factor of `within` of `price`, and the number of its pages.
    fn edge(&self, price: f64, within: f64) -> (Self::Edge, usize);

    /// A rough guess of the price at which the budget is spent. `total` is the demand at `price`, the last
    /// price that was evaluated.
    fn leap(&self, price: f64, total: &Total, budget: f64) -> f64 {
        leap_by_power(price, total, budget)
    }
}

/// The price at which a budget is spent if the demand is a power of the price through `total` at `price`.
pub(super) fn leap_by_power(price: f64, total: &Total, budget: f64) -> f64 {
    price * ((total.spent / budget).ln() / total.elasticity()).clamp(-LEAP_MAX, LEAP_MAX).exp()
}

/// Maximum distance of a guess, in ln price.
const LEAP_MAX: f64 = 5.0;

/// Finds the price at which `demand` spends the budget. Leaves the frequencies at this price, or mixed at a
/// jump. `start` is probably within a factor of `within` of the price.
pub(super) fn clear_near(
    demand: &mut impl Kinked,
    budget: f64,
    start: f64,
    within: f64,
    frequencies: &mut [VisitsPerDay],
) -> Cleared {
    let mut price = start;
    for attempt in 0..ATTEMPTS_MAX {
        match clear_within(demand, budget, price, within, attempt < LEAPS_MAX, frequencies) {
            Ok(found) => return Cleared::at(found),
            Err(next) => price = next,
        }
    }
    clear(demand, budget, price, TOLERANCE, frequencies)
}

/// The price, if it is within a factor of `within` of `start`. Otherwise the error is the
/// price to search from next.
fn clear_within(
    demand: &mut impl Kinked,
    budget: f64,
    start: f64,
    within: f64,
    may_leap: bool,
    frequencies: &mut [VisitsPerDay],
) -> Result<Price, f64> {
    let is_settled = |total: &Total| (total.spent - budget).abs() <= TOLERANCE * budget;
    let mut price = Price::plain(start);
    let mut total = demand.at(&price, frequencies);
    if is_settled(&total) {
        return Ok(price);
    }
    let is_near = |price: f64| (start / within..start * within).contains(&price);
    if may_leap {
        let guess = demand.leap(start, &total, budget);
        if !is_near(guess) && guess.is_finite() {
            return Err(guess);
        }
    }
    let (mut edge, edge_pages) = demand.edge(start, within);
    let mut scratch = vec![VisitsPerDay::ZERO; edge_pages];
    let mut before = None;
    for _ in 0..PASSES_MAX {
        let last = RestPass::new(price.value, &total, &edge.at(&price, &mut scratch));
        let mut model = Model { edge: &mut edge, last, before };
        let tolerance = if before.is_none() { FIRST_TOLERANCE } else { MODEL_TOLERANCE };
        let next = clear(&mut model, budget, price.value, tolerance, &mut scratch).price;
        if !is_near(next.value) {
            return Err(if 0.0 < next.value && next.value < f64::INFINITY { next.value } else { start });
        }
        price = next;
        total = demand.at(&price, frequencies);
        if is_settled(&total) {
            return Ok(price);
        }
        before = Some(last);
    }
    Err(price.value)
}

/// Maximum number of starting prices before the plain search takes over. Two are usual.
const ATTEMPTS_MAX: usize = 5;
/// Number of attempts that may use a guess. Among steep pages guesses may alternate forever.
const LEAPS_MAX: usize = 2;
/// Maximum passes from one starting price. Two are usual.
const PASSES_MAX: usize = 4;
/// Tolerance of the model through one pass: a power is no better than this.
const FIRST_TOLERANCE: f64 = 1e-7;
/// Tolerance of the model through two passes. It is tighter than the result needs, so that the model's own
/// error does not add up.
const MODEL_TOLERANCE: f64 = 0.1 * TOLERANCE;

/// The demand of the rest at one price.
#[derive(Clone, Copy)]
struct RestPass {
    price: f64,
    log_spent: f64,
    /// Slope of ln spent in ln price.
    slope: f64,
}

impl RestPass {
    fn new(price: f64, all: &Total, edge: &Total) -> Self {
        let spent = all.spent - edge.spent;
        // A remainder below the rounding error counts as zero.
        let spent = if spent > ROUNDING * all.spent { spent } else { 0.0 };
        Self { price, log_spent: spent.ln(), slope: -(all.slope - edge.slope) / spent }
    }
}

/// Relative rounding error of the difference of two sums.
const ROUNDING: f64 = 0.1 * TOLERANCE;

/// Model of the whole demand: edge and rest together.
struct Model<'a, E> {
    edge: &'a mut E,
    last: RestPass,
    before: Option<RestPass>,
}

impl<E: Demand> Model<'_, E> {
    fn rest(&self, price: f64) -> Total {
        let RestPass { price: origin, log_spent, slope } = self.last;
        let nothing = !(log_spent.is_finite() && slope.is_finite());
        if nothing {
            return Total::default();
        }
        let y = (price / origin).ln();
        let (log_spent, slope) = match self.before {
            Some(before) if before.log_spent.is_finite() && before.price != origin => {
                let width = (before.price / origin).ln();
                cubic(y / width, width, (log_spent, slope), (before.log_spent, before.slope))
            }
            _ => (log_spent + slope * y, slope),
        };
        let spent = log_spent.exp();
        Total { spent, slope: -slope * spent }
    }
}

/// Value and slope at `t` of the cubic with these values and slopes at 0 and 1, for an
/// interval of width `width`.
fn cubic(t: f64, width: f64, (value, slope): (f64, f64), (end_value, end_slope): (f64, f64)) -> (f64, f64) {
    // In powers of t: value + a t + b t² + c t³.
    let (rise, a, end) = (end_value - value, width * slope, width * end_slope);
    let (b, c) = (3.0 * rise - 2.0 * a - end, a + end - 2.0 * rise);
    (value + t * (a + t * (b + t * c)), (a + t * (2.0 * b + t * 3.0 * c)) / width)
}

impl<E: Demand> Demand for Model<'_, E> {
    fn at(&mut self, price: &Price, frequencies: &mut [VisitsPerDay]) -> Total {
        [self.rest(price.value), self.edge.at(price, frequencies)].into_iter().sum()
    }

    fn references(&self, low: f64, high: f64) -> Vec<Reference> {
        self.edge.references(low, high)
    }

    fn weight(&self, page: usize) -> f64 {
        self.edge.weight(page)
    }

    fn log_complement(&self, page: usize, frequency: f64) -> f64 {
        self.edge.log_complement(page, frequency)
    }
}
