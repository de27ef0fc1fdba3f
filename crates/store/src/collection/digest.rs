//! SHA-1 in base 32, as WARC files state digests, and WARC record identifiers.
//!
//! SHA-1 is used because every WARC reader expects it; nothing of ours relies on it.

use sha1::{Digest as _, Sha1};
use xxhash_rust::xxh3::xxh3_128;

/// The letters of base 32 (RFC 4648, section 6).
const LETTERS: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// A SHA-1 digest.
pub type Sha1Digest = [u8; 20];

/// The SHA-1 digest of a payload.
pub fn sha1(payload: &[u8]) -> Sha1Digest {
    Sha1::digest(payload).into()
}

/// A digest in base 32: 32 letters, without padding.
pub fn base32(digest: &Sha1Digest) -> String {
    let mut text = String::with_capacity(32);
    for group in digest.chunks_exact(5) {
        let bits = group.iter().fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
        for letter in (0..8).rev() {
            text.push(char::from(LETTERS[(bits >> (5 * letter)) as usize & 31]));
        }
    }
    text
}

/// Parses a digest in base 32.
pub fn from_base32(text: &str) -> Option<Sha1Digest> {
    if text.len() != 32 {
        return None;
    }
    let mut digest = [0; 20];
    for (group, letters) in digest.chunks_exact_mut(5).zip(text.as_bytes().chunks_exact(8)) {
        let mut bits = 0_u64;
        for letter in letters {
            let value = LETTERS.iter().position(|known| known == letter)?;
            bits = bits << 5 | value as u64;
        }
        group.copy_from_slice(&bits.to_be_bytes()[3..]);
    }
    Some(digest)
}

/// The identifier of a WARC record: a UUID of version 8 derived from what the record describes, so that the
/// same record has the same identifier wherever it is written.
pub fn record_id(store: &[u8; 16], kind: &str, url: &str, millis: i64) -> String {
    let mut named = Vec::with_capacity(48 + url.len());
    named.extend_from_slice(store);
    named.extend_from_slice(&millis.to_be_bytes());
    named.extend_from_slice(kind.as_bytes());
    named.push(0);
    named.extend_from_slice(url.as_bytes());
    let mut bits = xxh3_128(&named);
    bits = bits & !(0xf << 76) | 8 << 76;
    bits = bits & !(0b11 << 62) | 0b10 << 62;
    let [a, b, c, d, e] =
        [bits >> 96, bits >> 80 & 0xffff, bits >> 64 & 0xffff, bits >> 48 & 0xffff, bits & 0xffff_ffff_ffff];
    format!("<urn:uuid:{a:08x}-{b:04x}-{c:04x}-{d:04x}-{e:012x}>")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_digest_of_nothing_is_the_one_that_all_archives_have() {
        assert_eq!(base32(&sha1(b"")), "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ");
    }

    #[test]
    fn an_identifier_is_a_uuid_of_version_8() {
        let id = record_id(&[1; 16], "response", "http://a.example/", 5);
        assert_eq!(id.len(), "<urn:uuid:00000000-0000-0000-0000-000000000000>".len());
        assert_eq!(id.as_bytes()[24], b'8', "{id}");
        assert!(b"89ab".contains(&id.as_bytes()[29]), "{id}");
        assert_ne!(id, record_id(&[1; 16], "request", "http://a.example/", 5));
        assert_ne!(id, record_id(&[2; 16], "response", "http://a.example/", 5));
    }

    proptest! {
        #[test]
        fn a_digest_comes_back(digest: [u8; 20]) {
            prop_assert_eq!(from_base32(&base32(&digest)), Some(digest));
        }

        #[test]
        fn any_text_is_no_panic(text in ".{0,40}") {
            let _ = from_base32(&text);
        }
    }
}
