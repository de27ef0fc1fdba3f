//! Converts the visits of a crawl into a history.
//!
//! A visit finds *that* a page changed since the visit before, not when, nor how often. The rule: a change is
//! placed in the middle between the two visits, so its error is at most half their distance. If the server
//! dated the change and is believed (see [`freshet_crawl::past`]), it is placed at that date. Several changes
//! between two visits are one. [`Blur`] reports how much precision this loses.
//!
//! A page exists from the first visit that saw it. Pages that were seen only once say nothing about change
//! and are left out. Nothing is known about sweeps: no change is part of one. Only links between pages of one
//! site are kept, as in every recording.
//!
//! # Promises
//! - Every event lies between the two visits that it is known from.
//! - A crawl without second visits is an error that says what to do.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use freshet_crawl::past::{Finding, Found, Past, PastPage};
use freshet_store::all_urls::site_of;
use freshet_theory::units::{MILLIS_PER_DAY, SECONDS_PER_DAY};

use super::recording::{Event, EventKind, RecordedPage, RecordedSite, Recording};

/// The family of sites whose history comes from a crawl.
pub const FAMILY: &str = "crawl";

/// Minimum number of download cycles that must fit into the window.
const CYCLES_MIN: f64 = 12.0;

/// Precision with which a crawl knows when pages changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Blur {
    /// Number of visits that saw the page's content.
    pub visits: usize,
    /// Number of pages left out because they were seen only once.
    pub seen_once: usize,
    /// Number of changes, deletions and returns.
    pub events: usize,
    /// Number of events that the server dated.
    pub dated: usize,
    /// Median time between two visits of a page, in days.
    pub visit_gap_days: f64,
    /// Median time between the two visits around an event, in days. 0 without events.
    pub event_gap_days: f64,
}

/// The history of a crawl.
#[derive(Clone, Debug)]
pub struct CrawlHistory {
    /// The history.
    pub recording: Recording,
    /// Its precision.
    pub blur: Blur,
}

impl CrawlHistory {
    /// Converts the past of a crawl.
    pub fn of(past: &Past) -> Result<Self> {
        ensure!(
            !past.pages.is_empty(),
            "no page of this crawl was visited twice yet ({} once): a history needs second visits; let the \
             crawl run on",
            past.seen_once
        );
        let mut sites: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (index, page) in past.pages.iter().enumerate() {
            sites.entry(site_of(&page.url)).or_default().push(index);
        }
        let mut place = vec![(0, 0); past.pages.len()];
        for (site, pages) in sites.values().enumerate() {
            pages.iter().enumerate().for_each(|(at, page)| place[*page] = (site, at));
        }
        let sites = sites.iter().enumerate().map(|(number, (name, pages))| {
            let linked = pages.iter().flat_map(|page| {
                past.pages[*page].links.iter().map(|to| (place[*page], place[*to as usize]))
            });
            let within = linked.filter(|(_, to)| to.0 == number);
            RecordedSite {
                name: (*name).to_owned(),
                family: FAMILY.to_owned(),
                start: pages.iter().map(|page| past.pages[*page].first_ms).min().unwrap_or(0) / 1000,
                end: pages.iter().map(|page| past.pages[*page].last_ms).max().unwrap_or(0) / 1000,
                commits: 0,
                head: String::new(),
                pages: pages.iter().map(|page| recorded(&past.pages[*page], name)).collect(),
                links: within.map(|(from, to)| (from.1, to.1)).collect(),
            }
        });
        let history = Self { recording: Recording { sites: sites.collect() }, blur: Blur::of(past) };
        ensure!(
            history.window_days() > 0.0,
            "this crawl has seen its pages for less than a second: a history needs second visits; let the \
             crawl run on"
        );
        Ok(history)
    }

    /// The length of the most useful window: the one for which the number of pages that exist when it opens,
    /// times its length, is largest.
    pub fn window_days(&self) -> f64 {
        let of_site = |site: &RecordedSite| -> Vec<i64> {
            site.pages.iter().map(|page| site.end - page.first_seen).collect()
        };
        let mut spans: Vec<i64> = self.recording.sites.iter().flat_map(of_site).collect();
        spans.sort_unstable_by(|one, other| other.cmp(one));
        let held = |(before, span): (i64, &i64)| ((before + 1).saturating_mul(*span), *span);
        let (_, span) = (0..).zip(&spans).map(held).max().unwrap_or((0, 0));
        span as f64 / SECONDS_PER_DAY
    }

    /// The shortest cycle length that the visits can resolve: their median distance, at most
    /// 1/12 of the window.
    pub fn cycle_days(&self, window_days: f64) -> f64 {
        self.blur.visit_gap_days.min(window_days / CYCLES_MIN)
    }
}

impl Blur {
    fn of(past: &Past) -> Self {
        let findings = || past.pages.iter().flat_map(|page| &page.findings);
        let mut gaps: Vec<i64> = findings().map(|finding| finding.by_ms - finding.after_ms).collect();
        gaps.sort_unstable();
        Self {
            visits: past.visits,
            seen_once: past.seen_once,
            events: gaps.len(),
            dated: findings().filter(|finding| finding.dated_ms.is_some()).count(),
            visit_gap_days: past.gap_ms_median as f64 / MILLIS_PER_DAY,
            event_gap_days: gaps.get(gaps.len() / 2).map_or(0.0, |gap| *gap as f64 / MILLIS_PER_DAY),
        }
    }
}

fn recorded(page: &PastPage, site: &str) -> RecordedPage {
    RecordedPage {
        path: page.url[site.len()..].to_owned(),
        first_seen: page.first_ms / 1000,
        // No page is known to have existed before the first visit.
        initial: true,
        size: page.bytes,
        moved_from: None,
        events: page.findings.iter().map(event).collect(),
    }
}

fn event(finding: &Finding) -> Event {
    let middle = finding.after_ms + (finding.by_ms - finding.after_ms) / 2;
    let kind = match finding.what {
        Found::Changed => EventKind::Modified,
        Found::Gone => EventKind::Deleted,
        Found::Moved => EventKind::MovedAway,
        Found::Back => EventKind::Recreated,
    };
    Event { time: finding.dated_ms.unwrap_or(middle) / 1000, kind, mass: false }
}

#[cfg(test)]
mod tests {
    use freshet_protocol::time;

    use super::*;
    use crate::history::{Mass, Tables, Window, World};

    const DAY: i64 = time::MILLIS_PER_DAY;

    fn finding(what: Found, after: i64, by: i64, dated: Option<i64>) -> Finding {
        Finding { what, after_ms: after * DAY, by_ms: by * DAY, dated_ms: dated.map(|dated| dated * DAY) }
    }

    fn page(url: &str, first: i64, last: i64, findings: Vec<Finding>, links: Vec<u32>) -> PastPage {
        PastPage {
            url: url.to_owned(),
            first_ms: first * DAY,
            last_ms: last * DAY,
            bytes: Some(5),
            findings,
            links,
        }
    }

    fn past() -> Past {
        let first = vec![finding(Found::Changed, 4, 8, None), finding(Found::Changed, 10, 20, Some(13))];
        let pages = vec![
            page("http://a.example/x", 1, 41, first, vec![1, 2]),
            page("http://a.example/y", 1, 40, vec![finding(Found::Gone, 20, 30, None)], vec![0]),
            page("http://b.example/", 39, 41, Vec::new(), vec![0]),
        ];
        Past { pages, seen_once: 4, visits: 30, gap_ms_median: 2 * DAY }
    }

    #[test]
    fn events_lie_in_the_middle_unless_the_server_dated_them() {
        let history = CrawlHistory::of(&past()).expect("there are second visits");
        let days = |page: &RecordedPage| -> Vec<i64> {
            page.events.iter().map(|event| event.time / time::SECONDS_PER_DAY).collect()
        };
        let pages = &history.recording.sites[0].pages;
        assert_eq!((days(&pages[0]), days(&pages[1])), (vec![6, 13], vec![25]));
        assert_eq!(history.blur.visit_gap_days, 2.0);
        assert_eq!((history.blur.events, history.blur.dated, history.blur.event_gap_days), (3, 1, 10.0));
    }

    #[test]
    fn links_within_a_site_are_kept() {
        let history = CrawlHistory::of(&past()).expect("there are second visits");
        assert_eq!(history.recording.sites[0].links, [(0, 1), (1, 0)]);
        assert_eq!(history.recording.sites[1].links, []);
    }

    #[test]
    fn the_window_is_the_one_that_holds_most_pages_for_long() {
        let history = CrawlHistory::of(&past()).expect("there are second visits");
        let days = history.window_days();
        assert_eq!(days, 40.0);
        assert_eq!(history.cycle_days(days), 2.0);
        let window = Window { family: None, days, mass: Mass::Keep, pages_per_site_max: None };
        let world = World::cut(&Tables::from(history.recording), &window).expect("two pages are there");
        assert_eq!(world.lives.len(), 2);
        assert_eq!(world.changes(0), [5.0, 12.0]);
    }

    #[test]
    fn a_crawl_without_second_visits_is_refused() {
        let past = Past { seen_once: 7, visits: 7, ..Past::default() };
        let error = CrawlHistory::of(&past).expect_err("there is nothing to learn").to_string();
        assert!(error.contains("visited twice") && error.contains('7'), "{error}");
    }
}
