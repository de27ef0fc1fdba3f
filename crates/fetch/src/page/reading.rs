//! Reading a response: its text for comparison, its links, and its robots rules.
//!
//! # Promises
//! - Any bytes can be read; the result is bounded by [`Limits`].
//! - The digest of the text depends on the visible words, not on markup, scripts or line ends. The simhash
//!   depends in the same way on the words of the main text.
//! - A page with `nofollow` has no link without it.

use std::ops::Range;

use super::address::PageUrl;
use super::blocks::{self, Block};
use super::canonical::{Base, Canonical};
use super::charset::Charset;
use super::digest::{self, Digest};
use super::feed;
use super::html::{Markup, ReferenceKind};
use super::kind::Kind;
use super::link_header;
use super::links::{Found, Link, LinkKind, Links, LinksBuilder};
use super::listed::Listed;
use super::number_map::NumberMap;
use super::robots_meta::RobotsMeta;
use super::selector::Selector;
use super::simhash::simhash_of_parts;
use super::sitemap;
use super::text::TextBuilder;

/// Limits of what is read of a response.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Limits {
    /// Maximum number of bytes of a body that are read. The digest of the raw bytes covers all.
    pub body_bytes: usize,
    /// Maximum number of bytes of visible text.
    pub text_bytes: usize,
    /// Maximum number of references; further ones are only counted.
    pub links: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { body_bytes: 16 << 20, text_bytes: 4 << 20, links: 100_000 }
    }
}

/// The parsed contents of a response.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The type of document.
    pub kind: Kind,
    /// Its character encoding; none for a document that is not text.
    pub charset: Option<Charset>,
    /// Its title, if it has one.
    pub title: Option<String>,
    /// The visible text in canonical form: words with single spaces, blocks on lines of their own. For a feed
    /// or a sitemap, one entry per line.
    pub text: String,
    /// The text in pieces, one per element, in text order.
    pub blocks: Vec<Block>,
    /// The labels of the elements, by path.
    pub labels: Vec<(u32, String)>,
    /// Length of the body as received, in bytes.
    pub bytes: usize,
    /// The digest of the body.
    pub raw_digest: Digest,
    /// The digest of the text; that of the bytes if the document is not text.
    pub text_digest: Digest,
    /// The simhash of the main text.
    pub simhash: u64,
    /// The links that a reader can follow.
    pub links: Links,
    /// Number of references over the limit.
    pub links_left_out: usize,
    /// The canonical URL that the document states, if any; it may be the page's own.
    pub canonical: Option<PageUrl>,
    /// Other versions of the page: languages, devices.
    pub alternates: Vec<PageUrl>,
    /// Feeds that the page links to.
    pub feeds: Vec<PageUrl>,
    /// Robots rules of the page and of the header.
    pub robots: RobotsMeta,
    /// Whether the page has a password field.
    pub has_password: bool,
    /// The target of an automatic refresh.
    pub refresh: Option<PageUrl>,
    /// Pages that a feed or a sitemap lists.
    pub listed: Vec<Listed>,
    /// Sitemaps that an index of sitemaps lists.
    pub sitemaps: Vec<Listed>,
}

/// Reads a response. `x_robots_tag` and `link_headers` are the values of those headers, one for each header
/// line.
///
/// # Examples
///
/// ```
/// use freshet_fetch::page::reading::Limits;
/// use freshet_fetch::page::{Canonical, read};
///
/// let canonical = Canonical::default();
/// let url = canonical.of("http://a.example/dir/page")?;
/// let body = b"<title>A page</title><main><p>Two words. <a href='../b?utm_source=x'>Next</a></main>";
/// let page = read(&url, Some("text/html"), &[], &[], body, &canonical, &Limits::default());
///
/// assert_eq!(page.title.as_deref(), Some("A page"));
/// let links: Vec<_> = page.links.iter().map(|link| (link.url, link.anchor)).collect();
/// assert_eq!(links, [("http://a.example/b", "Next")]);
/// assert!(page.main_text().contains("Two words."));
/// # Ok::<(), freshet_fetch::page::UrlRefused>(())
/// ```
pub fn read(
    url: &PageUrl,
    content_type: Option<&str>,
    x_robots_tag: &[&str],
    link_headers: &[&str],
    body: &[u8],
    canonical: &Canonical,
    limits: &Limits,
) -> Reading {
    read_selecting(url, content_type, x_robots_tag, link_headers, body, canonical, limits, [&[], &[]])
}

/// Like [`read`], and marks the blocks that the first selectors include and the second exclude.
#[expect(clippy::too_many_arguments, reason = "those of `read` and one more")]
pub fn read_selecting(
    url: &PageUrl,
    content_type: Option<&str>,
    x_robots_tag: &[&str],
    link_headers: &[&str],
    body: &[u8],
    canonical: &Canonical,
    limits: &Limits,
    selectors: [&[Selector]; 2],
) -> Reading {
    let (bytes, raw_digest) = (body.len(), digest::of_bytes(body));
    let body = &body[..body.len().min(limits.body_bytes)];
    let mut reading = Reading::empty(Kind::of(content_type, url.path(), body), bytes, raw_digest);
    for header in x_robots_tag {
        reading.robots.obey_header(header);
    }
    let (links, alternates, feeds) = <_>::default();
    let mut reader =
        Reader { url, content_type, body, canonical, limits, selectors, reading, links, alternates, feeds };
    match reader.reading.kind {
        Kind::Html | Kind::Xhtml => reader.read_html(),
        Kind::Text => reader.read_text(),
        Kind::Feed => reader.read_feed(),
        Kind::Sitemap => reader.read_sitemap(),
        Kind::Other => {}
    }
    reader.read_link_headers(link_headers);
    reader.finish()
}

impl Reading {
    /// The links without `nofollow`.
    pub fn followed_links(&self) -> impl Iterator<Item = Link<'_>> {
        self.links.iter().filter(|link| !link.nofollow)
    }

    /// The other pages that the document names, unless it has `nofollow`.
    pub fn named_pages(&self) -> impl Iterator<Item = &PageUrl> {
        let named = self.canonical.iter().chain(&self.refresh).chain(&self.alternates).chain(&self.feeds);
        named.chain(self.listed.iter().map(|entry| &entry.url)).filter(|_| self.robots.follow)
    }

    /// The main text: the visible text without navigation, headers, footers and sidebars.
    pub fn main_text(&self) -> String {
        let mut main = String::with_capacity(self.text.len());
        for block in self.blocks.iter().filter(|block| block.is_main) {
            if !main.is_empty() {
                main.push('\n');
            }
            main.push_str(block.text(&self.text));
        }
        main
    }

    /// The ranges of the text that are main text. Blocks with only a space between them are merged, so that
    /// there are few ranges.
    fn main_parts(&self) -> impl Iterator<Item = Range<usize>> {
        let mut blocks = self.blocks.iter().filter(|block| block.is_main).map(Block::range).peekable();
        std::iter::from_fn(move || {
            let mut part = blocks.next()?;
            let text = self.text.as_bytes();
            let goes_on = |part: &Range<usize>, next: &Range<usize>| {
                part.end == next.start && matches!(text.get(next.start), Some(b' ' | b'\n'))
            };
            while let Some(next) = blocks.next_if(|next| goes_on(&part, next)) {
                part.end = next.end;
            }
            Some(part)
        })
    }

    fn empty(kind: Kind, bytes: usize, raw_digest: Digest) -> Self {
        Self {
            kind,
            charset: None,
            title: None,
            text: String::new(),
            blocks: Vec::new(),
            labels: Vec::new(),
            bytes,
            raw_digest,
            text_digest: raw_digest,
            simhash: 0,
            links: Links::default(),
            links_left_out: 0,
            canonical: None,
            alternates: Vec::new(),
            feeds: Vec::new(),
            robots: RobotsMeta::default(),
            has_password: false,
            refresh: None,
            listed: Vec::new(),
            sitemaps: Vec::new(),
        }
    }
}

/// The state of reading a response.
struct Reader<'a> {
    url: &'a PageUrl,
    content_type: Option<&'a str>,
    body: &'a [u8],
    canonical: &'a Canonical,
    limits: &'a Limits,
    selectors: [&'a [Selector]; 2],
    reading: Reading,
    links: LinksBuilder,
    /// The URLs seen so far, by their hashes: one map for each list in which a URL occurs once.
    alternates: NumberMap<u64, ()>,
    feeds: NumberMap<u64, ()>,
}

impl Reader<'_> {
    fn read_html(&mut self) {
        let charset = Charset::of(self.content_type, self.url.host(), self.body);
        let is_xml = self.reading.kind == Kind::Xhtml;
        let document = charset.decode(self.body);
        let (text_bytes, links) = (self.limits.text_bytes, self.limits.links);
        let markup = Markup::read_selecting(&document, is_xml, text_bytes, links, self.selectors);
        self.reading.charset = Some(charset);
        self.reading.links_left_out = markup.references_left_out;
        self.reading.robots.restrict(markup.robots);
        self.reading.has_password = markup.has_password;
        let mut base = match &markup.base {
            Some(href) => Base::with_href(self.url, href),
            None => Base::of(self.url),
        };
        self.links.reserve(markup.references.len());
        for reference in &markup.references {
            let (target, anchor) = (markup.target(reference), markup.anchor(reference));
            let place = markup.place(reference);
            self.add(&mut base, reference.kind, &target, &anchor, reference.nofollow, place);
        }
        self.reading.title = markup.title;
        self.reading.text = markup.text;
        self.reading.blocks = markup.blocks;
        self.reading.labels = markup.labels;
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

    fn read_feed(&mut self) {
        let feed = feed::read(self.url, self.content_type, self.body, self.canonical);
        let mut text = TextBuilder::new(self.limits.text_bytes);
        for entry in feed.entries {
            text.push(entry.title.as_bytes());
            self.list(entry.page, &mut text);
        }
        self.reading.title = feed.title;
        self.reading.text = text.finish();
    }

    fn read_sitemap(&mut self) {
        let sitemap = sitemap::read(self.url, self.content_type, self.body, self.canonical);
        let mut text = TextBuilder::new(self.limits.text_bytes);
        for page in sitemap.pages {
            self.list(page, &mut text);
        }
        self.reading.sitemaps = sitemap.sitemaps;
        self.reading.alternates = sitemap.alternates;
        self.reading.text = text.finish();
    }

    /// Adds a listed page, and writes its line.
    fn list(&mut self, page: Listed, text: &mut TextBuilder) {
        text.push(b" ");
        text.push(page.url.as_str().as_bytes());
        if let Some(modified) = page.modified {
            text.push(format!(" {}", modified.millis()).as_bytes());
        }
        text.end_block();
        self.reading.listed.push(page);
    }

    /// The references of a header are relative to the page itself, even if it has a `<base>`.
    fn read_link_headers(&mut self, headers: &[&str]) {
        let mut base = Base::of(self.url);
        for link in headers.iter().flat_map(|header| link_header::links(header)) {
            let Some(kind) = ReferenceKind::of_relations(link.relations, link.media_type) else { continue };
            self.add(&mut base, kind, link.target, "", false, 0);
        }
    }

    fn finish(self) -> Reading {
        let mut reading = self.reading;
        reading.links = self.links.finish();
        if !reading.robots.follow {
            reading.links.follow_none();
        }
        if reading.kind != Kind::Other {
            if !reading.kind.is_html() {
                reading.blocks = blocks::of_lines(&reading.text);
            }
            reading.text_digest = digest::of_text(&reading.text);
            reading.simhash = simhash_of_parts(&reading.text, reading.main_parts());
        }
        reading
    }

    fn add(
        &mut self,
        base: &mut Base,
        kind: ReferenceKind,
        target: &str,
        anchor: &str,
        nofollow: bool,
        place: u32,
    ) {
        if let Some(kind) = link_kind(kind) {
            return self.links.add(self.canonical, base, &Found { target, anchor, nofollow, kind, place });
        }
        let Ok(url) = self.canonical.resolve(base, target) else { return };
        match kind {
            ReferenceKind::Canonical => _ = self.reading.canonical.get_or_insert(url),
            ReferenceKind::Refresh => _ = self.reading.refresh.get_or_insert(url),
            ReferenceKind::Alternate if is_new(&mut self.alternates, &url) => {
                self.reading.alternates.push(url);
            }
            ReferenceKind::Feed if is_new(&mut self.feeds, &url) => self.reading.feeds.push(url),
            _ => {}
        }
    }
}

/// The kind of a link that a reader can follow; none for other references.
fn link_kind(kind: ReferenceKind) -> Option<LinkKind> {
    match kind {
        ReferenceKind::Anchor => Some(LinkKind::Anchor),
        ReferenceKind::Area => Some(LinkKind::Area),
        ReferenceKind::Frame => Some(LinkKind::Frame),
        ReferenceKind::Next => Some(LinkKind::Next),
        ReferenceKind::Previous => Some(LinkKind::Previous),
        ReferenceKind::Canonical
        | ReferenceKind::Alternate
        | ReferenceKind::Feed
        | ReferenceKind::Refresh => None,
    }
}

fn is_new(seen: &mut NumberMap<u64, ()>, url: &PageUrl) -> bool {
    seen.insert(PageUrl::hash_of(url.as_str()), ()).is_none()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn page() -> PageUrl {
        PageUrl::stored("http://a.example/d/page").unwrap()
    }

    fn read_html(body: &str) -> Reading {
        read(&page(), Some("text/html"), &[], &[], body.as_bytes(), &Canonical::default(), &Limits::default())
    }

    fn urls<'a>(urls: impl IntoIterator<Item = &'a PageUrl>) -> Vec<&'a str> {
        urls.into_iter().map(PageUrl::as_str).collect()
    }

    #[test]
    fn a_page_is_read_whole() {
        let reading = read_html(
            "<!doctype html><title> The  page </title><base href=/base/><meta name=robots content=noarchive>
             <link rel=canonical href=/own><link rel=alternate hreflang=de href=de><link rel=alternate \
             href=de>
             <link rel=alternate type=application/atom+xml href=feed><link rel=next href=2><meta \
             http-equiv=refresh content='9;url=/new'>
             <p>Hello <a href=one>the <b>first</b></a> and <a href=one#x>again</a> <a rel='x NoFollow' \
             href=//b.example>b</a>",
        );
        assert_eq!(reading.title.as_deref(), Some("The page"));
        assert_eq!(reading.text, "Hello the first and again b");
        assert_eq!(
            reading.links.iter().map(|link| link.url).collect::<Vec<_>>(),
            ["http://a.example/base/2", "http://a.example/base/one", "http://b.example/"]
        );
        let links: Vec<Link<'_>> = reading.links.iter().collect();
        assert_eq!((links[0].kind, links[1].anchor), (LinkKind::Next, "the first"));
        assert!(!links[1].nofollow && links[2].nofollow);
        assert_eq!(links[2].to_url(), PageUrl::stored("http://b.example/").unwrap());
        assert_eq!(urls(&reading.canonical), ["http://a.example/own"]);
        assert_eq!(urls(&reading.alternates), ["http://a.example/base/de"]);
        assert_eq!(urls(&reading.feeds), ["http://a.example/base/feed"]);
        assert_eq!(urls(&reading.refresh), ["http://a.example/new"]);
        assert_eq!(reading.robots, RobotsMeta { archive: false, ..RobotsMeta::default() });
        let followed: Vec<_> = reading.followed_links().map(|link| (link.url, link.anchor)).collect();
        assert_eq!(followed, [("http://a.example/base/2", ""), ("http://a.example/base/one", "the first")]);
        let named: Vec<_> = reading.named_pages().map(PageUrl::path).collect();
        assert_eq!(named, ["/own", "/new", "/base/de", "/base/feed"]);
    }

    #[test]
    fn headers_speak_for_the_page() {
        let (robots, links) =
            (["noindex, nofollow"], ["</own>; rel=canonical", "<2>; rel=next, <x>; rel=stylesheet"]);
        let body = b"<base href=http://b.example/><a href=/x>x</a>";
        let reading = read(
            &page(),
            Some("text/html"),
            &robots,
            &links,
            body,
            &Canonical::default(),
            &Limits::default(),
        );
        assert!(!reading.robots.index && !reading.robots.follow);
        assert_eq!(urls(&reading.canonical), ["http://a.example/own"]);
        assert_eq!(
            reading.links.iter().map(|link| link.url).collect::<Vec<_>>(),
            ["http://b.example/x", "http://a.example/d/2"]
        );
        assert!(reading.links.iter().all(|link| link.nofollow));
        assert_eq!(reading.followed_links().count() + reading.named_pages().count(), 0);
    }

    #[test]
    fn markup_scripts_and_comments_do_not_change_the_text() {
        let (one, other) = (
            read_html("<p>One two<p>three<script>1</script>"),
            read_html("<!-- 7 --><div>One  <i>two</i> three</div><style>x{}</style>"),
        );
        assert_ne!(one.raw_digest, other.raw_digest);
        assert_eq!(one.text_digest, other.text_digest);
        assert_eq!(one.simhash, other.simhash);
        assert_ne!(one.text_digest, read_html("<p>One two four").text_digest);
    }

    #[test]
    fn plain_text_keeps_its_lines() {
        let body = b"One  two\r\n\r\n three\n";
        let reading =
            read(&page(), Some("text/plain"), &[], &[], body, &Canonical::default(), &Limits::default());
        assert_eq!((reading.kind, reading.text.as_str()), (Kind::Text, "One two\nthree"));
    }

    #[test]
    fn lists_are_read_as_their_entries() {
        let body = b"<rss><channel><title>N</title><item><title>T</title><link>/t</link><pubDate>\
            2024-05-06</pubDate></item>";
        let feed = read(
            &page(),
            Some("application/rss+xml"),
            &[],
            &[],
            body,
            &Canonical::default(),
            &Limits::default(),
        );
        assert_eq!(feed.text, "T http://a.example/t 1714953600000");
        assert_eq!(urls(feed.listed.iter().map(|entry| &entry.url)), ["http://a.example/t"]);
        let body = b"<sitemapindex><sitemap><loc>/s.xml</loc></sitemap></sitemapindex>";
        let index =
            read(&page(), Some("text/xml"), &[], &[], body, &Canonical::default(), &Limits::default());
        assert_eq!((index.kind, index.sitemaps.len()), (Kind::Sitemap, 1));
    }

    #[test]
    fn what_is_no_text_is_known_by_its_bytes() {
        let reading =
            read(&page(), Some("image/png"), &[], &[], b"\x89PNG", &Canonical::default(), &Limits::default());
        assert_eq!((reading.kind, reading.text_digest), (Kind::Other, reading.raw_digest));
        assert_eq!((reading.text.as_str(), reading.charset), ("", None));
    }

    #[test]
    fn a_page_of_too_many_links_is_cut_and_says_so() {
        let body: String = (0..50).map(|page| format!("<a href={page}>words of a link</a> ")).collect();
        let limits = Limits { links: 20, text_bytes: 100, ..Limits::default() };
        let reading =
            read(&page(), Some("text/html"), &[], &[], body.as_bytes(), &Canonical::default(), &limits);
        assert_eq!((reading.links.len(), reading.links_left_out), (20, 30));
        assert!(reading.text.len() <= 100);
    }

    #[test]
    fn a_link_without_text_is_called_by_its_picture_or_a_later_link() {
        let reading = read_html("<a href=a><img alt=' Logo '></a><a href=b></a><a href=b>later</a>");
        let anchors: Vec<_> = reading.links.iter().map(|link| link.anchor).collect();
        assert_eq!(anchors, ["Logo", "later"]);
    }

    #[test]
    fn letters_of_other_charsets_are_read() {
        let body = b"<meta charset=windows-1251><p>\xcf\xf0\xe8\xe2\xe5\xf2";
        let reading = read(&page(), None, &[], &[], body, &Canonical::default(), &Limits::default());
        assert_eq!(reading.text, "\u{41f}\u{440}\u{438}\u{432}\u{435}\u{442}");
    }

    proptest! {
        #[test]
        fn any_response_is_read_within_its_limits(
            content_type in proptest::option::of(
                "text/(html|plain|xml)(; charset=(utf-16|shift_jis))?|application/(xhtml\\+xml|rss\\+xml|\
                 json)"
            ),
            robots in "(noindex|freshet|:|,| |x){0,6}",
            link in "(<|>|;|rel=|next|canonical|,|/a){0,10}",
            body in prop_oneof![
                proptest::collection::vec(any::<u8>(), 0..300),
                "(<|</|a|base|title|svg|template|script| href=|x|\"|'|>|&amp;|&#0;|\u{a0}|ü|http://|\
                 //){0,60}".prop_map(String::into_bytes),
            ],
        ) {
            let limits = Limits { body_bytes: 200, text_bytes: 50, links: 3 };
            let reading = read(
                &page(),
                content_type.as_deref(),
                &[&robots],
                &[&link],
                &body,
                &Canonical::default(),
                &limits,
            );
            prop_assert!(reading.text.len() <= 50);
            // Three from the body, plus those of the header.
            prop_assert!(reading.links.len() <= 3 + link.len());
            prop_assert_eq!(reading.raw_digest, digest::of_bytes(&body));
        }
    }
}
