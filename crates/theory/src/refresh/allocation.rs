//! Optimal allocation of visits to pages, and the uniform and proportional policies it is compared with.
//!
//! Implements the thesis, sections 5.5.1 (uniform and proportional), 5.5.4 (optimal, Problem 5.1) and 5.6
//! (weights), with three constraints that the text does not have: a cost per visit, a minimum frequency, and
//! a limit per host. Maximise
//!
//! > Σ wᵢ F̄(λᵢ, fᵢ)  under  Σ cᵢ fᵢ = budget,  fᵢ ≥ minimum,  Σ over a host of fᵢ ≤ its limit
//!
//! or the same with another objective. Each is concave in fᵢ, so the conditions of Karush, Kuhn and Tucker
//! are sufficient. There are a price μ and, for each saturated host, a surcharge ν. One more visit to a page
//! gains cᵢ μ + ν where fᵢ is above the minimum, and not more where it is at the minimum.
//!
//! # Promises
//! - The frequencies add up to the budget within 2e-12 of it, unless host limits or a lack of pages worth a
//!   visit leave some of it unspent.
//! - Each frequency is within 2e-12 of the budget of the exact optimum, also with few resources and for equal
//!   or nearly equal pages.
//! - A page that never changes or has no importance gets the minimum.
//! - The result does not depend on the number of threads.
//!
//! # Departures
//! The text gives no way to solve for μ. In its Figure 5.13(b) the fast page gets no visits from a budget of
//! two; the optimum visits it 0.236 times.

use rayon::prelude::*;

use super::for_survival::{ForSurvival, LawPages};
use super::host_limits::{Limited, clear_within_limits};
use super::host_order::{HostOrder, sorted};
use super::market::{Market, Pricing};
use super::pages::{Constraints, Pages, check_columns};
use super::price::{Demand, Price, TOLERANCE_OF_FEW, clear};
use super::response::{
    ForAge, ForChanges, ForFreshness, ForHarmonic, Proportional, Response, Subset, Uniform,
};
use super::rough::clear_near;
use super::scaled::{Scaled, Spread, Units};
use super::survival::law::Survival;
use crate::numerics::freshness_gain;
use crate::units::VisitsPerDay;

/// The objective of an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Objective {
    /// Maximum freshness: the fraction of the collection that is up to date, averaged over time.
    Freshness,
    /// Minimum age: the time since copies stopped being up to date.
    Age,
    /// The harmonic objective of LambdaCrawl: maximum Σ w ln(f/(f + λ)), which visits every page.
    Harmonic,
    /// Maximum number of changes found. With equal importance and cost this is the proportional policy,
    /// which the thesis shows to be bad for freshness. Pages of less importance than others are not
    /// visited when visits are few.
    Changes,
}

/// Result of an allocation: how often to visit each page.
#[derive(Clone, Debug, PartialEq)]
pub struct Allocation {
    /// Visit frequency of each page, in the order of the pages.
    pub visit_frequencies: Vec<VisitsPerDay>,
    /// The gain of one more visit a day: the multiplier μ. It is in units of the objective, summed over the
    /// pages with their importance. Zero when there is nothing left to gain, and meaningless for policies
    /// that maximise nothing.
    pub marginal_gain: f64,
    /// Hosts that are visited as often as their limit allows, in rising order.
    pub saturated_hosts: Vec<u32>,
}

/// The optimal allocation for an objective.
///
/// Budget that cannot be used is not spent: when no page both changes and has importance, or when all hosts
/// are saturated. Panics if the constraints are [infeasible](Constraints::infeasible), if columns differ in
/// length, or if an importance or a cost is out of its range.
///
/// # Examples
///
/// ```
/// use freshet_theory::refresh::{Constraints, Objective, Pages, allocate};
/// use freshet_theory::units::{ChangesPerDay, VisitsPerDay};
///
/// // Table 5.5 of the thesis: five pages change once to five times a day, and there are five visits a day.
/// let rates = [1.0, 2.0, 3.0, 4.0, 5.0].map(ChangesPerDay::new);
/// let budget = Constraints::budget(VisitsPerDay::new(5.0));
/// let allocation = allocate(&Pages::new(&rates), Objective::Freshness, &budget);
///
/// let visits: Vec<f64> = allocation.visit_frequencies.iter().map(|visits| visits.get()).collect();
/// assert!((visits[0] - 1.15).abs() < 0.01);
/// assert!((visits[1] - 1.36).abs() < 0.01);
/// // The page that changes too often to be kept fresh is not visited at all.
/// assert_eq!(visits[4], 0.0);
/// ```
pub fn allocate(pages: &Pages<'_>, objective: Objective, constraints: &Constraints<'_>) -> Allocation {
    pages_by_host(pages, constraints, |pages| {
        let plan = Plan::of(pages, constraints);
        let scaled = plan.scaled(pages);
        match objective {
            Objective::Freshness => plan.fill(&ForFreshness::new(scaled), Pricing::PerCost),
            Objective::Age => {
                let allocation = plan.fill(&ForAge::new(scaled), Pricing::PerCost);
                // Age is measured in the unit of time, which scaling has changed.
                Allocation { marginal_gain: allocation.marginal_gain * plan.units.rate, ..allocation }
            }
            Objective::Harmonic => plan.fill(&ForHarmonic::new(scaled), Pricing::PerCost),
            Objective::Changes if pages.importance.is_none() && pages.costs.is_none() => {
                let allocation = plan.proportional(pages);
                let changes_per_visit = allocation.marginal_gain;
                Allocation { marginal_gain: freshness_gain(changes_per_visit), ..allocation }
            }
            Objective::Changes => {
                let allocation = plan.fill(&ForChanges::new(scaled), Pricing::PerCost);
                Allocation { marginal_gain: allocation.marginal_gain / plan.units.rate, ..allocation }
            }
        }
    })
}

/// The allocation with the highest mean freshness, for pages with any law of survival.
///
/// Panics as [`allocate`] does.
pub fn allocate_by_law<L: Survival>(pages: &LawPages<'_, L>, constraints: &Constraints<'_>) -> Allocation {
    by_host(pages.laws, pages.importance, pages.costs, constraints, |laws, importance, costs| {
        // Rates of a law are not scaled: its times are bounded by the law itself.
        let plan = Plan::new(laws.len(), importance, costs, Spread::ONE, constraints);
        plan.fill(&ForSurvival::new(&LawPages { laws, importance, costs }, plan.units), Pricing::PerCost)
    })
}

/// The same frequency for every page, as far as the constraints allow.
///
/// Panics as [`allocate`] does.
pub fn uniform(pages: &Pages<'_>, constraints: &Constraints<'_>) -> Allocation {
    pages_by_host(pages, constraints, |pages| {
        let plan = Plan::of(pages, constraints);
        plan.fill(&Uniform::new(plan.scaled(pages)), Pricing::PerVisit)
    })
}

/// Frequencies proportional to the change rates, as far as the constraints allow. The marginal gain is the
/// common number of changes per visit.
///
/// Panics as [`allocate`] does.
pub fn proportional(pages: &Pages<'_>, constraints: &Constraints<'_>) -> Allocation {
    pages_by_host(pages, constraints, |pages| Plan::of(pages, constraints).proportional(pages))
}

/// [`by_host`] of pages with rates.
fn pages_by_host(
    pages: &Pages<'_>,
    constraints: &Constraints<'_>,
    allocate: impl FnOnce(&Pages<'_>) -> Allocation,
) -> Allocation {
    let Pages { change_rates, importance, costs } = *pages;
    by_host(change_rates, importance, costs, constraints, |change_rates, importance, costs| {
        allocate(&Pages { change_rates, importance, costs })
    })
}

/// Allocates to pages whose columns are first sorted by host, if hosts have limits and the
/// pages are in another order.
fn by_host<T: Copy + Send + Sync>(
    changes: &[T],
    importance: Option<&[f64]>,
    costs: Option<&[f64]>,
    constraints: &Constraints<'_>,
    allocate: impl FnOnce(&[T], Option<&[f64]>, Option<&[f64]>) -> Allocation,
) -> Allocation {
    let Some(hosts) = constraints.host_limits.filter(|hosts| !hosts.host_of.is_sorted()) else {
        return allocate(changes, importance, costs);
    };
    assert_eq!(hosts.host_of.len(), changes.len());
    let order = HostOrder::new(hosts.host_of, hosts.limits.len());
    let pages = order.pages();
    let changes = sorted(changes, &pages);
    let importance = importance.map(|importance| sorted(importance, &pages));
    let costs = costs.map(|costs| sorted(costs, &pages));
    drop(pages);
    let allocation = allocate(&changes, importance.as_deref(), costs.as_deref());
    drop((changes, importance, costs));
    Allocation { visit_frequencies: order.undo(&allocation.visit_frequencies), ..allocation }
}

/// The checked constraints and the units of a plan.
struct Plan<'a> {
    constraints: &'a Constraints<'a>,
    units: Units,
    has_costs: bool,
}

impl<'a> Plan<'a> {
    fn new(
        pages: usize,
        importance: Option<&[f64]>,
        costs: Option<&[f64]>,
        rates: Spread,
        constraints: &'a Constraints<'a>,
    ) -> Self {
        let importances = check_columns(pages, importance, costs);
        assert_eq!(constraints.infeasible_for(pages, costs), None);
        let units = Units::new(constraints.visit_budget.get(), rates, importances);
        Self { constraints, units, has_costs: costs.is_some() }
    }

    fn of(pages: &Pages<'_>, constraints: &'a Constraints<'a>) -> Self {
        let rates = Spread::of(pages.change_rates.par_iter().map(|rate| rate.get()));
        Self::new(pages.len(), pages.importance, pages.costs, rates, constraints)
    }

    fn scaled<'b>(&self, pages: &'b Pages<'b>) -> Scaled<'b> {
        Scaled { pages, units: self.units }
    }

    fn proportional(&self, pages: &Pages<'_>) -> Allocation {
        let allocation = self.fill(&Proportional::new(self.scaled(pages)), Pricing::PerVisit);
        let price = allocation.marginal_gain * self.units.importance / self.units.rate;
        Allocation { marginal_gain: price, ..allocation }
    }

    /// Finds the price and returns the allocation, for pages in the order of their hosts. The marginal gain
    /// is correct only for objectives without a unit of time.
    fn fill<R: Response>(&self, response: &R, pricing: Pricing) -> Allocation {
        let Units { rate, importance, .. } = self.units;
        let pricing = if self.has_costs { pricing } else { Pricing::PerVisit };
        let frequency_min = self.units.frequency(self.constraints.visit_frequency_min.get());
        let mut market = Market { response, pricing, spends_cost: self.has_costs, frequency_min };
        let budget = self.units.frequency(self.constraints.visit_budget.get());
        let mut visit_frequencies = vec![VisitsPerDay::new(frequency_min); response.pages()];
        let (price, saturated_hosts) = match self.constraints.host_limits {
            None => (clear_alone(&mut market, budget, &mut visit_frequencies), Vec::new()),
            Some(hosts) => {
                let limits = hosts.limits.iter().map(|limit| self.units.frequency(limit.get())).collect();
                let mut limited = Limited::new(market, hosts.host_of, limits, self.has_costs);
                clear_within_limits(&mut limited, budget, &mut visit_frequencies)
            }
        };
        if !self.units.are_ordinary() {
            for frequency in &mut visit_frequencies {
                *frequency = VisitsPerDay::new((frequency.get() / rate).min(f64::MAX));
            }
        }
        let marginal_gain = (price.value * rate / importance).min(f64::MAX);
        Allocation { visit_frequencies, marginal_gain, saturated_hosts }
    }
}

/// The price of a market without limits per host, and the frequencies at this price.
fn clear_alone<R: Response>(
    market: &mut Market<'_, R>,
    budget: f64,
    frequencies: &mut [VisitsPerDay],
) -> Price {
    if market.spent_at_least() >= budget || !market.has_worth() {
        return Price::plain(0.0);
    }
    if market.response.pages() <= MANY {
        let price = clear(market, budget, 1.0, TOLERANCE_OF_FEW, frequencies).price;
        fit(market, budget, frequencies);
        return price;
    }
    clear_near(market, budget, start(market, budget), NEAR, frequencies).price
}

/// The price of the sample is within this factor of the final price, nearly always.
const NEAR: f64 = 1.15;

/// Scales the frequencies to the budget when no price could spend it. This happens with laws so extreme that
/// the demand jumps over the budget from one double to the next, with no page near a ceiling.
fn fit<R: Response>(market: &Market<'_, R>, budget: f64, frequencies: &mut [VisitsPerDay]) {
    let largest = frequencies.iter().map(|frequency| frequency.get()).fold(0.0, f64::max);
    let part = |page: usize, frequency: &VisitsPerDay| {
        if largest > 0.0 { frequency.get() / largest } else { f64::from(u8::from(market.is_worth(page))) }
    };
    let parts: Vec<f64> = frequencies.iter().enumerate().map(|(page, f)| part(page, f)).collect();
    let sum: f64 = parts.iter().enumerate().map(|(page, part)| market.weight(page) * part).sum();
    let is_off = ((largest / budget) * sum - 1.0).abs() > FIT_TOLERANCE;
    if is_off && sum.is_finite() && market.frequency_min == 0.0 {
        for (frequency, part) in frequencies.iter_mut().zip(parts) {
            *frequency = VisitsPerDay::new(part * (budget / sum));
        }
    }
}

/// If the demand differs from the budget by more than this fraction, no price was found.
const FIT_TOLERANCE: f64 = 1e-9;

/// A starting price for the search: the one that clears a sample of the pages, itself
/// found from a smaller sample.
pub(super) fn start<R: Response>(market: &Market<'_, R>, budget: f64) -> f64 {
    SAMPLES.iter().fold(1.0, |start, size| {
        let numbers = sample(market.response.pages(), *size);
        let pages = Subset { response: market.response, numbers: numbers.as_slice() };
        let mut sampled = market.of(&pages);
        let budget = budget * (*size as f64 / market.response.pages() as f64);
        if sampled.spent_at_least() >= budget || !sampled.has_worth() {
            return start;
        }
        let mut frequencies = vec![VisitsPerDay::ZERO; *size];
        clear(&mut sampled, budget, start, SAMPLE_TOLERANCE, &mut frequencies).price.value
    })
}

/// The numbers of some of the pages, in rising order. Multiples of the golden ratio are spread evenly and
/// share no period with the order of the pages.
fn sample(pages: usize, size: usize) -> Vec<u32> {
    let golden = 0.618_033_988_749_894_9;
    let page = |k: usize| ((k as f64 * golden).fract() * pages as f64) as u32;
    let mut numbers: Vec<u32> = (0..size).map(page).collect();
    numbers.sort_unstable();
    numbers
}

/// Number of pages above which it pays to search on samples first.
pub(super) const MANY: usize = 100_000;
/// Sizes in pages of the samples that give the starting price.
const SAMPLES: [usize; 2] = [1 << 12, 1 << 16];
/// Tolerance of the search on a sample. The larger sample gives the price to about a hundredth; more digits
/// would describe only the sample.
const SAMPLE_TOLERANCE: f64 = 1e-3;
