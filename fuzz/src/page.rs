//! What a page is called, what its bytes mean, and what has changed in it.

use freshet_fetch::change::difference::{between, lasted};
use freshet_fetch::change::ephemeral::{Ephemeral, PageEphemera, TemplateEphemera};
use freshet_fetch::change::look::Lesson;
use freshet_fetch::change::{Definition, Extent, StandIn};
use freshet_fetch::page::charset::Charset;
use freshet_fetch::page::reading::Limits;
use freshet_fetch::page::{Canonical, PageUrl, Reading, feed as feeds, read, sitemap as sitemaps};
use freshet_store::collection::surt::surt;

use crate::{Parser, base, fingerprint, lossy, seeds, size};

/// A URL, by itself and as a reference on a page; its canonical form does not change any more.
pub fn url(bytes: &[u8]) -> u64 {
    let canonical = Canonical::default();
    let text = lossy(bytes);
    let (alone, joined) = (canonical.of(&text), canonical.join(&base(), &text));
    let key = joined.as_ref().map(|url| surt(url.as_str()).len()).unwrap_or(0);
    for url in [&alone, &joined].into_iter().flatten() {
        let again = canonical.of(url.as_str()).expect("a canonical URL is a URL");
        assert_eq!(again, *url, "a canonical URL stays as it is");
        assert_eq!(PageUrl::stored(url.as_str()).as_ref(), Some(url));
    }
    let alone = alone.map(|url| url.path().len().min(20)).map_err(|error| error.to_string());
    fingerprint((alone, size(key)))
}

/// A page of HTML.
pub fn html(bytes: &[u8]) -> u64 {
    shape(&read_as("text/html", bytes))
}

/// A page of plain text.
pub fn plain(bytes: &[u8]) -> u64 {
    shape(&read_as("text/plain", bytes))
}

/// A sitemap.
pub fn sitemap(bytes: &[u8]) -> u64 {
    let read = sitemaps::read(&base(), None, bytes, &Canonical::default());
    let sizes = [read.pages.len(), read.sitemaps.len(), read.alternates.len()].map(size);
    fingerprint((sizes, read.is_cut))
}

/// A feed, as a list of pages and as a page.
pub fn feed(bytes: &[u8]) -> u64 {
    let read = feeds::read(&base(), None, bytes, &Canonical::default());
    fingerprint((size(read.entries.len()), read.title.is_some()))
        ^ shape(&read_as("application/rss+xml", bytes))
}

/// A page in the charset that its first bytes name, and in the one that is guessed.
pub fn charset(bytes: &[u8]) -> u64 {
    let declared = format!("text/html; charset={}", lossy(&bytes[..bytes.len().min(24)]));
    let found = [Some(declared.as_str()), None].map(|declared| {
        let charset = Charset::of(declared, "a.example", bytes);
        (charset.name(), size(charset.decode(bytes).len()))
    });
    fingerprint(found)
}

/// Two pages, divided by a zero byte, as two visits to a page: what differs, and what is learned from it.
pub fn change(bytes: &[u8]) -> u64 {
    let middle = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len() / 2);
    let (old, new) = bytes.split_at(middle);
    let (old, new) = (read_as("text/html", old), read_as("text/html", new));
    let lesson = Lesson::of_looks(&old, &new);
    let (mut page, mut template) = (PageEphemera::default(), TemplateEphemera::default());
    for _ in 0..3 {
        page.learn(&lesson);
        template.learn(&lesson);
    }
    assert_eq!(PageEphemera::decode(&page.encode()), page);
    assert_eq!(TemplateEphemera::decode(&template.encode()), template);
    let known = Ephemeral::new(&page, &template);
    let kinds = [Extent::Raw, Extent::Text, Extent::Main].map(|extent| {
        let definition = Definition { extent, ..Definition::default() };
        assert_eq!(between(&new, &new, &definition, &Ephemeral::default()), None, "a page is as it is");
        let found =
            [&Ephemeral::default(), &known].map(|ephemeral| between(&old, &new, &definition, ephemeral));
        for difference in found.iter().flatten() {
            assert!((0.0..=1.0).contains(&difference.change.size));
        }
        found.map(|found| found.map(|difference| difference.change.kinds.words()))
    });
    fingerprint((kinds, size(lasted(&old, &new, &known).len()), StandIn::of(&new).is_some()))
}

fn read_as(content_type: &str, body: &[u8]) -> Reading {
    read(&base(), Some(content_type), &["noindex"], &[], body, &Canonical::default(), &Limits::default())
}

/// What was found in a page, roughly.
fn shape(reading: &Reading) -> u64 {
    let sizes =
        [reading.text.len(), reading.links.len(), reading.listed.len(), reading.feeds.len()].map(size);
    fingerprint((sizes, reading.title.is_some(), reading.canonical.is_some(), reading.refresh.is_some()))
}

pub(crate) fn parsers() -> Vec<Parser> {
    vec![
        Parser {
            name: "url",
            seeds: seeds(&[
                "http://user:pw@a.example:80/a/../b;c?d=e&f#g",
                "//b.example/%7e%zz",
                "../x?y=%20",
                "HTTP://[::1]:8080/",
                "http://xn--bcher-kva.example/",
            ]),
            words: &[
                "http://",
                "https:",
                "//",
                "?",
                "#",
                "%2e%2e",
                "%",
                "[::",
                "]",
                "@",
                "xn--",
                "\u{130}",
                "..",
                ";jsessionid=",
                "utm_source=",
                "\u{202e}",
            ],
            read: url,
        },
        Parser { name: "html", seeds: seeds(&HTML), words: &TAGS, read: html },
        Parser {
            name: "plain",
            seeds: seeds(&["Some text with http://a.example/x and\nlines.", "\u{feff}text"]),
            words: &["http://", "\r", "\0", "\u{2028}"],
            read: plain,
        },
        Parser { name: "sitemap", seeds: seeds(&SITEMAPS), words: &SITEMAP_WORDS, read: sitemap },
        Parser { name: "feed", seeds: seeds(&FEEDS), words: &FEED_WORDS, read: feed },
        Parser {
            name: "charset",
            seeds: seeds(&[
                "<meta charset=windows-1252>\u{e9}",
                "\u{feff}x",
                "<?xml version='1.0' encoding='shift_jis'?>",
            ]),
            words: &[
                "charset=",
                "utf-16le",
                "gb18030",
                "\0",
                "<meta http-equiv=content-type content='text/html; charset=",
                "iso-2022-jp",
                "\u{1b}$B",
            ],
            read: charset,
        },
        Parser { name: "change", seeds: seeds(&CHANGES), words: &TAGS, read: change },
    ]
}

const HTML: [&str; 2] = [
    "<!DOCTYPE html><html><head><title>T</title><base href=/x/><meta name=robots content=nofollow>\
     <link rel=canonical href=/c><meta http-equiv=refresh content='0;url=/r'></head><body>\
     <p>Hello <b>world</b><a href=/a>A</a><area href=b><iframe src=c></iframe><script>x</script>\
     <!-- c --></body>",
    "<p>&amp;&#x41;&notit;<textarea><a href=x></textarea><svg><a href=y>",
];

const TAGS: [&str; 17] = [
    "<a href=",
    "<title>",
    "</title>",
    "<script>",
    "</script>",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "&#x110000;",
    "&nbsp;",
    "<base href=",
    "<meta charset=utf-16>",
    "\0",
    "<template>",
    "<plaintext>",
    "rel=nofollow",
];

const SITEMAPS: [&str; 3] = [
    "<?xml version=\"1.0\"?><urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><url>\
     <loc>http://a.example/1</loc><lastmod>2026-11-16</lastmod></url></urlset>",
    "<sitemapindex><sitemap><loc>http://a.example/s.xml.gz</loc></sitemap></sitemapindex>",
    "http://a.example/1\nhttp://a.example/2\n",
];

const SITEMAP_WORDS: [&str; 13] = [
    "<url>",
    "</url>",
    "<loc>",
    "</loc>",
    "<lastmod>",
    "<![CDATA[",
    "]]>",
    "&amp;",
    "<!ENTITY x \"y\">",
    "&x;",
    "<!--",
    "2026-11-16T00:00:00+99:99",
    "<?",
];

const FEEDS: [&str; 3] = [
    "<rss version=\"2.0\"><channel><title>T</title><item><link>http://a.example/1</link>\
     <pubDate>Mon, 16 Nov 2026 01:00:00 GMT</pubDate><guid>x</guid></item></channel></rss>",
    "<feed xmlns=\"http://www.w3.org/2005/Atom\"><entry><link href=\"/1\"/>\
     <updated>2026-11-16T01:00:00Z</updated><title type=\"html\">&lt;b&gt;</title></entry></feed>",
    "{\"version\": \"https://jsonfeed.org/version/1.1\", \"items\": [{\"url\": \"/1\", \
     \"date_published\": \"2026-11-16T01:00:00Z\"}]}",
];

const FEED_WORDS: [&str; 11] = [
    "<item>",
    "</item>",
    "<entry>",
    "<link href=",
    "<pubDate>",
    "<updated>",
    "<![CDATA[",
    "{\"items\":",
    "[",
    "xml:base=",
    "Mon, 32 Foo 99999",
];

const CHANGES: [&str; 2] = [
    "<title>A</title><nav>menu</nav><main><p>One word<p>12 views<p>Two</main>\0\
     <title>A</title><nav>menu</nav><main><p>One word<p>13 views<p>Three <a href=/x>x</a></main>",
    "<p>Page not found</p>\0<p>Hello</p>",
];
