//! Content digests: two contents with one digest are treated as the same.
//!
//! The first 128 bits of BLAKE3. Among 10¹² contents the probability that any two share a digest is below
//! 10⁻¹⁴, and nobody can construct two that do.
//!
//! # Promises
//! - The digest of a text depends on its words and their order, not on where its lines end.

/// Length of a digest, in bytes.
pub const DIGEST_BYTES: usize = 16;

/// Bytes of a text processed at a time: what BLAKE3 hashes in parallel.
const PIECE_BYTES: usize = 16 << 10;

/// The digest of a content.
pub type Digest = [u8; DIGEST_BYTES];

/// The digest of raw bytes.
pub fn of_bytes(bytes: &[u8]) -> Digest {
    shortened(blake3::hash(bytes))
}

/// The digest of a canonical text: its words with single spaces between them.
pub fn of_text(text: &str) -> Digest {
    // Line breaks are replaced, because a page with a new layout has the same content.
    let mut hasher = blake3::Hasher::new();
    let mut words = [0; PIECE_BYTES];
    for piece in text.as_bytes().chunks(PIECE_BYTES) {
        let words = &mut words[..piece.len()];
        words
            .iter_mut()
            .zip(piece)
            .for_each(|(word, byte)| *word = if *byte == b'\n' { b' ' } else { *byte });
        hasher.update(words);
    }
    shortened(hasher.finalize())
}

fn shortened(hash: blake3::Hash) -> Digest {
    let mut digest = [0; DIGEST_BYTES];
    digest.copy_from_slice(&hash.as_bytes()[..DIGEST_BYTES]);
    digest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_the_start_of_the_standard_hash() {
        // The first test vector of BLAKE3: the hash of the empty input.
        assert_eq!(of_bytes(b"")[..4], [0xAF, 0x13, 0x49, 0xB9]);
    }

    #[test]
    fn line_ends_do_not_count_and_words_do() {
        assert_eq!(of_text("one two\nthree"), of_text("one\ntwo three"));
        assert_ne!(of_text("one two"), of_text("onetwo"));
        assert_ne!(of_text("one two"), of_text("two one"));
        let long = "line and\nline ".repeat(5_000);
        assert_eq!(of_text(&long), of_bytes(long.replace('\n', " ").as_bytes()));
    }
}
