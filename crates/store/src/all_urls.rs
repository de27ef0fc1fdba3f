//! AllUrls: every URL ever discovered, with what was known of it before its first visit.
//!
//! AllUrls of the **thesis** (7.3). A URL gets its [`UrlId`] when it is discovered and keeps it. It is looked
//! up by a key of 16 bytes: the xxh3 hash of its site followed by that of the whole URL, both seeded with the
//! seed of the store. So the URLs of a site are adjacent, and nobody outside can construct URLs that collide.
//!
//! # Promises
//! - A record is read back as it was written.
//! - Malformed bytes are an error that names keyspace and key, never a panic.
//!
//! # Departures
//! Two URLs of one site with the same 64-bit hash count as one. With ten million URLs in one site, the
//! probability of any such collision is 3 in a million.

use freshet_protocol::codec::{Field, Input, Malformed, Record, record, take_number, words};
use freshet_protocol::ids::{PageNumber, SiteNumber, UrlId};
use freshet_protocol::time::Timestamp;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::error::StoreError;
use crate::key_value::{Direction, KeyRange, Space, View};
use crate::records::{numbered, read};

words! {
    /// How a URL was discovered.
    pub enum Source {
        /// The user named it.
        Seed = 0 "seed",
        /// A page links to it.
        Link = 1 "link",
        /// A sitemap lists it.
        Sitemap = 2 "sitemap",
        /// A feed lists it.
        Feed = 3 "feed",
        /// A visit was sent there.
        Redirect = 4 "redirect",
        /// A page names it as its canonical form.
        Canonical = 5 "canonical",
    }
}

words! {
    /// Why a URL is not kept.
    pub enum Reason {
        /// Its robots.txt forbids it.
        Robots = 0 "robots",
        /// A rule of the settings leaves it out.
        Rule = 1 "rule",
        /// It lies outside of the sites that are crawled.
        Scope = 2 "scope",
        /// It looks like one of endlessly many.
        Trap = 3 "trap",
        /// It is too many links away from a seed.
        Depth = 4 "depth",
        /// Its site has as many pages as it may have.
        SiteLimit = 5 "site limit",
        /// The collection is full, and it is less important than what is in it.
        Unimportant = 6 "unimportant",
        /// It asks not to be kept.
        NoIndex = 7 "noindex",
        /// It is of a kind that is not kept.
        ContentType = 8 "content type",
        /// It is the same as another page.
        Duplicate = 9 "duplicate",
        /// It redirects to another URL.
        Moved = 10 "moved",
        /// It is no longer there.
        Gone = 11 "gone",
        /// It failed again and again.
        Failing = 12 "failing",
        /// Its address must not be visited.
        Address = 13 "address",
        /// The user said so.
        User = 14 "user",
    }
}

/// The state of a URL: waiting, kept, refused or discarded.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Standing {
    /// It is known but not yet admitted.
    Waiting,
    /// It is in the Collection, as this page.
    Kept(PageNumber),
    /// It must not be visited.
    Refused(Reason),
    /// It was in the Collection or was a candidate for it, and is not kept.
    Discarded(Reason),
}

impl Field for Standing {
    fn describe() -> String {
        "Standing".to_owned()
    }

    fn put(&self, output: &mut Vec<u8>) {
        match self {
            Self::Waiting => output.push(0),
            Self::Kept(page) => {
                output.push(1);
                page.put(output);
            }
            Self::Refused(reason) => {
                output.push(2);
                reason.put(output);
            }
            Self::Discarded(reason) => {
                output.push(3);
                reason.put(output);
            }
        }
    }

    fn take(input: &mut Input<'_>) -> Result<Self, Malformed> {
        match input.take_byte()? {
            0 => Ok(Self::Waiting),
            1 => Ok(Self::Kept(PageNumber::take(input)?)),
            2 => Ok(Self::Refused(Reason::take(input)?)),
            3 => Ok(Self::Discarded(Reason::take(input)?)),
            other => Err(Malformed::UnknownWord(other)),
        }
    }
}

record! {
    /// A URL that was discovered.
    #[derive(Clone, Debug, PartialEq)]
    pub struct UrlRecord {
        /// The URL in canonical form.
        url: String,
        /// Its site.
        site: SiteNumber,
        /// When it was discovered.
        discovered: Timestamp,
        /// The URL on whose page it was found first; none for seeds.
        found_on: Option<UrlId>,
        /// The fewest links known from a seed to it.
        depth: u16,
        /// The words of the link that it was found by, shortened; empty if there were none.
        anchor: String,
        /// How it was discovered.
        source: Source,
        /// When it was last modified by its sitemap or feed.
        listed_modified: Option<Timestamp>,
        /// What has become of it.
        standing: Standing,
        /// More on why it is not kept, such as the rule that decided; mostly empty.
        detail: String,
    }
}

/// The fields of a URL record that the start-up needs, without a copy of the record.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct UrlEntry<'a> {
    /// The URL in canonical form.
    pub url: &'a str,
    /// How it was discovered.
    pub source: Source,
    /// Its state.
    pub standing: Standing,
}

impl<'a> UrlEntry<'a> {
    /// Decodes it from the bytes of a [`UrlRecord`].
    fn decode(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let mut input = Input::new(bytes);
        let found = input.take_byte()?;
        if found != UrlRecord::VERSION {
            return Err(Malformed::Version { found, known: UrlRecord::VERSION });
        }
        let url = take_text(&mut input)?;
        SiteNumber::take(&mut input)?;
        Timestamp::take(&mut input)?;
        <Option<UrlId> as Field>::take(&mut input)?;
        u16::take(&mut input)?;
        take_text(&mut input)?;
        let source = Source::take(&mut input)?;
        <Option<Timestamp> as Field>::take(&mut input)?;
        let standing = Standing::take(&mut input)?;
        take_text(&mut input)?;
        input.end()?;
        Ok(Self { url, source, standing })
    }
}

fn take_text<'a>(input: &mut Input<'a>) -> Result<&'a str, Malformed> {
    let length = usize::try_from(take_number(input)?).map_err(|_| Malformed::Large)?;
    std::str::from_utf8(input.take_bytes(length)?).map_err(|_| Malformed::NotText)
}

/// The key by which a URL is looked up: hash of its site, then hash of the URL.
pub type UrlKey = [u8; 16];

/// The site of a URL in canonical form: scheme and authority.
pub fn site_of(url: &str) -> &str {
    let authority = url.find("://").map_or(0, |colon| colon + 3);
    let end = url[authority..].find(['/', '?', '#']).map_or(url.len(), |slash| authority + slash);
    &url[..end]
}

/// The lookup key of a URL in a store with this seed.
pub fn url_key(seed: u64, url: &str) -> UrlKey {
    let mut key = [0; 16];
    key[..8].copy_from_slice(&xxh3_64_with_seed(site_of(url).as_bytes(), seed).to_be_bytes());
    key[8..].copy_from_slice(&xxh3_64_with_seed(url.as_bytes(), seed).to_be_bytes());
    key
}

/// AllUrls, read from a view of the store.
pub struct AllUrls<'a> {
    view: &'a dyn View,
    seed: u64,
}

impl<'a> AllUrls<'a> {
    /// AllUrls of a store with this seed.
    pub(crate) fn new(view: &'a dyn View, seed: u64) -> Self {
        Self { view, seed }
    }

    /// The number of a URL, if it is known.
    pub fn find(&self, url: &str) -> Result<Option<UrlId>, StoreError> {
        self.find_key(&url_key(self.seed, url))
    }

    /// The number of the URL with this key, if it is known.
    pub(crate) fn find_key(&self, key: &UrlKey) -> Result<Option<UrlId>, StoreError> {
        let Some(value) = self.view.get(Space::UrlKeys, key)? else {
            return Ok(None);
        };
        let id = UrlId::from_key(&value).ok_or(Malformed::Short);
        Ok(Some(id.map_err(StoreError::corrupt(Space::UrlKeys, key))?))
    }

    /// The record of a URL.
    pub fn get(&self, id: UrlId) -> Result<Option<UrlRecord>, StoreError> {
        read(self.view, Space::Urls, &id.key())
    }

    /// The URLs from this number on, ordered by number.
    pub fn from(
        &self,
        first: UrlId,
    ) -> impl Iterator<Item = Result<(UrlId, UrlRecord), StoreError>> + use<'a> {
        numbered(self.view, Space::Urls, first.key().to_vec(), UrlId::from_key)
    }

    /// Calls `each` with a [`UrlEntry`] of every URL from `first` on and before `end`, or to the last one.
    pub fn glance(
        &self,
        first: UrlId,
        end: Option<UrlId>,
        mut each: impl FnMut(UrlId, UrlEntry<'_>),
    ) -> Result<(), StoreError> {
        let corrupt = |key: &[u8], malformed| StoreError::corrupt(Space::Urls, key)(malformed);
        let range = KeyRange { from: first.key().to_vec(), to: end.map(|end| end.key().to_vec()) };
        for entry in self.view.scan(Space::Urls, range, Direction::Forward) {
            let (key, value) = entry?;
            let id = UrlId::from_key(&key).ok_or_else(|| corrupt(&key, Malformed::Short))?;
            let glance = UrlEntry::decode(&value).map_err(|malformed| corrupt(&key, malformed))?;
            each(id, glance);
        }
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;

    pub(crate) fn moment() -> impl Strategy<Value = Timestamp> {
        any::<i64>().prop_map(Timestamp::from_millis)
    }

    fn standing() -> impl Strategy<Value = Standing> {
        let reason = || prop::sample::select(Reason::ALL);
        prop_oneof![
            Just(Standing::Waiting),
            any::<u32>().prop_map(|page| Standing::Kept(PageNumber(page))),
            reason().prop_map(Standing::Refused),
            reason().prop_map(Standing::Discarded),
        ]
    }

    prop_compose! {
        fn url_record()(
            (url, anchor, detail) in (".*", ".*", ".{0,9}"),
            (site, found_on, depth) in (any::<u32>(), any::<Option<u32>>(), any::<u16>()),
            discovered in moment(),
            source in prop::sample::select(Source::ALL),
            listed_modified in prop::option::of(moment()),
            standing in standing(),
        ) -> UrlRecord {
            let (site, found_on) = (SiteNumber(site), found_on.map(UrlId));
            UrlRecord {
                url,
                site,
                discovered,
                found_on,
                depth,
                anchor,
                source,
                listed_modified,
                standing,
                detail,
            }
        }
    }

    proptest! {
        #[test]
        fn a_record_comes_back(record in url_record()) {
            prop_assert_eq!(UrlRecord::decode(&record.encode()), Ok(record));
        }

        #[test]
        fn a_glance_sees_what_the_record_holds(record in url_record(), cut: usize, at: usize, byte: u8) {
            let mut bytes = record.encode();
            let UrlRecord { url, source, standing, .. } = &record;
            let expected = UrlEntry { url, source: *source, standing: *standing };
            prop_assert_eq!(UrlEntry::decode(&bytes), Ok(expected));
            prop_assert!(UrlEntry::decode(&bytes[..cut % bytes.len()]).is_err());
            let at = at % bytes.len();
            bytes[at] = byte;
            prop_assert_eq!(UrlEntry::decode(&bytes).is_ok(), UrlRecord::decode(&bytes).is_ok());
        }

        #[test]
        fn a_record_that_is_cut_or_altered_is_no_panic(
            record in url_record(),
            cut: usize,
            at: usize,
            byte: u8,
        ) {
            let mut bytes = record.encode();
            let at = at % bytes.len();
            prop_assert!(UrlRecord::decode(&bytes[..cut % bytes.len()]).is_err());
            bytes[at] = byte;
            let _ = UrlRecord::decode(&bytes);
        }

        #[test]
        fn any_bytes_are_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = UrlRecord::decode(&bytes);
        }
    }

    #[track_caller]
    fn check_site(url: &str, expected: &str) {
        assert_eq!(site_of(url), expected);
    }

    #[test]
    fn the_site_ends_where_the_path_begins() {
        check_site("https://example.org/a//b", "https://example.org");
        check_site("http://example.org:8080/", "http://example.org:8080");
        check_site("http://example.org", "http://example.org");
        check_site("http://example.org?q=/", "http://example.org");
        check_site("no scheme", "no scheme");
        check_site("", "");
    }

    #[test]
    fn urls_of_a_site_share_the_first_half_of_their_key() {
        let [one, two] = ["http://a.example/1", "http://a.example/2"].map(|url| url_key(7, url));
        assert_eq!(one[..8], two[..8]);
        assert_ne!(one[8..], two[8..]);
        assert_ne!(url_key(8, "http://a.example/1"), one);
    }

    #[test]
    fn a_corrupt_record_is_named() {
        let store = crate::key_value::InMemory::new();
        let mut batch = crate::key_value::Batch::new();
        batch.put(Space::Urls, UrlId(258).key(), [9, 9]);
        crate::key_value::KeyValue::commit(&store, batch, crate::key_value::Durability::Buffered)
            .expect("kept");
        let error = AllUrls::new(&store, 0).get(UrlId(258)).expect_err("it is corrupt");
        assert_eq!(
            error.to_string(),
            "the record 00000102 of urls is corrupt: its version is 9, this program knows 1"
        );
    }
}
