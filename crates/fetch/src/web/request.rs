//! HTTP requests: their fields, conditional requests, and how they are written.
//!
//! RFC 9110 for the fields, RFC 9111 section 4.3 for conditional requests.
//!
//! # Promises
//! - A host, path or validator that is invalid in a request line or a header is refused, never sent.
//! - Nothing about the user is sent: no cookie, no referrer, no language.

use std::net::IpAddr;

use bytes::Bytes;
use freshet_protocol::time::Timestamp;
use http::header::{ACCEPT, ACCEPT_ENCODING, HOST, IF_MODIFIED_SINCE, IF_NONE_MATCH, USER_AGENT};
use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderMap, HeaderValue, Uri, Version};
use http_body_util::Empty;

use crate::page::address::PageUrl;

/// One request for one resource.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Request {
    /// Whether to use TLS.
    pub https: bool,
    /// The host: a name in ASCII, an IPv4 address, or an IPv6 address in brackets or without.
    pub host: String,
    /// The port.
    pub port: u16,
    /// Path and query, percent-encoded, beginning with `/`.
    pub path_and_query: String,
    /// Validators of our copy: the server may then answer 304.
    pub validators: Option<Validators>,
    /// The preferred type of response.
    pub accept: Accept,
    /// The only address to use, if the caller has chosen one; it is checked like any other.
    pub address: Option<IpAddr>,
    /// When the exchange begins, by the caller's clock.
    pub started: Timestamp,
}

/// Validators that came with a copy. They are sent back so that the server can answer that nothing has
/// changed.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Validators {
    /// Its `ETag`, as received.
    pub etag: Option<String>,
    /// Its `Last-Modified`, as received.
    pub last_modified: Option<String>,
}

impl Validators {
    /// The validators of a response, if it has any.
    pub fn of(headers: &HeaderMap) -> Option<Self> {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let (etag, last_modified) = (text(http::header::ETAG), text(http::header::LAST_MODIFIED));
        (etag.is_some() || last_modified.is_some()).then_some(Self { etag, last_modified })
    }
}

/// The preferred type of response.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Accept {
    /// A page.
    #[default]
    Page,
    /// Plain text: `robots.txt`.
    Text,
    /// XML: a sitemap or feed.
    Xml,
}

impl Accept {
    fn value(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Self::Page => "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
            Self::Text => "text/plain,*/*;q=0.8",
            Self::Xml => "application/xml,text/xml,*/*;q=0.8",
        })
    }
}

/// The encodings that we decode.
const ENCODINGS: HeaderValue = HeaderValue::from_static("gzip, deflate, br, zstd");

impl Request {
    /// A request for the page of a URL.
    pub fn of(url: &PageUrl, started: Timestamp) -> Self {
        Self::page(url.is_https(), url.host(), url.port(), url.path_and_query(), started)
    }

    /// A request for a page.
    pub fn page(https: bool, host: &str, port: u16, path_and_query: &str, started: Timestamp) -> Self {
        Self {
            https,
            host: host.to_owned(),
            port,
            path_and_query: path_and_query.to_owned(),
            validators: None,
            accept: Accept::Page,
            address: None,
            started,
        }
    }

    /// The address, if the host is one rather than a name.
    pub fn literal_address(&self) -> Option<IpAddr> {
        literal_address(&self.host)
    }

    /// The host and, unless it is the default, the port: the value of `Host`.
    fn authority(&self) -> String {
        let host = self.host.as_str();
        let bare_v6 = host.contains(':') && !host.starts_with('[');
        let host = if bare_v6 { format!("[{host}]") } else { host.to_owned() };
        let usual = if self.https { 443 } else { 80 };
        if self.port == usual { host } else { format!("{host}:{}", self.port) }
    }

    /// The request in HTTP/1.1; none if it cannot be written.
    pub(super) fn http1(&self, user_agent: &HeaderValue) -> Option<http::Request<Empty<Bytes>>> {
        let path = self.path()?;
        let authority: Authority = self.authority().parse().ok()?;
        let mut request = http::Request::new(Empty::new());
        *request.uri_mut() = Uri::from(path);
        let host = HeaderValue::from_str(authority.as_str()).ok()?;
        request.headers_mut().insert(HOST, host);
        self.write_headers(request.headers_mut(), user_agent)?;
        Some(request)
    }

    /// The request in HTTP/2; none if it cannot be written.
    pub(super) fn http2(&self, user_agent: &HeaderValue) -> Option<http::Request<Empty<Bytes>>> {
        let mut request = http::Request::new(Empty::new());
        let scheme = if self.https { Scheme::HTTPS } else { Scheme::HTTP };
        let mut parts = http::uri::Parts::default();
        parts.scheme = Some(scheme);
        parts.authority = Some(self.authority().parse().ok()?);
        parts.path_and_query = Some(self.path()?);
        *request.uri_mut() = Uri::from_parts(parts).ok()?;
        *request.version_mut() = Version::HTTP_2;
        self.write_headers(request.headers_mut(), user_agent)?;
        Some(request)
    }

    fn path(&self) -> Option<PathAndQuery> {
        let path = self.path_and_query.as_str();
        let writable =
            path.starts_with('/') && path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#');
        if writable { path.parse().ok() } else { None }
    }

    fn write_headers(&self, headers: &mut HeaderMap, user_agent: &HeaderValue) -> Option<()> {
        headers.insert(USER_AGENT, user_agent.clone());
        headers.insert(ACCEPT, self.accept.value());
        headers.insert(ACCEPT_ENCODING, ENCODINGS);
        if let Some(validators) = &self.validators {
            // A validator came in a header, so it can be sent back in one. Anything else is an error in the
            // store.
            if let Some(etag) = &validators.etag {
                headers.insert(IF_NONE_MATCH, HeaderValue::from_str(etag).ok()?);
            }
            if let Some(date) = &validators.last_modified {
                headers.insert(IF_MODIFIED_SINCE, HeaderValue::from_str(date).ok()?);
            }
        }
        Some(())
    }
}

/// The address, if a host is one rather than a name.
pub(super) fn literal_address(host: &str) -> Option<IpAddr> {
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    bare.parse().ok()
}

/// The head of an HTTP/2 request, in the form of HTTP/1.
pub(super) fn written_head(request: &http::Request<Empty<Bytes>>) -> Vec<u8> {
    let uri = request.uri();
    let path = uri.path_and_query().map_or("/", PathAndQuery::as_str);
    let host = uri.authority().map_or("", Authority::as_str);
    let mut head = format!("GET {path} HTTP/2\r\nhost: {host}\r\n").into_bytes();
    write_header_lines(&mut head, request.headers());
    head
}

/// Writes the header lines and the empty line after them.
pub(super) fn write_header_lines(head: &mut Vec<u8>, headers: &HeaderMap) {
    for (name, value) in headers {
        head.extend_from_slice(name.as_str().as_bytes());
        head.extend_from_slice(b": ");
        head.extend_from_slice(value.as_bytes());
        head.extend_from_slice(b"\r\n");
    }
    head.extend_from_slice(b"\r\n");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const AGENT: HeaderValue = HeaderValue::from_static("freshet/0");

    fn request(host: &str, port: u16, path: &str) -> Request {
        Request::page(false, host, port, path, Timestamp::from_millis(0))
    }

    #[track_caller]
    fn check_host(host: &str, port: u16, expected: &str) {
        let written = request(host, port, "/").http1(&AGENT).unwrap();
        assert_eq!(written.headers()[HOST], expected);
    }

    #[test]
    fn the_host_is_written_with_a_port_that_is_not_the_usual_one() {
        check_host("example.org", 80, "example.org");
        check_host("example.org", 8080, "example.org:8080");
        check_host("::1", 80, "[::1]");
        check_host("[::1]", 443, "[::1]:443");
    }

    #[test]
    fn what_cannot_be_written_is_refused() {
        for (host, path) in [
            ("a b", "/"),
            ("", "/"),
            ("a", "x"),
            ("a", ""),
            ("a", "/ x"),
            ("a", "/\r\nX: y"),
            ("a", "/é"),
            ("a\r\nb", "/"),
        ] {
            assert!(request(host, 80, path).http1(&AGENT).is_none(), "{host:?} {path:?}");
        }
        let mut evil = request("a", 80, "/");
        evil.validators = Some(Validators { etag: Some("x\r\nY: z".to_owned()), last_modified: None });
        assert!(evil.http1(&AGENT).is_none());
    }

    #[test]
    fn validators_are_sent_back_as_they_came() {
        let mut asked = request("a", 80, "/");
        asked.validators = Some(Validators {
            etag: Some("W/\"x\"".to_owned()),
            last_modified: Some("yesterday".to_owned()),
        });
        let written = asked.http1(&AGENT).unwrap();
        assert_eq!(written.headers()[IF_NONE_MATCH], "W/\"x\"");
        assert_eq!(written.headers()[IF_MODIFIED_SINCE], "yesterday");
    }

    proptest! {
        #[test]
        fn no_request_holds_a_line_break(host in ".{0,12}", path in "(/.{0,12}|.{0,12})", port: u16) {
            let asked = request(&host, port, &path);
            for written in [asked.http1(&AGENT), asked.http2(&AGENT)].into_iter().flatten() {
                prop_assert!(!written.uri().to_string().contains(['\r', '\n', ' ']));
            }
        }
    }
}
