//! The engine's journal, looked at before the engine does.
//!
//! When the engine opens a journal it drops what is no whole batch, and everything after it: right after a crash, which leaves one batch without
//! its end, and wrong after a byte was flipped, for then whole batches follow. This reads a journal without altering it and tells the one from
//! the other.
//!
//! A journal of fjall 3 is a sequence of batches and then zeros. A batch is a start (byte 1, number of entries in 4 bytes, sequence number in 8),
//! its entries (byte 2, kind, compression, keyspace in 8 bytes, length of the key in 2, of the value in 4 and as stored in 4, key, value; or byte 4
//! and a keyspace in 8 bytes), and an end (byte 3, the xxh3-64 of the entries, `FJL` and byte 3). Numbers have their lowest byte first.
//!
//! # Promises
//! - Any bytes are read without a panic.
//! - A batch that was written whole and is damaged is told from one that a crash left without its end.

use std::ops::Range;

use xxhash_rust::xxh3::xxh3_64;

/// What the end of a batch ends with.
const TRAILER: &[u8; 4] = b"FJL\x03";

/// What a journal holds.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct JournalReading {
    /// The bytes of whole batches, those that follow each other as one range.
    pub(crate) whole: Vec<Range<usize>>,
    /// Whole batches.
    pub(crate) batches: u64,
    /// Bytes in which batches were damaged after they were written.
    pub(crate) damaged: Vec<Range<usize>>,
    /// Bytes of a batch without its end, as a crash leaves it.
    pub(crate) torn: usize,
}

/// Reads a journal.
pub(crate) fn read(bytes: &[u8]) -> JournalReading {
    let end = end_of_content(bytes);
    let mut reading = JournalReading::default();
    let mut at = 0;
    while at < end {
        if let Some(next) = batch_end(bytes, at) {
            extend(&mut reading.whole, at..next);
            reading.batches += 1;
            at = next;
        } else if let Some(next) = trailer_after(&bytes[..end], at) {
            extend(&mut reading.damaged, at..next);
            at = next;
        } else {
            reading.torn = end - at;
            break;
        }
    }
    reading
}

/// The byte after the last that is not zero: a journal takes its room beforehand.
fn end_of_content(bytes: &[u8]) -> usize {
    const ZEROS: [u8; 4096] = [0; 4096];
    // Whole pieces are compared at once, for most of a journal may be zeros.
    let pieces = bytes.chunks(ZEROS.len());
    let last = pieces.clone().rposition(|piece| *piece != ZEROS[..piece.len()]);
    last.map_or(0, |piece| {
        let start = piece * ZEROS.len();
        let end = (start + ZEROS.len()).min(bytes.len());
        start + bytes[start..end].iter().rposition(|byte| *byte != 0).map_or(0, |at| at + 1)
    })
}

fn extend(ranges: &mut Vec<Range<usize>>, range: Range<usize>) {
    match ranges.last_mut() {
        Some(last) if last.end == range.start => last.end = range.end,
        _ => ranges.push(range),
    }
}

/// Where the batch that begins here ends, if it is whole.
fn batch_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    let mut take = |count: usize| {
        let taken = bytes.get(at..at.checked_add(count)?)?;
        at += count;
        Some(taken)
    };
    if take(1)? != [1] {
        return None;
    }
    let entries = u32::from_le_bytes(take(4)?.try_into().ok()?);
    take(8)?;
    let first = start + 13;
    let mut after = first;
    for _ in 0..entries {
        after += match take(1)?[0] {
            2 => {
                take(10)?;
                let key = u16::from_le_bytes(take(2)?.try_into().ok()?) as usize;
                take(4)?;
                let value = u32::from_le_bytes(take(4)?.try_into().ok()?) as usize;
                take(key)?;
                take(value)?;
                21 + key + value
            }
            4 => {
                take(8)?;
                9
            }
            _ => return None,
        };
    }
    if take(1)? != [3] {
        return None;
    }
    let checksum = u64::from_le_bytes(take(8)?.try_into().ok()?);
    let is_whole = take(4)? == TRAILER && xxh3_64(&bytes[first..after]) == checksum;
    is_whole.then_some(after + 13)
}

/// Where the next end of a batch ends after this byte.
fn trailer_after(bytes: &[u8], from: usize) -> Option<usize> {
    let found = bytes[from..].windows(13).position(|window| window[0] == 3 && &window[9..] == TRAILER)?;
    Some(from + found + 13)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn batch(values: &[&[u8]]) -> Vec<u8> {
        let mut entries = Vec::new();
        for value in values {
            entries.extend_from_slice(&[2, 0, 0]);
            entries.extend_from_slice(&7_u64.to_le_bytes());
            entries.extend_from_slice(&1_u16.to_le_bytes());
            entries.extend_from_slice(&(value.len() as u32).to_le_bytes());
            entries.extend_from_slice(&(value.len() as u32).to_le_bytes());
            entries.push(b'k');
            entries.extend_from_slice(value);
        }
        let mut bytes = vec![1];
        bytes.extend_from_slice(&(values.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&9_u64.to_le_bytes());
        bytes.extend_from_slice(&entries);
        bytes.push(3);
        bytes.extend_from_slice(&xxh3_64(&entries).to_le_bytes());
        bytes.extend_from_slice(TRAILER);
        bytes
    }

    #[test]
    fn a_flipped_byte_costs_one_batch_and_a_torn_end_is_no_damage() {
        let (one, two) = (batch(&[b"one", b""]), batch(&[b"two"]));
        let length = one.len();
        let mut journal = [one.clone(), two.clone(), one.clone(), two[..20].to_vec()].concat();
        journal.resize(1000, 0);
        let read_whole = read(&journal);
        assert_eq!((read_whole.batches, read_whole.torn > 0), (3, true));
        assert_eq!(read_whole.damaged, []);
        journal[length + 40] ^= 1;
        let damaged = read(&journal);
        assert_eq!(damaged.damaged.first(), Some(&(length..length + two.len())));
        assert_eq!((damaged.batches, damaged.torn > 0), (2, true));
    }

    #[test]
    fn the_engine_writes_what_is_described_here() {
        use crate::key_value::{Batch, Durability, KeyValue as _, OnDisk, Space};
        let place = tempfile::tempdir().expect("a directory");
        let store = OnDisk::open(place.path(), 1 << 20).expect("it opens");
        let journal = || {
            let entries = std::fs::read_dir(place.path()).expect("listed");
            let path = entries
                .map(|entry| entry.expect("an entry").path())
                .find(|path| path.extension().is_some_and(|extension| extension == "jnl"));
            read(&std::fs::read(path.expect("a journal")).expect("it is read"))
        };
        let before = journal().batches;
        for number in 0..5_u8 {
            let mut changes = Batch::new();
            changes.put(Space::Notes, [number], vec![number; 300]);
            changes.remove(Space::Meta, b"nothing");
            store.commit(changes, Durability::Buffered).expect("it is committed");
        }
        let after = journal();
        assert_eq!((after.batches - before, after.torn), (5, 0));
        assert_eq!(after.damaged, []);
    }

    proptest! {
        #[test]
        fn any_bytes_are_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), at: usize, byte: u8) {
            read(&bytes);
            let mut journal = [batch(&[b"one", b"two"]), batch(&[b"three"])].concat();
            let at = at % journal.len();
            journal[at] = byte;
            let reading = read(&journal);
            let total: usize = reading.whole.iter().chain(&reading.damaged).map(ExactSizeIterator::len).sum();
            prop_assert!(total + reading.torn <= journal.len());
        }
    }
}
