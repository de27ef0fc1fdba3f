//! What the bytes of a response mean to a crawler: text to compare, links to follow, wishes to respect.
//!
//! # Promises
//! - Any bytes can be read; what comes out is bounded by [`Limits`].
//! - The digest of the text and its simhash depend on the words a reader sees, not on markup, scripts or line ends.
//! - Each URL stands once among the links, in the order of the page, with its first anchor that says something.
//! - A page that asks not to be followed has no link without `nofollow`.

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_64;

use super::address::PageUrl;
use super::canonical::{Base, Canonical};
use super::charset::Charset;
use super::digest::{self, Digest};
use super::html::{Markup, ReferenceKind};
use super::kind::Kind;
use super::link_header;
use super::listed::Listed;
use super::robots_meta::RobotsMeta;
use super::simhash::simhash;
use super::text::{TextBuilder, shortened};

/// The longest anchor text that is kept, in bytes.
pub const ANCHOR_BYTES_MAX: usize = 120;

/// How much of a response is read.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Limits {
    /// Bytes of a body that are looked at; the digest of the raw bytes is of all.
    pub body_bytes: usize,
    /// Bytes of visible text that are kept.
    pub text_bytes: usize,
    /// References that are looked at; further ones are only counted.
    pub links: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { body_bytes: 16 << 20, text_bytes: 4 << 20, links: 100_000 }
    }
}

/// What a response means.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The sort of document.
    pub kind: Kind,
    /// Its character encoding; nothing for a document that is not text.
    pub charset: Option<Charset>,
    /// Its title, if it has one.
    pub title: Option<String>,
    /// The visible text in canonical form: words with single spaces, blocks on lines of their own. Of a feed or a sitemap,
    /// the entries, one a line.
    pub text: String,
    /// The digest of the body as it came.
    pub raw_digest: Digest,
    /// The digest of the text; of a document that is not text, that of its bytes.
    pub text_digest: Digest,
    /// The simhash of the text.
    pub simhash: u64,
    /// The pages it refers a reader to.
    pub links: Vec<Link>,
    /// References that were over the limit.
    pub links_left_out: usize,
    /// The URL that the document calls its own, if it names one; it may be the page's.
    pub canonical: Option<PageUrl>,
    /// Other forms of the page: languages, devices.
    pub alternates: Vec<PageUrl>,
    /// Feeds that the page announces.
    pub feeds: Vec<PageUrl>,
    /// What the page asks of robots, in itself and in the header.
    pub robots: RobotsMeta,
    /// Where the page sends its reader by itself.
    pub refresh: Option<PageUrl>,
    /// Pages that a feed or a sitemap lists.
    pub listed: Vec<Listed>,
    /// Sitemaps that an index of sitemaps lists.
    pub sitemaps: Vec<Listed>,
}

/// A page that a page refers to.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Link {
    /// The page.
    pub url: PageUrl,
    /// What the link is called, shortened to [`ANCHOR_BYTES_MAX`] bytes; empty if it has no text.
    pub anchor: String,
    /// Whether the link, or the whole page, asks not to be followed.
    pub nofollow: bool,
    /// How it is made.
    pub kind: LinkKind,
}

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

/// What a response means. `x_robots_tag` and `link_headers` are the values of those headers, one for each line.
pub fn read(
    url: &PageUrl,
    content_type: Option<&str>,
    x_robots_tag: &[&str],
    link_headers: &[&str],
    body: &[u8],
    canonical: &Canonical,
    limits: &Limits,
) -> Reading {
    let raw_digest = digest::of_bytes(body);
    let body = &body[..body.len().min(limits.body_bytes)];
    let mut reading = Reading::empty(Kind::of(content_type, url.path(), body), raw_digest);
    for header in x_robots_tag {
        reading.robots.obey_header(header);
    }
    let mut reader = Reader { url, content_type, body, canonical, limits, reading, seen: HashMap::new() };
    match reader.reading.kind {
        Kind::Html | Kind::Xhtml => reader.read_html(),
        Kind::Text => reader.read_text(),
        Kind::Feed | Kind::Sitemap | Kind::Other => {}
    }
    reader.read_link_headers(link_headers);
    reader.finish()
}

impl Reading {
    /// Every page that the document names and a crawler may follow, with the name it gives it.
    pub fn discoveries(&self) -> impl Iterator<Item = (&PageUrl, &str)> {
        let links =
            self.links.iter().filter(|link| !link.nofollow).map(|link| (&link.url, link.anchor.as_str()));
        let named = self.canonical.iter().chain(&self.refresh).chain(&self.alternates).chain(&self.feeds);
        let listed = self.listed.iter().map(|entry| &entry.url);
        links.chain(named.chain(listed).filter(|_| self.robots.follow).map(|url| (url, "")))
    }

    fn empty(kind: Kind, raw_digest: Digest) -> Self {
        Self {
            kind,
            charset: None,
            title: None,
            text: String::new(),
            raw_digest,
            text_digest: raw_digest,
            simhash: 0,
            links: Vec::new(),
            links_left_out: 0,
            canonical: None,
            alternates: Vec::new(),
            feeds: Vec::new(),
            robots: RobotsMeta::default(),
            refresh: None,
            listed: Vec::new(),
            sitemaps: Vec::new(),
        }
    }
}

/// A response that is being read.
struct Reader<'a> {
    url: &'a PageUrl,
    content_type: Option<&'a str>,
    body: &'a [u8],
    canonical: &'a Canonical,
    limits: &'a Limits,
    reading: Reading,
    /// Where each URL that was met stands in its list, by the list and the hash of its text.
    seen: HashMap<(List, u64), usize>,
}

/// The lists in which a URL stands once.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum List {
    Links,
    Alternates,
    Feeds,
}

impl Reader<'_> {
    fn read_html(&mut self) {
        let charset = Charset::of(self.content_type, self.url.host(), self.body);
        let is_xml = self.reading.kind == Kind::Xhtml;
        let markup =
            Markup::read(&charset.decode(self.body), is_xml, self.limits.text_bytes, self.limits.links);
        self.reading.charset = Some(charset);
        self.reading.links_left_out = markup.references_left_out;
        self.reading.robots.restrict(markup.robots);
        let mut base = match &markup.base {
            Some(href) => Base::with_href(self.url, href),
            None => Base::of(self.url),
        };
        for reference in &markup.references {
            if let Ok(target) = self.canonical.resolve(&mut base, &markup.target(reference)) {
                self.add(reference.kind, target, &markup.anchor(reference), reference.nofollow);
            }
        }
        self.reading.title = markup.title;
        self.reading.text = markup.text;
    }

    fn read_text(&mut self) {
        let charset = Charset::of(self.content_type, self.url.host(), self.body);
        let mut text = TextBuilder::new(self.limits.text_bytes);
        for line in charset.decode(self.body).lines() {
            text.push(line.as_bytes());
            text.end_block();
        }
        self.reading.charset = Some(charset);
        self.reading.text = text.finish();
    }

    /// The references of a header are relative to the page itself, whatever `<base>` it has.
    fn read_link_headers(&mut self, headers: &[&str]) {
        let mut base = Base::of(self.url);
        for link in headers.iter().flat_map(|header| link_header::links(header)) {
            let Some(kind) = ReferenceKind::of_relations(link.relations, link.media_type) else { continue };
            if let Ok(target) = self.canonical.resolve(&mut base, link.target) {
                self.add(kind, target, "", false);
            }
        }
    }

    fn finish(self) -> Reading {
        let mut reading = self.reading;
        if !reading.robots.follow {
            reading.links.iter_mut().for_each(|link| link.nofollow = true);
        }
        if reading.kind != Kind::Other {
            reading.text_digest = digest::of_text(&reading.text);
            reading.simhash = simhash(&reading.text);
        }
        reading
    }

    fn add(&mut self, kind: ReferenceKind, url: PageUrl, anchor: &str, nofollow: bool) {
        match kind {
            ReferenceKind::Anchor => self.add_link(LinkKind::Anchor, url, anchor, nofollow),
            ReferenceKind::Area => self.add_link(LinkKind::Area, url, anchor, nofollow),
            ReferenceKind::Frame => self.add_link(LinkKind::Frame, url, anchor, nofollow),
            ReferenceKind::Next => self.add_link(LinkKind::Next, url, anchor, nofollow),
            ReferenceKind::Previous => self.add_link(LinkKind::Previous, url, anchor, nofollow),
            ReferenceKind::Canonical => _ = self.reading.canonical.get_or_insert(url),
            ReferenceKind::Refresh => _ = self.reading.refresh.get_or_insert(url),
            ReferenceKind::Alternate if self.is_new(List::Alternates, &url) => {
                self.reading.alternates.push(url)
            }
            ReferenceKind::Feed if self.is_new(List::Feeds, &url) => self.reading.feeds.push(url),
            ReferenceKind::Alternate | ReferenceKind::Feed => {}
        }
    }

    fn add_link(&mut self, kind: LinkKind, url: PageUrl, anchor: &str, nofollow: bool) {
        let links = &mut self.reading.links;
        let place = *self.seen.entry((List::Links, hash(&url))).or_insert(links.len());
        match links.get_mut(place) {
            Some(known) if known.url == url => {
                known.nofollow &= nofollow;
                if known.anchor.is_empty() {
                    known.anchor = shortened(anchor, ANCHOR_BYTES_MAX).into();
                }
            }
            // Two URLs with one hash: the second may then stand twice, which harms nobody.
            _ => links.push(Link { url, anchor: shortened(anchor, ANCHOR_BYTES_MAX).into(), nofollow, kind }),
        }
    }

    fn is_new(&mut self, list: List, url: &PageUrl) -> bool {
        self.seen.insert((list, hash(url)), 0).is_none()
    }
}

fn hash(url: &PageUrl) -> u64 {
    xxh3_64(url.as_str().as_bytes())
}
