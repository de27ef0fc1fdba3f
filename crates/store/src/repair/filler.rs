//! A filler record that replaces damaged bytes: a gzip member of exactly their length, so that all other
//! records stay in place.
//!
//! The record is `metadata` (`application/warc-fields`) and says how many bytes could not be read. It is
//! padded with spaces in its block, and to the exact length in the comment field of the gzip header.
//!
//! # Promises
//! - The member has exactly the requested length, and readers of gzip and WARC accept it.

use std::io::Write as _;

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};
use freshet_protocol::time::Timestamp;

use crate::collection::digest::record_id;

/// Maximum number of bytes in a stored block of DEFLATE.
const BLOCK_BYTES_MAX: usize = 65_535;

/// Size of header, empty comment, checksum and length in bytes.
const FRAME: usize = 10 + 1 + 8;

/// Tolerance for the length of the block in bytes; the comment takes up the difference.
const SLACK: usize = 24;

/// A filler exists for every length from this one on.
pub(super) const FILLER_BYTES_MIN: u64 = 256;

/// The place of a filler.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot<'a> {
    /// The store's identity.
    pub(super) store: &'a [u8; 16],
    /// The name of the file.
    pub(super) file: &'a str,
    /// Its offset in the file.
    pub(super) offset: u64,
    /// The time of its creation.
    pub(super) time: Timestamp,
}

/// The member with this length; none if that is too short.
pub(super) fn filler(length: usize, spot: Spot<'_>) -> Option<Vec<u8>> {
    let room = length.checked_sub(FRAME)?;
    let blocks = room.div_ceil(BLOCK_BYTES_MAX + 5);
    let bare = record(length, spot, 0).len();
    let spaces = room.saturating_sub(5 * blocks + bare + SLACK);
    let text = record(length, spot, spaces);
    let mut body = if spaces == 0 { compressed(text.as_bytes()) } else { stored(text.as_bytes()) };
    let comment = room.checked_sub(body.len())?;
    let mut checksum = Crc::new();
    checksum.update(text.as_bytes());
    let mut member = vec![0x1f, 0x8b, 8, 0x10, 0, 0, 0, 0, 0, 255];
    member.extend(std::iter::repeat_n(b' ', comment));
    member.push(0);
    member.append(&mut body);
    member.extend_from_slice(&checksum.sum().to_le_bytes());
    member.extend_from_slice(&checksum.amount().to_le_bytes());
    Some(member)
}

/// Encodes bytes as stored blocks of DEFLATE.
fn stored(bytes: &[u8]) -> Vec<u8> {
    let mut body = Vec::with_capacity(bytes.len() + 64);
    let chunks = bytes.chunks(BLOCK_BYTES_MAX);
    let last = chunks.len() - 1;
    for (number, chunk) in chunks.enumerate() {
        let size = chunk.len() as u16;
        body.push(u8::from(number == last));
        body.extend_from_slice(&size.to_le_bytes());
        body.extend_from_slice(&(!size).to_le_bytes());
        body.extend_from_slice(chunk);
    }
    body
}

/// Compresses bytes with DEFLATE.
fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("memory takes all that is written")
}

fn record(length: usize, spot: Spot<'_>, spaces: usize) -> String {
    let name = format!("{}@{}", spot.file, spot.offset);
    let id = record_id(spot.store, "damage", &name, spot.time.millis());
    let block = format!("damage: {length} bytes\r\n{}", " ".repeat(spaces));
    format!(
        "WARC/1.1\r\nWARC-Type: metadata\r\nWARC-Record-ID: {id}\r\nWARC-Date: {}\r\n\
         Content-Type: application/warc-fields\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n",
        spot.time.iso(),
        block.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collection::gzip::{Counted, unfold};
    use crate::collection::warc::WarcRecord;

    fn made(length: usize) -> Option<Vec<u8>> {
        let time = Timestamp::from_millis(1_794_790_000_000);
        filler(length, Spot { store: &[7; 16], file: "segment-00000001.warc.gz", offset: 12_345, time })
    }

    #[test]
    fn a_filler_has_the_length_that_was_asked_for_and_is_a_record() {
        let short = (0..1000).find(|length| made(*length).is_some()).expect("some length will do");
        assert!(short as u64 <= FILLER_BYTES_MIN, "{short}");
        for length in (short..short + 300).chain([65_000, 65_535, 65_700, 131_072, 131_200, 1_000_001]) {
            let member = made(length).expect("it is long enough");
            assert_eq!(member.len(), length);
            let record = WarcRecord::parse(&unfold(&member).expect("it unfolds")).expect("a record");
            assert_eq!(record.kind(), "metadata");
            let mut reader = Counted::new(member.as_slice(), 0);
            reader.next_member().expect("it is read");
            assert_eq!(reader.taken(), length as u64);
        }
    }
}
