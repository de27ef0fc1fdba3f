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
use super::market::{CHUNK, Market, Pricing};
use super::price::{Cleared, Demand, Jump, Price, Reference, TOLERANCE, Total, clear};
use super::response::{Answer, BLOCK, Response, Subset};
use crate::units::VisitsPerDay;

/// A market whose pages belong to hosts with limits.
pub(super) struct Limited<'a, R> {
    market: Market<'a, R>,
    host_of: &'a [u32],
    limits: Vec<f64>,
    has_costs: bool,
    /// What each host would take without its limit at the price of the last pass.
    unlimited: Vec<HostTotal>,
}

/// What the pages of one host take at the price of the plan.
#[derive(Clone, Copy, Default)]
struct HostTotal {
    visits: f64,
    spent: f64,
    slope: f64,
}

impl<'a, R: Response> Limited<'a, R> {
    /// `limits` are visits a day of each host, in the unit of the market's frequencies.
    pub(super) fn new(market: Market<'a, R>, host_of: &'a [u32], limits: Vec<f64>, has_costs: bool) -> Self {
        Self { market, host_of, limits, has_costs, unlimited: Vec::new() }
    }

    /// What each host would take at this price if it had no limit.
    fn without_limits(&self, price: &Price, frequencies: &mut [VisitsPerDay]) -> Vec<HostTotal> {
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
            let (answers, elasticities) = self.market.answers(first, price, frequencies);
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
        let within = |host: usize| {
            let HostTotal { spent, slope, .. } = limited.unlimited[host];
            Total { spent, slope }
        };
        let hosts = limited.limits.len();
        if !limited.has_costs {
            let cut = |host| {
                if is_over(host) { Total { spent: limited.limits[host], slope: 0.0 } } else { within(host) }
            };
            return (0..hosts).map(cut).sum();
        }
        let groups = Groups::of(limited.host_of, hosts, is_over);
        let cut = |host| {
            if is_over(host) {
                limited.saturated_total(groups.pages(host), limited.limits[host], price.value)
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

/// The pages of the wanted hosts, host by host.
struct Groups {
    pages: Vec<u32>,
    /// Where the pages of each host begin, and at the end where the last ones end.
    starts: Vec<u32>,
}

impl Groups {
    fn of(host_of: &[u32], hosts: usize, is_wanted: impl Fn(usize) -> bool) -> Self {
        let wanted: Vec<bool> = (0..hosts).map(is_wanted).collect();
        let mut starts = vec![0u32; hosts + 1];
        for host in host_of {
            starts[*host as usize + 1] += u32::from(wanted[*host as usize]);
        }
        for host in 0..hosts {
            starts[host + 1] += starts[host];
        }
        let mut next = starts.clone();
        let mut pages = vec![0u32; starts[hosts] as usize];
        for (page, host) in (0u32..).zip(host_of) {
            let host = *host as usize;
            if wanted[host] {
                pages[next[host] as usize] = page;
                next[host] += 1;
            }
        }
        Self { pages, starts }
    }

    fn pages(&self, host: usize) -> &[u32] {
        &self.pages[self.starts[host] as usize..self.starts[host + 1] as usize]
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
    let Cleared { price, jump } = clear(limited, budget, start, TOLERANCE, frequencies);
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
    let groups = Groups::of(limited.host_of, hosts, |_| true);
    let spent = |host: usize| {
        let pages = groups.pages(host);
        let start = Limited::<R>::host_start(0.0);
        let (_, frequencies) = limited.clear_host(pages, limited.limits[host], 0.0, start);
        pages.iter().zip(frequencies).map(|(page, f)| market.weight(*page as usize) * f.get()).sum::<f64>()
    };
    (0..hosts).into_par_iter().map(spent).collect::<Vec<_>>().into_iter().sum::<f64>() <= budget
}

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
    let groups = Groups::of(limited.host_of, hosts, |host| takes(host, 1.0));
    // From what the host would take without its limit, a first step of Newton's method towards it.
    let start_of = |host: usize| match limited.unlimited.get(host) {
        _ if limited.has_costs => Limited::<R>::host_start(price),
        Some(total) if price > 0.0 => {
            let elasticity = (total.slope / total.spent).clamp(ELASTICITIES.0, ELASTICITIES.1);
            start * ((total.visits / limited.limits[host]).ln() / elasticity).clamp(0.0, 5.0).exp()
        }
        _ => start,
    };
    let own_price = |host: usize| {
        takes(host, 1.0)
            .then(|| limited.clear_host(groups.pages(host), limited.limits[host], price, start_of(host)).0)
    };
    let prices: Vec<Option<Cleared>> = (0..hosts).into_par_iter().map(own_price).collect();
    let market = Market { pricing: limited.host_pricing(price), ..limited.market };
    let chunks = frequencies.par_chunks_mut(CHUNK).zip(limited.host_of.par_chunks(CHUNK)).enumerate();
    chunks.for_each(|(chunk, (frequencies, host_of))| {
        for ((page, frequency), host) in (chunk * CHUNK..).zip(frequencies).zip(host_of) {
            if let Some(own) = &prices[*host as usize] {
                *frequency = market.visits(page, own, frequency.get());
            }
        }
    });
    let is_saturated = |host: &usize| match &prices[*host] {
        Some(own) if price == 0.0 && own.price.value == f64::INFINITY => {
            // No page is worth more than the minimum.
            let pages = groups.pages(*host).len();
            pages > 0 && pages as f64 * market.frequency_min >= limited.limits[*host]
        }
        _ => takes(*host, 1.0 - TOLERANCE),
    };
    (0..hosts).filter(is_saturated).map(|host| host as u32).collect()
}
