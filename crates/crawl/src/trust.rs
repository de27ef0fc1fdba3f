//! How far a site is taken at its word that a page has not changed.
//!
//! A server that answers "not modified" saves us the download; one that says so wrongly hides changes from us. So now and then the whole page is asked
//! for although the server could have said that nothing changed. Each time its word would have been true makes this rarer on its site, down to one
//! visit in 128, and a change that it owns up to counts for several; a lie makes it one in eight again, and the page that it was told of is never
//! believed again.
//!
//! # Promises
//! - No site is believed for ever without being put to the test.
//! - What was found out is of this run: a crawl that begins again asks again.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use freshet_store::coll_urls::PageRecord;
use freshet_store::ids::SiteNumber;
use http::header::{ETAG, LAST_MODIFIED};

use crate::visit::Finding;
use crate::web::{Response, Validators};

/// One visit in so many asks for the whole page, on a site of which little is known.
const TEST_EVERY_MIN: u32 = 8;
/// One visit in so many does on a site that always told the truth.
const TEST_EVERY_MAX: u32 = 128;

/// A change that a site owns up to counts for so many pages that are found as it said: of most of these there was nothing to lie about.
const OWNED_UP: u32 = 8;

/// How often each site told the truth since its last lie.
#[derive(Debug, Default)]
pub(crate) struct Trust(Mutex<HashMap<SiteNumber, u32>>);

impl Trust {
    /// What the server said of our copy, to be sent back to it: unless there is none, or it lied of this page, or it is put to the test.
    pub(crate) fn validators(&self, site: SiteNumber, record: &PageRecord) -> Option<Validators> {
        let truths = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&site).copied().unwrap_or(0);
        let every =
            (2 * truths.min(TEST_EVERY_MAX)).next_power_of_two().clamp(TEST_EVERY_MIN, TEST_EVERY_MAX);
        let is_tested = record.visits.wrapping_add(record.url.0).is_multiple_of(every);
        let is_trusted = record.validators_lied == 0 && !record.gone && record.text_digest.is_some();
        let validators =
            Validators { etag: record.etag.clone(), last_modified: record.last_modified.clone() };
        let has_any = validators.etag.is_some() || validators.last_modified.is_some();
        (is_trusted && !is_tested && has_any).then_some(validators)
    }

    /// What a whole page was found to be: asked for though the server could have said that nothing changed, or sent because it had.
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
        let mut truths = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match (finding, has_same_validators(record, response)) {
            (Finding::Unchanged, true) => *truths.entry(site).or_default() += 1,
            (Finding::Changed(_), true) => _ = truths.remove(&site),
            (Finding::Changed(_), false) => *truths.entry(site).or_default() += OWNED_UP,
            _ => {}
        }
    }
}

/// Whether a response would have been "not modified" by what its server says.
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
    use freshet_store::ids::UrlId;
    use freshet_store::time::Timestamp;

    use super::*;
    use crate::change::{Change, Kinds};

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

    /// Of 1,024 pages, those that are asked for as a whole.
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
        assert_eq!(tested(&trust), 8);
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
        // Another name for the same page is neither.
        trust.learn(SITE, &page(1), &response("\"c\""), &Finding::Unchanged);
        assert_eq!(tested(&trust), 32);
        // A page that came without a validator says nothing of those.
        trust.learn(SITE, &PageRecord { etag: None, ..page(1) }, &response("\"b\""), &changed);
        assert_eq!(tested(&trust), 32);
    }

    #[test]
    fn a_page_of_which_the_server_lied_is_asked_for_as_a_whole() {
        let trust = Trust::default();
        assert!(trust.validators(SITE, &page(1)).is_some());
        assert!(trust.validators(SITE, &PageRecord { validators_lied: 1, ..page(1) }).is_none());
        assert!(trust.validators(SITE, &PageRecord { etag: None, ..page(1) }).is_none());
    }
}
