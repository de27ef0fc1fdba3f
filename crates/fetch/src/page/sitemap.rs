//! Parser for sitemaps: lists of pages that a site publishes for crawlers (sitemaps.org, protocol 0.90).
//!
//! It reads lists of URLs with the dates of their last changes, indexes of such lists, plain text with a URL
//! on each line, and any of them compressed with gzip. Other languages of a page (`xhtml:link`) are read as
//! pages without a date.
//!
//! # Promises
//! - At most [`ENTRIES_MAX`] entries and [`UNPACKED_BYTES_MAX`] bytes are read, the protocol's own limits. A
//!   compressed file is not decompressed further than that.
//! - An entry with an invalid date is an entry without a date.
//! - If a list is truncated, the part before is read.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io::Read;

use flate2::read::MultiGzDecoder;
use xxhash_rust::xxh3::xxh3_64;

use super::address::PageUrl;
use super::canonical::{Base, Canonical};
use super::charset::Charset;
use super::dates::read_date;
use super::kind::GZIP_MAGIC;
use super::listed::Listed;
use super::xml::{self, Attributes, Visitor};

/// Maximum number of entries of one sitemap.
pub const ENTRIES_MAX: usize = 50_000;

/// Maximum number of bytes of one sitemap, decompressed.
pub const UNPACKED_BYTES_MAX: usize = 50 << 20;

/// The contents of a sitemap.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Sitemap {
    /// The pages it lists, each once.
    pub pages: Vec<Listed>,
    /// The sitemaps it lists, if it is an index, each once.
    pub sitemaps: Vec<Listed>,
    /// Other languages of its pages that were not listed as pages before.
    pub alternates: Vec<PageUrl>,
    /// Whether it was truncated, or exceeded a limit.
    pub is_cut: bool,
}

/// Reads a sitemap that was fetched from `url`.
pub fn read(url: &PageUrl, content_type: Option<&str>, body: &[u8], canonical: &Canonical) -> Sitemap {
    let (body, is_whole) = unpacked(body, UNPACKED_BYTES_MAX);
    let text = Charset::of(content_type, url.host(), &body).decode(&body).into_owned();
    let mut list = List::new(url, canonical);
    let is_well_formed =
        if text.trim_start().starts_with('<') { xml::walk(&text, &mut list) } else { list.read_lines(&text) };
    let is_full = list.is_full();
    list.sitemap.is_cut = !is_whole || !is_well_formed || is_full;
    list.sitemap
}

/// At most `bytes_max` bytes of the body, decompressed if it is compressed, and whether that is all of it.
fn unpacked(body: &[u8], bytes_max: usize) -> (Cow<'_, [u8]>, bool) {
    if !body.starts_with(&GZIP_MAGIC) {
        let start = &body[..body.len().min(bytes_max)];
        return (start.into(), start.len() == body.len());
    }
    let mut plain = Vec::new();
    // One byte more than allowed shows whether there is more. The part before an error in a broken file is
    // kept.
    let result = MultiGzDecoder::new(body).take(bytes_max as u64 + 1).read_to_end(&mut plain);
    let is_whole = result.is_ok() && plain.len() <= bytes_max;
    plain.truncate(bytes_max);
    (plain.into(), is_whole)
}

/// The state of the parser.
struct List<'a> {
    canonical: &'a Canonical,
    base: Base,
    sitemap: Sitemap,
    seen: HashSet<u64>,
    /// The depth of the open `<url>` or `<sitemap>`.
    entry_depth: usize,
    location: String,
    modified: String,
    languages: Vec<String>,
}

impl<'a> List<'a> {
    fn new(url: &PageUrl, canonical: &'a Canonical) -> Self {
        Self {
            canonical,
            base: Base::of(url),
            sitemap: Sitemap::default(),
            seen: HashSet::new(),
            entry_depth: 0,
            location: String::new(),
            modified: String::new(),
            languages: Vec::new(),
        }
    }

    /// Reads one URL per line. Any text is well-formed.
    fn read_lines(&mut self, text: &str) -> bool {
        for line in text.lines().map(str::trim).filter(|line| line.starts_with("http")) {
            if self.is_full() {
                break;
            }
            if let Some(url) = self.new_url(line) {
                self.sitemap.pages.push(Listed { url, modified: None });
            }
        }
        true
    }

    fn end_entry(&mut self, is_index: bool) {
        let modified = read_date(&self.modified);
        let location = std::mem::take(&mut self.location);
        if let Some(url) = self.new_url(&location) {
            let list = if is_index { &mut self.sitemap.sitemaps } else { &mut self.sitemap.pages };
            list.push(Listed { url, modified });
        }
        for language in std::mem::take(&mut self.languages) {
            if let Some(url) = self.new_url(&language).filter(|_| self.sitemap.alternates.len() < ENTRIES_MAX)
            {
                self.sitemap.alternates.push(url);
            }
        }
    }

    /// The URL of a location, if it is valid and was not seen before.
    fn new_url(&mut self, location: &str) -> Option<PageUrl> {
        if location.is_empty() {
            return None;
        }
        let url = self.canonical.resolve(&mut self.base, location).ok()?;
        self.seen.insert(xxh3_64(url.as_str().as_bytes())).then_some(url)
    }
}

/// Maximum number of languages of one entry.
const LANGUAGES_MAX: usize = 500;

impl Visitor for List<'_> {
    fn open(&mut self, depth: usize, name: &str, attributes: &Attributes<'_>) {
        match name {
            "url" | "sitemap" => {
                self.entry_depth = depth;
                self.location.clear();
                self.modified.clear();
                self.languages.clear();
            }
            "link" if depth == self.entry_depth + 1 && self.languages.len() < LANGUAGES_MAX => {
                let is_alternate =
                    attributes.get("rel").is_some_and(|rel| rel.eq_ignore_ascii_case("alternate"));
                self.languages.extend(attributes.get("href").filter(|_| is_alternate));
            }
            _ => {}
        }
    }

    fn close(&mut self, depth: usize, name: &str, text: &str) {
        // Images and videos of a page have locations too, one level deeper.
        match name {
            "loc" if depth == self.entry_depth + 1 => text.clone_into(&mut self.location),
            "lastmod" if depth == self.entry_depth + 1 => text.clone_into(&mut self.modified),
            "url" | "sitemap" => self.end_entry(name == "sitemap"),
            _ => {}
        }
    }

    fn is_full(&self) -> bool {
        ENTRIES_MAX <= self.sitemap.pages.len() + self.sitemap.sitemaps.len()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use proptest::prelude::*;

    use super::*;

    fn read_it(body: &[u8]) -> Sitemap {
        let url = PageUrl::stored("http://a.example/sitemap.xml").unwrap();
        read(&url, None, body, &Canonical::default())
    }

    fn urls(listed: &[Listed]) -> Vec<&str> {
        listed.iter().map(|entry| entry.url.as_str()).collect()
    }

    fn packed(body: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(body).unwrap();
        encoder.finish().unwrap()
    }

    const LIST: &str = "<?xml version='1.0'?><urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9' \
        xmlns:i='x' xmlns:xhtml='y'>
        <url><loc> http://a.example/b?c=1&amp;d=2 </loc><lastmod>2024-05-06</lastmod>
             <i:image><i:loc>http://a.example/picture.png</i:loc></i:image>
             <xhtml:link rel='alternate' hreflang='de' href='/de'/></url>
        <url><loc><![CDATA[/e]]></loc><lastmod>soon</lastmod></url>
        <url><loc>http://a.example/e#again</loc></url><url><loc>mailto:x</loc></url><url></url></urlset>";

    #[test]
    fn pages_are_listed_once_with_dates_that_make_sense() {
        let sitemap = read_it(LIST.as_bytes());
        assert_eq!(urls(&sitemap.pages), ["http://a.example/b?c=1&d=2", "http://a.example/e"]);
        assert!(sitemap.pages[0].modified.is_some());
        assert_eq!(sitemap.pages[1].modified, None);
        assert_eq!(sitemap.alternates, [PageUrl::stored("http://a.example/de").unwrap()]);
        assert!(!sitemap.is_cut);
    }

    #[test]
    fn a_packed_list_is_the_same_list() {
        assert_eq!(read_it(&packed(LIST.as_bytes())), read_it(LIST.as_bytes()));
    }

    #[test]
    fn an_index_lists_sitemaps() {
        let index =
            "<sitemapindex><sitemap><loc>/one.xml.gz</loc><lastmod>2024</lastmod></sitemap></sitemapindex>";
        let sitemap = read_it(index.as_bytes());
        assert_eq!(urls(&sitemap.sitemaps), ["http://a.example/one.xml.gz"]);
        assert!(sitemap.pages.is_empty());
    }

    #[test]
    fn a_text_lists_a_page_on_each_line() {
        let sitemap = read_it(b"\xEF\xBB\xBFhttp://a.example/b\r\n\nnot a page\nhttps://c.example/d\n");
        assert_eq!(urls(&sitemap.pages), ["http://a.example/b", "https://c.example/d"]);
    }

    #[test]
    fn a_list_that_breaks_off_is_read_so_far() {
        let sitemap = read_it(&LIST.as_bytes()[..LIST.find("soon").unwrap()]);
        assert_eq!(urls(&sitemap.pages), ["http://a.example/b?c=1&d=2"]);
        let whole = packed(LIST.as_bytes());
        assert!(read_it(&whole[..whole.len() - 12]).is_cut);
    }

    #[test]
    fn a_list_without_end_is_cut_at_the_limit() {
        let lines: String = (0..ENTRIES_MAX + 10).map(|page| format!("http://a.example/{page}\n")).collect();
        let sitemap = read_it(lines.as_bytes());
        assert_eq!(sitemap.pages.len(), ENTRIES_MAX);
        assert!(sitemap.is_cut);
    }

    #[test]
    fn a_bomb_is_not_unpacked_beyond_the_limit() {
        let bomb = packed(&vec![b' '; 100_000]);
        let (plain, is_whole) = unpacked(&bomb, 99_999);
        assert_eq!((plain.len(), is_whole), (99_999, false));
        let (plain, is_whole) = unpacked(&bomb, 100_000);
        assert_eq!((plain.len(), is_whole), (100_000, true));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(body in prop_oneof![
            proptest::collection::vec(any::<u8>(), 0..200),
            "(<|</|urlset|url|sitemap|loc|lastmod|xhtml:link|>|/>| \
             href='|rel='alternate'|http://a.example/|2024|&amp;|x|'){0,40}"
                .prop_map(String::into_bytes),
            proptest::collection::vec(any::<u8>(), 0..60)
                .prop_map(|bytes| [&GZIP_MAGIC[..], &bytes].concat()),
        ]) {
            let sitemap = read_it(&body);
            prop_assert!(sitemap.pages.len() <= body.len());
        }
    }
}
