//! Change rates estimated from a history of visits.
//!
//! A row says when a page was visited and whether the visit found it changed since the visit before. Rows may
//! be in any order. The first visit to a page has none before it and says nothing about its rate. Visits at
//! the same time count as one, which found a change if any of them did.
//!
//! Each page gets the posterior of its rate over classes of rates, under a prior learned from all pages. This
//! gives a sensible rate also to a page that changed never, changed always or was visited only once.

use anyhow::bail;
use freshet_theory::estimate::bayes::{ClassEvidence, RateClasses};
use freshet_theory::estimate::rate::{Confidence, RateInterval};
use freshet_theory::estimate::shared_prior::{OUTLOOKS, RateBelief, learn_prior, spaced_classes};
use freshet_theory::units::{ChangesPerDay, Days};
use serde_json::{Value, json};

use super::columns::{Column, Fault, Row};
use super::names::{NameIndex, Seen};
use super::pages::{AttributeColumns, PageTable, check_page_count};
use super::progress;
use super::quantity::{grouped, plural};

const SECONDS_PER_DAY: f64 = 86_400.0;

/// Number of rate classes. Neighbouring classes differ by about a tenth when rates span four powers of ten.
const CLASSES: usize = 96;

/// Share of all intervals that may be too short for the fastest class. A page fetched twice within seconds by
/// accident must not stretch the classes.
const SHORT_INTERVALS_PART: f64 = 0.01;

/// Weight of the even prior, counted in pages. The default policy uses the same.
const PRIOR_STRENGTH: f64 = 5.0;

/// Rounds in which the prior is recomputed from the posteriors that use it.
const PRIOR_ROUNDS: usize = 30;

/// Maximum number of pages that the prior is learned from, evenly spread over the table.
const PRIOR_PAGES_MAX: usize = 10_000;

/// Confidence of the intervals around rates.
pub(super) const CONFIDENCE: f64 = 0.95;

/// What the rates were estimated from. All columns are in page order.
#[derive(Default)]
pub(super) struct Evidence {
    /// The interval that holds each rate with probability [`CONFIDENCE`].
    pub(super) intervals: Vec<RateInterval>,
    /// Equally likely rates of each page: one column per outlook, so every page has the same number.
    pub(super) outlooks: [Vec<ChangesPerDay>; OUTLOOKS],
    /// Number of intervals between two visits, for each page.
    pub(super) intervals_seen: Vec<u32>,
    /// Number of these intervals that held a change.
    pub(super) changes_seen: Vec<u32>,
}

impl Evidence {
    fn push(&mut self, belief: &RateBelief, visits: &[Visit]) {
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        self.intervals.push(belief.interval);
        self.outlooks.iter_mut().zip(belief.outlooks).for_each(|(rates, rate)| rates.push(rate));
        self.intervals_seen.push(count(intervals(visits).count()));
        self.changes_seen.push(count(intervals(visits).filter(|interval| interval.found_change).count()));
    }

    /// One sentence on where the rates come from.
    pub(super) fn sentence(&self) -> String {
        let (intervals, changes, unseen) = self.totals();
        let unseen = match unseen {
            0 => String::new(),
            _ => format!(
                "; {} {} visited once only",
                grouped(unseen),
                plural(unseen, "page was", "pages were")
            ),
        };
        format!(
            "rates estimated from {} intervals between visits, {} of them with a change{unseen}",
            grouped(intervals),
            grouped(changes)
        )
    }

    /// The same as JSON.
    pub(super) fn json(&self) -> Value {
        let (intervals, changes, unseen) = self.totals();
        json!({"intervals": intervals, "intervals_with_change": changes, "pages_visited_once": unseen})
    }

    /// Totals: intervals, intervals with a change, pages without an interval.
    fn totals(&self) -> (usize, usize, usize) {
        let sum = |counts: &[u32]| counts.iter().map(|count| *count as usize).sum();
        let unseen = self.intervals_seen.iter().filter(|count| **count == 0).count();
        (sum(&self.intervals_seen), sum(&self.changes_seen), unseen)
    }
}

/// One visit to a page.
struct Visit {
    page: u32,
    found_change: bool,
    /// Seconds since 1970.
    time: f64,
}

/// Collects the visits of a table.
pub(super) struct VisitRows {
    urls: NameIndex,
    attributes: AttributeColumns,
    visits: Vec<Visit>,
}

impl VisitRows {
    /// Starts without visits.
    pub(super) fn new(attributes: AttributeColumns) -> Self {
        Self { urls: NameIndex::default(), attributes, visits: Vec::new() }
    }

    /// Adds the visit of one row. Weight, host and cost of a page are taken from its first row.
    pub(super) fn take(&mut self, row: &Row<'_>) -> Result<(), Fault> {
        let url = row.text(Column::Url)?;
        check_page_count(self.urls.len())?;
        let page = match self.urls.add(url) {
            Seen::First(page) => {
                self.attributes.push(row, url)?;
                page
            }
            Seen::Again(page) => page,
        };
        let (time, found_change) = (row.seconds(Column::Time)?, row.flag(Column::Changed)?);
        self.visits.push(Visit { page, found_change, time });
        Ok(())
    }

    /// Estimates the rates and returns the pages, once all rows are in.
    pub(super) fn finish(self) -> anyhow::Result<PageTable> {
        let (change_rates, evidence) = estimate(self.visits)?;
        Ok(PageTable {
            urls: self.urls.finish(),
            change_rates,
            attributes: self.attributes.finish(),
            evidence: Some(evidence),
        })
    }
}

/// Estimates the mean rate of each page, with the evidence for it. Every page has at least one visit.
fn estimate(mut visits: Vec<Visit>) -> anyhow::Result<(Vec<ChangesPerDay>, Evidence)> {
    visits.sort_unstable_by(|a, b| a.page.cmp(&b.page).then(a.time.total_cmp(&b.time)));
    visits.dedup_by(|later, earlier| {
        let same = later.page == earlier.page && later.time == earlier.time;
        earlier.found_change |= same && later.found_change;
        same
    });
    let of_pages: Vec<&[Visit]> = visits.chunk_by(|a, b| a.page == b.page).collect();
    if visits.len() == of_pages.len() {
        bail!("no page was visited at two times: a rate of change shows only between two visits");
    }
    let classes = learned_classes(&of_pages);
    let progress = progress::steps("estimating rates", of_pages.len() as u64);
    let mut change_rates = Vec::with_capacity(of_pages.len());
    let mut found = Evidence::default();
    for page in &of_pages {
        let belief = RateBelief::new(&evidence(page, &classes), &classes, Confidence::new(CONFIDENCE));
        change_rates.push(belief.mean);
        found.push(&belief, page);
        progress.inc(1);
    }
    progress.finish_and_clear();
    Ok((change_rates, found))
}

/// Rate classes that suit these visits, with the prior learned from the pages. Some page has two visits.
fn learned_classes(of_pages: &[&[Visit]]) -> RateClasses {
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
fn evidence(visits: &[Visit], classes: &RateClasses) -> ClassEvidence<[f64; CLASSES]> {
    let mut evidence = ClassEvidence::from_parts(Days::ZERO, [0.0; CLASSES]);
    intervals(visits).for_each(|interval| evidence.observe(classes, interval.length, interval.found_change));
    evidence
}

/// The time between two visits to a page.
struct Interval {
    length: Days,
    found_change: bool,
}

/// The intervals between the visits of one page, given in time order.
fn intervals(visits: &[Visit]) -> impl Iterator<Item = Interval> {
    visits
        .windows(2)
        .map(|pair| Interval { length: days_between(&pair[0], &pair[1]), found_change: pair[1].found_change })
}

fn days_between(earlier: &Visit, later: &Visit) -> Days {
    Days::new((later.time - earlier.time) / SECONDS_PER_DAY)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A visit to a page on a day.
    fn visit(page: u32, day: f64, found_change: bool) -> Visit {
        Visit { page, found_change, time: day * SECONDS_PER_DAY }
    }

    fn daily(page: u32, found_change: impl Fn(u32) -> bool) -> impl Iterator<Item = Visit> {
        (0..30).map(move |day| visit(page, f64::from(day), found_change(day)))
    }

    fn rates(visits: Vec<Visit>) -> Vec<f64> {
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
    }

    #[test]
    fn the_order_of_rows_does_not_count() {
        let visits: Vec<Visit> = daily(0, |day| day % 4 == 0).chain(daily(1, |day| day % 7 == 0)).collect();
        let forward = rates(visits);
        let visits: Vec<Visit> = daily(0, |day| day % 4 == 0).chain(daily(1, |day| day % 7 == 0)).collect();
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
