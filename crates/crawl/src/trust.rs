//! Trust in validators: how far a site is believed when it answers that a page has not changed.
//!
//! A server that answers "not modified" saves us the download; one that does so wrongly hides changes from
//! us. So some visits are tests: they request the whole page although the server could have answered "not
//! modified". Each test that the server would have passed makes tests rarer on its site, down to one visit in
//! 512. A change that comes with a new validator counts for several passed tests. A wrong validator makes it
//! one visit in eight again, and validators of that page are never used again.
//!
//! Most servers are honest, so tests of other sites count too, up to a limit: if many were tested and none
//! was wrong, an unknown site is tested in one visit of 64. Audits request whole pages too, and are
//! additional tests.
//!
//! # Promises
//! - Every site is tested from time to time, however often it was right.
//! - The good record of other sites does not help a site that was wrong once.
//! - The results are of this run only: a restarted crawl tests again.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use freshet_fetch::web::{Response, Validators};
use freshet_protocol::ids::SiteNumber;
use freshet_store::coll_urls::PageRecord;
use http::header::{ETAG, LAST_MODIFIED};

use crate::visit::Finding;

/// Minimum test interval: one visit in this many requests the whole page, on a site of which little is known.
const TEST_EVERY_MIN: u32 = 8;
/// Maximum test interval, on a site that was always right.
const TEST_EVERY_MAX: u32 = 512;

/// A change that comes with a new validator counts for this many passed tests. Most passed tests are of pages
/// that had not changed anyway.
const OWNED_UP: u32 = 8;

/// Maximum number of tests of a site that count for other sites: many small sites say more about servers than
/// a large one.
const LENT_BY_SITE: u32 = 4;
/// Maximum that the tests of other sites count for a site.
const BORROWED_MAX: u32 = 32;
/// A site that was wrong cancels this many tests of other sites.
const LIE_COSTS: u32 = 16;
/// Number of passed tests from which on a site's validators are used for second looks.
const PROVED: u32 = 2;

/// The record of each site, and of all together.
#[derive(Debug, Default)]
pub(crate) struct Trust(Mutex<Words>);

/// The records of all sites: how far their word ("not modified") was true.
#[derive(Debug, Default)]
struct Words {
    sites: HashMap<SiteNumber, Word>,
    /// Passed tests that count for all sites.
    lent: u32,
    /// Number of sites that were wrong.
    liars: u32,
}

/// The record of a site.
#[derive(Clone, Copy, Debug, Default)]
struct Word {
    /// Points in its favour since it was last wrong.
    truths: u32,
    /// Tests that it passed since then.
    tests: u32,
    has_lied: bool,
}

impl Words {
    /// The test interval of a site: one visit in this many is a test.
    fn test_every(&self, site: SiteNumber) -> u32 {
        let word = self.sites.get(&site).copied().unwrap_or_default();
        let by_others = self.lent - if word.has_lied { 0 } else { word.tests.min(LENT_BY_SITE) };
        let lent = by_others.saturating_sub(LIE_COSTS.saturating_mul(self.liars));
        let borrowed = if word.has_lied { 0 } else { lent.min(BORROWED_MAX) };
        let known = (word.truths + borrowed).min(TEST_EVERY_MAX);
        (2 * known).next_power_of_two().clamp(TEST_EVERY_MIN, TEST_EVERY_MAX)
    }

    fn pass(&mut self, site: SiteNumber) {
        let word = self.sites.entry(site).or_default();
        word.truths = word.truths.saturating_add(1);
        word.tests = word.tests.saturating_add(1);
        if word.tests <= LENT_BY_SITE && !word.has_lied {
            self.lent += 1;
        }
    }

    fn own_up(&mut self, site: SiteNumber) {
        let word = self.sites.entry(site).or_default();
        word.truths = word.truths.saturating_add(OWNED_UP);
    }

    fn lie(&mut self, site: SiteNumber) {
        let word = self.sites.entry(site).or_default();
        if !word.has_lied {
            self.liars += 1;
            self.lent -= word.tests.min(LENT_BY_SITE);
        }
        *word = Word { has_lied: true, ..Word::default() };
    }
}

impl Trust {
    /// The validators of our copy for a conditional request. None if there are none, if they were wrong
    /// before on this page, or if this visit is a test.
    pub(crate) fn validators(&self, site: SiteNumber, record: &PageRecord) -> Option<Validators> {
        let every = self.0.lock().unwrap_or_else(PoisonError::into_inner).test_every(site);
        let is_tested = record.visits.wrapping_add(record.url.0).is_multiple_of(every);
        let is_trusted = record.validators_lied == 0 && !record.gone && record.text_digest.is_some();
        let validators =
            Validators { etag: record.etag.clone(), last_modified: record.last_modified.clone() };
        let has_any = validators.etag.is_some() || validators.last_modified.is_some();
        (is_trusted && !is_tested && has_any).then_some(validators)
    }

    /// The validators of the first look, for a conditional second look: "not modified" saves the download.
    /// Only for a site whose passed tests have shown that its validators cover the whole page, with its
    /// ephemeral parts.
    pub(crate) fn validators_of_look(
        &self,
        site: SiteNumber,
        record: &PageRecord,
        first: &Response,
    ) -> Option<Validators> {
        let words = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_proved = words.sites.get(&site).is_some_and(|word| PROVED <= word.tests);
        let text = |name| first.header(name).map(ToOwned::to_owned);
        // A date has a resolution of a second, and both looks may fall within the same one. So an ETag is
        // required.
        let validators = Validators { etag: Some(text(&ETAG)?), last_modified: text(&LAST_MODIFIED) };
        (is_proved && record.validators_lied == 0).then_some(validators)
    }

    /// Learns from a whole page: one that was requested as a test, or sent because it had changed.
    pub(crate) fn learn(
        &self,
        site: SiteNumber,
        record: &PageRecord,
        response: &Response,
        finding: &Finding,
    ) {
        let has_any = record.etag.is_some() || record.last_modified.is_some();
        if record.validators_lied > 0 || !has_any {
            return;
        }
        let mut words = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match (finding, has_same_validators(record, response)) {
            (Finding::Unchanged, true) => words.pass(site),
            (Finding::Changed(_), true) => words.lie(site),
            (Finding::Changed(_), false) => words.own_up(site),
            _ => {}
        }
    }
}

/// Whether the server would have answered "not modified", judging by the validators of its response.
pub(crate) fn has_same_validators(record: &PageRecord, response: &Response) -> bool {
    let same = |old: &Option<String>, name| old.is_some() && old.as_deref() == response.header(name);
    match record.etag {
        Some(_) => same(&record.etag, &ETAG),
        None => same(&record.last_modified, &LAST_MODIFIED),
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use freshet_fetch::change::{Change, Kinds};
    use freshet_protocol::ids::UrlId;
    use freshet_protocol::time::Timestamp;

    use super::*;

    const SITE: SiteNumber = SiteNumber(7);

    fn page(url: u32) -> PageRecord {
        PageRecord {
            etag: Some("\"a\"".to_owned()),
            text_digest: Some(Default::default()),
            ..PageRecord::admitted(UrlId(url), SITE, Timestamp::default())
        }
    }

    fn response(etag: &str) -> Response {
        let headers = [(ETAG, etag.parse().expect("a header"))].into_iter().collect();
        Response {
            status: 200,
            head: vec![],
            headers,
            raw_body: Bytes::new(),
            body: Bytes::new(),
            truncated: None,
        }
    }

    /// The number of pages, out of 1,024, that are requested as a whole.
    fn tested(trust: &Trust) -> usize {
        (0..1024).filter(|url| trust.validators(SITE, &page(*url)).is_none()).count()
    }

    #[test]
    fn the_truth_makes_tests_rarer_and_a_lie_makes_them_frequent_again() {
        let trust = Trust::default();
        let changed = Finding::Changed(Change { size: 1.0, kinds: Kinds::TEXT });
        assert_eq!(tested(&trust), 128);
        for _ in 0..16 {
            trust.learn(SITE, &page(1), &response("\"a\""), &Finding::Unchanged);
        }
        assert_eq!(tested(&trust), 32);
        for _ in 0..10_000 {
            trust.learn(SITE, &page(1), &response("\"a\""), &Finding::Unchanged);
        }
        assert_eq!(tested(&trust), 2);
        trust.learn(SITE, &page(1), &response("\"a\""), &changed);
        assert_eq!(tested(&trust), 128);
    }

    #[test]
    fn a_change_that_the_server_owns_up_to_counts_for_several_truths() {
        let trust = Trust::default();
        let changed = Finding::Changed(Change { size: 1.0, kinds: Kinds::TEXT });
        trust.learn(SITE, &page(1), &response("\"b\""), &changed);
        assert_eq!(tested(&trust), 64);
        trust.learn(SITE, &page(1), &response("\"b\""), &changed);
        assert_eq!(tested(&trust), 32);
        // A new validator for the same page counts neither way.
        trust.learn(SITE, &page(1), &response("\"c\""), &Finding::Unchanged);
        assert_eq!(tested(&trust), 32);
        // A page without a validator says nothing about validators.
        trust.learn(SITE, &PageRecord { etag: None, ..page(1) }, &response("\"b\""), &changed);
        assert_eq!(tested(&trust), 32);
    }

    #[test]
    fn honest_sites_speak_for_one_of_which_nothing_is_known_up_to_a_point() {
        let trust = Trust::default();
        let pass = |site, times| {
            (0..times).for_each(|_| {
                trust.learn(SiteNumber(site), &page(1), &response("\"a\""), &Finding::Unchanged);
            });
        };
        pass(100, 1000);
        assert_eq!(tested(&trust), 128, "one large site is one site");
        (101..140).for_each(|site| pass(site, 1));
        assert_eq!(tested(&trust), 16);
        (140..200).for_each(|site| pass(site, 3));
        assert_eq!(tested(&trust), 16);
        let changed = Finding::Changed(Change { size: 1.0, kinds: Kinds::TEXT });
        (140..160).for_each(|site| trust.learn(SiteNumber(site), &page(1), &response("\"a\""), &changed));
        assert_eq!(tested(&trust), 128, "where there are liars everybody is put to the test");
    }

    #[test]
    fn a_site_that_lied_borrows_nothing() {
        let trust = Trust::default();
        for site in 100..200 {
            trust.learn(SiteNumber(site), &page(1), &response("\"a\""), &Finding::Unchanged);
        }
        assert_eq!(tested(&trust), 16);
        let changed = Finding::Changed(Change { size: 1.0, kinds: Kinds::TEXT });
        trust.learn(SITE, &page(1), &response("\"a\""), &changed);
        assert_eq!(tested(&trust), 128);
    }

    #[test]
    fn a_second_look_believes_a_site_that_was_put_to_the_test() {
        let trust = Trust::default();
        let look = |record: &PageRecord| {
            trust.validators_of_look(SITE, record, &response("\"b\"")).and_then(|validators| validators.etag)
        };
        let changed = Finding::Changed(Change { size: 1.0, kinds: Kinds::TEXT });
        // New validators for changes do not prove that validators cover everything in a page.
        (0..9).for_each(|_| trust.learn(SITE, &page(1), &response("\"b\""), &changed));
        assert_eq!(look(&page(1)), None);
        (0..2).for_each(|_| trust.learn(SITE, &page(1), &response("\"a\""), &Finding::Unchanged));
        assert_eq!(look(&page(1)).as_deref(), Some("\"b\""));
        assert_eq!(look(&PageRecord { validators_lied: 1, ..page(1) }), None);
    }

    #[test]
    fn a_page_of_which_the_server_lied_is_asked_for_as_a_whole() {
        let trust = Trust::default();
        assert!(trust.validators(SITE, &page(1)).is_some());
        assert!(trust.validators(SITE, &PageRecord { validators_lied: 1, ..page(1) }).is_none());
        assert!(trust.validators(SITE, &PageRecord { etag: None, ..page(1) }).is_none());
    }
}
