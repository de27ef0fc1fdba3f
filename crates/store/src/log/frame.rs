//! The encoding of a log record.
//!
//! A record is a header of 33 bytes (little-endian numbers) and its content, compressed with zstd:
//!
//! | bytes | meaning |
//! |---|---|
//! | 4 | length of the compressed content |
//! | 8 | number of the step |
//! | 8 | time of the step, in milliseconds since 1970 |
//! | 1 | kind: 0 a base, 1 a step |
//! | 4 | length of the uncompressed content |
//! | 8 | xxh3-64 of the 25 bytes before, XOR xxh3-64 of the compressed content rotated left by one bit |
//!
//! # Promises
//! - Every record is read back as it was written.
//! - Arbitrary bytes cause no panic, and no allocation of more than [`CONTENT_MAX`] bytes.

use std::io::Read as _;

use freshet_protocol::time::Timestamp;
use xxhash_rust::xxh3::xxh3_64;

/// Size of the header of a record in bytes.
pub(crate) const HEAD: usize = 33;

/// Number of bytes of the header that its checksum covers.
const CHECKED: usize = HEAD - 8;

/// Maximum valid length of a content, compressed or uncompressed.
pub(crate) const CONTENT_MAX: usize = 1 << 30;

/// Compression level. Measured on the steps of a crawl: level 1 takes 1% of its processor time and shrinks
/// them to a third.
const ZSTD_LEVEL: i32 = 1;

/// The kind of a record.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    /// The first record of a file: the identity of the store, and the values at this step.
    Base = 0,
    /// A step.
    Step = 1,
}

/// A record of the log.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Frame {
    /// The number of the step; of a base, that of the step before it.
    pub(crate) step: u64,
    /// When the step was taken, in the crawl's own time.
    pub(crate) time: Timestamp,
    /// The kind of the record.
    pub(crate) kind: Kind,
    /// Its uncompressed content.
    pub(crate) content: Vec<u8>,
}

/// Why bytes are not a record.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum BadFrame {
    /// They end before the record does.
    Short,
    /// They were altered.
    Damaged,
}

impl Frame {
    /// Encodes the record.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let stored =
            zstd::bulk::compress(&self.content, ZSTD_LEVEL).expect("memory takes all that is written");
        let mut bytes = Vec::with_capacity(HEAD + stored.len());
        bytes.extend((stored.len() as u32).to_le_bytes());
        bytes.extend(self.step.to_le_bytes());
        bytes.extend(self.time.millis().to_le_bytes());
        bytes.push(self.kind as u8);
        bytes.extend((self.content.len() as u32).to_le_bytes());
        bytes.extend(checksum(&bytes, &stored).to_le_bytes());
        bytes.extend(stored);
        bytes
    }

    /// Decodes the record at the start of these bytes, and returns its length.
    pub(crate) fn decode(bytes: &[u8]) -> Result<(Self, usize), BadFrame> {
        let head = bytes.get(..HEAD).ok_or(BadFrame::Short)?;
        let number =
            |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().expect("four bytes")) as usize;
        let long = |at: usize| u64::from_le_bytes(head[at..at + 8].try_into().expect("eight bytes"));
        let (length, unpacked) = (number(0), number(21));
        if length > CONTENT_MAX || unpacked > CONTENT_MAX {
            return Err(BadFrame::Damaged);
        }
        let stored = bytes.get(HEAD..HEAD + length).ok_or(BadFrame::Short)?;
        if checksum(&head[..CHECKED], stored) != long(CHECKED) {
            return Err(BadFrame::Damaged);
        }
        let kind = match head[20] {
            0 => Kind::Base,
            1 => Kind::Step,
            _ => return Err(BadFrame::Damaged),
        };
        let content = unpack(stored, unpacked).ok_or(BadFrame::Damaged)?;
        let time = Timestamp::from_millis(long(12) as i64);
        Ok((Self { step: long(4), time, kind, content }, HEAD + length))
    }
}

/// The offset of the next valid record at or after this one.
pub(crate) fn next_frame(bytes: &[u8], from: usize) -> Option<usize> {
    (from..bytes.len().saturating_sub(HEAD - 1)).find(|at| {
        // The kind and the lengths rule out nearly all bytes before a checksum is computed.
        let number = |offset: usize| {
            u32::from_le_bytes(bytes[at + offset..at + offset + 4].try_into().expect("four bytes")) as usize
        };
        let is_likely =
            bytes[at + 20] <= 1 && number(0) <= bytes.len() - at - HEAD && number(21) <= CONTENT_MAX;
        is_likely && Frame::decode(&bytes[*at..]).is_ok()
    })
}

fn unpack(stored: &[u8], length: usize) -> Option<Vec<u8>> {
    let mut content = Vec::new();
    let decoder = zstd::stream::read::Decoder::with_buffer(stored).ok()?;
    decoder.take(length as u64 + 1).read_to_end(&mut content).ok()?;
    (content.len() == length).then_some(content)
}

fn checksum(head: &[u8], stored: &[u8]) -> u64 {
    xxh3_64(head) ^ xxh3_64(stored).rotate_left(1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn frame(step: u64, content: &[u8]) -> Frame {
        let time = Timestamp::from_millis(1_794_790_000_000);
        Frame { step, time, kind: Kind::Step, content: content.to_vec() }
    }

    #[test]
    fn the_next_record_is_found_behind_damaged_bytes() {
        let (one, two) = (frame(1, b"one").encode(), frame(2, &[7; 1000]).encode());
        let mut bytes = [one.clone(), two].concat();
        assert_eq!(next_frame(&bytes, 0), Some(0));
        bytes[20] ^= 4;
        assert_eq!(Frame::decode(&bytes), Err(BadFrame::Damaged));
        assert_eq!(next_frame(&bytes, 0), Some(one.len()));
        assert_eq!(next_frame(&bytes, one.len() + 1), None);
    }

    proptest! {
        #[test]
        fn a_record_comes_back(step: u64, content in prop::collection::vec(any::<u8>(), 0..300), cut: usize) {
            let frame = frame(step, &content);
            let bytes = frame.encode();
            prop_assert_eq!(Frame::decode(&bytes), Ok((frame, bytes.len())));
            prop_assert_eq!(Frame::decode(&bytes[..cut % bytes.len()]), Err(BadFrame::Short));
        }

        #[test]
        fn a_flipped_bit_is_found(
            content in prop::collection::vec(any::<u8>(), 0..100),
            at: usize,
            bit in 0_u32..8,
        ) {
            let mut bytes = frame(3, &content).encode();
            let at = at % bytes.len();
            bytes[at] ^= 1_u8 << bit;
            prop_assert!(Frame::decode(&bytes).is_err());
        }

        #[test]
        fn any_bytes_are_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Frame::decode(&bytes);
            let _ = next_frame(&bytes, 0);
        }
    }
}
