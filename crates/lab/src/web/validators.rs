//! ETag and Last-Modified, honest or not, and their effect on a conditional request (RFC 9110, section 13).
//!
//! # Promises
//! - An honest site answers 304 exactly if the text of the page, except for noise, is what the validator
//!   named.
//! - If-None-Match takes precedence over If-Modified-Since.
//! - Of the lying sites one never answers 304, one always, and one only within the second of the last answer.

use freshet_protocol::time::Timestamp;

use super::atlas::PageNumber;
use super::changes::Version;
use super::character::ValidatorKind;
use super::dates;

/// The validators of an answer.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Validators {
    /// An ETag, with its quotes.
    pub etag: Option<String>,
    /// An HTTP date.
    pub last_modified: Option<String>,
}

/// The conditional headers of a request.
#[derive(Clone, Copy, Debug, Default)]
pub struct Conditions<'a> {
    /// If-None-Match.
    pub etag: Option<&'a str>,
    /// If-Modified-Since.
    pub modified_since: Option<&'a str>,
}

/// What is to be validated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subject {
    pub(super) page: PageNumber,
    pub(super) version: Version,
    /// When the page appeared at its address.
    pub(super) placed: Timestamp,
    pub(super) noisy: bool,
    pub(super) print: bool,
    pub(super) now: Timestamp,
    /// Number of the request.
    pub(super) request: u64,
}

impl Validators {
    /// The validators that a site of this kind sends for a page.
    pub(super) fn of(kind: ValidatorKind, subject: &Subject) -> Self {
        let Subject { page, version, print, .. } = *subject;
        let view = if print { "-print" } else { "" };
        // With noise the bytes differ though nothing changed, so the ETag is weak.
        let weak = if subject.noisy { "W/" } else { "" };
        let honest = format!("{weak}\"{:x}-{:x}-{:x}{view}\"", page.0, version.main, version.template);
        let date = dates::http_date(version.since.max(subject.placed));
        let (etag, last_modified) = match kind {
            ValidatorKind::Both => (Some(honest), Some(date)),
            ValidatorKind::EtagOnly => (Some(honest), None),
            ValidatorKind::DateOnly => (None, Some(date)),
            ValidatorKind::Absent => (None, None),
            ValidatorKind::EverNewEtag => (Some(format!("\"{:x}-{:x}\"", page.0, subject.request)), None),
            ValidatorKind::FrozenEtag => (Some(format!("\"{:x}{view}\"", page.0)), None),
            ValidatorKind::DateOfNow => (None, Some(dates::http_date(subject.now))),
        };
        Self { etag, last_modified }
    }

    /// Whether a request with these conditions is answered with 304.
    pub fn is_unchanged(&self, conditions: &Conditions<'_>) -> bool {
        if let Some(known) = conditions.etag {
            return self.etag.as_deref().is_some_and(|etag| known == "*" || names(known, etag));
        }
        let since = conditions.modified_since.and_then(dates::parse_http_date);
        let modified = self.last_modified.as_deref().and_then(dates::parse_http_date);
        matches!((since, modified), (Some(since), Some(modified)) if modified <= since)
    }
}

/// Whether a list of ETags contains one, by weak comparison.
fn names(list: &str, etag: &str) -> bool {
    let opaque = |etag: &str| etag.trim().trim_start_matches("W/").to_owned();
    list.split(',').any(|known| opaque(known) == opaque(etag))
}

#[cfg(test)]
mod tests {
    use super::super::clock::START;
    use super::*;

    fn subject(main: u32, second: i64, request: u64) -> Subject {
        let now = START.plus_millis(1_000 * second);
        let since = START.plus_millis(10_000 * i64::from(main));
        let version = Version { main, template: 0, main_since: since, since };
        Subject { page: PageNumber(7), version, placed: START, noisy: true, print: false, now, request }
    }

    #[track_caller]
    fn check(kind: ValidatorKind, expected_same: bool, expected_changed: bool) {
        let first = Validators::of(kind, &subject(1, 12, 1));
        let conditions =
            Conditions { etag: first.etag.as_deref(), modified_since: first.last_modified.as_deref() };
        let same = Validators::of(kind, &subject(1, 15, 2)).is_unchanged(&conditions);
        let changed = Validators::of(kind, &subject(2, 21, 3)).is_unchanged(&conditions);
        assert_eq!((same, changed), (expected_same, expected_changed), "{kind:?}");
    }

    #[test]
    fn honest_sites_tell_the_truth_and_lying_ones_do_not() {
        for honest in [ValidatorKind::Both, ValidatorKind::EtagOnly, ValidatorKind::DateOnly] {
            check(honest, true, false);
        }
        check(ValidatorKind::Absent, false, false);
        check(ValidatorKind::EverNewEtag, false, false);
        check(ValidatorKind::DateOfNow, false, false);
        check(ValidatorKind::FrozenEtag, true, true);
    }

    #[test]
    fn an_etag_wins_over_a_date_and_may_stand_in_a_list() {
        let validators = Validators::of(ValidatorKind::Both, &subject(1, 12, 1));
        let date = validators.last_modified.as_deref();
        let check = |etag, expected| {
            let conditions = Conditions { etag, modified_since: date };
            assert_eq!(validators.is_unchanged(&conditions), expected, "{etag:?}");
        };
        check(Some("\"other\""), false);
        check(Some("\"other\", \"7-1-0\""), true);
        check(Some("*"), true);
        check(None, true);
        let nonsense = Conditions { etag: None, modified_since: Some("no date") };
        assert!(!validators.is_unchanged(&nonsense));
    }
}
