//! Checks allocations against the conditions that only the optimum meets (Karush, Kuhn and Tucker).
//!
//! The check does not depend on how an allocation was found. One more visit to a page gains its cost times
//! the marginal gain, plus the surcharge of its host's limit. A page at the minimum would gain no more. The
//! budget and the limits are kept.

use freshet_theory::numerics::{age_gain, freshness_gain};
use freshet_theory::refresh::{
    Allocation, Constraints, HostLimits, Objective, Pages, allocate, proportional, uniform,
};
use freshet_theory::units::{ChangesPerDay, VisitsPerDay};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const OBJECTIVES: [Objective; 4] =
    [Objective::Freshness, Objective::Age, Objective::Harmonic, Objective::Changes];

/// A table of pages with its hosts.
#[derive(Clone, Debug, Default)]
struct Table {
    rates: Vec<f64>,
    importance: Vec<f64>,
    costs: Option<Vec<f64>>,
    host_of: Vec<u32>,
    limits: Vec<f64>,
    budget: f64,
    frequency_min: f64,
}

impl Table {
    /// Pages with rates over eight orders of magnitude and importance over two, on
    /// `hosts` hosts of equal limits.
    fn spread(pages: usize, hosts: u32, limit_over_mean: f64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(11);
        let mut powers = |low: f64, high: f64| -> Vec<f64> {
            (0..pages).map(|_| 10f64.powf(random.random_range(low..high))).collect()
        };
        let (rates, importance) = (powers(-5.0, 3.0), powers(-1.0, 1.0));
        let host_of = (0..pages).map(|_| if hosts > 0 { random.random_range(0..hosts) } else { 0 }).collect();
        let budget = pages as f64 / 7.0;
        let limits = vec![limit_over_mean * budget / f64::from(hosts.max(1)); hosts as usize];
        Self { rates, importance, host_of, limits, budget, ..Self::default() }
    }

    /// Pages by rate, importance, cost and host. There are three hosts with one limit.
    fn of(pages: &[(f64, f64, f64, u32)], budget: f64, limit: f64) -> Self {
        Self {
            rates: pages.iter().map(|page| page.0).collect(),
            importance: pages.iter().map(|page| page.1).collect(),
            costs: Some(pages.iter().map(|page| page.2).collect()),
            host_of: pages.iter().map(|page| page.3).collect(),
            limits: vec![limit; 3],
            budget,
            frequency_min: 0.0,
        }
    }

    fn with_costs(mut self) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(12);
        self.costs = Some(self.rates.iter().map(|_| 10f64.powf(random.random_range(-1.0..1.0))).collect());
        self
    }

    fn plan(&self, objective: Objective) -> Allocation {
        self.with_constraints(|pages, constraints| allocate(pages, objective, constraints))
    }

    fn with_constraints<T>(&self, plan: impl Fn(&Pages<'_>, &Constraints<'_>) -> T) -> T {
        let rates: Vec<_> = self.rates.iter().map(|rate| ChangesPerDay::new(*rate)).collect();
        let limits: Vec<_> = self.limits.iter().map(|limit| VisitsPerDay::new(*limit)).collect();
        let pages =
            Pages { change_rates: &rates, importance: Some(&self.importance), costs: self.costs.as_deref() };
        let host_limits =
            (!limits.is_empty()).then_some(HostLimits { host_of: &self.host_of, limits: &limits });
        let constraints = Constraints {
            visit_budget: VisitsPerDay::new(self.budget),
            visit_frequency_min: VisitsPerDay::new(self.frequency_min),
            host_limits,
        };
        plan(&pages, &constraints)
    }

    fn cost(&self, page: usize) -> f64 {
        self.costs.as_ref().map_or(1.0, |costs| costs[page])
    }

    fn spent(&self, plan: &Allocation) -> f64 {
        plan.visit_frequencies.iter().enumerate().map(|(page, f)| self.cost(page) * f.get()).sum()
    }

    fn visits_by_host(&self, plan: &Allocation) -> Vec<f64> {
        let mut visits = vec![0.0; self.limits.len()];
        let pages = if visits.is_empty() { &[] } else { &self.host_of[..] };
        for (host, frequency) in pages.iter().zip(&plan.visit_frequencies) {
            visits[*host as usize] += frequency.get();
        }
        visits
    }

    /// The gain of one more visit to a page when it is visited this often.
    fn gain(&self, objective: Objective, page: usize, frequency: f64) -> f64 {
        let (rate, importance) = (self.rates[page], self.importance[page]);
        let x = rate / frequency;
        match objective {
            _ if rate == 0.0 => 0.0,
            Objective::Freshness => importance * freshness_gain(x) / rate,
            // K(x)/λ² with K(x) = x² · age_gain(x) and x/λ = 1/f.
            Objective::Age => importance * age_gain(x) / (frequency * frequency),
            Objective::Harmonic => importance * rate / (frequency * (frequency + rate)),
            Objective::Changes => importance * freshness_gain(x),
        }
    }

    /// Panics unless the plan is the optimum. `is_all_spent` says that the budget can
    /// be spent within the limits.
    #[track_caller]
    fn check(&self, objective: Objective, is_all_spent: bool) {
        let plan = self.plan(objective);
        let spent = self.spent(&plan) / self.budget;
        assert!(spent < 1.0 + 2e-12, "{objective:?} spends {spent}");
        assert!(!is_all_spent || spent > 1.0 - 2e-12, "{objective:?} spends {spent}");
        let surcharges = self.surcharges(objective, &plan);
        for (page, frequency) in plan.visit_frequencies.iter().enumerate() {
            let surcharge =
                if self.limits.is_empty() { 0.0 } else { surcharges[self.host_of[page] as usize] };
            let price = self.cost(page) * plan.marginal_gain + surcharge;
            let gain = self.gain(objective, page, frequency.get());
            let is_more_than_minimum = frequency.get() > self.frequency_min;
            let what =
                || format!("{objective:?}, page {page}: {} gains {gain}, price {price}", frequency.get());
            assert!(frequency.get() >= self.frequency_min, "{}", what());
            assert!(gain <= price * (1.0 + 1e-8), "{}", what());
            assert!(!is_more_than_minimum || gain >= price * (1.0 - 1e-8), "{}", what());
        }
    }

    /// The surcharge of each saturated host on the price of a visit. Checks the limits and
    /// which hosts are saturated.
    #[track_caller]
    fn surcharges(&self, objective: Objective, plan: &Allocation) -> Vec<f64> {
        let mut surcharges = vec![0.0; self.limits.len()];
        for (host, (visits, limit)) in self.visits_by_host(plan).into_iter().zip(&self.limits).enumerate() {
            let is_saturated = plan.saturated_hosts.binary_search(&(host as u32)).is_ok();
            assert!(visits <= limit * (1.0 + 4e-12), "host {host}: {visits} of {limit}");
            assert!(!is_saturated || visits >= limit * (1.0 - 4e-12), "host {host}: {visits} of {limit}");
            if is_saturated {
                surcharges[host] = f64::NEG_INFINITY;
            }
        }
        for (page, frequency) in plan.visit_frequencies.iter().enumerate() {
            if !self.limits.is_empty() && frequency.get() > self.frequency_min {
                let surcharge = &mut surcharges[self.host_of[page] as usize];
                if *surcharge == f64::NEG_INFINITY {
                    *surcharge =
                        self.gain(objective, page, frequency.get()) - self.cost(page) * plan.marginal_gain;
                    assert!(*surcharge > -1e-9 * plan.marginal_gain, "{objective:?}: {surcharge}");
                }
            }
        }
        surcharges
    }
}

#[test]
fn few_pages_are_given_what_is_best() {
    for objective in OBJECTIVES {
        Table::spread(300, 0, 0.0).check(objective, true);
        Table::spread(300, 0, 0.0).with_costs().check(objective, true);
        Table { frequency_min: 0.01, ..Table::spread(300, 0, 0.0) }.check(objective, true);
    }
}

#[test]
fn many_pages_are_given_what_is_best() {
    for objective in OBJECTIVES {
        Table::spread(150_000, 0, 0.0).check(objective, true);
    }
    Table::spread(150_000, 0, 0.0).with_costs().check(Objective::Freshness, true);
}

#[test]
fn hosts_of_few_pages_keep_their_limits() {
    for objective in OBJECTIVES {
        for limit_over_mean in [3.0, 1.2, 1.01] {
            Table::spread(400, 7, limit_over_mean).check(objective, true);
            Table::spread(400, 7, limit_over_mean).with_costs().check(objective, false);
        }
        Table::spread(400, 7, 0.5).check(objective, false);
    }
}

#[test]
fn hosts_of_many_pages_keep_their_limits() {
    for limit_over_mean in [3.0, 1.2, 1.02] {
        Table::spread(150_000, 1500, limit_over_mean).check(Objective::Freshness, true);
    }
    Table::spread(150_000, 1500, 0.9).check(Objective::Freshness, false);
    Table::spread(150_000, 1500, 1.2).check(Objective::Age, true);
    Table { frequency_min: 0.01, ..Table::spread(150_000, 1500, 1.2) }.check(Objective::Freshness, true);
}

#[test]
fn hosts_that_are_given_up_where_the_search_begins_keep_their_limits() {
    for (pages, hosts) in [(150_000, 1500), (60, 6)] {
        let mut table = Table::spread(pages, hosts, 1.2);
        for (page, host) in table.host_of.iter().enumerate() {
            if host % 3 == 0 {
                table.rates[page] *= 1e9;
            }
        }
        table.check(Objective::Freshness, true);
        table.budget *= 1e3;
        table.check(Objective::Freshness, false);
    }
}

#[test]
fn a_plan_does_not_depend_on_the_number_of_threads() {
    let table = Table::spread(150_000, 1500, 1.2);
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| table.plan(Objective::Freshness))
    };
    assert_eq!(with(1), with(3));
}

#[test]
fn equal_pages_share_equally_and_nearly_equal_ones_nearly() {
    let table = |rates: &[f64], budget: f64| Table {
        rates: rates.to_vec(),
        importance: vec![1.0; rates.len()],
        budget,
        ..Table::default()
    };
    for frequency in table(&[1.0; 9], 3.0).plan(Objective::Freshness).visit_frequencies {
        assert!((frequency.get() * 3.0 - 1.0).abs() < 1e-13, "{frequency:?}");
    }
    // The fast page is just under its ceiling: its share is off in the third digit if the price is rounded.
    let two = table(&[9.0, 1.0], 2.0).plan(Objective::Freshness).visit_frequencies;
    assert!((two[0].get() - 0.235_867_191_067_037_9).abs() < 1e-12, "{two:?}");
    table(&[1.0, 1.0 + 1e-15, 1.0 + 1e-14], 1e-3).check(Objective::Freshness, true);
}

#[test]
fn pages_that_never_change_or_do_not_count_get_the_minimum() {
    let table = Table {
        rates: vec![0.0, 1.0, 2.0],
        importance: vec![1.0, 0.0, 1.0],
        budget: 5.0,
        frequency_min: 0.5,
        ..Table::default()
    };
    for objective in OBJECTIVES {
        let frequencies = table.plan(objective).visit_frequencies;
        assert_eq!(frequencies[..2], [VisitsPerDay::new(0.5); 2], "{objective:?}");
        assert!((frequencies[2].get() - 4.0).abs() < 1e-11, "{objective:?}");
    }
}

#[test]
fn uniform_and_proportional_are_what_they_say() {
    let table = Table::spread(300, 0, 0.0);
    let ratio = |plan: &Allocation, page: usize, by: f64| plan.visit_frequencies[page].get() / by;
    let even = table.with_constraints(uniform);
    let by_rate = table.with_constraints(proportional);
    let rate_sum: f64 = table.rates.iter().sum();
    for page in 0..300 {
        assert!((ratio(&even, page, table.budget / 300.0) - 1.0).abs() < 1e-12);
        assert!((ratio(&by_rate, page, table.rates[page] * table.budget / rate_sum) - 1.0).abs() < 1e-11);
    }
}

/// Two pages of one host with far apart costs, both just under their ceilings: no price in double precision
/// shares the limit between them.
#[test]
fn far_costs_under_a_limit_do_not_overspend() {
    // (change rate, importance, cost, host) of each page, the budget and the limit of every host.
    check_far_costs(&[(1.0, 1.0, 1.0, 0), (1.0, 6.55e7, 3.09e9, 0)], 1.0, 0.00859);
    let three = [(1.0, 1.0, 1.0, 0), (15583.6, 8.07e8, 8.1e-8, 1), (4.94e7, 6.67e13, 1.0, 1)];
    check_far_costs(&three, 1.0, 43.47);
    // The part of the expensive page's ceiling that the price of the plan leaves is below the
    // last digit of the ceiling.
    let two = [(1.0628e8, 3.1847e-9, 2.159e-12, 0), (2.4359e7, 1.8107e13, 9.6668e12, 0)];
    check_far_costs(&two, 14298.5, 1.0);
}

#[track_caller]
fn check_far_costs(pages: &[(f64, f64, f64, u32)], budget: f64, limit: f64) {
    let table = Table::of(pages, budget, limit);
    for objective in OBJECTIVES {
        check_within(&table, objective);
    }
}

#[track_caller]
fn check_within(table: &Table, objective: Objective) {
    let plan = table.plan(objective);
    let spent = table.spent(&plan);
    assert!(spent <= table.budget * (1.0 + 1e-9), "{objective:?} spends {spent} of {}", table.budget);
    for (visits, limit) in table.visits_by_host(&plan).iter().zip(&table.limits) {
        assert!(*visits <= limit * (1.0 + 1e-9), "{objective:?} visits {visits} of {limit}");
    }
    // Budget is left only because every host with a page worth a visit is at its limit.
    let is_left = spent < table.budget * (1.0 - 1e-9);
    let is_worth = |page: &usize| table.rates[*page] > 0.0 && table.importance[*page] > 0.0;
    for page in (0..table.rates.len()).filter(is_worth).filter(|_| is_left) {
        let host = table.host_of[page] as usize;
        let (visits, limit) = (table.visits_by_host(&plan)[host], table.limits[host]);
        assert!(
            visits >= limit * (1.0 - 1e-9),
            "{objective:?} leaves {spent}, host {host} {visits} of {limit}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Whatever the numbers, neither the budget nor a limit is exceeded, and nothing is
    /// left that could be spent.
    #[test]
    fn no_plan_exceeds_its_limits(
        pages in prop::collection::vec((extreme_or_zero(), extreme_or_zero(), extreme(), 0..3u32), 1..8),
        budget in extreme(),
        limit in extreme(),
        objective in prop::sample::select(&OBJECTIVES[..]),
    ) {
        check_within(&Table::of(&pages, budget, limit), objective);
    }
}

fn extreme_or_zero() -> impl Strategy<Value = f64> {
    prop_oneof![1 => Just(0.0), 9 => extreme()]
}

fn extreme() -> impl Strategy<Value = f64> {
    (-11.9..14.9_f64).prop_map(|power| 10_f64.powf(power))
}
