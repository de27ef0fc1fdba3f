//! Parser of the HTTP response in a WARC record: its head, and its body without transfer encoding.
//!
//! Some programs store a body in chunks, as it was transferred. Others store it without chunks but leave the
//! header in place. A body that is not chunked is therefore taken as it is.
//!
//! # Promises
//! - Any bytes are parsed without a panic. The result is never larger than the given bytes.

use bytes::Bytes;
use freshet_fetch::web::{Response, decoded};
use http::{HeaderMap, HeaderName, HeaderValue};

/// Maximum number of headers of a response. Further ones are ignored.
const HEADERS_MAX: usize = 1000;

/// Parses the response in a block. None if the block is no response.
///
/// # Examples
///
/// ```
/// use freshet_crawl::import::http_message::response;
///
/// let block = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
/// let response = response(block).expect("it is a response");
/// assert_eq!((response.status, &response.body[..]), (200, &b"hello"[..]));
/// ```
pub fn response(block: &[u8]) -> Option<Response> {
    let (head, body) = split(block)?;
    let status = status(head)?;
    let headers = headers(head);
    let is_chunked = headers
        .get("transfer-encoding")
        .and_then(|value| value.to_str().ok())
        .is_some_and(|value| value.to_ascii_lowercase().contains("chunked"));
    let raw = is_chunked.then(|| without_chunks(body)).flatten().unwrap_or_else(|| body.to_vec());
    let encoding = headers.get("content-encoding").and_then(|value| value.to_str().ok());
    let body = decoded(encoding, raw.clone());
    Some(Response { status, head: head.to_vec(), headers, raw_body: Bytes::from(raw), body, truncated: None })
}

/// Splits a block into its head, with the empty line, and its body.
fn split(block: &[u8]) -> Option<(&[u8], &[u8])> {
    let ends = [b"\r\n\r\n".as_slice(), b"\n\n"];
    let end = ends
        .iter()
        .filter_map(|end| Some(block.windows(end.len()).position(|window| window == *end)? + end.len()))
        .min()
        .unwrap_or(block.len());
    block.starts_with(b"HTTP/").then(|| block.split_at(end))
}

fn status(head: &[u8]) -> Option<u16> {
    let line = head.split(|byte| *byte == b'\n').next()?;
    let word = line.split(|byte| *byte == b' ').filter(|word| !word.is_empty()).nth(1)?;
    std::str::from_utf8(word).ok()?.trim().parse().ok().filter(|status| (100..=999).contains(status))
}

fn headers(head: &[u8]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for line in head.split(|byte| *byte == b'\n').skip(1).take(HEADERS_MAX) {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        let name = HeaderName::from_bytes(line[..colon].trim_ascii());
        let value = HeaderValue::from_bytes(line[colon + 1..].trim_ascii());
        if let (Ok(name), Ok(value)) = (name, value) {
            headers.append(name, value);
        }
    }
    headers
}

/// Decodes a chunked body (RFC 9112, 7.1). None if it is not chunked. A body that breaks off is decoded as
/// far as it goes.
pub fn without_chunks(mut body: &[u8]) -> Option<Vec<u8>> {
    let mut whole = Vec::with_capacity(body.len());
    let mut is_first = true;
    loop {
        let Some(size) = take_size(&mut body) else {
            return (!is_first).then_some(whole);
        };
        is_first = false;
        if size == 0 {
            return Some(whole);
        }
        let (chunk, rest) = body.split_at(size.min(body.len()));
        whole.extend_from_slice(chunk);
        body = rest.strip_prefix(b"\r\n").or_else(|| rest.strip_prefix(b"\n")).unwrap_or(rest);
        if body.is_empty() {
            return Some(whole);
        }
    }
}

/// Takes the chunk size in the line at the start of these bytes.
fn take_size(body: &mut &[u8]) -> Option<usize> {
    /// Maximum length of that line, with extensions.
    const LINE_MAX: usize = 1024;
    let end = body.iter().take(LINE_MAX).position(|byte| *byte == b'\n')?;
    let line = std::str::from_utf8(&body[..end]).ok()?;
    let digits = line.split(';').next()?.trim();
    let size = usize::from_str_radix(digits, 16).ok()?;
    *body = &body[end + 1..];
    Some(size)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(block: &[u8], expected: Option<(u16, &[u8])>) {
        let found = response(block);
        assert_eq!(found.as_ref().map(|response| (response.status, &*response.body)), expected);
    }

    #[test]
    fn bodies_come_out_of_their_chunks_and_codings() {
        check(b"HTTP/1.1 200 OK\r\n\r\nhello", Some((200, b"hello")));
        check(b"HTTP/1.0 404 Not Found\nA: b\n\ngone", Some((404, b"gone")));
        let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\n\
                        hello\r\n6\r\n world\r\n0\r\n\r\n";
        check(chunked, Some((200, b"hello world")));
        check(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nhello", Some((200, b"hello")));
        check(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhello", Some((200, b"hello")));
        check(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nhello", Some((200, b"hello")));
        check(b"HTTP/1.1 200", Some((200, b"")));
        check(b"<html>", None);
        check(b"HTTP/1.1 yes\r\n\r\n", None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_no_panic(
            body in prop::collection::vec(any::<u8>(), 0..200),
            sizes in "([0-9a-f]{0,20}\r?\n.{0,5}){0,4}",
        ) {
            let _ = response(&body);
            let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: br\r\n\r\n";
            let _ = response(&[head.as_slice(), &body].concat());
            let whole = without_chunks(sizes.as_bytes());
            prop_assert!(whole.is_none_or(|whole| whole.len() <= sizes.len()));
        }
    }
}
