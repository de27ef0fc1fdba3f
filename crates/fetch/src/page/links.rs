//! The links of a page: all their text in one string, for which room is made once.
//!
//! A page has dozens of links, and nearly all of them are known to a crawl already. Two strings for each, made by the thread that reads and let go by the one
//! that keeps, would cost more than to find and resolve the links. So the text of a URL becomes a [`PageUrl`] only where somebody wants one, and the hash by
//! which a URL is known to stand there already is kept for the next who asks.
//!
//! # Promises
//! - Each URL stands once, in the order of the page, with its first anchor that says something.

use std::ops::Range;

use super::address::{Outline, PageUrl};
use super::canonical::{Base, Canonical};
use super::number_map::NumberMap;
use super::text::shortened;

/// The longest anchor text that is kept, in bytes.
pub const ANCHOR_BYTES_MAX: usize = 120;

/// Bytes of a link for which room is made at first: what most have.
const LINK_BYTES_USUAL: usize = 64;

/// How a link is made.
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

/// A page that a page refers to.
#[derive(Clone, Copy, Debug)]
pub struct Link<'a> {
    /// The URL of the page.
    pub url: &'a str,
    /// Its [`PageUrl::hash_of`].
    pub hash: u64,
    /// What the link is called, shortened to [`ANCHOR_BYTES_MAX`] bytes; empty if it has no text.
    pub anchor: &'a str,
    /// Whether the link, or the whole page, asks not to be followed.
    pub nofollow: bool,
    /// How it is made.
    pub kind: LinkKind,
    /// Where in the text its anchor stands.
    pub place: u32,
    outline: Outline,
}

impl Link<'_> {
    /// The page, by a name of its own.
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

/// A link, and where its text stands.
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
    /// The links in the order of the page.
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

    /// How many there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The page asks not to be followed.
    pub(super) fn follow_none(&mut self) {
        self.entries.iter_mut().for_each(|entry| entry.nofollow = true);
    }

    fn text(&self, place: &Range<u32>) -> &str {
        &self.written[place.start as usize..place.end as usize]
    }

    /// Writes a text behind the others.
    fn write(&mut self, text: &str) -> Range<u32> {
        let start = self.written.len();
        self.written.push_str(text);
        start as u32..self.written.len() as u32
    }
}

/// A link that is being added.
pub(super) struct Found<'a> {
    pub(super) target: &'a str,
    pub(super) anchor: &'a str,
    pub(super) nofollow: bool,
    pub(super) kind: LinkKind,
    pub(super) place: u32,
}

/// Links that are being gathered.
#[derive(Debug, Default)]
pub(super) struct LinksBuilder {
    links: Links,
    /// Where the URL of each hash stands.
    seen: NumberMap<u64, usize>,
}

impl LinksBuilder {
    /// Makes room for so many links.
    pub(super) fn reserve(&mut self, count: usize) {
        self.links.entries.reserve(count);
        self.links.written.reserve(count * LINK_BYTES_USUAL);
        self.seen.reserve(count);
    }

    /// Adds a link. What is no URL of a page is passed over, and one that is known is told more of.
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
            // Two URLs with one hash: the second may then stand twice, which harms nobody.
            _ => {
                let anchor = links.write(anchor);
                let Found { nofollow, kind, place, .. } = *found;
                links.entries.push(Entry { url, anchor, outline, hash, place, kind, nofollow });
            }
        }
    }

    /// The links that were gathered.
    pub(super) fn finish(self) -> Links {
        self.links
    }
}
