//! The past of a crawl: between which two visits each page appeared, changed, disappeared and came back.
//!
//! A visit shows how a page is, not since when: what it finds happened after the visit before it. The past
//! records both times of every finding, and leaves it to the reader to choose one between them. It adds the
//! server's own date of the last modification if it can be believed: if it lies between the two visits, and
//! the page's dates never moved while its content stayed the same.
//!
//! # Promises
//! - The findings of a page are in order of time, and their spans do not overlap.
//! - A visit that failed or was refused says nothing about the page.
//! - A page whose dates were wrong once has no dates.

use std::collections::HashMap;

use freshet_protocol::ids::{PageNumber, UrlId};
use freshet_protocol::time::Timestamp;
use freshet_store::error::StoreError;
use freshet_store::history::{VisitKind, VisitQuery};
use freshet_store::reader::Reader;
use serde::{Deserialize, Serialize};

use crate::last_run;

/// Maximum number of visits that are sorted. Each takes 24 bytes of memory, perhaps that of a running crawl.
const VISITS_MAX: u64 = 40_000_000;

/// What the visits of a crawl say about its pages.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Past {
    /// Pages that were seen at least twice.
    pub pages: Vec<PastPage>,
    /// Number of pages that were seen only once: nothing is known of their changes.
    pub seen_once: usize,
    /// Number of visits that showed how a page is.
    pub visits: usize,
    /// Median time between two such visits to a page, in milliseconds.
    pub gap_ms_median: i64,
}

/// What the visits of a crawl say about a page.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct PastPage {
    /// Its URL.
    pub url: String,
    /// First time it was seen, in milliseconds since 1970.
    pub first_ms: i64,
    /// Last time it was seen, in milliseconds since 1970.
    pub last_ms: i64,
    /// Size of our copy in bytes. None if the page was gone at the last visit.
    pub bytes: Option<u64>,
    /// What visits found, in order of time.
    pub findings: Vec<Finding>,
    /// Pages that it links to, as indices into [`Past::pages`].
    pub links: Vec<u32>,
}

/// Something that a visit found and the visit before it had not.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct Finding {
    /// What was found.
    pub what: Found,
    /// Time of the visit before, when it was not yet so, in milliseconds since 1970.
    pub after_ms: i64,
    /// Time of the visit that found it, in milliseconds since 1970.
    pub by_ms: i64,
    /// Time at which it happened according to the server, if that can be believed, in milliseconds since
    /// 1970.
    pub dated_ms: Option<i64>,
}

/// What a visit can find.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Found {
    /// Its content had changed.
    Changed,
    /// It was gone.
    Gone,
    /// It redirected to another URL.
    Moved,
    /// It was back.
    Back,
}

/// A visit that showed how a page is.
#[derive(Clone, Copy, Debug)]
struct Sighting {
    time_ms: i64,
    /// The Last-Modified of the response; `i64::MIN` if there was none.
    dated_ms: i64,
    kind: VisitKind,
}

/// Computes the past of a crawl, or says why it cannot.
pub fn past(reader: &Reader) -> Result<Result<Past, String>, StoreError> {
    let visits = reader.counters()?.visits;
    if visits > VISITS_MAX {
        return Ok(Err(format!(
            "the crawl has made {visits} visits, and at most {VISITS_MAX} can be put in order at once: \
             export a part of them with freshet export"
        )));
    }
    let mut sightings = sightings(reader)?;
    let mut past = Past::default();
    let (mut gaps, mut indices, mut numbers) = (Vec::new(), HashMap::new(), Vec::new());
    for entry in reader.pages() {
        let (number, record) = entry?;
        let Some(mut seen) = sightings.remove(&number) else { continue };
        seen.sort_by_key(|sighting| sighting.time_ms);
        past.visits += seen.len();
        if seen.len() < 2 {
            past.seen_once += 1;
            continue;
        }
        let Some(url) = reader.url(record.url)? else { continue };
        gaps.extend(seen.windows(2).map(|pair| pair[1].time_ms - pair[0].time_ms));
        indices.insert(record.url, past.pages.len() as u32);
        numbers.push(number);
        past.pages.push(PastPage {
            url: url.url,
            first_ms: seen[0].time_ms,
            last_ms: seen[seen.len() - 1].time_ms,
            bytes: (!record.gone).then_some(u64::from(record.body_bytes)),
            findings: findings(&seen),
            links: Vec::new(),
        });
    }
    past.gap_ms_median = median(&mut gaps);
    for (page, number) in past.pages.iter_mut().zip(numbers) {
        page.links = links(reader, number, &indices)?;
    }
    Ok(Ok(past))
}

/// All visits that showed how their page is, by page. Those before the first that saw the page there are left
/// out.
fn sightings(reader: &Reader) -> Result<HashMap<PageNumber, Vec<Sighting>>, StoreError> {
    let mut query = VisitQuery::all();
    if let Some(visible) = last_run::visible_until(reader)? {
        query.until = Timestamp::from_millis(visible.millis().saturating_add(1));
    }
    let mut sightings: HashMap<PageNumber, Vec<Sighting>> = HashMap::new();
    reader.for_each_visit(&query, |visit| {
        let row = visit.row;
        if let (Some(page), Some(_)) = (row.page, is_there(row.kind)) {
            sightings.entry(page).or_default().push(Sighting {
                time_ms: row.time.millis(),
                dated_ms: row.last_modified.map_or(i64::MIN, Timestamp::millis),
                kind: row.kind,
            });
        }
    })?;
    for seen in sightings.values_mut() {
        seen.sort_by_key(|sighting| sighting.time_ms);
        let before = seen.iter().take_while(|sighting| is_there(sighting.kind) == Some(false)).count();
        seen.drain(..before);
    }
    sightings.retain(|_, seen| !seen.is_empty());
    Ok(sightings)
}

/// Whether a visit saw the page there. None if it showed nothing.
fn is_there(kind: VisitKind) -> Option<bool> {
    match kind {
        VisitKind::New
        | VisitKind::Unchanged
        | VisitKind::NotModified
        | VisitKind::Changed
        | VisitKind::Back => Some(true),
        VisitKind::Gone | VisitKind::Moved => Some(false),
        VisitKind::Failed | VisitKind::Refused => None,
    }
}

/// What each sighting found that the one before had not. The first sighting saw the page there.
fn findings(seen: &[Sighting]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let dates_are_believed = !dates_lied(seen);
    let mut was_there = true;
    for pair in seen.windows(2) {
        let (before, now) = (pair[0], pair[1]);
        let what = match (was_there, now.kind) {
            (true, VisitKind::Changed | VisitKind::Back) => Some(Found::Changed),
            (true, VisitKind::Gone) => Some(Found::Gone),
            (true, VisitKind::Moved) => Some(Found::Moved),
            (false, kind) if is_there(kind) == Some(true) => Some(Found::Back),
            _ => None,
        };
        was_there = is_there(now.kind) == Some(true);
        let Some(what) = what else { continue };
        let is_between = before.time_ms < now.dated_ms && now.dated_ms < now.time_ms;
        let is_dated = what == Found::Changed && is_between && dates_are_believed;
        findings.push(Finding {
            what,
            after_ms: before.time_ms,
            by_ms: now.time_ms,
            dated_ms: is_dated.then_some(now.dated_ms),
        });
    }
    findings
}

/// Whether an unchanged page ever claimed to have been modified since the visit before.
fn dates_lied(seen: &[Sighting]) -> bool {
    seen.windows(2).any(|pair| {
        matches!(pair[1].kind, VisitKind::Unchanged | VisitKind::NotModified)
            && pair[0].time_ms < pair[1].dated_ms
    })
}

fn links(reader: &Reader, page: PageNumber, indices: &HashMap<UrlId, u32>) -> Result<Vec<u32>, StoreError> {
    Ok(reader.links(page)?.iter().filter_map(|target| indices.get(target).copied()).collect())
}

fn median(values: &mut [i64]) -> i64 {
    let middle = values.len() / 2;
    if values.is_empty() { 0 } else { *values.select_nth_unstable(middle).1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(time_ms: i64, kind: VisitKind, dated_ms: i64) -> Sighting {
        Sighting { time_ms, dated_ms, kind }
    }

    #[track_caller]
    fn check(seen: &[Sighting], expected: &[(Found, i64, i64, Option<i64>)]) {
        let found: Vec<_> = findings(seen)
            .into_iter()
            .map(|finding| (finding.what, finding.after_ms, finding.by_ms, finding.dated_ms))
            .collect();
        assert_eq!(found, expected);
    }

    const NEVER: i64 = i64::MIN;

    #[test]
    fn a_finding_lies_between_two_visits() {
        check(
            &[
                seen(10, VisitKind::New, NEVER),
                seen(20, VisitKind::Unchanged, NEVER),
                seen(30, VisitKind::Changed, NEVER),
                seen(40, VisitKind::Gone, NEVER),
                seen(50, VisitKind::Gone, NEVER),
                seen(60, VisitKind::Back, NEVER),
                seen(70, VisitKind::Moved, NEVER),
            ],
            &[
                (Found::Changed, 20, 30, None),
                (Found::Gone, 30, 40, None),
                (Found::Back, 50, 60, None),
                (Found::Moved, 60, 70, None),
            ],
        );
    }

    #[test]
    fn a_date_between_the_visits_is_kept() {
        let changed = |dated| [seen(10, VisitKind::New, 3), seen(30, VisitKind::Changed, dated)];
        check(&changed(17), &[(Found::Changed, 10, 30, Some(17))]);
        check(&changed(10), &[(Found::Changed, 10, 30, None)]);
        check(&changed(30), &[(Found::Changed, 10, 30, None)]);
    }

    #[test]
    fn a_page_whose_dates_lied_has_none() {
        check(
            &[
                seen(10, VisitKind::New, 9),
                seen(20, VisitKind::Unchanged, 19),
                seen(30, VisitKind::Changed, 25),
            ],
            &[(Found::Changed, 20, 30, None)],
        );
    }
}
