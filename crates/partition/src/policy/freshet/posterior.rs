//! The page posterior: the rate of change of a page, from its own visits and those of its group.
//!
//! This is the history part of the policy. The rate θ of a page, per tick of its group's clock, is
//!
//! > θ ~ Gamma(a, b), a = 1 + n, b = 1/m + e
//!
//! where `n` counts its changes and `e` its exposure (the clock time over which it was observed), both
//! discounted. `m` is the mean rate of its group, which is shrunk towards its site's, and that towards the
//! mean of all. A change seen after a long interval counts for as many changes as are expected given at least
//! one, L/(1 − e^-L). Where the last change is dated, it counts as one plus the number expected before it:
//! the estimator of the thesis, section 6.5, in the form in which each visit still counts with its whole
//! interval.
//!
//! # Promises
//! - `n` and `e` are kept apart from the prior, so a better prior moves every page at once.
//! - The sums of a group are those of its pages, up to rounding.

use freshet_theory::numerics::changes_given_changed;

use super::logarithms::ln;

/// Shape of the prior: how much a page may differ from its group.
const PRIOR_SHAPE: f32 = 1.0;
/// Rate before anything is known, in changes per tick.
const FIRST_RATE: f64 = 0.05;
/// Shrinkage of the mean of all towards the first rate, in changes.
const SHRINKAGE_ALL: f64 = 0.5;
/// Shrinkage of a site's mean towards that of all, and of a group's towards its site's, in changes.
const SHRINKAGE_GROUP: f64 = 2.0;

/// The posterior Gamma(a, b) of a page's rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct PagePosterior {
    /// Shape.
    pub(super) a: f32,
    /// Rate parameter, in ticks of clock time.
    pub(super) b: f32,
}

impl PagePosterior {
    /// The posterior of a page with these statistics in a group with this mean rate.
    #[inline]
    pub(super) fn new(changes: f32, exposure: f32, group_rate: f32) -> Self {
        Self { a: PRIOR_SHAPE + changes, b: PRIOR_SHAPE / group_rate + exposure }
    }

    /// Posterior mean of the rate.
    #[inline]
    pub(super) fn mean(self) -> f32 {
        self.a / self.b
    }

    /// Expected changes in `clock_time`: −ln E[e^-θx] = a ln(1 + x/b).
    #[inline]
    pub(super) fn exposure(self, clock_time: f32) -> f32 {
        let ratio = clock_time / self.b;
        // The sum loses digits here; the series does not.
        self.a
            * if ratio < 0.01 {
                ratio * (1.0 - ratio * (0.5 - ratio * (1.0 / 3.0 - 0.25 * ratio)))
            } else {
                ln(1.0 + ratio)
            }
    }
}

/// What a visit found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Finding {
    /// No change.
    Unchanged,
    /// A change at any time since the last visit.
    Changed,
    /// The last change happened after this clock time, and none since.
    ChangedAt(f32),
}

/// The discounted statistics of a page after one more visit.
pub(super) fn after_visit(
    (changes, exposure): (f32, f32),
    posterior: PagePosterior,
    clock_time: f32,
    discount: f32,
    finding: Finding,
) -> (f32, f32) {
    let rate = posterior.mean();
    let new_changes = match finding {
        Finding::Unchanged => 0.0,
        Finding::Changed => changes_given_changed(f64::from(rate * clock_time)) as f32,
        // One, and before it the expected number.
        Finding::ChangedAt(until_change) => 1.0 + rate * until_change.min(clock_time),
    };
    (changes * discount + new_changes, exposure * discount + clock_time)
}

/// The mean rates of all groups, and the sums that they come from.
#[derive(Debug, Default)]
pub(super) struct GroupRates {
    all: Sums,
    sites: Vec<Sums>,
    groups: Vec<Sums>,
    rates: Vec<f32>,
    log_rates: Vec<f32>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    changes: f64,
    exposure: f64,
}

impl Sums {
    fn add(&mut self, changes: f64, exposure: f64) {
        self.changes += changes;
        self.exposure += exposure;
    }

    /// The mean rate, shrunk towards `parent` with the weight of `shrinkage` changes. Rounding may leave sums
    /// below zero.
    fn rate(self, shrinkage: f64, parent: f64) -> f64 {
        (shrinkage + self.changes.max(0.0)) / (shrinkage / parent + self.exposure.max(0.0))
    }
}

impl GroupRates {
    /// Makes room for sites and groups.
    pub(super) fn grow(&mut self, sites: usize, site_of_group: &[u32]) {
        self.sites.resize(sites, Sums::default());
        self.groups.resize(site_of_group.len(), Sums::default());
        let known = self.rates.len();
        self.rates.resize(site_of_group.len(), 0.0);
        self.log_rates.resize(site_of_group.len(), 0.0);
        for (group, site) in site_of_group.iter().enumerate().skip(known) {
            self.settle_group(group, *site as usize);
        }
    }

    /// The mean rate of a group, in changes per tick of its clock.
    #[inline]
    pub(super) fn rate(&self, group: usize) -> f32 {
        self.rates[group]
    }

    /// The logarithm of the mean rate of a group.
    #[inline]
    pub(super) fn log_rate(&self, group: usize) -> f32 {
        self.log_rates[group]
    }

    /// Adds to the sums what a page's statistics grew by; may be negative.
    pub(super) fn add(&mut self, group: usize, site: usize, changes: f32, exposure: f32) {
        let (changes, exposure) = (f64::from(changes), f64::from(exposure));
        self.all.add(changes, exposure);
        self.sites[site].add(changes, exposure);
        self.groups[group].add(changes, exposure);
    }

    /// Recomputes the mean rate of one group from its sums, its site's and those of all.
    pub(super) fn settle_group(&mut self, group: usize, site: usize) {
        let all = self.all.rate(SHRINKAGE_ALL, FIRST_RATE);
        let site = self.sites[site].rate(SHRINKAGE_GROUP, all);
        self.rates[group] = self.groups[group].rate(SHRINKAGE_GROUP, site) as f32;
        self.log_rates[group] = ln(self.rates[group]);
    }

    /// Recomputes all mean rates from the top down.
    pub(super) fn settle(&mut self, site_of_group: &[u32]) {
        let all = self.all.rate(SHRINKAGE_ALL, FIRST_RATE);
        let sites: Vec<f64> = self.sites.iter().map(|sums| sums.rate(SHRINKAGE_GROUP, all)).collect();
        self.rates.clear();
        let groups = self.groups.iter().zip(site_of_group);
        self.rates
            .extend(groups.map(|(sums, site)| sums.rate(SHRINKAGE_GROUP, sites[*site as usize]) as f32));
        self.log_rates.clear();
        self.log_rates.extend(self.rates.iter().map(|rate| ln(*rate)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_without_visits_has_the_rate_of_its_group() {
        let posterior = PagePosterior::new(0.0, 0.0, 0.2);
        assert!((posterior.mean() - 0.2).abs() < 1e-6);
    }

    #[test]
    fn changes_raise_the_rate_and_quiet_lowers_it() {
        let start = PagePosterior::new(0.0, 0.0, 0.2);
        let (changes, exposure) = after_visit((0.0, 0.0), start, 5.0, 1.0, Finding::Changed);
        assert!(PagePosterior::new(changes, exposure, 0.2).mean() > 0.2);
        let (changes, exposure) = after_visit((0.0, 0.0), start, 5.0, 1.0, Finding::Unchanged);
        assert!(PagePosterior::new(changes, exposure, 0.2).mean() < 0.2);
    }

    #[test]
    fn a_quiet_group_pulls_its_rate_down_but_not_that_of_another_site() {
        let mut rates = GroupRates::default();
        rates.grow(2, &[0, 0, 1]);
        rates.add(0, 0, 0.0, 500.0);
        rates.add(2, 1, 50.0, 500.0);
        rates.settle(&[0, 0, 1]);
        assert!(rates.rate(0) < rates.rate(1));
        assert!(rates.rate(1) < rates.rate(2));
    }
}
