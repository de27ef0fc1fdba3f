//! Demand of many pages at a common price, for a plan or for one host within it.
//!
//! The pages are processed in chunks of fixed size, in parallel when there are several, and the sums of the
//! chunks are added in order. The price of a visit to a page is its cost times the common price (optimal
//! policies), the common price itself (policies that do not weigh costs), or, within a saturated host, its
//! cost times the price of the plan plus the surcharge of the host's limit.
//!
//! # Promises
//! - The result does not depend on the number of threads.

use rayon::prelude::*;

use super::price::{Demand, Price, Reference, Total};
use super::response::{Answer, BLOCK, Block, Ceiling, Response, Subset, block_of};
use super::rough::Kinked;
use crate::units::VisitsPerDay;

/// How the price of a visit to a page follows from the common price.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Pricing {
    /// Every visit has the common price.
    PerVisit,
    /// A visit has the common price times its cost.
    PerCost,
    /// A visit has this price times its cost, plus the common price.
    OnTopOf(f64),
}

/// Pages that are priced by one common price.
pub(super) struct Market<'a, R> {
    pub(super) response: &'a R,
    pub(super) pricing: Pricing,
    /// Whether a visit takes its cost from the budget, or just one.
    pub(super) spends_cost: bool,
    /// Every page is visited at least this often.
    pub(super) frequency_min: f64,
}

// Implemented by hand: the derived ones would require `R` to be `Copy` too.
impl<R> Clone for Market<'_, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for Market<'_, R> {}

/// Pages per chunk: enough to hide the overhead of scheduling, few enough that all
/// threads have work to the end.
pub(super) const CHUNK: usize = 8192;

/// Below this number of pages, computing them one by one is faster than as a block.
const FEW: usize = 12;

impl<R: Response> Market<'_, R> {
    /// The price of a visit as (factor, base): factor × common price + base.
    #[inline(always)]
    fn terms(&self, page: usize) -> (f64, f64) {
        // Without costs the branch is the same for all pages and is always predicted.
        match self.pricing {
            Pricing::PerVisit => (1.0, 0.0),
            Pricing::PerCost => (self.response.cost(page), 0.0),
            Pricing::OnTopOf(price) => (1.0, price * self.response.cost(page)),
        }
    }

    /// The same market for some of its pages.
    pub(super) fn of<'b, S: Response>(&self, pages: &'b S) -> Market<'b, S> {
        let Self { pricing, spends_cost, frequency_min, .. } = *self;
        Market { response: pages, pricing, spends_cost, frequency_min }
    }

    /// The market of the pages of one saturated host, which counts visits instead of their cost.
    pub(super) fn of_host<'b, S: Response>(&self, pages: &'b S, pricing: Pricing) -> Market<'b, S> {
        Market { response: pages, pricing, spends_cost: false, frequency_min: self.frequency_min }
    }

    /// Amount spent when every page is visited at the minimum frequency.
    pub(super) fn spent_at_least(&self) -> f64 {
        if self.frequency_min == 0.0 {
            return 0.0;
        }
        (0..self.response.pages()).map(|page| self.weight(page)).sum::<f64>() * self.frequency_min
    }

    /// Whether any page gets a visit at a price low enough.
    pub(super) fn has_worth(&self) -> bool {
        (0..self.response.pages()).any(|page| self.is_worth(page))
    }

    /// Whether the page gets a visit at a price low enough.
    pub(super) fn is_worth(&self, page: usize) -> bool {
        self.ceiling(page).value > 0.0
    }

    /// The common price from which on the page gets no visits.
    #[inline]
    pub(super) fn ceiling(&self, page: usize) -> Ceiling {
        let (factor, base) = self.terms(page);
        let own = self.response.ceiling(page);
        let own = if base == 0.0 { own } else { own.without(base) };
        if factor == 1.0 { own } else { own.per(factor) }
    }

    /// Whether the ceiling of the page is within a factor of `within` of the price,
    /// where the demand has a kink.
    #[inline(always)]
    pub(super) fn is_edge(&self, page: usize, price: f64, within: f64) -> bool {
        let (factor, base) = self.terms(page);
        let (low, high) = (factor * price / within + base, factor * price * within + base);
        !self.response.is_given_up(page, low) && self.response.is_given_up(page, high)
    }

    /// The visit frequency of a page at a common price, and its elasticity.
    #[inline(always)]
    pub(super) fn answer(&self, page: usize, price: &Price, guess: f64) -> Answer {
        self.at_least(match price.under {
            None => self.at_price(page, price.value, guess),
            Some(_) => self.near_ceiling(page, price, guess),
        })
    }

    #[inline(always)]
    fn at_price(&self, page: usize, price: f64, guess: f64) -> Answer {
        let (factor, base) = self.terms(page);
        if base == 0.0 {
            return self.response.at_price(page, factor * price, guess);
        }
        let Answer { frequency, elasticity } = self.response.at_price(page, price + base, guess);
        Answer { frequency, elasticity: elasticity * (price / (price + base)) }
    }

    /// For prices above half of the ceiling: computes the distance to the ceiling from the exact
    /// difference of the ceilings.
    fn near_ceiling(&self, page: usize, price: &Price, guess: f64) -> Answer {
        let Some(under) = price.under else { return self.at_price(page, price.value, guess) };
        let (factor, base) = self.terms(page);
        let visit_ceiling = self.response.ceiling(page).value;
        if factor * price.value + base < 0.5 * visit_ceiling {
            return self.at_price(page, price.value, guess);
        }
        let above = self.ceiling(page).above(under.ceiling);
        let part = factor * under.ceiling.value / visit_ceiling;
        let log_complement = if above < 0.0 {
            f64::INFINITY
        } else if above == 0.0 {
            under.log_complement - part.ln()
        } else {
            -(factor * above / visit_ceiling + part * (-under.log_complement).exp()).ln()
        };
        if log_complement == f64::INFINITY {
            return Answer::NEVER;
        }
        Answer { frequency: self.response.under_ceiling(page, log_complement.max(0.0)), elasticity: 0.0 }
    }

    fn chunk(&self, first: usize, price: &Price, frequencies: &mut [VisitsPerDay]) -> Total {
        let mut total = Total::default();
        for (block, frequencies) in frequencies.chunks_mut(BLOCK).enumerate() {
            let first = first + block * BLOCK;
            let (answers, elasticities) = self.answers(first, price, frequencies);
            // Four partial sums; with one, each addition would wait for the last.
            let mut sums = [Total::default(); 4];
            for (page, frequency) in frequencies.iter_mut().enumerate() {
                let answer = Answer { frequency: answers[page], elasticity: elasticities[page] };
                sums[page % 4].add(self.weight(first + page), &answer);
                *frequency = answer.visit_frequency();
            }
            total = [total].into_iter().chain(sums).sum();
        }
        total
    }

    /// [`Self::answer`] for at most a block of pages: frequencies and elasticities.
    #[inline(always)]
    fn answers(&self, first: usize, price: &Price, guesses: &[VisitsPerDay]) -> (Block, Block) {
        let last = guesses.len() - 1;
        let is_plain = price.under.is_none() && self.pricing == Pricing::PerVisit;
        if !is_plain || guesses.len() < FEW {
            let (mut frequencies, mut elasticities) = ([0.0; BLOCK], [0.0; BLOCK]);
            for (page, guess) in guesses.iter().enumerate() {
                let answer = self.answer(first + page, price, guess.get());
                (frequencies[page], elasticities[page]) = (answer.frequency, answer.elasticity);
            }
            return (frequencies, elasticities);
        }
        // A block that is not full is padded with its last page.
        let (mut frequencies, mut elasticities) =
            (block_of(|page| guesses[page.min(last)].get()), [0.0; BLOCK]);
        let (fs, es) = (&mut frequencies, &mut elasticities);
        if guesses.len() == BLOCK {
            self.response.at_price_all(|offset| first + offset, price.value, fs, es);
        } else {
            self.response.at_price_all(|offset| first + offset.min(last), price.value, fs, es);
        }
        for (frequency, elasticity) in frequencies.iter_mut().zip(&mut elasticities) {
            let Answer { frequency: f, elasticity: e } =
                self.at_least(Answer { frequency: *frequency, elasticity: *elasticity });
            (*frequency, *elasticity) = (f, e);
        }
        (frequencies, elasticities)
    }

    /// The answer raised to the minimum frequency, where it no longer depends on the price.
    #[inline(always)]
    fn at_least(&self, answer: Answer) -> Answer {
        let is_above = answer.frequency > self.frequency_min;
        Answer {
            frequency: if is_above { answer.frequency } else { self.frequency_min },
            elasticity: if is_above { answer.elasticity } else { 0.0 },
        }
    }

    fn references_in_chunk(&self, first: usize, last: usize, low: f64, high: f64) -> Vec<Reference> {
        let mut found = Vec::new();
        let mut above: Option<Reference> = None;
        for page in first..last {
            let ceiling = self.ceiling(page);
            if 0.0 < ceiling.value && low <= ceiling.value && ceiling.value < f64::INFINITY {
                let reference = Reference { ceiling, page };
                if ceiling.value <= high {
                    found.push(reference);
                } else if above.is_none_or(|above| ceiling < above.ceiling) {
                    above = Some(reference);
                }
            }
        }
        found.extend(above);
        one_per_ceiling(found)
    }
}

impl<R: Response> Demand for Market<'_, R> {
    fn at(&mut self, price: &Price, frequencies: &mut [VisitsPerDay]) -> Total {
        let market = &*self;
        if frequencies.len() <= CHUNK {
            return market.chunk(0, price, frequencies);
        }
        let chunks = frequencies.par_chunks_mut(CHUNK).enumerate();
        let totals: Vec<_> = chunks.map(|(index, chunk)| market.chunk(index * CHUNK, price, chunk)).collect();
        totals.into_iter().sum()
    }

    fn references(&self, low: f64, high: f64) -> Vec<Reference> {
        let pages = self.response.pages();
        let chunks: Vec<_> = (0..pages.div_ceil(CHUNK))
            .into_par_iter()
            .map(|chunk| {
                let first = chunk * CHUNK;
                self.references_in_chunk(first, (first + CHUNK).min(pages), low, high)
            })
            .collect();
        let mut all = one_per_ceiling(chunks.concat());
        // Of the ones above `high`, one per chunk, only the lowest is needed.
        let inside = all.partition_point(|reference| reference.ceiling.value <= high);
        all.truncate(inside + 1);
        all
    }

    #[inline]
    fn weight(&self, page: usize) -> f64 {
        if self.spends_cost { self.response.cost(page) } else { 1.0 }
    }

    fn log_complement(&self, page: usize, frequency: f64) -> f64 {
        let (_, base) = self.terms(page);
        let ceiling = self.response.ceiling(page).value;
        let own =
            if frequency == 0.0 { f64::INFINITY } else { self.response.log_complement(page, frequency) };
        if base == 0.0 {
            return own;
        }
        // The part of the ceiling that the base leaves keeps its digits only as the
        // difference of the exact ceiling.
        own - (ceiling / self.ceiling(page).value).ln()
    }
}

impl<'a, R: Response> Kinked for Market<'a, R> {
    type Edge = Part<'a, R>;

    fn edge(&self, price: f64, within: f64) -> (Part<'a, R>, usize) {
        let pages = self.response.pages();
        let chunk = |chunk: usize| -> Vec<u32> {
            let chunk = chunk * CHUNK..((chunk + 1) * CHUNK).min(pages);
            chunk.filter(|page| self.is_edge(*page, price, within)).map(|page| page as u32).collect()
        };
        let pages = match pages.div_ceil(CHUNK) {
            1 => chunk(0),
            chunks => (0..chunks).into_par_iter().map(chunk).collect::<Vec<_>>().concat(),
        };
        let count = pages.len();
        (Part { market: *self, pages }, count)
    }
}

/// Some pages of a market.
pub(super) struct Part<'a, R> {
    pub(super) market: Market<'a, R>,
    pub(super) pages: Vec<u32>,
}

impl<R: Response> Demand for Part<'_, R> {
    fn at(&mut self, price: &Price, frequencies: &mut [VisitsPerDay]) -> Total {
        self.market.of(&self.subset()).at(price, frequencies)
    }

    fn references(&self, low: f64, high: f64) -> Vec<Reference> {
        self.market.of(&self.subset()).references(low, high)
    }

    fn weight(&self, page: usize) -> f64 {
        self.market.weight(self.pages[page] as usize)
    }

    fn log_complement(&self, page: usize, frequency: f64) -> f64 {
        self.market.log_complement(self.pages[page] as usize, frequency)
    }
}

impl<R: Response> Part<'_, R> {
    fn subset(&self) -> Subset<'_, R, &[u32]> {
        Subset { response: self.market.response, numbers: &self.pages }
    }
}

/// Sorts by ceiling and keeps the first page of each.
fn one_per_ceiling(mut references: Vec<Reference>) -> Vec<Reference> {
    references.sort_by(|a, b| {
        let order = a.ceiling.partial_cmp(&b.ceiling).expect("a ceiling is a number");
        order.then(a.page.cmp(&b.page))
    });
    references.dedup_by(|later, first| later.ceiling == first.ceiling);
    references
}
