//! Audits: how fresh the copies really are, measured by visiting a random sample of them.
//!
//! What a crawl reports of its freshness is an estimate. An audit draws pages at random from all that are kept, visits each in its turn and as politely as ever, asks for the
//! whole page whatever validators say, and counts those that are as our copy has them. The visits are visits like any other: what they find is kept, and
//! they count in the budget.
//!
//! Past audits calibrate the estimate: on the scale of log odds it is moved by the distance between what audits found and what had been believed of the
//! very pages that they visited, as far as there were enough of them. So it does not matter which pages chance drew: what is known of them is taken
//! off. A page may have to wait for its visit, on a busy machine for longer than it takes some to change: so what a visit finds is held against what was believed
//! for its moment, while the freshness that is reported is that of the moment when the pages were drawn, as far as their dates tell. The newer ones count more, and the more so the younger the crawl is: while it learns what it estimates changes fast, and how wrong it is too.
//! A policy that learns from all visits knows more than the few that are drawn in a week: what these find moves the estimate as far as the policy's error is beside theirs,
//! which is little, unless it contradicts the policy beyond chance; then it moves it nearly all the way.
//!
//! # Promises
//! - The measured freshness comes with Wilson's 95% interval.
//! - Without audits the estimate is as the policy makes it, and a few visits move it little.
//! - The error of a calibrated estimate contains what audits leave open, and what no audit can follow.
//! - A page that could not be visited is not judged.

use std::collections::HashMap;

use freshet_fetch::web::dates::YOUNG;
use freshet_protocol::ids::{PageNumber, SiteNumber};
use freshet_protocol::time::Timestamp;
use freshet_store::error::StoreError;
use freshet_store::history::{VisitKind, VisitQuery, VisitRow};
use freshet_store::reader::Reader;
use freshet_theory::sample::interval::{Confidence, Method, changed_fraction_interval};
use freshet_theory::sample::site::Sample;
use rand::SeedableRng as _;
use rand::seq::IteratorRandom as _;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::status::Status;

/// The notes of audits begin with this; the moment in milliseconds follows, with 20 digits.
pub const NOTES: &str = "audit ";
/// The most pages of an audit.
pub const SAMPLE_MAX: usize = 100_000;
/// Visits of audits that count half, however sure they are of what they found.
const FEW: f64 = 50.0;
/// By how much the policy alone is off for weeks, as a standard deviation, unless audits show that it is by more.
const LASTING_ERROR: f64 = 0.005;
/// They show it where what they find is off by so many times their own error.
const SHOWN: f64 = 4.0;
/// By how much it is off from one week to the next, as a standard deviation: audits that are made in so short a time cannot tell.
const PASSING_ERROR: f64 = 0.008;
/// The part of the time since the first audit after which an audit counts half.
const HALF_LIFE: f64 = 0.15;
/// Days after which an audit counts half at least, and at most.
const HALF_LIFE_DAYS: (f64, f64) = (4.0, 8.0);

/// An audit that is under way.
#[derive(Clone, Debug)]
pub struct Audit {
    /// When it began.
    pub started: Timestamp,
    /// The pages that are visited.
    pub pages: Vec<Drawn>,
    /// What the crawl believed when it began.
    pub believed: Belief,
}

/// A page that an audit drew.
#[derive(Clone, Copy, Debug)]
pub struct Drawn {
    /// The page.
    pub page: PageNumber,
    /// Its site.
    pub site: SiteNumber,
    /// When it was visited last before.
    pub visited: Timestamp,
    /// When its visit was ordered, and it was asked what is believed of its copy. Pages are drawn from all, which takes a while, and a visit within it is known to who is asked.
    pub asked: Timestamp,
    /// What was believed of its copy, by a policy that says so.
    pub believed: Option<CopyBelief>,
}

/// How probable it is held that a copy is fresh, and how that fades.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CopyBelief {
    /// The probability now.
    fresh: f64,
    /// Changes to expect of its page in a day from now on.
    changes_per_day: f64,
}

impl CopyBelief {
    /// Of a copy that is fresh now with the one probability and a day later with the other.
    pub fn new(fresh: f64, fresh_in_a_day: f64) -> Self {
        let exposure = |fresh: f64| -fresh.clamp(1e-9, 1.0).ln();
        Self { fresh, changes_per_day: (exposure(fresh_in_a_day) - exposure(fresh)).max(0.0) }
    }

    /// The probability that the copy is fresh so many days later.
    fn fresh_in(self, days: f64) -> f64 {
        self.fresh * (-self.changes_per_day * days).exp()
    }
}

/// What a crawl believes of its copies.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Belief {
    /// The part that is fresh, calibrated by audits.
    pub freshness: Option<f64>,
    /// Mean days since copies went out of date.
    pub age_days: Option<f64>,
}

/// What an audit found.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct AuditReport {
    /// When it began, in milliseconds since 1970.
    pub started_ms: i64,
    /// Pages that were drawn.
    pub sample: usize,
    /// Of them, pages that were visited and could be judged.
    pub judged: usize,
    /// Of those, pages that were as our copy has them.
    pub fresh: usize,
    /// Pages that were visited and could not be judged.
    pub failed: usize,
    /// The part of the judged copies that is fresh, and its 95% interval.
    pub freshness: Option<(f64, f64, f64)>,
    /// What the crawl believed when the audit began, calibrated by the audits before.
    pub believed_freshness: Option<f64>,
    /// Of the judged pages, those that were as our copy has them when they were visited; in audits that did not tell it, those that were when they were drawn.
    #[serde(default)]
    pub same: Option<usize>,
    /// The part of the judged pages that the policy alone expected to be as our copy has them when they were visited.
    pub estimated_freshness: Option<f64>,
    /// The mean square of what was found of a judged page, the same or not, less what the policy expected of it.
    #[serde(default)]
    pub surprise: Option<f64>,
    /// Mean days since the judged copies went out of date, and its 95% interval. When a page changed is taken from its Last-Modified, or
    /// else to be in the middle between the last visit and this one.
    pub age_days: Option<(f64, f64, f64)>,
    /// What the crawl believed of it when the audit began.
    pub believed_age_days: Option<f64>,
    /// Whether all pages were visited.
    pub done: bool,
}

impl Audit {
    /// Draws pages of which there is a copy.
    pub fn draw(reader: &Reader, sample: usize, now: Timestamp) -> Result<Self, StoreError> {
        let mut copies = Vec::new();
        for entry in reader.pages() {
            let (page, record) = entry?;
            if let (Some(visited), Some(_)) = (record.last_visit, record.text_digest)
                && record.discarded.is_none()
                && !record.gone
            {
                copies.push(Drawn { page, site: record.site, visited, asked: now, believed: None });
            }
        }
        let mut chance = ChaCha8Rng::seed_from_u64(now.millis() as u64);
        let pages = copies.into_iter().sample(&mut chance, sample.min(SAMPLE_MAX));
        Ok(Self { started: now, pages, believed: Belief::default() })
    }

    /// What it has found so far.
    pub fn report(&self, reader: &Reader) -> Result<AuditReport, StoreError> {
        let drawn: HashMap<PageNumber, &Drawn> = self.pages.iter().map(|drawn| (drawn.page, drawn)).collect();
        let rows = reader.visits(&VisitQuery::since(self.started))?.into_iter().map(|visit| visit.row);
        let first = first_visits(rows, &drawn);
        let judged: Vec<(f64, &VisitRow, &Drawn)> = first
            .iter()
            .filter_map(|(page, row)| {
                Some((age(row, drawn[page].visited, drawn[page].asked)?, row, drawn[page]))
            })
            .collect();
        let ages: Vec<f64> = judged.iter().map(|(age, ..)| *age).collect();
        let found: Vec<Found> = judged.iter().map(|(_, row, drawn)| Found::of(row, drawn)).collect();
        let (estimated_freshness, surprise) = beliefs(&found).unzip();
        Ok(AuditReport {
            started_ms: self.started.millis(),
            sample: self.pages.len(),
            judged: ages.len(),
            fresh: ages.iter().filter(|age| **age == 0.0).count(),
            failed: first.len() - ages.len(),
            freshness: freshness(&ages),
            believed_freshness: self.believed.freshness,
            same: Some(found.iter().filter(|found| found.is_same).count()),
            estimated_freshness,
            surprise,
            age_days: mean_age(&ages),
            believed_age_days: self.believed.age_days,
            done: first.len() == self.pages.len(),
        })
    }
}

/// The first visit to each page since it was asked what is believed of it.
fn first_visits(
    rows: impl Iterator<Item = VisitRow>,
    drawn: &HashMap<PageNumber, &Drawn>,
) -> HashMap<PageNumber, VisitRow> {
    let mut first = HashMap::new();
    for row in rows {
        if let Some(drawn) =
            row.page.and_then(|page| drawn.get(&page)).filter(|drawn| drawn.asked <= row.time)
        {
            first.entry(drawn.page).or_insert(row);
        }
    }
    first
}

/// What the visit to a drawn page found, beside what was expected of it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Found {
    /// Whether the page was as our copy has it.
    is_same: bool,
    /// How probable that was held, for the moment of the visit.
    expected: Option<f64>,
}

impl Found {
    fn of(row: &VisitRow, drawn: &Drawn) -> Self {
        let waited = row.time.days_since(drawn.asked).get();
        Self {
            is_same: matches!(row.kind, VisitKind::Unchanged | VisitKind::NotModified),
            expected: drawn.believed.map(|belief| belief.fresh_in(waited)),
        }
    }
}

/// The mean of what was expected of judged pages, and the mean square of what was found less that; none unless something was expected of each.
fn beliefs(judged: &[Found]) -> Option<(f64, f64)> {
    let (mut believed, mut surprise) = (0.0, 0.0);
    for found in judged {
        believed += found.expected?;
        surprise += (f64::from(u8::from(found.is_same)) - found.expected?).powi(2);
    }
    let count = judged.len() as f64;
    (count > 0.0).then(|| (believed / count, surprise / count))
}

/// Days since the copy went out of date, zero if it was fresh when it was drawn; none if the visit did not tell.
fn age(row: &VisitRow, visited: Timestamp, drawn: Timestamp) -> Option<f64> {
    match row.kind {
        VisitKind::Unchanged | VisitKind::NotModified => Some(0.0),
        VisitKind::Changed | VisitKind::Gone | VisitKind::Moved => {
            let modified = row.last_modified.filter(|modified| visited < *modified && *modified < row.time);
            let days = match modified {
                // It has waited for its visit, and changed while it did.
                Some(modified) if drawn <= modified && YOUNG <= row.time.millis_since(modified) => {
                    return Some(0.0);
                }
                Some(modified) => row.time.days_since(modified).get(),
                None => row.time.days_since(visited.min(row.time)).get() / 2.0,
            };
            // Out of date, however briefly.
            Some(days.max(f64::MIN_POSITIVE))
        }
        VisitKind::New | VisitKind::Back | VisitKind::Failed | VisitKind::Refused => None,
    }
}

fn freshness(ages: &[f64]) -> Option<(f64, f64, f64)> {
    let fresh = ages.iter().filter(|age| **age == 0.0).count();
    (!ages.is_empty()).then(|| {
        let sample = Sample::new(ages.len() as u64, (ages.len() - fresh) as u64);
        let stale = changed_fraction_interval(sample, Confidence::new(0.95), Method::Wilson).cut();
        (fresh as f64 / ages.len() as f64, 1.0 - stale.high, 1.0 - stale.low)
    })
}

fn mean_age(ages: &[f64]) -> Option<(f64, f64, f64)> {
    let count = ages.len() as f64;
    let mean = ages.iter().sum::<f64>() / count;
    let variance = ages.iter().map(|age| (age - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
    let error = 1.96 * (variance / count).sqrt();
    (!ages.is_empty()).then(|| (mean, (mean - error).max(0.0), mean + error))
}

/// The audits that the stores keep, the oldest first. What cannot be read is left out.
pub fn past(reader: &Reader) -> Result<Vec<AuditReport>, StoreError> {
    let notes = reader.notes(NOTES)?;
    Ok(notes.iter().filter_map(|(_, note)| serde_json::from_slice(note).ok()).collect())
}

/// The note of an audit: its name and its bytes.
pub fn note(report: &AuditReport) -> (String, Vec<u8>) {
    let bytes = serde_json::to_vec(report).unwrap_or_default();
    (format!("{NOTES}{:020}", report.started_ms), bytes)
}

/// Moves the freshness that a status tells by what audits found, and says how many there were.
pub(crate) fn calibrate(status: &mut Status, reader: &Reader, now: Timestamp) {
    let audits = past(reader).unwrap_or_default();
    status.audits = audits.len() as u64;
    status.freshness_uncalibrated = status.freshness.map(|(freshness, _)| freshness);
    status.freshness = status.freshness.map(|estimate| calibrated(estimate, &audits, now));
}

/// The estimate of freshness and its standard error, moved by what audits found.
pub fn calibrated((estimate, error): (f64, f64), audits: &[AuditReport], now: Timestamp) -> (f64, f64) {
    let found = Findings::of(audits, now);
    if found.weight == 0.0 {
        return (estimate, error);
    }
    // Half a page more of each kind keeps the odds finite.
    let distance =
        log_odds((found.same + 0.5) / (found.weight + 1.0)) - log_odds(found.estimated / found.weight);
    let odds = (log_odds(estimate) + found.belief() * distance).exp();
    let moved = odds / (1.0 + odds);
    let lasting = found.belief().sqrt() * found.error();
    (moved, error.hypot(lasting).hypot(PASSING_ERROR))
}

/// The standard error of what audits say of the estimate; infinite without audits.
pub fn error_of(audits: &[AuditReport], now: Timestamp) -> f64 {
    Findings::of(audits, now).error()
}

/// What audits found together, the newer ones counting more.
#[derive(Default)]
struct Findings {
    /// Pages that were judged.
    weight: f64,
    /// Of them, pages that were expected to be the same as our copies.
    estimated: f64,
    /// Pages that were.
    same: f64,
    /// The variance of the difference of both.
    variance: f64,
}

impl Findings {
    fn of(audits: &[AuditReport], now: Timestamp) -> Self {
        let days =
            |audit: &AuditReport| now.days_since(Timestamp::from_millis(audit.started_ms).min(now)).get();
        let half_life = audits.first().map_or(0.0, |first| HALF_LIFE * days(first));
        let half_life = half_life.clamp(HALF_LIFE_DAYS.0, HALF_LIFE_DAYS.1);
        let mut found = Self::default();
        for audit in audits {
            let Some(estimate) = audit.estimated_freshness else { continue };
            let (counts, judged) = (0.5_f64.powf(days(audit) / half_life), audit.judged as f64);
            let by_chance = estimate * (1.0 - estimate);
            found.weight += counts * judged;
            found.variance += counts * counts * judged * audit.surprise.unwrap_or(by_chance);
            found.estimated += counts * judged * estimate;
            found.same += counts * audit.same.unwrap_or(audit.fresh) as f64;
        }
        found
    }

    /// How far the estimate follows what was found, from 0 to 1: the error of the policy beside that of the audits.
    fn belief(&self) -> f64 {
        let (error, off) = (self.error().powi(2), (self.same - self.estimated) / self.weight);
        let of_policy = LASTING_ERROR.powi(2).max(off.powi(2) - SHOWN.powi(2) * error);
        of_policy / (of_policy + error) * self.weight / (self.weight + FEW)
    }

    fn error(&self) -> f64 {
        if self.weight > 0.0 { self.variance.sqrt() / self.weight } else { f64::INFINITY }
    }
}

fn log_odds(share: f64) -> f64 {
    let share = share.clamp(0.001, 0.999);
    (share / (1.0 - share)).ln()
}

#[cfg(test)]
mod tests {
    use freshet_protocol::time::MILLIS_PER_DAY;

    use super::*;

    fn audit(judged: usize, fresh: usize, estimate: f64) -> AuditReport {
        AuditReport { judged, fresh, estimated_freshness: Some(estimate), ..AuditReport::default() }
    }

    fn drawn(asked: Timestamp, believed: Option<CopyBelief>) -> Drawn {
        let (page, site, visited) = (PageNumber(1), SiteNumber(1), Timestamp::from_millis(0));
        Drawn { page, site, visited, asked, believed }
    }

    #[track_caller]
    fn check(audits: &[AuditReport], low: f64, high: f64) {
        let (moved, error) = calibrated((0.8, 0.01), audits, Timestamp::from_millis(0));
        assert!((low..=high).contains(&moved), "{moved}");
        assert!(0.01 <= error, "{error}");
    }

    #[test]
    fn audits_move_the_estimate_as_far_as_there_are_enough_of_them() {
        check(&[], 0.8, 0.8);
        check(&[audit(200, 160, 0.8)], 0.795, 0.805);
        check(&[audit(5, 0, 0.8)], 0.6, 0.799);
        check(&[audit(10_000, 5_000, 0.8)], 0.49, 0.52);
        check(&[audit(0, 0, 0.8)], 0.8, 0.8);
    }

    #[test]
    fn the_policy_is_believed_unless_audits_contradict_it_beyond_chance() {
        // Three points: twice the error of the audits, and six times.
        check(&[audit(600, 462, 0.8)], 0.796, 0.799);
        check(&[audit(6_000, 4_620, 0.8)], 0.77, 0.775);
    }

    #[test]
    fn what_is_known_of_the_pages_that_were_drawn_is_no_error() {
        let found = |is_same, expected| Found { is_same, expected };
        let judged = [found(true, Some(0.9)), found(false, Some(0.5))];
        let (believed, surprise) = beliefs(&judged).expect("something was believed of each");
        assert!((believed - 0.7).abs() < 1e-12 && (surprise - 0.13).abs() < 1e-12, "{believed} {surprise}");
        assert_eq!(beliefs(&[found(true, None)]), None);
        assert_eq!(beliefs(&[]), None);
        let error = |surprise| {
            let audits = [AuditReport { surprise, ..audit(400, 320, 0.8) }];
            error_of(&audits, Timestamp::from_millis(0))
        };
        assert!(error(Some(0.04)) < 0.6 * error(None));
    }

    /// To draw from all pages takes a while, the longer the busier the machine is, and the crawl visits some of those that are drawn within it. What it believed then was what these
    /// visits had found, and it was held against what they found.
    #[test]
    fn a_visit_that_was_known_when_it_was_asked_what_is_believed_judges_nothing() {
        let page = drawn(Timestamp::from_millis(20), None);
        let visits = [10, 20, 30].map(|time| VisitRow {
            page: Some(page.page),
            ..VisitRow::new(Timestamp::from_millis(time), "http://a.example/", VisitKind::Changed)
        });
        let first = first_visits(visits.into_iter(), &HashMap::from([(page.page, &page)]));
        assert_eq!(first[&page.page].time, page.asked);
    }

    /// Where pages had to wait to be audited, a change while they did counted against the estimate.
    #[test]
    fn what_a_page_that_had_to_wait_may_have_become_meanwhile_is_expected() {
        let day = |day: i64| Timestamp::from_millis(day * MILLIS_PER_DAY);
        let drawn = |believed| drawn(day(10), believed);
        let expected = |believed: Option<CopyBelief>, visit: i64, kind| {
            let row = VisitRow::new(day(visit), "http://a.example/", kind);
            Found::of(&row, &drawn(believed))
        };
        let fades = Some(CopyBelief::new(0.8, 0.4));
        for (visit, fresh) in [(10, 0.8), (11, 0.4), (13, 0.1), (9, 0.8)] {
            let found = expected(fades, visit, VisitKind::Unchanged);
            assert!(found.is_same && (found.expected.unwrap() - fresh).abs() < 1e-9, "{visit} {found:?}");
        }
        // Of a page that something has told to have changed nothing worse can be expected, and from one that is fresher later nothing better.
        for steady in [CopyBelief::new(0.1, 0.1), CopyBelief::new(0.1, 0.2)] {
            assert_eq!(expected(Some(steady), 20, VisitKind::Changed).expected, Some(0.1));
        }
        assert_eq!(expected(None, 11, VisitKind::Changed), Found { is_same: false, expected: None });
    }

    #[test]
    fn what_was_the_same_at_the_visit_calibrates_and_not_what_was_fresh_at_the_draw() {
        let waited = AuditReport { same: Some(7_000), ..audit(10_000, 8_000, 0.7) };
        check(&[waited], 0.795, 0.805);
    }

    #[test]
    fn the_more_audits_the_less_they_err() {
        let error = |audits: &[AuditReport]| error_of(audits, Timestamp::from_millis(0));
        assert_eq!(error(&[]), f64::INFINITY);
        // Of 400 visits whose findings are as good as a coin's with 0.8: 2 points, and half of them with four times as many.
        let one = audit(400, 320, 0.8);
        assert!((error(std::slice::from_ref(&one)) - 0.02).abs() < 1e-9);
        assert!((error(&vec![one; 4]) - 0.01).abs() < 1e-9);
    }

    #[test]
    fn what_audits_found_while_the_crawl_was_young_is_soon_forgotten() {
        let day = |day: i64| day * MILLIS_PER_DAY;
        let at = |started: i64, audit: AuditReport| AuditReport { started_ms: day(started), ..audit };
        let audits = [at(0, audit(200, 160, 0.5)), at(30, audit(200, 140, 0.7))];
        let moved = |now: i64, audits| calibrated((0.7, 0.0), audits, Timestamp::from_millis(day(now)));
        let ((soon, _), (late, error)) = (moved(1, &audits[..1]), moved(30, &audits[..]));
        assert!(soon > 0.77 && late < 0.73, "{soon} {late}");
        // What lasts, of which 200 visits say little, and what passes.
        assert!((0.009..0.01).contains(&error), "{error}");
    }

    #[test]
    fn freshness_has_wilsons_interval() {
        let ages = [[0.0; 9].as_slice(), &[2.0]].concat();
        let (share, low, high) = freshness(&ages).unwrap();
        assert!(share == 0.9 && (low - 0.5958).abs() < 1e-3 && (high - 0.9821).abs() < 1e-3, "{low} {high}");
        assert_eq!(freshness(&[]), None);
        assert_eq!(mean_age(&ages).unwrap().0, 0.2);
    }

    #[test]
    fn the_age_of_a_copy_is_told_by_dates_or_the_middle() {
        let day = |day: i64| Timestamp::from_millis(day * MILLIS_PER_DAY);
        let mut row = VisitRow::new(day(10), "http://a.example/", VisitKind::Changed);
        assert_eq!(age(&row, day(4), day(9).plus_millis(1)), Some(3.0));
        row.last_modified = Some(day(9));
        assert_eq!(age(&row, day(4), day(9).plus_millis(1)), Some(1.0));
        row.last_modified = Some(day(9).plus_millis(2));
        assert_eq!(age(&row, day(4), day(9).plus_millis(1)), Some(0.0));
        row.last_modified = Some(day(3));
        assert_eq!(age(&row, day(4), day(9).plus_millis(1)), Some(3.0));
        row.kind = VisitKind::Unchanged;
        assert_eq!(age(&row, day(4), day(9).plus_millis(1)), Some(0.0));
        row.kind = VisitKind::Failed;
        assert_eq!(age(&row, day(4), day(9).plus_millis(1)), None);
    }
}
