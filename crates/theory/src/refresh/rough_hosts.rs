//! The price of many pages under limits per host, in few passes.
//!
//! As in [`super::rough`], the pages with ceilings near the price are computed exactly at each price that is tried, and the
//! rest is followed by a power of the price, then by a cubic. Here this is done for each host, for the demand has a kink at
//! each price at which a host reaches its limit as well.
//!
//! # Promises
//! - The price found is that of [`super::price::clear`]: when the passes do not confirm it, that search goes on from there.

use rayon::prelude::*;

use super::host_limits::{HostTotal, Limited};
use super::price::{Cleared, Demand, Price, Reference, TOLERANCE, Total, clear};
use super::response::{Response, Subset};
use super::rough::{FIRST_TOLERANCE, MODEL_TOLERANCE, PASSES_MAX, RestPass, rest_at};
use crate::units::VisitsPerDay;

/// Finds the price at which the hosts, each cut at its limit, spend the budget, and leaves the frequencies at this price.
///
/// The visits must have no costs.
pub(super) fn clear_many<R: Response>(
    limited: &mut Limited<'_, R>,
    budget: f64,
    start: f64,
    frequencies: &mut [VisitsPerDay],
) -> Cleared {
    let mut price = Price::plain(start);
    let mut total = limited.at(&price, frequencies);
    let pages = limited.market.edge(start);
    let subset = Subset { response: limited.market.response, pages: &pages };
    let hosts: Vec<u32> = pages.iter().map(|page| limited.host_of[*page as usize]).collect();
    let mut edge = Limited::new(limited.market.of(&subset), &hosts, limited.limits.clone(), false);
    let mut scratch = vec![VisitsPerDay::ZERO; pages.len()];
    let mut before = None;
    for _ in 0..PASSES_MAX {
        if (total.spent - budget).abs() <= TOLERANCE * budget {
            return Cleared::at(price);
        }
        let last = rests(price.value, &limited.unlimited, &edge.without_limits(&price, &mut scratch));
        let tolerance = if before.is_none() { FIRST_TOLERANCE } else { MODEL_TOLERANCE };
        let mut model = Model { edge: &mut edge, last: &last, before: before.as_deref() };
        price = clear(&mut model, budget, price.value, tolerance, &mut scratch).price;
        total = limited.at(&price, frequencies);
        before = Some(last);
    }
    clear(limited, budget, price.value, TOLERANCE, frequencies)
}

/// What the pages of each host that are not at the edge take at one price.
fn rests(price: f64, all: &[HostTotal], edge: &[HostTotal]) -> Vec<RestPass> {
    let rest = |(all, edge): (&HostTotal, &HostTotal)| {
        // What is left of nearly all has no digits: it is nothing.
        let part = if all.visits - edge.visits > REST_MIN * all.visits { *edge } else { *all };
        RestPass::new(price, &all.total(), &part.total())
    };
    all.iter().zip(edge).map(rest).collect()
}

/// A smaller part of a host's demand does not count.
const REST_MIN: f64 = 1e-9;

/// Edge and rest of each host, cut at its limit.
struct Model<'a, 'b, R> {
    edge: &'a mut Limited<'b, R>,
    last: &'a [RestPass],
    before: Option<&'a [RestPass]>,
}

/// Hosts that are summed at once.
const CHUNK: usize = 4096;

impl<R: Response> Demand for Model<'_, '_, R> {
    fn at(&mut self, price: &Price, frequencies: &mut [VisitsPerDay]) -> Total {
        let edge = self.edge.without_limits(price, frequencies);
        let cut = |host: usize| {
            let before = self.before.map(|before| &before[host]);
            let rest = rest_at(price.value, &self.last[host], before);
            let all: Total = [rest, edge[host].total()].into_iter().sum();
            let limit = self.edge.limits[host];
            if all.spent > limit { Total { spent: limit, slope: 0.0 } } else { all }
        };
        let hosts = edge.len();
        let chunk =
            |chunk: usize| -> Total { (chunk * CHUNK..((chunk + 1) * CHUNK).min(hosts)).map(cut).sum() };
        let chunks: Vec<_> = (0..hosts.div_ceil(CHUNK)).into_par_iter().map(chunk).collect();
        chunks.into_iter().sum()
    }

    fn references(&self, low: f64, high: f64) -> Vec<Reference> {
        self.edge.references(low, high)
    }

    fn weight(&self, page: usize) -> f64 {
        self.edge.weight(page)
    }

    fn log_complement(&self, page: usize, frequency: f64) -> f64 {
        self.edge.log_complement(page, frequency)
    }
}
