//! References that need no parser: most of those on most pages.
//!
//! A reference is *plain* if appending it to the site or the directory of its page gives its canonical form, but for the rules on
//! parameters. The full parser of the standard costs about a microsecond a reference, which on a page of many links is more than
//! all else together.
//!
//! # Promises
//! - What is called plain means what the standard's parser makes of it (kept by a test in [`super::canonical`]).

use super::address::PageUrl;
use super::canonical::HOST_BYTES_MAX;

/// The parts of a plain reference. Scheme, site, directory and path one after the other are a URL; the query is as it was written.
#[derive(Debug)]
pub(super) struct Plain<'a> {
    /// The scheme with its colon where the page gives it and the reference names the host; else empty, for the site has it.
    pub(super) scheme: &'a str,
    /// Scheme and authority, of the page or of the reference.
    pub(super) site: &'a str,
    /// Whether it is the site of the page.
    pub(super) is_own_site: bool,
    /// The directory that is inherited from the page, from slash to slash; empty if the reference has a whole path.
    pub(super) directory: &'a str,
    /// The path, or the rest of it.
    pub(super) path: &'a str,
    /// The query without its question mark; empty if there is none.
    pub(super) query: &'a str,
}

impl<'a> Plain<'a> {
    /// The parts of a reference on this page, if it is plain.
    pub(super) fn of(page: &'a PageUrl, reference: &'a str) -> Option<Self> {
        let reference = reference.find('#').map_or(reference, |fragment| &reference[..fragment]);
        let (before, query) = reference.split_once('?').unwrap_or((reference, ""));
        if !query.bytes().all(stays_in_query) {
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
        } else if before.starts_with('/') {
            own("", before)
        } else {
            inherited(page.path(), before).and_then(|(directory, path)| own(directory, path))
        }?;
        let is_own_site = scheme.is_empty() && site.len() == page.site().len() && site == page.site();
        // A name that begins with a dot may be a dot segment.
        let is_plain = path.bytes().all(stays_in_path) && !path.starts_with('.') && !path.contains("/.");
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

/// Two slashes with an authority that is canonical as it stands, and the path after it.
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

/// Whether a host is an ordinary name in its canonical form.
fn is_ordinary_name(host: &str) -> bool {
    let is_letter =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.');
    // A last label that begins with a digit may make the host a number; an empty label and `xn--` have rules of their own.
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

/// Whether a host is an IPv4 address in its canonical form.
fn is_address(host: &str) -> bool {
    let mut parts = host.split('.');
    let are_bytes = parts.by_ref().take(4).filter(|part| number(part, 255).is_some()).count() == 4;
    are_bytes && parts.next().is_none()
}

/// A number in the one way to write it, at most so large.
fn number(digits: &str, most: u16) -> Option<u16> {
    let is_plain =
        digits.bytes().all(|byte| byte.is_ascii_digit()) && (digits == "0" || !digits.starts_with('0'));
    digits.parse().ok().filter(|number| is_plain && *number <= most)
}

/// What a relative reference inherits of the page's path, and what is left of it after its steps up.
fn inherited<'a>(page_path: &'a str, reference: &'a str) -> Option<(&'a str, &'a str)> {
    let mut directory = &page_path[..page_path.rfind('/')? + 1];
    let mut rest = reference;
    loop {
        if let Some(after) = rest.strip_prefix("../") {
            let above = directory.trim_end_matches('/').rfind('/').unwrap_or(0);
            // An empty name is one step too, which the trimming above would skip.
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
    // A colon might end a scheme, and nothing at all means the page itself. What the page's path holds must need no rule here.
    let is_plain = !rest.contains(':') && !reference.is_empty() && directory.bytes().all(stays_in_path);
    is_plain.then_some((directory, rest))
}

/// Whether neither the standard nor our rules touch the byte in a path.
fn stays_in_path(byte: u8) -> bool {
    is_unreserved(byte) || matches!(byte, b'/' | b'+' | b',' | b'=' | b'@' | b'!' | b'$' | b'&' | b'*' | b':')
}

/// Whether neither the standard nor our rules touch the byte in a query, other than by its parameters.
fn stays_in_query(byte: u8) -> bool {
    byte.is_ascii_graphic() && !matches!(byte, b'"' | b'#' | b'%' | b'\'' | b'<' | b'>')
}

/// The unreserved characters of RFC 3986, section 2.3.
pub(super) fn is_unreserved(byte: u8) -> bool {
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
    }

    #[test]
    fn what_needs_rules_is_not_plain() {
        for reference in [
            "",
            "#x",
            "?x",
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
