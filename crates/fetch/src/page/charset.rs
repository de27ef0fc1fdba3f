//! Character encoding detection and decoding of a response.
//!
//! The order is that of the WHATWG standards (HTML, "determining the character encoding"): a byte order mark,
//! the charset of the `Content-Type` header, a `<meta>` or XML declaration within the first [`PRESCAN_BYTES`]
//! bytes, and then a guess. Decoding follows the Encoding standard: every invalid sequence becomes U+FFFD.
//!
//! # Promises
//! - Any bytes decode, to at most three bytes of text for each byte (two bytes of UTF-16 give at most three).
//! - Text without any label that is valid UTF-8 is read as UTF-8.
//!
//! # Departures
//! Browsers never guess UTF-8, so that authors keep labelling it; a crawler only wants to read it. The
//! prescan here searches attributes without building tags: a `charset=` inside a comment of the first
//! kilobyte is skipped, one inside a script is not.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};

/// How far into a document its encoding declaration is searched for, in bytes; the standard's number.
pub const PRESCAN_BYTES: usize = 1_024;

/// How many bytes of an undeclared document the guess examines: the detector is certain long before.
const GUESS_BYTES: usize = 64 * 1_024;

/// The encoding of a response, and its source.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Charset {
    /// The encoding, by the Encoding standard.
    pub encoding: &'static Encoding,
    /// Where it is stated.
    pub source: CharsetSource,
}

/// Where an encoding is stated, from the most to the least trusted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CharsetSource {
    /// The byte order mark at the start.
    ByteOrderMark,
    /// The `Content-Type` header.
    Header,
    /// A `<meta>` element or an XML declaration.
    Document,
    /// Nowhere: guessed from the bytes.
    Guess,
}

impl Charset {
    /// The encoding of a body sent with this `Content-Type`. `host` only helps the guess, by its last label.
    pub fn of(content_type: Option<&str>, host: &str, body: &[u8]) -> Self {
        if let Some((encoding, _)) = Encoding::for_bom(body) {
            return Self { encoding, source: CharsetSource::ByteOrderMark };
        }
        if let Some(encoding) = content_type.and_then(charset_parameter).and_then(encoding_named) {
            return Self { encoding, source: CharsetSource::Header };
        }
        let start = &body[..body.len().min(PRESCAN_BYTES)];
        if let Some(encoding) = declared(start) {
            return Self { encoding, source: CharsetSource::Document };
        }
        Self { encoding: guess(host, body), source: CharsetSource::Guess }
    }

    /// The standard's name of the encoding, such as `UTF-8` or `windows-1252`.
    pub fn name(self) -> &'static str {
        self.encoding.name()
    }

    /// The text of the body, without a byte order mark.
    pub fn decode(self, body: &[u8]) -> Cow<'_, str> {
        self.encoding.decode_with_bom_removal(body).0
    }
}

/// The value of the charset parameter of a `Content-Type`, without its quotes.
fn charset_parameter(content_type: &str) -> Option<&str> {
    content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let value = value.trim().trim_matches(['"', '\'']);
        name.trim().eq_ignore_ascii_case("charset").then_some(value)
    })
}

fn encoding_named(label: &str) -> Option<&'static Encoding> {
    Encoding::for_label(label.as_bytes())
}

/// The encoding that the start of a document declares.
fn declared(start: &[u8]) -> Option<&'static Encoding> {
    let encoding = match xml_encoding(start) {
        Some(encoding) => encoding,
        None => meta_encoding(start)?,
    };
    // A declaration that could be read as ASCII was not written in UTF-16; the other exception is the
    // standard's own.
    if encoding == UTF_16LE || encoding == UTF_16BE {
        Some(UTF_8)
    } else if encoding == X_USER_DEFINED {
        Some(WINDOWS_1252)
    } else {
        Some(encoding)
    }
}

/// The encoding of `<?xml version="1.0" encoding="..."?>`.
fn xml_encoding(start: &[u8]) -> Option<&'static Encoding> {
    let rest = start.strip_prefix(b"<?xml")?;
    let declaration = &rest[..rest.iter().position(|byte| *byte == b'>')?];
    let value = &declaration[find(declaration, b"encoding")? + b"encoding".len()..];
    Encoding::for_label(attribute_value(value)?)
}

/// The encoding of the first `<meta charset>` or `<meta http-equiv=content-type content="..; charset=..">`.
fn meta_encoding(start: &[u8]) -> Option<&'static Encoding> {
    let mut rest = start;
    while let Some(open) = rest.iter().position(|byte| *byte == b'<') {
        rest = &rest[open + 1..];
        if rest.starts_with(b"!--") {
            rest = &rest[find(rest, b"-->")? + b"-->".len()..];
            continue;
        }
        let is_meta = rest.get(..4).is_some_and(|name| name.eq_ignore_ascii_case(b"meta"));
        if !is_meta || !rest.get(4).is_some_and(|byte| byte.is_ascii_whitespace() || *byte == b'/') {
            continue;
        }
        let tag = &rest[..rest.iter().position(|byte| *byte == b'>').unwrap_or(rest.len())];
        if let Some(encoding) = charset_of_meta(tag) {
            return Some(encoding);
        }
    }
    None
}

/// The encoding stated by one `<meta ...`: in whichever attribute, it follows the word `charset`.
fn charset_of_meta(tag: &[u8]) -> Option<&'static Encoding> {
    let mut rest = tag;
    while let Some(found) = find(rest, b"charset") {
        rest = &rest[found + b"charset".len()..];
        if let Some(encoding) = attribute_value(rest).and_then(Encoding::for_label) {
            return Some(encoding);
        }
    }
    None
}

/// The value after an equals sign, up to its quote, a space or a semicolon.
fn attribute_value(text: &[u8]) -> Option<&[u8]> {
    let value = text.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let value = match value.first()? {
        b'"' | b'\'' => &value[1..],
        _ => value,
    };
    let ends =
        |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b';' | b'>' | b'?' | b'/');
    Some(&value[..value.iter().position(ends).unwrap_or(value.len())])
}

/// Position of a lower-case word in a text, ignoring case. Only used on the bytes of the prescan.
fn find(text: &[u8], word: &[u8]) -> Option<usize> {
    text.windows(word.len()).position(|window| window.eq_ignore_ascii_case(word))
}

fn guess(host: &str, body: &[u8]) -> &'static Encoding {
    // ISO-2022-JP consists of ASCII bytes and escapes, so it is also valid UTF-8.
    if std::str::from_utf8(body).is_ok() && !body.contains(&0x1B) {
        return UTF_8;
    }
    let start = &body[..body.len().min(GUESS_BYTES)];
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(start, start.len() == body.len());
    // The detector refuses labels that are not lower-case ASCII.
    let top = host.rsplit('.').next().unwrap_or("");
    let is_name = !top.is_empty() && top.bytes().all(|byte| byte.is_ascii_lowercase());
    detector.guess(is_name.then_some(top.as_bytes()), Utf8Detection::Allow)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(content_type: Option<&str>, body: &[u8], encoding: &str, source: CharsetSource) {
        let charset = Charset::of(content_type, "a.example", body);
        assert_eq!((charset.name(), charset.source), (encoding, source));
    }

    #[test]
    fn the_mark_comes_before_the_header_and_the_header_before_the_document() {
        let meta: &[u8] = b"<meta charset=windows-1251>";
        let marked = [b"\xEF\xBB\xBF".as_slice(), meta].concat();
        check(Some("text/html; charset=koi8-r"), &marked, "UTF-8", CharsetSource::ByteOrderMark);
        check(Some("text/html; Charset=\"KOI8-R\""), meta, "KOI8-R", CharsetSource::Header);
        check(Some("text/html; charset=nonsense"), meta, "windows-1251", CharsetSource::Document);
        check(None, b"\xFF\xFEa\0", "UTF-16LE", CharsetSource::ByteOrderMark);
    }

    #[test]
    fn a_document_may_declare_itself_in_several_ways() {
        for body in [
            "<META http-equiv='Content-Type' content='text/html; charset=shift_jis'>",
            "<!-- <meta charset=utf-8> --><meta name=x charset = 'Shift_JIS'/>",
            "<meta content=\"text/html;charset=sjis\" http-equiv=content-type>",
            "<?xml version='1.0' encoding='Shift_JIS'?><html>",
        ] {
            check(None, body.as_bytes(), "Shift_JIS", CharsetSource::Document);
        }
        check(None, b"<meta charset=utf-16>", "UTF-8", CharsetSource::Document);
        check(None, b"<metadata charset=shift_jis>", "UTF-8", CharsetSource::Guess);
        let late = format!("{}<meta charset=shift_jis>", " ".repeat(PRESCAN_BYTES));
        check(None, late.as_bytes(), "UTF-8", CharsetSource::Guess);
    }

    #[test]
    fn what_nobody_declares_is_guessed() {
        check(None, "Grüße aus Köln".as_bytes(), "UTF-8", CharsetSource::Guess);
        check(None, b"Gr\xFC\xDFe aus K\xF6ln", "windows-1252", CharsetSource::Guess);
        let (japanese, ..) = encoding_rs::ISO_2022_JP.encode("これは日本語の文章です。");
        check(None, &japanese, "ISO-2022-JP", CharsetSource::Guess);
    }

    #[test]
    fn wrong_bytes_become_replacement_characters() {
        let charset = Charset { encoding: UTF_8, source: CharsetSource::Header };
        assert_eq!(charset.decode(b"\xEF\xBB\xBFa\xFFb"), "a\u{FFFD}b");
    }

    proptest! {
        #[test]
        fn any_bytes_decode_within_bounds(
            body in proptest::collection::vec(any::<u8>(), 0..300),
            label in proptest::option::of(
                "text/html; ?charset=(utf-16le|big5|gb18030|iso-2022-jp|replacement|euc-kr|[ -~]{0,8})"
            ),
            host in "[ -~]{0,8}",
        ) {
            let text = Charset::of(label.as_deref(), &host, &body).decode(&body).into_owned();
            prop_assert!(text.len() <= 3 * body.len() + 3);
        }

        #[test]
        fn any_declaration_is_looked_at_calmly(
            body in "(<(!--|meta|\\?xml|/)?|charset|encoding|=|\"|'|;| |>|-->|utf-8|x){0,20}",
        ) {
            Charset::of(None, "a.example", body.as_bytes());
        }
    }
}
