//! The pages of saturated hosts, which answer to the prices of their hosts.
//!
//! The pages of a host are scattered through the columns. They are answered in the order of the columns, side by side where more
//! than a few of a block have a price that is a plain number: ten million prices are looked up in a table that the cache holds, and no page
//! is written to a far place.
//!
//! # Promises
//! - Each page has the answer of [`Market::visits`] at the price of its host; pages of other hosts stay as they are.

use rayon::prelude::*;

use super::market::{CHUNK, Market, Pricing};
use super::price::Cleared;
use super::response::{Answer, BLOCK, Response, block_of};
use crate::units::VisitsPerDay;

/// Prices of the saturated hosts.
pub(super) struct OwnPrices<'a, R> {
    market: Market<'a, R>,
    prices: &'a [Option<Cleared>],
    /// The prices per visit that are plain numbers.
    plain: Vec<Option<f64>>,
}

impl<'a, R: Response> OwnPrices<'a, R> {
    /// Of all hosts; none for a host that is not saturated.
    pub(super) fn of(market: Market<'a, R>, prices: &'a [Option<Cleared>]) -> Self {
        let is_per_visit = market.pricing == Pricing::PerVisit;
        let plain = |own: &Cleared| {
            let is_plain = is_per_visit && own.jump.is_none() && own.price.under.is_none();
            is_plain.then_some(own.price.value)
        };
        let plain = prices.iter().map(|own| own.as_ref().and_then(plain)).collect();
        Self { market, prices, plain }
    }

    /// Sets the frequencies of the pages of these hosts.
    pub(super) fn answer(&self, host_of: &[u32], frequencies: &mut [VisitsPerDay]) {
        let chunks = frequencies.par_chunks_mut(CHUNK).zip(host_of.par_chunks(CHUNK)).enumerate();
        chunks.for_each(|(chunk, (frequencies, host_of))| self.chunk(chunk * CHUNK, host_of, frequencies));
    }

    fn chunk(&self, first: usize, host_of: &[u32], frequencies: &mut [VisitsPerDay]) {
        let blocks = frequencies.chunks_mut(BLOCK).zip(host_of.chunks(BLOCK)).enumerate();
        for (block, (frequencies, hosts)) in blocks {
            let first = first + block * BLOCK;
            let plain = hosts.iter().filter(|host| self.plain[**host as usize].is_some()).count();
            match (frequencies.as_mut_array(), hosts.as_array()) {
                // Side by side all pages of the block are computed, in the time of few pages one by one.
                (Some(frequencies), Some(hosts)) if plain > FEW => {
                    self.side_by_side(first, hosts, frequencies);
                }
                _ => {
                    for ((page, frequency), host) in (first..).zip(frequencies).zip(hosts) {
                        self.one(page, *host, frequency);
                    }
                }
            }
        }
    }

    fn side_by_side(&self, first: usize, hosts: &[u32; BLOCK], frequencies: &mut [VisitsPerDay; BLOCK]) {
        let prices = block_of(|page| self.plain[hosts[page] as usize].unwrap_or(1.0));
        let (answers, _) = self.market.answers_at(|page| first + page, |page| prices[page], frequencies);
        for page in 0..BLOCK {
            if self.plain[hosts[page] as usize].is_some() {
                frequencies[page] = Answer { frequency: answers[page], elasticity: 0.0 }.visit_frequency();
            } else {
                self.one(first + page, hosts[page], &mut frequencies[page]);
            }
        }
    }

    fn one(&self, page: usize, host: u32, frequency: &mut VisitsPerDay) {
        if let Some(own) = &self.prices[host as usize] {
            *frequency = self.market.visits(page, own, frequency.get());
        }
    }
}

/// Pages of a block that are answered one by one.
const FEW: usize = BLOCK / 8;
