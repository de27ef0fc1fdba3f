//! What one visit tells a policy, and how a policy is driven.
//!
//! A policy spends the downloads of a cycle step by step, learning from this cycle's samples (the texts **sample** and **neighbours**). It is
//! a machine without a clock or a network: the driver tells it what was discovered, asks it for pages, visits them, and
//! tells it what came back. The crawler drives it with real visits, the lab with recorded ones. A steady policy is driven in the
//! same way with many short cycles, so that a visit happens near its date.
//!
//! # Promises
//! - A visit that failed teaches nothing about changes, and its page is not chosen again in the same cycle.
//! - No more pages of a site are chosen at a time than the catalogue has room for ([`Catalogue::room`]).
//! - A page that was retired is never chosen again.

use freshet_theory::units::{ChangesPerDay, Days};

use super::catalogue::{Catalogue, PageId};

/// What a visit found, compared with our copy.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Outcome {
    /// The page is as our copy has it.
    Unchanged,
    /// The page differs from our copy.
    Changed,
    /// The page is no longer there.
    Gone,
    /// The page could not be had: no answer in time, or an error of the server. Whether it has changed is not known.
    Failed,
}

impl Outcome {
    /// Whether our copy was out of date.
    pub fn is_change(self) -> bool {
        matches!(self, Self::Changed | Self::Gone)
    }

    /// Whether the visit tells if our copy was out of date.
    pub fn is_known(self) -> bool {
        self != Self::Failed
    }
}

/// One visit, as a policy sees it.
#[derive(Clone, Copy, Debug)]
pub struct Observation {
    /// The page that was visited.
    pub page: PageId,
    /// When, in days since the crawl began.
    pub time: Days,
    /// What was found.
    pub outcome: Outcome,
}

/// Why a page is visited when it is visited.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Explanation {
    /// How often the page changes, at the usual speed of its clocks.
    pub change_rate: ChangesPerDay,
    /// The rate is above this with 97.5% probability.
    pub change_rate_low: ChangesPerDay,
    /// The rate is below this with 97.5% probability.
    pub change_rate_high: ChangesPerDay,
    /// Probability that the page has changed since its last visit.
    pub changed_probability: f64,
    /// What a visit is worth now.
    pub index: f64,
    /// What a visit must be worth to be made.
    pub threshold: f64,
    /// How fast pages of its directory have changed since its last visit, beside what is usual for them: one if as usual.
    pub directory_clock: f64,
    /// The same of its site.
    pub site_clock: f64,
    /// Whether its site has proved to tell truly when its pages change.
    pub dates_are_believed: bool,
    /// When its next visit is expected, from now; none if not within a hundred cycles.
    pub next_visit_in: Option<Days>,
}

/// How well the copy is believed to stand, with the standard errors of what is believed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CopyEstimate {
    /// Part of the copies that is up to date.
    pub freshness: f64,
    /// Its standard error.
    pub freshness_error: f64,
    /// Mean time since copies went out of date, zero for those that are up to date.
    pub age: Days,
    /// Its standard error.
    pub age_error: Days,
    /// Copies that were looked at for it.
    pub copies: usize,
}

/// Decides which pages to download. The calls come in this order, cycle after cycle:
/// `discover` (when there are new pages), `begin_cycle`, then `choose` and `learn` in turns until the budget is spent or
/// nothing is chosen, then `end_cycle`. The other calls may come at any time.
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
    /// The pages from `first` to the end of the catalogue are new; each was copied at `now`.
    fn discover(&mut self, catalogue: &Catalogue, first: PageId, now: Days);

    /// A cycle with `budget` downloads begins.
    fn begin_cycle(&mut self, catalogue: &Catalogue, now: Days, budget: usize);

    /// Appends to `chosen` at most `room` pages to download next, each at most once a cycle. All of them are visited
    /// and told to [`Policy::learn`] before the next call. No page means that the policy wants no more in this cycle.
    fn choose(&mut self, catalogue: &Catalogue, room: usize, chosen: &mut Vec<PageId>);

    /// What visits found, in the order of their times: those to the chosen pages, and any others, within a cycle or between
    /// two. [`Observation::time`] says when each was made.
    fn learn(&mut self, catalogue: &Catalogue, observations: &[Observation]);

    /// What a visit found that was made because something said that the page had changed. It tells how often this page
    /// changes, but nothing of others: pages that had not changed were not visited. To policies that make no difference it
    /// is a visit like others.
    fn learn_prompted(&mut self, catalogue: &Catalogue, observation: &Observation) {
        self.learn(catalogue, std::slice::from_ref(observation));
    }

    /// What a visit found, and when the page says that it last changed. Dates may be false: whoever uses them finds out whom to
    /// believe. Policies of the texts and of peers know only visits.
    fn learn_dated(&mut self, catalogue: &Catalogue, observation: &Observation, _date: Days) {
        self.learn(catalogue, std::slice::from_ref(observation));
    }

    /// Pages are known to be as our copies have them at a moment, without a visit. Policies of the texts and of peers know only visits.
    fn confirm(&mut self, _catalogue: &Catalogue, _pages: &[PageId], _time: Days) {}

    /// Something that has proved right before says that pages have changed since our copies, which need not be reason enough to visit them. Policies of the texts
    /// and of peers know only visits.
    fn tell_changed(&mut self, _pages: &[PageId]) {}

    /// Whether a page that is known to have changed is worth a visit now, beside what is visited else. Policies of the texts and of peers
    /// know only visits.
    fn is_worth_if_changed(&self, _catalogue: &Catalogue, _page: PageId, _now: Days) -> bool {
        false
    }

    /// Whether a page that is known to have changed and to stay as it is for so long is worth a visit. Who knows only visits finds none worth it.
    fn is_worth_if_fresh_for(&self, _span: Days) -> bool {
        false
    }

    /// The cycle is over.
    fn end_cycle(&mut self, catalogue: &Catalogue);

    /// A page has left the collection: it is never chosen again, and its number is not used again. To policies that make no
    /// difference it is gone.
    fn retire(&mut self, catalogue: &Catalogue, page: PageId, now: Days) {
        self.learn(catalogue, &[Observation { page, time: now, outcome: Outcome::Gone }]);
    }

    /// The importance or the cost of a page has changed in the catalogue.
    fn reweigh(&mut self, _catalogue: &Catalogue, _page: PageId) {}

    /// Why a page is visited when it is visited; none if the policy has no opinion of single pages.
    fn explain(&self, _catalogue: &Catalogue, _page: PageId, _now: Days) -> Option<Explanation> {
        None
    }

    /// How well the copy is believed to stand; none if the policy has no opinion of it.
    fn copy_estimate(&self, _catalogue: &Catalogue, _now: Days) -> Option<CopyEstimate> {
        None
    }
}
