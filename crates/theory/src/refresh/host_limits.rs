//! The price under limits per host: saturated hosts get their own, higher price.
//!
//! A host whose pages would take more than its limit at the price of the plan is *saturated*: it takes its limit, its pages
//! share it at a price of their own, and the others share the rest of the budget. The demand of all hosts, each cut at its
//! limit, falls as the price rises, so one search over the price finds the saturated hosts too; no rounds are needed. Each
//! saturated host is then a plan of its own. Without costs it does not depend on the rest. With costs, the price of the plan
//! times the cost of a visit stays part of the price of the visit, and the saturated hosts are solved again in each pass.
//!
//! # Promises
//! - A saturated host takes its limit, an unsaturated one no more.
//! - Both searches are those of [`super::price`], with the same digits.

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::allocation::{MANY, start};
use super::host_pages::HostPages;
use super::market::{CHUNK, Market, Pricing};
use super::price::{Demand, Price, Reference, TOLERANCE, Total, clear};
use super::response::{Answer, BLOCK, Response, Subset, block_of};
use super::rough_hosts::clear_many;
use crate::units::VisitsPerDay;

/// A market whose pages belong to hosts with limits.
pub(super) struct Limited<'a, R> {
    pub(super) market: Market<'a, R>,
    pub(super) host_of: &'a [u32],
    pub(super) limits: Vec<f64>,
    has_costs: bool,
    /// What each host would take without its limit at the price of the last pass.
    pub(super) unlimited: Vec<HostTotal>,
}

/// What the pages of one host take at the price of the plan.
#[derive(Clone, Copy, Default)]
pub(super) struct HostTotal {
    pub(super) visits: f64,
    spent: f64,
    slope: f64,
}

impl HostTotal {
    /// What they spend.
    #[inline]
    pub(super) fn total(&self) -> Total {
        Total { spent: self.spent, slope: self.slope }
    }
}

impl<'a, R: Response> Limited<'a, R> {
    /// `limits` are visits a day of each host, in the unit of the market's frequencies.
    pub(super) fn new(market: Market<'a, R>, host_of: &'a [u32], limits: Vec<f64>, has_costs: bool) -> Self {
        Self { market, host_of, limits, has_costs, unlimited: Vec::new() }
    }

    /// What each host would take at this price if it had no limit.
    pub(super) fn without_limits(&self, price: &Price, frequencies: &mut [VisitsPerDay]) -> Vec<HostTotal> {
        let hosts = self.limits.len();
        // Each group has sums of its own for all hosts; they never take more memory than three columns of the pages.
        let groups = (frequencies.len() / hosts.max(1)).clamp(1, GROUPS_MAX);
        let group_size = frequencies.len().div_ceil(groups).max(1);
        let groups =
            frequencies.par_chunks_mut(group_size).zip(self.host_of.par_chunks(group_size)).enumerate();
        let sums: Vec<_> = groups
            .map(|(group, (frequencies, host_of))| {
                self.group(group * group_size, price, frequencies, host_of)
            })
            .collect();
        let mut sums = sums.into_iter();
        let mut totals = sums.next().unwrap_or_else(|| vec![HostTotal::default(); hosts]);
        for group in sums {
            for (total, part) in totals.iter_mut().zip(group) {
                total.visits += part.visits;
                total.spent += part.spent;
                total.slope += part.slope;
            }
        }
        totals
    }

    fn group(
        &self,
        first: usize,
        price: &Price,
        frequencies: &mut [VisitsPerDay],
        host_of: &[u32],
    ) -> Vec<HostTotal> {
        let mut totals = vec![HostTotal::default(); self.limits.len()];
        let mut add = |page: usize, host: u32, answer: Answer| {
            let spent = self.market.weight(page) * answer.frequency;
            let total = &mut totals[host as usize];
            total.visits += answer.frequency;
            total.spent += spent;
            total.slope += spent * answer.elasticity;
            answer.visit_frequency()
        };
        let (blocks, rest) = frequencies.as_chunks_mut::<BLOCK>();
        let (host_blocks, host_rest) = host_of.as_chunks::<BLOCK>();
        let rest_first = first + blocks.len() * BLOCK;
        for (block, (frequencies, hosts)) in blocks.iter_mut().zip(host_blocks).enumerate() {
            let first = first + block * BLOCK;
            let (answers, elasticities) = self.market.answers(|offset| first + offset, price, frequencies);
            for page in 0..BLOCK {
                let answer = Answer { frequency: answers[page], elasticity: elasticities[page] };
                frequencies[page] = add(first + page, hosts[page], answer);
            }
        }
        for ((page, frequency), host) in (rest_first..).zip(rest).zip(host_rest) {
            *frequency = add(page, *host, self.market.answer(page, price, frequency.get()));
        }
        totals
    }

    /// How a saturated host prices its visits when the plan has `price`.
    fn host_pricing(&self, price: f64) -> Pricing {
        match self.market.pricing {
            Pricing::PerCost if self.has_costs => Pricing::OnTopOf(price),
            _ => Pricing::PerVisit,
        }
    }

    /// The price at which a host takes its limit, when the plan has `price`, and its frequencies; the search begins at `start`.
    fn clear_host(&self, pages: &[u32], limit: f64, price: f64, start: f64) -> (Price, Vec<VisitsPerDay>) {
        let subset = Subset { response: self.market.response, pages };
        let mut market = self.market.of_host(&subset, self.host_pricing(price));
        let mut frequencies = vec![VisitsPerDay::new(market.frequency_min); pages.len()];
        if market.spent_at_least() >= limit || !market.has_worth() {
            return (Price::plain(f64::INFINITY), frequencies);
        }
        let price = clear(&mut market, limit, start, TOLERANCE, &mut frequencies);
        (price, frequencies)
    }

    /// The price of [`Self::clear_host`], found among the pages that are visited at `price_min` if it is not below that.
    fn own_price(&self, pages: &[u32], limit: f64, price: f64, start: f64, price_min: f64) -> Price {
        if !self.has_costs && self.market.frequency_min == 0.0 {
            let is_visited = |page: &u32| self.market.response.has_ceiling_above(*page as usize, price_min);
            let visited: Vec<u32> = pages.iter().copied().filter(is_visited).collect();
            if !visited.is_empty() {
                let (own, _) = self.clear_host(&visited, limit, price, start);
                if own.value >= price_min {
                    return own;
                }
            }
        }
        self.clear_host(pages, limit, price, start).0
    }

    /// What a saturated host spends at the price of the plan, and how that falls as the price rises.
    fn saturated_total(&self, pages: &[u32], limit: f64, price: f64) -> Total {
        let (own, frequencies) = self.clear_host(pages, limit, price, price);
        let subset = Subset { response: self.market.response, pages };
        let market = self.market.of_host(&subset, self.host_pricing(price));
        // With f' = −df/dπ and the sum of visits fixed, the surcharge falls by Σ c f'/Σ f' per unit of the price.
        let (mut spent, mut sum, mut by_cost, mut by_cost_twice) = (0.0, 0.0, 0.0, 0.0);
        for (page, frequency) in frequencies.iter().enumerate() {
            let cost = subset.cost(page);
            spent += cost * frequency.get();
            if 0.0 < own.value && own.value < f64::INFINITY {
                // The elasticity is that of the surcharge alone; f' is the same for both parts of the price.
                let answer = market.answer(page, &Price::plain(own.value), frequency.get());
                let steepness = answer.frequency * answer.elasticity / own.value;
                sum += steepness;
                by_cost += cost * steepness;
                by_cost_twice += cost * cost * steepness;
            }
        }
        let slope = if sum > 0.0 { price * (by_cost_twice - by_cost * by_cost / sum).max(0.0) } else { 0.0 };
        Total { spent, slope }
    }
}

/// Elasticities that are believed for a first step: just under a ceiling they are without bound.
const ELASTICITIES: (f64, f64) = (0.3, 2.0);

/// Groups of pages that are summed by host on their own; more would only add memory.
const GROUPS_MAX: usize = 16;

impl<R: Response> Demand for Limited<'_, R> {
    fn at(&mut self, price: &Price, frequencies: &mut [VisitsPerDay]) -> Total {
        self.unlimited = self.without_limits(price, frequencies);
        let limited = &*self;
        let is_over = |host: usize| limited.unlimited[host].visits > limited.limits[host];
        let within = |host: usize| limited.unlimited[host].total();
        let hosts = limited.limits.len();
        if !limited.has_costs {
            let cut = |host| {
                if is_over(host) { Total { spent: limited.limits[host], slope: 0.0 } } else { within(host) }
            };
            return (0..hosts).map(cut).sum();
        }
        let pages = HostPages::of(limited.host_of, hosts, is_over);
        let cut = |host| {
            if is_over(host) {
                limited.saturated_total(pages.of_host(host), limited.limits[host], price.value)
            } else {
                within(host)
            }
        };
        (0..hosts).into_par_iter().map(cut).collect::<Vec<_>>().into_iter().sum()
    }

    fn references(&self, low: f64, high: f64) -> Vec<Reference> {
        self.market.references(low, high)
    }

    fn weight(&self, page: usize) -> f64 {
        self.market.weight(page)
    }

    fn log_complement(&self, page: usize, frequency: f64) -> f64 {
        self.market.log_complement(page, frequency)
    }
}

/// The price of the plan, the saturated hosts, and the frequencies of all pages.
pub(super) fn clear_within_limits<R: Response>(
    limited: &mut Limited<'_, R>,
    budget: f64,
    frequencies: &mut [VisitsPerDay],
) -> (Price, Vec<u32>) {
    let hosts = limited.limits.len();
    if limited.market.spent_at_least() >= budget || !limited.market.has_worth() {
        return (Price::plain(0.0), Vec::new());
    }
    let binds = !costs_at_most(limited, budget);
    let likely_spent = if binds { budget } else { limited.limits.iter().sum::<f64>().min(budget) };
    let start = if limited.host_of.len() > MANY { start(&limited.market, likely_spent) } else { 1.0 };
    if !binds {
        // Every host takes its limit, and one more visit in the budget gains nothing.
        return (Price::plain(0.0), share_limits(limited, 0.0, start, &vec![true; hosts], frequencies));
    }
    let price = if limited.host_of.len() > MANY && !limited.has_costs {
        clear_many(limited, budget, start, frequencies)
    } else {
        clear(limited, budget, start, TOLERANCE, frequencies)
    };
    let is_saturated =
        |host: usize| limited.unlimited[host].visits > limited.limits[host] * (1.0 - TOLERANCE);
    let saturated: Vec<bool> = (0..hosts).map(is_saturated).collect();
    (price, share_limits(limited, price.value, price.value, &saturated, frequencies))
}

/// Whether the budget pays for all hosts at their limits.
fn costs_at_most<R: Response>(limited: &Limited<'_, R>, budget: f64) -> bool {
    let market = &limited.market;
    let hosts = limited.limits.len();
    if !limited.has_costs {
        if limited.limits.iter().sum::<f64>() <= budget {
            return true;
        }
        let is_worth: Vec<AtomicBool> = (0..hosts).map(|_| AtomicBool::new(false)).collect();
        limited.host_of.par_iter().enumerate().for_each(|(page, host)| {
            let host = &is_worth[*host as usize];
            if !host.load(Ordering::Relaxed) && market.response.ceiling(page).value > 0.0 {
                host.store(true, Ordering::Relaxed);
            }
        });
        let is_worth = |host: &usize| is_worth[*host].load(Ordering::Relaxed);
        let limits: f64 = (0..hosts).filter(is_worth).map(|host| limited.limits[host]).sum();
        let others = limited.host_of.par_iter().filter(|host| !is_worth(&(**host as usize))).count();
        return limits + others as f64 * market.frequency_min <= budget;
    }
    let pages_of = HostPages::of(limited.host_of, hosts, |_| true);
    let spent = |host: usize| {
        let pages = pages_of.of_host(host);
        let (_, frequencies) = limited.clear_host(pages, limited.limits[host], 0.0, 1.0);
        pages.iter().zip(frequencies).map(|(page, f)| market.weight(*page as usize) * f.get()).sum::<f64>()
    };
    (0..hosts).into_par_iter().map(spent).collect::<Vec<_>>().into_iter().sum::<f64>() <= budget
}

/// Shares the limit of each saturated host among its pages, beginning the search for its price at `start`; returns those
/// hosts that have pages.
fn share_limits<R: Response>(
    limited: &Limited<'_, R>,
    price: f64,
    start: f64,
    saturated: &[bool],
    frequencies: &mut [VisitsPerDay],
) -> Vec<u32> {
    let pages = HostPages::of(limited.host_of, limited.limits.len(), |host| saturated[host]);
    // From what the host would take without its limit, a first step of Newton's method towards it.
    let start_of = |host: usize| {
        let Some(total) = limited.unlimited.get(host).filter(|_| price > 0.0) else { return start };
        let elasticity = (total.slope / total.spent).clamp(ELASTICITIES.0, ELASTICITIES.1);
        start * ((total.visits / limited.limits[host]).ln() / elasticity).clamp(0.0, 5.0).exp()
    };
    // No host is cheaper than the plan; where the plan has no price, that the host is not much cheaper than others is a guess.
    let price_min = (1.0 - TOLERANCE) * if price > 0.0 { price } else { 0.5 * start };
    let own_price = |host: usize| {
        saturated[host].then(|| {
            limited.own_price(pages.of_host(host), limited.limits[host], price, start_of(host), price_min)
        })
    };
    let prices: Vec<Option<Price>> = (0..saturated.len()).into_par_iter().map(own_price).collect();
    let market = Market { pricing: limited.host_pricing(price), ..limited.market };
    OwnPrices::of(market, &prices).answer(limited.host_of, frequencies);
    let has_pages = |host: &usize| saturated[*host] && !pages.of_host(*host).is_empty();
    (0..saturated.len()).filter(has_pages).map(|host| host as u32).collect()
}

/// Prices of the saturated hosts.
struct OwnPrices<'a, R> {
    market: Market<'a, R>,
    prices: &'a [Option<Price>],
    /// The prices per visit that are plain numbers.
    plain: Vec<Option<f64>>,
}

impl<'a, R: Response> OwnPrices<'a, R> {
    fn of(market: Market<'a, R>, prices: &'a [Option<Price>]) -> Self {
        let is_per_visit = market.pricing == Pricing::PerVisit;
        let plain = |price: &Price| (price.under.is_none() && is_per_visit).then_some(price.value);
        let plain = prices.iter().map(|price| price.as_ref().and_then(plain)).collect();
        Self { market, prices, plain }
    }

    /// Sets the frequencies of the pages of these hosts.
    fn answer(&self, host_of: &[u32], frequencies: &mut [VisitsPerDay]) {
        let chunks = frequencies.par_chunks_mut(CHUNK).zip(host_of.par_chunks(CHUNK)).enumerate();
        chunks.for_each(|(chunk, (frequencies, host_of))| self.chunk(chunk * CHUNK, host_of, frequencies));
    }

    fn chunk(&self, first: usize, host_of: &[u32], frequencies: &mut [VisitsPerDay]) {
        let blocks = frequencies.chunks_mut(BLOCK).zip(host_of.chunks(BLOCK)).enumerate();
        for (block, (frequencies, hosts)) in blocks {
            let first = first + block * BLOCK;
            let plain = hosts.iter().filter(|host| self.plain[**host as usize].is_some()).count();
            match (frequencies.as_mut_array(), hosts.as_array()) {
                // Side by side all pages of the block are computed, which pays when most of them are wanted.
                (Some(frequencies), Some(hosts)) if 2 * plain > BLOCK => {
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
        if let Some(price) = &self.prices[host as usize] {
            *frequency = self.market.answer(page, price, frequency.get()).visit_frequency();
        }
    }
}
