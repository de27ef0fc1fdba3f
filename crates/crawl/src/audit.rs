//! Audits: the freshness of our copies, measured by visiting a random sample of them.
//!
//! The freshness that a crawl reports is an estimate. An audit draws pages at random from all kept pages and
//! visits each in turn, as politely as any other visit. It requests the whole page, whatever the validators
//! say, and counts the pages that are the same as our copies. These visits are like any others: their
//! findings are kept, and they count in the budget.
//!
//! Past audits calibrate the estimate. On the log-odds scale the estimate is shifted by the distance between
//! what the audits found and what was believed of the same pages, weighted by how many pages there were. So
//! it does not matter which pages the random draw picked: what is known of them is subtracted. A page may
//! have to wait for its visit, on a busy machine for longer than some pages take to change. So a finding is
//! compared with the belief for the time of the visit, while the reported freshness is for the time of the
//! draw, as far as the pages' dates show it.
//!
//! Newer audits count more, and the younger the crawl the faster old ones fade: while a crawl learns, both
//! its estimate and the error of its estimate change fast. A policy that learns from all visits knows more
//! than the few visits that are drawn in a week. So the findings shift the estimate by the ratio of the
//! policy's error to theirs. That is little, unless they contradict the policy beyond chance; then they shift
//! it nearly all the way.
//!
//! # Promises
//! - The measured freshness comes with Wilson's 95% interval.
//! - Without audits the estimate is that of the policy. A few audit visits shift it little.
//! - The error of a calibrated estimate includes the uncertainty that audits leave, and the drift that is too
//!   fast for them to measure.
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

/// Prefix of the keys of audit notes. The start time in milliseconds follows, with 20 digits.
pub const NOTES: &str = "audit ";
/// Maximum number of pages of an audit.
pub const SAMPLE_MAX: usize = 100_000;
/// Number of audit visits that count half, whatever their standard error.
const FEW: f64 = 50.0;
/// Standard deviation of the policy's lasting error (over weeks), unless audits show a larger one.
const LASTING_ERROR: f64 = 0.005;
/// Audits show a larger error if their findings are off by more than this many times their own standard
/// error.
const SHOWN: f64 = 4.0;
/// Standard deviation of the policy's error from one week to the next, which is too short for audits to
/// measure.
const PASSING_ERROR: f64 = 0.008;
/// Half-life of an audit's weight, as a fraction of the time since the first audit.
const HALF_LIFE: f64 = 0.15;
/// Minimum and maximum of that half-life, in days.
const HALF_LIFE_DAYS: (f64, f64) = (4.0, 8.0);

/// An audit in progress.
#[derive(Clone, Debug)]
pub struct Audit {
    /// Start of the audit.
    pub started: Timestamp,
    /// The drawn pages.
    pub pages: Vec<Drawn>,
    /// What the crawl believed at the start.
    pub believed: Belief,
}

/// A page that an audit drew.
#[derive(Clone, Copy, Debug)]
pub struct Drawn {
    /// The page.
    pub page: PageNumber,
    /// Its site.
    pub site: SiteNumber,
    /// Time of the last visit before the draw.
    pub visited: Timestamp,
    /// When its visit was ordered and the belief about its copy was read. Drawing from all pages takes a
    /// while; the belief includes any visit made during that time.
    pub asked: Timestamp,
    /// The belief about its copy, if the policy has one.
    pub believed: Option<CopyBelief>,
}

/// The probability that a copy is fresh, and how it decays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CopyBelief {
    /// The probability now.
    fresh: f64,
    /// Expected changes of its page per day from now on.
    changes_per_day: f64,
}

impl CopyBelief {
    /// Creates it from the probability that the copy is fresh now and the probability in a day.
    pub fn new(fresh: f64, fresh_in_a_day: f64) -> Self {
        let exposure = |fresh: f64| -fresh.clamp(1e-9, 1.0).ln();
        Self { fresh, changes_per_day: (exposure(fresh_in_a_day) - exposure(fresh)).max(0.0) }
    }

    /// The probability that the copy is fresh after this many days.
    fn fresh_in(self, days: f64) -> f64 {
        self.fresh * (-self.changes_per_day * days).exp()
    }
}

/// What a crawl believes of all its copies.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Belief {
    /// Fraction of fresh copies, calibrated by audits.
    pub freshness: Option<f64>,
    /// Mean days since copies went out of date.
    pub age_days: Option<f64>,
}

/// The result of an audit.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct AuditReport {
    /// Start of the audit, in milliseconds since 1970.
    pub started_ms: i64,
    /// Number of drawn pages.
    pub sample: usize,
    /// Number of drawn pages that were visited and could be judged.
    pub judged: usize,
    /// Number of judged pages that were the same as our copies.
    pub fresh: usize,
    /// Number of pages that were visited and could not be judged.
    pub failed: usize,
    /// Fraction of the judged copies that is fresh, and its 95% interval.
    pub freshness: Option<(f64, f64, f64)>,
    /// The believed freshness at the start of the audit, calibrated by earlier audits.
    pub believed_freshness: Option<f64>,
    /// Number of judged pages that were the same as our copies at the time of their visit. None in audits
    /// that did not record it: then `fresh` stands for it.
    #[serde(default)]
    pub same: Option<usize>,
    /// Fraction of the judged pages that the policy alone expected to be the same as our copies when visited.
    pub estimated_freshness: Option<f64>,
    /// Mean square of the finding for a judged page (1 if the same, else 0) minus the policy's expectation.
    #[serde(default)]
    pub surprise: Option<f64>,
    /// Mean days since the judged copies went out of date, and its 95% interval. The time of a change is the
    /// page's Last-Modified, or else the middle between the last visit and this one.
    pub age_days: Option<(f64, f64, f64)>,
    /// The age that the crawl believed at the start of the audit.
    pub believed_age_days: Option<f64>,
    /// Whether all pages were visited.
    pub done: bool,
}

impl Audit {
    /// Draws pages that we have a copy of.
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

/// The first visit to each page since the belief about it was read.
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

/// The finding of the visit to a drawn page, and its expectation.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Found {
    /// Whether the page was the same as our copy.
    is_same: bool,
    /// The probability that was expected for the time of the visit.
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

/// The mean expectation for the judged pages, and the mean square of finding minus expectation. None unless
/// every page has an expectation.
fn beliefs(judged: &[Found]) -> Option<(f64, f64)> {
    let (mut believed, mut surprise) = (0.0, 0.0);
    for found in judged {
        believed += found.expected?;
        surprise += (f64::from(u8::from(found.is_same)) - found.expected?).powi(2);
    }
    let count = judged.len() as f64;
    (count > 0.0).then(|| (believed / count, surprise / count))
}

/// Days since the copy went out of date; zero if it was fresh at the draw. None if the visit did not show it.
fn age(row: &VisitRow, visited: Timestamp, drawn: Timestamp) -> Option<f64> {
    match row.kind {
        VisitKind::Unchanged | VisitKind::NotModified => Some(0.0),
        VisitKind::Changed | VisitKind::Gone | VisitKind::Moved => {
            let modified = row.last_modified.filter(|modified| visited < *modified && *modified < row.time);
            let days = match modified {
                // The page changed while it waited for its visit.
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

/// The stored audits, oldest first. Those that cannot be decoded are left out.
pub fn past(reader: &Reader) -> Result<Vec<AuditReport>, StoreError> {
    let notes = reader.notes(NOTES)?;
    Ok(notes.iter().filter_map(|(_, note)| serde_json::from_slice(note).ok()).collect())
}

/// The note of an audit: its key and its bytes.
pub fn note(report: &AuditReport) -> (String, Vec<u8>) {
    let bytes = serde_json::to_vec(report).unwrap_or_default();
    (format!("{NOTES}{:020}", report.started_ms), bytes)
}

/// Calibrates the freshness of a status by the audits, and sets their number.
pub(crate) fn calibrate(status: &mut Status, reader: &Reader, now: Timestamp) {
    let audits = past(reader).unwrap_or_default();
    status.audits = audits.len() as u64;
    status.freshness_uncalibrated = status.freshness.map(|(freshness, _)| freshness);
    status.freshness = status.freshness.map(|estimate| calibrated(estimate, &audits, now));
}

/// Calibrates an estimate of freshness and its standard error by the audits.
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

/// The standard error of the audits' findings about the estimate. Infinite without audits.
pub fn error_of(audits: &[AuditReport], now: Timestamp) -> f64 {
    Findings::of(audits, now).error()
}

/// The findings of all audits together, newer ones weighted more.
#[derive(Default)]
struct Findings {
    /// Judged pages.
    weight: f64,
    /// Judged pages that were expected to be the same as our copies.
    estimated: f64,
    /// Judged pages that were the same.
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

    /// How far the estimate follows the findings, from 0 to 1: the variance of the policy's error relative to
    /// that of the policy and the audits together.
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

    /// Drawing from all pages takes a while, the longer the busier the machine, and the crawl visits some of
    /// the drawn pages meanwhile. The belief already included the findings of these visits, and was wrongly
    /// compared with them.
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

    /// When pages had to wait for their audit, a change during the wait counted against the estimate.
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
        // A page that is believed to have changed cannot be expected to get worse. A probability that grows
        // with time is treated as constant.
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
        // 400 visits with findings as random as a biased coin with 0.8: an error of 2 points, and of half
        // that with four times as many visits.
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
        // The lasting error, about which 200 visits say little, and the passing error.
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
