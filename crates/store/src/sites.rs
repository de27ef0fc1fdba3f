//! The record of each site: its robots.txt, politeness, sitemaps, and statistics.
//!
//! A *site* is a scheme and an authority, such as `https://example.org`.
//!
//! # Promises
//! - A record is read back as it was written.
//! - Malformed bytes are an error, never a panic.

use freshet_protocol::codec::{Malformed, Opaque, record};
use freshet_protocol::ids::SiteNumber;
use freshet_protocol::time::Timestamp;

use crate::error::StoreError;
use crate::key_value::{Space, View};
use crate::records::{numbered, read};

record! {
    /// The robots.txt of a site as it was last fetched.
    #[derive(Clone, Debug, Default, Eq, PartialEq)]
    pub struct RobotsCopy {
        /// When it was fetched.
        fetched: Timestamp,
        /// The status of the answer; 0 if there was none.
        status: u16,
        /// Why there was no answer; empty if there was one.
        failure: String,
        /// The bytes of the file, cut at the limit of the crawler.
        body: Opaque,
    }
}

record! {
    /// A robots.txt that cannot be had: the site is not visited, for 30 days.
    #[derive(Clone, Debug, Default, Eq, PartialEq)]
    pub struct RobotsTrouble {
        /// Since when.
        since: Timestamp,
        /// How often it was asked for since then.
        failures: u32,
        /// What was had last; none if nothing ever was.
        before: Option<RobotsCopy>,
    }
}

record! {
    /// A sitemap or feed of a site.
    #[derive(Clone, Debug, Default, Eq, PartialEq)]
    pub struct ListCopy {
        /// Its URL.
        url: String,
        /// Whether it is a feed (else a sitemap).
        feed: bool,
        /// When it was last fetched; none if it never was.
        fetched: Option<Timestamp>,
        /// The status of the last answer; 0 if there was none.
        status: u16,
        /// The URLs that it listed.
        entries: u32,
        /// Its ETag.
        etag: Option<String>,
        /// Its Last-Modified, as it was sent.
        last_modified: Option<String>,
        /// Entries whose date was right when it could be checked.
        dates_right: u32,
        /// Entries whose date was wrong when it could be checked.
        dates_wrong: u32,
    }
}

record! {
    /// What politeness must remember of a site across restarts.
    #[derive(Clone, Debug, Default, Eq, PartialEq)]
    pub struct PolitenessState {
        /// The earliest moment of the next request.
        next_visit: Option<Timestamp>,
        /// The delay after an answer, in milliseconds; 0 for the default.
        delay_millis: u64,
        /// Answers in a row that asked to slow down (429, 503) or failed, whichever are more.
        setbacks: u16,
        /// Nothing is asked for before this moment, because the site said so or failed too often.
        closed_until: Option<Timestamp>,
        /// The smoothed time of an answer, in milliseconds.
        answer_millis: u32,
    }
}

record! {
    /// A site.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct SiteRecord {
        /// Scheme and authority.
        site: String,
        /// When its first URL was discovered.
        first_seen: Timestamp,
        /// Its robots.txt; none before it was asked for.
        robots: Option<RobotsCopy>,
        /// The crawl-delay that its robots.txt asks for, in milliseconds.
        crawl_delay_millis: Option<u64>,
        /// What politeness must remember.
        politeness: PolitenessState,
        /// Its sitemaps and feeds.
        lists: Vec<ListCopy>,
        /// URLs of it that are known.
        urls: u32,
        /// Pages of it that are kept.
        pages: u32,
        /// Visits to it.
        visits: u64,
        /// Visits to it that failed.
        failures: u64,
        /// Bytes received from it.
        bytes: u64,
        /// Whether the user has paused it.
        paused: bool,
        /// What is wrong with it, for the user; empty if nothing is.
        trouble: String,
        /// What others keep of the site, in a form of their own.
        evidence: Opaque,
        since 2 {
            /// What is wrong with its robots.txt; none if it could be had.
            robots_trouble: Option<RobotsTrouble>,
        }
        since 3 {
            /// Of the last changes found, those that the dates of its sitemaps had told.
            changes_told: f32,
            /// Of the last changes found, those that its sitemaps should have told and did not.
            changes_untold: f32,
        }
    }
}

/// The sites, read from a view of the store.
pub struct Sites<'a>(pub(crate) &'a dyn View);

impl<'a> Sites<'a> {
    /// The number of a site, by scheme and authority.
    pub fn find(&self, site: &str) -> Result<Option<SiteNumber>, StoreError> {
        let Some(value) = self.0.get(Space::SiteNames, site.as_bytes())? else {
            return Ok(None);
        };
        let number = SiteNumber::from_key(&value).ok_or(Malformed::Short);
        Ok(Some(number.map_err(StoreError::corrupt(Space::SiteNames, site.as_bytes()))?))
    }

    /// The record of a site.
    pub fn get(&self, site: SiteNumber) -> Result<Option<SiteRecord>, StoreError> {
        read(self.0, Space::Sites, &site.key())
    }

    /// The sites from this number on, ordered by number.
    pub fn from(
        &self,
        first: SiteNumber,
    ) -> impl Iterator<Item = Result<(SiteNumber, SiteRecord), StoreError>> + use<'a> {
        numbered(self.0, Space::Sites, first.key().to_vec(), SiteNumber::from_key)
    }
}

#[cfg(test)]
mod tests {
    use freshet_protocol::codec::Record as _;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_record_comes_back() {
        let list = ListCopy { url: "https://a.example/s.xml".to_owned(), entries: 5, ..ListCopy::default() };
        let politeness = PolitenessState { setbacks: 2, ..PolitenessState::default() };
        let robots =
            RobotsCopy { status: 200, body: Opaque(b"User-agent: *".to_vec()), ..RobotsCopy::default() };
        let site = SiteRecord {
            site: "https://a.example".to_owned(),
            robots: Some(robots),
            politeness,
            lists: vec![list.clone(), list],
            paused: true,
            ..SiteRecord::default()
        };
        assert_eq!(SiteRecord::decode(&site.encode()), Ok(site.clone()));
        let trouble = RobotsTrouble { failures: 3, before: site.robots.clone(), ..RobotsTrouble::default() };
        let troubled = SiteRecord { robots_trouble: Some(trouble), ..site };
        assert_eq!(SiteRecord::decode(&troubled.encode()), Ok(troubled));
    }

    #[test]
    fn a_record_of_an_earlier_version_is_read() {
        let site = SiteRecord { site: "https://a.example".to_owned(), urls: 7, ..SiteRecord::default() };
        let mut bytes = site.encode();
        assert_eq!(bytes[0], 3);
        // The version 2 record ended with the robots.txt trouble, and the version 1 record with the evidence.
        for (version, bytes_later) in [(2, 8), (1, 1)] {
            assert!(bytes.split_off(bytes.len() - bytes_later).iter().all(|byte| *byte == 0));
            bytes[0] = version;
            assert_eq!(SiteRecord::decode(&bytes), Ok(site.clone()));
        }
        bytes[0] = 4;
        assert_eq!(SiteRecord::decode(&bytes), Err(Malformed::Version { found: 4, known: 3 }));
    }

    proptest! {
        #[test]
        fn any_bytes_are_no_panic(mut bytes in prop::collection::vec(any::<u8>(), 1..200)) {
            let _ = SiteRecord::decode(&bytes);
            for version in [1, 2] {
                bytes[0] = version;
                let _ = SiteRecord::decode(&bytes);
            }
        }
    }
}
