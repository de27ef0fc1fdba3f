//! Limits on versions: segments are removed or rewritten, pages stay readable, and disk use is bounded.

use freshet_protocol::ids::PageNumber;
use freshet_store::check::check;
use freshet_store::collection::Keep;
use freshet_store::store::Settings;
use freshet_store::store::Tidied;
use tempfile::{TempDir, tempdir};

use crate::crawl::{Crawl, moment};

fn settings(keep: Keep) -> Settings {
    Settings { segment_bytes: 6000, keep, ..Settings::default() }
}

/// Visits ten pages a day for `days` days. Page 0 never changes after the first day, the others change daily.
fn visit_for_days(place: &TempDir, keep: Keep, days: i64) -> (Crawl, Vec<Tidied>) {
    let mut crawl = Crawl::begin(place.path(), settings(keep), 10);
    let mut done = Vec::new();
    for day in 0..days {
        for page in 0..10 {
            if page == 0 && day > 0 {
                crawl.visit_identical(PageNumber(page), day * 86_400 + i64::from(page), "page 0 of day 0");
            } else {
                crawl.visit(
                    PageNumber(page),
                    day * 86_400 + i64::from(page),
                    &format!("page {page} of day {day}"),
                );
            }
        }
        while let Some(tidied) = crawl.store.tidy(moment(day * 86_400)).expect("it is tidied") {
            done.push(tidied);
        }
    }
    (crawl, done)
}

#[test]
fn without_limits_everything_is_kept() {
    let place = tempdir().expect("a directory");
    let (crawl, done) = visit_for_days(&place, Keep::default(), 8);
    assert_eq!(crawl.store.counters().versions, 80);
    assert!(done.iter().all(|done| matches!(done, Tidied::Indexed(_) | Tidied::Settled { .. })), "{done:?}");
}

#[test]
fn old_versions_go_and_the_newest_stay_readable() {
    let keep = Keep { versions: Some(2), ..Keep::default() };
    let place = tempdir().expect("a directory");
    let (crawl, done) = visit_for_days(&place, keep, 20);
    assert!(done.iter().any(|done| matches!(done, Tidied::Removed { .. })), "{done:?}");
    assert!(done.iter().any(|done| matches!(done, Tidied::Moved { .. })), "page 0 is moved: {done:?}");
    let crawl = crawl.restart();
    let reader = crawl.store.reader();
    for page in 1..10 {
        let body =
            reader.response_at(PageNumber(page), moment(20 * 86_400)).expect("read").expect("there").body;
        assert_eq!(body, format!("page {page} of day 19").as_bytes());
        assert!(reader.versions(PageNumber(page)).expect("read").len() < 15);
    }
    let unchanged = reader.response_at(PageNumber(0), moment(20 * 86_400)).expect("read").expect("there");
    assert_eq!(unchanged.body, b"page 0 of day 0");
    let place = reader.page(PageNumber(0)).expect("read").expect("kept").place.expect("it has one");
    assert_eq!(
        reader.read_version(place).expect("read").body,
        b"page 0 of day 0",
        "the page's own place is right"
    );
    let findings = check(&reader).expect("it is checked");
    assert_eq!(findings.faults, []);
    let counters = crawl.store.counters();
    assert_eq!(counters.versions + counters.versions_dropped, 200);
}

#[test]
fn days_are_counted_from_when_a_version_was_superseded() {
    let place = tempdir().expect("a directory");
    let (crawl, _) = visit_for_days(&place, Keep { days: Some(3), ..Keep::default() }, 20);
    let versions = crawl.store.reader().versions(PageNumber(5)).expect("read");
    assert!((4..=12).contains(&versions.len()), "{}", versions.len());
    assert_eq!(check(&crawl.store.reader()).expect("checked").faults, []);
}

#[test]
fn the_collection_stays_within_its_bytes() {
    let limit = 20_000;
    let place = tempdir().expect("a directory");
    let (crawl, _) = visit_for_days(&place, Keep { bytes: Some(limit), ..Keep::default() }, 15);
    let other = tempdir().expect("a directory");
    let everything = visit_for_days(&other, Keep::default(), 15).0.store.disk_use().collection;
    let kept = crawl.store.disk_use();
    assert!(everything > 2 * limit, "{everything}");
    assert!(kept.collection < limit + 2 * 6000, "{kept:?}");
    assert_eq!(check(&crawl.store.reader()).expect("checked").faults, []);
}
