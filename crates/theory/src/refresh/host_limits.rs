//! Price search under visit limits per host: saturated hosts get their own, higher price.
//!
//! A host whose pages would take more than its limit at the price of the plan is *saturated*. It takes its
//! limit, its pages share it at a price of their own, and the others share the rest of the budget. The demand
//! of all hosts, each cut at its limit, falls as the price rises. So one search over the price finds the
//! saturated hosts too; no rounds are needed. Each saturated host is then a plan of its own. Without costs it
//! does not depend on the rest. With costs, the price of the plan times the cost of a visit stays part of the
//! price of the visit, and the saturated hosts are solved again in each pass.
//!
//! A limit counts **visits**, whatever they cost: politeness is about requests, the budget about their cost.
//! So with costs a host may be at its limit while it spends little, and the expensive pages of a host may be
//! left out in favour of its cheap ones.
//!
//! The pages are in the order of their hosts ([`super::host_order`]), so that each host is a span of them.
//!
//! # Promises
//! - No host takes more than its limit, and all together no more than the budget, within 1e-9 of each and
//!   usually within 1e-12; also with costs that are many orders of magnitude apart.
//! - A saturated host takes its limit.
//! - Both searches end with the precision of [`super::price`].

use std::ops::Range;

use rayon::prelude::*;

use super::allocation::{MANY, start};
use super::host_order::counts;
use super::market::{CHUNK, Market, Pricing};
use super::price::{Cleared, Demand, Jump, Price, Reference, TOLERANCE, Total, clear};
use super::response::{Response, Span, Subset};
use super::rough::{clear_near, leap_by_power};
use crate::units::VisitsPerDay;

/// A market whose pages belong to hosts with limits.
pub(super) struct Limited<'a, R> {
    pub(super) market: Market<'a, R>,
    /// Start of the pages of each host, and the end of the last ones.
    starts: Vec<u32>,
    /// Neighbouring hosts that are computed together. Each run has about a chunk of pages.
    runs: Vec<Range<usize>>,
    pub(super) limits: Vec<f64>,
    has_costs: bool,
    /// The last pass, and the one before.
    pub(super) last: HostPass,
    pub(super) before: HostPass,
}

/// The visits that each host would take without its limit at some price.
#[derive(Default)]
pub(super) struct HostPass {
    pub(super) price: f64,
    pub(super) unlimited: Vec<HostTotal>,
}

/// The visits that the pages of one host take at the price of the plan.
#[derive(Clone, Copy, Default)]
pub(super) struct HostTotal {
    pub(super) visits: f64,
    /// The cost of these visits.
    pub(super) total: Total,
}

impl<'a, R: Response> Limited<'a, R> {
    /// The pages of `market` are in the order of their hosts; `host_of` may be in any order. `limits` are
    /// visits per day of each host, in the unit of the market's frequencies.
    pub(super) fn new(market: Market<'a, R>, host_of: &[u32], limits: Vec<f64>, has_costs: bool) -> Self {
        let mut starts = Vec::with_capacity(limits.len() + 1);
        starts.push(0);
        let mut runs = Vec::new();
        let (mut next, mut run_first, mut run_start) = (0, 0, 0);
        for (host, pages) in counts(host_of, limits.len()).into_iter().enumerate() {
            next += pages;
            starts.push(next);
            if (next - run_start) as usize >= CHUNK || host + 1 == limits.len() {
                runs.push(run_first..host + 1);
                (run_first, run_start) = (host + 1, next);
            }
        }
        Self {
            market,
            starts,
            runs,
            limits,
            has_costs,
            last: HostPass::default(),
            before: HostPass::default(),
        }
    }

    /// The pages of a host.
    pub(super) fn span(&self, host: usize) -> Span<'a, R> {
        let numbers = self.starts[host] as usize..self.starts[host + 1] as usize;
        Span { response: self.market.response, numbers }
    }

    /// Computes a value for each host from the frequencies of its pages, in parallel.
    fn by_host<T: Send>(
        &self,
        frequencies: &mut [VisitsPerDay],
        of_host: impl Fn(usize, &mut [VisitsPerDay]) -> T + Sync,
    ) -> Vec<T> {
        let mut rest = frequencies;
        let mut runs = Vec::with_capacity(self.runs.len());
        for run in &self.runs {
            let pages = (self.starts[run.end] - self.starts[run.start]) as usize;
            let (own, others) = rest.split_at_mut(pages);
            runs.push((run.clone(), own));
            rest = others;
        }
        let run = |(hosts, mut frequencies): (Range<usize>, &mut [VisitsPerDay])| -> Vec<T> {
            let host = |host: usize| {
                let (own, others) = std::mem::take(&mut frequencies).split_at_mut(self.span(host).pages());
                frequencies = others;
                of_host(host, own)
            };
            hosts.map(host).collect()
        };
        runs.into_par_iter().map(run).collect::<Vec<_>>().into_iter().flatten().collect()
    }

    /// Computes the demand of all pages as if no host had a limit.
    fn pass(&mut self, price: &Price, frequencies: &mut [VisitsPerDay]) {
        let unlimited = self.by_host(frequencies, |host, frequencies| {
            let total = self.market.of(&self.span(host)).at(price, frequencies);
            let visits = || frequencies.iter().map(|frequency| frequency.get()).sum();
            HostTotal { visits: if self.has_costs { visits() } else { total.spent }, total }
        });
        self.before = std::mem::replace(&mut self.last, HostPass { price: price.value, unlimited });
    }

    fn is_over(&self, host: usize) -> bool {
        self.last.unlimited[host].visits > self.limits[host]
    }

    /// The pricing of visits within a saturated host when the plan has `price`.
    fn host_pricing(&self, price: f64) -> Pricing {
        match self.market.pricing {
            Pricing::PerCost if self.has_costs => Pricing::OnTopOf(price),
            _ => Pricing::PerVisit,
        }
    }

    /// The price at which a host takes its limit, when the plan has `price`. The search begins at `start` and
    /// leaves the frequencies at the price found.
    fn clear_host(&self, host: usize, price: f64, start: f64, frequencies: &mut [VisitsPerDay]) -> Price {
        let (span, limit) = (self.span(host), self.limits[host]);
        let mut market = self.market.of_host(&span, self.host_pricing(price));
        if market.spent_at_least() >= limit || !market.has_worth() {
            frequencies.fill(VisitsPerDay::new(market.frequency_min));
            return Price::plain(f64::INFINITY);
        }
        if self.has_costs {
            return clear(&mut market, limit, start, TOLERANCE, frequencies).price;
        }
        let among_worthy = self.clear_among_worthy(host, start, frequencies);
        among_worthy.unwrap_or_else(|| clear_near(&mut market, limit, start, NEAR_OWN, frequencies).price)
    }

    /// [`Self::clear_host`] for the pages that still get visits well below `start`. `None` if the price
    /// turns out to be that low.
    fn clear_among_worthy(&self, host: usize, start: f64, frequencies: &mut [VisitsPerDay]) -> Option<Price> {
        let (span, floor) = (self.span(host), FLOOR * start);
        let is_worthy = |page: &u32| !span.is_given_up(*page as usize, floor);
        let worthy: Vec<u32> = (0..span.pages() as u32).filter(is_worthy).collect();
        if worthy.is_empty() || self.market.frequency_min > 0.0 {
            return None;
        }
        let subset = Subset { response: &span, numbers: worthy.as_slice() };
        let mut market = self.market.of_host(&subset, Pricing::PerVisit);
        let mut of_worthy: Vec<_> = worthy.iter().map(|page| frequencies[*page as usize]).collect();
        let own = clear_near(&mut market, self.limits[host], start, NEAR_OWN, &mut of_worthy).price;
        if !(floor < own.value && own.value < f64::INFINITY) {
            return None;
        }
        frequencies.fill(VisitsPerDay::ZERO);
        for (page, frequency) in worthy.iter().zip(of_worthy) {
            frequencies[*page as usize] = frequency;
        }
        Some(own)
    }

    /// Starting price of the search for any host's price when visits have costs. Two searches from one start
    /// end with the same digits, so the pages get what the search for the price of the plan assumed. Where
    /// costs are far apart, the twelfth digit of a host's visits may cost more than the whole budget.
    fn host_start(price: f64) -> f64 {
        if price > 0.0 { price } else { 1.0 }
    }

    /// The amount a saturated host spends at the price of the plan, and the slope by which it
    /// falls as the price rises.
    fn saturated_total(&self, host: usize, price: f64) -> Total {
        let span = self.span(host);
        let mut frequencies = vec![VisitsPerDay::new(self.market.frequency_min); span.pages()];
        let own = self.clear_host(host, price, Self::host_start(price), &mut frequencies);
        let market = self.market.of_host(&span, self.host_pricing(price));
        // With f' = −df/dπ and the sum of visits fixed, the surcharge falls by Σ c f'/Σ
        // f' per unit of the price.
        let (mut spent, mut sum, mut by_cost, mut by_cost_twice) = (0.0, 0.0, 0.0, 0.0);
        for (page, frequency) in frequencies.iter().enumerate() {
            let cost = span.cost(page);
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

/// The price of a host is usually within this factor of the start of its search.
const NEAR_OWN: f64 = 1.15;

/// Pages that get no visits at this fraction of the starting price are at first left out of the
/// search for the price of a host.
const FLOOR: f64 = 0.7;

/// After the first pass over all hosts, the price is known within this factor.
const NEAR: f64 = 1.002;

impl<R: Response> Demand for Limited<'_, R> {
    fn at(&mut self, price: &Price, frequencies: &mut [VisitsPerDay]) -> Total {
        self.pass(price, frequencies);
        let limited = &*self;
        let hosts = 0..limited.limits.len();
        if !limited.has_costs {
            // Without costs a host spends exactly its visits.
            let cut = |host: usize| limited.last.unlimited[host].total.cut_at(limited.limits[host]);
            return hosts.map(cut).sum();
        }
        let cut = |host| match limited.is_over(host) {
            true => limited.saturated_total(host, price.value),
            false => limited.last.unlimited[host].total,
        };
        hosts.into_par_iter().map(cut).collect::<Vec<_>>().into_iter().sum()
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

/// Finds the price of the plan, the saturated hosts, and the frequencies of all pages.
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
    let start =
        if limited.market.response.pages() > MANY { start(&limited.market, likely_spent) } else { 1.0 };
    if !binds {
        // Every host takes its limit, and a larger budget would gain nothing.
        if !limited.has_costs {
            limited.pass(&Price::plain(start), frequencies);
        }
        return (Price::plain(0.0), share_limits(limited, 0.0, start, frequencies));
    }
    let Cleared { price, jump } = if limited.has_costs || limited.market.response.pages() <= MANY {
        clear(limited, budget, start, TOLERANCE, frequencies)
    } else {
        clear_near(limited, budget, start, NEAR, frequencies)
    };
    let saturated = match jump {
        None => share_limits(limited, price.value, price.value, frequencies),
        Some(jump) => share_at_jump(limited, &price, &jump, budget, frequencies),
    };
    (price, saturated)
}

/// Mixes the frequencies on both sides of a jump so that they spend the budget. Returns the hosts that are
/// saturated on both sides.
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
    let hosts = (0..limited.limits.len()).into_par_iter();
    if !limited.has_costs {
        if limited.limits.iter().sum::<f64>() <= budget {
            return true;
        }
        let spent = |host: usize| {
            let span = limited.span(host);
            let is_worth = limited.market.of(&span).has_worth();
            if is_worth { limited.limits[host] } else { span.pages() as f64 * limited.market.frequency_min }
        };
        return hosts.map(spent).collect::<Vec<_>>().into_iter().sum::<f64>() <= budget;
    }
    let spent = |host: usize| {
        let span = limited.span(host);
        let mut frequencies = vec![VisitsPerDay::new(limited.market.frequency_min); span.pages()];
        limited.clear_host(host, 0.0, Limited::<R>::host_start(0.0), &mut frequencies);
        frequencies.iter().enumerate().map(|(page, f)| span.cost(page) * f.get()).sum::<f64>()
    };
    hosts.map(spent).collect::<Vec<_>>().into_iter().sum::<f64>() <= budget
}

/// Shares the limit of each host that would take more at the price of the plan among its pages. The search
/// for the host's price begins near `start`. Returns the hosts that take their limit. At a price of zero
/// every host that can take its limit does.
fn share_limits<R: Response>(
    limited: &Limited<'_, R>,
    price: f64,
    start: f64,
    frequencies: &mut [VisitsPerDay],
) -> Vec<u32> {
    let takes = |host: usize, part: f64| {
        price == 0.0 || limited.last.unlimited[host].visits > part * limited.limits[host]
    };
    // A first Newton step towards the limit, from the visits that the host would take without it.
    let start_of = |host: usize| match limited.last.unlimited.get(host) {
        _ if limited.has_costs => Limited::<R>::host_start(price),
        Some(HostTotal { visits, total }) if *visits > 0.0 && limited.limits[host] > 0.0 => {
            leap_by_power(start, total, limited.limits[host])
        }
        _ => start,
    };
    let is_saturated = limited.by_host(frequencies, |host, frequencies| {
        let takes_all = takes(host, 1.0);
        let own = takes_all.then(|| limited.clear_host(host, price, start_of(host), frequencies));
        match own {
            Some(own) if price == 0.0 && own.value == f64::INFINITY => {
                // No page is worth more than the minimum.
                let pages = frequencies.len();
                pages > 0 && pages as f64 * limited.market.frequency_min >= limited.limits[host]
            }
            _ => takes(host, 1.0 - TOLERANCE),
        }
    });
    (0u32..).zip(is_saturated).filter_map(|(host, is_saturated)| is_saturated.then_some(host)).collect()
}
