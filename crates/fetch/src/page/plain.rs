//! A fast path for plain references, which need no URL parser: most of those on most pages.
//!
//! A reference is *plain* if appending it to the site or the directory of its page gives its canonical form,
//! apart from the rules on parameters. The standard's full parser costs about a microsecond per reference,
//! which on a page with many links is more than everything else together.
//!
//! # Promises
//! - The parts of a plain reference are those that the standard's parser finds (checked by a test in
//!   [`super::canonical`]).

use super::address::PageUrl;
use super::canonical::HOST_BYTES_MAX;

/// The parts of a plain reference. Scheme, site, directory and path concatenated are a URL; the query is
/// unchanged.
#[derive(Debug)]
pub(super) struct Plain<'a> {
    /// The page's scheme with its colon, if the reference begins with `//`; otherwise empty, since the site
    /// contains it.
    pub(super) scheme: &'a str,
    /// Scheme and authority, of the page or of the reference.
    pub(super) site: &'a str,
    /// Whether it is the site of the page.
    pub(super) is_own_site: bool,
    /// The directory inherited from the page, from slash to slash; empty if the reference has a whole path.
    pub(super) directory: &'a str,
    /// The path, or the rest of it after the directory.
    pub(super) path: &'a str,
    /// The query without its question mark; empty if there is none.
    pub(super) query: &'a str,
}

impl<'a> Plain<'a> {
    /// The parts of a reference on this page, if it is plain.
    pub(super) fn of(page: &'a PageUrl, reference: &'a str) -> Option<Self> {
        let (before, rest) = split_while(reference, STAYS_IN_PATH);
        let (query, rest) =
            rest.strip_prefix('?').map_or(("", rest), |rest| split_while(rest, STAYS_IN_QUERY));
        // A fragment does not identify a page.
        if !rest.is_empty() && !rest.starts_with('#') {
            return None;
        }
        // An empty reference or a fragment alone means the page itself, including its query.
        let is_empty = before.is_empty();
        let query = if is_empty && !reference.starts_with('?') { page.query().unwrap_or("") } else { query };
        if is_empty && !(is_whole(page.path(), STAYS_IN_PATH) && is_whole(query, STAYS_IN_QUERY)) {
            return None;
        }
        let own = |directory, path| Some(("", page.site(), directory, path));
        let (scheme, site, directory, path) = if let Some(path) = path_on_site(page.site(), before) {
            own("", path)
        } else if before.starts_with("http") {
            elsewhere(before).map(|(site, path)| ("", site, "", path))
        } else if before.starts_with("//") {
            let scheme = if page.is_https() { "https:" } else { "http:" };
            authority(scheme, before).map(|(site, path)| (scheme, site, "", path))
        } else if is_empty {
            own("", page.path())
        } else if before.starts_with('/') {
            own("", before)
        } else {
            inherited(page.path(), before).and_then(|(directory, path)| own(directory, path))
        }?;
        let is_own_site = scheme.is_empty() && site.len() == page.site().len() && site == page.site();
        // A name that begins with a dot may be a dot segment.
        let has_dots = path.as_bytes().array_windows().fold(false, |has, pair| has | (pair == b"/."));
        let is_plain = !has_dots && !path.starts_with('.');
        is_plain.then_some(Self { scheme, site, is_own_site, directory, path, query })
    }
}

/// The path of an absolute reference to the page's own site.
fn path_on_site<'a>(site: &str, reference: &'a str) -> Option<&'a str> {
    reference.strip_prefix(site).filter(|rest| rest.starts_with('/'))
}

/// Site and path of an absolute reference.
fn elsewhere(reference: &str) -> Option<(&str, &str)> {
    let scheme = &reference[..=reference.find(':')?];
    let (site, path) = authority(scheme, reference.strip_prefix(scheme)?)?;
    Some((&reference[..scheme.len() + site.len()], path))
}

/// Splits `//`, an authority in canonical form, and the path after it.
fn authority<'a>(scheme: &str, reference: &'a str) -> Option<(&'a str, &'a str)> {
    let implied_port = match scheme {
        "http:" => 80,
        "https:" => 443,
        _ => return None,
    };
    let rest = reference.strip_prefix("//")?;
    let (authority, path) = rest.split_at(rest.find('/')?);
    let (host, port_is_plain) = match authority.split_once(':') {
        Some((host, port)) => (host, number(port, u16::MAX).is_some_and(|port| port != implied_port)),
        None => (authority, true),
    };
    let is_plain = port_is_plain && (is_ordinary_name(host) || is_address(host));
    is_plain.then(|| reference.split_at(reference.len() - path.len()))
}

/// Whether a host is an ordinary name in canonical form.
fn is_ordinary_name(host: &str) -> bool {
    let is_letter =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.');
    // If the last label begins with a digit, the host may be a number. An empty label and `xn--` have rules
    // of their own.
    host.len() <= HOST_BYTES_MAX
        && host.bytes().all(is_letter)
        && host
            .rsplit('.')
            .next()
            .is_some_and(|top| top.starts_with(|first: char| first.is_ascii_lowercase()))
        && !host.starts_with('.')
        && !host.contains("..")
        && !host.contains("xn--")
}

/// Whether a host is an IPv4 address in canonical form.
fn is_address(host: &str) -> bool {
    let mut parts = host.split('.');
    let are_bytes = parts.by_ref().take(4).filter(|part| number(part, 255).is_some()).count() == 4;
    are_bytes && parts.next().is_none()
}

/// Parses a number in canonical form, at most `most`.
fn number(digits: &str, most: u16) -> Option<u16> {
    let is_plain =
        digits.bytes().all(|byte| byte.is_ascii_digit()) && (digits == "0" || !digits.starts_with('0'));
    digits.parse().ok().filter(|number| is_plain && *number <= most)
}

/// The directory that a relative reference inherits from the page's path, and the rest of the reference after
/// its leading dot segments.
fn inherited<'a>(page_path: &'a str, reference: &'a str) -> Option<(&'a str, &'a str)> {
    let mut directory = &page_path[..page_path.rfind('/')? + 1];
    let mut rest = reference;
    loop {
        if let Some(after) = rest.strip_prefix("../") {
            let above = directory.trim_end_matches('/').rfind('/').unwrap_or(0);
            // An empty name counts as one step too, which the trimming above would skip.
            if directory.ends_with("//") {
                return None;
            }
            directory = &directory[..above + 1];
            rest = after;
        } else if let Some(after) = rest.strip_prefix("./") {
            rest = after;
        } else {
            break;
        }
    }
    // A colon might end a scheme. The page's directory must contain only unchanged bytes.
    let is_plain = !rest.contains(':') && is_whole(directory, STAYS_IN_PATH);
    is_plain.then_some((directory, rest))
}

/// Whether the standard and our rules leave a byte unchanged, in a path and in a query. Tables, because every
/// byte of each link is looked up.
static STAYS: [[bool; 256]; 2] = {
    let mut stays = [[false; 256]; 2];
    let mut byte = 0;
    while byte < 256 {
        stays[STAYS_IN_PATH][byte] = stays_in_path(byte as u8);
        stays[STAYS_IN_QUERY][byte] = stays_in_query(byte as u8);
        byte += 1;
    }
    stays
};
const STAYS_IN_PATH: usize = 0;
const STAYS_IN_QUERY: usize = 1;

/// The longest prefix of unchanged bytes, and the rest.
fn split_while(text: &str, table: usize) -> (&str, &str) {
    let stays = |byte: &u8| STAYS[table][usize::from(*byte)];
    let end = text.bytes().position(|byte| !stays(&byte)).unwrap_or(text.len());
    text.split_at(end)
}

/// Whether every byte of a text is unchanged.
fn is_whole(text: &str, table: usize) -> bool {
    split_while(text, table).1.is_empty()
}

/// Whether a reference has one of the most common schemes that are not pages, and could not be refused for
/// another reason.
pub(super) fn is_no_page(reference: &str) -> bool {
    let mut rests =
        ["mailto:", "javascript:", "tel:"].iter().filter_map(|scheme| reference.strip_prefix(scheme));
    rests.any(|rest| !rest.starts_with('/'))
}

/// Whether the standard and our rules leave the byte unchanged in a path.
const fn stays_in_path(byte: u8) -> bool {
    is_unreserved(byte) || matches!(byte, b'/' | b'+' | b',' | b'=' | b'@' | b'!' | b'$' | b'&' | b'*' | b':')
}

/// Whether the standard and our rules leave the byte unchanged in a query, except for whole parameters.
const fn stays_in_query(byte: u8) -> bool {
    byte.is_ascii_graphic() && !matches!(byte, b'"' | b'#' | b'%' | b'\'' | b'<' | b'>')
}

/// The unreserved characters of RFC 3986, section 2.3.
pub(super) const fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(reference: &str, expected: Option<(&str, &str, &str, &str)>) {
        let page = PageUrl::stored("http://a.example/b/c/d?e").unwrap();
        let plain =
            Plain::of(&page, reference).map(|plain| (plain.site, plain.directory, plain.path, plain.query));
        assert_eq!(plain, expected, "{reference}");
    }

    #[test]
    fn plain_references_are_taken_apart() {
        check("x?y=1#z", Some(("http://a.example", "/b/c/", "x", "y=1")));
        check("../x", Some(("http://a.example", "/b/", "x", "")));
        check("./../../../x", Some(("http://a.example", "/", "x", "")));
        check("/x:y", Some(("http://a.example", "", "/x:y", "")));
        check("http://a.example/x", Some(("http://a.example", "", "/x", "")));
        check("https://b.example/x", Some(("https://b.example", "", "/x", "")));
        check("http://b.example:81/x", Some(("http://b.example:81", "", "/x", "")));
        check("http://127.0.0.1:8080/x", Some(("http://127.0.0.1:8080", "", "/x", "")));
        check("//b.example/x", Some(("//b.example", "", "/x", "")));
        check("", Some(("http://a.example", "", "/b/c/d", "e")));
        check("#x", Some(("http://a.example", "", "/b/c/d", "e")));
        check("?x", Some(("http://a.example", "", "/b/c/d", "x")));
        check("?", Some(("http://a.example", "", "/b/c/d", "")));
    }

    #[test]
    fn what_needs_rules_is_not_plain() {
        for reference in [
            ".",
            "..",
            "x/../y",
            "//b.example",
            "///b.example/x",
            "mailto:x",
            "x:y",
            "http:x",
            "http://b.example",
            "http://127.1/",
            "http://b.example:80/",
            "http://b.example:/",
            "http://b.example:081/",
            "http://b.example:65536/",
            "https://b.example:443/",
            "http://127.0.0.01/",
            "http://127.0.0.256/",
            "http://127.0.0.0.1/",
            "httpx://b.example/",
            "http://B.example/",
            "http://xn--a/",
            "http://a..b/",
            "http://.b/",
            "http://b./",
            "/%41",
            "/x y",
            "/\u{fc}",
            "x;jsessionid=1",
            "/(S(x))/",
            "\\x",
            " x",
            "x?'",
        ] {
            check(reference, None);
        }
    }
}
