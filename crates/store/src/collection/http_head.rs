//! The head of a response as it is archived: as it was received, but readable by every WARC reader.
//!
//! # Promises
//! - Order, case and values of the headers stay.
//! - `Transfer-Encoding` is renamed: the body is kept decoded, and readers would decode it a second time.
//! - The head of an HTTP/2 or HTTP/3 response begins with a status line of HTTP/1.1.
//! - The head ends with one empty line.

/// The new name of `Transfer-Encoding`.
pub const RENAMED_TRANSFER_ENCODING: &str = "X-Crawler-Transfer-Encoding";

/// The head in archived form.
pub fn archived(head: &[u8], status: u16) -> Vec<u8> {
    let mut lines = lines(head);
    let mut output = Vec::with_capacity(head.len() + 32);
    output.extend_from_slice(&status_line(lines.next().unwrap_or_default(), status));
    for line in lines.take_while(|line| !line.is_empty()) {
        output.extend_from_slice(b"\r\n");
        match header(line) {
            Some((name, _)) if name.eq_ignore_ascii_case(b"transfer-encoding") => {
                output.extend_from_slice(RENAMED_TRANSFER_ENCODING.as_bytes());
                output.extend_from_slice(&line[name.len()..]);
            }
            _ => output.extend_from_slice(line),
        }
    }
    output.extend_from_slice(b"\r\n\r\n");
    output
}

/// Whether the head is that of an HTTP/2 response.
pub fn is_http2(head: &[u8]) -> bool {
    head.starts_with(b"HTTP/2")
}

/// The value of the first header of this name, if it is text.
pub fn value<'a>(head: &'a [u8], name: &str) -> Option<&'a str> {
    let found = lines(head)
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter_map(header)
        .find(|(found, _)| found.eq_ignore_ascii_case(name.as_bytes()))?;
    std::str::from_utf8(found.1.trim_ascii()).ok()
}

/// Name and value of a header line.
fn header(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = line.iter().position(|byte| *byte == b':')?;
    Some((&line[..colon], &line[colon + 1..]))
}

fn lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    head.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line))
}

fn status_line(line: &[u8], status: u16) -> Vec<u8> {
    if line.starts_with(b"HTTP/1.") {
        return line.to_vec();
    }
    let rest = line.strip_prefix(b"HTTP/").and_then(|rest| {
        let space = rest.iter().position(|byte| *byte == b' ')?;
        Some(rest[space..].to_vec())
    });
    let rest = rest.unwrap_or_else(|| format!(" {status}").into_bytes());
    [b"HTTP/1.1".as_slice(), &rest].concat()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(head: &str, expected: &str) {
        assert_eq!(String::from_utf8(archived(head.as_bytes(), 200)).expect("text"), expected);
    }

    #[test]
    fn a_head_stays_as_it_was_but_for_transfer_encoding() {
        check("HTTP/1.1 200 OK\r\nB: 1\r\na:2\r\n\r\n", "HTTP/1.1 200 OK\r\nB: 1\r\na:2\r\n\r\n");
        check(
            "HTTP/1.0 200 OK\r\ntransfer-ENCODING: chunked\r\n\r\n",
            "HTTP/1.0 200 OK\r\nX-Crawler-Transfer-Encoding: chunked\r\n\r\n",
        );
    }

    #[test]
    fn other_protocols_and_bare_lines_are_made_to_look_like_http_1_1() {
        check("HTTP/2 200\r\na: b\r\n\r\n", "HTTP/1.1 200\r\na: b\r\n\r\n");
        check("HTTP/2.0 404 Not Found\n", "HTTP/1.1 404 Not Found\r\n\r\n");
        check("", "HTTP/1.1 200\r\n\r\n");
        check("HTTP/1.1 200 OK\na: b\n\nbody", "HTTP/1.1 200 OK\r\na: b\r\n\r\n");
    }

    #[test]
    fn a_value_is_found_by_its_name_in_any_case() {
        let head = b"HTTP/1.1 200 OK\r\nContent-Type:  text/html \r\n\r\ncontent-length: 5";
        assert_eq!(value(head, "content-TYPE"), Some("text/html"));
        assert_eq!(value(head, "content-length"), None);
    }

    proptest! {
        #[test]
        fn any_head_is_archived_with_one_empty_line_at_its_end(
            head in prop::collection::vec(any::<u8>(), 0..200),
        ) {
            let kept = archived(&head, 200);
            prop_assert!(kept.starts_with(b"HTTP/1."));
            prop_assert!(kept.ends_with(b"\r\n\r\n"));
            prop_assert_eq!(kept.windows(4).filter(|window| *window == b"\r\n\r\n").count(), 1);
            let _ = value(&head, "a");
        }
    }
}
