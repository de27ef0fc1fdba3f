//! Visit frequency of one page at a given price of a visit, for each objective.
//!
//! With price π per visit, change rate λ, importance w and x = λ/f changes per visit, the frequency f of a
//! page is where one more visit gains π. The gains are the derivatives by f of
//!
//! > freshness w (1 − e^-x)/x  (thesis, section 5.5.4): w g(x)/λ = π
//! > age −w (1/2 − 1/x + (1 − e^-x)/x²)/f  (the same section): w K(x)/λ² = π, K(x) = x²/2 − g(x)
//! > harmonic w ln(f/(f + λ))  (Kolobov et al., LambdaCrawl): w λ/(f(f + λ)) = π
//! > changes found w f (1 − e^-x): w g(x) = π
//!
//! with g(x) = 1 − (1 + x)e^-x. As g stays below one, freshness and changes found have a *ceiling*: a price
//! (w/λ and w) from which on a page gets no visits. With equal importance and no limits the number of changes
//! found is largest when all x are equal: that is the proportional policy. The policies of section 5.5.1 fit
//! the same form: f = 1/π is uniform and f = λ/π proportional.
//!
//! # Promises
//! - The frequency falls as the price rises, and has twelve digits for rates from
//!   1e-140 to 1e140 of the budget.
//! - Just under its ceiling a page is evaluated by the *log complement* −ln(1 − π/ceiling), which keeps its
//!   digits where the price itself has none left.

use std::ops::Range;

use super::inverse::{AgeCurve, FreshnessCurve, log_complement_of_freshness};
use super::scaled::Scaled;
use crate::units::VisitsPerDay;

/// The response of a page to a price.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Answer {
    /// The visit frequency.
    pub(super) frequency: f64,
    /// The power of a rising price by which the frequency falls: −d ln f / d ln π.
    pub(super) elasticity: f64,
}

impl Answer {
    /// The page gets no visits.
    pub(super) const NEVER: Self = Self { frequency: 0.0, elasticity: 0.0 };

    /// The frequency with its unit, clamped because a price near zero may have made it infinite.
    #[inline(always)]
    pub(super) fn visit_frequency(self) -> VisitsPerDay {
        VisitsPerDay::new(if self.frequency < f64::MAX { self.frequency } else { f64::MAX })
    }
}

/// A price as a sum of two doubles, so that the ceilings of two pages can be compared where they agree in
/// all digits of one double.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(super) struct Ceiling {
    /// The price to double precision.
    pub(super) value: f64,
    /// The rounding error of `value`.
    pub(super) rest: f64,
}

impl Ceiling {
    /// No ceiling: the page is visited at any price.
    pub(super) const NONE: Self = Self { value: f64::INFINITY, rest: 0.0 };
    /// The page is not visited at any price.
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

    /// This price minus `part`.
    #[inline]
    pub(super) fn without(self, part: f64) -> Self {
        let value = self.value - part;
        let taken = self.value - value;
        Self { value, rest: (self.value - (value + taken)) + (taken - part) + self.rest }.tidy()
    }

    /// The difference of this price and another, accurate where both are nearly equal.
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

/// Number of pages that are computed together, in vector instructions.
pub(super) const BLOCK: usize = 32;
/// One number for each page of a block.
pub(super) type Block = [f64; BLOCK];

/// Computes one number for each page of a block.
#[inline(always)]
pub(super) fn block_of(number: impl Fn(usize) -> f64) -> Block {
    // A loop over an array compiles to vector instructions; `array::map` and `from_fn` compile to calls.
    let mut block = [0.0; BLOCK];
    for (page, slot) in block.iter_mut().enumerate() {
        *slot = number(page);
    }
    block
}

/// The pages of a plan, with the gain of one more visit to each as a function of its frequency.
pub(super) trait Response: Sync {
    /// Number of pages.
    fn pages(&self) -> usize;

    /// Cost of one visit to the page.
    fn cost(&self, page: usize) -> f64;

    /// The price per visit from which on the page gets no visits.
    fn ceiling(&self, page: usize) -> Ceiling;

    /// The visit frequency of the page at a price per visit above zero. `guess` is its frequency at
    /// a similar price, or zero.
    fn at_price(&self, page: usize, price: f64, guess: f64) -> Answer;

    /// The answers of a block of pages, whose numbers `page_at` returns. `frequencies` holds the guesses and
    /// is overwritten with the answers.
    #[inline]
    fn at_price_all(
        &self,
        page_at: impl Fn(usize) -> usize,
        price: f64,
        frequencies: &mut Block,
        elasticities: &mut Block,
    ) {
        for (offset, (frequency, elasticity)) in frequencies.iter_mut().zip(elasticities).enumerate() {
            let answer = self.at_price(page_at(offset), price, *frequency);
            (*frequency, *elasticity) = (answer.frequency, answer.elasticity);
        }
    }

    /// Whether the ceiling of the page is below the price.
    #[inline]
    fn is_given_up(&self, page: usize, price: f64) -> bool {
        self.ceiling(page).value < price
    }

    /// The visit frequency of the page, which has a ceiling, at the price
    /// ceiling · (1 − e^-`log_complement`).
    fn under_ceiling(&self, _page: usize, _log_complement: f64) -> f64 {
        unreachable!("no page has a ceiling")
    }

    /// The log complement at which the page is visited this often; the inverse of
    /// [`Response::under_ceiling`].
    fn log_complement(&self, _page: usize, _frequency: f64) -> f64 {
        unreachable!("no page has a ceiling")
    }
}

/// A list of page numbers.
pub(super) trait Numbers: Sync {
    /// How many there are.
    fn count(&self) -> usize;

    /// The number at this index.
    fn number(&self, page: usize) -> usize;
}

impl Numbers for &[u32] {
    #[inline]
    fn count(&self) -> usize {
        self.len()
    }

    #[inline(always)]
    fn number(&self, page: usize) -> usize {
        self[page] as usize
    }
}

impl Numbers for Range<usize> {
    #[inline]
    fn count(&self) -> usize {
        self.len()
    }

    #[inline(always)]
    fn number(&self, page: usize) -> usize {
        self.start + page
    }
}

/// A subset of the pages, given by their numbers.
pub(super) struct Subset<'a, R, N> {
    pub(super) response: &'a R,
    pub(super) numbers: N,
}

/// A range of consecutive pages.
pub(super) type Span<'a, R> = Subset<'a, R, Range<usize>>;

impl<R: Response, N: Numbers> Response for Subset<'_, R, N> {
    #[inline]
    fn pages(&self) -> usize {
        self.numbers.count()
    }

    #[inline]
    fn cost(&self, page: usize) -> f64 {
        self.response.cost(self.numbers.number(page))
    }

    #[inline]
    fn ceiling(&self, page: usize) -> Ceiling {
        self.response.ceiling(self.numbers.number(page))
    }

    #[inline(always)]
    fn at_price(&self, page: usize, price: f64, guess: f64) -> Answer {
        self.response.at_price(self.numbers.number(page), price, guess)
    }

    #[inline]
    fn at_price_all(
        &self,
        page_at: impl Fn(usize) -> usize,
        price: f64,
        frequencies: &mut Block,
        elasticities: &mut Block,
    ) {
        let page_at = |offset| self.numbers.number(page_at(offset));
        self.response.at_price_all(page_at, price, frequencies, elasticities);
    }

    #[inline]
    fn is_given_up(&self, page: usize, price: f64) -> bool {
        self.response.is_given_up(self.numbers.number(page), price)
    }

    #[inline]
    fn under_ceiling(&self, page: usize, log_complement: f64) -> f64 {
        self.response.under_ceiling(self.numbers.number(page), log_complement)
    }

    #[inline]
    fn log_complement(&self, page: usize, frequency: f64) -> f64 {
        self.response.log_complement(self.numbers.number(page), frequency)
    }
}

/// Below this a freshness gain uses its leading power: the gain itself would soon underflow.
const FRESHNESS_GAIN_MIN: f64 = 1e-280;

/// Response that maximises freshness.
pub(super) struct ForFreshness<'a> {
    pages: Scaled<'a>,
    curve: &'static FreshnessCurve,
}

impl<'a> ForFreshness<'a> {
    pub(super) fn new(pages: Scaled<'a>) -> Self {
        Self { pages, curve: FreshnessCurve::get() }
    }
}

impl Response for ForFreshness<'_> {
    #[inline]
    fn pages(&self) -> usize {
        self.pages.pages.len()
    }

    #[inline]
    fn cost(&self, page: usize) -> f64 {
        self.pages.pages.cost(page)
    }

    #[inline]
    fn ceiling(&self, page: usize) -> Ceiling {
        let rate = self.pages.rate(page);
        if rate == 0.0 { Ceiling::ZERO } else { Ceiling::quotient(self.pages.importance(page), rate) }
    }

    #[inline(always)]
    fn at_price(&self, page: usize, price: f64, _guess: f64) -> Answer {
        let (rate, importance) = (self.pages.rate(page), self.pages.importance(page));
        let gain = price * rate / importance;
        if gain < FRESHNESS_GAIN_MIN {
            return Answer { frequency: rate.sqrt() * (importance / (2.0 * price)).sqrt(), elasticity: 0.5 };
        }
        at_gain(self.curve, rate, gain)
    }

    #[inline]
    fn at_price_all(
        &self,
        page_at: impl Fn(usize) -> usize,
        price: f64,
        frequencies: &mut Block,
        elasticities: &mut Block,
    ) {
        let (rates, importances) = self.pages.block(&page_at);
        let gains = block_of(|page| price * rates[page] / importances[page]);
        at_gains(self.curve, &rates, &gains, frequencies, elasticities);
        for (offset, gain) in gains.iter().enumerate() {
            if is_special(*gain) || *gain < FRESHNESS_GAIN_MIN {
                let answer = self.at_price(page_at(offset), price, 0.0);
                (frequencies[offset], elasticities[offset]) = (answer.frequency, answer.elasticity);
            }
        }
    }

    #[inline(always)]
    fn is_given_up(&self, page: usize, price: f64) -> bool {
        // Compares without the division of the ceiling.
        self.pages.importance(page) < price * self.pages.rate(page)
    }

    #[inline]
    fn under_ceiling(&self, page: usize, log_complement: f64) -> f64 {
        self.pages.rate(page) / self.curve.at_log_complement(log_complement)
    }

    #[inline]
    fn log_complement(&self, page: usize, frequency: f64) -> f64 {
        log_complement_of_freshness(self.pages.rate(page) / frequency)
    }
}

/// The frequency at which one more visit gains this fraction of the ceiling. Never for a page
/// without rate or importance.
#[inline(always)]
fn at_gain(curve: &FreshnessCurve, rate: f64, gain: f64) -> Answer {
    let is_worth = gain < 1.0 && rate > 0.0;
    if !is_worth {
        return Answer::NEVER;
    }
    let x = if is_special(gain) { curve.at_log_complement(-(1.0 - gain).ln()) } else { curve.at_gain(gain) };
    // −d ln f/d ln g = g/(x g'(x)) with g' = x e^-x and e^-x = (1 − g)/(1 + x).
    Answer { frequency: rate / x, elasticity: gain * (1.0 + x) / (x * x * (1.0 - gain)) }
}

/// Whether the gain is beyond the table of gains and still below one.
#[inline(always)]
fn is_special(gain: f64) -> bool {
    (FreshnessCurve::GAIN_END..1.0).contains(&gain)
}

/// [`at_gain`] for a whole block, except for special gains.
///
/// Gains beyond one are as frequent as others, so a branch on them would be unpredictable. They take the same
/// path, and the result is multiplied by zero.
#[inline(always)]
fn at_gains(
    curve: &FreshnessCurve,
    rates: &Block,
    gains: &Block,
    frequencies: &mut Block,
    elasticities: &mut Block,
) {
    const END: f64 = FreshnessCurve::GAIN_END;
    let is_worth = block_of(|page| if gains[page] < 1.0 { 1.0 } else { 0.0 });
    let gains = block_of(|page| if gains[page] < END { gains[page] } else { END });
    let changes_per_visit = curve.at_gains(&gains);
    for page in 0..BLOCK {
        let (gain, x) = (gains[page], changes_per_visit[page]);
        // Both quotients of `at_gain` by one division.
        let inverse = is_worth[page] / (x * x * (1.0 - gain));
        frequencies[page] = rates[page] * (x * (1.0 - gain) * inverse);
        elasticities[page] = gain * (1.0 + x) * inverse;
    }
}

/// Response that maximises the changes found.
pub(super) struct ForChanges<'a> {
    pages: Scaled<'a>,
    curve: &'static FreshnessCurve,
}

impl<'a> ForChanges<'a> {
    pub(super) fn new(pages: Scaled<'a>) -> Self {
        Self { pages, curve: FreshnessCurve::get() }
    }
}

impl Response for ForChanges<'_> {
    #[inline]
    fn pages(&self) -> usize {
        self.pages.pages.len()
    }

    #[inline]
    fn cost(&self, page: usize) -> f64 {
        self.pages.pages.cost(page)
    }

    #[inline]
    fn ceiling(&self, page: usize) -> Ceiling {
        let value = if self.pages.rate(page) == 0.0 { 0.0 } else { self.pages.importance(page) };
        Ceiling { value, rest: 0.0 }
    }

    #[inline(always)]
    fn at_price(&self, page: usize, price: f64, _guess: f64) -> Answer {
        at_gain(self.curve, self.pages.rate(page), price / self.pages.importance(page))
    }

    #[inline]
    fn at_price_all(
        &self,
        page_at: impl Fn(usize) -> usize,
        price: f64,
        frequencies: &mut Block,
        elasticities: &mut Block,
    ) {
        let (rates, importances) = self.pages.block(&page_at);
        let gains = block_of(|page| price / importances[page]);
        at_gains(self.curve, &rates, &gains, frequencies, elasticities);
        for (offset, gain) in gains.iter().enumerate() {
            if is_special(*gain) {
                let answer = self.at_price(page_at(offset), price, 0.0);
                (frequencies[offset], elasticities[offset]) = (answer.frequency, answer.elasticity);
            }
        }
    }

    #[inline]
    fn under_ceiling(&self, page: usize, log_complement: f64) -> f64 {
        self.pages.rate(page) / self.curve.at_log_complement(log_complement)
    }

    #[inline]
    fn log_complement(&self, page: usize, frequency: f64) -> f64 {
        log_complement_of_freshness(self.pages.rate(page) / frequency)
    }
}

/// Response that minimises age.
pub(super) struct ForAge<'a> {
    pages: Scaled<'a>,
    curve: &'static AgeCurve,
}

impl<'a> ForAge<'a> {
    pub(super) fn new(pages: Scaled<'a>) -> Self {
        Self { pages, curve: AgeCurve::get() }
    }
}

impl Response for ForAge<'_> {
    #[inline]
    fn pages(&self) -> usize {
        self.pages.pages.len()
    }

    #[inline]
    fn cost(&self, page: usize) -> f64 {
        self.pages.pages.cost(page)
    }

    #[inline]
    fn ceiling(&self, page: usize) -> Ceiling {
        no_ceiling_if(self.pages.rate(page) > 0.0 && self.pages.importance(page) > 0.0)
    }

    #[inline(always)]
    fn at_price(&self, page: usize, price: f64, _guess: f64) -> Answer {
        let (rate, importance) = (self.pages.rate(page), self.pages.importance(page));
        if rate == 0.0 || importance == 0.0 {
            return Answer::NEVER;
        }
        let gain = price * rate / importance * rate;
        if gain < AgeCurve::GAINS.start {
            let frequency = rate.cbrt() * (importance / (3.0 * price)).cbrt();
            return Answer { frequency, elasticity: 1.0 / 3.0 };
        }
        if gain >= AgeCurve::GAINS.end {
            return Answer { frequency: (importance / (2.0 * price)).sqrt(), elasticity: 0.5 };
        }
        at_age_gain(rate, gain, self.curve.at_gain(gain))
    }

    #[inline]
    fn at_price_all(
        &self,
        page_at: impl Fn(usize) -> usize,
        price: f64,
        frequencies: &mut Block,
        elasticities: &mut Block,
    ) {
        let (rates, importances) = self.pages.block(&page_at);
        let gains = block_of(|page| price * rates[page] / importances[page] * rates[page]);
        let changes_per_visit = self.curve.at_gains(&gains);
        for page in 0..BLOCK {
            let answer = at_age_gain(rates[page], gains[page], changes_per_visit[page]);
            (frequencies[page], elasticities[page]) = (answer.frequency, answer.elasticity);
        }
        for (offset, gain) in gains.iter().enumerate() {
            if !AgeCurve::GAINS.contains(gain) {
                let answer = self.at_price(page_at(offset), price, 0.0);
                (frequencies[offset], elasticities[offset]) = (answer.frequency, answer.elasticity);
            }
        }
    }
}

/// The answer of a page for which `changes_per_visit` has this age gain.
#[inline(always)]
fn at_age_gain(rate: f64, gain: f64, changes_per_visit: f64) -> Answer {
    let x = changes_per_visit;
    // −d ln f/d ln K = K/(x K'(x)) with K' = x(1 − e^-x) and (1 + x)(1 − e^-x) = x + x²/2 − K. Where that
    // difference loses its digits, it only has to be not small.
    let changed = x + if x < 1e8 { 0.5 * x * x - gain } else { 1.0 };
    // Both quotients by one division.
    let inverse = 1.0 / (x * x * changed);
    Answer { frequency: rate * (x * changed * inverse), elasticity: gain * (1.0 + x) * inverse }
}

/// Response that maximises the harmonic objective.
pub(super) struct ForHarmonic<'a> {
    pages: Scaled<'a>,
}

impl<'a> ForHarmonic<'a> {
    pub(super) fn new(pages: Scaled<'a>) -> Self {
        Self { pages }
    }
}

impl Response for ForHarmonic<'_> {
    #[inline]
    fn pages(&self) -> usize {
        self.pages.pages.len()
    }

    #[inline]
    fn cost(&self, page: usize) -> f64 {
        self.pages.pages.cost(page)
    }

    #[inline]
    fn ceiling(&self, page: usize) -> Ceiling {
        no_ceiling_if(self.pages.rate(page) > 0.0 && self.pages.importance(page) > 0.0)
    }

    #[inline(always)]
    fn at_price(&self, page: usize, price: f64, _guess: f64) -> Answer {
        let (rate, worth) = (self.pages.rate(page), self.pages.importance(page) / price);
        if rate == 0.0 || worth == 0.0 {
            return Answer::NEVER;
        }
        // The root of f² + λf = λw/π, without the difference of the printed (−λ + √(λ² + 4λw/π))/2.
        let frequency = 2.0 * worth / (1.0 + (1.0 + 4.0 * (worth / rate)).sqrt());
        Answer { frequency, elasticity: (frequency + rate) / (2.0 * frequency + rate) }
    }
}

/// Response that visits every page equally often.
pub(super) struct Uniform<'a> {
    pages: Scaled<'a>,
}

impl<'a> Uniform<'a> {
    pub(super) fn new(pages: Scaled<'a>) -> Self {
        Self { pages }
    }
}

impl Response for Uniform<'_> {
    #[inline]
    fn pages(&self) -> usize {
        self.pages.pages.len()
    }

    #[inline]
    fn cost(&self, page: usize) -> f64 {
        self.pages.pages.cost(page)
    }

    #[inline]
    fn ceiling(&self, _page: usize) -> Ceiling {
        Ceiling::NONE
    }

    #[inline(always)]
    fn at_price(&self, _page: usize, price: f64, _guess: f64) -> Answer {
        Answer { frequency: 1.0 / price, elasticity: 1.0 }
    }
}

/// Response that visits every page in proportion to its change rate.
pub(super) struct Proportional<'a> {
    pages: Scaled<'a>,
}

impl<'a> Proportional<'a> {
    pub(super) fn new(pages: Scaled<'a>) -> Self {
        Self { pages }
    }
}

impl Response for Proportional<'_> {
    #[inline]
    fn pages(&self) -> usize {
        self.pages.pages.len()
    }

    #[inline]
    fn cost(&self, page: usize) -> f64 {
        self.pages.pages.cost(page)
    }

    #[inline]
    fn ceiling(&self, page: usize) -> Ceiling {
        no_ceiling_if(self.pages.rate(page) > 0.0)
    }

    #[inline(always)]
    fn at_price(&self, page: usize, price: f64, _guess: f64) -> Answer {
        Answer { frequency: self.pages.rate(page) / price, elasticity: 1.0 }
    }
}

fn no_ceiling_if(counts: bool) -> Ceiling {
    if counts { Ceiling::NONE } else { Ceiling::ZERO }
}
