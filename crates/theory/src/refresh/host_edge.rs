//! Hosts near their limits: the kinks of the demand under limits, and a starting price for its search.
//!
//! At the price at which a host takes exactly its limit the demand has a kink, as it has one at the
//! ceiling of each page. So the *edge* that [`super::rough`] computes exactly is here the pages with
//! ceilings near the price, of hosts that stay below their limits, and all pages of the hosts that reach
//! their limits near the price. The other hosts take their limits and do not change. Pages matter in a
//! wider range than hosts: just under its ceiling the demand of a page is steep, and a host's limit has no
//! effect before it is reached.
//!
//! The search starts from the price at which the hosts would spend the budget, each host taken as a power of
//! the price and cut at its limit.
//!
//! # Promises
//! - At the price that it was made for, the edge and the hosts left out of it take
//!   together what all hosts take.

use rayon::prelude::*;

use super::host_limits::{HostTotal, Limited};
use super::market::{Market, Part};
use super::price::{Demand, Price, Total, clear};
use super::response::{Response, Span};
use super::rough::Kinked;
use crate::units::VisitsPerDay;

/// The part of a limited market that has kinks near a price.
pub(super) struct HostEdge<'a, R> {
    /// Pages with ceilings near the price, of hosts that stay below their limits.
    pages: Part<'a, R>,
    market: Market<'a, R>,
    hosts: Vec<NearLimit<'a, R>>,
}

/// A host that reaches its limit near the price.
struct NearLimit<'a, R> {
    limit: f64,
    pages: Span<'a, R>,
}

impl<R: Response> Demand for HostEdge<'_, R> {
    fn at(&mut self, price: &Price, frequencies: &mut [VisitsPerDay]) -> Total {
        let (own, mut others) = frequencies.split_at_mut(self.pages.pages.len());
        let mut of_hosts = Vec::with_capacity(self.hosts.len());
        for host in &self.hosts {
            let (frequencies, rest) = others.split_at_mut(host.pages.pages());
            of_hosts.push(frequencies);
            others = rest;
        }
        let cut = |(host, frequencies): (&NearLimit<'_, R>, &mut [VisitsPerDay])| {
            self.market.of(&host.pages).at(price, frequencies).cut_at(host.limit)
        };
        let totals: Vec<_> = self.hosts.par_iter().zip(of_hosts).map(cut).collect();
        totals.into_iter().chain([self.pages.at(price, own)]).sum()
    }
}

/// Whether a host is below, near or over its limit at a price.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    Below,
    Near,
    Over,
}

impl Standing {
    fn of(total: &HostTotal, limit: f64, within: f64) -> Self {
        // When the price falls by a factor, a host takes more by at most the square of that
        // factor, with rare exceptions.
        let reach = within * within;
        if total.visits >= limit * reach {
            Self::Over
        } else if total.visits * reach <= limit {
            Self::Below
        } else {
            Self::Near
        }
    }
}

impl<'a, R: Response> Kinked for Limited<'a, R> {
    type Edge = HostEdge<'a, R>;

    fn edge(&self, price: f64, within: f64) -> (HostEdge<'a, R>, usize) {
        let standings: Vec<_> = (0..self.limits.len())
            .map(|host| Standing::of(&self.last.unlimited[host], self.limits[host], within))
            .collect();
        let edge_of = |host: usize| -> Vec<u32> {
            if standings[host] != Standing::Below {
                return Vec::new();
            }
            let is_edge = |page: &usize| self.market.is_edge(*page, price, PAGES_WITHIN);
            self.span(host).numbers.filter(is_edge).map(|page| page as u32).collect()
        };
        let hosts = 0..self.limits.len();
        let pages = hosts.clone().into_par_iter().flat_map_iter(edge_of).collect();
        let near = hosts.filter(|host| standings[*host] == Standing::Near);
        let hosts: Vec<_> =
            near.map(|host| NearLimit { limit: self.limits[host], pages: self.span(host) }).collect();
        let edge = HostEdge { pages: Part { market: self.market, pages }, market: self.market, hosts };
        let count = edge.pages.pages.len() + edge.hosts.iter().map(|host| host.pages.pages()).sum::<usize>();
        (edge, count)
    }

    fn leap(&self, price: f64, _total: &Total, budget: f64) -> f64 {
        let mut hosts = ByHosts {
            totals: &self.last.unlimited,
            elasticities: self.elasticities(),
            limits: &self.limits,
            origin: price,
        };
        let found = clear(&mut hosts, budget, price, LEAP_TOLERANCE, &mut []).price.value;
        // Hosts whose pages all get no visits at this price are invisible here, but
        // may appear at a lower price.
        found.clamp(price / LEAP_FACTOR, price * LEAP_FACTOR)
    }
}

/// Pages with ceilings within this factor of the price are computed exactly.
const PAGES_WITHIN: f64 = 1.05;

/// Model of the hosts: each takes a power of the price, cut at its limit.
struct ByHosts<'a> {
    /// The visits that each host takes at the price `origin` without its limit.
    totals: &'a [HostTotal],
    /// The power of the price by which these visits fall, per host.
    elasticities: Vec<f64>,
    limits: &'a [f64],
    origin: f64,
}

impl Demand for ByHosts<'_> {
    fn at(&mut self, price: &Price, _frequencies: &mut [VisitsPerDay]) -> Total {
        let rise = (price.value / self.origin).ln();
        let cut = |((total, elasticity), limit): ((&HostTotal, &f64), &f64)| {
            let spent = total.visits * (-elasticity * rise).exp();
            Total { spent, slope: spent * elasticity }.cut_at(*limit)
        };
        self.totals.iter().zip(&self.elasticities).zip(self.limits).map(cut).sum()
    }
}

impl<R: Response> Limited<'_, R> {
    /// The elasticity of each host, estimated from its last two passes. The slope of one pass is often that
    /// of a page just under its ceiling.
    fn elasticities(&self) -> Vec<f64> {
        let rise = (self.last.price / self.before.price).ln();
        let has_two = rise.is_finite() && rise.abs() > 1e-4;
        let of = |(host, total): (usize, &HostTotal)| match self.before.unlimited.get(host) {
            Some(before) if has_two && before.visits > 0.0 && total.visits > 0.0 => {
                ((before.visits / total.visits).ln() / rise).clamp(0.0, 10.0)
            }
            _ => total.total.elasticity(),
        };
        self.last.unlimited.iter().enumerate().map(of).collect()
    }
}

/// Tolerance of the search in this model. It gives the price to a few thousandths; more digits
/// would describe only the model.
const LEAP_TOLERANCE: f64 = 1e-4;
/// Maximum factor by which the model may change the price.
const LEAP_FACTOR: f64 = 4.0;
