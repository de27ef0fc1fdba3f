//! The rates of many pages from a history of their visits.
//!
//! A visit to a page finds it changed since the visit before, or not. Visits may stand in any order. The
//! first visit to a page has none before it and tells nothing of its rate; visits at the same time count as
//! one, which found a change if any of them did.
//!
//! Each page gets the posterior of its rate over classes of rates, under a prior that is learned from all
//! pages ([`super::shared_prior`]), so that a page that was never or always seen to change, or seen once
//! only, has a sensible rate too.
//!
//! # Promises
//! - The order of the visits does not count.
//! - Rates are finite and above zero.

use super::bayes::{ClassEvidence, RateClasses};
use super::rate::{Confidence, RateInterval};
use super::shared_prior::{OUTLOOKS, RateBelief, learn_prior, spaced_classes};
use crate::units::{ChangesPerDay, Days, SECONDS_PER_DAY};

/// Classes of rates: neighbours differ by about a tenth when rates span four powers of ten.
const CLASSES: usize = 96;

/// The part of all intervals that may be too short for the fastest class: a page fetched twice within seconds
/// by accident must not stretch the classes.
const SHORT_INTERVALS_PART: f64 = 0.01;

/// How many pages an even prior is worth, as the default policy has it.
const PRIOR_STRENGTH: f64 = 5.0;

/// How often the prior is computed anew from posteriors that use it.
const PRIOR_ROUNDS: usize = 30;

/// As many pages as the prior is learned from, evenly spread over the table.
const PRIOR_PAGES_MAX: usize = 10_000;

/// One visit to a page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PageVisit {
    /// The page, by its number: every number below the greatest has a visit too.
    pub page: u32,
    /// Whether the visit found the page changed since the visit before.
    pub found_change: bool,
    /// When, in seconds since any moment that is the same for all.
    pub seconds: f64,
}

/// What the rates were estimated from. All columns are in the order of the pages.
#[derive(Clone, Debug, Default)]
pub struct RateEvidence {
    /// Between which rates each rate lies with the confidence that was asked for.
    pub intervals: Vec<RateInterval>,
    /// Equally likely rates of each page: the same number of columns for all pages.
    pub outlooks: [Vec<ChangesPerDay>; OUTLOOKS],
    /// Intervals between two visits to each page.
    pub intervals_seen: Vec<u32>,
    /// How many of them held a change.
    pub changes_seen: Vec<u32>,
}

impl RateEvidence {
    fn push(&mut self, belief: &RateBelief, visits: &[PageVisit]) {
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        self.intervals.push(belief.interval);
        self.outlooks.iter_mut().zip(belief.outlooks).for_each(|(rates, rate)| rates.push(rate));
        self.intervals_seen.push(count(intervals(visits).count()));
        self.changes_seen.push(count(intervals(visits).filter(|interval| interval.found_change).count()));
    }

    /// What all pages come to.
    pub fn totals(&self) -> EvidenceTotals {
        let sum = |counts: &[u32]| counts.iter().map(|count| *count as usize).sum();
        EvidenceTotals {
            intervals: sum(&self.intervals_seen),
            changes: sum(&self.changes_seen),
            pages_visited_once: self.intervals_seen.iter().filter(|count| **count == 0).count(),
        }
    }
}

/// How much was seen of all pages together.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct EvidenceTotals {
    /// Intervals between two visits.
    pub intervals: usize,
    /// Those of them that held a change.
    pub changes: usize,
    /// Pages without an interval.
    pub pages_visited_once: usize,
}

/// No page was visited at two times: a rate of change shows only between two visits.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct NoInterval;

/// The mean rate of each page, and what is known of it beside. After each page `progress` is called.
pub fn rates_from_visits(
    mut visits: Vec<PageVisit>,
    confidence: Confidence,
    mut progress: impl FnMut(),
) -> Result<(Vec<ChangesPerDay>, RateEvidence), NoInterval> {
    visits.sort_unstable_by(|a, b| a.page.cmp(&b.page).then(a.seconds.total_cmp(&b.seconds)));
    visits.dedup_by(|later, earlier| {
        let same = later.page == earlier.page && later.seconds == earlier.seconds;
        earlier.found_change |= same && later.found_change;
        same
    });
    let of_pages: Vec<&[PageVisit]> = visits.chunk_by(|a, b| a.page == b.page).collect();
    if visits.len() == of_pages.len() {
        return Err(NoInterval);
    }
    let classes = learned_classes(&of_pages);
    let mut change_rates = Vec::with_capacity(of_pages.len());
    let mut found = RateEvidence::default();
    for page in &of_pages {
        let belief = RateBelief::new(&evidence(page, &classes), &classes, confidence);
        change_rates.push(belief.mean);
        found.push(&belief, page);
        progress();
    }
    Ok((change_rates, found))
}

/// Classes of rates that suit these visits, with the prior that the pages teach. Some page has two visits.
fn learned_classes(of_pages: &[&[PageVisit]]) -> RateClasses {
    let mut lengths: Vec<Days> =
        of_pages.iter().flat_map(|page| intervals(page)).map(|interval| interval.length).collect();
    let short = (SHORT_INTERVALS_PART * lengths.len() as f64) as usize;
    let (_, short_interval, _) = lengths.select_nth_unstable_by(short, |a, b| a.get().total_cmp(&b.get()));
    let longest_history = of_pages
        .iter()
        .map(|page| days_between(&page[0], &page[page.len() - 1]))
        .fold(Days::ZERO, |longest, days| if longest < days { days } else { longest });
    let classes = spaced_classes(*short_interval, longest_history, CLASSES);
    let step = of_pages.len().div_ceil(PRIOR_PAGES_MAX);
    let pages: Vec<_> = of_pages
        .iter()
        .step_by(step)
        .filter(|visits| visits.len() > 1)
        .map(|visits| evidence(visits, &classes))
        .collect();
    learn_prior(classes, &pages, PRIOR_STRENGTH, PRIOR_ROUNDS)
}

/// What the visits of one page say about each class.
fn evidence(visits: &[PageVisit], classes: &RateClasses) -> ClassEvidence<[f64; CLASSES]> {
    let mut evidence = ClassEvidence::from_parts(Days::ZERO, [0.0; CLASSES]);
    intervals(visits).for_each(|interval| evidence.observe(classes, interval.length, interval.found_change));
    evidence
}

/// The time between two visits to a page.
struct Interval {
    length: Days,
    found_change: bool,
}

/// The intervals between the visits of one page, which are in the order of time.
fn intervals(visits: &[PageVisit]) -> impl Iterator<Item = Interval> {
    visits
        .windows(2)
        .map(|pair| Interval { length: days_between(&pair[0], &pair[1]), found_change: pair[1].found_change })
}

fn days_between(earlier: &PageVisit, later: &PageVisit) -> Days {
    Days::new((later.seconds - earlier.seconds) / SECONDS_PER_DAY)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A day's visit to a page.
    fn visit(page: u32, day: f64, found_change: bool) -> PageVisit {
        PageVisit { page, found_change, seconds: day * SECONDS_PER_DAY }
    }

    fn daily(page: u32, found_change: impl Fn(u32) -> bool) -> impl Iterator<Item = PageVisit> {
        (0..30).map(move |day| visit(page, f64::from(day), found_change(day)))
    }

    fn estimate(visits: Vec<PageVisit>) -> Result<(Vec<ChangesPerDay>, RateEvidence), NoInterval> {
        rates_from_visits(visits, Confidence::new(0.95), || {})
    }

    fn rates(visits: Vec<PageVisit>) -> Vec<f64> {
        estimate(visits).expect("an estimate").0.iter().map(|rate| rate.get()).collect()
    }

    #[test]
    fn pages_never_always_sometimes_and_not_seen_to_change_have_sensible_rates() {
        let visits = daily(0, |_| false).chain(daily(1, |_| true)).chain(daily(2, |day| day % 3 == 0));
        let (rates, evidence) = estimate(visits.chain([visit(3, 5.0, true)]).collect()).expect("an estimate");
        assert!(evidence.intervals.iter().zip(&rates).all(|(interval, rate)| interval.contains(*rate)));
        let rates: Vec<f64> = rates.iter().map(|rate| rate.get()).collect();
        assert!(0.0 < rates[0] && rates[0] < 0.05, "{rates:?}");
        assert!(1.0 < rates[1] && rates[1] < 10.0, "{rates:?}");
        // A page found changed at a third of its daily visits changes -ln(2/3) = 0.41 times a day.
        assert!((0.3..0.5).contains(&rates[2]), "{rates:?}");
        assert!(rates[0] < rates[3] && rates[3] < rates[1], "{rates:?}");
        assert_eq!(evidence.intervals_seen, [29, 29, 29, 0]);
        assert_eq!(evidence.changes_seen, [0, 29, 9, 0]);
        let totals = EvidenceTotals { intervals: 87, changes: 38, pages_visited_once: 1 };
        assert_eq!(evidence.totals(), totals);
    }

    #[test]
    fn the_order_of_rows_does_not_count() {
        let visits: Vec<PageVisit> =
            daily(0, |day| day % 4 == 0).chain(daily(1, |day| day % 7 == 0)).collect();
        let forward = rates(visits);
        let visits: Vec<PageVisit> =
            daily(0, |day| day % 4 == 0).chain(daily(1, |day| day % 7 == 0)).collect();
        let backward = rates(visits.into_iter().rev().collect());
        assert_eq!(forward, backward);
    }

    #[test]
    fn visits_at_the_same_time_are_one() {
        let twice =
            vec![visit(0, 0.0, false), visit(0, 1.0, false), visit(0, 1.0, true), visit(0, 1.0, false)];
        let once = vec![visit(0, 0.0, false), visit(0, 1.0, true)];
        assert_eq!(rates(twice), rates(once));
    }

    #[test]
    fn histories_without_any_change_or_without_rest_have_finite_rates() {
        for found_change in [false, true] {
            let rates = rates(daily(0, |_| found_change).collect());
            assert!(rates[0] > 0.0 && rates[0].is_finite(), "{rates:?}");
        }
    }

    #[test]
    fn a_rate_needs_two_visits() {
        assert!(estimate(vec![visit(0, 1.0, true), visit(1, 1.0, true)]).is_err());
        assert!(estimate(vec![visit(0, 1.0, true), visit(0, 1.0, true)]).is_err());
    }
}
