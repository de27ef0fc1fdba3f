//! URL canonicalisation: one address for each page.
//!
//! Parsing, resolving and dot segments follow the WHATWG URL standard (the `url` crate). Further rules give
//! one page one address:
//!
//! - no fragment, no user and password, no default port, no final dot of the host;
//! - escapes in capital letters, none for the unreserved characters of RFC 3986 (section 2.3), and a stray
//!   `%` written `%25`;
//! - no empty query and no empty parameter; parameters keep their order, which may matter to the server;
//! - by default no tracking parameters, and no session id, neither as a parameter nor in the path
//!   (`;jsessionid=..`, `/(S(..))/`): [`super::parameters`].
//!
//! # Promises
//! - Canonical form is a fixed point: canonicalising a canonical URL leaves it unchanged, and
//!   [`PageUrl::stored`] reads it back.
//! - No text makes it panic, and text longer than [`REFERENCE_BYTES_MAX`] is not parsed.
//! - The fast path for plain references gives the same result as the slow path.
//!
//! # Departures
//! Browsers send a stray `%` and the final dot of a host unchanged. Here both are normalised, because two
//! addresses for one page cost a visit each time.

use url::Url;

use super::address::{Outline, PageUrl, URL_BYTES_MAX};
use super::parameters::{is_session_id, is_session_segment, is_tracking, without_session_id};
use super::plain::{Plain, is_no_page, is_unreserved};

/// Maximum length of a reference, in bytes. Longer ones are refused as too long without being parsed.
pub const REFERENCE_BYTES_MAX: usize = 8 * URL_BYTES_MAX;

/// Maximum length of a host name in DNS, in bytes.
pub(super) const HOST_BYTES_MAX: usize = 253;

/// Why a text is not the URL of a page.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum UrlRefused {
    /// The standard's parser failed.
    #[error("not a URL: {0}")]
    Malformed(#[from] url::ParseError),
    /// A `mailto:`, a `javascript:`, a `data:`, ...
    #[error("the scheme is neither http nor https")]
    Scheme,
    /// A host name that DNS cannot contain.
    #[error("the host name cannot exist")]
    Host,
    /// Longer than [`URL_BYTES_MAX`] in canonical form, or than [`REFERENCE_BYTES_MAX`] as received.
    #[error("the URL is longer than {URL_BYTES_MAX} bytes")]
    TooLong,
}

/// The canonicalisation rules. They must not change within a crawl: every stored URL was made by them.
///
/// # Examples
///
/// ```
/// use freshet_fetch::page::{Canonical, UrlRefused};
///
/// let canonical = Canonical::default();
/// let page = canonical.of("HTTP://A.Example:80/dir/../News?utm_source=mail&b=2#top")?;
/// assert_eq!(page.as_str(), "http://a.example/News?b=2");
///
/// // References are resolved against the page on which they stand.
/// assert_eq!(canonical.join(&page, "archive/1")?.as_str(), "http://a.example/archive/1");
/// assert_eq!(canonical.join(&page, "mailto:me@a.example"), Err(UrlRefused::Scheme));
/// # Ok::<(), UrlRefused>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Canonical {
    /// Whether tracking parameters are dropped.
    pub drop_tracking: bool,
    /// Whether session ids are dropped, from the query and from the path.
    pub drop_session_ids: bool,
    /// Further parameters to drop, by their exact names.
    pub drop_parameters: Vec<String>,
}

impl Default for Canonical {
    fn default() -> Self {
        Self { drop_tracking: true, drop_session_ids: true, drop_parameters: Vec::new() }
    }
}

impl Canonical {
    /// The canonical form of an absolute URL.
    pub fn of(&self, text: &str) -> Result<PageUrl, UrlRefused> {
        if REFERENCE_BYTES_MAX < text.len() {
            return Err(UrlRefused::TooLong);
        }
        let mut written = String::new();
        let outline = self.write_parsed(&Url::parse(text)?, &mut written)?;
        Ok(PageUrl::outlined(written, outline))
    }

    /// The canonical form of a reference found on the page `base`.
    pub fn join(&self, base: &PageUrl, reference: &str) -> Result<PageUrl, UrlRefused> {
        self.resolve(&mut Base::of(base), reference)
    }

    /// The canonical form of a reference, resolved against the base of its page.
    pub fn resolve(&self, base: &mut Base, reference: &str) -> Result<PageUrl, UrlRefused> {
        let mut written = String::new();
        let outline = self.write(base, reference, &mut written)?;
        Ok(PageUrl::outlined(written, outline))
    }

    /// Appends the canonical form of a reference to `text`. If it is refused, a part of it may remain there.
    pub(super) fn write(
        &self,
        base: &mut Base,
        reference: &str,
        text: &mut String,
    ) -> Result<Outline, UrlRefused> {
        if REFERENCE_BYTES_MAX < reference.len() {
            return Err(UrlRefused::TooLong);
        }
        if let Some(plain) = Plain::of(&base.page, reference) {
            return self.write_plain(&base.page, &plain, text);
        }
        if is_no_page(reference) {
            return Err(UrlRefused::Scheme);
        }
        let resolved = base.parsed().join(reference)?;
        self.write_parsed(&resolved, text)
    }

    fn write_plain(
        &self,
        page: &PageUrl,
        plain: &Plain<'_>,
        text: &mut String,
    ) -> Result<Outline, UrlRefused> {
        let start = text.len();
        let parts = [plain.scheme, plain.site, plain.directory, plain.path];
        // Reserves the exact length, except for parameters that are dropped: a larger buffer would be copied
        // when it is shrunk.
        let query_bytes = if plain.query.is_empty() { 0 } else { 1 + plain.query.len() };
        text.reserve(parts.iter().map(|part| part.len()).sum::<usize>() + query_bytes);
        parts.iter().for_each(|part| text.push_str(part));
        self.write_query(plain.query, text);
        if plain.is_own_site && text.len() - start <= URL_BYTES_MAX {
            return Ok(page.outline());
        }
        outline(&text[start..])
    }

    fn write_parsed(&self, url: &Url, text: &mut String) -> Result<Outline, UrlRefused> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(UrlRefused::Scheme);
        }
        let host = url.host_str().ok_or(UrlRefused::Host)?;
        let host = host.strip_suffix('.').unwrap_or(host);
        if host.is_empty() || host.starts_with('.') || host.ends_with('.') || HOST_BYTES_MAX < host.len() {
            return Err(UrlRefused::Host);
        }
        let start = text.len();
        text.reserve(url.as_str().len());
        text.push_str(url.scheme());
        text.push_str("://");
        text.push_str(host);
        if let Some(port) = url.port() {
            text.push(':');
            text.push_str(&port.to_string());
        }
        self.write_path(url.path(), text);
        self.write_query(url.query().unwrap_or(""), text);
        outline(&text[start..])
    }

    fn write_path(&self, path: &str, text: &mut String) {
        let path = normal_escapes(path);
        let mut wrote_any = false;
        for segment in path.split('/').skip(1) {
            let segment = if self.drop_session_ids { without_session_id(segment) } else { segment };
            if self.drop_session_ids && is_session_segment(segment) {
                continue;
            }
            text.push('/');
            text.push_str(segment);
            wrote_any = true;
        }
        let ended_in_session =
            self.drop_session_ids && path.rsplit('/').next().is_some_and(is_session_segment);
        if !wrote_any || ended_in_session {
            text.push('/');
        }
    }

    fn write_query(&self, query: &str, text: &mut String) {
        if query.is_empty() {
            return;
        }
        let mut separator = '?';
        for pair in normal_escapes(query).split('&') {
            if pair.is_empty() || self.drops(pair) {
                continue;
            }
            text.push(separator);
            text.push_str(pair);
            separator = '&';
        }
    }

    fn drops(&self, pair: &str) -> bool {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (self.drop_tracking && is_tracking(name))
            || (self.drop_session_ids && is_session_id(name, value))
            || self.drop_parameters.iter().any(|dropped| dropped == name)
    }
}

/// What the references of a page are resolved against: the page's own URL, or its `<base>`.
#[derive(Clone, Debug)]
pub struct Base {
    page: PageUrl,
    /// Parsed when a reference first needs it: many pages contain only plain ones.
    parsed: Option<Url>,
}

impl Base {
    /// The base of a page without a `<base>`.
    pub fn of(page: &PageUrl) -> Self {
        Self { page: page.clone(), parsed: None }
    }

    /// The base of a page with `<base href>`: that URL, if it is http or https; else the page's own.
    pub fn with_href(page: &PageUrl, href: &str) -> Self {
        let mut base = Self::of(page);
        let keep_escapes =
            Canonical { drop_tracking: false, drop_session_ids: false, drop_parameters: Vec::new() };
        match keep_escapes.resolve(&mut base, href) {
            Ok(url) => Self { page: url, parsed: None },
            Err(_) => base,
        }
    }

    fn parsed(&mut self) -> &Url {
        let page = &self.page;
        self.parsed.get_or_insert_with(|| {
            Url::parse(page.as_str()).expect("a canonical URL is a URL, as the tests of this file keep")
        })
    }
}

fn outline(text: &str) -> Result<Outline, UrlRefused> {
    if URL_BYTES_MAX < text.len() {
        return Err(UrlRefused::TooLong);
    }
    Outline::of(text).ok_or(UrlRefused::Host)
}

/// The text with every escape in capitals, no escape of unreserved characters, and every stray `%` escaped.
fn normal_escapes(text: &str) -> std::borrow::Cow<'_, str> {
    if !text.contains('%') {
        return text.into();
    }
    let bytes = text.as_bytes();
    let mut normal = String::with_capacity(text.len() + 8);
    let mut rest = 0;
    while let Some(found) = text[rest..].find('%') {
        let percent = rest + found;
        normal.push_str(&text[rest..percent]);
        let digits = bytes.get(percent + 1).zip(bytes.get(percent + 2));
        match digits.and_then(|(high, low)| Some(hex_value(*high)? * 16 + hex_value(*low)?)) {
            Some(byte) if is_unreserved(byte) => normal.push(char::from(byte)),
            Some(byte) => {
                normal.push('%');
                normal.push(char::from(HEX[usize::from(byte >> 4)]));
                normal.push(char::from(HEX[usize::from(byte & 15)]));
            }
            None => normal.push_str("%25"),
        }
        rest = percent + if digits.is_some_and(|(high, low)| is_hex(*high) && is_hex(*low)) { 3 } else { 1 };
    }
    normal.push_str(&text[rest..]);
    normal.into()
}

const HEX: [u8; 16] = *b"0123456789ABCDEF";

fn is_hex(byte: u8) -> bool {
    byte.is_ascii_hexdigit()
}

fn hex_value(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).map(|value| value as u8)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let url = Canonical::default().of(text).unwrap_or_else(|refused| panic!("{text}: {refused}"));
        assert_eq!(url.as_str(), expected, "{text}");
    }

    #[track_caller]
    fn check_refused(text: &str, expected: UrlRefused) {
        assert_eq!(Canonical::default().of(text), Err(expected), "{text}");
    }

    #[test]
    fn scheme_host_and_port_have_one_form() {
        check("HTTP://EXAMPLE.org", "http://example.org/");
        check("https://example.org:443/", "https://example.org/");
        check("http://example.org:443/", "http://example.org:443/");
        check("http://example.org:80", "http://example.org/");
        check("http://user:secret@example.org/", "http://example.org/");
        check("http://example.org./a", "http://example.org/a");
        check("http://bücher.example/", "http://xn--bcher-kva.example/");
        check("http://0x7f.1/", "http://127.0.0.1/");
        check("http://[0:0::1]:80/", "http://[::1]/");
        check("  http://example.org/\n", "http://example.org/");
        check("http:\\\\example.org\\a", "http://example.org/a");
    }

    #[test]
    fn paths_have_one_form() {
        check("http://a.example/b/./c/../d", "http://a.example/b/d");
        check("http://a.example/b/%2e%2E/d", "http://a.example/d");
        check("http://a.example/%7euser/%3a%3A", "http://a.example/~user/%3A%3A");
        check("http://a.example/%41%2d%5F%c3%bc/ü", "http://a.example/A-_%C3%BC/%C3%BC");
        check("http://a.example/100%/%zz", "http://a.example/100%25/%25zz");
        check("http://a.example/%%34%31", "http://a.example/%2541");
        check("http://a.example/a b|c", "http://a.example/a%20b|c");
        check("http://a.example//b//", "http://a.example//b//");
        check("http://a.example/b#c", "http://a.example/b");
        check("http://a.example/b?#c", "http://a.example/b");
    }

    #[test]
    fn tracking_parameters_go_and_others_stay_in_order() {
        check("http://a.example/?utm_source=x&b=2&gclid=y&a=1&UTM_medium=z", "http://a.example/?b=2&a=1");
        check("http://a.example/?fbclid=x", "http://a.example/");
        check("http://a.example/?utm%5fsource=x", "http://a.example/");
        check("http://a.example/?&&a&&b=&", "http://a.example/?a&b=");
        check("http://a.example/?futm_source=x", "http://a.example/?futm_source=x");
    }

    #[test]
    fn session_ids_go_from_path_and_query() {
        check("http://a.example/b;jsessionid=1A2B?c=d", "http://a.example/b?c=d");
        check("http://a.example/b;x=1;JSESSIONID=1A2B/c", "http://a.example/b;x=1/c");
        check("http://a.example/b/..;jsessionid=1", "http://a.example/b/..;jsessionid=1");
        check("http://a.example/;jsessionid=1", "http://a.example/");
        check("http://a.example/?PHPSESSID=00ff&a=1", "http://a.example/?a=1");
        check("http://a.example/?sid=0123456789abcdef0123", "http://a.example/");
        check("http://a.example/?sid=42", "http://a.example/?sid=42");
        check("http://a.example/x/(S(lit3py55t21z5v55vlm25s55))/y", "http://a.example/x/y");
        check("http://a.example/(X(1)S(lit3py55t21z5v55vlm25s55))", "http://a.example/");
    }

    #[test]
    fn the_lists_can_be_switched_off_and_added_to() {
        let keep_all = Canonical { drop_tracking: false, drop_session_ids: false, drop_parameters: vec![] };
        let text = "http://a.example/b;jsessionid=1?utm_source=x&PHPSESSID=0";
        assert_eq!(keep_all.of(text).unwrap().as_str(), text);
        let drop_view = Canonical { drop_parameters: vec!["view".into()], ..Canonical::default() };
        assert_eq!(
            drop_view.of("http://a.example/?view=1&views=2").unwrap().as_str(),
            "http://a.example/?views=2"
        );
    }

    #[test]
    fn what_is_no_page_is_refused_with_its_reason() {
        check_refused("mailto:a@b.example", UrlRefused::Scheme);
        check_refused("ftp://a.example/", UrlRefused::Scheme);
        check_refused("javascript:void(0)", UrlRefused::Scheme);
        check_refused("/relative", UrlRefused::Malformed(url::ParseError::RelativeUrlWithoutBase));
        check_refused("http://", UrlRefused::Malformed(url::ParseError::EmptyHost));
        check_refused("http://a.example:99999/", UrlRefused::Malformed(url::ParseError::InvalidPort));
        check_refused("http://./", UrlRefused::Host);
        check_refused("http://a../", UrlRefused::Host);
        check_refused(&format!("http://{}.example/", "a.".repeat(130)), UrlRefused::Host);
        check_refused(&format!("http://a.example/{}", "x".repeat(URL_BYTES_MAX)), UrlRefused::TooLong);
        check_refused(&"x".repeat(REFERENCE_BYTES_MAX + 1), UrlRefused::TooLong);
    }

    #[track_caller]
    fn check_join(base: &str, reference: &str, expected: &str) {
        let base = PageUrl::stored(base).expect("a canonical base");
        assert_eq!(Canonical::default().join(&base, reference).unwrap().as_str(), expected, "{reference}");
    }

    #[test]
    fn references_are_resolved_against_the_page() {
        check_join("http://a.example/b/c?d", "e", "http://a.example/b/e");
        check_join("http://a.example/b/c?d", "/e#f", "http://a.example/e");
        check_join("http://a.example/b/c?d", "../../../e", "http://a.example/e");
        check_join("http://a.example/b/c?d", "?e", "http://a.example/b/c?e");
        check_join("http://a.example/b/c?d", "#e", "http://a.example/b/c?d");
        check_join("http://a.example/b/c?d", "", "http://a.example/b/c?d");
        check_join("https://a.example/b", "//c.example/d", "https://c.example/d");
        check_join("http://a.example/b", "http://a.example/c", "http://a.example/c");
        check_join("http://a.example/b", "http://a.example", "http://a.example/");
        check_join("http://a.example/b", "http://a.example//c", "http://a.example//c");
        check_join("http://a.example/b", "http://a.example.org/c", "http://a.example.org/c");
        check_join("http://a.example/b", "http://a.examples/c", "http://a.examples/c");
        check_join("http://a.example/b/c", " ./d ", "http://a.example/b/d");
        check_join("http://a.example/%C3%BC/c", "d", "http://a.example/%C3%BC/d");
    }

    #[test]
    fn a_base_that_is_no_web_address_leaves_the_page() {
        let page = PageUrl::stored("http://a.example/b/c").unwrap();
        for (href, expected) in [
            ("/d/", "http://a.example/d/x"),
            ("http://e.example/f/g", "http://e.example/f/x"),
            ("data:text/plain,h", "http://a.example/b/x"),
            ("http://", "http://a.example/b/x"),
        ] {
            let mut base = Base::with_href(&page, href);
            assert_eq!(Canonical::default().resolve(&mut base, "x").unwrap().as_str(), expected, "{href}");
        }
    }

    fn url_like() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            Just("http://"),
            Just("https://"),
            Just("//"),
            Just("a.example"),
            Just("127.0.0.1"),
            Just("http://127.0.0.1:8081/"),
            Just("//b.example/"),
            Just(":80"),
            Just(":8081"),
            Just("255."),
            Just(":443"),
            Just("@"),
            Just("/"),
            Just("."),
            Just(".."),
            Just("%2e"),
            Just("%2E"),
            Just("%"),
            Just("%4"),
            Just("1"),
            Just("%34"),
            Just("%25"),
            Just("?"),
            Just("&"),
            Just("="),
            Just("#"),
            Just(";jsessionid=1"),
            Just("utm_a=1"),
            Just("sid"),
            Just("(S(lit3py55t21z5v55vlm25s55))"),
            Just("0123456789abcdef"),
            Just("\\"),
            Just(" "),
            Just("\t"),
            Just("ü"),
            Just("["),
            Just("]"),
            Just("^"),
            Just("|"),
            Just("'"),
            Just("\""),
            Just("{"),
            Just("`"),
            Just("xn--"),
            Just("0x7f"),
            Just(";"),
            Just("\u{0}"),
            Just("b"),
        ];
        prop_oneof![
            proptest::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat()),
            any::<String>(),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn canonical_form_is_a_fixed_point_that_a_request_can_carry(
            text in url_like(),
            prefix in "(http://a\\.example/)?",
        ) {
            let canonical = Canonical::default();
            if let Ok(url) = canonical.of(&format!("{prefix}{text}")) {
                prop_assert_eq!(canonical.of(url.as_str()), Ok(url.clone()));
                prop_assert_eq!(PageUrl::stored(url.as_str()), Some(url.clone()));
                let asked: Result<http::uri::PathAndQuery, _> = url.path_and_query().parse();
                prop_assert!(asked.is_ok(), "{}", url);
            }
        }

        #[test]
        fn the_short_way_agrees_with_the_long_way(
            reference in url_like(),
            site in "(http|https)://(a\\.example|127\\.0\\.0\\.1)(:8081)?",
            path in "[a-z/.;%]{0,8}",
        ) {
            let canonical = Canonical::default();
            let Ok(page) = canonical.of(&format!("{site}/{path}")) else { return Ok(()) };
            let long_way = Url::parse(page.as_str()).unwrap().join(&reference).map_err(UrlRefused::from);
            let long_way = long_way.and_then(|url| canonical.of(url.as_str()));
            let short_way = canonical.join(&page, &reference);
            prop_assert_eq!(&short_way, &long_way);
            if let Ok(url) = short_way {
                let again = PageUrl::stored(url.as_str()).unwrap();
                prop_assert_eq!(
                    (url.site(), url.host(), url.port()),
                    (again.site(), again.host(), again.port())
                );
            }
        }
    }
}
