//! The exact schedule of pages whose copies last as any of the models says.
//!
//! Implements Problem 1 of **summary**, section 5 (Weibull), and the same for the other lifetimes: maximise
//!
//! > Σ wᵢ (1/Tᵢ) ∫₀^Tᵢ Sᵢ  under  Σ 1/Tᵢ = budget
//!
//! At the optimum wᵢ Vᵢ(Tᵢ) is the same μ for all pages that are visited at all, and a page whose ceiling wᵢ Vᵢ(∞) is not above μ is
//! given up. With few resources the last pages are visited so seldom that their V is within the last digit of its ceiling, and μ
//! alone cannot tell their intervals. So the search runs on the interval of the page with the lowest ceiling that is still visited:
//! what its V lacks to the ceiling says, together with the differences of ceilings, what every other page's lacks.
//!
//! # Promises
//! - The frequencies add up to the budget within 1e-12 of it.
//! - Nine digits in each frequency, also where a page is hardly worth a visit.
//! - Pages that never change, or have no importance, get no visit.

use super::lifetime::Lifetime;
use crate::units::{Days, VisitsPerDay};

/// Halvings of a search: from the whole range of doubles to neighbouring ones.
const HALVINGS_MAX: usize = 200;

/// A page to schedule.
#[derive(Clone, Debug)]
pub struct LastingPage {
    /// How long its copy stays current.
    pub lifetime: Lifetime,
    /// Its weight in the objective; finite and not negative.
    pub importance: f64,
}

/// How often each page should be visited so that the copies are freshest, in the order of the pages.
///
/// Panics unless the budget is above zero and every importance is finite and not negative.
pub fn schedule(pages: &[LastingPage], visit_budget: VisitsPerDay) -> Vec<VisitsPerDay> {
    assert!(visit_budget > VisitsPerDay::ZERO);
    assert!(pages.iter().all(|page| page.importance.is_finite()));
    assert!(pages.iter().all(|page| 0.0 <= page.importance));
    let mut order: Vec<Candidate<'_>> = pages.iter().enumerate().filter_map(Candidate::new).collect();
    order.sort_by(|a, b| b.ceiling.total_cmp(&a.ceiling));
    let mut frequencies = vec![0.0; pages.len()];
    if !order.is_empty() {
        fill(&order, visit_budget.get(), &mut frequencies);
    }
    frequencies.into_iter().map(VisitsPerDay::new).collect()
}

/// The weighted mean freshness of pages visited this often; nothing if no page has importance.
pub fn mean_freshness(pages: &[LastingPage], visit_frequencies: &[VisitsPerDay]) -> Option<f64> {
    assert_eq!(pages.len(), visit_frequencies.len());
    let total: f64 = pages.iter().map(|page| page.importance).sum();
    let fresh = |(page, frequency): (&LastingPage, &VisitsPerDay)| {
        page.importance * page.lifetime.mean_freshness(Days::new(1.0 / frequency.get()))
    };
    (total > 0.0).then(|| pages.iter().zip(visit_frequencies).map(fresh).sum::<f64>() / total)
}

/// A page that can gain by visits.
struct Candidate<'a> {
    number: usize,
    lifetime: &'a Lifetime,
    importance: f64,
    /// The μ from which on it is given up.
    ceiling: f64,
}

impl<'a> Candidate<'a> {
    fn new((number, page): (usize, &'a LastingPage)) -> Option<Self> {
        let ceiling = page.importance * page.lifetime.index_limit();
        (ceiling > 0.0).then_some(Self {
            number,
            lifetime: &page.lifetime,
            importance: page.importance,
            ceiling,
        })
    }

    /// How often it is visited when its weighted index lacks `below` to its ceiling, or is `gain` when that is more exact.
    fn frequency(&self, gain: f64, below: f64) -> f64 {
        let time = if 0.5 * self.ceiling < gain {
            self.lifetime.time_of_shortfall((below / self.importance).min(self.lifetime.index_limit()))
        } else {
            self.lifetime.time_of_index(gain / self.importance)
        };
        1.0 / time.get()
    }
}

/// Where the threshold stands: at `gain`, which is `below` under the ceiling of the reference.
#[derive(Clone, Copy)]
struct Threshold {
    gain: f64,
    reference: f64,
    below: f64,
}

impl Threshold {
    fn frequency(self, page: &Candidate<'_>) -> f64 {
        if page.ceiling <= self.gain && self.below == 0.0 {
            return 0.0;
        }
        page.frequency(self.gain, page.ceiling - self.reference + self.below)
    }

    fn demand(self, visited: &[Candidate<'_>]) -> f64 {
        visited.iter().map(|page| self.frequency(page)).sum()
    }
}

/// Finds the pages that are visited and their frequencies.
fn fill(order: &[Candidate<'_>], budget: f64, frequencies: &mut [f64]) {
    // The pages above a ceiling ask for more the lower it is: the first page whose ceiling they cannot fill is the last visited.
    let asked_at_ceiling = |last: usize| {
        let ceiling = order[last].ceiling;
        Threshold { gain: ceiling, reference: ceiling, below: 0.0 }.demand(&order[..last])
    };
    let mut visited = 1;
    let mut refused = order.len() + 1;
    while visited + 1 < refused {
        let middle = usize::midpoint(visited, refused);
        if asked_at_ceiling(middle - 1) < budget { visited = middle } else { refused = middle }
    }
    let visited = &order[..visited];
    let reference = &visited[visited.len() - 1];
    let threshold = if reference.ceiling < f64::INFINITY {
        threshold_under(reference, visited, budget)
    } else {
        threshold_without_ceiling(visited, budget)
    };
    for page in visited {
        frequencies[page.number] = threshold.frequency(page);
    }
    let sum: f64 = frequencies.iter().sum();
    for frequency in frequencies {
        *frequency *= budget / sum;
    }
}

/// Searches the interval of the reference, in logarithms: the longer it is, the less all ask for.
fn threshold_under(reference: &Candidate<'_>, visited: &[Candidate<'_>], budget: f64) -> Threshold {
    let at = |ln_time: f64| {
        let time = Days::new(ln_time.exp());
        let below = reference.importance * reference.lifetime.index_shortfall(time);
        let gain = reference.importance * reference.lifetime.index(time);
        Threshold { gain, reference: reference.ceiling, below }
    };
    // The reference alone takes no more than the budget, so that its interval is at least 1/budget.
    let ln_time = falling_root(-budget.ln(), |ln_time| at(ln_time).demand(visited) - budget);
    at(ln_time)
}

/// Searches the threshold itself, in logarithms, when no page has a ceiling.
fn threshold_without_ceiling(visited: &[Candidate<'_>], budget: f64) -> Threshold {
    let at = |ln_gain: f64| Threshold { gain: ln_gain.exp(), reference: f64::INFINITY, below: f64::INFINITY };
    let first = &visited[0];
    let start = first.importance * first.lifetime.index(Days::new(1.0 / budget));
    at(falling_root(start.ln(), |ln_gain| at(ln_gain).demand(visited) - budget))
}

/// Where a falling function that is not negative at `low` crosses zero, by a bracket and the secant kept within it.
fn falling_root(low: f64, function: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut value_low) = (low, function(low));
    let mut step = 1.0;
    let (mut high, mut value_high) = (low, value_low);
    while value_high > 0.0 && step < 1e6 {
        (low, value_low) = (high, value_high);
        high = low + step;
        value_high = function(high);
        step *= 2.0;
    }
    let mut side = 0;
    for _ in 0..HALVINGS_MAX {
        if value_high == 0.0 || high - low <= 1e-16 * high.abs().max(1.0) {
            break;
        }
        // The secant of Illinois: the end that stays counts half.
        let secant = (low * value_high - high * value_low) / (value_high - value_low);
        let middle = if low < secant && secant < high { secant } else { 0.5 * (low + high) };
        if middle <= low || high <= middle {
            break;
        }
        let value = function(middle);
        if value > 0.0 {
            (low, value_low) = (middle, value);
            if side == 1 {
                value_high *= 0.5;
            }
            side = 1;
        } else {
            (high, value_high) = (middle, value);
            if side == -1 {
                value_low *= 0.5;
            }
            side = -1;
        }
    }
    if value_low.abs() < value_high.abs() { low } else { high }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refresh::lifetime::{GammaLifetime, WeibullLifetime};
    use crate::refresh::{Constraints, Objective, Pages, allocate};
    use crate::units::ChangesPerDay;
    use proptest::prelude::*;

    fn poisson(rate: f64) -> LastingPage {
        LastingPage { lifetime: Lifetime::Poisson(ChangesPerDay::new(rate)), importance: 1.0 }
    }

    fn frequencies(pages: &[LastingPage], budget: f64) -> Vec<f64> {
        schedule(pages, VisitsPerDay::new(budget)).into_iter().map(VisitsPerDay::get).collect()
    }

    #[test]
    fn a_page_hardly_worth_a_visit_keeps_its_digits() {
        // The trap of Figure 5.13(b): 1 − μλ of the fast page is 1e-15.
        let got = frequencies(&[poisson(9.0), poisson(1.0)], 2.0);
        assert!((got[0] - 0.2358672).abs() < 1e-7, "{got:?}");
        assert!((got[1] - 1.7641328).abs() < 1e-7, "{got:?}");
    }

    #[test]
    fn poisson_pages_are_scheduled_as_the_allocation_says() {
        let rates: Vec<_> = [0.01, 0.2, 1.0, 1.0, 3.0, 9.0, 40.0].map(ChangesPerDay::new).to_vec();
        let pages: Vec<_> = rates.iter().map(|rate| poisson(rate.get())).collect();
        for budget in [0.1, 1.0, 5.0, 30.0] {
            let exact = Pages { change_rates: &rates, importance: None, costs: None };
            let exact =
                allocate(&exact, Objective::Freshness, &Constraints::budget(VisitsPerDay::new(budget)));
            for (got, exact) in frequencies(&pages, budget).iter().zip(exact.visit_frequencies) {
                assert!((got - exact.get()).abs() < 1e-9 * budget, "{got} {exact:?}");
            }
        }
    }

    #[test]
    fn pages_without_a_ceiling_share_a_budget() {
        let heavy = |shape, exposure| LastingPage {
            lifetime: Lifetime::Gamma(GammaLifetime::new(shape, Days::new(exposure))),
            importance: 1.0,
        };
        let got = frequencies(&[heavy(0.5, 1.0), heavy(0.9, 30.0), heavy(0.5, 1.0)], 3.0);
        assert!((got.iter().sum::<f64>() - 3.0).abs() < 1e-12);
        assert!((got[0] - got[2]).abs() < 1e-12);
        assert!(got.iter().all(|frequency| *frequency > 0.0));
    }

    #[test]
    fn what_gains_nothing_gets_nothing() {
        let unimportant = LastingPage { importance: 0.0, ..poisson(1.0) };
        assert_eq!(frequencies(&[poisson(0.0), unimportant.clone(), poisson(2.0)], 1.0), [0.0, 0.0, 1.0]);
        assert_eq!(frequencies(&[poisson(0.0), unimportant], 1.0), [0.0, 0.0]);
    }

    proptest! {
        /// Moving a little of the budget from one page to another gains nothing.
        #[test]
        fn the_schedule_cannot_be_improved(
            models in prop::collection::vec((0.01..5.0f64, 0.4..1.6f64, 0.1..10.0f64), 2..6),
            budget in 0.05..10.0f64,
        ) {
            let pages: Vec<_> = models
                .iter()
                .map(|(scale, shape, importance)| LastingPage {
                    lifetime: Lifetime::Weibull(WeibullLifetime::new(*scale, *shape)),
                    importance: *importance,
                })
                .collect();
            let best = schedule(&pages, VisitsPerDay::new(budget));
            let sum: f64 = best.iter().map(|f| f.get()).sum();
            prop_assert!((sum / budget - 1.0).abs() < 1e-12);
            let freshness = mean_freshness(&pages, &best).expect("pages count");
            for from in 0..pages.len() {
                for to in 0..pages.len() {
                    let moved = 1e-3 * best[from].get();
                    let mut other = best.clone();
                    other[from] = VisitsPerDay::new(best[from].get() - moved);
                    other[to] = VisitsPerDay::new(other[to].get() + moved);
                    let changed = mean_freshness(&pages, &other).expect("pages count");
                    prop_assert!(changed <= freshness + 1e-12);
                }
            }
        }
    }
}
