//! CollUrls: the record of each page that is or was kept.
//!
//! CollUrls of the **thesis** (7.3). The order of the visits belongs to the UpdateModule, which computes it
//! from these records at every start.
//!
//! # Promises
//! - A record is read back as it was written.
//! - Malformed bytes are an error, never a panic.

use freshet_protocol::codec::record;
use freshet_protocol::ids::{PageNumber, Place, SiteNumber, UrlId};
use freshet_protocol::time::Timestamp;

use crate::digest::Digest;
use crate::error::StoreError;
use crate::history::VisitKind;
use crate::key_value::{Space, View};
use crate::records::{numbered, read};

record! {
    /// A page that is or was kept.
    #[derive(Clone, Debug, PartialEq)]
    pub struct PageRecord {
        /// Its URL.
        url: UrlId,
        /// Its site.
        site: SiteNumber,
        /// When it was admitted to the collection.
        admitted: Timestamp,
        /// When it was discarded; none while it is kept.
        discarded: Option<Timestamp>,
        /// Its importance by the RankingModule.
        importance: f32,
        /// Visits that were answered.
        visits: u32,
        /// Visits that found a change.
        changes: u32,
        /// Visits in a row that failed.
        failures: u16,
        /// When it was first visited.
        first_visit: Option<Timestamp>,
        /// When it was last visited.
        last_visit: Option<Timestamp>,
        /// When a change was last found.
        last_change: Option<Timestamp>,
        /// When a visit was last answered.
        last_success: Option<Timestamp>,
        /// The status of the last answer; 0 if there was none.
        status: u16,
        /// What came of the last visit.
        outcome: Option<VisitKind>,
        /// The ETag of the copy.
        etag: Option<String>,
        /// The Last-Modified of the copy, as it was sent.
        last_modified: Option<String>,
        /// Conditional requests that were answered "not modified".
        not_modified: u32,
        /// Answers whose validators did not tell the truth.
        validators_lied: u16,
        /// The digest of the bytes of the copy.
        raw_digest: Option<Digest>,
        /// The digest of the visible text of the copy.
        text_digest: Option<Digest>,
        /// The similarity hash of the main text of the copy.
        simhash: Option<u64>,
        /// The content type of the copy; empty if unknown.
        content_type: String,
        /// The title of the copy; empty if it has none.
        title: String,
        /// Bytes of the copy after decoding.
        body_bytes: u32,
        /// Bytes that the last full answer took on the wire.
        transfer_bytes: u32,
        /// Where the last full response stands in the Collection.
        place: Option<Place>,
        /// Whether the page was gone at the last visit.
        gone: bool,
        /// The URL that it redirects to.
        moved_to: Option<UrlId>,
        /// The interval in milliseconds at which the user wants it visited.
        pinned_every: Option<u64>,
        /// What was learned of its parts, a PageEphemera; no bytes if nothing was.
        evidence: freshet_protocol::codec::Opaque,
        since 2 {
            /// How much its copy is about the topic of the crawl, from 0 to 1; none if there is no topic.
            likeness: Option<f32>,
        }
    }
}

impl PageRecord {
    /// The record of a page that was admitted and not visited yet.
    pub fn admitted(url: UrlId, site: SiteNumber, admitted: Timestamp) -> Self {
        Self {
            url,
            site,
            admitted,
            discarded: None,
            importance: 0.0,
            visits: 0,
            changes: 0,
            failures: 0,
            first_visit: None,
            last_visit: None,
            last_change: None,
            last_success: None,
            status: 0,
            outcome: None,
            etag: None,
            last_modified: None,
            not_modified: 0,
            validators_lied: 0,
            raw_digest: None,
            text_digest: None,
            simhash: None,
            content_type: String::new(),
            title: String::new(),
            body_bytes: 0,
            transfer_bytes: 0,
            place: None,
            gone: false,
            moved_to: None,
            pinned_every: None,
            evidence: freshet_protocol::codec::Opaque::default(),
            likeness: None,
        }
    }
}

/// CollUrls, read from a view of the store.
pub struct CollUrls<'a>(pub(crate) &'a dyn View);

impl<'a> CollUrls<'a> {
    /// The record of a page.
    pub fn get(&self, page: PageNumber) -> Result<Option<PageRecord>, StoreError> {
        read(self.0, Space::Pages, &page.key())
    }

    /// The pages from this number on, ordered by number.
    pub fn from(
        &self,
        first: PageNumber,
    ) -> impl Iterator<Item = Result<(PageNumber, PageRecord), StoreError>> + use<'a> {
        numbered(self.0, Space::Pages, first.key().to_vec(), PageNumber::from_key)
    }
}

#[cfg(test)]
mod tests {
    use freshet_protocol::codec::{Opaque, Record as _};
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_full_record_comes_back_and_a_new_one_is_small() {
        let new = PageRecord::admitted(UrlId(7), SiteNumber(3), Timestamp::from_millis(1_700_000_000_000));
        assert_eq!(PageRecord::decode(&new.encode()), Ok(new.clone()));
        assert!(new.encode().len() < 50, "{}", new.encode().len());
        let now = Some(Timestamp::from_millis(1_800_000_000_000));
        let full = PageRecord {
            discarded: now,
            importance: 0.25,
            visits: 1000,
            changes: 17,
            last_visit: now,
            status: 200,
            outcome: Some(VisitKind::Changed),
            etag: Some("\"e\"".to_owned()),
            last_modified: Some("Mon, 16 Nov 2026 01:00:00 GMT".to_owned()),
            raw_digest: Some([1; 16]),
            text_digest: Some([2; 16]),
            simhash: Some(3),
            title: "A title".to_owned(),
            place: Some(Place { segment: 1, offset: 2, length: 3 }),
            moved_to: Some(UrlId(9)),
            evidence: Opaque(vec![1, 2, 3]),
            likeness: Some(0.5),
            ..new
        };
        assert_eq!(PageRecord::decode(&full.encode()), Ok(full));
    }

    #[test]
    fn a_record_of_the_first_version_is_read() {
        let page = PageRecord::admitted(UrlId(7), SiteNumber(3), Timestamp::from_millis(5));
        let mut bytes = page.encode();
        // The version 1 record ended with the evidence.
        assert_eq!((bytes[0], bytes.pop()), (2, Some(0)));
        bytes[0] = 1;
        assert_eq!(PageRecord::decode(&bytes), Ok(page));
    }

    proptest! {
        #[test]
        fn any_bytes_are_no_panic(mut bytes in prop::collection::vec(any::<u8>(), 1..200)) {
            let _ = PageRecord::decode(&bytes);
            for version in [1, 2] {
                bytes[0] = version;
                let _ = PageRecord::decode(&bytes);
            }
        }
    }
}
