//! The address of a page: its URL in canonical form.
//!
//! One string that is stored, compared and sent unchanged, with the positions of host and path.
//! [`Canonical`](super::canonical::Canonical) makes it from arbitrary text, and [`PageUrl::stored`] reads it
//! back from our own files.
//!
//! # Promises
//! - Every part is a slice of the one string: `site` followed by `path_and_query` is the whole.
//! - A canonical URL is read back equal; text that cannot be canonical is refused.
//! - Order, equality and hash are those of the string.

use std::fmt;

use xxhash_rust::xxh3::xxh3_64;

/// Maximum length of a URL, in bytes. Longer ones are refused: in practice they are traps, or carry session
/// state.
pub const URL_BYTES_MAX: usize = 2_000;

/// A URL in canonical form: http or https, without fragment and credentials.
#[derive(Clone, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct PageUrl {
    /// Printable ASCII, at most [`URL_BYTES_MAX`] bytes. The outline follows from it, so ordering by the text
    /// suffices.
    text: Box<str>,
    outline: Outline,
}

/// The positions of the parts in the text of a canonical URL.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(super) struct Outline {
    host_end: u16,
    path_start: u16,
    port: u16,
}

impl Outline {
    /// The outline of a text; none if it cannot be a canonical URL.
    pub(super) fn of(text: &str) -> Option<Self> {
        let (host_start, port_by_default) = host_start(text)?;
        // All bytes are checked, without stopping at the first wrong one, so that the loop can be vectorised.
        let is_written = text.bytes().fold(true, |is_written, byte| is_written & is_written_as_it_is(byte));
        if URL_BYTES_MAX < text.len() || !is_written {
            return None;
        }
        let path_start = host_start + text[host_start..].find('/')?;
        let authority = &text[host_start..path_start];
        // The colons of an IPv6 address are between brackets.
        let host_length = match authority.rfind(']') {
            Some(bracket) => bracket + 1,
            None => authority.find(':').unwrap_or(authority.len()),
        };
        let port = match &authority[host_length..] {
            "" => port_by_default,
            port => port.strip_prefix(':').filter(|digits| is_number(digits))?.parse().ok()?,
        };
        let host_is_plain = 0 < host_length && !authority.bytes().any(|byte| matches!(byte, b'@' | b'?'));
        let port_is_needed = host_length == authority.len() || port != port_by_default;
        let query_is_not_empty = text[path_start..].find('?') != Some(text.len() - path_start - 1);
        let host_end = (host_start + host_length) as u16;
        let is_canonical = host_is_plain && port_is_needed && query_is_not_empty;
        is_canonical.then_some(Self { host_end, path_start: path_start as u16, port })
    }
}

impl PageUrl {
    /// Reads back the result of [`as_str`](Self::as_str), without canonicalising it again; none if it cannot
    /// be that.
    pub fn stored(text: &str) -> Option<Self> {
        Outline::of(text).map(|outline| Self::outlined(text, outline))
    }

    /// A URL with this text, whose outline the caller knows.
    pub(super) fn outlined(text: impl Into<Box<str>>, outline: Outline) -> Self {
        let text = text.into();
        debug_assert_eq!(Outline::of(&text), Some(outline), "{text}");
        Self { text, outline }
    }

    /// The URL of `path_and_query` on this URL's site; none if the path has characters that are not
    /// canonical.
    pub fn on_same_site(&self, path_and_query: &str) -> Option<Self> {
        if !path_and_query.starts_with('/') {
            return None;
        }
        let mut text = String::with_capacity(self.site().len() + path_and_query.len());
        text.push_str(self.site());
        text.push_str(path_and_query);
        let is_fit = text.len() <= URL_BYTES_MAX && path_and_query.bytes().all(is_written_as_it_is);
        is_fit.then(|| Self { text: text.into_boxed_str(), outline: self.outline })
    }

    /// The positions of its parts, which are the same for all URLs of its site.
    pub(super) fn outline(&self) -> Outline {
        self.outline
    }

    /// The hash of a URL's text.
    pub fn hash_of(text: &str) -> u64 {
        xxh3_64(text.as_bytes())
    }

    /// The whole URL.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Scheme and authority, `scheme://host[:port]`: the unit of politeness and robots rules.
    pub fn site(&self) -> &str {
        &self.text[..usize::from(self.outline.path_start)]
    }

    /// The host: a name in ASCII, or an address (an IPv6 one in brackets).
    pub fn host(&self) -> &str {
        &self.text[self.scheme_bytes()..usize::from(self.outline.host_end)]
    }

    /// The port, even if the URL omits it.
    pub fn port(&self) -> u16 {
        self.outline.port
    }

    /// Whether the scheme is https.
    pub fn is_https(&self) -> bool {
        self.text.as_bytes()[4] == b's'
    }

    /// The path, which begins with a slash.
    pub fn path(&self) -> &str {
        let rest = self.path_and_query();
        rest.find('?').map_or(rest, |question| &rest[..question])
    }

    /// The query without its question mark, if there is one. It is never empty.
    pub fn query(&self) -> Option<&str> {
        let rest = self.path_and_query();
        rest.find('?').map(|question| &rest[question + 1..])
    }

    /// The path and the query, as in the request line.
    pub fn path_and_query(&self) -> &str {
        &self.text[usize::from(self.outline.path_start)..]
    }

    fn scheme_bytes(&self) -> usize {
        if self.is_https() { "https://".len() } else { "http://".len() }
    }
}

impl fmt::Display for PageUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl fmt::Debug for PageUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "PageUrl({})", self.text)
    }
}

/// The position of the host, and the default port of the scheme.
fn host_start(text: &str) -> Option<(usize, u16)> {
    if text.starts_with("https://") {
        Some(("https://".len(), 443))
    } else if text.starts_with("http://") {
        Some(("http://".len(), 80))
    } else {
        None
    }
}

/// Whether a canonical URL may contain the byte: printable ASCII, except `#`.
fn is_written_as_it_is(byte: u8) -> bool {
    byte.is_ascii_graphic() && byte != b'#'
}

fn is_number(digits: &str) -> bool {
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, site: &str, host: &str, port: u16, path: &str, query: Option<&str>) {
        let url = PageUrl::stored(text).expect("a canonical URL");
        assert_eq!(url.as_str(), text);
        assert_eq!((url.site(), url.host(), url.port()), (site, host, port));
        assert_eq!((url.path(), url.query()), (path, query));
        assert_eq!(format!("{}{}", url.site(), url.path_and_query()), text);
    }

    #[test]
    fn the_parts_of_a_url_are_slices_of_it() {
        check("http://a.example/", "http://a.example", "a.example", 80, "/", None);
        check("https://a.example/b?c=d?e", "https://a.example", "a.example", 443, "/b", Some("c=d?e"));
        check("http://127.0.0.1:8080/x", "http://127.0.0.1:8080", "127.0.0.1", 8080, "/x", None);
        check("https://[::1]:99/", "https://[::1]:99", "[::1]", 99, "/", None);
        check("http://[::1]/a:b", "http://[::1]", "[::1]", 80, "/a:b", None);
    }

    #[test]
    fn only_https_is_https() {
        assert!(PageUrl::stored("https://a.example/").unwrap().is_https());
        assert!(!PageUrl::stored("http://a.example/").unwrap().is_https());
    }

    #[test]
    fn text_that_was_never_canonical_is_not_read_back() {
        let long = format!("http://a.example/{}", "x".repeat(URL_BYTES_MAX));
        for text in [
            "",
            "http",
            "http://",
            "http://a.example",
            "ftp://a.example/",
            "http:///x",
            "http://a.example/#x",
            "http://u@a.example/",
            "http://a.example:80/",
            "https://a.example:443/",
            "http://a.example:/",
            "http://a.example:+1/",
            "http://a.example:65536/",
            "http://a.example/ü",
            "http://a.example/ x",
            "http://:1/",
            "http://a.example?x/",
            "http://a.example/?",
            &long,
        ] {
            assert_eq!(PageUrl::stored(text), None, "{text}");
        }
    }

    #[test]
    fn another_path_of_the_same_site_keeps_the_site() {
        let url = PageUrl::stored("https://a.example:99/b?c").unwrap();
        assert_eq!(url.on_same_site("/robots.txt"), PageUrl::stored("https://a.example:99/robots.txt"));
        assert_eq!(url.on_same_site("robots.txt"), None);
        assert_eq!(url.on_same_site("/a b"), None);
    }

    #[test]
    fn urls_are_ordered_as_their_text() {
        let urls = ["http://a.example/", "http://a.example/b", "http://b.example:1/", "https://a.example/"];
        assert!(urls.map(|text| PageUrl::stored(text).unwrap()).is_sorted());
    }

    proptest! {
        #[test]
        fn any_text_is_read_back_whole_or_not_at_all(text in "(https?://)?[a-z.:@?#/\\[\\]0-9ü ]{0,40}") {
            if let Some(url) = PageUrl::stored(&text) {
                prop_assert_eq!(url.as_str(), &text);
                prop_assert_eq!(format!("{}{}", url.site(), url.path_and_query()), text);
                prop_assert!(!url.host().is_empty() && url.path().starts_with('/'));
            }
        }
    }
}
