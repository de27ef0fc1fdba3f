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

/// The parts of a plain reference. Site, directory and path one after the other are a URL; the query is as it was written.
#[derive(Debug)]
pub(super) struct Plain<'a> {
    /// Scheme and host, of the page or of the reference.
    pub(super) site: &'a str,
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
        let (site, directory, path) = if let Some(path) = path_on_site(page.site(), before) {
            (page.site(), "", path)
        } else if before.starts_with("http") {
            let (site, path) = elsewhere(before)?;
            (site, "", path)
        } else if before.starts_with('/') {
            // Two slashes would name a host.
            (page.site(), "", Some(before).filter(|path| !path.starts_with("//"))?)
        } else {
            let (directory, path) = inherited(page.path(), before)?;
            (page.site(), directory, path)
        };
        // A name that begins with a dot may be a dot segment.
        let is_plain = path.bytes().all(stays_in_path) && !path.starts_with('.') && !path.contains("/.");
        is_plain.then_some(Self { site, directory, path, query })
    }
}

/// The path of an absolute reference to the page's own site.
fn path_on_site<'a>(site: &str, reference: &'a str) -> Option<&'a str> {
    reference.strip_prefix(site).filter(|rest| rest.starts_with('/'))
}

/// Site and path of an absolute reference to a host with an ordinary name and the ordinary port.
fn elsewhere(reference: &str) -> Option<(&str, &str)> {
    let rest = reference
        .strip_prefix("http")
        .map(|rest| rest.strip_prefix('s').unwrap_or(rest))?
        .strip_prefix("://")?;
    let (host, path) = rest.split_at(rest.find('/')?);
    let is_letter =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.');
    // A last label that begins with a digit may make the host a number; an empty label and `xn--` have rules of their own.
    let is_ordinary = host.len() <= HOST_BYTES_MAX
        && host.bytes().all(is_letter)
        && host
            .rsplit('.')
            .next()
            .is_some_and(|top| top.starts_with(|first: char| first.is_ascii_lowercase()))
        && !host.starts_with('.')
        && !host.contains("..")
        && !host.contains("xn--");
    is_ordinary.then(|| (&reference[..reference.len() - path.len()], path))
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
            "//b.example/x",
            "mailto:x",
            "x:y",
            "http:x",
            "http://b.example",
            "http://127.1/",
            "http://b.example:80/",
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
