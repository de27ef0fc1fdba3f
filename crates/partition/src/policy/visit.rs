//! The `Policy` trait, and the outcomes of visits that it learns from.
//!
//! A policy spends the downloads of a cycle step by step, learning from this cycle's samples (the texts
//! **sample** and **neighbours**). It has no clock and no network: the driver passes it the discovered pages,
//! asks it for pages to visit, visits them, and reports the outcomes. The crawler drives it with real visits,
//! the lab with recorded ones. A steady policy is driven in the same way with many short cycles, so that a
//! visit happens near its date.
//!
//! # Promises
//! - A failed visit teaches nothing about changes, and its page is not chosen again in the same cycle.
//! - No more pages of a site are chosen at a time than the catalogue has room for ([`Catalogue::room`]).
//! - A retired page is never chosen again.

use freshet_theory::units::{ChangesPerDay, Days};

use super::catalogue::{Catalogue, PageId};

/// What a visit found, compared with our copy.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Outcome {
    /// The page equals our copy.
    Unchanged,
    /// The page differs from our copy.
    Changed,
    /// The page is gone.
    Gone,
    /// The page could not be fetched: no answer in time, or a server error. It is unknown whether it has
    /// changed.
    Failed,
}

impl Outcome {
    /// Whether our copy was out of date.
    pub fn is_change(self) -> bool {
        matches!(self, Self::Changed | Self::Gone)
    }

    /// Whether the visit shows if our copy was out of date.
    pub fn is_known(self) -> bool {
        self != Self::Failed
    }
}

/// One visit, as a policy sees it.
#[derive(Clone, Copy, Debug)]
pub struct Observation {
    /// The page that was visited.
    pub page: PageId,
    /// When it was visited, in days since the crawl began.
    pub time: Days,
    /// What was found.
    pub outcome: Outcome,
}

/// Why a page is visited at its time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Explanation {
    /// Estimated rate of change of the page, at the usual speed of its clocks.
    pub change_rate: ChangesPerDay,
    /// The rate is above this with 97.5% probability.
    pub change_rate_low: ChangesPerDay,
    /// The rate is below this with 97.5% probability.
    pub change_rate_high: ChangesPerDay,
    /// Probability that the page has changed since its last visit.
    pub changed_probability: f64,
    /// The index: what a visit is worth now.
    pub index: f64,
    /// The index at which a page is visited.
    pub threshold: f64,
    /// Speed of its directory's clock since the page's last visit: how fast the pages of the directory have
    /// changed relative to their usual speed. 1 is the usual speed.
    pub directory_clock: f64,
    /// The same for its site.
    pub site_clock: f64,
    /// Whether the change dates of its site have proved true.
    pub dates_are_believed: bool,
    /// Expected time until the next visit; none if it is not within a hundred cycles.
    pub next_visit_in: Option<Days>,
}

/// Estimated freshness and age of the copy, with standard errors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CopyEstimate {
    /// Fraction of the copies that is up to date.
    pub freshness: f64,
    /// Its standard error.
    pub freshness_error: f64,
    /// Mean time since copies went out of date; zero for those that are up to date.
    pub age: Days,
    /// Its standard error.
    pub age_error: Days,
    /// Number of copies in the estimate's sample.
    pub copies: usize,
}

/// Decides which pages to download. The calls come in this order, cycle after cycle: `discover` (when there
/// are new pages), `begin_cycle`, then `choose` and `learn` in turns until the budget is spent or nothing is
/// chosen, then `end_cycle`. The other calls may come at any time.
///
/// # Examples
///
/// ```
/// use freshet_partition::policy::{Catalogue, Observation, Outcome, PageId, PolicyName, Setting, SiteId};
/// use freshet_theory::units::Days;
///
/// let mut catalogue = Catalogue::new();
/// for path in ["news/today", "news/archive", "about"] {
///     catalogue.add_page(SiteId(0), path);
/// }
/// let name: PolicyName = "greedy".parse()?;
/// let mut policy = name.build(&Setting { cycle: Days::new(1.0), budget_share: 0.7, seed: 1 });
/// policy.discover(&catalogue, PageId(0), Days::ZERO);
///
/// // One cycle with two downloads.
/// let now = Days::new(1.0);
/// policy.begin_cycle(&catalogue, now, 2);
/// let mut visits = 0;
/// while visits < 2 {
///     let mut chosen = Vec::new();
///     policy.choose(&catalogue, 2 - visits, &mut chosen);
///     if chosen.is_empty() {
///         break;
///     }
///     visits += chosen.len();
///     let visit = |page| Observation { page, time: now, outcome: Outcome::Changed };
///     policy.learn(&catalogue, &chosen.into_iter().map(visit).collect::<Vec<_>>());
/// }
/// policy.end_cycle(&catalogue);
/// assert_eq!(visits, 2);
/// # Ok::<(), freshet_partition::policy::PolicyNameError>(())
/// ```
pub trait Policy: Send {
    /// Adds the pages from `first` to the end of the catalogue; each was copied at `now`.
    fn discover(&mut self, catalogue: &Catalogue, first: PageId, now: Days);

    /// Begins a cycle with `budget` downloads.
    fn begin_cycle(&mut self, catalogue: &Catalogue, now: Days, budget: usize);

    /// Appends to `chosen` at most `room` pages to download next, each at most once a cycle. All of them are
    /// visited and reported to [`Policy::learn`] before the next call. If no page is appended, the policy
    /// wants no more in this cycle.
    fn choose(&mut self, catalogue: &Catalogue, room: usize, chosen: &mut Vec<PageId>);

    /// Reports the outcomes of visits, in the order of their times: visits to chosen pages and to any others,
    /// within a cycle or between two. [`Observation::time`] is the time of each visit.
    fn learn(&mut self, catalogue: &Catalogue, observations: &[Observation]);

    /// Reports a visit that was made because a signal said that the page had changed. It shows how often this
    /// page changes, but nothing about others: pages that had not changed were not visited. By default it is
    /// treated like any other visit.
    fn learn_prompted(&mut self, catalogue: &Catalogue, observation: &Observation) {
        self.learn(catalogue, std::slice::from_ref(observation));
    }

    /// Reports a visit with the date of the last change that the page states. Dates may be false: a policy
    /// that uses them learns which sites to believe. The policies of the papers and of other crawlers ignore
    /// the date.
    fn learn_dated(&mut self, catalogue: &Catalogue, observation: &Observation, _date: Days) {
        self.learn(catalogue, std::slice::from_ref(observation));
    }

    /// Reports pages that are known, without a visit, to equal our copies at `time`. The policies of the
    /// papers and of other crawlers ignore it.
    fn confirm(&mut self, _catalogue: &Catalogue, _pages: &[PageId], _time: Days) {}

    /// Reports pages that have changed since our copies, according to a signal that has proved right before.
    /// That alone need not be reason enough to visit them. The policies of the papers and of other crawlers
    /// ignore it.
    fn tell_changed(&mut self, _pages: &[PageId]) {}

    /// Whether a page that is known to have changed is worth a visit now, compared with other visits. Always
    /// false for the policies of the papers and of other crawlers.
    fn is_worth_if_changed(&self, _catalogue: &Catalogue, _page: PageId, _now: Days) -> bool {
        false
    }

    /// Whether a page that is known to have changed, and to stay unchanged for `span`, is worth a visit.
    /// Always false for the policies of the papers and of other crawlers.
    fn is_worth_if_fresh_for(&self, _span: Days) -> bool {
        false
    }

    /// Ends the cycle.
    fn end_cycle(&mut self, catalogue: &Catalogue);

    /// Removes a page from the collection: it is never chosen again, and its number is not reused. By default
    /// it is treated as gone.
    fn retire(&mut self, catalogue: &Catalogue, page: PageId, now: Days) {
        self.learn(catalogue, &[Observation { page, time: now, outcome: Outcome::Gone }]);
    }

    /// Called when the importance or the cost of a page has changed in the catalogue.
    fn reweigh(&mut self, _catalogue: &Catalogue, _page: PageId) {}

    /// Explains why a page is visited at its time; none if the policy has no estimates for single pages.
    fn explain(&self, _catalogue: &Catalogue, _page: PageId, _now: Days) -> Option<Explanation> {
        None
    }

    /// Estimates freshness and age of the copy; none if the policy has no estimates.
    fn copy_estimate(&self, _catalogue: &Catalogue, _now: Days) -> Option<CopyEstimate> {
        None
    }
}
