//! Document types: HTML, text, feed, sitemap or other, from the header and the first bytes of a response.
//!
//! The `Content-Type` decides if it is specific. If it is missing or generic (`text/plain`, `text/xml`,
//! `application/octet-stream`, ...) the first bytes decide, in the spirit of the WHATWG "MIME sniffing"
//! standard.
//!
//! # Promises
//! - A page declared as HTML is HTML, whatever it contains.
//! - Bytes that are not text are `Other`, even if declared as plain text.

/// Maximum number of bytes of a body that are examined, as in the sniffing standard.
const SNIFF_BYTES: usize = 1_445;

/// The type of a document.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Kind {
    /// HTML.
    Html,
    /// HTML written as XML.
    Xhtml,
    /// Plain text.
    Text,
    /// RSS, Atom or JSON Feed.
    Feed,
    /// A sitemap or an index of sitemaps.
    Sitemap,
    /// Anything else: images, programs, data. Its bytes are kept and compared, not read.
    Other,
}

impl Kind {
    /// The type of a body sent with this `Content-Type` for this path.
    pub fn of(content_type: Option<&str>, path: &str, body: &[u8]) -> Self {
        let declared = content_type.and_then(|value| value.split([';', ',']).next()).unwrap_or("").trim();
        match declared.to_ascii_lowercase().as_str() {
            "text/html" => Self::Html,
            "application/xhtml+xml" => Self::Xhtml,
            "application/rss+xml"
            | "application/atom+xml"
            | "application/rdf+xml"
            | "application/feed+json" => Self::Feed,
            "application/json" => json(body),
            "text/xml" | "application/xml" => {
                xml(&body[..body.len().min(SNIFF_BYTES)]).unwrap_or(Self::Other)
            }
            "application/gzip" | "application/x-gzip" => packed(path, body),
            "" | "text/plain" | "application/octet-stream" | "unknown/unknown" | "*/*" => sniffed(path, body),
            other if other.starts_with("text/") => text(body),
            _ => Self::Other,
        }
    }

    /// Whether the document consists of HTML elements.
    pub fn is_html(self) -> bool {
        matches!(self, Self::Html | Self::Xhtml)
    }

    /// Its name in reports and stores.
    pub fn name(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Xhtml => "xhtml",
            Self::Text => "text",
            Self::Feed => "feed",
            Self::Sitemap => "sitemap",
            Self::Other => "other",
        }
    }
}

/// The type by the first bytes, if the header is not specific.
fn sniffed(path: &str, body: &[u8]) -> Kind {
    let start = &body[..body.len().min(SNIFF_BYTES)];
    if start.starts_with(&GZIP_MAGIC) {
        return packed(path, body);
    }
    let visible = start.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(start).trim_ascii_start();
    if let Some(kind) = xml(start) {
        return kind;
    }
    if visible.first() == Some(&b'{') {
        return match json(body) {
            Kind::Other => text(body),
            feed => feed,
        };
    }
    if begins_html(visible) { Kind::Html } else { text(body) }
}

/// The first bytes of a gzip file (RFC 1952, section 2.3.1).
pub(super) const GZIP_MAGIC: [u8; 2] = [0x1F, 0x8B];

/// A gzip file is opened only if its name says that it is a sitemap.
fn packed(path: &str, body: &[u8]) -> Kind {
    let is_list = path.ends_with(".xml.gz") || path.ends_with(".txt.gz");
    if is_list && body.starts_with(&GZIP_MAGIC) { Kind::Sitemap } else { Kind::Other }
}

fn json(body: &[u8]) -> Kind {
    let start = &body[..body.len().min(SNIFF_BYTES)];
    if contains(start, b"jsonfeed.org/version") { Kind::Feed } else { Kind::Other }
}

/// The type of an XML document by its first element; none if it does not begin like XML that we read.
fn xml(start: &[u8]) -> Option<Kind> {
    let mut rest = start.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(start).trim_ascii_start();
    let mut declared = false;
    loop {
        let end = if rest.starts_with(b"<?") {
            declared = true;
            position(rest, b"?>")? + 2
        } else if rest.starts_with(b"<!--") {
            position(rest, b"-->")? + 3
        } else if rest.starts_with(b"<!") {
            position(rest, b">")? + 1
        } else {
            break;
        };
        rest = rest[end..].trim_ascii_start();
    }
    let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'>' | b'/');
    let name = rest.strip_prefix(b"<")?;
    let name = &name[..name.iter().position(ends).unwrap_or(name.len())];
    let local = name.rsplit(|byte| *byte == b':').next().unwrap_or(name);
    match local {
        b"rss" | b"feed" | b"RDF" => Some(Kind::Feed),
        b"urlset" | b"sitemapindex" => Some(Kind::Sitemap),
        b"html" if declared || contains(rest, b"http://www.w3.org/1999/xhtml") => Some(Kind::Xhtml),
        _ => None,
    }
}

/// Whether the first visible content is an HTML tag.
fn begins_html(visible: &[u8]) -> bool {
    const BEGINNINGS: [&[u8]; 19] = [
        b"<!doctype html",
        b"<meta",
        b"<link",
        b"<html",
        b"<head",
        b"<body",
        b"<script",
        b"<iframe",
        b"<h1",
        b"<div",
        b"<font",
        b"<table",
        b"<a",
        b"<style",
        b"<title",
        b"<b",
        b"<p",
        b"<br",
        b"<!--",
    ];
    BEGINNINGS.iter().any(|beginning| {
        let matches =
            visible.get(..beginning.len()).is_some_and(|start| start.eq_ignore_ascii_case(beginning));
        let ends = visible
            .get(beginning.len())
            .is_some_and(|byte| matches!(byte, b' ' | b'>' | b'\t' | b'\n' | b'\r' | b'/'));
        matches && (ends || beginning.starts_with(b"<!"))
    })
}

/// Text, unless the first bytes contain a control character that text never contains. UTF-16 is recognised by
/// its byte order mark.
fn text(body: &[u8]) -> Kind {
    let start = &body[..body.len().min(SNIFF_BYTES)];
    let is_marked = encoding_rs::Encoding::for_bom(start).is_some();
    let is_binary = |byte: &u8| matches!(byte, 0x00..=0x08 | 0x0B | 0x0E..=0x1A | 0x1C..=0x1F);
    if is_marked || !start.iter().any(is_binary) { Kind::Text } else { Kind::Other }
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    position(text, part).is_some()
}

fn position(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(content_type: &str, path: &str, body: &[u8], expected: Kind) {
        let content_type = Some(content_type).filter(|value| !value.is_empty());
        assert_eq!(Kind::of(content_type, path, body), expected, "{content_type:?} {path}");
    }

    #[test]
    fn what_is_declared_is_believed() {
        check("text/html", "/", b"", Kind::Html);
        check("Text/HTML; charset=utf-8", "/", b"\0\0", Kind::Html);
        check("application/xhtml+xml", "/", b"", Kind::Xhtml);
        check("application/rss+xml", "/", b"", Kind::Feed);
        check("image/png", "/a.html", b"<html>", Kind::Other);
        check("text/css", "/", b"a { b: c }", Kind::Text);
    }

    #[test]
    fn the_bytes_tell_what_the_header_does_not() {
        check("", "/", b"  <!DOCTYPE HTML><p>", Kind::Html);
        check("", "/", b"<P>x", Kind::Html);
        check("", "/", b"<pre>x", Kind::Text);
        check("text/plain", "/", b"hello", Kind::Text);
        check("text/plain", "/", b"PK\x03\x04", Kind::Other);
        check("text/plain", "/", b"\xFF\xFEa\0", Kind::Text);
        check("", "/", b"", Kind::Text);
        check("application/octet-stream", "/", b"\x89PNG\r\n\x1A\n\0", Kind::Other);
    }

    #[test]
    fn xml_is_told_by_its_first_element() {
        check("text/xml", "/", b"<?xml version='1.0'?><!-- a --><rss version='2.0'>", Kind::Feed);
        check("application/xml", "/", b"<rdf:RDF xmlns:rdf='x'>", Kind::Feed);
        check("", "/", b"\xEF\xBB\xBF<feed xmlns='http://www.w3.org/2005/Atom'>", Kind::Feed);
        check("text/xml", "/", b"<urlset>", Kind::Sitemap);
        check("text/xml", "/", b"<sm:sitemapindex xmlns:sm='x'>", Kind::Sitemap);
        check("text/xml", "/", b"<?xml version='1.0'?><!DOCTYPE html><html>", Kind::Xhtml);
        check("text/xml", "/", b"<svg>", Kind::Other);
        check("text/html", "/", b"<rss>", Kind::Html);
    }

    #[test]
    fn json_feeds_and_packed_sitemaps_are_found() {
        check("application/json", "/", b"{\"version\":\"https://jsonfeed.org/version/1.1\"}", Kind::Feed);
        check("application/json", "/", b"{}", Kind::Other);
        check("application/x-gzip", "/sitemap.xml.gz", b"\x1F\x8B\x08", Kind::Sitemap);
        check("application/octet-stream", "/sitemap.xml.gz", b"\x1F\x8B\x08", Kind::Sitemap);
        check("application/gzip", "/source.tar.gz", b"\x1F\x8B\x08", Kind::Other);
    }

    proptest! {
        #[test]
        fn any_bytes_have_a_kind(
            content_type in
                proptest::option::of("(text|application)/(html|xml|plain|json|gzip|[a-z;,= ]{0,6})"),
            body in prop_oneof![
                proptest::collection::vec(any::<u8>(), 0..200),
                "(<|\\?|!|--|>|rss|html|:| |\\{|xml|\u{feff}){0,20}".prop_map(String::into_bytes),
            ],
        ) {
            Kind::of(content_type.as_deref(), "/", &body);
        }
    }
}
