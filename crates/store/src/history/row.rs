//! The row of a visit: when a URL was requested and what came back. Visits are the primary data; everything
//! else is derived from them.
//!
//! # Promises
//! - A row is read back as it was written.
//! - Malformed bytes are an error, never a panic.

use freshet_protocol::codec::{record, words};
use freshet_protocol::ids::{PageNumber, Place};
use freshet_protocol::time::Timestamp;

use crate::digest::Digest;

words! {
    /// What came of a visit.
    pub enum VisitKind {
        /// The page was seen for the first time.
        New = 0 "new",
        /// It was the same as before.
        Unchanged = 1 "unchanged",
        /// The server said that it was not modified (304).
        NotModified = 2 "not modified",
        /// It had changed.
        Changed = 3 "changed",
        /// It was no longer there (404, 410).
        Gone = 4 "gone",
        /// It was there again after it had been gone.
        Back = 5 "back",
        /// It redirected to another URL.
        Moved = 6 "moved",
        /// There was no answer, or an error of the server.
        Failed = 7 "failed",
        /// We did not ask: robots.txt or a rule of ours forbids it.
        Refused = 8 "refused",
    }
}

record! {
    /// A visit.
    #[derive(Clone, Debug, PartialEq)]
    pub struct VisitRow {
        /// When the request began.
        time: Timestamp,
        /// The site: scheme and authority.
        site: String,
        /// The URL.
        url: String,
        /// The page; none if the URL is not kept.
        page: Option<PageNumber>,
        /// What came of it.
        kind: VisitKind,
        /// The status of the answer; 0 if there was none.
        status: u16,
        /// Bytes received.
        bytes: u64,
        /// Milliseconds from the request to the end of the answer.
        millis: u32,
        /// The digest of the decoded bytes.
        raw_digest: Option<Digest>,
        /// The digest of the visible text.
        text_digest: Option<Digest>,
        /// The similarity hash of the visible text.
        simhash: Option<u64>,
        /// How much of the text changed, from 0 to 1.
        change_size: Option<f32>,
        /// What the answer said of its last modification.
        last_modified: Option<Timestamp>,
        /// The URL that it redirects to.
        moved_to: Option<String>,
        /// Where the record stands in the Collection; the store fills it in.
        place: Option<Place>,
        /// Why the visit failed or was refused.
        error: Option<String>,
        /// What kinds of change it found, with spaces between them: title, text, links, numbers.
        change_kinds: Option<String>,
        /// Why the visit was made: first, refresh, signal, rhythm, pin, interval, retry, look, audit.
        reason: Option<String>,
    }
}

impl VisitRow {
    /// A visit with only these columns set.
    pub fn new(time: Timestamp, url: &str, kind: VisitKind) -> Self {
        Self {
            time,
            site: crate::all_urls::site_of(url).to_owned(),
            url: url.to_owned(),
            page: None,
            kind,
            status: 0,
            bytes: 0,
            millis: 0,
            raw_digest: None,
            text_digest: None,
            simhash: None,
            change_size: None,
            last_modified: None,
            moved_to: None,
            place: None,
            error: None,
            change_kinds: None,
            reason: None,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use freshet_protocol::codec::Record as _;
    use proptest::prelude::*;

    use super::*;

    prop_compose! {
        pub(crate) fn visit_row()(
            millis in 0_i64..4_000_000_000_000,
            path in "[a-z]{0,5}",
            kind in prop::sample::select(VisitKind::ALL),
            (page, status, bytes, took) in (any::<Option<u32>>(), any::<u16>(), any::<u64>(), any::<u32>()),
            (raw_digest, text_digest, simhash) in any::<(Option<Digest>, Option<Digest>, Option<u64>)>(),
            change_size in prop::option::of(0_f32..=1.0),
            last_modified in prop::option::of(0_i64..4_000_000_000_000),
            (moved_to, error, change_kinds) in any::<(Option<String>, Option<String>, Option<String>)>(),
            reason in any::<Option<String>>(),
            place in any::<Option<(u32, u64, u32)>>(),
        ) -> VisitRow {
            VisitRow {
                page: page.map(PageNumber),
                status,
                bytes,
                millis: took,
                raw_digest,
                text_digest,
                simhash,
                change_size,
                last_modified: last_modified.map(Timestamp::from_millis),
                moved_to,
                place: place.map(|(segment, offset, length)| Place { segment, offset, length }),
                error,
                change_kinds,
                reason,
                ..VisitRow::new(Timestamp::from_millis(millis), &format!("http://a.example/{path}"), kind)
            }
        }
    }

    proptest! {
        #[test]
        fn a_row_comes_back(row in visit_row()) {
            prop_assert_eq!(VisitRow::decode(&row.encode()), Ok(row));
        }

        #[test]
        fn any_bytes_are_no_panic(mut bytes in prop::collection::vec(any::<u8>(), 1..200)) {
            let _ = VisitRow::decode(&bytes);
            bytes[0] = 1;
            let _ = VisitRow::decode(&bytes);
        }
    }
}
