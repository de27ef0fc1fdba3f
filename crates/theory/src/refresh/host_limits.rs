//! The price under limits per host: saturated hosts get their own, higher price.
//!
//! A host whose pages would take more than its limit at the price of the plan is *saturated*: it takes its limit, its pages
//! share it at a price of their own, and the others share the rest of the budget. The demand of all hosts, each cut at its
//! limit, falls as the price rises, so one search over the price finds the saturated hosts too; no rounds are needed. Each
//! saturated host is then a plan of its own. Without costs it does not depend on the rest. With costs, the price of the plan
//! times the cost of a visit stays part of the price of the visit, and the saturated hosts are solved again in each pass.
//!
//! A limit counts **visits**, whatever they cost: politeness is about requests, the budget about what they take. So with costs a
//! host may be at its limit while it spends little, and the dear pages of a host may be left for its cheap ones.
//!
//! # Promises
//! - No host takes more than its limit, and all together no more than the budget, within 1e-9 of each and usually within 1e-12;
//!   also with costs that are many orders of magnitude apart.
//! - A saturated host takes its limit.
//! - Both searches are those of [`super::price`], with the same digits.

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::allocation::{MANY, start};
use super::host_pages::HostPages;
use super::market::{Market, Pricing};
use super::own_prices::OwnPrices;
use super::price::{Cleared, Demand, Jump, Price, Reference, TOLERANCE, Total, clear};
use super::response::{Answer, BLOCK, Response, Subset};
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
    fn clear_host(&self, pages: &[u32], limit: f64, price: f64, start: f64) -> (Cleared, Vec<VisitsPerDay>) {
        let subset = Subset { response: self.market.response, pages };
        let mut market = self.market.of_host(&subset, self.host_pricing(price));
        let mut frequencies = vec![VisitsPerDay::new(market.frequency_min); pages.len()];
        if market.spent_at_least() >= limit || !market.has_worth() {
            return (Cleared::at(Price::plain(f64::INFINITY)), frequencies);
        }
        let own = clear(&mut market, limit, start, TOLERANCE, &mut frequencies);
        (own, frequencies)
    }

    /// Where the search for the price of any host begins when visits have costs. Two searches from one place end with the same
    /// digits: what the search for the price of the plan counted on is then what the pages get, and where costs are far
    /// apart the twelfth digit of a host's visits may be more than the budget.
    fn host_start(price: f64) -> f64 {
        if price > 0.0 { price } else { 1.0 }
    }

    /// What a saturated host spends at the price of the plan, and how that falls as the price rises.
    fn saturated_total(&self, pages: &[u32], limit: f64, price: f64) -> Total {
        let (own, frequencies) = self.clear_host(pages, limit, price, Self::host_start(price));
        let own = own.price;
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
        let pages = HostPages::of(limited.host_of, hosts, |_, host| is_over(host));
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
    if limited.market.spent_at_least() >= budget || !limited.market.has_worth() {
        return (Price::plain(0.0), Vec::new());
    }
    let binds = !costs_at_most(limited, budget);
    let likely_spent = if binds { budget } else { limited.limits.iter().sum::<f64>().min(budget) };
    let start = if limited.host_of.len() > MANY { start(&limited.market, likely_spent) } else { 1.0 };
    if !binds {
        // Every host takes its limit, and one more visit in the budget gains nothing.
        return (Price::plain(0.0), share_limits(limited, 0.0, start, frequencies));
    }
    let is_large = limited.host_of.len() > MANY && !limited.has_costs;
    let Cleared { price, jump } = if is_large {
        clear_many(limited, budget, start, frequencies)
    } else {
        clear(limited, budget, start, TOLERANCE, frequencies)
    };
    let saturated = match jump {
        None => share_limits(limited, price.value, price.value, frequencies),
        Some(jump) => share_at_jump(limited, &price, &jump, budget, frequencies),
    };
    (price, saturated)
}

/// The frequencies on both sides of a jump, mixed so that they spend the budget; returns the hosts that are saturated on both.
fn share_at_jump<R: Response>(
    limited: &mut Limited<'_, R>,
    above: &Price,
    jump: &Jump,
    budget: f64,
    frequencies: &mut [VisitsPerDay],
) -> Vec<u32> {
    let mut side = |price: &Price, frequencies: &mut [VisitsPerDay]| {
        limited.at(price, frequencies);
        let saturated = share_limits(limited, price.value, price.value, frequencies);
        let pages = frequencies.iter().enumerate();
        (saturated, pages.map(|(page, f)| limited.market.weight(page) * f.get()).sum::<f64>())
    };
    let mut frequencies_below = frequencies.to_vec();
    let (saturated_below, spent_below) = side(&jump.below, &mut frequencies_below);
    let (mut saturated, spent_above) = side(above, frequencies);
    let jump = Jump::new(jump.below, spent_below, spent_above, budget);
    for (frequency, below) in frequencies.iter_mut().zip(frequencies_below) {
        *frequency = jump.mix(below, *frequency);
    }
    saturated.retain(|host| saturated_below.binary_search(host).is_ok());
    saturated
}

/// Whether the budget pays for all hosts at their limits.
fn costs_at_most<R: Response>(limited: &Limited<'_, R>, budget: f64) -> bool {
    let market = &limited.market;
    let hosts = limited.limits.len();
    if !limited.has_costs {
        if limited.limits.iter().sum::<f64>() <= budget {
            return true;
        }
        return worth_at_most(limited, budget);
    }
    let pages_of = HostPages::of(limited.host_of, hosts, |_, _| true);
    let spent = |host: usize| {
        let pages = pages_of.of_host(host);
        let start = Limited::<R>::host_start(0.0);
        let (_, frequencies) = limited.clear_host(pages, limited.limits[host], 0.0, start);
        pages.iter().zip(frequencies).map(|(page, f)| market.weight(*page as usize) * f.get()).sum::<f64>()
    };
    (0..hosts).into_par_iter().map(spent).collect::<Vec<_>>().into_iter().sum::<f64>() <= budget
}

/// Whether the budget pays for the limits of all hosts with a page worth a visit, and the minimum of the others. Visits have no
/// costs.
fn worth_at_most<R: Response>(limited: &Limited<'_, R>, budget: f64) -> bool {
    let Limited { market, host_of, limits, .. } = limited;
    let is_worth: Vec<AtomicBool> = limits.iter().map(|_| AtomicBool::new(false)).collect();
    let is_worth_at = |host: usize| is_worth[host].load(Ordering::Relaxed);
    let limits_of_worth =
        || (0..limits.len()).filter(|host| is_worth_at(*host)).map(|host| limits[host]).sum::<f64>();
    // Most hosts are known after some of the pages, and then it is often clear that the budget does not pay for all.
    let part = host_of.len().div_ceil(PARTS).max(1);
    for (index, hosts) in host_of.chunks(part).enumerate() {
        hosts.par_iter().enumerate().for_each(|(offset, host)| {
            let is_new = !is_worth_at(*host as usize);
            if is_new && market.response.ceiling(index * part + offset).value > 0.0 {
                is_worth[*host as usize].store(true, Ordering::Relaxed);
            }
        });
        if limits_of_worth() > budget {
            return false;
        }
    }
    let others = host_of.par_iter().filter(|host| !is_worth_at(**host as usize)).count();
    limits_of_worth() + others as f64 * market.frequency_min <= budget
}

/// Parts of the pages after each of which it is seen whether the rest matters.
const PARTS: usize = 16;

/// Shares the limit of each host that would take more at the price of the plan among its pages, beginning the search for the
/// host's price near `start`; returns the hosts that take their limit. Without a price every host that can take it does.
fn share_limits<R: Response>(
    limited: &Limited<'_, R>,
    price: f64,
    start: f64,
    frequencies: &mut [VisitsPerDay],
) -> Vec<u32> {
    let hosts = limited.limits.len();
    let takes =
        |host: usize, part: f64| price == 0.0 || limited.unlimited[host].visits > part * limited.limits[host];
    // From what the host would take without its limit, a first step of Newton's method towards it.
    let start_of = |host: usize| match limited.unlimited.get(host) {
        _ if limited.has_costs => Limited::<R>::host_start(price),
        Some(total) if price > 0.0 => {
            let elasticity = (total.slope / total.spent).clamp(ELASTICITIES.0, ELASTICITIES.1);
            start * ((total.visits / limited.limits[host]).ln() / elasticity).clamp(0.0, 5.0).exp()
        }
        _ => start,
    };
    // The price of each host, and the pages among which it was found.
    let own_prices = |pages: &HostPages| -> Vec<Option<(Cleared, usize)>> {
        let clear = |host: usize| {
            let pages = Some(pages.of_host(host)).filter(|pages| !pages.is_empty())?;
            Some((limited.clear_host(pages, limited.limits[host], price, start_of(host)).0, pages.len()))
        };
        (0..hosts).into_par_iter().map(clear).collect()
    };
    let is_over: Vec<bool> = (0..hosts).map(|host| takes(host, 1.0)).collect();
    // No host is cheaper than the plan, and pages that are given up at its price are of no account; where the plan has no price,
    // that a host is not much cheaper than others is a guess.
    let price_min = (1.0 - TOLERANCE) * if price > 0.0 { price } else { 0.5 * start };
    let counts_below = limited.has_costs || limited.market.frequency_min > 0.0;
    let is_visited = |page: usize| limited.market.response.has_ceiling_above(page, price_min);
    let mut prices = own_prices(&HostPages::of(limited.host_of, hosts, |page, host| {
        is_over[host] && (counts_below || is_visited(page))
    }));
    // Where the guess was wrong, all pages of the host are asked.
    let is_cheaper = |own: &Option<(Cleared, usize)>| own.is_none_or(|(own, _)| own.price.value < price_min);
    let again: Vec<bool> = prices.iter().zip(&is_over).map(|(own, over)| *over && is_cheaper(own)).collect();
    if !counts_below && again.contains(&true) {
        let all = own_prices(&HostPages::of(limited.host_of, hosts, |_, host| again[host]));
        prices.iter_mut().zip(all).filter(|(_, own)| own.is_some()).for_each(|(price, own)| *price = own);
    }
    let market = Market { pricing: limited.host_pricing(price), ..limited.market };
    let own: Vec<_> = prices.iter().map(|own| own.map(|(own, _)| own)).collect();
    OwnPrices::of(market, &own).answer(limited.host_of, frequencies);
    let is_saturated = |host: &usize| match &prices[*host] {
        // Without a price of the plan, a host in which no page is worth more than the minimum takes just that.
        Some((own, pages)) if price == 0.0 && own.price.value == f64::INFINITY => {
            *pages as f64 * limited.market.frequency_min >= limited.limits[*host]
        }
        Some(_) => true,
        None => price > 0.0 && takes(*host, 1.0 - TOLERANCE),
    };
    (0..hosts).filter(is_saturated).map(|host| host as u32).collect()
}
