//! Self-audits: audits that a crawl makes on its own, to compare its reported freshness with the truth all
//! the time.
//!
//! The pages that a policy visits are not a random sample: they are those that it believes to have changed.
//! What it learns from them says little about the others, and pages that disappeared or moved unnoticed are
//! believed in for long. So a small share of the visits goes to pages drawn at random, in small audits one
//! after the other. These calibrate the estimate like audits that a user requests ([`crate::audit`]). There
//! are more of them while the estimate is uncertain, as in a young crawl, whose old audits say little about
//! what it believes now.

use std::time::{Duration, Instant};

use freshet_protocol::containment::contained;

use crate::audit::{self, Audit};
use crate::crawler::Crawler;
use crate::writer::Message;

/// Standard error of the audits' findings that is good enough.
const SURE: f64 = 0.007;
/// Maximum factor by which audits are more frequent until it is reached.
const UNSURE_TIMES: f64 = 3.0;
/// Number of pages of an audit: few, so that the calibration follows the crawl.
const SAMPLE: usize = 50;
/// Interval of checks whether an audit is due or done.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Pause of audits after a defect of this program.
const REST: Duration = Duration::from_secs(60);

/// Makes audits until the crawl stops. A defect costs the audit in progress.
pub(crate) fn audit_until_the_end(crawler: &Crawler, share: f64) {
    while let Err(said) = contained(|| audit_now_and_then(crawler, share)) {
        crawler.survive("auditing", format!("internal error: {said}"));
        let until = Instant::now() + REST;
        while Instant::now() < until && !crawler.is_stopping() {
            std::thread::sleep(LOOK_EVERY);
        }
    }
}

/// Spends this share of the visits on audits until the crawl stops. Makes none if the share is zero.
fn audit_now_and_then(crawler: &Crawler, share: f64) {
    if share <= 0.0 {
        return;
    }
    let mut visits_between = visits_between(crawler, share);
    let mut under_way: Option<Audit> = None;
    let mut begun_at = crawler.board().visits;
    while !crawler.is_stopping() {
        std::thread::sleep(LOOK_EVERY);
        let visits = crawler.board().visits;
        let is_due = visits.saturating_sub(begun_at) >= visits_between;
        match under_way.take() {
            Some(audit) => {
                let report = match audit.report(crawler.reader()) {
                    Ok(report) => report,
                    Err(error) => {
                        crawler.survive("auditing", error.to_string());
                        continue;
                    }
                };
                // Pages that cannot be visited are waited for only until the next audit is due.
                if !report.done && !is_due {
                    under_way = Some(audit);
                    continue;
                }
                let (name, note) = audit::note(&report);
                if !crawler.tell_writer_blocking(Message::Note(name, note)) {
                    return;
                }
                visits_between = self::visits_between(crawler, share);
            }
            None if is_due => {
                begun_at = visits;
                under_way = crawler.draw_audit(SAMPLE).ok().filter(|audit| !audit.pages.is_empty());
            }
            None => {}
        }
    }
}

/// Number of visits from one audit to the next, so that audits have their share of the visits, and more while
/// the error is large.
fn visits_between(crawler: &Crawler, share: f64) -> u64 {
    let past = audit::past(crawler.reader()).unwrap_or_default();
    let times = (audit::error_of(&past, crawler.clock().now()) / SURE).powi(2).clamp(1.0, UNSURE_TIMES);
    (SAMPLE as f64 / (share * times).min(1.0)) as u64
}
