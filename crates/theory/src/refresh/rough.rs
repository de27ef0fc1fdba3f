//! The price of many pages in few passes.
//!
//! The demand of many pages has a kink at the ceiling of each, and just under a ceiling its slope is without bound. Over the
//! steps of a search these kinks do not average out: with ten million pages a step of a thousandth leaves a tenth of itself,
//! and the next steps leave more. So the pages are split after the first pass. The *edge*, those with a ceiling near the
//! price, are few and are computed exactly at each price that is tried. The *rest* has no kink near the price: it is followed
//! by a power of the price through the first pass, then by a cubic through the last two. After the second pass the price
//! is exact to twelve digits; the third confirms it and leaves the frequencies.
//!
//! # Promises
//! - The price found is that of [`super::price::clear`]: when the passes do not confirm it, that search goes on from there.

use super::price::{Cleared, Demand, Price, Reference, TOLERANCE, Total, clear};
use crate::units::VisitsPerDay;

/// The pages with ceilings near the price.
pub(super) struct Edge<'a, E> {
    /// What they take.
    pub(super) demand: &'a mut E,
    /// How many they are.
    pub(super) pages: usize,
}

/// Finds the price at which `demand` spends the budget, and leaves the frequencies at this price; `first` is the price of
/// the first pass and the demand at this price.
pub(super) fn clear_from(
    demand: &mut impl Demand,
    edge: &mut Edge<'_, impl Demand>,
    first: (Price, Total),
    budget: f64,
    frequencies: &mut [VisitsPerDay],
) -> Cleared {
    let mut scratch = vec![VisitsPerDay::ZERO; edge.pages];
    let (mut price, mut total) = first;
    let mut before = None;
    for _ in 0..PASSES_MAX {
        let last = RestPass::new(price.value, &total, &edge.demand.at(&price, &mut scratch));
        let mut model = Model { edge: edge.demand, last, before };
        let tolerance = if before.is_none() { FIRST_TOLERANCE } else { MODEL_TOLERANCE };
        price = clear(&mut model, budget, price.value, tolerance, &mut scratch).price;
        total = demand.at(&price, frequencies);
        if (total.spent - budget).abs() <= TOLERANCE * budget {
            return Cleared::at(price);
        }
        before = Some(last);
    }
    clear(demand, budget, price.value, TOLERANCE, frequencies)
}

/// Passes after which the plain search takes over. Three are usual.
const PASSES_MAX: usize = 6;
/// A power through one pass is no better than this.
const FIRST_TOLERANCE: f64 = 1e-7;
/// The model is solved to more digits than the result needs, so that its own error does not add up.
const MODEL_TOLERANCE: f64 = 0.1 * TOLERANCE;

/// What the rest takes at one price.
#[derive(Clone, Copy)]
struct RestPass {
    price: f64,
    log_spent: f64,
    /// Slope of the logarithm of what is spent in the logarithm of the price.
    slope: f64,
}

impl RestPass {
    fn new(price: f64, all: &Total, edge: &Total) -> Self {
        let spent = all.spent - edge.spent;
        Self { price, log_spent: spent.ln(), slope: -(all.slope - edge.slope) / spent }
    }
}

/// Edge and rest together.
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

/// Value and slope at `t` of the cubic with these values and slopes at 0 and 1, for a variable that is `width` wide.
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
