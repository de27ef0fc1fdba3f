//! The allocation of visits to pages.

use super::{Constraints, Pages};
use crate::numerics::{age_gain, freshness_gain_inverse};
use crate::units::VisitsPerDay;

/// What the visits are spent for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Objective {
    /// The fraction of the collection that is up to date.
    Freshness,
    /// The time since copies stopped being up to date.
    Age,
    /// The harmonic objective of LambdaCrawl, which gives up no page.
    Harmonic,
    /// Changes found.
    Changes,
}

/// How often to visit each page.
#[derive(Clone, Debug, PartialEq)]
pub struct Allocation {
    /// Visits a day of each page, in the order of the pages.
    pub visit_frequencies: Vec<VisitsPerDay>,
    /// What one more visit a day would gain (μ).
    pub marginal_gain: f64,
    /// Hosts whose limit binds, in rising order.
    pub saturated_hosts: Vec<u32>,
}

/// The optimal allocation. Panics if the constraints are [infeasible](Constraints::infeasible).
pub fn allocate(pages: &Pages<'_>, objective: Objective, constraints: &Constraints<'_>) -> Allocation {
    fill(pages, constraints, |page, price| {
        let (rate, w) = (pages.change_rate(page), pages.importance(page));
        if rate == 0.0 || w == 0.0 {
            return 0.0;
        }
        match objective {
            Objective::Freshness => rate / freshness_gain_inverse(price * rate / w),
            Objective::Changes => rate / freshness_gain_inverse(price / w),
            Objective::Harmonic => 2.0 * (w / price) / (1.0 + (1.0 + 4.0 * w / (rate * price)).sqrt()),
            Objective::Age => rate / age_inverse(price * rate * rate / w),
        }
    })
}

/// The same frequency for every page, as far as the constraints allow.
pub fn uniform(pages: &Pages<'_>, constraints: &Constraints<'_>) -> Allocation {
    fill(pages, constraints, |page, price| pages.cost(page) / price)
}

/// Frequencies proportional to the change rates, as far as the constraints allow.
pub fn proportional(pages: &Pages<'_>, constraints: &Constraints<'_>) -> Allocation {
    fill(pages, constraints, |page, price| pages.cost(page) * pages.change_rate(page) / price)
}

/// The x with x² G(x) = `gain`.
fn age_inverse(gain: f64) -> f64 {
    let (mut low, mut high) = (1e-150f64, 1e150f64);
    for _ in 0..200 {
        let x = (low * high).sqrt();
        if x * x * age_gain(x) < gain { low = x } else { high = x }
    }
    low
}

/// Bisects the price at which the frequencies add up to the budget.
fn fill(
    pages: &Pages<'_>,
    constraints: &Constraints<'_>,
    frequency: impl Fn(usize, f64) -> f64,
) -> Allocation {
    assert_eq!(constraints.infeasible(pages), None);
    let f_min = constraints.visit_frequency_min.get();
    let mut saturated: Vec<Option<f64>> =
        vec![None; constraints.host_limits.map_or(0, |hosts| hosts.limits.len())];
    loop {
        let price_of = |page: usize, price: f64| {
            constraints.host_limits.and_then(|hosts| saturated[hosts.host_of[page] as usize]).unwrap_or(price)
        };
        let f =
            |page: usize, price: f64| frequency(page, price_of(page, price) * pages.cost(page)).max(f_min);
        let demand = |price: f64| (0..pages.len()).map(|page| pages.cost(page) * f(page, price)).sum::<f64>();
        let price = bisect(demand, constraints.visit_budget.get());
        let Some(hosts) = constraints.host_limits else { return finish(pages, price, f, Vec::new()) };
        let demand_of = |host: usize, price: f64| -> f64 {
            (0..pages.len())
                .filter(|page| hosts.host_of[*page] as usize == host)
                .map(|page| f(page, price))
                .sum()
        };
        let over: Vec<usize> = (0..hosts.limits.len())
            .filter(|host| saturated[*host].is_none())
            .filter(|host| demand_of(*host, price) > hosts.limits[*host].get() * (1.0 + 1e-12))
            .collect();
        if over.is_empty() {
            let saturated_hosts =
                (0..hosts.limits.len()).filter(|host| saturated[*host].is_some()).map(|host| host as u32);
            return finish(pages, price, f, saturated_hosts.collect());
        }
        let prices: Vec<f64> = over
            .iter()
            .map(|host| bisect(|price| demand_of(*host, price), hosts.limits[*host].get()))
            .collect();
        over.iter().zip(prices).for_each(|(host, price)| saturated[*host] = Some(price));
    }
}

fn finish(
    pages: &Pages<'_>,
    price: f64,
    f: impl Fn(usize, f64) -> f64,
    saturated_hosts: Vec<u32>,
) -> Allocation {
    let visit_frequencies =
        (0..pages.len()).map(|page| VisitsPerDay::new(f(page, price).min(f64::MAX))).collect();
    Allocation { visit_frequencies, marginal_gain: price, saturated_hosts }
}

fn bisect(demand: impl Fn(f64) -> f64, budget: f64) -> f64 {
    let (mut low, mut high) = (1e-150f64, 1e150f64);
    for _ in 0..200 {
        let price = (low * high).sqrt();
        if demand(price) > budget { low = price } else { high = price }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::ChangesPerDay;

    #[test]
    fn the_example_of_five_pages_comes_out_as_printed() {
        let rates = [1.0, 2.0, 3.0, 4.0, 5.0].map(ChangesPerDay::new);
        let budget = Constraints::budget(VisitsPerDay::new(5.0));
        for (objective, expected) in [
            (Objective::Freshness, [1.15, 1.36, 1.35, 1.14, 0.0]),
            (Objective::Age, [0.83, 0.97, 1.03, 1.07, 1.09]),
        ] {
            let allocation = allocate(&Pages::new(&rates), objective, &budget);
            for (f, expected) in allocation.visit_frequencies.iter().zip(expected) {
                assert!((f.get() - expected).abs() < 0.006, "{allocation:?}");
            }
        }
    }
}
