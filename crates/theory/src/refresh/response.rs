//! How often one page is worth a visit when a visit has a price: the answer of each objective.
//!
//! With price π per visit, change rate λ, importance w and x = λ/f changes per visit, the frequency f of a page is where
//! one more visit gains π. The gains are the derivatives by f of
//!
//! > freshness w (1 − e^-x)/x  (thesis, section 5.5.4): w g(x)/λ = π
//! > age −w (1/2 − 1/x + (1 − e^-x)/x²)/f  (the same section): w K(x)/λ² = π, K(x) = x²/2 − g(x)
//! > harmonic w ln(f/(f + λ))  (Kolobov et al., LambdaCrawl): w λ/(f(f + λ)) = π
//! > changes found w f (1 − e^-x): w g(x) = π
//!
//! with g(x) = 1 − (1 + x)e^-x. As g stays below one, freshness and changes found have a *ceiling*: a price (w/λ and w) from
//! which on a page is given up. With equal importance and no limits the changes found are most when all x are equal: that is
//! the proportional policy. The policies of section 5.5.1 answer as well: f = 1/π is uniform and f = λ/π proportional.
//!
//! # Promises
//! - The frequency falls as the price rises, and has twelve digits for rates from 1e-140 to 1e140 of the budget.
//! - Just under its ceiling a page is asked by the *log complement* −ln(1 − π/ceiling), which keeps its digits where the price
//!   itself has none left.

use super::inverse::{
    changes_per_visit_for_age, changes_per_visit_for_freshness, log_complement_of_freshness,
};
use super::pages::Pages;

/// What a page answers to a price.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Answer {
    /// How often to visit it.
    pub(super) frequency: f64,
    /// By which power of a rising price the frequency falls: −d ln f / d ln π.
    pub(super) elasticity: f64,
}

impl Answer {
    /// The page is not worth a visit.
    pub(super) const NEVER: Self = Self { frequency: 0.0, elasticity: 0.0 };
}

/// A price as a sum of two doubles, so that the ceilings of two pages compare where they agree in all digits of one.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(super) struct Ceiling {
    /// The price to double precision.
    pub(super) value: f64,
    /// What is missing from `value`.
    pub(super) rest: f64,
}

impl Ceiling {
    /// The page is visited at any price.
    pub(super) const NONE: Self = Self { value: f64::INFINITY, rest: 0.0 };
    /// The page is visited at no price.
    pub(super) const ZERO: Self = Self { value: 0.0, rest: 0.0 };

    /// `dividend / divisor`.
    #[inline]
    pub(super) fn quotient(dividend: f64, divisor: f64) -> Self {
        let value = dividend / divisor;
        let rest = (-value).mul_add(divisor, dividend) / divisor;
        Self { value, rest: if rest.is_finite() { rest } else { 0.0 } }
    }

    /// This price divided by `divisor`.
    #[inline]
    pub(super) fn per(self, divisor: f64) -> Self {
        let whole = Self::quotient(self.value, divisor);
        Self { value: whole.value, rest: whole.rest + self.rest / divisor }.tidy()
    }

    /// This price without `part`.
    #[inline]
    pub(super) fn without(self, part: f64) -> Self {
        let value = self.value - part;
        let taken = self.value - value;
        Self { value, rest: (self.value - (value + taken)) + (taken - part) + self.rest }.tidy()
    }

    /// By how much this price is above another.
    #[inline]
    pub(super) fn above(self, other: Self) -> f64 {
        (self.value - other.value) + (self.rest - other.rest)
    }

    fn tidy(self) -> Self {
        if !self.value.is_finite() {
            return Self { value: self.value, rest: 0.0 };
        }
        let value = self.value + self.rest;
        Self { value, rest: self.rest - (value - self.value) }
    }
}

/// The pages of a plan and what one more visit to each gains.
pub(super) trait Response: Sync {
    /// Number of pages.
    fn pages(&self) -> usize;

    /// What one visit to the page costs.
    fn cost(&self, page: usize) -> f64;

    /// The price per visit from which on the page is not visited.
    fn ceiling(&self, page: usize) -> Ceiling;

    /// How often to visit the page at a price per visit above zero; `guess` is its answer to a similar price, or zero.
    fn at_price(&self, page: usize, price: f64, guess: f64) -> Answer;

    /// How often to visit the page, which has a ceiling, at the price ceiling · (1 − e^-`log_complement`).
    fn under_ceiling(&self, _page: usize, _log_complement: f64) -> f64 {
        unreachable!("no page has a ceiling")
    }

    /// The log complement at which the page is visited this often; undoes [`Response::under_ceiling`].
    fn log_complement(&self, _page: usize, _frequency: f64) -> f64 {
        unreachable!("no page has a ceiling")
    }
}

/// Some of the pages, by their numbers.
pub(super) struct Subset<'a, R> {
    pub(super) response: &'a R,
    pub(super) pages: &'a [u32],
}

impl<R: Response> Response for Subset<'_, R> {
    #[inline]
    fn pages(&self) -> usize {
        self.pages.len()
    }

    #[inline]
    fn cost(&self, page: usize) -> f64 {
        self.response.cost(self.pages[page] as usize)
    }

    #[inline]
    fn ceiling(&self, page: usize) -> Ceiling {
        self.response.ceiling(self.pages[page] as usize)
    }

    #[inline]
    fn at_price(&self, page: usize, price: f64, guess: f64) -> Answer {
        self.response.at_price(self.pages[page] as usize, price, guess)
    }

    #[inline]
    fn under_ceiling(&self, page: usize, log_complement: f64) -> f64 {
        self.response.under_ceiling(self.pages[page] as usize, log_complement)
    }

    #[inline]
    fn log_complement(&self, page: usize, frequency: f64) -> f64 {
        self.response.log_complement(self.pages[page] as usize, frequency)
    }
}

/// Pages in units in which the budget and the largest importance are near one, so that nothing overflows on the way.
///
/// The units are powers of two: the change of units loses no digit.
#[derive(Clone, Copy)]
pub(super) struct Scaled<'a> {
    pages: &'a Pages<'a>,
    rate_unit: f64,
    importance_unit: f64,
}

/// Scaled rates are kept within these bounds, at the price of digits that no budget can make visible.
const RATE_BOUNDS: (f64, f64) = (1e-290, 1e290);

impl<'a> Scaled<'a> {
    pub(super) fn new(pages: &'a Pages<'a>, rate_unit: f64, importance_unit: f64) -> Self {
        Self { pages, rate_unit, importance_unit }
    }

    #[inline]
    fn rate(&self, page: usize) -> f64 {
        let rate = self.pages.change_rate(page);
        if rate == 0.0 { 0.0 } else { (rate * self.rate_unit).clamp(RATE_BOUNDS.0, RATE_BOUNDS.1) }
    }

    #[inline]
    fn importance(&self, page: usize) -> f64 {
        self.pages.importance(page) * self.importance_unit
    }
}

/// Below this a gain is left to its leading power: its own value would soon underflow.
const GAIN_MIN: f64 = 1e-280;
/// Above this a gain is left to its leading power: its own value would soon overflow.
const GAIN_MAX: f64 = 1e280;

/// Maximises freshness.
pub(super) struct ForFreshness<'a>(pub(super) Scaled<'a>);

impl Response for ForFreshness<'_> {
    #[inline]
    fn pages(&self) -> usize {
        self.0.pages.len()
    }

    #[inline]
    fn cost(&self, page: usize) -> f64 {
        self.0.pages.cost(page)
    }

    #[inline]
    fn ceiling(&self, page: usize) -> Ceiling {
        let rate = self.0.rate(page);
        if rate == 0.0 { Ceiling::ZERO } else { Ceiling::quotient(self.0.importance(page), rate) }
    }

    #[inline]
    fn at_price(&self, page: usize, price: f64, _guess: f64) -> Answer {
        let (rate, importance) = (self.0.rate(page), self.0.importance(page));
        let gain = price * rate / importance;
        if gain < GAIN_MIN && rate > 0.0 {
            return Answer { frequency: rate.sqrt() * (importance / (2.0 * price)).sqrt(), elasticity: 0.5 };
        }
        at_gain(rate, gain)
    }

    #[inline]
    fn under_ceiling(&self, page: usize, log_complement: f64) -> f64 {
        self.0.rate(page) / changes_per_visit_for_freshness(log_complement)
    }

    #[inline]
    fn log_complement(&self, page: usize, frequency: f64) -> f64 {
        log_complement_of_freshness(self.0.rate(page) / frequency)
    }
}

/// Where one more visit gains this part of the ceiling; never for a page without rate or importance.
#[inline]
fn at_gain(rate: f64, gain: f64) -> Answer {
    let worth_a_visit = gain < 1.0 && rate > 0.0;
    if !worth_a_visit {
        return Answer::NEVER;
    }
    let x = changes_per_visit_for_freshness(-(-gain).ln_1p());
    // −d ln f/d ln g = g/(x g'(x)) with g' = x e^-x and e^-x = (1 − g)/(1 + x).
    Answer { frequency: rate / x, elasticity: gain * (1.0 + x) / (x * x * (1.0 - gain)) }
}

/// Maximises the changes found.
pub(super) struct ForChanges<'a>(pub(super) Scaled<'a>);

impl Response for ForChanges<'_> {
    #[inline]
    fn pages(&self) -> usize {
        self.0.pages.len()
    }

    #[inline]
    fn cost(&self, page: usize) -> f64 {
        self.0.pages.cost(page)
    }

    #[inline]
    fn ceiling(&self, page: usize) -> Ceiling {
        let value = if self.0.rate(page) == 0.0 { 0.0 } else { self.0.importance(page) };
        Ceiling { value, rest: 0.0 }
    }

    #[inline]
    fn at_price(&self, page: usize, price: f64, _guess: f64) -> Answer {
        at_gain(self.0.rate(page), price / self.0.importance(page))
    }

    #[inline]
    fn under_ceiling(&self, page: usize, log_complement: f64) -> f64 {
        self.0.rate(page) / changes_per_visit_for_freshness(log_complement)
    }

    #[inline]
    fn log_complement(&self, page: usize, frequency: f64) -> f64 {
        log_complement_of_freshness(self.0.rate(page) / frequency)
    }
}

/// Minimises age.
pub(super) struct ForAge<'a>(pub(super) Scaled<'a>);

impl Response for ForAge<'_> {
    #[inline]
    fn pages(&self) -> usize {
        self.0.pages.len()
    }

    #[inline]
    fn cost(&self, page: usize) -> f64 {
        self.0.pages.cost(page)
    }

    #[inline]
    fn ceiling(&self, page: usize) -> Ceiling {
        no_ceiling_if(self.0.rate(page) > 0.0 && self.0.importance(page) > 0.0)
    }

    #[inline]
    fn at_price(&self, page: usize, price: f64, _guess: f64) -> Answer {
        let (rate, importance) = (self.0.rate(page), self.0.importance(page));
        if rate == 0.0 || importance == 0.0 {
            return Answer::NEVER;
        }
        let gain = price * rate / importance * rate;
        if gain < GAIN_MIN {
            let frequency = rate.cbrt() * (importance / (3.0 * price)).cbrt();
            return Answer { frequency, elasticity: 1.0 / 3.0 };
        }
        if gain > GAIN_MAX {
            return Answer { frequency: (importance / (2.0 * price)).sqrt(), elasticity: 0.5 };
        }
        let x = changes_per_visit_for_age(gain);
        // −d ln f/d ln K = K/(x K'(x)) with K' = x(1 − e^-x) and (1 + x)(1 − e^-x) = x + x²/2 − K.
        let changed = if x < 30.0 { (x + 0.5 * x * x - gain) / (1.0 + x) } else { 1.0 };
        Answer { frequency: rate / x, elasticity: gain / (x * x * changed) }
    }
}

/// Maximises the harmonic objective.
pub(super) struct ForHarmonic<'a>(pub(super) Scaled<'a>);

impl Response for ForHarmonic<'_> {
    #[inline]
    fn pages(&self) -> usize {
        self.0.pages.len()
    }

    #[inline]
    fn cost(&self, page: usize) -> f64 {
        self.0.pages.cost(page)
    }

    #[inline]
    fn ceiling(&self, page: usize) -> Ceiling {
        no_ceiling_if(self.0.rate(page) > 0.0 && self.0.importance(page) > 0.0)
    }

    #[inline]
    fn at_price(&self, page: usize, price: f64, _guess: f64) -> Answer {
        let (rate, worth) = (self.0.rate(page), self.0.importance(page) / price);
        if rate == 0.0 || worth == 0.0 {
            return Answer::NEVER;
        }
        // The root of f² + λf = λw/π, without the difference of the printed (−λ + √(λ² + 4λw/π))/2.
        let frequency = 2.0 * worth / (1.0 + (1.0 + 4.0 * (worth / rate)).sqrt());
        Answer { frequency, elasticity: (frequency + rate) / (2.0 * frequency + rate) }
    }
}

/// Visits every page equally often.
pub(super) struct Uniform<'a>(pub(super) Scaled<'a>);

impl Response for Uniform<'_> {
    #[inline]
    fn pages(&self) -> usize {
        self.0.pages.len()
    }

    #[inline]
    fn cost(&self, page: usize) -> f64 {
        self.0.pages.cost(page)
    }

    #[inline]
    fn ceiling(&self, _page: usize) -> Ceiling {
        Ceiling::NONE
    }

    #[inline]
    fn at_price(&self, _page: usize, price: f64, _guess: f64) -> Answer {
        Answer { frequency: 1.0 / price, elasticity: 1.0 }
    }
}

/// Visits every page in proportion to its change rate.
pub(super) struct Proportional<'a>(pub(super) Scaled<'a>);

impl Response for Proportional<'_> {
    #[inline]
    fn pages(&self) -> usize {
        self.0.pages.len()
    }

    #[inline]
    fn cost(&self, page: usize) -> f64 {
        self.0.pages.cost(page)
    }

    #[inline]
    fn ceiling(&self, page: usize) -> Ceiling {
        no_ceiling_if(self.0.rate(page) > 0.0)
    }

    #[inline]
    fn at_price(&self, page: usize, price: f64, _guess: f64) -> Answer {
        Answer { frequency: self.0.rate(page) / price, elasticity: 1.0 }
    }
}

fn no_ceiling_if(counts: bool) -> Ceiling {
    if counts { Ceiling::NONE } else { Ceiling::ZERO }
}
