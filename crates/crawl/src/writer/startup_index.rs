//! Content of the start-up index ([`freshet_store::startup_index`]), which saves a start from reading every
//! URL: for a URL its hash and what the trap defence counts of it, for a page its path. None of that ever
//! changes.
//!
//! The content of a piece is the number of bytes of its URLs (4 bytes), its URLs, and its pages, both in
//! order of their numbers. A URL is its hash (8 bytes), a byte of flags ([`SAME_SITE`] and those below it),
//! and the parts that the flags announce: the hash of its site, the number of names in its path (1 byte, 255
//! for more), the hash without session ids, and three hashes of its query, 8 bytes each. A page is the length
//! of its path (4 bytes) and its path and query. The length is 0 if the page was no longer kept when the
//! start-up index was made. Numbers are little-endian.
//!
//! # Promises
//! - What is encoded decodes to the same. Invalid bytes decode to none.
//! - A URL is written only after the commit that made it known.

use freshet_fetch::page::PageUrl;
use freshet_fetch::page::traps::{QueryTraits, Traits};
use freshet_protocol::ids::{PageNumber, UrlId};
use freshet_protocol::texts::Texts;
use freshet_store::all_urls::Source;
use freshet_store::startup_index::{Piece, Reach, StartupIndex};

use super::known::{Known, UrlHash};

/// Version of the format. It must change when a hash, or what is counted, is computed in another way.
pub(super) const FORM: u32 = 1;

/// The site is that of the URL before it in the piece.
const SAME_SITE: u8 = 1;
/// The URL could be admitted, and has traits.
const HAS_TRAITS: u8 = 2;
/// It has something like a session id.
const HAS_SESSION: u8 = 4;
/// It has a query.
const HAS_QUERY: u8 = 8;
/// It is a seed.
const IS_SEED: u8 = 16;

/// Maximum number of names in a path that is stored: far more than any path may have that is followed.
const SEGMENTS_MAX: usize = u8::MAX as usize;

/// Minimum size of a piece that is written, in bytes: some ten thousand URLs.
const PIECE_BYTES: usize = 128 << 10;

/// What a start needs to know of a URL.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct UrlEntries {
    pub(super) hash: UrlHash,
    /// What the trap defence counts of it. None if it could not be admitted today.
    pub(super) traits: Option<Traits>,
    /// Whether it is a seed.
    pub(super) is_seed: bool,
}

impl UrlEntries {
    /// The entry of a URL. `parsed` is the same URL, if it can be visited.
    pub(super) fn of(url: &str, parsed: Option<&PageUrl>, source: Source) -> Self {
        let traits = parsed
            .map(Traits::of)
            .map(|traits| Traits { segments: traits.segments.min(SEGMENTS_MAX), ..traits });
        Self { hash: Known::hash(url), traits, is_seed: source == Source::Seed }
    }

    fn put(&self, site_before: Option<u64>, output: &mut Vec<u8>) {
        let UrlHash(hash) = self.hash;
        output.extend(hash.to_le_bytes());
        let seed = if self.is_seed { IS_SEED } else { 0 };
        let Some(traits) = &self.traits else { return output.push(seed) };
        let is_same = site_before == Some(traits.site);
        let flag = |holds: bool, flag: u8| if holds { flag } else { 0 };
        output.push(
            seed | HAS_TRAITS
                | flag(is_same, SAME_SITE)
                | flag(traits.masked.is_some(), HAS_SESSION)
                | flag(traits.query.is_some(), HAS_QUERY),
        );
        if !is_same {
            output.extend(traits.site.to_le_bytes());
        }
        output.push(traits.segments.min(SEGMENTS_MAX) as u8);
        output.extend(traits.masked.iter().flat_map(|hash| hash.to_le_bytes()));
        if let Some(query) = &traits.query {
            [query.path, query.lists, query.list].iter().for_each(|hash| output.extend(hash.to_le_bytes()));
        }
    }

    fn take(site_before: Option<u64>, input: &mut Bytes<'_>) -> Option<Self> {
        let hash = UrlHash(input.take_hash()?);
        let flags = input.take::<1>()?[0];
        let has = |flag: u8| flags & flag != 0;
        let is_seed = has(IS_SEED);
        if !has(HAS_TRAITS) {
            return Some(Self { hash, traits: None, is_seed });
        }
        let site = if has(SAME_SITE) { site_before? } else { input.take_hash()? };
        let segments = usize::from(input.take::<1>()?[0]);
        let masked = if has(HAS_SESSION) { Some(input.take_hash()?) } else { None };
        let query = if has(HAS_QUERY) {
            let [path, lists, list] = [input.take_hash()?, input.take_hash()?, input.take_hash()?];
            Some(QueryTraits { path, lists, list })
        } else {
            None
        };
        Some(Self { hash, traits: Some(Traits { site, segments, masked, query }), is_seed })
    }
}

/// The decoded content of a piece.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Leaf {
    pub(super) first_url: UrlId,
    pub(super) urls: Vec<UrlEntries>,
    pub(super) first_page: PageNumber,
    pub(super) paths: Texts,
}

impl Leaf {
    /// Decodes a piece. None if it is invalid.
    pub(super) fn of(piece: &Piece<'_>) -> Option<Self> {
        let mut input = Bytes(piece.content);
        let length = input.take_length()?;
        let mut urls_input = Bytes(input.take_some(length)?);
        let (mut urls, mut site) = (Vec::with_capacity((piece.to.urls - piece.from.urls) as usize), None);
        for _ in piece.from.urls..piece.to.urls {
            let url = UrlEntries::take(site, &mut urls_input)?;
            site = url.traits.as_ref().map(|traits| traits.site).or(site);
            urls.push(url);
        }
        let mut paths = Texts::default();
        for _ in piece.from.pages..piece.to.pages {
            let length = input.take_length()?;
            paths.push(std::str::from_utf8(input.take_some(length)?).ok()?);
        }
        let is_all = urls_input.0.is_empty() && input.0.is_empty();
        let (first_url, first_page) = (UrlId(piece.from.urls), PageNumber(piece.from.pages));
        is_all.then_some(Self { first_url, urls, first_page, paths })
    }

    /// Its last URL, which is checked against the store.
    pub(super) fn last_url(&self) -> Option<(UrlId, &UrlEntries)> {
        let last = self.urls.last()?;
        Some((UrlId(self.first_url.0 + self.urls.len() as u32 - 1), last))
    }

    /// Its last page, which is checked against the store.
    pub(super) fn last_page(&self) -> Option<(PageNumber, &str)> {
        let last = self.paths.len().checked_sub(1)?;
        Some((PageNumber(self.first_page.0 + last as u32), self.paths.get(last)?))
    }
}

/// A reader of bytes, from first to last.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take_some(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }

    fn take_hash(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    fn take_length(&mut self) -> Option<usize> {
        self.take().map(|bytes| u32::from_le_bytes(bytes) as usize)
    }
}

/// The end of the start-up index that is not written yet. URLs and pages are added as they get their numbers,
/// and written in pieces once they are committed.
#[derive(Debug)]
pub(super) struct Notebook {
    startup_index: StartupIndex,
    urls: Vec<u8>,
    pages: Vec<u8>,
    site_before: Option<u64>,
    /// The numbers that it reaches, including what is not written yet.
    reach: Reach,
}

impl Notebook {
    /// Continues a start-up index.
    pub(super) fn new(startup_index: StartupIndex) -> Self {
        let reach = startup_index.reach();
        Self { startup_index, urls: Vec::new(), pages: Vec::new(), site_before: None, reach }
    }

    /// The numbers that it reaches, including what is not written yet.
    pub(super) fn reach(&self) -> Reach {
        self.reach
    }

    /// Adds a URL. One that does not have the next number is ignored, and then the start-up index ends before
    /// it.
    pub(super) fn add_url(&mut self, id: UrlId, url: &UrlEntries) {
        if id.0 == self.reach.urls {
            url.put(self.site_before, &mut self.urls);
            self.site_before = url.traits.as_ref().map(|traits| traits.site).or(self.site_before);
            self.reach.urls += 1;
        }
    }

    /// Adds a page. One that does not have the next number is ignored.
    pub(super) fn add_page(&mut self, page: PageNumber, path: &str) {
        if page.0 == self.reach.pages {
            self.pages.extend((path.len() as u32).to_le_bytes());
            self.pages.extend(path.as_bytes());
            self.reach.pages += 1;
        }
    }

    /// Marks everything as committed. It is written if it is enough for a piece.
    pub(super) fn committed(&mut self) {
        if PIECE_BYTES <= self.urls.len() + self.pages.len() {
            self.write();
        }
    }

    /// Writes what is not written yet, all of which must be committed.
    pub(super) fn write(&mut self) {
        if self.reach == self.startup_index.reach() {
            return;
        }
        let mut content = Vec::with_capacity(4 + self.urls.len() + self.pages.len());
        content.extend((self.urls.len() as u32).to_le_bytes());
        content.append(&mut self.urls);
        content.append(&mut self.pages);
        self.startup_index.append(self.reach, &content);
        self.site_before = None;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(urls: &[UrlEntries], paths: &[String]) -> Vec<u8> {
        let (mut content, mut pages, mut site) = (Vec::new(), Vec::new(), None);
        for url in urls {
            url.put(site, &mut content);
            site = url.traits.as_ref().map(|traits| traits.site).or(site);
        }
        for path in paths {
            pages.extend((path.len() as u32).to_le_bytes());
            pages.extend(path.as_bytes());
        }
        let length = (content.len() as u32).to_le_bytes().to_vec();
        [length, content, pages].concat()
    }

    fn read(content: &[u8], urls: usize, pages: usize) -> Option<Leaf> {
        let from = Reach { urls: 10, pages: 20 };
        let to = Reach { urls: 10 + urls as u32, pages: 20 + pages as u32 };
        Leaf::of(&Piece { from, to, content })
    }

    prop_compose! {
        fn url()(
            hash: u64,
            site in prop::sample::select(vec![1, 2, u64::MAX]),
            segments in 0usize..256,
            masked: Option<u64>,
            query: Option<(u64, u64, u64)>,
            has_traits in prop::bool::weighted(0.9),
            is_seed: bool,
        ) -> UrlEntries {
            let query = query.map(|(path, lists, list)| QueryTraits { path, lists, list });
            let traits = has_traits.then_some(Traits { site, segments, masked, query });
            UrlEntries { hash: UrlHash(hash), traits, is_seed }
        }
    }

    proptest! {
        #[test]
        fn what_is_written_comes_back(
            urls in prop::collection::vec(url(), 0..20),
            paths in prop::collection::vec("/.{0,5}|", 0..5),
            cut: usize,
        ) {
            let content = written(&urls, &paths);
            let leaf = read(&content, urls.len(), paths.len()).expect("it is whole");
            prop_assert_eq!(
                leaf.last_url().map(|(id, url)| (id.0, url.clone())),
                urls.last().map(|url| (9 + urls.len() as u32, url.clone()))
            );
            prop_assert_eq!(
                leaf.last_page().map(|(page, path)| (page.0, path.to_owned())),
                paths.last().map(|path| (19 + paths.len() as u32, path.clone()))
            );
            prop_assert_eq!(
                (0..paths.len()).map(|at| leaf.paths.get(at).expect("there").to_owned()).collect::<Vec<_>>(),
                paths.clone()
            );
            prop_assert_eq!(&leaf.urls, &urls);
            prop_assert_eq!(read(&content[..cut % content.len()], urls.len(), paths.len()), None);
            prop_assert_eq!(read(&content, urls.len() + 1, paths.len()), None);
        }

        #[test]
        fn any_bytes_are_no_panic(
            content in prop::collection::vec(any::<u8>(), 0..200),
            urls in 0usize..9,
            pages in 0usize..9,
        ) {
            let _ = read(&content, urls, pages);
        }
    }
}
