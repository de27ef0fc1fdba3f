//! The links of a page, with all their text in one string.
//!
//! A page has dozens of links, and the crawl knows nearly all of them already. Two strings for each,
//! allocated by one thread and freed by another, would cost more than finding and resolving the links. So the
//! text of a URL becomes a [`PageUrl`] only on request. The hash of each URL is computed once, for detecting
//! duplicates, and kept for later lookups.
//!
//! # Promises
//! - Each URL occurs once, in the order of the page, with its first non-empty anchor.

use std::ops::Range;

use super::address::{Outline, PageUrl};
use super::canonical::{Base, Canonical};
use super::number_map::NumberMap;
use super::text::shortened;

/// Maximum length of an anchor text, in bytes.
pub const ANCHOR_BYTES_MAX: usize = 120;

/// Initial capacity per link in bytes: enough for most.
const LINK_BYTES_USUAL: usize = 64;

/// The element or relation that makes a link.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum LinkKind {
    /// `<a href>`.
    Anchor,
    /// `<area href>`.
    Area,
    /// `<frame src>` or `<iframe src>`.
    Frame,
    /// `rel=next`.
    Next,
    /// `rel=prev`.
    Previous,
}

/// A link to another page.
#[derive(Clone, Copy, Debug)]
pub struct Link<'a> {
    /// The URL of the target.
    pub url: &'a str,
    /// Its [`PageUrl::hash_of`].
    pub hash: u64,
    /// The anchor text, shortened to [`ANCHOR_BYTES_MAX`] bytes; empty if it has none.
    pub anchor: &'a str,
    /// Whether the link or the whole page has `nofollow`.
    pub nofollow: bool,
    /// Its kind.
    pub kind: LinkKind,
    /// The position of its anchor in the text.
    pub place: u32,
    outline: Outline,
}

impl Link<'_> {
    /// The target as an owned URL.
    pub fn to_url(&self) -> PageUrl {
        PageUrl::outlined(self.url, self.outline)
    }
}

/// The links of a page.
#[derive(Clone, Debug, Default)]
pub struct Links {
    written: String,
    entries: Vec<Entry>,
}

/// A link, with the ranges of its texts.
#[derive(Clone, Debug)]
struct Entry {
    url: Range<u32>,
    anchor: Range<u32>,
    outline: Outline,
    hash: u64,
    place: u32,
    kind: LinkKind,
    nofollow: bool,
}

impl Links {
    /// The links in page order.
    pub fn iter(&self) -> impl Iterator<Item = Link<'_>> {
        self.entries.iter().map(|entry| Link {
            url: self.text(&entry.url),
            hash: entry.hash,
            anchor: self.text(&entry.anchor),
            nofollow: entry.nofollow,
            kind: entry.kind,
            place: entry.place,
            outline: entry.outline,
        })
    }

    /// Number of links.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no links.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Marks all links as `nofollow`.
    pub(super) fn follow_none(&mut self) {
        self.entries.iter_mut().for_each(|entry| entry.nofollow = true);
    }

    fn text(&self, place: &Range<u32>) -> &str {
        &self.written[place.start as usize..place.end as usize]
    }

    /// Appends a text.
    fn write(&mut self, text: &str) -> Range<u32> {
        let start = self.written.len();
        self.written.push_str(text);
        start as u32..self.written.len() as u32
    }
}

/// A link to be added.
pub(super) struct Found<'a> {
    pub(super) target: &'a str,
    pub(super) anchor: &'a str,
    pub(super) nofollow: bool,
    pub(super) kind: LinkKind,
    pub(super) place: u32,
}

/// Collects links.
#[derive(Debug, Default)]
pub(super) struct LinksBuilder {
    links: Links,
    /// The index of the entry with each hash.
    seen: NumberMap<u64, usize>,
}

impl LinksBuilder {
    /// Makes room for `count` links.
    pub(super) fn reserve(&mut self, count: usize) {
        self.links.entries.reserve(count);
        self.links.written.reserve(count * LINK_BYTES_USUAL);
        self.seen.reserve(count);
    }

    /// Adds a link. Targets that are not pages are skipped. A duplicate completes the known link.
    pub(super) fn add(&mut self, canonical: &Canonical, base: &mut Base, found: &Found<'_>) {
        let links = &mut self.links;
        let start = links.written.len();
        let Ok(outline) = canonical.write(base, found.target, &mut links.written) else {
            return links.written.truncate(start);
        };
        let url = start as u32..links.written.len() as u32;
        let hash = PageUrl::hash_of(links.text(&url));
        let known = *self.seen.entry(hash).or_insert(links.entries.len());
        let anchor = shortened(found.anchor, ANCHOR_BYTES_MAX);
        match links.entries.get(known) {
            Some(entry) if links.text(&entry.url) == links.text(&url) => {
                let is_nameless = entry.anchor.is_empty();
                links.written.truncate(start);
                if is_nameless {
                    links.entries[known].anchor = links.write(anchor);
                }
                links.entries[known].nofollow &= found.nofollow;
            }
            // Two URLs with one hash: the second may then occur twice, which is harmless.
            _ => {
                let anchor = links.write(anchor);
                let Found { nofollow, kind, place, .. } = *found;
                links.entries.push(Entry { url, anchor, outline, hash, place, kind, nofollow });
            }
        }
    }

    /// The collected links.
    pub(super) fn finish(self) -> Links {
        self.links
    }
}
