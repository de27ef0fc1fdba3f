//! Price search: finds the price of a visit at which the demand of the pages equals the budget.
//!
//! Implements the search for the Lagrange multiplier μ of the thesis, section 5.5.4 (Problem 5.1). The demand
//! falls as the price rises, and is nearly a power of the price over wide ranges. So the search runs in
//! logarithms of both: Newton's method, from the second pass on a cubic through the last two passes, and
//! bisection when neither makes progress.
//!
//! Where the last pages that are visited at all are just under their ceiling, the demand jumps between two
//! neighbouring doubles. With change rates 9 and 1 and two visits, 1 − μλ/w of the fast page is 1e-15, and
//! its share is off in the third digit when μ is rounded. Then the page with the lowest ceiling above the
//! price becomes the *reference*, and the search runs on its own frequency: its log complement gives the
//! distance of the price below its ceiling, and the exact differences of ceilings give it for all others.
//! Pages of equal ceiling share in proportion to their rates.
//!
//! One reference is not always enough. Two pages of a saturated host, one expensive and one cheap, may
//! both be just under their ceilings. Then the price of the plan and that of the host both lack digits,
//! and from one double to the next the limit of the host moves from the one page to the other. Every
//! mixture of the answers at the two neighbouring prices is as good as they are, as the gain is concave
//! and the prices are equal except for the last digit. The mixture also keeps all limits, as these are
//! linear. So the search ends with the *jump*: both prices, and the share of the answers at the lower one
//! with which the budget is spent.
//!
//! # Promises
//! - The demand at the price found, or in the mixture at a jump, is within 1e-12 of the budget, so that no
//!   page is off by more than that part of the budget.
//! - This holds for equal and nearly equal ceilings too.

use super::response::{Answer, Ceiling};
use crate::units::VisitsPerDay;

/// A price, with more digits than a double has when it is just under the ceiling of some page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Price {
    /// The price to double precision.
    pub(super) value: f64,
    /// Its position under the ceiling of the reference page, if it has one.
    pub(super) under: Option<Under>,
}

/// A position under a ceiling: the price ceiling · (1 − e^-`log_complement`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Under {
    pub(super) ceiling: Ceiling,
    pub(super) log_complement: f64,
}

impl Price {
    /// A price for which double precision is enough.
    pub(super) fn plain(value: f64) -> Self {
        Self { value, under: None }
    }

    fn under(ceiling: Ceiling, log_complement: f64) -> Self {
        let value = -ceiling.value * (-log_complement).exp_m1();
        Self { value, under: Some(Under { ceiling, log_complement }) }
    }
}

/// Result of a price search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cleared {
    /// The price. With a jump, the lowest known price at which no more than the budget is spent.
    pub(super) price: Price,
    /// The other side of the jump, when no price spends exactly the budget.
    pub(super) jump: Option<Jump>,
}

/// A jump of the demand over the budget, between two prices that are as close as their digits allow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Jump {
    /// The lower price, at which too much is spent.
    pub(super) below: Price,
    /// Fraction of the answers that is taken at the lower price.
    pub(super) share: f64,
}

impl Cleared {
    /// A result without a jump.
    pub(super) fn at(price: Price) -> Self {
        Self { price, jump: None }
    }
}

impl Jump {
    /// A jump from `spent_below` down to `spent_above`, with the budget in between.
    pub(super) fn new(below: Price, spent_below: f64, spent_above: f64, budget: f64) -> Self {
        let share = (budget - spent_above) / (spent_below - spent_above);
        // If the demand below is infinite, nothing can be taken there.
        Self { below, share: if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 } }
    }

    /// The frequency of a page in the mixture.
    pub(super) fn mix(&self, below: VisitsPerDay, above: VisitsPerDay) -> VisitsPerDay {
        VisitsPerDay::new(self.share * below.get() + (1.0 - self.share) * above.get())
    }
}

/// The demand of all pages together at a price.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Total {
    /// The cost of their visits.
    pub(super) spent: f64,
    /// The decrease of `spent` per unit of the logarithm of the price.
    pub(super) slope: f64,
}

/// Range of elasticities that a rough step uses. Just under a ceiling they are unbounded.
const ELASTICITIES: (f64, f64) = (0.3, 2.0);

impl Total {
    /// The total cut at a limit; there its slope is zero.
    pub(super) fn cut_at(self, limit: f64) -> Self {
        if self.spent > limit { Self { spent: limit, slope: 0.0 } } else { self }
    }

    /// The power of the price by which the total falls, clamped to [`ELASTICITIES`].
    pub(super) fn elasticity(&self) -> f64 {
        let (low, high) = ELASTICITIES;
        if self.spent > 0.0 { (self.slope / self.spent).clamp(low, high) } else { low }
    }

    /// Adds a page whose visits take `weight` each.
    #[inline(always)]
    pub(super) fn add(&mut self, weight: f64, answer: &Answer) {
        let spent = weight * answer.frequency;
        self.spent += spent;
        self.slope += spent * answer.elasticity;
    }
}

impl std::iter::Sum for Total {
    fn sum<I: Iterator<Item = Self>>(totals: I) -> Self {
        totals.fold(Self::default(), |sum, part| Self {
            spent: sum.spent + part.spent,
            slope: sum.slope + part.slope,
        })
    }
}

/// A page whose frequency can replace the price in the search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reference {
    /// The price from which on the page gets no visits.
    pub(super) ceiling: Ceiling,
    /// The number of the page.
    pub(super) page: usize,
}

/// Pages whose visits depend on a common price.
pub(super) trait Demand {
    /// The total demand at this price. `frequencies` holds those of an earlier price and is overwritten.
    fn at(&mut self, price: &Price, frequencies: &mut [VisitsPerDay]) -> Total;

    /// One reference for each ceiling from `low` to `high`, and one for the lowest above, in rising order.
    /// Without any, the search never runs on the frequency of a page.
    fn references(&self, _low: f64, _high: f64) -> Vec<Reference> {
        Vec::new()
    }

    /// The amount that one visit to the page takes from the budget.
    fn weight(&self, _page: usize) -> f64 {
        1.0
    }

    /// The log complement of the price at which the page is visited this often.
    fn log_complement(&self, _page: usize, _frequency: f64) -> f64 {
        unreachable!("no page stands for the price")
    }
}

/// Relative tolerance between the demand and the budget for few pages. The sum of many cannot
/// be computed this exactly.
pub(super) const TOLERANCE_OF_FEW: f64 = 1e-14;

/// Relative tolerance between the demand and the budget.
pub(super) const TOLERANCE: f64 = 1e-12;

/// Finds the price at which `demand` spends the budget, beginning at `start`. Leaves the frequencies at this
/// price, or mixed at a jump.
///
/// The demand must exceed the budget at a price low enough.
pub(super) fn clear(
    demand: &mut impl Demand,
    budget: f64,
    start: f64,
    tolerance: f64,
    frequencies: &mut [VisitsPerDay],
) -> Cleared {
    let (below, above) = match find(demand, budget, start, tolerance, frequencies) {
        Found::At(price) => return Cleared::at(price),
        Found::Between { below, above } => (below, above),
    };
    let spent_below = demand.at(&below, frequencies).spent;
    let frequencies_below = frequencies.to_vec();
    let spent_above = demand.at(&above, frequencies).spent;
    let jump = Jump::new(below, spent_below, spent_above, budget);
    for (frequency, below) in frequencies.iter_mut().zip(frequencies_below) {
        *frequency = jump.mix(below, *frequency);
    }
    Cleared { price: above, jump: Some(jump) }
}

/// Where the budget is spent.
enum Found {
    /// At this price; `frequencies` holds its frequencies.
    At(Price),
    /// At no price: `below` spends too much, and `above`, the next one, too little.
    Between { below: Price, above: Price },
}

fn find(
    demand: &mut impl Demand,
    budget: f64,
    start: f64,
    tolerance: f64,
    frequencies: &mut [VisitsPerDay],
) -> Found {
    let mut search = Search { low: 0.0, high: f64::INFINITY, last: None, before: None };
    let mut price = start;
    for pass in 0..PASSES_MAX {
        let total = demand.at(&Price::plain(price), frequencies);
        if (total.spent - budget).abs() <= tolerance * budget {
            return Found::At(Price::plain(price));
        }
        search.note(price, &total, budget);
        let next = search.next();
        if (pass >= PATIENCE || next.is_none())
            && let Some(found) = under_a_ceiling(demand, budget, tolerance, &search, frequencies)
        {
            return found;
        }
        let Some(next) = next else { break };
        price = next;
    }
    if search.low == 0.0 {
        // Even at a price near zero the pages do not take the budget.
        demand.at(&Price::plain(price), frequencies);
        return Found::At(Price::plain(price));
    }
    Found::Between { below: Price::plain(search.low), above: Price::plain(search.high) }
}

/// Number of passes after which the search turns to the ceilings.
const PATIENCE: usize = 40;
/// Maximum number of passes. Bisection alone needs 64 once both ends are known.
const PASSES_MAX: usize = 300;

/// One pass: the price, and the logarithm of demand divided by budget with its slope in
/// the logarithm of the price.
#[derive(Clone, Copy)]
struct Pass {
    price: f64,
    excess: f64,
    slope: f64,
}

/// State of the search: the bracket of the price and the last passes.
struct Search {
    low: f64,
    high: f64,
    last: Option<Pass>,
    before: Option<Pass>,
}

impl Search {
    fn note(&mut self, price: f64, total: &Total, budget: f64) {
        if total.spent > budget {
            self.low = price;
        } else {
            self.high = price;
        }
        self.before = self.last;
        let pass = Pass { price, excess: (total.spent / budget).ln(), slope: -total.slope / total.spent };
        self.last = Some(pass);
    }

    /// The next price to try, strictly inside the bracket. `None` when no double is left there.
    fn next(&self) -> Option<f64> {
        let inside = |price: &f64| self.low < *price && *price < self.high && price.is_finite();
        let last = self.last.expect("a pass was made").usable();
        let before = self.before.and_then(Pass::usable);
        let stuck = matches!((last, self.before), (Some(last), Some(before))
            if last.excess.abs() > 0.25 * before.excess.abs());
        let by_slope = match (before, last) {
            (Some(before), Some(last)) if !stuck => Some(before.cubic(last)).filter(inside),
            _ => None,
        };
        by_slope
            .or_else(|| last.filter(|_| !stuck).map(Pass::newton).filter(inside))
            .or_else(|| Some(self.middle()).filter(inside))
    }

    fn middle(&self) -> f64 {
        const STRIDE: f64 = 64.0;
        if self.high == f64::INFINITY {
            self.low * STRIDE
        } else if self.low == 0.0 {
            self.high / STRIDE
        } else if self.high > 2.0 * self.low {
            self.low.sqrt() * self.high.sqrt()
        } else {
            self.low + 0.5 * (self.high - self.low)
        }
    }
}

impl Pass {
    fn usable(self) -> Option<Self> {
        (self.excess.is_finite() && self.slope < 0.0 && self.slope.is_finite()).then_some(self)
    }

    fn newton(self) -> f64 {
        self.price * (-self.excess / self.slope).exp()
    }

    /// The price at excess zero on a cubic: ln price as a function of the excess, through the values
    /// and slopes of two passes.
    fn cubic(self, last: Self) -> f64 {
        let width = last.excess - self.excess;
        let t = -self.excess / width;
        let (u, y) = (1.0 - t, (self.price / last.price).ln());
        let step = y * (1.0 + 2.0 * t) * u * u + width * t * u * (u / self.slope - t / last.slope);
        last.price * step.exp()
    }
}

/// Searches on the frequency of a reference page. `None` when no page is near its ceiling.
fn under_a_ceiling(
    demand: &mut impl Demand,
    budget: f64,
    tolerance: f64,
    search: &Search,
    frequencies: &mut [VisitsPerDay],
) -> Option<Found> {
    const SLACK: f64 = 8.0 * f64::EPSILON;
    let references = demand.references(search.low * (1.0 - SLACK), search.high * (1.0 + SLACK));
    let first = references.partition_point(|reference| {
        demand.at(&Price::under(reference.ceiling, f64::INFINITY), frequencies).spent > budget
    });
    let reference = references.get(first)?;
    // Price and excess of the demand when the reference page gets this frequency.
    let weight = demand.weight(reference.page);
    let mut at = |frequency: f64| {
        let log_complement = demand.log_complement(reference.page, frequency).max(0.0);
        let price = Price::under(reference.ceiling, log_complement);
        (price, demand.at(&price, frequencies).spent - budget)
    };
    let (price, excess) = at(0.0);
    if excess.abs() <= tolerance * budget {
        return Some(Found::At(price));
    }
    let all_that_is_left = -excess / weight;
    Some(own_frequency(at, (0.0, excess), all_that_is_left, tolerance * budget))
}

/// Regula falsi with Illinois weights of the ends, on the frequency of the reference page.
fn own_frequency(
    mut at: impl FnMut(f64) -> (Price, f64),
    mut low: (f64, f64),
    frequency_max: f64,
    tolerance: f64,
) -> Found {
    let (mut price, excess) = at(frequency_max);
    let mut high = (frequency_max, excess);
    // A single page takes all that is left. Under a host's limit its own visits may count for less, and the
    // price must fall further.
    while high.1 < -tolerance && high.0 < FREQUENCY_MAX {
        low = high;
        high.0 *= 8.0;
        (price, high.1) = at(high.0);
    }
    if high.1 <= tolerance {
        return Found::At(price);
    }
    for pass in 0..OWN_PASSES_MAX {
        let is_inside = |frequency: &f64| low.0 < *frequency && *frequency < high.0;
        let secant = low.0 + (high.0 - low.0) * (low.1 / (low.1 - high.1));
        // Every fourth pass bisects, so that a bent demand cannot keep one end forever.
        let secant = Some(secant).filter(|_| pass % 4 != 3).filter(is_inside);
        let middle = Some(low.0 + 0.5 * (high.0 - low.0)).filter(is_inside);
        let Some(frequency) = secant.or(middle) else { break };
        let (price, excess) = at(frequency);
        if excess.abs() <= tolerance {
            return Found::At(price);
        }
        if excess < 0.0 {
            low = (frequency, excess);
            high.1 *= 0.5;
        } else {
            high = (frequency, excess);
            low.1 *= 0.5;
        }
    }
    Found::Between { below: at(high.0).0, above: at(low.0).0 }
}

/// Upper bound of the frequencies to search, in units in which the budget is near one.
const FREQUENCY_MAX: f64 = 1e250;
/// Maximum passes of the search on one frequency. Bisection in every fourth pass ends it within four times
/// 64.
const OWN_PASSES_MAX: usize = 260;
