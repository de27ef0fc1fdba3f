//! Content decoding: gzip, deflate, br and zstd (RFC 9110 section 8.4, RFC 7932, RFC 8878, RFC 9659).
//!
//! # Promises
//! - Whatever the bytes, the output is within the limits, and so is the memory used on the way (a window of
//!   at most 16 MB).
//! - What was decoded before an error is kept.
//! - A body that is declared as gzip or zstd but does not begin like one is left unchanged: many servers
//!   mislabel.

use std::io::Read;

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};
use bytes::Bytes;
use flate2::bufread::{DeflateDecoder, GzDecoder, ZlibDecoder};
use http::header::CONTENT_ENCODING;
use http::{HeaderMap, HeaderValue};

use super::answer::Truncation;
use super::limits::{RATIO_FREE_BYTES, SizeLimits};

/// Maximum number of stacked encodings. One is usual, two occur; more are an attack.
const ENCODINGS_MAX: usize = 3;

/// Maximum window of zstd, as a power of 2: what RFC 9659 allows for HTTP.
const ZSTD_WINDOW_LOG_MAX: u32 = 23;

/// A content encoding.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Encoding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

/// Decodes a body. Also returns why the result is incomplete, if it is.
pub(super) fn decode(headers: &HeaderMap, raw: &Bytes, sizes: &SizeLimits) -> (Bytes, Option<Truncation>) {
    let Some(encodings) = encodings(headers) else {
        return (raw.clone(), Some(Truncation::UnknownEncoding));
    };
    let (mut body, mut truncated) = (raw.clone(), None);
    // The last one named was applied last.
    for encoding in encodings.into_iter().rev() {
        if body.is_empty() || !begins_as(encoding, &body) {
            continue;
        }
        let allowed = raw.len().saturating_mul(sizes.decoding_ratio).max(RATIO_FREE_BYTES);
        let limit = allowed.min(sizes.body_bytes);
        let (decoded, end) = undo(encoding, &body, limit);
        truncated = truncated.or(match end {
            End::Whole => None,
            End::Broken => Some(Truncation::Undecodable),
            End::Limit if allowed < sizes.body_bytes => Some(Truncation::Bomb),
            End::Limit => Some(Truncation::DecodedSize),
        });
        body = decoded.into();
    }
    (body, truncated)
}

/// Decodes a stored body by its `Content-Encoding`, as far as possible.
pub fn decoded(content_encoding: Option<&str>, raw: Vec<u8>) -> Bytes {
    let value = content_encoding.and_then(|encoding| HeaderValue::from_str(encoding).ok());
    let headers: HeaderMap = value.map(|value| (CONTENT_ENCODING, value)).into_iter().collect();
    decode(&headers, &raw.into(), &SizeLimits::default()).0
}

/// The encodings in the order in which they were applied; none if one is unknown or there are too many.
fn encodings(headers: &HeaderMap) -> Option<Vec<Encoding>> {
    let mut encodings = Vec::new();
    for value in headers.get_all(CONTENT_ENCODING) {
        for name in value.to_str().ok()?.split(',') {
            let name = name.trim();
            let is = |known: &str| name.eq_ignore_ascii_case(known);
            let encoding = match () {
                // `utf-8` and the like are common mistakes here.
                () if name.is_empty() || is("identity") || is("none") || is("utf-8") => continue,
                () if is("gzip") || is("x-gzip") => Encoding::Gzip,
                () if is("deflate") => Encoding::Deflate,
                () if is("br") => Encoding::Brotli,
                () if is("zstd") => Encoding::Zstd,
                () => return None,
            };
            encodings.push(encoding);
        }
    }
    (encodings.len() <= ENCODINGS_MAX).then_some(encodings)
}

/// Whether bytes begin as the encoding requires, if it has a signature.
fn begins_as(encoding: Encoding, bytes: &[u8]) -> bool {
    match encoding {
        Encoding::Gzip => bytes.starts_with(GZIP_MAGIC),
        // A frame, or a skippable one.
        Encoding::Zstd => match bytes {
            [first, rest @ ..] => {
                rest.starts_with(&[0xb5, 0x2f, 0xfd]) && *first == 0x28
                    || rest.starts_with(&[0x2a, 0x4d, 0x18]) && *first & 0xf0 == 0x50
            }
            [] => false,
        },
        Encoding::Deflate | Encoding::Brotli => true,
    }
}

const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];

/// How decoding ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum End {
    Whole,
    Broken,
    Limit,
}

fn undo(encoding: Encoding, bytes: &[u8], limit: usize) -> (Vec<u8>, End) {
    let mut decoded = Vec::with_capacity(bytes.len().saturating_mul(4).min(limit));
    let end = match encoding {
        Encoding::Gzip => gunzip(bytes, limit, &mut decoded),
        Encoding::Deflate if is_zlib(bytes) => read_up_to(ZlibDecoder::new(bytes), limit, &mut decoded),
        Encoding::Deflate => read_up_to(DeflateDecoder::new(bytes), limit, &mut decoded),
        Encoding::Brotli => unbrotli(bytes, limit, &mut decoded),
        Encoding::Zstd => unzstd(bytes, limit, &mut decoded),
    };
    (decoded, end)
}

/// Reads until the end, a fault, or the limit.
fn read_up_to(reader: impl Read, limit: usize, decoded: &mut Vec<u8>) -> End {
    let room = limit.saturating_sub(decoded.len()) as u64;
    let outcome = reader.take(room.saturating_add(1)).read_to_end(decoded);
    if limit < decoded.len() {
        decoded.truncate(limit);
        return End::Limit;
    }
    if outcome.is_ok() { End::Whole } else { End::Broken }
}

/// Decodes all members; bytes after the last one are ignored, as in browsers.
fn gunzip(mut bytes: &[u8], limit: usize, decoded: &mut Vec<u8>) -> End {
    while bytes.starts_with(GZIP_MAGIC) {
        let mut member = GzDecoder::new(bytes);
        let end = read_up_to(&mut member, limit, decoded);
        if end != End::Whole {
            return end;
        }
        bytes = member.into_inner();
    }
    End::Whole
}

/// Whether `deflate` means zlib here, as in the standard, or raw deflate, as sent by many servers.
fn is_zlib(bytes: &[u8]) -> bool {
    match bytes {
        [method, flags, ..] => {
            *method & 0x0f == 8 && (u16::from(*method) << 8 | u16::from(*flags)).is_multiple_of(31)
        }
        _ => false,
    }
}

fn unzstd(bytes: &[u8], limit: usize, decoded: &mut Vec<u8>) -> End {
    let Ok(mut decoder) = zstd::stream::read::Decoder::with_buffer(bytes) else { return End::Broken };
    if decoder.window_log_max(ZSTD_WINDOW_LOG_MAX).is_err() {
        return End::Broken;
    }
    read_up_to(decoder, limit, decoded)
}

/// Drives the Brotli decoder directly: the ready-made reader would accept windows of a gigabyte.
fn unbrotli(bytes: &[u8], limit: usize, decoded: &mut Vec<u8>) -> End {
    const PIECE: usize = 32 << 10;
    let mut state =
        BrotliState::new_strict(StandardAlloc::default(), StandardAlloc::default(), StandardAlloc::default());
    let (mut unread, mut read, mut total) = (bytes.len(), 0, 0);
    let mut piece = vec![0; PIECE];
    loop {
        let (mut room, mut written) = (PIECE, 0);
        let result = BrotliDecompressStream(
            &mut unread,
            &mut read,
            bytes,
            &mut room,
            &mut written,
            &mut piece,
            &mut total,
            &mut state,
        );
        decoded.extend_from_slice(&piece[..written.min(limit - decoded.len())]);
        match result {
            BrotliResult::ResultSuccess if total <= limit => return End::Whole,
            _ if limit < total => return End::Limit,
            BrotliResult::NeedsMoreOutput => {}
            BrotliResult::ResultSuccess | BrotliResult::NeedsMoreInput | BrotliResult::ResultFailure => {
                return End::Broken;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::read::{DeflateEncoder, GzEncoder, ZlibEncoder};
    use proptest::prelude::*;

    fn headers(encodings: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_ENCODING, encodings.parse().unwrap());
        headers
    }

    fn all_of(mut reader: impl Read) -> Vec<u8> {
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).unwrap();
        bytes
    }

    fn gzip(text: &[u8]) -> Vec<u8> {
        all_of(GzEncoder::new(text, Compression::fast()))
    }

    fn zstd(text: &[u8]) -> Vec<u8> {
        zstd::stream::encode_all(text, 1).unwrap()
    }

    #[track_caller]
    fn check(encodings: &str, raw: &[u8], expected: &[u8], truncated: Option<Truncation>) {
        let sizes = SizeLimits::default();
        let (body, cut) = decode(&headers(encodings), &Bytes::copy_from_slice(raw), &sizes);
        assert_eq!((&*body, cut), (expected, truncated));
    }

    /// `hello hello hello hello`, compressed.
    const BROTLI: &[u8] = &[
        0x1b, 0x16, 0x00, 0xf8, 0x8d, 0x94, 0x6e, 0xde, 0x44, 0x55, 0x86, 0x96, 0x6c, 0x20, 0x6f, 0x21, 0x4f,
        0x1c, 0xe0, 0x38,
    ];

    #[test]
    fn each_encoding_is_undone() {
        let text = b"hello hello hello hello";
        check("gzip", &gzip(text), text, None);
        check("x-GZIP", &gzip(text), text, None);
        check("deflate", &all_of(ZlibEncoder::new(&text[..], Compression::fast())), text, None);
        check("deflate", &all_of(DeflateEncoder::new(&text[..], Compression::fast())), text, None);
        check("zstd", &zstd(text), text, None);
        check("br", BROTLI, text, None);
        check("identity", text, text, None);
        check("gzip, zstd", &zstd(&gzip(text)), text, None);
    }

    #[test]
    fn what_is_broken_is_kept_as_far_as_it_goes() {
        let (whole, text) = (gzip(b"hello"), b"hello");
        check("gzip", &whole[..whole.len() - 1], text, Some(Truncation::Undecodable));
        check("gzip", &[&whole[..], b"junk"].concat(), text, None);
        check("gzip", &[&whole[..], &whole[..]].concat(), b"hellohello", None);
        check("gzip", b"plain", b"plain", None);
        check("zstd", b"plain", b"plain", None);
        check("br", b"\xff\xff\xff", b"", Some(Truncation::Undecodable));
        check("br", &BROTLI[..9], b"", Some(Truncation::Undecodable));
        check("sdch", b"x", b"x", Some(Truncation::UnknownEncoding));
        check("gzip, gzip, gzip, gzip", b"x", b"x", Some(Truncation::UnknownEncoding));
        check("gzip", b"", b"", None);
    }

    #[test]
    fn a_bomb_is_cut_at_its_ratio_and_a_long_body_at_the_limit() {
        let zeros = vec![0; 4 << 20];
        let sizes = SizeLimits { body_bytes: 2 << 20, decoding_ratio: 10, ..SizeLimits::default() };
        let (body, cut) = decode(&headers("gzip"), &gzip(&zeros).into(), &sizes);
        assert_eq!((body.len(), cut), (RATIO_FREE_BYTES, Some(Truncation::Bomb)));
        let sizes = SizeLimits { decoding_ratio: 100_000, ..sizes };
        let (body, cut) = decode(&headers("zstd"), &zstd(&zeros).into(), &sizes);
        assert_eq!((body.len(), cut), (2 << 20, Some(Truncation::DecodedSize)));
    }

    proptest! {
        #[test]
        fn any_bytes_are_decoded_within_the_limit(
            raw in prop::collection::vec(any::<u8>(), 0..300),
            encodings in
                prop::sample::select(vec!["gzip", "deflate", "br", "zstd", "gzip, br", "br, br, br"]),
            magic in prop::sample::select(vec![
                &b""[..], GZIP_MAGIC, b"\x1f\x8b\x08\0", b"\x28\xb5\x2f\xfd", b"\x78\x9c",
            ]),
        ) {
            let sizes = SizeLimits { body_bytes: 100, ..SizeLimits::default() };
            let raw: Bytes = [magic, &raw[..]].concat().into();
            let (body, _) = decode(&headers(encodings), &raw, &sizes);
            prop_assert!(body.len() <= 100 || body == raw);
        }

        #[test]
        fn what_was_encoded_comes_back(text in prop::collection::vec(any::<u8>(), 0..3000)) {
            let sizes = SizeLimits::default();
            for (encoding, raw) in [("gzip", gzip(&text)), ("zstd", zstd(&text))] {
                let (body, cut) = decode(&headers(encoding), &raw.into(), &sizes);
                prop_assert_eq!((&*body, cut), (&*text, None));
            }
        }
    }
}
