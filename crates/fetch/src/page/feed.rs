//! Parser for feeds: RSS (0.9 to 2.0, and 1.0 as RDF), Atom (RFC 4287) and JSON Feed (1.1).
//!
//! The crawler needs only the listed pages, the dates of their changes, and their titles.
//!
//! # Promises
//! - At most [`ENTRIES_MAX`] entries and [`FEED_BYTES_MAX`] bytes are read.
//! - An entry without a usable link is skipped; an invalid date is ignored.
//! - If a feed is truncated, the part before is read.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::address::PageUrl;
use super::canonical::{Base, Canonical};
use super::charset::Charset;
use super::dates::read_date;
use super::listed::Listed;
use super::text::{TextBuilder, shortened};
use super::xml::{self, Attributes, Visitor};

/// Maximum number of entries of one feed. Readers show tens; a longer list is an archive.
pub const ENTRIES_MAX: usize = 2_000;

/// Maximum number of bytes of a feed that are read.
pub const FEED_BYTES_MAX: usize = 8 << 20;

/// Maximum length of an entry's title, in bytes.
const TITLE_BYTES_MAX: usize = 300;

/// The contents of a feed.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Feed {
    /// The title of the feed.
    pub title: Option<String>,
    /// The listed pages.
    pub entries: Vec<Entry>,
    /// Whether it was truncated, or exceeded a limit.
    pub is_cut: bool,
}

/// One entry of a feed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Entry {
    /// The page, and when it was changed or published.
    pub page: Listed,
    /// Its title; may be empty.
    pub title: String,
}

/// Reads a feed that was fetched from `url`.
pub fn read(url: &PageUrl, content_type: Option<&str>, body: &[u8], canonical: &Canonical) -> Feed {
    let start = &body[..body.len().min(FEED_BYTES_MAX)];
    let text = Charset::of(content_type, url.host(), start).decode(start);
    let mut channel = Channel::new(url, canonical);
    let is_well_formed = if text.trim_start().starts_with('{') {
        channel.read_json(&text)
    } else {
        xml::walk(&text, &mut channel)
    };
    channel.feed.is_cut = start.len() < body.len() || !is_well_formed || channel.is_full();
    channel.feed
}

/// The state of the parser.
struct Channel<'a> {
    canonical: &'a Canonical,
    base: Base,
    feed: Feed,
    /// The depth of the open `<item>` or `<entry>`; zero outside of them.
    entry_depth: usize,
    draft: Draft,
}

/// The fields of the open entry.
#[derive(Default)]
struct Draft {
    title: String,
    link: String,
    /// The permanent identifier, which is a URL unless `isPermaLink` is false.
    identifier: String,
    identifier_is_link: bool,
    updated: String,
    published: String,
}

impl<'a> Channel<'a> {
    fn new(url: &PageUrl, canonical: &'a Canonical) -> Self {
        Self {
            canonical,
            base: Base::of(url),
            feed: Feed::default(),
            entry_depth: 0,
            draft: Draft::default(),
        }
    }

    fn end_entry(&mut self) {
        let draft = std::mem::take(&mut self.draft);
        let link = match draft.link.as_str() {
            "" if draft.identifier_is_link => &draft.identifier,
            link => link,
        };
        if link.is_empty() {
            return;
        }
        if let Ok(url) = self.canonical.resolve(&mut self.base, link) {
            let modified = read_date(&draft.updated).or_else(|| read_date(&draft.published));
            self.feed.entries.push(Entry { page: Listed { url, modified }, title: one_line(&draft.title) });
        }
    }

    /// Reads a JSON Feed. Returns whether it was one.
    fn read_json(&mut self, text: &str) -> bool {
        let Ok(feed) = serde_json::from_str::<JsonFeed<'_>>(text) else { return false };
        self.feed.title = feed.title.as_deref().map(one_line).filter(|title| !title.is_empty());
        for item in feed.items {
            if self.is_full() {
                break;
            }
            let Ok(item) = serde_json::from_str::<JsonItem>(item.get()) else { continue };
            self.draft = Draft {
                title: item.title.unwrap_or_default(),
                link: item.url.or(item.external_url).unwrap_or_default(),
                updated: item.date_modified.unwrap_or_default(),
                published: item.date_published.unwrap_or_default(),
                ..Draft::default()
            };
            self.end_entry();
        }
        true
    }
}

impl Visitor for Channel<'_> {
    fn open(&mut self, depth: usize, name: &str, attributes: &Attributes<'_>) {
        match name {
            "item" | "entry" => {
                self.entry_depth = depth;
                self.draft = Draft { identifier_is_link: true, ..Draft::default() };
                // In RSS 1.0 the element itself names the page.
                self.draft.identifier = attributes.get("about").unwrap_or_default();
            }
            "link" if self.is_field(depth) && self.draft.link.is_empty() => {
                let is_page = attributes.get("rel").is_none_or(|rel| rel.eq_ignore_ascii_case("alternate"));
                self.draft.link = attributes.get("href").filter(|_| is_page).unwrap_or_default();
            }
            "guid" if self.is_field(depth) => {
                self.draft.identifier_is_link = attributes.get("isPermaLink").is_none_or(|is| is != "false");
            }
            _ => {}
        }
    }

    fn close(&mut self, depth: usize, name: &str, text: &str) {
        if matches!(name, "item" | "entry") && depth == self.entry_depth {
            self.end_entry();
            self.entry_depth = 0;
        }
        if name == "title"
            && self.entry_depth == 0
            && self.feed.title.is_none()
            && depth <= CHANNEL_TITLE_DEPTH_MAX
        {
            self.feed.title = Some(one_line(text)).filter(|title| !title.is_empty());
        }
        if !self.is_field(depth) {
            return;
        }
        let field = match name {
            "title" => &mut self.draft.title,
            "link" if self.draft.link.is_empty() => &mut self.draft.link,
            "guid" => &mut self.draft.identifier,
            "updated" | "modified" => &mut self.draft.updated,
            "pubDate" | "published" | "issued" | "date" => &mut self.draft.published,
            _ => return,
        };
        text.clone_into(field);
    }

    fn is_full(&self) -> bool {
        ENTRIES_MAX <= self.feed.entries.len()
    }
}

/// Maximum depth of a feed's title: it is in `<feed>` or in `<rss><channel>`, not in a picture of the
/// channel.
const CHANNEL_TITLE_DEPTH_MAX: usize = 3;

impl Channel<'_> {
    /// Whether an element at this depth is a field of the open entry.
    fn is_field(&self, depth: usize) -> bool {
        0 < self.entry_depth && depth == self.entry_depth + 1
    }
}

#[derive(Deserialize)]
struct JsonFeed<'a> {
    title: Option<String>,
    /// Parsed one at a time: an empty item takes three bytes of a feed, and must not take much more memory
    /// here.
    #[serde(borrow, default)]
    items: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct JsonItem {
    url: Option<String>,
    external_url: Option<String>,
    title: Option<String>,
    date_modified: Option<String>,
    date_published: Option<String>,
}

/// A title as one line of canonical text.
fn one_line(title: &str) -> String {
    let mut text = TextBuilder::new(TITLE_BYTES_MAX);
    text.push(shortened(title, 4 * TITLE_BYTES_MAX).as_bytes());
    text.finish()
}

#[cfg(test)]
mod tests {
    use freshet_protocol::time::Timestamp;
    use proptest::prelude::*;

    use super::*;

    fn read_it(body: &[u8]) -> Feed {
        let url = PageUrl::stored("http://a.example/feeds/all").unwrap();
        read(&url, None, body, &Canonical::default())
    }

    #[track_caller]
    fn check(body: &str, title: &str, expected: &[(&str, &str, Option<i64>)]) {
        let feed = read_it(body.as_bytes());
        let found: Vec<_> = feed
            .entries
            .iter()
            .map(|entry| {
                (entry.page.url.as_str(), entry.title.as_str(), entry.page.modified.map(Timestamp::millis))
            })
            .collect();
        assert_eq!(found, expected);
        assert_eq!(feed.title.as_deref().unwrap_or(""), title);
        assert!(!feed.is_cut);
    }

    const MAY_SIXTH: Option<i64> = Some(1_714_953_600_000);

    #[test]
    fn rss_is_read() {
        check(
            "<?xml version='1.0'?><rss version='2.0' xmlns:atom='http://www.w3.org/2005/Atom'><channel>\
             <title>News</title>
             <link>http://a.example/</link><atom:link rel='self' href='http://a.example/feeds/all'/>
             <item><title>One &amp; only</title><link>/one?utm_source=rss</link><pubDate>Mon, 06 May 2024 \
             00:00:00 GMT</pubDate></item>
             <item><guid>http://a.example/two</guid><title>Two</title></item>
             <item><guid isPermaLink='false'>http://a.example/three</guid></item>
             </channel></rss>",
            "News",
            &[("http://a.example/one", "One & only", MAY_SIXTH), ("http://a.example/two", "Two", None)],
        );
    }

    #[test]
    fn rss_as_rdf_is_read() {
        check(
            "<rdf:RDF xmlns:rdf='r' xmlns:dc='d'><channel><title>Old</title></channel>
             <item rdf:about='http://a.example/b'><title>B</title><dc:date>2024-05-06</dc:date></item>\
             </rdf:RDF>",
            "Old",
            &[("http://a.example/b", "B", MAY_SIXTH)],
        );
    }

    #[test]
    fn atom_is_read() {
        check(
            "<feed xmlns='http://www.w3.org/2005/Atom'><title>Log</title><link href='/'/>
             <entry><title type='html'>A</title><link rel='edit' href='/edit'/><link rel='alternate' \
             href='/a'/>
                <published>2020-01-01</published><updated>2024-05-06T00:00:00Z</updated>
                <source><title>Elsewhere</title></source></entry>
             <entry><link href='../b'/><title>B</title><published>2024-05-06</published></entry></feed>",
            "Log",
            &[("http://a.example/a", "A", MAY_SIXTH), ("http://a.example/b", "B", MAY_SIXTH)],
        );
    }

    #[test]
    fn json_feed_is_read() {
        check(
            r#"{"version":"https://jsonfeed.org/version/1.1","title":"J","items":[
                {"id":"1","url":"/x","title":"X","date_published":"2024-05-06T00:00:00Z"},
                {"id":2}, [], {"external_url":"http://b.example/y"}]}"#,
            "J",
            &[("http://a.example/x", "X", MAY_SIXTH), ("http://b.example/y", "", None)],
        );
    }

    #[test]
    fn a_feed_that_breaks_off_is_read_so_far() {
        let feed = read_it(b"<rss><channel><item><link>/a</link></item><item><link>/b</li");
        assert_eq!(feed.entries.len(), 1);
        assert!(feed.is_cut);
    }

    #[test]
    fn a_feed_without_end_is_cut() {
        let feed = read_it("<item><link>/a</link></item>".repeat(ENTRIES_MAX + 1).as_bytes());
        assert_eq!(feed.entries.len(), ENTRIES_MAX);
        assert!(feed.is_cut);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(body in prop_oneof![
            proptest::collection::vec(any::<u8>(), 0..200),
            "(<|</|item|entry|link|title|guid|updated|>|/>| href='|http://a.example/|2024|&amp;|x|\
             '){0,40}".prop_map(String::into_bytes),
            "(\\{|\\}|\\[|\\]|\"items\"|\"url\"|\"title\"|:|,|\"x\"|1|\
             null){0,30}".prop_map(String::into_bytes),
        ]) {
            prop_assert!(read_it(&body).entries.len() <= body.len());
        }
    }
}
